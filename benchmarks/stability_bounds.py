"""False selections beside r-concave bounds: `python -m benchmarks.stability_bounds`."""

from __future__ import annotations

import argparse
import warnings
from typing import NamedTuple

import numpy as np

from selica import StabilitySelection
from selica._core.rounding import ceiling
from selica._core.types import Array
from selica.control import stability_bound, supported_bound
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
    Setting("independent, two classes", 100, 200, (5, 10, 20), binary=True),
)
LOW = (0.2, 0.4)
HIGH = (0.51, 0.55, 0.6, 0.7, 0.75)
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


def share(found: Array, cutoff: float, bound: float) -> str:
    """Measured false selections over a bound, with the standard error; a dash where it is tiny."""
    if bound < LEAST:
        return "-"
    counts = found[:, ceiling((found.shape[1] - 1) * cutoff)] / bound
    return f"{counts.mean():.2f} ({counts.std(ddof=1) / np.sqrt(len(counts)):.2f})"


def table(settings: tuple[Setting, ...], pairs: int, runs: int) -> None:
    heads = [f"{cutoff:g}" for cutoff in (*LOW, *HIGH)]
    print(f"{pairs} pairs, {runs} data sets; over the published bound")
    print("and, above 1/2, over the bound as used\n")
    print("| columns | n x p | q | " + " | ".join(heads) + " |")
    print("|---" * (3 + len(heads)) + "|")
    for setting in settings:
        found = false_selections(setting, pairs, runs)
        for i, q in enumerate(setting.q):
            cells = []
            for cutoff in (*LOW, *HIGH):
                args = setting.p, q, cutoff, pairs, "r-concave"
                if cutoff <= q / setting.p:
                    cells.append("-")
                    continue
                cell = share(found[:, i], cutoff, stability_bound(*args))
                if cutoff > 0.5:
                    cell += f"; {share(found[:, i], cutoff, supported_bound(*args))}"
                cells.append(cell)
            size = f"{setting.n} x {setting.p}"
            print(f"| {setting.name} | {size} | {q} | " + " | ".join(cells) + " |", flush=True)


def chance() -> None:
    """Largest multiple of the published bound over q / p, in a large table without signals."""
    cutoffs = (*LOW, 0.52, 0.56, 0.6, 0.7, 0.76, 0.8, 0.9)
    print("| pairs | " + " | ".join(f"{cutoff:g}" for cutoff in cutoffs) + " |")
    print("|---" * (1 + len(cutoffs)) + "|")
    for pairs in (20, 50, 128):
        most = np.zeros(len(cutoffs))
        for theta in np.geomspace(2e-4, 0.4, 28):
            reached = reached_by_chance(theta, pairs)
            for i, cutoff in enumerate(cutoffs):
                if cutoff > 2.0 * theta:
                    bound = stability_bound(10**6, 1e6 * theta, cutoff, pairs, "r-concave")
                    most[i] = max(most[i], 1e6 * reached[ceiling(2 * pairs * cutoff)] / bound)
        print(f"| {pairs} | " + " | ".join(f"{value:.2f}" for value in most) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=50, help="complementary pairs of halves")
    parser.add_argument("--runs", type=int, default=150, help="data sets of each kind")
    parser.add_argument(
        "--settings", type=int, nargs="+", help="places in SETTINGS; all by default"
    )
    parser.add_argument("--chance", action="store_true", help="computed, where nothing matters")
    options = parser.parse_args()
    if options.chance:
        chance()
        return
    chosen = options.settings or range(len(SETTINGS))
    table(tuple(SETTINGS[i] for i in chosen), options.pairs, options.runs)


if __name__ == "__main__":
    main()
