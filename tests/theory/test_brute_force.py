"""Against quadrature over the definitions (tests/oracles/replica.py), at random points."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from tests.oracles import replica
from tests.theory.points import random_box

N_POINTS = 200
BATCHES = 10
NAMES = ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat")
KNOCKOFF = (*NAMES, "v_tilde", "chi_tilde", "v_tilde_hat")
BOX = random_box(N_POINTS, seed=20)


def _compare(ours, expected, names):
    for name in names:
        assert getattr(ours, name) == pytest.approx(expected[name], rel=1e-8, abs=1e-8), name


def _points(batch):
    for i in range(batch, N_POINTS, BATCHES):
        yield {name: float(values[i]) for name, values in BOX.items()}


@pytest.mark.parametrize("batch", range(BATCHES))
def test_stability(batch):
    for p in _points(batch):
        ours = theory.solve_stability(
            theory.Model(p["alpha"], p["rho"], p["Delta"]), p["lam"], p["mu_B"]
        )
        _compare(ours, replica.solve("stability", **p), NAMES)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_knockoff(batch):
    for p in _points(batch):
        ours = theory.solve_knockoff(theory.Model(p["alpha"], p["rho"], p["Delta"]), p["lam"])
        del p["mu_B"]
        _compare(ours, replica.solve("knockoff", **p), KNOCKOFF)


@pytest.mark.parametrize("batch", range(BATCHES))
def test_lasso(batch):
    for p in _points(batch):
        ours = theory.solve_lasso(theory.Model(p["alpha"], p["rho"], p["Delta"]), p["lam"])
        del p["mu_B"]
        _compare(ours, replica.solve("lasso", **p), NAMES)


LAWS = {
    "laplace": (theory.LaplaceEffects(), "laplace"),
    "one point": (theory.PointEffects(2.0), ("points", [1.0, -1.0], [0.5, 0.5])),
    "positive": (theory.PointEffects(3.0, signs="given"), ("points", [1.0], [1.0])),
}
_VALUES = np.array([-2.0, -0.5, 0.3, 1.0, 1.7])
_VALUES_UNIT = _VALUES / np.sqrt(np.mean(_VALUES**2))
LAWS["empirical"] = (theory.EmpiricalEffects(_VALUES), ("points", _VALUES_UNIT, np.ones(5)))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("resampling", ["poisson", "bernoulli", "exponential"])
def test_effects_and_resampling_laws(law, resampling):
    effects, definition = LAWS[law]
    box = random_box(6, seed=len(law))
    for i in range(6):
        p = {name: float(values[i]) for name, values in box.items()}
        if resampling == "bernoulli":
            p["mu_B"] = min(p["mu_B"], 1.0) * 0.9
        model = theory.Model(p["alpha"], p["rho"], p["Delta"], effects)
        ours = theory.solve_stability(model, p["lam"], p["mu_B"], resampling)
        expected = replica.solve("stability", **p, resampling=resampling, effects=definition)
        _compare(ours, expected, NAMES)


@pytest.mark.parametrize("law", LAWS)
def test_effects_of_knockoff_and_lasso(law):
    effects, definition = LAWS[law]
    box = random_box(6, seed=100 + len(law))
    del box["mu_B"]
    for i in range(6):
        p = {name: float(values[i]) for name, values in box.items()}
        model = theory.Model(p["alpha"], p["rho"], p["Delta"], effects)
        expected = replica.solve("knockoff", **p, effects=definition)
        _compare(theory.solve_knockoff(model, p["lam"]), expected, KNOCKOFF)
        expected = replica.solve("lasso", **p, effects=definition)
        _compare(theory.solve_lasso(model, p["lam"]), expected, NAMES)


ALL_LAWS = {"gaussian": (theory.GaussianEffects(), "gaussian"), **LAWS}


@pytest.mark.parametrize("law", ALL_LAWS)
def test_rates_of_every_method_and_law(law):
    effects, definition = ALL_LAWS[law]
    rng = np.random.default_rng(len(law))
    box = random_box(5, seed=200 + len(law))
    for i in range(5):
        p = {name: float(values[i]) for name, values in box.items()}
        p["lam"] = min(p["lam"], 1.0)
        rate, lam = p.pop("mu_B"), p["lam"]
        model = theory.Model(p["alpha"], p["rho"], p["Delta"], effects)
        common = {"rho": p["rho"], "lam": lam, "effects": definition}
        Pi_th, Z_th = rng.uniform(0.02, 0.98), rng.normal(0.0, 0.2)

        solved = replica.solve("stability", **p, mu_B=rate, effects=definition)
        expected = replica.rates("stability", solved, **common, Pi_th=Pi_th)
        _same_rates(theory.solve_stability(model, lam, rate).rates(Pi_th), expected)

        solved = replica.solve("knockoff", **p, effects=definition)
        d = theory.solve_knockoff(model, lam)
        expected = replica.rates("derandomized", solved, **common, Pi_th=Pi_th, Z_th=Z_th)
        _same_rates(d.rates(Z_th, Pi_th), expected)
        expected = replica.rates("knockoff", solved, **common, Z_th=Z_th)
        _same_rates(d.single_rates(Z_th), expected)

        solved = replica.solve("lasso", **p, effects=definition)
        expected = replica.rates("lasso", solved, **common)
        _same_rates(theory.solve_lasso(model, lam).rates(), expected)


def _same_rates(ours, expected):
    for name in ("tpr", "fpr", "fdr"):
        assert getattr(ours, name) == pytest.approx(expected[name], rel=1e-7, abs=1e-8), name


def test_the_oracle_itself_by_quadrature_over_eta():
    g = np.linspace(-2.0, 2.0, 41)
    closed = replica.inner_moments(g, 0.07, 0.4)
    brute = replica.inner_moments_by_quadrature(g, 0.07, 0.4)
    for a, b in zip(closed, brute, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
