"""Are copies exchangeable with their columns? An oracle, exact copies, copies that are not."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from selica._core.errors import ArgumentError
from selica.sampling import (
    Exchangeability,
    GaussianKnockoffs,
    exchangeability,
    iid_copies,
    simulate,
)
from selica.sampling.exchangeability import FLIPS, _flipped, _ratio, weak_lengths


def columns(n, p, covariance="identity", seed=0):
    data = simulate(n, p, 0, noise_variance=1.0, covariance=covariance, random_state=seed)
    return data.X, GaussianKnockoffs(0.0, data.covariance)


def smooth(n, shape, width, seed=0):
    """Fields on a grid, smoothed along both sides."""
    noise = np.random.default_rng(seed).standard_normal((n, *shape))
    return gaussian_filter(noise, (0, width, width)).reshape(n, -1)


def estimated(X, seed=1):
    """A copy by the default sampler, checked."""
    knockoffs = GaussianKnockoffs().fit(X)
    copy = knockoffs.sample(X, random_state=seed)
    return exchangeability(X, copy, centre=knockoffs.mean, random_state=seed)


def test_four_rows_by_hand():
    X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    Z = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, 2.0], [0.0, 2.0]])
    first = np.array([True, True, False, False])
    a, b = weak_lengths((X, Z), first, np.ones(4))
    # rows 0 and 1 are short in the second direction, rows 2 and 3 in the first
    np.testing.assert_allclose(a, [4.0, 4.0, 1.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(b, [1.0, 1.0, 4.0, 4.0], atol=1e-12)
    assert _ratio(a, b) == pytest.approx(1.0)
    assert [_ratio(a[part], b[part]) for part in (~first, first)] == pytest.approx([4.0, 0.25])
    # a weight counts a row so many times
    a, b = weak_lengths((X, Z), first, np.array([3.0, 1.0, 1.0, 1.0]))
    np.testing.assert_allclose(a, [12.0, 4.0, 1.0, 1.0], atol=1e-12)


@pytest.mark.parametrize(("n", "p"), [(60, 7), (60, 29), (60, 31), (60, 50), (60, 90)])
def test_weak_directions_are_those_of_the_covariance(n, p):
    """By a full eigendecomposition, also where there are fewer rows than columns."""
    X, known = columns(n, p, ("ar1", 0.7))
    Z = known.sample(X, random_state=1)
    first = np.arange(n) < n // 2
    found = weak_lengths((X, Z), first, np.ones(n))
    for rows, others in ((first, ~first), (~first, first)):
        value, vector = np.linalg.eigh(X[rows].T @ X[rows])
        none = np.count_nonzero(value < 1e-9 * value[-1])
        weak = vector[:, : max(p // 2, none)]  # rows that are few have no length in more of them
        for lengths, table in zip(found, (X, Z), strict=True):
            np.testing.assert_allclose(lengths[others], ((table[others] @ weak) ** 2).sum(axis=1))


def test_the_p_value_counts_signs(monkeypatch):
    """Of eight signs of three differences, two have a sum of 5 in size; blocks change nothing."""
    d = np.array([[3.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    found = _flipped(d, np.random.default_rng(0))
    assert found[0] == pytest.approx(0.25, abs=0.06)
    assert found[1] == 1.0
    signs = np.where(np.random.default_rng(1).random((999, 40)) < 0.5, -1.0, 1.0)
    many = np.random.default_rng(2).standard_normal((40, 3))
    expected = (1 + (np.abs(signs @ many) >= np.abs(many.sum(axis=0))).sum(axis=0)) / 1000
    monkeypatch.setattr(sys.modules[_flipped.__module__], "_NUMBERS_AT_ONCE", 100)
    np.testing.assert_array_equal(_flipped(many, np.random.default_rng(1)), expected)


def test_columns_are_exchangeable_with_themselves():
    X, _ = columns(50, 8)
    found = exchangeability(X, X, random_state=0)
    assert (found.ratio, found.p_value, found.departure) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("shape", [(50, 10), (40, 60)])
def test_exact_copies_pass(shape):
    p_values = []
    for seed in range(40):
        X, known = columns(*shape, ("ar1", 0.6), seed)
        copy = known.sample(X, random_state=seed)
        found = exchangeability(3.0 * X + 2.0, 3.0 * copy + 2.0, random_state=seed)
        p_values.append(found.p_value)
        assert 0.7 < found.ratio < 1.4
    assert np.count_nonzero(np.array(p_values) <= 0.01) <= 2
    assert np.count_nonzero(np.array(p_values) <= 0.2) <= 14


@pytest.mark.slow
def test_the_level_is_kept_by_exact_copies():
    X, known = columns(40, 12, ("ar1", 0.5))
    hits = 0
    for seed in range(3000):
        X, _ = columns(40, 12, ("ar1", 0.5), seed)
        hits += exchangeability(X, known.sample(X, random_state=seed), random_state=seed).differs
    assert hits <= 30 + 3 * np.sqrt(30)


@pytest.mark.parametrize("width", [0.8, 1.25])
@pytest.mark.parametrize("seed", range(3))
def test_estimated_copies_of_smooth_fields_are_caught(width, seed):
    found = estimated(smooth(100, (5, 20), width, seed), seed)
    assert found.p_value <= 0.01
    assert found.ratio > (1.5 if width == 0.8 else 15.0)


@pytest.mark.parametrize("covariance", ["identity", ("ar1", 0.5)])
@pytest.mark.parametrize("shape", [(100, 50), (60, 100)])
def test_estimated_copies_of_hardly_correlated_columns_are_not(covariance, shape):
    for seed in range(5):
        assert estimated(columns(*shape, covariance, seed)[0], seed).departure < 1.25


def test_independent_copies_are_caught_by_either_exchange():
    X, _ = columns(200, 20, ("ar1", 0.6))
    found = exchangeability(X, iid_copies(X, random_state=1, members=1)[0], random_state=0)
    assert found.swap == "full"
    assert found.departure > 2.0
    # another sample of the right law is no copy: only half of the columns tell
    other, _ = columns(200, 20, ("ar1", 0.6), seed=7)
    found = exchangeability(X, other, random_state=0)
    assert found.swap == "half"
    assert found.departure > 1.3


def test_a_ratio_near_one_proves_nothing():
    """Right second moments, and a law that is far from right."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(300, 10))
    found = exchangeability(X, rng.standard_normal(X.shape), random_state=0)
    assert found.departure == 1.0


def test_few_rows_are_not_tested():
    X, known = columns(39, 5)
    found = exchangeability(X, known.sample(X, random_state=0), random_state=0)
    assert found == Exchangeability(None, None, "none", 39)
    assert "needs 40 rows, and there are 39" in str(found)
    assert found.departure == 1.0
    X, known = columns(60, 5)
    weight = np.where(np.arange(60) < 39, 1.0, 0.0)
    copy = known.sample(X, random_state=0)
    assert exchangeability(X, copy, sample_weight=weight, random_state=0).rows == 39


def test_a_weight_of_zero_leaves_a_row_out():
    X, known = columns(80, 12, ("ar1", 0.5))
    copy = known.sample(X, random_state=1)
    more = np.vstack([X, 100.0 * X[:5]]), np.vstack([copy, 50.0 * copy[:5]])
    weight = np.r_[np.full(80, 2.0), np.zeros(5)]
    plain = exchangeability(X, copy, centre=0.0, random_state=3)
    left = exchangeability(*more, centre=0.0, sample_weight=weight, random_state=3)
    assert left.ratio == pytest.approx(plain.ratio)
    assert left.p_value == plain.p_value


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_units_do_not_matter(unit):
    X, known = columns(60, 6, ("ar1", 0.5))
    copy = known.sample(X, random_state=1)
    scale = np.where(np.arange(6) % 2, unit, 1.0)
    one = exchangeability(X, copy, random_state=0)
    other = exchangeability(X * scale, copy * scale, random_state=0)
    assert other.ratio == pytest.approx(one.ratio)
    assert other.p_value == one.p_value


def test_one_column_and_columns_without_variance():
    X, known = columns(60, 1)
    assert 0.2 < exchangeability(X, known.sample(X, random_state=0), random_state=0).ratio < 5.0
    zero = np.zeros((60, 3))
    assert exchangeability(zero, zero, random_state=0).ratio == 1.0
    noise = np.random.default_rng(0).standard_normal((60, 3))
    flat = exchangeability(zero, noise, random_state=0)
    assert flat.departure > 1e6
    assert exchangeability(noise, zero, centre=0.0, random_state=0).departure == np.inf


def test_the_seed_decides():
    X, known = columns(60, 20)
    copy = known.sample(X, random_state=0)
    assert exchangeability(X, copy, random_state=4) == exchangeability(X, copy, random_state=4)
    assert 4 / (1 + FLIPS) <= exchangeability(X, copy, random_state=5).p_value <= 1.0


def test_shapes_must_agree():
    X, _ = columns(50, 4)
    with pytest.raises(ArgumentError, match="copy must have the shape of X"):
        exchangeability(X, X[:, :3])


def test_copies_of_groups_pass_for_whole_groups_only():
    data = simulate(1000, 20, 0, noise_variance=1.0, covariance=("ar1", 0.9), random_state=0)
    groups = np.arange(20) // 5
    copy = GaussianKnockoffs(0.0, data.covariance, groups=groups).sample(data.X, random_state=1)
    whole = exchangeability(data.X, copy, centre=0.0, random_state=2, groups=groups)
    assert not whole.differs
    assert exchangeability(data.X, copy, centre=0.0, random_state=2).departure > 1.5
    with pytest.raises(ArgumentError, match=r"^groups must have one integer for each of the 20"):
        exchangeability(data.X, copy, groups=groups[:3])
