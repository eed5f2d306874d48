"""Chromosomes side by side: places of markers on one axis, and fewer points that look the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array, BoolArray, IntArray
from selica.plots import arguments as check
from selica.tables.genotypes.markers import karyogram_place

_GAP = 0.004
"""Space between chromosomes, as a share of the axis."""
_COLUMNS = 900
"""Bins of the axis; of small values one point is left in each."""
_ROWS = 100
"""Bins of larger values."""
SMALL_VALUES = 0.15
"""Share of the largest value below which values are small."""
_MOST_POINTS = 2500
"""Larger values that are drawn, at most: the largest ones."""


class Genome(NamedTuple):
    """Places of markers on an axis from 0 to 1, on which chromosomes are side by side."""

    chromosomes: list[str]
    start: Array
    """(c,): where each chromosome begins."""
    end: Array
    """(c,): where it ends."""
    place: Array
    """(p,): where each marker is."""
    which: IntArray
    """(p,): the chromosome of each marker."""
    first: Array
    """(c,): position of the first marker of each chromosome, in base pairs."""
    length: Array
    """(c,): base pairs from the first to the last marker."""

    @classmethod
    def of(cls, chromosome: Any, position: Any) -> Genome:
        """Return the places of markers.

        Parameters
        ----------
        chromosome : array of text of shape (p,)
        position : array of shape (p,)
            Base pairs.

        Examples
        --------
        >>> from selica.plots.genome import Genome
        >>> genome = Genome.of(["1", "1", "2"], [100, 900, 50])
        >>> genome.chromosomes, genome.place.round(2).tolist()
        (['1', '2'], [0.0, 0.99, 1.0])
        """
        names = np.asarray(chromosome).astype(str)
        base = check.numbers("position", position)
        if names.shape != base.shape:
            raise ArgumentError("chromosome and position must have the same length.")
        kinds, owner = np.unique(names, return_inverse=True)
        order = sorted(range(kinds.size), key=lambda k: karyogram_place(str(kinds[k])))
        rank = np.empty(kinds.size, dtype=np.intp)
        rank[order] = np.arange(kinds.size)
        which = rank[owner]
        first = np.full(kinds.size, np.inf)
        last = np.full(kinds.size, -np.inf)
        np.minimum.at(first, which, base)
        np.maximum.at(last, which, base)
        length = np.maximum(last - first, 1.0)
        width = (1.0 - _GAP * (kinds.size - 1)) * length / length.sum()
        start = np.r_[0.0, np.cumsum(width + _GAP)[:-1]]
        place = start[which] + width[which] * (base - first[which]) / length[which]
        return cls(
            [str(kinds[k]) for k in order], start, start + width, place, which, first, length
        )

    @property
    def middle(self) -> Array:
        """Where the names of the chromosomes stand."""
        return 0.5 * (self.start + self.end)

    def density(self, bins: int = 400) -> tuple[Array, Array]:
        """Return edges of bins of the axis, and how dense markers are in each, from 0 to 1."""
        many, edges = np.histogram(self.place, bins=bins, range=(0.0, 1.0))
        low, high = np.quantile(many, [0.02, 0.98])
        return edges, np.clip((many - low) / max(1.0, high - low), 0.0, 1.0)


def fewer_points(place: Array, value: Array, selected: BoolArray) -> tuple[IntArray, IntArray]:
    """Return which points stand for all: the largest small value of a bin, and the larger ones.

    Parameters
    ----------
    place, value : arrays of shape (p,)
    selected : boolean array of shape (p,)
        These are in any case among the larger ones.

    Returns
    -------
    small, larger : arrays of int

    Examples
    --------
    >>> import numpy as np
    >>> from selica.plots.genome import fewer_points
    >>> place, value = np.linspace(0, 1, 100_000), np.full(100_000, 0.01)
    >>> value[[7, 50_000]] = 1.0
    >>> small, larger = fewer_points(place, value, value == 1.0)
    >>> small.size <= 901, larger.tolist()
    (True, [7, 50000])
    """
    top = float(value.max(initial=0.0))
    column = np.minimum((place * _COLUMNS).astype(np.intp), _COLUMNS - 1)
    is_small = (value < SMALL_VALUES * top) & ~selected
    small = _largest_in(column, value, np.flatnonzero(is_small & (value > 0.0)))
    row = np.clip(value / (top or 1.0) * _ROWS, 0, _ROWS - 1).astype(np.intp)
    larger = _largest_in(column * _ROWS + row, value, np.flatnonzero(~is_small & ~selected))
    larger = larger[np.argsort(-value[larger], kind="stable")][:_MOST_POINTS]
    return small, np.sort(np.r_[larger, np.flatnonzero(selected)])


def _largest_in(cell: IntArray, value: Array, some: IntArray) -> IntArray:
    """Return the largest value of each cell, of some of the points."""
    order = some[np.lexsort((-value[some], cell[some]))]
    first = np.r_[True, np.diff(cell[order]) != 0] if order.size else np.empty(0, dtype=bool)
    return np.sort(order[first])


def spread_labels(place: Sequence[float], width: float) -> list[int]:
    """Return which labels fit beside each other, the first of the list first.

    Parameters
    ----------
    place : sequence of float
        The most important first.
    width : float
        Of a label.
    """
    taken: list[float] = []
    shown = []
    for k, x in enumerate(place):
        if all(abs(x - other) >= width for other in taken):
            taken.append(x)
            shown.append(k)
    return shown
