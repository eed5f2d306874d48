"""Finite systems approach the theory: overlaps of simulated ensembles, fitted independently."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from tests.oracles.simulation import one_data_set

SETTING = {"alpha": 1.5, "rho": 0.3, "Delta": 0.1, "lam": 0.25, "mu_B": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["stability", "knockoff"])
@pytest.mark.parametrize(("size", "sets"), [(50, 60), (150, 15)])
def test_overlaps_of_finite_systems(method, size, sets):
    model = theory.Model(SETTING["alpha"], SETTING["rho"], SETTING["Delta"])
    if method == "stability":
        s = theory.solve_stability(model, SETTING["lam"], SETTING["mu_B"])
    else:
        s = theory.solve_knockoff(model, SETTING["lam"])
    expected = {"q": s.q, "m": s.m, "v": s.v, "active": s.chi * s.Q_hat}
    if method == "knockoff":
        expected["v_tilde"] = s.v_tilde
    seeds = np.random.SeedSequence(7).spawn(sets)
    runs = [
        one_data_set(method, np.random.default_rng(seed), size=size, members=16, **SETTING)
        for seed in seeds
    ]
    # the strength of the drawn signal moves q and m most: regress it out (a control variate)
    strength = np.array([run["signal"] for run in runs])
    for name, value in expected.items():
        drawn = np.array([run[name] for run in runs])
        slope = np.cov(drawn, strength)[0, 1] / strength.var(ddof=1)
        left = drawn - slope * strength
        se = left.std(ddof=2) / np.sqrt(sets)
        assert abs(left.mean() - value) < 4 * se + 0.3 * value / size, (name, left.mean(), value)
        assert se < 0.08 * value  # sharp enough to notice
