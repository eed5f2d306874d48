"""Rules on knockoff statistics, at their best penalty or at that of cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from selica._core.types import Array
from selica.planning.predict.finite import (
    Expected,
    Rule,
    by_evalues,
    by_one_copy,
    by_pvalues,
    expected,
)
from selica.planning.predict.grids import (
    PENALTIES,
    Found,
    Studies,
    models,
    points,
    rounded,
    smooth_maximum,
)
from selica.planning.predict.limit import OneCopy
from selica.planning.study import Study
from selica.theory import KnockoffSolution, Rates, solve_knockoff

COPIES, AGGREGATED, GAMMA = 50, 25, 0.3
"""Copies of e-values and of p-values, and their quantile, as the selectors take them."""
# Power that a finite study may lack of that of a large one before other penalties are tried.
_SHORT = 0.05
# Of the smallest penalties so many are tried where only chance helps.
_SMALLEST = 3


@lru_cache(maxsize=64)
def _one_copies(studies: Studies) -> tuple[Array, OneCopy]:
    """Penalties of each study that a selector would try, and knockoffs with one copy at them."""
    lams = np.array([study.penalties(PENALTIES) for study in studies])
    return lams, OneCopy(solve_knockoff(models(studies, 1), lams), studies[0].n_features)


@lru_cache(maxsize=64)
def _all_copies(studies: Studies) -> tuple[Array, OneCopy]:
    """The same down to penalties at which some irrelevant variables are in a fit.

    Without them no statistic of an irrelevant variable differs from zero, and a rule that needs
    more selections than there are signals selects nothing.
    """
    lams, ones = _one_copies(studies)
    noise = np.array([1.0 / study.penalty(1.0) / math.sqrt(study.n_samples) for study in studies])
    if np.all(lams[:, -1] <= noise):
        return lams, ones
    lowest = np.minimum(lams[:, -1], noise)
    lams = np.geomspace(lams[:, 0], lowest, PENALTIES, axis=1)
    return lams, OneCopy(solve_knockoff(models(studies, 1), lams), studies[0].n_features)


@lru_cache(maxsize=64)
def _predicting_copies(studies: Studies) -> OneCopy:
    """Knockoffs at the penalty that cross-validation finds in each study."""
    lams, ones = _one_copies(studies)
    errors = np.log(ones.solution.prediction_error)
    found = [
        math.exp(smooth_maximum(x, -error)) for x, error in zip(np.log(lams), errors, strict=True)
    ]
    return OneCopy(solve_knockoff(models(studies), found), studies[0].n_features)


def predicting_knockoff(study: Study) -> float:
    """The penalty that cross-validation finds for one lasso with copies."""
    return float(_predicting_copies((study,)).solution.lam[0])


class CopyRule(NamedTuple):
    """A rule on knockoff statistics: in a large system, and on drawn fields."""

    rates: Callable[[OneCopy, float], Rates]
    rule: Callable[[KnockoffSolution, float], Rule]
    by_chance: bool = False
    """Whether it finds something where its level is out of reach of expected counts."""

    def expected(
        self, study: Study, solution: KnockoffSolution, limit: Rates, fdr: float
    ) -> Expected:
        """What it does in a study, by what it does in a large one."""
        return expected(study, solution, limit, self.rule(solution, fdr))


_COPY_RULES = {
    "knockoff": CopyRule(lambda one, fdr: one.knockoff_plus(fdr), by_one_copy, by_chance=True),
    "evalues": CopyRule(
        lambda one, fdr: one.evalues(fdr, COPIES),
        lambda solution, fdr: by_evalues(solution, fdr, COPIES),
    ),
    "pvalues": CopyRule(
        lambda one, fdr: one.pvalues(fdr, AGGREGATED, GAMMA),
        lambda solution, fdr: by_pvalues(solution, fdr, AGGREGATED, GAMMA),
    ),
}


def by_knockoffs(name: str) -> Callable[[Studies, float, bool], Iterator[Found]]:
    """At the most powerful penalty, or at the one that cross-validation finds."""
    known = _COPY_RULES[name]

    def predicted(studies: Studies, fdr: float, best: bool) -> Iterator[Found]:
        if not best:
            ones = _predicting_copies(studies)
            for study, one, limit in _limits(studies, ones, known.rates(ones, fdr)):
                yield known.expected(study, one, limit, fdr), {"fdr": fdr}
            return
        ones, limits = _most_powerful(studies, known, fdr)
        each = _limits(studies, ones, known.rates(ones, fdr))
        for s, (study, one, limit) in enumerate(each):
            found = known.expected(study, one, limit, fdr)
            large = max(limit.tpr, float(limits.tpr[s].max()))
            if found.power < large - min(_SHORT, 0.2 * large):
                found, one = _off_the_edge(studies, s, known, fdr, limits, (found, one))
            elif large == 0.0 and known.by_chance:
                found, one = _by_chance(studies, s, known, fdr, (found, one))
            yield found, {"fdr": fdr, "lam": rounded(study.penalty(one.lam))}

    return predicted


def _limits(
    studies: Studies, ones: OneCopy, rates: Rates
) -> Iterator[tuple[Study, KnockoffSolution, Rates]]:
    """Each study with its solution and the rates of a rule in a large system."""
    places = [(s,) for s in range(len(studies))]
    for study, one, at in zip(studies, points(studies, ones.solution, places), places, strict=True):
        yield study, one, Rates(*(float(part[at]) for part in (rates.tpr, rates.fpr, rates.fdr)))


def _most_powerful(studies: Studies, known: CopyRule, fdr: float) -> tuple[OneCopy, Rates]:
    """Knockoffs where a rule finds most in a large system, and its rates at all penalties."""
    lams, tried = _all_copies(studies)
    limits = known.rates(tried, fdr)
    best = np.array(
        [math.exp(smooth_maximum(x, tpr)) for x, tpr in zip(np.log(lams), limits.tpr, strict=True)]
    )
    hopeless = ~limits.tpr.any(axis=1)
    if hopeless.any():  # the level is out of reach in a large system
        best = np.where(hopeless, _predicting_copies(studies).solution.lam, best)
    return OneCopy(solve_knockoff(models(studies), best), studies[0].n_features), limits


Settled = tuple[Expected, KnockoffSolution]
"""What is found with a penalty."""


def _off_the_edge(
    studies: Studies, s: int, known: CopyRule, fdr: float, limits: Rates, best: Settled
) -> Settled:
    """Other penalties for one of the studies.

    A rule that finds much less in a finite study than in a large one is at the edge of what its
    level allows, where counts decide whether it finds anything. So larger penalties are tried from
    the best of a large study on, as long as they could find more, and that of cross-validation.
    """
    study, tried = studies[s], _all_copies(studies)[1]
    for j in range(int(np.argmax(limits.tpr[s])), -1, -1):
        limit = Rates(*(float(part[s, j]) for part in (limits.tpr, limits.fpr, limits.fdr)))
        if limit.tpr <= best[0].power:
            break
        (one,) = points((study,), tried.solution, [(s, j)])
        found = known.expected(study, one, limit, fdr)
        if found.power > best[0].power:
            best = found, one
    usual = _predicting_copies((study,))
    ((_, one, limit),) = _limits((study,), usual, known.rates(usual, fdr))
    found = known.expected(study, one, limit, fdr)
    return (found, one) if found.power > best[0].power else best


def _by_chance(studies: Studies, s: int, known: CopyRule, fdr: float, best: Settled) -> Settled:
    """Small penalties for one of the studies, in which no penalty is enough for expected counts.

    There are fewer signals than a selection has variables: some irrelevant ones have to be in the
    fit, and all of them ahead of their copies.
    """
    study, tried = studies[s], _all_copies(studies)[1]
    smallest = [(s, PENALTIES - 1 - j) for j in range(_SMALLEST)]
    for one in points((study,) * _SMALLEST, tried.solution, smallest):
        found = known.expected(study, one, Rates(0.0, 0.0, 0.0), fdr)
        if found.power > best[0].power:
            best = found, one
    return best
