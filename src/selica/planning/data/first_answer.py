"""Power with correlated columns by theory: a first answer, before signals are planted and fits run.

Rows are taken to be Gaussian with the covariance that the table estimates. At the penalty at which
a fit predicts best, the theory draws coefficients and knockoff statistics of all variables, and the
rules of the methods are run on them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.effects import Effects
from selica._core.errors import ArgumentError, ConvergenceWarning, RefusedError
from selica._core.random import RandomState, child, generator, seed_sequence
from selica._core.table import Row, Table
from selica._core.types import Array, BoolArray
from selica._core.validation import count, matrix
from selica.correlated.api import correlated_knockoff, correlated_stability
from selica.correlated.solution import CorrelatedSolution
from selica.planning.predict.grids import smooth_maximum
from selica.planning.predict.knockoffs import AGGREGATED, COPIES, GAMMA, predicting_knockoff
from selica.planning.predict.methods import METHODS, predicting_lasso
from selica.planning.predict.rules import aggregated_pvalues, derandomized, knockoff_plus, step_up
from selica.planning.questions.compare import fdr_level, method_names
from selica.planning.study import Study
from selica.sampling import ledoit_wolf, s_matrix
from selica.statistics.data import standardised
from selica.theory import Model

COVERED = ("knockoff", "evalues", "pvalues", "ideal", "thresholded_lasso", "lasso")
"""Methods of `METHODS` that have a first answer; as they come."""
LARGEST = 600
"""Columns up to which it is faster than simulation."""
# Spawn keys: planted effects, draws.
_EFFECTS, _DRAWS = range(2)
# Variables drawn in all, and data sets at least: errors fall with the variables, not the data sets.
_VARIABLES, _FEWEST = 3000, 10
# Penalties that are tried, around the best one for independent columns: steps of their logarithm,
# steps on either side, and how often the centre may move.
_STEP, _NEAR, _MOVES = 0.35, 2, 3
# Members of stability selection, and its usual threshold.
_MEMBERS, _THRESHOLD = 64, 0.6
# Copies; knockoff+ takes one, and is run on each.
_COPIES = {"knockoff": 8, "evalues": COPIES, "pvalues": AGGREGATED}
_NORMAL = 1.96
_VALUES = tuple(f"{key}{end}" for key in ("power", "fdr") for end in ("", "_low", "_high"))


def correlated_power(
    X: ArrayLike,
    n_signals: int,
    *,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    fdr: float = 0.1,
    methods: Sequence[str] | str = ("knockoff", "evalues"),
    effects: Effects | None = None,
    random_state: RandomState | None = None,
) -> Table:
    """Power and FDR of methods on a table of one's own, by the theory for correlated columns.

    Parameters
    ----------
    X : array of shape (n, p)
        Numbers; constant columns are left out. Its covariance is estimated by `ledoit_wolf`.
    n_signals, r2, snr, effect_size, fdr, effects
        As in `plasmode_power`.
    methods : str or sequence of str
        Some of `planning.METHODS`, as they come. Those without a theory for correlated columns,
        message passing and stability selection under a bound, are left out.
    random_state : None, int, SeedSequence, Generator or RandomState
        The same seed gives the same answer.

    Returns
    -------
    Table
        One row for each method that is covered: its label as `method`, mean `power` and `fdr` with
        the ends of 95 % intervals of the Monte-Carlo draws (`power_low`, ...), and `status`:
        "converged", "max_iter", or in words why there are no values. No rows where there are more
        than 600 columns.

    Examples
    --------
    >>> import numpy as np
    >>> from selica import planning
    >>> X = np.random.default_rng(0).standard_normal((150, 30))
    >>> found = planning.correlated_power(
    ...     X, 10, r2=0.9, fdr=0.2, methods="knockoff", random_state=0
    ... )
    >>> bool(found.rows[0]["power"] > 0.5)
    True
    """
    columns, study = study_of_table(X, n_signals, r2, snr, effect_size, effects)
    level = fdr_level(fdr)
    names = [name for name in method_names(methods) if name in COVERED]
    if study.n_features > LARGEST or not names:
        return Table.of([])
    setting = _Setting(columns, study, effect_size is None, random_state)
    found: dict[str, CorrelatedSolution | str] = {}
    copies = max(_COPIES.get(name, 0) for name in names)
    rows = []
    for name in names:
        kind = "knockoff" if name in _RULES else "stability" if name == "ideal" else "lasso"
        if kind not in found:
            found[kind] = setting.answer(kind, copies if kind == "knockoff" else _MEMBERS)
        one = found[kind]
        base: Row = {"method": METHODS[name].label}
        if isinstance(one, str):
            rows.append(base | dict.fromkeys(_VALUES) | {"status": one})
        else:
            rows.append(base | _rates(one, _selected(name, one, level)) | {"status": one.status})
    return Table.of(rows)


def study_of_table(
    X: ArrayLike,
    n_signals: int,
    r2: float | None,
    snr: float | None,
    effect_size: float | None,
    effects: Effects | None,
) -> tuple[Array, Study]:
    """Columns of a table that vary, standardised, and a study of their size; checked."""
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
    """Mean of a share over data sets, with the ends of its 95 % interval."""
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
        rng = generator(child(seed, _EFFECTS))
        data = max(_VARIABLES // p, _FEWEST)
        self.effects = np.zeros((data, p))
        for row in self.effects:
            signs = rng.choice((-1.0, 1.0), k)
            row[rng.choice(p, k, replace=False)] = study.effects.sample(k, rng) * signs
        if by_ratio:  # noise follows the variance of the signal in each data set
            signal = np.vecdot(self.effects @ self.covariance, self.effects) / k
            self.effects /= np.sqrt(signal)[:, None]
        self._seed = child(seed, _DRAWS)
        self._s: Array | None = None

    def answer(self, kind: str, members: int) -> CorrelatedSolution | str:
        """A solution, which has a status; or why there is none."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                return self._solve(kind, members)
            except RefusedError as error:  # such a covariance has no copies
                return str(error)

    def _solve(self, kind: str, members: int) -> CorrelatedSolution:
        """At the penalty at which one fit predicts best."""
        # `ideal` comes with the penalty of one lasso
        search = "knockoff" if kind == "knockoff" else "lasso"
        guess = predicting_knockoff if kind == "knockoff" else predicting_lasso
        start, known = math.log(guess(self.study)), dict[int, float]()
        centre = 0
        for _ in range(_MOVES):
            near = range(centre - _NEAR, centre + _NEAR + 1)
            for i in near:
                if i not in known:
                    one = self._at(search, math.exp(start + _STEP * i), 4, _FEWEST)
                    known[i] = one.prediction_error
            best = min(near, key=lambda i: known[i])
            if abs(best - centre) < _NEAR:
                break
            centre = best
        grid = np.array(sorted(known))
        place = smooth_maximum(grid, -np.log([known[i] for i in grid]))
        return self._at(kind, math.exp(start + _STEP * place), members, len(self.effects))

    def _at(self, kind: str, lam: float, members: int, data: int) -> CorrelatedSolution:
        settings: dict[str, Any] = {
            "random_state": self._seed,
            "effects": self.effects[:data],
            "n_data": data,
            "n_members": members,
        }
        if kind == "knockoff":
            if self._s is None:
                self._s = s_matrix(self.covariance)
            return correlated_knockoff(self.model, lam, self.covariance, self._s, **settings)
        rate = 1.0 if kind == "stability" else None
        return correlated_stability(self.model, lam, self.covariance, rate, **settings)


def _of_pvalues(W: Any, fdr: float) -> BoolArray:
    return step_up(1.0 / aggregated_pvalues(W[:, :AGGREGATED], GAMMA), fdr)


_RULES: dict[str, Callable[[Any, float], BoolArray]] = {
    "knockoff": knockoff_plus,
    "evalues": derandomized,
    "pvalues": _of_pvalues,
}


def _selected(name: str, found: CorrelatedSolution, fdr: float) -> BoolArray:
    """Masks (n_data, N), or (n_data, members, N) where each member selects for itself."""
    if name in _RULES:
        return _RULES[name](found.statistic, fdr)
    if name == "ideal":
        return np.asarray(found.probabilities() >= _THRESHOLD)
    return np.asarray(found.statistic > 0.0)


def _rates(found: CorrelatedSolution, mask: BoolArray) -> Row:
    """Means over the draws of the data, with intervals."""
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
