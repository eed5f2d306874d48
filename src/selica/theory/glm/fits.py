r"""Fits of one row at a field: proximal steps of losses whose mean is a function of one number.

With the shifted predictor :math:`z' = a + z` and the pull :math:`k = \chi c` both losses have

.. math:: z' + k\,\mu(z') = a + \omega + k y = X ,

so that the fitted mean :math:`\mu` depends on X and k alone.
"""

from __future__ import annotations

import numpy as np

from selica._core.types import Array

_LEAST_PULL = 1e-290
"""A pull of zero is replaced by this in a logarithm."""
_MOST_STEPS = 60
"""Newton steps, at most."""


def logistic_mean(X: Array, pull: Array, tolerance: float) -> Array:
    """Return the mean 1/(1 + exp(-z)) at the z with z + pull * mean = X.

    By symmetry z is not negative. There the equation is concave, and Newton's method climbs to the
    root from any point below it.
    """
    half = 0.5 * pull
    side = np.where(half > X, -1.0, 1.0)
    goal = np.abs(X - half)
    pull = np.broadcast_to(pull, goal.shape)
    z = np.maximum(goal - half, goal / (1.0 + 0.5 * half))
    for _ in range(_MOST_STEPS):
        curve = np.tanh(0.5 * z)
        step = (goal - z - half * curve) / (1.0 + 0.5 * half * (1.0 - curve * curve))
        z += step
        if not np.max(step, initial=0.0) > tolerance:
            break
    return np.asarray(0.5 + 0.5 * side * np.tanh(0.5 * z))


def exponential_mean(X: Array, pull: Array, tolerance: float) -> Array:
    """Return the mean exp(z) at the z with z + pull * mean = X: Wright's function of X + log pull.

    Halley's method for x + exp(x) = X + log pull, from a start that is close everywhere.
    """
    log_pull = np.log(np.maximum(pull, _LEAST_PULL))
    goal = X + log_pull
    far = np.maximum(goal, 1.0)
    x = np.where(goal > 1.0, np.log(far), goal - np.log1p(np.exp(np.minimum(goal, 1.0))))
    for _ in range(_MOST_STEPS):
        bend = np.exp(x)
        slope = 1.0 + bend
        off = x + bend - goal
        step = off * slope / (slope * slope - 0.5 * off * bend)
        x -= step
        if not np.max(np.abs(step), initial=0.0) > tolerance:
            break
    return np.asarray(np.exp(x - log_pull))
