r"""Cavities of variables with several versions, for columns that are correlated.

Expectation propagation: each coefficient has a normal factor :math:`\exp(h w - \lambda w^2 / 2)`
in the place of its prior. With all factors but its own, the linear model gives a column its cavity.
The prior gives the coefficient a mean and a variance in that cavity, and the factor is changed so
that the normal distribution of all coefficients has the same. Prior and noise are estimated on the
way (empirical Bayes). In units of :math:`\lambda^{-1/2}` the covariance of the coefficients is
:math:`1 - N` with :math:`N = \hat G (1 + \hat G)^{-1}`, where :math:`\hat G` is the matrix of inner
products of the columns over the noise, and all cavities are written with N, without differences
of large numbers: with the versions of one column as a block of N,

.. math:: C = \lambda\, [(1 - N)^{-1} N]_{kk} , \qquad
    \eta = \lambda^{1/2} [(1 - N)^{-1} (e + N \hat h)]_k ,

where e is the mean without the factors' own :math:`\hat h = h \lambda^{-1/2}`.

The rounds end where prior and noise have settled: validity does not depend on them. Until then
factors may lag behind where that spares most of a round's work (`pair_factors`), the less the
nearer the end is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from selica._core.types import Array, IntArray
from selica.amp.pair_factors import PairMeans, PairModel, TallModel, WideModel
from selica.amp.pairs import PairCavities, PairFields, PairPrior

_FIRST_ZERO = 0.9
"""Share of zeros with which the iteration begins."""
_EXPLAINED = (0.2, 0.5, 0.8)
"""Shares of the variance that the variables may explain together, for the first guess."""
_ROUNDS = 30
"""Rounds at most."""
_FEWEST_ROUNDS = 6
"""Rounds at least."""
_SETTLED = 0.04
"""The rounds end where prior and noise change by less than this share."""
_DAMPING = 0.7
"""Share of a round's news that is taken over; with more, prior and factors chase each other."""
_PRIOR_STEPS = 3
"""Steps by which the prior follows the cavities in each round."""
_LAG = 1.0
"""Share by which factors may lag behind, over that by which prior and noise changed."""
_LAGS = (0.05, 0.2)
"""Least and greatest share by which they may."""
_WIDEST = 10.0
"""The variance of a factor is at most this multiple of that of a coefficient that is not zero."""
_REDUNDANT = 1e-8
"""A column of which other columns leave less than this share is one of them."""
_NOISE_SHAPE = 2.0
"""Shape of the inverse gamma distribution of the noise, whose scale is one: the response's
variance."""


def pair_propagation(
    columns: Sequence[Array],
    response: Array,
    unit: IntArray,
    *,
    prior: PairPrior | None = None,
    noise: float | None = None,
    rounds: int = _ROUNDS,
) -> PairFields:
    """Return the cavities of all versions of all columns, with the prior and the noise.

    Parameters
    ----------
    columns : sequence of V arrays of shape (n, p)
        The versions, without a mean; some entry is not zero.
    response : array of shape (n,)
        Without a mean, of variance one.
    unit : array of int, shape (p,)
        Number of the unit to which a column belongs: its columns are real or copies together.
    prior : PairPrior, optional
    noise : float, optional
        By default they are estimated.
    rounds : int

    Examples
    --------
    >>> import numpy as np
    >>> from selica.amp.pair_propagation import pair_propagation
    >>> rng = np.random.default_rng(0)
    >>> X, copy = rng.standard_normal((2, 50, 4))
    >>> y = X[:, 1] + 0.5 * rng.standard_normal(50)
    >>> found = pair_propagation([X, copy], y / y.std(), np.arange(4))
    >>> odds = np.subtract(*found.prior.evidence(found.seen, np.arange(4)))
    >>> int(odds.argmax()), bool(odds[1] > 10.0)
    (1, True)
    """
    versions, n = len(columns), response.size
    X = np.asfortranarray(np.concatenate(list(columns), axis=1))
    model = (WideModel if n < X.shape[1] else TallModel)(X, response, versions)
    guess, level = _first_guess(model, noise)
    belief = guess if prior is None else prior
    found = _alone(model, belief, level)
    least = _REDUNDANT * level * found.seen.precision
    lam = np.full(X.shape[1], versions / ((1.0 - belief.zero) * belief.variance))
    h = slope = cavity = np.zeros(X.shape[1])
    change = np.inf
    for number in range(rounds):
        before = (belief.variance, 1.0 - belief.zero, level)
        try:
            ratio = model.kept(1.0 / (lam * level), float(np.clip(_LAG * change, *_LAGS)))
            # a factor that lags behind has the mean of the one that is wanted
            wanted, lam = lam, 1.0 / (ratio * level)
            h = (h + slope) * ((lam + cavity) / (wanted + cavity)) - slope
            root = np.sqrt(lam)
            shift = h / root
            means = model.solve(ratio, shift, level)
            seen = _cavities(means, lam, shift, least / level)
        except np.linalg.LinAlgError:
            break  # columns that are the same to rounding; what was found before is valid
        if not (np.all(np.isfinite(seen.eta)) and np.all(np.isfinite(seen.precision))):
            break
        if number and prior is None:
            belief = belief.towards(belief.learnt(seen, unit, _PRIOR_STEPS), _DAMPING)
        known = belief.beliefs(seen, unit)
        found = PairFields(seen, belief, level, known.mean)
        # factors of single coefficients: mean and variance as the prior gives them
        inner = np.einsum("pkk->kp", means.blocks).ravel()
        cavity = lam * inner / (1.0 - inner)
        slope = root * (means.pull + inner * shift) / (1.0 - inner)
        new = 1.0 / known.variance.ravel() - cavity
        new = np.maximum(new, 1.0 / (_WIDEST * belief.variance))
        step = _DAMPING if number else 1.0
        h = (1.0 - step) * h + step * (known.mean.ravel() * (new + cavity) - slope)
        lam = lam ** (1.0 - step) * new**step
        if number and noise is None:
            square = float(means.residual @ means.residual) + level * float(inner.sum())
            level = level ** (1.0 - step) * _expected_noise(square, n) ** step
        after = (belief.variance, 1.0 - belief.zero, level)
        change = np.abs(np.log(np.divide(after, before))).max()
        if number >= _FEWEST_ROUNDS - 1 and change < _SETTLED:
            break
    return found


def _expected_noise(square: float, n: int) -> float:
    """Return the noise that is expected, given the sum of squares of n residuals.

    It is at most the variance of the response.
    """
    return min((1.0 + 0.5 * square) / (_NOISE_SHAPE - 1.0 + 0.5 * n), 1.0)


def _first_guess(model: PairModel, noise: float | None) -> tuple[PairPrior, float]:
    """Return prior and noise by the likelihood of coefficients that are all normal."""
    n, q = model.X.shape
    ratios = np.array([share / (1.0 - share) / (q * model.square) for share in _EXPLAINED])
    half, square = np.array([model.ridge(ratio) for ratio in ratios]).T
    if noise is None:
        levels = np.array([_expected_noise(one, n) for one in square])
        score = -half - (_NOISE_SHAPE + 0.5 * n) * np.log(1.0 + 0.5 * square)
    else:
        levels = np.full(ratios.size, noise)
        score = -half - 0.5 * square / noise
    weight = np.exp(score - score.max())
    weight /= weight.sum()
    level = float(np.exp(weight @ np.log(levels)))
    # one of the versions is real, and most coefficients of it are zero
    each = float(weight @ (ratios * levels)) * model.versions / (1.0 - _FIRST_ZERO)
    return PairPrior(_FIRST_ZERO, each), level


def _alone(model: PairModel, prior: PairPrior, noise: float) -> PairFields:
    """Return the cavities of columns that are each alone in the model."""
    shape = (model.versions, model.p)
    eta = (model.X.T @ model.response).reshape(shape) / noise
    precision = np.einsum("np,np->p", model.X, model.X).reshape(shape) / noise
    return PairFields(PairCavities(eta, precision), prior, noise, np.zeros(shape))


def _cavities(means: PairMeans, lam: Array, shift: Array, least: Array) -> PairCavities:
    """Return what the data say of each column while its other versions are zero.

    Columns with less than the least precision, (V, p), are others to rounding, and say nothing.
    """
    p, versions, _ = means.blocks.shape
    inverse = np.linalg.inv(np.eye(versions) - means.blocks)
    pull, h, scale = (part.reshape(versions, p) for part in (means.pull, shift, lam))
    inner = np.einsum("pkl,plk->kp", inverse, means.blocks)
    target = pull + np.einsum("pkl,lp->kp", means.blocks, h)
    eta = np.sqrt(scale) * np.einsum("pkl,lp->kp", inverse, target)
    precision = scale * inner
    some = precision > least
    return PairCavities(np.where(some, eta, 0.0), np.where(some, precision, 0.0))
