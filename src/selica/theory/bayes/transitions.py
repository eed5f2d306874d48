r"""Where the best possible error jumps, and where message passing does not follow.

The Bayes-optimal solution minimises :math:`G(x) - \tfrac\alpha2 x` over :math:`x = \log s`: it is
the lower convex envelope of G. Each straight piece of the envelope is a jump, at the
:math:`\alpha` of its slope; below it :math:`A = 2G'` falls somewhere, and the extrema of A end the
hard phase.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from selica._core.effects import Effects, check_effects
from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST, number
from selica.theory.bayes.channel import channel
from selica.theory.bayes.fixed_points import Landscape, landscape

_SCAN_START = -12.0  # log of the smallest precision scanned
_SCAN_END = float(np.log(1e12))
"""Logarithm of the largest precision scanned."""
_LEAST_NOISE = 1e-16
"""Below, sums with the signal's variance round it away."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Transition(Result):
    """A jump of the Bayes-optimal error as samples are added.

    Attributes
    ----------
    spinodal : float
        alpha from which on the better solution exists.
    information : float
        alpha from which on it is what the data determine.
    algorithm : float
        alpha up to which the worse solution exists, and stops message passing. Between
        `information` and `algorithm` the effects could be found, but not in reasonable time as far
        as anyone knows.
    mse_below, mse_above : float
        Bayes-optimal error on both sides of `information`.

    Examples
    --------
    >>> from selica.theory import bayes_transitions
    >>> (jump,) = bayes_transitions(rho=0.1, Delta=1e-4)
    >>> round(jump.spinodal, 4), round(jump.information, 4), round(jump.algorithm, 4)
    (0.1781, 0.193, 0.2088)
    """

    spinodal: float
    information: float
    algorithm: float
    mse_below: float
    mse_above: float


def bayes_transitions(
    rho: float, Delta: float, effects: Effects | None = None
) -> tuple[Transition, ...]:
    """Find the jumps of the Bayes-optimal error in alpha; none where it falls smoothly.

    Parameters
    ----------
    rho : float in [0, 1]
    Delta : float
        Variance of the noise, 0 or at least 1e-16; without noise the better solution is perfect
        reconstruction.
    effects : Effects, optional
        Gaussian by default.

    Examples
    --------
    >>> from selica import theory
    >>> theory.bayes_transitions(0.1, 0.01)
    ()
    >>> hard = theory.bayes_transitions(0.1, 1e-6)[0]
    >>> round(hard.spinodal, 4), round(hard.information, 4), round(hard.algorithm, 4)
    (0.1227, 0.1578, 0.2076)
    """
    share = number("rho", rho, at_least=0.0, at_most=1.0)
    noise = number("Delta", Delta, at_least=0.0, at_most=LARGEST)
    if 0.0 < noise < _LEAST_NOISE:
        raise ArgumentError(f"Delta must be 0 or at least {_LEAST_NOISE:g}; got {noise:g}.")
    law = check_effects(effects)
    # beyond the last extremum A rises with the noise
    last = _SCAN_END if noise == 0.0 else max(float(np.log(1e3 / noise)), _SCAN_START + 1.0)
    scene = landscape(law, share, noise, _SCAN_START, last)
    if noise == 0.0:
        return _noiseless(law, share, scene)
    pieces = _straight_pieces(scene.x, scene.G)
    # where G is flat to rounding there is no jump: A falls nowhere
    falls = [np.any(np.diff(scene.A[i : j + 1]) < -1e-12 * scene.A[i:j]) for i, j in pieces]
    return tuple(
        _refine(law, share, noise, scene, i, j)
        for (i, j), jump in zip(pieces, falls, strict=True)
        if jump
    )


def _straight_pieces(x: Array, y: Array) -> list[tuple[int, int]]:
    """Return pairs of neighbours on the lower convex envelope that skip points between them."""
    hull: list[int] = []
    for k in range(x.size):
        while len(hull) > 1:
            i, j = hull[-2:]
            if (y[j] - y[i]) * (x[k] - x[i]) < (y[k] - y[i]) * (x[j] - x[i]):
                break
            hull.pop()
        hull.append(k)
    return [(i, j) for i, j in itertools.pairwise(hull) if j > i + 1]


def _refine(
    effects: Effects, rho: float, Delta: float, scene: Landscape, i: int, j: int
) -> Transition:
    """Find the double tangent of G near a straight piece between points of the scan."""
    signals = effects.mixture()
    inside = slice(max(i - 1, 0), j + 2)
    A = scene.A[inside]
    top, bottom = _extrema(A)

    def G(x: Array) -> tuple[Array, Array]:
        s = np.exp(x)
        found = channel(signals, rho, s)
        return found.information + 0.5 * Delta * s, found.load

    def ends(alpha: Array) -> Array:
        """Return solutions on both sides of the piece at alpha, shape (2,)."""
        x = scene.x[inside]
        low = np.array([x[0] - 1.0, x[bottom]])
        high = np.array([x[top], x[-1] + 1.0])

        def equation(y: Array, index: IntArray) -> tuple[Array, Array]:
            s = np.exp(y)
            found = channel(signals, rho, s)
            return found.load + Delta * s - alpha[0], found.slope + Delta * s

        return find_root(equation, 0.5 * (low + high), lower=low, upper=high).x

    def balance(alpha: Array, index: IntArray) -> tuple[Array, Array]:
        x = ends(alpha)
        value, _ = G(x)
        # the free energies G - alpha x / 2 of the two; their difference has slope -(x2 - x1)/2
        gap = (value[0] - value[1]) + 0.5 * alpha * (x[1] - x[0])
        return gap, 0.5 * (x[1] - x[0]) * np.ones(1)

    start = 2.0 * (scene.G[j] - scene.G[i]) / (scene.x[j] - scene.x[i])
    root = find_root(balance, np.array([start]), lower=A[bottom], upper=A[top]).x
    x = ends(root)
    mse = G(x)[1] / np.exp(x)
    return Transition(float(A[bottom]), float(root[0]), float(A[top]), float(mse[0]), float(mse[1]))


def _extrema(A: Array) -> tuple[int, int]:
    """Return the largest local maximum of A in a piece, and the smallest local minimum after it."""
    inner = np.arange(1, A.size - 1)
    peaks = inner[(A[inner] >= A[inner - 1]) & (A[inner] >= A[inner + 1])]
    dips = inner[(A[inner] <= A[inner - 1]) & (A[inner] <= A[inner + 1])]
    return int(peaks[np.argmax(A[peaks])]), int(dips[np.argmin(A[dips])])


def _noiseless(effects: Effects, rho: float, scene: Landscape) -> tuple[Transition, ...]:
    """Find transitions without noise, where G grows like d x / 2 for ever.

    The number d is the share of effects with a density.
    """
    signals = effects.mixture()
    d = rho * float(signals.probability[signals.sd > 0.0].sum())
    top = int(np.argmax(scene.A))
    if scene.A[top] <= d * (1.0 + 1e-9) or top == scene.A.size - 1:
        return ()
    low = np.flatnonzero(scene.A[: top + 1] >= d)
    before = scene.x[low[0]] if low.size and d > 0.0 else -np.inf
    if np.isfinite(before):

        def equation(y: Array, index: IntArray) -> tuple[Array, Array]:
            found = channel(signals, rho, np.exp(y))
            return found.load - d, found.slope

        left = np.array([scene.x[max(low[0] - 1, 0)]])
        before = find_root(equation, np.array([before]), lower=left, upper=np.array([before])).x[0]
    mse = d / np.exp(before) if np.isfinite(before) else rho
    return (Transition(d, d, float(scene.A[top]), float(mse), 0.0),)
