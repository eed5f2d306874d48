"""Message passing for elastic nets: against refits, limits, and what the fixed point says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from selica._core.errors import ArgumentError
from selica.amp import knockoff_amp, stability_amp, stability_vamp
from selica.amp.single_body import at_rest, member
from selica.sampling import iid_copies, resample_weights, simulate
from selica.solvers import knockoff_path_batch, lasso_path_batch, logistic_path_batch
from tests.amp.instances import instance, rms
from tests.amp.refits import assert_copies_are_integrated_out


def close(found, P, B):
    """Within 1.5 standard errors of the refits, or 0.02, as a root mean square."""
    return rms(found - P) <= max(1.5 * np.sqrt(np.mean(P * (1 - P)) / B), 0.02)


def refits(X, y, lam, lam2, B, scheme="bootstrap", rate=1.0, weakness=1.0, binary=False):
    n, p = X.shape
    weights = resample_weights(n, B, scheme, rate, random_state=5)
    draw = np.random.default_rng(6).random((B, p))
    factor = np.where(draw < 0.5, 1.0 / weakness, 1.0)
    fit = (logistic_path_batch if binary else lasso_path_batch)(
        X, y, [lam], weights, factor, lam2=lam2, fit_intercept=False, keep=("counts", "moments")
    )
    return fit.counts[0] / B, fit.mean[0], fit.second_moment[0] - fit.mean[0] ** 2


@pytest.mark.parametrize(
    ("scheme", "law", "rate", "weakness", "lam2"),
    [("bootstrap", "poisson", 1.0, 1.0, 0.5), ("subsample", "bernoulli", 0.5, 1.0, 0.2),
     ("exponential", "exponential", 1.0, 1.0, 3.0), ("bootstrap", "poisson", 2.0, 0.5, 1.0)],
)  # fmt: skip
def test_against_refits(scheme, law, rate, weakness, lam2):
    data, lam, B = instance(200, 1.0, seed=3), 0.2, 300
    P, mean, variance = refits(data.X, data.y, lam, lam2, B, scheme, rate, weakness)
    error = np.sqrt(np.mean(P * (1 - P)) / B)
    settings = {"resampling": law, "weakness": weakness}
    for variances in ("vector", "scalar"):
        found = stability_amp(data.X, data.y, lam, rate, lam2=lam2, variances=variances, **settings)
        assert found.status == "converged"
        assert rms(found.selection_probabilities - P) < 1.5 * error
        assert rms(found.coef - mean) < 1.6 * np.sqrt(variance.mean() / B)
        assert found.coef_variance.mean() == pytest.approx(variance.mean(), rel=0.06)
    # without its ridge it is far off
    plain = stability_amp(data.X, data.y, lam, rate, **settings)
    assert rms(plain.selection_probabilities - P) > 2.5 * error


@pytest.mark.parametrize(("alpha", "lam", "lam2"), [(0.5, 0.1, 0.3), (1.5, 0.2, 1.0)])
def test_copies_integrated_out(alpha, lam, lam2):
    data = instance(150, alpha, seed=2)
    copies = iid_copies(data.X, random_state=1, members=300)
    fit = knockoff_path_batch(data.X, data.y, [lam], copies.__getitem__, 300, lam2=lam2)
    found = knockoff_amp(data.X, data.y, lam, 0.02, lam2=lam2)
    assert_copies_are_integrated_out(found, fit.coef[:, 0], data.w0, w_threshold=0.02)


def design(form, n, p):
    """AR(1) columns, or, as the restricted form asks for, singular vectors in general position."""
    data = simulate(n, p, 10, snr=4.0, covariance=("ar1", 0.7), random_state=1)
    if form == "diagonal":
        return data.X, data.y
    rng = np.random.default_rng(1)
    size = min(n, p)
    U = np.linalg.qr(rng.standard_normal((n, size)))[0]
    V = np.linalg.qr(rng.standard_normal((p, size)))[0]
    X = (U * np.geomspace(0.1, 1.0, size)) @ V.T * np.sqrt(n * p / size)
    return X, X @ data.coef + rng.standard_normal(n)


@pytest.mark.parametrize("form", ["diagonal", "restricted"])
@pytest.mark.parametrize(("n", "p"), [(150, 80), (80, 150)])
def test_correlated_columns(form, n, p):
    X, y = design(form, n, p)
    B, lam = 400, 0.15 * np.abs(X.T @ y).max()
    for lam2 in (0.1 * n, 1.0 * n):
        P, *_ = refits(X, y, lam, lam2, B)
        found = stability_vamp(X, y, lam, lam2=lam2, form=form)
        assert found.status == "converged"
        assert close(found.selection_probabilities, P, B)
    other = stability_vamp(X, y, lam, form=form)
    assert not close(other.selection_probabilities, P, B)


def test_labels():
    data = simulate(160, 80, 8, covariance=("ar1", 0.5), response="logistic", random_state=3)
    y = (data.y > 0).astype(float)
    B, lam = 400, 0.3 * np.abs(data.X.T @ (y - 0.5)).max()
    lam2 = 20.0
    P, mean, variance = refits(data.X, y, lam, lam2, B, binary=True)
    found = stability_vamp(data.X, y, lam, lam2=lam2, response="binary")
    assert found.status == "converged"
    assert close(found.selection_probabilities, P, B)
    assert rms(found.coef - mean) < 2.0 * np.sqrt(variance.mean() / B)
    plain = stability_vamp(data.X, y, lam, response="binary")
    assert not close(plain.selection_probabilities, P, B)


def test_columns_and_responses_of_any_scale():
    """The ridge acts on the coefficients, so that a scaled column has a ridge to scale with it."""
    data = instance(120, 1.5, seed=1)
    scale = np.geomspace(0.1, 10.0, 120)
    B = 400
    P, mean, variance = refits(data.X * scale, 7.0 * data.y, 1.5, 0.8, B)
    plain = stability_amp(data.X * scale, 7.0 * data.y, 1.5, lam2=0.8)
    vector = stability_vamp(data.X * scale, 7.0 * data.y, 1.5, lam2=0.8)
    for found in (plain, vector):
        assert found.status == "converged"
        assert close(found.selection_probabilities, P, B)
        assert rms((found.coef - mean) * scale) < 2.0 * rms(np.sqrt(variance / B) * scale)


def test_a_ridge_is_a_member_of_a_grid():
    data = instance(100, 1.0)
    lams, lam2 = np.geomspace(1.0, 0.1, 12), np.linspace(0.0, 2.0, 12)
    order = np.random.default_rng(0).permutation(12)
    for amp in (stability_amp, knockoff_amp, stability_vamp):
        grid = amp(data.X, data.y, lams[order], lam2=lam2[order], tol=1e-9)
        assert grid.converged
        np.testing.assert_array_equal(grid.lam2, lam2[order])
        for k in (0, 7):
            one = amp(data.X, data.y, lams[order][k], lam2=lam2[order][k], tol=1e-9)
            np.testing.assert_allclose(
                grid.at(k).selection_probabilities, one.selection_probabilities, atol=1e-6
            )
            assert one.lam2 == lam2[order][k]


def test_every_row_once_is_one_elastic_net():
    data = instance(200, 1.0)
    found = stability_amp(data.X, data.y, 0.2, 1.0, resampling="bernoulli", lam2=0.5, tol=1e-10)
    exact = lasso_path_batch(data.X, data.y, [0.2], np.ones((1, 200)), lam2=0.5).coef[0, 0]
    assert rms(found.coef - exact) < 0.05 * rms(exact)


def test_a_large_ridge_is_a_marginal_screening():
    """Coefficients vanish as 1 / lam2, and the field becomes the product with the response."""
    data = instance(200, 1.0, seed=2)
    found = stability_amp(data.X, data.y, 0.2, lam2=1e6)
    np.testing.assert_allclose(found.field, data.X.T @ data.y, atol=1e-4)
    assert found.ensemble_error == pytest.approx(np.mean(data.y**2), rel=1e-4)


def test_the_divisor_of_a_member():
    g, v_hat, Q_hat = np.array([[0.7]]), np.array([[0.3]]), np.array([[1.2]])
    lam, lam2 = np.array([0.4]), np.array([2.0])
    draws = 0.7 + np.sqrt(0.3) * np.random.default_rng(0).standard_normal(1_000_000)
    w = np.sign(draws) * np.maximum(np.abs(draws) - 0.4, 0.0) / 3.2
    found = member(g, v_hat, Q_hat, lam, lam2=lam2)
    assert found.w_bar[0, 0] == pytest.approx(w.mean(), abs=1e-3)
    assert found.v[0, 0] == pytest.approx(w.var(), rel=1e-2)
    assert found.chi[0, 0] == pytest.approx(np.mean(w != 0.0) / 3.2, abs=1e-3)
    rest = at_rest(v_hat, Q_hat, lam, lam2)
    still = member(0.0 * g, v_hat, Q_hat, lam, lam2=lam2)
    assert rest.v[0, 0] == pytest.approx(still.v[0, 0], rel=1e-12)
    assert rest.chi[0, 0] == pytest.approx(still.chi[0, 0], rel=1e-12)


@pytest.mark.parametrize("kind", ["stability", "knockoff"])
def test_fields_of_irrelevant_variables_and_the_error_of_the_fit(kind):
    p_values, ratios = [], []
    for seed in range(6):
        data = instance(400, 1.5, Delta=0.1, seed=seed)
        if kind == "knockoff":
            found = knockoff_amp(data.X, data.y, 0.2, lam2=1.0)
        else:
            found = stability_amp(data.X, data.y, 0.2, lam2=1.0)
        p_values.append(found.p_values[data.w0 == 0.0])
        # error of the averaged fit on a new row, known here
        truth = np.mean((found.coef - data.w0) ** 2) + 0.1
        ratios.append(found.ensemble_error / truth)
    p_values = np.concatenate(p_values)
    assert kstest(p_values, "uniform").pvalue > 1e-3
    assert np.mean(p_values < 0.05) == pytest.approx(0.05, abs=0.012)
    assert np.mean(p_values < 0.005) == pytest.approx(0.005, abs=0.004)
    assert np.mean(ratios) == pytest.approx(1.0, abs=4 * np.std(ratios) / np.sqrt(6) + 0.01)


@pytest.mark.parametrize("kind", ["stability", "knockoff"])
def test_expected_false_selections(kind):
    """Counted over data sets in which nothing matters."""
    counted, expected = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((150, 100)) / 10.0, rng.standard_normal(150)
        if kind == "knockoff":
            found = knockoff_amp(X, y, 1.0, 0.05, lam2=0.8)
        else:
            found = stability_amp(X, y, 1.0, lam2=0.8)
        counted.append([np.count_nonzero(found.selection_probabilities >= t) for t in (0.4, 0.7)])
        expected.append(found.expected_false([0.4, 0.7]))
    counted, expected = np.array(counted, dtype=float), np.array(expected)
    error = counted.std(axis=0) / np.sqrt(30)
    assert np.all(counted.mean(axis=0) > 4 * error)
    assert np.all(np.abs(counted.mean(axis=0) - expected.mean(axis=0)) < 3.5 * error)


def test_no_ridge_changes_nothing():
    data = instance(80, 1.0)
    for amp in (stability_amp, knockoff_amp, stability_vamp):
        one, other = amp(data.X, data.y, 0.3), amp(data.X, data.y, 0.3, lam2=0.0)
        assert one.lam2 == 0.0
        np.testing.assert_array_equal(one.coef, other.coef)


@pytest.mark.parametrize(
    ("lam2", "message"),
    [
        (-1.0, "lam2 must be between 0 and"),
        ([1.0, 2.0], "lam2 must be a number or have one entry for each of the 1 penalties"),
        ("a", "lam2 must be a number"),
    ],
)
def test_bad_ridges(lam2, message):
    data = instance(20, 1.0)
    for amp in (stability_amp, knockoff_amp, stability_vamp):
        with pytest.raises(ArgumentError, match=message):
            amp(data.X, data.y, 0.3, lam2=lam2)
