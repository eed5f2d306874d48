"""A table from an object of Python: data frames of every make, arrays, sparse matrices."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from selica._core.errors import ArgumentError
from selica._core.memory import check_memory
from selica._core.types import Array
from selica._core.validation import short
from selica.tables.arrow import columns_of_arrow
from selica.tables.columns import Column, Columns, clean_names
from selica.tables.files import read_table
from selica.tables.values import arrow_of

_FORMS = (
    "table must be a path, a data frame (pandas, polars or pyarrow), an array, a sparse matrix, an "
    "AnnData object or a dictionary of columns"
)


def as_columns(table: Any) -> Columns:
    """Return any table as columns.

    Parameters
    ----------
    table : path, data frame, array, sparse matrix or dictionary
        Columns; the path of a file; a data frame of pandas, polars (also lazy) or pyarrow, or of
        any other library that speaks Arrow; an array of shape (n, p), also masked, mapped from a
        file or structured; a sparse matrix of SciPy; AnnData, whose `obs` come before the
        variables; a dictionary of columns.

    Returns
    -------
    Columns

    Examples
    --------
    >>> import numpy as np
    >>> from selica.tables import as_columns
    >>> as_columns(np.eye(3)).names
    ('x0', 'x1', 'x2')
    >>> as_columns({"sex": ["f", "m"], "age": [61, 58]}).values[1]
    array([61., 58.])
    """
    if isinstance(table, Columns):
        return table
    if isinstance(table, str | Path):
        return read_table(table)
    found = None if sparse.issparse(table) else _of_frame(table)  # some are dictionaries, too
    if found is None:
        found = _of_array(table)
    if found is None:
        raise ArgumentError(f"{_FORMS}; got {short(table)}.")
    if not found.names:
        raise ArgumentError("table: there are no columns.")
    if not len(found):
        raise ArgumentError("table: there are no rows.")
    return found


def _of_frame(table: Any) -> Columns | None:
    """Return a table that has names of its own; None for anything else."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(table, pandas.DataFrame):
        return _of_pandas(table)
    if polars is not None and isinstance(table, polars.LazyFrame):
        table = table.collect()
    if polars is not None and isinstance(table, polars.DataFrame):
        return _of_arrow_table(table.to_arrow())
    if isinstance(table, pa.Table | pa.RecordBatch):
        return _of_arrow_table(table)
    if isinstance(table, Mapping):
        return _of_columns(list(table), list(table.values()))
    if all(hasattr(table, part) for part in ("X", "obs", "var_names")):
        return _of_anndata(table)
    if hasattr(table, "__arrow_c_stream__"):
        try:
            return _of_arrow_table(pa.table(table))
        except (pa.ArrowException, TypeError, ValueError):
            return None
    return None


def _of_array(table: Any) -> Columns | None:
    if sparse.issparse(table):
        return _of_sparse(table)
    if isinstance(table, np.ndarray) and table.dtype.names is not None:
        return _of_columns(list(table.dtype.names), [table[name] for name in table.dtype.names])
    if isinstance(table, Sequence) and not isinstance(table, str | bytes):
        try:
            table = np.asarray(table)
        except ValueError:
            raise ArgumentError(
                f"{_FORMS}; the rows of this list have different lengths."
            ) from None
    if not isinstance(table, np.ndarray):
        return None
    if table.ndim != 2:
        raise ArgumentError(f"table must have two dimensions; got shape {table.shape}.")
    names = tuple(f"x{j}" for j in range(table.shape[1]))
    if table.dtype.kind == "c":
        raise ArgumentError("table must hold real numbers; these are complex.")
    if table.dtype.kind in "iufb":
        values = _floats(table)
        return Columns(names, tuple(values[:, j] for j in range(values.shape[1])))
    return _of_columns(names, [table[:, j] for j in range(table.shape[1])])


def _floats(values: Any) -> Array:
    """Return numbers as floats, not copied if they are; masked ones are NaN."""
    if isinstance(values, np.ma.MaskedArray):
        return np.asarray(np.ma.filled(values.astype(float), np.nan))
    return np.asarray(values, dtype=float)


def _of_columns(header: Iterable[Any], columns: Sequence[Any]) -> Columns:
    """Return columns of any make, each on its own."""
    names, unnamed, problems = clean_names(list(header))
    arrays = [_column(column) for column in columns]
    lengths = {
        name: len(array) for name, array in zip(names, arrays, strict=True) if array is not None
    }
    odd = [name for name, array in zip(names, arrays, strict=True) if array is None]
    if odd:
        problems.append(f"columns must be vectors; {odd[0]!r} is none")
    if len(set(lengths.values())) > 1:
        problems.append(
            "columns must have one length; "
            + ", ".join(f"{name!r} has {n}" for name, n in list(lengths.items())[:3])
        )
    if problems:
        raise ArgumentError(f"table: {'; '.join(problems)}.")
    return _mixed(names, unnamed, [array for array in arrays if array is not None])


def _mixed(names: Sequence[str], unnamed: Sequence[str], arrays: Sequence[Any]) -> Columns:
    """Return arrays of floats and of arrow as one table."""
    others = [j for j, array in enumerate(arrays) if not isinstance(array, np.ndarray)]
    read = columns_of_arrow([names[j] for j in others], [arrays[j] for j in others])
    values: list[Column] = list(arrays)
    for j, found in zip(others, read.values, strict=True):
        values[j] = found
    return replace(read, names=tuple(names), values=tuple(values), unnamed=tuple(unnamed))


def _column(values: Any) -> Any:
    """Return floats as an array, anything else as an arrow array; None for what is no vector."""
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            return None
        if values.dtype.kind in "iuf":
            return _floats(values)
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(object), None)
        if values.dtype.kind in "US":
            values = values.astype(str).astype(object)
        return None if values.dtype.kind in "cV" else arrow_of(values)
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        return None
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(values, pandas.Series | pandas.Index):
        return _of_series(values)
    if hasattr(values, "to_arrow"):
        return values.to_arrow()
    return arrow_of(values if isinstance(values, pa.Array | pa.ChunkedArray) else list(values))


def _of_series(series: Any) -> Any:
    """Return a series of pandas as an array of floats, or of arrow."""
    kind = series.dtype
    if isinstance(kind, np.dtype) and kind.kind in "iuf":
        return np.asarray(series, dtype=float)
    if hasattr(series, "sparse") and getattr(kind, "name", "").startswith("Sparse"):
        return _of_series(series.sparse.to_dense())
    return arrow_of(series)


def _of_pandas(frame: Any) -> Columns:
    names, unnamed, problems = clean_names([_joined(name) for name in frame.columns])
    if problems:
        raise ArgumentError(f"table: {'; '.join(problems)}.")
    kinds = list(frame.dtypes)
    plain = [j for j, kind in enumerate(kinds) if isinstance(kind, np.dtype) and kind.kind in "iuf"]
    arrays: list[Any] = [None] * len(kinds)
    if plain:
        numbers = frame.iloc[:, plain].to_numpy(dtype=float)
        for k, j in enumerate(plain):
            arrays[j] = numbers[:, k]
    for j, array in enumerate(arrays):
        if array is None:
            arrays[j] = _of_series(frame.iloc[:, j])
    return _mixed(names, unnamed, arrays)


def _joined(name: Any) -> str:
    """Return a name, also one of several levels, as text."""
    return " ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _of_arrow_table(table: Any) -> Columns:
    names, unnamed, problems = clean_names(table.schema.names)
    if problems:
        raise ArgumentError(f"table: {'; '.join(problems)}.")
    return replace(columns_of_arrow(names, list(table.columns)), unnamed=tuple(unnamed))


def _of_sparse(matrix: Any) -> Columns:
    rows, columns = matrix.shape
    check_memory(
        "the table as ordinary numbers", 8.0 * rows * columns, "leave out rows or columns first"
    )
    values = np.asarray(matrix.astype(float).toarray(order="F"))
    return Columns(
        tuple(f"x{j}" for j in range(columns)), tuple(values[:, j] for j in range(columns))
    )


def _of_anndata(data: Any) -> Columns:
    """Return what is known of the cells, then their variables."""
    known = as_columns(data.obs) if len(getattr(data.obs, "columns", ())) else None
    found = _of_array(data.X)
    if found is None:
        raise ArgumentError("table: X of the AnnData object must be an array.")
    header = [*(() if known is None else known.names), *map(str, data.var_names)]
    names, unnamed, problems = clean_names(header)
    if problems:
        raise ArgumentError(f"table: {'; '.join(problems)}.")
    if known is None:
        return replace(found, names=tuple(names), unnamed=tuple(unnamed))
    return replace(
        known,
        names=tuple(names),
        values=(*known.values, *found.values),
        unnamed=tuple(unnamed),
    )
