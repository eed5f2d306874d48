"""The knockoff filter and its relatives: examples, exhaustive rules, guarantees over all signs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import nbinom

from selica.control import (
    fdp,
    first_negatives_filter,
    kfwer_parameters,
    knockoff_pvalues,
    knockoff_threshold,
)

TOY = [5, 4, 3.5, 3, -2.5, 2.2, 2, 1.8, 1.5, -1.2, 1, 0.8, -0.5, 0.3, 0, 0, -0.2, 0.1, 0.9, 0.7]
LEVELS = ["0.05", "0.1", "0.15", "0.2", "0.25", "0.29", "0.3", "0.5", "0.9"]

# small integers: ties and zeros are the rule
statistics = st.lists(st.integers(-6, 6), min_size=1, max_size=40)
fdrs = st.sampled_from(LEVELS)


def select(W, fdr, offset=1):
    return np.flatnonzero(np.asarray(W) >= knockoff_threshold(W, fdr, offset))


@pytest.mark.parametrize(
    ("W", "fdr", "selected", "threshold"),
    [
        ([1, -2, 3, 6, 3, -2, 1, 2, 5, 3, 0.5, *[1] * 7], 0.2, 16, 0.5),
        ([-1, 2, -3], 0.3, 0, np.inf),
        ([-5, -1, *range(1, 11)], 0.2, 5, 6.0),
        ([1] * 10 + [0] * 10, 0.2, 10, 1.0),
        ([-2, -1, *range(1, 9), *[0] * 10], 0.2, 6, 3.0),
        ([-1] * 10, 0.2, 0, np.inf),
        ([3] * 7 + [-3] + [3] * 3, 0.15, 0, np.inf),
        ([3] * 3 + [-3] + [3] * 7, 0.15, 0, np.inf),
        ([0] * 5, 0.2, 0, np.inf),
        ([1e-300] * 10, 0.1, 10, 1e-300),
        ([7], 0.5, 0, np.inf),
    ],
)
def test_examples(W, fdr, selected, threshold):
    assert select(W, fdr).size == selected
    assert knockoff_threshold(W, fdr) == threshold


@pytest.mark.parametrize(
    ("fdr", "offset", "threshold"),
    [
        (0.2, 1, np.inf),
        (0.25, 1, 0.7),
        (0.3, 1, 0.7),
        (0.5, 1, 0.1),
        (0.1, 0, 3.0),
        (0.2, 0, 0.7),
    ],
)
def test_toy(fdr, offset, threshold):
    assert knockoff_threshold(TOY, fdr, offset) == threshold


def test_toy_selections():
    assert select(TOY, 0.25).tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 18, 19]
    assert select(TOY, 0.5).size == 14


@given(statistics, fdrs, st.sampled_from([0, 1]))
@settings(max_examples=300, deadline=None)
def test_exhaustive_rule_in_exact_arithmetic(W, fdr, offset):
    def kept(t):
        estimate = Fraction(offset + sum(w <= -t for w in W), max(1, sum(w >= t for w in W)))
        return estimate <= Fraction(fdr)

    want = min((abs(w) for w in W if w != 0 and kept(abs(w))), default=np.inf)
    assert knockoff_threshold(W, float(fdr), offset) == want


def test_a_level_that_holds_with_equality():
    # 29 of 100 at level 0.29: the product 0.29 * 100 is 28.999999999999996
    W = [2] * 100 + [-2] * 28
    assert knockoff_threshold(W, 0.29) == 2.0
    assert knockoff_threshold([*W, -2], 0.29) == np.inf


@given(statistics, fdrs, st.randoms(use_true_random=False), st.floats(1e-3, 1e3))
@settings(max_examples=100, deadline=None)
def test_order_and_scale_do_not_matter(W, fdr, random, scale):
    W = np.array(W, dtype=float)
    order = list(range(W.size))
    random.shuffle(order)
    want = select(W, float(fdr))
    moved = W[order] * scale
    assert {order[i] for i in select(moved, float(fdr))} == set(want)
    for v in (1, 2, 3):
        np.testing.assert_array_equal(
            first_negatives_filter(moved, v), first_negatives_filter(W, v)[order]
        )
    np.testing.assert_array_equal(knockoff_pvalues(moved), knockoff_pvalues(W)[order])


SIZES = {
    "distinct": [1, 2, 3, 4, 5, 6, 7, 8, 9],
    "tied": [1, 1, 1, 1, 2, 2, 2, 3, 3],
    "equal": [1] * 9,
    "with zeros": [0, 0, 1, 2, 2, 3, 4, 5, 6],
}


def all_signs(sizes, true):
    """Every statistic with fair signs of the noise, whose first `true` variables are positive."""
    # the true ones are spread over the sizes
    sizes = np.array(sizes)[np.argsort(np.arange(9) * 4 % 9)]
    for signs in product((-1, 1), repeat=sizes.size - true):
        yield sizes * np.array([*[1] * true, *signs])


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("true", [0, 2, 5])
@pytest.mark.parametrize("fdr", [0.2, 0.34, 0.5, 0.8])
def test_false_discovery_rate_over_all_signs(sizes, true, fdr):
    truth = range(true)
    found = [fdp(select(W, fdr), truth) for W in all_signs(sizes, true)]
    assert np.mean(found) <= fdr


@pytest.mark.parametrize(
    ("v", "selected"), [(0, []), (1, [0, 5]), (2, [0, 2, 5]), (3, [0, 2, 4, 5]), (9, [0, 2, 4, 5])]
)
def test_positives_before_a_negative(v, selected):
    assert np.flatnonzero(first_negatives_filter([5, -4, 3, -2, 1, 6], v)).tolist() == selected


@pytest.mark.parametrize(
    ("v", "selected"),
    [
        (1, [0, 1, 2, 3]),
        (2, [0, 1, 2, 3, 5, 6, 7, 8]),
        (3, [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 18, 19]),
        (5, [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 13, 17, 18, 19]),
    ],
)
def test_positives_before_a_negative_of_the_toy(v, selected):
    assert np.flatnonzero(first_negatives_filter(TOY, v)).tolist() == selected


@given(statistics, st.integers(0, 6), st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_any_order_of_the_ties_selects_as_much(W, v, random):
    got = first_negatives_filter(W, v)
    order = list(range(len(W)))
    random.shuffle(order)
    order.sort(key=lambda i: -abs(W[i]))  # stable: ties stay shuffled
    chosen, negatives = set(), 0
    for i in order:
        negatives += W[i] < 0
        if negatives >= v:
            break
        if W[i] > 0:
            chosen.add(i)
    assert set(np.flatnonzero(got)) <= chosen
    if len({abs(w) for w in W}) == len(W):
        assert set(np.flatnonzero(got)) == chosen


@pytest.mark.parametrize(
    ("W", "v", "selected"),
    [
        ([2, -2, 3], 1, [2]),
        ([-2, 2, 3], 1, [2]),
        ([2, -2, -2, 1, 3], 2, [4]),
        ([2, -2, -2, 1, 3], 3, [0, 3, 4]),
        ([0, 0, 1], 1, [2]),
        ([0, 0], 1, []),
        ([-1, -1], 2, []),
        ([4, 4, 4], 1, [0, 1, 2]),
    ],
)
def test_ties_zeros_and_single_signs(W, v, selected):
    assert np.flatnonzero(first_negatives_filter(W, v)).tolist() == selected


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("true", [0, 3])
@pytest.mark.parametrize("v", [1, 2, 3])
def test_false_selections_are_below_the_negative_binomial_law(sizes, true, v):
    false = np.array([first_negatives_filter(W, v)[true:].sum() for W in all_signs(sizes, true)])
    assert false.mean() <= v
    for k in range(1, 7):
        assert np.mean(false >= k) <= nbinom.sf(k - 1, v, 0.5) + 1e-12


@pytest.mark.parametrize(
    ("v", "tails"),
    [
        (1, [0.5, 0.25, 0.125, 0.0625, 0.03125]),
        (2, [0.75, 0.5, 0.3125, 0.1875, 0.10938]),
        (3, [0.875, 0.6875, 0.5, 0.34375, 0.22656]),
    ],
)
def test_levels_that_are_tails(v, tails):
    for k, tail in enumerate(tails, start=1):
        # a level a little above the tail of v allows v, a little below it does not
        assert kfwer_parameters(k, tail + 1e-4).v == v
        assert kfwer_parameters(k, tail - 1e-4).v == v - 1


@pytest.mark.parametrize("k", [1, 2, 5, 40, 1000])
@pytest.mark.parametrize("level", [0.001, 0.05, 0.1, 0.5, 0.77, 0.999])
def test_the_level_is_used_up(k, level):
    found = kfwer_parameters(k, level)
    below = nbinom.sf(k - 1, found.v, 0.5) if found.v else 0.0
    above = nbinom.sf(k - 1, found.v + 1, 0.5)
    assert below <= level * (1 + 1e-9)
    assert above > level
    assert 0.0 <= found.probability < 1.0
    mixed = (1 - found.probability) * below + found.probability * above
    assert mixed == pytest.approx(level, rel=1e-8)


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 30])
def test_a_level_of_one_half_is_met_exactly(k):
    # by symmetry NB(k, 1/2) >= k has probability 1/2
    found = kfwer_parameters(k, 0.5)
    assert found.v == k
    assert found.probability == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("k", "level", "v"),
    [(2, 0.25, 1), (3, 0.125, 1), (5, 1 / 32, 1), (3, 0.3125, 2), (4, 0.1875, 2), (4, 0.34375, 3)],
)
def test_other_levels_that_are_met_exactly(k, level, v):
    assert kfwer_parameters(k, level).v == v
    assert kfwer_parameters(k, level).probability == pytest.approx(0.0, abs=1e-9)


def test_a_level_next_to_one_is_below_one():
    found = kfwer_parameters(2, 1.0 - 1e-10)
    assert nbinom.sf(1, found.v, 0.5) <= 1.0 - 1e-10 * (1.0 - 1e-6)
    assert nbinom.cdf(1, found.v + 1, 0.5) < 1e-10


def test_pvalues_of_the_toy():
    want = np.ones(20)
    want[[0, 1, 2, 3]] = 0.05
    want[[5, 6, 7, 8]] = 0.1
    want[[10, 11, 18, 19]] = 0.15
    want[13], want[17] = 0.2, 0.25
    np.testing.assert_allclose(knockoff_pvalues(TOY), want, rtol=1e-12)


@given(statistics)
@settings(max_examples=100, deadline=None)
def test_pvalues_by_their_definition(W):
    p = len(W)
    want = [(1 + sum(k <= -w for k in W)) / p if w > 0 else 1.0 for w in W]
    np.testing.assert_allclose(knockoff_pvalues(W), want, rtol=1e-12)


@pytest.mark.parametrize("W", [[0.0, 0.0], [-1.0, -2.0, -2.0]])
def test_pvalues_without_a_positive(W):
    assert knockoff_pvalues(W).tolist() == [1.0] * len(W)
