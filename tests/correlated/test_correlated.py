"""The theory for correlated rows: limits, definitions, certificates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import poisson

from selica import planning, theory
from selica._core.compiled import THREADS
from selica._core.errors import ArgumentError, ConvergenceWarning, RefusedError
from selica.correlated import fixed_point
from selica.correlated.drawn_fits import GaussianCopies, SingleBody, mean_signal
from selica.correlated.fixed_point import balanced, controlled
from selica.correlated.solution import PowerCurve
from selica.sampling.covariance import parse_covariance
from tests.correlated.data import ar1
from tests.oracles import simulation

POINT = {"alpha": 1.0, "rho": 0.3, "Delta": 0.1}
MODEL = theory.Model(**POINT)
LAM = 0.2
ENSEMBLES = {
    "lasso": (None, "poisson"),
    "bootstrap": (1.0, "poisson"),
    "over-sampled": (2.0, "poisson"),
    "halves": (0.5, "bernoulli"),
    "Bayesian": (1.0, "exponential"),
}


def stability(covariance, rate=1.0, resampling="poisson", model=MODEL, lam=LAM, **settings):
    sizes = {"n_data": 48, "n_members": 16, "random_state": 0}
    return planning.correlated_stability(
        model, lam, covariance, rate, resampling, **(sizes | settings)
    )


def knockoff(covariance, s="mvr", model=MODEL, lam=LAM, **settings):
    sizes = {"n_data": 48, "n_members": 16, "random_state": 0}
    return planning.correlated_knockoff(model, lam, covariance, s, **(sizes | settings))


# --- limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ENSEMBLES)
def test_independent_columns_give_back_the_theory(name):
    rate, resampling = ENSEMBLES[name]
    found = stability("identity", rate, resampling, n_features=100)
    known = (
        theory.solve_lasso(MODEL, LAM)
        if rate is None
        else theory.solve_stability(MODEL, LAM, rate, resampling)
    )
    assert found.converged
    for key in ("ensemble_error", "v", "chi"):
        error = getattr(found, f"{key}_se")
        assert getattr(found, key) == pytest.approx(getattr(known, key), abs=4 * error + 1e-12)
        assert error < 0.04 * getattr(known, key) + 1e-12
    active = known.chi * known.Q_hat
    assert found.active == pytest.approx(active, abs=4 * found.active_se)
    assert found.active_se < found.chi_se * found.Q_hat < 0.04 * active
    if rate is not None:
        rates = known.rates(0.6, n_members=16)
        assert found.rates(0.6).tpr == pytest.approx(rates.tpr, abs=0.06)
        assert found.rates(0.6).fdr == pytest.approx(rates.fdr, abs=0.06)


def test_independent_copies_give_back_the_theory_of_knockoffs():
    found, known = knockoff("identity", 1.0, n_features=100), theory.solve_knockoff(MODEL, LAM)
    both = {
        "ensemble_error": known.ensemble_error,
        "v": known.v + known.v_tilde,
        "chi": known.chi + known.chi_tilde,
    }
    for key, value in both.items():
        assert getattr(found, key) == pytest.approx(value, abs=4 * getattr(found, f"{key}_se"))
    assert found.v_hat == pytest.approx(known.v_hat, rel=0.1)
    one = known.single_rates(0.05)
    assert found.single_rates(0.05).tpr == pytest.approx(one.tpr, abs=0.04)
    assert found.single_rates(0.05).fpr == pytest.approx(one.fpr, abs=0.02)


def test_a_penalty_beyond_all_fields_leaves_the_variance_of_y():
    Sigma = ar1(30, 0.5)
    w0 = np.zeros(30)
    w0[::5] = 1.0
    found = stability(Sigma, lam=50.0, effects=w0)
    assert found.ensemble_error == pytest.approx(w0 @ Sigma @ w0 / 30 + 0.1)
    assert found.mean_probability() == 0.0
    assert found.power(0.1).value == 0.0


@pytest.mark.parametrize("solve", [stability, knockoff])
def test_units_do_not_matter(solve):
    # x -> 2 x: effects are half as large, and the penalty is twice as large
    Sigma = ar1(30, 0.6)
    w0 = np.where(np.arange(30) % 4 == 0, 1.5, 0.0)
    few = {"n_data": 16, "n_members": 4}
    one = solve(Sigma, effects=w0, **few)
    two = solve(4.0 * Sigma, effects=0.5 * w0, lam=2.0 * LAM, **few)
    assert two.ensemble_error == pytest.approx(one.ensemble_error, rel=1e-6)
    np.testing.assert_allclose(two.statistic, 0.5 * one.statistic, atol=1e-5)


# --- definitions -------------------------------------------------------------------------------


def test_the_equations_hold_for_other_draws():
    """Fields by sums over counts, lassos by proximal gradient, moments by pairs of members."""
    N, draws = 30, 200
    Sigma = ar1(N, 0.7)
    found = stability(Sigma, 1.0, n_data=200, n_members=4)
    c = np.arange(40)
    k, P = c / (1.0 + found.chi * c), poisson.pmf(c, 1.0)
    f1, f2 = P @ k, P @ k**2
    Q, E, v = found.Q_hat, found.ensemble_error, found.v
    assert f1 == pytest.approx(Q)
    assert f1**2 * E == pytest.approx(found.chi_hat)
    assert (f2 - f1**2) * E + f2 * v == pytest.approx(found.v_hat)
    rng = np.random.default_rng(1)
    R = np.linalg.cholesky(Sigma)
    errors, variances, active = [], [], []
    for _ in range(draws):
        w0 = np.zeros(N)
        w0[rng.permutation(N)[:9]] = rng.standard_normal(9)
        xi, eta = rng.standard_normal(N), rng.standard_normal((2, N))
        g = (np.sqrt(found.chi_hat) * xi + np.sqrt(found.v_hat) * eta) / Q
        X = np.sqrt(Q) * np.array([R.T])
        w = np.array([
            simulation.lasso(X, np.sqrt(Q) * (R.T @ w0 + one), np.ones((1, N)), LAM)[0]
            for one in g
        ])  # fmt: skip
        a, b = (w - w0) @ R
        errors.append(a @ b / N + 0.1)
        variances.append((a - b) @ (a - b) / (2 * N))
        active.append(np.mean(w != 0.0))
    for value, seen, error in (
        (E, errors, found.ensemble_error_se),
        (v, variances, found.v_se),
        (found.active, active, found.active_se),
    ):
        se = np.std(seen) / np.sqrt(draws)
        assert value == pytest.approx(np.mean(seen), abs=4.0 * np.hypot(se, error))


def test_the_response_of_a_lasso_is_the_number_of_its_active_variables():
    N, Q, step = 12, 0.7, 1e-3
    Sigma = ar1(N, 0.7)
    R = np.linalg.cholesky(Sigma)
    h = np.random.default_rng(3).standard_normal(N)
    fields = np.vstack([h, h + step * np.eye(N)])
    # |R'w|^2 Q / 2 - h'w is a least squares problem with the design sqrt(Q) R'
    y = np.linalg.solve(R, fields.T).T / np.sqrt(Q)
    X = np.sqrt(Q) * R.T[None]
    w = np.array([simulation.lasso(X, one, np.ones((1, N)), 0.3)[0] for one in y])
    response = np.trace(Sigma @ (w[1:] - w[0])) / step
    active = np.count_nonzero(w[0])
    assert 2 < active < N
    assert response == pytest.approx(active / Q, rel=1e-2)


@pytest.mark.parametrize("s", ["equi", "mvr", None])
def test_fits_are_optimal_also_where_copies_are_tied_to_columns(s):
    Sigma = ar1(20, 0.8)
    covariance = parse_covariance(Sigma, 20, np.random.default_rng(0))
    truth = np.random.default_rng(1).standard_normal((6, 20))
    copies = None if s is None else GaussianCopies.of(Sigma, s)
    body = SingleBody(covariance, truth, 3, np.random.SeedSequence(0), copies)
    w = body.fit(0.4, 0.5, 0.3, 6, 3, keep=True)
    again = body.fit(0.4, 0.5, 0.3, 6, 3, keep=True)  # from the solution
    b = body._linear(0.5, 0.3, 6, 3)
    gradient = b - w @ body.gram
    assert np.abs(gradient).max() <= 0.4 * (1 + 1e-8)
    np.testing.assert_allclose((gradient * np.sign(w))[w != 0.0], 0.4, rtol=1e-8)
    np.testing.assert_allclose(again, w, atol=1e-8)
    assert 0.1 < np.mean(w != 0.0) < 0.9


def test_fields_of_copies_have_their_covariance():
    Sigma = ar1(6, 0.5)
    copies = GaussianCopies.of(Sigma, "mvr")
    seen = copies.seen(np.linalg.cholesky(Sigma).T)  # rows: columns of R
    total = seen.T @ seen
    total[6:, 6:] += copies.root @ copies.root.T
    np.testing.assert_allclose(total, copies.joint(Sigma), atol=1e-12)


def test_signals_of_one_sign_in_the_control():
    law = theory.PointEffects(1.0, signs="given")
    Sigma = ar1(12, 0.7)
    rng = np.random.default_rng(0)
    seen = []
    for _ in range(20_000):
        w0 = np.zeros(12)
        w0[rng.permutation(12)[: int(0.3 * 12 + rng.random())]] = 1.0
        seen.append(w0 @ Sigma @ w0 / 12)
    assert mean_signal(law, 0.3, Sigma) == pytest.approx(np.mean(seen), rel=0.01)


# --- what a solution says ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def solved():
    return knockoff(("ar1", 0.5), n_features=40, n_data=24)


def test_rates_and_curves_count(solved):
    truth = solved.effects != 0.0
    votes = (solved.statistic > 0.05).sum(axis=1)
    picked = votes >= 4  # a quarter of 16
    w = balanced(solved.controls)
    true, false, signals, nulls = (
        w @ each.sum(axis=1) for each in (picked & truth, picked & ~truth, truth, ~truth)
    )
    rates = solved.rates(0.25, 0.05)
    assert rates.tpr == pytest.approx(true / signals)
    assert rates.fpr == pytest.approx(false / nulls)
    assert rates.fdr == pytest.approx(false / (true + false))
    curve = solved.curve(0.25)
    place = np.searchsorted(-curve.threshold, -0.05) - 1  # the last threshold above
    assert curve.tpr[place] == pytest.approx(rates.tpr)
    assert curve.fdr[place] == pytest.approx(rates.fdr)
    assert solved.rates([0.25, 0.5], 0.05).tpr[0] == pytest.approx(rates.tpr)


def test_the_law_of_probabilities(solved):
    Pi, w = solved.probabilities(0.05), balanced(solved.controls)
    assert solved.probability_cdf(0.5, 0.05) == pytest.approx(w @ np.mean(Pi <= 0.5, axis=1))
    null = solved.effects == 0.0
    below = w @ np.sum(null & (Pi <= 0.5), axis=1) / (w @ np.sum(null, axis=1))
    assert solved.probability_cdf(0.5, 0.05, "null") == pytest.approx(below)
    assert solved.probability_cdf([0.0, 1.0], 0.05, "signal")[1] == pytest.approx(1.0)
    assert solved.mean_probability(0.05) == pytest.approx(w @ Pi.mean(axis=1))


def test_weights_do_what_a_regression_does():
    rng = np.random.default_rng(0)
    controls = 0.3 * rng.standard_normal((40, 2)) + 0.05
    values = controls @ [[1.0, 2.0], [0.5, -1.0]] + 0.01 * rng.standard_normal((40, 2)) + 3.0
    w = balanced(controls)
    assert w.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(w @ controls, 0.0, atol=1e-12)
    fitted = np.linalg.lstsq(np.column_stack([np.ones(40), controls]), values, rcond=None)[0]
    np.testing.assert_allclose(w @ values, fitted[0])
    mean, covariance = controlled(values, controls)
    np.testing.assert_allclose(mean, fitted[0])
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), 0.01 / np.sqrt(40), rtol=0.3)
    assert balanced(np.array([[5.0], [0.1], [-0.1], [0.0]])).min() > 0.0


def test_power_between_two_thresholds():
    curve = PowerCurve(
        np.array([3.0, 2.0, 1.0]), np.array([0.2, 0.4, 0.6]), np.array([0.0, 0.1, 0.3])
    )
    assert curve.power(0.2) == pytest.approx(0.5)
    assert curve.power(0.1) == pytest.approx(0.4)
    assert curve.power(0.5) == pytest.approx(0.6)
    only = PowerCurve(np.array([1.0]), np.array([0.5]), np.array([0.2]))
    assert only.power(0.1) == pytest.approx(0.25)  # nothing selected is the other end


def test_power_and_its_error(solved):
    power = solved.power(0.2, 0.25)
    assert power.value == solved.curve(0.25).power(0.2)
    assert 0.0 < power.error < 0.2
    assert power.minus(power) == (0.0, 0.0)


def test_threads_and_seeds(monkeypatch):
    few = {"n_features": 20, "n_data": 16, "n_members": 4}
    one = knockoff(("ar1", 0.5), **few)
    monkeypatch.setenv(THREADS, "3")
    same = knockoff(("ar1", 0.5), **few)
    np.testing.assert_array_equal(one.statistic, same.statistic)
    assert one.to_dict() == same.to_dict()
    other = knockoff(("ar1", 0.5), random_state=1, **few)
    assert other.ensemble_error != one.ensemble_error


def test_given_effects_have_probabilities_of_their_own():
    w0 = np.zeros(40)
    w0[10], w0[30] = 3.0, 1.0
    found = stability(("ar1", 0.5), n_features=40, effects=w0, lam=0.5)
    Pi = found.probabilities().mean(axis=0)
    assert Pi.argmax() == 10
    assert Pi[10] > Pi[30] > np.median(Pi)
    near, far = Pi[[9, 11]].mean(), Pi[[0, 1, 18, 19, 20, 38, 39]].mean()
    assert near > far  # neighbours of a strong signal are drawn in


def test_what_is_not_solved_is_said(monkeypatch):
    monkeypatch.setattr(fixed_point, "_MAX_ITER", 1)
    with pytest.warns(ConvergenceWarning, match="not solved"):
        found = stability(("ar1", 0.9), n_features=30, n_data=16, n_members=4)
    assert (found.status, found.converged) == ("max_iter", False)
    assert found.residual > fixed_point.TOLERANCE


@pytest.mark.parametrize(
    ("solve", "arguments", "words"),
    [
        (stability, {"covariance": ("ar1", 0.5)}, "n_features must be given"),
        (stability, {"covariance": np.eye(5), "n_features": 6}, "n_features"),
        (stability, {"covariance": np.ones((3, 4))}, "square"),
        (stability, {"covariance": np.eye(5), "lam": -1.0}, "lam"),
        (stability, {"covariance": np.eye(5), "lam": [0.1, 0.2]}, "lam must be one number"),
        (stability, {"covariance": np.eye(5), "rate": 0.0}, "resample_rate"),
        (stability, {"covariance": np.eye(5), "resampling": "magic"}, "resampling"),
        (stability, {"covariance": np.eye(5), "effects": np.ones(4)}, "effects"),
        (stability, {"covariance": np.eye(5), "n_members": 1}, "n_members"),
        (stability, {"covariance": np.eye(5), "n_data": 2}, "n_data"),
        (knockoff, {"covariance": np.eye(5), "s": "magic"}, "s must be one of"),
        (knockoff, {"covariance": np.eye(5), "s": 2.5}, "semidefinite"),
        (knockoff, {"covariance": np.eye(5), "s": np.ones(4)}, "one entry"),
    ],
)
def test_one_sentence_for_bad_input(solve, arguments, words):
    with pytest.raises(ArgumentError, match=words):
        solve(**arguments)


def test_a_covariance_without_copies_is_refused():
    with pytest.raises(RefusedError, match="positive definite"):
        knockoff(np.ones((5, 5)))


def test_nothing_to_explain_is_said():
    with pytest.raises(ArgumentError, match="Delta must be at least 1e-100"):
        stability(np.eye(5), model=theory.Model(1.0, 0.0, 0.0))


def test_noise_alone():
    found = stability(("ar1", 0.5), model=theory.Model(1.0, 0.0, 0.1), n_features=40)
    assert found.converged
    assert found.ensemble_error > 0.1
    assert found.rates(0.5).fdr == 1.0


def test_one_sentence_for_bad_questions(solved):
    with pytest.raises(ArgumentError, match="Z_th"):
        solved.rates(0.5, [0.1, 0.2])
    with pytest.raises(ArgumentError, match="group"):
        solved.probability_cdf(0.5, group="some")
    with pytest.raises(ArgumentError, match="Pi_th"):
        solved.rates(2.0)
