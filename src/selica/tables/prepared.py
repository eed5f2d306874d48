"""A table made ready for a selector: variables, response and everything that was decided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError, RefusedError
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import choice, short, written
from selica._core.wording import counted
from selica.tables.columns import Column, Columns, listed
from selica.tables.encoding import encode, without_gaps
from selica.tables.kinds import KINDS, ColumnKind, levels_of
from selica.tables.missing import POLICIES, MissingCells
from selica.tables.numbers_in_text import numbers_in
from selica.tables.objects import as_columns
from selica.tables.questions import (
    few_cases,
    left_out_note,
    questions,
    questions_of_response,
    together_note,
)
from selica.tables.responses import Outcome, outcome
from selica.tables.roles import Roles, assign, meant
from selica.tables.row_files import with_responses
from selica.tables.sorted_columns import ChosenTable, LeftOut


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
    pheno: str | Path | None = None,
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
    pheno : path, optional
        Another file with a line for each row of the table, matched by names of rows in the first
        column of both or else by order. Only those of its columns are used that another argument
        names; without `target` it is its one column.

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
    columns = as_columns(table)
    if pheno is not None:
        columns, given = with_responses(columns, pheno, given)
    return made_ready(columns, given, missing, response, kinds)


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
    rows = np.flatnonzero(usable)
    chosen = ChosenTable(columns, roles, given, read.related, elsewhere).taken(rows)
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
    variables = encode(chosen.table, work.variables, work.kinds)
    kept = encode(chosen.table, roles.keep, work.kinds)
    keep_values, filled = without_gaps(kept)
    sentence = touched.sentence(int(np.count_nonzero(usable)))
    together = _part(beside.rows_of, rows)
    notes += [
        *together_note(roles.rows_of, together),
        *left_out_note(work.left_out, work.kinds),
        *variables.notes,
        *kept.notes,
        *filled,
        *(() if sentence is None else (sentence,)),
        *few_cases(read, rows),
    ]
    asked = [*questions(chosen.table, work), *questions_of_response(columns, roles)]
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
        notes=tuple(dict.fromkeys([*notes, *asked])),
        questions=(*read.questions, *asked),
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


def _part(values: Any, rows: IntArray) -> Any:
    return None if values is None else values[rows]
