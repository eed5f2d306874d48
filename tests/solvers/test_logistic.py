"""The logistic ensemble against scikit-learn and against its own certificate."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from selica._core.errors import ArgumentError
from selica.solvers import logistic_path_batch


def _problem(seed, n=None, p=None, members=2):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(20, 80))
    p = p or int(rng.integers(1, 60))
    X = rng.standard_normal((n, p))
    if seed % 4 == 1 and p > 2:
        X[:, 1] = X[:, 0]
    if seed % 4 == 2 and p > 2:
        X[:, 1] = 0.0
    y = (rng.random(n) < expit(2 * X[:, 0] - 0.5)).astype(float)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=members).astype(float)
    top = max(np.abs(X.T @ (c * (y - c @ y / c.sum()))).max() for c in weights)
    return X, y, weights, top * np.geomspace(1.05, 0.1, 6)


def _objective(X, y, c, lam, w, a):
    eta = X @ w + a
    return np.sum(c * (np.logaddexp(0, eta) - y * eta)) + lam * np.abs(w).sum()


@pytest.mark.parametrize("seed", range(30))
def test_against_scikit_learn(seed):
    X, y, weights, lams = _problem(seed)
    intercept = bool(seed % 2)
    fit = logistic_path_batch(X, y, lams, weights, fit_intercept=intercept, tol=1e-10)
    assert fit.converged, np.nanmax(fit.gap)
    for m, c in enumerate(weights):
        for step in (1, 3, 5):
            used = c > 0
            peer = LogisticRegression(
                l1_ratio=1.0,
                C=1 / lams[step],
                solver="liblinear",
                fit_intercept=intercept,
                intercept_scaling=1e4,  # it penalises its intercept: make that cheap
                tol=1e-9,
                max_iter=20_000,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # it need only come close
                peer.fit(X[used], y[used], sample_weight=c[used])
            ours = _objective(X, y, c, lams[step], fit.coef[m, step], fit.intercept[m, step])
            theirs = _objective(X, y, c, lams[step], peer.coef_[0], np.ravel(peer.intercept_)[0])
            assert ours <= theirs + 1e-9 * abs(theirs)
            assert ours >= theirs - 1e-5 * abs(theirs)


@pytest.mark.parametrize("seed", range(8))
def test_certificate_is_right(seed):
    X, y, weights, lams = _problem(seed)
    fit = logistic_path_batch(X, y, lams, weights)
    for m, c in enumerate(weights):
        share = c @ y / c.sum()
        null = -c.sum() * (share * np.log(share) + (1 - share) * np.log(1 - share))
        for step, lam in enumerate(lams):
            w, a = fit.coef[m, step], fit.intercept[m, step]
            r = y - expit(X @ w + a)
            slope = X.T @ (c * r)
            scale = min(1.0, lam / np.abs(slope).max())
            v = np.clip(y - scale * r, 1e-300, 1 - 1e-16)
            dual = -np.sum(c * (v * np.log(v) + (1 - v) * np.log1p(-v)))
            gap = (_objective(X, y, c, lam, w, a) - dual) / null
            assert fit.gap[m, step] == pytest.approx(max(gap, 0.0), abs=1e-10)
            assert fit.gap[m, step] <= 1e-6
            active = w != 0
            off = np.abs(slope[active] - lam * np.sign(w[active])).max(initial=0.0)
            off = max(off, (np.abs(slope[~active]) - lam).max(initial=0.0), abs(np.sum(c * r)))
            assert fit.kkt[m, step] == pytest.approx(off, abs=1e-8)


def test_what_is_kept_and_where_members_stop():
    X, y, weights, lams = _problem(3, n=60, p=30, members=5)
    keep = ["coef", "sparse", "counts", "moments", "entry"]
    fit = logistic_path_batch(X, y, lams, weights, keep=keep)
    np.testing.assert_array_equal(fit.counts, np.count_nonzero(fit.coef, axis=0))
    np.testing.assert_array_equal(fit.sparse.toarray().reshape(fit.coef.shape), fit.coef)
    np.testing.assert_allclose(fit.mean, fit.coef.mean(axis=0), atol=1e-14)
    few = logistic_path_batch(X, y, lams, weights, max_active=3)
    for m in range(5):
        over = np.flatnonzero(fit.n_active[m] > 3)
        stop = over[0] if over.size else lams.size
        assert np.all(few.status[m, stop:] == "stopped")
        np.testing.assert_allclose(few.coef[m, :stop], fit.coef[m, :stop], atol=1e-7)


def test_separable_data_and_one_class():
    X = np.linspace(-1, 1, 20)[:, None]
    y = (X[:, 0] > 0).astype(float)
    fit = logistic_path_batch(X, y, [1.0, 0.1, 0.01], np.ones((1, 20)))
    assert fit.converged
    assert np.all(np.diff(fit.coef[0, :, 0]) > 0)
    one = logistic_path_batch(X, np.ones(20), [1.0], np.ones((1, 20)), fit_intercept=False)
    assert np.all(np.isfinite(one.coef))


def test_labels_are_checked():
    with pytest.raises(ArgumentError, match="y must hold 0 and 1 only"):
        logistic_path_batch(np.eye(3), [0, 1, 2], [0.1], np.ones((1, 3)))


def test_standardized_columns():
    X, y, weights, lams = _problem(3)
    fit = logistic_path_batch(X, y, lams, weights, standardize=True, tol=1e-10)
    for m, c in enumerate(weights):
        mean = c @ X / c.sum()
        sd = np.sqrt(c @ (X - mean) ** 2 / c.sum())
        one = logistic_path_batch((X - mean) / sd, y, lams, c[None], tol=1e-10)
        np.testing.assert_allclose(fit.coef[m], one.coef[0] / sd, atol=1e-6)
