"""What is told of a selection beside its table: data, columns, settings, and how to repeat it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from selica._core.validation import written
from selica.selectors.knockoffs import KnockoffSelector

_PLAIN = (str, bool, int, float, type(None))
"""Types that a table of a report can have."""
_LISTED = 10
"""Names that a sentence lists."""


def response_of(selector: Any, y: Any) -> dict[str, Any]:
    """Return the kind of a response, with its classes, events or range.

    Parameters
    ----------
    selector : selector of `selica`
        Fitted.
    y : array
        As it was given.
    """
    classes = getattr(selector, "classes_", None) is not None
    return described_response(str(chosen_of(selector).response_), y, classes=classes)


def described_response(kind: str, y: Any, *, classes: bool) -> dict[str, Any]:
    """Return the same for a response that nothing was fitted to yet.

    Parameters
    ----------
    kind : str
        "linear", "binary", "count", "survival" or "classes".
    y : array
    classes : bool
        Whether its values are names of classes.
    """
    said: dict[str, Any] = {"kind": kind}
    values = np.asarray(y)
    if classes and values.ndim == 1:
        each, sizes = np.unique(values, return_counts=True)
        counts = {written(value): int(n) for value, n in zip(each, sizes, strict=True)}
        said["classes"] = counts
    elif kind == "survival":
        said |= _events(y)
    elif kind in ("linear", "count"):
        first = values if values.ndim == 1 else values[:, 0]
        numbers = first.astype(float)
        said |= {
            "smallest": float(numbers.min()),
            "mean": float(numbers.mean()),
            "largest": float(numbers.max()),
        }
    return said


def _events(y: Any) -> dict[str, int]:
    """Return how many events a survival response has, and how many rows are censored."""
    values = np.asarray(y)
    if values.dtype.names is not None:
        events = next(values[n] for n in values.dtype.names if values[n].dtype.kind == "b")
    else:
        events = values[:, 1]
    happened = int(np.count_nonzero(events))
    return {"events": happened, "censored": len(events) - happened}


def response_sentence(said: Mapping[str, Any], target: str) -> str:
    """Say what a response is, in a sentence."""
    kind = said["kind"]
    if "classes" in said:
        sizes = ", ".join(f"{name} in {n:,} rows" for name, n in said["classes"].items())
        counted = ""
        if len(said["classes"]) == 2:
            counted = f"; {list(said['classes'])[1]} is counted as 1"
        many = "two" if len(said["classes"]) == 2 else len(said["classes"])
        return f"{target} has {many} classes: {sizes}{counted}."
    if "events" in said:
        return f"{target}: {said['events']:,} events, {said['censored']:,} rows censored."
    if "mean" in said:
        what = "holds counts" if kind == "count" else "is a number"
        return (
            f"{target} {what}, from {said['smallest']:.4g} to {said['largest']:.4g} with a mean "
            f"of {said['mean']:.4g}."
        )
    return f"{target} is of the kind {kind}."


def columns_of(prepared: Any, given: Any) -> dict[str, Any]:
    """Return what was done with the columns of a table, as far as it is known.

    Parameters
    ----------
    prepared : Prepared, optional
        The table as it was prepared: kinds of columns, what was left out, missing cells.
    given : GivenTable, optional
    """
    said: dict[str, Any] = {}
    if prepared is not None:
        said["kinds"] = [_fields(one, "name", "kind", "use", "reason") for one in prepared.kinds]
        said["left_out"] = [_fields(one, "name", "reason") for one in prepared.left_out]
        said["missing"] = _plain_fields(prepared.missing)
        said["kept"] = list(prepared.keep_names)
        said["rows_of"] = prepared.rows_of is not None
        said["weights"] = prepared.sample_weight is not None
        said["offset"] = prepared.offset is not None
        said["strata"] = prepared.strata is not None
    elif given is not None:
        said["arguments"] = sorted(given.arguments)
    return said


def column_sentences(said: Mapping[str, Any]) -> list[str]:
    """Say what was done with the columns, in sentences."""
    lines = []
    if said.get("kept"):
        lines.append(f"Kept as covariates, never selected: {_few(said['kept'])}.")
    for key, text in (
        ("rows_of", "Rows that belong together are resampled and split as wholes."),
        ("weights", "Rows have weights."),
        ("offset", "The response has an offset that is known."),
        ("strata", "Rows are compared within strata only."),
    ):
        if said.get(key):
            lines.append(text)
    return lines


def used_by(selector: Any) -> dict[str, Any]:
    """Return what a selector made of its parameters, as far as it knows."""
    method = getattr(selector, "method_", None)
    selector = chosen_of(selector)
    used: dict[str, Any] = {} if method is None else {"method": method}
    used["response"] = selector.response_
    found = getattr(selector, "lam_", getattr(selector, "lams_", None))
    if found is not None:
        lams = np.atleast_1d(np.asarray(found, dtype=float))
        few = f"{lams.size} penalties from {lams.max():.4g} to {lams.min():.4g}"
        used["lam"] = float(lams[0]) if lams.size == 1 else few
    if getattr(selector, "q_", None) is not None:
        used |= {"q": int(selector.q_), "lam": "not used"}
    elif isinstance(selector, KnockoffSelector) and isinstance(selector.lam, str):
        used["lam"] = "by cross-validation, for each copy"
    if threshold_of(selector) is not None:
        used["threshold"] = threshold_of(selector)
    for name in ("pfer", "assumption", "resampling", "engine"):
        value = getattr(selector, f"{name}_", None)
        if value is not None:
            used[name] = value
    parameters = selector.get_params(deep=False)
    for name in ("n_resamples", "n_copies", "n_splits"):
        if name in parameters:  # fewer where the run was stopped
            used[name] = getattr(selector, f"{name}_", parameters[name])
    return used


def settings_of(selector: Any) -> dict[str, Any]:
    """Return the parameters of a selector that a table can show."""
    return {k: v for k, v in selector.get_params(deep=False).items() if is_plain(v)}


def is_plain(value: Any) -> bool:
    """Tell whether a value is text, a number or a short list of them."""
    return isinstance(value, _PLAIN) or (
        isinstance(value, tuple) and all(isinstance(v, _PLAIN) for v in value)
    )


def threshold_of(selector: Any) -> float | None:
    """Return the smallest measure that is selected; None for e-values, which have their own."""
    selector = chosen_of(selector)
    value = getattr(selector, "threshold_", None)
    by_evalues = getattr(selector, "evalues_", None) is not None
    if value is None or by_evalues or not math.isfinite(value):
        return None
    return float(value)


def chosen_of(selector: Any) -> Any:
    """Return the selector itself, or the one that it chose."""
    return getattr(selector, "selector_", selector)


def code_of(selector: Any) -> str:
    """Return lines of Python that make and fit a selector; they need X and y."""
    kind = type(selector)
    home = "selica" if kind.__module__.startswith("selica.") else kind.__module__
    changed = " ".join(repr(selector).split())
    return f"from {home} import {kind.__name__}\n\nselector = {changed}\nselector.fit(X, y)"


def _few(names: Sequence[str]) -> str:
    rest = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def _fields(one: Any, *names: str) -> dict[str, Any]:
    """Return some fields of an object, those that it has."""
    return {name: getattr(one, name) for name in names if hasattr(one, name)}


def _plain_fields(one: Any) -> dict[str, Any]:
    """Return the fields of a dataclass or tuple that JSON can hold."""
    names = getattr(one, "_fields", None) or getattr(one, "__dataclass_fields__", {})
    values = {name: getattr(one, name) for name in names}
    return {
        name: value
        if is_plain(value)
        else dict(value)
        if isinstance(value, Mapping)
        else str(value)
        for name, value in values.items()
    }
