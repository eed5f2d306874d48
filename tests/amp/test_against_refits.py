"""Message passing against ensembles that are really fitted."""

from __future__ import annotations

import numpy as np
import pytest

from selica.amp import knockoff_amp, stability_amp
from selica.sampling import iid_copies, resample_weights
from selica.solvers import knockoff_path_batch, lasso_batch
from tests.amp.instances import instance, rms
from tests.amp.refits import assert_copies_are_integrated_out


def frequencies(data, lam, B, scheme="bootstrap", rate=1.0, weakness=1.0, seed=5):
    n, p = data.X.shape
    weights = resample_weights(n, B, scheme, rate, random_state=seed)
    factor = None
    if weakness < 1.0:
        draw = np.random.default_rng(seed).random((B, p))
        factor = np.where(draw < 0.5, 1.0 / weakness, 1.0)
    fit = lasso_batch(data.X, data.y, lam, weights, factor, keep=("counts", "moments"))
    return fit.counts[0] / B, fit.mean[0], fit.second_moment[0] - fit.mean[0] ** 2


def close(found, P, B, floor=0.02):
    error = np.sqrt(np.mean(P * (1 - P)) / B)
    return rms(found - P) <= max(1.5 * error, floor)


@pytest.mark.parametrize("variances", ["vector", "scalar"])
@pytest.mark.parametrize(
    ("scheme", "law", "rate", "weakness"),
    [("bootstrap", "poisson", 1.0, 1.0), ("bootstrap", "poisson", 2.0, 1.0),
     ("subsample", "bernoulli", 0.5, 1.0), ("exponential", "exponential", 1.0, 1.0),
     ("bootstrap", "poisson", 0.5, 0.5)],
)  # fmt: skip
def test_every_resampling_law(scheme, law, rate, weakness, variances):
    data, lam, B = instance(300, 1.0, seed=3), 0.25, 400
    P, mean, variance = frequencies(data, lam, B, scheme, rate, weakness)
    found = stability_amp(
        data.X, data.y, lam, rate, resampling=law, weakness=weakness, variances=variances
    )
    assert found.status == "converged"
    error = np.sqrt(np.mean(P * (1 - P)) / B)
    assert rms(found.selection_probabilities - P) < 1.5 * error
    assert rms(found.coef - mean) < 1.6 * np.sqrt(variance.mean() / B)
    assert found.coef_variance.mean() == pytest.approx(variance.mean(), rel=0.06)
    # it tells the variables apart: with those of another data set the difference is far larger
    other = instance(300, 1.0, seed=4)
    wrong = stability_amp(other.X, other.y, lam, rate, resampling=law, weakness=weakness)
    assert rms(wrong.selection_probabilities - P) > 5 * error


@pytest.mark.parametrize(
    ("alpha", "lam", "scale"), [(0.5, 0.1, 1 / np.sqrt(200)), (1.0, 0.2, None), (2.5, 0.1, None)]
)
def test_copies_integrated_out(alpha, lam, scale):
    data = instance(200, alpha, seed=2)
    copies = iid_copies(data.X, scale=scale, random_state=1, members=400)
    fit = knockoff_path_batch(data.X, data.y, [lam], copies.__getitem__, 400)
    found = knockoff_amp(data.X, data.y, lam, 0.05, scale=scale)
    assert_copies_are_integrated_out(found, fit.coef[:, 0], data.w0, w_threshold=0.05)
    assert rms(found.selection_probabilities - found.probability(0.05)) == 0.0


def test_columns_of_any_scale():
    """Scaling a column scales its coefficient, its penalty and nothing else."""
    data = instance(150, 1.5, seed=1)
    scale = np.geomspace(0.1, 10.0, 150)
    B = 400
    weights = resample_weights(len(data.y), B, "bootstrap", 1.0, random_state=0)
    fit = lasso_batch(data.X * scale, data.y, 0.3, weights, keep="counts")
    P = fit.counts[0] / B
    found = stability_amp(data.X * scale, data.y, 0.3)
    assert close(found.selection_probabilities, P, B, 0.0)


def test_a_grid_is_each_of_its_penalties():
    data = instance(120, 1.0)
    lams = np.geomspace(1.0, 0.05, 30)
    rng = np.random.default_rng(0)
    shuffled = rng.permutation(lams)
    grid = stability_amp(data.X, data.y, shuffled, tol=1e-9)
    copies = knockoff_amp(data.X, data.y, shuffled, 0.02, tol=1e-9)
    assert grid.converged
    assert copies.converged
    for k in (0, 7, 29):
        one = stability_amp(data.X, data.y, shuffled[k], tol=1e-9)
        np.testing.assert_allclose(
            grid.selection_probabilities[k], one.selection_probabilities, atol=1e-7
        )
        assert grid.at(k).ensemble_error == pytest.approx(one.ensemble_error, rel=1e-7)
        one = knockoff_amp(data.X, data.y, shuffled[k], 0.02, tol=1e-9)
        np.testing.assert_allclose(
            copies.selection_probabilities[k], one.selection_probabilities, atol=1e-7
        )


def test_every_row_once_is_one_lasso():
    """Subsampling all rows: no spread is left, and the answer is the lasso itself."""
    data = instance(200, 1.0)
    found = stability_amp(data.X, data.y, 0.3, 1.0, resampling="bernoulli", tol=1e-10)
    lasso = lasso_batch(data.X, data.y, 0.3, np.ones((1, len(data.y))), keep="coef").coef[0, 0]
    assert rms(found.coef - lasso) < 0.05 * rms(lasso)
    assert np.mean((found.selection_probabilities > 0.5) != (lasso != 0.0)) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("rate", [0.5, 1.0, 2.0])
def test_a_thousand_variables(alpha, rate):
    data, B = instance(1000, alpha, seed=9), 2000
    for lam in (0.2, 1.0):
        P, *_ = frequencies(data, lam * rate, B, rate=rate)
        found = stability_amp(data.X, data.y, lam * rate, rate)
        assert found.status == "converged"
        assert close(found.selection_probabilities, P, B)
