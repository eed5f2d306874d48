"""Principal components of genotypes: ancestry as covariates, without a matrix of all markers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.errors import RefusedError
from selica._core.parallel import one_blas_thread
from selica._core.random import RandomState, child, seed_sequence
from selica._core.types import Array, IntArray
from selica._core.validation import count, number
from selica._core.wording import counted
from selica.tables.genotypes.codes import unpack
from selica.tables.genotypes.genotypes import Genotypes

MOST_MARKERS = 20_000
"""Markers that components are made of, at most: more say the same of ancestry."""
LARGEST_R2 = 0.2
"""Squared correlation above which the later of two neighbours is left out."""
_PURPOSE = int.from_bytes(b"pcas", "big")
"""Purpose of the random numbers, as in `_core.random`."""
_WINDOW = 100
"""Neighbours, among those that are looked at, that are compared."""
_BLOCK = 1024
"""Markers that are numbers in memory at once."""
_MORE = 10
"""Random directions beyond the components that are asked for."""
_DEPTH = 6
"""Products with the table between restarts."""
_RESTARTS = 30
"""Restarts, at most."""
_TOLERANCE = 1e-3
"""Length of what an eigenvector misses, relative to its eigenvalue."""


class Components(NamedTuple):
    """Principal components of genotypes."""

    values: Array
    """(n, k): components of variance one, the largest first."""
    variances: Array
    """(k,): shares of the variance of the markers that they were made of."""
    markers: IntArray
    """(m,): places of those markers."""
    residual: float
    """How exact the worst of them is: |K u - λ u| / λ for the matrix K of relations."""

    @property
    def note(self) -> str:
        """A sentence on how they were made."""
        k = self.values.shape[1]
        are = f"{counted(k, 'principal component')} {'is' if k == 1 else 'are'}"
        loose = (
            f" The last of them are not exact: what an eigenvector misses is {self.residual:.1g} "
            "of its eigenvalue."
            if self.residual > _TOLERANCE
            else ""
        )
        return (
            f"{are} kept in every fit; made of {counted(self.markers.size, 'marker')} with squared "
            f"correlations up to {LARGEST_R2:g} between neighbours.{loose}"
        )


def principal_components(
    genotypes: Genotypes,
    k: int = 10,
    *,
    most_r2: float = LARGEST_R2,
    most_markers: int = MOST_MARKERS,
    random_state: RandomState | None = 0,
) -> Components:
    """Compute principal components of genotypes.

    Markers are taken at even distances, and of neighbours that are correlated one is left out, so
    that components show ancestry and not regions with many markers. Genotypes are centred and
    divided by their standard deviation under random mating, sqrt(2 f (1 - f)); missing calls are
    at the mean.

    Parameters
    ----------
    genotypes : Genotypes
    k : int
        Number of components.
    most_r2 : float
        Squared correlation above which one of two neighbours is left out; 1 leaves out none.
    most_markers : int
        Markers that are looked at.
    random_state : int, SeedSequence, Generator or None
        Of the directions with which the search begins; the answer depends on it by rounding only.

    Returns
    -------
    Components

    Examples
    --------
    >>> import numpy as np
    >>> from selica.tables.genotypes import Genotypes, principal_components
    >>> rng = np.random.default_rng(0)
    >>> shares = np.where(np.arange(60)[:, None] < 30, 0.2, 0.6)  # two populations
    >>> genotypes = Genotypes.of(rng.binomial(2, shares, (60, 500)))
    >>> first = principal_components(genotypes, 2).values[:, 0]
    >>> bool(abs(np.corrcoef(first, shares[:, 0])[0, 1]) > 0.99)
    True
    """
    n, p = genotypes.shape
    k = count("components", k)
    number("most_r2", most_r2, at_least=0.0, at_most=1.0)
    count("most_markers", most_markers)
    if k >= n:
        raise RefusedError(f"components: {k} of them need more than {k} people; there are {n}.")
    with one_blas_thread():  # sums in the same order on every machine
        some = np.unique(np.linspace(0, p - 1, min(p, most_markers)).astype(np.intp))
        markers = some if most_r2 >= 1.0 else _pruned(genotypes, some, most_r2)
        if markers.size < k:
            raise RefusedError(
                f"components: {k} of them need as many markers; {counted(markers.size, 'marker')} "
                "are left when those that are correlated are left out."
            )
        seed = child(seed_sequence(random_state), _PURPOSE)
        return _computed(genotypes, markers, k, np.random.default_rng(seed))


def _standard(genotypes: Genotypes, which: IntArray) -> Array:
    """Return markers as lines of numbers, centred and scaled; missing calls are zero."""
    some = genotypes.some_markers(which)
    calls = unpack(np.asarray(genotypes.codes[some.columns]), genotypes.n_rows)
    share = some.frequency[:, None]
    values = calls.astype(float)
    values -= 2.0 * share
    values /= np.sqrt(2.0 * share * (1.0 - share))
    if some.counts[:, 1].any():
        values[calls < 0] = 0.0
    return values


def _pruned(genotypes: Genotypes, some: IntArray, most_r2: float) -> IntArray:
    """Return markers of which no two neighbours are correlated more than allowed."""
    kept: list[int] = []
    chromosome = genotypes.markers.chromosome[some]
    for name in dict.fromkeys(chromosome):
        own = some[chromosome == name]
        before, last = np.empty((0, genotypes.n_rows)), list[int]()
        for start in range(0, own.size, _WINDOW):
            part = own[start : start + _WINDOW]
            lines = _standard(genotypes, part)
            lines -= lines.mean(axis=1, keepdims=True)
            lines /= np.maximum(np.linalg.norm(lines, axis=1, keepdims=True), 1e-300)
            free = np.ones(part.size, dtype=bool)
            if last:
                free &= ((lines @ before.T) ** 2).max(axis=1) <= most_r2
            alike = (lines @ lines.T) ** 2 > most_r2
            taken = []
            for j in range(part.size):
                if free[j]:
                    taken.append(j)
                    free[j:] &= ~alike[j, j:]
            kept += part[taken].tolist()
            before, last = lines[taken], taken
    return np.array(kept, dtype=np.intp)


def _product(genotypes: Genotypes, markers: IntArray, directions: Array) -> Array:
    """Return the matrix of relations, which is never formed, times directions of people."""
    out = np.zeros_like(directions)
    for start in range(0, markers.size, _BLOCK):
        lines = _standard(genotypes, markers[start : start + _BLOCK])
        out += lines.T @ (lines @ directions)
    return out / markers.size


def _computed(
    genotypes: Genotypes, markers: IntArray, k: int, rng: np.random.Generator
) -> Components:
    """Compute eigenvectors in Krylov spaces of random directions, restarted with the best found.

    Musco and Musco (2015): products of a few blocks find the largest far sooner than powers do.
    """
    n = genotypes.n_rows
    width = min(k + _MORE, n)
    depth = max(1, min(_DEPTH, n // width))
    total = _trace(genotypes, markers)
    block = np.linalg.qr(rng.standard_normal((n, width)))[0]
    for _ in range(_RESTARTS):
        basis, images = [block], list[Array]()
        for step in range(depth):
            images.append(_product(genotypes, markers, basis[-1]))
            if step + 1 < depth:
                whole = np.hstack(basis)
                new = images[-1]
                for _ in range(2):  # once more, against rounding
                    new = np.linalg.qr(new - whole @ (whole.T @ new))[0]
                basis.append(new)
        space, image = np.hstack(basis), np.hstack(images)
        inner = space.T @ image
        values, turns = np.linalg.eigh(0.5 * (inner + inner.T))
        best = turns[:, ::-1][:, :width]
        top = values[::-1][:k]
        block = space @ best
        missed = np.linalg.norm((image @ best - block * values[::-1][:width])[:, :k], axis=0)
        residual = float((missed / np.maximum(top, 1e-300)).max())
        block, turned = np.linalg.qr(block)
        block *= np.sign(np.diag(turned))
        if residual <= _TOLERANCE:
            break
    found = block[:, :k]
    sign = np.sign(found[np.abs(found).argmax(axis=0), np.arange(k)])
    return Components(found * (sign * np.sqrt(n)), top / total, markers, residual)


def _trace(genotypes: Genotypes, markers: IntArray) -> float:
    """Return the sum of all variances."""
    total = 0.0
    for start in range(0, markers.size, _BLOCK):
        total += float((_standard(genotypes, markers[start : start + _BLOCK]) ** 2).sum())
    return total / markers.size
