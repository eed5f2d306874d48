"""Convergence and certificates in the whole box, on its edges and beyond."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from selica import theory
from tests.oracles import replica
from tests.theory.points import HIGH, LOW, random_box

SOLVERS = ("lasso", "stability", "knockoff")


def _solve(method, p, effects=None, resampling="poisson"):
    model = theory.Model(p["alpha"], p["rho"], p["Delta"], effects)
    if method == "stability":
        return theory.solve_stability(model, p["lam"], p["mu_B"], resampling)
    return getattr(theory, f"solve_{method}")(model, p["lam"])


def _check(s, share=0.999):
    names = (*s._overlaps, *s._conjugates, "ensemble_error", "prediction_error")
    values = np.array([np.ravel(getattr(s, name)) for name in names])
    good = np.ravel(s.converged)
    assert good.mean() >= share
    assert np.all(np.ravel(s.residual)[good] <= 1e-10)
    assert np.all(np.isfinite(values[:, good]))
    assert np.all(values[:, good] >= 0.0)
    assert set(np.ravel(s.status)) <= {"converged", "max_iter", "nonfinite", "infeasible"}


@pytest.mark.parametrize("method", SOLVERS)
def test_twenty_thousand_random_points(method):
    s = _solve(method, random_box(20_000, seed=1))
    _check(s)
    # far better than asked: no digit is lost anywhere in the box
    assert np.quantile(s.residual, 0.999) < 1e-12


EDGES = {
    "no noise": {"Delta": 0.0},
    "small penalty": {"lam": 1e-4},
    "no noise, small penalty": {"Delta": 0.0, "lam": 1e-4},
    "large rate": {"mu_B": 100.0},
    "no signal": {"rho": 0.0},
    "all signal": {"rho": 1.0},
    "nothing at all": {"rho": 0.0, "Delta": 0.0},
    "all signal, no noise": {"rho": 1.0, "Delta": 0.0},
    "large rate, small penalty": {"mu_B": 100.0, "lam": 1e-4},
    "large penalty": {"lam": 1e3},
    "tiny rate": {"mu_B": 1e-3},
    "huge rate": {"mu_B": 1e5},
    "few samples": {"alpha": 1e-4},
    "many samples": {"alpha": 1e5},
    "deafening noise": {"Delta": 1e8},
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("method", SOLVERS)
def test_edges(method, edge):
    box = random_box(1_000, seed=3)
    box |= {name: np.full(1_000, value) for name, value in EDGES[edge].items()}
    _check(_solve(method, box))


@pytest.mark.parametrize("method", SOLVERS)
def test_corners_of_the_box(method):
    names = list(LOW)
    corners = np.array(list(itertools.product(*((LOW[n], HIGH[n]) for n in names))))
    _check(_solve(method, dict(zip(names, corners.T, strict=True))), share=1.0)


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize(
    "effects",
    [
        theory.LaplaceEffects(),
        theory.PointEffects(),
        theory.PointEffects([1.0, 100.0], weights=[0.99, 0.01]),
        theory.EmpiricalEffects(np.random.default_rng(0).standard_t(3, size=60)),
    ],
    ids=["laplace", "point", "outlier", "empirical"],
)
def test_other_effects(method, effects):
    _check(_solve(method, random_box(1_000, seed=4), effects))


@pytest.mark.parametrize("resampling", ["bernoulli", "exponential"])
def test_other_resampling_laws(resampling):
    box = random_box(2_000, seed=5)
    if resampling == "bernoulli":
        box["mu_B"] = box["mu_B"] / HIGH["mu_B"]
    _check(_solve("stability", box, resampling=resampling))


@pytest.mark.parametrize("method", SOLVERS)
@pytest.mark.parametrize("rho", [0.97, 1.0])
def test_dense_point_signals_near_the_interpolation_threshold(method, rho):
    """Where Newton's method is lost from a rough start, whatever the law of the effects."""
    rng = np.random.default_rng(13)
    rate = np.exp(rng.uniform(np.log(0.5), np.log(5.0), 2_000))
    seen = -np.expm1(-rate) if method == "stability" else 1.0
    box = {
        "alpha": (2.0 if method == "knockoff" else 1.0) * rng.uniform(0.9, 1.1, 2_000) / seen,
        "rho": np.full(2_000, rho),
        "Delta": rng.choice([0.0, 1e-4, 1e-2], 2_000),
        "lam": np.exp(rng.uniform(np.log(1e-4), np.log(0.1), 2_000)),
        "mu_B": rate,
    }
    _check(_solve(method, box, theory.PointEffects()), share=1.0)


def test_one_step_of_the_oracle_leaves_our_solution_in_place():
    box = random_box(40, seed=6)
    for i in range(40):
        p = {name: float(values[i]) for name, values in box.items()}
        s = _solve("stability", p)
        state = {name: getattr(s, name) for name in ("q", "m", "chi", "v")}
        new = replica.step("stability", state, **p, resampling="poisson", effects="gaussian")
        for name, value in state.items():
            assert abs(new[name] - value) / (1.0 + abs(value)) < 1e-10


def test_residual_is_that_of_a_step_and_not_a_constant():
    model = theory.Model(2.5, 0.3, 0.01)
    s = theory.solve_stability(model, 0.3)
    off = dict.fromkeys(("q", "m", "chi", "v"))
    off = {name: getattr(s, name) * 1.001 for name in off}
    new = replica.step(
        "stability",
        off,
        alpha=2.5,
        rho=0.3,
        Delta=0.01,
        lam=0.3,
        mu_B=1.0,
        resampling="poisson",
        effects="gaussian",
    )
    assert max(abs(new[k] - off[k]) for k in off) > 1e-5
    assert s.residual < 1e-14
