"""The lasso whose penalty is its threshold: its power at a level, and the penalty there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST, broadcast
from selica.theory.iid.batch import EnsembleModel
from selica.theory.model import Model
from selica.theory.selection.levels import log_odds, log_rates
from selica.theory.selection.search import ScannedErrors, largest_penalty, minimise, warn_edge


class LassoSupport(NamedTuple):
    """The support of the lasso at a level: its TPR, and the penalty that gives it."""

    tpr: Array
    lam: Array


def lasso_at_level(
    model: Model, fdr: Array, own_axis: bool = False, *, lam2: Array
) -> LassoSupport:
    """Find the penalty at which the support of the lasso keeps a level, infinite if none does."""
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
    path = _LassoPath(model.like(*keys[:3]), keys[3])
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
        members = EnsembleModel(model.kinds, model.mixture.mean.size)
        self._members = ScannedErrors(members, model.parameters | {"lam2": lam2})
        self._signals = model.signals
        top = np.log(largest_penalty(model)) + 1.0
        self.grid = np.maximum(top[:, None] - np.linspace(0.0, 16.0, 129), -np.log(LARGEST))
        each = np.repeat(np.arange(top.size), self.grid.shape[1])
        log_tpr, ratio = self.at(self.grid.ravel(), each)
        self.log_tpr, self.ratio = (a.reshape(self.grid.shape) for a in (log_tpr, ratio))

    def at(self, log_lam: Array, index: IntArray) -> tuple[Array, Array]:
        """Return log TPR and log TPR - log FPR of the support."""
        one, lam = self._members(log_lam, index), np.exp(log_lam)
        Q_hat = self._alpha[index] / (1.0 + one.chi)
        noise = Q_hat * np.sqrt(one.prediction / self._alpha[index])
        sd = np.maximum(noise, 1e-6 * lam)  # a million deviations are enough
        log_tpr, log_fpr, _ = log_rates(self._signals, sd / Q_hat, lam / sd)
        return log_tpr, log_tpr - log_fpr

    def refine(self, goal: Array, which: IntArray, best: IntArray) -> tuple[Array, Array]:
        """Move from the best admissible grid point to the level, or to the top of the TPR."""
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
            warn_edge(int(rising.sum()), best.size, lower=True)
        inner = np.flatnonzero(~blocked & (best > 0) & (best < last))
        if inner.size:
            left = self.grid[which[inner], best[inner] + 1]
            right = self.grid[which[inner], best[inner] - 1]
            x[inner] = minimise(lambda y, i: -self.at(y, which[inner[i]])[0], left, x[inner], right)
        return np.exp(self.at(x, which)[0]), np.exp(x)
