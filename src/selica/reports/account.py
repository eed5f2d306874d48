"""What is told of a selection beside its table: data, columns, settings, and how to repeat it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from selica._core.validation import printable, written
from selica._core.wording import few
from selica.selectors.knockoffs import KnockoffSelection, KnockoffSelector

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
        named = list(said["classes"].items())
        listed = [f"{name} in {n:,} row{'' if n == 1 else 's'}" for name, n in named]
        if len(named) == 2:
            event = named[1][0]
            return f"{target} has two classes: {', '.join(listed)}; {event} is taken as the event."
        return f"{target} has {len(named)} classes: {few(listed, _LISTED)}."
    if "events" in said:
        events = "1 event" if said["events"] == 1 else f"{said['events']:,} events"
        return f"{target} is a time until an event: {events}, {said['censored']:,} rows censored."
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
        said["missing"] = asdict(prepared.missing)
        for use in ("keep", "rows_of", "weights", "offset", "strata"):
            named = [one.name for one in prepared.kinds if one.use == use.replace("_", " ")]
            said[use] = [printable(name) for name in named]
    elif given is not None:
        said["arguments"] = sorted(given.arguments)
    return said


def column_sentences(said: Mapping[str, Any]) -> list[str]:
    """Say what was done with the columns, in sentences."""
    lines = []
    for use, text in (
        ("keep", "Kept as covariates in every fit, and never selected: {}."),
        ("rows_of", "Rows with the same {} are resampled and split together."),
        ("weights", "The rows have weights: {}."),
        ("offset", "The exposure of each row is known: {}."),
        ("strata", "Rows are compared within the same {} only."),
    ):
        if said.get(use):
            lines.append(text.format(few(said[use], _LISTED)))
    return lines


def used_by(selector: Any) -> dict[str, Any]:
    """Return the settings as they were used: what was given, and what the method made of it."""
    method = getattr(selector, "method_", None)
    selector = chosen_of(selector)
    used: dict[str, Any] = {} if method is None else {"method": method}
    used |= settings_of(selector)
    used["response"] = selector.response_
    found = getattr(selector, "lam_", getattr(selector, "lams_", None))
    if found is not None:
        lams = np.atleast_1d(np.asarray(found, dtype=float))
        ends = f"{lams.size} penalties from {lams.max():.4g} to {lams.min():.4g}"
        used["lam"] = float(lams[0]) if lams.size == 1 else ends
    if getattr(selector, "q_", None) is not None:
        used |= {"q": int(selector.q_)} | ({"lam": "not used"} if hasattr(selector, "lam") else {})
    elif isinstance(selector, KnockoffSelector) and isinstance(selector.lam, str):
        fits = selector.statistic_ == "coefficient" and selector.estimator is None
        used["lam"] = "by cross-validation, for each copy" if fits else "not used"
    if isinstance(used.get("sampler"), str) and hasattr(selector, "sampler_"):
        used["sampler"] = selector.sampler_
    if "statistic" in used:
        used["statistic"] = selector.statistic_ if selector.estimator is None else "not used"
    if threshold_of(selector) is not None:
        used["threshold"] = threshold_of(selector)
    if getattr(selector, "evalues_", None) is not None:
        level = used["fdr"] = selector._level()
        if selector.copy_fdr is None:
            used["copy_fdr"] = 0.5 * level
    for name in ("pfer", "assumption", "resampling", "engine", "n_resamples", "n_copies"):
        value = getattr(selector, f"{name}_", None)
        if value is not None:
            used[name] = value
    seed = selector.get_params(deep=False).get("random_state")
    if isinstance(seed, np.random.SeedSequence) and "random_state" not in used:
        used["random_state"] = str(seed.entropy)
    return {name: value for name, value in used.items() if value is not None}


def after_the_fit(selector: Any) -> dict[str, Any]:
    """Return levels and bounds that hold after a fit, as plain values; none without copies.

    Parameters
    ----------
    selector : selector of `selica`
        Fitted.
    """
    selector, said = chosen_of(selector), dict[str, Any]()
    by_evalues = getattr(selector, "evalues_", None) is not None
    if by_evalues or isinstance(selector, KnockoffSelection):
        said["posthoc"] = selector.posthoc().to_dict()
    if isinstance(selector, KnockoffSelection):
        said["bounds"] = selector.fdp_bound().to_dict()
        if selector.support_.any():
            chosen = selector.statistics_ >= selector.threshold_
            said["bound"] = selector.fdp_bound(chosen).to_dict()
    return said


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


def _fields(one: Any, *names: str) -> dict[str, Any]:
    """Return some fields of an object, those that it has."""
    return {name: getattr(one, name) for name in names if hasattr(one, name)}
