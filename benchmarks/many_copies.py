"""What many knockoff copies find beside one of them: `python -m benchmarks.many_copies`.

`--parts power` compares `DerandomizedKnockoffs(fdr=)` with what its single copies find on average,
with e-BH at the level itself (Ren and Barber 2024) and with a level after the fit, all on the same
statistics; `--parts promises` measures the false discovery rate, for
docs/data/guarantees/copies_rules.csv. Both compare coefficients of a lasso; `--parts default`
measures the false discovery rate with the default statistic, log odds of the masked model, on data
of two kinds.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica import DerandomizedKnockoffs
from selica._core.types import Array, BoolArray
from selica.control import ebh, fdp, knockoff_threshold, posthoc_selection, tpp
from selica.experiments.guarantees import Setting, guarantees_by_setting
from selica.experiments.promise_rows import promises_of, read_promises, write_promises
from selica.sampling import GaussianKnockoffs

COMMAND = "python -m benchmarks.many_copies --parts"
LEVELS = (0.1, 0.2)
COPIES = 50
WORKS = 0.1
"""A single copy works where it finds so much on average."""
SETTINGS = (
    Setting("100 columns, nothing matters", n=200, p=100, k=0),
    Setting("100 columns, independent", n=200, p=100, k=15),
    Setting("100 columns, AR(1) 0.5", n=200, p=100, k=15, covariance=("ar1", 0.5)),
    Setting("100 columns, AR(1) 0.8", n=200, p=100, k=15, covariance=("ar1", 0.8), strength=0.5),
    Setting("100 columns, blocks of five", n=200, p=100, k=20, covariance=("block", 0.7, 5),
            strength=0.5),
    Setting("100 columns, few signals", n=200, p=100, k=8, strength=0.5),
    Setting("100 columns, half of them matter", n=300, p=100, k=50),
    Setting("150 columns, 100 rows", n=100, p=150, k=12, strength=0.7),
)  # fmt: skip


BY_DEFAULT = ("100 columns, independent", "100 columns, AR(1) 0.5")
"""Settings that are measured with the default statistic, too."""


class Cell(NamedTuple):
    """Data sets of one kind: equal effects of random signs, the noise has variance one."""

    design: str
    rho: float
    n: int
    p: int
    k: int
    amplitude: float
    """Effects times the root of n."""


CELLS = tuple(
    Cell(design, rho, n, p, k, amplitude)
    for n, p in ((500, 200), (300, 500))
    for design, rho in (("independent", 0.0), ("AR(1) 0.5", 0.5), ("AR(1) 0.8", 0.8))
    for k in (5, 10, 20, 40)
    for amplitude in (3.5, 5.0)
)


class Found(NamedTuple):
    """What a data set says at one level."""

    cell: int
    run: int
    level: float
    single: float
    """Power of a single copy, on average over the copies."""
    single_fdp: float
    spread: float
    """Standard deviation over the copies."""
    many: float
    """Power of the selector."""
    many_fdp: float
    published: float
    """Power of e-BH at the level itself."""
    published_fdp: float
    posthoc: float
    """Power of the list whose level is chosen after the fit."""
    posthoc_level: float


def covariance(cell: Cell) -> Array:
    """Covariance of the columns."""
    places = np.arange(cell.p)
    return np.asarray(cell.rho ** np.abs(np.subtract.outer(places, places)))


def outcomes(number: int, run: int, sampler: Any, statistic: str) -> Iterator[Found]:
    """One data set at every level."""
    cell = CELLS[number]
    first, second = np.random.SeedSequence([24, number, run]).spawn(2)
    rng = np.random.default_rng(first)
    root = np.linalg.cholesky(covariance(cell))
    X = rng.standard_normal((cell.n, cell.p)) @ root.T
    coef = np.zeros(cell.p)
    where = rng.choice(cell.p, cell.k, replace=False)
    coef[where] = rng.choice((-1.0, 1.0), cell.k) * cell.amplitude / np.sqrt(cell.n)
    y, truth = X @ coef + rng.standard_normal(cell.n), coef != 0.0
    known: Any = None
    for level in LEVELS:
        selector = DerandomizedKnockoffs(
            level, n_copies=COPIES, sampler=sampler, statistic=statistic, n_jobs=1,
            random_state=second,
        )  # fmt: skip
        if known is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                selector.fit(X, y)
            known = selector
        W = known.statistics_
        each = selector._evalues(level, W)
        known.fdr = level
        e = each.mean(axis=0)
        many = ebh(e, known._raised(level, W))
        yield Found(number, run, level, *_single(W, level, truth), *_rates(many, truth),
                    *_rates(ebh(e, level), truth), *_after(e, level, truth))  # fmt: skip


def _rates(mask: BoolArray, truth: BoolArray) -> tuple[float, float]:
    return tpp(mask, truth), fdp(mask, truth)


def _single(W: Array, level: float, truth: BoolArray) -> tuple[float, float, float]:
    found = np.array([_rates(knockoff_threshold(w, level) <= w, truth) for w in W])
    return float(found[:, 0].mean()), float(found[:, 1].mean()), float(found[:, 0].std())


def _after(e: Array, level: float, truth: BoolArray) -> tuple[float, float]:
    found = posthoc_selection(e, level)
    return tpp(found.support, truth), min(found.level, 1.0)


def power(runs: int, file: Path | None, statistic: str) -> None:
    """Measure, go on with what a file has, and print the table."""
    found = read(file) if file and file.exists() else []
    done = {(one.cell, one.run) for one in found}
    samplers: dict[tuple[float, int], Any] = {}
    for run in range(runs):
        for number, cell in enumerate(CELLS):
            if (number, run) in done:
                continue
            key = cell.rho, cell.p
            if key not in samplers:
                samplers[key] = GaussianKnockoffs(0.0, covariance(cell))
            new = list(outcomes(number, run, samplers[key], statistic))
            found += new
            if file:
                write(file, new)
    show(found)


def read(file: Path) -> list[Found]:
    """Rows of a file."""
    with file.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return [
        Found(int(row["cell"]), int(row["run"]), *map(float, list(row.values())[2:]))
        for row in rows
    ]


def write(file: Path, rows: list[Found]) -> None:
    """Add rows to a file."""
    new = not file.exists()
    with file.open("a", newline="") as lines:
        to = csv.writer(lines)
        if new:
            to.writerow(Found._fields)
        to.writerows(rows)


def show(found: list[Found]) -> None:
    """Print power by kind of data, and ratios over the kinds where a single copy works."""
    print("One copy / many / e-BH at the level itself, on average over both sizes of effects.\n")
    print("| columns | n x p | signals | FDR 0.1 | FDR 0.2 |")
    print("|---|---|---|---|---|")
    for kind in dict.fromkeys(cell[:-1] for cell in CELLS):
        design, _, n, p, k = kind
        said = []
        for level in LEVELS:
            rows = [one for one in found if one.level == level and CELLS[one.cell][:-1] == kind]
            mean = Found(*np.mean(rows, axis=0))
            said.append(f"{mean.single:.2f} / {mean.many:.2f} / {mean.published:.2f}")
        print(f"| {design} | {n} x {p} | {k} | {said[0]} | {said[1]} |")
    print("\n| level | rule | ratio to one copy (s.e.) | kinds | power | false share |")
    print("|---|---|---|---|---|---|")
    for level in LEVELS:
        every = [one for one in found if one.level == level]
        by_cell = [[one for one in every if one.cell == number] for number in range(len(CELLS))]
        working = [rows for rows in by_cell if np.mean([one.single for one in rows]) >= WORKS]
        for name in ("single", "many", "published"):
            ratio, error = ratio_of(working, name)
            power = np.mean([getattr(one, name) for one in every])
            print(
                f"| {level:g} | {name} | {ratio:.3f} ({error:.3f}) | {len(working)} | {power:.3f} "
                f"| {mean_fdp(every, f'{name}_fdp')} |"
            )
        after, chosen = (np.mean([one[k] for one in every]) for k in (-2, -1))
        print(f"| {level:g} | after the fit, mean level {chosen:.2f} | | | {after:.3f} | |")
        spread = np.mean([one.spread for one in every])
        print(f"| {level:g} | spread of one copy over its seeds | | | {spread:.3f} | |")


def mean_fdp(rows: list[Found], name: str) -> str:
    """Mean false share of all data sets, with its standard error."""
    values = [getattr(one, name) for one in rows]
    return f"{np.mean(values):.3f} ({np.std(values) / np.sqrt(len(values)):.3f})"


def ratio_of(kinds: list[list[Found]], name: str = "many") -> tuple[float, float]:
    """Ratio of mean powers, with the standard error over data sets (kinds weigh the same)."""
    top, bottom, square = 0.0, 0.0, 0.0
    for rows in kinds:
        top += float(np.mean([getattr(one, name) for one in rows]))
        bottom += float(np.mean([one.single for one in rows]))
    ratio = top / bottom if bottom else np.nan
    for rows in kinds:
        rest = [getattr(one, name) - ratio * one.single for one in rows]
        square += float(np.var(rest, ddof=1) / len(rest)) if len(rest) > 1 else np.nan
    return ratio, float(np.sqrt(square)) / bottom if bottom else np.nan


def promises(runs: int, folder: Path | None, n_jobs: int, part: str) -> None:
    """Measure the false discovery rate at every level, setting by setting."""
    file = folder and folder / "copies_rules.csv"
    old = read_promises(file) if file and file.exists() else []
    by_default = part == "default"
    name = "e-values, bayes" if by_default else "e-values"
    how: dict[str, Any] = {"statistic": "bayes"} if by_default else {"lam": 0.1}
    names = BY_DEFAULT if by_default else tuple(setting.name for setting in SETTINGS)
    done = {row.setting for row in old if row.method == name}

    def methods(setting: Setting, sigma: Any) -> dict[str, Any]:
        common: dict[str, Any] = {"sampler": GaussianKnockoffs(0.0, sigma), "n_jobs": 1, **how}
        return {
            f"{name}, {level:g}": DerandomizedKnockoffs(level, n_copies=COPIES, **common)
            for level in LEVELS
        }

    for table in guarantees_by_setting(
        runs, SETTINGS, methods=methods, n_jobs=n_jobs, random_state=24,
        wanted=lambda setting: setting.name in names and setting.name not in done,
    ):  # fmt: skip
        rows = promises_of(table, f"{COMMAND} {part}", (name,))
        if file:
            beside = [one for one in old if one.setting == rows[0].setting and one.method != name]
            write_promises(file, [*beside, *rows])
        for row in rows:
            print(
                f"{row.setting:34} FDR {row.level:g}: {row.measured:.4f} ({row.error:.4f}), "
                f"{row.promised}, power {row.power or 0.0:.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=("power", "promises", "default"),
                        help="all by default")  # fmt: skip
    parser.add_argument(
        "--runs", type=int,
        help="data sets of each kind; 10, or 500 for promises and 100 for default",
    )  # fmt: skip
    parser.add_argument("--statistic", default="coefficient", help="of the knockoffs, for power")
    parser.add_argument("--file", type=Path, help="file of the powers; what it has is not repeated")
    parser.add_argument(
        "--csv", type=Path, metavar="FOLDER",
        help="folder of the promises, docs/data/guarantees; settings that it has are not repeated",
    )  # fmt: skip
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
    for part in options.parts or ("power", "promises", "default"):
        if part == "power":
            power(options.runs or 10, options.file, options.statistic)
        else:
            runs = options.runs or (100 if part == "default" else 500)
            promises(runs, options.csv, options.n_jobs, part)


if __name__ == "__main__":
    main()
