"""How a selector reads a table and a response: what it accepts, refuses and says about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from selica._core.errors import ArgumentError, RefusedError
from selica._core.losses import loss_of, read_response
from selica._core.losses.base import LARGEST_RESPONSE
from selica._core.losses.table import AUTO
from selica._core.memory import SMALL, check_memory
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST, number, printable
from selica._core.warning import cautioned
from selica._core.wording import few
from selica.selectors import checks
from selica.selectors.checks import NEAR_CORRELATION, Column, Dependence
from selica.selectors.frames import category_columns, encoded, named_columns, plain, refuse_gaps
from selica.selectors.grouping import read_groups
from selica.selectors.rows import RowArguments, column_variables
from selica.selectors.stored import (
    LISTED_VARIABLES,
    refuse_stored,
    stored_data,
    stored_dependence,
    stored_names,
    stored_table,
)
from selica.selectors.units import SelectedUnits
from selica.solvers.designs import DesignTable
from selica.statistics import Data, make_data
from selica.statistics.imputation import filled

_LISTED_ITEMS = 3
"""How many pairs of columns a sentence lists."""
_BYTES_WITH_GAPS = 64.0
"""Memory for each number of a table whose missing values are filled in for each resample."""
_BYTES_A_ROW = 1000.0
"""Memory for each row: its weights in all resamples, and in those that are fitted together."""


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


class TableReader(SelectedUnits):
    """The part of a selector that turns what `fit` was given into `Data`.

    `_checked` reads a table of ordinary numbers and `_cautioned` says what about it weakens the
    selection; `_stored` does both for a table that stays as it is stored.
    """

    response: str
    l1_ratio: float = 1.0
    estimator: Any = None
    cautions_: tuple[str, ...] = ()
    _bytes_each: float = 28.0
    """Memory for each number of the table: its standard form, and what solvers keep of it."""
    if TYPE_CHECKING:  # set by a fit
        response_: str

    def _read(self, X: Any, y: Any, given: RowArguments) -> tuple[Data, Any, list[Dependence]]:
        """Return the data, the table as it is, and what weakens the promise."""
        stored = stored_table(X)
        if stored is not None and self._unpacks(stored):
            X, stored = NamedColumns(stored.dense(), stored_names(X)), None
        if stored is not None:
            return self._stored(stored, stored_names(X), y, given)
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
        return data, table, dependent

    def _share(self) -> float:
        """Return the share of the l1 norm in the penalty, checked."""
        share = number("l1_ratio", self.l1_ratio, at_least=1.0 / LARGEST, at_most=1.0)
        if share < 1.0 and self.estimator is not None:
            raise ArgumentError(
                "l1_ratio is a setting of the built-in penalised fit; leave it out where "
                "estimator is given."
            )
        return share

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

    def _unpacks(self, table: DesignTable) -> bool:
        """Tell whether a stored table is made of ordinary numbers before the rule is applied."""
        del table
        return False

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
            checks.refuse_many_classes(loss, read.classes, n)
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

    def _caution(self, clause: str, *, act: bool = True) -> None:
        """Say what about the data weakens the selection; warn where a person should act on it."""
        self.cautions_ = cautioned(self.cautions_, clause, act=act)

    def _listed(self, columns: Any, most: int = 5) -> str:
        """Return the names of columns for a sentence, not too many."""
        names = self._column_names()
        return few(list(dict.fromkeys(names[j] for j in columns)), most)


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
