r"""Gaussian averages by Hermite functions, in which conditional averages are products.

For unit normals x and z of correlation r, Mehler's formula is

.. math:: E[h_k(z)\,|\,x] = r^k h_k(x)

with orthonormal Hermite polynomials :math:`h_k`. A function known at the Gauss nodes is averaged
over a part of its argument by multiplying its coefficients: no second integral is needed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh_tridiagonal

from selica._core.types import Array

MOST_NODES = 640
"""Nodes of a rule, at most."""
_FEWEST_NODES = 24
"""Nodes of a rule, at least."""
_STEP_NODES = 8
"""Numbers of nodes are multiples of this, so that few rules are made."""


class HermiteRule(NamedTuple):
    """Gauss nodes of a unit normal, with the Hermite polynomials there."""

    x: Array
    """Nodes, (J,); those of negligible weight are left out."""
    weight: Array
    """Their weights, (J,)."""
    values: Array
    """h_k at each node, (J, K)."""
    dual: Array
    """The same times the weights: the coefficients of a function f are f @ dual."""
    degrees: Array
    """0, 1, 2, ..., K - 1."""


@lru_cache(maxsize=64)
def rule(size: int, reach: float = 11.0) -> HermiteRule:
    """Return the rule with so many Hermite polynomials; nodes beyond the reach are left out."""
    degrees = np.arange(size, dtype=float)
    x: Array = np.asarray(
        eigh_tridiagonal(np.zeros(size), np.sqrt(degrees[1:]), eigvals_only=True), dtype=float
    )
    x = 0.5 * (x - x[::-1])
    x = x[np.abs(x) < reach]
    # h_k exp(-x^2/4), which stays of order one
    wave = np.zeros((x.size, size))
    wave[:, 0] = np.exp(-0.25 * x**2)
    wave[:, 1] = x * wave[:, 0]
    for k in range(2, size):
        wave[:, k] = (x * wave[:, k - 1] - np.sqrt(k - 1.0) * wave[:, k - 2]) / np.sqrt(k)
    square = np.sum(wave**2, axis=1)
    grow = np.exp(0.25 * x**2)
    weight = 1.0 / (square * grow**2)
    out = HermiteRule(x, weight, wave * grow[:, None], wave / (square * grow)[:, None], degrees)
    for part in out:
        part.setflags(write=False)
    return out


def nodes_for(sd: float, digits: float, most: int) -> int:
    """Return how many nodes resolve a function of a field of standard deviation sd.

    Functions of a field have their singularities at distance pi from the real axis, so that the
    coefficients fall as exp(-sqrt(2 k) pi / sd).
    """
    needed = 0.5 * (digits * np.log(10.0) * sd / np.pi) ** 2
    wide = min(max(needed, _FEWEST_NODES), most) if np.isfinite(needed) else most
    return int(np.ceil(wide / _STEP_NODES)) * _STEP_NODES


def covered(nodes: int, digits: float) -> float:
    """Return the standard deviation that more than the fewest nodes were taken for; else zero."""
    if nodes <= _FEWEST_NODES:
        return 0.0
    return float(np.sqrt(2.0 * nodes) * np.pi / (np.log(10.0) * digits))


def resolved(nodes: Array, sd: Array) -> Array:
    """Return to how many digits so many nodes resolve such a field."""
    return np.asarray(np.sqrt(2.0 * nodes) * np.pi / (np.log(10.0) * np.maximum(sd, 1e-9)))
