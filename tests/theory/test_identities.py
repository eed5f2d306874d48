"""What must hold whatever the code: derivatives, limits, exact recovery."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from tests.theory.points import random_box

BOX = random_box(60, seed=11)
MODEL = theory.Model(BOX["alpha"], BOX["rho"], BOX["Delta"])
LAWS = [theory.GaussianEffects(), theory.LaplaceEffects(), theory.PointEffects([1.0, 2.0])]


def _solver(method, model):
    if method == "bernoulli":
        return lambda lam: theory.solve_stability(model, lam, BOX["mu_B"] / 10, "bernoulli")
    if method in ("poisson", "exponential"):
        return lambda lam: theory.solve_stability(model, lam, BOX["mu_B"], method)
    return lambda lam: getattr(theory, f"solve_{method}")(model, lam)


@pytest.mark.parametrize("effects", LAWS, ids=["gauss", "laplace", "points"])
@pytest.mark.parametrize("method", ["lasso", "poisson", "bernoulli", "exponential", "knockoff"])
def test_slope_of_the_cost_is_the_mean_absolute_estimate(method, effects):
    model = theory.Model(BOX["alpha"], BOX["rho"], BOX["Delta"], effects)
    solve = _solver(method, model)
    lam, h = BOX["lam"], 1e-3 * BOX["lam"]
    cost = {k: solve(lam + k * h).cost for k in (-2, -1, 1, 2)}
    slope = (cost[-2] - 8 * cost[-1] + 8 * cost[1] - cost[2]) / (12 * h)
    expected = solve(lam).mean_absolute
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-6)


def test_cost_of_nothing_is_half_the_mean_square_of_y():
    s = theory.solve_lasso(theory.Model(2.0, 0.3, 0.5), lam=1e4)
    assert s.cost == pytest.approx(0.5 * 2.0 * (0.3 + 0.5))
    s = theory.solve_stability(theory.Model(2.0, 0.3, 0.5), lam=1e4, mu_B=1.7)
    assert s.cost == pytest.approx(1.7 * 0.5 * 2.0 * (0.3 + 0.5))


def test_many_resampled_rows_become_the_lasso():
    lasso = theory.solve_lasso(MODEL, BOX["lam"])
    gaps = []
    for rate in (1e3, 1e5):
        s = theory.solve_stability(MODEL, rate * BOX["lam"], rate)
        names = ("q", "m", "ensemble_error")
        gap = [np.abs(getattr(s, n) - getattr(lasso, n)).max() for n in names]
        gaps.append(max(*gap, np.abs(rate * s.chi - lasso.chi).max(), s.v.max()))
    # the approach is first order in 1/rate
    assert gaps[1] < 0.02 * gaps[0]
    assert gaps[1] < 1e-3


def test_keeping_every_row_is_the_lasso():
    lasso = theory.solve_lasso(MODEL, BOX["lam"])
    s = theory.solve_stability(MODEL, BOX["lam"], 1.0, "bernoulli")
    for name in ("q", "m", "chi", "v", "Q_hat", "chi_hat", "v_hat"):
        np.testing.assert_allclose(
            getattr(s, name), getattr(lasso, name), rtol=1e-12, atol=1e-14, err_msg=name
        )


def test_no_resampled_rows_give_zero():
    s = theory.solve_stability(MODEL, BOX["lam"], 1e-9)
    for name in ("q", "m", "chi", "v"):
        assert np.all(getattr(s, name) < 1e-12), name
    np.testing.assert_allclose(s.ensemble_error, MODEL.rho + MODEL.Delta, rtol=1e-12)


def test_large_penalty_gives_zero():
    for solve in (theory.solve_lasso, theory.solve_stability, theory.solve_knockoff):
        s = solve(MODEL, 1e5)
        for name in ("q", "m", "chi", "v"):
            assert np.all(getattr(s, name) == 0.0), name
        np.testing.assert_allclose(s.ensemble_error, MODEL.rho + MODEL.Delta, rtol=1e-14)


def test_no_penalty_is_least_squares():
    # alpha > 1: chi = 1/(alpha - 1), excess error Delta/(alpha - 1), from random matrix theory
    alpha, Delta = np.array([1.5, 2.0, 5.0]), 0.3
    s = theory.solve_lasso(theory.Model(alpha, 0.4, Delta), 1e-9)
    np.testing.assert_allclose(s.chi, 1 / (alpha - 1), rtol=1e-6)
    np.testing.assert_allclose(s.ensemble_error, Delta * alpha / (alpha - 1), rtol=1e-6)
    # with knockoffs there are twice as many variables
    d = theory.solve_knockoff(theory.Model(alpha[2], 0.4, Delta), 1e-9)
    assert d.prediction_error == pytest.approx(Delta * 5 / 3, rel=1e-6)


@pytest.mark.parametrize(
    ("method", "rate"),
    [
        ("lasso", 1.0),
        ("stability-ideal", 1.0),
        ("stability-ideal", 2.0),
        ("knockoffs-frequency", 1.0),
    ],
)
@pytest.mark.parametrize("rho", [0.05, 0.3, 0.5, 0.8])
def test_exact_recovery_above_the_limit_only(method, rate, rho):
    limit = theory.reconstruction_limit(rho, method, mu_B=rate)
    lam = np.array([1e-4, 1e-5, 1e-6])

    def error(alpha):
        model = theory.Model(alpha, rho, 0.0)
        if method == "stability-ideal":
            return theory.solve_stability(model, lam, rate)
        if method == "lasso":
            return theory.solve_lasso(model, lam)
        return theory.solve_knockoff(model, lam)

    above, below = error(1.03 * limit), error(0.97 * limit)
    # above: the error falls as the square of the penalty, to ten digits; below: it stays
    assert np.all(above.converged)
    fall = above.ensemble_error[1:] / above.ensemble_error[:-1]
    np.testing.assert_allclose(fall, 1e-2, rtol=0.15)
    assert above.prediction_error[-1] < 1e-8
    assert np.all(below.ensemble_error > 1e-5)
    assert below.ensemble_error[-1] == pytest.approx(below.ensemble_error[-2], rel=0.05)


def test_reconstruction_limit_by_its_variational_form():
    from scipy.optimize import minimize_scalar
    from scipy.stats import norm

    for rho in (1e-3, 0.05, 0.3, 0.7, 0.99):

        def width(t, rho=rho):
            tail = (1 + t * t) * norm.sf(t) - t * norm.pdf(t)
            return rho * (1 + t * t) + 2 * (1 - rho) * tail

        best = minimize_scalar(width, bounds=(0, 6), method="bounded", options={"xatol": 1e-10})
        assert theory.reconstruction_limit(rho, "lasso") == pytest.approx(best.fun, abs=1e-10)


def test_reconstruction_limit_where_methods_cross():
    knockoff = lambda rho: theory.reconstruction_limit(rho, "knockoffs-frequency")  # noqa: E731
    stability = lambda rho, mu: theory.reconstruction_limit(rho, "stability-ideal", mu_B=mu)  # noqa: E731
    assert knockoff(0.875) < stability(0.875, 1.0)
    assert knockoff(0.877) > stability(0.877, 1.0)
    assert stability(0.0100, 2.0) < knockoff(0.0100)
    assert stability(0.0098, 2.0) > knockoff(0.0098)


def test_reconstruction_limit_at_the_ends_and_of_other_laws():
    rho = np.array([0.0, 1.0])
    np.testing.assert_array_equal(theory.reconstruction_limit(rho, "lasso"), [0.0, 1.0])
    half = theory.reconstruction_limit(0.5, "lasso")
    assert theory.reconstruction_limit(0.5, "stability-ideal", 0.5, "bernoulli") == 2 * half
    assert theory.reconstruction_limit(0.5, "stability-ideal", 0.5, "exponential") == half


def test_prediction_error_splits_into_shared_and_own_parts():
    s = theory.solve_stability(MODEL, BOX["lam"], BOX["mu_B"])
    np.testing.assert_allclose(
        s.q - 2 * s.m + MODEL.rho + MODEL.Delta, s.ensemble_error, atol=1e-13
    )
    d = theory.solve_knockoff(MODEL, BOX["lam"])
    np.testing.assert_allclose(
        d.q - 2 * d.m + MODEL.rho + MODEL.Delta, d.ensemble_error, atol=1e-13
    )
    # a member's error: E(w_hat - w0)^2 by the general average (E w0 w_hat = m), plus the noise
    one = theory.solve_knockoff(theory.Model(1.3, 0.4, 0.2), 0.3)
    square = one.expect(lambda w, c: w**2 + c**2, lambda x: x)
    assert one.prediction_error == pytest.approx(square - 2 * one.m + 0.4 + 0.2, rel=1e-10)


def test_signal_to_noise_of_the_field_is_alpha_over_error():
    for s in (
        theory.solve_stability(MODEL, BOX["lam"], BOX["mu_B"]),
        theory.solve_knockoff(MODEL, BOX["lam"]),
    ):
        np.testing.assert_allclose(
            s.m_hat**2 / s.chi_hat, MODEL.alpha / s.ensemble_error, rtol=1e-12
        )


@pytest.mark.parametrize("effects", LAWS, ids=["gauss", "laplace", "points"])
def test_copies_are_nulls_of_a_lasso_with_twice_as_many_variables(effects):
    """In units of that lasso effects are as large, and noise and penalty are halved."""
    half = theory.Model(*(0.5 * BOX[name] for name in ("alpha", "rho", "Delta")), effects)
    whole = theory.Model(BOX["alpha"], BOX["rho"], BOX["Delta"], effects)
    copied = theory.solve_knockoff(whole, BOX["lam"])
    lasso = theory.solve_lasso(half, 0.5 * BOX["lam"])
    np.testing.assert_allclose(copied.prediction_error, 2.0 * lasso.prediction_error, rtol=1e-9)
    np.testing.assert_allclose(copied.Q_hat, 2.0 * lasso.Q_hat, rtol=1e-9)
