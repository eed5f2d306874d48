"""Large deviations of the cost: identities, closed limits, the article at y = 0."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from scipy.integrate import quad
from scipy.stats import norm, poisson

from selica import theory
from selica._core.errors import ArgumentError, ConvergenceWarning
from selica.theory.large_deviations.api import _equations
from selica.theory.large_deviations.equations import State
from selica.theory.large_deviations.tilted import (
    above,
    field_nodes,
    half_normal,
    tilted_member,
    tilted_row,
)

MODEL = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
LAM = 0.2
KINDS = {
    "poisson": ("stability-ideal", {"resampling": "poisson"}),
    "multinomial": ("stability-ideal", {"resampling": "multinomial"}),
    "bernoulli": ("stability-ideal", {"resampling": "bernoulli", "mu_B": 0.5}),
    "subsample": ("stability-ideal", {"resampling": "subsample", "mu_B": 0.5}),
    "exponential": ("stability-ideal", {"resampling": "exponential"}),
    "knockoff": ("knockoffs-ideal", {}),
}


def rate(kind, y, model=MODEL, lam=LAM, **change):
    method, settings = KINDS[kind]
    return theory.rate_function(model, method, lam, y=y, **(settings | change))


# --- averages against plain quadrature --------------------------------------------------------


@pytest.mark.parametrize("y", [-3.0, 0.0, 2.0])
@pytest.mark.parametrize("g", [0.0, 0.15, 0.7])
def test_tilted_averages_of_a_variable_are_integrals(g, y):
    own, Q, lam = 0.02, 0.4, 0.2

    def over(function):
        def integrand(h):
            excess = max(abs(h) - lam, 0.0)
            tilt = np.exp(0.5 * y * excess**2 / Q)
            return function(np.sign(h) * excess / Q) * tilt * norm.pdf(h, g, np.sqrt(own))

        ends = [(-6.0, -lam), (-lam, lam), (lam, 6.0)]
        return sum(quad(integrand, *e, epsabs=1e-14, epsrel=1e-13, limit=400)[0] for e in ends)

    found = tilted_member(np.array([g]), own, Q, lam, y)
    total = over(lambda w: 1.0)
    mean = over(lambda w: w) / total
    expected = {
        "log_weight": np.log(total),
        "mean": mean,
        "variance": over(lambda w: (w - mean) ** 2) / total,
        "active": over(lambda w: float(w != 0.0)) / total,
        "absolute": over(abs) / total,
    }
    for name, value in expected.items():
        assert getattr(found, name)[0] == pytest.approx(value, rel=1e-9, abs=1e-12), name


@pytest.mark.parametrize("y", [-2.0, 0.0, 5.0])
def test_tilted_averages_of_a_row_are_integrals(y):
    # W_c = E_eta exp(-y f_c (u + sqrt(v) eta)^2 / 2), by quadrature over eta
    chi, v, u = 1.3, 0.06, 0.5
    c = np.arange(60.0)
    f = c / (1.0 + chi * c)

    eta = np.linspace(-12.0, 12.0, 4001)
    d = u + np.sqrt(v) * eta
    weight = np.exp(-0.5 * y * f[:, None] * d**2) * norm.pdf(eta) * (eta[1] - eta[0])
    p, plain, squares = poisson.pmf(c, 1.0), weight.sum(axis=1), weight @ d**2
    total = p @ plain
    found = tilted_row(np.array([u * u]), c, poisson.logpmf(c, 1.0), chi, v, y)
    assert found.log_weight[0] == pytest.approx(np.log(total), abs=1e-12)
    assert found.f[0] == pytest.approx((p * f) @ plain / total, rel=1e-11)
    assert found.rows[0] == pytest.approx((p * c) @ plain / total, rel=1e-11)
    # a residual d becomes d / (1 + c chi) when the row is fitted
    loss = (p * c / (1.0 + chi * c) ** 2) @ squares / total
    assert found.loss[0] == pytest.approx(loss, rel=1e-11)


def test_truncated_normal_far_out():
    x = np.array([-40.0, -3.0, 0.0, 4.9, 5.1, 30.0, 1e6])
    found = above(x)
    np.testing.assert_allclose(found.log_probability[:-1], norm.logsf(x[:-1]), rtol=1e-13)
    # z - x given z > x is exponential with mean 1/x far out
    assert found.mean[-1] == pytest.approx(1e-6, rel=1e-10)
    assert found.variance[-1] == pytest.approx(1e-12, rel=1e-10)
    assert found.mean[0] == pytest.approx(40.0)
    near, far = above(np.array([5.0 - 1e-9, 5.0 + 1e-9]))[1]
    assert near == pytest.approx(far, rel=1e-9)


def test_nodes_carry_the_law_they_stand_for():
    xi2, weight = half_normal(1.0)
    moments = [weight @ xi2**k for k in range(4)]
    np.testing.assert_allclose(moments, [1.0, 1.0, 3.0, 15.0], rtol=1e-13)
    for own in (0.3, 1e-7):
        g, width = field_nodes(np.zeros(2), np.array([0.1, 1.5]), 0.4, own, 0.5)
        for sd in (0.1, 1.5):
            law = 2.0 * width * norm.pdf(g, scale=sd)
            np.testing.assert_allclose([law.sum(), law @ g**2], [1.0, sd**2], rtol=1e-12)


# --- the article at y = 0, numbers of an independent program elsewhere -------------------------


@pytest.mark.parametrize("effects", [theory.GaussianEffects(), theory.PointEffects([1.0, 2.0])])
@pytest.mark.parametrize("kind", KINDS)
def test_no_tilt_is_the_theory_of_the_article(kind, effects):
    model = theory.Model(0.8, 0.4, 0.05, effects)
    r = rate(kind, 0.0, model, 0.3)
    method, settings = KINDS[kind]
    if method == "knockoffs-ideal":
        s = theory.solve_knockoff(model, 0.3)
        assert r.v_tilde == pytest.approx(s.v_tilde, abs=1e-12)
        assert r.v_tilde_hat == pytest.approx(s.v_tilde_hat, abs=1e-12)
    else:
        free = {"multinomial": "poisson", "subsample": "bernoulli"}
        law = free.get(settings["resampling"], settings["resampling"])
        s = theory.solve_stability(model, 0.3, settings.get("mu_B", 1.0), law)
        assert r.v_tilde is None
    for name in ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat", "cost"):
        assert getattr(r, name) == pytest.approx(getattr(s, name), rel=1e-11, abs=1e-12), name
    assert (r.g, r.s, r.nu) == (0.0, 0.0, 0.0)
    assert r.typical_cost == r.cost


# columns: y, q, v, cost, g, s; computed by a program of its own for alpha 1, rho .3, Delta .1
ORACLES = {
    "poisson": [
        (-1.0, 0.161012, 0.059261, 0.058345, 0.057170, -0.001176),
        (2.0, 0.124966, 0.064429, 0.050838, -0.106878, -0.005201),
        (10.0, 0.037109, 0.052226, 0.029179, -0.426064, -0.134271),
    ],
    "multinomial": [
        (-1.0, 0.157468, 0.060348, 0.057581, 0.056784, -0.000797),
        (2.0, 0.132801, 0.062605, 0.052483, -0.108498, -0.003532),
        (10.0, 0.072913, 0.054871, 0.038321, -0.470670, -0.087460),
    ],
    "knockoff": [
        (-1.0, 0.166386, 0.011140, 0.063548, 0.063431, -0.000118),
        (2.0, 0.161701, 0.011719, 0.062804, -0.126123, -0.000515),
        (10.0, 0.146331, 0.013236, 0.060245, -0.618935, -0.016482),
    ],
}


@pytest.mark.parametrize("kind", ORACLES)
def test_numbers_of_an_independent_program(kind):
    table = np.array(ORACLES[kind])
    r = rate(kind, table[:, 0])
    found = np.stack([r.q, r.v, r.cost, r.g, r.s], axis=1)
    np.testing.assert_allclose(found, table[:, 1:], atol=6e-7)


# --- limits in closed form ---------------------------------------------------------------------


def test_a_member_that_fits_nothing():
    # w = 0: the cost is sum c y^2 / 2 with y ~ N(0, rho + Delta)
    model, A, rows = theory.Model(1.5, 0.3, 0.1), 0.4, 1.5 * 2.0
    y = np.array([-0.2, 0.5, 2.0, 10.0])
    for kind, g in {
        "poisson": rows * ((1.0 + y * A) ** -0.5 - 1.0),
        "multinomial": -0.5 * rows * np.log(1.0 + y * A),
    }.items():
        np.testing.assert_allclose(rate(kind, y, model, 60.0, mu_B=2.0).g, g, atol=1e-9)
    # E_c exp(-c z) = 1 / (1 + 2 z) for exponential weights of mean two
    r = rate("exponential", y[1:], model, 60.0, mu_B=2.0)
    xi = np.linspace(-10.0, 10.0, 20001)
    g = -1.5 * np.log1p(y[1:, None] * A * xi**2) @ norm.pdf(xi) * (xi[1] - xi[0])
    np.testing.assert_allclose(r.g, g, atol=1e-9)


def test_knockoffs_without_a_penalty_are_a_projection():
    # the cost is that of least squares times a Beta((M - 2N)/2, N/2) variable
    alpha, Delta = 4.0, 0.3
    r = rate("knockoff", [-10.0, -3.0, 1.0, 3.0, 10.0], theory.Model(alpha, 0.3, Delta), 1e-8)
    b, typical = r.cost / (0.5 * (alpha - 1.0) * Delta), (alpha - 2.0) / (alpha - 1.0)
    s = 0.5 * (alpha - 2.0) * np.log(b / typical) + 0.5 * np.log((1.0 - b) / (1.0 - typical))
    np.testing.assert_allclose(r.s, s, atol=1e-6)
    # ds/de = y
    slope = 0.5 * (alpha - 2.0) / b - 0.5 / (1.0 - b)
    np.testing.assert_allclose(slope / (0.5 * (alpha - 1.0) * Delta), r.y, rtol=1e-5)


@pytest.mark.slow
def test_empty_resamples_are_the_cheapest():
    # a Poisson resample is empty with probability exp(-mu_B M), and then costs nothing
    r = rate("poisson", 200.0)
    assert -1.0 < r.g < -0.85
    assert -1.0 < r.s < -0.8


def test_one_row_more_or_less_costs_what_nu_says():
    # dg/dmu_B = -alpha nu: the Poisson law has the slope <c>/mu_B - 1, which the condition removes
    h, y = 1e-4, 2.0
    up, down = (rate("multinomial", y, mu_B=1.0 + k * h) for k in (1, -1))
    assert (up.g - down.g) / (2 * h) == pytest.approx(-rate("multinomial", y).nu, abs=1e-7)


# --- identities ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_cost_and_variance_are_derivatives_of_g(kind):
    for y in (-4.0, 0.0, 3.0):
        h = 0.02
        r = rate(kind, y + h * np.arange(-2, 3))
        first = (r.g[0] - 8 * r.g[1] + 8 * r.g[3] - r.g[4]) / (12 * h)
        assert r.cost[2] == pytest.approx(-first, abs=1e-10)
        second = (r.cost[0] - 8 * r.cost[1] + 8 * r.cost[3] - r.cost[4]) / (12 * h)
        assert r.variance[2] == pytest.approx(-second, rel=1e-6)
        assert np.all(r.residual < 1e-10)


@pytest.mark.parametrize("kind", ["poisson", "multinomial", "knockoff"])
def test_slope_of_g_in_the_penalty_is_the_mean_absolute_estimate(kind):
    h, y = 1e-3, 2.0
    g = {k: rate(kind, y, lam=LAM + k * h).g for k in (-2, -1, 1, 2)}
    slope = (g[-2] - 8 * g[-1] + 8 * g[1] - g[2]) / (12 * h)
    r = rate(kind, y)
    method, settings = KINDS[kind]
    eq, _ = _equations(MODEL, method, LAM, 1.0, settings.get("resampling", "poisson"))
    tilde = (r.chi_tilde, r.v_tilde) if r.v_tilde is not None else (0.0, 0.0)
    error = r.q - 2.0 * r.m + MODEL.rho + MODEL.Delta
    point = eq.step(State(error, r.chi + tilde[0], r.v + tilde[1], r.nu), y)
    assert -slope / y == pytest.approx(point.overlaps.absolute, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_rate_function_is_concave_with_its_maximum_at_the_typical_cost(kind):
    method, settings = KINDS[kind]
    r = theory.rate_function(MODEL, method, LAM, **settings)
    assert np.all(r.converged)
    assert np.all(np.diff(r.cost) < 0.0)
    assert r.s.max() == 0.0
    assert r.cost[np.argmax(r.s)] == pytest.approx(r.typical_cost)
    assert np.all(r.s <= 0.0)
    slopes = np.diff(r.s) / np.diff(r.cost)
    assert np.all(np.diff(slopes) > 0.0)  # along decreasing costs: s is concave
    assert np.all(r.variance > 0.0)
    assert np.all(r.residual < 1e-10)
    assert np.all(r.replicon < 1.0)


def test_conjugates_differ_by_the_tilt():
    r = rate("poisson", [-3.0, 4.0])
    np.testing.assert_allclose(r.Q_hat - r.m_hat, r.y * r.v_hat, atol=1e-13)
    d = rate("knockoff", [-3.0, 4.0])
    np.testing.assert_allclose(d.Q_hat - d.m_hat, d.y * d.v_hat, atol=1e-13)
    np.testing.assert_allclose(d.v_tilde_hat, d.chi_hat + d.v_hat, rtol=1e-14)


def test_replicon_without_tilt_is_the_chance_that_two_members_agree():
    # P(both active) / alpha, the slope of psi in docs/theory.md
    s = theory.solve_stability(MODEL, LAM)
    both = s.expect(lambda w: (w != 0.0) * 1.0, lambda x: x**2)
    assert rate("poisson", 0.0).replicon == pytest.approx(both / MODEL.alpha, rel=1e-4)


# --- ends, tables, bad input ---------------------------------------------------------------------


def test_knockoffs_end_where_a_copy_condenses():
    with pytest.warns(ConvergenceWarning, match="condensation"):
        r = rate("knockoff", [5.0, 30.0])
    assert r.status.tolist() == ["converged", "infeasible"]
    assert np.isnan(r.cost[1])
    assert r.high.reason == "condensation"
    at_end = rate("knockoff", r.high.y)
    assert at_end.v_tilde_hat * at_end.y == pytest.approx(at_end.Q_hat, rel=1e-3)
    assert r.low.reason == "range"


def test_copies_of_members_that_fit_nothing_condense_where_they_must():
    # a copy's field has the variance alpha (rho + Delta), and Q_hat = alpha
    with pytest.warns(ConvergenceWarning):
        r = rate("knockoff", [3.0], lam=60.0)
    assert r.high.reason == "condensation"
    assert r.high.y == pytest.approx(1.0 / (MODEL.rho + MODEL.Delta), rel=1e-4)


@pytest.mark.slow
def test_rows_of_members_that_fit_nothing_diverge():
    # E exp(-y L) exists for 1 + y (rho + Delta) > 0 only; long tables of counts end it before
    with pytest.warns(ConvergenceWarning):
        r = rate("poisson", [-3.0], lam=60.0)
    assert r.low.reason == "divergence"
    assert -1.0 / (MODEL.rho + MODEL.Delta) < r.low.y < -0.3


def test_choosing_half_of_the_rows_becomes_unstable():
    # to find the cheapest half of the rows is a hard problem: its replicon reaches one
    with pytest.warns(ConvergenceWarning, match="instability"):
        r = rate("subsample", [100.0])
    assert r.high.reason == "instability"
    at_end = rate("subsample", [20.0, r.high.y])
    assert at_end.replicon[1] == pytest.approx(1.0, abs=1e-6)
    assert at_end.replicon[0] < 1.0


def test_interpolated_rate_and_density():
    r = theory.rate_function(MODEL, "stability-ideal", LAM, resampling="multinomial")
    other = rate("multinomial", [-4.321, 5.4321])
    np.testing.assert_allclose(r.rate(other.cost), other.s, atol=1e-7)
    assert r.rate(r.typical_cost) == pytest.approx(0.0, abs=1e-15)
    assert np.isnan(r.rate(10.0))
    e = np.linspace(r.cost.min(), r.cost.max(), 4001)
    p = r.density(e, 400)
    assert np.sum(p) * (e[1] - e[0]) == pytest.approx(1.0, abs=0.01)


def test_it_becomes_a_table():
    r = rate("multinomial", [-1.0, 0.0, 1.0])
    frame = r.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["y"]) == [-1.0, 0.0, 1.0]
    assert "nu" in frame
    assert "v_tilde" not in frame
    assert "v_tilde" in rate("knockoff", 0.5).to_dict()
    assert isinstance(rate("poisson", 0.5).cost, float)
    assert "typical cost" in str(r)
    assert "RateFunction" in repr(r)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"method": "lasso"}, "method"),
        ({"resampling": "pairs"}, "resampling"),
        ({"lam": [0.1, 0.2]}, "lam must be one number"),
        ({"lam": -1.0}, "lam"),
        ({"mu_B": 1.0, "resampling": "subsample"}, "below 1"),
        ({"y": np.nan}, "y must be finite"),
        ({"model": theory.Model([1.0, 2.0], 0.3, 0.1)}, "single one"),
        ({"model": 3}, "model"),
    ],
)
def test_bad_input(change, match):
    settings = {"model": MODEL, "method": "stability-ideal", "lam": 0.2, "y": 0.0} | change
    with pytest.raises(ArgumentError, match=match):
        theory.rate_function(**settings)
