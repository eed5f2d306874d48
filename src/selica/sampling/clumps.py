r"""Clumps of neighbouring markers that are alike, at several resolutions.

A stretch of genotypes is looked at at a time; nothing is ever p x p. Clumps are contiguous: two
neighbours are joined, again and again. Fewer joins are a finer partition of the same tree, so that
partitions are nested. With :math:`\bar r_{ab}` for the mean squared correlation between the markers
of the clumps a and b, those are joined for which is largest

- :math:`\bar r_{ab}`, where a squared correlation says when to stop;
- :math:`-\frac{|a| |b|}{|a| + |b|} (\bar r_{aa} + \bar r_{bb} - 2 \bar r_{ab})`, where a number of
  clumps does: minus the growth of the squares within clumps (Ward 1963), which keeps sizes alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import short
from selica.sampling.motifs import segment_edges
from selica.sampling.stored_calls import (
    StoredCalls,
    calls_of,
    check_stored,
    even_people,
    standard_calls,
)


class ClumpTree(NamedTuple):
    """Joins of neighbouring clumps of a segment, the closest first."""

    removed: IntArray
    """(m - 1,): markers at which a clump began before the join."""
    closeness: Array
    """(m - 1,): what was largest for the two clumps."""

    def begins(self, resolution: float) -> BoolArray:
        """Return where clumps begin at a resolution, (m,); see `clumps`."""
        m = self.removed.size + 1
        if resolution >= 1:
            joins = m - -(-m // int(resolution))
        else:
            low = np.flatnonzero(self.closeness < resolution)
            joins = int(low[0]) if low.size else m - 1
        out = np.ones(m, dtype=bool)
        out[self.removed[:joins]] = False
        return out


def clump_tree(r2: Array, even: bool = False) -> ClumpTree:
    """Join neighbouring clumps of markers until there is one.

    Parameters
    ----------
    r2 : array of shape (m, m)
        Squared correlations.
    even : bool
        Whether sizes are kept alike, by Ward's rule; else by mean squared correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.clumps import clump_tree
    >>> r2 = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.3], [0.1, 0.3, 1.0]])
    >>> tree = clump_tree(r2)
    >>> tree.removed.tolist(), tree.closeness.round(3).tolist()
    ([1, 2], [0.9, 0.2])
    """
    m = len(r2)
    sums = np.zeros((m + 1, m + 1))
    sums[1:, 1:] = np.cumsum(np.cumsum(r2, axis=0, dtype=float), axis=1)
    end = list(range(1, m + 1))  # of the clump that begins at a marker
    begin = list(range(-1, m))  # of the clump that ends before a marker
    begin[0] = -1

    def mean(a: int, b: int, c: int, d: int) -> float:
        total = sums[b, d] - sums[a, d] - sums[b, c] + sums[a, c]
        return float(total) / ((b - a) * (d - c))

    def close(a: int, b: int) -> float:
        c = end[b]
        between = mean(a, b, b, c)
        if not even:
            return between
        weight = (b - a) * (c - b) / (c - a)
        return weight * (2.0 * between - mean(a, b, a, b) - mean(b, c, b, c))

    heap = [(-close(j - 1, j), j - 1, j, j + 1) for j in range(1, m)]
    heapify(heap)
    removed, height = np.empty(m - 1, dtype=np.intp), np.empty(m - 1)
    done = 0
    while done < m - 1:
        size, a, b, c = heappop(heap)
        if end[a] != b or end[b] != c:  # one of the two has grown, or is gone
            continue
        removed[done], height[done] = b, -size
        done += 1
        end[a], end[b], begin[c] = c, -1, a
        if a > 0:
            heappush(heap, (-close(begin[a], a), begin[a], a, c))
        if c < m:
            heappush(heap, (-close(a, c), a, c, end[c]))
    return ClumpTree(removed, height)


def check_resolutions(resolutions: Any) -> tuple[float, ...]:
    """Return resolutions, checked: shares below one, or whole numbers."""
    many = resolutions if isinstance(resolutions, Sequence | np.ndarray) else [resolutions]
    found = []
    for one in many:
        real = isinstance(one, int | float | np.integer | np.floating) and not isinstance(one, bool)
        value = float(one) if real else -1.0
        if not (0.0 < value < 1.0 or (value >= 1.0 and value.is_integer())):
            raise ArgumentError(
                "resolutions must be squared correlations between 0 and 1, or whole numbers of "
                f"markers of a clump; got {short(one)}."
            )
        found.append(value)
    if not found or len(set(found)) != len(found):
        raise ArgumentError(
            f"resolutions must be one or several different numbers; got {short(resolutions)}."
        )
    return tuple(found)


def clumps(stored: StoredCalls, segments: Any, resolutions: Any) -> IntArray:
    """Cut segments of markers into clumps of neighbours that are alike, at several resolutions.

    Parameters
    ----------
    stored : TwoBitTable or Genotypes
    segments : array of shape (p,)
        Labels of contiguous markers; a clump never reaches over two segments.
    resolutions : sequence of R numbers
        A number below 1 is a squared correlation: neighbouring clumps are joined as long as the
        mean between their markers is at least this. A whole number is how many markers clumps have
        on average; 1 makes every marker a clump.

    Returns
    -------
    array of int, shape (R, p)
        The clump of each marker, 0, 1, ..., at each resolution.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import clumps
    >>> from selica.tables.genotypes import Genotypes
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.binomial(2, 0.4, (2, 100, 1))
    >>> calls = Genotypes.of(np.concatenate([left, left, right, right], axis=1))
    >>> clumps(calls, np.zeros(4), [1, 0.5]).tolist()
    [[0, 1, 2, 3], [0, 0, 1, 1]]
    """
    check_stored(stored)
    p, people = int(stored.columns.size), even_people(stored.n_rows)
    each = check_resolutions(resolutions)
    edges = segment_edges(segments, p)
    begins = np.empty((len(each), p), dtype=np.intp)
    for begin, end in itertools.pairwise(edges):
        table = standard_calls(calls_of(stored, begin, end, people))
        r2 = np.square(table @ table.T)
        trees = {even: clump_tree(r2, even) for even in {one >= 1 for one in each}}
        for row, resolution in zip(begins, each, strict=True):
            row[begin:end] = trees[resolution >= 1].begins(resolution)
    return np.asarray(np.cumsum(begins, axis=1) - 1)
