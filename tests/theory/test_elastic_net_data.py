"""A ridge part of the penalty on data: finite systems approach the theory."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import ElasticNet

from selica import theory
from tests.oracles import simulation

SETTING = {"alpha": 1.5, "rho": 0.3, "Delta": 0.1, "lam": 0.2, "lam2": 0.5}
CUTS = {"lasso": 0.1, "stability": 0.5, "knockoff": 0.1}


def deviations(method, mu_B, size, sets, members, lam2_of_theory=None):
    """(theory, mean, standard error) by quantity."""
    model = theory.Model(SETTING["alpha"], SETTING["rho"], SETTING["Delta"])
    lam, cut = SETTING["lam"], CUTS[method]
    lam2 = SETTING["lam2"] if lam2_of_theory is None else lam2_of_theory
    if method == "stability":
        s = theory.solve_stability(model, lam, mu_B, lam2=lam2)
        rates = s.rates(cut, n_members=members)
    elif method == "knockoff":
        s = theory.solve_knockoff(model, lam, lam2=lam2)
        rates = s.single_rates(cut)
    else:
        s = theory.solve_lasso(model, lam, lam2=lam2)
        rates = s.rates(cut)
    expected = {"q": s.q, "m": s.m, "v": s.v, "active": s.chi * s.curvature}
    expected |= {"tpr": rates.tpr, "fpr": rates.fpr}
    if method == "knockoff":
        expected["v_tilde"] = s.v_tilde
    runs = [
        simulation.one_data_set(
            method, np.random.default_rng(seed), size=size, members=members, mu_B=mu_B, cut=cut,
            **SETTING,
        )
        for seed in np.random.SeedSequence(5).spawn(sets)
    ]  # fmt: skip
    # the strength of the drawn signal moves q and m most: regress it out (a control variate)
    strength = np.array([run["signal"] for run in runs])
    out = {}
    for name, value in expected.items():
        drawn = np.array([run[name] for run in runs])
        if name == "v" and method == "lasso":
            assert value == drawn.max() == 0.0
            continue
        slope = np.cov(drawn, strength)[0, 1] / strength.var(ddof=1)
        left = drawn - slope * strength
        out[name] = (value, left.mean(), left.std(ddof=2) / np.sqrt(sets))
    return out


def test_the_simulated_minimiser_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 40)), rng.standard_normal(60)
    counts = rng.poisson(1.0, 60).astype(float)
    ours = simulation.lasso(X[None], y, counts[None], 3.0, 5.0)[0]
    rows = counts.sum()
    net = ElasticNet(alpha=8.0 / rows, l1_ratio=3.0 / 8.0, fit_intercept=False, tol=1e-12)
    net.fit(X, y, sample_weight=counts)
    assert ours == pytest.approx(net.coef_, abs=1e-5)
    assert 5 < np.count_nonzero(net.coef_) < 40


@pytest.mark.parametrize(("method", "mu_B"), [("lasso", 1.0), ("stability", 1.0)])
def test_small_data(method, mu_B):
    for name, (value, mean, se) in deviations(method, mu_B, 120, 40, 10).items():
        assert abs(mean - value) < 4 * se, (name, value, mean, se)
    without = deviations(method, mu_B, 120, 40, 10, lam2_of_theory=0.0)
    assert all(abs(mean - value) > 8 * se for value, mean, se in map(without.get, ("q", "active")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "mu_B", "size", "sets", "members"),
    [
        ("lasso", 1.0, 800, 40, 1),
        ("stability", 0.5, 400, 24, 16),
        ("stability", 1.0, 400, 24, 16),
        ("stability", 2.0, 400, 24, 16),
        ("knockoff", 1.0, 300, 24, 8),
    ],
)
def test_data(method, mu_B, size, sets, members):
    for name, (value, mean, se) in deviations(method, mu_B, size, sets, members).items():
        assert abs(mean - value) < 4 * se, (name, value, mean, se)
        assert se < 0.05 * value  # sharp enough to notice


@pytest.mark.slow
def test_labels_of_data():
    """Logistic regressions with both penalties, by proximal gradient steps."""
    size, alpha, rho, T, lam, lam2 = 300, 3.0, 0.2, 4.0, 0.5, 0.4
    model = theory.Model(alpha, rho, 0.0)
    s = theory.solve_lasso(model, lam, lam2=lam2, response=theory.Logistic(T))
    rows, signals = round(alpha * size), round(rho * size)
    runs = []
    for seed in np.random.SeedSequence(3).spawn(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((rows, size)) / np.sqrt(size)
        w0 = np.zeros(size)
        w0[:signals] = rng.standard_normal(signals)
        w0 *= np.sqrt(T * size / np.sum(w0**2))
        y = np.where(rng.random(rows) < expit(X @ w0), 1.0, -1.0)
        step = 1.0 / (0.25 * np.linalg.norm(X, 2) ** 2 + lam2)
        w = np.zeros(size)
        for _ in range(5_000):
            gradient = -X.T @ (y * expit(-y * (X @ w))) + lam2 * w
            new = w - step * gradient
            new = np.sign(new) * np.maximum(np.abs(new) - step * lam, 0.0)
            change, w = np.abs(new - w).max(), new
            if change < 1e-9:
                break
        assert change < 1e-9
        runs.append([np.mean(w**2), np.mean(w * w0), np.mean(w != 0.0)])
    mean, se = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1) / np.sqrt(40)
    expected = np.array([s.q, s.m, s.chi * s.curvature])
    assert np.all(np.abs(mean - expected) < 4 * se), (mean, expected, se)
    assert np.all(se < 0.02 * expected)
