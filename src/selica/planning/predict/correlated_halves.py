"""Stability selection under a bound in a study with correlated columns.

The equations for halves of the rows are solved on chunks (`correlated.chunks`) along penalties. The
bound allows a number of variables that halves take, as for independent columns (`bounds`); at the
penalty where halves take so many, frequencies over as many halves as the selector draws say what is
selected.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from selica._core.types import Array
from selica.catalogue import Method
from selica.correlated.chunks import Chunks, Planted, cut, plant
from selica.correlated.drawn_fits import SingleBody
from selica.correlated.fixed_point import DrawnEquations, FixedPoint
from selica.planning.predict.bounds import CUTOFFS, BoundSettings, Halves
from selica.planning.predict.expectation import Expected
from selica.planning.predict.prediction import Forecast
from selica.planning.predict.solved_chunks import (
    DRAFT,
    ChunkDraws,
    affordable,
    chunk_notes,
    solved_draws,
    stratified_error,
)
from selica.theory import Rates
from selica.theory.selection.rates import votes_needed

ASSUMPTIONS = {
    "stability-pfer": "r-concave",
    "stability-pfer-unimodal": "unimodal",
    "stability-pfer-none": "none",
}
"""What each method assumes of frequencies."""
_HALVES = (0.5, "bernoulli")
"""Rate and kind of the resampling: every row is in a half with probability one half."""
_PENALTIES = 12
"""Penalties along which halves of the rows are solved."""
_PATH_DRAWS = (400, 5000)
"""Signals and columns there."""
_PATH_MEMBERS = 40
"""Halves of a chunk, by which what is selected is counted along penalties."""
_SIGNALS = 1000
"""Signals of the prediction."""
_COLUMNS = (12_000, 60_000)
"""Columns of the prediction, at least, and at most where a study has many."""
_MOST_VALUES = 30_000_000
"""Coefficients of the prediction, about, at most."""
_BATCH_VALUES = 3_000_000
"""Coefficients that are drawn at a time."""
_SEED = 23
"""First number of all seeds."""
_TINY = 1e-300
"""What keeps a ratio finite where a group is empty."""


class _Path(NamedTuple):
    """Halves of the rows along penalties."""

    halves: Halves
    near: list[FixedPoint]
    """The solution at each penalty."""


def forecast(row: Method, study: Any, level: float, best: bool) -> Forecast:
    """Predict stability selection under a bound in a study.

    Parameters
    ----------
    row : Method
    study : Study
        With correlated columns.
    level : float
    best : bool
        Whether the threshold is the most powerful one; otherwise the usual one.
    """
    resamples = int(row.default("n_resamples"))
    path = _path(study)
    chosen = BoundSettings.of(path.halves, level, ASSUMPTIONS[row.name], best, resamples)
    if chosen.q == 0:
        nothing = Expected.of_rates(study, Rates(0.0, 0.0, 0.0))
        return Forecast(nothing, chosen.parameters)
    found, notes = _at(study, chosen.cutoff, chosen.q, resamples)
    return Forecast(found, chosen.parameters, notes)


@lru_cache(maxsize=32)
def _path(study: Any) -> _Path:
    """Solve halves of the rows along penalties, which are kept."""
    chunks, p = cut(study.columns.covariance), study.n_features
    share = DRAFT if study.draft else 1.0
    some = (round(share * _PATH_DRAWS[0]), round(share * _PATH_DRAWS[1]))
    draws = ChunkDraws(study, chunks, None, some)
    rate = _HALVES[0]
    lams = study.penalties(_PENALTIES, rate) * study.penalty(1.0, rate) / draws.unit(rate)
    near: FixedPoint | None = None
    points, taken, kept = [], [], []
    for lam in lams:
        equations = draws.equations(float(lam), _HALVES)
        point = equations.solve(near)
        near = point if point.converged or near is None else near
        points.append(point)
        taken.append(p * math.exp(point.x[2]) * equations.fields(point.x).Q_hat)
        rng = np.random.default_rng([_SEED, 3])
        votes = _votes(draws.planted, chunks, equations, point, _PATH_MEMBERS, rng)
        kept.append([_selected(draws.planted, votes, cut_, _PATH_MEMBERS) for cut_ in CUTOFFS])
    solved = np.array([point.converged for point in points])
    if not solved.any():  # which the prediction says
        solved[:] = True
    points = [point for point, one in zip(points, solved, strict=True) if one]
    lams, taken, kept = lams[solved], np.array(taken)[solved], np.array(kept)[solved]
    counts = p * kept @ np.array([study.n_signals / p, 1.0 - study.n_signals / p])
    # halves take more the smaller the penalty, but for chance
    halves = Halves(study, np.log(lams), np.maximum.accumulate(taken), counts.T)
    return _Path(halves, points)


@lru_cache(maxsize=32)
def _at(study: Any, cutoff: float, q: int, resamples: int) -> tuple[Expected, tuple[str, ...]]:
    """Return what is selected at a cutoff where halves take q variables."""
    chunks = cut(study.columns.covariance)
    path = _path(study)
    log_lam = path.halves.log_lam(q)
    place = int(np.argmin(np.abs(path.halves.log_lams - log_lam)))
    draws = ChunkDraws(study, chunks, None, solved_draws(study))
    equations = draws.equations(math.exp(log_lam), _HALVES)
    point = equations.solve(path.near[place])
    rng = np.random.default_rng([_SEED, 4])
    k, p = study.n_signals, study.n_features
    share = DRAFT if study.draft else 1.0
    signals = affordable(round(share * _SIGNALS), _MOST_VALUES // resamples, chunks, k / p)
    columns = round(share * min(max(_COLUMNS[0], 3 * p), _COLUMNS[1]))
    planted = plant(chunks, study.effects, (k, p), (signals, columns), rng)
    votes = _votes(planted, chunks, equations, point, resamples, rng)
    tpr, fpr = _selected(planted, votes, cutoff, resamples)
    found = Expected.of_rates(study, Rates(tpr, fpr, 0.0))
    where = np.nonzero(planted.truth)
    enough = votes[where] >= votes_needed(np.array(cutoff), resamples)
    error = stratified_error(
        planted.truth[where], enough.astype(np.float64), planted.share[where[0]]
    )
    error = max(error, 1.0 / len(enough))  # what was not seen
    return found._replace(power_error=error), chunk_notes(chunks, point)


def _votes(
    planted: Planted,
    chunks: Chunks,
    equations: DrawnEquations,
    point: FixedPoint,
    members: int,
    rng: np.random.Generator,
) -> Array:
    """Return how many halves select each column of the chunks, (J, N)."""
    Q, chi_hat, v_hat = equations.fields(point.x)
    scale = (equations.lam / Q, math.sqrt(chi_hat) / Q, math.sqrt(v_hat) / Q)
    step = max(_BATCH_VALUES // (members * chunks.size), 1)
    votes = []
    for first in range(0, len(planted.truth), step):
        truth = planted.truth[first : first + step]
        body = SingleBody(chunks.covariance, truth, members, rng)
        coef = body.fit(*scale, len(truth), members, keep=False)
        votes.append(np.count_nonzero(coef, axis=1))
    return np.concatenate(votes)


def _selected(planted: Planted, votes: Array, cutoff: float, members: int) -> tuple[float, float]:
    """Return the shares of signals and of other columns with enough votes."""
    mask = votes >= votes_needed(np.array(cutoff), members)
    signal, share = planted.truth != 0.0, planted.share[:, None]
    tpr, fpr = (
        float(np.sum(share * (mask & kind)) / max(float(np.sum(share * kind)), _TINY))
        for kind in (signal, ~signal)
    )
    return tpr, fpr
