"""Every method in a study: what it is expected to do at its best settings, and as it comes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import BoundaryWarning, ConvergenceWarning
from selica._core.results import Result
from selica._core.types import Array
from selica.planning.predict.bounds import by_bound
from selica.planning.predict.finite import Expected, by_fields, expected
from selica.planning.predict.grids import (
    PENALTIES,
    Found,
    Studies,
    models,
    points,
    rounded,
    smooth_maximum,
)
from selica.planning.predict.knockoffs import by_knockoffs
from selica.planning.predict.limit import cut_of_fields, rates_of_members
from selica.planning.study import Study
from selica.selectors.stability import LOWEST_PROBABILITY
from selica.theory import LassoSolution, StabilitySolution, solve_lasso, solve_stability
from selica.theory.selection.levels import at_level

SETTINGS = ("best", "default")
RESAMPLES = 256
_RATES = (0.5, 1.0, 2.0, 4.0)
"""Resampling rates that are tried."""
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
    power_error : float
        Standard error of the power, from the draws that it rests on; zero where there are none.

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
    power_error: float = 0.0

    _columns = (
        "method", "settings", "power", "power_error", "fdr", "true_selections", "false_selections",
        "promise", "code",
    )  # fmt: skip

    @classmethod
    def of(
        cls, expected: Expected, method: str, settings: str, promise: str, code: str,
        parameters: dict[str, Any],
    ) -> Prediction:  # fmt: skip
        """An expectation, with the method it belongs to."""
        power, fdr, true, false, error = expected
        return cls(method, settings, power, fdr, true, false, promise, code, parameters, error)


Predict = Callable[[Studies, float, bool], Iterable[Found]]


class Method(NamedTuple):
    """A method that can be planned with."""

    label: str
    selector: str
    predict: Predict
    """(studies, level, best settings?) -> what is found in each of them."""
    promise: str
    calibrated: bool
    """Whether its threshold comes from the data, so that a level can be asked for."""


@lru_cache(maxsize=64)
def _resamples(studies: Studies) -> tuple[Array, Array, StabilitySolution]:
    """Resampling rates, penalties of each study at each of them, and the solutions."""
    rates = np.array(_RATES)
    lams = np.array([[study.penalties(PENALTIES, rate) for rate in _RATES] for study in studies])
    return rates, lams, solve_stability(models(studies, 2), lams, rates[:, None])


def _resampled(
    studies: Studies, best: bool, usable: Callable[[StabilitySolution], bool]
) -> Iterator[tuple[StabilitySolution, dict[str, Any]]]:
    """Bootstrapped rows at the penalty and rate that order variables best, for each study."""
    rates, lams, grid = _resamples(studies)
    errors = np.asarray(grid.ensemble_error)
    tried = range(rates.size) if best else [_RATES.index(1.0)]
    places = [(i, j) for i in tried for j in range(lams.shape[2])]
    chosen, better = [], []
    for s, study in enumerate(studies):
        order = [(s, *place) for place in sorted(places, key=lambda place: errors[s][place])]
        options = ((place, points((study,), grid, [place])[0]) for place in order)
        first = next(options)
        # where the threshold is at an end everywhere, the first is as good as any
        place, one = next((each for each in chain([first], options) if usable(each[1])), first)
        chosen.append(one)
        near = (*place[:2], slice(max(place[2] - 1, 0), place[2] + 2))
        x, error = np.log(lams[near]), np.log(errors[near])
        better.append(math.exp(smooth_maximum(x, -error)) if x.size == 3 else one.lam)
    refined = solve_stability(models(studies), better, np.array([one.mu_B for one in chosen]))
    news = points(studies, refined, [(s,) for s in range(len(studies))])
    for study, one, new in zip(studies, chosen, news, strict=True):
        found = new if usable(new) else one
        penalty = rounded(study.penalty(found.lam, found.mu_B))
        yield found, {"lam": penalty, "resample_rate": found.mu_B}


def _fields(studies: Studies, fdr: float, best: bool) -> Iterator[Found]:
    def usable(one: StabilitySolution) -> bool:
        cut = cut_of_fields(one, fdr)
        return (
            math.isfinite(cut) and LOWEST_PROBABILITY <= one.selection_probability(cut) <= _CERTAIN
        )

    for study, (one, more) in zip(studies, _resampled(studies, best, usable), strict=True):
        rates = one.rates_of_field(np.asarray(cut_of_fields(one, fdr)))
        parameters = {"fdr": fdr, "engine": "auto"} | (more if best else {})
        yield expected(study, one, rates, by_fields(one, fdr)), parameters


def _each(predicted: Callable[[Study, float, bool], Found]) -> Predict:
    """One study after the other."""
    return lambda studies, fdr, best: [predicted(study, fdr, best) for study in studies]


def _ideal(study: Study, fdr: float, best: bool) -> Found:
    if not best:  # as it comes: the penalty of one fit, and the usual threshold
        lam = predicting_lasso(study)
        rates = rates_of_members(solve_stability(study.model, lam, 1.0), 0.6, RESAMPLES)
        return Expected.of_rates(study, rates), {}

    def chance(one: StabilitySolution) -> float:
        cut = float(at_level(one, "stability", np.asarray(fdr)).threshold)
        return float(one.selection_probability(cut)) if math.isfinite(cut) else 1.0

    # refits can tell such a probability from none and from all
    ((solution, more),) = _resampled((study,), True, lambda one: 0.05 <= chance(one) <= 0.95)
    Pi_th = rounded(chance(solution))
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


def _lasso(study: Study, fdr: float, best: bool) -> Found:
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
    return Expected.of_rates(study, found.rates()), {"lam": rounded(study.penalty(lam))}


def _thresholded(study: Study, fdr: float, best: bool) -> Found:
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
        {name: rounded(value) for name, value in parameters.items()},
    )


def _bounded(assumption: str) -> Predict:
    def bounded(studies: Studies, fdr: float, best: bool) -> list[Found]:
        return by_bound(studies, fdr, assumption, best=best, resamples=RESAMPLES)

    return bounded


METHODS: dict[str, Method] = {
    "stability": Method("stability, message passing", "StabilitySelection", _fields, "FDR", True),
    "knockoff": Method(
        "knockoff+, one copy", "KnockoffSelection", by_knockoffs("knockoff"), "FDR", True
    ),
    "evalues": Method(
        "knockoffs, e-values", "DerandomizedKnockoffs", by_knockoffs("evalues"), "FDR", True
    ),
    "pvalues": Method(
        "knockoffs, p-values", "AggregatedKnockoffs", by_knockoffs("pvalues"), "3.2 FDR", True
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
    "ideal": Method(
        "stability, threshold known", "StabilitySelection", _each(_ideal), "none", False
    ),
    "thresholded_lasso": Method(
        "lasso, threshold known", "LassoSelection", _each(_thresholded), "none", False
    ),
    "lasso": Method("lasso, penalty known", "LassoSelection", _each(_lasso), "none", False),
}
"""In the order of the tables. For those that are not calibrated the truth sets the threshold."""


def predict(study: Study, method: str, fdr: float, settings: str = "best") -> Prediction:
    """What a method is expected to do; arguments are checked by the callers."""
    return predict_each((study,), method, fdr, settings)[0]


def predict_each(
    studies: Studies, method: str, fdr: float, settings: str = "best"
) -> list[Prediction]:
    """The same in several studies at once, in much less time than one after the other.

    Parameters
    ----------
    studies : tuple of Study
        With as many variables and the same law of effects.
    """
    known = METHODS[method]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        every = list(known.predict(studies, fdr, settings == "best"))
    out = []
    for found, parameters in every:
        inner = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
        code = f"{known.selector}({inner})"
        out.append(Prediction.of(found, method, settings, known.promise, code, parameters))
    return out
