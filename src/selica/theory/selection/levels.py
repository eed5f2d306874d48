"""The largest true positive rate a method reaches at a given false discovery rate."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.effects import Mixture
from selica._core.root import find_root
from selica._core.scalar import knockoff_probability
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST, broadcast
from selica.theory.model import Model
from selica.theory.selection.roc import log_odds, log_rates, tpr_at_fdr
from selica.theory.selection.scanned import ScannedErrors
from selica.theory.selection.search import largest_penalty, minimise, warn_edge
from selica.theory.solution import Solution


class Cut(NamedTuple):
    """A threshold on the field, and the true positive rate it leaves."""

    tpr: Array
    threshold: Array
    """g* of the rule |g| > g*; with one knockoff copy the gap curvature * Z_th."""


def at_level(solution: Solution, method: str, fdr: Array, own_axis: bool = False) -> Cut:
    """Best cut of a solved model at FDR levels; with `own_axis` the levels get the last axis."""
    names = ("slope", "chi_hat", "v_hat", "lam", "rho")
    parts = [np.broadcast_to(getattr(solution, name), solution.shape) for name in names]
    if own_axis:
        parts = [p[..., None] for p in parts]
    named = dict(zip((*names, "fdr"), (*parts, fdr), strict=True))
    *arrays, level = broadcast(**named)
    shape = level.shape
    Q, chi_hat, v_hat, lam, rho = (np.ravel(a) for a in arrays)
    signals = solution.model.effects.mixture().folded()
    if method == "knockoff":
        cut = _one_copy(signals, Q, chi_hat + v_hat, lam, rho, np.ravel(level))
        return Cut(*(part.reshape(shape) for part in cut))
    with np.errstate(divide="ignore"):  # no slope: nothing to find
        tau = np.sqrt(chi_hat) / Q
    lowest: Array | float = 0.0
    if method == "thresholded_lasso":  # only non-zero coefficients can be selected
        with np.errstate(divide="ignore", invalid="ignore"):
            lowest = np.where(tau > 0.0, lam / np.sqrt(chi_hat), np.inf)
    tpr, u = tpr_at_fdr(signals, tau, rho, np.ravel(level), lowest)
    finite = np.isfinite(u)
    threshold = np.where(finite, np.where(finite, u, 0.0) * np.sqrt(chi_hat), np.inf)
    return Cut(tpr.reshape(shape), threshold.reshape(shape))


def _one_copy(signals: Mixture, Q: Array, noise: Array, lam: Array, rho: Array, fdr: Array) -> Cut:
    """The rule Z > Z_th with one knockoff copy, at the smallest Z_th that keeps the level."""
    goal = log_odds(rho, fdr)
    tpr = np.where(goal <= 0.0, 1.0, 0.0)
    threshold = np.where(goal <= 0.0, -np.inf, np.inf)
    todo = np.flatnonzero((goal > 0.0) & (goal < np.inf) & (noise > 0.0))
    if todo.size == 0:
        return Cut(tpr, threshold)
    Q, noise, lam, goal = (a[todo] for a in (Q, noise, lam, goal))
    sd = np.sqrt(noise)

    kinds, weight = signals.kinds(), signals.probability

    def chances(gap: Array, index: IntArray) -> tuple[Array, Array, Array]:
        """TPR, log TPR - log FPR and its slope, at a gap in units of the field's noise."""
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
    return Cut(tpr, threshold)


class LassoSupport(NamedTuple):
    """The support of the lasso at a level: its TPR, and the penalty that gives it."""

    tpr: Array
    lam: Array


def lasso_at_level(
    model: Model, fdr: Array, own_axis: bool = False, *, lam2: Array
) -> LassoSupport:
    """The lasso with its penalty as the threshold; nothing selected where no penalty will do."""
    named = model.parameters | {"lam2": lam2}
    if own_axis:
        whole = broadcast(**named)
        named = {n: a[..., None] for n, a in zip(named, whole, strict=True)}
    *parameters, level = broadcast(**named, fdr=fdr)
    shape = level.shape
    alpha, rho, Delta, lam2, level = (np.ravel(a) for a in (*parameters, level))
    goal = log_odds(rho, level)

    # each distinct model is scanned once
    keys, which = np.unique(np.stack([alpha, rho, Delta, lam2]), axis=1, return_inverse=True)
    path = _LassoPath(Model(keys[0], keys[1], keys[2], model.effects), keys[3])
    ratio = path.ratio[np.ravel(which)]
    admissible = ratio >= goal[:, None]
    value = np.where(admissible, path.log_tpr[np.ravel(which)], -np.inf)
    best = np.argmax(value, axis=1)
    some = np.flatnonzero(admissible.any(axis=1) & (goal < np.inf))
    tpr, lam = np.zeros(level.size), np.full(level.size, np.inf)
    if some.size:
        tpr[some], lam[some] = path.refine(goal[some], np.ravel(which)[some], best[some])
    return LassoSupport(tpr.reshape(shape), lam.reshape(shape))


class _LassoPath:
    """TPR and FDR along a grid of penalties, from large to small, for a list of models."""

    def __init__(self, model: Model, lam2: Array) -> None:
        self._alpha = model.alpha
        self._members = ScannedErrors(model.effects, model.parameters | {"lam2": lam2})
        self._signals = model.effects.mixture().folded()
        top = np.log(largest_penalty(model)) + 1.0
        self.grid = np.maximum(top[:, None] - np.linspace(0.0, 16.0, 129), -np.log(LARGEST))
        each = np.repeat(np.arange(top.size), self.grid.shape[1])
        log_tpr, ratio = self.at(self.grid.ravel(), each)
        self.log_tpr, self.ratio = (a.reshape(self.grid.shape) for a in (log_tpr, ratio))

    def at(self, log_lam: Array, index: IntArray) -> tuple[Array, Array]:
        """log TPR and log TPR - log FPR of the support."""
        one, lam = self._members(log_lam, index), np.exp(log_lam)
        Q_hat = self._alpha[index] / (1.0 + one.chi)
        noise = Q_hat * np.sqrt(one.prediction / self._alpha[index])
        sd = np.maximum(noise, 1e-6 * lam)  # a million deviations are enough
        log_tpr, log_fpr, _ = log_rates(self._signals, sd / Q_hat, lam / sd)
        return log_tpr, log_tpr - log_fpr

    def refine(self, goal: Array, which: IntArray, best: IntArray) -> tuple[Array, Array]:
        """From the best admissible grid point to the level, or to the top of the TPR."""
        last = self.grid.shape[1] - 1
        x = self.grid[which, best]
        after = np.minimum(best + 1, last)
        blocked = self.ratio[which, after] < goal
        index = np.flatnonzero(blocked)
        if index.size:

            def equation(y: Array, i: IntArray) -> tuple[Array, Array]:
                point = which[index[i]]
                both = self.at(np.concatenate([y, y + 1e-5]), np.tile(point, 2))[1]
                value, beside = both.reshape(2, y.size)
                return value - goal[index[i]], (beside - value) / 1e-5

            low, high = self.grid[which[index], after[index]], x[index]
            below, above = (self.ratio[which, at][index] for at in (after, best))
            share = np.clip((goal[index] - below) / np.maximum(above - below, 1e-300), 0.0, 1.0)
            start = low + (0.01 + 0.98 * share) * (high - low)  # on the line, inside
            # the slope is right to 1e-5, and the error left is that share of the last step
            x[index] = find_root(equation, start, lower=low, upper=high, tol=1e-9).x
        gain = self.log_tpr[which, last] - self.log_tpr[which, last - 1]
        rising = ~blocked & (best == last) & (gain > 1e-4)
        if rising.any():
            warn_edge(int(rising.sum()), best.size, lower=True, level=5)
        inner = np.flatnonzero(~blocked & (best > 0) & (best < last))
        if inner.size:
            left = self.grid[which[inner], best[inner] + 1]
            right = self.grid[which[inner], best[inner] - 1]
            x[inner] = minimise(lambda y, i: -self.at(y, which[inner[i]])[0], left, x[inner], right)
        return np.exp(self.at(x, which)[0]), np.exp(x)
