r"""Rules on fields that are drawn: what a finite number of variables does to a prediction.

A rule that sets its threshold by the data counts variables, and counts fluctuate: knockoff+ at
level 0.1 selects ten variables or none. Here the rules themselves are run on some draws of the
fields: of all p of them, or of those that can matter where they are many. A fixed cut on the same
fields, whose rates are known exactly, takes out most of the noise, and what is left of it is stated
as the standard error of the power.

A rule looks at statistics from the largest down, and there is a size t below which it never stops:
there negatives are so many that counts cannot come near its level. Of p variables only those with
a statistic beyond t in some copy matter then, a few thousand of a million. They are drawn from
their exact distribution:

- :math:`W = (|g + \sqrt v z| - \lambda)_+ - (\sqrt{\tilde v}|z'| - \lambda)_+` is beyond t only if
  one of its two parts is: with :math:`c = \lambda + t` that has a probability
  :math:`q(g) = 1 - (1 - r)(1 - a(g))` in a copy, by the tails r of the copy and a of the variable
  itself, and :math:`1 - (1 - q(g))^B` in one of B copies, which share the field g;
- the number of such irrelevant variables is binomial, their fields have the normal density times
  that probability, and signals are kept with it;
- given a field, copies are independent but for the condition that one of them is beyond t, and the
  parts of W that are beyond c have the distribution of a normal number in its tail.

Variables whose field is beyond the cut of a control variate are kept, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import bdtr, ndtr, ndtri

from selica._core.effects import Effects, Mixture
from selica._core.scalar import survival
from selica._core.types import Array, BoolArray, IntArray
from selica.planning.predict.limit import CopyCounts, FieldLaw
from selica.planning.predict.listed import Listed
from selica.planning.predict.rules import (
    aggregated_pvalues,
    knockoff_plus,
    mean_evalues,
    raised_level,
    step_up,
)
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Model, Rates, Solution
from selica.theory.selection.levels import at_level

S = TypeVar("S", bound=Solution)

FOUND_SHARES = (0.1, 0.9)
"""Shares of studies in which fewer signals are found than the ends of the stated range."""
_WHOLE_VARIABLES = 2000
"""Variables up to which all of them are drawn."""
_WHOLE_STATISTICS = 5_000
"""Statistics of a data set up to which all of them are drawn."""
_WHOLE_BATCH = 50_000
"""Statistics that are drawn at a time, which stay near the processor."""
_TAIL_BATCH = 150_000
"""Statistics of a batch where only those that can matter are drawn."""
_LARGEST_BATCH = 500
"""Data sets of such a batch, at most."""
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
_SHARE_RULE = np.polynomial.legendre.leggauss(48)
"""Nodes and weights of the mean share of false selections."""
_LONGEST_EXPONENT = 40.0
"""Exponent x up to which exp(-x) counts in it."""
_UNLIKELY_DEVIATIONS = 5.0
"""Standard deviations by which counts may miss what is expected of them."""
_CELL_WIDTH = 0.01
"""Width of the cells of abs(g) of irrelevant variables, in standard deviations."""
_CHANCES = np.array([1.0, 0.3, 0.1, 0.03, 0.01, 1e-3])
"""Largest chances of groups of variables, in falling order; the smallest is the last."""
_FARTHEST_FIELD = 12.0
"""End of the last cell, in standard deviations."""


class Sample(NamedTuple):
    """Some of the variables of R data sets; the others are without evidence."""

    fields: Array
    """Absolute fields, (R, M)."""
    statistics: Any
    """Knockoff statistics in the unit of the field, (R, copies, M) or `Listed`; None without."""
    truth: BoolArray
    """Which of them are signals, (R, M) or (M,)."""
    first: BoolArray
    """Whether the first signal of all is the first variable here, (R,)."""


def lowest_statistic(solution: KnockoffSolution, p: int, fdr: float, *, posthoc: bool) -> float:
    """Return a size of W below which no filter at the level or a smaller one stops.

    Parameters
    ----------
    solution : KnockoffSolution
        Of one model.
    p : int
    fdr : float
    posthoc : bool
        Whether it also stops where no statistic is behind.
    """
    (t,), (ahead,), (behind,) = CopyCounts.of(solution)
    positive, negative = p * ahead, p * behind
    spread = np.sqrt(negative + fdr**2 * positive)
    below = 1.0 + negative - fdr * positive > _UNLIKELY_DEVIATIONS * spread
    if posthoc:
        below &= negative > _UNLIKELY_DEVIATIONS**2
    return float(solution.Q_hat * _last(t, below))


def lowest_field(solution: Solution, p: int, fdr: float) -> float:
    """Return a size of the field that the step-up rule on p-values of fields leaves out."""
    sd = float(np.sqrt(solution.chi_hat))
    g, null, signal = (part[0] for part in FieldLaw.of(solution, np.array([_FARTHEST_FIELD * sd])))
    law = solution.rho * signal + (1.0 - solution.rho) * null
    above = p * np.cumsum(law[::-1])[::-1]
    false = 2.0 * p * survival(g / sd)
    return _last(g, false > fdr * (above + _UNLIKELY_DEVIATIONS * np.sqrt(above)))


def _last(x: Array, fine: BoolArray) -> float:
    """Return the last value before the first that is not fine; zero if there is none."""
    first = fine.size if fine.all() else int(np.argmin(fine))
    return float(x[first - 1]) if first else 0.0


def scattered(chance: Array, copies: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw which copies of which variables something happens to, each by itself.

    Variables of about the same chance are put in a row of cells, one for each copy. The gaps
    between cells that are hit at the largest of these chances are geometric, and a hit counts with
    the ratio of the two chances: so it costs what happens, and not what might.

    Parameters
    ----------
    chance : array of shape (N,)
        Of each copy of a variable.
    copies : int
    rng : Generator

    Returns
    -------
    variable, copy : array of int
        A pair for each that happens; no pair twice.
    """
    level = np.searchsorted(-_CHANCES, -np.minimum(chance, 1.0), side="right") - 1
    variables, places = [], []
    for number, top in enumerate(_CHANCES.tolist()):
        pick = np.flatnonzero((level == number) & (chance > 0.0))
        cells = pick.size * copies
        if top == 1.0:
            hit = np.arange(cells)
        else:
            number_drawn = int(cells * top + 8.0 * math.sqrt(cells * top) + 20.0)
            hit = np.cumsum(rng.geometric(top, number_drawn)) - 1
            while hit[-1] < cells:
                more = np.cumsum(rng.geometric(top, number_drawn))
                hit = np.append(hit, hit[-1] + more)
            hit = hit[: np.searchsorted(hit, cells)]
        variable = pick[hit // copies]
        counts = rng.random(hit.size) * top < chance[variable]
        variables.append(variable[counts])
        places.append((hit % copies)[counts])
    return np.concatenate(variables), np.concatenate(places)


class Exceedances:
    """Variables of data sets with a statistic beyond a size, or a field beyond a cut.

    Parameters
    ----------
    study : Study
    solution : Solution
        Of one model, with knockoffs if there are copies.
    copies : int
        Zero for fields alone.
    lowest : float
        Statistics below do not matter, or fields below if there are no copies.
    cut : float
        Fields above it are kept.
    first : float, optional
        Effect of the first signal; by default it is drawn as that of any other.
    """

    def __init__(
        self,
        study: Study,
        solution: Solution,
        copies: int,
        lowest: float,
        cut: float,
        first: float | None = None,
    ) -> None:
        self._first = first
        self._study, self._solution, self._copies = study, solution, copies
        self._cut = cut if copies else min(cut, lowest)
        if copies:
            assert isinstance(solution, KnockoffSolution)
            self._edge = float(solution.lam) + lowest
            # members may agree: a step
            self._sd = max(float(np.sqrt(solution.v_hat)), 1e-9 * self._edge)
            self._copy_sd = float(np.sqrt(solution.v_tilde_hat))
            self._tail = float(2.0 * survival(np.array(self._edge / self._copy_sd)))
        sd = float(np.sqrt(solution.chi_hat))
        edges = sd * np.append(np.arange(0.0, _FARTHEST_FIELD, _CELL_WIDTH), _FARTHEST_FIELD)
        if self._cut < edges[-1]:
            edges = np.insert(edges, np.searchsorted(edges, self._cut), self._cut)
        self._edges = edges
        mass = -2.0 * np.diff(survival(edges / sd))
        kept = mass * self._chance(0.5 * (edges[1:] + edges[:-1]))
        self._share = float(kept.sum())
        self._law = np.cumsum(kept) / max(self._share, 1e-300)
        expected = study.n_signals + (study.n_features - study.n_signals) * self._share
        self.size = int(
            np.clip(_TAIL_BATCH / (max(copies, 1) * max(expected, 1.0)), 1, _LARGEST_BATCH)
        )
        """Data sets of a batch."""

    def sample(self, seed: tuple[int, ...]) -> Sample:
        """Draw a batch of data sets."""
        R, k, s = self.size, self._study.n_signals, self._solution
        effects, noise, rng = (np.random.default_rng([*seed, part]) for part in range(3))
        size = self._study.effects.sample((R, k), effects)
        if self._first is not None:
            size[:, 0] = self._first
        g = np.abs(s.slope * size + np.sqrt(s.chi_hat) * noise.standard_normal((R, k)))
        kept = noise.random((R, k)) < self._chance(g)
        numbers = rng.binomial(self._study.n_features - k, min(self._share, 1.0), R)
        cell = np.searchsorted(self._law, rng.random(numbers.sum()), side="right")
        cell = np.minimum(cell, self._law.size - 1)
        width = np.diff(self._edges)[cell]
        null = self._edges[cell] + width * rng.random(cell.size)
        # one list, data set after data set, signals first
        row = np.concatenate([np.nonzero(kept)[0], np.repeat(np.arange(R), numbers)])
        order = np.argsort(row, kind="stable")
        row, field = row[order], np.concatenate([g[kept], null])[order]
        true = (np.arange(row.size) < np.count_nonzero(kept))[order]
        sizes = np.bincount(row, minlength=R)
        place = np.arange(row.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        shape = (R, max(int(sizes.max()), 1))
        fields, truth = np.zeros(shape), np.zeros(shape, dtype=bool)
        fields[row, place], truth[row, place] = field, true
        if not self._copies:
            return Sample(fields, None, truth, kept[:, 0])
        own = self._own(field)
        which, copy = self._beyond(field, own, rng)
        value = self._statistics(field, own, which, rng).astype(np.float32)
        some = np.flatnonzero(value)
        which, copy = which[some], copy[some]
        group, variable = row[which] * self._copies + copy, (row * shape[1] + place)[which]
        listed = Listed(group, variable, value[some], (R, self._copies, shape[1]))
        return Sample(fields, listed, truth, kept[:, 0])

    def _own(self, g: Array) -> Array:
        """Return P(a field with noise is above c), and P(it is below -c), in two rows."""
        return np.stack([survival((self._edge + sign * g) / self._sd) for sign in (-1.0, 1.0)])

    def _one(self, own: Array) -> Array:
        """Return P(a statistic may be beyond the lowest in one copy), by what `_own` returns."""
        return np.asarray(1.0 - (1.0 - self._tail) * (1.0 - own[0] - own[1]))

    def _chance(self, g: Array) -> Array:
        """Return P(a variable is kept)."""
        if not self._copies:
            return np.asarray(g > self._cut, dtype=float)
        return np.where(g > self._cut, 1.0, self._some(self._one(self._own(g))))

    def _some(self, one: Array) -> Array:
        """Return P(a statistic may be beyond the lowest in some copy)."""
        with np.errstate(divide="ignore"):
            return np.asarray(-np.expm1(self._copies * np.log1p(-np.minimum(one, 1.0))))

    def _beyond(self, g: Array, own: Array, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw variables and copies whose statistics may be beyond, one of each variable or more.

        Copies have uniform numbers, and are beyond where these are at most their chance: the
        smallest is drawn on the condition that it is, for those whose field is not reason enough.
        """
        chance, B = self._one(own), self._copies
        asked = g <= self._cut
        with np.errstate(divide="ignore", invalid="ignore"):
            some = rng.random(g.size) * self._some(chance)
            least = np.where(asked, -np.expm1(np.log1p(-some) / B), 0.0)
            rest = np.where(least < 1.0, (chance - least) / (1.0 - least), 0.0)
        first = rng.integers(B, size=g.size)
        which, copy = scattered(rest, B, rng)
        one = np.flatnonzero(asked)
        other = ~asked[which] | (copy != first[which])
        return np.append(which[other], one), np.append(copy[other], first[one])

    def _statistics(
        self, fields: Array, tails: Array, which: IntArray, rng: np.random.Generator
    ) -> Array:
        """Draw W of some variables in a copy each, given that one of its parts is beyond c."""
        g, (above, below) = fields[which], tails[:, which]
        lam, edge, tail, sd = self._solution.lam, self._edge, self._tail, self._sd
        own, u = above + below, rng.random((3, which.size))
        pick = u[0] * (1.0 - (1.0 - tail) * (1.0 - own))
        far = pick < own  # the variable itself
        # then, with the same number, the copy
        twin = np.where(far, pick < own * tail, True)
        up = u[1] * own < above
        size = np.empty_like(g)
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = np.where(up, u[1] * own, u[1] * own - above)[far]
            size[far] = np.where(up, g, -g)[far] - sd * ndtri(beyond)
            near, rest = g[~far], u[1, ~far]
            bottom, top = ndtr((-edge - near) / sd), ndtr((edge - near) / sd)
            inside = np.abs(near + sd * ndtri(bottom + rest * (top - bottom)))
        size[~far] = np.minimum(inside, edge)
        # the tail of a copy, or what is below it
        of_copy = np.where(twin, 0.5 * u[2] * tail, 0.5 - 0.5 * u[2] * (1.0 - tail))
        of_copy = -self._copy_sd * ndtri(of_copy)
        return np.asarray(np.maximum(size - lam, 0.0) - np.maximum(of_copy - lam, 0.0))


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
    found_low: float = math.nan
    """Signals that are found in nine of ten studies, at least."""
    found_high: float = math.nan
    """Signals that are found in nine of ten studies, at most."""
    variable_power: float | None = None
    """Probability that the one variable of the study is selected; None if it has none."""

    @classmethod
    def of_rates(cls, study: Study, rates: Rates, variable_power: float | None = None) -> Expected:
        """Return what is expected if every variable is selected by itself, at these rates."""
        p, k = study.n_features, study.n_signals
        fdr = mean_false_share(p, k, rates.tpr, rates.fpr)
        low, high = (binomial_quantile(share, k, float(rates.tpr)) for share in FOUND_SHARES)
        return cls(
            rates.tpr, fdr, k * rates.tpr, (p - k) * rates.fpr,
            found_low=low, found_high=high, variable_power=variable_power,
        )  # fmt: skip


def binomial_quantile(share: float, number: int, chance: float) -> float:
    """Return the smallest count that a binomial number is at most with a probability.

    Parameters
    ----------
    share : float
        That probability.
    number : int
        Of tries.
    chance : float
        Of each of them.

    Examples
    --------
    >>> from selica.planning.predict.finite import binomial_quantile
    >>> binomial_quantile(0.1, 10, 0.5), binomial_quantile(0.9, 10, 0.5)
    (3.0, 7.0)
    """
    if not 0.0 < chance < 1.0:
        return number * float(chance >= 1.0)
    low, high = -1, number  # at most this many: too unlikely, likely enough
    while high - low > 1:
        middle = (low + high) // 2
        if bdtr(middle, number, chance) >= share:
            high = middle
        else:
            low = middle
    return float(high)


@dataclass(frozen=True, slots=True)
class _OneEffect(Effects):
    """An effect of any size that all signals have: what is asked is what it means for one."""

    size: float

    def mixture(self) -> Mixture:
        """Return the one point."""
        return Mixture(np.array([self.size]), np.zeros(1), np.ones(1))

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Return the effect as often as asked."""
        return np.full(size, self.size)


def of_variable(solution: S, study: Study) -> S:
    """Return a solution whose signals all have the effect of the one variable of the study.

    Order parameters stay what they are, so that its rates are those of this variable.

    Parameters
    ----------
    solution : Solution
    study : Study
        With a `variable`.
    """
    m = solution.model
    one = Model(m.alpha, m.rho, m.Delta, _OneEffect(_relative(study)))
    return replace(solution, model=one)


def variable_rate(study: Study, solution: Any, rates: Callable[[Any], Rates]) -> float | None:
    """Return the probability that the variable of a study is selected; None without one.

    Parameters
    ----------
    study : Study
    solution : Solution
        Of one model.
    rates : callable
        From a solution to the rates of a rule with a known threshold.
    """
    if study.variable is None:
        return None
    return float(np.ravel(rates(of_variable(solution, study)).tpr)[0])


def _relative(study: Study) -> float:
    """Return the effect of the one variable, in the unit in which effects have unit size."""
    assert study.variable is not None
    return study.variable / study.effect_size


def mean_false_share(p: int, k: int, tpr: float, fpr: float) -> float:
    r"""Return the mean share of false ones among variables that are selected independently.

    With V false and S true ones, V/(V + S) has the mean of V times 1/(1 + V' + S), V' of the other
    irrelevant variables; and the mean of 1/(1 + N) is the integral of that of x^N over x from 0 to
    1. In a large study it is the ratio of the expected numbers.
    """
    if p == k or fpr == 0.0:
        return 0.0
    number = k * tpr + (p - k) * fpr
    nodes, weights = _SHARE_RULE
    span = min(_LONGEST_EXPONENT / max(number, 1e-300), 1.0)
    missing = 0.5 * span * (nodes + 1.0)  # 1 - x
    with np.errstate(divide="ignore"):
        log = (p - k - 1) * np.log1p(-fpr * missing) + k * np.log1p(-tpr * missing)
    return float(min((p - k) * fpr * 0.5 * span * (weights @ np.exp(log)), 1.0))


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
        tally = _drawn(study, solution, rule, cut, known, most, _relative(study))
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
