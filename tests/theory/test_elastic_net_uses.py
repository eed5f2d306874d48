"""A ridge part of the penalty in power, on designs with a given spectrum, and for labels."""

from __future__ import annotations

import numpy as np
import pytest

from selica import theory
from selica._core.counts import count_law, single_fit
from selica._core.errors import ArgumentError, BoundaryWarning
from selica.theory.glm.rows import Rows
from selica.theory.glm.solver import Body, solve_point
from selica.theory.iid.equations import IidEquations
from tests.oracles import designs, logistic
from tests.theory.test_elastic_net import ridge_overlaps
from tests.theory.test_logistic import Squares

MODEL = theory.Model(1.2, 0.3, 0.1)
RUNS = [
    *(
        ("lasso", 1.0),
        ("thresholded-lasso", 1.0),
        ("stability-ideal", 1.0),
        ("stability-ideal", 2.0),
    ),
    *(("knockoffs-ideal", 1.0), ("knockoffs-frequency", 1.0)),
]
LAWS = [theory.GaussianEffects(), theory.LaplaceEffects(), theory.PointEffects([1.0, 2.0])]


# --- power -----------------------------------------------------------------------------------


def scan(model, method, rate, lam, lam2):
    """(tpr, fdr) along the method's threshold, by its public rates."""
    if method == "lasso":
        return theory.solve_lasso(model, np.geomspace(1e-3, 20, 20_001), lam2=lam2).rates()
    if method == "thresholded-lasso":
        return theory.solve_lasso(model, lam, lam2=lam2).rates(np.linspace(0, 4, 20_001))
    if method == "stability-ideal":
        s = theory.solve_stability(model, lam, rate, lam2=lam2)
        return s.rates(1 - np.geomspace(1e-12, 1, 20_001))
    d = theory.solve_knockoff(model, lam, lam2=lam2)
    if method == "knockoffs-ideal":
        return d.single_rates(np.linspace(-2, 4, 20_001))
    return d.rates(np.linspace(-1, 3, 20_001), 0.025)


@pytest.mark.parametrize("effects", LAWS[::2], ids=["gauss", "points"])
@pytest.mark.parametrize(("method", "rate"), RUNS)
def test_power_is_the_best_of_a_scan(method, rate, effects):
    model = theory.Model(0.8, 0.3, 0.05, effects)
    rates = scan(model, method, rate, 0.15, 0.4)
    for level in (0.05, 0.2):
        best = np.max(rates.tpr[rates.fdr <= level], initial=0.0)
        found = theory.power(model, method, level, 0.15, rate, lam2=0.4)
        assert best <= found + 1e-9
        assert found == pytest.approx(best, abs=2e-3)


@pytest.mark.parametrize(("method", "rate"), RUNS)
def test_an_operating_point_has_the_rates_it_says(method, rate):
    point = theory.operating_point(MODEL, method, 0.1, mu_B=rate, lam2=0.3)
    assert point.fdr == pytest.approx(0.1, abs=1e-8)
    assert point.tpr == pytest.approx(theory.power(MODEL, method, 0.1, mu_B=rate, lam2=0.3))
    s = point.solution
    assert s.lam2 == 0.3
    if point.threshold_name == "w_th":
        again = s.rates(point.threshold)
    elif point.threshold_name == "lam":
        again = theory.solve_lasso(MODEL, point.threshold, lam2=0.3).rates()
    elif method == "knockoffs-ideal":
        again = s.single_rates(point.threshold)
    elif method == "knockoffs-frequency":
        assert point.threshold_name == "Pi_th"
        again = s.rates(0.0, point.threshold)
    else:
        again = s.rates(point.threshold)
    assert (again.tpr, again.fdr) == (pytest.approx(point.tpr), pytest.approx(point.fdr))


def test_a_threshold_of_z_where_probabilities_cannot_serve():
    model = theory.Model(5.0, 0.3, 0.1)
    point = theory.operating_point(model, "knockoffs-frequency", 1e-8, 2.0, lam2=1.5)
    assert point.threshold_name == "Z_th"
    again = point.solution.rates(point.threshold, 0.5)
    assert (again.tpr, again.fdr) == (pytest.approx(point.tpr), pytest.approx(point.fdr, rel=1e-6))


@pytest.mark.parametrize("criterion", ["prediction", "power"])
@pytest.mark.parametrize(("method", "rate"), RUNS[1:])
def test_the_best_penalty_at_a_ridge_part(method, rate, criterion):
    lam = theory.optimal_lam(MODEL, method, rate, criterion, lam2=0.1)

    def value(penalty):
        if criterion == "power":
            return -theory.power(MODEL, method, 0.1, penalty, rate, lam2=0.1)
        if method == "stability-ideal":
            return theory.solve_stability(MODEL, penalty, rate, lam2=0.1).prediction_error
        if method == "thresholded-lasso":
            return theory.solve_lasso(MODEL, penalty, lam2=0.1).prediction_error
        return theory.solve_knockoff(MODEL, penalty, lam2=0.1).prediction_error

    here = value(lam)
    assert all(here <= value(lam * k) + 1e-12 for k in (0.3, 0.9, 0.99, 1.01, 1.1, 3.0))


def test_finite_numbers_of_members():
    """One copy is the rule of one copy; many are the limit."""
    d = theory.solve_knockoff(MODEL, 0.2, lam2=0.5)
    one, single = d.rates(0.1, 0.5, n_members=1), d.single_rates(0.1)
    assert (one.tpr, one.fpr) == (pytest.approx(single.tpr), pytest.approx(single.fpr))
    many, limit = d.rates(0.1, 0.5, n_members=20_000), d.rates(0.1, 0.5)
    assert (many.tpr, many.fpr) == (
        pytest.approx(limit.tpr, abs=1e-3),
        pytest.approx(limit.fpr, abs=1e-3),
    )
    s = theory.solve_stability(MODEL, 0.2, lam2=0.5)
    share = MODEL.rho * s.rates(0.5, n_members=1).tpr + 0.7 * s.rates(0.5, n_members=1).fpr
    assert share == pytest.approx(s.chi * s.curvature)


def test_a_large_ridge_part_needs_no_other():
    """The best penalty then tends to zero, and the search says so."""
    with pytest.warns(BoundaryWarning, match="lam -> 0 is best"):
        theory.optimal_lam(MODEL, "stability-ideal", criterion="power", lam2=10.0)


def test_ridge_parts_broadcast():
    lam2 = np.array([0.0, 0.2, 1.0])
    for method in ("lasso", "thresholded-lasso", "stability-ideal", "knockoffs-ideal"):
        many = theory.power(MODEL, method, 0.1, lam2=lam2)
        each = [theory.power(MODEL, method, 0.1, lam2=x) for x in lam2]
        np.testing.assert_allclose(many, each, rtol=1e-6)
        choice = "power" if method == "thresholded-lasso" else "prediction"
        curve = theory.power_curve(MODEL, method, [0.05, 0.1], choice, lam2=lam2)
        assert curve.tpr.shape == (3, 2)
        if choice == "prediction":
            np.testing.assert_allclose(curve.tpr[:, 1], many, rtol=1e-6)
    s = theory.solve_stability(MODEL, np.array([[0.1], [0.2]]), lam2=lam2)
    assert s.shape == (2, 3)
    assert s.curvature[0, 2] == pytest.approx(s.Q_hat[0, 2] + 1.0)
    assert "lam2" in s.to_dict()
    assert "lam2" not in theory.solve_lasso(MODEL, 0.1).to_dict()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: theory.solve_lasso(MODEL, 0.1, lam2=x),
        lambda x: theory.solve_stability(MODEL, 0.1, lam2=x),
        lambda x: theory.solve_knockoff(MODEL, 0.1, lam2=x),
        lambda x: theory.power(MODEL, "stability-ideal", lam2=x),
        lambda x: theory.power_curve(MODEL, "lasso", lam2=x),
        lambda x: theory.operating_point(MODEL, "knockoffs-ideal", lam2=x),
        lambda x: theory.optimal_lam(MODEL, lam2=x),
        lambda x: theory.optimal_lam(
            theory.Model(2.0, 0.2, 0.0), response=theory.Logistic(1.0), lam2=x
        ),
    ],
)
@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf, "some", None, 1e13, []])
def test_bad_ridge_parts(call, value):
    with pytest.raises(ArgumentError, match="lam2") as error:
        call(value)
    assert "\n" not in str(error.value)


def test_shapes_that_do_not_fit():
    with pytest.raises(ArgumentError, match="lam2"):
        theory.solve_lasso(theory.Model([1.0, 2.0], 0.3, 0.1), 0.1, lam2=[0.1, 0.2, 0.3])
    with pytest.raises(ArgumentError, match="lam2"):
        theory.power(theory.Model([1.0, 2.0], 0.3, 0.1), "stability-ideal", lam2=[0.1, 0.2, 0.3])


# --- designs with a given spectrum -----------------------------------------------------------

SPECTRA = {
    "rows": (0.5, theory.Spectrum.row_orthogonal(0.5)),
    "wide": (0.5, theory.Spectrum.geometric(0.5, 10.0)),
    "tall": (1.5, theory.Spectrum.geometric(1.5, 30.0)),
}


def on_design(model, lam, mu_B, **more):
    if mu_B is None:
        return theory.solve_lasso(model, lam, **more)
    return theory.solve_stability(model, lam, mu_B, **more)


@pytest.mark.parametrize("effects", LAWS, ids=["gauss", "laplace", "points"])
@pytest.mark.parametrize("mu_B", [None, 0.7, 2.0])
def test_marchenko_pastur_is_independent_entries(mu_B, effects):
    names = ("q", "m", "chi", "v", "Q_hat", "chi_hat", "v_hat", "ensemble_error", "cost")
    for alpha, lam, lam2 in ((0.4, 0.1, 0.05), (1.0, 0.3, 1.0), (3.0, 0.02, 30.0)):
        model = theory.Model(alpha, 0.25, 0.1, effects)
        spectrum = theory.Spectrum.marchenko_pastur(alpha)
        got = on_design(model, lam, mu_B, lam2=lam2, spectrum=spectrum)
        want = on_design(model, lam, mu_B, lam2=lam2)
        for name in names:
            assert getattr(got, name) == pytest.approx(getattr(want, name), rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("mu_B", [None, 1.0])
def test_the_long_form_of_a_design(name, mu_B):
    alpha, spectrum = SPECTRA[name]
    got = on_design(theory.Model(alpha, 0.2, 0.05), 0.3, mu_B, lam2=0.4, spectrum=spectrum)
    want = designs.two_modules(
        spectrum.values, spectrum.weights, alpha=alpha, rho=0.2, Delta=0.05, lam=0.3, lam2=0.4,
        method="lasso" if mu_B is None else "stability",
    )  # fmt: skip
    for key in ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat"):
        assert getattr(got, key) == pytest.approx(want[key], abs=1e-10), key


@pytest.mark.parametrize("name", SPECTRA)
def test_ridge_regression_on_a_design(name):
    """Closed form in the eigenvalues, whatever the design."""
    alpha, spectrum = SPECTRA[name]
    for lam2 in (0.1, 1.0, 20.0):
        s = theory.solve_lasso(theory.Model(alpha, 0.2, 0.05), 1e-12, lam2=lam2, spectrum=spectrum)
        want = ridge_overlaps(spectrum.values, spectrum.weights, 0.2, 0.05, lam2)
        assert s.chi == pytest.approx(want["chi"], rel=1e-9)
        assert s.m == pytest.approx(want["m"], rel=1e-9)
        assert s.q == pytest.approx(want["square"], rel=1e-9)
        assert s.ensemble_error == pytest.approx(want["error"], rel=1e-9)


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("mu_B", [None, 0.7])
def test_slopes_of_the_cost_of_a_design(name, mu_B):
    alpha, spectrum = SPECTRA[name]
    model, h = theory.Model(alpha, 0.3, 0.05, LAWS[2]), 1e-4

    def cost(lam, lam2):
        return on_design(model, lam, mu_B, lam2=lam2, spectrum=spectrum).cost

    s = on_design(model, 0.2, mu_B, lam2=0.3, spectrum=spectrum)
    slope = (cost(0.2 + h, 0.3) - cost(0.2 - h, 0.3)) / (2 * h)
    assert slope == pytest.approx(s.mean_absolute, rel=1e-6)
    slope = (cost(0.2, 0.3 + h) - cost(0.2, 0.3 - h)) / (2 * h)
    assert slope == pytest.approx(0.5 * (s.q + s.v), rel=1e-6)


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("Delta", [0.0, 0.01, 10.0])
def test_designs_converge_everywhere(name, Delta):
    alpha, spectrum = SPECTRA[name]
    lam, lam2 = np.geomspace(1e-6, 1e2, 3)[:, None], np.append(0.0, np.geomspace(1e-6, 1e9, 4))
    for mu_B in (None, 1.0):
        model = theory.Model(alpha, 0.3, Delta)
        s = on_design(model, np.maximum(lam, 1e-4), mu_B, lam2=lam2, spectrum=spectrum)
        assert np.all(s.converged)
        s = on_design(model, lam, mu_B, lam2=lam2[2:], spectrum=spectrum)
        assert np.all(s.converged)


# --- labels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("effects", LAWS, ids=["gauss", "laplace", "points"])
@pytest.mark.parametrize("mu_B", [None, 1.0])
def test_squared_loss_of_the_labels_equations(mu_B, effects):
    alpha, rho, Delta, lam, lam2 = 1.5, 0.3, 0.5, 0.3, 0.6
    law = single_fit(1) if mu_B is None else count_law("poisson", np.array([mu_B]))
    known = on_design(theory.Model(alpha, rho, Delta, effects), lam, mu_B, lam2=lam2)
    four = (np.array([x]) for x in (alpha, rho, 0.0, lam))
    eq = IidEquations.of_kinds(*four, law=law, kinds=effects.mixture().kinds(), copies=0)
    rows = Rows.of(alpha, rho, Squares(rho, Delta), law.weight[0], law.probability[0])
    p = solve_point(rows, Body.of(eq, rho, lam2))
    names = ("q", "m", "chi", "v", "Q_hat", "m_hat", "chi_hat", "v_hat", "mean_absolute")
    for name in names:
        assert getattr(p, name) == pytest.approx(getattr(known, name), rel=1e-8), name


def test_labels():
    model, labels = theory.Model(3.0, 0.2, 0.0), theory.Logistic(4.0)
    s = theory.solve_stability(model, 0.4, 0.5, "bernoulli", lam2=0.5, response=labels)
    long = logistic.fields(
        3.0, 4.0, np.array([0.0, 1.0]), np.array([0.5, 0.5]), q=s.q, m=s.m, v=s.v, chi=s.chi
    )
    for name, value in long.items():
        assert getattr(s, name) == pytest.approx(value, rel=1e-9), name
    assert s.expect(lambda w: w, lambda x: x**2) == pytest.approx(s.q, rel=1e-8)
    assert s.expect(lambda w: w**2, lambda x: x) == pytest.approx(s.q + s.v, rel=1e-8)
    assert s.expect(np.abs, lambda x: x) == pytest.approx(s.mean_absolute, rel=1e-8)
    h = 1e-4
    low, high = (
        theory.solve_stability(model, 0.4, 0.5, "bernoulli", lam2=0.5 + d, response=labels).cost
        for d in (-h, h)
    )
    assert (high - low) / (2 * h) == pytest.approx(0.5 * (s.q + s.v), rel=1e-6)
    point = theory.operating_point(model, "thresholded-lasso", 0.1, 0.4, lam2=0.5, response=labels)
    assert point.solution.rates(point.threshold).fdr == pytest.approx(0.1)


def test_labels_converge_everywhere():
    for lam2 in (1e-9, 0.01, 1.0, 1e6):
        for alpha, rho, T, lam, mu_B in (
            (1.0, 0.2, 4.0, 0.2, 1.0),
            (0.3, 0.2, 4.0, 0.05, None),
            (20.0, 0.5, 1.0, 1e-6 if lam2 > 1e-3 else 1e-2, 1.0),
            (1.0, 1.0, 50.0, 0.3, 1.0),
        ):
            model, labels = theory.Model(alpha, rho, 0.0), theory.Logistic(T)
            s = on_design(model, lam, mu_B, lam2=lam2, response=labels)
            assert s.status == "converged", (lam2, alpha, rho, T, lam, mu_B)
    # a large ridge part: w_hat = S(h; lam) / lam2 with fields of an estimate that is zero
    assert s.Q_hat == pytest.approx(1.0 / 4.0, rel=1e-4)
