"""Columns of arrow: numbers, truth values, dates, categories and text of every width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from selica._core.types import Array
from selica._core.validation import written
from selica.tables.buffers import codes, copy_floats
from selica.tables.cells import PLAIN, Writing, read_cells, texts_of
from selica.tables.columns import Column, Columns

_DAY = 86400.0
"""Seconds of a day, the unit of durations."""


def columns_of_arrow(
    names: Sequence[str], columns: Sequence[Any], *, writing: Writing = PLAIN
) -> Columns:
    """Return arrow columns as a table.

    Parameters
    ----------
    names : sequence of str
    columns : list of arrays of pyarrow, chunked or not, or of floats
    writing : Writing
        How numbers are written in the file that they come from.
    """
    values: list[Column | None] = [None] * len(names)
    kinds: dict[str, str] = {}
    orders: dict[str, tuple[str, ...]] = {}
    truths: set[str] = set()
    text: list[int] = []
    cells: list[Any] = []
    for j, column in enumerate(columns):
        kind = column.type if not isinstance(column, np.ndarray) else None
        if kind is None:
            values[j] = column
            continue
        if _is_number(kind):
            values[j] = _floats(column)
            truths |= {names[j]} if pa.types.is_boolean(kind) else set()
            continue
        if pa.types.is_dictionary(kind):
            values[j], order = _category(column)
            kinds[names[j]] = "category"
            if kind.ordered:
                orders[names[j]] = order
        elif pa.types.is_temporal(kind):
            values[j] = texts_of(pc.cast(_day(column), pa.string()))
            kinds[names[j]] = "date"
        elif is_text(column) or _is_bytes(kind):
            text.append(j)
            cells.append(_as_text(column))
        else:
            values[j] = _objects(column)
    if not writing.decimal_comma and cells:
        numbers = (found for found in values if found is not None and found.dtype != object)
        writing = writing._replace(decimal_point=any(map(_has_points, numbers)))
    commas = [
        names[j]
        for j, found in enumerate(values)
        if writing.decimal_comma and found is not None and found.dtype != object
        if not _is_whole(found)
    ]
    read = read_cells([names[j] for j in text], cells, writing, commas)
    for j, found in zip(text, read.values, strict=True):
        values[j] = found
    return Columns(
        tuple(names),
        tuple(values),  # type: ignore[arg-type]  # all are set by now
        notes=tuple(read.notes),
        kinds=kinds,
        orders=orders,
        remarks=read.remarks,
        truths=read.truths | truths,
    )


def _is_whole(values: Array) -> bool:
    """Tell whether numbers have no decimals."""
    known = values[np.isfinite(values)]
    return bool(np.all(known == np.rint(known)))


def _has_points(values: Array) -> bool:
    """Tell whether numbers were written with decimal points: 0.5 and 1.2345, not 1.500."""
    known = values[np.isfinite(values)]
    size = np.abs(known)
    broken = known != np.rint(known)
    return bool(np.any(broken & ((size < 1.0) | (size >= 1000.0))))


def _is_number(kind: Any) -> bool:
    tests = (
        pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal,
        pa.types.is_null, pa.types.is_duration,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def is_text(column: Any) -> bool:
    """Tell whether a column is text of arrow."""
    kind = getattr(column, "type", None)
    return isinstance(kind, pa.DataType) and bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_bytes(kind: Any) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _as_text(column: Any) -> Any:
    """Return text of any width, or bytes that are text, as text."""
    try:
        return pc.cast(column, pa.string())
    except pa.ArrowInvalid:  # not UTF-8
        cells = (None if cell is None else cell.decode("latin-1") for cell in column.to_pylist())
        return pa.array(list(cells), pa.string())


def _floats(column: Any) -> Array:
    """Return numbers, truth values and durations as floats."""
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(kind):
        column = pc.cast(column, pa.int8())
    if pa.types.is_duration(kind):
        column = pc.cast(pc.cast(column, pa.duration("s"), safe=False), pa.int64())
    out = np.empty(len(column))
    copy_floats(column, out)
    return out / _DAY if pa.types.is_duration(kind) else out


def _day(column: Any) -> Any:
    """Return times to the second: fractions of it are for nobody."""
    if pa.types.is_timestamp(column.type):
        return pc.cast(column, pa.timestamp("s"), safe=False)
    return column


def _category(column: Any) -> tuple[Column, tuple[str, ...]]:
    """Return a category as text, and its values in their order."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(column, pa.ChunkedArray):  # chunks with different dictionaries
        column = pa.concat_arrays(column.unify_dictionaries().chunks)
    words = [written(word) if word is not None else None for word in column.dictionary.to_pylist()]
    known = np.array([*words, None], dtype=object)
    return np.asarray(known[codes(column.indices, len(words))]), tuple(
        word for word in words if word is not None
    )


def _objects(column: Any) -> Column:
    """Return anything else as text."""
    return np.array(
        [None if value is None else str(value) for value in column.to_pylist()], dtype=object
    )
