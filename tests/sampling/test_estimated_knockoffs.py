"""Gaussian knockoffs whose mean and covariance come from the data."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import sklearn.covariance

from selica._core.errors import ArgumentError, RefusedError
from selica.sampling import GaussianKnockoffs, ledoit_wolf
from selica.sampling.s_matrices import METHODS
from tests.sampling.test_knockoffs import MEAN, SD, covariance, implied_joint, joint

methods = pytest.mark.parametrize("method", METHODS)


def sample(n, sigma, seed=0):
    rng = np.random.default_rng(seed)
    return MEAN + rng.standard_normal((n, len(sigma))) @ np.linalg.cholesky(sigma).T


X = sample(50, covariance(0.6))
ESTIMATORS = [
    sklearn.covariance.EmpiricalCovariance(),
    sklearn.covariance.LedoitWolf(),
    sklearn.covariance.OAS(),
    sklearn.covariance.ShrunkCovariance(shrinkage=0.3),
]
estimators = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)


def test_by_default_ledoit_wolf_of_the_standardised_columns():
    sd = X.std(axis=0)
    want, _ = sklearn.covariance.ledoit_wolf((X - X.mean(axis=0)) / sd)
    fitted = GaussianKnockoffs().fit(X)
    np.testing.assert_allclose(fitted.covariance / sd / sd[:, None], want, atol=1e-12)
    np.testing.assert_allclose(fitted.mean, X.mean(axis=0), rtol=1e-12)
    assert fitted.estimated


def test_a_known_mean_is_kept():
    fitted = GaussianKnockoffs(MEAN).fit(X)
    sd = np.sqrt(np.mean((X - MEAN) ** 2, axis=0))
    want, _ = sklearn.covariance.ledoit_wolf((X - MEAN) / sd, assume_centered=True)
    np.testing.assert_allclose(fitted.covariance / sd / sd[:, None], want, atol=1e-12)
    np.testing.assert_array_equal(fitted.mean, MEAN)
    assert fitted.estimated
    by_estimator = GaussianKnockoffs(MEAN, sklearn.covariance.LedoitWolf()).fit(X)
    np.testing.assert_array_equal(by_estimator.mean, MEAN)
    np.testing.assert_array_equal(GaussianKnockoffs(2.0).fit(X).mean, np.full(4, 2.0))


def test_a_known_covariance_is_kept():
    knockoffs = GaussianKnockoffs(covariance=covariance(0.6))
    assert knockoffs.estimated
    fitted = knockoffs.fit(X)
    assert fitted.estimated
    np.testing.assert_array_equal(fitted.covariance, covariance(0.6))
    np.testing.assert_allclose(fitted.mean, X.mean(axis=0), rtol=1e-12)
    want = GaussianKnockoffs(X.mean(axis=0), covariance(0.6)).sample(X, 1)
    np.testing.assert_allclose(fitted.sample(X, 1), want, atol=1e-10)


def test_nothing_is_estimated_where_all_is_known():
    knockoffs = GaussianKnockoffs(MEAN, covariance(0.6))
    assert not knockoffs.estimated
    assert knockoffs.fit(X) is knockoffs


@estimators
@methods
def test_estimators_of_scikit_learn(estimator, method):
    fitted = GaussianKnockoffs(None, estimator, method).fit(X)
    own = type(estimator)(**estimator.get_params()).fit(X)
    np.testing.assert_array_equal(fitted.covariance, 0.5 * (own.covariance_ + own.covariance_.T))
    np.testing.assert_array_equal(fitted.mean, own.location_)
    assert not hasattr(estimator, "covariance_")
    # knockoffs of exactly this law
    size = np.tile(np.sqrt(fitted.covariance.diagonal()), 2)
    got = implied_joint(fitted, fitted.covariance) / size / size[:, None]
    want = joint(fitted.covariance, fitted.s_) / size / size[:, None]
    np.testing.assert_allclose(got, want, atol=1e-10)


@methods
def test_joint_law_in_large_samples(method):
    n, sigma = 60_000, covariance(0.5)
    table = sample(n, sigma, seed=3)
    fitted = GaussianKnockoffs(method=method).fit(table)
    both = np.hstack([table, fitted.sample(table, 1)])
    want = joint(sigma, fitted.s_)
    variance = want.diagonal()
    se = np.sqrt((np.outer(variance, variance) + want**2) / n)
    # the estimate adds an error of the size of the sample's own
    assert np.abs((np.cov(both.T) - want) / se).max() < 7
    assert np.abs((both.mean(0) - np.tile(MEAN, 2)) / np.sqrt(variance / n)).max() < 7


def test_more_variables_than_rows():
    wide = np.random.default_rng(0).standard_normal((20, 60))
    fitted = GaussianKnockoffs(method="equi").fit(wide)
    assert fitted.sample(wide, 0).shape == (20, 60)
    assert np.linalg.eigvalsh(fitted.covariance)[0] > 0


def test_units_do_not_matter():
    unit = np.array([1e-9, 1.0, 1e6, 1e12])
    plain, other = (GaussianKnockoffs().fit(table) for table in (X, X * unit))
    np.testing.assert_allclose(other.s_, plain.s_ * unit**2, rtol=1e-9)
    np.testing.assert_allclose(
        other.sample(X * unit, 5) / unit / SD, plain.sample(X, 5) / SD, rtol=1e-8, atol=1e-8
    )


def test_fit_leaves_the_object_as_it_was():
    knockoffs = GaussianKnockoffs(method="equi")
    first = knockoffs.fit(X)
    assert knockoffs.covariance is None
    assert knockoffs.mean is None
    assert "not fitted" in repr(knockoffs)
    # a fitted one estimates anew
    again, fresh = first.fit(X[:30, :3]), knockoffs.fit(X[:30, :3])
    np.testing.assert_array_equal(again.covariance, fresh.covariance)
    np.testing.assert_array_equal(again.mean, fresh.mean)
    assert first.n_features == 4
    assert repr(first) == "GaussianKnockoffs(n_features=4, method='equi', estimated=True)"
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(first)).sample(X, 1), first.sample(X, 1)
    )


def test_weights():
    weight = np.random.default_rng(0).integers(0, 3, 50).astype(float)
    want = ledoit_wolf(X, sample_weight=weight, standardise=True)
    fitted = GaussianKnockoffs().fit(X, weight)
    np.testing.assert_allclose(fitted.covariance, want.covariance, rtol=1e-12)
    centre = weight @ X / weight.sum()
    np.testing.assert_allclose(fitted.mean, centre, rtol=1e-12)
    known = GaussianKnockoffs(None, covariance(0.6)).fit(X, sample_weight=weight)
    np.testing.assert_allclose(known.mean, centre, rtol=1e-12)


class Weighted:
    """An estimator that is not of scikit-learn."""

    def fit(self, X, sample_weight=None):
        self.covariance_ = np.cov(X.T, aweights=sample_weight)
        return self


def test_weights_reach_an_estimator_that_takes_them():
    weight = np.arange(1.0, 51.0)
    fitted = GaussianKnockoffs(None, Weighted()).fit(X, weight)
    np.testing.assert_allclose(fitted.covariance, np.cov(X.T, aweights=weight), rtol=1e-12)
    np.testing.assert_allclose(fitted.mean, weight @ X / weight.sum(), rtol=1e-12)
    with pytest.raises(ArgumentError, match=r"sample_weight.*OAS"):
        GaussianKnockoffs(None, sklearn.covariance.OAS()).fit(X, weight)


class Broken:
    """An estimator that sets what it is told to set."""

    def __init__(self, **attributes):
        self.attributes = attributes

    def fit(self, X):
        if not self.attributes:
            raise RuntimeError("it\nbroke")
        for name, value in self.attributes.items():
            setattr(self, name, value)


def estimate(**attributes):
    return GaussianKnockoffs(None, Broken(**attributes)).fit(X)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimate(other=1), "covariance_"),
        (lambda: estimate(covariance_=np.eye(3)), r"covariance_.*\(4, 4\).*\(3, 3\)"),
        (lambda: estimate(covariance_=np.full((4, 4), np.nan)), "covariance.*finite"),
        (lambda: estimate(covariance_=np.zeros((4, 4))), "covariance.*positive variances"),
        (lambda: estimate(covariance_=np.eye(4), location_=np.zeros(3)), "location_"),
        (lambda: estimate(covariance_=np.eye(4), location_=[np.nan] * 4), "location_"),
        (lambda: GaussianKnockoffs(None, sklearn.covariance.OAS), "covariance.*class OAS"),
        (lambda: GaussianKnockoffs(np.zeros((2, 2))), "mean"),
        (lambda: GaussianKnockoffs(np.zeros(3)).fit(X), "mean"),
        (lambda: GaussianKnockoffs().sample(X, 0), "covariance is not known"),
        (lambda: GaussianKnockoffs().copies(X, 0, 1), "covariance is not known"),
        (lambda: GaussianKnockoffs().s_, "covariance is not known"),
        (lambda: GaussianKnockoffs().n_features, "covariance is not known"),
        (lambda: GaussianKnockoffs(None, np.eye(4)).sample(X, 0), "mean is not known"),
        (lambda: GaussianKnockoffs(None, np.eye(3)).fit(X), "X must have 3 columns"),
        (lambda: GaussianKnockoffs(0.0, np.eye(3)).fit(X), "X must have 3 columns"),
        (lambda: GaussianKnockoffs().fit(np.where(X > 99, np.nan, X)), "X must be finite"),
        (lambda: GaussianKnockoffs().fit(X.astype(str)), "X must be a table"),
        (lambda: GaussianKnockoffs().fit(X[0]), "X must be"),
        (lambda: GaussianKnockoffs().fit(X, np.ones(49)), "sample_weight"),
        (lambda: GaussianKnockoffs().fit(X, -np.ones(50)), "sample_weight"),
        (lambda: GaussianKnockoffs().fit(X).sample(X[:, :2]), "X must have 4 columns"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ArgumentError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: estimate(), r"covariance: Broken.fit\(X\) failed: it broke"),
        (lambda: estimate(covariance_=np.ones((4, 4))), "covariance.*positive definite"),
        (lambda: GaussianKnockoffs().fit(X[:1]), "X.*constant"),
        (lambda: GaussianKnockoffs().fit(X * [1, 0, 1, 1] + 0.1), "X.*column 1 is constant"),
        (lambda: GaussianKnockoffs().fit(X, np.arange(50) == 3), "X.*constant over 1 row"),
        # two rows say nothing about how far their covariance is from the truth
        (lambda: GaussianKnockoffs().fit(X[:2]), "at least 3 rows.*covariance.*got 2"),
    ],
)
def test_refused_data(call, message):
    with pytest.raises(RefusedError, match=message) as error:
        call()
    assert "\n" not in str(error.value)
