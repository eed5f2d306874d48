"""Losses without a kernel: against the compiled logistic path, and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from selica._core.losses import LogisticLoss, PoissonLoss, RowLoss, SquaredLoss
from selica.sampling import iid_copies
from selica.solvers import knockoff_path_batch, lasso_path_batch, logistic_path_batch
from selica.solvers.ensemble import make_problem, solve

KEEP = ("coef", "sparse", "counts", "moments", "entry")


class SlowLogistic(LogisticLoss):
    """The log-loss without its kernel and without its closed forms."""

    kernel = None
    conjugate, null = RowLoss.conjugate, RowLoss.null


class SlowSquares(SquaredLoss):
    """The squared loss without its kernel."""

    kernel = None
    quadratic = False


def _problem(seed, n=60, p=40, members=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 3] = 2.0
    y = (rng.random(n) < 1.0 / (1.0 + np.exp(0.5 - 2.0 * X[:, 0]))).astype(float)
    weights = rng.multinomial(n, np.full(n, 1.0 / n), size=members).astype(float)
    return X, y, weights, np.geomspace(15.0, 1.0, 6)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"lam2": 0.5},
        {"standardize": True, "lam2": 0.3},
        {"fit_intercept": False},
        {"max_active": 5},
    ],
    ids=str,
)
def test_the_logistic_path_without_its_kernel(settings):
    X, y, weights, lams = _problem(0)
    known = logistic_path_batch(X, y, lams, weights, keep=KEEP, tol=1e-13, **settings)
    problem = make_problem(
        X, y, lams, weights, SlowLogistic(), keep=KEEP, tol=1e-11,
        **({"fit_intercept": True} | settings),
    )  # fmt: skip
    found = solve(problem)
    assert found.converged
    assert np.nanmax(found.kkt) < 1e-4
    for name in ("coef", "intercept", "mean", "second_moment"):
        np.testing.assert_allclose(getattr(found, name), getattr(known, name), atol=1e-6)
    for name in ("counts", "n_active", "first_entry"):
        np.testing.assert_array_equal(getattr(found, name), getattr(known, name))
    assert np.abs(found.sparse - known.sparse).max() < 1e-6
    assert np.array_equal(found.status == "stopped", known.status == "stopped")


def test_columns_without_a_penalty_are_settled_too():
    X, y, weights, lams = _problem(0)
    factor = np.r_[0.0, 2.0, np.ones(38)]
    known = logistic_path_batch(X, y, lams, weights, factor, tol=1e-13)
    found = solve(
        make_problem(
            X, y, lams, weights, SlowLogistic(), penalty_weights=factor, fit_intercept=True,
            tol=1e-12,
        )
    )  # fmt: skip
    assert found.converged
    assert found.kkt.max() < 1e-5

    def objective(fit):
        eta = np.einsum("blp,np->bln", fit.coef, X) + fit.intercept[..., None]
        value = LogisticLoss().total(y, weights[:, None], eta)
        return value + lams * (factor * np.abs(fit.coef)).sum(axis=2)

    assert np.all(objective(found) <= objective(known) + 1e-12)
    np.testing.assert_allclose(found.coef, known.coef, atol=1e-4)


def test_squares_without_their_kernel():
    X, _, weights, lams = _problem(1)
    y = X[:, 0] - X[:, 5] + np.random.default_rng(0).standard_normal(60)
    known = lasso_path_batch(X, y, lams, weights, fit_intercept=True, tol=1e-12)
    found = solve(make_problem(X, y, lams, weights, SlowSquares(), fit_intercept=True, tol=1e-12))
    np.testing.assert_allclose(found.coef, known.coef, atol=1e-9)
    np.testing.assert_allclose(found.intercept, known.intercept, atol=1e-9)


def test_copies_beside_the_design():
    X, y, _, lams = _problem(2, p=8)
    copies = iid_copies(X, random_state=0, members=3)
    known, found = (
        knockoff_path_batch(
            X, y, lams, copies.__getitem__, 3, fit_intercept=True, loss=loss, tol=1e-11,
            keep=("coef", "counts"),
        )
        for loss in ("logistic", SlowLogistic())
    )  # fmt: skip
    np.testing.assert_allclose(found.coef, known.coef, atol=1e-5)
    np.testing.assert_array_equal(found.counts, known.counts)


def test_workers_and_chunks_do_not_show():
    X, y, weights, lams = _problem(3, n=40, p=12, members=20)
    whole = solve(make_problem(X, y, lams, weights, SlowLogistic(), fit_intercept=True))
    alone = [
        solve(make_problem(X, y, lams, row[None], SlowLogistic(), fit_intercept=True)).coef[0]
        for row in weights
    ]
    np.testing.assert_allclose(whole.coef, alone, atol=1e-7)
    seen = []
    solve(make_problem(X, y, lams, weights, SlowLogistic()), None, lambda *done: seen.append(done))
    assert seen[-1] == (20, 20)


def test_the_gap_bounds_what_is_left_to_gain():
    X, y, weights, lams = _problem(4, p=10, members=2)
    exact = solve(make_problem(X, y, lams, weights, SlowLogistic(), tol=1e-12))
    rough = solve(make_problem(X, y, lams, weights, SlowLogistic(), tol=1e-12, max_iter=1))
    unit = weights.sum(axis=1) * np.log(2.0)
    assert not rough.converged
    assert set(np.unique(rough.status)) <= {"max_iter", "converged"}

    def objective(fit):
        eta = np.einsum("blp,np->bln", fit.coef, X)
        value = LogisticLoss().total(y, weights[:, None], eta)
        return value + lams * np.abs(fit.coef).sum(axis=2)

    excess = (objective(rough) - objective(exact)) / unit[:, None]
    assert np.all(rough.gap >= excess - 1e-12)
    assert excess.max() > 1e-8


def test_against_scipy():
    """Counts with a ridge, by a smooth method in the positive and negative parts."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((40, 5))
    y = rng.poisson(np.exp(0.3 + 0.5 * X[:, 0] - 0.4 * X[:, 1])).astype(float)
    c = rng.random(40)
    lam, lam2 = 1.5, 0.7

    def cost(x):
        w, eta = x[:5] - x[5:10], X @ (x[:5] - x[5:10]) + x[10]
        slope = X.T @ (c * (np.exp(eta) - y)) + lam2 * w
        total = np.sum(c * (np.exp(eta) - y * eta)) + lam * x[:10].sum() + 0.5 * lam2 * w @ w
        return total, np.r_[slope + lam, -slope + lam, np.sum(c * (np.exp(eta) - y))]

    bounds = [(0.0, None)] * 10 + [(None, None)]
    peer = minimize(cost, np.zeros(11), jac=True, bounds=bounds, method="L-BFGS-B",
                    options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-10})  # fmt: skip
    fit = solve(
        make_problem(
            X, y, np.array([lam]), c[None], PoissonLoss(), lam2=lam2, fit_intercept=True, tol=1e-13
        )
    )
    np.testing.assert_allclose(fit.coef[0, 0], peer.x[:5] - peer.x[5:10], atol=1e-6)
    assert fit.intercept[0, 0] == pytest.approx(peer.x[10], abs=1e-6)
