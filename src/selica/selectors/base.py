"""The base of the selectors: what `fit` and `transform` do, whatever the method."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from selica._core.errors import EmptySelectionWarning, UnstableWarning
from selica._core.shared_arrays import sharing
from selica._core.types import Array
from selica._core.warning import heard, warn
from selica.selectors import checks
from selica.selectors.checks import Dependence
from selica.selectors.description import SelectionDescription
from selica.selectors.empty import standard_errors_per_association
from selica.selectors.frames import plain
from selica.selectors.grouping import for_groups
from selica.selectors.guarantee import Guarantee
from selica.selectors.reading import NamedColumns, TableReader
from selica.selectors.refit import refit
from selica.selectors.rows import RowArguments
from selica.selectors.stored import stored_table
from selica.statistics import Data

# scripts in the folders that `selica select --bundle` writes import NamedColumns from here
__all__ = ["FILLED_IN", "KEPT_BYTES", "NamedColumns", "Selector"]

FILLED_IN = "the missing values, which were filled in, follow the other columns as known ones do"
"""What a promise rests on where missing values were filled in."""
KEPT_BYTES = 256_000_000
"""Size of the largest table that a fitted selector keeps, for a stability path."""


class Selector(TableReader, SelectionDescription):
    """Base of the selectors: `fit` checks the data and calls `_select`.

    What is noticed on the way is kept. `_caution` says what about the data weakens the selection,
    and `warn`, from any depth of the package, what a person should act on; both point at the line
    that called `fit`. `notes_` has all of these sentences, so that nobody needs to catch warnings.

    Attributes
    ----------
    support_ : boolean array of shape (p,)
    guarantee_ : Guarantee
    notes_ : tuple of str
        Sentences on the data and the result: first `cautions_`, then why nothing was selected,
        which columns are identical to selected ones, how the probabilities were computed, and what
        was said as a warning about the result.
    cautions_ : tuple of str
        Those of the notes that are about the data. What a person should act on was also said as
        `AssumptionWarning`.
    duplicates_ : mapping of str to tuple of str
        For each selected variable that has any, the columns that are identical to it up to sign
        and scale.
    near_duplicates_ : mapping of str to tuple of str
        For each selected variable that has any, the columns that are nearly identical to it: with a
        correlation of 0.999 or more.
    effects_ : RefitEffects
        Direction and size of effects, by a refit without a penalty on the selected variables; the
        same rows chose them, so that sizes are optimistic.
    stability_ : Stability or None
        How the resamples, copies or splits agree, which decisions are close calls and how many
        would settle them; None where there are no such members.
    groups_ : array of int, shape (p,), or None without `groups`
        Number of the group of each variable. What a selector measures (statistics, e-values,
        probabilities) then has one entry for each of the K groups, and `support_` has the members
        of the selected groups.
    group_names_ : array of str, shape (K,), or None
    group_support_ : boolean array of shape (K,), or None
        The selected groups.
    """

    _noticed: tuple[str, ...] = ()
    _imputed: bool = False
    _of_copies: Guarantee | None = None
    """What knockoff copies promise by themselves, where the rule of the selector needs more."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        keep: Any = None,
        rows_of: Any = None,
        offset: Any = None,
        strata: Any = None,
        missing: str | None = None,
    ) -> Any:
        """Select variables.

        Parameters
        ----------
        X : table of shape (n, p)
            Numbers. Names of the columns are kept.
        y : array of shape (n,), or times and events
            A continuous response, two classes, counts or several classes (see `response`); for
            survival a pair (time, event), two columns, or a structured array as scikit-survival
            has it.
        sample_weight : array of shape (n,), optional
            Weights of the rows, not negative.
        keep : array of shape (n, k), optional
            Covariates that are in every fit, without a penalty, and never selected.
        rows_of : array of shape (n,), optional
            Labels of any type: rows with the same one, e.g. those of one patient, are resampled,
            split and left out together.
        offset : array of shape (n,), optional
            For counts: the logarithm of the exposure of each row.
        strata : array of shape (n,), optional
            Labels of any type. For survival each stratum has a hazard of its own; else an
            intercept.
        missing : {None, "impute"}
            What to do with missing values of X: refuse them, or fill them in by their conditional
            means, inside each resample where there are any.

        Returns
        -------
        self
            With `notes_`, sentences on what was noticed about the data and the result. Where rows
            are known not to be independent, `guarantee_` promises nothing.
        """
        self.cautions_ = ()
        self._imputed = False  # what `transform` accepts is known when this fit is
        with heard() as said, sharing():
            self._fit(X, y, RowArguments(sample_weight, keep, rows_of, offset, strata, missing))
        # how stable the selection is stands in the notes: more resamples are a next step
        self._noticed = tuple(one.message for one in said if one.category is not UnstableWarning)
        self._imputed = missing is not None
        self._finish()
        return self

    def _finish(self) -> None:
        """Do what is left when everything has been noticed; by default nothing."""

    def _fit(self, X: Any, y: Any, given: RowArguments) -> None:
        """Check the data, select, and weaken the promise where rows are not independent."""
        data, table, dependent = self._read(X, y, given)
        self.group_support_ = None  # what was selected before
        self._select(data, table)
        self._list_members()
        self._measured(data)
        self.guarantee_ = self._of_table(self.guarantee_, data, dependent)
        if self._of_copies is not None:
            self._of_copies = self._of_table(self._of_copies, data, dependent)
        self.duplicates_, self.near_duplicates_ = self._same_columns(data)

    @abstractmethod
    def _select(self, data: Data, table: Array) -> None:
        """Set support_, guarantee_ and what the method measures."""

    def _of_table(
        self, promise: Guarantee, data: Data, dependent: Sequence[Dependence]
    ) -> Guarantee:
        """Return what is left of a promise with these rows, in the words of what is selected."""
        for found in dependent:
            promise = found.weakened(promise)
        if data.imputation is not None:
            promise = promise.supposing(FILLED_IN)
        if data.units is not None:
            promise = replace(promise, units=f"the {data.n_units} groups of rows")
        return promise if self._grouping is None else for_groups(promise)

    def _measured(self, data: Data) -> None:
        """Measure the effects of what was selected, and keep the data where they are small."""
        self.effects_ = refit(data, self._unit_support())
        self._evidence = standard_errors_per_association(data) * self.effects_.association
        self._rows = int(np.count_nonzero(data.weight)), "rows"
        if data.units is not None:
            self._rows = int(data.units.max()) + 1, "groups of rows"
        self._data = None if data.stored or data.X.nbytes > KEPT_BYTES else data
        chosen = getattr(self, "selector_", None)
        if chosen is not None:  # of a selector that chose another one
            chosen.effects_, chosen._evidence = self.effects_, self._evidence
            chosen._rows = self._rows
            kept = self._data
            chosen._data = None if kept is None else kept._replace(l1_ratio=chosen._share())
            chosen._references = self._references

    def _same_columns(self, data: Data) -> tuple[dict[str, tuple[str, ...]], ...]:
        """Return the columns identical to selected ones, and those that nearly are.

        Categories and groups have none.
        """
        if self._grouping is not None:
            return {}, {}
        if data.variable is not None:
            alone = np.bincount(data.variable)[data.variable] == 1
            columns = np.flatnonzero(alone & self.support_[data.variable])
        else:
            columns = np.flatnonzero(self.support_)
        names = self._column_names()
        return tuple(
            {names[j]: tuple(names[k] for k in others) for j, others in found.items()}
            for found in checks.alike_columns(data, columns)
        )

    @property
    def notes_(self) -> tuple[str, ...]:
        """Sentences on what was noticed about the data and the result."""
        check_is_fitted(self, "support_")
        return tuple(dict.fromkeys((*self.cautions_, *self._notes(), *self._noticed)))

    def __getstate__(self) -> Any:
        """Return what is pickled: everything but the data."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_data"}

    def transform(self, X: Any) -> Any:
        """Return the selected columns; where nothing was selected, a table without columns.

        An estimator after the selector in a pipeline then needs `InterceptIfEmpty` around it, since
        those of scikit-learn refuse a table without columns.

        Parameters
        ----------
        X : table of shape (n, p)
            Missing values stay as they are, if `fit` was told what to do with them.

        Returns
        -------
        array of shape (n, k)
        """
        stored = stored_table(X)
        if stored is not None:
            return stored.columns_of(np.flatnonzero(self._get_support_mask()))
        return super().transform(plain(X))

    def _transform(self, X: Any) -> Any:
        """Return the selected columns of a table; its own words where there are none."""
        if self._get_support_mask().any():
            return super()._transform(X)
        warn(
            "Nothing was selected, so that transform returns a table without columns. An estimator "
            "that comes next in a pipeline then has to predict by its intercept alone: put "
            "selica.InterceptIfEmpty around it.",
            EmptySelectionWarning,
        )
        return X.iloc[:, :0] if hasattr(X, "iloc") else np.empty((X.shape[0], 0), dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self._imputed
        return tags
