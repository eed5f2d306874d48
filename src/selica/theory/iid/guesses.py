r"""First guesses for many penalties at once, from solutions at given thresholds.

In units of its noise a member thresholds its fields at :math:`\kappa = \lambda/\sqrt T`. Given
this number, activity and error depend on :math:`\tau^2 = T/\hat Q^2` alone, and Newton's method
finds :math:`\tau` and :math:`\chi` from one start for every :math:`\kappa` that has a solution; the
penalty comes out as :math:`\lambda = \kappa\,\tau\,\hat Q`. So a few :math:`\kappa` trace the whole
path from large penalties to small ones, along which :math:`\chi` grows by orders of magnitude.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray
from selica.theory.iid.equations import Equations
from selica.theory.numerics.newton import Linear

THRESHOLDS = np.concatenate([np.linspace(0.04, 2.0, 18), np.linspace(2.3, 6.0, 8)])
"""Values of kappa: fewer where little is active and every start is good."""
_STEPS = 8
_LONGEST = 1.0
_CLOSE = 1e-4
_HOPELESS = 100.0  # steps that long only grow: there is no solution


class Traced(NamedTuple):
    """Solutions at given thresholds."""

    lam: Array
    A: Array
    chi: Array
    found: BoolArray


def trace(eq: Equations, kappa: Array) -> Traced:
    """Members without a ridge part at thresholds kappa; the penalties of `eq` are not used."""
    ones = np.ones_like(kappa)
    u = 0.5 * np.log((eq.rho + eq.Delta) / eq.alpha)  # log tau
    f = eq.law.averages(np.zeros_like(kappa))
    active = replace(eq, lam=kappa * np.exp(u)).member(ones, np.exp(2.0 * u)).P
    w = np.log(active / (eq.alpha * f.f1))  # log chi
    size = np.full(kappa.shape, np.inf)
    for _ in range(_STEPS):
        tau, chi = np.exp(u), np.exp(w)
        one = replace(eq, lam=kappa * tau).member(ones, tau**2)
        f1, f2, f3 = eq.law.averages(chi)
        error = eq.Delta + one.N
        off_w = w + np.log(eq.alpha * f1) - np.log(one.P)
        off_u = 2.0 * u - np.log(f2 * error / (eq.alpha * f1**2))
        # slopes in (log tau, log chi); more tau is less Q_hat at the same noise
        a, b = one.P_Q / one.P, 1.0 - chi * f2 / f1
        c, d = 2.0 - (2.0 * one.N - one.N_Q) / error, 2.0 * chi * (f3 / f2 - f2 / f1)
        step_u, step_w, _ = Linear(-off_w, -off_u, a, b, c, d).solve()
        size = np.maximum(np.abs(step_u), np.abs(step_w))
        size = np.where(np.isfinite(size), size, np.inf)
        shrink = np.where(np.isfinite(size), _LONGEST / np.maximum(size, _LONGEST), 0.0)
        u, w = (x + shrink * np.where(shrink > 0.0, s, 0.0) for x, s in ((u, step_u), (w, step_w)))
        if np.all((size < _CLOSE) | (size > _HOPELESS)):
            break
    tau, chi = np.exp(u), np.exp(w)
    f1, f2, _ = eq.law.averages(chi)
    Q = eq.alpha * f1
    T = (Q * tau) ** 2
    return Traced(kappa * tau * Q, T / (eq.alpha * f2), chi, size < _CLOSE)


def along(traced: Traced, log_lam: Array) -> tuple[Array, Array]:
    """Guesses of A and chi at penalties of one model; not a number above the traced ones.

    Linear in logarithms. Below the smallest penalty A stays, and chi goes on as it came, at most as
    1/lam, which is how it grows where rows can be fitted without error.
    """
    nodes = np.flatnonzero(traced.found)
    nodes = nodes[np.argsort(traced.lam[nodes])]
    if nodes.size < 2:
        return np.full_like(log_lam, np.nan), np.full_like(log_lam, np.nan)
    x, A, chi = (np.log(part[nodes]) for part in (traced.lam, traced.A, traced.chi))
    above = log_lam > x[-1]
    slope = np.clip((chi[1] - chi[0]) / (x[1] - x[0]), -1.0, 0.0)
    more = slope * np.minimum(log_lam - x[0], 0.0)
    guesses = (np.interp(log_lam, x, A), np.interp(log_lam, x, chi) + more)
    first, second = (np.where(above, np.nan, np.exp(guess)) for guess in guesses)
    return first, second
