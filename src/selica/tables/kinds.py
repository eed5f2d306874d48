"""The kind of each column: number, category, identifier, date, constant, text or empty."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import written
from selica.tables.buffers import codes as places
from selica.tables.columns import Column, Columns
from selica.tables.naming import (
    is_date_name,
    is_measured,
    is_plural,
    named_for_groups,
    named_for_rows,
)
from selica.tables.numbers_in_text import common_unit

KINDS = ("number", "category", "identifier", "date", "constant", "text", "empty")
"""Kinds of columns."""
USABLE = ("number", "category")
"""Kinds of columns that can be variables."""
FEWEST_GROUPS = 5
"""A column with fewer different values tells no groups of rows."""
_FEWEST_NUMBERED_ROWS = 10
"""With fewer rows any column of whole numbers may number them, unless its name says so."""
_BLOCK = 4_000_000
"""Cells of numbers that are looked at together."""
_MOST_LEVELS = 50
"""Values of a category, those that few rows have counted as one."""
_ROWS_A_LEVEL = 5
"""Rows from which on a value of a category is not rare."""
_LONG = 40
"""Letters from which on a cell is a text."""
_DATE = re.compile(
    r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?"
    r"|\d{1,2}[- .]?[A-Za-z]{3,9}\.?[- .,]*\d{2,4}"
    r"|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
    r"|\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
)
_DATES_LOOKED_AT = 100
"""Values of a text column that are looked at for dates."""


class ColumnKind(NamedTuple):
    """What a column of a table is, and what it is used for.

    Examples
    --------
    >>> from selica.tables import prepare
    >>> prepared = prepare({"id": ["a1", "a2", "b7"], "age": [61, 58, 70], "y": [1, 5, 2]}, "y")
    >>> [(column.name, column.kind, column.use) for column in prepared.kinds]
    [('id', 'identifier', 'left out'), ('age', 'number', 'variable'), ('y', 'number', 'target')]
    """

    name: str
    kind: str
    """One of "number", "category", "identifier", "date", "constant", "text" and "empty"."""
    use: str
    """"variable", "left out", or what it was named for, such as "target" or "keep"."""
    reason: str
    """Why it is left out, a clause; empty for all others."""


class Levels(NamedTuple):
    """The different values of a column of text, the most frequent first."""

    words: list[str]
    counts: IntArray
    codes: IntArray
    """(n,): the place of each row's value; -1 where it is missing."""


class Recognised(NamedTuple):
    """A kind and, for those that are left out, the reason."""

    kind: str
    reason: str = ""


def levels_of(values: Column) -> Levels:
    """Return the different values of a column, the most frequent first; ties by the alphabet."""
    if values.dtype != object:
        known = ~np.isnan(values)
        different, place = np.unique(values[known], return_inverse=True)
        words = [written(value) for value in different]
        codes = np.full(values.size, -1, dtype=np.intp)
        codes[known] = place
    else:
        coded = pa.array(values, pa.string()).dictionary_encode()
        words = coded.dictionary.to_pylist()
        codes = places(coded.indices, -1)
    counts = np.bincount(codes[codes >= 0], minlength=len(words))
    order = sorted(range(len(words)), key=lambda k: (-counts[k], words[k]))
    rank = np.empty(len(words) + 1, dtype=np.intp)
    rank[order] = np.arange(len(words))
    rank[-1] = -1
    return Levels([words[k] for k in order], counts[order], rank[codes])


def recognise(table: Columns, given: Mapping[str, str] | None = None) -> list[Recognised]:
    """Return the kind of each column.

    Parameters
    ----------
    table : Columns
    given : mapping of str to str, optional
        Kinds that are known, by name.
    """
    asked = given or {}
    found: list[Recognised | None] = [None] * len(table.names)
    numbers = [j for j, values in enumerate(table.values) if values.dtype != object]
    for j, kind in _of_numbers(table, numbers):
        found[j] = kind
    for j, (name, values) in enumerate(zip(table.names, table.values, strict=True)):
        kind = found[j] or _of_text(name, values, table.remarks.get(name))
        if name in asked:
            kind = _as_asked(asked[name], kind)
        elif table.kinds.get(name) == "date" and kind.kind not in ("constant", "empty"):
            kind = Recognised("date", "is a date")
        found[j] = kind
    return [kind for kind in found if kind is not None]


def _as_asked(asked: str, kind: Recognised) -> Recognised:
    """Return the kind that a user gives."""
    if asked in USABLE:
        return Recognised(asked)
    if asked == kind.kind:
        return kind
    return Recognised(asked, f"is to be taken as {_with_article(asked)}")


def _with_article(kind: str) -> str:
    words = {"identifier": "an identifier", "text": "free text", "empty": "empty"}
    return words.get(kind, f"a {kind}")


def blocks(columns: Sequence[Column], rows: int) -> Iterator[tuple[int, Array]]:
    """Return columns of numbers side by side, as many as are looked at together."""
    step = max(1, _BLOCK // max(rows, 1))
    for start in range(0, len(columns), step):
        part = columns[start : start + step]
        block = np.empty((rows, len(part)), order="F")
        for k, values in enumerate(part):
            block[:, k] = values
        yield start, block


def _of_numbers(table: Columns, places: Sequence[int]) -> Iterator[tuple[int, Recognised]]:
    """Return the kinds of columns of numbers, many at a time."""
    rows = len(table)
    candidates: list[int] = []
    grouped: list[int] = []
    found: dict[int, Recognised] = {}
    for start, block in blocks([table.values[j] for j in places], rows):
        with np.errstate(invalid="ignore"):
            low, high = np.fmin.reduce(block, axis=0), np.fmax.reduce(block, axis=0)
            known = np.count_nonzero(~np.isnan(block), axis=0)
            whole = np.all((block == np.rint(block)) | np.isnan(block), axis=0)
        for k in map(int, np.flatnonzero(known == 0)):
            found[places[start + k]] = Recognised("empty", "has no value in any row")
        for k in map(int, np.flatnonzero((known > 0) & (low == high))):
            found[places[start + k]] = Recognised(
                "constant", _one_value(written(low[k]), int(known[k]), rows)
            )
        with np.errstate(over="ignore", invalid="ignore"):
            extent = high - low
        wide = whole & (extent >= FEWEST_GROUPS - 1)
        for k in map(int, np.flatnonzero(wide)):
            j = places[start + k]
            if known[k] == rows and extent[k] >= rows - 1:
                candidates.append(j)
            elif named_for_groups(table.names[j], 2.0) and not is_plural(table.names[j]):
                grouped.append(j)
            if low[k] >= 1.8e7 and high[k] <= 2.2e7 and is_date_name(table.names[j]):
                found[j] = Recognised("date", "is a date")
    if candidates:
        matrix = np.column_stack([table.values[j] for j in candidates])
        names = [table.names[j] for j in candidates]
        every = np.arange(len(candidates))
        measured = {k for k, name in enumerate(names) if is_measured(name)}
        for k in identifiers(names, matrix, every, total=len(table.names)):
            if k not in measured or named_for_rows(names[k]):
                found[candidates[k]] = Recognised(
                    "identifier", "has a different whole number in every row, as row numbers do"
                )
        grouped += [
            j for j in candidates if j not in found and named_for_groups(table.names[j], 2.0)
        ]
    for j in grouped:
        reason = _repeats(table.names[j], table.values[j])
        if reason is not None:
            found.setdefault(j, Recognised("identifier", reason))
    number = Recognised("number")
    for j in places:
        yield j, found.get(j, number)


def _one_value(value: str, known: int, rows: int) -> str:
    if known == rows:
        return f"has one value in all rows ({value})"
    return f"has one value ({value}), and none in {rows - known:,} of {rows:,} rows"


def _repeats(name: str, values: Column) -> str | None:
    """Return why a column tells which rows belong together; None for one that does not."""
    known = values[~np.isnan(values)]
    labels = np.unique(known).size
    if not FEWEST_GROUPS <= labels < known.size:
        return None
    if not named_for_groups(name, known.size / labels):
        return None
    return _same_rows(labels, values.size)


def _same_rows(labels: int, rows: int) -> str:
    return f"says which rows belong together ({labels:,} different values in {rows:,} rows)"


def identifiers(
    names: Sequence[str], table: Array, whole: IntArray, total: int | None = None
) -> list[int]:
    """Find columns that number the rows: distinct whole numbers, consecutive or nearly so.

    Columns named like an identifier need not be consecutive. Many consecutive ones are ranks.

    Parameters
    ----------
    names : sequence of str
    table : array of shape (n, p)
    whole : array of int
        Columns of whole numbers.
    total : int, optional
        Columns of the whole table, where this is a part of it.
    """
    n = len(table)
    distinct = [int(j) for j in whole if np.unique(table[:, j]).size == n]
    named = [j for j in distinct if named_for_rows(names[j])]
    numbered = [j for j in distinct if np.ptp(table[:, j]) <= 1.2 * n]
    if n < _FEWEST_NUMBERED_ROWS or len(numbered) > max(2, (total or len(names)) // 50):
        numbered = []
    return sorted({*named, *numbered})


def is_dates(words: Sequence[str]) -> bool:
    """Tell whether text holds dates or times of the day."""
    some = words[:_DATES_LOOKED_AT]
    return len(some) > 0 and all(_DATE.fullmatch(word) for word in some)


def _of_text(name: str, values: Column, remark: str | None) -> Recognised:
    """Return the kind of a column of text."""
    levels = levels_of(values)
    rows, known, different = values.size, int(levels.counts.sum()), len(levels.words)
    if not different:
        return Recognised("empty", "has no value in any row")
    if different == 1:
        return Recognised("constant", _one_value(repr(levels.words[0]), known, rows))
    if is_dates(levels.words):
        return Recognised("date", "is a date")
    if remark is not None and different > 2:
        whole = sum(word.isdecimal() for word in levels.words) >= different / 2
        if whole and is_category(levels.counts):  # 1, 2, 3 and X; 0, 1 and 2+
            return Recognised("category")
        return Recognised("text", f"is text: {remark}")
    unit = common_unit(levels.words)
    if unit is not None:
        return Recognised("text", f"is text: its numbers have {unit!r} beside them")
    long = sum(len(word) > _LONG or word.count(" ") >= 4 for word in levels.words) > different / 2
    if different == known and different > 2 and not long:
        return Recognised("identifier", "has a different value in every row, as names do")
    if named_for_groups(name, known / different) and different >= FEWEST_GROUPS:
        return Recognised("identifier", _same_rows(different, rows))
    if long and different > known / 2:
        return Recognised("text", "is free text")
    if not is_category(levels.counts):
        return Recognised(
            "text",
            f"has {different:,} different values in {rows:,} rows, too many for a category",
        )
    return Recognised("category")


def fewest_rows(rows: int) -> int:
    """Return how many rows a value of a category must have not to be rare."""
    return max(2, min(_ROWS_A_LEVEL, rows // 20))


def is_category(counts: IntArray) -> bool:
    """Tell whether values are few enough for a category, those that are rare counted as one."""
    rows = int(counts.sum())
    if counts.size <= 2:
        return True
    rare: BoolArray = counts < fewest_rows(rows)
    frequent = int(np.count_nonzero(~rare))
    enough = frequent >= 2 and counts[rare].sum() <= rows / 2
    return enough and frequent <= max(3, min(_MOST_LEVELS, rows // 5))
