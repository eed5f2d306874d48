"""Motifs of a genome, segment by segment, and copies of stored genotypes for groups of markers.

Segments are independent of each other, so that motifs are fitted to one at a time and copies are
drawn for one at a time. Calls and copies are in two bits each; only a segment is ever unpacked.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import combine_pvalues

from selica._core.errors import ArgumentError
from selica._core.random import COPIES, RandomState, child, seed_sequence
from selica._core.results import Result
from selica._core.types import IntArray
from selica._core.validation import count, instance
from selica.sampling.exchangeability import Exchangeability, exchangeability
from selica.sampling.group_copies import group_copies
from selica.sampling.motifs import (
    MISSING,
    MOST_MOTIFS,
    RAREST,
    HaplotypeLaw,
    fit_motifs,
    segment_edges,
)
from selica.sampling.stored_calls import (
    MOST_PEOPLE,
    StoredCalls,
    calls_of,
    check_stored,
    even_people,
    filled,
)
from selica.tables.genotypes.codes import line_bytes, pack

N_MOTIFS = 32
"""Motifs of a segment: with 16 the copies of the artificial study of KnockoffZoom fail the check
(docs/clumps.md)."""
N_STEPS = 15
"""Steps of the EM algorithm. From 15 to 30 steps the correlations of copies of 2,000 people change
by less than their error (docs/clumps.md)."""
CHECKED_BLOCKS = 12
"""Blocks of markers whose copies are checked, at even distances along the genome."""
CHECKED_MARKERS = 400
"""Markers of such a block, at most."""


@dataclass(frozen=True, slots=True, repr=False)
class SegmentMotifs(Result):
    """Distributions of haplotypes of several segments, which are independent of each other.

    Attributes
    ----------
    laws : tuple of HaplotypeLaw
        One for each segment, in the order of the markers.
    estimated : bool
        Whether they were fitted; False where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import HaplotypeLaw, SegmentMotifs
    >>> law = HaplotypeLaw(np.full(30, 0.1), np.full((30, 2), 0.5), np.full((30, 2), 0.3))
    >>> SegmentMotifs((law, law), estimated=False)
    SegmentMotifs(n_markers=60, n_segments=2)
    """

    laws: tuple[HaplotypeLaw, ...]
    estimated: bool = True

    @property
    def edges(self) -> IntArray:
        """First marker of each segment, and the number of markers."""
        return np.cumsum([0, *(law.n_markers for law in self.laws)])

    @property
    def segments(self) -> IntArray:
        """Number of the segment of each marker, (p,)."""
        return np.repeat(np.arange(len(self.laws)), np.diff(self.edges))

    def __repr__(self) -> str:
        return f"SegmentMotifs(n_markers={self.edges[-1]}, n_segments={len(self.laws)})"


def fit_segment_motifs(
    stored: StoredCalls,
    segments: Any,
    *,
    n_motifs: int = N_MOTIFS,
    n_steps: int = N_STEPS,
    most_people: int = MOST_PEOPLE,
    random_state: RandomState | None = 0,
) -> SegmentMotifs:
    """Fit motifs to stored genotypes, segment by segment; the response is not looked at.

    Parameters
    ----------
    stored : Genotypes or TwoBitTable
    segments : array of shape (p,)
        Labels of contiguous markers.
    n_motifs, n_steps : int
        Numbers of motifs and of steps of the EM algorithm.
    most_people : int
        People to whom motifs are fitted, at most: those at even distances in the table.
    random_state : None, int, SeedSequence, Generator or RandomState
        Chooses the people that motifs start from; each segment has its own stream.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import fit_segment_motifs
    >>> from selica.tables.genotypes import Genotypes
    >>> calls = np.random.default_rng(0).integers(0, 3, (50, 40))
    >>> fit_segment_motifs(Genotypes.of(calls), np.arange(40) // 20, n_motifs=3)
    SegmentMotifs(n_markers=40, n_segments=2)
    """
    check_stored(stored)
    count("n_motifs", n_motifs, at_most=MOST_MOTIFS)
    count("n_steps", n_steps)
    p, seed = int(stored.columns.size), seed_sequence(random_state)
    edges = segment_edges(segments, p)
    people = even_people(stored.n_rows, count("most_people", most_people))
    laws = []
    for number, (begin, end) in enumerate(itertools.pairwise(edges)):
        calls = calls_of(stored, int(begin), int(end))
        part = np.ascontiguousarray(calls[:, people].T)
        law = fit_motifs(part, n_motifs, n_steps, random_state=child(seed, number)).law
        laws.append(law if people.size == stored.n_rows else _for_all(law, calls))
    return SegmentMotifs(tuple(laws))


def _for_all(law: HaplotypeLaw, calls: Any) -> HaplotypeLaw:
    """Return a law of some people for all: a marker that only others vary in is possible in it."""
    varies = (calls.max(axis=1) > 0) & (np.where(calls == MISSING, 2, calls).min(axis=1) < 2)
    limited = np.clip(law.frequencies, RAREST, 1.0 - RAREST)
    return HaplotypeLaw(law.rates, law.shares, np.where(varies[:, None], limited, law.frequencies))


def stored_group_copies(
    stored: StoredCalls,
    motifs: SegmentMotifs,
    partitions: Any,
    *,
    random_state: RandomState | None = None,
    copy: int = 0,
) -> Any:
    """Draw knockoff copies of stored genotypes for groups of neighbouring markers.

    Parameters
    ----------
    stored : Genotypes or TwoBitTable
    motifs : SegmentMotifs
    partitions : array of shape (R, p)
        Labels of the groups, a row for each partition.
    random_state : None, int, SeedSequence, Generator or RandomState
    copy : int
        Number of the copy; copies and segments have their own streams.

    Returns
    -------
    array of uint8, shape (R, p, ceil(n / 4))
        Codes of a copy for each partition, as `tables.genotypes` has them; a copy is missing where
        the call is. See `group_copies`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import fit_segment_motifs, stored_group_copies
    >>> from selica.tables.genotypes import Genotypes
    >>> genotypes = Genotypes.of(np.random.default_rng(0).integers(0, 3, (50, 40)))
    >>> motifs = fit_segment_motifs(genotypes, np.arange(40) // 20, n_motifs=3)
    >>> stored_group_copies(genotypes, motifs, [np.arange(40) // 5], random_state=0).shape
    (1, 40, 13)
    """
    check_stored(stored)
    instance("motifs", motifs, SegmentMotifs)
    p, seed = int(stored.columns.size), seed_sequence(random_state)
    labels = np.atleast_2d(np.asarray(partitions))
    edges = motifs.edges
    if edges[-1] != p:
        raise ArgumentError(f"motifs are of {edges[-1]} markers, and there are {p}.")
    if labels.shape[1] != p:
        raise ArgumentError(
            f"partitions must have a label for each of the {p} markers; got shape {labels.shape}."
        )
    out = np.empty((len(labels), p, line_bytes(stored.n_rows)), dtype=np.uint8)
    for number, (law, begin, end) in enumerate(zip(motifs.laws, edges, edges[1:], strict=False)):
        table = np.ascontiguousarray(calls_of(stored, int(begin), int(end)).T)
        drawn = group_copies(
            law, table, labels[:, begin:end], random_state=child(seed, COPIES, copy, number)
        )
        for codes, one in zip(out, drawn, strict=True):
            codes[begin:end] = pack(np.ascontiguousarray(one.T))
    return out


def copies_by_block(
    stored: StoredCalls,
    copies: StoredCalls,
    groups: Any,
    segments: Any,
    random_state: RandomState | None = None,
) -> Exchangeability:
    """Compare genotypes and copies in blocks along the genome; see `exchangeability`.

    Parameters
    ----------
    stored, copies : Genotypes or TwoBitTable
        Calls, and a copy of them.
    groups : array of shape (p,)
        Labels of the groups for which the copies are made.
    segments : array of shape (p,)
        Labels of contiguous markers; a block lies in one of them.
    random_state : None, int, SeedSequence, Generator or RandomState

    Returns
    -------
    Exchangeability
        The ratio is the geometric mean over blocks, and their p-values are combined by Fisher's
        method: blocks lie in segments that are independent of each other.
    """
    p, seed = int(stored.columns.size), seed_sequence(random_state)
    edges = segment_edges(segments, p)
    some = even_people(edges.size - 1, CHECKED_BLOCKS)
    people = even_people(stored.n_rows)
    labels = np.asarray(groups)
    found: list[Exchangeability] = []
    for number in some:
        begin = int(edges[number])
        end = min(int(edges[number + 1]), begin + CHECKED_MARKERS)
        own, other = (filled(calls_of(one, begin, end, people).T) for one in (stored, copies))
        block = np.unique(labels[begin:end], return_inverse=True)[1]
        found.append(
            exchangeability(own, other, random_state=child(seed, int(number)), groups=block)
        )
    return _together(found)


def _together(found: Sequence[Exchangeability]) -> Exchangeability:
    """Return one result for several blocks."""
    worst = max(found, key=lambda one: one.departure)
    tested = [(one.ratio, one.p_value) for one in found if one.ratio and one.p_value is not None]
    if not tested:
        return worst
    ratio = float(np.exp(np.mean([np.log(ratio) for ratio, _ in tested])))
    # the smallest p-value of a block is that of its random signs: over many blocks, a correction of
    # the smallest would never be small
    p_value = float(combine_pvalues([p for _, p in tested], method="fisher").pvalue)
    return Exchangeability(ratio, p_value, worst.swap, worst.rows)
