"""What a solver asks of a table of columns, however it is stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array, IntArray
from selica._core.validation import real

_BLOCK = 4_000_000
"""Entries that are made doubles at once."""
_LEAST_BYTES = 1e7
"""Memory of members that are solved together, at least."""
_SHARE = 0.1
"""Of the size of a table that is not of doubles."""


class DesignTable(ABC):
    """A table of n rows and p columns."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Size in memory."""

    @property
    def most_bytes(self) -> float:
        """Memory that members which are solved together may have: a share of the table's own."""
        return share_of(self.nbytes)

    @abstractmethod
    def design(self) -> Any:
        """Return the table as the core reads it."""

    @abstractmethod
    def column(self, j: int) -> Array:
        """Return one column as doubles."""

    @abstractmethod
    def dense(self) -> Array:
        """Return the table as doubles."""

    def columns_of(self, which: ArrayLike) -> Array:
        """Return some columns as doubles.

        Parameters
        ----------
        which : integer array of shape (k,)
            Numbers of columns; below zero they count from the end.

        Returns
        -------
        array of shape (n, k)
            Columns contiguous.
        """
        numbers = places("which", which, self.shape[1])
        out = np.empty((self.shape[0], numbers.size), order="F")
        for place, j in enumerate(numbers):
            out[:, place] = self.column(int(j))
        return out

    def moments(self, weight: ArrayLike | None = None) -> tuple[Array, Array]:
        """Return weighted means and variances of the columns, block by block.

        Parameters
        ----------
        weight : array of shape (n,), optional
            Weights of the rows, not negative; ones by default. A variance is the weighted mean of
            squared deviations.

        Returns
        -------
        mean, variance : array of shape (p,)
        """
        share = row_shares(weight, self.shape[0])
        n, p = self.shape
        mean, variance = np.empty(p), np.empty(p)
        step = max(1, _BLOCK // n)
        for start in range(0, p, step):
            some = slice(start, min(start + step, p))
            block = self.columns_of(np.arange(some.start, some.stop))
            mean[some] = share @ block
            block -= mean[some]
            rest = share @ block  # what rounding left of the mean
            variance[some] = share @ block**2 - rest**2
            mean[some] += rest
        return mean, np.maximum(variance, 0.0)


def share_of(nbytes: int) -> float:
    """Return the memory of members that are solved together, for a table of this size."""
    return max(_LEAST_BYTES, _SHARE * nbytes)


def places(name: str, which: ArrayLike, count: int) -> IntArray:
    """Return numbers from 0 to count - 1, or those of flags, as int64."""
    array = np.asarray(which)
    if array.dtype == np.bool_ and array.shape == (count,):
        return np.flatnonzero(array).astype(np.int64)
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArgumentError(f"{name} must be a list of whole numbers, or {count} flags.")
    if array.max() >= count or array.min() < -count:
        raise ArgumentError(f"{name} must be numbers from 0 to {count - 1}.")
    numbers = array.astype(np.int64)
    return np.where(numbers < 0, numbers + count, numbers)


def row_weights(weight: ArrayLike | None, rows: int) -> Array:
    """Return the weights of the rows, checked; ones by default."""
    if weight is None:
        return np.ones(rows)
    given = real("weight", weight)
    if given.shape != (rows,) or not np.isfinite(given).all() or (given < 0.0).any():
        raise ArgumentError(
            f"weight must have a finite number, not negative, for each of {rows} rows."
        )
    if not given.sum() > 0.0:
        raise ArgumentError("weight must have a number above 0.")
    return np.ascontiguousarray(given, dtype=float)


def row_shares(weight: ArrayLike | None, rows: int) -> Array:
    """Return the weights of the rows, of sum one."""
    given = row_weights(weight, rows)
    return np.asarray(given / given.sum())
