r"""Whether LD is that of the people behind the Z-scores.

Each Z-score is predicted from those of its k most correlated neighbours. The Z-scores are one more
row with the distribution of the columns, so that without an effect of its own the residual of
marker j is that of a *new row* in the regression of column j on its neighbours, which the reference
panel fits: with :math:`b = R_{NN}^{-1} R_{Nj}`, residual variance :math:`v_j = 1 - b'R_{Nj}` and
:math:`n` people,

.. math:: t_j = \frac{z_j - b'z_N}{\sqrt{v_j \frac{n}{n-k-1}\,(1 + z_N' R_{NN}^{-1} z_N / n)}}
          \sim t_{n-k-1} ,

exactly for normal columns: the error of LD is inside it, also where signals are strong and small
errors of LD make large errors of predictions. An effect :math:`\mu_j` of its own moves the residual
by :math:`v_j\mu_j`. Two numbers follow.

- **Opposed markers.** Effects make a Z-score larger than its neighbours predict; a swapped allele,
  or fewer people behind one marker, make it fall short of the prediction or turn against it. The
  shortfall :math:`-\mathrm{sign}(b'z_N)\,t_j`, less what an effect as large as the largest |z| of
  the study would make, is compared with a quantile of t for all markers at once.
- **A share of noise without LD.** The s for which :math:`N(0, (1 - s)R + sI)` gives the Z-scores
  the largest likelihood (`estimate_s_rss` of susieR): small where LD is right, as signals lie
  mostly in directions in which R is large, and errors of LD show where it is small. What correct
  LD gives is simulated: signals of sparse effects as a lasso finds them, noise by R, and reference
  panels of the given size.

Each is beyond its limit in about 1 of 200 cases with correct LD, at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cholesky
from scipy.stats import gamma
from scipy.stats import t as student

from selica._core.errors import ArgumentError
from selica._core.linkage import LinkageBlocks
from selica._core.random import RandomState, child, generator, seed_sequence
from selica._core.results import Result
from selica._core.types import Array, IntArray
from selica._core.validation import numbers
from selica._core.wording import few
from selica.sampling.ghosts import share_of_identity, usable_linkage
from selica.solvers.quadratic import quadratic_lasso

NEIGHBOURS = 20
"""Neighbours that predict a Z-score, at most."""
_PEOPLE_EACH = 10
"""People of a reference panel for each neighbour, at least."""
_FALSE_ALARM = 0.005
"""Share of cases with correct LD in which either number is beyond its limit."""
_RIDGE = 1e-3
"""Ridge of the predictions, for neighbours that are nearly the same."""
_LEAST_VARIANCE = 0.01
"""Residual variance at least: Z-scores are printed with few digits, and genotypes have errors."""
_SIMULATED_MARKERS = 1000
"""Markers whose blocks are simulated for the limit of s, about."""
_DRAWS = 60
"""Draws of Z-scores and reference panels for each simulated block."""
_GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 200)])
"""Values of s that are tried."""
_LEAST_LIMIT = 0.02
"""Limit of s at least: Z-scores are rounded, and columns of genotypes are not normal."""
_EFFECT_PENALTY = 3.0
"""Penalty, in the unit of Z-scores, of the effects that simulated Z-scores have. Effects that are
shrunk less hide errors of LD, those that are shrunk more make the limit too small."""
_LISTED = 20
"""Markers that are kept as the worst."""
MISMATCH = int.from_bytes(b"mism", "big")
"""Purpose of the random numbers of the simulation."""


class _Predictions(NamedTuple):
    """How the Z-scores of a block are predicted from their neighbours."""

    neighbours: IntArray
    """(p, k)."""
    weight: Array
    """(p, k)."""
    inverse: Array
    """(p, k, k): inverse of the correlations of the neighbours."""
    variance: Array
    """(p,): of the residual, in the sample."""
    n_reference: int | None

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the residuals."""
        k = self.neighbours.shape[1]
        return np.inf if self.n_reference is None else float(self.n_reference - k - 1)

    def residuals(self, z: Array) -> tuple[Array, Array, Array]:
        """Return predictions, standardised residuals and their standard errors, (p,) each."""
        near = z[self.neighbours]
        predicted = np.sum(self.weight * near, axis=1)
        variance = self.variance
        if self.n_reference is not None:
            leverage = np.einsum("pi,pij,pj->p", near, self.inverse, near) / self.n_reference
            variance = variance * (self.n_reference / self.freedom) * (1.0 + leverage)
        error = np.sqrt(variance)
        return predicted, (z - predicted) / error, error


def _predictions(R: Array, n_reference: int | None) -> _Predictions | None:
    """Return how Z-scores are predicted; None for a marker without neighbours."""
    p = len(R)
    most = NEIGHBOURS if n_reference is None else min(NEIGHBOURS, n_reference // _PEOPLE_EACH)
    k = min(most, p - 1)
    if k < 1:
        return None
    size = np.abs(R)
    np.fill_diagonal(size, -1.0)
    near = np.argpartition(-size, k - 1, axis=1)[:, :k]
    among = R[near[:, :, None], near[:, None, :]]
    inverse: Array = np.asarray(np.linalg.inv(among + _RIDGE * np.eye(k)), dtype=np.float64)
    with_own = np.take_along_axis(R, near, axis=1)
    weight = np.einsum("pij,pj->pi", inverse, with_own)
    # for any weights: the ridge makes them a little smaller than the best ones
    variance = (
        1.0
        - 2.0 * np.sum(weight * with_own, axis=1)
        + np.einsum("pi,pij,pj->p", weight, among, weight)
    )
    return _Predictions(near, weight, inverse, np.maximum(variance, _LEAST_VARIANCE), n_reference)


@dataclass(frozen=True, slots=True, repr=False)
class LinkageMismatch(Result):
    """How far Z-scores are from what LD allows; see `linkage_mismatch`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics import linkage_mismatch
    >>> from selica.tables import LinkageBlocks
    >>> found = linkage_mismatch([8.0, -7.6], LinkageBlocks([[[1.0, 0.95], [0.95, 1.0]]]))
    >>> found.refused, found.worst.tolist()
    (True, [0, 1])
    """

    number: float
    """The larger of the two numbers over its limit: LD is refused above 1."""
    opposed: float
    """Largest shortfall of a Z-score, in standard errors, less what an effect can make of it."""
    opposed_limit: float
    """Quantile of t that it exceeds in 1 of 200 cases with correct LD, at most."""
    noise: float
    """Share s of noise without LD that the Z-scores have."""
    noise_limit: float
    """What correct LD exceeds in 1 of 200 cases, by simulation."""
    worst: IntArray
    """Markers that are opposed beyond the limit, the worst first, where that is the larger of the
    two numbers; else those of the worst block."""
    worst_block: int
    """The block whose Z-scores LD explains worst."""
    shortfall: Array
    """(p,): shortfall of each Z-score, in standard errors, less what an effect can make of it."""

    _columns: ClassVar[tuple[str, ...]] = (
        "number", "opposed", "opposed_limit", "noise", "noise_limit", "worst_block",
    )  # fmt: skip

    @property
    def refused(self) -> bool:
        """Whether LD is not that of the Z-scores."""
        return self.number > 1.0

    def sentence(self, names: tuple[str, ...]) -> str:
        """Say what is wrong, with the names of the worst markers, as a clause.

        Parameters
        ----------
        names : tuple of str
            Names of the markers.
        """
        listed = few([names[j] for j in self.worst])
        if self.opposed / self.opposed_limit == self.number:
            return (
                f"the Z-scores of {listed} contradict those of the markers they are correlated "
                f"with (by {self.opposed:.1f} standard errors beyond any effect; "
                f"{self.opposed_limit:.1f} is the limit), as swapped alleles or other people do"
            )
        return (
            f"the Z-scores are correlated otherwise than the markers: a share of {self.noise:.2g} "
            f"of their variance is noise without LD (limit: {self.noise_limit:.2g}), most in block "
            f"{self.worst_block} with {listed}"
        )


def linkage_mismatch(
    z: ArrayLike, ld: LinkageBlocks, random_state: RandomState | None = 0
) -> LinkageMismatch:
    """Measure whether LD can be that of the people behind the Z-scores.

    Parameters
    ----------
    z : array of shape (p,)
    ld : LinkageBlocks
        With `n_reference`, where LD is from a reference panel: its error is allowed for.
    random_state : None, int, SeedSequence, Generator or RandomState
        Of the simulation of the limit.

    Returns
    -------
    LinkageMismatch

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics import linkage_mismatch
    >>> from selica.tables import LinkageBlocks
    >>> R = 0.9 ** np.abs(np.subtract.outer(range(40), range(40)))
    >>> z = np.linalg.cholesky(R) @ np.random.default_rng(0).standard_normal(40) + 6.0 * R[20]
    >>> linkage_mismatch(z, LinkageBlocks([R])).refused
    False
    >>> z[18] *= -1.0  # alleles of one marker swapped
    >>> found = linkage_mismatch(z, LinkageBlocks([R]))
    >>> found.refused, int(found.worst[0])
    (True, 18)
    """
    scores = numbers("z", z)
    if scores.size != len(ld):
        raise ArgumentError(
            f"z must have one Z-score for each of the {len(ld)} markers of ld; got {scores.size}."
        )
    starts = ld.starts
    largest = float(np.abs(scores).max())
    shortfall = np.full(scores.size, -np.inf)
    blocks, misfit = [], np.zeros(len(ld.matrices))
    freedom = np.inf
    for b, R in enumerate(ld.matrices):
        where = slice(int(starts[b]), int(starts[b + 1]))
        how = _predictions(R, ld.n_reference)
        if how is not None:
            predicted, t, error = how.residuals(scores[where])
            effect = largest * how.variance / error
            shortfall[where] = -np.sign(predicted) * t - effect
            freedom = min(freedom, how.freedom)
        one = _rotated(scores[where], R, ld.n_reference)
        small = one.value < 1.0
        misfit[b] = np.sum(one.square[small] / one.value[small] - 1.0) / np.sqrt(len(R))
        blocks.append(one)
    total = int(np.count_nonzero(np.isfinite(shortfall)))
    if total == 0:  # no marker has a neighbour: nothing can be checked
        none = np.zeros(0, dtype=np.intp)
        return LinkageMismatch(0.0, 0.0, np.inf, 0.0, 1.0, none, worst_block=0, shortfall=shortfall)
    limit = float(student.isf(_FALSE_ALARM / total, freedom))
    opposed = float(shortfall.max())
    noise = _share_of_noise(blocks)
    noise_limit = _noise_limit(scores, ld, random_state)
    block = int(np.argmax(misfit))
    order = np.argsort(-shortfall, kind="stable")
    if opposed > limit and opposed / limit >= noise / noise_limit:
        worst = order[:_LISTED]
        worst = worst[shortfall[worst] > limit]
    else:
        worst = order[(order >= starts[block]) & (order < starts[block + 1])][:_LISTED]
    return LinkageMismatch(
        number=float(max(opposed / limit, noise / noise_limit)),
        opposed=opposed,
        opposed_limit=limit,
        noise=noise,
        noise_limit=noise_limit,
        worst=worst,
        worst_block=block,
        shortfall=shortfall,
    )


class _Rotated(NamedTuple):
    """Z-scores of a block in the eigenvectors of LD."""

    value: Array
    """(p_b,): eigenvalues."""
    square: Array
    """(p_b,): squares of the coordinates, which have these variances without signals."""


def _rotated(z: Array, correlation: Array, n_reference: int | None) -> _Rotated:
    """Return Z-scores in the eigenvectors of LD, which is shrunk as for copies."""
    value, vector = np.linalg.eigh(correlation)
    share = share_of_identity(correlation, float(value[0]), n_reference)
    return _Rotated((1.0 - share) * value + share, (z @ vector) ** 2)


def _share_of_noise(blocks: Sequence[_Rotated]) -> float:
    """Return the s of largest likelihood in N(0, (1 - s) R + s I)."""
    loss = np.zeros(_GRID.size)
    for one in blocks:
        variance = one.value + _GRID[:, None] * (1.0 - one.value)
        loss += np.sum(np.log(variance) + one.square / variance, axis=1)
    return float(_GRID[np.argmin(loss)])


def _noise_limit(z: Array, ld: LinkageBlocks, random_state: RandomState | None) -> float:
    """Return the s that correct LD exceeds in 1 of 200 cases.

    Blocks are independent: where they are many, some of them, evenly chosen, are simulated, and
    the variance of s falls as the number of markers rises. The quantile is that of a gamma
    distribution with the mean and the variance of the draws.
    """
    seed = seed_sequence(random_state)
    step = max(1, round(len(ld) / _SIMULATED_MARKERS))
    some = range(0, len(ld.matrices), step)
    laws = [_SignalAndNoise.of(z[ld.starts[b] : ld.starts[b + 1]], ld, b) for b in some]
    rngs = [generator(child(seed, MISMATCH, b)) for b in some]
    drawn = np.array(
        [
            _share_of_noise([law.draw(rng) for law, rng in zip(laws, rngs, strict=True)])
            for _ in range(_DRAWS)
        ]
    )
    share = sum(len(law.root) for law in laws) / len(ld)
    mean, variance = float(drawn.mean()), float(drawn.var(ddof=1)) * share
    if variance <= 0.0:
        return max(mean, _LEAST_LIMIT)
    quantile = float(gamma.isf(_FALSE_ALARM, mean**2 / variance, scale=variance / mean))
    return max(quantile, _LEAST_LIMIT)


class _SignalAndNoise(NamedTuple):
    """The distribution of the Z-scores of a block if its LD is right."""

    signal: Array
    """(p_b,): what sparse effects make of the Z-scores."""
    value: Array
    """(p_b,): eigenvalues of LD."""
    vector: Array
    """(p_b, p_b): its eigenvectors."""
    root: Array
    """(p_b, p_b): its lower triangular root."""
    n_reference: int | None

    @classmethod
    def of(cls, z: Array, ld: LinkageBlocks, block: int) -> _SignalAndNoise:
        """Return the distribution that these Z-scores speak for."""
        R = usable_linkage(ld.matrices[block], ld.n_reference).correlation
        effect = quadratic_lasso(R, z, _EFFECT_PENALTY).coef
        value, vector = np.linalg.eigh(R)
        root = np.asarray(cholesky(R, lower=True))
        return cls(R @ effect, value, vector, root, ld.n_reference)

    def draw(self, rng: np.random.Generator) -> _Rotated:
        """Draw Z-scores and a reference panel."""
        z = self.signal + self.root @ rng.standard_normal(self.signal.size)
        if self.n_reference is None:
            return _Rotated(self.value, (z @ self.vector) ** 2)
        drawn = _drawn_reference(self.root, self.n_reference, rng)
        return _rotated(z, drawn, self.n_reference)


def _drawn_reference(root: Array, people: int, rng: np.random.Generator) -> Array:
    """Return the correlations of a reference panel of so many people with this LD.

    The root of a Wishart matrix is triangular (Bartlett), so that no table is drawn.
    """
    p = len(root)
    freedom = people - 1
    if freedom < p:
        rows = rng.standard_normal((freedom, p)) @ root.T
        found = rows.T @ rows
    else:
        lower = np.tril(rng.standard_normal((p, p)), -1)
        lower[np.diag_indices(p)] = np.sqrt(rng.chisquare(freedom - np.arange(p)))
        product = root @ lower
        found = product @ product.T
    sd = np.sqrt(found.diagonal())
    return np.asarray(found / sd / sd[:, None])
