"""Power with correlated columns by theory: a first answer, before signals are planted and fits run.

Rows are taken to be Gaussian with the covariance that the table estimates. Procedures are predicted
as in any study with correlated columns; of the lasso, and of stability selection at its usual
threshold, the theory draws coefficients at the penalty at which a fit predicts best.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from selica import catalogue
from selica._core.effects import Effects
from selica._core.errors import ArgumentError, SelicaError
from selica._core.random import RandomState, child, generator, seed_sequence
from selica._core.results import Status
from selica._core.table import Row, Table
from selica._core.types import Array, BoolArray
from selica._core.validation import count, matrix
from selica.catalogue import Method
from selica.control.thresholds import USUAL_THRESHOLD
from selica.correlated.ensembles import CorrelatedEnsemble, solve_ensemble
from selica.correlated.solution import CorrelatedSolution
from selica.planning.columns import check_columns
from selica.planning.predict import lasso
from selica.planning.predict.correlated import covered, predict_correlated
from selica.planning.predict.limit import smooth_maximum
from selica.planning.predict.prediction import check_level, check_methods
from selica.planning.study import Study
from selica.sampling import ledoit_wolf
from selica.sampling.covariance import parse_covariance
from selica.statistics.data import standardised
from selica.theory import Model

LARGEST = 2000
"""Columns up to which a covariance is estimated for a first answer."""
_FEWEST_ROWS = 10
"""Rows of a table, at least."""
_EFFECTS_KEY = 0
"""Spawn key of planted effects."""
_DRAWS_KEY = 1
"""Spawn key of the draws of the theory."""
_VARIABLES = 3000
"""Variables drawn in all: errors fall with the variables, not the data sets."""
_FEWEST_DATA_SETS = 10
"""Data sets that are drawn, at least."""
_LOG_STEP = 0.35
"""Step between penalties that are tried, in logarithms, around that for independent columns."""
_STEPS_ASIDE = 2
"""Penalties that are tried on either side of the centre."""
_MAX_MOVES = 3
"""How often the centre may move."""
_STABILITY_MEMBERS = 64
"""Members of stability selection."""
_NORMAL = 1.96
"""Normal quantile of a 95 % interval."""
_VALUES = tuple(f"{key}{end}" for key in ("power", "fdr") for end in ("", "_low", "_high"))
"""Columns of the table that hold numbers."""


def correlated_power(
    X: ArrayLike,
    n_signals: int,
    *,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    fdr: float = 0.1,
    methods: Sequence[str] | str | None = None,
    effects: Effects | None = None,
    n_samples: int | None = None,
    random_state: RandomState | None = None,
) -> Table:
    """Predict power and FDR on a table of one's own, by the theory for correlated columns.

    Parameters
    ----------
    X : array of shape (n, p)
        Numbers; constant columns are left out. Its covariance is estimated by `ledoit_wolf`.
    n_signals, r2, snr, effect_size, fdr, effects
        As in `plasmode_power`.
    methods : str or sequence of str, optional
        Methods of the catalogue, as they come; by default those that keep the false discovery rate
        and are usually compared. Those without a theory for correlated columns, such as message
        passing, are left out.
    n_samples : int, optional
        Rows of the study; by default those of the table.
    random_state : None, int, SeedSequence, Generator or RandomState
        The same seed gives the same answer.

    Returns
    -------
    Table
        One row for each method that is covered: its name as `method`, its `label`, mean `power` and
        `fdr` with the ends of 95 % intervals of the Monte-Carlo draws (`power_low`, ...), and
        `status`: "converged", "max_iter", or in words why there are no values or what they leave
        out. No rows where there are more than 2000 columns.

    Examples
    --------
    >>> import numpy as np
    >>> from selica import planning
    >>> X = np.random.default_rng(0).standard_normal((150, 30))
    >>> found = planning.correlated_power(
    ...     X, 10, r2=0.9, fdr=0.2, methods="knockoffs", random_state=0
    ... )
    >>> bool(found.rows[0]["power"] > 0.5)
    True
    """
    columns, study = study_of_table(X, n_signals, r2, snr, effect_size, effects, n_samples)
    level = check_level(fdr)
    asked = usual_methods() if methods is None else check_methods(methods)
    rows = [row for row in asked if row.correlated_rule is not None or covered(row)]
    if study.n_features > LARGEST or not rows:
        return Table.of([])
    sigma = _covariance(columns)
    # a first answer, whose intervals say how rough it is
    correlated = replace(study, columns=check_columns(sigma, study.n_features), draft=True)
    setting = _Setting(sigma, study, effect_size is None, random_state)
    found: dict[str, CorrelatedSolution | str] = {}
    table = []
    for row in rows:
        base: Row = {"method": row.name, "label": row.label}
        if covered(row):
            table.append(base | _forecast(row, correlated, level))
            continue
        kind = str(row.equations)
        if kind not in found:
            found[kind] = setting.answer(kind)
        solution = found[kind]
        if isinstance(solution, str):
            table.append(base | dict.fromkeys(_VALUES) | {"status": solution})
        else:
            mask = row.load_correlated_rule()(solution, level)
            table.append(base | _rates(solution, mask) | {"status": solution.status})
    return Table.of(table)


def covariance_of(X: ArrayLike) -> Array:
    """Estimate the correlations of columns from a table, for the argument `covariance` of a plan.

    Parameters
    ----------
    X : array of shape (n, p)
        Numbers, without missing ones; at least ten rows. No column may be constant.

    Returns
    -------
    array of shape (p, p)
        Correlations, shrunk towards zero as `sampling.ledoit_wolf` does: the fewer the rows, the
        more.

    Examples
    --------
    >>> import numpy as np
    >>> from selica import planning
    >>> X = np.random.default_rng(0).standard_normal((40, 3)) + np.arange(40)[:, None] / 40
    >>> np.diag(planning.covariance_of(X)).tolist()
    [1.0, 1.0, 1.0]
    """
    columns, _ = standardised(matrix("X", X))
    _enough_rows(columns)
    constant = np.flatnonzero(~columns.any(axis=0))
    if constant.size:
        raise ArgumentError(f"X: column {constant[0]} is constant; leave out such columns.")
    return _covariance(columns)


def _covariance(columns: Array) -> Array:
    """Return the shrunk correlations of standardised columns."""
    found = np.asarray(ledoit_wolf(columns, mean=0.0, standardise=True).covariance)
    deviation = np.sqrt(found.diagonal())
    found = found / np.outer(deviation, deviation)
    np.fill_diagonal(found, 1.0)
    return np.asarray(0.5 * (found + found.T))


def _enough_rows(columns: Array) -> None:
    if len(columns) < _FEWEST_ROWS:
        raise ArgumentError(f"X must have at least {_FEWEST_ROWS} rows; got {len(columns)}.")


def _forecast(row: Method, study: Study, level: float) -> Row:
    """Return what is predicted of a method as it comes, with intervals of the draws."""
    try:
        found = next(iter(predict_correlated(row, (study,), level, best=False)))
    except SelicaError as error:  # such a covariance has no copies, or no solution
        return dict.fromkeys(_VALUES) | {"status": str(error)}
    told, half = found.expected, _NORMAL * found.expected.power_error
    low, high = max(told.power - half, 0.0), min(told.power + half, 1.0)
    unsolved = [note for note in found.notes if "not solved" in note or "solved for" in note]
    status = " ".join(unsolved) or Status.CONVERGED.value
    power: Row = {"power": told.power, "power_low": low, "power_high": high}
    return power | {"fdr": told.fdr, "fdr_low": None, "fdr_high": None, "status": status}


def usual_methods() -> list[Method]:
    """Return the methods that keep the false discovery rate and are usually compared."""
    return list(catalogue.methods(beside_ideal=True, controls="FDR"))


def frequent(found: CorrelatedSolution, fdr: float) -> BoolArray:
    """Select what enough members select, at the usual threshold; masks (n_data, N).

    Parameters
    ----------
    found : CorrelatedSolution
    fdr : float
        The level does not matter.
    """
    return np.asarray(found.probabilities() >= USUAL_THRESHOLD)


def nonzero(found: CorrelatedSolution, fdr: float) -> BoolArray:
    """Select the non-zero coefficients of each member; masks (n_data, members, N).

    Parameters
    ----------
    found, fdr
        As in `frequent`.
    """
    return np.asarray(found.statistic > 0.0)


def study_of_table(
    X: ArrayLike,
    n_signals: int,
    r2: float | None,
    snr: float | None,
    effect_size: float | None,
    effects: Effects | None,
    n_samples: int | None = None,
) -> tuple[Array, Study]:
    """Return the columns of a table that vary, standardised, and a study of their size.

    Parameters
    ----------
    X, n_signals, r2, snr, effect_size, effects
        As in `plasmode_power`.
    n_samples : int, optional
        Rows of the study; by default those of the table.
    """
    columns, _ = standardised(matrix("X", X))
    columns = columns[:, columns.any(axis=0)]
    n, p = columns.shape
    k = count("n_signals", n_signals)
    if k > p:
        raise ArgumentError(f"n_signals must be at most the {p} columns that vary; got {k}.")
    _enough_rows(columns)
    n = n if n_samples is None else count("n_samples", n_samples, at_least=_FEWEST_ROWS)
    study = Study.of(n, p, k, r2=r2, snr=snr, effect_size=effect_size, effects=effects)
    return columns, study


def with_interval(key: str, shares: Array) -> Row:
    """Return the mean of a share over data sets, with the ends of its 95 % interval."""
    mean, half = float(shares.mean()), _NORMAL * float(shares.std(ddof=1)) / math.sqrt(shares.size)
    return {key: mean, f"{key}_low": max(mean - half, 0.0), f"{key}_high": min(mean + half, 1.0)}


class _Setting:
    """A table and a study in the words of the theory."""

    def __init__(
        self,
        covariance: Array,
        study: Study,
        by_ratio: bool,
        random_state: RandomState | None,
    ) -> None:
        n, p, k = study.n_samples, study.n_features, study.n_signals
        seed = seed_sequence(random_state)
        self.study = study
        self.model = Model(n / p, k / p, k / p / study.snr, study.effects)
        self.covariance = covariance
        rng = generator(child(seed, _EFFECTS_KEY))
        data = max(_VARIABLES // p, _FEWEST_DATA_SETS)
        self.effects = np.zeros((data, p))
        for row in self.effects:
            signs = rng.choice((-1.0, 1.0), k)
            row[rng.choice(p, k, replace=False)] = study.effects.sample(k, rng) * signs
        if by_ratio:  # noise follows the variance of the signal in each data set
            signal = np.vecdot(self.effects @ self.covariance, self.effects) / k
            self.effects /= np.sqrt(signal)[:, None]
        self._seed = child(seed, _DRAWS_KEY)

    def answer(self, kind: str) -> CorrelatedSolution | str:
        """Return a solution, which has a status; or why there is none."""
        try:
            return self._solve(kind)
        except SelicaError as error:  # such a covariance has no copies, or no solution
            return str(error)

    def _solve(self, kind: str) -> CorrelatedSolution:
        """Solve at the penalty at which one lasso predicts best."""
        start, known = math.log(lasso.predicting_penalty(self.study)), dict[int, float]()
        centre = 0
        for _ in range(_MAX_MOVES):
            near = range(centre - _STEPS_ASIDE, centre + _STEPS_ASIDE + 1)
            for i in near:
                if i not in known:
                    lam = math.exp(start + _LOG_STEP * i)
                    one = self._at("lasso", lam, _FEWEST_DATA_SETS)
                    known[i] = one.prediction_error
            best = min(near, key=lambda i: known[i])
            if abs(best - centre) < _STEPS_ASIDE:
                break
            centre = best
        grid = np.array(sorted(known))
        place = smooth_maximum(grid, -np.log([known[i] for i in grid]))
        return self._at(kind, math.exp(start + _LOG_STEP * place), len(self.effects))

    def _at(self, kind: str, lam: float, data: int) -> CorrelatedSolution:
        """Solve an ensemble at a penalty, with the first data sets."""
        asked = CorrelatedEnsemble(kind, 1, data)
        if kind == "stability":
            asked = CorrelatedEnsemble(kind, _STABILITY_MEMBERS, data, resampled=(1.0, "poisson"))
        rows = parse_covariance(self.covariance, len(self.covariance), generator(self._seed))
        truth = self.effects[:data]
        return solve_ensemble(asked, self.model, lam, rows, effects=truth, seed=self._seed)


def _rates(found: CorrelatedSolution, mask: BoolArray) -> Row:
    """Return means over the draws of the data, with intervals."""
    truth = found.effects != 0.0
    if mask.ndim == 3:
        truth = truth[:, None]
    true, false = np.sum(mask & truth, axis=-1), np.sum(mask & ~truth, axis=-1)
    shares = {"power": true / truth.sum(axis=-1), "fdr": false / np.maximum(true + false, 1)}
    row: Row = {}
    for key, values in shares.items():
        each = values.reshape(len(values), -1).mean(axis=1)  # members share their data
        row |= with_interval(key, each)
    return row
