"""e-values: examples, their expectation over all signs, exhaustive e-BH."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selica.control import (
    averaged_level,
    ebh,
    fdp,
    frequency_bound,
    knockoff_evalues,
    knockoff_threshold,
    posthoc_evalues,
)
from tests.control.test_knockoffs import SIZES, TOY, all_signs, fdrs, statistics


def test_stairs():
    e = knockoff_evalues([-5, -1, *range(1, 11)], 0.2)
    assert e.tolist() == [0.0] * 7 + [12.0] * 5


def test_toy():
    # level 0.1: the filter stops nowhere; fewer than 10 positives are left from 1.0 on
    e = knockoff_evalues(TOY, 0.1)
    assert np.flatnonzero(e).tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 10]
    np.testing.assert_allclose(e[e > 0], 20 / 3)
    assert not ebh(e, 0.2).any()
    assert not knockoff_evalues(TOY, 0.1, early_stopping=False).any()
    e = knockoff_evalues(TOY, 0.25)
    assert np.count_nonzero(e) == 12
    np.testing.assert_allclose(e[e > 0], 20 / 3)
    np.testing.assert_array_equal(ebh(e, 0.5), e > 0)


@given(statistics, fdrs, st.sampled_from([0, 1]), st.booleans())
@settings(max_examples=300, deadline=None)
def test_the_first_time_to_stop(W, fdr, offset, early):
    level = Fraction(fdr)
    stop = None
    for t in sorted({abs(w) for w in W} - {0}):
        positive, negative = sum(w >= t for w in W), sum(w <= -t for w in W)
        within = Fraction(offset + negative, max(1, positive)) <= level
        if within or (early and positive < 1 / level):
            stop = t
            break
    want = np.zeros(len(W))
    if stop is not None:
        want[np.array(W) >= stop] = len(W) / (1 + negative)
    np.testing.assert_allclose(knockoff_evalues(W, float(fdr), offset, early), want, rtol=1e-12)


@given(statistics, fdrs, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_order_does_not_matter(W, fdr, random):
    order = list(range(len(W)))
    random.shuffle(order)
    e = knockoff_evalues(W, float(fdr))
    np.testing.assert_array_equal(knockoff_evalues(np.array(W)[order], float(fdr)), e[order])
    np.testing.assert_array_equal(ebh(e[order], 0.5), ebh(e, 0.5)[order])


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("true", [0, 2, 4])
@pytest.mark.parametrize("fdr", [0.12, 0.2, 0.3, 0.4, 0.7])
@pytest.mark.parametrize("offset", [0, 1])
def test_expectation_over_all_signs(sizes, true, fdr, offset):
    e = np.array([knockoff_evalues(W, fdr, offset) for W in all_signs(sizes, true)])
    assert e[:, true:].sum(axis=1).mean() <= 9 + 1e-9


@pytest.mark.parametrize(("noise", "signals"), [(40, 0), (40, 8), (60, 12), (100, 25)])
@pytest.mark.parametrize("fdr", [0.1, 0.2, 0.5])
def test_expectation_with_many_variables(noise, signals, fdr):
    """Signs of noise are coins; signals are positive, half of them among the largest."""
    rng = np.random.default_rng(5)
    size = np.concatenate([rng.uniform(0.0, 1.0, noise), rng.uniform(0.5, 1.5, signals)])
    total = []
    for coins in rng.choice((-1.0, 1.0), (1500, noise)):
        W = size * np.concatenate([coins, np.ones(signals)])
        total.append(knockoff_evalues(W, fdr / 2)[:noise].sum())
    error = np.std(total) / np.sqrt(len(total))
    assert np.mean(total) <= noise + signals + 3.0 * error


def test_stopping_at_the_next_positive_would_break_the_expectation():
    """Why the early stop counts the negatives on the way; the test above can tell.

    With noise only and no end of variables, the negatives before the K-th largest positive are
    NB(K, 1/2), and E[K / (1 + NB)] = K (1 - 2^-(K-1)) / (K - 1) is 1.12 for K = 9.
    """
    total = []
    for w in all_signs(SIZES["distinct"], 0):
        positive = np.sort(w[w > 0])[::-1]
        t = knockoff_threshold(w, 0.2)
        if positive.size:  # fewer than 1 / 0.2 positives
            t = min(t, positive[min(4, positive.size) - 1])
        total.append(9 * np.sum(w >= t) / (1 + np.sum(w <= -t)))
    assert np.mean(total) > 1.1 * 9


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("true", [0, 3])
@pytest.mark.parametrize("fdr", [0.3, 0.6])
def test_false_discovery_rate_over_all_signs(sizes, true, fdr):
    found = [
        fdp(ebh(knockoff_evalues(W, fdr / 2), fdr), range(true)) for W in all_signs(sizes, true)
    ]
    assert np.mean(found) <= fdr


@given(statistics, fdrs)
@settings(max_examples=150, deadline=None)
def test_at_one_level_the_filter_comes_back(W, fdr):
    # Ren & Barber: with one draw, the same level and no early stop, e-BH is the knockoff filter
    selected = np.asarray(W) >= knockoff_threshold(W, float(fdr))
    e = knockoff_evalues(W, float(fdr), early_stopping=False)
    np.testing.assert_array_equal(ebh(e, float(fdr)), selected)


@pytest.mark.parametrize("W", [[0, 0, 0], [-1, -2, -3], [0, -1]])
def test_nothing_positive(W):
    assert not knockoff_evalues(W, 0.3).any()


@pytest.mark.parametrize(
    ("evalues", "fdr", "rejected"),
    [
        ([40, 30, 20, 10, 5, 1, 0, 0, 0, 0], 0.5, 5),
        ([40, 30, 20, 10, 5, 1, 0, 0, 0, 0], 0.25, 4),
        ([12, 12, 12] + [0] * 7, 0.3, 3),
        ([9, 9, 9] + [0] * 7, 0.3, 0),
        ([1] * 100, 0.1, 0),
        ([0] * 6, 0.5, 0),
        ([10] * 10, 0.1, 10),  # equality: 10 * 10 = 10 / 0.1
        ([10 / 3] * 3 + [0] * 7, 0.99, 0),
        ([100 / 9] * 3 + [0] * 7, 0.3, 3),  # equality again, in thirds
    ],
)
def test_ebh_examples(evalues, fdr, rejected):
    mask = ebh(evalues, fdr)
    assert mask.sum() == rejected
    assert set(np.flatnonzero(mask)) == set(range(rejected))


@given(
    st.lists(st.integers(0, 60) | st.sampled_from([0, 12, 12, 30]), min_size=1, max_size=7),
    fdrs,
)
@settings(max_examples=200, deadline=None)
def test_ebh_is_the_largest_self_consistent_set(evalues, fdr):
    K, level = len(evalues), Fraction(fdr)
    best: tuple[int, ...] = ()
    for size in range(1, K + 1):
        for chosen in combinations(range(K), size):
            if all(evalues[i] * level * size >= K for i in chosen):
                best = chosen
    assert np.flatnonzero(ebh(evalues, float(fdr))).tolist() == list(best)


@pytest.mark.parametrize(
    ("fdr", "own", "copies", "level"),
    [
        (0.1, 0.05, 50, 5 / 26),
        (0.2, 0.1, 50, 5 / 13),
        (0.1, 0.05, 10, 1 / 6),
        (0.1, 0.05, 2, 0.1),
        (0.1, 0.05, 1, 0.1),  # one draw has one positive value
        (0.1, 0.1, 50, 10 / 51),
        (0.3, 0.15, 50, 0.5),  # no more than one half
        (0.6, 0.3, 50, 0.6),  # but no less than what is asked for
    ],
)
def test_levels_of_averages(fdr, own, copies, level):
    assert averaged_level(fdr, own, copies) == pytest.approx(level)


@pytest.mark.parametrize("fdr", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("share", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("copies", [5, 20, 31, 50])
def test_the_level_of_averages_is_the_bound_on_frequencies(fdr, share, copies):
    """All copies that select k variables give each of them the same, p / (own k).

    Then e-BH asks for a share of own / raised of the copies, and if that is a whole number of them
    times the bound on frequencies without Markov's factor is what is left of the level.
    """
    own = share * fdr
    raised = averaged_level(fdr, own, copies)
    needed = copies * own / raised
    # rounded up to whole copies the bound only falls, so compare at the next number below
    bound = frequency_bound(copies, min(np.ceil(needed - 1e-9), copies) / copies)
    assert own * bound <= fdr * (1.0 + 1e-9)
    assert own * copies / (2.0 * needed - 1.0) == pytest.approx(fdr)


@pytest.mark.parametrize("most", range(1, 60))
def test_probabilities_that_do_not_increase_halve_the_bound(most):
    """P(E >= h) <= E / (2h - 1) on 0, 1, .. for the extreme laws, and so for their mixtures."""
    law = np.full(most + 1, 1.0 / (most + 1))
    mean = law @ np.arange(most + 1)
    for h in range(1, most + 1):
        assert law[h:].sum() <= mean / (2 * h - 1) * (1.0 + 1e-12)
    h = (most + 1) // 2
    if most % 2:
        assert law[h:].sum() == pytest.approx(mean / (2 * h - 1))


@pytest.mark.parametrize("true", [0, 3])
def test_draws_that_do_not_differ_need_the_level_itself(true):
    """Why `n_copies` counts draws that differ: many times the same draw is one draw.

    Its e-values have one positive value, so that the raised level is used up, and not its half.
    """
    fdr, copies = 0.3, 50
    raised = averaged_level(fdr, 0.5 * fdr, copies)
    found = [
        fdp(ebh(posthoc_evalues(W, raised), raised), range(true))
        for W in all_signs(SIZES["distinct"], true)
    ]
    assert fdr < np.mean(found) <= raised


def test_rare_high_averages_of_each_variable_are_not_enough():
    """Why the raised level needs its condition given how many others are selected.

    Nothing matters; k of p variables have p / (raised k), for k = 1, .., p with equal chances.
    """
    p = 12
    raised = averaged_level(0.1, 0.05, 50)
    chance = raised / p
    value = p / (raised * np.arange(1, p + 1))
    law = chance * np.arange(1, p + 1) / p  # of one variable, from the highest value to the lowest
    assert np.all(np.diff([*law, 1.0 - law.sum()]) > 0.0)
    assert p * law @ value == pytest.approx(p)
    found = [ebh(np.where(np.arange(p) < k, value[k - 1], 0.0), raised) for k in range(1, p + 1)]
    assert chance * sum(mask.any() for mask in found) == pytest.approx(raised)
