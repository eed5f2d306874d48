"""Tables that are not plain numbers: categories become indicator columns, sparse tables dense."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy.sparse import issparse

from selica._core.memory import SMALL, check_memory
from selica._core.types import Array
from selica.tables.categories import indicators


def dense(X: Any) -> Any:
    """Return a sparse table as an array, if it fits into the memory; any other as it is."""
    if not issparse(X):
        return X
    table: Any = X
    rows, columns = table.shape
    if 8.0 * rows * columns > SMALL:
        check_memory(f"{rows:,} x {columns:,} numbers", 8.0 * rows * columns, "leave columns out")
    return table.toarray()


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


def encoded(X: Any, categories: list[Any]) -> tuple[Array, Any, tuple[str, ...], tuple[str, ...]]:
    """Return a data frame as numbers: categories have a column for each value but one.

    Parameters
    ----------
    X : data frame
    categories : list of str
        As from `category_columns`.

    Returns
    -------
    array of shape (n, c)
    array of int, shape (c,)
        The variable of each column.
    tuple of str
        Names of the columns.
    tuple of str
        For each variable, the value that has no column; empty for numbers.
    """
    parts: list[Array] = []
    variable: list[int] = []
    names: list[str] = []
    references: list[str] = []
    for place, name in enumerate(X.columns):
        values = X[name]
        if name not in categories:
            parts.append(np.asarray(values)[:, None])
            names.append(str(name))
            variable.append(place)
            references.append("")
            continue
        missing = np.asarray(values.isna() if hasattr(values, "isna") else values.is_null())
        text = np.array([str(value) for value in values], dtype=object)
        text[missing] = None
        found = indicators(str(name), text)
        columns = found.values if found.levels else np.zeros((len(text), 1))
        parts.append(columns)
        names += [f"{name}: {level}" for level in found.levels or (found.reference,)]
        variable += [place] * columns.shape[1]
        references.append(found.reference)
    table = np.concatenate(parts, axis=1)
    return table, np.array(variable, dtype=np.intp), tuple(names), tuple(references)
