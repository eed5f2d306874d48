"""Tables that are not plain numbers: categories become indicator columns, sparse tables dense."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.sparse import issparse

from selica._core.errors import ArgumentError
from selica._core.memory import SMALL, check_memory
from selica._core.types import Array, IntArray
from selica._core.validation import printable, short
from selica._core.wording import counted
from selica.tables.categories import indicators
from selica.tables.columns import listed

_GENOTYPES = (
    " If these are genotypes, sampling.GenotypeKnockoffs().fit(X).complete(X) draws the missing "
    "ones, which stay numbers of alleles."
)
"""What to do where a table of the values 0, 1 and 2 has gaps."""


def plain(X: Any) -> Any:
    """Return a table in a form that scikit-learn reads, if it has another one.

    A lazy data frame is collected; a masked array, and a sparse one that fits into the memory,
    becomes an ordinary array, in which masked values are missing.

    Parameters
    ----------
    X : object
        Anything that a user gives to `fit`.
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        X = X.collect()
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "iufb":
        return np.ma.filled(X.astype(float), np.nan)
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _of_pandas(X, pandas)
    if issparse(X):
        return dense(X)
    structured = isinstance(X, np.ndarray) and X.dtype.names is not None
    if structured or isinstance(X, str | bytes | Mapping) or hasattr(X, "obs"):
        raise ArgumentError(
            "X must be a data frame, an array or a sparse matrix of numbers; selica.select takes "
            f"files, dictionaries, structured arrays and AnnData. Got {short(X)}."
        )
    return X


def _of_pandas(X: Any, pandas: Any) -> Any:
    """Return a data frame with names that differ, and none of its columns sparse."""
    twice = [str(name) for name, times in Counter(X.columns).items() if times > 1]
    if twice:
        raise ArgumentError(f"X: column names must differ; more than once: {listed(twice)}.")
    sparse = [name for name, kind in X.dtypes.items() if isinstance(kind, pandas.SparseDtype)]
    if not sparse:
        return X
    rows, columns = X.shape
    _check_size(rows, columns)
    return X.assign(**{name: X[name].sparse.to_dense() for name in sparse})


def dense(X: Any) -> Any:
    """Return a sparse table as an array, if it fits into the memory."""
    _check_size(*X.shape)
    return X.toarray()


def _check_size(rows: int, columns: int) -> None:
    if 8.0 * rows * columns > SMALL:
        check_memory(f"{rows:,} x {columns:,} numbers", 8.0 * rows * columns, "leave columns out")


def category_columns(X: Any) -> list[Any]:
    """Return the names of the columns of a data frame that hold categories, not numbers.

    Parameters
    ----------
    X : object
        A data frame of pandas or polars, or anything else, which has no such columns.
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        kind = pandas.CategoricalDtype
        return [name for name, dtype in X.dtypes.items() if isinstance(dtype, kind)]
    if polars is not None and isinstance(X, polars.DataFrame):
        kinds = (polars.Categorical, polars.Enum)
        return [name for name, dtype in X.schema.items() if isinstance(dtype, kinds)]
    return []


class EncodedFrame(NamedTuple):
    """A data frame as numbers."""

    values: Array
    """(n, c)."""
    names: tuple[str, ...]
    """Of the variables."""
    variable: IntArray
    """(c,): the variable of each column."""
    columns: tuple[str, ...]
    """Names of the columns, such as "tissue: liver"."""
    references: tuple[str, ...]
    """For each variable, the value of a category that has no column; empty for numbers."""


def encoded(X: Any, categories: list[Any]) -> EncodedFrame:
    """Return a data frame as numbers: categories have a column for each value but one.

    Parameters
    ----------
    X : data frame
    categories : list of str
        As from `category_columns`.
    """
    parts: list[Array] = []
    variable: list[int] = []
    columns: list[str] = []
    references: list[str] = []
    for place, name in enumerate(X.columns):
        values = X[name]
        if name not in categories:
            parts.append(np.asarray(values)[:, None])
            columns.append(str(name))
            variable.append(place)
            references.append("")
            continue
        missing = np.asarray(values.isna() if hasattr(values, "isna") else values.is_null())
        text = np.array([str(value) for value in values], dtype=object)
        text[missing] = None
        found = indicators(str(name), text)
        references.append(found.reference)
        own = found.values if found.levels else np.zeros((len(text), 1))
        parts.append(own)
        columns += [f"{name}: {level}" for level in found.levels or (found.reference,)]
        variable += [place] * own.shape[1]
    return EncodedFrame(
        np.concatenate(parts, axis=1),
        tuple(str(name) for name in X.columns),
        np.array(variable, dtype=np.intp),
        tuple(columns),
        tuple(references),
    )


def named_columns(X: Any) -> list[Any] | None:
    """Return the names of the columns of a data frame; None for a table without names."""
    if isinstance(X, pa.Table):
        return list(X.column_names)
    names = getattr(X, "columns", None)
    return None if names is None else list(names)


def refuse_gaps(X: Any, infinite_only: bool) -> None:
    """Say where a table has values that are missing, or infinite, if that is why it was refused.

    Parameters
    ----------
    X : table
        Of any kind.
    infinite_only : bool
        Whether missing values are no reason.
    """
    names, values = _columns_of(X)
    if values is None:
        return
    missing, infinite = np.isnan(values), np.isinf(values)
    wrong = infinite if infinite_only or not missing.any() else missing
    where = [names[int(j)] for j in np.flatnonzero(wrong.any(axis=0))]
    if not where:
        return
    cells = counted(int(np.count_nonzero(wrong)), "value")
    are = "is" if cells.startswith("1 ") else "are"
    if wrong is infinite:
        raise ArgumentError(
            f"X: {cells} {are} infinite (inf), in {listed(where)}: correct them, or make them NaN "
            "and give missing='impute'."
        )
    raise ArgumentError(
        f"X: {cells} {are} missing (NaN), in {listed(where)}: fit(..., missing='impute') "
        "estimates them; selica.select can also leave out the rows or the columns."
        + (_GENOTYPES if {*np.unique(values[~missing])} == {0.0, 1.0, 2.0} else "")
    )


def _columns_of(X: Any) -> tuple[list[str], Array | None]:
    """Return the names and the numbers of a table; None where they are no numbers."""
    names = named_columns(X)
    try:
        if hasattr(X, "to_numpy") and hasattr(X, "iloc"):  # pandas, whose <NA> is no number
            values = X.to_numpy(dtype=float, na_value=np.nan)
        else:
            values = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return [], None
    if values.ndim != 2:
        return [], None
    if names is None:
        names = [f"x{j}" for j in range(values.shape[1])]
    return [printable(str(name)) for name in names], values
