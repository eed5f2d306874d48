"""A level that is chosen after the fit: examples, exhaustive rules, the promise over all signs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selica._core.errors import ArgumentError
from selica.control import (
    knockoff_threshold,
    posthoc_evalues,
    posthoc_level,
    posthoc_selection,
)

TOY = [5, 4, 3.5, 3, -2.5, 2.2, 2, 1.8, 1.5, -1.2, 1, 0.8, -0.5, 0.3, 0, 0, -0.2, 0.1, 0.9, 0.7]
LADDER = [-5, -1, *range(1, 11)]
COPIES = [
    [5, 4, 3, -2, 1, 0.5],
    [4, 5, -1, 3, 2, -0.5],
    [6, -1, 5, 4, 0.5, 2],
    [3, 2, 4, -5, 1, 0.7],
]
statistics = st.lists(st.integers(-6, 6), min_size=1, max_size=30)
fdrs = st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.9])


def one_run(W, fdr):
    return posthoc_selection(posthoc_evalues(W, fdr), fdr)


@pytest.mark.parametrize(
    ("W", "fdr", "selected", "level"),
    [
        (TOY, 0.1, [0, 1, 2, 3], 0.25),
        (TOY, 0.2, [0, 1, 2, 3], 0.25),
        (TOY, 0.3, [0, 1, 2, 3, 5, 6, 7, 8, 10, 11, 18, 19], 0.25),
        (TOY, 0.5, [j for j, w in enumerate(TOY) if w > 0], 5 / 14),
        (LADDER, 0.1, [7, 8, 9, 10, 11], 0.2),
        (LADDER, 0.2, [7, 8, 9, 10, 11], 0.2),
        (LADDER, 0.3, list(range(2, 12)), 0.3),
        (LADDER, 0.5, list(range(2, 12)), 0.3),
        ([5, 4, -3, 2, 1], 0.1, [0, 1], 0.5),
        ([5, 4, -3, 2, 1], 0.3, [0, 1], 0.5),
        ([5, 4, -3, 2, 1], 0.5, [0, 1, 3, 4], 0.5),
        ([-6, 5, 4, 3], 0.2, [], np.inf),
        ([3, 3, 3, -3, 2, 1], 0.3, [], np.inf),
        ([3, 3, 3, -3, 2, 1], 0.5, [0, 1, 2, 4, 5], 0.4),
        ([4, 3, 2, 1], 0.1, [0, 1, 2, 3], 0.25),
        ([0, 0, 0], 0.2, [], np.inf),
        ([7], 0.5, [0], 1.0),
    ],
)
def test_examples_of_one_run(W, fdr, selected, level):
    found = one_run(W, fdr)
    assert np.flatnonzero(found.support).tolist() == selected
    assert found.level == pytest.approx(level, abs=1e-12)


@given(statistics, fdrs)
@settings(max_examples=150, deadline=None)
def test_the_rule_of_one_run_in_exact_arithmetic(W, fdr):
    level = Fraction(str(fdr))
    stops = [
        t
        for t in sorted({abs(w) for w in W} - {0})
        if sum(w <= -t for w in W) == 0
        or 1 + sum(w <= -t for w in W) <= level * max(1, sum(w >= t for w in W))
    ]
    found = one_run(W, fdr)
    if not stops:
        assert not found.support.any()
        assert found.level == np.inf
        return
    chosen = [w >= stops[0] for w in W]
    assert found.support.tolist() == chosen
    ratio = Fraction(1 + sum(w <= -stops[0] for w in W), sum(chosen))
    assert found.level == pytest.approx(float(ratio), rel=1e-12)
    assert ratio <= 1


@given(statistics, fdrs)
@settings(max_examples=100, deadline=None)
def test_where_knockoffs_select_the_list_is_theirs(W, fdr):
    chosen = np.asarray(W) >= knockoff_threshold(W, fdr)
    if chosen.any():
        found = one_run(W, fdr)
        assert found.support.tolist() == chosen.tolist()
        assert found.level <= fdr * (1 + 1e-9)


@pytest.mark.parametrize("true", [0, 2, 5])
@pytest.mark.parametrize("fdr", [0.2, 0.5])
def test_the_ratio_over_all_signs_is_known_exactly(true, fdr):
    # true variables are positive and on top; E[FDP / level] is 1 - 2^-n0 whatever else there is
    noise = 10
    fdr_known = {
        (0, 0.2): 0.5, (0, 0.5): 0.546875, (2, 0.2): 0.231579, (5, 0.2): 0.154640,
        (5, 0.5): 0.394965,
    }  # fmt: skip
    size = np.arange(noise, 0, -1)
    top = 100.0 + np.arange(true)
    ratio, share = Fraction(0), 0.0
    for signs in product([1, -1], repeat=noise):
        W = np.concatenate([top, size * np.array(signs)])
        found = one_run(W, fdr)
        if not found.support.any():
            continue
        false = int(np.count_nonzero(found.support[true:]))
        level = Fraction(found.level).limit_denominator(100)
        ratio += Fraction(false, int(np.count_nonzero(found.support))) / level
        share += false / np.count_nonzero(found.support)
    assert ratio / 2**noise == 1 - Fraction(1, 2**noise)
    if (true, fdr) in fdr_known:
        assert share / 2**noise == pytest.approx(fdr_known[true, fdr], abs=5e-7)


@pytest.mark.parametrize("true", [0, 3])
def test_joint_copies_keep_the_ratio(true):
    # noise beats two copies once in three times: all signs, each with its probability
    noise, copies = 9, 2
    ratio = Fraction(0)
    for signs in product([1, -1], repeat=noise):
        W = np.concatenate([100.0 + np.arange(true), np.arange(noise, 0, -1) * np.array(signs)])
        found = posthoc_selection(posthoc_evalues(W, 0.2, joint_copies=copies), 0.2)
        if not found.support.any():
            continue
        chance = Fraction(1, 3) ** signs.count(1) * Fraction(2, 3) ** signs.count(-1)
        level = Fraction(found.level).limit_denominator(1000)
        false = int(np.count_nonzero(found.support[true:]))
        ratio += chance * Fraction(false, int(np.count_nonzero(found.support))) / level
    assert Fraction(9, 10) < ratio <= 1


def test_examples_of_copies():
    each = np.array([posthoc_evalues(w, 0.25) for w in COPIES])
    listed = [[0, 1, 2], [0, 1, 3, 4], [0, 2, 3, 5], []]
    assert each.tolist() == [[6.0 * (j in one) for j in range(6)] for one in listed]
    e = each.mean(axis=0)
    assert e.tolist() == [4.5, 3, 3, 3, 1.5, 1.5]
    for fdr in (0.2, 0.3, 0.4, 0.5):
        found = posthoc_selection(e, fdr)
        assert np.flatnonzero(found.support).tolist() == [0, 1, 2, 3]
        assert found.level == 0.5
    levels = [posthoc_level(e, np.arange(6) < k) for k in (1, 2, 3, 4)]
    assert levels == pytest.approx([4 / 3, 1.0, 2 / 3, 0.5])
    assert posthoc_level([2.0, 0.0], [True, True]) == np.inf


@pytest.mark.parametrize("fdr", [0.2, 0.4, 0.5])
def test_evalues_that_support_no_smaller_level(fdr):
    found = posthoc_selection([10, 10, 8, 3, *[0] * 6], fdr)
    assert found.support.tolist() == [True] * 3 + [False] * 7
    assert found.level == pytest.approx(10 / 24)


def test_weak_evalues_select_nothing():
    found = posthoc_selection([4, 3, 1, 0.5, *[0] * 6], 0.2)
    assert not found.support.any()
    assert found.level == np.inf


@given(
    st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 0.7, 1, 2, 5, 40 / 3]), min_size=1, max_size=8),
    fdrs,
)
@settings(max_examples=100, deadline=None)
def test_the_selection_is_the_best_of_all_lists(e, fdr):
    # among all lists: the longest at the asked level, else the smallest level with most variables
    p = len(e)
    levels = {
        chosen: p / (len(chosen) * min(e[j] for j in chosen))
        for size in range(1, p + 1)
        for chosen in combinations(range(p), size)
        if min(e[j] for j in chosen) > 0
    }
    good = [c for c, x in levels.items() if x <= fdr * (1 + 1e-9)]
    found = posthoc_selection(e, fdr)
    if good:
        assert np.count_nonzero(found.support) == max(map(len, good))
    elif levels and min(levels.values()) <= 1 + 1e-9:
        best = min(levels.values())
        most = max(len(c) for c, x in levels.items() if x <= best * (1 + 1e-9))
        assert np.count_nonzero(found.support) == most
        assert found.level == pytest.approx(best)
    else:
        assert found.level == np.inf


def test_all_lists_at_once_over_all_signs():
    # max over lists of FDP / level has mean at most 1, also where the list is chosen by the truth
    noise, true = 5, 2
    top = [9.0, 8.0]
    total = 0.0
    for signs in product([1, -1], repeat=noise):
        e = posthoc_evalues([*top, *(np.arange(noise, 0, -1) * np.array(signs))], 0.3)
        ratios = [0.0]
        for size in range(1, noise + true + 1):
            for chosen in combinations(range(noise + true), size):
                mask = np.isin(np.arange(noise + true), chosen)
                level = posthoc_level(e, mask)
                if level <= 1.0:
                    ratios.append(float(np.mean(np.array(chosen) >= true)) / level)
        total += max(ratios)
    assert total / 2**noise <= 1.0


def test_a_list_has_a_variable():
    with pytest.raises(ArgumentError, match="chosen must have at least one"):
        posthoc_level([1.0, 2.0], [False, False])
