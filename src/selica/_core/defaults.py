"""Defaults of a class, read off its file without importing it."""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def written_defaults(place: str) -> dict[str, Any]:
    """Return the defaults of a class of this package as its file has them.

    Its signature would import the class, and scikit-learn with it: plans need only the numbers.

    Parameters
    ----------
    place : str
        Where the class is, as "module:Class".

    Returns
    -------
    dict of str to object
        Those that are plain values; empty for a class of another package.

    Examples
    --------
    >>> from selica._core.defaults import written_defaults
    >>> written_defaults("selica.selectors:DerandomizedKnockoffs")["n_copies"]
    50
    """
    module, _, name = place.partition(":")
    package, *parts = module.split(".")
    if package != "selica":
        return {}
    room = files("selica").joinpath(*parts)
    for path in room.iterdir() if room.is_dir() else ():
        text = path.read_text(encoding="utf-8") if path.name.endswith(".py") else ""
        if f"\nclass {name}(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and node.name == name:
                return _literals(node)
    return {}


def _literals(written: ast.ClassDef) -> dict[str, Any]:
    """Return the defaults of the arguments of a class that are plain values."""
    first = next(
        (
            part
            for part in written.body
            if isinstance(part, ast.FunctionDef) and part.name == "__init__"
        ),
        None,
    )
    if first is None:
        return {}
    arguments = first.args
    usual = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    pairs = [
        *zip(usual, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    found = {}
    for argument, default in pairs:
        if default is not None:
            with suppress(ValueError):  # no plain value
                found[argument.arg] = ast.literal_eval(default)
    return found
