r"""The receiver operating characteristic that every thresholded ensemble shares.

In units of the effects a variable's field is :math:`w_0 + \tau \xi` with
:math:`\tau^2 = \hat\chi / \hat m^2 = E/\alpha`. Whatever the method, its penalty and its resampling
rate, a rule :math:`|g| > g^*` has the rates

.. math:: \mathrm{TPR} = P(|w_0 + \tau\xi| > t), \qquad \mathrm{FPR} = 2 H(t/\tau) :

power at a given FDR depends on :math:`\alpha/E` alone. Everything here is in logarithms, so that
small levels and weak signals do not underflow.
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr

from selica._core.effects import Mixture
from selica._core.root import find_root
from selica._core.scalar import LOG_SQRT_2PI
from selica._core.types import Array, IntArray


def log_odds(rho: Array, fdr: Array) -> Array:
    """log(TPR/FPR) at which the false discovery rate is `fdr`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = (np.log1p(-rho) - np.log(rho)) + (np.log1p(-fdr) - np.log(fdr))
    return np.where(fdr >= 1.0, -np.inf, np.where(rho >= 1.0, -np.inf, odds))


def log_rates(signals: Mixture, tau: Array, u: Array) -> tuple[Array, Array, Array]:
    """log TPR, log FPR and the slope of their difference, at the threshold t = u tau.

    Parameters
    ----------
    signals : Mixture
    tau, u : array of shape (n,)
    """
    tau, at = tau[:, None], u[:, None]
    sd = np.hypot(signals.sd / tau, 1.0)
    mean = signals.mean / tau
    low, high = (at - mean) / sd, (at + mean) / sd
    with np.errstate(divide="ignore"):
        weight = np.log(signals.probability)
    parts = weight + np.logaddexp(log_ndtr(-low), log_ndtr(-high))
    log_tpr = np.logaddexp.reduce(parts, axis=1)
    edges = weight - np.log(sd) - LOG_SQRT_2PI + np.logaddexp(-0.5 * low**2, -0.5 * high**2)
    tail = log_ndtr(-u)
    with np.errstate(over="ignore", invalid="ignore"):  # beyond 1e8 deviations slopes are lost
        hazard_tpr = np.exp(np.logaddexp.reduce(edges, axis=1) - log_tpr)
        hazard_fpr = np.exp(-0.5 * u**2 - LOG_SQRT_2PI - tail)
        slope = hazard_fpr - hazard_tpr
    return log_tpr, np.log(2.0) + tail, slope


def tpr_at_fdr(
    signals: Mixture, tau: Array, rho: Array, fdr: Array, u_min: Array | float = 0.0
) -> tuple[Array, Array]:
    """Largest TPR with FDR at most `fdr`, and its threshold u = t/tau; all of shape (n,).

    `u_min` is the smallest threshold the method can reach.
    """
    goal = log_odds(rho, fdr)
    u = np.zeros_like(tau)
    tpr = np.zeros_like(tau)
    u[goal == np.inf] = np.inf  # no level, or nothing to find
    u[(goal > 0.0) & (tau == np.inf)] = np.inf  # signals look like nulls
    todo = np.flatnonzero((goal > 0.0) & (goal < np.inf) & (tau > 0.0) & (tau < np.inf))
    if todo.size:
        noise, want = tau[todo], goal[todo]

        def equation(x: Array, index: IntArray) -> tuple[Array, Array]:
            log_tpr, log_fpr, slope = log_rates(signals, noise[index], x)
            return log_tpr - log_fpr - want[index], slope

        # Gaussian effects: log(TPR/FPR) is about u^2/2 * 1/(1 + tau^2)
        start = np.sqrt(2.0 * want * (1.0 + noise**2)) + 0.5
        u[todo] = find_root(equation, start, lower=0.0, upper=1e12, tol=1e-8, max_iter=200).x
    u = np.maximum(u, u_min)
    finite = np.isfinite(u) & (tau > 0.0)
    if finite.any():
        tpr[finite] = np.exp(log_rates(signals, tau[finite], u[finite])[0])
    tpr[(tau == 0.0) & (goal < np.inf)] = 1.0
    return np.minimum(tpr, 1.0), u
