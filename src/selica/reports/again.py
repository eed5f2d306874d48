"""Lines of Python that repeat a selection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from selica.selectors import AutoSelection

_MOST_SIGNS = 79
"""Length of a line; a longer call has a line for each argument."""


def fitting(selector: Any) -> str:
    """Return lines that make and fit a selector; they need X and y.

    Parameters
    ----------
    selector : selector of `selica`
    """
    return f"{_imported(selector)}\n\nselector = {_made(selector)}\nselector.fit(X, y)"


def asking(
    selector: Any, table: str, target: Any, arguments: Mapping[str, Any], *imports: str
) -> str:
    """Return lines that call `selica.select`.

    Parameters
    ----------
    selector : selector of `selica`
        Not yet fitted.
    table : str
        The table, as Python is to read it.
    target : object
        As `selica.select` takes it.
    arguments : mapping
        Others that say what columns are for; those that are empty are left out.
    *imports : str
        Lines that the table needs.
    """
    parts = [table, *([] if target is None else [literal(target) or "y"])]
    parts += [
        f"{name}={literal(_alone(value)) or name}"
        for name, value in arguments.items()
        if _is_given(value)
    ]
    lines = ["import selica", *imports]
    if isinstance(selector, AutoSelection):
        parts += [f"{name}={text}" for name, text in changed(selector).items()]
    else:
        lines.append(_imported(selector))
        parts.append(f"method={_made(selector)}")
    call = _call("selica.select", parts)
    return "\n".join([*lines, "", f"found = {call}", "print(found)"])


def literal(value: Any) -> str | None:
    """Return Python's text for a value; None where there is none."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if value is None or isinstance(value, str | bool | int | float):
        return repr(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iuf":
        return f"np.array({value.tolist()!r})"
    if isinstance(value, Mapping):
        pairs = [(literal(k), literal(v)) for k, v in value.items()]
        if any(None in pair for pair in pairs):
            return None
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}"
    if isinstance(value, list | tuple):
        parts = [literal(one) for one in value]
        if None in parts:
            return None
        inner = ", ".join(part for part in parts if part is not None)
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if inner else "()"
    if isinstance(value, np.random.SeedSequence):
        return f"np.random.SeedSequence({value.entropy!r}, spawn_key={value.spawn_key!r})"
    return None


def home_of(selector: Any) -> str:
    """Return the module that a selector is imported from."""
    module = type(selector).__module__
    return "selica" if module.startswith("selica.") else str(module)


def _imported(selector: Any) -> str:
    return f"from {home_of(selector)} import {type(selector).__name__}"


def _made(selector: Any) -> str:
    """Return the call that makes a selector."""
    parts = [f"{name}={text}" for name, text in changed(selector).items()]
    return _call(type(selector).__name__, parts)


def changed(selector: Any) -> dict[str, str]:
    """Return the parameters of a selector that are not as they come, as text."""
    usual = signature(type(selector)).parameters
    return {
        name: literal(value) or " ".join(repr(value).split())
        for name, value in selector.get_params(deep=False).items()
        if literal(value) is None or literal(value) != literal(usual[name].default)
    }


def _alone(value: Any) -> Any:
    """Return the one value of a tuple that has one."""
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def _is_given(value: Any) -> bool:
    """Tell whether an argument says anything."""
    return value is not None and not (isinstance(value, str | tuple | list | dict) and not value)


def _call(name: str, parts: list[str]) -> str:
    """Return a call, on one line if it is short."""
    line = f"{name}({', '.join(parts)})"
    if len(line) + len("found = ") <= _MOST_SIGNS and "\n" not in line:
        return line
    listed = "".join(f"{part},\n" for part in parts)
    inner = "".join(f"    {row}\n" for row in listed.splitlines())
    return f"{name}(\n{inner})"
