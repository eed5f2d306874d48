"""Rules on fields drawn from their law: what a finite number of variables does to a prediction.

A rule that sets its threshold by the data counts variables, and counts fluctuate: knockoff+ at
level 0.1 selects ten variables or none. Here the rules themselves are run on some draws of the p
fields. A fixed cut on the same fields, whose rates are known exactly, takes out most of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from selica._core.effects import Effects
from selica._core.scalar import survival
from selica._core.types import Array, BoolArray
from selica.planning.rules import aggregated_pvalues, knockoff_plus, mean_evalues, step_up
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Rates, Solution
from selica.theory.levels import at_level

# Statistics drawn at a time, which stay near the processor; in all, usually and at most.
_BATCH, _LEAST, _MOST = 50_000, 100_000, 1_000_000
# Draws end when power and FDR are known to this standard error, from so many data sets on.
_PRECISE, _ENOUGH = 0.015, 12
# With more selections than this, fluctuations are not worth a draw; with more statistics of a data
# set they do not fit.
_MANY, _WIDEST = 250, 20_000_000
_SEED = 20
# Statistics that are drawn once for all studies whose data sets need no more.
_KEPT = 1 << 18
# Draws are kept for all threads.
_DRAWING = Lock()


class Expected(NamedTuple):
    """What a rule is expected to do in a study."""

    power: float
    """Mean share of the signals that are selected."""
    fdr: float
    """Mean share of false ones among the selected."""
    true_selections: float
    false_selections: float

    @classmethod
    def of_rates(cls, study: Study, rates: Rates) -> Expected:
        """In a large system."""
        p, k = study.n_features, study.n_signals
        return cls(rates.tpr, rates.fdr, k * rates.tpr, (p - k) * rates.fpr)


class Draws:
    """Random numbers of some data sets, from which fields and statistics are made."""

    def __init__(self, seed: int, sizes: tuple[int, int, int, int], effects: Effects) -> None:
        runs, p, k, copies = sizes
        rng = np.random.default_rng([_SEED, seed])
        self._seed, self._shape = seed, (runs, copies, p)
        self.fields: Array = rng.standard_normal((runs, p))
        self.effects: Array = effects.sample((runs, k), rng)

    @cached_property
    def copies(self) -> tuple[Any, Any]:
        """Noise of the variables and size of that of the copies, (R, copies, p)."""
        size = math.prod(self._shape)
        numbers = _numbers if size <= _KEPT else _numbers.__wrapped__
        own, copy = numbers(self._seed, max(_KEPT, size))
        return own[:size].reshape(self._shape), copy[:size].reshape(self._shape)


@lru_cache(maxsize=24)
def _numbers(seed: int, size: int) -> tuple[Any, Any]:
    """Normal numbers, and sizes of others, of which studies of all sizes take the first ones."""
    rng = np.random.default_rng([_SEED, seed, 1])
    single = np.float32  # ranks need no more digits
    own, copy = (rng.standard_normal(size, dtype=single) for _ in range(2))
    return own, np.abs(copy, out=copy)


@lru_cache(maxsize=4)
def _draws(p: int, k: int, copies: int, effects: Effects) -> list[Draws]:
    """Those that were needed so far: other studies of this size use the same."""
    return []


Rule = Callable[[Array, Draws], BoolArray]
"""From fields of data sets, (R, p), to selections."""


def by_fields(solution: Solution, fdr: float) -> Rule:
    """Message passing: the step-up rule on the p-values of the fields."""
    sd = np.sqrt(solution.chi_hat)

    def rule(g: Array, draws: Draws) -> BoolArray:
        with np.errstate(divide="ignore", over="ignore"):  # infinitely strong evidence
            return step_up(0.5 / survival(np.abs(g) / sd), fdr)

    return rule


def by_one_copy(solution: KnockoffSolution, fdr: float) -> Rule:
    """knockoff+."""
    return lambda g, draws: knockoff_plus(_statistics(solution, g, draws)[:, 0], fdr)


def by_evalues(solution: KnockoffSolution, fdr: float) -> Rule:
    """e-BH on the average e-values of the copies, each at half the level."""
    return lambda g, draws: step_up(mean_evalues(_statistics(solution, g, draws), 0.5 * fdr), fdr)


def by_pvalues(solution: KnockoffSolution, fdr: float, gamma: float) -> Rule:
    """The step-up rule on the aggregated p-values of the copies."""
    return lambda g, draws: step_up(
        1.0 / aggregated_pvalues(_statistics(solution, g, draws), gamma), fdr
    )


def expected(
    study: Study, solution: Solution, rates: Rates, rule: Rule, fdr: float, copies: int = 1
) -> Expected:
    """A prediction in which counts fluctuate.

    Parameters
    ----------
    study : Study
    solution : Solution
        Of one model.
    rates : Rates
        Of the rule in a large system.
    rule : callable
        From the fields of a data set to a selection.
    fdr : float
        Level of the rule.
    copies : int
        Statistics the rule draws for each variable.
    """
    k = study.n_signals
    large = Expected.of_rates(study, rates)
    if large.true_selections + large.false_selections > _MANY:
        return large
    if study.n_features * copies > _WIDEST:
        return large
    cut = _matching_cut(solution, rates, fdr)
    fixed = Expected.of_rates(study, solution.rates_of_field(np.asarray(cut)))
    known = np.array([fixed.power, fixed.fdr, fixed.false_selections])
    with _DRAWING:
        found = _drawn(study, solution, rule, cut, known, copies)
    power, rate = (float(min(max(x, 0.0), 1.0)) for x in found[:2])
    return Expected(power, rate, k * power, max(float(found[2]), 0.0))


def _drawn(
    study: Study, solution: Solution, rule: Rule, cut: float, known: Array, copies: int
) -> Array:
    """Means of what `_counted` counts, over data sets; `known` are those of the cut."""
    p, k = study.n_features, study.n_signals
    batch = max(_BATCH // (p * copies), 1)
    kept = _draws(p, k, copies, study.effects)
    parts: list[tuple[Array, Array]] = []
    while True:
        if len(parts) == len(kept):
            kept.append(Draws(len(kept), (batch, p, k, copies), study.effects))
        draws = kept[len(parts)]
        g = np.sqrt(solution.chi_hat) * draws.fields
        g[:, :k] += solution.Q_hat * draws.effects
        parts.append((_counted(rule(g, draws), k), _counted(np.abs(g) > cut, k)))
        found, fixed = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        runs = found.shape[1]
        # as much of the cut as explains most of the rule: a control variate
        centred = fixed - fixed.mean(axis=1, keepdims=True)
        spread = np.sum(centred**2, axis=1)
        slope = np.sum(found * centred, axis=1) / np.maximum(spread, 1e-12)
        slope[spread < 1e-12] = 1.0  # where it never differs, the rule does as well as it can
        rest = found - slope[:, None] * (fixed - known[:, None])
        # no less than what one signal more or less in all of the data sets would make
        error = max(rest[:2].std(axis=1).max() / np.sqrt(runs), 1.0 / (runs * np.sqrt(k)))
        # what comes from few data sets has to be known better
        wanted = _PRECISE if runs * p * copies >= _LEAST else 0.3 * _PRECISE
        if (runs >= _ENOUGH and error <= wanted) or (runs + batch) * p * copies > _MOST:
            return np.asarray(rest.mean(axis=1))


def _counted(mask: BoolArray, k: int) -> Array:
    """Share of the signals found, share of false ones, number of false ones, (3, R)."""
    true, false = mask[:, :k].sum(axis=1), mask[:, k:].sum(axis=1)
    return np.array([true / k, false / np.maximum(true + false, 1), false])


def _matching_cut(solution: Solution, rates: Rates, fdr: float) -> float:
    """A cut on abs(g) with the power of the rule; where it has none, that of the level."""
    if rates.tpr == 0.0:
        return float(at_level(solution, "stability", np.asarray(fdr)).threshold)
    sd, Q = float(np.sqrt(solution.chi_hat)), float(solution.Q_hat)
    cuts = np.linspace(0.0, 10.0 * sd + 5.0 * Q, 500)
    tpr = np.asarray(solution.rates_of_field(cuts).tpr)
    return float(np.interp(-rates.tpr, -tpr, cuts))


def _statistics(solution: KnockoffSolution, g: Array, draws: Draws) -> Any:
    """W of each variable for some copies, (R, copies, p), in the unit of the field."""
    single = np.float32
    own, copy = draws.copies
    own = own * single(np.sqrt(solution.v_hat))
    own += g[:, None].astype(single)
    np.abs(own, out=own)
    copy = copy * single(np.sqrt(solution.v_tilde_hat))
    for size in (own, copy):
        size -= single(solution.lam)
        np.maximum(size, single(0), out=size)
    own -= copy
    return own
