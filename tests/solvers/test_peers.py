"""The ensemble solvers against scikit-learn and celer, 100 random small problems for each of them.

Objectives must be equal, and coefficients where they are unique. glmnet, scikit-survival and adelie
have environments of their own: `python -m benchmarks.peers.agreement`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

import celer
import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, PoissonRegressor

from selica import solvers

KINDS = ("wide", "tall", "ties", "zero weights", "degenerate resample")
SEEDS = 20
# Of the solvers: relative to the loss of the null model. Of the comparison: peers stop a bit above.
TOL, APART = 1e-12, 1e-9


class Problem(NamedTuple):
    """A design, a linear predictor, row weights and the share of the ridge."""

    X: np.ndarray
    eta: np.ndarray
    c: np.ndarray
    share: float
    rng: np.random.Generator


def problems(kind: str, salt: int) -> Iterator[Problem]:
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, KINDS.index(kind), salt])
        n = int(rng.integers(12, 30))
        p = n + int(rng.integers(1, 20)) if kind == "wide" else int(rng.integers(1, 10))
        X = rng.standard_normal((n, p)) * rng.uniform(0.5, 2.0, p)
        c = rng.exponential(size=n)
        if kind == "ties":  # of rows and of columns
            X = np.round(X)
            X[1] = X[0]
            if p > 1:
                X[:, -1] = X[:, 0]
        if kind == "zero weights":
            c = (rng.permutation(n) % 2).astype(float)
        if kind == "degenerate resample":  # fewer rows than columns are left
            c = np.zeros(n)
            c[rng.choice(n, 3, replace=False)] = (1.0, 2.0, 5.0)
        yield Problem(X, X[:, 0] + X[:, -1], c, float(rng.choice([0.2, 0.5])), rng)


def check_objectives(ours: float, peers: float, unit: float) -> None:
    assert abs(ours - peers) <= APART * unit


def check_coefficients(ours, peers, X, c, slope, lam, lam2=0.0, unit=1.0) -> int:
    """Equal where columns whose slope reaches the penalty are independent, or with a ridge.

    Returns whether they were compared.
    """
    near = np.abs(X.T @ slope) >= lam * (1.0 - 1e-4)
    if lam2 == 0.0:
        rows = np.sqrt(c)[:, None] * X[:, near]
        if near.sum() > np.count_nonzero(c):
            return 0
        if np.linalg.svd(rows, compute_uv=False).min(initial=np.inf) < 0.1:
            return 0
    np.testing.assert_allclose(ours, peers, rtol=0, atol=30 * np.sqrt(APART * max(unit, 1.0)))
    return 1


def squared(X, y, c, w, a, lam, lam2, u=1.0):
    r = y - X @ w - a
    return 0.5 * c @ r**2 + lam * np.sum(u * np.abs(w)) + 0.5 * lam2 * w @ w, -c * r


def logistic(X, y, c, w, a, lam, lam2=0.0):
    eta = X @ w + a
    value = c @ (np.logaddexp(0.0, eta) - y * eta) + lam * np.abs(w).sum() + 0.5 * lam2 * w @ w
    return value, c * (1.0 / (1.0 + np.exp(-eta)) - y)


@pytest.mark.parametrize("kind", KINDS)
def test_lasso_and_elastic_net(kind):
    compared = 0
    for number, (X, eta, c, share, rng) in enumerate(problems(kind, 1)):
        intercept = bool(number % 2)
        y = 0.5 + eta + rng.standard_normal(eta.size)
        centre = c @ y / c.sum() if intercept else 0.0
        unit = 0.5 * c @ (y - centre) ** 2
        lams = np.abs(X.T @ (c * (y - centre))).max() * np.array([1.1, 0.5, 0.1])
        options = {"fit_intercept": intercept, "tol": 1e-14, "max_iter": 1_000_000}
        for ridge in (0.0, share):
            lam2 = ridge / (1.0 - ridge) * lams
            fit = solvers.lasso_path_batch(
                X, y, lams, c[None], lam2=lam2, fit_intercept=intercept, tol=TOL
            )
            assert fit.converged
            for k, lam in enumerate(lams):
                alpha = (lam + lam2[k]) / c.sum()
                peer = Lasso(alpha, **options)
                if ridge:
                    peer = ElasticNet(alpha, l1_ratio=1.0 - ridge, **options)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)  # objectives tell
                    peer.fit(X, y, sample_weight=c)
                w, v = fit.coef[0, k], peer.coef_
                ours, slope = squared(X, y, c, w, fit.intercept[0, k], lam, lam2[k])
                theirs, _ = squared(X, y, c, v, peer.intercept_, lam, lam2[k])
                check_objectives(ours, theirs, unit)
                moved = X - c @ X / c.sum() if intercept else X
                compared += check_coefficients(w, v, moved, c, slope, lam, lam2[k], unit)
    assert compared >= 2 * SEEDS


@pytest.mark.parametrize("kind", KINDS)
def test_elastic_net_with_penalty_weights_beside_celer(kind):
    compared = 0
    for X, eta, c, share, rng in problems(kind, 2):
        y = eta + rng.standard_normal(eta.size)
        u = rng.uniform(0.5, 2.0, X.shape[1])
        rows, response = np.asfortranarray(np.sqrt(c)[:, None] * X), np.sqrt(c) * y
        unit = 0.5 * response @ response
        lam = 0.2 * np.max(np.abs(rows.T @ response) / u)
        # celer's ridge has the penalty weights too: its elastic net is asked without them
        for lam2, factor in ((0.0, u), (share * lam, np.ones_like(u))):
            fit = solvers.lasso_path_batch(X, y, [lam], c[None], factor, lam2=lam2, tol=TOL)
            assert fit.converged
            options = {"tol": 1e-14, "fit_intercept": False, "max_iter": 500}
            alpha, ratio = (lam + lam2) / len(y), lam / (lam + lam2)
            peer = celer.Lasso(alpha, weights=factor, **options)
            if lam2:
                peer = celer.ElasticNet(alpha, l1_ratio=ratio, **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                peer.fit(rows, response)
            w, v = fit.coef[0, 0], peer.coef_
            ours, slope = squared(X, y, c, w, 0.0, lam, lam2, factor)
            theirs, _ = squared(X, y, c, v, 0.0, lam, lam2, factor)
            check_objectives(ours, theirs, unit)
            compared += check_coefficients(
                w * factor, v * factor, X / factor, c, slope, lam, lam2, unit
            )
    assert compared >= SEEDS


def labels(eta: np.ndarray, c: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Both are there with a positive weight."""
    y = (rng.random(eta.size) < 1.0 / (1.0 + np.exp(-eta))).astype(float)
    there = np.flatnonzero(c)
    y[there[:2]] = (0.0, 1.0)
    return y


@pytest.mark.parametrize("kind", KINDS)
def test_labels_beside_liblinear_and_celer(kind):
    """Without an intercept: liblinear would penalise it, celer has none."""
    compared = 0
    for number, (X, eta, c, _, rng) in enumerate(problems(kind, 3)):
        if number % 2:
            c = np.ceil(c)  # celer has no weights: rows are repeated
        y = labels(eta, c, rng)
        unit = c.sum() * np.log(2.0)
        lams = np.abs(X.T @ (c * (y - 0.5))).max() * np.array([0.5, 0.1])
        fit = solvers.logistic_path_batch(X, y, lams, c[None], fit_intercept=False, tol=TOL)
        assert fit.converged
        for k, lam in enumerate(lams):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                if number % 2:
                    drawn = np.repeat(np.arange(y.size), c.astype(int))
                    peer = celer.LogisticRegression(C=1.0 / lam, tol=1e-13, max_iter=500)
                    peer.fit(X[drawn], y[drawn])
                else:
                    peer = LogisticRegression(
                        l1_ratio=1.0, C=1.0 / lam, solver="liblinear", fit_intercept=False,
                        tol=1e-12, max_iter=100_000, random_state=0,
                    )  # fmt: skip
                    peer.fit(X, y, sample_weight=c)
            w, v = fit.coef[0, k], peer.coef_[0]
            ours, slope = logistic(X, y, c, w, 0.0, lam)
            theirs, _ = logistic(X, y, c, v, 0.0, lam)
            check_objectives(ours, theirs, unit)
            curved = c * np.exp(X @ w) / (1.0 + np.exp(X @ w)) ** 2
            compared += check_coefficients(w, v, X, curved, slope, lam, 0.0, unit)
    assert compared >= SEEDS // 4


@pytest.mark.parametrize("kind", KINDS)
def test_labels_with_an_intercept_beside_saga(kind):
    for X, eta, c, share, rng in problems(kind, 4):
        y = labels(eta, c, rng)
        centre = c @ y / c.sum()
        unit = c.sum() * np.log(2.0)
        lam = 0.4 * np.abs(X.T @ (c * (y - centre))).max()
        lam2 = share * lam
        fit = solvers.logistic_path_batch(X, y, [lam], c[None], lam2=lam2, tol=TOL)
        assert fit.converged
        peer = LogisticRegression(
            l1_ratio=lam / (lam + lam2), C=1.0 / (lam + lam2), solver="saga", tol=1e-10,
            max_iter=20_000, random_state=0,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if kind == "degenerate resample":  # a row of large weight makes its steps too long
                drawn = np.repeat(np.arange(y.size), c.astype(int))
                peer.fit(X[drawn], y[drawn])
            else:
                peer.fit(X, y, sample_weight=c)
        w, v = fit.coef[0, 0], peer.coef_[0]
        ours, slope = logistic(X, y, c, w, fit.intercept[0, 0], lam, lam2)
        theirs, _ = logistic(X, y, c, v, peer.intercept_[0], lam, lam2)
        check_objectives(ours, theirs, unit)
        check_coefficients(w, v, X, c, slope, lam, lam2, unit)


@pytest.mark.parametrize("kind", KINDS)
def test_counts_with_a_ridge(kind):
    """scikit-learn has counts without the first penalty: the path is one penalty of zero."""
    for X, eta, c, share, rng in problems(kind, 5):
        y = rng.poisson(np.exp(0.3 * eta)).astype(float)
        y[np.flatnonzero(c)[0]] += 1.0
        lam2 = share * c.sum()
        fit = solvers.poisson_path_batch(X, y, [0.0], c[None], lam2=lam2, tol=TOL)
        peer = PoissonRegressor(alpha=share, solver="newton-cholesky", tol=1e-12, max_iter=1000)
        peer.fit(X, y, sample_weight=c)

        def objective(w, a, X=X, y=y, c=c, lam2=lam2):
            return c @ (np.exp(X @ w + a) - y * (X @ w + a)) + 0.5 * lam2 * w @ w

        mean = c @ y / c.sum()
        best = c @ (y - y * np.log(np.where(y > 0, y, 1.0)))
        unit = objective(np.zeros(X.shape[1]), np.log(mean)) - best
        ours = objective(fit.coef[0, 0], fit.intercept[0, 0])
        check_objectives(ours, objective(peer.coef_, peer.intercept_), unit)
        np.testing.assert_allclose(fit.coef[0, 0], peer.coef_, rtol=0, atol=1e-5)


def classes_objective(X, y, c, W, a, lam, lam2):
    eta = X @ W + a
    value = c @ (logsumexp(eta, axis=1) - eta[np.arange(y.size), y])
    return value + lam * np.abs(W).sum() + 0.5 * lam2 * np.sum(W**2)


@pytest.mark.parametrize("kind", KINDS)
def test_classes_with_a_ridge(kind):
    for X, eta, c, share, rng in problems(kind, 6):
        y = np.argmax(np.outer(eta, [-1.0, 0.0, 1.0]) + rng.gumbel(size=(eta.size, 3)), axis=1)
        y[np.flatnonzero(c)[:3]] = (0, 1, 2)
        lam2 = share * c.sum()
        fit = solvers.multinomial_path_batch(
            X, y, [0.0], c[None], lam2=lam2, penalty="each", tol=TOL
        )
        peer = LogisticRegression(C=1.0 / lam2, solver="newton-cholesky", tol=1e-12, max_iter=1000)
        peer.fit(X, y, sample_weight=c)
        unit = c.sum() * np.log(3.0)
        ours = classes_objective(X, y, c, fit.coef[0, 0], fit.intercept[0, 0], 0.0, lam2)
        theirs = classes_objective(X, y, c, peer.coef_.T, peer.intercept_, 0.0, lam2)
        check_objectives(ours, theirs, unit)
        np.testing.assert_allclose(fit.coef[0, 0], peer.coef_.T, rtol=0, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS[:-1])  # saga stops at once while coefficients stay at zero
def test_classes_each_beside_saga(kind):
    for X, eta, c, share, rng in problems(kind, 7):
        c = np.ceil(c)
        y = np.argmax(np.outer(eta, [-1.0, 0.0, 1.0]) + rng.gumbel(size=(eta.size, 3)), axis=1)
        y[np.flatnonzero(c)[:3]] = (0, 1, 2)
        shares = np.bincount(y, c, 3) / c.sum()
        lam = 0.3 * np.abs(X.T @ (c[:, None] * (shares - np.eye(3)[y]))).max()
        lam2 = share * lam
        fit = solvers.multinomial_path_batch(
            X, y, [lam], c[None], lam2=lam2, penalty="each", tol=TOL
        )
        peer = LogisticRegression(
            l1_ratio=lam / (lam + lam2), C=1.0 / (lam + lam2), solver="saga", tol=1e-10,
            max_iter=50_000, random_state=0,
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            drawn = np.repeat(np.arange(y.size), c.astype(int))
            peer.fit(X[drawn], y[drawn])
        ours = classes_objective(X, y, c, fit.coef[0, 0], fit.intercept[0, 0], lam, lam2)
        theirs = classes_objective(X, y, c, peer.coef_.T, peer.intercept_, lam, lam2)
        check_objectives(ours, theirs, c.sum() * np.log(3.0))


ROWS = np.array(
    [
        (1.0, 0.5, -0.3), (-0.8, 1.2, 0.4), (0.3, -1.0, 1.1), (1.5, 0.2, -0.9), (-1.2, -0.7, 0.6),
        (0.1, 0.9, -1.4), (0.7, -0.4, 0.2), (-0.5, 0.6, 0.8),
    ]
)  # fmt: skip


def judge(kind: str):
    """Loss, weights, penalty, solution and objective by brute force, as printed elsewhere."""
    losses = import_module("benchmarks.peers.losses")
    time = np.array([2.0, 3.0, 3.0, 5.0, 5.0, 7.0, 8.0, 9.0])
    event = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    c = np.array([1.0, 2.0, 1.0, 1.0, 3.0, 0.0, 1.0, 2.0])
    breslow = (c, 0.2, [-1.1769392357, 0.3201738359, -2.3713955332], 14.4321686046)
    counts = losses.Poisson(np.array([3.0, 0.0, 1.0, 5.0, 0.0, 2.0, 2.0, 1.0]))
    marks = losses.Logistic(np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0]), True)
    drawn = np.array([1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0, 2.0])
    return {
        "cox": (losses.Cox(time, event), *breslow),
        "cox by sums": (losses.CoxBySums(time, event), *breslow),
        "efron": (
            losses.Cox(time, event, None, "efron"),
            *(c, 0.2, [-1.3886423916, 0.2945342679, -2.7686666067], 13.3549962703),
        ),
        "poisson": (
            *(counts, np.ones(8), 1.0, [0.859676122043, 0.0, -0.196676763187], 1.978095599707),
        ),
        "logistic": (marks, drawn, 0.5, [3.032487164489, 0.0, 0.0], 2.579466260006),
    }[kind]


@pytest.mark.parametrize("kind", ["cox", "cox by sums", "efron", "poisson", "logistic"])
def test_the_judge_of_the_benchmarks(kind):
    relative_gaps = import_module("benchmarks.peers.losses").relative_gaps
    loss, c, lam, solution, objective = judge(kind)
    w = np.array(solution)
    value = loss.value(loss.settle(ROWS @ w, c), c) + lam * np.abs(w).sum()
    assert value == pytest.approx(objective, abs=2e-10)
    at, near, far = relative_gaps(loss, ROWS, c, np.full(3, lam), np.outer([1.0, 0.99, 0.9], w))
    assert abs(at) < 1e-9
    assert 1e-6 < near < far
