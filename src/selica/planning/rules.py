"""The rules of `control` for many data sets at once, where no two statistics are equal.

Arrays have data sets first and variables last, copies between them. Zeros among knockoff statistics
may repeat: they are never selected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray, IntArray
from selica.control.arguments import ROUNDING, ceiling


def step_up(evalues: Array, fdr: float) -> BoolArray:
    """e-BH on (R, p); on reciprocals of p-values it is the rule of Benjamini and Hochberg."""
    p = evalues.shape[-1]
    share = evalues * (fdr / p)
    k = np.arange(p, 0, -1)  # how many are at least as large, in rising order
    enough = k * np.sort(share, axis=-1) >= 1.0 - ROUNDING
    most = np.where(enough.any(axis=-1), p - np.argmax(enough, axis=-1), 0)
    return np.asarray(most[..., None] * share >= 1.0 - ROUNDING)


class Ranked(NamedTuple):
    """Knockoff statistics by falling size, and the signs up to each of them, (..., p)."""

    order: IntArray
    W: Array
    positive: IntArray
    negative: IntArray

    @classmethod
    def of(cls, W: Array) -> Ranked:
        """Statistics of any number of data sets and copies."""
        order = np.argsort(-np.abs(W), axis=-1)
        ranked = np.take_along_axis(W, order, axis=-1)
        return cls(
            order, ranked, np.cumsum(ranked > 0.0, axis=-1), np.cumsum(ranked < 0.0, axis=-1)
        )

    def back(self, values: Any) -> Any:
        """Values in the order of the ranks, in that of the variables."""
        out = np.empty_like(values)
        np.put_along_axis(out, self.order, values, axis=-1)
        return out

    def stops(self, fdr: float, *, early: bool) -> IntArray:
        """The last rank at which the filter may stop, with offset one; -1 where there is none."""
        allowed = fdr * np.maximum(self.positive, 1)
        fine = 1 + self.negative <= allowed + ROUNDING
        if early:
            fine |= fdr * self.positive < 1.0 - ROUNDING
        fine &= self.W != 0.0
        p = self.W.shape[-1]
        last = p - 1 - np.argmax(fine[..., ::-1], axis=-1)
        return np.where(fine.any(axis=-1), last, -1)


def knockoff_plus(W: Array, fdr: float) -> BoolArray:
    """The filter with offset one, on (..., p)."""
    ranked = Ranked.of(W)
    ahead = np.arange(W.shape[-1]) <= ranked.stops(fdr, early=False)[..., None]
    return np.asarray(ranked.back(ahead & (ranked.W > 0.0)))


def mean_evalues(W: Array, fdr: float) -> Array:
    """Average e-values of copies (..., copies, p), each with an early stop."""
    ranked = Ranked.of(W)
    p = W.shape[-1]
    stop = ranked.stops(fdr, early=True)[..., None]
    worse = np.take_along_axis(ranked.negative, np.maximum(stop, 0), axis=-1)
    ahead = (np.arange(p) <= stop) & (ranked.W > 0.0)
    return np.asarray(ranked.back(np.where(ahead, p / (1.0 + worse), 0.0)).mean(axis=-2))


def aggregated_pvalues(W: Array, gamma: float) -> Array:
    """The quantile gamma of the p-values of copies (..., copies, p), divided by gamma."""
    ranked = Ranked.of(W)
    p, copies = W.shape[-1], W.shape[-2]
    each = ranked.back(np.where(ranked.W > 0.0, (1.0 + ranked.negative) / p, 1.0))
    rank = max(ceiling(gamma * copies), 1)
    quantile = np.partition(each, rank - 1, axis=-2)[..., rank - 1, :]
    return np.asarray(np.minimum(quantile / gamma, 1.0))
