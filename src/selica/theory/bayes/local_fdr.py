r"""Selection by the local false discovery rate: the best rule on a field.

The likelihood ratio of signal to null, :math:`R(u) = E[e^{\mu u - \mu^2/2}]` in units of the noise,
is log-convex in u: whatever the effects, the rule "posterior odds above a threshold" is
:math:`u < a` or :math:`u > b`. By the lemma of Neyman and Pearson no rule on the field has more
true positives at the same number of false ones. For effects of both signs alike :math:`a = -b`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from selica._core.effects import Mixture
from selica._core.root import find_root
from selica._core.scalar import LOG_SQRT_2PI
from selica._core.types import Array, IntArray
from selica.theory.selection.levels import log_odds, tpr_at_fdr
from selica.theory.selection.rates import Rates, make_rates

_FARTHEST_FIELD = 50.0  # standard deviations; no field of a null is that far out


class Tails(NamedTuple):
    """Selected is u < a or u > b, with log rates; shape (n,)."""

    a: Array
    b: Array
    log_tpr: Array
    log_fpr: Array


def is_symmetric(signals: Mixture) -> bool:
    """Say whether effects of both signs are alike."""
    if not signals.mean.any():
        return True
    one = np.lexsort([signals.probability, signals.sd, signals.mean])
    other = np.lexsort([signals.probability, signals.sd, -signals.mean])
    return bool(
        np.allclose(signals.mean[one], -signals.mean[other], rtol=0, atol=1e-15)
        and np.allclose(signals.sd[one], signals.sd[other], rtol=0, atol=1e-15)
        and np.allclose(signals.probability[one], signals.probability[other], rtol=0, atol=1e-15)
    )


def log_ratio(signals: Mixture, s: Array, u: Array) -> tuple[Array, Array]:
    """Return log R(u) at precision s, and its slope in u; all of shape (n,)."""
    own = s[:, None] * signals.sd**2
    mean = np.sqrt(s)[:, None] * signals.mean
    wide, at = 1.0 + own, u[:, None]
    # log N(u; mean, 1 + own) - log N(u; 0, 1), without the difference of two squares
    power = (0.5 * own * at**2 + mean * at - 0.5 * mean**2) / wide - 0.5 * np.log(wide)
    with np.errstate(divide="ignore"):
        power = power + np.log(signals.probability)
    top = power.max(axis=1, keepdims=True)
    each = np.exp(power - top)
    total = each.sum(axis=1)
    slope = np.vecdot(each, (own * at + mean) / wide) / total
    return top[:, 0] + np.log(total), slope


def tails(signals: Mixture, s: Array, threshold: Array) -> Tails:
    """Find the region log R(u) > threshold, and its rates."""
    lowest, open_side = _lowest(signals, s)
    floor = log_ratio(signals, s, lowest)[0]
    every = threshold <= floor
    ends = []
    for sign in (-1.0, 1.0):
        if sign == open_side:
            ends.append(np.where(every, lowest, sign * np.inf))
            continue

        def equation(d: Array, index: IntArray, sign: float = sign) -> tuple[Array, Array]:
            value, slope = log_ratio(signals, s[index], lowest[index] + sign * d)
            return value - threshold[index], sign * slope

        start = np.abs(lowest) + np.sqrt(2.0 * np.maximum(threshold, 0.0)) + 1.0
        distance = find_root(equation, start, lower=0.0, upper=1e12, max_iter=300).x
        ends.append(np.where(every, lowest, lowest + sign * distance))
    a, b = ends
    return Tails(a, b, *_rates(signals, s, a, b))


def _lowest(signals: Mixture, s: Array) -> tuple[Array, float]:
    """Find where the ratio is smallest, and the side on which it falls for ever (0: neither).

    It falls for ever where all effects have one sign; the end of the field stands in for it.
    """
    if is_symmetric(signals):
        return np.zeros(s.size), 0.0
    if not np.any(signals.sd > 0.0):
        if np.all(signals.mean >= 0.0):
            return np.full(s.size, -_FARTHEST_FIELD), -1.0
        if np.all(signals.mean <= 0.0):
            return np.full(s.size, _FARTHEST_FIELD), 1.0
    reach = np.sqrt(s) * np.abs(signals.mean).max() + 1.0

    def steepness(u: Array, index: IntArray) -> tuple[Array, Array]:
        return log_ratio(signals, s[index], u)[1], np.ones(index.size)

    # beyond every mean it has only one direction
    return find_root(steepness, np.zeros(s.size), lower=-reach, upper=reach).x, 0.0


def _rates(signals: Mixture, s: Array, a: Array, b: Array) -> tuple[Array, Array]:
    wide = np.sqrt(1.0 + s[:, None] * signals.sd**2)
    mean = np.sqrt(s)[:, None] * signals.mean
    with np.errstate(divide="ignore"):
        weight = np.log(signals.probability)
    low, high = (a[:, None] - mean) / wide, (mean - b[:, None]) / wide
    log_tpr = np.logaddexp.reduce(weight + np.logaddexp(log_ndtr(low), log_ndtr(high)), axis=1)
    # rounding must not make a probability of more than one
    both = (log_tpr, np.logaddexp(log_ndtr(a), log_ndtr(-b)))
    return np.minimum(both[0], 0.0), np.minimum(both[1], 0.0)


def local_fdr(signals: Mixture, rho: Array, s: Array, u: Array) -> Array:
    """Return the probability P(w0 = 0 | u); all of shape (n,)."""
    with np.errstate(divide="ignore", over="ignore"):
        odds = np.log(rho) - np.log1p(-rho) + log_ratio(signals, s, u)[0]
        return np.asarray(1.0 / (1.0 + np.exp(odds)))


class Cut(NamedTuple):
    """The best rule at a level of the false discovery rate, shape (n,)."""

    tpr: Array
    fpr: Array
    local: Array
    """The largest local false discovery rate it selects."""

    def rates(self, rho: Array) -> Rates:
        """Return the rates, with that of false discoveries."""
        return make_rates(rho, self.tpr, self.fpr)


def best_cut(signals: Mixture, rho: Array, s: Array, fdr: Array) -> Cut:
    """Find the largest TPR with FDR at most `fdr` over all rules on the field."""
    goal = log_odds(rho, fdr)
    finite = np.isfinite(s)
    tpr = np.where((goal <= 0.0) | ~finite & (goal < np.inf), 1.0, 0.0)
    fpr = np.where(goal <= 0.0, 1.0, 0.0)
    # selecting everything, nothing, or exactly the signals
    local = np.where(goal <= 0.0, 1.0, np.where(finite, 0.0, fdr))
    todo = np.flatnonzero((goal > 0.0) & (goal < np.inf) & finite)
    if todo.size:
        share, precision, want = rho[todo], s[todo], goal[todo]
        if is_symmetric(signals):
            tau = 1.0 / np.sqrt(precision)
            tpr[todo], u = tpr_at_fdr(signals, tau, share, fdr[todo])
            fpr[todo] = np.exp(np.log(2.0) + log_ndtr(-u))
            local[todo] = local_fdr(signals, share, precision, u)
        else:
            threshold = _threshold_at_level(signals, precision, want)
            found = tails(signals, precision, threshold)
            tpr[todo], fpr[todo] = np.exp(found.log_tpr), np.exp(found.log_fpr)
            with np.errstate(over="ignore"):
                local[todo] = 1.0 / (1.0 + np.exp(np.log(share) - np.log1p(-share) + threshold))
    return Cut(tpr, fpr, local)


def _threshold_at_level(signals: Mixture, s: Array, goal: Array) -> Array:
    """Return log R at the edge of the region whose log(TPR/FPR) is `goal`.

    The ratio of the rates is an average of R over the region: at least its edge, and growing.
    """

    def equation(threshold: Array, index: IntArray) -> tuple[Array, Array]:
        found = tails(signals, s[index], threshold)
        value = found.log_tpr - found.log_fpr - goal[index]
        # moving an end by du moves the edge by its slope: both rates lose their density there
        thinner = np.zeros(index.size)
        for end in (found.a, found.b):
            inside = np.isfinite(end)
            at = np.where(inside, end, 0.0)
            steep = np.abs(log_ratio(signals, s[index], at)[1])
            with np.errstate(divide="ignore"):
                loss = np.exp(-0.5 * at**2 - LOG_SQRT_2PI - found.log_fpr) / steep
            thinner += np.where(inside, loss, 0.0)
        slope = thinner * -np.expm1(threshold - found.log_tpr + found.log_fpr)
        # next to the smallest R all is selected, and no slope says how far it is
        return value, np.where(found.log_fpr < -1e-12, slope, np.inf)

    # log R(u) >= E[sqrt(s) w0 u - s w0^2 / 2] >= -sqrt(s) |u| - s / 2, and |u| < 40
    low = -(40.0 * np.sqrt(s) + 0.5 * s)
    return find_root(equation, goal - 1.0, lower=low, upper=goal, max_iter=200).x
