"""Every method in a study: what it is expected to do at its best settings, and as it comes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np

from selica._core.errors import BoundaryWarning, ConvergenceWarning
from selica._core.results import Result
from selica._core.types import Array
from selica.planning.calibrated import Counts, OneCopy, cut_of_fields, rates_of_members
from selica.planning.finite import (
    Expected,
    Rule,
    by_evalues,
    by_fields,
    by_one_copy,
    by_pvalues,
    expected,
)
from selica.planning.halves import by_bound
from selica.planning.study import Study
from selica.selectors.stability import LOWEST
from selica.theory import (
    KnockoffSolution,
    LassoSolution,
    Rates,
    Solution,
    StabilitySolution,
    solve_knockoff,
    solve_lasso,
    solve_stability,
)
from selica.theory.levels import at_level

SETTINGS = ("best", "default")
COPIES, AGGREGATED, GAMMA = 50, 25, 0.3
"""Copies of e-values and of p-values, and their quantile, as the selectors take them."""
RESAMPLES = 256
_RATES = (0.5, 1.0, 2.0, 4.0)
"""Resampling rates that are tried."""
_PENALTIES = 9
_FINE = 40
"""Penalties of one lasso, which is solved quickly."""
# Probabilities beyond are not told apart from one.
_CERTAIN = 1.0 - 1e-6


@dataclass(frozen=True, slots=True, repr=False)
class Prediction(Result):
    """What a method is expected to do in a study, and how to run it.

    Attributes
    ----------
    method : str
    settings : {"best", "default"}
    power : float
        Mean share of the signals that are selected.
    fdr : float
        Mean share of false ones among the selected.
    true_selections, false_selections : float
        Expected numbers.
    promise : str
        What the method controls on such data.
    code : str
        The selector, as Python.
    parameters : dict
        Its arguments.

    Examples
    --------
    >>> from selica.planning import compare_methods
    >>> found = compare_methods(300, 200, 40, r2=0.8, fdr=0.1, methods="knockoff")
    >>> found.one("knockoff", "default").code
    'KnockoffSelection(fdr=0.1)'
    >>> found.one("knockoff").promise
    'FDR'
    """

    method: str
    settings: str
    power: float
    fdr: float
    true_selections: float
    false_selections: float
    promise: str
    code: str
    parameters: dict[str, Any]

    _columns = (
        "method", "settings", "power", "fdr", "true_selections", "false_selections", "promise",
        "code",
    )  # fmt: skip


S = TypeVar("S", bound=Solution)
Predict = Callable[[Study, float, bool], tuple[Expected, dict[str, Any]]]


class Method(NamedTuple):
    """A method that can be planned with."""

    label: str
    selector: str
    predict: Predict
    """(study, level, best settings?) -> expectation, arguments of the selector."""
    promise: str
    calibrated: bool
    """Whether its threshold comes from the data, so that a level can be asked for."""


def _rounded(x: float) -> float:
    return float(f"{x:.3g}")


def smooth_maximum(x: Array, value: Array) -> float:
    """Place of the maximum of a smooth function known at equal steps: a parabola at the top."""
    i = int(np.argmax(value))
    if i in (0, x.size - 1):
        return float(x[i])
    left, top, right = value[i - 1 : i + 2]
    bend = left - 2.0 * top + right
    shift = 0.5 * (left - right) / bend if bend < 0.0 else 0.0
    return float(x[i] + shift * (x[i + 1] - x[i]))


def _point(grid: S, *place: int) -> S:
    """One point of a solution over a grid, with floats."""
    values = {f.name: getattr(grid, f.name) for f in fields(grid)}
    return type(grid)(
        **{name: v[place].item() if isinstance(v, np.ndarray) else v for name, v in values.items()}
    )


@lru_cache(maxsize=64)
def _one_copies(study: Study) -> tuple[Array, list[OneCopy], Array]:
    """Penalties, knockoffs with one copy at each of them, and the error of one fit."""
    lams = study.penalties(_PENALTIES)
    grid = solve_knockoff(study.model, lams)
    counts = (Counts(*row) for row in zip(*Counts.of(grid), strict=True))
    ones = [OneCopy(_point(grid, i), study.n_features, each) for i, each in enumerate(counts)]
    return lams, ones, grid.prediction_error


@lru_cache(maxsize=64)
def _predicting_copies(study: Study) -> OneCopy:
    """Knockoffs at the penalty that cross-validation finds."""
    return OneCopy(solve_knockoff(study.model, predicting_knockoff(study)), study.n_features)


def predicting_knockoff(study: Study) -> float:
    """The penalty that cross-validation finds for one lasso with copies."""
    lams, _, error = _one_copies(study)
    return math.exp(smooth_maximum(np.log(lams), -np.log(error)))


class CopyRule(NamedTuple):
    """A rule on knockoff statistics: in a large system, and on drawn fields."""

    rates: Callable[[OneCopy, float], Rates]
    rule: Callable[[KnockoffSolution, float], Rule]
    copies: int


_COPY_RULES = {
    "knockoff": CopyRule(lambda one, fdr: one.knockoff_plus(fdr), by_one_copy, 1),
    "evalues": CopyRule(lambda one, fdr: one.evalues(fdr, COPIES), by_evalues, COPIES),
    "pvalues": CopyRule(
        lambda one, fdr: one.pvalues(fdr, AGGREGATED, GAMMA),
        lambda solution, fdr: by_pvalues(solution, fdr, GAMMA),
        AGGREGATED,
    ),
}


@lru_cache(maxsize=256)
def _of_copies(study: Study, name: str, fdr: float, one: OneCopy) -> Expected:
    known = _COPY_RULES[name]
    rates, rule = known.rates(one, fdr), known.rule(one.solution, fdr)
    return expected(study, one.solution, rates, rule, fdr, known.copies)


def _knockoffs(name: str) -> Predict:
    """At the most powerful penalty, or at the one that cross-validation finds."""

    def predicted(study: Study, fdr: float, best: bool) -> tuple[Expected, dict[str, Any]]:
        if not best:
            return _of_copies(study, name, fdr, _predicting_copies(study)), {"fdr": fdr}
        lams, ones, _ = _one_copies(study)
        found = np.array([_COPY_RULES[name].rates(each, fdr).tpr for each in ones])
        if found.any():
            lam = math.exp(smooth_maximum(np.log(lams), found))
            one = OneCopy(solve_knockoff(study.model, lam), study.n_features)
        else:  # the level is out of reach in a large system
            one = _predicting_copies(study)
        penalty = _rounded(study.penalty(one.solution.lam))
        return _of_copies(study, name, fdr, one), {"fdr": fdr, "lam": penalty}

    return predicted


@lru_cache(maxsize=64)
def _resamples(study: Study) -> tuple[Array, Array, StabilitySolution]:
    """Resampling rates, penalties at each of them, and the solutions."""
    rates = np.array(_RATES)
    lams = np.array([study.penalties(_PENALTIES, rate) for rate in rates])
    return rates, lams, solve_stability(study.model, lams, rates[:, None])


def _resampled(
    study: Study, best: bool, usable: Callable[[StabilitySolution], bool]
) -> tuple[StabilitySolution, dict[str, Any]]:
    """Bootstrapped rows at the penalty and rate that order variables best."""
    rates, lams, grid = _resamples(study)
    errors = np.asarray(grid.ensemble_error)
    tried = range(rates.size) if best else [_RATES.index(1.0)]
    places = [(i, j) for i in tried for j in range(lams.shape[1])]
    order = sorted(places, key=lambda place: errors[place])
    # where the threshold is at an end everywhere, the first is as good as any
    i, j = next((place for place in order if usable(_point(grid, *place))), order[0])
    one = _point(grid, i, j)
    rate, lam = float(rates[i]), float(lams[i, j])
    near = slice(max(j - 1, 0), j + 2)
    if lams[i, near].size == 3:
        better = math.exp(smooth_maximum(np.log(lams[i, near]), -np.log(errors[i, near])))
        refined = solve_stability(study.model, better, rate)
        if usable(refined):
            one, lam = refined, better
    return one, {"lam": _rounded(study.penalty(lam, rate)), "resample_rate": rate}


def _fields(study: Study, fdr: float, best: bool) -> tuple[Expected, dict[str, Any]]:
    def usable(one: StabilitySolution) -> bool:
        cut = cut_of_fields(one, fdr)
        return math.isfinite(cut) and LOWEST <= one.selection_probability(cut) <= _CERTAIN

    solution, more = _resampled(study, best, usable)
    cut = cut_of_fields(solution, fdr)
    rates = solution.rates_of_field(np.asarray(cut))
    parameters = {"fdr": fdr, "engine": "auto"} | (more if best else {})
    return expected(study, solution, rates, by_fields(solution, fdr), fdr), parameters


def _ideal(study: Study, fdr: float, best: bool) -> tuple[Expected, dict[str, Any]]:
    if not best:  # as it comes: the penalty of one fit, and the usual threshold
        lam = predicting_lasso(study)
        rates = rates_of_members(solve_stability(study.model, lam, 1.0), 0.6, RESAMPLES)
        return Expected.of_rates(study, rates), {}

    def chance(one: StabilitySolution) -> float:
        cut = float(at_level(one, "stability", np.asarray(fdr)).threshold)
        return float(one.selection_probability(cut)) if math.isfinite(cut) else 1.0

    # refits can tell such a probability from none and from all
    solution, more = _resampled(study, True, lambda one: 0.05 <= chance(one) <= 0.95)
    Pi_th = _rounded(chance(solution))
    rates = rates_of_members(solution, Pi_th, RESAMPLES)
    return Expected.of_rates(study, rates), more | {"threshold": Pi_th}


@lru_cache(maxsize=64)
def _one_lasso(study: Study) -> tuple[Array, LassoSolution]:
    lams = study.penalties(_FINE)
    return lams, solve_lasso(study.model, lams)


def predicting_lasso(study: Study) -> float:
    """The penalty that cross-validation finds for one lasso."""
    lams, grid = _one_lasso(study)
    return math.exp(smooth_maximum(np.log(lams), -np.log(grid.prediction_error)))


def _lasso(study: Study, fdr: float, best: bool) -> tuple[Expected, dict[str, Any]]:
    if not best:
        found = solve_lasso(study.model, predicting_lasso(study))
        return Expected.of_rates(study, found.rates()), {}
    lams, grid = _one_lasso(study)
    rates = grid.rates()
    kept = rates.fdr <= fdr
    place = int(np.argmax(np.where(kept, rates.tpr, -1.0)))
    lam = float(lams[place])
    if kept[place] and place + 1 < lams.size and not kept[place + 1]:
        pair = slice(place, place + 2)
        lam = math.exp(np.interp(fdr, rates.fdr[pair], np.log(lams[pair])))
    found = solve_lasso(study.model, lam)
    return Expected.of_rates(study, found.rates()), {"lam": _rounded(study.penalty(lam))}


def _thresholded(study: Study, fdr: float, best: bool) -> tuple[Expected, dict[str, Any]]:
    if not best:
        return _lasso(study, fdr, False)
    lams, grid = _one_lasso(study)
    power = at_level(grid, "thresholded_lasso", np.asarray(fdr)).tpr
    lam = math.exp(smooth_maximum(np.log(lams), power))
    solution = solve_lasso(study.model, lam)
    cut = float(at_level(solution, "thresholded_lasso", np.asarray(fdr)).threshold)
    w_th = max(cut - lam, 0.0) / solution.Q_hat
    parameters = {"lam": study.penalty(lam), "threshold": study.coefficient(w_th)}
    return (
        Expected.of_rates(study, solution.rates(w_th)),
        {name: _rounded(value) for name, value in parameters.items()},
    )


def _bounded(assumption: str) -> Predict:
    def bounded(study: Study, fdr: float, best: bool) -> tuple[Expected, dict[str, Any]]:
        return by_bound(study, fdr, assumption, best=best, resamples=RESAMPLES)

    return bounded


METHODS: dict[str, Method] = {
    "stability": Method("stability, message passing", "StabilitySelection", _fields, "FDR", True),
    "knockoff": Method(
        "knockoff+, one copy", "KnockoffSelection", _knockoffs("knockoff"), "FDR", True
    ),
    "evalues": Method(
        "knockoffs, e-values", "DerandomizedKnockoffs", _knockoffs("evalues"), "FDR", True
    ),
    "pvalues": Method(
        "knockoffs, p-values", "AggregatedKnockoffs", _knockoffs("pvalues"), "3.2 FDR", True
    ),
    "stability_none": Method(
        "stability, no assumption", "StabilitySelection", _bounded("none"), "PFER", True
    ),
    "stability_unimodal": Method(
        "stability, unimodal", "StabilitySelection", _bounded("unimodal"), "PFER", True
    ),
    "stability_r_concave": Method(
        "stability, r-concave", "StabilitySelection", _bounded("r-concave"), "PFER", True
    ),
    "ideal": Method("stability, threshold known", "StabilitySelection", _ideal, "none", False),
    "thresholded_lasso": Method(
        "lasso, threshold known", "LassoSelection", _thresholded, "none", False
    ),
    "lasso": Method("lasso, penalty known", "LassoSelection", _lasso, "none", False),
}
"""In the order of the tables. For those that are not calibrated the truth sets the threshold."""


def predict(study: Study, method: str, fdr: float, settings: str = "best") -> Prediction:
    """What a method is expected to do; arguments are checked by the callers."""
    known = METHODS[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        found, parameters = known.predict(study, fdr, settings == "best")
    inner = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
    return Prediction(
        method, settings, *found, known.promise, f"{known.selector}({inner})", parameters
    )
