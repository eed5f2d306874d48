"""Penalties, knockoff and mirror statistics, from definitions and against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Lasso, LogisticRegression

from selica import theory
from selica._core.errors import ArgumentError, RefusedError
from selica.sampling import iid_copies, simulate
from selica.statistics import cross_validate, knockoff_statistic, make_data
from selica.statistics.cross_validation import folds
from selica.statistics.data import (
    beside,
    lam_from_average,
    largest_penalty,
    penalty_path,
    standardised,
)
from selica.statistics.fits import fit_members
from selica.statistics.importance import importances
from selica.statistics.mirror import mirror_statistic
from selica.statistics.model_of_data import estimate_model

STUDY = simulate(80, 12, 4, snr=4.0, random_state=0)
DATA = make_data(STUDY.X, STUDY.y, "squared")


def generator(seed=0):
    return np.random.default_rng(seed)


def test_standardised_columns():
    weight = generator().random(80) + 0.1
    columns, scale = standardised(STUDY.X, weight)
    np.testing.assert_allclose(np.average(columns, axis=0, weights=weight), 0.0, atol=1e-14)
    np.testing.assert_allclose(np.average(columns**2, axis=0, weights=weight), 1.0)
    np.testing.assert_allclose(
        columns * scale, STUDY.X - np.average(STUDY.X, axis=0, weights=weight)
    )


def test_a_constant_column_becomes_zero():
    X = np.column_stack([np.full(5, 0.1) * 3, np.arange(5.0)])
    columns, scale = standardised(X)
    assert not columns[:, 0].any()
    assert scale[0] == 1.0


def test_the_largest_penalty_is_where_selection_begins():
    top = largest_penalty(DATA)
    fit = fit_members(DATA, np.array([1.001 * top, 0.999 * top]), np.ones((1, 80)))
    assert fit.n_active[0].tolist() == [0, 1]


def test_penalties_are_those_of_scikit_learn():
    weight = generator(1).integers(1, 4, 80).astype(float)
    data = make_data(STUDY.X, STUDY.y, "squared", weight)
    lam = 0.3 * largest_penalty(data)
    ours = fit_members(data, np.array([lam]), np.ones((1, 80)), tol=1e-12).coef[0, 0]
    peer = Lasso(alpha=lam, tol=1e-12, max_iter=100_000)
    peer.fit(data.X, data.y, sample_weight=weight)
    np.testing.assert_allclose(ours, peer.coef_, atol=1e-8)


def test_penalties_of_averages_and_of_sums():
    weights = np.array([[1.0, 2.0, 0.0], [1.0, 1.0, 1.0]])
    np.testing.assert_allclose(lam_from_average([0.5, 0.25], weights), [[1.5, 0.75], [1.5, 0.75]])
    np.testing.assert_allclose(lam_from_average(2.0, weights[0]), 6.0)


def test_a_loss_is_given_by_name_by_response_or_as_it_is():
    same = [make_data(STUDY.X, STUDY.y, which) for which in ("squared", "linear", DATA.loss)]
    assert all(data.loss is DATA.loss for data in same)
    with pytest.raises(ArgumentError, match="loss must be one of 'squared', 'logistic'"):
        make_data(STUDY.X, STUDY.y, "hinge")


def test_an_estimator_is_fitted_anew():
    fresh = RandomForestRegressor(n_estimators=5, warm_start=True, random_state=0)
    used = RandomForestRegressor(n_estimators=5, warm_start=True, random_state=0)
    used.fit(generator().standard_normal((80, 12)), STUDY.y)
    np.testing.assert_array_equal(importances(used, DATA), importances(fresh, DATA))


def test_folds_are_even_and_labels_too():
    place = folds(DATA, 7, generator())
    assert set(np.bincount(place)) == {11, 12}
    labels = make_data(STUDY.X, (STUDY.y > 1.0).astype(float), "logistic")
    place = folds(labels, 5, generator())
    ones = np.bincount(place[labels.y == 1.0], minlength=5)
    assert ones.max() - ones.min() <= 1


def test_cross_validation_against_a_loop_of_scikit_learn():
    path = penalty_path(DATA, 12, 0.05)
    ours = cross_validate(DATA, generator(2), n_folds=4, penalties=path, tol=1e-12)
    place = folds(DATA, 4, generator(2))
    errors = np.zeros((4, path.size))
    for k in range(4):
        rows = place != k
        for i, lam in enumerate(path):
            peer = Lasso(alpha=lam, tol=1e-10, max_iter=100_000).fit(DATA.X[rows], DATA.y[rows])
            errors[k, i] = np.mean((DATA.y[~rows] - peer.predict(DATA.X[~rows])) ** 2)
    np.testing.assert_allclose(ours.error, errors.mean(axis=0), rtol=1e-6)
    assert ours.best == errors.mean(axis=0).argmin()
    assert ours.one_error <= ours.best


def test_a_path_that_ends_early_has_the_same_best_penalty():
    early = cross_validate(DATA, generator(2), n_folds=5)
    whole = cross_validate(DATA, generator(2), n_folds=5, penalties=penalty_path(DATA))
    assert early.penalties.size < whole.penalties.size == 60
    assert early.best == whole.best
    np.testing.assert_allclose(early.coef[early.best], whole.coef[whole.best], atol=1e-5)
    np.testing.assert_allclose(early.error, whole.error[: early.error.size], rtol=1e-4)


def test_cross_validation_of_labels():
    study = simulate(150, 6, 2, response="logistic", random_state=1)
    data = make_data(2.0 * study.X, study.y, "logistic")
    path = penalty_path(data, 5, 0.1)
    ours = cross_validate(data, generator(3), n_folds=3, penalties=path, tol=1e-10)
    place = folds(data, 3, generator(3))
    deviance = 0.0
    for k in range(3):
        rows = place != k
        peer = LogisticRegression(
            l1_ratio=1.0, C=1.0 / (path[-1] * rows.sum()), solver="saga", tol=1e-8, max_iter=50_000
        )
        peer.fit(data.X[rows], data.y[rows])
        chance = peer.predict_proba(data.X[~rows])[:, 1]
        y = data.y[~rows]
        deviance -= 2.0 * np.sum(y * np.log(chance) + (1.0 - y) * np.log(1.0 - chance))
    assert ours.error[-1] == pytest.approx(deviance / 150, rel=1e-4)
    assert ours.error[-1] < ours.error[0]


@pytest.mark.parametrize("statistic", ["coefficient", "entry", "correlation"])
def test_exchanging_a_variable_with_its_copy_flips_its_statistic(statistic):
    copy = iid_copies(STUDY.X, random_state=1, members=1)[0]
    swap = generator(4).random(12) < 0.5
    X, other = STUDY.X.copy(), copy.copy()
    X[:, swap], other[:, swap] = copy[:, swap], STUDY.X[:, swap]
    first = knockoff_statistic(DATA, copy, generator(5), statistic=statistic)
    data = make_data(X, STUDY.y, "squared")
    again = knockoff_statistic(data, other, generator(5), statistic=statistic)
    np.testing.assert_allclose(again, np.where(swap, -first, first), atol=1e-9)
    assert np.count_nonzero(first) > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_the_layout_of_a_table_in_memory_does_not_change_one_bit(weighted):
    rng = generator(6)
    X, weight = 1.0 + rng.standard_normal((301, 7)), rng.random(301) if weighted else None
    first, scale = standardised(np.ascontiguousarray(X), weight)
    again, same = standardised(np.asfortranarray(X), weight)
    assert np.array_equal(first, again)
    assert np.array_equal(scale, same)


@pytest.mark.parametrize("statistic", ["coefficient", "entry", "correlation", "bayes", "mlr"])
def test_a_copy_of_another_layout_takes_the_place_of_its_columns_to_the_bit(statistic):
    X, copy = STUDY.X, iid_copies(STUDY.X, random_state=1, members=1)[0]
    settings = {"statistic": statistic} | ({"penalty": 0.1} if statistic == "coefficient" else {})
    data = make_data(np.asfortranarray(X), STUDY.y, "squared")
    ahead = knockoff_statistic(data, np.ascontiguousarray(copy), generator(5), **settings)
    data = make_data(np.asfortranarray(copy), STUDY.y, "squared")
    behind = knockoff_statistic(data, np.ascontiguousarray(X), generator(5), **settings)
    if statistic in ("bayes", "mlr"):
        assert np.array_equal(behind, -ahead)
    else:
        np.testing.assert_allclose(behind, -ahead, atol=1e-9)


def test_an_estimator_of_ones_own():
    copy = iid_copies(STUDY.X, random_state=1, members=1)[0]
    forest = RandomForestRegressor(20, random_state=0)
    W = knockoff_statistic(DATA, copy, generator(), estimator=forest)
    assert W.shape == (12,)
    assert W[STUDY.support].mean() > W[~STUDY.support].mean()
    assert not hasattr(forest, "estimators_")  # a copy of it was fitted


def test_importances_of_weights_and_of_repeated_rows():
    weight = generator(2).integers(0, 3, 80).astype(float)
    rows = np.repeat(np.arange(80), weight.astype(int))
    found = importances(Lasso(alpha=0.1), DATA, weight)
    peer = Lasso(alpha=0.1).fit(DATA.X[rows], DATA.y[rows])
    np.testing.assert_allclose(found, np.abs(peer.coef_))
    with pytest.raises(ArgumentError, match="coef_"):
        importances(_Nothing(), DATA)


class _Nothing:
    def fit(self, X, y):
        return self


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_mirror_statistics_are_symmetric_without_signal(loss):
    rng = generator(6)
    values = []
    for _ in range(60):
        noise = rng.standard_normal(60)
        y = noise if loss == "squared" else (noise > 0.0).astype(float)
        M = mirror_statistic(make_data(rng.standard_normal((60, 20)), y, loss), rng, n_folds=4)
        values.append(np.sign(M[M != 0.0]))
    signs = np.concatenate(values)
    assert signs.size > 50
    assert abs(signs.mean()) < 4.0 / np.sqrt(signs.size)


def test_mirror_statistics_of_signals_are_positive():
    easy = simulate(200, 20, 5, snr=50.0, effects=theory.PointEffects(), random_state=0)
    M = mirror_statistic(make_data(easy.X, easy.y, "squared"), generator())
    assert (M[easy.support] > 0.0).all()


def labels(n=300, strength=1.0, weight=None):
    """Classes of which four columns of ten decide."""
    X = generator(7).standard_normal((n, 10))
    line = strength * X[:, :4] @ np.array([1.0, -1.0, 1.0, -1.0])
    y = generator(8).random(n) < expit(line)
    return make_data(X, y.astype(float), "logistic", weight)


def test_mirror_statistics_of_classes_are_the_product_of_two_estimates():
    data = labels(weight=generator(9).random(300) + 0.5)
    M = mirror_statistic(data, generator(1))
    rng = generator(1)
    place = folds(data, 2, rng)
    rows = place == 1
    half = data._replace(X=data.X[rows], y=data.y[rows], weight=data.weight[rows])
    found = cross_validate(half, rng)
    b1 = found.coef[found.best]
    chosen = np.flatnonzero(b1)
    X, y, weight = data.X[~rows][:, chosen], data.y[~rows], data.weight[~rows]

    def cost(b):
        line = b[0] + X @ b[1:]
        return weight @ (np.logaddexp(0.0, line) - y * line)

    b2 = minimize(cost, np.zeros(chosen.size + 1), tol=1e-8).x[1:]
    centred = X - np.average(X, axis=0, weights=weight)
    spread = np.diag(np.linalg.inv(centred.T @ (weight[:, None] * centred)))
    np.testing.assert_allclose(M[chosen], b1[chosen] * b2 / np.sqrt(spread), rtol=2e-3)
    assert not np.delete(M, chosen).any()
    assert chosen.size > 4


def test_mirror_statistics_of_separated_classes_are_finite_and_right():
    M = mirror_statistic(labels(strength=1e3), generator())
    assert np.isfinite(M).all()
    assert (M[:4] > np.abs(M[4:]).max()).all()


def test_each_half_needs_both_classes():
    X = generator().standard_normal((20, 3))
    with pytest.raises(RefusedError, match="y must have two rows of each class"):
        mirror_statistic(make_data(X, np.eye(20)[0], "logistic"), generator())


def test_the_model_of_the_data_is_recovered():
    """Sparsity within a half and R2 within 0.1, from one data set of the model itself."""
    study = simulate(400, 400, sparsity=0.1, noise_variance=0.05 * 400, random_state=5)
    data = make_data(study.X, study.y, "squared")
    model = estimate_model(data, cross_validate(data, generator(), n_folds=10))
    assert model.rho == pytest.approx(study.support.mean(), rel=0.5)
    r2 = model.rho / (model.rho + model.Delta)
    assert r2 == pytest.approx(study.signal_variance / (study.signal_variance + 20.0), abs=0.1)


def test_further_columns_are_standardised_alike():
    both = beside(DATA, STUDY.X)
    np.testing.assert_array_equal(both.X[:, :12], both.X[:, 12:])
