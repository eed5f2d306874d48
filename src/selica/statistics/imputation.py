r"""Missing values, filled in by what the rows of a resample know of the other columns.

A missing value is replaced by its conditional mean, a linear function of the few columns that go
with it best. For a linear response this is what keeps false variables out: where :math:`x_1` is
missing, :math:`E[y | x_2] = b\,E[x_1 | x_2]` is linear in the value that was filled in, and
:math:`x_2` has nothing left to say. With the mean of the column in its place, :math:`x_2` would
stand in for :math:`x_1`.

Which columns go together is found once, from the table without its response; the functions are
fitted again to the rows of each resample, so that disjoint resamples share nothing. In a wide
table not all pairs of columns are compared: the work grows as the number of columns does.
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
_NUMBERS_AT_ONCE = 2_000_000
"""Size of the arrays of a block of columns."""
_MOST_PAIRS = 20_000_000
"""Pairs of columns that are all compared."""
_PIVOTS = 64
"""Columns of a wide table to which all others are compared in a round."""
_ROUNDS = 8
"""Rounds of comparisons in a wide table."""
_TOGETHER = 1024
"""Columns of a wide table that are compared pair by pair."""
NOBODY = -1
"""In the place of a neighbour, where a column has no more of them."""


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
    """(m, k): for each of these the columns that go with it best; NOBODY where there are fewer."""

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
        if k <= 0:
            return cls(missing, columns, np.zeros((columns.size, 0), dtype=np.intp))
        Z = _scaled(X, missing, np.ones(n))
        wide = columns.size * p > _MOST_PAIRS
        return cls(missing, columns, _some(Z, k)[columns] if wide else _best(Z, columns, k))

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
        columns = np.zeros((X.shape[1] + 1, used.size))  # the last is that of nobody
        columns[:-1] = Z.T
        out = X.copy()
        touched = missing[:, self.columns].any(axis=0)
        many = np.count_nonzero(self.neighbours != NOBODY, axis=1)
        for k in np.unique(many[touched]):
            place = np.flatnonzero(touched & (many == k))
            step = max(1, _NUMBERS_AT_ONCE // max(used.size * int(k), 1))
            for start in range(0, place.size, step):
                some = place[start : start + step]
                part = self.columns[some]
                absent = missing[:, part].T
                which, row = np.nonzero(absent)
                value = np.zeros(which.size)
                if k > 0:
                    near = columns[self.neighbours[some, :k]]  # (columns, k, rows)
                    known = near * np.where(absent, 0.0, rows)[:, None, :]
                    gram = known @ near.transpose(0, 2, 1) + _RIDGE * np.eye(k)
                    right = known @ columns[part][:, :, None]
                    slope = np.linalg.solve(gram, right)[:, :, 0]
                    value = (slope[which] * near[which, :, row]).sum(axis=1)
                filled_in = part[which]
                out[used[row], filled_in] = mean[filled_in] + scale[filled_in] * value
        return out

    def some_columns(self, which: Any) -> Imputation:
        """Return the imputation of some of the columns, by neighbours among them."""
        place = np.full(self.missing.shape[1], -1)
        chosen = np.arange(place.size)[which]
        place[chosen] = np.arange(chosen.size)
        have = np.flatnonzero(place[self.columns] >= 0)
        neighbours = place[self.neighbours[have]]
        neighbours[self.neighbours[have] == NOBODY] = NOBODY
        return Imputation(self.missing[:, which], place[self.columns[have]], _ordered(neighbours))

    def some_rows(self, which: Any) -> Imputation:
        """Return the imputation of some of the rows."""
        return self._replace(missing=self.missing[which])


def _best(Z: Array, columns: IntArray, k: int) -> IntArray:
    """Return the k best neighbours of some columns among all others, (m, k)."""
    neighbours = np.zeros((columns.size, k), dtype=np.intp)
    step = max(1, _NUMBERS_AT_ONCE // Z.shape[1])
    for start in range(0, columns.size, step):
        part = columns[start : start + step]
        size = np.abs(Z[:, part].T @ Z)
        size[np.arange(part.size), part] = -1.0
        best = np.argpartition(-size, k - 1, axis=1)[:, :k]
        neighbours[start : start + step] = np.sort(best, axis=1)
    return neighbours


def _some(Z: Array, k: int) -> IntArray:
    """Return up to k good neighbours of each column of a wide table, (p, k).

    In each round columns are sorted by the one of a few random columns that they go with best, and
    how well; those near to each other in this order are compared. A correlation that the largest of
    p by chance has in so many rows says nothing: its column is no neighbour.
    """
    n, p = Z.shape
    lines = np.ascontiguousarray(Z.T, dtype=np.float32)  # to rank correlations, single will do
    least = np.sqrt(2.0 * np.log(p) / n)
    rng = np.random.default_rng(0)  # the same columns for the same table
    size = np.full((p, k), -1.0, dtype=np.float32)
    neighbours = np.full((p, k), NOBODY, dtype=np.intp)
    for _ in range(_ROUNDS):
        pivots = rng.choice(p, _PIVOTS, replace=False)
        like = np.abs(lines[pivots] @ lines.T)
        nearest = like.argmax(axis=0)
        order = np.lexsort((like[nearest, np.arange(p)], nearest))
        for part in np.array_split(order, max(p // _TOGETHER, 1)):
            product = np.abs(lines[part] @ lines[part].T)
            np.fill_diagonal(product, -1.0)
            best = np.argpartition(product, -k, axis=1)[:, -k:]
            good = np.take_along_axis(product, best, axis=1)
            found = np.concatenate([neighbours[part], part[best]], axis=1)
            sizes = np.concatenate([size[part], np.where(good < least, -1.0, good)], axis=1)
            known = (found[:, :k, None] == found[:, None, k:]).any(axis=1)
            sizes[:, k:][known] = -1.0
            first = np.argpartition(-sizes, k - 1, axis=1)[:, :k]
            size[part] = np.take_along_axis(sizes, first, axis=1)
            neighbours[part] = np.take_along_axis(found, first, axis=1)
    return _ordered(np.where(size < 0.0, NOBODY, neighbours))


def _ordered(neighbours: IntArray) -> IntArray:
    """Return neighbours in the order of the columns, those that are nobody last."""
    last = np.iinfo(np.intp).max
    found = np.sort(np.where(neighbours == NOBODY, last, neighbours), axis=1)
    return np.where(found == last, NOBODY, found)


def _standard(X: Array, missing: BoolArray, weight: Array) -> tuple[Array, Array, Array]:
    """Return columns of mean 0 and variance 1 by their known values, zero where missing."""
    total = np.maximum(weight.sum() - weight @ missing.astype(float), 1e-300)
    Z = np.where(missing, 0.0, X)
    mean = weight @ Z / total
    Z -= mean
    Z[missing] = 0.0
    scale = np.sqrt(weight @ Z**2 / total)
    scale = np.where(scale > 0.0, scale, 1.0)
    Z /= scale
    return Z, mean, scale


def _scaled(X: Array, missing: BoolArray, weight: Array) -> Array:
    """Return columns whose products are correlations, as far as values are known."""
    Z, _, _ = _standard(X, missing, weight)
    return np.asarray(Z / np.sqrt(len(Z)))


def filled(X: Array) -> tuple[Array, Imputation | None]:
    """Return a table with conditional means for its missing values, and how they were found.

    Parameters
    ----------
    X : array of shape (n, p)
        With NaN where a value is missing.

    Returns
    -------
    X : array of shape (n, p)
    imputation : Imputation, or None where nothing is missing

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics.imputation import filled
    >>> X, imputation = filled(np.array([[1.0], [np.nan], [3.0]]))
    >>> X.ravel().tolist(), int(imputation.missing.sum())
    ([1.0, 2.0, 3.0], 1)
    """
    missing = np.isnan(X)
    if not missing.any():
        return X, None
    complete = np.where(missing, 0.0, X)
    imputation = Imputation.of(complete, missing)
    return imputation.fill(complete, np.ones(len(X))), imputation
