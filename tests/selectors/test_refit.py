"""Effects of a refit: against definitions, other libraries and closed forms."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor

from selica._core.losses import CoxLoss
from selica.selectors.directions import Directions
from selica.selectors.refit import CAVEAT, refit
from selica.statistics import make_data

RNG = np.random.default_rng(0)
N = 300
X = RNG.standard_normal((N, 6)) * [1.0, 2.0, 0.1, 1.0, 1.0, 5.0] + 3.0
COEF = np.array([0.8, -0.5, 3.0, 0.0, 0.0, 0.0])
ETA = (X - 3.0) @ COEF
CHOSEN = np.array([True, True, True, False, False, True])
WEIGHT = RNG.uniform(0.5, 2.0, N)


def test_numbers_are_least_squares():
    y = ETA + RNG.standard_normal(N)
    found = refit(make_data(X, y, "squared", WEIGHT), CHOSEN)
    peer = LinearRegression().fit(X[:, CHOSEN], y, sample_weight=WEIGHT)
    np.testing.assert_allclose(found.per_unit, peer.coef_, rtol=1e-6)
    sd = np.sqrt(np.cov(X[:, CHOSEN].T, aweights=WEIGHT, ddof=0).diagonal())
    np.testing.assert_allclose(found.per_sd, peer.coef_ * sd, rtol=1e-6)
    assert found.ratio is None
    assert found.variables.tolist() == [0, 1, 2, 5]
    assert found.direction[[0, 1, 2]].tolist() == [1, -1, 1]
    assert CAVEAT in found.note


def test_what_is_not_selected_has_the_sign_of_its_correlation():
    y = ETA + RNG.standard_normal(N)
    found = refit(make_data(X, y, "squared"), np.zeros(6, dtype=bool))
    correlations = np.corrcoef(X.T, y)[-1, :-1]
    np.testing.assert_array_equal(found.direction, np.sign(correlations))
    np.testing.assert_allclose(found.association, np.abs(correlations))


def test_classes_counts_and_labels_are_those_of_scikit_learn():
    labels = (RNG.random(N) < 1.0 / (1.0 + np.exp(-ETA))).astype(float)
    found = refit(make_data(X, labels, "logistic", WEIGHT), CHOSEN)
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
    peer.fit(X[:, CHOSEN], labels, sample_weight=WEIGHT)
    np.testing.assert_allclose(found.per_unit, peer.coef_[0], rtol=1e-5)
    assert found.ratio == "odds ratio"

    counts = RNG.poisson(np.exp(0.3 * ETA)).astype(float)
    found = refit(make_data(X, counts, "poisson", WEIGHT), CHOSEN)
    peer = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
    peer.fit(X[:, CHOSEN], counts, sample_weight=WEIGHT)
    np.testing.assert_allclose(found.per_unit, peer.coef_, rtol=1e-5)
    assert found.ratio == "rate ratio"

    eta = np.column_stack([ETA, -ETA, np.zeros(N)])
    classes = np.argmax(eta + RNG.gumbel(size=eta.shape), axis=1).astype(float)
    found = refit(make_data(X, classes, "multinomial", WEIGHT), CHOSEN)
    peer = LogisticRegression(C=1e8, tol=1e-12, max_iter=10_000)
    peer.fit(X[:, CHOSEN], classes, sample_weight=WEIGHT)
    np.testing.assert_allclose(found.per_unit, np.ptp(peer.coef_, axis=0), rtol=1e-3)
    np.testing.assert_array_equal(found.direction[CHOSEN], peer.coef_.argmax(axis=0))
    names = Directions(["a", "b", "c"], True, "classes", [f"x{j}" for j in range(6)])
    assert "of the class in the direction, against the class that falls most" in names.size(found)


def test_an_offset_of_counts_is_known():
    exposure = RNG.uniform(0.5, 4.0, N)
    counts = RNG.poisson(exposure * np.exp(0.3 * ETA)).astype(float)
    y = np.column_stack([counts, np.log(exposure)])
    found = refit(make_data(X, y, "poisson"), CHOSEN)
    peer = PoissonRegressor(alpha=0.0, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
    peer.fit(X[:, CHOSEN], counts / exposure, sample_weight=exposure)
    np.testing.assert_allclose(found.per_unit, peer.coef_, rtol=1e-5)


def test_hazards_minimise_the_partial_likelihood():
    time = RNG.standard_exponential(N) * np.exp(-0.5 * ETA)
    event = (RNG.random(N) < 0.7).astype(float)
    y = np.column_stack([time, event])
    found = refit(make_data(X, y, "cox"), CHOSEN)

    def cost(coef):
        eta = X[:, CHOSEN] @ coef
        return sum(
            np.log(np.exp(eta[time >= time[i]] - eta[i]).sum()) for i in range(N) if event[i]
        )

    peer = minimize(cost, np.zeros(4), method="BFGS").x
    np.testing.assert_allclose(found.per_unit, peer, atol=1e-3)
    assert found.ratio == "hazard ratio"
    assert CoxLoss.response == "survival"


def test_separated_classes_get_a_ridge_and_a_word():
    labels = (X[:, 0] > 3.0).astype(float)
    found = refit(make_data(X, labels, "logistic"), CHOSEN)
    assert np.all(np.isfinite(found.per_sd))
    assert found.direction[0] == 1
    assert "with a ridge penalty because the selected variables explain the response" in found.note


def test_more_variables_than_rows_can_carry_get_a_ridge_and_a_word():
    few = make_data(X[:8], ETA[:8], "squared")
    found = refit(few, CHOSEN | True)
    assert "too many selected variables" in found.note
    assert np.all(np.isfinite(found.per_unit))


def test_kept_covariates_are_in_the_refit():
    age = X[:, 0] + 0.5 * RNG.standard_normal(N)
    y = 2.0 * age + X[:, 1] + RNG.standard_normal(N)
    data = make_data(X, y, "squared", keep=age[:, None])
    chosen = np.array([True, True, False, False, False, False])
    found = refit(data, chosen)
    peer = LinearRegression().fit(np.column_stack([X[:, chosen], age]), y)
    np.testing.assert_allclose(found.per_unit, peer.coef_[:2], rtol=1e-5, atol=1e-7)
    assert "refit on the selected variables and the covariates, without" in found.note
    # the association of the first column is what is left of it beside age
    left = y - LinearRegression().fit(age[:, None], y).predict(age[:, None])
    np.testing.assert_array_equal(found.direction[2:], np.sign((X - X.mean(axis=0)).T @ left)[2:])


def test_a_variable_with_levels_has_a_spread():
    level = RNG.integers(3, size=N)
    columns = np.column_stack([X[:, 0], *(level == k for k in range(3))]).astype(float)
    y = X[:, 0] + np.array([0.0, 2.0, -1.0])[level] + 0.01 * RNG.standard_normal(N)
    data = make_data(columns, y, "squared", variable=np.array([0, 1, 1, 1]))
    found = refit(data, np.array([True, True]))
    assert found.per_unit[0] == pytest.approx(1.0, abs=0.01)
    assert found.per_unit[1] == pytest.approx(3.0, abs=0.01)
    assert found.levels[0] == ()
    effects = dict(found.levels[1])
    assert effects[2] - effects[1] == pytest.approx(2.0, abs=0.01)
    assert effects[3] - effects[1] == pytest.approx(-1.0, abs=0.01)
    # with a column less, the level without one has its effect too
    fewer = make_data(columns[:, [0, 2, 3]], y, "squared")
    found = refit(fewer._replace(variable=np.array([0, 1, 1])), np.array([True, True]))
    assert found.per_unit[1] == pytest.approx(3.0, abs=0.01)
    effects = dict(found.levels[1])
    assert effects[1] == pytest.approx(2.0, abs=0.01)
    assert effects[2] == pytest.approx(-1.0, abs=0.01)
    assert effects[-1] == 0.0
    names = Directions(
        None, False, "linear", ["x", "t"], ["x", "t: b", "t: c"], np.array([0, 1, 1])
    )
    assert [names.of(found, j, j) for j in range(2)] == ["+", "b > the rest > c"]
    named = names._replace(references=["", "a"])
    assert [named.of(found, j, j) for j in range(2)] == ["+", "b > a > c"]
    assert "the largest difference between two levels" in named.size(found)


def test_levels_of_rows_with_weights_and_values_that_were_filled_in():
    """Against least squares on indicators; a row between two levels has no level of its own."""
    level = RNG.integers(3, size=N)
    columns = np.column_stack([X[:, 0], level == 1, level == 2]).astype(float)
    columns[:5, 1:] = 0.3
    y = X[:, 0] + np.array([0.0, 2.0, -1.0])[level] + RNG.standard_normal(N)
    data = make_data(columns, y, "squared", WEIGHT, variable=np.array([0, 1, 1]))
    found = refit(data, np.array([True, True]))
    peer = LinearRegression().fit(columns, y, sample_weight=WEIGHT)
    effects = dict(found.levels[1])
    np.testing.assert_allclose([effects[1], effects[2]], peer.coef_[1:], rtol=1e-6)
    assert found.per_unit[1] == pytest.approx(np.ptp([*peer.coef_[1:], 0.0]), rel=1e-6)
    lines = columns[:, 1:] @ peer.coef_[1:]
    spread = np.sqrt(np.cov(lines, aweights=WEIGHT, ddof=0))
    assert found.per_sd[1] == pytest.approx(spread, rel=1e-6)


def test_a_category_of_two_levels_says_which():
    y = X[:, 0] - 2.0 * (X[:, 1] > 3.0)
    columns = np.column_stack([X[:, 0], X[:, 1] > 3.0]).astype(float)
    data = make_data(columns, y, "squared")._replace(variable=np.array([0, 1]))
    found = refit(data, np.array([True, True]))
    names = Directions(None, False, "linear", ["x", "sex"], ["x", "sex: M"], np.array([0, 1]))
    assert [names.of(found, j, j) for j in range(2)] == ["+", "the rest > M"]
    assert "of a category, its levels from high to low" in names.meaning
    alone = names._replace(columns=["x", "sex"])
    assert not alone.categories
    assert "category" not in alone.meaning


def test_constant_columns_are_borne():
    flat = X.copy()
    flat[:, 3] = 1.0
    found = refit(make_data(flat, ETA, "squared"), np.ones(6, dtype=bool))
    assert np.all(np.isfinite(found.per_sd))
    assert found.per_sd[3] == 0.0
    assert found.direction[3] == 0


def test_nothing_selected_is_nothing_measured():
    found = refit(make_data(X, ETA, "squared"), np.zeros(6, dtype=bool))
    assert found.variables.size == found.per_sd.size == 0
    assert pickle.loads(pickle.dumps(found)).note == found.note
