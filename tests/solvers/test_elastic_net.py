"""The ridge beside the l1 penalty: against scikit-learn, against definitions, at its boundaries."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import ElasticNet

from selica._core.errors import ArgumentError
from selica.solvers import (
    knockoff_path_batch,
    lasso_batch,
    lasso_path_batch,
    logistic_path_batch,
)

_SHAPES = ((60, 25), (30, 90), (25, 25), (80, 120))


def _problem(seed, n, p, members=2, twins=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.3, 3.0, p) + rng.standard_normal(p)
    if twins:
        X[:, 1] = X[:, 0]
        X[:, 3] = -X[:, 2]
    w = np.where(rng.random(p) < 0.2, rng.standard_normal(p), 0.0)
    w[:4] = 1.0
    y = X @ w + rng.standard_normal(n)
    weights = rng.multinomial(n, np.full(n, 1 / n), size=members).astype(float)
    if seed % 2:
        weights = rng.exponential(size=(members, n))
    top = max(np.abs(c * (y - c @ y / c.sum()) @ X).max() for c in weights)
    return X, y, weights, top * np.geomspace(0.7, 0.01, 6)


def _peer(X, y, c, lam, lam2, intercept):
    """scikit-learn's answer, with alpha = (lam + lam2) / n and l1_ratio = lam / (lam + lam2)."""
    used = c > 0
    peer = ElasticNet(
        alpha=(lam + lam2) / c.sum(), l1_ratio=lam / (lam + lam2), fit_intercept=intercept,
        tol=1e-15, max_iter=1_000_000,
    )  # fmt: skip
    return peer.fit(X[used], y[used], sample_weight=c[used])


def _objective(X, y, c, lam, lam2, w, a=0.0, u=1.0, s=1.0):
    ridge = 0.5 * lam2 * np.sum((s * w) ** 2)
    return 0.5 * np.sum(c * (y - a - X @ w) ** 2) + lam * np.sum(u * np.abs(w)) + ridge


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("intercept", [False, True])
def test_against_scikit_learn(shape, intercept):
    X, y, weights, lams = _problem(sum(shape), *shape, twins=True)
    if not intercept:
        X, y = X - X.mean(axis=0), y - y.mean()
    for lam2 in (0.3, 30.0, 0.7 * lams):
        fit = lasso_path_batch(X, y, lams, weights, lam2=lam2, fit_intercept=intercept, tol=1e-12)
        assert fit.converged
        ridge = np.broadcast_to(lam2, lams.shape)
        for m, c in enumerate(weights):
            for k in (1, 4):
                peer = _peer(X, y, c, lams[k], ridge[k], intercept)
                # its stopping rule, not ours, limits the agreement
                np.testing.assert_allclose(fit.coef[m, k], peer.coef_, atol=1e-8)
                assert fit.intercept[m, k] == pytest.approx(peer.intercept_, abs=1e-7)
                np.testing.assert_allclose(fit.coef[m, k, 0], fit.coef[m, k, 1], atol=1e-10)
                np.testing.assert_allclose(fit.coef[m, k, 2], -fit.coef[m, k, 3], atol=1e-10)
        assert np.all(fit.coef[:, -1, 0] != 0.0)


@pytest.mark.parametrize("shape", _SHAPES)
@pytest.mark.parametrize("standardize", [False, True])
def test_is_the_lasso_with_rows_appended(shape, standardize):
    X, y, weights, lams = _problem(sum(shape), *shape)
    p = shape[1]
    rng = np.random.default_rng(1)
    u = np.where(rng.random((2, p)) < 0.5, 1.0, 2.0)
    lam2 = np.array([4.0, 0.5, 0.0, 3.0, 0.1, 25.0])  # up and down, and none
    settings = {"tol": 1e-13, "fit_intercept": True}
    fit = lasso_path_batch(X, y, lams, weights, u, lam2=lam2, standardize=standardize, **settings)
    assert fit.converged
    for m, c in enumerate(weights):
        mean = c @ X / c.sum()
        sd = np.sqrt(c @ (X - mean) ** 2 / c.sum()) if standardize else np.ones(p)
        Z, v = (X - mean) / sd, y - c @ y / c.sum()
        for k in range(6):
            A = np.concatenate([Z, np.sqrt(lam2[k]) * np.eye(p)])
            one = lasso_path_batch(
                A, np.append(v, np.zeros(p)), lams[k : k + 1],
                np.append(c, np.ones(p))[None], u[m], tol=1e-13,
            )  # fmt: skip
            np.testing.assert_allclose(fit.coef[m, k], one.coef[0, 0] / sd, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_certificate_is_right_and_as_tight_as_that_of_the_lasso(seed):
    X, y, weights, lams = _problem(seed, *_SHAPES[seed])
    for lam2 in (1e-9, 1.0, 1e3):
        fit = lasso_path_batch(X, y, lams, weights, lam2=lam2)
        assert fit.gap.max() < 1e-12
        for m, c in enumerate(weights):
            half = 0.5 * np.sum(c * y**2)
            for k, lam in enumerate(lams):
                w = fit.coef[m, k]
                slope = X.T @ (c * (y - X @ w)) - lam2 * w
                active = w != 0
                off = np.abs(slope[active] - lam * np.sign(w[active])).max(initial=0.0)
                off = max(off, (np.abs(slope[~active]) - lam).max(initial=0.0))
                assert off < 1e-9 * lams[0]
                assert fit.kkt[m, k] == pytest.approx(off, abs=1e-10 * lams[0])
                best = _dual(X, y, c, lam, lam2, w)
                gap = (_objective(X, y, c, lam, lam2, w) - best) / half
                assert fit.gap[m, k] >= gap - 1e-14


def _dual(X, y, c, lam, lam2, w, a=0.0):
    """The dual objective at the residual, every column counted."""
    r = y - a - X @ w
    over = np.maximum(np.abs(X.T @ (c * r)) - lam, 0.0)
    return np.sum(c * r * y) - 0.5 * np.sum(c * r * r) - np.sum(over**2) / (2.0 * lam2)


def test_a_fit_that_stops_early_says_how_far_it_is():
    """The gap of a poor point is at least its distance from the optimum, and not much more."""
    from selica.solvers.newton import ridge_conjugate

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 12)), rng.standard_normal(30)
    lam, lam2 = 3.0, 2.0
    best = lasso_path_batch(X, y, [lam], np.ones((1, 30)), lam2=lam2).coef[0, 0]
    low = _objective(X, y, 1.0, lam, lam2, best)
    for size in (1e-1, 1e-3):
        w = best + size * rng.standard_normal(12)
        r = y - X @ w
        q = X.T @ r - lam2 * w
        scale = min(1.0, lam / np.abs(q).max())
        pay, bend = np.full(12, lam), np.full(12, lam2)
        dual = scale * r @ y - 0.5 * scale**2 * r @ r - ridge_conjugate(q, w, pay, bend, scale)
        assert dual <= low
        # the lasso of the augmented design has this dual point at the same scale
        plain = scale * r @ y - 0.5 * scale**2 * (r @ r + lam2 * w @ w)
        assert dual >= plain


def test_members_with_their_own_penalties():
    X, y, weights, lams = _problem(2, 40, 30, members=3)
    lam, lam2 = lams[[1, 3, 5]], np.array([0.0, 2.0, 9.0])
    fit = lasso_batch(X, y, lam, weights, lam2=lam2)
    for m, c in enumerate(weights):
        one = lasso_path_batch(X, y, lam[m : m + 1], c[None], lam2=lam2[m])
        np.testing.assert_allclose(fit.coef[m], one.coef[0], atol=1e-10)
    order = np.array([2, 0, 1])
    path = lasso_path_batch(X, y, lam[order], weights, lam2=lam2[order])
    both = lasso_path_batch(X, y, np.tile(lam, (3, 1)), weights, lam2=np.tile(lam2, (3, 1)))
    np.testing.assert_array_equal(path.coef, both.coef)
    np.testing.assert_array_equal(path.lam2, lam2)
    np.testing.assert_allclose(path.coef[[0, 1, 2], [0, 1, 2]], fit.coef[:, 0], atol=1e-10)


def test_more_variables_than_rows_and_no_l1_penalty():
    X, y, weights, _ = _problem(1, 20, 35)
    fit = lasso_path_batch(X, y, [0.0], weights, lam2=2.0)
    assert fit.converged
    for m, c in enumerate(weights):
        exact = np.linalg.solve((X.T * c) @ X + 2.0 * np.eye(35), X.T @ (c * y))
        np.testing.assert_allclose(fit.coef[m, 0], exact, atol=1e-9)
    assert fit.n_active.min() == 35


def test_unpenalised_variables_keep_their_ridge():
    X, y, weights, _ = _problem(3, 40, 10)
    u = np.ones(10)
    u[4] = 0.0
    fit = lasso_path_batch(X, y, [1e9], weights, u, lam2=50.0)
    for m, c in enumerate(weights):
        x = X[:, 4]
        assert fit.coef[m, 0, 4] == pytest.approx(x @ (c * y) / (x**2 @ c + 50.0), rel=1e-12)


def test_knockoff_copies_get_the_same_ridge():
    X, y, _, lams = _problem(4, 50, 20)
    copies = np.random.default_rng(5).standard_normal((3, 50, 20))
    settings = {"lam2": 0.5 * lams, "fit_intercept": True, "standardize": True, "tol": 1e-12}
    fit = knockoff_path_batch(X, y, lams, lambda b: copies[b], 3, **settings)
    labels = (y > np.median(y)).astype(float)
    other = knockoff_path_batch(
        X, labels, 0.2 * lams, lambda b: copies[b], 3, loss="logistic", **settings
    )
    for b in range(3):
        both = np.hstack([X, copies[b]])
        one = lasso_path_batch(both, y, lams, np.ones((1, 50)), **settings)
        np.testing.assert_allclose(fit.coef[b], one.coef[0], atol=1e-10)
        one = logistic_path_batch(both, labels, 0.2 * lams, np.ones((1, 50)), **settings)
        np.testing.assert_allclose(other.coef[b], one.coef[0], atol=1e-8)


def _logistic(X, y, c, lam, lam2, w, a, s=1.0):
    eta = X @ w + a
    smooth = np.sum(c * (np.logaddexp(0, eta) - y * eta)) + 0.5 * lam2 * np.sum((s * w) ** 2)
    return smooth + lam * np.sum(s * np.abs(w))


@pytest.mark.parametrize("shape", [(60, 12), (30, 50)])
@pytest.mark.parametrize("standardize", [False, True])
def test_labels_against_a_general_optimiser(shape, standardize):
    X, v, weights, lams = _problem(6, *shape, twins=True)
    y = (v > np.median(v)).astype(float)
    p = shape[1]
    lams = 0.15 * lams[:4] / np.abs(v).max()
    lam2 = np.array([2.0, 0.5, 0.8, 0.05])
    fit = logistic_path_batch(X, y, lams, weights, lam2=lam2, tol=1e-13, standardize=standardize)
    assert fit.converged
    for m, c in enumerate(weights):
        mean = c @ X / c.sum()
        s = np.sqrt(c @ (X - mean) ** 2 / c.sum()) if standardize else np.ones(p)
        for k in (1, 3):
            w, a = fit.coef[m, k], fit.intercept[m, k]
            slope = X.T @ (c * (y - expit(X @ w + a)))
            # conditions of the optimum, which is unique; a gap leaves a gradient its root
            active = w != 0
            want = lams[k] * s * np.sign(w) + lam2[k] * s**2 * w
            bend = c @ X**2 / 4 + lam2[k] * s**2
            off = np.sqrt(2e-13 * np.log(2) * c.sum() * bend)
            assert np.all(np.abs(slope - want)[active] <= off[active])
            assert np.all(np.abs(slope)[~active] <= (lams[k] * s + off)[~active])
            assert np.sum(c * (y - expit(X @ w + a))) == pytest.approx(0.0, abs=1e-8)
            assert w[0] == pytest.approx(w[1], abs=1e-8)
            ours = _logistic(X, y, c, lams[k], lam2[k], w, a, s)
            theirs = _by_halves(X, y, c, lams[k], lam2[k], s)
            assert ours <= theirs + 1e-9 * theirs
            assert ours >= theirs - 1e-6 * theirs


def _by_halves(X, y, c, lam, lam2, s):
    """Smallest objective: w as a difference of positive parts, which makes it smooth."""
    p = X.shape[1]

    def f(x):
        w, a = x[:p] - x[p:-1], x[-1]
        eta = X @ w + a
        left = c * (expit(eta) - y)
        slope = X.T @ left + lam2 * s**2 * w
        value = np.sum(c * (np.logaddexp(0, eta) - y * eta)) + lam * np.sum(
            np.concatenate([s, s]) * x[:-1]
        )
        gradient = np.concatenate([slope + lam * s, lam * s - slope, [left.sum()]])
        return value + 0.5 * lam2 * np.sum((s * w) ** 2), gradient

    found = minimize(
        f, np.zeros(2 * p + 1), jac=True, method="L-BFGS-B",
        bounds=[(0.0, None)] * (2 * p) + [(None, None)],
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    return found.fun


def test_no_ridge_is_the_lasso():
    X, y, weights, lams = _problem(8, 40, 60)
    fit = lasso_path_batch(X, y, lams, weights)
    same = lasso_path_batch(X, y, lams, weights, lam2=np.zeros(6))
    np.testing.assert_array_equal(fit.coef, same.coef)
    np.testing.assert_array_equal(fit.gap, same.gap)
    tiny = lasso_path_batch(X, y, lams, weights, lam2=1e-13, tol=1e-10)
    assert tiny.converged
    np.testing.assert_allclose(tiny.coef, fit.coef, atol=1e-9)


def test_near_dependence_with_a_ridge_too_small_to_be_felt():
    X, y, weights, lams = _problem(9, 30, 20, twins=True)
    for lam2 in (1e-300, 1e-30, 1e-14, 1e-9, 1e-6):
        fit = lasso_path_batch(X, y, lams, weights, lam2=lam2)
        assert fit.converged


@pytest.mark.parametrize("lam2", [1e12, 1e100, 1e300])
def test_a_ridge_too_large_for_any_coefficient(lam2):
    X, y, weights, lams = _problem(2, 30, 20)
    fit = lasso_path_batch(X, y, lams, weights, lam2=lam2)
    assert fit.converged
    # coefficients are those of the columns one by one
    for m, c in enumerate(weights):
        pull = X.T @ (c * y)
        each = np.sign(pull) * np.maximum(np.abs(pull) - lams[-1], 0.0) / lam2
        np.testing.assert_allclose(fit.coef[m, -1], each, rtol=1e-6)


@pytest.mark.parametrize(
    ("lam2", "message"),
    [
        (-1.0, "lam2 must be at least 0"),
        ([1.0, 2.0], "lam2 must be a number or have one entry for each of the 3 penalties"),
        (np.nan, "lam2 must be finite"),
    ],
)
def test_bad_ridges(lam2, message):
    with pytest.raises(ArgumentError, match=message):
        lasso_path_batch(np.eye(3), np.ones(3), [3.0, 2.0, 1.0], np.ones((1, 3)), lam2=lam2)
