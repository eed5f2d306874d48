"""Masked likelihood ratios by Gibbs sampling: how many sweeps are enough, and how long they take.

`python -m benchmarks.gibbs` prints what is found with several numbers of chains and sweeps, on the
same data and copies, beside a cross-validated lasso; `--speed` prints processor times by size and
response.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray
from selica.control import knockoff_threshold
from selica.sampling import GaussianKnockoffs, simulate
from selica.statistics import knockoff_statistic, make_data
from selica.statistics.mlr import CHAINS, SWEEPS, mlr_statistics
from selica.statistics.pairs import masked_pairs

LEVELS = (0.1, 0.2)
"""False discovery rates that are asked for."""
LENGTHS = ((4, 50), (4, 100), (CHAINS, SWEEPS), (8, 500), (4, 2000))
"""Chains and sweeps that are compared."""
SIZES = ((500, 500), (2000, 500), (500, 2000), (300, 5000))
"""Rows and variables of tables on which times are measured."""


class Kind(NamedTuple):
    """Data of 300 variables, 30 of which matter; neighbours are correlated."""

    correlation: float
    snr: float
    rows: int = 500


KINDS = (Kind(0.0, 2.0), Kind(0.5, 3.0), Kind(0.8, 5.0))
"""Kinds of data on which numbers of sweeps are compared."""


def outcome(W: Array, support: BoolArray) -> list[float]:
    """Return the share of the signals that are found at each level."""
    found = [knockoff_threshold(W, level, 1) <= W for level in LEVELS]
    return [float((each & support).sum() / support.sum()) for each in found]


def compare(kind: Kind, runs: int) -> None:
    """Print what is found on one kind of data, with standard errors."""
    results: dict[str, list[list[float]]] = {}
    for seed in range(runs):
        data = simulate(
            kind.rows, 300, 30, snr=kind.snr, covariance=("ar1", kind.correlation),
            random_state=seed,
        )  # fmt: skip
        copy = GaussianKnockoffs(0.0, data.covariance).copies(data.X, seed, [0])[0]
        made = make_data(data.X, data.y, "squared")
        [pairs] = masked_pairs(made, copy)
        start = time.process_time()
        W = knockoff_statistic(made, copy, np.random.default_rng(seed))
        row = [*outcome(W, data.support), time.process_time() - start, 0.0]
        results.setdefault("coefficient", []).append(row)
        for chains, sweeps in LENGTHS:
            start = time.process_time()
            found = mlr_statistics(
                pairs, np.random.default_rng(seed), chains=chains, sweeps=sweeps, n_threads=1
            )
            row = [*outcome(found.W, data.support), time.process_time() - start, found.spread]
            results.setdefault(f"mlr, {chains} x {sweeps}", []).append(row)
    for name, rows in results.items():
        mean, error = np.mean(rows, axis=0), np.std(rows, axis=0) / np.sqrt(runs)
        print(
            f"| {kind.correlation} | {kind.snr} | {name} | {mean[0]:.3f} ({error[0]:.3f}) "
            f"| {mean[1]:.3f} ({error[1]:.3f}) | {mean[2]:.2f} | {mean[3]:.2f} |",
            flush=True,
        )


def speed() -> None:
    """Print processor seconds for one copy on one thread, with the usual number of sweeps."""
    print("| response | rows | variables | seconds |")
    print("|---|---|---|---|")
    for loss in ("squared", "logistic"):
        for n, p in SIZES:
            data = simulate(n, p, 30, snr=3.0, random_state=0)
            y = data.y if loss == "squared" else (data.y > 0.0).astype(float)
            copy = np.random.default_rng(0).standard_normal((n, p))
            [pairs] = masked_pairs(make_data(data.X, y, loss), copy, labels=True)
            start = time.process_time()
            mlr_statistics(pairs, np.random.default_rng(0), n_threads=1)
            print(f"| {loss} | {n} | {p} | {time.process_time() - start:.2f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="data sets of each kind")
    parser.add_argument("--speed", action="store_true", help="processor times")
    asked = parser.parse_args()
    if asked.speed:
        speed()
        return
    print("| AR(1) | SNR | statistic | power at 0.1 | at 0.2 | seconds | between chains |")
    print("|---|---|---|---|---|---|---|")
    for kind in KINDS:
        compare(kind, asked.runs)


if __name__ == "__main__":
    main()
