"""Rules on fields drawn from their law: what a finite number of variables does to a prediction.

A rule that sets its threshold by the data counts variables, and counts fluctuate: knockoff+ at
level 0.1 selects ten variables or none. Here the rules themselves are run on some draws of the p
fields. A fixed cut on the same fields, whose rates are known exactly, takes out
most of the noise: what is averaged is the difference between the rule and the cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from selica._core.scalar import survival
from selica._core.types import Array, BoolArray
from selica.planning.rules import aggregated_pvalues, knockoff_plus, mean_evalues, step_up
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Rates, Solution
from selica.theory.levels import at_level

# Statistics drawn for one prediction, and data sets they make: at least, at most.
_DRAWS, _FEWEST, _MOST = 250_000, 4, 200
# With more selections than this, fluctuations are not worth a draw.
_MANY = 250
_SEED = 20


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


Rule = Callable[[Array, np.random.Generator], BoolArray]
"""From fields of data sets, (R, p), to selections."""


def by_fields(solution: Solution, fdr: float) -> Rule:
    """Message passing: the step-up rule on the p-values of the fields."""
    sd = np.sqrt(solution.chi_hat)

    def rule(g: Array, rng: np.random.Generator) -> BoolArray:
        with np.errstate(divide="ignore", over="ignore"):  # infinitely strong evidence
            return step_up(0.5 / survival(np.abs(g) / sd), fdr)

    return rule


def by_one_copy(solution: KnockoffSolution, fdr: float) -> Rule:
    """knockoff+."""
    return lambda g, rng: knockoff_plus(_statistics(solution, g, rng, 1)[:, 0], fdr)


def by_evalues(solution: KnockoffSolution, fdr: float, copies: int) -> Rule:
    """e-BH on the average e-values of the copies, each at half the level."""
    return lambda g, rng: step_up(
        mean_evalues(_statistics(solution, g, rng, copies), 0.5 * fdr), fdr
    )


def by_pvalues(solution: KnockoffSolution, fdr: float, copies: int, gamma: float) -> Rule:
    """The step-up rule on the aggregated p-values of the copies."""
    return lambda g, rng: step_up(
        1.0 / aggregated_pvalues(_statistics(solution, g, rng, copies), gamma), fdr
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
    p, k = study.n_features, study.n_signals
    large = Expected.of_rates(study, rates)
    if large.true_selections + large.false_selections > _MANY:
        return large
    cut = _matching_cut(solution, rates, fdr)
    fixed = Expected.of_rates(study, solution.rates_of_field(np.asarray(cut)))
    rng = np.random.default_rng(_SEED)
    runs = int(np.clip(_DRAWS // (p * copies), _FEWEST, _MOST))
    g = np.sqrt(solution.chi_hat) * rng.standard_normal((runs, p))
    g[:, :k] += solution.Q_hat * study.effects.sample((runs, k), rng)
    gaps = _counted(rule(g, rng), k) - _counted(np.abs(g) > cut, k)
    known = np.array([fixed.power, fixed.fdr, fixed.false_selections])
    found = known + gaps.mean(axis=1)
    power, rate = (float(min(max(x, 0.0), 1.0)) for x in found[:2])
    return Expected(power, rate, k * power, max(float(found[2]), 0.0))


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


def _statistics(
    solution: KnockoffSolution, g: Array, rng: np.random.Generator, copies: int
) -> Array:
    """W of each variable for some copies, (R, copies, p), in the unit of the field."""
    shape = (len(g), copies, g.shape[1])
    own = g[:, None] + np.sqrt(solution.v_hat) * rng.standard_normal(shape)
    copy = np.sqrt(solution.v_tilde_hat) * rng.standard_normal(shape)
    lam = solution.lam
    return np.asarray(np.maximum(np.abs(own) - lam, 0.0) - np.maximum(np.abs(copy) - lam, 0.0))
