"""The picture and the numbers of docs/correlated.md: `python -m benchmarks.correlated`."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from selica import planning, theory
from selica._core.errors import BoundaryWarning
from selica._core.table import Table
from selica.plots import plot_correlated_power

ALPHA, RHO, NOISES = 1.12, 0.5, (0.01, 0.1)
CORRELATIONS = (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
N, DATA, MEMBERS, SEARCH = 200, 96, 80, 32
PI_TH, LEVEL, SEED = 0.025, 0.1, 0
AHEAD = ("stability-ideal", 2.0)
METHODS = (
    AHEAD,
    ("stability-ideal", 1.0),
    ("knockoffs-frequency", None),
    ("thresholded-lasso", None),
    ("lasso", None),
)


def solve(model, method, rate, lam, r, data, members):
    settings = {
        "n_features": N, "n_data": data, "n_members": members, "random_state": SEED,
    }  # fmt: skip
    covariance = ("ar1", r)
    if method == "knockoffs-frequency":
        return planning.correlated_knockoff(model, lam, covariance, "mvr", **settings)
    return planning.correlated_stability(model, lam, covariance, rate, **settings)


def penalty(model, method, rate, r):
    """Where a member predicts best: a parabola through the best of a grid and its neighbours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        known = theory.optimal_lam(model, method, **({} if rate is None else {"mu_B": rate}))
    logs = np.log(known * np.geomspace(0.4, 2.0, 6))
    errors = [
        solve(model, method, rate, lam, r, SEARCH, 4).prediction_error for lam in np.exp(logs)
    ]
    i = int(np.clip(np.argmin(errors), 1, logs.size - 2))
    bend, slope, _ = np.polyfit(logs[i - 1 : i + 2] - logs[i], errors[i - 1 : i + 2], 2)
    inside = np.clip(-0.5 * slope / bend, logs[0] - logs[i], logs[-1] - logs[i])
    return float(np.exp(logs[i] + inside))


def moved(model, r):
    """The support of one lasso: its power as the penalty moves."""
    found = [
        solve(model, "lasso", None, lam, r, DATA, 2) for lam in np.geomspace(8.0, 0.05, 20)
    ]  # fmt: skip
    groups = np.array_split(np.arange(DATA), 24)

    def power(without):
        some = [replace(one, **{name: np.delete(getattr(one, name), without, axis=0)
                for name in ("effects", "statistic", "controls")}) for one in found]  # fmt: skip
        rates = [one.single_rates() for one in some]
        tpr, fdr = (np.array([getattr(rate, name) for rate in rates]) for name in ("tpr", "fdr"))
        return planning.PowerCurve(np.zeros(tpr.size), tpr, fdr).power(LEVEL)

    return planning.PowerAtLevel(power([]), np.array([power(group) for group in groups]))


def main() -> None:
    rows = []
    for Delta in NOISES:
        model = theory.Model(ALPHA, RHO, Delta)
        for r in CORRELATIONS:
            powers = {}
            for method, rate in METHODS:
                base = {"Delta": Delta, "correlation": r, "method": method, "mu_B": rate}
                if method == "lasso":
                    power, more = moved(model, r), {}
                else:
                    lam = penalty(model, method, rate, r)
                    one = solve(model, method, rate, lam, r, DATA, MEMBERS)
                    share = PI_TH if method == "knockoffs-frequency" else None
                    power = one.power(LEVEL, share)
                    more = {
                        "lam": lam, "E": one.ensemble_error, "v": one.v, "status": one.status,
                    }  # fmt: skip
                powers[method, rate] = power
                ahead, error = powers[AHEAD].minus(power)
                rows.append(
                    base
                    | {"value": power.value, "error": power.error}
                    | {"rate 2 minus this": ahead, "its error": error}
                    | {name: more.get(name) for name in ("lam", "E", "v", "status")}
                )
                print(rows[-1], flush=True)
    table = Table.of(rows)
    if len(sys.argv) > 1:
        table.to_csv(Path(sys.argv[1]))
    figure = plot_correlated_power(table, LEVEL)
    figure.savefig("docs/images/correlated.png", dpi=130)


if __name__ == "__main__":
    main()
