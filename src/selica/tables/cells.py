"""Cells of text: which columns are numbers, written as people write them, and which are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from selica._core.types import Array, BoolArray, IntArray
from selica._core.wording import counted
from selica.tables.buffers import booleans, chunks_of, codes, copy_floats
from selica.tables.columns import Column, listed

MISSING = frozenset(
    ("", "na", "n/a", "nan", "null", "<na>", "#n/a", "#na", "#null!", "#div/0!", "#value!", "#ref!",
     "#num!", "#name?", "nil", "(null)", "missing")
)  # fmt: skip
"""Cells that are missing values everywhere, in small letters."""
DOUBTFUL = frozenset(("?", ".", "-", "--", "none", "n.a.", "n.a", "nd", "n.d.", "unknown"))
"""Cells that are missing values among numbers, and may be a value among text."""
_PLACEHOLDERS = frozenset(("?", ".", "-", "--", "n.a.", "n.a"))
"""Those of them that are missing values among text, too."""
_TRUTH = {"true": 1.0, "false": 0.0}
"""Cells that are taken for truth values."""
_PLAIN = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^(?i:[+-]?inf(inity)?)$"
_WHOLE = r"^[+-]?\d+$"
# 00123 and 1234567890123456 are codes, of which a number would keep but a part
_CODE = r"^0\d+$|^\d{16,}$"
_DECIMAL_COMMA = r"^[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?$"
_COMMA_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$"
_POINT_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(\.\d{3})+(,\d*)?$"
_GAP = "[ '\u00a0\u202f\u2009\u2019]"
_GAPS_AND_POINT = rf"^[+-]?[1-9]\d{{0,2}}({_GAP}\d{{3}})+(\.\d*)?$"
_GAPS_AND_COMMA = rf"^[+-]?[1-9]\d{{0,2}}({_GAP}\d{{3}})+(,\d*)?$"
_ENDS_IN_COMMA = r",\d*$"
_MINUS = "\u2212"
_SIGN = r"^[$€£]\s*|\s*[%$€£]$"
_BLOCK = 2_000_000
"""Cells that are looked at together."""
_MIXED = 0.5
"""Share of numbers from which on text is a column of numbers with a few other cells."""


class Writing(NamedTuple):
    """How numbers are written in a file, as far as is known."""

    comma_file: bool = False
    """Whether commas separate columns: in a number they more probably separate thousands."""
    decimal_comma: bool = False
    """Whether decimal commas were found in another place of the file."""
    decimal_point: bool = False
    """Whether decimal points were."""


PLAIN = Writing()
"""Nothing is known."""


class ReadCells(NamedTuple):
    """Columns of text, read."""

    values: list[Column]
    notes: list[str]
    remarks: dict[str, str]
    """Why columns that look like numbers are text, a clause, by name."""
    truths: frozenset[str] = frozenset()
    """Columns of true and false."""


_NONE: BoolArray = np.zeros(0, dtype=bool)
"""Of no column."""


class _Reading(NamedTuple):
    """How columns can be read, each of shape (columns,)."""

    plain: BoolArray
    """As numbers of a programme."""
    point: BoolArray
    """With decimal points, and commas or gaps between thousands."""
    truth: BoolArray
    """As true and false."""
    comma: BoolArray = _NONE
    """With decimal commas, and points or gaps between thousands."""
    either: BoolArray = _NONE
    """With cells that mean one thing or the other: 1,500 or 1.500."""
    surely_point: BoolArray = _NONE
    surely_comma: BoolArray = _NONE
    with_commas: BoolArray = _NONE
    """With decimal commas somewhere."""
    with_points: BoolArray = _NONE
    """With points between thousands, if they are not decimals."""
    uneven: BoolArray = _NONE
    """With numbers that are written in different ways."""
    others: IntArray = _NONE.astype(np.intp)
    """Cells that are not numbers in a column that is mostly numbers."""


def read_cells(
    names: Sequence[str],
    columns: Sequence[Any],
    writing: Writing = PLAIN,
    commas_in: Sequence[str] = (),
) -> ReadCells:
    """Return columns of text as numbers, where they are numbers, or as text.

    Parameters
    ----------
    names : sequence of str
    columns : sequence of pyarrow arrays of text, of one length
    writing : Writing
    commas_in : sequence of str
        Columns whose decimal commas were read elsewhere, for the note on them.
    """
    rows = len(columns[0]) if columns else 0
    if not rows:
        return ReadCells([np.zeros(0, dtype=object) for _ in columns], _notes(commas_in), {})
    # two passes: how numbers are written is decided by the whole table
    found = _readings(columns, rows)
    commas = writing.decimal_comma or bool(found.surely_comma.any())
    commas &= not found.surely_point.any()
    points = writing.decimal_point or bool(found.surely_point.any())
    points &= not found.surely_comma.any()
    open_to_both = found.either & found.point & found.comma
    undecided = open_to_both & ~found.plain & ~(commas or points or writing.comma_file)
    by_comma = found.comma & (found.surely_comma | ~found.point | (open_to_both & commas))
    by_point = found.point & ~by_comma & ~undecided
    values: list[Column] = []
    replaced: dict[str, int] = {}
    values_kept: dict[str, list[str]] = {}
    signs: list[str] = []
    j = 0
    for cells in _blocks(columns, rows):
        trimmed, lost = _trimmed(cells, rows)
        for k in range(len(cells) // rows if rows else 0):
            column = trimmed.slice(k * rows, rows)
            if found.truth[j]:
                values.append(_truths(column))
            elif by_point[j] or by_comma[j]:
                values.append(_numbers(column, bool(by_comma[j])))
                _count_doubtful(column, replaced)
                signs += [names[j]] if lost[k] else []
            else:
                # a sign that numbers have is a part of a text
                whole = pc.utf8_trim_whitespace(cells.slice(k * rows, rows))
                kept = _text(whole if lost[k] else column, replaced)
                values.append(kept.values)
                for token in kept.tokens if not found.others[j] else ():
                    values_kept.setdefault(token, []).append(names[j])
            j += 1
    notes = _notes(
        [*commas_in, *(names[int(j)] for j in np.flatnonzero(by_comma & found.with_commas))],
        [names[int(j)] for j in np.flatnonzero(by_point & ~found.plain)],
        [names[int(j)] for j in np.flatnonzero(by_comma & found.with_points)],
        signs,
    )
    notes += _token_notes(replaced, values_kept)
    remarks = {
        names[j]: "its commas may separate thousands or decimals: write decimals with a point, and "
        "thousands without a comma"
        for j in map(int, np.flatnonzero(undecided))
    }
    for j in map(int, np.flatnonzero(found.uneven)):
        remarks[names[j]] = "some of its numbers have decimal commas, and others decimal points"
    for j in map(int, np.flatnonzero(found.others)):
        if values[j].dtype == object:
            remarks.setdefault(names[j], _mixed_remark(values[j], int(found.others[j])))
    truths = frozenset(names[int(j)] for j in np.flatnonzero(found.truth))
    return ReadCells(values, notes, remarks, truths)


def has_decimal_commas(columns: Sequence[Any]) -> bool:
    """Tell whether a column of text holds numbers with decimal commas for certain.

    Parameters
    ----------
    columns : sequence of pyarrow arrays of text, of one length
    """
    if not columns:
        return False
    found = _readings(columns, len(columns[0]))
    return bool(found.surely_comma.any() and not found.surely_point.any())


def _readings(columns: Sequence[Any], rows: int) -> _Reading:
    """Return how columns can be read."""
    looks = [_reading(cells, rows) for cells in _blocks(columns, rows)]
    return _Reading(*(np.concatenate(part) for part in zip(*looks, strict=True)))


def texts_of(column: Any) -> Column:
    """Return an arrow array of text as an array of objects; equal cells share one object."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    known = np.array([*coded.dictionary.to_pylist(), None], dtype=object)
    return np.asarray(known[codes(coded.indices, len(known) - 1)])


def _blocks(columns: Sequence[Any], rows: int) -> Iterator[Any]:
    """Return columns below each other, as many as are looked at together."""
    step = max(1, _BLOCK // max(rows, 1))
    for start in range(0, len(columns), step):
        chunks = [chunk for column in columns[start : start + step] for chunk in chunks_of(column)]
        yield pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())


def _trimmed(cells: Any, rows: int) -> tuple[Any, BoolArray]:
    """Return cells without spaces around them, and columns that lost a sign such as %."""
    trimmed = pc.utf8_trim_whitespace(cells)
    if pc.any(pc.match_substring(trimmed, _MINUS)).as_py():
        trimmed = pc.replace_substring_regex(trimmed, rf"^{_MINUS}([\d.,])", r"-\1")
    signed = booleans(pc.match_substring_regex(trimmed, _SIGN)).reshape(-1, rows)
    if not signed.any():
        return trimmed, np.zeros(len(signed), dtype=bool)
    small = pc.utf8_lower(trimmed)
    absent = booleans(pc.is_in(small, pa.array(sorted(MISSING | DOUBTFUL), small.type)))
    absent |= booleans(pc.is_null(cells))
    lost = np.asarray((signed | absent.reshape(-1, rows)).all(axis=1) & signed.any(axis=1))
    bare = pc.replace_substring_regex(trimmed, _SIGN, "")
    return pc.if_else(pa.array(np.repeat(lost, rows)), bare, trimmed), lost


def _reading(cells: Any, rows: int) -> _Reading:
    """Return how the columns of a block can be read."""
    trimmed, _ = _trimmed(cells, rows)
    small = pc.utf8_lower(trimmed)

    def shaped(mask: Any) -> BoolArray:
        return booleans(mask).reshape(-1, rows)

    def among(words: Iterable[str]) -> BoolArray:
        return shaped(pc.is_in(small, pa.array(sorted(words), small.type)))

    absent = shaped(pc.is_null(cells)) | among(MISSING) | among(DOUBTFUL)
    some = ~absent.all(axis=1)

    def every(*kinds: BoolArray) -> BoolArray:
        return np.asarray(np.logical_or.reduce([absent, *kinds]).all(axis=1) & some)

    def matching(pattern: str) -> BoolArray:
        return shaped(pc.match_substring_regex(trimmed, pattern))

    plain, truths = matching(_PLAIN), every(among(_TRUTH))
    number, codes = every(plain), every(matching(_CODE))
    found = _Reading(plain=number & ~codes, point=number & ~codes, truth=truths)
    point_thousands = matching(_POINT_THOUSANDS)
    if np.all(number | truths) and not point_thousands.any():  # nothing else to find
        never = np.zeros_like(number)
        return found._replace(
            comma=never,
            either=never,
            surely_point=never,
            surely_comma=never,
            with_commas=never,
            with_points=never,
            uneven=never,
            others=np.zeros(number.shape, dtype=np.intp),
        )
    decimal_comma, comma_thousands = matching(_DECIMAL_COMMA), matching(_COMMA_THOUSANDS)
    gaps_point, gaps_comma = matching(_GAPS_AND_POINT), matching(_GAPS_AND_COMMA)
    english = every(plain, comma_thousands, gaps_point) & ~codes
    german = every(matching(_WHOLE), decimal_comma, point_thousands, gaps_comma) & ~codes
    comma = (decimal_comma & ~comma_thousands) | (point_thousands & ~plain)
    comma |= gaps_comma & ~gaps_point
    point = (comma_thousands & ~decimal_comma) | (gaps_point & ~gaps_comma)
    either = (decimal_comma & comma_thousands) | (plain & point_thousands)
    numeric = plain | decimal_comma | comma_thousands | point_thousands | gaps_point | gaps_comma
    others = np.count_nonzero(~absent & ~numeric, axis=1)
    mostly = some & (others < _MIXED * np.count_nonzero(~absent, axis=1))
    return found._replace(
        point=english,
        comma=german,
        either=np.asarray(either.any(axis=1)),
        surely_point=english & point.any(axis=1),
        surely_comma=german & comma.any(axis=1),
        with_commas=np.asarray((decimal_comma | matching(_ENDS_IN_COMMA)).any(axis=1)),
        with_points=np.asarray(point_thousands.any(axis=1)),
        uneven=every(numeric) & ~english & ~german & ~codes,
        others=np.where(mostly, others, 0),
    )


def _truths(column: Any) -> Array:
    small = pc.utf8_lower(column)
    true, false = booleans(pc.equal(small, "true")), booleans(pc.equal(small, "false"))
    return np.where(true, 1.0, np.where(false, 0.0, np.nan))


def _numbers(column: Any, decimal_comma: bool) -> Array:
    """Return cells as floats; those that are missing are NaN."""
    small = pc.utf8_lower(column)
    absent = pc.is_in(small, pa.array(sorted(MISSING | DOUBTFUL), small.type))
    # as text: pyarrow 22 and older reads what lies under a cell without a value
    plain = pc.fill_null(pc.if_else(absent, pa.scalar("nan", column.type), column), "nan")
    plain = pc.replace_substring_regex(plain, _GAP, "")
    if decimal_comma:
        plain = pc.replace_substring(pc.replace_substring(plain, ".", ""), ",", ".")
    else:
        plain = pc.replace_substring(plain, ",", "")
    values = np.empty(len(column))
    copy_floats(pc.cast(plain, pa.float64()), values)
    return values


def _count_doubtful(column: Any, counts: dict[str, int]) -> None:
    """Count cells that are missing values among numbers only."""
    small = pc.utf8_lower(column)
    doubtful = small.filter(pc.is_in(small, pa.array(sorted(DOUBTFUL), small.type)))
    for pair in doubtful.value_counts().to_pylist() if len(doubtful) else ():
        counts[pair["values"]] = counts.get(pair["values"], 0) + pair["counts"]


class _TextColumn(NamedTuple):
    """A column of text, and doubtful cells that were kept as values."""

    values: Column
    tokens: list[str]


def _text(column: Any, replaced: dict[str, int]) -> _TextColumn:
    """Return a column as text; a lone sign is missing, unless plus stands against minus."""
    coded = column.dictionary_encode()
    words = coded.dictionary.to_pylist()
    signs = {"-"} if "+" in words else set()
    place = codes(coded.indices, len(words))
    counts = np.bincount(place, minlength=len(words) + 1)[:-1]
    kept: list[str] = []
    known: list[str | None] = []
    for word, times in zip(words, counts, strict=True):
        small = word.lower()
        if small in _PLACEHOLDERS - signs:
            replaced[small] = replaced.get(small, 0) + int(times)
        elif small in DOUBTFUL - signs:
            kept.append(word)
        gone = small in MISSING or small in _PLACEHOLDERS - signs
        known.append(None if gone else word)
    table = np.array([*known, None], dtype=object)
    return _TextColumn(np.asarray(table[place]), kept)


def _notes(
    commas: Sequence[str],
    thousands: Sequence[str] = (),
    points: Sequence[str] = (),
    signs: Sequence[str] = (),
) -> list[str]:
    """Say how numbers were written."""
    said = {
        "Decimal commas are read as decimal points": commas,
        "Commas or spaces in numbers are read as separators of thousands": thousands,
        "Points in numbers are read as separators of thousands": points,
        "Signs such as % beside numbers are left out": signs,
    }
    return [
        f"{what} in {counted(len(names), 'column')}: {listed(names)}."
        for what, names in said.items()
        if names
    ]


def _token_notes(replaced: dict[str, int], kept: dict[str, list[str]]) -> list[str]:
    notes = []
    if replaced:
        cells = sum(replaced.values())
        notes.append(
            f"{_quoted(replaced)} {'is' if len(replaced) == 1 else 'are'} read as missing "
            f"({counted(cells, 'cell')})."
        )
    for token, columns in kept.items():
        notes.append(f"{token!r} is taken as a value, not as missing, in {listed(columns)}.")
    return notes


def _quoted(words: Iterable[str]) -> str:
    return " and ".join(repr(word) for word in words)


def _mixed_remark(values: Column, others: int) -> str:
    """Say which cells keep a column from being numbers."""
    odd: list[str] = []
    for value in dict.fromkeys(values.tolist()):
        if value is None or value.lower() in DOUBTFUL:
            continue
        try:
            float(value.replace(",", "."))
        except ValueError:
            odd.append(value)
        if len(odd) == 3:
            break
    cells = (
        "1 of its cells is not a number"
        if others == 1
        else (f"{others:,} of its cells are not numbers")
    )
    return f"{cells} ({', '.join(repr(cell) for cell in odd)})" if odd else cells
