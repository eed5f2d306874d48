"""Knockoffs of genotypes: numbers of alleles 0, 1 and 2 at markers along chromosomes.

A hidden Markov model describes them: two haplotypes, each a mosaic of a few motifs (`motifs`). Of
a row its hidden motifs are drawn given the genotypes, each of the two hidden haplotypes gets a
Markov chain copy, and the motifs of the copy have new alleles (after Sesia, Sabatti and Candes
2019). A haplotype is exchangeable with its copy at every marker, the two are independent, and
genotypes are independent given the motifs: so genotypes and copies are exchangeable, whatever was
drawn in between.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.compiled import core, threads
from selica._core.errors import ArgumentError, RefusedError
from selica._core.losses import Loss
from selica._core.random import RandomState, generator
from selica._core.types import Array
from selica._core.validation import count, short
from selica.sampling.checks import row_shares
from selica.sampling.copies import Copies, draw_copies
from selica.sampling.motifs import (
    MOST_MOTIFS,
    FittedMotifs,
    HaplotypeLaw,
    as_genotypes,
    check_ploidy,
    fit_motifs,
    refuse_impossible,
)
from selica.sampling.sampler import Doubt, Sampler

FEW_PEOPLE = 100
"""People below whom motifs are doubtful. Practice."""


class GenotypeKnockoffs(Sampler):
    """Model-X knockoffs of genotypes, by a hidden Markov model of haplotypes.

    Columns are markers in the order of the chromosomes. Where the distribution of the haplotypes is
    known, the copies are exact knockoffs. Where it is fitted to the table, the error control of a
    knockoff filter holds up to the error of the fit.

    Parameters
    ----------
    law : HaplotypeLaw, optional
        Distribution of the haplotypes, if it is known. None: fitted by `fit`.
    n_motifs : int
        Number of motifs to fit. More of them follow the genotypes closer and take longer.
    n_steps : int
        Steps of the EM algorithm.
    segments : array of shape (p,), optional
        Labels of contiguous markers, such as chromosomes: segments are independent of each other.
        None: all markers are one segment. Not used where `law` is given, which has infinite rates
        where segments begin.
    ploidy : {1, 2}
        Haplotypes of a row: 2 for genotypes of people, 1 for haplotypes and inbred lines.
    random_state : None, int, SeedSequence, Generator or RandomState
        Chooses the people from whom motifs start, in `fit`.

    Attributes
    ----------
    law : HaplotypeLaw or None
        As given, or as fitted.
    estimated : bool
        Whether it was fitted, or has to be.
    log_likelihood_ : array of shape (n_steps,)
        Of the genotypes before each step of the fit.

    Notes
    -----
    Rows have to be unrelated: relatives share long stretches of their haplotypes, and copies that
    are drawn for each row alone do not share them.

    Missing genotypes, NaN or -1 in a table of integers, are left open: copies are drawn given the
    genotypes that are there, and are complete. `complete` draws the missing ones themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import GenotypeKnockoffs, HaplotypeLaw
    >>> rng = np.random.default_rng(0)
    >>> law = HaplotypeLaw(np.full(50, 0.1), np.full((50, 3), 1 / 3), rng.random((50, 3)))
    >>> X = law.simulate(200, random_state=1)
    >>> GenotypeKnockoffs(law).sample(X, random_state=2).shape
    (200, 50)

    Without the distribution:

    >>> fitted = GenotypeKnockoffs(n_motifs=4, random_state=0).fit(X)
    >>> fitted
    GenotypeKnockoffs(n_markers=50, n_motifs=4, estimated=True)
    >>> copy = fitted.sample(X, random_state=2)
    >>> bool(np.isin(copy, [0, 1, 2]).all())
    True
    """

    discrete = True

    def __init__(
        self,
        law: HaplotypeLaw | None = None,
        *,
        n_motifs: int = 16,
        n_steps: int = 25,
        segments: ArrayLike | None = None,
        ploidy: int = 2,
        random_state: RandomState | None = 0,
    ) -> None:
        if law is not None and not isinstance(law, HaplotypeLaw):
            raise ArgumentError(f"law must be a HaplotypeLaw or None; got {short(law)}.")
        if law is not None and segments is not None:
            raise ArgumentError(
                "segments cannot be given beside law, whose infinite rates say where they begin."
            )
        self.law = law
        self.n_motifs = count("n_motifs", n_motifs, at_most=MOST_MOTIFS)
        self.n_steps = count("n_steps", n_steps)
        self.segments = segments
        self.ploidy = check_ploidy(ploidy)
        self.random_state = random_state
        self.estimated = law is None
        self.log_likelihood_: Array | None = None

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> GenotypeKnockoffs:
        """Return a sampler with motifs fitted to X; where `law` was given, this object.

        Parameters
        ----------
        X : array of shape (n, p)
            Numbers of alleles. A table of int8 is read where it lies.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        """
        columns = None if self.estimated or self.law is None else self.law.n_markers
        table = as_genotypes(X, self.ploidy, columns=columns)
        if not self.estimated:
            return self
        found: FittedMotifs = fit_motifs(
            table, self.n_motifs, self.n_steps, ploidy=self.ploidy,
            weight=row_shares(sample_weight, len(table)), segments=self.segments,
            random_state=self.random_state,
        )  # fmt: skip
        fitted = copy(self)
        fitted.law, fitted.log_likelihood_ = found.law, found.log_likelihood
        return fitted

    @property
    def assumption(self) -> str:  # type: ignore[override]
        """What must be true of the columns, as a clause."""
        if self.estimated:
            return (
                "the genotypes are close to mosaics of the motifs that were fitted to them, and no "
                "two people are related"
            )
        return "the distribution of the genotypes is the one that was given"

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether the distribution is known."""
        return not self.estimated

    @property
    def mismatch(self) -> str:  # type: ignore[override]
        """What is wrong where the copies do not fit the columns."""
        if self.estimated:
            return (
                "the motifs do not describe the genotypes well enough; more of them (n_motifs) may"
            )
        return "the distribution given is not that of the table"

    def needs(self, rows: int, columns: int, loss: Loss) -> None:
        """Check that a table can be copied; see `Sampler.needs`."""
        super().needs(rows, columns, loss)
        if self.estimated and rows < 2:
            raise RefusedError(f"sampler: motifs are fitted to two rows at least; X has {rows}.")

    def doubts(self, X: Array) -> list[Doubt]:
        """Return what speaks against motifs that were fitted to so few rows."""
        if not self.estimated or len(X) >= FEW_PEOPLE:
            return []
        return [Doubt(f"the motifs of the genotypes are fitted to {len(X)} rows only")]

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return knockoff copies of X for these members; see `Sampler.copies`."""
        law = self._known()
        table = as_genotypes(X, self.ploidy, columns=law.n_markers)
        return draw_copies(GivenGenotypes(law, table, self.ploidy), random_state, members)

    def complete(self, X: ArrayLike, random_state: RandomState | None = None) -> Any:
        """Return the genotypes with those that are missing drawn, given the others of the row.

        Parameters
        ----------
        X : array of shape (n, p)
        random_state : None, int, SeedSequence, Generator or RandomState

        Returns
        -------
        array of int8, shape (n, p)

        Examples
        --------
        >>> import numpy as np
        >>> from selica.sampling import GenotypeKnockoffs
        >>> X = np.array([[0, 0, 1], [2, -1, 2], [1, 1, 1], [2, 2, 2]])
        >>> GenotypeKnockoffs(n_motifs=2).fit(X).complete(X, random_state=0)[0].tolist()
        [0, 0, 1]
        """
        law = self._known()
        table = as_genotypes(X, self.ploidy, columns=law.n_markers)
        return _drawn(law, table, self.ploidy, True, generator(random_state))

    def _known(self) -> HaplotypeLaw:
        if self.law is None:
            raise ArgumentError("law is not known yet: call fit(X) first, and use its result.")
        return self.law

    def __repr__(self) -> str:
        if self.law is None:
            return f"GenotypeKnockoffs(n_motifs={self.n_motifs}, not fitted)"
        estimated = ", estimated=True" if self.estimated else ""
        size = f"n_markers={self.law.n_markers}, n_motifs={self.law.n_motifs}"
        return f"GenotypeKnockoffs({size}{estimated})"


@dataclass(frozen=True, slots=True)
class GivenGenotypes:
    """Copies of genotypes by a distribution of haplotypes."""

    law: HaplotypeLaw
    table: Any
    ploidy: int

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.table.shape[0], self.table.shape[1]

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        drawn = _drawn(self.law, self.table, self.ploidy, False, rng)
        return np.array(drawn, dtype=float, order="F")


def _drawn(
    law: HaplotypeLaw, table: Any, ploidy: int, complete: bool, rng: np.random.Generator
) -> Any:
    """Return a copy of genotypes, or the genotypes without gaps; each row has its own stream."""
    out = np.empty_like(table)
    key = rng.integers(0, 2**64, size=2, dtype=np.uint64)
    refuse_impossible(
        *core().draw_genotypes(
            ploidy, *law.arrays, table, complete=complete, key=key, out=out, threads=threads()
        )
    )
    return out
