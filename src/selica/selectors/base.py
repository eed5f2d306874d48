"""What all selectors share: checking the table, the mask, the report."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from selica._core.errors import ArgumentError
from selica._core.table import Table
from selica._core.types import Array, BoolArray
from selica._core.validation import LARGEST, choice, number, short
from selica.sampling.checks import row_shares
from selica.selectors.guarantee import Guarantee
from selica.selectors.summary import Summary
from selica.statistics import Data, make_data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESPONSES = ("auto", "linear", "binary")
# The square of a larger number, times the number of rows, is not a number any more.
_LARGEST = 1e150
# Columns more correlated than this are nearly the same; tables with more columns than that are not
# searched for them.
_SAME, _WIDE = 0.999, 5000


class AssumptionWarning(UserWarning):
    """Something about the data weakens what a selection promises."""


class UnstableWarning(UserWarning):
    """Another seed might decide differently; more resamples would settle it."""


class NamedColumns(NamedTuple):
    """A table with names for a selector, where there is no data frame."""

    values: Array
    """(n, p)."""
    names: tuple[str, ...]
    """One for each column."""


class Selector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the selectors: `fit` checks the data and calls `_select`."""

    response: str
    l1_ratio: float = 1.0
    estimator: Any = None
    support_: BoolArray
    guarantee_: Guarantee
    note_: str | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Selects variables.

        Parameters
        ----------
        X : table of shape (n, p)
            Numbers, without missing values. Names of the columns are kept.
        y : array of shape (n,)
            A continuous response, or two classes (see `response`).
        sample_weight : array of shape (n,), optional
            Weights of the rows, not negative.

        Returns
        -------
        self
        """
        data, table = self._checked(X, y, sample_weight)
        self._select(data, table)
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Data, Array]:
        """The data in standard form, and the table as it is."""
        names = None
        if isinstance(X, NamedColumns):
            X, names = X
        table, target = validate_data(
            self, X, y, dtype=np.float64, accept_sparse=False, ensure_min_samples=2,
        )  # fmt: skip
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        if np.abs(table).max() > _LARGEST:
            raise ArgumentError(f"X: values beyond {_LARGEST:g} cannot be squared; rescale them.")
        loss, labels = _response(self.response, target)
        if loss == "logistic":
            self.classes_ = np.unique(target)
        weight = None if sample_weight is None else row_shares(sample_weight, len(table))
        if weight is not None and np.count_nonzero(weight) < 2:
            raise ArgumentError("sample_weight must be positive for at least two rows.")
        data = make_data(table, labels, loss, weight)._replace(l1_ratio=self._share())
        constant = np.flatnonzero(~data.varies)
        if constant.size:
            self._warn_of(f"constant columns are never selected: {self._listed(constant)}")
        twins = _near_duplicates(data)
        if twins:
            pairs = [f"{self._names()[i]} and {self._names()[j]}" for i, j in twins[:3]]
            more = f", and {len(twins) - 3} more pairs" if len(twins) > 3 else ""
            self._warn_of(
                f"columns that are nearly the same share one another's place: {', '.join(pairs)}"
                + more
            )
        return data, table

    def _share(self) -> float:
        """Of the l1 norm in the penalty, checked."""
        share = number("l1_ratio", self.l1_ratio, at_least=1.0 / LARGEST, at_most=1.0)
        if share < 1.0 and self.estimator is not None:
            raise ArgumentError("l1_ratio is for the penalised fit; with estimator, leave it out.")
        return share

    def _warn_of(self, note: str) -> None:
        """Says what about the table weakens the selection."""
        warnings.warn(f"X: {note}.", AssumptionWarning, stacklevel=4)

    def _listed(self, columns: Any, most: int = 5) -> str:
        """Names of columns, not too many."""
        names = [self._names()[j] for j in columns[:most]]
        rest = len(columns) - most
        return ", ".join(names) + (f" and {rest} more" if rest > 0 else "")

    @abstractmethod
    def _select(self, data: Data, table: Array) -> None:
        """Sets support_, guarantee_ and what the method measures."""

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        return self.support_

    def _names(self) -> list[str]:
        """Names of the columns, or x0, x1, ..."""
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{j}" for j in range(self.n_features_in_)]

    @abstractmethod
    def summary(self) -> Summary:
        """The variables, what was measured of each, and the decision."""

    def _ranked(self, title: str, column: str, values: Array, first: Array) -> Summary:
        """A summary of one value for each variable, those with the largest `first` on top."""
        names, chosen = self._names(), int(np.count_nonzero(self._get_support_mask()))
        rows = Table.of(
            {"variable": names[j], "selected": bool(self.support_[j]), column: float(values[j])}
            for j in np.argsort(-first, kind="stable")
        )
        heading = f"{title}: {chosen} of {len(names)} variables"
        return Summary(heading, rows, str(self.guarantee_), self._notes(), chosen + 5)

    def explain(self) -> str:
        """Why nothing was selected, and what would have selected something."""
        chosen = int(np.count_nonzero(self._get_support_mask()))
        if chosen:
            return f"{chosen} of {self.n_features_in_} variables were selected."
        return f"Nothing was selected. {self._why()}"

    @abstractmethod
    def _why(self) -> str:
        """What a selection would have needed, where there is none."""

    def _notes(self) -> tuple[str, ...]:
        """What a summary adds: why nothing was selected, and which engine decided."""
        nothing = () if self.support_.any() else (self.explain(),)
        return nothing if self.note_ is None else (*nothing, self.note_)

    @abstractmethod
    def plot(self) -> Figure:
        """What was measured, with the threshold (needs matplotlib)."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _near_duplicates(data: Data) -> list[tuple[int, int]]:
    """Pairs of columns with a correlation of 0.999 or more in size; none in a wide table."""
    X = data.X[:, data.varies]
    n, p = X.shape
    if p > _WIDE or n < 4:
        return []
    where = np.flatnonzero(data.varies)
    size = np.abs((X * data.weight[:, None]).T @ X) / data.weight.sum()
    first, second = np.nonzero(np.triu(size >= _SAME, 1))
    return [(int(where[i]), int(where[j])) for i, j in zip(first, second, strict=True)]


def _response(response: str, y: Array) -> tuple[str, Array]:
    """The loss that fits a response, and its numbers."""
    choice("response", response, RESPONSES)
    classes = np.unique(y)
    if classes.size < 2:
        raise ArgumentError(f"y is constant ({short(classes[0])}): there is nothing to explain.")
    binary = classes.size == 2 if response == "auto" else response == "binary"
    if binary:
        if classes.size != 2:
            raise ArgumentError(
                f"y must have two classes for response='binary'; got {classes.size}."
            )
        return "logistic", (y == classes[1]).astype(float)
    try:
        values = y.astype(float)
    except (TypeError, ValueError):
        raise ArgumentError(f"y must be numbers, or have two classes; got {short(y[0])}.") from None
    if not np.all(np.abs(values) <= _LARGEST):
        raise ArgumentError(f"y must be finite and at most {_LARGEST:g} in size.")
    return "squared", values
