"""Which S-matrix and which statistic fixed-X knockoffs should have.

`python -m benchmarks.fixed_knockoffs --simulated` measures error and power on simulated tables, and
`python -m benchmarks.fixed_knockoffs --hiv FOLDER` the positions found in the drug resistance data
of Rhee et al. (2006), which are not part of this project (docs/choosing.md says where they come
from), beside those that treatment selects (Rhee et al. 2005). Copies have a rotation that nothing
determines; `--seeds` of them are compared.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from selica import KnockoffSelection
from selica._core.table import Table
from selica._core.types import Array
from selica._core.warning import noted
from selica.sampling import FixedKnockoffs, simulate
from selica.sampling.s_matrices import METHODS
from selica.statistics.knockoff import STATISTICS

DRUGS = {"PI": ("APV", "IDV", "LPV", "NFV"), "NRTI": ("AZT", "3TC"), "NNRTI": ("EFV",)}
SIZES = ((500, 100, 20), (1000, 300, 30))
LEVEL = 0.2


def chosen(X: Any, y: Any, method: str, statistic: str, seed: int) -> Array:
    """What is selected with another rotation for every seed."""
    sampler = FixedKnockoffs(method, intercept=True, randomized=True)
    selector = KnockoffSelection(LEVEL, sampler=sampler, statistic=statistic, random_state=seed)
    with noted():
        return np.asarray(selector.fit(X, y).support_)


def drugs(folder: Path) -> Iterator[tuple[str, Any, Any, set[int]]]:
    """Name, columns, response and known positions of every drug."""
    folder = folder / "hiv_drug_resistance"
    known = pd.read_csv(folder / "tsm.csv")
    for family, names in DRUGS.items():
        table = pd.read_csv(folder / f"{family}.csv.gz")
        positions = set(known.loc[known["drug_class"] == family, "position"])
        for drug in names:
            rows = table.dropna(subset=drug)
            X = rows.filter(regex=r"^P\d+\.")
            X = X.loc[:, X.sum() >= 3]
            X = X.loc[:, ~X.T.duplicated(keep=False)]
            yield drug, X, np.log(rows[drug]), positions


def hiv(folder: Path, methods: list[str], statistics: list[str], seeds: int) -> Iterator[Any]:
    """A row for every drug, method and statistic."""
    for drug, X, y, positions in drugs(folder):
        place = np.array([int(name[1:].split(".")[0]) for name in X.columns])
        for method in methods:
            for statistic in statistics:
                start, true, other = time.process_time(), [], []
                for seed in range(seeds):
                    found = set(place[chosen(X, y, method, statistic, seed)].tolist())
                    true.append(len(found & positions))
                    other.append(len(found - positions))
                total = np.array(true) + np.array(other)
                yield {
                    "table": drug, "n": len(X), "p": X.shape[1], "method": method,
                    "statistic": statistic, "empty": int(np.sum(total == 0)), "seeds": seeds,
                    "known": float(np.mean(true)), "known_least": min(true),
                    "known_most": max(true), "others": float(np.mean(other)),
                    "seconds": round((time.process_time() - start) / seeds, 2),
                }  # fmt: skip


def simulated(methods: list[str], statistics: list[str], runs: int) -> Iterator[Any]:
    """A row of measured promises for every size, method and statistic."""
    for n, p, k in SIZES:
        for method in methods:
            for statistic in statistics:
                false, power = [], []
                for run in range(runs):
                    data = simulate(n, p, k, r2=0.5, covariance=("ar1", 0.5), random_state=run)
                    got = chosen(data.X, data.y, method, statistic, run)
                    false.append(float(np.mean(~data.support[got])) if got.any() else 0.0)
                    power.append(float(np.mean(got[data.support])))
                found = np.array(power)
                proven = statistic != "coefficient"
                yield {
                    "setting": f"AR(1) 0.5, {n} x {p}, {k} signals",
                    "method": f"fixed-X knockoff+, {method}, {statistic}", "controls": "FDR",
                    "level": LEVEL, "measured": round(float(np.mean(false)), 4),
                    "error": round(float(np.std(false, ddof=1) / np.sqrt(runs)), 4),
                    "promised": "proven" if proven else "expected",
                    "selects": round(float(np.mean(found > 0.0)), 2),
                    "power": round(float(found.mean()), 3), "runs": runs,
                    "command": "python -m benchmarks.fixed_knockoffs --simulated", "note": "",
                }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hiv", type=Path, metavar="FOLDER", help="folder with the tables")
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--seeds", type=int, default=8, help="rotations for every drug")
    parser.add_argument("--runs", type=int, default=100, help="simulated data sets")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--statistics", nargs="+", default=["entry"], choices=STATISTICS)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="file to put the rows into")
    options = parser.parse_args()
    rows = []
    found = (
        simulated(options.methods, options.statistics, options.runs)
        if options.simulated
        else hiv(options.hiv, options.methods, options.statistics, options.seeds)
    )
    for row in found:
        print(" | ".join(map(str, row.values())), flush=True)
        rows.append(row)
        if options.csv:
            Table.of(rows).to_csv(options.csv)


if __name__ == "__main__":
    main()
