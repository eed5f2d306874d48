"""Averages over Gaussian fields by their definitions: slow, and right."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import mpmath as mp
import numpy as np

_NODE, _WEIGHT = np.polynomial.legendre.leggauss(20)


def panels(edges):
    """Gauss-Legendre nodes and weights between consecutive edges."""
    edges = np.unique(edges)
    half = 0.5 * np.diff(edges)[:, None]
    middle = 0.5 * (edges[1:] + edges[:-1])[:, None]
    return (middle + half * _NODE).ravel(), (half * _WEIGHT).ravel()


def around(point, width, low, high):
    """Panel edges that resolve `width` around `point`, inside (low, high)."""
    edges = point + width * np.linspace(-9.0, 9.0, 37)
    return edges[(edges > low) & (edges < high)]


def arrays(*numbers):
    return [np.array([float(x)]) for x in numbers]


@cache
def excess_exact(a, power):
    """E(z - a)_+^power by quadrature at forty digits, a an mpf."""
    with mp.workdps(40):
        a = mp.mpf(a)
        up = max(a, mp.mpf(0))  # the density at the start of the branch stays outside
        top, scale = max(-a, mp.mpf(0)), 1 / (1 + up)
        edges = {mp.mpf(0), *(top + k * scale for k in (-8, -4, -2, 0, 1, 2, 4, 8, 16, 32))}
        edges = [e for e in sorted(edges) if e >= 0]

        def each(u):
            return u**power * mp.exp((up * up - (a + u) ** 2) / 2)

        return mp.npdf(up) * mp.quad(each, [*edges, edges[-1] + 12])


@cache
def member_exact(mean, var, lam):
    """Moments of S(h) and of the clipped field by quadrature over the three branches of h."""
    with mp.workdps(30):
        m, lam = mp.mpf(mean), mp.mpf(lam)
        sd = mp.sqrt(mp.mpf(var))
        a, b = (lam - m) / sd, (lam + m) / sd
        inside = [e for e in (-b, *range(-12, 13, 3), a) if -b <= e <= a]
        inner = mp.quad(lambda z: (m + sd * z) ** 2 * mp.npdf(z), inside) if len(inside) > 1 else 0
        (p_a, one_a, two_a), (p_b, one_b, two_b) = (
            [sd**power * excess_exact(edge, power) for power in (0, 1, 2)] for edge in (a, b)
        )
        active = p_a + p_b
        return SimpleNamespace(
            active=float(active),
            clipped=float(inner + lam**2 * active),
            square=float(two_a + two_b),
            absolute=float(one_a + one_b),
            mean=float(one_a - one_b),
        )
