"""False selections beside r-concave bounds: `python -m benchmarks.stability_bounds`."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica import DerandomizedKnockoffs, StabilitySelection
from selica._core.rounding import ceiling
from selica._core.table import Row, Table
from selica._core.types import Array
from selica.control import stability_bound, stability_parameters, supported_bound
from selica.experiments.chance import reached_by_chance
from selica.sampling import simulate


class Setting(NamedTuple):
    """Data sets of one kind, and the numbers of variables that halves select."""

    name: str
    n: int
    p: int
    q: tuple[int, ...]
    signals: int = 0
    covariance: object = "identity"
    noise: str = "Gaussian"
    binary: bool = False


SETTINGS = (
    Setting("independent", 200, 2000, (5, 10, 20, 40, 80)),
    Setting("independent", 100, 200, (2, 5, 10, 20, 40)),
    Setting("AR(1) 0.5", 200, 1000, (5, 10, 20, 40), covariance=("ar1", 0.5)),
    Setting("independent, 10 signals", 200, 1000, (5, 10, 20, 40), signals=10),
    Setting("AR(1) 0.5, 10 signals", 100, 200, (5, 10, 20, 40), 10, ("ar1", 0.5)),
    Setting("independent, Cauchy noise", 100, 500, (5, 10, 20, 40), noise="Cauchy"),
    Setting("independent, one outlier", 100, 500, (5, 10, 20, 40), noise="outlier"),
    Setting("independent, two classes", 100, 200, (5, 10, 20), binary=True),
)
OUTLIER = 1e3
LOW = (0.2, 0.4)
HIGH = (0.51, 0.55, 0.6, 0.7, 0.75)
COMPUTED = (*LOW, 0.52, 0.56, 0.6, 0.7, 0.76, 0.8, 0.9)
# Below so many allowed false selections, a few hundred data sets say little.
LEAST = 0.03


def data_set(setting: Setting, seed: int) -> tuple[Array, Array, Array]:
    """Columns, a response, and which columns are irrelevant."""
    data = simulate(
        setting.n, setting.p, setting.signals,
        **({"r2": 0.5} if setting.signals else {"noise_variance": 1.0}),
        covariance=setting.covariance, random_state=seed,
    )  # fmt: skip
    y = data.y
    if setting.noise == "Cauchy":
        y = np.random.default_rng([seed, 1]).standard_cauchy(setting.n)
    if setting.noise == "outlier":  # decides what every half that has it selects
        y[0] = OUTLIER
    if setting.binary:
        y = (y > np.median(y)).astype(float)
    return data.X, y, ~data.support


def false_selections(setting: Setting, pairs: int, runs: int, first: int = 0) -> Array:
    """Irrelevant variables selected at least 0, 1, .., 2 B times: (runs, q, 2 B + 1)."""
    out = np.zeros((runs, len(setting.q), 2 * pairs + 1))
    for run in range(runs):
        X, y, irrelevant = data_set(setting, first + run)
        for i, q in enumerate(setting.q):
            selector = StabilitySelection(
                q=q, resampling="pairs", threshold=0.9, n_resamples=2 * pairs, random_state=run
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                frequencies = selector.fit(X, y).selection_probabilities_[irrelevant]
            times = np.rint(2 * pairs * frequencies).astype(int)
            out[run, i] = np.bincount(times, minlength=2 * pairs + 1)[::-1].cumsum()[::-1]
    return out


def share(found: Array, cutoff: float, bound: float) -> tuple[float | None, float | None]:
    """Measured false selections over a bound, with the standard error; nothing where it is tiny."""
    if bound < LEAST:
        return None, None
    counts = found[:, ceiling((found.shape[1] - 1) * cutoff)] / bound
    return _rounded(counts.mean()), _rounded(counts.std(ddof=1) / np.sqrt(len(counts)))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def rows(setting: Setting, pairs: int, runs: int) -> Iterator[Row]:
    """False selections over the published bound and, above 1/2, over the bound as used."""
    found = false_selections(setting, pairs, runs)
    for i, q in enumerate(setting.q):
        for cutoff in (*LOW, *HIGH):
            args = setting.p, q, cutoff, pairs, "r-concave"
            published = used = (None, None)
            if cutoff > q / setting.p:
                published = share(found[:, i], cutoff, stability_bound(*args))
                if cutoff > 0.5:
                    used = share(found[:, i], cutoff, supported_bound(*args))
            yield {
                "columns": setting.name, "n": setting.n, "p": setting.p, "pairs": pairs, "q": q,
                "threshold": cutoff, "published": published[0], "published_error": published[1],
                "used": used[0], "used_error": used[1], "runs": runs,
            }  # fmt: skip


CORNER = (
    Setting("independent", 200, 2000, (10,)),
    Setting("independent", 100, 1000, (10,)),
    Setting("independent, Cauchy noise", 100, 500, (5, 10), noise="Cauchy"),
    Setting("independent, one outlier", 100, 500, (5, 10, 20), noise="outlier"),
)
"""Few variables of each half, and rows that decide alone."""


def promised(setting: Setting, pairs: int, runs: int) -> Iterator[Row]:
    """Measured promises: one false selection allowed, and a threshold that promises nothing."""
    found = false_selections(setting, pairs, runs)
    for i, q in enumerate(setting.q):
        used = stability_parameters(setting.p, q=q, pfer=1.0, n_pairs=pairs, assumption="r-concave")
        before = stability_bound(setting.p, q, 0.08, pairs, "r-concave")
        for cutoff, level, promise, note in (
            (used.cutoff, _rounded(used.bound), "proven", f"threshold {used.cutoff:g}"),
            (0.08, None, "nothing", f"published bound at 0.08: {before:.3g}"),
        ):
            counts = found[:, i, ceiling(2 * pairs * cutoff)]
            yield {
                "setting": f"{setting.name}, {setting.n} x {setting.p}",
                "method": f"stability, q = {q}, "
                + ("threshold 0.08" if level is None else "one false allowed"),
                "controls": "false selections", "level": level,
                "measured": _rounded(counts.mean()),
                "error": _rounded(counts.std(ddof=1) / np.sqrt(runs)), "promised": promise,
                "selects": _rounded(np.mean(counts > 0)), "power": None, "runs": runs,
                "command": "python -m benchmarks.stability_bounds --corner", "note": note,
            }  # fmt: skip


def corner(pairs: int, runs: int, file: Path | None) -> None:
    """Print the promises in the corner, and put them into a file."""
    out: list[Row] = []
    for setting in CORNER:
        for row in promised(setting, pairs, runs):
            print(" | ".join(map(str, row.values())), flush=True)
            out.append(row)
            if file:
                Table.of(out).to_csv(file)


def until_settled(runs: int, file: Path | None) -> None:
    """Print promises where close calls decide how many resamples or copies are drawn."""
    selectors: dict[str, Any] = {
        "stability, none, n_resamples=auto": partial(StabilitySelection, assumption="none"),
        "stability, r-concave, n_resamples=auto": partial(
            StabilitySelection, assumption="r-concave"
        ),
        "first negatives, n_copies=auto": partial(
            DerandomizedKnockoffs, sampler="iid", lam=0.2, n_copies="auto"
        ),
    }
    out: list[Row] = []
    setting = Setting("nothing matters, independent", 60, 50, ())
    for name, make in selectors.items():
        counts, drawn, level = [], [], 1.0
        for run in range(runs):
            X, y, irrelevant = data_set(setting, run)
            selector = make(pfer=1.0, random_state=run)
            if name.startswith("stability"):
                selector.set_params(n_resamples="auto")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                selector.fit(X, y)
            counts.append(int(np.count_nonzero(selector.support_[irrelevant])))
            drawn.append(getattr(selector, "n_resamples_", getattr(selector, "n_copies_", 0)))
            level = float(selector.guarantee_.level)
        number = np.array(counts)
        row: Row = {
            "setting": f"{setting.name}, {setting.n} x {setting.p}", "method": name,
            "controls": "false selections", "level": _rounded(level),
            "measured": _rounded(number.mean()),
            "error": _rounded(number.std(ddof=1) / np.sqrt(runs)),
            "promised": "expected" if "r-concave" in name else "proven",
            "selects": _rounded(np.mean(number > 0)), "power": None, "runs": runs,
            "command": "python -m benchmarks.stability_bounds --auto",
            "note": f"{np.mean(drawn):.0f} drawn on average",
        }  # fmt: skip
        print(" | ".join(map(str, row.values())), flush=True)
        out.append(row)
        if file:
            Table.of(out).to_csv(file)


def kind(row: Row) -> tuple[str, int, int, int]:
    """What is measured together."""
    return row["columns"], row["n"], row["p"], row["pairs"]


def measure(settings: list[Setting], pairs: int, runs: int, file: Path | None) -> None:
    """Print the rows of each setting, and put them into the file in the place of earlier ones."""
    known = Table.read_csv(file) if file and file.exists() else Table.of([])
    for setting in settings:
        new = list(rows(setting, pairs, runs))
        print("\n".join(" | ".join(map(str, row.values())) for row in new), flush=True)
        old = [row for row in known if kind(row) != kind(new[0])]
        known = Table.of([*old, *new])
        if file:
            known.to_csv(file)


def chance(file: Path | None) -> None:
    """Print the largest multiple of the published bound over q / p, in a large table of noise."""
    out = []
    for pairs in (20, 50, 128):
        most = np.zeros(len(COMPUTED))
        for theta in np.geomspace(2e-4, 0.4, 28):
            reached = reached_by_chance(theta, pairs)
            for i, cutoff in enumerate(COMPUTED):
                if cutoff > 2.0 * theta:
                    bound = stability_bound(10**6, 1e6 * theta, cutoff, pairs, "r-concave")
                    most[i] = max(most[i], 1e6 * reached[ceiling(2 * pairs * cutoff)] / bound)
        print(f"{pairs} pairs: " + ", ".join(f"{value:.2f}" for value in most), flush=True)
        out += [
            {"pairs": pairs, "threshold": cutoff, "multiple": _rounded(value)}
            for cutoff, value in zip(COMPUTED, most, strict=True)
        ]
    if file:
        Table.of(out).to_csv(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=50, help="complementary pairs of halves")
    parser.add_argument("--runs", type=int, default=150, help="data sets of each kind")
    parser.add_argument(
        "--settings", type=int, nargs="+", help="places in SETTINGS; all by default"
    )
    parser.add_argument("--chance", action="store_true", help="computed, where nothing matters")
    parser.add_argument("--corner", action="store_true", help="promises with few variables")
    parser.add_argument("--auto", action="store_true", help="promises of numbers by close calls")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="file to put the rows into")
    options = parser.parse_args()
    if options.chance:
        chance(options.csv)
        return
    if options.auto:
        until_settled(options.runs, options.csv)
        return
    if options.corner:
        corner(options.pairs, options.runs, options.csv)
        return
    chosen = options.settings or range(len(SETTINGS))
    measure([SETTINGS[i] for i in chosen], options.pairs, options.runs, options.csv)


if __name__ == "__main__":
    main()
