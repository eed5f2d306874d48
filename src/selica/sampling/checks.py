"""Checks of tables and covariance matrices: one clear sentence that names the argument."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from selica._core.errors import ArgumentError, ColumnError, RefusedError
from selica._core.types import Array, IntArray
from selica._core.validation import array_of, real, short, square

SMALLEST_EIGENVALUE = 1e-10
"""Below it a variable is a combination of others to ten digits: its knockoff would be itself."""
LARGEST_ASYMMETRY = 1e-8
"""Matrices are typed in, estimated or read from files: symmetric to this share of the largest
entry."""


def row_shares(sample_weight: Any, rows: int) -> Array:
    """Return the weights of the rows as shares of their sum; equal shares for None."""
    if sample_weight is None:
        return np.full(rows, 1.0 / rows)
    if isinstance(sample_weight, np.ndarray) and sample_weight.dtype == bool:  # rows to keep
        sample_weight = sample_weight.astype(float)
    weight = real("sample_weight", sample_weight, at_least=0.0)
    if weight.shape != (rows,):
        raise ArgumentError(
            f"sample_weight must have one entry for each of the {rows} rows of X; got shape "
            f"{weight.shape}."
        )
    if not weight.any():
        raise ArgumentError("sample_weight must not be zero for all rows.")
    weight /= weight.max()  # so that the sum is finite
    return np.asarray(weight / weight.sum())


def column_mean(table: Array, share: Array) -> Array:
    """Return the weighted mean of the columns; exactly the value of a column that is constant."""
    first = table[0]
    return np.asarray(first + share @ (table - first))


def varying(name: str, table: Array, share: Array) -> None:
    """Refuse a column that is constant over the rows that count."""
    counted = table[share > 0.0]
    constant = np.flatnonzero(np.ptp(counted, axis=0) == 0.0)
    if constant.size:
        raise ColumnError(
            f"{name} must have no constant column; {{column}} is constant over "
            f"{counted.shape[0]} row(s).",
            int(constant[0]),
        )


def symmetric(name: str, value: Any) -> Array:
    """Return `value` as a finite symmetric matrix; both triangles agree exactly."""
    table = square(name, value)
    if np.abs(table - table.T).max() > LARGEST_ASYMMETRY * np.abs(table).max():
        raise ArgumentError(f"{name} must be symmetric.")
    return np.asarray(0.5 * (table + table.T))


def standardised(name: str, value: Any) -> tuple[Array, Array, float]:
    """Return a positive definite covariance as (sd, correlation, smallest eigenvalue)."""
    covariance = symmetric(name, value)
    variance = covariance.diagonal()
    if np.any(variance <= 0.0):
        raise ArgumentError(
            f"{name} must have positive variances; entry {int(np.argmin(variance))} of its "
            f"diagonal is {variance.min():g}."
        )
    sd = np.sqrt(variance)
    correlation = covariance / sd / sd[:, None]
    correlation = 0.5 * (correlation + correlation.T)
    np.fill_diagonal(correlation, 1.0)
    smallest = float(eigvalsh(correlation)[0])
    if smallest < SMALLEST_EIGENVALUE:
        raise RefusedError(
            f"{name} must be positive definite: the smallest eigenvalue of its correlation matrix "
            f"is {smallest:.2g}, and a variable that is a combination of others has no knockoff "
            "but itself. Drop such variables or shrink the matrix."
        )
    return sd, correlation, smallest


def group_labels(groups: Any, columns: int | None = None) -> IntArray:
    """Return the groups of columns as numbers 0, 1, ... in the order of the given ones.

    Parameters
    ----------
    groups : array of int, shape (columns,)
    columns : int, optional
        Number of columns, if it is known.
    """
    raw = array_of(groups)
    each = "each column" if columns is None else f"each of the {columns} columns"
    if raw.dtype.kind not in "iu" or raw.ndim != 1 or raw.size == 0:
        raise ArgumentError(f"groups must have one integer for {each}; got {short(groups)}.")
    if columns is not None and raw.size != columns:
        raise ArgumentError(f"groups must have one integer for {each}; got {raw.size}.")
    return np.unique(raw, return_inverse=True)[1]
