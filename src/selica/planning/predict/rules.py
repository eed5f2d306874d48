"""The rules of `control` for many data sets at once, where no two statistics are equal.

Arrays have data sets first and variables last, copies between them. Zeros among knockoff statistics
may repeat: they are never selected. Of p variables those without evidence may be left out: `p` says
how many there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.rounding import ROUNDING, ceiling
from selica._core.types import Array, BoolArray
from selica.control import averaged_level

_FIRST_ZERO_KEY = ~np.uint32(1)
"""Complements of the bits of zeros begin here."""


def step_up(evalues: Array, fdr: float, p: int | None = None) -> BoolArray:
    """Select by e-BH on (R, p); on reciprocals of p-values it is the step-up rule."""
    size = evalues.shape[-1]
    share = evalues * (fdr / (p or size))
    k = np.arange(size, 0, -1)  # how many are at least as large, in rising order
    enough = k * np.sort(share, axis=-1) >= 1.0 - ROUNDING
    most = np.where(enough.any(axis=-1), size - np.argmax(enough, axis=-1), 0)
    return np.asarray(most[..., None] * share >= 1.0 - ROUNDING)


class Stops(NamedTuple):
    """Where the filter of each copy stops, (...)."""

    threshold: Any
    """Variables with W at least this are ahead; infinite where it does not stop."""
    negative: Any
    """How many statistics are at most minus this."""


def _stops(W: Any, fdr: float, *, posthoc: bool = False) -> Stops:
    """Return the smallest thresholds that keep a level with offset one, for W of (..., p).

    With `posthoc` they also stop where no statistic is behind. Sizes are sorted as the bits of
    single precision numbers, the last bit of which holds the sign: much faster than to sort and to
    remember the order.
    """
    # complements, so that the largest come first
    keys = ~(np.abs(W).view(np.uint32) & ~np.uint32(1) | (W > 0.0))
    keys.sort(axis=-1)
    some = keys < _FIRST_ZERO_KEY
    negative = np.cumsum(keys & np.uint32(1), axis=-1, dtype=np.int32)
    positive = np.arange(1, W.shape[-1] + 1, dtype=np.int32) - negative
    # what is asked of the count of negatives alone, by the count of positives
    ahead = np.arange(W.shape[-1] + 1)
    allowed = fdr * np.maximum(ahead, 1) + ROUNDING - 1.0
    if posthoc:
        allowed = np.maximum(allowed, 0.0)
    fine = (negative <= allowed[positive]) & some
    last = W.shape[-1] - 1 - np.argmax(fine[..., ::-1], axis=-1)[..., None]
    least = np.take_along_axis(keys, last, axis=-1)
    least = (~least & ~np.uint32(1)).view(np.float32)[..., 0]
    stops = np.take_along_axis(fine, last, axis=-1)[..., 0]
    return Stops(
        np.where(stops, least, np.float32(np.inf)),
        np.take_along_axis(negative, last, axis=-1)[..., 0],
    )


def knockoff_plus(W: Any, fdr: float) -> BoolArray:
    """Select by the filter with offset one, on single precision (..., p)."""
    return np.asarray(_stops(W, fdr).threshold[..., None] <= W)


def mean_evalues(W: Any, fdr: float, p: int | None = None) -> Array:
    """Return average e-values of copies (..., copies, p), each with the stop after the fit."""
    stops = _stops(W, fdr, posthoc=True)
    worth = (p or W.shape[-1]) / W.shape[-2] / (1.0 + stops.negative)
    return np.asarray(np.einsum("...cp,...c->...p", stops.threshold[..., None] <= W, worth))


def raised_level(fdr: float, copies: int) -> float:
    """Return the level of e-BH in `DerandomizedKnockoffs` with so many copies."""
    return averaged_level(fdr, 0.5 * fdr, copies)


def derandomized(W: Any, fdr: float, p: int | None = None) -> BoolArray:
    """Select by e-BH on average e-values of copies, at the levels of `DerandomizedKnockoffs`."""
    return step_up(mean_evalues(W, 0.5 * fdr, p), raised_level(fdr, W.shape[-2]), p)


def aggregated_pvalues(W: Any, gamma: float, p: int | None = None) -> Array:
    """Return the quantile gamma of the p-values of copies (..., copies, p), over gamma."""
    p, copies = p or W.shape[-1], W.shape[-2]
    order = np.argsort(-np.abs(W), axis=-1)
    ranked = np.take_along_axis(W, order, axis=-1)
    # p times the p-values, which are whole numbers
    larger = np.where(ranked > 0.0, 1 + np.cumsum(ranked < 0.0, axis=-1, dtype=np.int32), p)
    each = np.empty(W.shape, dtype=np.int32)
    np.put_along_axis(each, order, larger, axis=-1)
    rank = max(ceiling(gamma * copies), 1)
    each.partition(rank - 1, axis=-2)
    return np.asarray(np.minimum(each[..., rank - 1, :] / (gamma * p), 1.0))
