"""Rules on fields that are drawn: what a finite number of variables does to a prediction.

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
from selica.planning.predict.expectation import (
    FOUND_SHARES,
    Expected,
    of_variable,
    relative_effect,
    variable_rate,
)
from selica.planning.predict.listed import Listed
from selica.planning.predict.rules import (
    aggregated_pvalues,
    knockoff_plus,
    mean_evalues,
    raised_level,
    step_up,
)
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Rates, Solution
from selica.theory.selection.levels import at_level

_WHOLE_VARIABLES = 2000
"""Variables up to which all of them are drawn."""
_WHOLE_STATISTICS = 5_000
"""Statistics of a data set up to which all of them are drawn."""
_WHOLE_BATCH = 50_000
"""Statistics that are drawn at a time, which stay near the processor."""
_USUAL_DRAWS = 100_000
"""Statistics that are drawn before a usual precision is enough."""
_MOST_DRAWS = 12_000_000
"""Statistics that are drawn, at most."""
_MOST_TAIL_DRAWS = 60_000_000
"""Statistics that are drawn, at most, where only those that can matter are."""
WANTED_ERROR = 0.01
"""Standard error of power and FDR at which draws end."""
_DRAFT = 0.04
"""Share of these draws that a draft takes, at most."""
_FEWEST_DATA_SETS = 12
"""Data sets that are drawn, at least."""
_MANY_SELECTIONS = 250
"""Selections beyond which fluctuations are not worth a draw, if many of them may be false."""
_MANY_FALSE = 25
"""False selections at the level beyond which fluctuations are not worth a draw."""
_MANY_SIGNALS = 100_000
"""Signals beyond which fluctuations are no matter for power."""
_NEGLECTED_ERROR = 0.003
"""What fluctuations may change in the power where nothing is drawn."""
_SEED = 20
"""First number of all seeds."""
_SHARED_NUMBERS = 1 << 18
"""Statistics that are drawn once for all studies whose data sets need no more."""
_KEPT_BATCHES = 24
"""Batches of draws that are kept for other studies of the same size."""
_DRAWING = Lock()
"""Holds while draws are made, since all threads keep the same."""


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
        if size <= _SHARED_NUMBERS and self._seed < _KEPT_BATCHES:
            own, copy = _numbers(self._seed, _SHARED_NUMBERS)
        else:
            own, copy = _numbers.__wrapped__(self._seed, size)
        return own[:size].reshape(self._shape), copy[:size].reshape(self._shape)


@lru_cache(maxsize=_KEPT_BATCHES)
def _numbers(seed: int, size: int) -> tuple[Any, Any]:
    """Draw normal numbers, and sizes of others, of which all studies take the first ones."""
    rng = np.random.default_rng([_SEED, seed, 1])
    single = np.float32  # ranks need no more digits
    own, copy = (rng.standard_normal(size, dtype=single) for _ in range(2))
    return own, np.abs(copy, out=copy)


@lru_cache(maxsize=4)
def _draws(p: int, k: int, copies: int, effects: Effects) -> list[Draws]:
    """Return the draws so far, for all studies of this size."""
    return []


class DrawnRule(NamedTuple):
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
    share_kept: bool = False
    """Whether the mean false share is the level times the share of irrelevant variables."""


def by_fields(solution: Solution, fdr: float) -> DrawnRule:
    """Return the rule of message passing: step-up on the p-values of the fields."""
    sd = np.sqrt(solution.chi_hat)

    def select(sample: Sample, p: int) -> BoolArray:
        with np.errstate(divide="ignore", over="ignore"):  # infinitely strong evidence
            return step_up(0.5 / survival(sample.fields / sd), fdr, p)

    # the step-up rule on independent p-values, some of them uniform (Benjamini and Hochberg)
    lowest = partial(lowest_field, solution, fdr=fdr)
    return DrawnRule(select, fdr, 0, lowest, 1.0, share_kept=True)


def by_one_copy(solution: KnockoffSolution, fdr: float) -> DrawnRule:
    """Return the rule knockoff+."""
    lowest = partial(lowest_statistic, solution, fdr=fdr, posthoc=False)

    def select(sample: Sample, p: int) -> BoolArray:
        W = sample.statistics
        return W.knockoff_plus(fdr) if isinstance(W, Listed) else knockoff_plus(W[:, 0], fdr)

    return DrawnRule(select, fdr, 1, lowest, 1.0 / fdr)


def by_evalues(solution: KnockoffSolution, fdr: float, copies: int) -> DrawnRule:
    """Return the rule e-BH on the average e-values of the copies."""
    lowest = partial(lowest_statistic, solution, fdr=fdr, posthoc=True)

    raised = raised_level(fdr, copies)

    def select(sample: Sample, p: int) -> BoolArray:
        W, half = sample.statistics, 0.5 * fdr  # the levels of `DerandomizedKnockoffs`
        e = W.mean_evalues(half, p) if isinstance(W, Listed) else mean_evalues(W, half, p)
        return step_up(e, raised, p)

    return DrawnRule(select, fdr, copies, lowest, 1.0 / raised)


def by_pvalues(solution: KnockoffSolution, fdr: float, copies: int, gamma: float) -> DrawnRule:
    """Return the step-up rule on the aggregated p-values of the copies."""

    def select(sample: Sample, p: int) -> BoolArray:
        W = sample.statistics
        P = (
            W.aggregated_pvalues(gamma, p)
            if isinstance(W, Listed)
            else aggregated_pvalues(W, gamma, p)
        )
        return step_up(1.0 / P, fdr, p)

    lowest = partial(lowest_statistic, solution, fdr=fdr, posthoc=False)
    return DrawnRule(select, fdr, copies, lowest, 1.0 / (gamma * fdr))


def expected(
    study: Study, solution: Solution, rates: Rates, rule: DrawnRule, *, draft: bool = False
) -> Expected:
    """Return a prediction in which counts fluctuate.

    Parameters
    ----------
    study : Study
    solution : Solution
        Of one model.
    rates : Rates
        Of the rule in a large system.
    rule : DrawnRule
        For this solution.
    draft : bool
        Whether a few draws are enough, with an error that may be larger than `WANTED_ERROR`.
    """
    k = study.n_signals
    large = Expected.of_rates(study, rates)
    selected = large.true_selections + large.false_selections
    cut = _matching_cut(solution, rates, rule.fdr)
    if k > _MANY_SIGNALS:
        chance = variable_rate(study, solution, lambda one: one.rates_of_field(np.asarray(cut)))
        return large._replace(power_error=_NEGLECTED_ERROR, variable_power=chance)
    most = _DRAFT if draft else 1.0
    chance = None if study.variable is None else _chance(study, solution, rule, cut, most)
    if selected > _MANY_SELECTIONS and rule.fdr * selected > _MANY_FALSE:
        return large._replace(power_error=_NEGLECTED_ERROR, variable_power=chance)
    fixed = Expected.of_rates(study, solution.rates_of_field(np.asarray(cut)))
    with _DRAWING:
        tally = _drawn(study, solution, rule, cut, fixed, most)
    mean, error = tally.estimate()
    power, rate = (float(min(max(x, 0.0), 1.0)) for x in mean[:2])
    if rule.share_kept:
        rate = rule.fdr * (1.0 - k / study.n_features)
    low, high = tally.range()
    false = max(float(mean[2]), 0.0)
    return Expected(
        power, rate, k * power, false, float(error[0]),
        found_low=low, found_high=high, variable_power=chance,
    )  # fmt: skip


def _chance(study: Study, solution: Solution, rule: DrawnRule, cut: float, most: float) -> float:
    """Return how often the one variable of a study is selected, in draws with its effect."""
    fixed = of_variable(solution, study).rates_of_field(np.asarray(cut))
    known = Expected(float(fixed.tpr), 0.0, float(fixed.tpr), 0.0)
    with _DRAWING:
        tally = _drawn(study, solution, rule, cut, known, most, relative_effect(study))
    return float(np.clip(tally.estimate()[0][0], 0.0, 1.0))


def _drawn(
    study: Study,
    solution: Solution,
    rule: DrawnRule,
    cut: float,
    fixed: Expected,
    share: float,
    first: float | None = None,
) -> _Tally:
    """Run a rule on draws until its power is known, or that of the first signal with its effect.

    No more than a share of all draws is made.
    """
    p, k = study.n_features, study.n_signals
    whole = p <= _WHOLE_VARIABLES and p * rule.copies <= _WHOLE_STATISTICS
    sample = (
        _whole(study, solution, rule, first) if whole else _some(study, solution, rule, cut, first)
    )
    count = _counted if first is None else _counted_first
    tally = _Tally(k if first is None else 1, fixed, rule.fewest)
    most = share * (_MOST_DRAWS if whole else _MOST_TAIL_DRAWS)
    drawn = number = 0
    while True:
        some = sample(number)
        tally.add(*(count(mask, some, k) for mask in (rule.select(some, p), some.fields > cut)))
        runs, kept = some.fields.shape
        drawn += runs * max(kept * max(rule.copies, 1), k)
        number += 1
        # what comes from few data sets has to be known better
        wanted = WANTED_ERROR if drawn >= _USUAL_DRAWS else 0.3 * WANTED_ERROR
        _, error = tally.estimate()
        # no draws settle a power that is no number, as of equations that were not solved
        enough = not np.max(error[:2]) > wanted or drawn * (number + 1) > most * number
        if enough and tally.runs >= _FEWEST_DATA_SETS:
            return tally


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
        """Add some more data sets, (4, R) each."""
        self._parts.append((found, fixed))
        self.runs += found.shape[1]

    def range(self) -> tuple[float, float]:
        """Return how many signals are found in nine of ten data sets, at least and at most."""
        found = self._k * np.concatenate([part[0][0] for part in self._parts])
        low, high = np.quantile(found, FOUND_SHARES, method="inverted_cdf").round().tolist()
        return low, high

    def estimate(self) -> tuple[Array, Array]:
        """Return means over data sets of the first three counts, and their standard errors."""
        every = [np.concatenate(part, axis=1) for part in zip(*self._parts, strict=True)]
        found, apart = every[0][:3], every[1][:3] - self._known
        runs = self.runs
        gap = apart.mean(axis=1)
        centred = apart - gap[:, None]
        spread = np.sum(centred**2, axis=1)
        varies = spread > 1e-12
        slope = np.sum(found * centred, axis=1) / np.where(varies, spread, 1.0)
        slope[~varies] = 1.0  # where it never differs, the rule does as well as it can
        mean = found.mean(axis=1) - slope * gap
        rest = found - found.mean(axis=1, keepdims=True) - slope[:, None] * centred
        # two degrees of freedom go to mean and slope, and two to the law of Student
        square = np.sum(rest**2, axis=1) / max(runs - 4, 1)
        lever = np.where(varies, gap**2 / np.where(varies, spread, 1.0), 0.0)
        error = np.sqrt(square * (1.0 / runs + lever))
        error[~varies] += 0.5 * np.abs(gap[~varies])
        error[0] = max(error[0], self._least_error(every[0][3], float(mean[0])))
        return mean, error

    def _least_error(self, selected: Array, power: float) -> float:
        """Return what one data set of another kind would change, of those that were not seen.

        One signal more or less in all of the data sets. Where none of them has a selection, one;
        where all of them have, some of them a small one, one without.
        """
        least = 1.0 / (self.runs * math.sqrt(self._k))
        if not selected.any():
            return max(least, float(self._known[0, 0]) / (self.runs + 2))
        if 0 < selected.min() < 2.0 * self._fewest:
            return max(least, power / (self.runs + 2))
        return least


def _counted(mask: BoolArray, sample: Sample, k: int) -> Array:
    """Count the share of signals found, share and number of false ones, and all, (4, R)."""
    true, every = np.sum(mask & sample.truth, axis=1), np.sum(mask, axis=1)
    false = every - true
    return np.array([true / k, false / np.maximum(every, 1), false, every])


def _counted_first(mask: BoolArray, sample: Sample, k: int) -> Array:
    """Count whether the first signal is found, in the rows of `_counted`, (4, R)."""
    nothing = np.zeros(len(mask))
    return np.array([mask[:, 0] & sample.first, nothing, nothing, mask.sum(axis=1)])


def _whole(
    study: Study, solution: Solution, rule: DrawnRule, first: float | None = None
) -> Callable[[int], Sample]:
    """Return a function that draws all variables of data sets, by the number of the batch."""
    p, k, copies = study.n_features, study.n_signals, max(rule.copies, 1)
    size = max(_WHOLE_BATCH // (p * copies), 1)
    kept = _draws(p, k, copies, study.effects)
    truth = np.arange(p) < k

    def sample(number: int) -> Sample:
        if number < len(kept):
            draws = kept[number]
        else:
            draws = Draws(number, (size, p, k, copies), study.effects)
            if number < _KEPT_BATCHES:
                kept.append(draws)
        g = np.sqrt(solution.chi_hat) * draws.fields
        g[:, :k] += solution.slope * draws.effects
        if first is not None:
            g[:, 0] += solution.slope * (first - draws.effects[:, 0])
        there = np.ones(len(g), dtype=bool)
        if not rule.copies:
            return Sample(np.abs(g), None, truth, there)
        assert isinstance(solution, KnockoffSolution)
        return Sample(np.abs(g), _statistics(solution, g, draws), truth, there)

    return sample


def _some(
    study: Study, solution: Solution, rule: DrawnRule, cut: float, first: float | None = None
) -> Callable[[int], Sample]:
    """Return a function that draws the variables of data sets that can matter."""
    source = Exceedances(study, solution, rule.copies, rule.lowest(study.n_features), cut, first)
    return lambda number: source.sample((_SEED, number, 2))


def _matching_cut(solution: Solution, rates: Rates, fdr: float) -> float:
    """Return a cut on abs(g) with the power of the rule; where it has none, of the level."""
    if rates.tpr == 0.0:
        return float(at_level(solution, "stability-ideal", np.asarray(fdr)).threshold)
    sd, Q = float(np.sqrt(solution.chi_hat)), float(solution.slope)
    cuts = np.linspace(0.0, 10.0 * sd + 5.0 * Q, 500)
    tpr = np.asarray(solution.rates_of_field(cuts).tpr)
    return float(np.interp(-rates.tpr, -tpr, cuts))


def _statistics(solution: KnockoffSolution, g: Array, draws: Draws) -> Any:
    """Return W of each variable for some copies, (R, copies, p), in the unit of the field."""
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
