"""Costs of finite ensembles beside the theory of their large deviations.

python -m benchmarks.large_deviations --cumulants    mean, variance and g at N = 100, 200, 400
python -m benchmarks.large_deviations --figure FILE  histograms beside the rate function
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from selica import theory
from selica._core.table import Table
from selica.experiments.costs import (
    cost_cumulants,
    empirical_generating,
    empirical_rate,
    extrapolate,
    simulate_costs,
)
from selica.plots import plot_rate_function
from selica.plots.canvas import save

MODEL, LAM = theory.Model(alpha=1.0, rho=0.3, Delta=0.1), 0.2
KINDS = {
    "multinomial": ("stability-ideal", "multinomial"),
    "poisson": ("stability-ideal", "poisson"),
    "knockoff": ("knockoffs-ideal", "poisson"),
}
DATASETS = {100: 100, 200: 100, 400: 50}
MEMBERS = 10_000  # of each N, over all data sets


def rate(kind, y=None):
    method, resampling = KINDS[kind]
    return theory.rate_function(MODEL, method, LAM, y=y, resampling=resampling)


def report(name, rows, expected):
    columns = [[row[k] for row in rows] for k in ("N", "value", "error")]
    found = extrapolate(*columns)
    each = "  ".join(f"{v:.4e} ({e:.1e})" for v, e in zip(*columns[1:], strict=True))
    print(
        f"  {name:<10}{each}  ->  {found.value:.4e} ({found.error:.1e})   theory {expected:.4e}"
        f"   {(found.value - expected) / found.error:+.1f} s.e."
    )


def cumulants():
    for kind in KINDS:
        r = rate(kind, [-1.0, 0.0, 1.0])
        start = time.perf_counter()
        costs = {
            N: simulate_costs(r, N, sets, MEMBERS // sets, random_state=N)
            for N, sets in DATASETS.items()
        }
        print(f"{kind}, N = {', '.join(map(str, costs))}: {time.perf_counter() - start:.0f} s")
        table = cost_cumulants(costs)
        report("mean", list(table.where(quantity="mean")), r.typical_cost)
        report("variance", list(table.where(quantity="variance")), r.typical_variance)
        for i, y in ((0, -1.0), (2, 1.0)):
            rows = [empirical_generating(c, N, [y]).one(N=N) for N, c in costs.items()]
            report(f"g({y:+g})", rows, r.g[i] + y * r.typical_cost)


def figure(path):
    r = rate("multinomial")
    rows = []
    for N, sets in ((100, 16), (200, 12)):
        costs = simulate_costs(r, N, sets, 4000, random_state=1000 + N)
        rows += list(empirical_rate(r, N, costs))
    drawn = plot_rate_function(r, ["rate function, exactly M rows"], Table.of(rows))
    save(drawn, [path])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cumulants", action="store_true")
    parser.add_argument("--figure", type=Path)
    chosen = parser.parse_args()
    if chosen.cumulants:
        cumulants()
    if chosen.figure is not None:
        figure(chosen.figure)
