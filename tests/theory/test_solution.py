"""What can be read off a solution: rates, laws of the probabilities, general averages, tables."""

from __future__ import annotations

import pickle
from dataclasses import fields

import numpy as np
import pytest
from scipy.stats import norm

from selica import theory
from tests.theory.points import random_box

MODEL = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)


def test_a_grid_is_solved_as_its_points():
    lam, rate = np.geomspace(0.05, 1.0, 4)[:, None], np.array([0.5, 1.0, 60.0, 200.0])
    model = theory.Model(alpha=np.array([[[0.5]], [[2.0]]]), rho=0.3, Delta=0.1)
    grid = theory.solve_stability(model, lam, rate)
    assert grid.shape == grid.q.shape == grid.status.shape == (2, 4, 4)
    for i, j, k in np.ndindex(2, 4, 4):
        one = theory.solve_stability(
            theory.Model(float(model.alpha[i, 0, 0]), 0.3, 0.1), float(lam[j, 0]), float(rate[k])
        )
        for name in ("q", "m", "chi", "v", "Q_hat", "chi_hat", "v_hat", "ensemble_error"):
            assert getattr(grid, name)[i, j, k] == pytest.approx(getattr(one, name), rel=1e-12)
        assert isinstance(one.q, float)
        assert one.status == "converged"
    rates = grid.rates(Pi_th=0.3)
    assert rates.tpr.shape == (2, 4, 4)


GRID = theory.Model(alpha=np.array([[1.0], [2.5], [4.0]]), rho=0.3, Delta=[[0.01], [0.1], [0]])
NOISELESS = theory.Model(alpha=np.array([[4.0], [5.0], [6.0]]), rho=0.2, Delta=0.0)
LAM = np.array([0.1, 0.3, 0.5, 0.9])
GRIDS = {
    "lasso": lambda: theory.solve_lasso(GRID, LAM, lam2=0.1),
    "stability": lambda: theory.solve_stability(GRID, LAM, [0.5, 1.0, 2.0, 0.9]),
    "knockoff": lambda: theory.solve_knockoff(GRID, LAM),
    "spectrum": lambda: theory.solve_lasso(GRID, LAM, spectrum=theory.Spectrum.row_orthogonal(1)),
    "logistic": lambda: theory.solve_lasso(NOISELESS, LAM, response=theory.Logistic(1.0 + LAM)),
}


@pytest.mark.parametrize("kind", GRIDS)
def test_a_grid_can_be_indexed(kind):
    grid = GRIDS[kind]()
    point = grid[1, 2]
    assert type(point) is type(grid)
    assert point.shape == point.model.shape == ()
    for f in fields(grid):
        whole, one = getattr(grid, f.name), getattr(point, f.name)
        if isinstance(whole, np.ndarray):
            assert type(one) is type(whole[1, 2].item())
            assert one == whole[1, 2]
        elif f.name != "model":
            assert one is whole
    for name in ("alpha", "rho", "Delta"):
        value = getattr(point.model, name)
        assert type(value) is float
        assert value == np.broadcast_to(getattr(grid.model, name), grid.shape)[1, 2]
    assert point.model.effects is grid.model.effects
    part = grid[1:, [0, 3, 2]]
    assert part.shape == (2, 3)
    assert np.array_equal(part.q, grid.q[1:, [0, 3, 2]])
    assert part[0, 2].q == point.q
    assert part.cost[0, 2] == point.cost
    assert grid[-1].shape == (4,)
    assert [row.shape for row in grid] == [(4,)] * 3
    with pytest.raises(IndexError):
        grid[3]
    with pytest.raises(IndexError):
        point[0]


def test_solutions_can_be_sent_to_a_worker():
    grid = theory.solve_stability(GRID, LAM)
    again = pickle.loads(pickle.dumps(grid))
    assert np.array_equal(again.cost, grid.cost)
    assert again[1, 2].rates(0.3).tpr == grid.rates(0.3).tpr[1, 2]


def test_other_results_of_a_model_can_be_indexed_too():
    model = theory.Model(alpha=[0.5, 1.12], rho=[[0.1], [0.5]], Delta=0.01)
    best = theory.solve_bayes(model)
    assert best[1, 0].mse == best.mse[1, 0]
    assert (best[1, 0].alpha, best[1, 0].rho) == (0.5, 0.5)
    assert model[1].alpha.tolist() == [0.5, 1.12]
    assert model[1].rho.tolist() == [0.5, 0.5]
    assert model[1].Delta == 0.01
    model = theory.Model(1.0, 0.3, 0.1)
    rate = theory.rate_function(model, "stability-ideal", lam=0.2, y=[0.0, 1.0])
    assert rate[1].s == rate.s[1]
    assert rate[1].low is rate.low


def test_chunks_do_not_show(monkeypatch):
    from selica.theory.iid import batch as module

    box = random_box(300, seed=8)
    model = theory.Model(box["alpha"], box["rho"], box["Delta"])
    whole = theory.solve_stability(model, box["lam"], box["mu_B"])
    monkeypatch.setattr(module, "_CHUNK_VALUES", 700)
    parts = theory.solve_stability(model, box["lam"], box["mu_B"])
    np.testing.assert_allclose(parts.q, whole.q, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(parts.v, whole.v, rtol=1e-11, atol=1e-100)


def test_rates_broadcast_against_the_grid():
    s = theory.solve_stability(MODEL, np.array([0.1, 0.3])[:, None])
    rates = s.rates(Pi_th=np.array([0.1, 0.5, 0.9]))
    assert rates.fdr.shape == (2, 3)
    assert np.all(np.diff(rates.tpr, axis=1) <= 0)
    d = theory.solve_knockoff(MODEL, 0.1)
    assert d.rates(np.array([0.0, 0.1])[:, None], np.array([0.1, 0.5, 0.9])).tpr.shape == (2, 3)
    assert d.single_rates(np.array([-0.1, 0.0, 0.1])).tpr.shape == (3,)


def test_floor_and_ceiling_of_the_selection_probability():
    s = theory.solve_stability(MODEL, 0.1)
    floor = s.selection_probability(0.0)
    everyone = s.rates(floor * (1 - 1e-9))
    assert (everyone.tpr, everyone.fpr) == (1.0, 1.0)
    assert everyone.fdr == pytest.approx(0.7)
    assert s.rates(floor * (1 + 1e-6)).fpr < 1.0
    nobody = s.rates(1.0)
    assert (nobody.tpr, nobody.fpr, nobody.fdr) == (0.0, 0.0, 0.0)
    assert s.rates(0.0).tpr == 1.0
    d = theory.solve_knockoff(MODEL, 0.1)
    assert d.rates(0.05, 1.0).tpr == 0.0
    assert d.rates(-0.05, 0.0).tpr == 1.0


@pytest.mark.parametrize("Z_th", [-0.2, 0.0, 0.05])
def test_knockoff_probability_by_sampling(Z_th):
    d = theory.solve_knockoff(MODEL, 0.1)
    rng = np.random.default_rng(5)
    size = 400_000
    for g in (0.0, 0.1, 0.2, 0.5):
        h = g + np.sqrt(d.v_hat) * rng.standard_normal(size)
        copy = np.sqrt(d.v_tilde_hat) * rng.standard_normal(size)
        soft = np.maximum(np.abs([h, copy]) - 0.1, 0.0) / d.Q_hat
        hits = np.mean(soft[0] - soft[1] > Z_th)
        se = np.sqrt(max(hits * (1 - hits), 1e-6) / size)
        assert d.selection_probability(g, Z_th) == pytest.approx(hits, abs=5 * se)


def test_one_copy_is_the_average_of_the_derandomized_probability():
    d = theory.solve_knockoff(MODEL, 0.1)
    g = np.linspace(-12, 12, 60_001)
    for Z_th in (-0.03, 0.0, 0.05):
        rates = d.single_rates(Z_th)
        for rate, sd in (
            (rates.fpr, np.sqrt(d.chi_hat)),
            (rates.tpr, np.hypot(d.m_hat, np.sqrt(d.chi_hat))),
        ):
            law = d.selection_probability(g * sd, Z_th)
            assert rate == pytest.approx(np.sum(law * norm.pdf(g)) * (g[1] - g[0]), abs=1e-9)


@pytest.mark.parametrize("effects", [theory.GaussianEffects(), theory.PointEffects()])
def test_law_of_the_probabilities(effects):
    model = theory.Model(1.0, 0.2, 0.1, effects)
    s = theory.solve_stability(model, 0.3)
    rng = np.random.default_rng(2)
    size = 300_000
    w0 = effects.sample(size, rng)
    noise = np.sqrt(s.chi_hat) * rng.standard_normal(size)
    Pi = np.array([0.1, 0.3, 0.6, 0.9, 0.99])
    for group, field in (("null", noise), ("signal", s.m_hat * w0 + noise)):
        drawn = s.selection_probability(field)
        share = np.mean(drawn[:, None] <= Pi, axis=0)
        np.testing.assert_allclose(s.probability_cdf(Pi, group), share, atol=0.005)
    mixed = 0.8 * s.probability_cdf(Pi, "null") + 0.2 * s.probability_cdf(Pi, "signal")
    np.testing.assert_allclose(s.probability_cdf(Pi), mixed, rtol=1e-14)
    d = theory.solve_knockoff(model, 0.3)
    drawn = d.selection_probability(np.sqrt(d.chi_hat) * rng.standard_normal(20_000), 0.05)
    share = np.mean(drawn[:, None] <= Pi, axis=0)
    np.testing.assert_allclose(d.probability_cdf(Pi, 0.05, "null"), share, atol=0.02)


def test_general_average_gives_back_the_order_parameters():
    s = theory.solve_stability(MODEL, 0.3)
    assert s.expect(lambda w: w, lambda x: x**2) == pytest.approx(s.q, rel=1e-12)
    assert s.expect(lambda w: w**2, lambda x: x) == pytest.approx(s.q + s.v, rel=1e-12)
    assert s.expect(lambda w: w != 0, lambda x: x) == pytest.approx(s.chi * s.Q_hat, rel=1e-12)
    assert s.expect(np.abs, lambda x: x) == pytest.approx(s.mean_absolute, rel=1e-12)
    assert s.correlation(2) == pytest.approx(s.q, rel=1e-12)
    one = theory.solve_lasso(MODEL, 0.3)
    assert one.expect(lambda w: w, lambda x: x**2) == pytest.approx(one.q, rel=1e-10)
    d = theory.solve_knockoff(MODEL, 0.1)
    assert d.expect(lambda w, c: w, lambda x: x**2) == pytest.approx(d.q, rel=1e-12)
    assert d.expect(lambda w, c: c**2, lambda x: x) == pytest.approx(d.v_tilde, rel=1e-12)
    assert d.expect(lambda w, c: (w - c) ** 2, lambda x: x) == pytest.approx(
        d.q + d.v + d.v_tilde, rel=1e-12
    )
    grid = theory.solve_stability(MODEL, [0.1, 0.3])
    np.testing.assert_allclose(grid.expect(lambda w: w, lambda x: x**2), grid.q, rtol=1e-12)


@pytest.mark.parametrize("K", [1, 3, 4])
def test_correlations_by_sampling(K):
    effects = theory.PointEffects(1.0, signs="given")
    s = theory.solve_stability(theory.Model(1.5, 0.4, 0.1, effects), 0.2)
    rng = np.random.default_rng(9)
    data, members = 200_000, K
    w0 = np.where(rng.random(data) < 0.4, 1.0, 0.0)
    g = s.m_hat * w0 + np.sqrt(s.chi_hat) * rng.standard_normal(data)
    h = g[:, None] + np.sqrt(s.v_hat) * rng.standard_normal((data, members))
    w = np.sign(h) * np.maximum(np.abs(h) - 0.2, 0.0) / s.Q_hat
    product = w.prod(axis=1)
    assert s.correlation(K) == pytest.approx(product.mean(), abs=5 * product.std() / data**0.5)


def test_psi_must_be_elementwise():
    s = theory.solve_stability(MODEL, 0.3)
    with pytest.raises(ValueError, match="psi must work elementwise"):
        s.expect(lambda w: np.zeros(3), lambda x: x)
    with pytest.raises(ValueError, match="phi must work elementwise"):
        s.expect(lambda w: w, lambda x: np.zeros(3))


def test_tables_and_repr():
    s = theory.solve_stability(MODEL, [0.1, 0.3])
    frame = s.to_frame()
    assert list(frame["lam"]) == [0.1, 0.3]
    assert list(frame["status"]) == ["converged", "converged"]
    assert {"alpha", "mu_B", "q", "v_hat", "prediction_error"} <= set(frame.columns)
    assert "converged" in repr(s)
    assert "shape=(2,)" in repr(s)
    text = repr(theory.solve_knockoff(MODEL, 0.1))
    assert "KnockoffSolution(" in text
    assert "v_tilde=0.00127591" in text
    rates = s.rates(0.3).to_dict()
    assert set(rates) == {"tpr", "fpr", "fdr"}
    with pytest.raises(AttributeError):
        s.q = 1.0
