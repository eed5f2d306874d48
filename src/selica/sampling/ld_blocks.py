r"""Markers cut into segments that hardly depend on each other, and into clumps of neighbours.

Both look at genotypes alone, a stretch of markers at a time; nothing is ever p x p.

A cut between two markers costs the squared correlations of all pairs that it parts, up to a
distance of `BAND` markers. A pair (i, j) is parted by the cuts i + 1 .. j, so that the costs of all
cuts come from sums by row and by column of a band of correlations. Segments between a smallest and
a largest size whose cuts cost least are found exactly, by the recursion

.. math:: best(c) = cost(c) + \min_{c - largest \le b \le c - smallest} best(b) .

Clumps are contiguous: two neighbours are joined, again and again. Fewer joins are a finer partition
of the same tree, so that partitions are nested. With :math:`\bar r_{ab}` for the mean squared
correlation between the markers of the clumps a and b, those are joined for which is largest

- :math:`\bar r_{ab}`, where a squared correlation says when to stop;
- :math:`-\frac{|a| |b|}{|a| + |b|} (\bar r_{aa} + \bar r_{bb} - 2 \bar r_{ab})`, where a number of
  clumps does: minus the growth of the squares within clumps (Ward 1963), which keeps sizes alike.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, Protocol

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import count, short
from selica.sampling.motifs import MISSING, segment_starts
from selica.tables.genotypes.codes import unpack

SMALLEST_SEGMENT = 200
"""Markers of a segment, at least, unless a chromosome has fewer."""
LARGEST_SEGMENT = 2_000
"""Markers of a segment, at most."""
BAND = 200
"""Distance in markers up to which correlations count."""
MOST_PEOPLE = 1_000
"""People from whom correlations are taken, at most: those at even distances in the table."""
_NOISE = 10.0
"""Squared correlations below this many times 1 / people count as none: chance exceeds it for one
pair of independent markers in 600."""


class StoredCalls(Protocol):
    """Genotypes in two bits: a table of `solvers.designs` or `tables.genotypes`."""

    @property
    def codes(self) -> Any:
        """(lines, bytes): codes in the order of PLINK 1."""

    @property
    def n_rows(self) -> int:
        """Number of people."""

    @property
    def columns(self) -> Any:
        """(p,): the line of each marker."""


def check_stored(stored: object) -> None:
    """Refuse what is no table of genotypes in two bits."""
    if not all(hasattr(stored, name) for name in ("codes", "n_rows", "columns")):
        raise ArgumentError(
            "stored must be genotypes in two bits, a Genotypes or a TwoBitTable; got "
            f"{short(stored)}."
        )


def calls_of(stored: StoredCalls, begin: int, end: int, people: Any = slice(None)) -> Any:
    """Return calls of neighbouring markers, (markers, people), -1 where one is missing."""
    lines = np.asarray(stored.columns[begin:end])
    first, last = int(lines[0]), int(lines[-1])
    adjacent = last - first == lines.size - 1 and bool((np.diff(lines) == 1).all())
    codes = np.asarray(stored.codes[first : last + 1] if adjacent else stored.codes[lines])
    return unpack(codes, stored.n_rows)[:, people]


def even_people(n: int, most: int = MOST_PEOPLE) -> Any:
    """Return at most so many of n people, at even distances."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def standard_calls(calls: Any) -> Any:
    """Return calls of mean zero and length one, (markers, people); missing ones are the mean."""
    table = calls.astype(np.float32)
    known = calls != MISSING
    many = np.maximum(known.sum(axis=1, keepdims=True), 1)
    table[~known] = 0.0
    table -= table.sum(axis=1, keepdims=True) / many
    table[~known] = 0.0
    length = np.sqrt(np.einsum("mn,mn->m", table, table))[:, None]
    table /= np.where(length > 0.0, length, 1.0)
    return table


def ld_blocks(
    stored: StoredCalls,
    chromosome: Any = None,
    *,
    smallest: int = SMALLEST_SEGMENT,
    largest: int = LARGEST_SEGMENT,
) -> IntArray:
    """Cut markers into segments where the correlations across the cuts are smallest.

    Parameters
    ----------
    stored : TwoBitTable or Genotypes
    chromosome : array of shape (p,), optional
        Labels of contiguous markers; a segment never reaches over two of them.
    smallest, largest : int
        Numbers of markers of a segment. A chromosome with fewer than two smallest ones, or whose
        size allows no such segments, is cut evenly.

    Returns
    -------
    array of int, shape (p,)
        The segment of each marker: 0, 1, ... .

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import ld_blocks
    >>> from selica.tables.genotypes import Genotypes
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.binomial(2, 0.4, (2, 100, 1))
    >>> calls = np.concatenate([left, left, left, right, right, right], axis=1)
    >>> ld_blocks(Genotypes.of(calls), smallest=2, largest=4).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    check_stored(stored)
    smallest, largest = count("smallest", smallest), count("largest", largest)
    p = int(stored.columns.size)
    if not 1 <= smallest <= largest:
        raise ArgumentError(
            f"smallest must be between 1 and largest = {largest}; got {short(smallest)}."
        )
    begins = np.append(np.flatnonzero(segment_starts(chromosome, p)), p)
    cost = cut_costs(stored) if (np.diff(begins) > largest).any() else np.zeros(p)
    starts = np.zeros(p, dtype=np.intp)
    for begin, end in itertools.pairwise(begins):
        starts[begin] = 1
        starts[begin + cheapest_cuts(cost[begin:end], smallest, largest)] = 1
    return np.cumsum(starts) - 1


def cut_costs(stored: StoredCalls, band: int = BAND) -> Array:
    """Return what a cut before each marker costs, (p,): the squared correlations that it parts."""
    p, people = int(stored.columns.size), even_people(stored.n_rows)
    change = np.zeros(p + 1)
    here = standard_calls(calls_of(stored, 0, min(band, p), people))
    for begin in range(0, p, band):
        end, stop = min(begin + band, p), min(begin + 2 * band, p)
        after = standard_calls(calls_of(stored, end, stop, people)) if stop > end else here[:0]
        r2 = np.square(here @ np.concatenate([here, after]).T, dtype=float)
        distance = np.arange(begin, stop) - np.arange(begin, end)[:, None]
        r2[(distance <= 0) | (distance > band) | (r2 < _NOISE / people.size)] = 0.0
        change[begin + 1 : end + 1] += r2.sum(axis=1)
        change[begin + 1 : stop + 1] -= r2.sum(axis=0)
        here = after
    return np.cumsum(change[:-1])


def cheapest_cuts(cost: Array, smallest: int, largest: int) -> IntArray:
    """Return the cuts of a chromosome with the smallest sum of costs, in order.

    Parameters
    ----------
    cost : array of shape (m,)
        Of a cut before each marker; that of the first is not used.
    smallest, largest : int
        Numbers of markers between two cuts.

    Examples
    --------
    >>> from selica.sampling.ld_blocks import cheapest_cuts
    >>> cheapest_cuts([0.0, 5.0, 1.0, 5.0, 4.0, 2.0, 5.0, 5.0], 2, 3).tolist()
    [2, 5]
    """
    m = len(cost)
    if m <= largest:
        return np.zeros(0, dtype=np.intp)
    pieces = -(-m // largest)
    if pieces * smallest > m:  # no sizes within these limits add up to m
        return np.asarray(np.linspace(0, m, pieces + 1).astype(np.intp)[1:-1])
    best, before = np.full(m + 1, np.inf), np.zeros(m + 1, dtype=np.intp)
    best[0] = 0.0
    ready: deque[int] = deque()  # places of the smallest sums in the window, falling to the last
    for c in range(smallest, m + 1):
        new = c - smallest
        while ready and best[ready[-1]] >= best[new]:
            ready.pop()
        ready.append(new)
        if ready[0] < c - largest:
            ready.popleft()
        before[c] = ready[0]
        best[c] = best[ready[0]] + (cost[c] if c < m else 0.0)
    cuts, c = list[int](), int(before[m])
    while c > 0:
        cuts.append(c)
        c = int(before[c])
    return np.array(cuts[::-1], dtype=np.intp)


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
    >>> from selica.sampling.ld_blocks import clump_tree
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
    edges = np.append(np.flatnonzero(segment_starts(segments, p)), p)
    begins = np.empty((len(each), p), dtype=np.intp)
    for begin, end in itertools.pairwise(edges):
        table = standard_calls(calls_of(stored, begin, end, people))
        r2 = np.square(table @ table.T)
        trees = {even: clump_tree(r2, even) for even in {one >= 1 for one in each}}
        for row, resolution in zip(begins, each, strict=True):
            row[begin:end] = trees[resolution >= 1].begins(resolution)
    return np.asarray(np.cumsum(begins, axis=1) - 1)
