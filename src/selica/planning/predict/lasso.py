"""One lasso, with its penalty or its threshold set by the truth."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from selica._core.types import Array
from selica.planning.predict.expectation import Expected, variable_rate
from selica.planning.predict.limit import rounded, smooth_maximum, solved, unsolved
from selica.planning.predict.prediction import Forecast, Studies
from selica.planning.study import Study
from selica.theory import LassoSolution, solve_lasso
from selica.theory.selection.levels import at_level

_PENALTIES = 40
"""Penalties that are tried: one lasso is solved quickly."""


def penalty_known(studies: Studies, level: float, best: bool) -> Iterator[Forecast]:
    """Predict the lasso at the smallest penalty that keeps the level, or as it comes.

    Parameters
    ----------
    studies : tuple of Study
    level : float
    best : bool
        Otherwise the penalty is that of cross-validation.
    """
    for study in studies:
        lam = _keeping(study, level) if best else predicting_penalty(study)
        found = _lasso(study, lam)
        parameters = {"lam": rounded(study.penalty(lam))} if best else {}
        yield Forecast(_expected(study, found, 0.0), parameters, unsolved(found))


def threshold_known(studies: Studies, level: float, best: bool) -> Iterator[Forecast]:
    """Predict the lasso with the most powerful threshold on its coefficients.

    Parameters
    ----------
    studies : tuple of Study
    level : float
    best : bool
        Otherwise there is no threshold, and the penalty is that of cross-validation.
    """
    if not best:
        yield from penalty_known(studies, level, best)
        return
    for study in studies:
        lams, grid = _path(study)
        power = at_level(grid, "thresholded-lasso", np.asarray(level)).tpr
        lam = math.exp(smooth_maximum(np.log(lams), power))
        found = _lasso(study, lam)
        cut = float(at_level(found, "thresholded-lasso", np.asarray(level)).threshold)
        w_th = max(cut - lam, 0.0) / found.Q_hat
        parameters = {
            "lam": rounded(study.penalty(lam)),
            "threshold": rounded(study.coefficient(w_th)),
        }
        yield Forecast(_expected(study, found, w_th), parameters, unsolved(found))


def predicting_penalty(study: Study) -> float:
    """Return the penalty that cross-validation finds for one lasso."""
    lams, grid = _path(study)
    return math.exp(smooth_maximum(np.log(lams), -np.log(grid.prediction_error)))


def _expected(study: Study, solution: LassoSolution, w_th: float) -> Expected:
    """Return what estimates beyond a threshold find."""
    chance = variable_rate(study, solution, lambda one: one.rates(w_th))
    return Expected.of_rates(study, solution.rates(w_th), chance)


def _keeping(study: Study, level: float) -> float:
    """Return the penalty that finds most and keeps the level."""
    lams, grid = _path(study)
    rates = grid.rates()
    kept = rates.fdr <= level
    place = int(np.argmax(np.where(kept, rates.tpr, -1.0)))
    if kept[place] and place + 1 < lams.size and not kept[place + 1]:
        pair = slice(place, place + 2)
        return math.exp(np.interp(level, rates.fdr[pair], np.log(lams[pair])))
    return float(lams[place])


def _path(study: Study) -> tuple[Array, LassoSolution]:
    """Return penalties that a selector would try, and one lasso along them."""
    lams = study.penalties(_PENALTIES)
    return lams, solved(solve_lasso, (study,), lams[None])[0]


def _lasso(study: Study, lam: float) -> LassoSolution:
    """Return one lasso at a penalty."""
    found: LassoSolution = solved(solve_lasso, (study,), [lam])[0]
    return found
