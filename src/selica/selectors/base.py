"""What all selectors share: checking the table, the mask, the report."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from selica._core.errors import ArgumentError, RefusedError
from selica._core.losses import loss_of, read_response
from selica._core.losses.base import LARGEST_RESPONSE
from selica._core.losses.table import AUTO
from selica._core.memory import SMALL, check_memory
from selica._core.random import seed_sequence
from selica._core.shared_arrays import sharing
from selica._core.table import Table
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import LARGEST, number, printable
from selica._core.warning import heard, warn
from selica._core.wording import few
from selica.selectors import checks
from selica.selectors.agreement import Stability
from selica.selectors.checks import NEAR_CORRELATION, Column, Dependence
from selica.selectors.empty import Demand, RowsNeeded, standard_errors_per_association
from selica.selectors.frames import category_columns, encoded, named_columns, plain, refuse_gaps
from selica.selectors.group_map import GroupMap, group_map
from selica.selectors.grouping import Groups, for_groups, in_groups, read_groups
from selica.selectors.guarantee import Guarantee
from selica.selectors.refit import RefitEffects, refit
from selica.selectors.rows import RowArguments, column_variables
from selica.selectors.stability_path import StabilityPath, path_of_halves
from selica.selectors.stored import (
    LISTED_VARIABLES,
    refuse_stored,
    stored_data,
    stored_dependence,
    stored_names,
    stored_table,
)
from selica.selectors.summary import (
    NEAR_MISSES,
    Directions,
    Summary,
    TableColumn,
    effect_columns,
    order_of,
    reader_columns,
)
from selica.solvers.designs import DesignTable
from selica.statistics import Data, make_data
from selica.statistics.imputation import filled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LISTED_ITEMS = 3
"""How many pairs of columns a sentence lists."""
FILLED_IN = "the missing values, which were filled in, follow the other columns as known ones do"
"""What a promise rests on where missing values were filled in."""
_BYTES_WITH_GAPS = 64.0
"""Memory for each number of a table whose missing values are filled in for each resample."""
_BYTES_A_ROW = 1000.0
"""Memory for each row: its weights in all resamples, and in those that are fitted together."""
KEPT_BYTES = 256_000_000
"""Size of the largest table that a fitted selector keeps, for a stability path."""


class AssumptionWarning(UserWarning):
    """Something about the data weakens what a selection promises, or what it means."""


class EmptySelectionWarning(UserWarning):
    """Nothing was selected, and a table without columns is passed on."""


class UnstableWarning(UserWarning):
    """Another seed might decide most of it differently; more resamples would settle it."""


class NamedColumns(NamedTuple):
    """A table with names for a selector, where there is no data frame."""

    values: Array
    """(n, p)."""
    names: tuple[str, ...]
    """One for each variable."""
    target: str | None = None
    """Name of the response."""
    left_out: tuple[tuple[str, Column], ...] = ()
    """Further columns of the table, by name: not to be selected, but they may tell which rows
    belong together."""
    variable: IntArray | None = None
    """Number of the variable to which each column belongs, where one has several columns; `names`
    are then those of the variables."""
    columns: tuple[str, ...] = ()
    """Names of the columns, such as "tissue: liver", where they differ from those of variables."""
    references: tuple[str, ...] = ()
    """For each variable, the level of a category that has no column; empty for numbers."""


class Selector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
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

    response: str
    groups: Any = None
    groups_: IntArray | None = None
    group_names_: Any = None
    group_support_: BoolArray | None = None
    _grouping: Groups | None = None
    _bytes_each: float = 28.0
    """Memory for each number of the table: its standard form, and what solvers keep of it."""
    l1_ratio: float = 1.0
    estimator: Any = None
    support_: BoolArray
    guarantee_: Guarantee
    duplicates_: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    near_duplicates_: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    cautions_: tuple[str, ...] = ()
    _noticed: tuple[str, ...] = ()
    _variable: IntArray | None = None
    _columns: tuple[str, ...] = ()
    _references: tuple[str, ...] = ()
    _imputed: bool = False
    _most_listed: int | None = None
    """Variables of a summary, at most."""
    _of_copies: Guarantee | None = None
    """What knockoff copies promise by themselves, where the rule of the selector needs more."""
    note_: str | None = None
    effects_: RefitEffects | None = None
    stability_: Stability | None = None
    _evidence: Array | None = None
    _rows: tuple[int, str] = (0, "rows")
    _data: Data | None = None

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
        stored = stored_table(X)
        if stored is not None:
            data, table, dependent = self._stored(stored, stored_names(X), y, given)
        else:
            self._most_listed = None
            named = X if isinstance(X, NamedColumns) else self._named(X)
            name = named.target or getattr(y, "name", None)
            data, table, response = self._checked(named, y, given)
            dependent = self._cautioned(
                named._replace(target=name if isinstance(name, str) and name else "y"),
                data,
                table,
                response,
            )
        self.group_support_ = None  # what was selected before
        self._select(data, table)
        self._list_members()
        self._measured(data)
        self.guarantee_ = self._of_table(self.guarantee_, data, dependent)
        if self._of_copies is not None:
            self._of_copies = self._of_table(self._of_copies, data, dependent)
        self.duplicates_, self.near_duplicates_ = self._same_columns(data)

    def _stored(
        self, table: DesignTable, names: tuple[str, ...], y: Any, given: RowArguments
    ) -> tuple[Data, Any, list[Dependence]]:
        """Return data over a table that stays as it is stored, and what weakens the promise."""
        if not self._reads_stored():
            refuse_stored(self)
        self.n_features_in_, self._most_listed = table.shape[1], LISTED_VARIABLES
        self.__dict__.pop("feature_names_in_", None)
        if names:
            self.feature_names_in_ = np.array(names, dtype=object)
        data, response, read = stored_data(table, y, given, self.response)
        self.response_ = data.loss.response
        self.__dict__.pop("classes_", None)
        if read.classes is not None:
            self.classes_ = read.classes
        data = data._replace(l1_ratio=self._share())
        self._variable, self._columns, self._references = None, (), ()
        self._grouping = read_groups(self.groups, self._names(), data)
        if self._grouping is not None:
            data = self._grouping.in_columns(data)
        dependent = [] if data.units is not None else stored_dependence(data, response)
        for found in dependent:
            self._caution(found.caution)
        constant = int(np.count_nonzero(~data.varies))
        if constant:
            self._caution(
                f"{constant:,} of {data.varies.size:,} columns are constant and never selected",
                act=False,
            )
        return data, data.X, dependent

    def _reads_stored(self) -> bool:
        """Tell whether the rule of the selector works on a table that stays as it is stored."""
        return False

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

    def _list_members(self) -> None:
        """Select the members of the selected groups, where groups are what was selected from."""
        self.groups_ = self.group_names_ = None
        if self._grouping is not None:
            self.groups_ = self._grouping.of
            self.group_names_ = np.array(self._grouping.names, dtype=object)
            self.group_support_ = self.support_
            self.support_ = self.group_support_[self.groups_]

    def _named(self, X: Any) -> NamedColumns:
        """Return a table for a selector: sparse ones dense, categories as indicator columns."""
        X = plain(X)
        categories = category_columns(X)
        if not categories:
            return NamedColumns(X, ())
        validate_data(self, X, skip_check_array=True)  # takes note of the names
        _refuse_text(X, categories)
        found = encoded(X, categories)
        return NamedColumns(
            found.values, found.names, variable=found.variable, columns=found.columns,
            references=found.references,
        )  # fmt: skip

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

    def _column_names(self) -> list[str]:
        """Return the name of the variable of each column."""
        names = self._names()
        return names if self._variable is None else [names[v] for v in self._variable]

    def _checked(
        self, named: NamedColumns, y: Any, given: RowArguments
    ) -> tuple[Data, Array, Column]:
        """Return the data in standard form, the table and the response as they are."""
        table, target = self._validated(named, y, given.impute)
        if named.names:
            self.feature_names_in_ = np.array(named.names, dtype=object)
            self.n_features_in_ = len(named.names)
        n = len(table)
        self._check_fits(table, given.impute and bool(np.isnan(table).any()))
        table, imputation = filled(table) if given.impute else (table, None)
        if np.abs(table).max() > LARGEST_RESPONSE:
            raise RefusedError(
                f"X has values beyond {LARGEST_RESPONSE:g}, which cannot be squared; rescale them."
            )
        loss, read = read_response(self.response, target)
        self.response_ = loss.response
        self.__dict__.pop("classes_", None)
        if read.classes is not None:
            self.classes_ = read.classes
            if loss.several and 2 * len(read.classes) > n:
                raise RefusedError(
                    f"y has {len(read.classes)} different values in {n} rows, too many for classes."
                )
        data = make_data(
            table, given.response(read.values, n, loss), loss, given.weight(n),
            keep=given.covariates(n, loss), units=given.units(n),
            variable=column_variables(named.variable, table.shape[1]), imputation=imputation,
        )._replace(l1_ratio=self._share())  # fmt: skip
        self._variable, self._columns = data.variable, named.columns
        self._references = named.references
        self._grouping = read_groups(self.groups, self._names(), data)
        if self._grouping is not None:
            data = self._grouping.in_columns(data)
        return data, table, target

    def _check_fits(self, table: Array, gaps: bool) -> None:
        """Refuse a table for which there is not enough memory, before the work begins."""
        n, p = table.shape
        each = _BYTES_WITH_GAPS if gaps else self._bytes_each
        needed = n * (p * each + _BYTES_A_ROW)
        if needed > SMALL:
            check_memory(
                f"a selection from {n:,} x {p:,} numbers{' with missing values' if gaps else ''}",
                needed, "leave columns or rows out",
            )  # fmt: skip

    def _validated(self, named: NamedColumns, y: Any, missing: bool) -> tuple[Array, Column]:
        """Return table and response as arrays, checked as scikit-learn does."""
        settings: dict[str, Any] = {
            "dtype": np.float64,
            "accept_sparse": False,
            "ensure_min_samples": 2,
            "ensure_all_finite": "allow-nan" if missing else True,
        }
        of_times = loss_of("survival")
        if getattr(getattr(y, "dtype", None), "kind", "") in ("m", "M"):
            raise ArgumentError("y holds dates; it must be numbers or classes.")
        try:
            if self.response != of_times.response and not of_times.takes(y):
                table, target = validate_data(self, named.values, y, **settings)
                return table, target
            table = validate_data(self, named.values, **settings)
        except (TypeError, ValueError):
            _refuse_text(named.values)
            refuse_gaps(named.values, infinite_only=missing)
            raise
        times = of_times.read(y).values
        if len(times) != len(table):
            raise ArgumentError(
                f"y must have one time and event for each of the {len(table)} rows of X; got "
                f"{len(times)}."
            )
        return table, times

    def _cautioned(
        self, named: NamedColumns, data: Data, table: Array, response: Column
    ) -> list[Dependence]:
        """Say what about the table weakens the selection; return what weakens its promise."""
        names, target = self._column_names(), printable(str(named.target))
        whole = checks.whole_columns(table, checks.FEWEST_GROUPS - 1)
        copies = checks.copied_rows(table, checks.one_column(response))
        dependent = [] if copies is None else [copies]
        if data.units is None:  # else it has been said which rows belong together
            dependent += checks.repeated_measures(named.left_out)
            dependent += checks.repeated_measures(
                ((names[j], table[:, j]) for j in whole), variables=True
            )
        for found in dependent:
            self._caution(found.caution)
        for caution, act in self._about_columns(data, table, names, whole):
            self._caution(caution, act=act)
        left_out = [name for name, _ in named.left_out]
        said = None
        if self.response == AUTO and len(data.loss.fields) == 1:
            said = checks.survival(target, response, names, table, left_out)
        if said is None and data.loss.quadratic and self.response == AUTO:
            said = checks.few_values(target, response.astype(float))
        if said is not None:
            self._caution(said)
        return dependent

    def _about_columns(
        self, data: Data, table: Array, names: list[str], whole: Any
    ) -> Iterator[tuple[str, bool]]:
        """Yield clauses on columns that are constant, numbers of rows, or the same as others.

        Beside each stands whether a person should act on it.
        """
        constant = np.flatnonzero(~data.varies)
        if constant.size:
            yield f"constant columns are never selected: {self._listed(constant)}", False
        for j in checks.identifiers(names, table, whole):
            yield (
                f"column {names[j]!r} has a different whole number in every row, as row numbers "
                "and identifiers do: if it is one, leave it out (on the command line: --drop "
                f"{names[j]!r})",
                True,
            )
        pairs = checks.near_duplicates(data)
        if pairs and data.member is not None:  # members of a group need not be told apart
            unit = data.variable
            assert unit is not None
            pairs = [(i, j) for i, j in pairs if unit[i] != unit[j]]
        if pairs:
            shown = [f"{names[i]} and {names[j]}" for i, j in pairs[:_LISTED_ITEMS]]
            rest = len(pairs) - _LISTED_ITEMS
            more = f", and {rest} more pairs" if rest > 0 else ""
            yield (
                f"near-duplicate columns (correlation above {NEAR_CORRELATION}) compete for "
                "selection, so that either of a pair may be selected in place of the other: "
                f"{', '.join(shown)}{more}",
                False,
            )
        same = checks.identical_groups(data) if pairs is None else []
        if same:
            several = sum(group.size for group in same)
            yield (
                f"{several} of {len(names)} columns are identical to another one up to sign and "
                f"scale, e.g. {' and '.join(names[j] for j in same[0][:2])}: the data "
                "cannot tell them apart, and the table lists those that are identical to a "
                "selected column beside it",
                False,
            )

    def _share(self) -> float:
        """Return the share of the l1 norm in the penalty, checked."""
        share = number("l1_ratio", self.l1_ratio, at_least=1.0 / LARGEST, at_most=1.0)
        if share < 1.0 and self.estimator is not None:
            raise ArgumentError(
                "l1_ratio is a setting of the built-in penalised fit; leave it out where "
                "estimator is given."
            )
        return share

    @property
    def notes_(self) -> tuple[str, ...]:
        """Sentences on what was noticed about the data and the result."""
        check_is_fitted(self, "support_")
        return tuple(dict.fromkeys((*self.cautions_, *self._notes(), *self._noticed)))

    def _caution(self, clause: str, *, act: bool = True) -> None:
        """Say what about the data weakens the selection; warn where a person should act on it."""
        caution = f"{clause[0].upper()}{clause[1:]}."
        self.cautions_ = (*self.cautions_, caution)
        if act:
            warn(caution, AssumptionWarning)

    def _listed(self, columns: Any, most: int = 5) -> str:
        """Return the names of columns for a sentence, not too many."""
        names = self._column_names()
        return few(list(dict.fromkeys(names[j] for j in columns)), most)

    @abstractmethod
    def _select(self, data: Data, table: Array) -> None:
        """Set support_, guarantee_ and what the method measures."""

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        return self.support_

    def _names(self) -> list[str]:
        """Return the names of the columns as they can be printed, or x0, x1, ..."""
        if hasattr(self, "feature_names_in_"):
            return [printable(str(name)) for name in self.feature_names_in_]
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _unit_names(self) -> list[str]:
        """Return the names of what is selected or not: variables, or groups of them."""
        return self._names() if self._grouping is None else list(self._grouping.names)

    def _unit_support(self) -> BoolArray:
        """Return which variables, or groups of them, are selected."""
        return self.support_ if self.group_support_ is None else self.group_support_

    def _words(self, text: str) -> str:
        """Return a sentence on variables in the words of what is selected."""
        return text if self._grouping is None else in_groups(text, self._grouping.names)

    @abstractmethod
    def summary(self) -> Summary:
        """Return the variables, what was measured of each, and the decision."""

    def _ranked(
        self,
        title: str,
        measured: TableColumn,
        *first: Array,
        ties: str = "",
        more: Sequence[TableColumn] = (),
    ) -> Summary:
        """Return a summary by what decides, without ties, with direction and size of effects.

        Parameters
        ----------
        title : str
        measured : TableColumn
            What decides, of each variable.
        *first : arrays of shape (p,)
            Variables are ranked by the first, largest on top; where it is the same, by the second,
            and so on; then by their own association with the response.
        ties : str
            What the second of them is, as a clause; empty if there is one only.
        more : sequence of TableColumn
            Further columns, such as standard errors.
        """
        self._get_support_mask()
        names, support = self._unit_names(), self._unit_support()
        chosen, unit = int(np.count_nonzero(support)), self._words("variable")
        measured, *more = (
            one._replace(meaning=self._words(one.meaning)) for one in (measured, *more)
        )
        keys, sizes = list(first), list[TableColumn]()
        if self.effects_ is not None:
            keys.append(self.effects_.association)
            sizes = effect_columns(self.effects_, len(names), self._directions())
        columns = [measured, *(one for one in more if not one.last), *sizes,
                   *(one for one in more if one.last), *self._member_columns()]  # fmt: skip
        order = order_of(support, keys)[: self._most_listed]
        rows = Table.of(
            {"rank": rank, unit: names[j], "selected": bool(support[j])}
            | {one.name: one.values[j] for one in columns}
            for rank, j in enumerate(order, start=1)
        )
        shown = reader_columns(rows.rows)
        explained = {c.name: c.meaning for c in columns if c.meaning and c.name in shown}
        if chosen and self.effects_ is not None:
            explained[self.effects_.ratio or "effect"] = self._directions().size(self.effects_)
        then = [part for part in (ties, "the association with the response") if part]
        explained["rank"] = f"by {measured.name}; ties by {', then by '.join(then)}"
        units = unit if len(names) == 1 else f"{unit}s"
        heading = f"{title}: {chosen:,} of {len(names):,} {units}"
        return Summary(
            heading, self._with_duplicates(rows), str(self.guarantee_), self._notes(),
            chosen + NEAR_MISSES, measured.name, explained, unit=unit,
        )  # fmt: skip

    def _member_columns(self) -> list[TableColumn]:
        """Return how many members groups have, and which, as columns of a table."""
        if self._grouping is None:
            return []
        members = self._grouping.members(self._names())
        return [
            TableColumn("members", [len(one) for one in members], ""),
            TableColumn(
                "in this group", [", ".join(one) for one in members],
                "the members of the group; it is selected as a whole, and which of them matter is "
                "not said",
                last=True,
            ),
        ]  # fmt: skip

    def _directions(self) -> Directions:
        """Return how directions are called."""
        classes = getattr(self, "classes_", None)
        several = classes is not None and len(classes) > 2
        variable, names, references = self._variable, self._names(), self._references
        if self._grouping is not None:
            variable, names, references = self._directed(self._grouping)
        return Directions(
            classes, several, self.response_, names, self._columns, variable, references,
            grouped=self._grouping is not None,
        )  # fmt: skip

    def _directed(self, groups: Groups) -> tuple[IntArray, list[str], tuple[str, ...]]:
        """Return the group of each column, and names and references of groups with one member."""
        own = groups.of if self._variable is None else groups.of[self._variable]
        names, references = list(groups.names), [""] * len(groups.names)
        for j, group in enumerate(groups.of):
            if groups.sizes[group] == 1:
                names[group] = self._names()[j]
                references[group] = self._references[j] if self._references else ""
        return own, names, tuple(references)

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

    def __getstate__(self) -> Any:
        """Return what is pickled: everything but the data."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_data"}

    def _with_duplicates(self, rows: Table) -> Table:
        """Return the table with the columns that are identical, or nearly, to selected ones."""
        for column, found in (
            ("identical to", self.duplicates_),
            ("nearly identical to", self.near_duplicates_),
        ):
            if found:
                listed = {name: few(same) for name, same in found.items()}
                rows = Table.of(row | {column: listed.get(row["variable"])} for row in rows)
        return rows

    def explain(self) -> str:
        """Say why nothing was selected, and what would have selected something."""
        self._get_support_mask()
        units = self._unit_support()
        if units.any():
            chosen = int(np.count_nonzero(units))
            return self._words(f"{chosen:,} of {units.size:,} variables were selected.")
        return " ".join(["Nothing was selected.", self._words(self._why()), *self._more_rows()])

    @abstractmethod
    def _why(self) -> str:
        """Say what a selection would have needed, where there is none."""

    def _demand(self) -> Demand | None:
        """Return what the rule asks of the strongest variables; None where it is not known."""
        return None

    def _more_rows(self) -> tuple[str, ...]:
        """Say how many rows a selection would have needed, as far as it is known."""
        demand, (rows, unit) = self._demand(), self._rows
        # of the strongest of several members, it is not known how strong chance makes it
        if demand is None or self._evidence is None or self._grouping is not None:
            return ()
        found = RowsNeeded.of(demand, self._evidence, rows)
        return () if found is None else (found.sentence(self._names(), unit),)

    def _notes(self) -> tuple[str, ...]:
        """Return what a summary adds: why it is empty, what is alike, the engine, how stable."""
        nothing = () if self.support_.any() else (self.explain(),)
        engine = () if self.note_ is None else (self.note_,)
        stable = () if self.stability_ is None else (self._words(self.stability_.words),)
        return (*nothing, *self._group_notes(), *self._duplicate_notes(), *engine, *stable)

    def _group_notes(self) -> tuple[str, ...]:
        """Return a sentence on the groups, where there are any."""
        if self._grouping is None:
            return ()
        many, p = len(self._grouping.names), self._grouping.of.size
        are = "variable is" if p == 1 else "variables are"
        groups = "1 group" if many == 1 else f"{many:,} groups"
        return (f"{p:,} {are} in {groups} ({self._grouping.origin}).",)

    def _duplicate_notes(self) -> tuple[str, ...]:
        """Return sentences on columns that are identical to selected ones."""
        notes = tuple(
            f"{name} is identical to {few(others)}, up to sign and scale: the data cannot tell "
            "which of them matters."
            for name, others in list(self.duplicates_.items())[:_LISTED_ITEMS]
        )
        more = len(self.duplicates_) - _LISTED_ITEMS
        if more <= 0:
            return notes
        has = (
            "1 more selected variable has" if more == 1 else f"{more} more selected variables have"
        )
        return (*notes, f"{has} such duplicates; the table lists them.")

    def stability_path(self) -> StabilityPath:
        """Compute how often random halves of the rows select each variable, along the penalty.

        It shows a selection by any method beside what the lasso keeps selecting.

        Examples
        --------
        >>> from selica import KnockoffSelection
        >>> from selica.sampling import simulate
        >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
        >>> selector = KnockoffSelection(random_state=0).fit(data.X, data.y)
        >>> selector.stability_path().probabilities.shape
        (30, 30)
        """
        self._get_support_mask()
        chosen = getattr(self, "selector_", None)
        if chosen is not None:
            path: StabilityPath = chosen.stability_path()
            return path
        if self._data is None:
            raise ArgumentError(
                "The data of the fit are not kept (they are large, or the selector was pickled): "
                "fit it again for a stability path."
            )
        parameters = self.get_params(deep=False)
        seed = seed_sequence(parameters.get("random_state"))
        return path_of_halves(
            self._data, seed, self._unit_names(), self._unit_support(), parameters.get("n_jobs")
        )

    def group_map(self) -> GroupMap:
        """Compute how the variables of groups are correlated, for a map of the first groups.

        Examples
        --------
        >>> import numpy as np
        >>> from selica import LassoSelection
        >>> X = np.random.default_rng(0).standard_normal((50, 6))
        >>> selector = LassoSelection(0.1, groups=[0, 0, 0, 1, 1, 1]).fit(X, X[:, 0])
        >>> selector.group_map().group_names
        ('0', '1')
        """
        self._get_support_mask()
        chosen = getattr(self, "selector_", None)
        if chosen is not None:
            found: GroupMap = chosen.group_map()
            return found
        if self._grouping is None:
            raise ArgumentError("groups were not given, so that there is nothing to map.")
        if self._data is None:
            raise ArgumentError(
                "The data of the fit are not kept (they are large, or the selector was pickled): "
                "fit it again for a map of the groups."
            )
        place = {name: group for group, name in enumerate(self._grouping.names)}
        return group_map(
            self._data, self._grouping.of, self._grouping.names, self._unit_support(),
            names=self._names(), variable=self._variable,
            rank=[place[row["group"]] for row in self.summary().variables],
        )  # fmt: skip

    @abstractmethod
    def plot(self) -> Figure:
        """Draw what was measured, with the threshold (needs matplotlib)."""

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


def is_mapped(selector: Selector) -> bool:
    """Tell whether a fitted selector has groups, and the data for a map of them."""
    chosen: Any = getattr(selector, "selector_", selector)
    return chosen._grouping is not None and chosen._data is not None


def _refuse_text(X: Any, categories: Sequence[Any] = ()) -> None:
    """Name the columns of a table that are neither numbers nor categories."""
    names = named_columns(X)
    if names is not None:
        columns = {printable(str(name)): X[name] for name in names if name not in categories}
    else:
        values = np.asarray(X)
        if values.ndim != 2 or values.dtype.kind not in "OUS":
            return
        columns = {f"x{j}": values[:, j] for j in range(values.shape[1])}
    text = [name for name, values in columns.items() if not _are_numbers(values)]
    if not text:
        return
    raise ArgumentError(
        f"X: text and dates are not numbers, in {'column' if len(text) == 1 else 'columns'} "
        f"{few([repr(name) for name in text])}: leave them out, or make categories of them (in "
        "pandas, X.astype({...: 'category'})); selica.select reads any table."
    )


def _are_numbers(column: Any) -> bool:
    """Tell whether neither text nor dates are a reason to refuse a column."""
    values = np.asarray(column)
    if values.dtype.kind in "mM":
        return False
    try:
        values.astype(float)
    except ValueError:
        return False
    except TypeError:  # missing values and other objects: scikit-learn has words for them
        pass
    return True
