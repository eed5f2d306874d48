r"""Markers cut into segments that hardly depend on each other, by their genotypes alone.

A cut between two markers costs the squared correlations of all pairs that it parts, up to a
distance of `BAND` markers. A pair (i, j) is parted by the cuts i + 1 .. j, so that the costs of all
cuts come from sums by row and by column of a band of correlations; nothing is ever p x p. Segments
between a smallest and a largest size whose cuts cost least are found exactly, by the recursion

.. math:: best(c) = cost(c) + \min_{c - largest \le b \le c - smallest} best(b) .
"""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array, IntArray
from selica._core.validation import count, short
from selica.sampling.motifs import segment_edges
from selica.sampling.stored_calls import (
    StoredCalls,
    calls_of,
    check_stored,
    even_people,
    standard_calls,
)

SMALLEST_SEGMENT = 200
"""Markers of a segment, at least, unless a chromosome has fewer."""
LARGEST_SEGMENT = 2_000
"""Markers of a segment, at most."""
BAND = 200
"""Distance in markers up to which correlations count."""
_NOISE = 10.0
"""Squared correlations below this many times 1 / people count as none: chance exceeds it for one
pair of independent markers in 600."""


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
    begins = segment_edges(chromosome, p)
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
