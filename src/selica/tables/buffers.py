"""Arrays of arrow as arrays of NumPy, read where they lie: pyarrow's own way loads pandas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from selica._core.types import Array, BoolArray, IntArray


def chunks_of(column: Any) -> Sequence[Any]:
    """Return the parts of a column, of which a plain array has one."""
    return column.chunks if isinstance(column, pa.ChunkedArray) else (column,)


def copy_floats(column: Any, out: Array) -> None:
    """Copy numbers to an array; those that are missing become NaN.

    Parameters
    ----------
    column : pyarrow array of numbers
    out : array of shape (n,)
    """
    start = 0
    for chunk in chunks_of(column):
        chunk = chunk if pa.types.is_float64(chunk.type) else pc.cast(chunk, pa.float64(), False)
        if chunk.null_count:
            chunk = pc.fill_null(chunk, np.nan)
        end = start + len(chunk)
        if len(chunk):
            data = np.frombuffer(chunk.buffers()[1], dtype=np.float64)
            out[start:end] = data[chunk.offset : chunk.offset + len(chunk)]
        start = end


def booleans(mask: Any) -> BoolArray:
    """Return truth values; those that are missing are false."""
    bytes_ = pc.cast(pc.fill_null(mask, False), pa.uint8())
    return np.concatenate(
        [np.zeros(0, dtype=bool), *(_data(chunk, np.uint8) for chunk in chunks_of(bytes_))]
    ).astype(bool)


def codes(indices: Any, missing: int) -> IntArray:
    """Return places in a dictionary; those that are missing are `missing`."""
    filled = pc.fill_null(pc.cast(indices, pa.int64()), missing)
    return np.asarray(_data(filled, np.int64), dtype=np.intp)


def _data(chunk: Any, kind: Any) -> Any:
    if not len(chunk):
        return np.zeros(0, dtype=kind)
    return np.frombuffer(chunk.buffers()[1], dtype=kind)[chunk.offset : chunk.offset + len(chunk)]
