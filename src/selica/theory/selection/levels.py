r"""The largest true positive rate at a level of the false discovery rate.

In units of the effects a variable's field is :math:`w_0 + \tau \xi` with
:math:`\tau^2 = \hat\chi / \hat m^2 = E/\alpha`. Whatever the method, its penalty and its resampling
rate, a rule :math:`|g| > g^*` has the rates

.. math:: \mathrm{TPR} = P(|w_0 + \tau\xi| > t), \qquad \mathrm{FPR} = 2 H(t/\tau) :

all thresholded ensembles share one receiver operating characteristic, and power at a given FDR
depends on :math:`\alpha/E` alone. Everything here is in logarithms, so that small levels and weak
signals do not underflow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from selica._core.effects import Mixture
from selica._core.root import find_root
from selica._core.scalar import LOG_SQRT_2PI, knockoff_probability
from selica._core.types import Array, IntArray
from selica._core.validation import broadcast
from selica.catalogue import METHODS
from selica.theory.model import Model
from selica.theory.solution import Solution


def log_odds(rho: Array, fdr: Array) -> Array:
    """Return log(TPR/FPR) at which the false discovery rate is `fdr`."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = (np.log1p(-rho) - np.log(rho)) + (np.log1p(-fdr) - np.log(fdr))
    return np.where(fdr >= 1.0, -np.inf, np.where(rho >= 1.0, -np.inf, odds))


def log_rates(signals: Mixture, tau: Array, u: Array) -> tuple[Array, Array, Array]:
    """Return log TPR, log FPR and the slope of their difference, at the threshold t = u tau.

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
    """Find the largest TPR with FDR at most `fdr`, and its threshold u = t/tau; shape (n,).

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


class FieldCut(NamedTuple):
    """A threshold on the field, and the true positive rate it leaves."""

    tpr: Array
    threshold: Array
    """g* of the rule |g| > g*; with one knockoff copy the gap curvature * Z_th."""


def at_level(solution: Solution, method: str, fdr: Array, own_axis: bool = False) -> FieldCut:
    """Return the best cut of a solved model at levels of the FDR.

    Parameters
    ----------
    solution : Solution
    method : str
        Name of a method of the catalogue with a threshold on the fields of the solution.
    fdr : array
        Broadcasts against the solution.
    own_axis : bool
        Whether the levels get an axis of their own, the last.
    """
    names = ("slope", "chi_hat", "v_hat", "lam", "rho")
    parts = [np.broadcast_to(getattr(solution, name), solution.shape) for name in names]
    if own_axis:
        parts = [p[..., None] for p in parts]
    named = dict(zip((*names, "fdr"), (*parts, fdr), strict=True))
    *arrays, level = broadcast(**named)
    shape = level.shape
    Q, chi_hat, v_hat, lam, rho = (np.ravel(a) for a in arrays)
    signals, moved = solution.model.signals, METHODS[method].threshold
    if moved == "Z_th":
        cut = _one_copy(solution.model, Q, chi_hat + v_hat, lam, rho, np.ravel(level))
        return FieldCut(*(part.reshape(shape) for part in cut))
    with np.errstate(divide="ignore"):  # no slope: nothing to find
        tau = np.sqrt(chi_hat) / Q
    lowest: Array | float = 0.0
    if moved == "w_th":  # only non-zero coefficients can be selected
        with np.errstate(divide="ignore", invalid="ignore"):
            lowest = np.where(tau > 0.0, lam / np.sqrt(chi_hat), np.inf)
    tpr, u = tpr_at_fdr(signals, tau, rho, np.ravel(level), lowest)
    finite = np.isfinite(u)
    threshold = np.where(finite, np.where(finite, u, 0.0) * np.sqrt(chi_hat), np.inf)
    return FieldCut(tpr.reshape(shape), threshold.reshape(shape))


def _one_copy(model: Model, Q: Array, noise: Array, lam: Array, rho: Array, fdr: Array) -> FieldCut:
    """Apply the rule Z > Z_th to one knockoff copy, at the smallest Z_th that keeps the level."""
    goal = log_odds(rho, fdr)
    tpr = np.where(goal <= 0.0, 1.0, 0.0)
    threshold = np.where(goal <= 0.0, -np.inf, np.inf)
    todo = np.flatnonzero((goal > 0.0) & (goal < np.inf) & (noise > 0.0))
    if todo.size == 0:
        return FieldCut(tpr, threshold)
    Q, noise, lam, goal = (a[todo] for a in (Q, noise, lam, goal))
    sd = np.sqrt(noise)

    kinds, weight = model.kinds, model.signals.probability

    def chances(gap: Array, index: IntArray) -> tuple[Array, Array, Array]:
        """Return TPR, log TPR - log FPR and its slope, at a gap in units of the field's noise."""
        scale, slope = sd[index], Q[index, None]
        own, penalty = noise[index, None], lam[index, None]
        mean, var = slope * kinds.mean, (slope * kinds.sd) ** 2 + own
        chance = knockoff_probability(mean, var, own, penalty, (gap * scale)[:, None])
        (null, value), (null_slope, value_slope) = (
            (part[:, 0], part[:, 1:] @ weight) for part in (chance.value, chance.gap_slope)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.clip(np.log(value) - np.log(null), -1e3, 1e3)
            steep = (value_slope / value - null_slope / null) * scale
        return value, np.where(null > 0.0, ratio, 1e3), steep

    every = np.arange(todo.size)
    at_zero = chances(np.zeros(todo.size), every)[1]
    just_below = chances(np.full(todo.size, -1e-12), every)[1]
    gap = np.zeros(todo.size)  # the level may fall into the jump at Z = 0
    beyond = at_zero < goal
    before = just_below > goal
    for side, low, high, start in ((beyond, 0.0, 40.0, 1.0), (before, -40.0, 0.0, -1.0)):
        index = every[side]
        if index.size == 0:
            continue

        def equation(x: Array, i: IntArray, index: IntArray = index) -> tuple[Array, Array]:
            _, ratio, steep = chances(x, index[i])
            return ratio - goal[index[i]], steep

        begin = np.full(index.size, start)
        gap[index] = find_root(equation, begin, lower=low, upper=high, tol=1e-8).x
    value, ratio, _ = chances(gap, every)
    kept = ratio >= goal - 1e-6  # forty deviations may not be enough: then nothing is selected
    tpr[todo] = np.where(kept, value, 0.0)
    threshold[todo] = np.where(kept, gap * sd, np.inf)
    return FieldCut(tpr, threshold)
