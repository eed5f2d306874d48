r"""One variable in its field: what the members of the ensemble make of it.

Over the members the field of variable i is :math:`g_i + \sqrt{\hat v_i}\,\eta`, and a member's
coefficient is its soft threshold divided by :math:`\hat Q_i`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.scalar import density, survival
from selica._core.types import Array

# A field without spread is a limit: this share of the penalty is beyond double precision.
_SHARP = 1e-13


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
    g, v_hat, Q_hat : array of shape (p, L)
    lam : array of shape (L,)
    weakness : float
        Below 1, the penalty is divided by it with probability 1/2.
    """
    Q_hat = np.where(Q_hat == 0.0, 1.0, Q_hat)  # an empty column has no field either
    first, square, Pi = _moments(g, v_hat, lam)
    if weakness < 1.0:
        more = _moments(g, v_hat, lam / weakness)
        first, square, Pi = (0.5 * (x + y) for x, y in zip((first, square, Pi), more, strict=True))
    return Member(first / Q_hat, np.maximum(square - first * first, 0.0) / Q_hat**2, Pi / Q_hat, Pi)


def _moments(g: Array, v_hat: Array, lam: Array) -> tuple[Array, Array, Array]:
    """E S(h), E S(h)^2 and P(S(h) != 0) for h ~ N(g, v_hat)."""
    sd = np.maximum(np.sqrt(v_hat), _SHARP * lam)
    a, b = (lam - g) / sd, (lam + g) / sd
    above, below = survival(a), survival(b)
    phi_a, phi_b = density(a), density(b)
    first = sd * (phi_a - a * above - phi_b + b * below)
    square = sd * sd * ((1.0 + a * a) * above - a * phi_a + (1.0 + b * b) * below - b * phi_b)
    return first, square, above + below
