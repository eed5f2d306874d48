"""Agreement of members: published formula, its limits, and a jackknife beside its variance."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from selica._core.errors import ArgumentError
from selica.control import stability_index


def rows(*texts):
    return np.array([[int(sign) for sign in text] for text in texts])


ORACLES = [
    (("11000", "11000", "10100", "11000"), 0.58333333, 0.032552083, 0.22971279, 0.93695388),
    (
        ("111000", "110100", "110000", "111001", "101000", "111000"),
        0.48730650, 0.010071753, 0.29060819, 0.68400481,
    ),
    (("1010", "0101"), -1.0, 0.0, -1.0, -1.0),
    (("0110", "0110", "0110"), 1.0, 0.0, 1.0, 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "index", "variance", "lower", "upper"), ORACLES)
def test_oracles(texts, index, variance, lower, upper):
    found = stability_index(rows(*texts))
    assert found.index == pytest.approx(index, abs=5e-9)
    assert found.variance == pytest.approx(variance, abs=5e-9)
    assert found.lower == pytest.approx(lower, abs=5e-8)
    assert found.upper == pytest.approx(upper, abs=5e-8)
    assert found.units == len(texts)
    assert found.why_undefined == ""


def test_equal_sizes_give_the_mean_over_pairs_of_kunchevas_index():
    rng = np.random.default_rng(0)
    M, d, k = 7, 12, 4
    Z = np.zeros((M, d), dtype=bool)
    for row in Z:
        row[rng.choice(d, k, replace=False)] = True
    kuncheva = [
        (np.count_nonzero(a & b) - k * k / d) / (k - k * k / d) for a, b in combinations(Z, 2)
    ]
    assert stability_index(Z).index == pytest.approx(np.mean(kuncheva), abs=1e-12)


def test_sets_at_random_have_index_zero_on_average():
    rng = np.random.default_rng(1)
    values = [stability_index(rng.random((20, 50)) < 0.3).index for _ in range(300)]
    assert abs(np.mean(values)) < 4.0 * np.std(values) / np.sqrt(300)


def correlated_members(rng, M, d):
    """Selections of different sizes, some variables selected mostly and others rarely."""
    eager = rng.normal(scale=0.5, size=(M, 1))
    return rng.normal(size=(M, d)) + eager > np.linspace(-2.0, 2.5, d)


def jackknife(values):
    values = np.asarray(values)
    n = len(values)
    return (n - 1) / n * float(np.sum((values - values.mean()) ** 2))


def test_variance_agrees_with_a_jackknife():
    Z = correlated_members(np.random.default_rng(2), 100, 40)
    left_out = [stability_index(np.delete(Z, i, axis=0)).index for i in range(len(Z))]
    assert stability_index(Z).variance == pytest.approx(jackknife(left_out), rel=0.1)


def test_variance_over_pairs_agrees_with_a_jackknife_over_pairs():
    rng = np.random.default_rng(3)
    Z = np.repeat(correlated_members(rng, 60, 40), 2, axis=0)
    Z[1::2] ^= rng.random((60, 40)) < 0.05
    left_out = [stability_index(np.delete(Z, [2 * i, 2 * i + 1], axis=0)).index for i in range(60)]
    found = stability_index(Z, pairs=True)
    assert found.units == 60
    assert found.index == stability_index(Z).index
    assert found.variance == pytest.approx(jackknife(left_out), rel=0.1)
    # halves that agree count as one: twice the variance of as many independent members, about
    assert found.variance > 1.5 * stability_index(Z).variance


def test_variance_is_that_of_the_index_over_draws():
    f, rng = np.repeat([0.95, 0.6, 0.1], [5, 5, 30]), np.random.default_rng(5)
    drawn = [stability_index(rng.random((100, f.size)) < f) for _ in range(400)]
    index = np.array([one.index for one in drawn])
    # the standard deviation of 400 numbers has an error of 3.5 %
    assert np.sqrt(np.mean([one.variance for one in drawn])) == pytest.approx(
        index.std(ddof=1), rel=0.14
    )
    expected = 1.0 - np.mean(f * (1.0 - f)) / (f.mean() * (1.0 - f.mean()))
    assert index.mean() == pytest.approx(expected, abs=0.004)
    covered = np.mean([one.lower <= expected <= one.upper for one in drawn])
    assert 0.91 < covered < 0.98


@pytest.mark.parametrize(("value", "word"), [(0, "selects any"), (1, "leaves any")])
def test_undefined_where_all_select_nothing_or_everything(value, word):
    found = stability_index(np.full((3, 4), value))
    assert np.isnan([found.index, found.variance, found.lower, found.upper, found.half_width]).all()
    assert word in found.why_undefined


def test_sparse_and_dense_are_the_same():
    Z = np.random.default_rng(4).random((6, 9)) < 0.3
    assert stability_index(csr_array(Z)) == stability_index(Z)


@pytest.mark.parametrize(
    ("selections", "pairs", "word"),
    [
        ([[1, 0]], False, "two or more members"),
        ([1, 0], False, "shape"),
        (np.zeros((2, 0)), False, "a column for each variable"),
        ([[1, 2], [0, 1]], False, "zeros and ones"),
        ([["a", "b"], ["a", "b"]], False, "zeros and ones"),
        ([[1, 0], [0, 1], [1, 0]], True, "even number"),
    ],
)
def test_refuses_in_one_sentence(selections, pairs, word):
    with pytest.raises(ArgumentError, match=word):
        stability_index(selections, pairs=pairs)
