"""Columns of arrow: numbers, truth values, dates, categories and text of every width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from selica._core.types import Array
from selica._core.validation import written
from selica.tables.cells import read_cells, texts_of
from selica.tables.columns import Column, Columns

_DAY = 86400.0
"""Seconds of a day, the unit of durations."""


def columns_of_arrow(
    names: Sequence[str], columns: Sequence[Any], *, comma_file: bool = False
) -> Columns:
    """Return arrow columns as a table.

    Parameters
    ----------
    names : sequence of str
    columns : sequence of pyarrow arrays, chunked or not
    comma_file : bool
        Whether they come from a file with commas between columns.
    """
    values: list[Column | None] = [None] * len(names)
    kinds: dict[str, str] = {}
    orders: dict[str, tuple[str, ...]] = {}
    text: list[int] = []
    rows = len(columns[0]) if len(columns) else 0
    numeric = [j for j, column in enumerate(columns) if _is_number(column.type)]
    table = np.empty((rows, len(numeric)), order="F")
    for k, j in enumerate(numeric):
        table[:, k] = _floats(columns[j])
        values[j] = table[:, k]
    cells: list[Any] = []
    for j, column in enumerate(columns):
        if values[j] is not None:
            continue
        kind = column.type
        if pa.types.is_dictionary(kind):
            values[j], order = _category(column)
            kinds[names[j]] = "category"
            if kind.ordered:
                orders[names[j]] = order
        elif pa.types.is_temporal(kind):
            values[j] = texts_of(pc.cast(_day(column), pa.string()))
            kinds[names[j]] = "date"
        elif _is_text(kind):
            text.append(j)
            cells.append(pc.cast(column, pa.string()))
        else:
            values[j] = _objects(column)
    read = read_cells([names[j] for j in text], cells, comma_file=comma_file)
    for j, found in zip(text, read.values, strict=True):
        values[j] = found
    return Columns(
        tuple(names),
        tuple(values),  # type: ignore[arg-type]  # all are set by now
        notes=tuple(read.notes),
        kinds=kinds,
        orders=orders,
        remarks=read.remarks,
    )


def _is_number(kind: Any) -> bool:
    tests = (
        pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal,
        pa.types.is_null, pa.types.is_duration,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def _is_text(kind: Any) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _floats(column: Any) -> Array:
    """Return numbers and truth values as floats."""
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if pa.types.is_float64(column.type):
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=float)
    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.int8())
    if pa.types.is_duration(column.type):
        return _floats(pc.cast(pc.cast(column, pa.duration("s"), safe=False), pa.int64())) / _DAY
    return _floats(pc.cast(column, pa.float64(), safe=False))


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
    place = column.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
    return np.asarray(known[place]), tuple(word for word in words if word is not None)


def _objects(column: Any) -> Column:
    """Return anything else as text."""
    return np.array(
        [None if value is None else str(value) for value in column.to_pylist()], dtype=object
    )
