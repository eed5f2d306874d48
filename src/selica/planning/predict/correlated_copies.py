r"""Rules on knockoff statistics in a study with correlated columns.

The order parameters are solved on chunks of neighbouring columns (`correlated.chunks`), at the
penalty at which a fit predicts best. There the coefficients of many chunks are drawn, and tables of
the size of the study are put together from them: the rules themselves are run on these tables, so
that counts fluctuate as they will.

A table is a random choice of chunks with k signals. The error of a power has two parts: that of the
tables, and that of the signals that were drawn,

.. math:: s^2 = \frac{1}{2 S^2}\sum_i (\varphi_{i+1} - \varphi_i)^2 ,

by the shares :math:`\varphi_i` of the tables in which signal i is found, in the order of the sizes
of the effects, which are drawn one from each of S parts of equal probability.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray, IntArray
from selica.catalogue import Method
from selica.correlated.chunks import Chunks, cut, plant
from selica.correlated.drawn_fits import GaussianCopies, SingleBody
from selica.correlated.fixed_point import DrawnEquations, FixedPoint
from selica.planning.predict import knockoffs
from selica.planning.predict.expectation import FOUND_SHARES, Expected
from selica.planning.predict.limit import rounded, smooth_maximum
from selica.planning.predict.prediction import Forecast
from selica.planning.predict.rules import (
    aggregated_pvalues,
    derandomized,
    knockoff_plus,
    step_up,
)
from selica.planning.predict.solved_chunks import (
    DRAFT,
    MOST_WORK,
    ChunkDraws,
    affordable,
    chunk_notes,
    solved_draws,
    stratified_error,
)
from selica.planning.study import Study

_SEED = 22
"""First number of all seeds; 0 as the second is that of `solved_chunks`."""
_SEARCH_DRAWS = (300, 4000)
"""Signals and columns with which penalties are compared."""
_LOG_STEP = 0.35
"""Step between penalties that are tried, in logarithms."""
_MOST_STEPS = 12
"""Penalties that are tried, at most."""
_ONE_COPY_SIGNALS = 12_000
"""Signals that are drawn for a rule on one copy."""
_COPIES_SIGNALS = 4000
"""Signals that are drawn for a rule on many copies."""
_WHOLE_SIGNALS = 3000
"""Signals that are drawn first where a chunk is the table."""
_NULL_TABLES = 20
"""Tables whose columns without a signal are drawn, at most, where most chunks have none."""
_NULL_VALUES = 16_000_000
"""Statistics of these columns, about."""
_MOST_NULL_COLUMNS = 2_000_000
"""Columns of these tables, at most."""
_MOST_FITTED = 12_000_000
"""Statistics that are drawn, at most."""
_BATCH_VALUES = 1_500_000
"""Statistics that are drawn at a time."""
_WANTED_ERROR = 0.007
"""Standard error of the power over tables at which these end."""
_LARGEST_ERROR = 0.01
"""Standard error of the power above which more tables are drawn."""
_MOST_TIMES = 8
"""How many times as many these are, at most."""
_SOLVED_ERROR = 0.0075
"""Standard error of a power from the draws in which the equations are solved, by other seeds."""
_FEWEST_TABLES = 40
"""Tables, at least."""
_MOST_TABLES = 4000
"""Tables, at most."""
_MOST_RANKED = 150_000_000
"""Statistics that rules look at, at most."""
_RANKED_AT_ONCE = 1_000_000
"""Statistics that rules look at together."""
_MANY_SIGNALS = 400
"""Signals beyond which a smaller table of the same kind says the same."""
_OFF_COUNT = 0.02
"""How far a table may be from its number of signals, as a share."""
_TRIED_FOR_ONE = 4
"""Tables that are drawn for one that is taken: that whose signal is nearest to its variance."""
_UNLIKELY_DEVIATIONS = 7.0
"""Standard deviations by which counts may miss what is expected of them."""
_THRESHOLDS = 100
"""Sizes of statistics below which nothing may be selected, which are tried."""
_COUNTED_COPIES = 4
"""Copies by which these sizes are compared."""
_OTHER_STATISTIC = (
    "The prediction is that of coefficients at the penalty at which a fit predicts best; the "
    "statistic of the selector as it comes has no theory for correlated columns, and usually finds "
    "a little more."
)
"""What is said of default settings."""


class StatisticRule(NamedTuple):
    """A rule on knockoff statistics."""

    select: Callable[[Any, float, int], BoolArray]
    """From statistics (R, copies, M), the level and p to selections (R, M)."""
    copies: int
    posthoc: bool = False
    """Whether a copy also stops where no statistic is behind."""


def rule_of(row: Method) -> StatisticRule | None:
    """Return the rule of a method on knockoff statistics, if it has one."""
    if row.name == "knockoffs":
        return StatisticRule(lambda W, fdr, p: knockoff_plus(W[:, 0], fdr), 1)
    if row.name == "knockoffs-evalues":
        return StatisticRule(derandomized, int(row.default("n_copies")), posthoc=True)
    if row.name == "knockoffs-pvalues":
        gamma = row.default("gamma")
        return StatisticRule(
            lambda W, fdr, p: step_up(1.0 / aggregated_pvalues(W, gamma, p), fdr, p),
            int(row.default("n_copies")),
        )
    return None


def forecast(row: Method, study: Any, level: float, best: bool) -> Forecast:
    """Predict a rule on knockoff statistics in a study.

    Parameters
    ----------
    row : Method
    study : Study
        With correlated columns.
    level : float
    best : bool
        Whether the printed settings name the penalty.
    """
    rule = rule_of(row)
    assert rule is not None
    solved = _solved(study)
    parameters: dict[str, Any] = {"fdr": level}
    notes = solved.notes
    if best:
        parameters["lam"] = solved.penalty
    else:
        notes += (_OTHER_STATISTIC,)
    return Forecast(_expected(study, rule, level), parameters, notes)


class _Solved(NamedTuple):
    """Knockoffs of a study at the penalty at which a fit predicts best."""

    chunks: Chunks
    copies: GaussianCopies
    equations: DrawnEquations
    point: FixedPoint
    penalty: float
    """In the unit of the selectors."""
    notes: tuple[str, ...]


@lru_cache(maxsize=8)
def _copies(columns: Any) -> tuple[Chunks, GaussianCopies]:
    """Return the chunks of columns and their copies, which are kept."""
    chunks = cut(columns.covariance)
    return chunks, GaussianCopies.of(np.asarray(chunks.covariance), "mvr")


@lru_cache(maxsize=32)
def _solved(study: Any) -> _Solved:
    """Solve knockoffs at the penalty at which a fit predicts best, which is kept."""
    chunks, copies = _copies(study.columns)
    at = ChunkDraws(study, chunks, copies, _SEARCH_DRAWS)
    start = math.log(knockoffs.predicting_penalty(study))
    near: dict[int, FixedPoint] = {}

    def error(i: int) -> float:
        if i not in near:
            beside = near[min(near, key=lambda j: abs(j - i))] if near else None
            near[i] = at.equations(math.exp(start + _LOG_STEP * i)).solve(beside)
        return float(np.log(np.exp(near[i].x[:2]).sum()))

    best = 0
    for _ in range(_MOST_STEPS):
        lower = min((best - 1, best, best + 1), key=error)
        if lower == best:
            break
        best = lower
    grid = np.array([best - 1, best, best + 1])
    place = smooth_maximum(grid.astype(float), -np.array([error(i) for i in grid]))
    unit = at.unit()
    penalty = rounded(math.exp(start + _LOG_STEP * place) * unit)
    fine = ChunkDraws(study, chunks, copies, solved_draws(study))
    equations = fine.equations(penalty / unit)
    point = equations.solve(near[best])
    return _Solved(chunks, copies, equations, point, penalty, chunk_notes(chunks, point))


class _Pool:
    """Chunks with the knockoff statistics of their columns, of which tables are made.

    Columns without evidence in any copy are left out.
    """

    def __init__(self, study: Study, solved: _Solved, copies: int, times: int) -> None:
        chunks, N = solved.chunks, solved.chunks.size
        k, p = study.n_signals, study.n_features
        signals = times * (_ONE_COPY_SIGNALS if copies == 1 else _COPIES_SIGNALS)
        if study.draft:
            signals = round(DRAFT * signals)
        if chunks.whole:  # errors are those of tables, and more are drawn if these are large
            signals = min(signals, times * _WHOLE_SIGNALS)
        tables = round(DRAFT * _NULL_TABLES) if study.draft else _NULL_TABLES
        columns = min(tables * p, max(_NULL_VALUES // copies, p), _MOST_NULL_COLUMNS)
        most = times * min(_MOST_FITTED // copies, MOST_WORK // N)
        signals = affordable(signals, most, chunks, k / p)
        columns = min(columns, MOST_WORK // N)
        rng = np.random.default_rng([_SEED, 1])
        self.truth, self.share, _ = plant(chunks, study.effects, (k, p), (signals, columns), rng)
        self.copies, self._p = copies, p
        J = len(self.truth)
        step = max(_BATCH_VALUES // (copies * N), 1)
        kept: list[Any] = []
        places: list[IntArray] = []
        for first in range(0, J, step):
            W = _statistics(solved, self.truth[first : first + step], copies, rng)
            seen = W.any(axis=2)
            kept.append(W[seen])
            places.append(np.argwhere(seen) + np.array([first, 0]))
        self.number = np.count_nonzero(self.truth, axis=1)
        """Signals of each chunk."""
        self.strength = np.vecdot(self.truth @ np.asarray(chunks.covariance), self.truth)
        """Variance of the linear predictor of each chunk."""
        self.columns = np.concatenate([*kept, np.zeros((1, copies), dtype=np.float32)])
        """Statistics of the columns with evidence, (M + 1, copies); the last one has none."""
        self.chunk, self.place = np.concatenate([*places, np.zeros((1, 2), dtype=int)]).T
        self.effect = self.truth[self.chunk, self.place]
        """Effects of these columns."""
        self.effect[-1] = 0.0


def _statistics(solved: _Solved, truth: Array, copies: int, rng: np.random.Generator) -> Any:
    """Draw knockoff statistics of chunks, (J, N, copies)."""
    N = solved.chunks.size
    body = SingleBody(solved.chunks.covariance, truth, copies, rng, solved.copies)
    Q, chi_hat, v_hat = solved.equations.fields(solved.point.x)
    scale = (solved.equations.lam / Q, math.sqrt(chi_hat) / Q, math.sqrt(v_hat) / Q)
    coef = np.abs(body.fit(*scale, len(truth), copies, keep=False))
    return np.moveaxis(coef[..., :N] - coef[..., N:], 1, 2).astype(np.float32)


@lru_cache(maxsize=4)
def _pool(study: Any, copies: int, times: int) -> _Pool:
    return _Pool(study, _solved(study), copies, times)


def _expected(study: Any, rule: StatisticRule, level: float) -> Expected:
    """Run a rule on tables that are put together from chunks, as many as it takes."""
    chunks, times = _solved(study).chunks, 1
    while True:
        found = _Tables(study, chunks, _pool(study, rule.copies, times), rule, level).run()
        # chunks that are tables are drawn again, more of them
        more = math.ceil(times * (found.power_error / _LARGEST_ERROR) ** 2)
        if not chunks.whole or more <= times or times >= _MOST_TIMES or study.draft:
            return found
        times = min(more, _MOST_TIMES)


class _Tables:
    """Tables of the size of a study, and what a rule finds in them."""

    def __init__(
        self, study: Study, chunks: Chunks, pool: _Pool, rule: StatisticRule, level: float
    ) -> None:
        self.pool, self.rule, self.level, self.whole = pool, rule, level, chunks.whole
        self.wanted = _WANTED_ERROR / (math.sqrt(DRAFT) if study.draft else 1.0)
        less = 1.0 if chunks.whole else min(1.0, _MANY_SIGNALS / study.n_signals)
        self.n_chunks = max(round(chunks.number * less), 1)
        self.k = round(study.n_signals * less)
        self.p = study.n_features if chunks.whole else self.n_chunks * chunks.size
        self.scale = study.n_signals / self.k
        self.strength = float(self.n_chunks * (pool.share @ pool.strength))
        self._keep_what_matters()

    def _keep_what_matters(self) -> None:
        """Leave out columns whose statistics are so small that no filter stops at them."""
        pool, J = self.pool, len(self.pool.truth)
        size = np.abs(pool.columns[:-1]).max(axis=1, initial=0.0)
        weight = self.n_chunks * pool.share[pool.chunk[:-1]]
        lowest = 0.0
        if size.size:
            cuts = np.quantile(size, np.linspace(0.0, 1.0, _THRESHOLDS, endpoint=False))
            W = pool.columns[:-1, :_COUNTED_COPIES]
            for t in cuts:
                ahead = float(weight @ np.mean(t <= W, axis=1))
                behind = float(weight @ np.mean(-t >= W, axis=1))
                spread = math.sqrt(behind + self.level**2 * ahead)
                below = 1.0 + behind - self.level * ahead > _UNLIKELY_DEVIATIONS * spread
                if self.rule.posthoc:
                    below &= behind > _UNLIKELY_DEVIATIONS**2
                if not below:
                    break
                lowest = float(t)
        keep = np.append(size >= lowest, True)
        self.columns, self.effect = pool.columns[keep], pool.effect[keep]
        self.chunk, self._place = pool.chunk[keep], pool.place[keep]
        number = np.bincount(self.chunk[:-1], minlength=J + 1)  # the last is a chunk of nothing
        self._first = np.cumsum(number) - number
        self._number = number

    def run(self) -> Expected:
        """Draw tables until the power is known."""
        rng = np.random.default_rng([_SEED, 2])
        usual = math.ceil(self._usual_size())
        batch = max(_RANKED_AT_ONCE // (usual * self.rule.copies), 1)
        most = min(_MOST_TABLES, max(_MOST_RANKED // (usual * self.rule.copies), _FEWEST_TABLES))
        if self.whole:
            most = len(self.pool.truth)
        counts: list[Array] = []
        times = np.zeros(len(self.columns))
        used = np.zeros(len(self.pool.truth) + 1)
        done = 0
        while done < most:
            picked = self._chosen(min(batch, most - done, _MOST_TABLES), done, rng)
            true, every = self._found(picked, times)
            np.add.at(used, picked.ravel(), 1.0)
            counts.append(np.stack([true, every]))
            done += len(picked)
            power = np.concatenate(counts, axis=1)[0] / self.k
            error = float(power.std(ddof=1)) / math.sqrt(done) if done > 1 else math.inf
            if done >= _FEWEST_TABLES and error < self.wanted and not self.whole:
                break
        true, every = np.concatenate(counts, axis=1)
        return self._expected(true, every, times, used[:-1])

    def _expected(self, true: Array, every: Array, times: Array, used: Array) -> Expected:
        """Return means over tables, and the error of the power."""
        power, false = true / self.k, every - true
        R = power.size
        error = float(power.std(ddof=1)) / math.sqrt(R)
        if not self.whole:
            error = math.hypot(error, self._signal_error(times, used))
        mean = float(power.mean())
        fdr = float(np.mean(false / np.maximum(every, 1.0)))
        # one signal more or less in all tables is what was not seen
        error = max(error, 1.0 / (R * math.sqrt(self.k)))
        if 0.0 < mean < 1.0:
            error = math.hypot(error, 4.0 * mean * (1.0 - mean) * _SOLVED_ERROR)
        scaled = self.scale * float(false.mean())
        low, high = np.quantile(self.scale * true, FOUND_SHARES, method="inverted_cdf").tolist()
        return Expected(
            mean, fdr, self.scale * self.k * mean, scaled, error, found_low=low, found_high=high
        )  # fmt: skip

    def _signal_error(self, times: Array, used: Array) -> float:
        """Return the error of the power from the signals that were drawn."""
        pool = self.pool
        share = np.zeros(pool.truth.shape)
        signal = self.effect[:-1] != 0.0
        where = np.flatnonzero(signal)
        share[self.chunk[where], self._place[where]] = times[where]
        mask = (pool.truth != 0.0) & (used > 0.0)[:, None]
        rate = (share / np.maximum(used, 1.0)[:, None])[mask]
        weight = np.broadcast_to(pool.share[:, None], mask.shape)[mask]
        return stratified_error(pool.truth[mask], rate, weight)

    def _usual_size(self) -> float:
        """Return the columns of a table that are looked at, on average."""
        return float(self.n_chunks * (self.pool.share @ self._number[:-1])) + 1.0

    def _chosen(self, size: int, done: int, rng: np.random.Generator) -> IntArray:
        """Return the chunks of some tables, (R, chunks), with k signals each."""
        if self.whole:
            return np.arange(done, done + size)[:, None]
        pool, off, J = self.pool, int(_OFF_COUNT * self.k), len(self.pool.truth)
        full, empty = np.flatnonzero(pool.number), np.flatnonzero(pool.number == 0)
        chance = min(float(pool.share[full].sum()), 1.0) if empty.size else 1.0
        seen = empty[self._number[empty] > 0]
        found: list[IntArray] = []
        missing = size
        while missing > 0:
            tried = 4 * _TRIED_FOR_ONE * size + 64
            many = rng.binomial(self.n_chunks, chance, tried)
            some = full[rng.integers(full.size, size=(tried, max(int(many.max()), 1)))]
            there = np.arange(some.shape[1]) < many[:, None]
            total = np.sum(pool.number[some] * there, axis=1)
            fine = np.flatnonzero(np.abs(total - self.k) <= off)
            # the ratio of signal to noise is that of the study, so that the signal has its variance
            apart = np.abs(np.sum(pool.strength[some[fine]] * there[fine], axis=1) - self.strength)
            nearest = np.argsort(apart, kind="stable")[: math.ceil(fine.size / _TRIED_FOR_ONE)]
            fine = fine[np.sort(nearest)][:missing]
            picked = [np.where(there[fine], some[fine], J)]
            if seen.size:
                more = rng.binomial(self.n_chunks - many[fine], seen.size / empty.size)
                rest = seen[
                    rng.integers(seen.size, size=(fine.size, max(int(more.max(initial=0)), 1)))
                ]
                picked.append(np.where(np.arange(rest.shape[1]) < more[:, None], rest, J))
            found.append(np.concatenate(picked, axis=1))
            missing -= fine.size
        width = max(part.shape[1] for part in found)
        padded = [
            np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=J) for part in found
        ]
        return np.concatenate(padded)

    def _found(self, picked: IntArray, times: Array) -> tuple[Array, Array]:
        """Return how many signals and variables the rule selects in each table."""
        R = len(picked)
        number = self._number[picked]
        total = number.sum(axis=1)
        width = max(int(total.max()), 1)
        index = np.full((R, width), len(self.columns) - 1)
        flat = number.ravel()
        start = np.repeat(self._first[picked].ravel(), flat)
        within = np.arange(flat.sum()) - np.repeat(np.cumsum(flat) - flat, flat)
        row = np.repeat(np.arange(R), total)
        column = np.arange(row.size) - np.repeat(np.cumsum(total) - total, total)
        index[row, column] = start + within
        W = np.ascontiguousarray(np.moveaxis(self.columns[index], 2, 1))
        mask = self.rule.select(W, self.level, self.p)
        true = mask & (self.effect[index] != 0.0)
        np.add.at(times, index[true], 1.0)
        return true.sum(axis=1).astype(float), mask.sum(axis=1).astype(float)
