"""Costs of finite ensembles beside the theory of their large deviations."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from selica._core.errors import ArgumentError
from selica.experiments.costs import (
    cost_cumulants,
    empirical_generating,
    empirical_rate,
    extrapolate,
    simulate_costs,
)

MODEL = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
KINDS = {
    "poisson": ("stability-ideal", "poisson"),
    "multinomial": ("stability-ideal", "multinomial"),
    "knockoff": ("knockoffs-ideal", "poisson"),
}


def rate(kind, y=None):
    method, resampling = KINDS[kind]
    return theory.rate_function(MODEL, method, 0.2, y=y, resampling=resampling)


def test_extrapolation_recovers_a_line():
    N = np.array([100.0, 200.0, 400.0])
    error = np.array([0.1, 0.2, 0.3])
    found = extrapolate(N, 3.0 + 7.0 / N, error)
    assert found.value == pytest.approx(3.0)
    draws = np.random.default_rng(0).normal(3.0 + 7.0 / N, error, size=(4000, 3))
    spread = np.std([extrapolate(N, draw, error).value for draw in draws])
    assert found.error == pytest.approx(spread, rel=0.05)
    with pytest.raises(ArgumentError, match="two values"):
        extrapolate([100, 100], [1.0, 2.0], [0.1, 0.1])


def test_gaussian_costs_have_gaussian_summaries():
    r = rate("multinomial")
    rng = np.random.default_rng(1)
    N, sd = 400, np.sqrt(r.typical_variance / 400)
    costs = 0.1 + sd * rng.standard_normal((6, 20_000))  # each data set has another mean
    costs += np.linspace(-0.01, 0.01, 6)[:, None]
    table = cost_cumulants({N: costs})
    variance = table.one(quantity="variance")
    assert abs(variance["value"] - r.typical_variance) < 5.0 * variance["error"] + 1e-9
    assert table.one(quantity="mean")["value"] == pytest.approx(0.1, abs=1e-4)
    y = 2.0
    g = empirical_generating(costs, N, [y]).one(N=N)
    assert g["value"] == pytest.approx(0.5 * y * y * r.typical_variance, rel=0.03)
    histogram = empirical_rate(r, N, costs)
    assert len(histogram) > 10
    parabola = -0.5 * (histogram["cost"] - r.typical_cost) ** 2 / r.typical_variance
    # the prefactor is that of the theory, whose curvature changes with the cost
    np.testing.assert_allclose(histogram["s"], parabola, atol=2e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_variance_of_the_cost_at_one_size(kind):
    r = rate(kind, [0.0])
    costs = simulate_costs(r, 60, n_datasets=16, n_members=50, random_state=4)
    table = cost_cumulants({60: costs})
    for name, expected in (("mean", r.typical_cost), ("variance", r.typical_variance)):
        row = table.one(quantity=name)
        # a part in N is what the limit leaves out
        assert abs(row["value"] - expected) < 4.0 * row["error"] + 5.0 / 60 * expected, name
    again = simulate_costs(r, 60, n_datasets=2, n_members=50, random_state=4)
    np.testing.assert_array_equal(again, costs[:2])


def test_a_free_number_of_rows_adds_variance():
    spread = {}
    for kind in ("poisson", "multinomial"):
        r = rate(kind, [0.0])
        costs = simulate_costs(r, 60, n_datasets=10, n_members=80, random_state=5)
        spread[kind] = costs.var(axis=1, ddof=1).mean()
    assert 1.2 < spread["poisson"] / spread["multinomial"] < 1.8  # 1.47 in the limit


def test_laws_without_a_scheme_are_refused():
    r = theory.rate_function(
        MODEL, "stability-ideal", 0.2, y=[0.0], mu_B=0.5, resampling="bernoulli"
    )
    with pytest.raises(ArgumentError, match="resampling"):
        simulate_costs(r, 50, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_cumulants_of_the_cost_approach_the_theory(kind):
    """Mean and variance over 10,000 members at N = 100, 200, 400, extrapolated in 1/N."""
    r = rate(kind, [-1.0, 0.0, 1.0])
    datasets = {100: 100, 200: 100, 400: 50}
    costs = {
        N: simulate_costs(r, N, sets, 10_000 // sets, random_state=N)
        for N, sets in datasets.items()
    }
    table = cost_cumulants(costs)
    for name, expected in (("mean", r.typical_cost), ("variance", r.typical_variance)):
        rows = table.where(quantity=name)
        found = extrapolate(rows["N"], rows["value"], rows["error"])
        assert abs(found.value - expected) < 4.0 * found.error, name
    # the generating function itself, at tilts within the reach of the members of a data set
    for y in (-1.0, 1.0):
        rows = [empirical_generating(c, N, [y]).one(N=N) for N, c in costs.items()]
        found = extrapolate(*([row[k] for row in rows] for k in ("N", "value", "error")))
        at = theory.rate_function(MODEL, r.method, 0.2, y=y, resampling=KINDS[kind][1])
        assert abs(found.value - (at.g + y * r.typical_cost)) < 4.0 * found.error


@pytest.mark.slow
def test_histograms_follow_the_rate_function():
    r = rate("multinomial")
    costs = simulate_costs(r, 200, n_datasets=12, n_members=4000, random_state=1200)
    table = empirical_rate(r, 200, costs)
    off = table["s"] - r.rate(table["cost"])
    # leading order: what is left is a part in N, times numbers of order one
    assert np.all(np.abs(off) < 4.0 * table["error"] + 2.0 / 200)
    assert table["s"].min() < -0.01
