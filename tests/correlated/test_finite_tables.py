"""The theory for correlated rows beside finite systems."""

from __future__ import annotations

import numpy as np
import pytest

from selica.correlated.fixed_point import controlled
from tests.correlated.data import ar1, one_data_set
from tests.correlated.test_correlated import ENSEMBLES, LAM, POINT, knockoff, stability


def compare(found, runs, cuts, Z):
    """Deviations of moments and of the law of probabilities, in standard errors."""
    off = {}
    for key in ("ensemble_error", "v", "active"):
        error = getattr(found, f"{key}_se")
        seen = np.array([moments[key] for moments, *_ in runs])
        se = np.hypot(seen.std(ddof=1) / np.sqrt(len(seen)), error)
        off[key] = (getattr(found, key) - seen.mean()) / max(se, 1e-9)
    mine = found.probabilities(Z)
    theirs = np.array([np.mean(statistic > Z, axis=0) for _, statistic, _ in runs])
    laws = {"mean": (mine, theirs)}
    laws |= {f"below {cut}": (mine <= cut + 1e-9, theirs <= cut + 1e-9) for cut in cuts}
    for name, pair in laws.items():
        a, b = (np.mean(each, axis=1) for each in pair)
        told, variance = controlled(a[:, None], found.controls)
        se = np.hypot(np.sqrt(variance.item()), b.std(ddof=1) / np.sqrt(len(b)))
        off[name] = (told.item() - b.mean()) / se
    return off


def simulated(N, sets, members, rate=1.0, resampling="poisson", copies=None, r=0.5):
    Sigma = ar1(N, r)
    return [
        one_data_set(
            [7, seed], Sigma, lam=LAM, members=1 if rate is None else members,
            rate=rate, resampling=resampling, copies=copies, **POINT,
        )
        for seed in range(sets)
    ]  # fmt: skip


def test_a_small_finite_system():
    runs = simulated(80, 40, 16)
    off = compare(stability(("ar1", 0.5), n_features=80), runs, (0.25, 0.5, 0.75), 0.0)
    assert max(map(abs, off.values())) < 4.0, off


@pytest.mark.slow
@pytest.mark.parametrize(
    ("N", "sets", "data", "name"),
    [(150, 150, 128, name) for name in ENSEMBLES]
    + [(150, 100, 64, "knockoff"), (400, 60, 48, "bootstrap"), (400, 30, 24, "knockoff")],
)
def test_finite_systems(N, sets, data, name):
    # at 150 the rarest probabilities are up to 6.5 errors off, as with independent columns
    cuts = (0.25, 0.5, 0.75, 0.9) if N < 400 else (0.1, 0.25, 0.5, 0.75, 0.9)
    sizes = {"n_features": N, "n_data": data, "n_members": 32}
    if name == "knockoff":
        runs = simulated(N, sets, 32, copies="equi")
        found, Z = knockoff(("ar1", 0.5), "equi", **sizes), 0.05
    else:
        rate, resampling = ENSEMBLES[name]
        runs = simulated(N, sets, 32, rate, resampling)
        found, Z = stability(("ar1", 0.5), rate, resampling, **sizes), 0.0
    off = compare(found, runs, cuts, Z)
    assert max(map(abs, off.values())) < 4.0, off


@pytest.mark.slow
def test_each_variable_of_given_effects():
    N, sets = 120, 200
    Sigma = ar1(N, 0.8)
    w0 = np.zeros(N)
    w0[5:N:12] = np.tile([2.0, -1.0], 5)
    runs = [
        one_data_set([8, seed], Sigma, lam=0.4, members=16, truth=w0, **POINT)
        for seed in range(sets)
    ]
    theirs = np.array([np.mean(statistic > 0.0, axis=0) for _, statistic, _ in runs])
    mine = stability(Sigma, lam=0.4, effects=w0, n_data=200).probabilities()
    se = np.hypot(*(P.std(axis=0, ddof=1) / np.sqrt(len(P)) for P in (mine, theirs)))
    z = (mine.mean(axis=0) - theirs.mean(axis=0)) / se
    assert np.abs(z).max() < 4.5  # the largest of 120
    assert np.sqrt(np.mean(z**2)) < 1.4
