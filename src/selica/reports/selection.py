"""A selector fitted to named columns, with everything it had to say."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from selica._core.errors import ArgumentError, BoundaryWarning, ConvergenceWarning
from selica._core.types import Array
from selica._core.validation import short
from selica._version import __version__
from selica.selectors import AssumptionWarning, Guarantee, Summary, UnstableWarning
from selica.selectors.base import NamedColumns, Selector

# What becomes a note of the report; other warnings are not meant for its reader.
_SAID = (AssumptionWarning, UnstableWarning, BoundaryWarning, ConvergenceWarning)
_PLAIN = (str, bool, int, float, type(None))


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
    summary : Summary
    guarantee : Guarantee
    threshold : float, optional
        On the measure of the summary's table, where the rule has one.
    notes : tuple of str
        What the reader has to know: warnings, and why nothing was selected.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, select, split
    >>> X, y, names = split(demo_table(), "progression")
    >>> found = select(LassoSelection(lam=0.3), X, y, names, "progression")
    >>> found.method, found.n_samples, found.selected
    ('LassoSelection', 442, ['bmi', 'ltg'])
    """

    selector: Any
    target: str
    n_samples: int
    settings: dict[str, Any]
    summary: Summary
    guarantee: Guarantee
    threshold: float | None
    notes: tuple[str, ...]

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
        """Everything but the table of variables, as plain values for JSON."""
        return {
            "version": __version__,
            "method": self.method,
            "settings": self.settings,
            "target": self.target,
            "n_samples": self.n_samples,
            "n_variables": len(self.summary.variables),
            "selected": self.selected,
            "guarantee": self.guarantee.to_dict() | {"text": str(self.guarantee)},
            "threshold": self.threshold,
            "notes": list(self.notes),
        }


def select(selector: Any, X: Array, y: Any, names: Sequence[str], target: str) -> Selection:
    """Fits a selector to named columns.

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

    Returns
    -------
    Selection
        Warnings of the library are its notes, and are not raised.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, select, split
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
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector.fit(NamedColumns(X, tuple(names)), y)
    said = []
    for warning in caught:
        if issubclass(warning.category, _SAID):
            said.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    summary = selector.summary()
    notes = [*summary.notes, *said]
    classes = getattr(selector, "classes_", None)
    if classes is not None:
        first, second = classes
        notes.append(f"The response has two classes; {second} is counted as 1 and {first} as 0.")
    return Selection(
        selector=selector,
        target=target,
        n_samples=len(X),
        settings={k: v for k, v in selector.get_params(deep=False).items() if _is_plain(v)},
        summary=summary,
        guarantee=selector.guarantee_,
        threshold=_threshold(selector),
        notes=tuple(dict.fromkeys(notes)),
    )


def _is_plain(value: Any) -> bool:
    return isinstance(value, _PLAIN) or (
        isinstance(value, tuple) and all(isinstance(v, _PLAIN) for v in value)
    )


def _threshold(selector: Any) -> float | None:
    """The smallest measure that is selected; e-values have theirs, which is not on the table."""
    value = getattr(selector, "threshold_", None)
    by_evalues = getattr(selector, "evalues_", None) is not None
    if value is None or by_evalues or not math.isfinite(value):
        return None
    return float(value)
