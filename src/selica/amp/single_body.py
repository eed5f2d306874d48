r"""One variable in its field: what the members of the ensemble make of it.

Over the members the field of variable i is :math:`g_i + \sqrt{\hat v_i}\,\eta`, and a member's
coefficient is its soft threshold divided by :math:`\hat Q_i`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.scalar import density, survival
from selica._core.types import Array

# A field has at least this share of the penalty as its spread: without any, a variable at the very
# edge would be in or out by rounding.
_SHARP = 1e-8


class Member(NamedTuple):
    """Averages over the members; shape of the fields."""

    w_bar: Array
    """Mean coefficient."""
    v: Array
    """Variance of the coefficient."""
    chi: Array
    """Mean response of the coefficient to its field."""
    Pi: Array
    """Probability of not being zero."""


def member(g: Array, v_hat: Array, Q_hat: Array, lam: Array, weakness: float = 1.0) -> Member:
    """Averages over the members in fields N(g, v_hat).

    Parameters
    ----------
    g, v_hat, Q_hat, lam : arrays that broadcast to the shape (p, L) of g
    weakness : float
        Below 1, the penalty is divided by it with probability 1/2.
    """
    Q_hat = np.where(Q_hat == 0.0, 1.0, Q_hat)  # an empty column has no field either
    first, variance, Pi = _moments(g, v_hat, lam)
    if weakness < 1.0:
        other = _moments(g, v_hat, lam / weakness)
        variance = 0.5 * (variance + other[1]) + 0.25 * (first - other[0]) ** 2
        first, Pi = 0.5 * (first + other[0]), 0.5 * (Pi + other[2])
    return Member(first / Q_hat, variance / Q_hat**2, Pi / Q_hat, Pi)


def _moments(g: Array, v_hat: Array, lam: Array) -> tuple[Array, Array, Array]:
    """Mean and variance of S(h), and P(S(h) != 0), for h ~ N(g, v_hat)."""
    sd = np.maximum(np.sqrt(v_hat), _SHARP * lam)
    size = np.abs(g)
    a, b = (lam - size) / sd, (lam + size) / sd
    above, below = survival(a), survival(b)
    phi_a, phi_b = density(a), density(b)
    mean_b, square_b = phi_b - b * below, (1.0 + b * b) * below - b * phi_b
    # where the variable is nearly always active (a << 0), what is missing to an unclipped field is
    # small and known to full accuracy: d = E(a - z)_+ and s = E(a - z)_+^2
    inside = 1.0 - above
    d = phi_a + a * inside
    s = (1.0 + a * a) * inside + a * phi_a
    mean_a = np.where(a < 0.0, d - a, phi_a - a * above)
    square_a = (1.0 + a * a) * above - a * phi_a
    variance_a = np.where(a < 0.0, 1.0 - s - d * (d - 2.0 * a), square_a - mean_a * mean_a)
    variance = variance_a + square_b + mean_b * (2.0 * mean_a - mean_b)
    first = np.copysign(sd * (mean_a - mean_b), g)
    return first, np.maximum(sd * sd * variance, 0.0), above + below
