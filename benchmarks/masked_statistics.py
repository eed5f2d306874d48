"""Masked statistics of knockoffs: whether levels are kept, what is found, how long it takes.

`python -m benchmarks.masked_statistics` measures false discovery rates on data of which the truth
is known (`--csv FOLDER` writes the rows), `--power` compares what statistics find, and `--speed`
their processor time with that of a lasso path of 100 penalties on the same columns.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica import KnockoffSelection
from selica._core.types import Array, BoolArray
from selica.control import knockoff_threshold
from selica.experiments.promise_rows import PromiseRow, write_promises
from selica.sampling import GaussianKnockoffs
from selica.statistics import Data, knockoff_statistics, make_data
from selica.statistics.data import largest_penalty, path_from, standardised
from selica.statistics.fits import fit_copies

COMMAND = "python -m benchmarks.masked_statistics"
RUNS = 500
"""Data sets of each kind by default."""
LEVELS = (0.1, 0.2)
"""False discovery rates that are asked for."""
PENALTIES = 100
"""Penalties of the path that a time is compared with."""
STATISTICS = ("coefficient", "bayes", "mlr")
"""What is compared."""


class Kind(NamedTuple):
    """A kind of data: neighbours are correlated, effects have both signs."""

    name: str
    rows: int
    variables: int
    matter: int
    correlation: float
    effect: float
    """Size of an effect, times the root of the number of rows."""
    response: str = "linear"


PROMISES = (
    Kind("independent columns, 12 of 60 matter", 250, 60, 12, 0.0, 3.5),
    Kind("AR(1) 0.5, 12 of 60 matter", 250, 60, 12, 0.5, 4.0),
    Kind("AR(1) 0.8, 12 of 60 matter", 250, 60, 12, 0.8, 6.0),
    Kind("AR(1) 0.5, 15 of 100 matter, fewer rows than columns and copies", 150, 100, 15, 0.5, 5.0),
    Kind("AR(1) 0.5, nothing matters", 250, 60, 0, 0.5, 0.0),
    Kind("AR(1) 0.5, labels, 12 of 60 matter", 250, 60, 12, 0.5, 9.0, "binary"),
    Kind("AR(1) 0.5, counts, 12 of 60 matter", 250, 60, 12, 0.5, 3.5, "count"),
    Kind("AR(1) 0.5, times of events, 12 of 60 matter", 250, 60, 12, 0.5, 5.0, "survival"),
)
"""Kinds on which levels are measured."""
POWER = (
    Kind("independent, 30 of 200", 500, 200, 30, 0.0, 3.5),
    Kind("AR(1) 0.5, 30 of 200", 500, 200, 30, 0.5, 4.0),
    Kind("AR(1) 0.8, 30 of 200", 500, 200, 30, 0.8, 6.0),
    Kind("AR(1) 0.9, 30 of 200", 500, 200, 30, 0.9, 8.0),
    Kind("AR(1) 0.5, 30 of 500", 500, 500, 30, 0.5, 4.5),
    Kind("AR(1) 0.8, 30 of 500", 500, 500, 30, 0.8, 6.0),
    Kind("AR(1) 0.9, 30 of 500", 500, 500, 30, 0.9, 8.0),
)
"""Kinds on which statistics are compared."""
SIZES = ((200, 60), (500, 200), (500, 500), (300, 1000), (1000, 1000))
"""Rows and variables of tables on which times are compared."""


def covariance(kind: Kind) -> Array:
    """Return the covariance of the columns."""
    place = np.arange(kind.variables)
    return np.asarray(kind.correlation ** np.abs(np.subtract.outer(place, place)))


def table(kind: Kind, seed: int) -> tuple[Array, Array, BoolArray]:
    """Return columns, response and which variables matter."""
    rng = np.random.default_rng([seed, 24])
    X = rng.standard_normal((kind.rows, kind.variables)) @ np.linalg.cholesky(covariance(kind)).T
    coef = np.zeros(kind.variables)
    chosen = rng.choice(kind.variables, kind.matter, replace=False)
    coef[chosen] = kind.effect / np.sqrt(kind.rows) * rng.choice([-1.0, 1.0], kind.matter)
    eta = X @ coef
    if kind.response == "binary":
        y: Array = (rng.random(kind.rows) < 1.0 / (1.0 + np.exp(-eta))).astype(float)
    elif kind.response == "count":
        y = rng.poisson(np.exp(0.5 + 0.5 * eta)).astype(float)
    elif kind.response == "survival":
        time_, censored = rng.exponential(np.exp(-eta)), rng.exponential(3.0, kind.rows)
        y = np.column_stack([np.minimum(time_, censored), time_ <= censored])
    else:
        y = eta + rng.standard_normal(kind.rows)
    return X, y, coef != 0.0


def measure(kind: Kind, statistic: str, runs: int) -> Iterator[PromiseRow]:
    """Return the rows of one statistic on one kind of data; all levels share its fits."""
    sampler, found, doubts = GaussianKnockoffs(0.0, covariance(kind)), [], 0
    for seed in range(runs):
        X, y, truth = table(kind, seed)
        selector = KnockoffSelection(
            LEVELS[0], sampler=sampler, statistic=statistic, response=kind.response, n_jobs=1,
            random_state=seed,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(X, y)
        doubts += not selector.guarantee_.proven
        found.append([outcome(selector.statistics_, truth, level) for level in LEVELS])
    command = COMMAND if statistic == "bayes" else f"{COMMAND} --statistic {statistic}"
    for level, of_level in zip(LEVELS, np.array(found).transpose(1, 2, 0), strict=True):
        false, power, some = of_level
        yield PromiseRow(
            kind.name, f"knockoff+, {statistic}", "FDR", level, round(float(false.mean()), 4),
            round(float(false.std() / np.sqrt(runs)), 4), "proven", round(float(some.mean()), 3),
            round(float(power.mean()), 3) if kind.matter else None, runs, command,
            f"the covariance is known; the check of the copies doubted {doubts} of them by chance",
        )  # fmt: skip


def outcome(W: Array, truth: BoolArray, level: float) -> tuple[float, float, float]:
    """Return the false share, the share of signals that are found, and whether any is."""
    chosen = knockoff_threshold(W, level, 1) <= W
    many = int(chosen.sum())
    wrong, right = int((chosen & ~truth).sum()), int((chosen & truth).sum())
    return wrong / max(many, 1), right / max(int(truth.sum()), 1), float(many > 0)


def compare(runs: int) -> None:
    """Print what each statistic finds, and its false share, with the same copies."""
    print("| data | statistic | power at 0.1 | false | power at 0.2 | false | seconds |")
    print("|---|---|---|---|---|---|---|")
    for kind in POWER:
        sampler = GaussianKnockoffs(0.0, covariance(kind))
        results: dict[str, list[list[float]]] = {name: [] for name in STATISTICS}
        for seed in range(runs):
            X, y, truth = table(kind, seed)
            data, copy = make_data(X, y, "squared"), sampler.copies(X, seed, 1)[0]
            for name in STATISTICS:
                W, seconds = timed(statistic_of, data, copy, name)
                found = [outcome(W, truth, level)[:2] for level in LEVELS]
                results[name].append([found[0][1], found[0][0], found[1][1], found[1][0], seconds])
        for name, rows in results.items():
            mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(runs)
            text = (
                f"{mean[0]:.3f} ({error[0]:.3f}) | {mean[1]:.3f} | {mean[2]:.3f} ({error[2]:.3f})"
            )
            print(f"| {kind.name} | {name} | {text} | {mean[3]:.3f} | {mean[4]:.3f} |", flush=True)


def statistic_of(data: Data, copy: Array, name: str) -> Array:
    """Return W for one copy, by one thread."""
    rngs = [np.random.default_rng(0)]
    return knockoff_statistics(data, [copy], rngs, statistic=name, n_jobs=1)[0]


def timed(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """Return a result and the processor seconds that it took."""
    start = time.process_time()
    found = work(*arguments)
    return found, time.process_time() - start


def path(data: Data, copy: Array) -> Any:
    """Return a lasso path on columns and copies."""
    n, p = data.X.shape
    penalties = path_from(largest_penalty(data), (n, 2 * p), PENALTIES)
    columns = [standardised(copy)[0]]
    return fit_copies(data, columns, penalties[None], np.ones((1, 1, n)), keep="coef", n_jobs=1)


def speed(repeats: int = 5) -> None:
    """Print processor times beside that of a lasso path, the least of a few runs each."""
    print("| rows | variables | AR(1) | lasso path | coefficient | bayes | mlr | bayes, in paths |")
    print("|---|---|---|---|---|---|---|---|")
    for n, p in SIZES:
        for correlation in (0.0, 0.8):
            kind = Kind("", n, p, min(30, p // 4), correlation, 4.5)
            X, y, _ = table(kind, 0)
            data = make_data(X, y, "squared")
            copy = GaussianKnockoffs(0.0, covariance(kind), method="equi").copies(X, 0, 1)[0]
            one = min(timed(path, data, copy)[1] for _ in range(repeats))
            each = [
                min(timed(statistic_of, data, copy, name)[1] for _ in range(repeats))
                for name in STATISTICS
            ]
            cells = [f"{seconds:.4f}" for seconds in (one, *each)]
            print(f"| {n} | {p} | {correlation} | {' | '.join(cells)} | {each[1] / one:.2f} |",
                  flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, help="data sets of each kind")
    parser.add_argument("--csv", type=Path, help="folder for the rows")
    parser.add_argument("--statistic", default="bayes", choices=STATISTICS[1:])
    parser.add_argument("--power", action="store_true", help="compare what statistics find")
    parser.add_argument("--speed", action="store_true", help="compare processor times")
    asked = parser.parse_args()
    if asked.speed:
        speed()
        return
    if asked.power:
        compare(asked.runs or 50)
        return
    rows: list[PromiseRow] = []
    for kind in PROMISES:
        for row in measure(kind, asked.statistic, asked.runs or RUNS):
            print(row, flush=True)
            rows.append(row)
        if asked.csv is not None:
            name = "masked" if asked.statistic == "bayes" else asked.statistic
            write_promises(asked.csv / f"{name}.csv", rows)


if __name__ == "__main__":
    main()
