r"""The largest tail of an r-concave distribution of given mean (Shah & Samworth 2013, section 3.3).

A distribution :math:`f` on :math:`\{0, .., B\}` is r-concave, :math:`r < 0`, if its support has no
gaps and :math:`f^r` is convex there. Wanted is the largest :math:`P(X \ge T)` among those with
:math:`E X \le m`, for :math:`T > 2m`. With :math:`n = -1/r` it belongs to a distribution

.. math:: f_j \propto (1 + b j)^{-n}, \quad j = 0, .., k, \qquad k \ge T ,

of mean :math:`m`. For each :math:`k` the mean fixes :math:`b`, and there remains a maximum over
:math:`k`.

Shah & Samworth also let a part of the probability lie at :math:`k + 1` and search over its size.
The maximum is always at an end of that search: it is reached by an :math:`f` that is no mixture of
two others of the same mean, and that has no kink in :math:`g = f^r`. For if it had one, let
:math:`a` be a function that is linear where :math:`g` is, with a kink at the same place. Then
:math:`f` is halfway between :math:`g^{-n-1} (g \pm \delta a)`, which are r-concave too for small
:math:`\delta`, because :math:`x^{1 + 1/n} y^{-1/n}` is a convex function of :math:`x, y > 0`. Mass
and mean fix only two of the three free numbers in :math:`a`.
"""

from __future__ import annotations

import numpy as np

from selica._core.root import find_root
from selica._core.rounding import ceiling
from selica._core.types import Array, IntArray

_LARGEST_FULL_SEARCH = 256
"""Up to this many values of k are all looked at. Of more, an even choice of `_POINTS_OF_A_PASS` is;
the neighbours of the best bound the next pass, as the tail has one peak in k."""
_POINTS_OF_A_PASS = 32
"""Values of k that one pass looks at."""
_LARGEST_STEEPNESS = 170.0
"""exp(170)^4 is still finite in double precision, and no mean from here on needs a steeper line. A
smaller mean is taken for this one: the tail rises with the mean, so that the bound remains one."""
_SMALLEST_MEAN = 1e-140
"""The smallest mean that is told from zero."""


def largest_tail(mean: float, top: int, index: int, power: int) -> float:
    """Return the largest P(X >= index) over r-concave distributions with E X <= mean.

    Up to index = ceil(2 mean), where the best one need not decrease, Markov's inequality takes its
    place.

    Parameters
    ----------
    mean : float
        Not negative.
    top, index : int
    power : {2, 4}
        r is -1 / power.
    """
    mean = max(mean, _SMALLEST_MEAN)
    if index <= mean:
        return 1.0
    if index <= max(ceiling(2.0 * mean), 1):
        return mean / index
    low, high = index, top
    enough = _LARGEST_FULL_SEARCH if top <= _LARGEST_FULL_SEARCH else _POINTS_OF_A_PASS
    while high - low >= enough:
        k = np.linspace(low, high, _POINTS_OF_A_PASS).round().astype(np.intp)
        best = int(np.argmax(_tails(k, mean, index, power)))
        low, high = int(k[max(best - 1, 0)]), int(k[min(best + 1, k.size - 1)])
    return float(_tails(np.arange(low, high + 1), mean, index, power).max())


def _tails(k: IntArray, mean: float, index: int, power: int) -> Array:
    """Return P(X >= index) of the distribution on 0, .., k that has the mean, for each k."""
    j = np.arange(k.max() + 1.0)

    def law(steepness: Array, last: IntArray) -> tuple[Array, Array]:
        """Return (1 + b j)^-power and j / (1 + b j); the steepness is log(1 + b k)."""
        slope = (np.expm1(steepness) / last)[:, None]
        line = 1.0 + slope * j
        weight = line * line
        if power == 4:
            weight *= weight
        weight = (j <= last[:, None]) / weight
        return weight / weight.sum(axis=1, keepdims=True), j / line

    def equation(steepness: Array, points: IntArray) -> tuple[Array, Array]:
        weight, ratio = law(steepness, k[points])
        first = _dot(weight, j)
        # minus the derivative of the mean by b is power times a covariance
        spread = _dot(weight, ratio * j) - first * _dot(weight, ratio)
        return mean - first, power * spread * np.exp(steepness) / k[points]

    start = np.log(np.maximum(k / (2.0 * mean), 1.0))
    weight, _ = law(find_root(equation, start, lower=0.0, upper=_LARGEST_STEEPNESS).x, k)
    return np.asarray(weight[:, index:].sum(axis=1))


def _dot(a: Array, b: Array) -> Array:
    """Return sums of products along the last axis, without threads: the rows are short."""
    return np.asarray(np.einsum("...j,...j->...", a, b))
