"""Copies by an estimated covariance, checked and used: `python -m benchmarks.exchangeability`.

Each data set is fitted twice: with copies by the covariance of Ledoit and Wolf alone (before), and
as the selectors do it, which go on to other laws of the columns where these copies do not behave
like the columns (after). `--data FOLDER` adds columns of gene expression, which are not part of
this project (docs/copies.md says where they come from). Runs are kept in `--store FILE` and not
repeated; `--csv FILE` writes the rows of docs/data/guarantees/exchangeability.csv.
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from selica import KnockoffSelection
from selica._core.types import Array
from selica.control import fdp, tpp
from selica.sampling import GaussianKnockoffs, exchangeability, simulate
from selica.sampling.exchangeability import DOUBTFUL_RATIO, WITHDRAWN_RATIO


class Design(NamedTuple):
    """A kind of columns, and the signals that are planted in them."""

    name: str
    columns: Callable[[int], Array]
    """Of a seed."""
    signals: int
    effect: float
    """Of a signal, in standard deviations of the noise for columns of unit variance."""
    level: float
    harmless: bool = False
    """Whether the covariance is well enough known for copies to pass."""
    signal_to_noise: float | None = None
    """Ratio of the lengths of signal and noise, with effects of one sign; by default effects have
    both signs, and the noise unit variance."""


def chain(n: int, p: int, correlation: float) -> Callable[[int], Array]:
    """Independent columns, or an AR(1) chain."""
    law: Any = ("ar1", correlation) if correlation else "identity"
    return lambda seed: simulate(n, p, 0, noise_variance=1.0, covariance=law, random_state=seed).X


def field(n: int, shape: tuple[int, ...], width: float) -> Callable[[int], Array]:
    """White noise on a grid, filtered by a Gaussian."""

    def columns(seed: int) -> Array:
        noise = np.random.default_rng(seed).standard_normal((n, *shape))
        return np.asarray(gaussian_filter(noise, (0, *(width,) * len(shape))).reshape(n, -1))

    return columns


def whole_field(width: float) -> Callable[[int], Array]:
    """One field of 50 x 50 x 100, cut into 500 rows (Blain et al., arXiv 2407.06892)."""

    def columns(seed: int) -> Array:
        noise = np.random.default_rng(seed).standard_normal((50, 50, 100))
        return np.asarray(gaussian_filter(noise, width).reshape(500, 500))

    return columns


def shared(n: int, p: int, size: int, correlation: float) -> Callable[[int], Array]:
    """Blocks of columns that are correlated with each other alike."""

    def columns(seed: int) -> Array:
        rng = np.random.default_rng(seed)
        common = np.repeat(rng.standard_normal((n, p // size)), size, axis=1)
        own = rng.standard_normal((n, p))
        return np.asarray(np.sqrt(correlation) * common + np.sqrt(1.0 - correlation) * own)

    return columns


def factors(n: int, p: int, number: int) -> Callable[[int], Array]:
    """Columns with a few factors in common."""

    def columns(seed: int) -> Array:
        rng = np.random.default_rng(seed)
        loadings = rng.standard_normal((number, p)) * 1.2 / np.sqrt(number)
        return np.asarray(rng.standard_normal((n, number)) @ loadings + rng.standard_normal((n, p)))

    return columns


def genotypes(n: int, p: int, founders: int = 12, switch: float = 0.03) -> Callable[[int], Array]:
    """Numbers of alleles, 0, 1 or 2: two mosaics of a few founders, with errors."""

    def columns(seed: int) -> Array:
        rng = np.random.default_rng(seed)
        frequency = rng.uniform(0.15, 0.5, p)
        founder = rng.random((founders, p)) < frequency
        X = np.zeros((n, p))
        for _ in range(2):
            state = rng.integers(0, founders, n)
            for j in range(p):
                state = np.where(rng.random(n) < switch, rng.integers(0, founders, n), state)
                X[:, j] += founder[state, j] ^ (rng.random(n) < 0.03)
        return X

    return columns


def mixed(n: int, p: int, correlation: float) -> Callable[[int], Array]:
    """Numbers, two values and counts by turns, all of one chain."""

    def columns(seed: int) -> Array:
        X = chain(n, p, correlation)(seed)
        rng = np.random.default_rng([seed, 2])
        X[:, 1::3] = X[:, 1::3] > rng.normal(0.0, 0.5, X[0, 1::3].size)
        X[:, 2::3] = np.floor(np.exp(0.7 * X[:, 2::3] + 0.7))
        return X

    return columns


def measured(path: Path, p: int) -> Callable[[int], Array]:
    """Columns of a table, chosen at random; those with one frequent value are left out."""
    import pandas as pd

    X = pd.read_csv(path).iloc[:, 2:].to_numpy(dtype=float)
    often = np.array([np.unique(column, return_counts=True)[1].max() for column in X.T])
    X = X[:, often < 0.3 * len(X)]
    return lambda seed: X[:, np.random.default_rng(seed).choice(X.shape[1], p, replace=False)]


def designs(folder: Path | None) -> Iterator[Design]:
    """All kinds of columns."""
    yield Design("independent, 300 x 300", chain(300, 300, 0.0), 30, 0.5, 0.1, harmless=True)
    yield Design("AR(1) 0.5, 300 x 300", chain(300, 300, 0.5), 30, 0.5, 0.1, harmless=True)
    yield Design("AR(1) 0.5, 1000 x 100", chain(1000, 100, 0.5), 20, 0.5, 0.2, harmless=True)
    yield Design("AR(1) 0.5, 60 x 600", chain(60, 600, 0.5), 10, 3.0, 0.2, harmless=True)
    yield Design("AR(1) 0.9, 1000 x 100", chain(1000, 100, 0.9), 20, 0.5, 0.2, harmless=True)
    yield Design("AR(1) 0.9, 300 x 300", chain(300, 300, 0.9), 30, 1.0, 0.1)
    yield Design("AR(1) 0.9, 60 x 600", chain(60, 600, 0.9), 10, 3.0, 0.2)
    yield Design("blocks of 10, 0.8, 300 x 300", shared(300, 300, 10, 0.8), 30, 0.5, 0.1)
    yield Design("equicorrelated 0.5, 300 x 300", shared(300, 300, 300, 0.5), 30, 0.5, 0.1)
    yield Design("five factors, 200 x 400", factors(200, 400, 5), 30, 1.0, 0.1)
    yield Design("genotypes, 400 x 200", genotypes(400, 200), 30, 0.5, 0.1, harmless=True)
    yield Design("mixed, AR(1) 0.8, 300 x 150", mixed(300, 150, 0.8), 30, 0.5, 0.1, harmless=True)
    yield Design("line of 300, width 1, n = 150", field(150, (300,), 1.0), 30, 2.0, 0.1)
    yield Design("field 5 x 20, width 0.8, n = 100", field(100, (5, 20), 0.8), 15, 2.0, 0.2)
    yield Design("field 5 x 60, width 0.8, n = 300", field(300, (5, 60), 0.8), 30, 2.0, 0.1)
    yield Design("field 5 x 60, width 1.25, n = 300", field(300, (5, 60), 1.25), 30, 10.0, 0.1)
    yield Design("field 5 x 6 x 10, width 0.8, n = 300", field(300, (5, 6, 10), 0.8), 30, 4.0, 0.1)
    for width in (0.0, 0.8):
        name = f"field of Blain et al., width {width:g}, 500 x 500"
        yield Design(name, whole_field(width), 50, 1.0, 0.05, signal_to_noise=7.0)
    if folder is not None:
        riboflavin = measured(folder / "riboflavin/riboflavin.csv.gz", 500)
        yield Design("riboflavin, 71 x 500", riboflavin, 10, 3.0, 0.2)
        mirna = measured(folder / "tcga_prad_mirna/prad_mirna.csv.gz", 300)
        yield Design("microRNA of prostates, 493 x 300", mirna, 30, 0.5, 0.1, harmless=True)


FIELDS = ("design", "seed", "when", "law", "ratio", "departure", "false", "true", "selected")


def fitted(X: Array, y: Array, sampler: Any, level: float, seed: int) -> Any:
    """A selector, without its warnings."""
    selector = KnockoffSelection(level, sampler=sampler, statistic="coefficient", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selector.fit(X, y)


def run(design: Design, seed: int) -> list[dict[str, Any]]:
    """Both fits of one data set; where the first passes, it is both."""
    X = design.columns(seed)
    X = X[:, np.ptp(X, axis=0) > 0.0]
    n, p = X.shape
    rng = np.random.default_rng([seed, 1])
    coef = np.zeros(p)
    signs = rng.choice([-1.0, 1.0], design.signals)
    coef[rng.choice(p, design.signals, replace=False)] = design.effect * (
        signs if design.signal_to_noise is None else np.ones(design.signals)
    )
    signal, noise = (X - X.mean(axis=0)) / X.std(axis=0) @ coef, rng.standard_normal(n)
    if design.signal_to_noise is not None:
        noise *= np.linalg.norm(signal) / (design.signal_to_noise * np.linalg.norm(noise))
    y = signal + noise
    rows = []
    for when, law in (("before", "ledoit_wolf"), ("after", None)):
        if rows and rows[0]["departure"] <= DOUBTFUL_RATIO:
            rows.append(rows[0] | {"when": when})
            continue
        found = fitted(X, y, GaussianKnockoffs(covariance=law), design.level, seed)
        checked = found.exchangeability_
        rows.append(
            {
                "design": design.name, "seed": seed, "when": when, "law": found.law_,
                "ratio": round(checked.ratio, 4), "departure": round(checked.departure, 4),
                "false": round(float(fdp(found.support_, coef != 0.0)), 5),
                "true": round(float(tpp(found.support_, coef != 0.0)), 5),
                "selected": int(found.support_.sum()),
            }
        )  # fmt: skip
    return rows


def stored(path: Path) -> list[dict[str, str]]:
    """Runs that were made before."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def measure(every: list[Design], seeds: range, path: Path) -> None:
    """Make the runs that are missing."""
    done = {(row["design"], int(row["seed"])) for row in stored(path)}
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        if not done:
            writer.writeheader()
        for design in every:
            for seed in seeds:
                if (design.name, seed) not in done:
                    writer.writerows(run(design, seed))
                    file.flush()


class Row(NamedTuple):
    """What the runs of a design say, with one way to make copies."""

    design: Design
    when: str
    laws: str
    ratio: float
    warned: float
    withdrawn: float
    false: float
    error: float
    power: float
    selects: float
    runs: int

    @property
    def promised(self) -> str:
        """What most of the runs promise."""
        if self.withdrawn > 0.5:
            return "withdrawn"
        return "warned" if self.warned + self.withdrawn > 0.5 else "expected"

    @property
    def fails(self) -> bool:
        """Whether the level is exceeded by more than three standard errors."""
        return self.false > self.design.level + 3.0 * self.error


def summarised(every: list[Design], seeds: range, path: Path) -> Iterator[Row]:
    """The runs by design."""
    rows = [row for row in stored(path) if int(row["seed"]) in seeds]
    for design in every:
        for when in ("before", "after"):
            some = [row for row in rows if (row["design"], row["when"]) == (design.name, when)]
            if not some:
                continue
            far, false, true, selected = (
                np.array([float(row[name]) for row in some])
                for name in ("departure", "false", "true", "selected")
            )
            laws = Counter(row["law"] for row in some).most_common()
            yield Row(
                design, when, ", ".join(f"{name} {many}" for name, many in laws),
                float(np.median([float(row["ratio"]) for row in some])),
                float(np.mean((far > DOUBTFUL_RATIO) & (far <= WITHDRAWN_RATIO))),
                float(np.mean(far > WITHDRAWN_RATIO)),
                float(false.mean()), float(false.std(ddof=1) / np.sqrt(len(some))),
                float(true.mean()), float(np.mean(selected > 0)), len(some),
            )  # fmt: skip


def table(rows: list[Row]) -> None:
    """Print the rows, and what was asked of them."""
    print(
        "| columns | copies | laws | ratio | warned | withdrawn | level | FDR | power | selects |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        print(
            f"| {row.design.name} | {row.when} | {row.laws} | {row.ratio:.3g} | {row.warned:.0%} | "
            f"{row.withdrawn:.0%} | {row.design.level:g} | {'**' if row.fails else ''}"
            f"{row.false:.3f} ({row.error:.3f}){'**' if row.fails else ''} | {row.power:.2f} | "
            f"{row.selects:.2f} |"
        )
    for when in ("before", "after"):
        some = [row for row in rows if row.when == when]
        failing = [row.design.name for row in some if row.fails]
        quiet = [row.design.name for row in some if row.fails and row.promised == "expected"]
        harmless = [row for row in some if row.design.harmless]
        print(f"\n{when}: {len(failing)} above their level by 3 s.e.: {failing}")
        print(f"{when}: of these without a warning or a withdrawal in most runs: {quiet}")
        for row in harmless:
            if row.withdrawn:
                print(f"{when}: {row.design.name}: withdrawn {row.withdrawn:.0%}")


def write(rows: list[Row], path: Path) -> None:
    """Write the rows as docs/data/guarantees has them."""
    header = [
        "setting", "method", "controls", "level", "measured", "error", "promised", "selects",
        "power", "runs", "command", "note",
    ]  # fmt: skip
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            promised = "nothing" if row.promised == "warned" else row.promised
            writer.writerow(
                [
                    row.design.name,
                    "knockoff+, Ledoit-Wolf" if row.when == "before" else "knockoff+",
                    "FDR", f"{row.design.level:g}", f"{row.false:.4f}", f"{row.error:.4f}",
                    promised, f"{row.selects:.2f}", f"{row.power:.3f}", row.runs,
                    "python -m benchmarks.exchangeability --data FOLDER",
                    f"median ratio {row.ratio:.3g}; laws: {row.laws}; warned {row.warned:.0%}, "
                    f"withdrawn {row.withdrawn:.0%}",
                ]
            )  # fmt: skip


def times(sizes: list[tuple[int, int]]) -> None:
    """Print processor seconds of a fit and of the check in it, for one thread."""
    print("| n x p | knockoff fit | check | check / fit | other laws compared |")
    print("|---|---|---|---|---|")
    for n, p in sizes:
        X = chain(n, p, 0.5)(0)
        y = X[:, : p // 10].sum(axis=1) + np.random.default_rng(0).standard_normal(n)
        begin = time.process_time()
        KnockoffSelection(0.1, statistic="coefficient", random_state=0).fit(X, y)
        fit = time.process_time() - begin
        knockoffs = GaussianKnockoffs().fit(X)
        copy = knockoffs.sample(X, random_state=0)
        begin = time.process_time()
        exchangeability(X, copy, centre=knockoffs.mean, random_state=0)
        check = time.process_time() - begin
        begin = time.process_time()
        list(GaussianKnockoffs().alternatives(X, random_state=0))
        others = time.process_time() - begin
        print(
            f"| {n} x {p} | {fit:.2f} s | {check:.2f} s | {check / fit:.0%} | {others:.2f} s |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=50, help="data sets of each kind")
    parser.add_argument("--first", type=int, default=0, help="seed of the first")
    parser.add_argument("--only", default="", help="designs whose name contains this")
    parser.add_argument("--data", type=Path, help="folder with published tables")
    parser.add_argument("--store", type=Path, default=Path("exchangeability_runs.csv"))
    parser.add_argument("--csv", type=Path, help="write rows for docs/data/guarantees")
    parser.add_argument("--times", action="store_true", help="seconds instead")
    options = parser.parse_args()
    if options.times:
        times([(500, 500), (2000, 500), (500, 2000)])
        return
    every = [design for design in designs(options.data) if options.only in design.name]
    seeds = range(options.first, options.first + options.runs)
    measure(every, seeds, options.store)
    rows = list(summarised(every, seeds, options.store))
    table(rows)
    if options.csv is not None:
        write(rows, options.csv)


if __name__ == "__main__":
    main()
