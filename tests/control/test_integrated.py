"""Integrated paths: moments, ranges and scores against published formulas and worked numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selica._core.errors import ArgumentError
from selica.control import (
    chance_efp,
    efp_qvalues,
    integrated_efp,
    integrated_scores,
    penalty_integral,
    rank_integral,
)
from selica.control.integrated import PathIntegral, _cells, _kept, _moment, _scores

P, PAIRS = 8, 10
GRID = 0.5 ** np.arange(6)
COUNTS = np.array([
    [4, 0, 0, 0, 0, 0, 0, 0], [14, 8, 0, 1, 0, 0, 0, 1], [19, 15, 3, 2, 1, 0, 2, 1],
    [20, 18, 12, 6, 4, 3, 5, 2], [20, 20, 17, 11, 9, 8, 10, 7], [20, 20, 19, 15, 14, 13, 15, 12],
])  # fmt: skip
MEAN = COUNTS.sum(axis=1) / (2 * PAIRS)
RANK_COUNTS = np.array([[6, 3, 1, 0, 0, 0], [9, 7, 2, 1, 1, 0], [10, 9, 5, 3, 2, 1]])


@pytest.mark.parametrize(
    ("q", "p", "pairs", "moments"),
    [
        (5, 100, 50, (0.25, 0.0056125, 0.00013822)),
        (20, 200, 50, (2.0, 0.0596, 0.00216416)),
        (20, 200, 100, (2.0, 0.0398, 0.00098804)),
        (3, 8, 10, (1.125, 0.25488281, 0.06998291)),
    ],
)
def test_moments(q, p, pairs, moments):
    got = [_moment(p, np.array([float(q)]), pairs, m)[0] for m in (1, 2, 3)]
    np.testing.assert_allclose(got, moments, atol=5e-9)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_moments_are_those_of_independent_pairs(order):
    """E (mean of B independent indicators of probability t)^m, counted over all outcomes."""
    pairs, t = 4, 0.3
    expected = sum(
        t ** sum(outcome) * (1 - t) ** (pairs - sum(outcome)) * (sum(outcome) / pairs) ** order
        for outcome in itertools.product((0, 1), repeat=pairs)
    )
    got = _moment(10, np.array([10 * math.sqrt(t)]), pairs, order)[0]
    assert got == pytest.approx(10 * expected, rel=1e-12)


def test_moments_and_weights_along_penalties():
    np.testing.assert_allclose(MEAN, [0.2, 1.2, 2.15, 3.5, 5.1, 6.4])
    np.testing.assert_allclose(
        _moment(P, MEAN, PAIRS, 2),
        [0.00050281, 0.021645, 0.09534132, 0.41690674, 1.51432049, 3.46112],
        atol=5e-9,
    )
    even = _cells(GRID, 0.0)
    np.testing.assert_allclose(
        even / even.sum(), [0.516129, 0.258065, 0.129032, 0.064516, 0.032258], atol=5e-7
    )


@pytest.mark.parametrize(
    ("order", "exponent", "limit", "cells", "integral", "scores", "efp"),
    [
        (1, 1, 0.2, 2, 0.0925, (0.2, 0, 0, 0), (0.4625, 8, 8, 8)),
        (1, 1, 10, 5, 1.1090625, (0.66, 0.46, 0.18, 0.02), (1.680398, 2.411005, 6.161458, 8)),
        (2, 1, 0.05, 3, 0.03916304, (0.323333, 0.083333, 0, 0), (0.121123, 0.469957, 8, 8)),
        (2, 1, 0.2, 4, 0.13359897, (0.4925, 0.2225, 0.01, 0), (0.271267, 0.600445, 8, 8)),
        (2, 0, 0.05, 4, 0.04654613, (0.217333, 0.076, 0.002667, 0), (0.214169, 0.612449, 8, 8)),
        (2, 1, 10, 5, 0.40974327, (0.594, 0.378, 0.106, 0.002), (0.689803, 1.083977, 3.865503, 8)),
        (3, 1, 0.05, 4, 0.03926624, (0.44825, 0.15925, 0.002, 0), (0.087599, 0.246570, 8, 8)),
    ],
)
def test_worked_numbers_along_penalties(order, exponent, limit, cells, integral, scores, efp):
    weights, got = _kept(_cells(GRID, exponent), _moment(P, MEAN[:-1], PAIRS, order), limit)
    path = PathIntegral(weights, got, P, PAIRS, order)
    if order < 3:
        public = penalty_integral(GRID, MEAN, P, PAIRS, order, exponent=exponent, limit=limit)
        assert public.to_dict()["integral"] == got
        np.testing.assert_array_equal(public.weights, weights)
    assert path.cells == cells
    assert path.integral == pytest.approx(integral, abs=5e-9)
    found = integrated_scores(COUNTS, path)
    np.testing.assert_allclose(found[:4], scores, atol=5e-7)
    np.testing.assert_allclose(integrated_efp(found, path)[:4], efp, atol=5e-7)
    np.testing.assert_allclose(integrated_efp(found, path)[4:], 8.0)


def test_one_cell_that_nobody_passes_selects_nothing():
    path = penalty_integral(GRID, MEAN, P, PAIRS, 1)
    assert path.cells == 1
    np.testing.assert_array_equal(integrated_efp(integrated_scores(COUNTS, path), path), 8.0)


def test_a_path_of_no_cells_selects_nothing():
    path = rank_integral(10, order=1)  # a list of one variable has a mean of 0.1
    assert path.cells == 0
    np.testing.assert_array_equal(integrated_efp(integrated_scores(COUNTS, path), path), 10.0)


@pytest.mark.parametrize(
    ("efp", "q"),
    [
        ((0.271267, 0.600445, 8, 8, 8, 8, 8, 8), (0.271267, 0.300222, 1, 1, 1, 1, 1, 1)),
        ((0.689803, 1.083977, 3.865503, 8, 8), (0.541988, 0.541988, 1, 1, 1)),
        ((0.1, 0.3, 0.3, 2, 8, 8), (0.1, 0.1, 0.1, 0.5, 1, 1)),
        ((8, 8, 2, 0.3, 0.1, 0.3), (1, 1, 0.5, 0.1, 0.1, 0.1)),
    ],
)
def test_q_values(efp, q):
    np.testing.assert_allclose(efp_qvalues(efp), q, atol=1e-6)


@pytest.mark.parametrize(
    ("p", "order", "limit", "longest", "integral"),
    [
        (50, 1, 0.05, 2, 0.04214421), (50, 2, 0.05, 14, 0.04513942), (50, 3, 0.05, 24, 0.04637110),
        (200, 1, 0.05, 6, 0.04774605), (200, 2, 0.05, 42, 0.04963147),
        (200, 3, 0.05, 80, 0.04898520), (1000, 1, 0.05, 16, 0.04548571),
        (1000, 2, 0.05, 130, 0.04917254), (200, 1, 0.5, 25, 0.48112550),
    ],
)  # fmt: skip
def test_ranks_that_are_kept(p, order, limit, longest, integral):
    q = np.arange(1.0, p + 1)
    weights, got = _kept(np.log((q + 1) / q), _moment(p, q, 50, order), limit)
    assert weights.size == longest
    assert got == pytest.approx(integral, abs=5e-9)
    if order < 3:
        path = rank_integral(p, 50, order, limit=limit)
        assert (path.cells, path.integral) == (longest, pytest.approx(got, rel=1e-12))


@pytest.mark.parametrize(
    ("order", "integral", "efp"),
    [
        (1, 0.58959896, (1.088818, 2.083333, 6)),
        (2, 0.19935949, (0.480724, 1.109964, 6)),
        (3, 0.08297247, (0.229669, 0.663948, 6)),
    ],
)
def test_worked_numbers_of_ranks(order, integral, efp):
    q = np.arange(1.0, 4.0)
    weights, got = _kept(np.log((q + 1) / q), _moment(6, q, 5, order), 10.0)
    assert got == pytest.approx(integral, abs=5e-9)
    path = PathIntegral(weights, got, 6, 5, order)
    found = integrated_efp(integrated_scores(RANK_COUNTS, path), path)
    np.testing.assert_allclose(found[:3], efp, atol=5e-7)


def test_a_longest_list_can_be_asked_for():
    assert rank_integral(200, order=2, longest=25).cells == 25
    assert rank_integral(200, order=2, longest=100).cells == 42


@given(st.lists(st.integers(0, 10), min_size=6, max_size=6), st.integers(0, 5), st.integers(1, 9))
@settings(max_examples=50, deadline=None)
def test_efp_falls_when_a_count_rises(row, place, more):
    path = rank_integral(6, 5, 2, limit=1.0, longest=3)
    counts = np.array([row, row, row])
    higher = counts.copy()
    higher[1, place] = min(higher[1, place] + more, 10)
    before, after = (integrated_efp(integrated_scores(c, path), path) for c in (counts, higher))
    assert after[place] <= before[place] <= 6.0
    assert np.all(integrated_scores(counts, path) <= 1.0 + 1e-12)


def test_weights_are_relative():
    moments = _moment(P, MEAN[:-1], PAIRS, 2)
    weights, integral = _kept(_cells(GRID, 1.0), moments, 0.2)
    scaled, again = _kept(7.0 * _cells(GRID, 1.0), moments, 0.2)
    np.testing.assert_allclose(scaled, weights, rtol=1e-14)
    assert again == pytest.approx(integral, rel=1e-14)


def test_scores_of_one_list_are_powers_of_its_shares():
    got = _scores(np.array([[20.0, 15.0, 10.0, 3.0]]), np.ones(1), 10, 2)
    np.testing.assert_allclose(got, [1.0, 0.25, 0.0, 0.0])


def test_chance_counts_draws_that_are_as_high():
    drawn, weight = np.array([0.0, 0.5, 0.25, 0.5]), np.array([0.7, 0.05, 0.15, 0.1])
    scores = np.array([0.5, 0.4, 0.25, 0.2, 0.6, 0.0])
    expected = [10 * weight[drawn >= s].sum() for s in scores]
    np.testing.assert_allclose(chance_efp(scores, drawn, weight, 10), expected)


def test_wrong_shapes_are_named():
    path = rank_integral(50)
    with pytest.raises(ArgumentError, match="counts must have 14 rows or more"):
        integrated_scores(np.zeros((3, 50)), path)
    with pytest.raises(ArgumentError, match="lams must be two penalties or more that decrease"):
        penalty_integral([1.0, 2.0], [1.0, 2.0], 8)
    with pytest.raises(ArgumentError, match="lams must be two penalties or more that decrease"):
        penalty_integral([3.0, 1.0, 2.0], [1.0, 2.0, 3.0], 8)
    with pytest.raises(ArgumentError, match="counts must be between 0 and 100; got 101"):
        integrated_scores(np.full((14, 2), 101.0), path)
    assert integrated_scores(np.full((14, 1), 100.0), path) == pytest.approx([1.0])
    with pytest.raises(ArgumentError, match="q must have a number between 0 and p"):
        penalty_integral([2.0, 1.0], [1.0, 9.0], 8)
    with pytest.raises(ArgumentError, match="weight must have a probability"):
        chance_efp([0.1], [0.1, 0.2], [1.0], 5)
