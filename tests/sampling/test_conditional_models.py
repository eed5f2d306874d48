"""Models of a variable given many columns, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from selica.sampling.conditional_models import (
    RIDGES,
    GrowingColumns,
    best_ridges,
    calibrated,
    chances,
)


def _table(n=60, p=7, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p)) @ (np.eye(p) + 0.4 * rng.standard_normal((p, p)))
    share = rng.random(n)
    share /= share.sum()
    Z -= share @ Z
    return Z / np.sqrt(share @ Z**2), share, rng


def _grown(ridge=0.3):
    Z, share, rng = _table()
    more = rng.standard_normal((len(Z), 3)) + Z[:, :3]
    columns = GrowingColumns(Z, share, ridge, 10)
    columns.add(more[:, :2])
    columns.add(more[:, 2:])
    return columns, np.hstack([Z, more]), share


@pytest.mark.parametrize("ridge", [0.3, 0.02, 5.0])
def test_a_number_is_the_ridge_regression_on_all_other_columns(ridge):
    columns, Z, share = _grown()
    for j in range(7):
        rest = np.delete(np.arange(10), j)
        A = Z[:, rest]
        expected = np.linalg.solve(
            (A * share[:, None]).T @ A + ridge * np.eye(9), (A * share[:, None]).T @ Z[:, j]
        )
        found = columns.linear(j, ridge)
        assert found.coef[j] == 0.0
        # a ridge of its own is solved to one part in a hundred
        allowed = 1e-10 if ridge == 0.3 else 2e-2 * np.abs(expected).max()
        np.testing.assert_allclose(found.coef[rest, 0], expected, atol=allowed)


def _smallest(Z, share, levels, ridge):
    """Coefficients and constants with the smallest penalised loss."""
    q, K = Z.shape[1], levels.shape[1]
    mean = share @ levels
    ridge = ridge * float((mean * (1.0 - mean)).mean())

    def loss(theta):
        coef, constant = theta[: q * K].reshape(q, K), theta[q * K :]
        eta = Z @ coef + constant
        if K == 1:
            norm = np.logaddexp(0.0, eta[:, 0])
        else:
            norm = np.log(np.exp(eta).sum(axis=1))
        value = share @ (norm - (levels * eta).sum(axis=1)) + 0.5 * ridge * (coef**2).sum()
        slope = share[:, None] * (chances(eta) - levels)
        return value, np.concatenate([(Z.T @ slope + ridge * coef).ravel(), slope.sum(axis=0)])

    found = minimize(loss, np.zeros(q * K + K), jac=True, method="BFGS", options={"gtol": 1e-10})
    return found.x[: q * K].reshape(q, K), found.x[q * K :]


@pytest.mark.parametrize("ridge", [0.3, 0.05])
@pytest.mark.parametrize("K", [1, 3])
def test_classes_have_the_smallest_penalised_loss(K, ridge):
    columns, Z, share = _grown()
    rng = np.random.default_rng(3)
    label = (Z[:, 3] + Z[:, 8] + rng.standard_normal(len(Z)) > 0).astype(int)
    if K == 1:
        levels = label[:, None].astype(float)
        own = np.array([0])
    else:
        label = np.where(rng.random(len(Z)) < 0.3, 2, label)
        levels = np.eye(3)[label]
        own = np.array([0, 1])
    rest = np.delete(np.arange(10), own)
    coef, constant = _smallest(Z[:, rest], share, levels, ridge)
    found = columns.classes(own, levels, ridge)
    assert not found.coef[own].any()
    expected = chances(Z[:, rest] @ coef + constant)
    np.testing.assert_allclose(chances(Z @ found.coef + found.constant), expected, atol=5e-3)


def test_ridges_have_the_smallest_error_of_rows_left_out():
    Z, share, _ = _table(40, 5)
    variables = [np.array([0]), np.array([1]), np.array([2, 3]), np.array([4])]
    ridges = best_ridges(Z, share, variables)
    for own, chosen in zip(variables, ridges, strict=True):
        A, y = np.delete(Z, own, axis=1), Z[:, own]
        errors = []
        for ridge in RIDGES:
            error = 0.0
            for i in range(len(Z)):
                rows = np.arange(len(Z)) != i
                w = share[rows]
                # rows left out change neither the sum of the shares nor the ridge
                B = np.column_stack([np.ones(rows.sum()), A[rows]])
                penalty = ridge * np.eye(B.shape[1])
                penalty[0, 0] = 0.0
                coef = np.linalg.solve(
                    (B * w[:, None]).T @ B + penalty, (B * w[:, None]).T @ y[rows]
                )
                error += share[i] * ((y[i] - np.append(1.0, A[i]) @ coef) ** 2).sum()
            errors.append(error)
        assert RIDGES[int(np.argmin(errors))] == chosen


@pytest.mark.parametrize("K", [1, 4])
def test_constants_give_every_class_its_share(K):
    rng = np.random.default_rng(0)
    label = rng.integers(max(K, 2), size=80)
    levels = label[:, None].astype(float) if K == 1 else np.eye(4)[label]
    share = np.full(80, 1 / 80)
    columns = GrowingColumns(rng.standard_normal((80, 3)), share, 1.0, 3)
    fit = columns.classes(np.array([0]), levels, 1.0)
    line = 2.0 * rng.standard_normal((80, K)) + 1.0
    found = calibrated(fit, line, levels, share)
    np.testing.assert_allclose(share @ chances(line + found.constant), share @ levels, atol=1e-3)
