r"""One variable in its field: what the members of the ensemble make of it.

Over the members the field of variable i is :math:`g_i + \sqrt{\hat v_i}\,\eta`, and a member's
coefficient is its soft threshold divided by :math:`\hat Q_i + \lambda_2`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.scalar import density, survival
from selica._core.types import Array
from selica.amp.kernels import soft_moments

# A field has at least this share of the penalty as its spread: without any, a variable at the very
# edge would be in or out by rounding.
_SHARP = 1e-8


class EnsembleMoments(NamedTuple):
    """Averages over the members; shape of the fields."""

    w_bar: Array
    """Mean coefficient."""
    v: Array
    """Variance of the coefficient."""
    chi: Array
    """Mean response of the coefficient to its field."""
    Pi: Array
    """Probability of not being zero."""


def member(
    g: Array,
    v_hat: Array,
    Q_hat: Array,
    lam: Array,
    weakness: float = 1.0,
    *,
    lam2: Array | float = 0.0,
) -> EnsembleMoments:
    """Return averages over the members in fields N(g, v_hat).

    Parameters
    ----------
    g, v_hat, Q_hat, lam, lam2 : arrays that broadcast to the shape (p, L) of g
    weakness : float
        Below 1, the penalty is divided by it with probability 1/2.
    """
    Q_hat = _divisor(Q_hat + lam2)
    sd, lam = _spread(v_hat, lam), np.broadcast_to(lam, g.shape)
    first, variance, Pi = soft_moments(g, sd, lam)
    if weakness < 1.0:
        other = soft_moments(g, sd, lam / weakness)
        variance = 0.5 * (variance + other[1]) + 0.25 * (first - other[0]) ** 2
        first, Pi = 0.5 * (first + other[0]), 0.5 * (Pi + other[2])
    return EnsembleMoments(first / Q_hat, variance / Q_hat**2, Pi / Q_hat, Pi)


class AtRest(NamedTuple):
    """Averages over the members of a variable without a mean field."""

    v: Array
    chi: Array


def at_rest(v_hat: Array, Q_hat: Array, lam: Array, lam2: Array | float = 0.0) -> AtRest:
    """Return `member` for g = 0."""
    Q_hat, sd = _divisor(Q_hat + lam2), _spread(v_hat, lam)
    t = lam / sd
    active = 2.0 * survival(t)
    square = (1.0 + t * t) * active - 2.0 * t * density(t)
    return AtRest(np.maximum(sd * sd * square, 0.0) / Q_hat**2, active / Q_hat)


def _divisor(Q_hat: Array) -> Array:
    return np.where(Q_hat == 0.0, 1.0, Q_hat)  # an empty column has no field either


def _spread(v_hat: Array, lam: Array) -> Array:
    return np.maximum(np.sqrt(v_hat), _SHARP * lam)
