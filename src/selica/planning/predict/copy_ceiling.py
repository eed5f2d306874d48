r"""What no statistic of one knockoff copy surpasses, in a study of its size.

The best statistic is the log odds that a variable, and not its copy, is the original
(`theory.bayes.masked`): a function of two fields with a known precision. The filter with offset one
is run on draws of them. Of the irrelevant variables those are drawn that can matter: one of both
fields is beyond an edge c, below which negative statistics are so many that the filter never stops.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtri

from selica import catalogue
from selica._core.errors import DoesNotApply
from selica._core.types import Array, BoolArray
from selica.planning.predict.expectation import FOUND_SHARES, Expected
from selica.planning.predict.finite import WANTED_ERROR
from selica.planning.predict.prediction import Forecast, Prediction
from selica.planning.predict.rules import knockoff_plus
from selica.planning.study import Study
from selica.theory.bayes.local_fdr import log_ratio
from selica.theory.bayes.masked import pair_precision

COPY_CEILING = "best-copy-statistic"
"""The best statistic of one copy in the catalogue."""
_MOST_SIGNALS = 100_000
"""Signals up to which fields are drawn."""
_BATCH = 200_000
"""Pairs that are drawn at a time."""
_MOST_DRAWN = 4_000_000
"""Pairs that are drawn, at most."""
_FEWEST_DATA_SETS = 40
"""Data sets, at least."""
_STEP = 0.02
"""Step between fields at which the odds are computed."""
_SEED = 23
"""First number of the seeds."""


@lru_cache(maxsize=128)
def copy_ceiling(study: Study, fdr: float) -> Prediction | None:
    """Predict the filter with one copy and the best statistic; None where there is no theory.

    Parameters
    ----------
    study : Study
    fdr : float
        Level of the filter.

    Examples
    --------
    >>> from selica.planning.predict.copy_ceiling import copy_ceiling
    >>> from selica.planning.study import Study
    >>> round(copy_ceiling(Study.of(300, 200, 40, r2=0.8), 0.1).power, 1)
    0.6
    """
    if study.columns is not None or study.n_signals > _MOST_SIGNALS:
        return None
    if study.n_signals == study.n_features:  # there is nothing irrelevant to be told apart
        return None
    try:
        s = pair_precision(study.model, study.theory_response, few_digits=True)
    except DoesNotApply:
        return None
    found = _drawn(study, fdr, s)
    return Prediction.of(catalogue.method(COPY_CEILING), Forecast(found, {}), "best")


def _drawn(study: Study, fdr: float, s: float) -> Expected:
    """Run the filter on drawn fields until its power is known."""
    p, k = study.n_features, study.n_signals
    # so many negatives are too many for the level, by more than chance, if no signal is missed
    enough = fdr * k
    beyond = min(4.0 * (enough + 30.0 + 6.0 * math.sqrt(enough)) / (1.0 - fdr), float(p - k))
    share = beyond / (p - k)
    tail = 1.0 - math.sqrt(1.0 - share)  # of one field, where the share is that of either
    edge = -float(ndtri(0.5 * tail)) if tail < 1.0 else 0.0
    lowest = float(_odds(study, s, np.array([edge]))[0] - _odds(study, s, np.zeros(1))[0])
    parts: list[Array] = []
    drawn = number = 0
    size = max(int(_BATCH / (k + beyond)), 1)
    while True:
        rng = np.random.default_rng([_SEED, number])
        W, truth = _statistics(study, s, tail, size, rng)
        W[np.abs(W) < lowest] = 0.0
        mask = knockoff_plus(W, fdr)
        true, every = np.sum(mask & truth, axis=1), np.sum(mask, axis=1)
        share_false = (every - true) / np.maximum(every, 1)
        parts.append(np.array([true / k, share_false, every, mask[:, 0]]))
        drawn += W.size
        number += 1
        power, rate, total, first = np.concatenate(parts, axis=1)
        error = float(power.std()) / math.sqrt(power.size)
        if power.size >= _FEWEST_DATA_SETS and (error <= WANTED_ERROR or drawn >= _MOST_DRAWN):
            break
    mean = float(power.mean())
    low, high = np.quantile(k * power, FOUND_SHARES, method="inverted_cdf").round().tolist()
    chance = None if study.variable is None else float(first.mean())
    return Expected(
        power=mean,
        fdr=float(rate.mean()),
        true_selections=k * mean,
        false_selections=float(total.mean()) - k * mean,
        power_error=max(error, 1.0 / (power.size * math.sqrt(k))),
        found_low=low,
        found_high=high,
        variable_power=chance,
    )


def _statistics(
    study: Study, s: float, tail: float, size: int, rng: np.random.Generator
) -> tuple[Any, BoolArray]:
    """Draw statistics of the signals and of irrelevant variables that can matter, (R, M)."""
    p, k = study.n_features, study.n_signals
    effects = study.effects.sample((size, k), rng)
    if study.variable is not None:
        effects[:, 0] = study.variable / study.effect_size
    numbers = rng.binomial(p - k, 1.0 - (1.0 - tail) ** 2, size)
    width = max(int(numbers.max()), 1)
    u, copy = np.zeros((2, size, k + width))
    u[:, :k] = math.sqrt(s) * effects + rng.standard_normal((size, k))
    copy[:, :k] = rng.standard_normal((size, k))
    there = np.arange(width) < numbers[:, None]
    # one of both fields is beyond the edge: the first, or else the second
    a, b = rng.random((2, size, width))
    a *= 1.0 - (1.0 - tail) ** 2
    own = a < tail
    far = -ndtri(0.5 * np.where(own, a, (a - tail) / max(1.0 - tail, 1e-300)))
    free = -ndtri(0.5 * b)
    inside = -ndtri(0.5 * (tail + (1.0 - tail) * b))
    u[:, k:] = np.where(there, np.where(own, far, inside), 0.0)
    copy[:, k:] = np.where(there, np.where(own, free, far), 0.0)
    both = _odds(study, s, np.abs(np.stack([u, copy])).ravel()).reshape(2, size, -1)
    W = (both[0] - both[1]).astype(np.float32)
    return W, np.arange(k + width) < k


def _odds(study: Study, s: float, u: Array) -> Array:
    """Return log(1 - rho + rho R(u)) of fields above zero, a part of the log odds."""
    rho = study.n_signals / study.n_features
    grid = np.linspace(0.0, max(float(u.max()), _STEP), math.ceil(float(u.max()) / _STEP) + 2)
    ratio = log_ratio(study.model.mixture, np.full(grid.size, s), grid)[0]
    return np.interp(u, grid, np.logaddexp(math.log1p(-rho), math.log(rho) + ratio))
