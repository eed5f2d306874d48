"""Knockoff copies given covariates that are kept."""

from __future__ import annotations

import numpy as np

from selica._core.random import child, seed_sequence
from selica.sampling import GaussianKnockoffs, simulate
from selica.sampling.covariates import condition

N, P = 20_000, 3


def table():
    rng = np.random.default_rng(0)
    K = rng.standard_normal((N, P))
    rest = simulate(
        N, P, 0, noise_variance=1.0, covariance=("equicorrelated", 0.5), random_state=rng
    ).X
    return 0.8 * K + 0.6 * rest, K


def joint(X, copy, K, swapped):
    A, B = X.copy(), copy.copy()
    A[:, swapped], B[:, swapped] = copy[:, swapped], X[:, swapped]
    return np.cov(np.hstack([A, B, K]).T)


def test_columns_and_copies_can_be_exchanged_beside_the_covariates():
    X, K = table()
    parts = condition(X, K)
    copies = GaussianKnockoffs().fit(parts.rest).copies(parts.rest, child(seed_sequence(0), 1), 1)
    copy = parts.shifted(copies)[0]
    ignorant = GaussianKnockoffs().fit(X).sample(X, random_state=1)
    error = 5.0 * np.sqrt(2.0 / N)
    for swapped in ([0], [0, 2], [0, 1, 2]):
        assert np.abs(joint(X, copy, K, swapped) - joint(X, copy, K, [])).max() < error
        away = joint(X, ignorant, K, swapped) - joint(X, ignorant, K, [])
        assert np.abs(away).max() > 3.0 * error  # copies that ignore K are found out


def test_weights_count_as_rows():
    X, K = table()
    few, given = X[:50], K[:50]
    twice = np.r_[np.arange(50), np.arange(10)]
    weight = np.where(np.arange(50) < 10, 2.0, 1.0)
    weighted, repeated = condition(few, given, weight), condition(few[twice], given[twice])
    np.testing.assert_allclose(weighted.explained, repeated.explained[:50], atol=1e-12)


def test_a_column_that_covariates_determine_has_no_copy():
    X, K = table()
    parts = condition(np.column_stack([X[:, 0], K.sum(axis=1)]), K)
    assert parts.varies.tolist() == [True, False]


def test_joint_copies_are_moved_by_the_same_covariates():
    X, K = table()
    parts = condition(X, K)
    sampler = GaussianKnockoffs(groups=[0, 0, 1], n_joint=2).fit(parts.rest)
    copy = parts.shifted(sampler.copies(parts.rest, child(seed_sequence(0), 1), 1))[0]
    assert copy.shape == (N, 2 * P)
    whole = np.cov(np.hstack([X, copy, K]).T)
    error = 5.0 * np.sqrt(2.0 / N)
    # the versions of the first group in another order: columns 0, 1 of X and of both copies
    moved = np.array([3, 4, 2, 6, 7, 5, 0, 1, 8, 9, 10, 11])
    assert np.abs(whole[np.ix_(moved, moved)] - whole).max() < error
