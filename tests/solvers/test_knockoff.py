"""Members with their own copies: the same as a loop over [X, copy]."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.errors import ArgumentError
from selica.solvers import knockoff_path_batch, lasso_path_batch, logistic_path_batch


def _problem(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = X[:, : min(5, p)] @ np.ones(min(5, p)) + rng.standard_normal(n)
    stack = rng.standard_normal((40, n, p))
    lams = np.abs(X.T @ y).max() * np.geomspace(1.0, 0.03, 9)
    return X, y, stack, lams


@pytest.mark.parametrize(("n", "p"), [(60, 20), (25, 40), (10, 1)])
@pytest.mark.parametrize("intercept", [False, True])
def test_equals_a_loop_over_augmented_designs(n, p, intercept):
    X, y, stack, lams = _problem(n, p)
    fit = knockoff_path_batch(
        X, y, lams, lambda b: stack[b], 6, fit_intercept=intercept, standardize=intercept, tol=1e-10
    )
    assert fit.coef.shape == (6, 9, 2 * p)
    assert fit.converged
    for b in range(6):
        one = lasso_path_batch(
            np.hstack([X, stack[b]]),
            y,
            lams,
            np.ones((1, n)),
            fit_intercept=intercept,
            standardize=intercept,
            tol=1e-10,
        )
        np.testing.assert_allclose(fit.coef[b], one.coef[0], atol=1e-8)
        np.testing.assert_allclose(fit.intercept[b], one.intercept[0], atol=1e-8)


def test_each_copy_is_asked_for_once():
    X, y, stack, lams = _problem(30, 10)
    asked = []

    def copies(b):
        asked.append(b)
        return stack[b]

    fit = knockoff_path_batch(X, y, lams, copies, 40, keep="counts")
    assert sorted(asked) == list(range(40))  # threads ask in any order
    assert fit.counts.shape == (9, 20)


def test_swapping_a_column_with_its_copy_swaps_the_coefficients():
    X, y, stack, lams = _problem(50, 12)
    fit = knockoff_path_batch(X, y, lams, lambda b: stack[b], 2)
    swap = np.array([1, 4, 7])
    X2, copy2 = X.copy(), stack[0].copy()
    X2[:, swap], copy2[:, swap] = stack[0][:, swap], X[:, swap]
    other = knockoff_path_batch(X2, y, lams, lambda b: copy2, 1)
    expected = fit.coef[0].copy()
    expected[:, swap], expected[:, 12 + swap] = fit.coef[0][:, 12 + swap], fit.coef[0][:, swap]
    np.testing.assert_allclose(other.coef[0], expected, atol=1e-9)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"copies": 3}, "copies"),
        ({"copies": lambda b: np.zeros((2, 2))}, "copies"),
        ({"copies": lambda b: np.full((30, 10), np.nan)}, "copies"),
        ({"n_copies": 0}, "n_copies"),
        ({"sample_weight": np.ones(3)}, "sample_weight"),
        ({"penalty_weights": np.ones(10)}, "penalty_weights"),
    ],
)
def test_bad_input_is_named(change, name):
    X, y, stack, lams = _problem(30, 10)
    good = {"X": X, "y": y, "lams": lams, "copies": lambda b: stack[b], "n_copies": 2}
    with pytest.raises(ArgumentError, match=name):
        knockoff_path_batch(**(good | change))


@pytest.mark.parametrize("intercept", [False, True])
def test_logistic_copies_equal_a_loop(intercept):
    X, y, stack, lams = _problem(60, 12)
    labels = (y > np.median(y)).astype(float)
    lams = np.abs(X.T @ (labels - 0.5)).max() * np.geomspace(1.0, 0.1, 5)
    fit = knockoff_path_batch(
        X, labels, lams, lambda b: stack[b], 5, fit_intercept=intercept, standardize=intercept,
        tol=1e-10, loss="logistic",
    )  # fmt: skip
    assert fit.converged
    for b in range(5):
        one = logistic_path_batch(
            np.hstack([X, stack[b]]), labels, lams, np.ones((1, 60)), fit_intercept=intercept,
            standardize=intercept, tol=1e-10,
        )  # fmt: skip
        np.testing.assert_allclose(fit.coef[b], one.coef[0], atol=1e-6)
        np.testing.assert_allclose(fit.intercept[b], one.intercept[0], atol=1e-6)


def test_unknown_loss_is_named():
    X, y, stack, lams = _problem(20, 4)
    with pytest.raises(ArgumentError, match="loss"):
        knockoff_path_batch(X, y, lams, lambda b: stack[b], 2, loss="hinge")
    with pytest.raises(ArgumentError, match="y must hold"):
        knockoff_path_batch(X, y, lams, lambda b: stack[b], 2, loss="logistic")
