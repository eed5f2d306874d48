"""Rules on fields drawn from their law: what a finite number of variables does to a prediction.

A rule that sets its threshold by the data counts variables, and counts fluctuate: knockoff+ at
level 0.1 selects ten variables or none. Here the rules themselves are run on some draws of the
fields: of all p of them, or of those that can matter where they are many. A fixed cut on the same
fields, whose rates are known exactly, takes out most of the noise, and what is left of it is stated
as the standard error of the power.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from selica._core.effects import Effects
from selica._core.scalar import survival
from selica._core.types import Array, BoolArray
from selica.planning.predict.exceedances import Exceedances, Sample, lowest_field, lowest_statistic
from selica.planning.predict.rules import aggregated_pvalues, derandomized, knockoff_plus, step_up
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Rates, Solution
from selica.theory.selection.levels import at_level

# Variables, and statistics of a data set, up to which all of them are drawn.
_WHOLE = 2000
_WIDEST = 25_000
# Statistics drawn at a time, which stay near the processor; in all, usually and at most, and at
# most where only those that can matter are.
_BATCH = 50_000
_LEAST = 100_000
_MOST = 1_000_000
_MOST_OF_SOME = 2_500_000
# Draws end when power and FDR are known to this standard error, from so many data sets on.
_PRECISE = 0.015
_ENOUGH = 12
# With more selections than this, and so many false ones at the level, fluctuations are not worth a
# draw; with more signals than this, they are no matter for power.
_MANY = 250
_FALSE = 25
_SIGNALS = 100_000
# What they may still change in the power there.
_NEGLECTED = 0.003
_SEED = 20
# Statistics that are drawn once for all studies whose data sets need no more.
_KEPT = 1 << 18
# Draws are kept for all threads.
_DRAWING = Lock()
# Nodes of the mean share of false ones, and up to which weight exp(-x) they go.
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(48)
_LONGEST = 40.0


class Expected(NamedTuple):
    """What a rule is expected to do in a study."""

    power: float
    """Mean share of the signals that are selected."""
    fdr: float
    """Mean share of false ones among the selected."""
    true_selections: float
    false_selections: float
    power_error: float = 0.0
    """Standard error of the power, from the draws; zero where nothing is drawn."""

    @classmethod
    def of_rates(cls, study: Study, rates: Rates) -> Expected:
        """With every variable selected by itself, at these rates."""
        p, k = study.n_features, study.n_signals
        fdr = mean_false_share(p, k, rates.tpr, rates.fpr)
        return cls(rates.tpr, fdr, k * rates.tpr, (p - k) * rates.fpr)


def mean_false_share(p: int, k: int, tpr: float, fpr: float) -> float:
    r"""Mean share of false ones among the selected, where variables are selected independently.

    With V false and S true ones, V/(V + S) has the mean of V times 1/(1 + V' + S), V' of the other
    irrelevant variables; and the mean of 1/(1 + N) is the integral of that of x^N over x from 0 to
    1. In a large study it is the ratio of the expected numbers.
    """
    if p == k or fpr == 0.0:
        return 0.0
    number = k * tpr + (p - k) * fpr
    span = min(_LONGEST / max(number, 1e-300), 1.0)
    missing = 0.5 * span * (_NODES + 1.0)  # 1 - x
    with np.errstate(divide="ignore"):
        log = (p - k - 1) * np.log1p(-fpr * missing) + k * np.log1p(-tpr * missing)
    return float(min((p - k) * fpr * 0.5 * span * (_NODE_WEIGHTS @ np.exp(log)), 1.0))


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


class Rule(NamedTuple):
    """A rule on fields or knockoff statistics."""

    select: Callable[[Sample, int], BoolArray]
    """From a sample of the p variables of data sets to selections, (R, M)."""
    fdr: float
    """Its level."""
    copies: int
    """Statistics of each variable; zero if it looks at the fields."""
    lowest: Callable[[int], float]
    """From p to a size of these below which nothing is selected."""
    fewest: float
    """Variables of its smallest selection."""


def by_fields(solution: Solution, fdr: float) -> Rule:
    """Message passing: the step-up rule on the p-values of the fields."""
    sd = np.sqrt(solution.chi_hat)

    def select(sample: Sample, p: int) -> BoolArray:
        with np.errstate(divide="ignore", over="ignore"):  # infinitely strong evidence
            return step_up(0.5 / survival(np.abs(sample.fields) / sd), fdr, p)

    return Rule(select, fdr, 0, partial(lowest_field, solution, fdr=fdr), 1.0)


def by_one_copy(solution: KnockoffSolution, fdr: float) -> Rule:
    """knockoff+."""
    lowest = partial(lowest_statistic, solution, fdr=fdr, early=False)

    def select(sample: Sample, p: int) -> BoolArray:
        return knockoff_plus(sample.statistics[:, 0], fdr)

    return Rule(select, fdr, 1, lowest, 1.0 / fdr)


def by_evalues(solution: KnockoffSolution, fdr: float, copies: int) -> Rule:
    """e-BH on the average e-values of the copies."""
    lowest = partial(lowest_statistic, solution, fdr=fdr, early=True)

    def select(sample: Sample, p: int) -> BoolArray:
        return derandomized(sample.statistics, fdr, p)

    return Rule(select, fdr, copies, lowest, 1.0 / fdr)


def by_pvalues(solution: KnockoffSolution, fdr: float, copies: int, gamma: float) -> Rule:
    """The step-up rule on the aggregated p-values of the copies."""

    def select(sample: Sample, p: int) -> BoolArray:
        return step_up(1.0 / aggregated_pvalues(sample.statistics, gamma, p), fdr, p)

    lowest = partial(lowest_statistic, solution, fdr=fdr, early=False)
    return Rule(select, fdr, copies, lowest, 1.0 / (gamma * fdr))


def expected(study: Study, solution: Solution, rates: Rates, rule: Rule) -> Expected:
    """A prediction in which counts fluctuate.

    Parameters
    ----------
    study : Study
    solution : Solution
        Of one model.
    rates : Rates
        Of the rule in a large system.
    rule : Rule
        For this solution.
    """
    k = study.n_signals
    large = Expected.of_rates(study, rates)
    selected = large.true_selections + large.false_selections
    if (selected > _MANY and rule.fdr * selected > _FALSE) or k > _SIGNALS:
        return large._replace(power_error=_NEGLECTED)
    cut = _matching_cut(solution, rates, rule.fdr)
    fixed = Expected.of_rates(study, solution.rates_of_field(np.asarray(cut)))
    with _DRAWING:
        mean, error = _drawn(study, solution, rule, cut, fixed)
    power, rate = (float(min(max(x, 0.0), 1.0)) for x in mean[:2])
    return Expected(power, rate, k * power, max(float(mean[2]), 0.0), error)


def _drawn(
    study: Study, solution: Solution, rule: Rule, cut: float, fixed: Expected
) -> tuple[Array, float]:
    """Means of what `_counted` counts, over data sets, and the error of the first of them."""
    p, k = study.n_features, study.n_signals
    whole = p <= _WHOLE and p * rule.copies <= _WIDEST
    sample = _whole(study, solution, rule) if whole else _some(study, solution, rule, cut)
    tally, most = _Tally(k, fixed, rule.fewest), _MOST if whole else _MOST_OF_SOME
    drawn = number = 0
    while True:
        some = sample(number)
        mask = rule.select(some, p)
        tally.add(_counted(mask, some.truth, k), _counted(np.abs(some.fields) > cut, some.truth, k))
        runs, kept = some.fields.shape
        drawn += runs * max(kept * max(rule.copies, 1), k)
        number += 1
        # what comes from few data sets has to be known better
        wanted = _PRECISE if drawn >= _LEAST else 0.3 * _PRECISE
        mean, error = tally.estimate()
        enough = max(error[:2]) <= wanted or drawn * (number + 1) > most * number
        if enough and tally.runs >= _ENOUGH:
            return mean, float(error[0])


class _Tally:
    """What a rule and a fixed cut find in data sets, and what it says about the rule.

    The counts of the rule are regressed on those of the cut, whose means are known: a control
    variate.
    """

    def __init__(self, k: int, fixed: Expected, fewest: float) -> None:
        self._k, self._fewest = k, fewest
        self._known = np.array([fixed.power, fixed.fdr, fixed.false_selections])[:, None]
        self._parts: list[tuple[Array, Array]] = []
        self.runs = 0

    def add(self, found: Array, fixed: Array) -> None:
        """Some more data sets, (4, R) each."""
        self._parts.append((found, fixed))
        self.runs += found.shape[1]

    def estimate(self) -> tuple[Array, Array]:
        """Means over data sets of the first three counts, and their standard errors."""
        every = [np.concatenate(part, axis=1) for part in zip(*self._parts, strict=True)]
        found, apart = every[0][:3], every[1][:3] - self._known
        runs = self.runs
        off = apart.mean(axis=1)
        centred = apart - off[:, None]
        spread = np.sum(centred**2, axis=1)
        varies = spread > 1e-12
        slope = np.sum(found * centred, axis=1) / np.where(varies, spread, 1.0)
        slope[~varies] = 1.0  # where it never differs, the rule does as well as it can
        mean = found.mean(axis=1) - slope * off
        rest = found - found.mean(axis=1, keepdims=True) - slope[:, None] * centred
        # two degrees of freedom go to mean and slope, and two to the law of Student
        square = np.sum(rest**2, axis=1) / max(runs - 4, 1)
        lever = np.where(varies, off**2 / np.where(varies, spread, 1.0), 0.0)
        error = np.sqrt(square * (1.0 / runs + lever))
        error[~varies] += 0.5 * np.abs(off[~varies])
        error[0] = max(error[0], self._least_error(every[0][3], float(mean[0])))
        return mean, error

    def _least_error(self, selected: Array, power: float) -> float:
        """What one data set of another kind would make, of those that were not seen.

        One signal more or less in all of the data sets. Where none of them has a selection, one;
        where all of them have, some of them a small one, one without.
        """
        least = 1.0 / (self.runs * math.sqrt(self._k))
        if not selected.any():
            return max(least, float(self._known[0, 0]) / (self.runs + 2))
        if 0 < selected.min() < 2.0 * self._fewest:
            return max(least, power / (self.runs + 2))
        return least


def _counted(mask: BoolArray, truth: BoolArray, k: int) -> Array:
    """Share of the signals found, share and number of false ones, number of all, (4, R)."""
    true, every = np.sum(mask & truth, axis=1), np.sum(mask, axis=1)
    false = every - true
    return np.array([true / k, false / np.maximum(every, 1), false, every])


def _whole(study: Study, solution: Solution, rule: Rule) -> Callable[[int], Sample]:
    """Data sets of which all variables are drawn, by the number of the batch."""
    p, k, copies = study.n_features, study.n_signals, max(rule.copies, 1)
    size = max(_BATCH // (p * copies), 1)
    kept = _draws(p, k, copies, study.effects)
    truth = np.arange(p) < k

    def sample(number: int) -> Sample:
        if number == len(kept):
            kept.append(Draws(number, (size, p, k, copies), study.effects))
        draws = kept[number]
        g = np.sqrt(solution.chi_hat) * draws.fields
        g[:, :k] += solution.Q_hat * draws.effects
        if not rule.copies:
            return Sample(g, None, truth)
        assert isinstance(solution, KnockoffSolution)
        return Sample(g, _statistics(solution, g, draws), truth)

    return sample


def _some(study: Study, solution: Solution, rule: Rule, cut: float) -> Callable[[int], Sample]:
    """Data sets of which the variables that can matter are drawn."""
    source = Exceedances(study, solution, rule.copies, rule.lowest(study.n_features), cut)
    return lambda number: source.sample((_SEED, number, 2))


def _matching_cut(solution: Solution, rates: Rates, fdr: float) -> float:
    """A cut on abs(g) with the power of the rule; where it has none, that of the level."""
    if rates.tpr == 0.0:
        return float(at_level(solution, "stability-ideal", np.asarray(fdr)).threshold)
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
