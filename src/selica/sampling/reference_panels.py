r"""LD from the genotypes of a reference panel: where blocks end, and correlations inside them.

Blocks end where markers on both sides are least correlated: of all ways to cut a chromosome into
blocks of bounded length, the one with the smallest sum, over the cuts, of squared correlations
across a cut. A dynamic programme finds it in one pass, as a cut costs the same whatever the others
are (but for pairs of markers that two cuts part, which count twice).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError, ColumnError
from selica._core.linkage import LinkageBlocks
from selica._core.types import Array, IntArray
from selica._core.validation import array_of, count, matrix, moderate, short
from selica.sampling.ld_blocks import cheapest_cuts
from selica.sampling.stored_calls import filled

_WINDOW = 100
"""Markers on either side of a cut whose correlations it counts."""
_CHUNK = 1000
"""Markers that are read at once where cuts are looked for."""


def reference_linkage(
    X: Any,
    sizes: Sequence[int] | None = None,
    *,
    largest: int = 500,
    chromosome: Any = None,
    names: Sequence[str] | None = None,
    markers: Any = None,
) -> LinkageBlocks:
    """Compute LD block by block from the genotypes of a reference panel.

    Parameters
    ----------
    X : array of shape (n, p), Genotypes, or stored table with `columns_of(which)`
        Numbers of copies of allele_1; markers in the order of their positions. No more than one
        block of it is ever dense. A missing call is the mean of the calls of its marker.
    sizes : sequence of int, optional
        Number of markers of each block. None: blocks end where markers are least correlated.
    largest : int
        Markers of a block at most, where blocks are found.
    chromosome : array of shape (p,), optional
        Chromosome of each marker: no block has markers of two.
    names : sequence of str, optional
        Names of the markers.
    markers : mapping, optional
        As in `LinkageBlocks`.

    Returns
    -------
    LinkageBlocks
        Correlations of the sample, with the number of people.

    Examples
    --------
    >>> from selica.sampling import reference_linkage, simulate
    >>> X = simulate(200, 60, 1, snr=1.0, covariance=("block", 0.6, 20), random_state=0).X
    >>> reference_linkage(X, largest=30)
    LinkageBlocks(60 markers in 3 blocks, n_reference=200)
    >>> reference_linkage(X, [30, 30]).starts.tolist()
    [0, 30, 60]
    """
    table = _Panel(X)
    names, markers = _listed("names", names), _mapping(markers)
    if sizes is None:
        ends = np.cumsum(block_sizes(X, largest, chromosome))
    else:
        each = [count("sizes", size) for size in _listed("sizes", sizes)]
        ends = np.cumsum(each)
        if not each or ends[-1] != table.columns:
            raise ArgumentError(
                f"sizes must add up to the {table.columns} markers of X; got {sum(each)}."
            )
    blocks = []
    for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
        unit = table.unit_columns(int(start), int(end))
        blocks.append(unit.T @ unit)
    return LinkageBlocks(tuple(blocks), table.rows, names, markers)


def _listed(name: str, values: Any) -> tuple[Any, ...]:
    """Return the entries of a list; none of None."""
    if values is None:
        return ()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ArgumentError(f"{name} must be a list; got {short(values)}.")
    return tuple(values)


def _mapping(markers: Any) -> dict[str, Any]:
    """Return columns of markers by name; none of None."""
    if markers is not None and not isinstance(markers, Mapping):
        raise ArgumentError(f"markers must be a mapping of names to columns; got {short(markers)}.")
    return dict(markers or {})


def block_sizes(X: Any, largest: int = 500, chromosome: Any = None) -> IntArray:
    """Find blocks of neighbouring markers, with as little correlation between them as possible.

    Parameters
    ----------
    X, chromosome
        As in `reference_linkage`.
    largest : int
        Markers of a block at most.

    Returns
    -------
    array of int
        Number of markers of each block.

    Examples
    --------
    >>> from selica.sampling import block_sizes, simulate
    >>> X = simulate(500, 50, 1, snr=1.0, covariance=("block", 0.7, 25), random_state=0).X
    >>> block_sizes(X, largest=40).tolist()
    [25, 25]
    """
    table = _Panel(X)
    largest = count("largest", largest)
    p = table.columns
    ends = [p]
    if chromosome is not None:
        label = array_of(chromosome)
        if label.shape != (p,):
            raise ArgumentError(
                f"chromosome must have one entry for each of the {p} markers; got shape "
                f"{label.shape}."
            )
        ends = [*(np.flatnonzero(label[1:] != label[:-1]) + 1).tolist(), p]
    sizes: list[int] = []
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        if end - start <= largest:
            sizes.append(end - start)
            continue
        cuts = cheapest_cuts(_cut_costs(table, start, end), 1, largest)
        sizes.extend(np.diff([0, *cuts.tolist(), end - start]).tolist())
    return np.array(sizes, dtype=np.intp)


def _cut_costs(table: _Panel, start: int, end: int) -> Array:
    """Return the sum of squared correlations across a cut before each marker, by a window."""
    # pair (i, k) lies across the cuts i+1, ..., k: +r^2 where they begin, -r^2 behind them
    change = np.zeros(end - start + 1)
    noise = 1.0 / table.rows
    for first in range(start, end, _CHUNK):
        last = min(first + _CHUNK, end)
        reach = min(last + _WINDOW, end)
        unit = table.unit_columns(first, reach)
        square = np.maximum((unit[:, : last - first].T @ unit) ** 2 - noise, 0.0)
        i, k = np.indices(square.shape)
        square[(k <= i) | (k > i + _WINDOW)] = 0.0
        change[first - start + 1 : last - start + 1] += square.sum(axis=1)
        change[first - start + 1 : reach - start + 1] -= square.sum(axis=0)
    return np.cumsum(change)[:-1]


class _Panel:
    """A reference panel, read a few columns at a time."""

    def __init__(self, X: Any) -> None:
        given = hasattr(X, "columns_of") or hasattr(X, "calls")
        self._source = X if given else moderate("X", matrix("X", X))
        self.rows, self.columns = (int(size) for size in self._source.shape)
        if self.rows < 4:
            raise ArgumentError(f"X must have at least 4 people; got {self.rows}.")

    def unit_columns(self, start: int, end: int) -> Array:
        """Return some columns about their means, of length one."""
        if isinstance(self._source, np.ndarray):
            part = self._source[:, start:end]
        elif hasattr(self._source, "calls"):
            part = filled(self._source.calls(np.arange(start, end)))
        else:
            part = np.asarray(self._source.columns_of(np.arange(start, end)), dtype=float)
        centred = part - part.mean(axis=0)
        length = np.sqrt((centred**2).sum(axis=0))
        flat = np.flatnonzero(length <= 1e-12 * np.maximum(np.abs(part).max(axis=0), 1e-300))
        if flat.size:
            raise ColumnError(
                "X: {column} does not vary in the reference panel, so that it has no correlation; "
                "leave it out.",
                start + int(flat[0]),
            )
        return np.asarray(centred / length)
