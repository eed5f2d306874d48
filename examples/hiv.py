"""
Which mutations of HIV-1 make it resistant to a drug?
=====================================================

Knockoffs on the data of Rhee et al. (2006), 16 drugs, at a false discovery rate of 0.2: with one
copy, and derandomized with 50 copies and e-values, by coefficients of a lasso. Copies are Gaussian
with an estimated covariance; the columns are indicators, so no theorem promises the level here. An
independent list of mutations that treatment selects (TSM) is an approximate truth, position by
position.

Three drugs, others, or all of them::

    python examples/hiv.py
    python examples/hiv.py --drugs AZT NVP
    python examples/hiv.py --drugs all

The folder with the data is the one that the environment variable SELICA_DATA names; the tables are
hiv_drug_resistance/PI.csv.gz, NRTI.csv.gz, NNRTI.csv.gz, tsm.csv and published_discoveries.csv. For
each drug, rows without a measurement, columns with fewer than three ones and columns that equal
another one are left out, and the response is the logarithm of the fold resistance.

The two published columns are knockoff+ at the same level, from the repository of Fithian and Lei
(2022): fixed-X copies with an equicorrelated or semidefinite S, and the penalty at which a variable
enters as statistic. Level and offset are those used here; copies and statistics differ.

What to see: positions in the list / not in it. For nearly all drugs the derandomized rule finds
about as many listed positions as one copy does, with fewer others, and most of what it selects is
listed. Not so for the NNRTI: half or more is not, much as in the published runs, but about half
of these positions are on the list of the NRTI, drugs against the same protein. Of the published
runs some select nothing where another S selects twenty positions: one copy is a lottery, and the
average over 50 is less of one.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from selica import DerandomizedKnockoffs, KnockoffSelection
from selica.selectors import AssumptionWarning

DRUGS = {
    "PI": ["APV", "ATV", "IDV", "LPV", "NFV", "RTV", "SQV"],
    "NRTI": ["3TC", "ABC", "AZT", "D4T", "DDI", "TDF"],
    "NNRTI": ["DLV", "EFV", "NVP"],
}
PUBLISHED = "fixed-X knockoff+, {}, stat.glmnet_lambdasmax, offset 1"
LEVEL = 0.2


def read_drug(folder: Path, family: str, drug: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Mutations and log resistance of the samples in which a drug was measured."""
    table = pd.read_csv(folder / f"{family}.csv.gz").dropna(subset=drug)
    X = table.drop(columns=DRUGS[family])
    X = X.loc[:, X.sum() >= 3]
    return X.loc[:, ~X.T.duplicated(keep=False)], np.log(table[drug].to_numpy())


def positions(names: np.ndarray) -> set[int]:
    """Positions of mutations that are named as in P82.A."""
    return {int(name[1:].split(".")[0]) for name in names}


def main() -> None:
    parser = argparse.ArgumentParser(description="Knockoffs on HIV-1 drug resistance.")
    parser.add_argument("--drugs", nargs="+", default=["ATV", "LPV", "3TC"], metavar="DRUG")
    asked = parser.parse_args().drugs
    known = {drug: family for family, drugs in DRUGS.items() for drug in drugs}
    chosen = list(known) if asked == ["all"] else asked
    if not set(chosen) <= set(known):
        parser.error(f"drugs are {' '.join(known)}, or all")
    root = os.environ.get("SELICA_DATA")
    if root is None:
        print("Set SELICA_DATA to the folder that holds hiv_drug_resistance.")
        sys.exit()
    folder = Path(root, "hiv_drug_resistance")
    tsm = pd.read_csv(folder / "tsm.csv").groupby("drug_class")["position"].agg(set)
    runs = pd.read_csv(folder / "published_discoveries.csv")
    runs = runs[runs["q"] == LEVEL].set_index(["drug", "method"])

    # indicators are not Gaussian: said above once for all drugs
    warnings.simplefilter("ignore", AssumptionWarning)
    warm_up = np.random.default_rng(0).standard_normal((50, 5))
    DerandomizedKnockoffs(n_copies=2).fit(warm_up, warm_up[:, 0])
    print(f"{'':16s} in TSM / not in TSM      published")
    print("drug    n    p   one copy  50 copies     equi     sdp   seconds, 50 copies")
    for drug in chosen:
        family = known[drug]
        X, y = read_drug(folder, family, drug)
        cells = []
        for selector in (
            KnockoffSelection(fdr=LEVEL, statistic="coefficient", random_state=0),
            DerandomizedKnockoffs(fdr=LEVEL, n_copies=50, statistic="coefficient", random_state=0),
        ):
            start = time.perf_counter()
            selector.fit(X, y)
            seconds = time.perf_counter() - start
            found = positions(selector.get_feature_names_out())
            cells.append(f"{len(found & tsm[family])}/{len(found - tsm[family])}")
        for method in ("equi", "sdp"):
            run = runs.loc[drug, PUBLISHED.format(method)]
            cells.append(f"{run['n_tsm_positions']}/{run['n_non_tsm_positions']}")
        print(
            f"{drug:4s} {len(X):4d} {X.shape[1]:4d}   {cells[0]:>8s}  {cells[1]:>9s}  "
            f"{cells[2]:>7s} {cells[3]:>7s}   {seconds:18.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
