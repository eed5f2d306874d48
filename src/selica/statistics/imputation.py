r"""Missing values, filled in by what the rows of a resample know of the other columns.

A missing value is replaced by its conditional mean, a linear function of the few columns that go
with it best. For a linear response this is what keeps false variables out: where :math:`x_1` is
missing, :math:`E[y | x_2] = b\,E[x_1 | x_2]` is linear in the value that was filled in, and
:math:`x_2` has nothing left to say. With the mean of the column in its place, :math:`x_2` would
stand in for :math:`x_1`.

Which columns go together is found once, from the table without its response; the functions are
fitted again to the rows of each resample, so that disjoint resamples share nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray, IntArray

MOST_NEIGHBOURS = 10
"""Columns that say what a missing value was, at most."""
_ROWS_PER_NEIGHBOUR = 10
"""Rows for each of these columns, at least."""
_RIDGE = 1.0
"""Ridge on each coefficient, in rows, for columns of unit variance."""
_NUMBERS_AT_ONCE = 8_000_000
"""Size of the arrays of a block of columns."""


class Imputation(NamedTuple):
    """Missing values of a table, and the columns that tell most of each.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics.imputation import Imputation
    >>> x = np.linspace(-1.0, 1.0, 40)
    >>> X = np.column_stack([x, 2.0 * x])
    >>> missing = np.zeros(X.shape, dtype=bool)
    >>> missing[30, 0] = True
    >>> X[30, 0] = 0.0
    >>> made = Imputation.of(X, missing)
    >>> bool(abs(made.fill(X, np.ones(40))[30, 0] - x[30]) < 0.05)
    True
    """

    missing: BoolArray
    """(n, p): values that were missing."""
    columns: IntArray
    """(m,): columns that have any."""
    neighbours: IntArray
    """(m, k): for each of these the columns that go with it best."""

    @classmethod
    def of(cls, X: Array, missing: BoolArray) -> Imputation:
        """Find the neighbours of all columns with missing values.

        Parameters
        ----------
        X : array of shape (n, p)
            What is at missing places does not matter.
        missing : boolean array of shape (n, p)
        """
        n, p = X.shape
        columns = np.flatnonzero(missing.any(axis=0))
        k = int(min(MOST_NEIGHBOURS, p - 1, n // _ROWS_PER_NEIGHBOUR))
        neighbours = np.zeros((columns.size, max(k, 0)), dtype=np.intp)
        if k > 0:
            Z = _scaled(X, missing, np.ones(n))
            step = max(1, _NUMBERS_AT_ONCE // p)
            for start in range(0, columns.size, step):
                part = columns[start : start + step]
                size = np.abs(Z[:, part].T @ Z)
                size[np.arange(part.size), part] = -1.0
                best = np.argpartition(-size, k - 1, axis=1)[:, :k]
                neighbours[start : start + step] = np.sort(best, axis=1)
        return cls(missing, columns, neighbours)

    def fill(self, X: Array, weight: Array) -> Array:
        """Return the table with conditional means at the missing places of rows with a weight.

        Parameters
        ----------
        X : array of shape (n, p)
            What is at missing places does not matter.
        weight : array of shape (n,)
            Of the rows that the conditional means are fitted to.
        """
        used = np.flatnonzero(weight > 0.0)
        rows, missing = weight[used], self.missing[used]
        Z, mean, scale = _standard(X[used], missing, rows)
        out = X.copy()
        k = self.neighbours.shape[1]
        step = max(1, _NUMBERS_AT_ONCE // max(used.size * max(k, 1), 1))
        for start in range(0, self.columns.size, step):
            part = self.columns[start : start + step]
            absent = missing[:, part]
            value = np.zeros(absent.shape)
            if k > 0:
                known = np.where(absent, 0.0, rows[:, None])  # (rows, columns)
                near = Z[:, self.neighbours[start : start + step]]  # (rows, columns, k)
                weighted = near * known[:, :, None]
                gram = np.einsum("imk,iml->mkl", weighted, near, optimize=True)
                gram += _RIDGE * np.eye(k)
                right = np.einsum("imk,im->mk", weighted, Z[:, part], optimize=True)
                slope = np.linalg.solve(gram, right[:, :, None])[:, :, 0]
                value = np.einsum("imk,mk->im", near, slope, optimize=True)
            value = mean[part] + scale[part] * value
            out[np.ix_(used, part)] = np.where(absent, value, out[np.ix_(used, part)])
        return out

    def some_columns(self, which: Any) -> Imputation:
        """Return the imputation of some of the columns, by neighbours among them."""
        place = np.full(self.missing.shape[1], -1)
        chosen = np.arange(place.size)[which]
        place[chosen] = np.arange(chosen.size)
        have = np.flatnonzero(place[self.columns] >= 0)
        neighbours = place[self.neighbours[have]]
        # a neighbour that is gone is replaced by the column itself, which is then left alone
        own = place[self.columns[have]]
        neighbours = np.where(neighbours < 0, own[:, None], neighbours)
        return Imputation(self.missing[:, which], own, neighbours)

    def some_rows(self, which: Any) -> Imputation:
        """Return the imputation of some of the rows."""
        return self._replace(missing=self.missing[which])


def _standard(X: Array, missing: BoolArray, weight: Array) -> tuple[Array, Array, Array]:
    """Return columns of mean 0 and variance 1 by their known values, zero where missing."""
    known = np.where(missing, 0.0, weight[:, None])
    total = np.maximum(known.sum(axis=0), 1e-300)
    there = np.where(missing, 0.0, X)
    mean = (known * there).sum(axis=0) / total
    Z = np.where(missing, 0.0, there - mean)
    scale = np.sqrt((known * Z**2).sum(axis=0) / total)
    scale = np.where(scale > 0.0, scale, 1.0)
    return Z / scale, mean, scale


def _scaled(X: Array, missing: BoolArray, weight: Array) -> Array:
    """Return columns whose products are correlations, as far as values are known."""
    Z, _, _ = _standard(X, missing, weight)
    return np.asarray(Z / np.sqrt(len(Z)))


def filled(X: Array) -> tuple[Array, BoolArray | None]:
    """Return a table with conditional means for its missing values, and where they were.

    Parameters
    ----------
    X : array of shape (n, p)
        With NaN where a value is missing.

    Returns
    -------
    X : array of shape (n, p)
    missing : boolean array of shape (n, p), or None where there is none

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics.imputation import filled
    >>> X, missing = filled(np.array([[1.0], [np.nan], [3.0]]))
    >>> X.ravel().tolist(), int(missing.sum())
    ([1.0, 2.0, 3.0], 1)
    """
    missing = np.isnan(X)
    if not missing.any():
        return X, None
    complete = np.where(missing, 0.0, X)
    return Imputation.of(complete, missing).fill(complete, np.ones(len(X))), missing
