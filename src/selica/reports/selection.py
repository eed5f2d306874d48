"""A selector fitted to named columns, with everything it had to say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import printable, short, written
from selica._core.warning import noted
from selica._version import __version__
from selica.sampling import Exchangeability
from selica.selectors import Guarantee, Summary
from selica.selectors.base import NamedColumns, Selector
from selica.tables import Columns

_PLAIN = (str, bool, int, float, type(None))
"""Types that a table of a report can have."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The result of a selector on a table, ready to be printed and written.

    Attributes
    ----------
    selector : selector of `selica`
        Fitted.
    target : str
    n_samples : int
    settings : dict
        Parameters of the selector.
    used : dict
        What it made of them: penalties, q, threshold and kind of response, where it knows them,
        and how many rows each class has.
    copies : Exchangeability, optional
        Whether the knockoff copies pass as columns, where copies were drawn.
    summary : Summary
    guarantee : Guarantee
    threshold : float, optional
        On the measure of the summary's table, where the rule has one.
    cautions : tuple of str
        What the reader has to know about the data before the result.
    notes : tuple of str
        What the reader has to know about the result, such as why nothing was selected.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, select
    >>> from selica.tables import split
    >>> X, y, names = split(demo_table(), "progression")
    >>> found = select(LassoSelection(lam=0.3), X, y, names, "progression")
    >>> found.method, found.n_samples, found.selected
    ('LassoSelection', 442, ['bmi', 'ltg'])
    """

    selector: Any
    target: str
    n_samples: int
    settings: dict[str, Any]
    used: dict[str, Any]
    summary: Summary
    guarantee: Guarantee
    threshold: float | None
    cautions: tuple[str, ...]
    notes: tuple[str, ...]
    copies: Exchangeability | None = None

    @property
    def method(self) -> str:
        """Name of the selector."""
        return type(self.selector).__name__

    @property
    def selected(self) -> list[str]:
        """Names of the selected variables, the most important first."""
        return [row["variable"] for row in self.summary.variables if row["selected"]]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All variables, selected ones first, without columns that are empty throughout."""
        table = self.summary.variables
        empty = [c for c in table.columns if all(row[c] is None for row in table)]
        rows = sorted(table, key=lambda row: not row["selected"])
        return [{k: v for k, v in row.items() if k not in empty} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the table of variables, as plain values for JSON."""
        return {
            "version": __version__,
            "method": self.method,
            "settings": self.settings,
            "used": self.used,
            "target": self.target,
            "n_samples": self.n_samples,
            "n_variables": len(self.summary.variables),
            "selected": self.selected,
            "duplicates": {name: list(same) for name, same in self.selector.duplicates_.items()},
            "guarantee": self.guarantee.to_dict() | {"text": str(self.guarantee)},
            "exchangeability": None if self.copies is None else self.copies.to_dict(),
            "threshold": self.threshold,
            "cautions": list(self.cautions),
            "notes": list(self.notes),
        }


def select(
    selector: Any,
    X: Array,
    y: Any,
    names: Sequence[str],
    target: str,
    table: Columns | None = None,
) -> Selection:
    """Fit a selector to named columns.

    Parameters
    ----------
    selector : selector of `selica`
        It is fitted, and given the names.
    X : array of shape (n, p)
    y : array of shape (n,)
    names : sequence of str
        Of the columns.
    target : str
        Name of the response.
    table : Columns, optional
        Where the columns come from. Those of its columns that are left out are searched for one
        that tells which rows belong together, as the number of a patient does.

    Returns
    -------
    Selection
        What the selector noticed is among its cautions and notes, and is not said as a warning.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, select
    >>> from selica.tables import split
    >>> X, y, names = split(demo_table(), "progression")
    >>> found = select(LassoSelection(lam=0.3), X, y, names, "progression")
    >>> list(found.selector.get_feature_names_out())
    ['bmi', 'ltg']
    """
    if not isinstance(selector, Selector):
        raise ArgumentError(f"selector must be a selector of selica; got {short(selector)}.")
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ArgumentError(f"names must be a list of names; got {short(names)}.")
    if not all(isinstance(name, str) for name in (*names, target)):
        raise ArgumentError("names and target must be text.")
    if table is not None and not isinstance(table, Columns):
        raise ArgumentError(f"table must be Columns, as from read_table; got {short(table)}.")
    with noted():
        selector.fit(NamedColumns(X, tuple(names), target, _left_out(table, names, target)), y)
    summary = selector.summary()
    classes = _classes(selector, y)
    cautions = [*(() if table is None else table.notes), *selector.cautions_, *_two(classes)]
    notes = (note for note in selector.notes_ if note not in selector.cautions_)
    return Selection(
        selector=selector,
        target=printable(target),
        n_samples=len(X),
        settings={k: v for k, v in selector.get_params(deep=False).items() if _is_plain(v)},
        used=_used(selector) | ({"classes": classes} if classes else {}),
        summary=summary,
        guarantee=selector.guarantee_,
        threshold=_threshold(selector),
        cautions=tuple(dict.fromkeys(cautions)),
        notes=tuple(notes),
        copies=getattr(getattr(selector, "selector_", selector), "exchangeability_", None),
    )


def _left_out(
    table: Columns | None, names: Sequence[str], target: str
) -> tuple[tuple[str, Any], ...]:
    """Return columns of a table that are neither variables nor the response."""
    if table is None:
        return ()
    used = {*names, target}
    columns = zip(table.names, table.values, strict=True)
    return tuple((printable(name), values) for name, values in columns if name not in used)


def _classes(selector: Any, y: Any) -> dict[str, int]:
    """Return how many rows each of two classes has."""
    if getattr(selector, "classes_", None) is None:
        return {}
    values, sizes = np.unique(y, return_counts=True)
    return {written(value): int(size) for value, size in zip(values, sizes, strict=True)}


def _two(classes: dict[str, int]) -> tuple[str, ...]:
    """Return the sentence on two classes, if there are any."""
    if not classes:
        return ()
    (first, zeros), (second, ones) = classes.items()
    if (first, second) == ("0", "1"):
        return (f"The response has two classes: 1 in {ones} rows and 0 in {zeros}.",)
    return (
        f"The response has two classes: {second} is counted as 1 and {first} as 0 ({ones} and "
        f"{zeros} rows).",
    )


def _used(selector: Any) -> dict[str, Any]:
    """Return what a selector made of its parameters, as far as it knows."""
    method = getattr(selector, "method_", None)
    selector = getattr(selector, "selector_", selector)
    used: dict[str, Any] = {} if method is None else {"method": method}
    used["response"] = selector.response_
    found = getattr(selector, "lam_", getattr(selector, "lams_", None))
    if found is not None:
        lams = np.atleast_1d(np.asarray(found, dtype=float))
        few = f"{lams.size} penalties from {lams.max():.4g} to {lams.min():.4g}"
        used["lam"] = float(lams[0]) if lams.size == 1 else few
    if getattr(selector, "q_", None) is not None:
        used["q"] = int(selector.q_)
    if _threshold(selector) is not None:
        used["threshold"] = _threshold(selector)
    return used


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (
        isinstance(value, tuple) and all(isinstance(v, _PLAIN) for v in value)
    )


def _threshold(selector: Any) -> float | None:
    """Return the smallest measure that is selected; None for e-values, which have their own."""
    selector = getattr(selector, "selector_", selector)
    value = getattr(selector, "threshold_", None)
    by_evalues = getattr(selector, "evalues_", None) is not None
    if value is None or by_evalues or not math.isfinite(value):
        return None
    return float(value)
