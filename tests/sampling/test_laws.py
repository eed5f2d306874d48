"""Laws of the columns: known covariances, brute force, few rows, weights, which law suits which."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from scipy.stats import multivariate_normal

from selica._core.errors import ArgumentError, ColumnError
from selica.sampling import GaussianKnockoffs, exchangeability, simulate
from selica.sampling.laws import LAWS, best_law, law_names
from selica.sampling.laws.factors import factors, low_rank, number_of_factors
from selica.sampling.laws.held_out import log_likelihood
from selica.sampling.laws.moments import NUGGET
from selica.sampling.laws.neighbours import _forward, chain_order, from_moments, neighbours
from selica.sampling.laws.shrinkage import STRENGTHS, held_out_shrinkage

laws = pytest.mark.parametrize("name", law_names())


def standard(X):
    X = X - X.mean(axis=0)
    return X / X.std(axis=0)


def even(n):
    return np.full(n, 1.0 / n)


def chain(p, rho):
    return rho ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))


def with_covariance(rows, covariance, seed=0):
    """Return rows whose second moments are exactly these."""
    noise = np.random.default_rng(seed).standard_normal((rows, len(covariance)))
    noise -= noise.mean(axis=0)
    white = noise @ np.linalg.inv(np.linalg.cholesky(noise.T @ noise / rows)).T
    return white @ np.linalg.cholesky(covariance).T


def smooth(n, shape, width, seed=0):
    noise = np.random.default_rng(seed).standard_normal((n, *shape))
    return gaussian_filter(noise, (0, *(width,) * len(shape))).reshape(n, -1)


def test_the_order_is_that_of_the_largest_tree():
    """The edges from each column to the nearest before it are the tree of largest correlations."""
    R = np.corrcoef(np.random.default_rng(3).standard_normal((12, 6)).T)
    order = chain_order(R)
    assert sorted(order) == list(range(6))
    total = sum(np.abs(R[order[j], order[:j]]).max() for j in range(1, 6))
    best = 0.0
    pairs = list(combinations(range(6), 2))
    for edges in combinations(pairs, 5):
        root = list(range(6))
        for a, b in edges:
            root = [root[a] if r == root[b] else r for r in root]
        if len(set(root)) == 1:
            best = max(best, sum(abs(R[a, b]) for a, b in edges))
    assert total == pytest.approx(best)


def test_neighbours_know_the_precision_of_a_chain():
    """Exact moments of an AR(1) chain in another order: one neighbour each is all there is."""
    p, rho, n = 30, 0.8, 10**7
    order = np.random.default_rng(0).permutation(p)
    R = chain(p, rho)[np.ix_(order, order)]
    found = from_moments(R, n)
    np.testing.assert_allclose(found, R, atol=3e-6)
    precision = np.linalg.inv(found)
    np.testing.assert_allclose(precision, np.linalg.inv(R), atol=1e-4)


def test_neighbours_divide_by_the_degrees_of_freedom():
    """Two columns: variance of the residual RSS / (n - 2), by least squares."""
    X = with_covariance(20, np.array([[1.0, 0.9], [0.9, 1.0]]))
    found = np.linalg.inv(neighbours(X, even(20)))
    residual = X[:, 1] - 0.9 * X[:, 0]
    assert 1.0 / found[1, 1] == pytest.approx(residual @ residual / 18.0, rel=1e-5)


def test_neighbours_are_those_of_stepwise_regression():
    """A column on three before it, of ten: the same choice by least squares on rows."""
    rng = np.random.default_rng(0)
    n, p = 80, 11
    X = standard(rng.standard_normal((n, p)) + 0.3 * rng.standard_normal((n, 1)))
    X[:, -1] = standard(
        (X[:, [1, 4, 6]] @ [1.0, -0.8, 0.6])[:, None] + rng.standard_normal((n, 1))
    )[:, 0]
    R = X.T @ X / n
    chosen: list[int] = []

    def rss(columns):
        if not columns:
            return 1.0
        A = X[:, columns]
        return np.mean((X[:, -1] - A @ np.linalg.lstsq(A, X[:, -1], rcond=None)[0]) ** 2)

    while True:
        left = {j: rss([*chosen, j]) for j in range(p - 1) if j not in chosen}
        best = min(left, key=left.get)
        if n / 2 * np.log(rss(chosen) / left[best]) <= np.log(p):
            break
        chosen.append(best)
    assert {1, 4, 6} <= set(chosen)
    assert _forward(R[:-1, :-1], R[:-1, -1], n) == chosen


def test_a_smooth_field_in_a_plane_has_the_right_weak_directions():
    """The smallest variances of the true law to a factor of two; Ledoit-Wolf is far off."""
    shape, n = (6, 12), 800
    kernel = gaussian_filter(np.eye(72).reshape(72, *shape), (0, 1.0, 1.0)).reshape(72, 72)
    true = kernel.T @ kernel
    sd = np.sqrt(np.diag(true))
    true = true / sd / sd[:, None]
    X = standard(smooth(n, shape, 1.0))
    value, vector = np.linalg.eigh(true)
    weak = vector[:, :36]

    def spread(covariance):
        return np.diag(weak.T @ covariance @ weak) / value[:36]

    assert 0.7 < np.median(spread(neighbours(X, even(n)))) < 2.0
    assert np.median(spread(LAWS["ledoit_wolf"].estimate(X, even(n)))) > 5.0


def test_factors_recover_a_low_rank_and_a_diagonal():
    rng = np.random.default_rng(0)
    loadings = rng.uniform(-0.65, 0.65, (40, 2))
    true = loadings @ loadings.T
    np.fill_diagonal(true, 1.0)
    n = 4000
    X = with_covariance(n, true)
    assert number_of_factors(X, even(n)) == 2
    found = low_rank(X, even(n), 2)
    np.testing.assert_allclose(found.loadings @ found.loadings.T, loadings @ loadings.T, atol=0.01)
    np.testing.assert_allclose(found.own, 1.0 - (loadings**2).sum(axis=1), atol=0.01)
    covariance = factors(X, even(n))
    # n / (n - 3) times what is left, and the nugget
    want = (
        found.loadings @ found.loadings.T + np.diag(found.own) * n / (n - 3) + NUGGET * np.eye(40)
    )
    np.testing.assert_allclose(covariance, want, atol=1e-12)


def test_no_factor_is_found_where_there_is_none():
    for n, p in [(200, 50), (50, 200)]:
        X = standard(np.random.default_rng(1).standard_normal((n, p)))
        assert number_of_factors(X, even(n)) == 0
        np.testing.assert_allclose(np.diag(factors(X, even(n))), n / (n - 1) + NUGGET)


def test_em_never_lowers_the_likelihood(monkeypatch):
    X = standard(smooth(60, (20,), 2.0))
    values = []
    for steps in (1, 2, 5, 20, 100):
        monkeypatch.setattr("selica.sampling.laws.factors._STEPS", steps)
        found = low_rank(X, even(60), 3)
        covariance = found.loadings @ found.loadings.T + np.diag(found.own)
        values.append(log_likelihood(covariance, X, even(60)))
    assert np.all(np.diff(values) > -1e-3)
    assert values[-1] > values[0]


def test_held_out_shrinkage_is_the_best_of_its_strengths():
    X = standard(smooth(45, (12,), 0.7))
    n = len(X)
    total = np.zeros(STRENGTHS.size)
    for part in range(3):
        out = np.arange(n) % 3 == part
        S = X[~out].T @ X[~out] / np.count_nonzero(~out)
        for i, strength in enumerate(STRENGTHS):
            covariance = (1.0 - strength) * S + strength * np.eye(12)
            total[i] += log_likelihood(covariance, X[out], np.full(out.sum(), 1.0 / n))
    best = STRENGTHS[np.argmax(total)]
    want = (1.0 - best) * X.T @ X / n + (best + NUGGET) * np.eye(12)
    np.testing.assert_allclose(held_out_shrinkage(X, even(n)), want, atol=1e-12)


def test_the_likelihood_is_that_of_the_normal_distribution():
    covariance = chain(4, 0.5)
    rows = np.random.default_rng(0).standard_normal((5, 4))
    want = multivariate_normal(np.zeros(4), covariance).logpdf(rows) + 2.0 * np.log(2.0 * np.pi)
    weight = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    assert log_likelihood(covariance, rows, weight) == pytest.approx(float(weight @ want))
    assert log_likelihood(-covariance, rows, weight) == -np.inf


@laws
@pytest.mark.parametrize("shape", [(80, 20), (30, 70)])
def test_every_law_is_positive_definite_and_follows_units(name, shape):
    X = smooth(shape[0], (shape[1],), 1.5) + 3.0
    fitted = GaussianKnockoffs(covariance=name).fit(X)
    assert fitted.law == name
    assert fitted.estimated
    assert np.linalg.eigvalsh(fitted.covariance)[0] > 0.0
    np.testing.assert_array_equal(fitted.covariance, fitted.covariance.T)
    unit = np.exp(np.linspace(-20.0, 20.0, shape[1]))
    other = GaussianKnockoffs(covariance=name).fit(unit * X)
    np.testing.assert_allclose(
        other.covariance, fitted.covariance * unit * unit[:, None], rtol=1e-4, atol=0.0
    )
    # what a law takes for the variance of a column may be off where directions are weak; copies are
    # drawn given the columns, and are not
    variance = fitted.sample(X, 1).var(axis=0) / X.var(axis=0)
    assert 0.5 < variance.min() <= variance.max() < 2.0


@laws
def test_weights_count_rows(name):
    X = smooth(60, (15,), 1.0)
    keep = np.arange(60) % 3 > 0
    some = GaussianKnockoffs(covariance=name).fit(X, keep.astype(float))
    if name != "shrinkage":  # which parts its rows by their places
        rest = GaussianKnockoffs(covariance=name).fit(X[keep])
        np.testing.assert_allclose(some.covariance, rest.covariance, rtol=1e-6, atol=1e-9)
    equal = GaussianKnockoffs(covariance=name).fit(X, np.full(60, 7.0))
    np.testing.assert_allclose(
        equal.covariance, GaussianKnockoffs(covariance=name).fit(X).covariance, rtol=1e-8
    )


@laws
def test_tables_that_are_odd(name):
    with pytest.raises(ColumnError, match="constant"):
        GaussianKnockoffs(covariance=name).fit(np.column_stack([np.ones(30), np.arange(30.0)]))
    one = GaussianKnockoffs(covariance=name).fit(np.arange(30.0)[:, None] ** 2)
    assert one.covariance.shape == (1, 1)
    rng = np.random.default_rng(0)
    twins = rng.standard_normal((40, 3))[:, [0, 0, 1, 2]] * [1.0, 1e150, 1e-150, 1.0]
    fitted = GaussianKnockoffs(covariance=name).fit(twins)
    assert np.all(np.isfinite(fitted.sample(twins, 1)))
    if name != "ledoit_wolf":  # which does not shrink two rows
        two = GaussianKnockoffs(covariance=name).fit(rng.standard_normal((2, 5)))
        assert np.all(np.isfinite(two.covariance))


def test_names_of_laws():
    with pytest.raises(ArgumentError, match="covariance must be one of"):
        GaussianKnockoffs(covariance="banded")
    X = smooth(50, (8,), 1.0)
    by_name = GaussianKnockoffs(covariance="ledoit_wolf").fit(X)
    np.testing.assert_array_equal(by_name.covariance, GaussianKnockoffs().fit(X).covariance)
    assert GaussianKnockoffs(0.0, np.eye(3)).law is None
    assert list(GaussianKnockoffs(covariance="factors").alternatives(X)) == []
    assert list(GaussianKnockoffs(0.0, np.eye(8)).alternatives(X)) == []
    assert GaussianKnockoffs(covariance="factors").fit(X).fit(X).law == "factors"
    known_mean = GaussianKnockoffs(2.0, "neighbours").fit(X)
    np.testing.assert_array_equal(known_mean.mean, np.full(8, 2.0))


def one_factor(n, p, seed):
    rng = np.random.default_rng(seed)
    return 0.8 * rng.standard_normal((n, 1)) + 0.6 * rng.standard_normal((n, p))


@pytest.mark.parametrize(
    ("X", "law"),
    [
        (smooth(120, (40,), 1.0), "neighbours"),
        (smooth(60, (5, 20), 1.0), "neighbours"),
        (one_factor(100, 60, 0), "factors"),
        (one_factor(50, 120, 1), "factors"),
        (one_factor(200, 60, 2) + smooth(200, (60,), 1.0, 3), "factors_neighbours"),
    ],
)
def test_the_law_that_describes_left_out_rows_best(X, law):
    judged = best_law(X, random_state=0)
    assert judged[0].name == law
    assert {one.name for one in judged} == set(LAWS)
    names = [other.law for other in GaussianKnockoffs().alternatives(X, random_state=0)]
    assert names[0] == law
    assert "ledoit_wolf" not in names
    # rows of weight zero do not count
    more = np.vstack([X, 100.0 * X[:7]])
    weight = np.concatenate([np.ones(len(X)), np.zeros(7)])
    share = weight / weight.sum()
    again = best_law(more, share=share, random_state=0)
    assert {one.name for one in again} == set(LAWS)
    assert again[0].name == law


@pytest.mark.parametrize("width", [0.8, 1.25])
@pytest.mark.parametrize("shape", [(100, (5, 20)), (60, (4, 5, 5)), (60, (150,))])
def test_copies_of_smooth_fields_by_neighbours_pass(width, shape):
    X = smooth(*shape, width)
    for seed in range(2):
        knockoffs = GaussianKnockoffs(covariance="neighbours").fit(X)
        copy = knockoffs.sample(X, random_state=seed)
        found = exchangeability(X, copy, centre=knockoffs.mean, random_state=seed)
        assert found.departure < 1.25


def test_simulated_chains_choose_neighbours_whatever_the_order_of_their_columns():
    X = simulate(60, 50, 0, noise_variance=1.0, covariance=("ar1", 0.9), random_state=0).X
    order = np.random.default_rng(0).permutation(50)
    first, other = (
        GaussianKnockoffs(covariance="neighbours").fit(table).covariance
        for table in (X, X[:, order])
    )
    np.testing.assert_allclose(other, first[np.ix_(order, order)], rtol=1e-8)
