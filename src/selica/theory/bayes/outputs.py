"""The Bayes-optimal fixed point of responses that are random by themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from selica._core.effects import Mixture
from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica.theory.bayes.channel import channel

_SCAN = 24
"""Precisions at which the first solution is looked for."""
_TINY = 1e-250
"""The precision of effects without a size."""


def precision_of_response(
    signals: Mixture,
    rho: float,
    alpha: Array,
    told_by_row: Callable[[Array], Array],
    T: float,
) -> tuple[Array, Array, Array, IntArray]:
    """Return s in the unit of the effects, the error of these, residuals, and how many solutions.

    The smallest solution, which message passing reaches.

    Parameters
    ----------
    signals : Mixture
    rho : float
    alpha : array of shape (n,)
    told_by_row : callable
        What a row tells about its linear predictor of a posterior variance.
    T : float
        Variance of the linear predictor.
    """
    size = T / rho if rho > 0.0 else 0.0
    if size == 0.0:
        nothing = np.zeros_like(alpha)
        return nothing + _TINY, nothing + rho, nothing, np.ones(alpha.size, dtype=np.intp)

    def told(error: Array) -> Array:
        return size * told_by_row(size * error)

    def error_at(x: Array) -> Array:
        s = np.exp(x)
        return channel(signals, rho, s).load / s

    ends = np.log(told(np.array([rho, 0.0])))
    level = np.log(alpha)
    step = np.linspace(0.0, 1.0, _SCAN)
    x = level[:, None] + ends[0] + step * (ends[1] - ends[0])
    flat = error_at(x.ravel()).reshape(x.shape)
    above = x - level[:, None] - np.log(told(flat)) >= 0.0
    above[:, 0], above[:, -1] = False, True
    first = np.argmax(above, axis=1)
    number = np.count_nonzero(above[:, 1:] != above[:, :-1], axis=1)
    place = np.arange(alpha.size)
    low, high = x[place, first - 1], x[place, first]

    def equation(at: Array, index: IntArray) -> tuple[Array, Array]:
        s = np.exp(at)
        found = channel(signals, rho, s)
        error = found.load / s
        value = at - level[index] - np.log(told(error))
        nudge = 1e-6 * error
        slope = (np.log(told(error + nudge)) - np.log(told(error))) / 1e-6
        return value, 1.0 - slope * (found.slope / found.load - 1.0)

    root = find_root(equation, 0.5 * (low + high), lower=low, upper=high).x
    s, error = np.exp(root), error_at(root)
    return s, error, np.abs(s - alpha * told(error)) / (1.0 + s), number
