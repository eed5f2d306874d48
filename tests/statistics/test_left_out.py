"""Fields as if each variable had been left out: against fits that do leave it out."""

from __future__ import annotations

import numpy as np
import pytest

from selica.amp import stability_amp
from selica.sampling import simulate
from selica.sampling.laws.remainders import remainders
from selica.statistics.data import make_data
from selica.statistics.fits import fit_members
from selica.statistics.left_out import _gain, averaged_fit, left_out_fields


def lasso(data, penalty):
    found = fit_members(
        data, np.array([penalty]), np.ones((1, data.n_rows)), keep=("counts", "moments"), n_jobs=1
    )
    return averaged_fit(data, found.mean[0], float(found.counts.sum()))


@pytest.mark.parametrize(("loss", "penalty", "error"), [("squared", 0.08, 0.05),
                                                        ("logistic", 0.03, 0.06)])  # fmt: skip
def test_a_field_is_that_of_a_fit_without_the_variable(loss, penalty, error):
    drawn = simulate(300, 60, 8, snr=3.0, covariance=("ar1", 0.6), random_state=3)
    y = drawn.y if loss == "squared" else (drawn.y > 0.0).astype(float)
    data = make_data(drawn.X, y, loss)
    left = remainders(data.X, "neighbours")
    ours = left_out_fields(lasso(data, penalty), left).z_values
    exact = np.empty(60)
    for j, z in enumerate(left.T):
        r = lasso(data.some_columns(np.arange(60) != j), penalty).residual
        exact[j] = np.sqrt(300) * (z @ r) / np.linalg.norm(z) / np.linalg.norm(r)
    assert np.abs(exact).max() > 5.0
    assert np.sqrt(np.mean((ours - exact) ** 2)) < error


def test_without_a_penalty_it_is_the_t_statistic():
    """With t of m degrees of freedom, the correlation without the variable is t/sqrt(m + t^2)."""
    rng = np.random.default_rng(0)
    n, p = 80, 5
    X = rng.standard_normal((n, p)) @ rng.standard_normal((p, p))
    y = X[:, 0] + rng.standard_normal(n)
    data = make_data(X, y, "squared")
    design = np.column_stack([np.ones(n), data.X])
    coef, rest, *_ = np.linalg.lstsq(design, data.y, rcond=None)
    m = n - p - 1
    variance = rest[0] / m * np.linalg.inv(design.T @ design).diagonal()
    t = (coef / np.sqrt(variance))[1:]
    # what is left of a column by a regression on the others has m + 1 rows free
    left = np.linalg.inv(data.X.T @ data.X)
    left = data.X @ (left / left.diagonal())
    found = left_out_fields(averaged_fit(data, coef[1:], p), left).z_values
    np.testing.assert_allclose(
        found, np.sqrt(m) * t / np.sqrt(n) / np.sqrt(1 + t**2 / n), rtol=1e-9
    )


def test_for_independent_columns_it_is_the_field_of_message_passing():
    drawn = simulate(600, 300, 20, snr=2.0, random_state=1)
    data = make_data(drawn.X, drawn.y, "squared")
    found = stability_amp(data.X, data.y, 0.08 * 600, variances="scalar")
    fit = averaged_fit(data, found.coef, float(found.selection_probabilities.sum()))
    ours = left_out_fields(fit, data.X).z_values
    weak = np.abs(found.z_values) < 2.0  # strong ones change the residuals, which messages ignore
    assert weak.sum() > 200
    assert np.abs(ours - found.z_values)[weak].max() < 0.02
    assert np.all(np.abs(ours[~weak]) < np.abs(found.z_values[~weak]))


def test_irrelevant_fields_are_standard_normal():
    total = []
    for seed in range(4):
        drawn = simulate(300, 400, 10, snr=3.0, covariance=("ar1", 0.8), random_state=seed)
        data = make_data(drawn.X, drawn.y, "squared")
        fields = left_out_fields(lasso(data, 0.1), remainders(data.X, "neighbours"))
        total.append(fields.z_values[~drawn.support])
    z = np.concatenate(total)
    assert abs(np.mean(z**2) - 1.0) < 0.12  # 4 standard errors of dependent neighbours
    assert abs(np.mean(np.abs(z) > 2.5758) - 0.01) < 0.01


def test_a_column_of_which_nothing_is_left_has_no_field():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    data = make_data(X, X[:, 0] + rng.standard_normal(50), "squared")
    fit = averaged_fit(data, np.full(3, 0.1), 2.0)
    left = data.X.copy()
    left[:, 1] = 0.0
    fields = left_out_fields(fit, left)
    assert fields.z_values[1] == 0.0
    assert fields.p_values[1] == 1.0
    assert averaged_fit(data, np.full(3, 0.1), 60.0).error == np.inf  # no row is left


def test_the_gain_is_what_leverages_leave_of_unequal_curvatures():
    """Beside the leverages of a weighted regression itself."""
    rng = np.random.default_rng(4)
    X, D = rng.standard_normal((500, 80)), np.exp(rng.standard_normal(500))
    hat = X @ np.linalg.solve(X.T @ (D[:, None] * X), X.T * D)
    exact = float(D @ (1.0 - np.diag(hat)))
    assert _gain(D, 80.0) == pytest.approx(exact, rel=0.01)
    assert _gain(np.ones(500), 80.0) == pytest.approx(420.0, rel=1e-12)
    assert _gain(np.ones(500), 500.0) == 0.0
