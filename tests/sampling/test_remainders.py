"""What is left of columns: independent of the others where the law is right, and seen where not."""

from __future__ import annotations

import numpy as np
import pytest

from selica.sampling import simulate
from selica.sampling.laws.remainders import (
    LARGEST_CORRELATION,
    SMALL_CORRELATION,
    left_correlation,
    remainders,
    remainders_of,
)


def columns(n, p, covariance, seed=0):
    X = simulate(n, p, 0, noise_variance=1.0, covariance=covariance, random_state=seed).X
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_a_remainder_is_the_residual_of_a_regression():
    """On a chain, the others are the two neighbours: r / (1 + r^2) of each."""
    X = columns(20_000, 5, ("ar1", 0.6))
    by_hand = X[:, 2] - 0.6 / 1.36 * (X[:, 1] + X[:, 3])
    found = remainders(X, "neighbours")[:, 2]
    assert np.std(found - by_hand) < 0.02
    assert abs(np.var(found) - 0.64 / 1.36) < 0.02


@pytest.mark.parametrize(("covariance", "law"), [("identity", "independent"),
                                                 (("ar1", 0.8), "neighbours")])  # fmt: skip
def test_the_law_that_leaves_least_is_taken(covariance, law):
    found = remainders_of(columns(300, 80, covariance), random_state=0)
    assert found.law == law
    assert found.correlation <= SMALL_CORRELATION


def test_a_wrong_law_leaves_correlations():
    X = columns(300, 80, ("ar1", 0.8))
    part = np.arange(300) % 4
    # what independence leaves is the correlation itself
    assert abs(left_correlation(X, "independent", part) - 0.8) < 0.05
    assert left_correlation(X, "factors", part) > LARGEST_CORRELATION
    assert left_correlation(X, "neighbours", part) < SMALL_CORRELATION
    assert left_correlation(X[:, :1], "neighbours", part) == 0.0
