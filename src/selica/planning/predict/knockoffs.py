"""Rules on knockoff statistics, at their best penalty or at that of cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from selica import catalogue
from selica._core.types import Array
from selica.planning.predict.expectation import Expected
from selica.planning.predict.finite import (
    WANTED_ERROR,
    DrawnRule,
    by_evalues,
    by_one_copy,
    by_pvalues,
    expected,
)
from selica.planning.predict.limit import (
    PENALTIES,
    OneCopy,
    rounded,
    smooth_maximum,
    solved,
    unsolved,
)
from selica.planning.predict.prediction import Forecast, Studies
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Rates, solve_knockoff

_SHORTFALL = 0.05
"""Power that a finite study may lack of a large one before other penalties are tried."""
_SMALL_PENALTIES = 3
"""Smallest penalties that are tried where only chance helps."""
_EVALUES = catalogue.method("knockoffs-evalues")
"""The row of the catalogue whose e-values are averaged."""
_PVALUES = catalogue.method("knockoffs-pvalues")
"""The row of the catalogue whose p-values are aggregated."""


class CopyRule(NamedTuple):
    """A rule on knockoff statistics: in a large system, and on drawn fields."""

    rates: Callable[[OneCopy, float], Rates]
    rule: Callable[[KnockoffSolution, float], DrawnRule]
    by_chance: bool = False
    """Whether it finds something where its level is out of reach of expected counts."""

    def expected(
        self,
        study: Study,
        solution: KnockoffSolution,
        limit: Rates,
        fdr: float,
        *,
        draft: bool = False,
    ) -> Expected:
        """Return what the rule does in a study, by what it does in a large one."""
        return expected(study, solution, limit, self.rule(solution, fdr), draft=draft)


def one_copy(studies: Studies, level: float, best: bool) -> Iterator[Forecast]:
    """Predict knockoff+ with one copy.

    Parameters
    ----------
    studies : tuple of Study
    level : float
    best : bool
        Whether the penalty is the most powerful one; otherwise that of cross-validation.
    """
    rule = CopyRule(lambda one, fdr: one.knockoff_plus(fdr), by_one_copy, by_chance=True)
    return _predicted(rule, studies, level, best)


def e_values(studies: Studies, level: float, best: bool) -> Iterator[Forecast]:
    """Predict e-BH on the average e-values of many copies.

    Parameters
    ----------
    studies, level, best
        As in `one_copy`.
    """
    copies = _EVALUES.default("n_copies")
    rule = CopyRule(
        lambda one, fdr: one.evalues(fdr, copies),
        lambda solution, fdr: by_evalues(solution, fdr, copies),
        by_chance=True,
    )
    return _predicted(rule, studies, level, best)


def p_values(studies: Studies, level: float, best: bool) -> Iterator[Forecast]:
    """Predict the step-up rule on the aggregated p-values of many copies.

    Parameters
    ----------
    studies, level, best
        As in `one_copy`.
    """
    copies, gamma = _PVALUES.default("n_copies"), _PVALUES.default("gamma")
    rule = CopyRule(
        lambda one, fdr: one.pvalues(fdr, copies, gamma),
        lambda solution, fdr: by_pvalues(solution, fdr, copies, gamma),
    )
    return _predicted(rule, studies, level, best)


def predicting_penalty(study: Study) -> float:
    """Return the penalty that cross-validation finds for one lasso with copies."""
    return float(_predicting_copies((study,)).solution.lam[0])


def _predicted(rule: CopyRule, studies: Studies, fdr: float, best: bool) -> Iterator[Forecast]:
    """Predict a rule at the most powerful penalty, or at the one that cross-validation finds."""
    if not best:
        ones = _predicting_copies(studies)
        for study, one, limit in _limits(studies, ones, rule.rates(ones, fdr)):
            yield Forecast(rule.expected(study, one, limit, fdr), {"fdr": fdr}, unsolved(one))
        return
    ones, limits = _most_powerful(studies, rule, fdr)
    for s, (study, one, limit) in enumerate(_limits(studies, ones, rule.rates(ones, fdr))):
        settled = Settled(rule.expected(study, one, limit, fdr), one, limit)
        large = max(limit.tpr, float(limits.tpr[s].max()))
        short = settled.found.power < large - min(_SHORTFALL, 0.2 * large)
        if short:
            settled = _off_the_edge(studies, s, rule, fdr, limits, settled)
        if rule.by_chance and (short or large == 0.0):
            settled = _by_chance(studies, s, rule, fdr, settled)
        found, one, limit = settled
        if found.power_error > WANTED_ERROR:
            found = rule.expected(study, one, limit, fdr)
        parameters = {"fdr": fdr, "lam": rounded(study.penalty(one.lam))}
        yield Forecast(found, parameters, unsolved(one))


@lru_cache(maxsize=64)
def _one_copies(studies: Studies) -> tuple[Array, OneCopy]:
    """Return penalties of each study that a selector would try, and one copy at them."""
    lams = np.array([study.penalties(PENALTIES) for study in studies])
    return lams, OneCopy(solved(solve_knockoff, studies, lams), studies[0].n_features)


@lru_cache(maxsize=64)
def _all_copies(studies: Studies) -> tuple[Array, OneCopy]:
    """Return the same down to penalties at which some irrelevant variables are in a fit.

    Without them no statistic of an irrelevant variable differs from zero, and a rule that needs
    more selections than there are signals selects nothing.
    """
    lams, ones = _one_copies(studies)
    noise = np.array([
        study.residual / study.penalty(1.0) / math.sqrt(study.n_samples) for study in studies
    ])  # fmt: skip
    if np.all(lams[:, -1] <= noise):
        return lams, ones
    lowest = np.minimum(lams[:, -1], noise)
    lams = np.geomspace(lams[:, 0], lowest, PENALTIES, axis=1)
    return lams, OneCopy(solved(solve_knockoff, studies, lams), studies[0].n_features)


@lru_cache(maxsize=64)
def _predicting_copies(studies: Studies) -> OneCopy:
    """Return knockoffs at the penalty that cross-validation finds in each study."""
    lams, ones = _one_copies(studies)
    errors = np.log(ones.solution.prediction_error)
    errors = np.where(ones.solution.converged, errors, np.inf)
    found = [
        math.exp(smooth_maximum(x, -error)) for x, error in zip(np.log(lams), errors, strict=True)
    ]
    return OneCopy(solved(solve_knockoff, studies, found), studies[0].n_features)


def _limits(
    studies: Studies, ones: OneCopy, rates: Rates
) -> Iterator[tuple[Study, KnockoffSolution, Rates]]:
    """Iterate over studies with their solutions and the rates of a rule in a large system."""
    for s, study in enumerate(studies):
        yield study, ones.solution[s], _rates_at(rates, s)


def _rates_at(rates: Rates, place: Any) -> Rates:
    """Return the rates at a point of a grid."""
    return Rates(*(float(part[place]) for part in (rates.tpr, rates.fpr, rates.fdr)))


def _most_powerful(studies: Studies, rule: CopyRule, fdr: float) -> tuple[OneCopy, Rates]:
    """Return knockoffs where a rule finds most in a large system, and its rates everywhere."""
    lams, tried = _all_copies(studies)
    limits = _where_solved(rule.rates(tried, fdr), tried)
    best = np.array(
        [math.exp(smooth_maximum(x, tpr)) for x, tpr in zip(np.log(lams), limits.tpr, strict=True)]
    )
    hopeless = ~limits.tpr.any(axis=1)
    if hopeless.any():  # the level is out of reach in a large system
        best = np.where(hopeless, _predicting_copies(studies).solution.lam, best)
    ones = OneCopy(solved(solve_knockoff, studies, best), studies[0].n_features)
    astray = ~np.asarray(ones.solution.converged)
    if astray.any():  # between two penalties; the better of them was solved
        peaks = np.take_along_axis(lams, np.argmax(limits.tpr, axis=1)[:, None], axis=1)[:, 0]
        best = np.where(astray & ~hopeless, peaks, best)
        ones = OneCopy(solved(solve_knockoff, studies, best), studies[0].n_features)
    return ones, limits


def _where_solved(rates: Rates, ones: OneCopy) -> Rates:
    """Return rates that are zero where the equations were not solved."""
    converged = np.asarray(ones.solution.converged)
    return Rates(*(np.where(converged, part, 0.0) for part in (rates.tpr, rates.fpr, rates.fdr)))


class Settled(NamedTuple):
    """What is found with a penalty."""

    found: Expected
    solution: KnockoffSolution
    limit: Rates
    """Rates of the rule in a large system."""


def _off_the_edge(
    studies: Studies, s: int, rule: CopyRule, fdr: float, limits: Rates, best: Settled
) -> Settled:
    """Try other penalties for one of the studies.

    A rule that finds much less in a finite study than in a large one is at the edge of what its
    level allows, where counts decide whether it finds anything. So larger penalties are tried from
    the best of a large study on, as long as they could find more, and that of cross-validation.
    """
    study, tried = studies[s], _all_copies(studies)[1]
    for j in range(int(np.argmax(limits.tpr[s])), -1, -1):
        limit = _rates_at(limits, (s, j))
        if limit.tpr <= best.found.power:
            break
        one = tried.solution[s, j]
        found = rule.expected(study, one, limit, fdr, draft=True)
        if found.power > best.found.power:
            best = Settled(found, one, limit)
    usual = _predicting_copies((study,))
    ((_, one, limit),) = _limits((study,), usual, rule.rates(usual, fdr))
    found = rule.expected(study, one, limit, fdr, draft=True)
    return Settled(found, one, limit) if found.power > best.found.power else best


def _by_chance(studies: Studies, s: int, rule: CopyRule, fdr: float, best: Settled) -> Settled:
    """Try small penalties for a study in which expected counts are not enough, or hardly.

    There are hardly as many signals as a selection has variables, or fewer: some irrelevant ones
    have to be in the fit, and all of them ahead of their copies.
    """
    study, tried = studies[s], _all_copies(studies)[1]
    limit = Rates(0.0, 0.0, 0.0)
    for j in range(_SMALL_PENALTIES):
        one = tried.solution[s, PENALTIES - 1 - j]
        if not one.converged:
            continue
        found = rule.expected(study, one, limit, fdr, draft=True)
        if found.power > best.found.power:
            best = Settled(found, one, limit)
    return best
