"""What no method can surpass, so that a plan says how far each of them is from it."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtri

from selica import catalogue
from selica._core.scalar import survival
from selica._core.types import Array
from selica.planning.predict.expectation import Expected
from selica.planning.predict.prediction import Forecast, Prediction, Studies
from selica.planning.predict.rules import step_up
from selica.planning.study import Study, models
from selica.theory import Rates, solve_bayes
from selica.theory.bayes.local_fdr import log_ratio, tails

CEILING = "bayes"
"""The Bayes-optimal selector in the catalogue."""
_FARTHEST = 45.0
"""Fields beyond, in deviations of the noise, are not considered as thresholds."""
_MAX_STEPS = 60
"""Steps of the search for a threshold."""
_TOLERANCE = 1e-4
"""How near to the level the search ends, relative to the level."""
_TINY = 1e-300
"""What keeps a logarithm finite."""
_MANY_SELECTIONS = 12
"""Selections beyond which a threshold that depends on the data set finds no more."""
_DRAWN_FIELDS = 20_000
"""Fields that are drawn to see what such a threshold finds."""
_FEWEST_DATA_SETS = 100
"""Data sets that are drawn, at least."""
_MOST_SIGNALS = 5000
"""Signals up to which fields are drawn."""
_SEED = 21
"""First number of the seeds."""


def ceiling(study: Study, fdr: float) -> Prediction:
    """Predict the Bayes-optimal selector, which knows the distribution of the effects.

    Its threshold is the one with which the mean share of false selections is the level. Where many
    variables are selected that share is the ratio of the expected numbers. Where few are, it is
    smaller than the ratio, since nothing is false where nothing is selected: there is room for a
    lower threshold than in a large study, and procedures use it. Where a threshold that depends on
    the data set finds more at the same level, as the step-up rule may with few selections, that is
    the power. Rules that gamble, such as selecting all variables in one study of ten, are left out.

    Parameters
    ----------
    study : Study
    fdr : float
        Level that its threshold keeps by the truth.

    Examples
    --------
    >>> from selica.planning.predict.ceiling import ceiling
    >>> from selica.planning.study import Study
    >>> round(ceiling(Study.of(300, 200, 40, r2=0.8), 0.1).power, 2)
    0.63
    """
    return ceilings((study,), fdr)[0]


@lru_cache(maxsize=1024)
def ceilings(studies: Studies, fdr: float) -> tuple[Prediction, ...]:
    """Predict the Bayes-optimal selector in several studies; every question asks for it again.

    Parameters
    ----------
    studies : tuple of Study
        With the same distribution of effects.
    fdr : float
    """
    model = models(studies)
    law, s = model.mixture, _precisions(studies)

    def selected(u: Array) -> list[Expected]:
        """Return what is selected where the evidence is more than at a field of size u."""
        at = np.maximum(*(log_ratio(law, s, side * u)[0] for side in (1.0, -1.0)))
        found = tails(law, s, at)
        each = zip(
            studies, np.exp(found.log_tpr).tolist(), np.exp(found.log_fpr).tolist(), strict=True
        )
        return [Expected.of_rates(study, Rates(tpr, fpr, np.nan)) for study, tpr, fpr in each]

    def excess(found: list[Expected]) -> Array:
        """Return the mean share of false ones over the level, in logarithms."""
        return np.log([max(one.fdr, _TINY) / fdr for one in found])

    # regula falsi in the square of the field, in which logarithms of shares are close to linear;
    # an end that stays twice counts half
    low, high = np.zeros(s.size), np.full(s.size, _FARTHEST**2)
    over, under = excess(selected(low)), np.full(s.size, np.log(_TINY))
    before = square = np.zeros(s.size)
    done = over <= 0.0  # all variables may be selected
    for _ in range(_MAX_STEPS):
        share = over / np.where(done, 1.0, over - under)
        square = np.where(done, square, low + share * (high - low))
        found = selected(np.sqrt(square))
        value = excess(found)
        done |= np.abs(value) <= _TOLERANCE
        if done.all():
            break
        side = np.where(value > 0.0, 1.0, -1.0)
        low, high = np.where(side > 0.0, square, low), np.where(side > 0.0, high, square)
        same = np.where(side == before, 0.5, 1.0)
        over = np.where(side > 0.0, value, over * same)
        under = np.where(side > 0.0, under * same, value)
        before = side
    found = [
        _adapted(study, fdr, s_of, math.sqrt(at), _with_variable(study, s_of, at, one))
        for study, s_of, at, one in zip(studies, s.tolist(), square, found, strict=True)
    ]
    row = catalogue.method(CEILING)
    return tuple(Prediction.of(row, Forecast(one, {}), "best") for one in found)


def _with_variable(study: Study, s: float, square: float, found: Expected) -> Expected:
    """Add the probability that the one variable of a study is found, if it has one."""
    if study.variable is None:
        return found
    mean, u = math.sqrt(s) * study.variable / study.effect_size, math.sqrt(square)
    chance = survival(np.array([u - mean, u + mean])).sum()
    return found._replace(variable_power=float(chance))


def _precisions(studies: Studies) -> Array:
    """Return the precisions of the fields of the Bayes-optimal estimate, one a study."""
    if studies[0].theory_response is None:
        return np.asarray(solve_bayes(models(studies)).m_hat)
    return np.array([_precision(study) for study in studies])


@lru_cache(maxsize=1024)
def _precision(study: Study) -> float:
    """Return the precision with a response that is no plain number."""
    found = solve_bayes(study.model, response=study.theory_response)
    return float(found.m_hat)


def _adapted(study: Study, fdr: float, s: float, u: float, fixed: Expected) -> Expected:
    """Add what a threshold gains that depends on how much there is in a data set.

    The step-up rule on the p-values of the fields has the same false discovery rate if it is told
    the share of irrelevant variables. With few selections it may find a little more than the fixed
    threshold; it is compared with that on the same draws.
    """
    p, k = study.n_features, study.n_signals
    number = fixed.true_selections + fixed.false_selections
    level = fdr * p / max(p - k, 1)
    if not 0.0 < u < _FARTHEST or k > _MOST_SIGNALS or number > _MANY_SELECTIONS or level >= 1.0:
        return fixed
    effects, noise, rng = (np.random.default_rng([_SEED, part]) for part in range(3))
    # sizes of fields in deviations of the noise; of nulls those that could be selected
    tail = min((4.0 * number + 30.0) / (p - k), 1.0)
    numbers = rng.binomial(
        p - k, tail, max(_DRAWN_FIELDS // (k + math.ceil(tail * (p - k))), _FEWEST_DATA_SETS)
    )
    size = (numbers.size, int(numbers.max()))
    null = -ndtri(0.5 * tail * rng.random(size))
    null[np.arange(size[1]) >= numbers[:, None]] = 0.0
    signal = math.sqrt(s) * study.effects.sample((numbers.size, k), effects)
    fields = np.abs(np.hstack([signal + noise.standard_normal(signal.shape), null]))
    with np.errstate(divide="ignore", over="ignore"):  # infinitely strong evidence
        mask = step_up(0.5 / survival(fields), level, p)
    gain = np.sum(mask[:, :k], axis=1) / k - np.sum(fields[:, :k] > u, axis=1) / k
    power = fixed.power + max(float(gain.mean()), 0.0)
    error = float(gain.std()) / math.sqrt(gain.size)
    return fixed._replace(power=power, true_selections=k * power, power_error=error)
