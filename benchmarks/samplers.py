"""Knockoff+ with each sampler on columns of its own kind, beside Gaussian copies of the same data.

`python -m benchmarks.samplers --csv docs/data/guarantees/samplers.csv` writes a row for each
setting, sampler and level. Data sets that are done are kept in a folder and not computed again.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm, poisson

from selica._core.types import Array, IntArray
from selica.control import fdp, knockoff_threshold, tpp
from selica.sampling import GaussianKnockoffs, Sampler, SequentialKnockoffs
from selica.sampling.exchangeability import DOUBTFUL_RATIO, WITHDRAWN_RATIO
from selica.selectors.comparison import KnockoffComparison, Measure
from selica.statistics import make_data

LEVELS = (0.1, 0.2)
COMMAND = "python -m benchmarks.samplers"
HEAD = (
    *("setting", "method", "controls", "level", "measured", "error", "promised", "selects"),
    *("power", "runs", "command", "note"),
)


class Table(NamedTuple):
    """Columns, and to which variable each belongs."""

    X: Array
    variable: IntArray


def latent(n: int, p: int, rho: float, rng: np.random.Generator) -> Array:
    """Normal columns, each correlated with the next."""
    L = rng.standard_normal((n, p))
    for j in range(1, p):
        L[:, j] = rho * L[:, j - 1] + np.sqrt(1.0 - rho**2) * L[:, j]
    return L


def mixed(n: int, p: int, rho: float, rng: np.random.Generator) -> Table:
    """Numbers, skewed numbers, two classes, counts and factors of four levels, in turns."""
    L = latent(n, p, rho, rng)
    U = norm.cdf(L)
    columns: list[Array] = []
    variable: list[int] = []
    for j in range(p):
        turn, kind = divmod(j, 5)
        part = [L[:, j]]
        if kind == 1:
            part = [np.exp(L[:, j])]
        elif kind == 2:
            part = [(U[:, j] > (0.5, 0.7, 0.85)[turn % 3]).astype(float)]
        elif kind == 3:
            part = [poisson.ppf(U[:, j], (1.0, 2.0, 4.0)[turn % 3])]
        elif kind == 4:
            level = np.array([0, 2, 1, 3])[np.digitize(U[:, j], [0.3, 0.55, 0.8])]
            part = [(level == k).astype(float) for k in (1, 2, 3)]
        columns += part
        variable += [j] * len(part)
    return Table(np.column_stack(columns), np.array(variable))


def normal(n: int, p: int, rho: float, rng: np.random.Generator) -> Table:
    """Normal columns."""
    return Table(latent(n, p, rho, rng), np.arange(p))


def skewed(n: int, p: int, rho: float, rng: np.random.Generator) -> Table:
    """Linear functions of the column before, plus noise of an exponential distribution."""
    X = rng.exponential(size=(n, p)) - 1.0
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1.0 - rho**2) * X[:, j]
    return Table(X, np.arange(p))


def classes(n: int, p: int, rho: float, rng: np.random.Generator) -> Table:
    """Columns of 0 and 1, from half of the rows to a twentieth."""
    cut = norm.ppf(np.linspace(0.5, 0.95, 4))[np.arange(p) % 4]
    return Table((latent(n, p, rho, rng) > cut).astype(float), np.arange(p))


def covariance(p: int, rho: float) -> Array:
    """Of the normal columns."""
    return np.asarray(rho ** np.abs(np.subtract.outer(np.arange(p), np.arange(p))))


class Setting(NamedTuple):
    """A kind of table and its samplers."""

    name: str
    draw: Callable[[int, int, float, np.random.Generator], Table]
    n: int
    rho: float
    effect: float
    samplers: dict[str, Callable[[], Sampler]]


P = 40
SIGNALS = 15
SEQUENTIAL = "knockoff+, sequential copies"
GAUSSIAN = "knockoff+, Gaussian copies"
BOTH: dict[str, Callable[[], Sampler]] = {
    SEQUENTIAL: SequentialKnockoffs,
    GAUSSIAN: GaussianKnockoffs,
}
SETTINGS = (
    Setting("mixed table, neighbours 0.5", mixed, 250, 0.5, 0.3, BOTH),
    Setting(
        "skewed columns, neighbours 0.7", skewed, 200, 0.7, 0.4,
        {f"{SEQUENTIAL}, resampled residuals": SequentialKnockoffs, GAUSSIAN: GaussianKnockoffs},
    ),
    Setting("columns of two values, neighbours 0.5", classes, 250, 0.5, 0.3, BOTH),
    Setting(
        "normal columns, neighbours 0.5", normal, 200, 0.5, 0.3,
        {
            f"{GAUSSIAN}, known covariance": lambda: GaussianKnockoffs(0.0, covariance(P, 0.5)),
            f"{GAUSSIAN}, estimated covariance": GaussianKnockoffs,
            SEQUENTIAL: SequentialKnockoffs,
        },
    ),
)  # fmt: skip


def one(setting: Setting, seed: int) -> Array:
    """False and true shares at both levels, and the departure of the copies, by sampler."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting)])
    X, variable = setting.draw(setting.n, P, setting.rho, rng)
    signal = np.zeros(P, dtype=bool)
    signal[rng.choice(P, SIGNALS, replace=False)] = True
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    coef = np.zeros(X.shape[1])
    for j in np.flatnonzero(signal):
        own = np.flatnonzero(variable == j)
        size = rng.standard_normal(own.size) if own.size > 1 else rng.choice([-1.0, 1.0], 1)
        coef[own] = setting.effect * size / np.linalg.norm(size)
    y = Z @ coef + rng.standard_normal(setting.n)
    data = make_data(X, y, "squared")
    if np.bincount(variable).max() > 1:
        data = data._replace(variable=variable)
    found = []
    for make in setting.samplers.values():
        seeds = np.random.SeedSequence([seed, 77])
        made = KnockoffComparison(data, X, make(), seeds, n_copies=1, drop_constant=True)
        W = made.statistics(1, Measure("coefficient", None, None), 1)[0]
        row = []
        for level in LEVELS:
            selected = knockoff_threshold(W, level, 1) <= W
            row += [fdp(selected, signal), tpp(selected, signal), float(selected.any())]
        checked = made.exchangeability
        found.append([*row, 1.0 if checked is None else checked.departure])
    return np.array(found)


def runs_of(setting: Setting, runs: int, folder: Path) -> Array:
    """The results of so many data sets, (runs, samplers, 7)."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{setting.name.replace(' ', '_')}.npy"
    done = np.load(path) if path.exists() else np.zeros((0, len(setting.samplers), 7))
    for seed in range(len(done), runs):
        done = np.concatenate([done, one(setting, seed)[None]])
        if len(done) % 20 == 0 or len(done) == runs:
            np.save(path, done)
    return np.asarray(done[:runs])


def rows(setting: Setting, found: Array) -> list[list[str]]:
    """Rows of the file, one for each sampler and level."""
    made = []
    for place, name in enumerate(setting.samplers):
        for number, level in enumerate(LEVELS):
            false, true, some = found[:, place, 3 * number : 3 * number + 3].T
            departure = found[:, place, 6]
            promised = "proven" if "known" in name else "expected"
            note = (
                f"{setting.n} rows, {P} variables, {SIGNALS} signals; copies doubted in "
                f"{np.count_nonzero(departure > DOUBTFUL_RATIO)} runs, promise withdrawn in "
                f"{np.count_nonzero(departure > WITHDRAWN_RATIO)}"
            )
            error = false.std(ddof=1) / np.sqrt(len(false))
            made.append([
                setting.name, name, "FDR", f"{level:g}", f"{false.mean():.3f}", f"{error:.3f}",
                promised, f"{some.mean():.2f}", f"{true.mean():.2f}", str(len(false)), COMMAND,
                note,
            ])  # fmt: skip
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--folder", type=Path, default=Path("samplers-runs"))
    parser.add_argument("--csv", type=Path, help="file for the rows")
    options = parser.parse_args()
    made = []
    for setting in SETTINGS:
        made += rows(setting, runs_of(setting, options.runs, options.folder))
        for row in made[-2 * len(setting.samplers) :]:
            print(" | ".join(row), flush=True)
    if options.csv is not None:
        with options.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEAD, *made])


if __name__ == "__main__":
    main()
