r"""Haplotypes as mosaics of a few motifs: a distribution of genotypes, and how it is fitted.

At marker :math:`j` a haplotype is in one of K motifs. It stays in the motif it was in with
probability :math:`e^{-r_j}`, or else enters motif k with probability :math:`\alpha_{jk}`. In motif
k it has allele 1 with probability :math:`\theta_{jk}` (Scheet and Stephens 2006). A genotype is the
sum of the alleles of two independent haplotypes. The recursions are in `cpp/chains`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from selica._core.compiled import core, threads
from selica._core.errors import ArgumentError, ColumnError, RefusedError
from selica._core.progress import reporter_of
from selica._core.random import RandomState, generator
from selica._core.results import Result
from selica._core.types import Array, IntArray
from selica._core.validation import array_of, count, numbers, short

MISSING = -1
"""A genotype that is not known."""
MOST_MOTIFS = 255
"""Motifs that a distribution may have: their numbers are kept in one byte."""
RAREST = 1e-4
"""Smallest and, from one, largest frequency of an allele in a fitted motif. With 1e-3 copies of
markers that are all but the same in all people are visibly less so."""
SMALLEST_RATE = 1e-5
"""Smallest fitted probability to leave a motif between two markers."""
_FIRST_STAY = 0.95
"""Probability to stay in a motif from which a fit starts. Practice: any between 0.8 and 0.99 ends
at the same likelihood."""
_OWN_SHARE = 0.5
"""How much of a motif is taken from one person where a fit starts; the rest from all people."""
_PSEUDO_COUNT = 1.0
"""Haplotypes that are added to those that enter a motif, shared by all motifs."""
_UNEVEN = 1e-8
"""Shares that sum to one to so many digits do."""


@dataclass(frozen=True, slots=True, repr=False)
class HaplotypeLaw(Result):
    """Haplotypes of p markers as mosaics of K motifs.

    Parameters
    ----------
    rates : array of shape (p,)
        How readily a haplotype leaves its motif before a marker: it stays with probability
        exp(-rate). That of the first marker is not used; an infinite one starts a new segment.
    shares : array of shape (p, K)
        Probability of each motif where a haplotype enters one; rows sum to one.
    frequencies : array of shape (p, K)
        Probability of allele 1 in each motif.

    Examples
    --------
    >>> from selica.sampling import HaplotypeLaw
    >>> law = HaplotypeLaw([0.0, 0.5], [[0.7, 0.3], [0.5, 0.5]], [[0.1, 0.8], [0.3, 0.9]])
    >>> law
    HaplotypeLaw(n_markers=2, n_motifs=2)
    >>> law.simulate(3, random_state=0).tolist()
    [[0, 0], [1, 1], [1, 2]]
    """

    rates: Array
    shares: Array
    frequencies: Array

    def __post_init__(self) -> None:
        """Check what was given."""
        raw = array_of(self.rates)
        if raw.ndim != 1 or raw.dtype.kind not in "iuf" or not (raw >= 0.0).all():
            raise ArgumentError(
                f"rates must be a vector of numbers that are not negative; got {short(self.rates)}."
            )
        shares = numbers("shares", self.shares, ndim=2, at_least=0.0, at_most=1.0)
        frequencies = numbers("frequencies", self.frequencies, ndim=2, at_least=0.0, at_most=1.0)
        p, K = shares.shape
        if raw.shape != (p,) or frequencies.shape != (p, K):
            raise ArgumentError(
                "rates, shares and frequencies must have shapes (p,), (p, K) and (p, K); got "
                f"{raw.shape}, {shares.shape} and {frequencies.shape}."
            )
        if K > MOST_MOTIFS:
            raise ArgumentError(f"shares must be of at most {MOST_MOTIFS} motifs; got {K}.")
        sums = shares.sum(axis=1)
        if np.abs(sums - 1.0).max() > _UNEVEN:
            worst = int(np.abs(sums - 1.0).argmax())
            raise ArgumentError(
                f"shares must sum to one at every marker; those of marker {worst} sum to "
                f"{sums[worst]:g}."
            )
        for name, value in (
            ("rates", raw.astype(float)),
            ("shares", shares / sums[:, None]),
            ("frequencies", frequencies),
        ):
            object.__setattr__(self, name, np.ascontiguousarray(value))

    @property
    def n_markers(self) -> int:
        """Number of markers p."""
        return len(self.shares)

    @property
    def n_motifs(self) -> int:
        """Number of motifs K."""
        return int(self.shares.shape[1])

    @property
    def stay(self) -> Array:
        """Probability to stay in a motif before each marker, shape (p,); zero at the first."""
        stay = np.exp(-self.rates)
        stay[0] = 0.0
        return stay

    @property
    def arrays(self) -> tuple[Array, Array, Array]:
        """What the core takes: probabilities to stay, shares, frequencies."""
        return self.stay, self.shares, self.frequencies

    def simulate(
        self, n_rows: int, *, ploidy: int = 2, random_state: RandomState | None = None
    ) -> Any:
        """Draw genotypes of people who are not related.

        Parameters
        ----------
        n_rows : int
            Number of people.
        ploidy : {1, 2}
            Haplotypes of a person.
        random_state : None, int, SeedSequence, Generator or RandomState

        Returns
        -------
        array of int8, shape (n_rows, p)
            How many alleles 1 each person has.
        """
        rows, rng = count("n_rows", n_rows), generator(random_state)
        check_ploidy(ploidy)
        stay, shares, frequencies = self.arrays
        below = np.cumsum(shares, axis=1)
        motif = np.zeros((ploidy, rows), dtype=np.intp)
        out = np.empty((rows, self.n_markers), dtype=np.int8)
        for j in range(self.n_markers):
            entered = (rng.random(motif.shape)[..., None] >= below[j, :-1]).sum(axis=-1)
            motif = np.where(rng.random(motif.shape) < stay[j], motif, entered)
            out[:, j] = (rng.random(motif.shape) < frequencies[j, motif]).sum(axis=0)
        return out

    def __repr__(self) -> str:
        return f"HaplotypeLaw(n_markers={self.n_markers}, n_motifs={self.n_motifs})"


class FittedMotifs(NamedTuple):
    """A distribution that was fitted, and how likely the genotypes were before each step."""

    law: HaplotypeLaw
    log_likelihood: Array


def check_ploidy(ploidy: object) -> int:
    """Return the number of haplotypes of a person, one or two."""
    return count("ploidy", ploidy, at_least=1, at_most=2)


def as_genotypes(X: Any, ploidy: int, *, columns: int | None = None) -> Any:
    """Return numbers of alleles as bytes, row after row; MISSING where there is none.

    Bytes that lie like this are not copied.
    """
    raw = array_of(X)
    if raw.ndim != 2 or raw.size == 0 or raw.dtype.kind not in "iuf":
        raise ArgumentError(f"X must be a non-empty table of numbers of alleles; got {short(X)}.")
    if columns is not None and raw.shape[1] != columns:
        raise ArgumentError(f"X must have {columns} columns; got {raw.shape[1]}.")
    if raw.dtype.kind == "f":
        found = np.full(raw.shape, MISSING, dtype=np.int8)
        for allele in range(ploidy + 1):
            found[raw == allele] = allele
        wrong = (found == MISSING) & ~np.isnan(raw)
    else:
        wrong = (raw > ploidy) | (raw < MISSING)
        found = np.ascontiguousarray(raw, dtype=np.int8)
    if wrong.any():
        column = int(wrong.any(axis=0).argmax())
        bad = raw[wrong[:, column], column][0]
        known = " and ".join(filter(None, (", ".join(map(str, range(ploidy))), str(ploidy))))
        raise ColumnError(
            f"X must hold numbers of alleles, {known}, where genotypes are copied; "
            f"{{column}} holds {bad:g}. Missing genotypes are drawn by "
            f"sampling.GenotypeKnockoffs({'' if ploidy == 2 else 'ploidy=1'}).fit(X).complete(X), "
            "from a table in which they are NaN, or -1 in integers.",
            column,
        )
    return found


def segment_starts(segments: Any, markers: int) -> Any:
    """Return where segments of contiguous markers begin, as a boolean array of shape (p,)."""
    starts = np.zeros(markers, dtype=bool)
    starts[0] = True
    if segments is None:
        return starts
    label = array_of(segments)
    if label.shape != (markers,):
        raise ArgumentError(
            f"segments must have one label for each of the {markers} columns; got shape "
            f"{label.shape}."
        )
    starts[1:] = label[1:] != label[:-1]
    if len({*map(str, label.tolist())}) != np.count_nonzero(starts):
        raise ArgumentError(
            "segments must be contiguous: the columns of one segment stand side by side."
        )
    return starts


def segment_edges(segments: Any, markers: int) -> IntArray:
    """Return the first marker of each segment of contiguous markers, and the number of markers."""
    return np.append(np.flatnonzero(segment_starts(segments, markers)), markers)


def refuse_impossible(person: int, marker: int) -> None:
    """Refuse a genotype that a given distribution does not allow; a negative number is none."""
    if person >= 0:
        raise RefusedError(
            f"X: up to column {marker} the genotypes of row {person} are impossible under the "
            "distribution that was given."
        )


def fit_motifs(
    genotypes: Any,
    n_motifs: int,
    n_steps: int,
    *,
    ploidy: int = 2,
    weight: Array | None = None,
    segments: Any = None,
    random_state: RandomState | None = None,
) -> FittedMotifs:
    """Fit motifs to genotypes by the EM algorithm; the response is not looked at.

    A motif starts as the genotype of a random person, drawn half-way to the mean of all. The
    segments are fitted one after the other. Markers that do not vary are held as they are.

    Parameters
    ----------
    genotypes : array of int8, shape (n, p)
        As from `as_genotypes`.
    n_motifs, n_steps : int
        Numbers of motifs and of steps of the algorithm.
    ploidy : {1, 2}
        Haplotypes of a person.
    weight : array of shape (n,), optional
        Weights of the rows.
    segments : array of shape (p,), optional
        Labels of contiguous markers, such as chromosomes, which are independent of each other.
    random_state : None, int, SeedSequence, Generator or RandomState
        Chooses the people that motifs start from.
    """
    rng = generator(random_state)
    n, p = genotypes.shape
    rows = np.ones(n) if weight is None else np.ascontiguousarray(weight * (n / weight.sum()))
    begins = segment_edges(segments, p)
    tell = reporter_of("steps of the fit of motifs", total=n_steps * (len(begins) - 1))
    stay, shares, frequencies = np.empty(p), np.empty((p, n_motifs)), np.empty((p, n_motifs))
    trace = np.zeros(n_steps)
    done = 0
    for begin, end in pairwise(begins):
        part = np.ascontiguousarray(genotypes[:, begin:end])
        law = _first_guess(part, n_motifs, ploidy, rows, rng)
        constant, value = _constant(part, ploidy)
        for step in range(n_steps):
            law, likelihood = _em_step(law, part, ploidy, rows)
            law[2][constant] = value[constant, None]
            trace[step] += likelihood
            done += 1
            if tell is not None:
                tell(done, n_steps * (len(begins) - 1))
        stay[begin:end], shares[begin:end], frequencies[begin:end] = law
    with np.errstate(divide="ignore"):
        rates = -np.log(stay)
    return FittedMotifs(HaplotypeLaw(rates, shares, frequencies), trace)


def _constant(part: Any, ploidy: int) -> tuple[Any, Array]:
    """Return which markers do not vary, and the frequency of allele 1 if they do not."""
    known = part != MISSING
    largest = part.max(axis=0)
    smallest = np.where(known, part, ploidy).min(axis=0)
    constant = (largest <= smallest) & ((largest == 0) | (smallest == ploidy)) & known.any(axis=0)
    return constant, np.where(largest == 0, 0.0, 1.0)


def _first_guess(
    part: Any, n_motifs: int, ploidy: int, rows: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return motifs to start from."""
    n, p = part.shape
    people = rng.choice(n, n_motifs, replace=n < n_motifs)
    total = np.zeros(p)
    carried = np.zeros(p)
    for allele in range(ploidy + 1):
        weight = rows @ (part == allele)
        total += weight
        carried += allele / ploidy * weight
    mean = (carried + RAREST) / (total + 2.0 * RAREST)
    own = np.where(part[people] == MISSING, mean, part[people] / ploidy)
    frequencies = np.ascontiguousarray(((1.0 - _OWN_SHARE) * mean + _OWN_SHARE * own).T)
    # people who are alike, or few, do not start from the same motif
    frequencies += 0.02 * rng.standard_normal(frequencies.shape)
    stay = np.full(p, _FIRST_STAY)
    stay[0] = 0.0
    return stay, np.full((p, n_motifs), 1.0 / n_motifs), np.clip(frequencies, 0.02, 0.98)


def _em_step(
    law: tuple[Array, Array, Array], part: Any, ploidy: int, rows: Array
) -> tuple[tuple[Array, Array, Array], float]:
    """Return the motifs after one step, and the log likelihood before it."""
    _, shares, frequencies = law
    counts = np.empty((3, *shares.shape))
    likelihood, person, marker = core().motif_counts(ploidy, *law, part, rows, counts, threads())
    refuse_impossible(person, marker)
    present, carrying, entered = counts
    # a motif that nobody is in, or a marker that nobody has, keeps its frequencies
    seen = present > 0.0
    new = np.where(seen, carrying / np.where(seen, present, 1.0), frequencies)
    all_entered = entered.sum(axis=1)
    stay = np.clip(1.0 - all_entered / rows.sum(), 0.0, 1.0 - SMALLEST_RATE)
    stay[0] = 0.0
    n_motifs = shares.shape[1]
    shares = (entered + _PSEUDO_COUNT / n_motifs) / (all_entered[:, None] + _PSEUDO_COUNT)
    return (stay, shares, np.clip(new, RAREST, 1.0 - RAREST)), likelihood
