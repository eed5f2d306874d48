"""Power with correlated columns by theory: a first answer, before signals are planted and fits run.

Rows are taken to be Gaussian with the covariance that the table estimates. At the penalty at which
a fit predicts best, the theory draws coefficients and knockoff statistics of all variables, and the
rules of the methods are run on them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from selica import catalogue
from selica._core.effects import Effects
from selica._core.errors import ArgumentError, SelicaError
from selica._core.random import RandomState, child, generator, seed_sequence
from selica._core.table import Row, Table
from selica._core.types import Array, BoolArray
from selica._core.validation import count, matrix
from selica.catalogue import Method
from selica.control.thresholds import USUAL_THRESHOLD
from selica.correlated.ensembles import CorrelatedEnsemble, solve_ensemble
from selica.correlated.solution import CorrelatedSolution
from selica.planning.predict import knockoffs, lasso
from selica.planning.predict.limit import smooth_maximum
from selica.planning.predict.prediction import check_level, check_methods
from selica.planning.predict.rules import (
    aggregated_pvalues,
    derandomized,
    knockoff_plus,
    step_up,
)
from selica.planning.study import Study
from selica.sampling import ledoit_wolf, s_matrix
from selica.sampling.covariance import parse_covariance
from selica.statistics.data import standardised
from selica.theory import Model

LARGEST = 600
"""Columns up to which theory is faster than simulation."""
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
_SEARCH_MEMBERS = 4
"""Members with which penalties are compared."""
_STABILITY_MEMBERS = 64
"""Members of stability selection."""
_SINGLE_COPIES = 8
"""Copies of knockoff+, which takes one, and is run on each."""
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
        Methods of the catalogue, as they come; by default knockoffs with one copy and with
        e-values. Those without a theory for correlated columns, such as message passing and
        stability selection under a bound, are left out.
    random_state : None, int, SeedSequence, Generator or RandomState
        The same seed gives the same answer.

    Returns
    -------
    Table
        One row for each method that is covered: its name as `method`, its `label`, mean `power` and
        `fdr` with the ends of 95 % intervals of the Monte-Carlo draws (`power_low`, ...), and
        `status`: "converged", "max_iter", or in words why there are no values. No rows where there
        are more than 600 columns.

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
    columns, study = study_of_table(X, n_signals, r2, snr, effect_size, effects)
    level = check_level(fdr)
    asked = usual_methods() if methods is None else check_methods(methods)
    rows = [row for row in asked if row.correlated_rule is not None]
    if study.n_features > LARGEST or not rows:
        return Table.of([])
    setting = _Setting(columns, study, effect_size is None, random_state)
    found: dict[str, CorrelatedSolution | str] = {}
    table = []
    for row in rows:
        kind = str(row.equations)
        if kind not in found:
            members = max(_members(one) for one in rows if one.equations == kind)
            found[kind] = setting.answer(kind, members)
        solution = found[kind]
        base: Row = {"method": row.name, "label": row.label}
        if isinstance(solution, str):
            table.append(base | dict.fromkeys(_VALUES) | {"status": solution})
        else:
            mask = row.load_correlated_rule()(solution, level)
            table.append(base | _rates(solution, mask) | {"status": solution.status})
    return Table.of(table)


def usual_methods() -> list[Method]:
    """Return the methods that keep the false discovery rate and are usually compared."""
    return list(catalogue.methods(beside_ideal=True, controls="FDR"))


def one_copy(found: CorrelatedSolution, fdr: float) -> BoolArray:
    """Select by knockoff+ on each copy; masks (n_data, members, N).

    Parameters
    ----------
    found : CorrelatedSolution
    fdr : float
    """
    return knockoff_plus(found.statistic, fdr)


def e_values(found: CorrelatedSolution, fdr: float) -> BoolArray:
    """Select by e-BH on the average e-values of the copies; masks (n_data, N).

    Parameters
    ----------
    found, fdr
        As in `one_copy`.
    """
    copies = catalogue.method("knockoffs-evalues").default("n_copies")
    return derandomized(found.statistic[:, :copies], fdr)


def p_values(found: CorrelatedSolution, fdr: float) -> BoolArray:
    """Select by the step-up rule on the aggregated p-values of the copies; masks (n_data, N).

    Parameters
    ----------
    found, fdr
        As in `one_copy`.
    """
    row = catalogue.method("knockoffs-pvalues")
    copies, gamma = row.default("n_copies"), row.default("gamma")
    return step_up(1.0 / aggregated_pvalues(found.statistic[:, :copies], gamma), fdr)


def frequent(found: CorrelatedSolution, fdr: float) -> BoolArray:
    """Select what enough members select, at the usual threshold; masks (n_data, N).

    Parameters
    ----------
    found, fdr
        As in `one_copy`; the level does not matter.
    """
    return np.asarray(found.probabilities() >= USUAL_THRESHOLD)


def nonzero(found: CorrelatedSolution, fdr: float) -> BoolArray:
    """Select the non-zero coefficients of each member; masks (n_data, members, N).

    Parameters
    ----------
    found, fdr
        As in `one_copy`; the level does not matter.
    """
    return np.asarray(found.statistic > 0.0)


def _members(row: Method) -> int:
    """Return how many members, or copies, a method is drawn with."""
    if row.equations != "knockoff":
        return _STABILITY_MEMBERS
    many = "n_copies" in row.options.values()
    return int(row.default("n_copies")) if many else _SINGLE_COPIES


def study_of_table(
    X: ArrayLike,
    n_signals: int,
    r2: float | None,
    snr: float | None,
    effect_size: float | None,
    effects: Effects | None,
) -> tuple[Array, Study]:
    """Return the columns of a table that vary, standardised, and a study of their size."""
    columns, _ = standardised(matrix("X", X))
    columns = columns[:, columns.any(axis=0)]
    n, p = columns.shape
    k = count("n_signals", n_signals)
    if k > p:
        raise ArgumentError(f"n_signals must be at most the {p} columns that vary; got {k}.")
    if n < 10:
        raise ArgumentError(f"X must have at least 10 rows; got {n}.")
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
        columns: Array,
        study: Study,
        by_ratio: bool,
        random_state: RandomState | None,
    ) -> None:
        n, p = columns.shape
        k = study.n_signals
        seed = seed_sequence(random_state)
        self.study = study
        self.model = Model(n / p, k / p, k / p / study.snr, study.effects)
        self.covariance = ledoit_wolf(columns, mean=0.0, standardise=True).covariance
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
        self._s: Array | None = None

    def answer(self, kind: str, members: int) -> CorrelatedSolution | str:
        """Return a solution, which has a status; or why there is none."""
        try:
            return self._solve(kind, members)
        except SelicaError as error:  # such a covariance has no copies, or no solution
            return str(error)

    def _solve(self, kind: str, members: int) -> CorrelatedSolution:
        """Solve at the penalty at which one fit predicts best."""
        # stability selection comes with the penalty of one lasso
        single, guess = "lasso", lasso.predicting_penalty
        if kind == "knockoff":
            single, guess = "knockoff", knockoffs.predicting_penalty
        start, known = math.log(guess(self.study)), dict[int, float]()
        centre = 0
        for _ in range(_MAX_MOVES):
            near = range(centre - _STEPS_ASIDE, centre + _STEPS_ASIDE + 1)
            for i in near:
                if i not in known:
                    lam = math.exp(start + _LOG_STEP * i)
                    one = self._at(single, lam, _SEARCH_MEMBERS, _FEWEST_DATA_SETS)
                    known[i] = one.prediction_error
            best = min(near, key=lambda i: known[i])
            if abs(best - centre) < _STEPS_ASIDE:
                break
            centre = best
        grid = np.array(sorted(known))
        place = smooth_maximum(grid, -np.log([known[i] for i in grid]))
        return self._at(kind, math.exp(start + _LOG_STEP * place), members, len(self.effects))

    def _at(self, kind: str, lam: float, members: int, data: int) -> CorrelatedSolution:
        """Solve an ensemble at a penalty, with the first data sets."""
        if kind == "knockoff":
            if self._s is None:
                self._s = s_matrix(self.covariance)
            asked = CorrelatedEnsemble(kind, members, data, s=self._s)
        elif kind == "stability":
            asked = CorrelatedEnsemble(kind, members, data, resampled=(1.0, "poisson"))
        else:
            asked = CorrelatedEnsemble(kind, 1, data)
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
