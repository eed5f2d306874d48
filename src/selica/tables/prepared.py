"""A table made ready for a selector: variables, response and everything that was decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError, RefusedError
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import choice, short, written
from selica.tables.categories import indicators
from selica.tables.columns import LISTED_NAMES, Column, Columns, columns_are, counted, listed, typed
from selica.tables.kinds import (
    KINDS,
    USABLE,
    ColumnKind,
    Recognised,
    is_category,
    levels_of,
    recognise,
)
from selica.tables.missing import (
    MOST_MISSING,
    POLICIES,
    MissingCells,
    counts,
    stand_ins,
)
from selica.tables.naming import is_of_groups
from selica.tables.numbers_in_text import numbers_in
from selica.tables.objects import as_columns
from selica.tables.responses import Outcome, outcome
from selica.tables.roles import Roles, assign, meant

_ASKED = "was to be left out"
"""Why a column is left out that a user names."""
_OTHERS = {
    "missing": "with missing values",
    "response": "that seem to belong to the response",
}
"""What columns that are left out are called together, whatever their kind."""
_GROUPS = {
    "identifier": "that name rows",
    "date": "of dates",
    "constant": "with one value",
    "text": "of text",
    "empty": "without any value",
}
"""What columns that are left out are called together, by their kind."""
_FEWEST_CASES = 5
"""Rows of a class, or events, below which a note says that they are few."""
_MOST_CODES = 10
"""Different whole numbers that may be codes of groups."""


class LeftOut(NamedTuple):
    """A column that is no variable, though nothing else was asked of it.

    Examples
    --------
    >>> from selica.tables import prepare
    >>> table = {"day": ["2026-01-02", "2026-01-09"], "dose": [1, 2], "y": [3, 5]}
    >>> [(one.name, one.reason) for one in prepare(table, "y").left_out]
    [('day', 'is a date')]
    """

    name: str
    reason: str
    """A clause without its subject, such as "is a date"."""
    values: Column
    """In the rows that are used."""
    asked: bool = False
    """Whether a note asks about it, since it seems to be a part of the response."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A table made ready for a selector.

    Attributes
    ----------
    X : array of shape (n, c), or Genotypes
        Columns of the variables; NaN where a value is missing and is to be filled in.
    columns : tuple of str
        Names of the columns of X; those of a category are called "tissue: liver".
    names : tuple of str
        Names of the p variables.
    variable : array of int of shape (c,)
        The variable that each column belongs to.
    references : tuple of str
        For each variable, the value of a category that has no column; empty for numbers.
    y : array of shape (n,) or (n, 2)
        Numbers, or text of classes; times and events for survival.
    target : str
        Name of the response.
    response : str
        "linear", "binary", "count", "survival", "classes", or "auto" where nothing was asked and
        the response is numbers with more than two values.
    keep : array of shape (n, k) or None
        Columns to keep, with nothing missing.
    keep_names : tuple of str
    sample_weight, offset : array of shape (n,) or None
    strata, rows_of : array of int of shape (n,) or None
        Numbers of the strata, and of what rows belong to.
    rows : array of int of shape (n,)
        Rows of the table that are used.
    kinds : tuple of ColumnKind
        What every column of the table is, and is used for.
    left_out : tuple of LeftOut
        Columns that are no variables, with the reason.
    missing : MissingCells
        Missing values among the variables.
    notes : tuple of str
        Sentences on what was done with the table.
    questions : tuple of str
        Those of the notes that only the user can settle.

    Examples
    --------
    >>> from selica.tables import prepare
    >>> table = {
    ...     "patient": ["a", "b", "c", "d", "e", "f"],
    ...     "tissue": ["liver", "lung", "lung", "skin", "lung", "liver"],
    ...     "age": [61, 58, None, 70, 66, 59],
    ...     "well": ["yes", "no", "no", "yes", "no", "yes"],
    ... }
    >>> prepared = prepare(table, "well")
    >>> prepared.names, prepared.columns
    (('tissue', 'age'), ('tissue: liver', 'tissue: skin', 'age'))
    >>> prepared.response, prepared.left_out[0][:2]
    ('binary', ('patient', 'has a different value in every row, as names do'))
    """

    X: Any
    columns: tuple[str, ...]
    names: tuple[str, ...]
    variable: IntArray
    references: tuple[str, ...]
    y: NDArray[Any]
    target: str
    response: str
    keep: Array | None
    keep_names: tuple[str, ...]
    sample_weight: Array | None
    offset: Array | None
    strata: IntArray | None
    rows_of: IntArray | None
    rows: IntArray
    kinds: tuple[ColumnKind, ...]
    left_out: tuple[LeftOut, ...]
    missing: MissingCells
    notes: tuple[str, ...]
    questions: tuple[str, ...]


def prepare(
    table: Any,
    target: Any = None,
    *,
    time: Any = None,
    event: Any = None,
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    rows_of: Any = None,
    weights: Any = None,
    offset: Any = None,
    strata: Any = None,
    missing: str = "impute",
    response: str = "auto",
    kinds: Mapping[str, str] | None = None,
) -> Prepared:
    """Make a table ready for a selector, and say what was done with it.

    Parameters
    ----------
    table : path, data frame, array, sparse matrix or dictionary
        As in `as_columns`.
    target : str or array of shape (n,)
        Column to explain; for arrays also the values themselves.
    time, event : str
        In the place of a target: times until an event, and whether it was observed (0 and 1, 1
        and 2, true and false, or words such as dead and alive).
    keep : str or iterable of str
        Covariates that always stay: names, "age,sex" or ranges such as "pc1-pc10".
    drop : str or iterable of str
        Columns to leave out.
    rows_of : str
        Column that says which rows belong together, such as the number of a patient.
    weights : str
        Column of the weights of the rows.
    offset : str
        Column of the logarithm of the exposure of a count, or "log(exposure)".
    strata : str
        Column of the strata.
    missing : {"impute", "drop-rows", "drop-columns"}
        What is done with missing values. "impute" leaves NaN in X for the selector to fill in. In
        any case rows without a response and columns without half of their values are left out.
    response : {"auto", "linear", "binary", "count", "survival", "classes", "ordinal"}
        What the response is. "auto" takes two values as "binary" and text with more as "classes";
        "ordinal" takes values in their order as scores of a linear model.
    kinds : mapping of str to str
        Kinds of columns that are recognised wrongly, such as ``{"batch": "category"}``.

    Returns
    -------
    Prepared

    Examples
    --------
    >>> from selica.tables import prepare
    >>> prepared = prepare({"sex": ["f", "m", "f"], "dose": [1.5, 2, 4], "y": [0.2, 1, 3]}, "y")
    >>> prepared.columns, prepared.X.tolist()
    (('sex: m', 'dose'), [[0.0, 1.5], [1.0, 2.0], [0.0, 4.0]])
    """
    given = {
        "target": target,
        "time": time,
        "event": event,
        "keep": keep,
        "drop": drop,
        "rows_of": rows_of,
        "weights": weights,
        "offset": offset,
        "strata": strata,
    }
    return made_ready(as_columns(table), given, missing, response, kinds)


def made_ready(
    table: Columns,
    uses: Mapping[str, Any],
    missing: str,
    response: str,
    kinds: Mapping[str, str] | None,
    *,
    elsewhere: bool = False,
) -> Prepared:
    """Make a table ready, as `prepare` does; its variables may be elsewhere, as genotypes are.

    Parameters
    ----------
    table : Columns
    uses : mapping of str to object
        What columns are for, as `roles.assign` takes it.
    missing, response, kinds
        As in `prepare`.
    elsewhere : bool
        Whether a table without variables is allowed: then X has no columns.
    """
    choice("missing", missing, POLICIES)
    columns, roles = assign(table, uses)
    if len(columns) < 2:
        raise RefusedError("There must be at least two rows; the table has one.")
    given = _given(kinds, columns)
    columns, taken = _as_asked(columns, given)
    columns, notes = _finite(columns)
    read = outcome(columns, roles, response)
    beside, usable, dropped = _beside(columns, roles, read)
    chosen = _Chosen(_taken(columns, np.flatnonzero(usable)), roles, given, read.related, elsewhere)
    rows = np.flatnonzero(usable)
    notes = [*columns.notes, *taken, *notes, *dropped, *read.notes, *read.questions]
    work = chosen.sorted_out(missing)
    touched = work.missing
    if missing == "drop-rows" and touched.cells:
        whole = ~work.incomplete
        if np.count_nonzero(whole) < 2:
            raise RefusedError(
                f"missing: {_rows_left(whole)} without missing values; choose 'impute' or "
                "'drop-columns'."
            )
        rows = rows[whole]
        chosen = chosen.taken(np.flatnonzero(whole))
        work = chosen.sorted_out(missing)
    variables = _encoded(chosen.table, work.variables, work.kinds)
    kept = _encoded(chosen.table, roles.keep, work.kinds)
    keep_values, filled = _filled(kept)
    sentence = touched.sentence(int(np.count_nonzero(usable)))
    together = _part(beside.rows_of, rows)
    notes += [
        *_together_note(roles.rows_of, together),
        *_left_out_note(work.left_out, work.kinds),
        *variables.notes,
        *kept.notes,
        *filled,
        *(() if sentence is None else (sentence,)),
        *_few_cases(read, rows),
    ]
    questions = [*_questions(chosen.table, work), *_of_response(columns, roles)]
    return Prepared(
        X=variables.values,
        columns=variables.columns,
        names=work.variables,
        variable=variables.variable,
        references=variables.references,
        y=read.y[rows],
        target=read.target,
        response=read.response,
        keep=keep_values if roles.keep else None,
        keep_names=kept.columns,
        sample_weight=_part(beside.weights, rows),
        offset=_part(beside.offset, rows),
        strata=_part(beside.strata, rows),
        rows_of=together,
        rows=rows,
        kinds=work.table_of_kinds(chosen.table, roles),
        left_out=work.left_out,
        missing=touched,
        notes=tuple(dict.fromkeys([*notes, *questions])),
        questions=(*read.questions, *questions),
    )


def _given(kinds: Any, table: Columns) -> dict[str, str]:
    """Return the kinds that a user gives, checked."""
    if kinds is None:
        return {}
    if not isinstance(kinds, Mapping):
        raise ArgumentError(f"kinds must map names to kinds; got {short(kinds)}.")
    problems = []
    for name, kind in kinds.items():
        if name not in table.names:
            problems.append(f"kinds: there is no column {name!r}{meant(str(name), table.names)}")
        if kind not in KINDS:
            problems.append(str(ArgumentError.choice(f"kinds: {name!r}", kind, KINDS)))
    if problems:
        raise ArgumentError(" ".join(problems))
    return dict(kinds)


def _as_asked(table: Columns, given: Mapping[str, str]) -> tuple[Columns, list[str]]:
    """Return the table with columns as numbers, or as text, where a user says what they are."""
    values, notes, remarks = list(table.values), list[str](), dict(table.remarks)
    for name, kind in given.items():
        j = table.names.index(name)
        if kind == "number" and values[j].dtype == object:
            values[j], said = _forced(name, values[j])
            notes += said
            remarks.pop(name, None)
        if kind == "category" and values[j].dtype != object:
            levels = levels_of(values[j])
            values[j] = np.array([*levels.words, None], dtype=object)[levels.codes]
    if not given:
        return table, notes
    return replace(table, values=tuple(values), remarks=remarks), notes


def _forced(name: str, values: Column) -> tuple[Array, list[str]]:
    """Return text as numbers, with notes on cells that are limits, or none."""
    read = numbers_in(values)
    if not read.mostly:
        raise ArgumentError(
            f"kinds: {name!r} cannot be taken as numbers: {_cells(read.others)} no number."
        )
    notes = []
    if read.limits:
        notes.append(f"{name!r}: {_cells(read.limits)} taken as the limit itself.")
    if read.others:
        notes.append(f"{name!r}: {_cells(read.others)} no number, and taken as missing.")
    return read.values, notes


def _cells(cells: Sequence[str]) -> str:
    """Return cells as the beginning of a clause, with its verb."""
    shown = listed(list(dict.fromkeys(cells)))
    return f"{counted(len(cells), 'cell')} ({shown}) {'is' if len(cells) == 1 else 'are'}"


def _finite(table: Columns) -> tuple[Columns, list[str]]:
    """Return the table with infinite values as missing ones."""
    found: dict[int, Column] = {}
    cells = 0
    for j, values in enumerate(table.values):
        if values.dtype == object:
            continue
        # the sum of finite numbers is finite, unless they are huge
        with np.errstate(invalid="ignore", over="ignore"):
            total = values.sum()
        if not np.isfinite(total):
            infinite = np.isinf(values)
            if infinite.any():
                cells += int(np.count_nonzero(infinite))
                found[j] = np.where(infinite, np.nan, values)
    if not found:
        return table, []
    finite = tuple(found.get(j, column) for j, column in enumerate(table.values))
    named = listed([table.names[j] for j in found])
    note = (
        f"{counted(cells, 'infinite value')} {'is' if cells == 1 else 'are'} taken as missing, in "
        f"{named}."
    )
    return replace(table, values=finite), [note]


class _Beside(NamedTuple):
    """What a selector is given beside variables and response."""

    weights: Array | None
    offset: Array | None
    strata: IntArray | None
    rows_of: IntArray | None


def _beside(table: Columns, roles: Roles, read: Outcome) -> tuple[_Beside, BoolArray, list[str]]:
    """Return what goes beside the variables, the rows that can be used, and notes on the others."""
    by_name = dict(zip(table.names, table.values, strict=True))
    lacking = {f"response ({read.target!r})": ~read.known}
    weights = offset = None
    if roles.weights is not None:
        weights = _numbers("weights", roles.weights, by_name)
        if np.any(weights < 0.0):
            raise ArgumentError(
                f"weights: {roles.weights!r} must not be negative; got "
                f"{written(weights[weights < 0.0][0])}."
            )
        lacking[f"weight ({roles.weights!r})"] = np.isnan(weights)
    if roles.offset is not None:
        if read.response != "count":
            raise ArgumentError(
                "offset is for counts: ask for response='count' (--response count)."
            )
        offset = _numbers("offset", roles.offset, by_name)
        if roles.logarithm:
            if np.any(offset <= 0.0):
                raise ArgumentError(f"offset: {roles.offset!r} must be positive in every row.")
            offset = np.log(offset)
        lacking[f"offset ({roles.offset!r})"] = np.isnan(offset)
    strata = rows_of = None
    if roles.strata is not None:
        strata = levels_of(by_name[roles.strata]).codes
        lacking[f"stratum ({roles.strata!r})"] = strata < 0
    if roles.rows_of is not None:
        rows_of = _labels(by_name[roles.rows_of])
    usable = np.ones(len(table), dtype=bool)
    notes: list[str] = []
    for what, gone in lacking.items():
        count = int(np.count_nonzero(gone & usable))
        usable &= ~gone
        if count:
            notes.append(
                f"{count:,} of {len(table):,} rows {'has' if count == 1 else 'have'} no {what} and "
                f"{'is' if count == 1 else 'are'} left out."
            )
    if np.count_nonzero(usable) < 2:
        raise RefusedError(f"There must be at least two rows; {_rows_left(usable)}.")
    return _Beside(weights, offset, strata, rows_of), usable, notes


def _rows_left(usable: BoolArray) -> str:
    left = int(np.count_nonzero(usable))
    return f"{counted(left, 'row')} of {usable.size:,} {'is' if left == 1 else 'are'} left"


def _numbers(argument: str, name: str, columns: Mapping[str, Column]) -> Array:
    values = columns[name]
    if values.dtype == object:
        raise ArgumentError(f"{argument}: {name!r} is text; it must be numbers.")
    return np.asarray(values, dtype=float)


def _labels(values: Column) -> IntArray:
    """Return numbers for what rows belong to; a row without a label is on its own."""
    codes = levels_of(values).codes.copy()
    alone = codes < 0
    codes[alone] = codes.max(initial=0) + 1 + np.arange(np.count_nonzero(alone))
    return codes


def _together_note(name: str | None, units: IntArray | None) -> list[str]:
    """Say how many groups of rows belong together."""
    if name is None or units is None:
        return []
    sizes = np.unique(units, return_counts=True)[1]
    few, most = int(sizes.min()), int(sizes.max())
    size = f"{few:,}" if few == most else f"{few:,} to {most:,}"
    rows = "row" if most == 1 else "rows"
    return [f"Rows with the same {name!r} belong together: {sizes.size:,} groups of {size} {rows}."]


def _part(values: Any, rows: IntArray) -> Any:
    return None if values is None else values[rows]


def _taken(table: Columns, rows: IntArray) -> Columns:
    """Return the table in some of its rows."""
    if rows.size == len(table):
        return table
    return replace(table, values=tuple(values[rows] for values in table.values))


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Columns by what becomes of them."""

    variables: tuple[str, ...]
    kinds: dict[str, Recognised]
    left_out: tuple[LeftOut, ...]
    missing: MissingCells
    incomplete: BoolArray
    """(n,): rows that lack a value, by which they may be left out."""

    def table_of_kinds(self, table: Columns, roles: Roles) -> tuple[ColumnKind, ...]:
        """Return kind and use of every column."""
        uses = roles.uses()
        reasons = {one.name: one.reason for one in self.left_out}
        return tuple(
            ColumnKind(
                name,
                self.kinds[name].kind,
                uses.get(name, "left out" if name in reasons else "variable"),
                reasons.get(name, ""),
            )
            for name in table.names
        )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A table whose rows are chosen, with what is known of its columns."""

    table: Columns
    roles: Roles
    given: Mapping[str, str]
    related: Mapping[str, str]
    elsewhere: bool = False

    def taken(self, rows: IntArray) -> _Chosen:
        """Return the same for some of the rows."""
        return replace(self, table=_taken(self.table, rows))

    def sorted_out(self, policy: str) -> _Sorted:
        """Return which columns are variables, and why the others are not."""
        table, uses = self.table, self.roles.uses()
        kinds = dict(zip(table.names, recognise(table, self.given), strict=True))
        by_name = dict(zip(table.names, table.values, strict=True))
        _check_forced(kinds, by_name, self.given)
        reasons: dict[str, str] = {}
        for name, kind in kinds.items():
            if name in self.roles.drop:
                reasons[name] = _ASKED
            elif name in uses:
                continue
            elif name in self.related and name not in self.given:
                reasons[name] = self.related[name]
            elif kind.kind not in USABLE:
                reasons[name] = kind.reason
        open_names = [name for name in table.names if name not in uses and name not in reasons]
        lacking, _ = counts(open_names, [by_name[name] for name in open_names])
        most = MOST_MISSING * len(table)
        for name, gone in zip(open_names, lacking, strict=True):
            if gone > most:
                reasons[name] = _gaps(int(gone), len(table))
        used = [name for name in open_names if name not in reasons]
        # rows that lack a value of a column to keep are left out as others are
        looked_at = [*used, *(self.roles.keep if policy == "drop-rows" else ())]
        lacking, incomplete = counts(looked_at, [by_name[name] for name in looked_at])
        gone_from = {name: int(gone) for name, gone in zip(looked_at, lacking, strict=True) if gone}
        missing = MissingCells(
            policy,
            sum(gone_from.values()),
            int(np.count_nonzero(incomplete)),
            len(gone_from),
            gone_from,
        )
        if policy == "drop-columns":
            for name, gone in gone_from.items():
                reasons[name] = _gaps(gone, len(table))
            used = [name for name in used if name not in gone_from]
        _check_keep(self.roles.keep, kinds)
        if not used and not self.elsewhere:
            raise RefusedError(_no_variables(reasons))
        left_out = tuple(
            LeftOut(name, reasons[name], by_name[name], reasons[name] == self.related.get(name))
            for name in table.names
            if name in reasons
        )
        return _Sorted(tuple(used), kinds, left_out, missing, incomplete)


def _gaps(gone: int, rows: int) -> str:
    return f"has no value in {gone:,} of {rows:,} rows"


def _check_forced(
    kinds: Mapping[str, Recognised], columns: Mapping[str, Column], given: Mapping[str, str]
) -> None:
    """Refuse a category with too many values that a user asked for."""
    for name, kind in given.items():
        if kind == "category" and kinds[name].kind == "category":
            levels = levels_of(columns[name])
            if not is_category(levels.counts):
                raise ArgumentError(
                    f"kinds: {name!r} has {len(levels.words):,} different values in "
                    f"{columns[name].size:,} rows, too many for a category."
                )


def _check_keep(keep: Sequence[str], kinds: Mapping[str, Recognised]) -> None:
    wrong = [f"{name!r} {kinds[name].reason}" for name in keep if kinds[name].kind not in USABLE]
    if wrong:
        raise RefusedError(f"keep takes numbers and categories; {listed(wrong, quote=False)}.")


def _no_variables(reasons: Mapping[str, str]) -> str:
    if not reasons:
        return "There are no variables beside the target."
    shown = [f"{name!r} {reason}" for name, reason in reasons.items()]
    return f"There are no variables: {listed(shown, quote=False)}."


class _Encoded(NamedTuple):
    """Variables as columns of numbers."""

    values: Array
    columns: tuple[str, ...]
    variable: IntArray
    notes: list[str]
    categories: tuple[bool, ...]
    """For each column, whether it stands for a value of a category."""
    references: tuple[str, ...]
    """For each variable, the value that has no column; empty for numbers."""


def _encoded(table: Columns, names: Sequence[str], kinds: Mapping[str, Recognised]) -> _Encoded:
    """Return variables as columns of numbers: one for a number, several for a category."""
    by_name = dict(zip(table.names, table.values, strict=True))
    parts: list[Array] = []
    columns: list[str] = []
    variable: list[int] = []
    notes: list[str] = []
    categories: list[bool] = []
    references: list[str] = []
    for place, name in enumerate(names):
        if kinds[name].kind == "number":
            parts.append(by_name[name])
            columns.append(name)
            variable.append(place)
            categories.append(False)
            references.append("")
            continue
        found = indicators(name, by_name[name])
        notes += found.notes
        parts += list(found.values.T)
        columns += [f"{name}: {' '.join(level.split())}" for level in found.levels]
        variable += [place] * len(found.levels)
        categories += [True] * len(found.levels)
        references.append(" ".join(found.reference.split()))
    values = np.empty((len(table), len(parts)), order="F")
    for j, part in enumerate(parts):
        values[:, j] = part
    return _Encoded(
        values, tuple(columns), np.array(variable, dtype=np.intp), notes, tuple(categories),
        tuple(references),
    )  # fmt: skip


def _filled(kept: _Encoded) -> tuple[Array, list[str]]:
    """Return columns to keep with their means, or most frequent values, where one is missing."""
    gone = np.isnan(kept.values)
    if not gone.any():
        return kept.values, []
    values = kept.values.copy(order="F")
    for j in np.flatnonzero(gone.any(axis=0)):
        known = values[~gone[:, j], j]
        values[gone[:, j], j] = 0.0 if kept.categories[j] else known.mean()
    named = [kept.columns[j] for j in np.flatnonzero(gone.any(axis=0))]
    cells = int(np.count_nonzero(gone.any(axis=1)))
    note = (
        f"In {counted(cells, 'row')} a value of a column to keep is missing ({listed(named)}); the "
        "mean of the column stands there, or its most frequent value."
    )
    return values, [note]


def _left_out_note(left_out: Sequence[LeftOut], kinds: Mapping[str, Recognised]) -> list[str]:
    """Say which columns are left out unasked, and why; many of them by their kinds."""
    left_out = [one for one in left_out if one.reason != _ASKED]
    if not left_out:
        return []
    are = "is" if len(left_out) == 1 else "are"
    shown = "; ".join(f"{one.name!r} {one.reason}" for one in left_out)
    if len(left_out) > LISTED_NAMES:
        groups: dict[str, list[str]] = {}
        for one in left_out:
            kind = kinds[one.name]
            what = _GROUPS[kind.kind] if one.reason == kind.reason else _OTHERS["missing"]
            what = _OTHERS["response"] if one.asked else what
            groups.setdefault(what, []).append(one.name)
        shown = "; ".join(
            f"{len(names):,} {what} ({listed(names)})" for what, names in groups.items()
        )
    return [f"{counted(len(left_out), 'column')} {are} left out: {shown}."]


def _questions(table: Columns, work: _Sorted) -> list[str]:
    """Ask about numbers that may stand for missing values, or for groups."""
    by_name = dict(zip(table.names, table.values, strict=True))
    numbers = [name for name in work.variables if work.kinds[name].kind == "number"]
    asked = stand_ins(numbers, [by_name[name] for name in numbers])
    found = [] if asked is None else [asked]
    texts = [name for name in work.variables if work.kinds[name].kind == "category"]
    found += [said for name in texts if (said := _spellings(name, by_name[name])) is not None]
    mixed = [name for name in work.variables if name in table.remarks]
    found += [f"{name!r} is taken as a category: {table.remarks[name]}." for name in mixed]
    for one in work.left_out:
        if work.kinds[one.name].kind == "text" and numbers_in(one.values).mostly:
            found.append(
                f"{one.name!r} holds mostly numbers. To use it, say so: kinds={{{one.name!r}: "
                f"'number'}} (on the command line: {typed('--kind', f'{one.name}=number')}). A "
                "limit such as <0.1 is then taken as 0.1, and any other text as missing."
            )
    nameless = [name for name in table.unnamed if name in work.variables]
    if nameless:
        found.append(f"{columns_are(nameless)} without a name in the file.")
    codes = [name for name in numbers if is_of_groups(name) and _are_codes(by_name[name])]
    if codes:
        found.append(
            f"{listed(codes)} {'holds' if len(codes) == 1 else 'hold'} a few whole numbers, which "
            f"are taken as amounts. If they are names of groups, say so: kinds={{{codes[0]!r}: "
            f"'category'}} (on the command line: {typed('--kind', f'{codes[0]}=category')})."
        )
    return found


def _of_response(table: Columns, roles: Roles) -> list[str]:
    """Ask about an offset, and about classes of the response that differ in capitals only."""
    if roles.offset is not None and not roles.logarithm:
        return [
            f"The offset {roles.offset!r} is taken as the logarithm of the exposure. If it is the "
            f"exposure itself, write log({roles.offset}) in its place."
        ]
    if roles.target is None:
        return []
    values = table.values[table.names.index(roles.target)]
    said = _spellings(roles.target, values) if values.dtype == object else None
    return [] if said is None else [said]


def _few_cases(read: Outcome, rows: IntArray) -> list[str]:
    """Say so if a class has a few rows only, or a few events were seen."""
    if read.response == "survival":
        sizes = {"The event": int(np.count_nonzero(read.y[rows, 1]))}
    elif read.response in ("binary", "classes"):
        each, counted_rows = np.unique(read.y[rows], return_counts=True)
        words = [repr(str(one) if read.y.dtype.kind == "U" else written(one)) for one in each]
        sizes = dict(zip(words, counted_rows.tolist(), strict=True))
    else:
        return []
    few = {word: size for word, size in sizes.items() if size < _FEWEST_CASES}
    if not few:
        return []
    shown = ", ".join(f"{word} has {counted(size, 'row')} only" for word, size in few.items())
    return [f"{shown}: so few say little about what distinguishes them."]


def _spellings(name: str, values: Column) -> str | None:
    """Ask about values of a category that differ in capitals only, such as Male and male."""
    alike: dict[str, list[str]] = {}
    for word in levels_of(values).words:
        alike.setdefault(word.casefold(), []).append(word)
    pairs = [words for small, words in alike.items() if len(words) > 1 and len(small) > 2]
    if not pairs:
        return None
    return (
        f"{listed(pairs[0])} differ in capitals only, and are taken as different values of "
        f"{name!r}. If they are the same, write them alike."
    )


def _are_codes(values: Column) -> bool:
    known = values[~np.isnan(values)]
    if not np.all(known == np.rint(known)) or np.ptp(known) > 100 * _MOST_CODES:
        return False
    return 3 <= np.unique(known).size <= _MOST_CODES
