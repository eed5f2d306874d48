"""Selections from p-values and their aggregation."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from selica.control import benjamini_hochberg, benjamini_yekutieli, quantile_aggregation

unit = st.floats(0.0, 1.0) | st.integers(0, 20).map(lambda i: i / 20)
RULES = {"bh": benjamini_hochberg, "by": benjamini_yekutieli}


@given(
    st.lists(unit | st.floats(0.0, 0.02), min_size=1, max_size=30),
    st.floats(0.01, 0.99),
    st.sampled_from(["bh", "by"]),
)
@settings(max_examples=300, deadline=None)
def test_selections_agree_with_adjusted_pvalues(pvalues, fdr, method):
    adjusted = false_discovery_control(pvalues, method=method)
    clear = np.abs(adjusted - fdr) > 1e-6 * fdr  # the others are a matter of rounding
    got = RULES[method](pvalues, fdr)
    np.testing.assert_array_equal(got[clear], (adjusted <= fdr)[clear])


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12), st.integers(1, 19))
@settings(max_examples=200, deadline=None)
def test_step_up_in_exact_arithmetic(twentieths, level):
    m, fdr = len(twentieths), Fraction(level, 20)
    ordered = sorted(Fraction(t, 20) for t in twentieths)
    for rule, factor in [
        (benjamini_hochberg, Fraction(1)),
        (benjamini_yekutieli, 1 / sum(Fraction(1, i) for i in range(1, m + 1))),
    ]:
        passed = [k for k in range(1, m + 1) if ordered[k - 1] <= k * fdr * factor / m]
        last = ordered[passed[-1] - 1] if passed else -1
        got = rule([t / 20 for t in twentieths], level / 20)
        assert got.tolist() == [Fraction(t, 20) <= last for t in twentieths]


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_ends(rule):
    assert rule([0.0, 0.0, 0.0], 0.1).all()
    assert not rule([1.0, 1.0, 1.0], 0.9).any()
    assert rule([0.1], 0.1).all()
    assert not rule([0.1001], 0.1).any()


def test_a_level_that_holds_with_equality():
    assert benjamini_hochberg([0.1, 0.2, 0.3], 0.3).all()  # 0.3 <= 3 * 0.3 / 3, and 0.1 + 0.2 > 0.3
    assert benjamini_hochberg([0.1, 0.1 + 0.2, 0.1 + 0.2], 0.3).all()
    assert not benjamini_hochberg([0.301] * 3, 0.3).any()


COLUMNS = [(0.05, 0.1, 0.05, 0.2, 0.05), (0.5, 0.05, 1, 0.1, 0.3), (1, 0.2, 0.4, 1, 0.6)]
ROWS = [(0.01, 0.2), (0.04, 0.5), (0.02, 0.9), (0.03, 0.04)]


@pytest.mark.parametrize(
    ("gamma", "want"), [(0.3, [0.05 / 0.3, 0.1 / 0.3, 1.0]), (0.5, [0.1, 0.6, 1.0])]
)
def test_quantiles_do_not_interpolate(gamma, want):
    np.testing.assert_allclose(quantile_aggregation(np.transpose(COLUMNS), gamma), want, rtol=1e-12)


def test_published_aggregates():
    np.testing.assert_allclose(quantile_aggregation(ROWS), [0.04, 0.40], rtol=1e-12)
    got = quantile_aggregation(ROWS, gamma=0.5, adaptive=True)
    np.testing.assert_allclose(got, [0.06772589, 0.67725887], rtol=1e-7)


tables = st.integers(1, 12).flatmap(
    lambda runs: st.lists(st.lists(unit, min_size=3, max_size=3), min_size=runs, max_size=runs)
)


@given(tables, st.integers(1, 20))
@settings(max_examples=150, deadline=None)
def test_fixed_quantile(runs, twentieths):
    gamma, table = twentieths / 20, np.array(runs)
    rank = -(-twentieths * len(runs) // 20)  # ceil(gamma * runs) in integers
    want = np.minimum(np.sort(table, axis=0)[rank - 1] / gamma, 1.0)
    np.testing.assert_allclose(quantile_aggregation(runs, gamma), want, rtol=1e-12)


@given(tables, st.integers(1, 20))
@settings(max_examples=100, deadline=None)
def test_the_best_quantile_of_a_fine_grid(runs, twentieths):
    least, table = twentieths / 20, np.sort(runs, axis=0)
    # all jumps of the quantile are multiples of 1 / runs, and on this grid
    size = len(runs)
    tried = []
    for i in range(1, 20 * size + 1):
        if i >= twentieths * size:
            tried.append(table[-(-i // 20) - 1] / (i / (20 * size)))
    want = np.minimum((1 - np.log(least)) * np.min(tried, axis=0), 1.0)
    got = quantile_aggregation(runs, least, adaptive=True)
    smallest = np.finfo(float).tiny  # below, numbers have fewer digits than the tolerance asks for
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=smallest)


@given(tables, st.floats(0.01, 1.0), st.booleans())
@settings(max_examples=100, deadline=None)
def test_aggregates_are_pvalues_whatever_the_order_of_the_runs(runs, gamma, adaptive):
    got = quantile_aggregation(runs, gamma, adaptive)
    assert np.all((got >= 0) & (got <= 1))
    np.testing.assert_array_equal(quantile_aggregation(runs[::-1], gamma, adaptive), got)


def test_one_run_and_the_largest_quantile():
    assert quantile_aggregation([[0.2, 0.7]], gamma=1.0).tolist() == [0.2, 0.7]
    assert quantile_aggregation(ROWS, gamma=1.0).tolist() == [0.04, 0.9]
    assert quantile_aggregation(ROWS, gamma=1.0, adaptive=True).tolist() == [0.04, 0.9]
    # gamma * runs below one: the smallest p-value, as many times larger as it was chosen from
    assert quantile_aggregation(ROWS, gamma=0.01)[0] == pytest.approx(1.0)


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("gamma", [0.25, 0.5])
def test_runs_that_depend_in_the_worst_way(gamma, adaptive):
    """Uniform p-values of four runs that are shifts of each other, on a circle of 1000 points."""
    runs = np.array([(np.arange(1000) + shift) % 1000 + 1 for shift in (0, 250, 500, 750)]) / 1000
    got = quantile_aggregation(runs, gamma, adaptive)
    for level in (0.02, 0.052, 0.2, 0.5, 0.8):
        assert np.mean(got <= level) <= level
