"""Gaussian knockoffs: the joint law of (X, copy), exactly and in samples."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import kstest

from selica._core.errors import ArgumentError, RefusedError
from selica.sampling import GaussianKnockoffs, s_matrix, simulate
from selica.sampling.s_matrices import METHODS
from tests.sampling.members import assert_members_do_not_depend_on_the_chunk
from tests.sampling.test_s_matrices import ar1, equicorrelated, nearly_singular, wishart

SD = np.array([1.0, 0.3, 5.0, 2.0])
MEAN = np.array([0.0, 1.0, -7.0, 100.0])
methods = pytest.mark.parametrize("method", METHODS)


def covariance(r):
    return ar1(r, 4) * SD * SD[:, None]


def swapped_columns(swap):
    """Columns of (X, copy) after the marked variables changed places with their copies."""
    p, move = len(swap), len(swap) * np.array(swap)
    return np.concatenate([np.arange(p) + move, np.arange(p, 2 * p) - move])


def joint(sigma, s):
    """[[Sigma, Sigma - S], [Sigma - S, Sigma]]."""
    return np.block([[sigma, sigma - np.diag(s)], [sigma - np.diag(s), sigma]])


def affine(knockoffs):
    """Slope of the copy as a function of X at fixed noise, read from draws."""
    p = knockoffs.n_features
    zero = knockoffs.sample(np.zeros((p, p)), random_state=0)
    return knockoffs.sample(np.eye(p), random_state=0) - zero


def noise_root(knockoffs):
    """A root of the conditional covariance, which does not depend on X."""
    return knockoffs.copies(np.zeros((1, knockoffs.n_features)), 0, 1).law.root


def implied_joint(knockoffs, sigma):
    """Covariance of (X, copy) that the sampler's slope and noise imply."""
    slope, root = affine(knockoffs), noise_root(knockoffs)
    cross = sigma @ slope
    return np.block([[sigma, cross], [cross.T, slope.T @ sigma @ slope + root @ root.T]])


LAWS = {
    "identity": covariance(0.0),
    "ar1 0.5": covariance(0.5),
    "ar1 0.9": covariance(0.9),
    "equicorrelated 0.5": equicorrelated(0.5, 4) * SD * SD[:, None],
}
SIZES = [60_000, pytest.param(400_000, marks=pytest.mark.slow)]


@methods
@pytest.mark.parametrize("sigma", LAWS.values(), ids=LAWS.keys())
@pytest.mark.parametrize("n", SIZES)
def test_joint_law_in_samples(method, sigma, n):
    rng = np.random.default_rng(0)
    X = MEAN + rng.standard_normal((n, 4)) @ np.linalg.cholesky(sigma).T
    knockoffs = GaussianKnockoffs(MEAN, sigma, method)
    copy = knockoffs.sample(X, random_state=1)
    both = np.hstack([X, copy])
    want = joint(sigma, knockoffs.s_)
    variance = want.diagonal()
    # standard error of an empirical covariance of Gaussians
    se = np.sqrt((np.outer(variance, variance) + want**2) / n)
    assert np.abs((np.cov(both.T) - want) / se).max() < 4.5
    assert np.abs((both.mean(0) - np.tile(MEAN, 2)) / np.sqrt(variance / n)).max() < 4.5
    # any pairs swapped: the same covariance, up to the error of an estimate
    for swap in product([False, True], repeat=4):
        swapped = np.cov(both[:, swapped_columns(swap)].T)
        assert np.abs((swapped - want) / se).max() < 4.5
    for j in range(4):
        assert kstest((copy[:, j] - MEAN[j]) / SD[j], "norm").pvalue > 1e-3


@methods
@pytest.mark.parametrize(
    "sigma",
    [covariance(0.0), covariance(0.5), covariance(0.9), equicorrelated(0.6, 7), wishart(25, 0)],
)
def test_joint_law_exactly(method, sigma):
    knockoffs = GaussianKnockoffs(0.0, sigma, method)
    np.testing.assert_allclose(knockoffs.s_, s_matrix(sigma, method), rtol=1e-12)
    size = np.sqrt(sigma.diagonal())
    size = np.tile(size, 2)
    got = implied_joint(knockoffs, sigma) / size / size[:, None]
    np.testing.assert_allclose(got, joint(sigma, knockoffs.s_) / size / size[:, None], atol=1e-12)


@methods
def test_conditional_law_is_the_textbook_one(method):
    sigma = covariance(0.7)
    knockoffs = GaussianKnockoffs(MEAN, sigma, method)
    S, inverse = np.diag(knockoffs.s_), np.linalg.inv(sigma)
    np.testing.assert_allclose(affine(knockoffs), np.eye(4) - inverse @ S, atol=1e-10)
    root = noise_root(knockoffs)
    np.testing.assert_allclose(root @ root.T, 2 * S - S @ inverse @ S, atol=1e-10)
    # noise with this covariance, and not with that of a transposed factor
    copies = knockoffs.copies(np.tile(MEAN, (100, 1)), 0, 500)
    noise = np.concatenate([c - MEAN for c in copies]) / SD
    want = root @ root.T / SD / SD[:, None]
    assert np.abs(np.cov(noise.T) - want).max() < 5 * np.sqrt(2 / 50_000)


@methods
def test_swapping_any_variables_with_their_copies_keeps_the_law(method):
    sigma = covariance(0.8)
    G = implied_joint(GaussianKnockoffs(MEAN, sigma, method), sigma)
    for swap in product([False, True], repeat=4):
        order = swapped_columns(swap)
        np.testing.assert_allclose(G[np.ix_(order, order)], G, atol=1e-10)


def test_nulls_are_exchangeable_in_higher_moments():
    sigma = ar1(0.6, 3)
    X = np.random.default_rng(3).standard_normal((200_000, 3)) @ np.linalg.cholesky(sigma).T
    copy = GaussianKnockoffs(0.0, sigma).sample(X, random_state=4)
    swapped = np.column_stack([X[:, 0], copy[:, 1], X[:, 2]])
    for statistic in (
        lambda a: np.prod(a, axis=1) ** 2,
        lambda a: np.abs(a).max(axis=1),
        lambda a: np.sign(a[:, 0] * a[:, 1]) * a[:, 2] ** 2,
    ):
        one, two = statistic(X), statistic(swapped)
        assert abs(np.mean(one - two)) < 4.5 * np.std(one - two) / np.sqrt(200_000)


def test_independent_variables_have_independent_copies():
    data = simulate(20, 5, 1, r2=0.5, random_state=0)
    knockoffs = GaussianKnockoffs(0.0, data.covariance)
    other = GaussianKnockoffs(0.0, np.eye(5)).sample(data.X + 3.0, random_state=2)
    np.testing.assert_allclose(knockoffs.sample(data.X, random_state=2), other, atol=1e-9)


@methods
def test_members_do_not_depend_on_the_chunk(method):
    knockoffs = GaussianKnockoffs(MEAN, covariance(0.5), method)
    X = np.random.default_rng(0).standard_normal((30, 4))
    assert_members_do_not_depend_on_the_chunk(knockoffs, X)


@methods
def test_permuted_variables_have_permuted_knockoffs(method):
    sigma, order = covariance(0.7), np.array([2, 0, 3, 1])
    plain = GaussianKnockoffs(MEAN, sigma, method)
    permuted = GaussianKnockoffs(MEAN[order], sigma[np.ix_(order, order)], method)
    # "sdp": where the optimum is flat, s is determined to the root of the error of the sum
    tolerance = 1e-4 if method == "sdp" else 1e-9
    np.testing.assert_allclose(permuted.s_, plain.s_[order], rtol=tolerance)
    both = np.concatenate([order, 4 + order])
    np.testing.assert_allclose(
        implied_joint(permuted, sigma[np.ix_(order, order)]),
        implied_joint(plain, sigma)[np.ix_(both, both)],
        atol=25 * tolerance,
    )


def test_a_generator_is_advanced():
    knockoffs = GaussianKnockoffs(0.0, np.eye(2))
    rng = np.random.default_rng(0)
    assert np.any(knockoffs.sample(np.ones((5, 2)), rng) != knockoffs.sample(np.ones((5, 2)), rng))


@methods
@pytest.mark.parametrize("smallest", [1e-4, 1e-7])
def test_nearly_singular_covariance(method, smallest):
    sigma = nearly_singular(20, smallest)
    knockoffs = GaussianKnockoffs(0.0, sigma, method)
    got = implied_joint(knockoffs, sigma)
    np.testing.assert_allclose(got, joint(sigma, knockoffs.s_), atol=1e-8)


@methods
def test_singular_covariance_is_refused_with_the_reason(method):
    sigma = np.array([[1.0, 0.5, 1.5], [0.5, 1.0, 1.5], [1.5, 1.5, 3.0]])  # x2 = x0 + x1
    with pytest.raises(RefusedError, match=r"covariance.*positive definite.*combination"):
        GaussianKnockoffs(0.0, sigma, method)


def test_one_variable_one_row():
    assert GaussianKnockoffs(2.0, [[4.0]]).sample([[1]], 0).shape == (1, 1)


def test_the_arguments_are_copied():
    sigma, mean = np.eye(2), np.zeros(2)
    knockoffs = GaussianKnockoffs(mean, sigma)
    sigma[:], mean[:] = 7.0, 7.0
    np.testing.assert_array_equal(knockoffs.covariance, np.eye(2))
    np.testing.assert_array_equal(knockoffs.mean, np.zeros(2))


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: GaussianKnockoffs([0.0, 1.0, 2.0], np.eye(2)), "mean"),
        (lambda: GaussianKnockoffs(np.nan, np.eye(2)), "mean"),
        (lambda: GaussianKnockoffs("zero", np.eye(2)), "mean"),
        (lambda: GaussianKnockoffs(0.0, np.ones((2, 3))), "covariance"),
        (lambda: GaussianKnockoffs(0.0, [[1.0, 0.5], [0.0, 1.0]]), "covariance"),
        (lambda: GaussianKnockoffs(0.0, np.diag([1.0, 0.0])), "covariance"),
        (lambda: GaussianKnockoffs(0.0, "identity"), "covariance"),
        (lambda: GaussianKnockoffs(0.0, np.eye(2), "best"), "method"),
        (lambda: GaussianKnockoffs(0.0, np.eye(2)).sample(np.ones((4, 3))), "X"),
        (lambda: GaussianKnockoffs(0.0, np.eye(2)).sample(np.ones(2)), "X"),
        (lambda: GaussianKnockoffs(0.0, np.eye(2)).sample([[1.0, np.inf]]), "X"),
        (lambda: GaussianKnockoffs(0.0, np.eye(2)).sample([[1, 2]], "seed"), "random_state"),
        (lambda: GaussianKnockoffs(0.0, np.eye(2)).copies([[1, 2]], 0, "all"), "members"),
    ],
)
def test_bad_input(call, name):
    with pytest.raises(ArgumentError, match=name) as error:
        call()
    assert "\n" not in str(error.value)
