"""Mirror statistics and inclusion rates."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selica.control import fdp, inclusion_rate_cutoff, mirror_threshold
from tests.control.test_knockoffs import SIZES, all_signs, fdrs, statistics

FIRST = np.array([1, -0.8, 0.5, 0.3, 0, -0.2, 0.1, 0.05])
SECOND = np.array([0.9, -0.7, 0.6, -0.1, 0.4, -0.15, -0.2, 0.02])
TOY = np.sign(FIRST * SECOND) * (np.abs(FIRST) + np.abs(SECOND))


@pytest.mark.parametrize(
    ("fdr", "offset", "threshold", "selected"),
    [
        (0.2, 0, 0.4, [0, 1, 2]),
        (0.3, 0, 0.3, [0, 1, 2, 5]),
        (0.5, 0, 0.0, [0, 1, 2, 5, 7]),
        (0.2, 1, np.inf, []),
        (0.3, 1, np.inf, []),
        (0.5, 1, 0.3, [0, 1, 2, 5]),
    ],
)
def test_toy(fdr, offset, threshold, selected):
    got = mirror_threshold(TOY, fdr, offset)
    assert got == pytest.approx(threshold)
    assert np.flatnonzero(got < TOY).tolist() == selected


def test_the_offset_is_one_unless_told():
    assert mirror_threshold(TOY, 0.2) == np.inf


@given(statistics, fdrs, st.sampled_from([0, 1]), st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_exhaustive_rule_in_exact_arithmetic(M, fdr, offset, random):
    def kept(t):
        estimate = Fraction(offset + sum(m < -t for m in M), max(1, sum(m > t for m in M)))
        return estimate <= Fraction(fdr)

    want = min((abs(m) for m in M if kept(abs(m))), default=np.inf)
    assert mirror_threshold(M, float(fdr), offset) == want
    random.shuffle(M)
    assert mirror_threshold(M, float(fdr), offset) == want


@pytest.mark.parametrize("M", [[0, 0, 0], [-1, -2], [3, 3, 3], [-2, 2]])
@pytest.mark.parametrize("offset", [0, 1])
def test_zeros_ties_and_single_signs_select_nothing(M, offset):
    assert not np.any(np.array(M) > mirror_threshold(M, 0.4, offset))


def test_a_level_that_holds_with_equality():
    # 29 of 100 at level 0.29: the product 0.29 * 100 is 28.999999999999996
    M = [2] * 100 + [-2] * 28 + [1]
    assert mirror_threshold(M, 0.29) == 1.0
    assert mirror_threshold([*M, -2], 0.29) == np.inf


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("true", [0, 3])
@pytest.mark.parametrize("fdr", [0.2, 0.5])
def test_false_discovery_rate_over_all_signs(sizes, true, fdr):
    found = [fdp(mirror_threshold(M, fdr) < M, range(true)) for M in all_signs(sizes, true)]
    assert np.mean(found) <= fdr


def inclusion_rates(sets, p):
    rates = np.zeros(p)
    for chosen in sets:
        rates[list(chosen)] += 1 / (len(sets) * len(chosen))
    return rates


SETS = [{0, 1, 2}, {0, 1}, {0, 1, 2, 5}, {0, 2}, {0, 1, 2, 3}]


@pytest.mark.parametrize("fdr", [0.1, 0.2, 0.3])
def test_inclusion_rates_of_five_splits(fdr):
    rates = inclusion_rates(SETS, 8)
    np.testing.assert_allclose(
        rates, [0.366667, 0.266667, 0.266667, 0.05, 0, 0.05, 0, 0], atol=1e-6
    )
    cutoff = inclusion_rate_cutoff(rates, fdr)
    assert cutoff == pytest.approx(0.05)
    assert np.flatnonzero(rates > cutoff).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("rates", "fdr", "cutoff", "selected"),
    [
        ([0.5, 0.5], 0.1, 0.0, 2),  # both are above the level: nothing is left out
        ([1.0], 0.5, 0.0, 1),
        ([0, 0, 0], 0.1, 0.0, 0),
        ([0.02, 0.03], 0.1, 0.03, 0),  # most splits selected nothing
        ([0.25] * 4, 0.3, 0.0, 4),  # one would fit, all are equal, and the splits agree
        ([0.1, 0.2, 0.7], 0.3, 0.2, 1),  # 0.1 + 0.2 is more than 0.3 in double precision
        ([0.7, 0.2, 0.1], 0.29, 0.1, 2),
        ([0.0, 0.2, 0.8], 0.1, 0.0, 2),
    ],
)
def test_cutoffs(rates, fdr, cutoff, selected):
    assert inclusion_rate_cutoff(rates, fdr) == pytest.approx(cutoff)
    assert np.sum(np.array(rates) > inclusion_rate_cutoff(rates, fdr)) == selected


def test_rates_that_are_equal_but_for_rounding():
    # 1/3 + 1/2 + 1/7 in two orders; one of the two alone would fit below the level
    a, b = (1 / 3 + 1 / 2 + 1 / 7) / 4, (1 / 7 + 1 / 2 + 1 / 3) / 4
    low, high = sorted([a, np.nextafter(b, 1.0)])
    assert low < high
    for rates in np.array([[low, high, 0.5], [high, low, 0.5]]):
        assert np.count_nonzero(rates > inclusion_rate_cutoff(rates, 0.3)) == 3
        assert np.flatnonzero(rates > inclusion_rate_cutoff(rates, 0.49)).tolist() == [2]


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=15).filter(any),
    fdrs,
    st.randoms(use_true_random=False),
)
@settings(max_examples=200, deadline=None)
def test_the_rates_left_out(parts, fdr, random):
    total = sum(parts)
    exact = [Fraction(part, total) for part in parts]
    out = [c for c in exact if sum(rate for rate in exact if rate <= c) <= Fraction(fdr)]
    want = {i for i, rate in enumerate(exact) if rate > max(out, default=0)}
    rates = np.array(parts) / total
    assert set(np.flatnonzero(rates > inclusion_rate_cutoff(rates, float(fdr)))) == want
    moved = list(rates)
    random.shuffle(moved)
    assert inclusion_rate_cutoff(moved, float(fdr)) == inclusion_rate_cutoff(rates, float(fdr))
