"""Copies by an estimated covariance, checked and used: `python -m benchmarks.exchangeability`."""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.ndimage import gaussian_filter

from selica import KnockoffSelection
from selica._core.types import Array
from selica.control import fdp, tpp
from selica.sampling import GaussianKnockoffs, exchangeability, simulate
from selica.sampling.exchangeability import _ratio, _scaled, weak_lengths

EFFECT = 0.5
FDR = 0.1
# Name, rows, columns or the sides of a field, correlation or width.
DESIGNS = (
    ("independent", 500, 500, None),
    ("AR(1) 0.5", 500, 500, 0.5),
    ("AR(1) 0.9", 500, 500, 0.9),
    ("smooth field 5 x 100, width 0.8", 500, (5, 100), 0.8),
    ("smooth field 5 x 100, width 1.25", 500, (5, 100), 1.25),
    ("independent", 200, 40, None),
    ("AR(1) 0.5", 200, 40, 0.5),
    ("AR(1) 0.9", 200, 40, 0.9),
    ("independent", 60, 80, None),
    ("AR(1) 0.5", 60, 80, 0.5),
    ("AR(1) 0.9", 60, 80, 0.9),
    ("smooth field 5 x 20, width 0.8", 100, (5, 20), 0.8),
    ("smooth field 5 x 20, width 1.25", 100, (5, 20), 1.25),
)


def columns(n: int, shape: int | tuple[int, int], amount: float | None, seed: int) -> Array:
    """Columns of unit variance."""
    if isinstance(shape, tuple):
        noise = np.random.default_rng(seed).standard_normal((n, *shape))
        field = gaussian_filter(noise, (0, amount, amount)).reshape(n, -1)
        return np.asarray(field / field.std(axis=0))
    law = "identity" if amount is None else ("ar1", amount)
    return simulate(n, shape, 0, noise_variance=1.0, covariance=law, random_state=seed).X


def both_ratios(X: Array, seed: int) -> tuple[float, float]:
    """Of the full and of the half exchange, whichever the check reports."""
    knockoffs = GaussianKnockoffs().fit(X)
    share = np.full(len(X), 1.0 / len(X))
    table, copy = _scaled(X, knockoffs.sample(X, random_state=seed), share, knockoffs.mean)
    rng = np.random.default_rng(seed)
    first = rng.permutation(len(X)) < len(X) // 2
    half = rng.permutation(X.shape[1]) < X.shape[1] // 2
    tables = (table, copy, np.where(half, copy, table))
    a, full, mixed = weak_lengths(tables, first, np.ones(len(X)))
    return _ratio(a, full), _ratio(a, mixed)


def table(runs: int) -> None:
    print("| columns | n x p | ratio, all and half exchanged | warned | withdrawn | FDR | power |")
    print("|---|---|---|---|---|---|---|")
    for name, n, shape, amount in DESIGNS:
        p = int(np.prod(shape))
        k = p // 10
        ratios, false, true, departures = [], [], [], []
        for seed in range(runs):
            X = columns(n, shape, amount, seed)
            rng = np.random.default_rng([seed, 1])
            coef = np.zeros(p)
            coef[rng.choice(p, k, replace=False)] = EFFECT * rng.choice([-1.0, 1.0], k)
            y = X @ coef + rng.standard_normal(n)
            selector = KnockoffSelection(FDR, random_state=seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                selector.fit(X, y)
            assert selector.exchangeability_ is not None
            departures.append(selector.exchangeability_.departure)
            ratios.append(both_ratios(X, seed))
            false.append(fdp(selector.support_, coef != 0.0))
            true.append(tpp(selector.support_, coef != 0.0))
        full, mixed = np.mean(ratios, axis=0)
        far = np.array(departures)
        error = np.std(false, ddof=1) / np.sqrt(runs)
        # a selection at this level has ten variables or more
        errors = f"{np.mean(false):.3f} ({error:.3f}) | {np.mean(true):.2f}" if k > 20 else "- | -"
        print(
            f"| {name} | {n} x {p} | {full:.3g}, {mixed:.3g} | "
            f"{np.count_nonzero(far > 1.25)} of {runs} | {np.count_nonzero(far > 1.5)} of {runs} | "
            f"{errors} |",
            flush=True,
        )


def times(sizes: list[tuple[int, int]]) -> None:
    print("| n x p | estimate and one copy | check |")
    print("|---|---|---|")
    for n, p in sizes:
        X = columns(n, p, 0.5, 0)
        begin = time.perf_counter()
        knockoffs = GaussianKnockoffs().fit(X)
        copy = knockoffs.sample(X, random_state=0)
        middle = time.perf_counter()
        exchangeability(X, copy, centre=knockoffs.mean, random_state=0)
        end = time.perf_counter()
        print(f"| {n} x {p} | {middle - begin:.2f} s | {end - middle:.2f} s |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=12, help="data sets of each kind")
    parser.add_argument("--times", action="store_true", help="seconds instead")
    options = parser.parse_args()
    if options.times:
        times([(500, 500), (2000, 500), (500, 2000), (5000, 2000), (500, 5000)])
    else:
        table(options.runs)


if __name__ == "__main__":
    main()
