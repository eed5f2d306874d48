"""The ensemble engine against celer, which certifies its own answers to a tight duality gap."""

from __future__ import annotations

import numpy as np
import pytest
from celer import LogisticRegression, celer_path
from scipy.special import expit

from selica.solvers import lasso_path_batch, logistic_path_batch

KINDS = (
    "wide",
    "tall",
    "correlated",
    "duplicated",
    "constant",
    "resampled",
    "zero response",
    "one sample",
    "one variable",
    "own weights",
)
# Asked of both: relative to half the weighted sum of squares of y, to the loss of even odds.
GAP, GAP_LOGISTIC = 1e-13, 1e-11


def _lasso_problem(kind, seed):
    """X, y, weights (2, n), penalties; columns of unequal length, weights of several kinds."""
    rng = np.random.default_rng([KINDS.index(kind), seed])
    n, p = int(rng.integers(15, 60)), int(rng.integers(10, 60))
    if kind in ("wide", "duplicated", "resampled"):
        p = n + int(rng.integers(5, 80))
    if kind == "tall":
        n = p + int(rng.integers(20, 100))
    n = 1 if kind == "one sample" else n
    p = 1 if kind == "one variable" else p
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3.0, p)
    if kind == "correlated":
        X += 3.0 * rng.standard_normal((n, 1))
    if kind == "duplicated":
        X[:, 1], X[:, 2], X[:, 4] = X[:, 0], -X[:, 0], 0.5 * X[:, 3]
    if kind == "constant":
        X[:, 1], X[:, 2] = 1.7, 0.0
    w = np.where(rng.random(p) < 0.2, rng.standard_normal(p), 0.0)
    w[0] = 1.0
    y = np.zeros(n) if kind == "zero response" else 0.8 + X @ w + rng.standard_normal(n)
    weights = np.ones((2, n))
    if kind == "resampled":
        weights = rng.multinomial(n, np.full(n, 1 / n), size=2).astype(float)
        assert np.all(np.any(weights == 0.0, axis=1))
    if kind in ("own weights", "duplicated", "constant", "one sample"):
        weights = rng.exponential(size=(2, n))
    top = max(np.abs(X.T @ (c * y)).max() for c in weights)
    return X, y, weights, (top or 1.0) * np.geomspace(1.1, 0.03, 7)


def _rows(X, y, c, intercept):
    """Rows scaled by the root of the weights, about their weighted mean with an intercept."""
    if intercept:
        X, y = X - c @ X / c.sum(), y - c @ y / c.sum()
    return np.asfortranarray(np.sqrt(c)[:, None] * X), np.sqrt(c) * y


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", KINDS)
def test_lasso(kind, seed):
    X, y, weights, lams = _lasso_problem(kind, seed)
    intercept = bool(seed % 2) and kind != "one sample"
    fit = lasso_path_batch(X, y, lams, weights, fit_intercept=intercept, tol=GAP)
    assert fit.converged, np.nanmax(fit.gap)
    unique = 0
    for m, c in enumerate(weights):
        Z, z = _rows(X, y, c, intercept)
        half = 0.5 * z @ z
        # its unit is the objective over n, its tolerance is relative to the mean square of z
        options = {"tol": GAP / 2, "max_iter": 200}
        _, coefs, gaps = celer_path(Z, z, "lasso", alphas=lams / len(z), **options)
        assert np.all(gaps * len(z) <= GAP * half)
        # half the squared distance of a fit from the best one is at most its gap
        apart = 2.0 * np.sqrt(2.0 * GAP * half)
        for step, lam in enumerate(lams):
            ours, theirs = fit.coef[m, step], coefs[:, step]
            left, other = z - Z @ ours, z - Z @ theirs
            objective = 0.5 * left @ left + lam * np.abs(ours).sum()
            peer = 0.5 * other @ other + lam * np.abs(theirs).sum()
            assert abs(objective - peer) <= GAP * half
            assert np.linalg.norm(left - other) <= apart
            # unique if the columns that reach the penalty, or nearly do, are independent
            near = np.abs(Z.T @ other) >= lam * (1.0 - 1e-5)
            assert np.all(near[ours != 0.0])
            if np.count_nonzero(near) <= len(z):
                least = np.linalg.svd(Z[:, near], compute_uv=False).min(initial=np.inf)
                if least > 1e-3:
                    unique += 1
                    assert np.linalg.norm(ours - theirs) <= apart / least
    assert unique >= (1 if kind == "duplicated" else lams.size)


def _labels_problem(seed):
    rng = np.random.default_rng([seed, 1])
    n, p = int(rng.integers(20, 70)), int(rng.integers(1, 90))
    p = 1 if seed % 6 == 5 else p
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 2.0, p)
    if seed % 3 == 1 and p > 3:
        X[:, 1], X[:, 2], X[:, 3] = X[:, 0], 0.0, 1.3
    y = (rng.random(n) < expit(2.0 * X[:, 0] - 0.5)).astype(float)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=2)
    top = max(np.abs(X.T @ (c * (y - 0.5))).max() for c in counts)
    return X, y, counts, top * np.geomspace(1.05, 0.1, 5)


def _loss(X, y, c, lam, w):
    eta = X @ w
    return np.sum(c * (np.logaddexp(0.0, eta) - y * eta)) + lam * np.abs(w).sum()


@pytest.mark.parametrize("seed", range(30))
def test_logistic(seed):
    X, y, counts, lams = _labels_problem(seed)
    fit = logistic_path_batch(X, y, lams, counts, fit_intercept=False, tol=GAP_LOGISTIC)
    assert fit.converged, np.nanmax(fit.gap)
    for m, c in enumerate(counts):
        repeated = np.repeat(np.arange(y.size), c)
        null = c.sum() * np.log(2.0)
        for step, lam in enumerate(lams):
            options = {"tol": GAP_LOGISTIC, "max_iter": 200, "solver": "celer"}
            peer = LogisticRegression(C=1 / lam, **options)
            peer.fit(X[repeated], y[repeated])
            ours, theirs = fit.coef[m, step], peer.coef_[0]
            difference = _loss(X, y, c, lam, ours) - _loss(X, y, c, lam, theirs)
            assert abs(difference) <= GAP_LOGISTIC * null
            # the fitted odds are unique, as far as the gap and half the curvature allow
            odds, others = X[c > 0] @ ours, X[c > 0] @ theirs
            least = 0.5 * np.min(expit(others) * expit(-others))
            apart = 2.0 * np.sqrt(2.0 * GAP_LOGISTIC * null / least)
            assert np.linalg.norm(odds - others) <= apart
