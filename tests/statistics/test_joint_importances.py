"""Importances of groups, and of several joint copies."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Lasso, LogisticRegression, Ridge

from selica.errors import ArgumentError
from selica.sampling import GaussianKnockoffs, simulate
from selica.statistics import joint_importances, knockoff_statistics, make_data
from selica.statistics.knockoff import COMBINATIONS, SAMPLED, STATISTICS

GROUPS = np.array([0, 0, 1, 1, 1, 2])
OWN = [1.2, -0.4, 0.0, 0.7, 0.3, -0.2]
COPY = [0.1, 0.5, 0.2, -0.1, 0.0, 0.6]
M = 3


class KnownCoefficients(BaseEstimator):
    """An estimator that always finds the same coefficients."""

    def fit(self, X, y):
        self.coef_ = np.array([*OWN, *COPY])
        return self


def generators(number):
    return [np.random.default_rng(seed) for seed in range(number)]


def example(loss="squared", keep=None):
    data = simulate(120, 6, 2, snr=4.0, covariance=("ar1", 0.6), random_state=0)
    y = data.y if loss == "squared" else (data.y > 0).astype(float)
    knockoffs = GaussianKnockoffs(0.0, data.covariance, groups=GROUPS, n_joint=M)
    made = make_data(data.X, y, loss, variable=GROUPS, keep=keep)
    return data, made, knockoffs.copies(data.X, 1, 2)


@pytest.mark.parametrize(
    ("combine", "expected"),
    [
        ("sum", [1.0, 0.7, -0.4]),
        ("max", [0.7, 0.5, -0.4]),
        ("l2", [0.755009, 0.537971, -0.4]),
    ],
)
def test_importances_of_groups(combine, expected):
    rng = np.random.default_rng(0)
    data = make_data(
        rng.standard_normal((30, 6)), rng.standard_normal(30), "squared", variable=GROUPS
    )
    copies = [rng.standard_normal((30, 6))]
    W = knockoff_statistics(
        data, copies, generators(1), estimator=KnownCoefficients(), combine=combine
    )
    np.testing.assert_allclose(W[0], expected, atol=5e-7)


@pytest.mark.parametrize("combine", COMBINATIONS)
def test_one_fit_on_all_versions(combine):
    data, made, copies = example()
    T = joint_importances(made, copies, generators(2), penalty=0.05, combine=combine)
    assert T.shape == (2, M + 1, 3)
    for copy, found in zip(copies, T, strict=True):
        table = np.hstack([data.X, copy])
        table = (table - table.mean(0)) / table.std(0)
        fit = Lasso(0.05, tol=1e-12, max_iter=100_000).fit(table, made.y)
        size = np.abs(fit.coef_).reshape(M + 1, 6)
        join = {"sum": np.sum, "max": np.max, "l2": np.linalg.norm}[combine]
        expected = [join(size[:, group == GROUPS], axis=1) for group in range(3)]
        np.testing.assert_allclose(found, np.transpose(expected), atol=1e-4)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("statistic", [s for s in STATISTICS if s not in SAMPLED])
def test_versions_that_trade_places_take_their_importances_along(statistic, loss, keep):
    covariate = np.random.default_rng(5).standard_normal((120, 1)) if keep else None
    data, made, copies = example(loss, covariate)
    before = joint_importances(made, copies, generators(2), statistic=statistic)
    versions = np.array([data.X, *np.split(copies[0], M, axis=1)])
    order = [2, 0, 3, 1]  # the versions of the second group in another order
    versions[:, :, GROUPS == 1] = versions[order][:, :, GROUPS == 1]
    y = data.y if loss == "squared" else (data.y > 0).astype(float)
    moved = make_data(versions[0], y, loss, variable=GROUPS, keep=covariate)
    after = joint_importances(
        moved, [np.hstack(list(versions[1:]))], generators(1), statistic=statistic
    )
    expected = before[0].copy()
    expected[:, 1] = expected[order, 1]
    assert expected.max() > 0.0
    np.testing.assert_allclose(after[0], expected, atol=2e-4 * expected.max())


def test_several_classes():
    data, _, copies = example()
    y = np.digitize(data.y, np.quantile(data.y, [0.3, 0.6])).astype(float)
    made = make_data(data.X, y, "classes", variable=GROUPS)
    T = joint_importances(made, copies, generators(2), penalty=0.02)
    assert T.shape == (2, M + 1, 3)
    assert T[:, 0, GROUPS[data.support]].min() > 0.0


def test_an_estimator_of_ones_own():
    data, made, copies = example()
    T = joint_importances(made, copies, generators(2), estimator=Ridge(1.0))
    assert T.shape == (2, M + 1, 3)
    labels = make_data(data.X, (data.y > 0).astype(float), "logistic", variable=GROUPS)
    assert joint_importances(
        labels, copies, generators(2), estimator=LogisticRegression()
    ).shape == (2, M + 1, 3)  # fmt: skip


def test_one_copy_is_the_difference_of_two_versions():
    data = simulate(100, 6, 2, snr=4.0, random_state=0)
    made = make_data(data.X, data.y, "squared")
    copies = [rng.standard_normal((100, 6)) for rng in generators(3)]
    T = joint_importances(made, copies, generators(3))
    W = knockoff_statistics(made, copies, generators(3))
    np.testing.assert_array_equal(W, T[:, 0] - T[:, 1])


@pytest.mark.parametrize("argument", ["statistic", "combine"])
def test_an_unknown_word_is_refused(argument):
    _, made, copies = example()
    with pytest.raises(ArgumentError, match=f"{argument} must be one of"):
        knockoff_statistics(made, copies, generators(2), penalty=0.05, **{argument: "mean"})
