r"""Sums over intervals without differences: what is at risk when, and for how long.

Row i belongs to the places :math:`s_i \le t < e_i` of a line. Two sums are needed, in logarithms:
over the rows of each place, and over the places of each row. Differences of cumulative sums would
lose digits, and cumulative sums alone do for intervals with a common end only. Here each interval
is cut once, at the multiple of the highest power of two that it contains: left of the cut it is the
end of a block, right of it the beginning of one, and sums over ends and beginnings of blocks are
cumulative. This takes O(n + m log m) for n rows and m places.
"""

from __future__ import annotations

import numpy as np

from selica._core.types import Array, IntArray


class Intervals:
    """Intervals of places on a line, one for each row; empty where it stops at its start.

    Parameters
    ----------
    start, stop : integer arrays of shape (n,)
    size : int
        Number of places, at least one.

    Examples
    --------
    >>> import numpy as np
    >>> from selica._core.losses.intervals import Intervals
    >>> some = Intervals(np.array([0, 1]), np.array([2, 3]), 3)  # places 0, 1 and places 1, 2
    >>> np.exp(some.over_rows(np.log([1.0, 10.0]))).round(9).tolist()
    [1.0, 11.0, 10.0]
    >>> np.exp(some.over_places(np.log([1.0, 10.0, 100.0]))).round(9).tolist()
    [11.0, 110.0]
    """

    def __init__(self, start: IntArray, stop: IntArray, size: int) -> None:
        self.size, self._n = size, start.size
        self._depth = max(int(size - 1).bit_length(), 1)
        rows = np.flatnonzero(start < stop)
        first, last = start[rows], stop[rows] - 1
        # the highest bit in which the ends differ; for one place alone it is the first of its block
        level = np.frexp((first ^ last).astype(float))[1]
        self._levels = []
        for height in range(self._depth + 1):
            here = level == height
            if here.any():
                self._levels.append((height, rows[here], first[here], last[here]))

    def over_rows(self, x: Array) -> Array:
        """Return the sums over the rows of each place, (..., m) from (..., n); both logarithms."""
        total = np.full((*x.shape[:-1], 2**self._depth), -np.inf)
        for height, rows, first, last in self._levels:
            ends = (first,) if height == 0 else (first, last)
            put = np.full(total.shape, -np.inf)
            for end in ends:
                order = np.argsort(end, kind="stable")
                place, begin = np.unique(end[order], return_index=True)
                put[..., place] = np.logaddexp.reduceat(x[..., rows[order]], begin, axis=-1)
            if height > 0:
                halves = _halves(put, height)
                halves[..., 0, :] = _running(halves[..., 0, :])
                halves[..., 1, :] = _running(halves[..., 1, ::-1])[..., ::-1]
            total = np.logaddexp(total, put)
        return np.asarray(total[..., : self.size])

    def over_places(self, x: Array) -> Array:
        """Return the sums over the places of each row, (..., n) from (..., m); both logarithms."""
        total = np.full((*x.shape[:-1], self._n), -np.inf)
        line = np.full((*x.shape[:-1], 2**self._depth), -np.inf)
        line[..., : self.size] = x
        for height, rows, first, last in self._levels:
            if height == 0:
                total[..., rows] = line[..., first]
                continue
            part = line.copy()
            halves = _halves(part, height)
            halves[..., 0, :] = _running(halves[..., 0, ::-1])[..., ::-1]
            halves[..., 1, :] = _running(halves[..., 1, :])
            total[..., rows] = np.logaddexp(part[..., first], part[..., last])
        return total


def _halves(x: Array, height: int) -> Array:
    """Return a view of blocks of 2**height places, each as two halves."""
    return x.reshape(*x.shape[:-1], -1, 2, 2 ** (height - 1))


def _running(x: Array) -> Array:
    """Return running sums along the last axis, in logarithms."""
    return np.asarray(np.logaddexp.accumulate(x, axis=-1))
