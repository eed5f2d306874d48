"""Stability selection on bootstrapped rows: by message passing, and with a known threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from selica import catalogue
from selica._core.types import Array
from selica.control.thresholds import LOWEST_PROBABILITY, USUAL_THRESHOLD
from selica.planning.predict.expectation import Expected, variable_rate
from selica.planning.predict.finite import by_fields, expected
from selica.planning.predict.lasso import predicting_penalty
from selica.planning.predict.limit import (
    PENALTIES,
    cut_of_fields,
    rates_of_members,
    rounded,
    smooth_maximum,
    solved,
    unsolved,
)
from selica.planning.predict.prediction import Forecast, Studies
from selica.theory import StabilitySolution, solve_stability
from selica.theory.selection.levels import at_level

_RATES = (0.5, 1.0, 2.0, 4.0)
"""Resampling rates that are tried."""
_CERTAIN = 1.0 - 1e-6
"""Probability beyond which selection is not told apart from certainty."""
_SEEN = 0.05
"""Probability that refits can tell from none, and its complement from all."""


def by_message_passing(studies: Studies, level: float, best: bool) -> Iterator[Forecast]:
    """Predict stability selection whose threshold message passing sets.

    Parameters
    ----------
    studies : tuple of Study
    level : float
    best : bool
        Whether penalty and resampling rate are the most powerful ones; otherwise only the penalty.
    """

    def usable(one: StabilitySolution) -> bool:
        cut = cut_of_fields(one, level)
        probability = one.selection_probability(cut) if math.isfinite(cut) else 1.0
        return bool(LOWEST_PROBABILITY <= probability <= _CERTAIN)

    for study, (one, settings) in zip(studies, _ordering(studies, best, usable), strict=True):
        rates = one.rates_of_field(np.asarray(cut_of_fields(one, level)))
        parameters = {"fdr": level, "engine": "auto"} | (settings if best else {})
        yield Forecast(
            expected(study, one, rates, by_fields(one, level)), parameters, unsolved(one)
        )


def ideal(studies: Studies, level: float, best: bool) -> Iterator[Forecast]:
    """Predict stability selection whose threshold the truth sets.

    Parameters
    ----------
    studies : tuple of Study
    level : float
    best : bool
        Otherwise the penalty is that of one fit, and the threshold the usual one.
    """
    row = catalogue.method("stability-ideal")
    resamples = row.default("n_resamples")

    def chance(one: StabilitySolution) -> float:
        cut = float(at_level(one, "stability-ideal", np.asarray(level)).threshold)
        return float(one.selection_probability(cut)) if math.isfinite(cut) else 1.0

    def usable(one: StabilitySolution) -> bool:
        return _SEEN <= chance(one) <= 1.0 - _SEEN

    for study in studies:
        if best:
            ((one, settings),) = _ordering((study,), True, usable)
            Pi_th = rounded(chance(one))
            parameters = settings | {"threshold": Pi_th}
        else:
            lam, Pi_th, parameters = predicting_penalty(study), USUAL_THRESHOLD, dict(row.usual)
            one = solved(solve_stability, (study,), [lam], mu_B=1.0)[0]
        found = partial(rates_of_members, Pi_th=Pi_th, members=resamples)
        of_one = variable_rate(study, one, found)
        yield Forecast(Expected.of_rates(study, found(one), of_one), parameters, unsolved(one))


def _ordering(
    studies: Studies, best: bool, usable: Callable[[StabilitySolution], bool]
) -> Iterator[tuple[StabilitySolution, dict[str, Any]]]:
    """Iterate over the solutions, one a study, at the penalty and rate that order variables best.

    Their arguments of the selector come with them.
    """
    lams, grid = _grid(studies)
    errors = np.where(grid.converged, grid.ensemble_error, np.inf)
    tried = range(len(_RATES)) if best else [_RATES.index(1.0)]
    places = [(i, j) for i in tried for j in range(lams.shape[2])]
    chosen, better = [], []
    for s in range(len(studies)):
        order = sorted(places, key=lambda place: errors[s][place])
        options = ((place, grid[s, *place]) for place in order)
        first = next(options)
        # where the threshold is at an end everywhere, the first is as good as any
        (i, j), one = next((each for each in chain([first], options) if usable(each[1])), first)
        chosen.append(one)
        near = (s, i, slice(max(j - 1, 0), j + 2))
        x, error = np.log(lams[near]), np.log(errors[near])
        better.append(math.exp(smooth_maximum(x, -error)) if x.size == 3 else one.lam)
    rates = tuple(one.mu_B for one in chosen)
    refined = solved(solve_stability, studies, better, mu_B=rates)
    for s, (study, one) in enumerate(zip(studies, chosen, strict=True)):
        found = refined[s] if refined[s].converged and usable(refined[s]) else one
        penalty = rounded(study.penalty(found.lam, found.mu_B))
        yield found, {"lam": penalty, "resample_rate": found.mu_B}


def _grid(studies: Studies) -> tuple[Array, StabilitySolution]:
    """Return penalties (studies, rates, penalties), and the solutions at them."""
    lams = np.array([[study.penalties(PENALTIES, rate) for rate in _RATES] for study in studies])
    return lams, solved(solve_stability, studies, lams, mu_B=tuple((rate,) for rate in _RATES))
