"""The largest tail of r-concave laws, against laws built without knowing the extreme ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize

from selica.control import concave
from selica.control.concave import largest_tail


def law(mode, right, left, power):
    """An r-concave law on 0, .., len(right) + len(left), r = -1/power, from its convex g = f^r.

    g is 1 at the mode, its steps away from it are not negative and do not fall.
    """
    away = [np.cumsum(np.cumsum(steps)) for steps in (left, right)]
    g = 1.0 + np.concatenate([away[0][::-1], [0.0], away[1]])
    assert len(left) == mode
    assert np.all(np.diff(g, 2) >= -1e-9 * g.max())
    f = g ** float(-power)
    return f / f.sum()


steps = st.floats(0.0, 3.0) | st.just(0.0) | st.floats(-12, 6).map(lambda u: 10.0**u)


@given(
    power=st.sampled_from([2, 4]),
    right=st.lists(steps, min_size=1, max_size=25),
    left=st.lists(steps, max_size=4),
)
@settings(max_examples=150, deadline=None)
def test_no_law_has_a_larger_tail(power, right, left):
    f = law(len(left), np.array(right), np.array(left), power)
    top = f.size - 1
    mean = float(f @ np.arange(top + 1))
    assume(mean > 1e-9)
    for index in range(1, top + 1):
        assert f[index:].sum() <= largest_tail(mean, top, index, power) * (1 + 1e-9)


def searched(mean, top, index, power, mode, seed):
    """Largest tail that a general optimiser finds among laws with this mode."""

    def made(u):
        s = np.exp(u)
        return law(mode, s[mode:], s[:mode], power)

    j = np.arange(top + 1)
    room = {"type": "ineq", "fun": lambda u: 1.0 - made(u) @ j / mean}
    rng = np.random.default_rng(seed)
    best = 0.0
    for _ in range(3):
        answer = minimize(
            lambda u: np.log(made(u)[:index].sum() / made(u)[index:].sum()),
            rng.uniform(-4, 4, top),
            bounds=[(-16, 12)] * top,
            constraints=[room],
            method="SLSQP",
            options={"maxiter": 300, "ftol": 1e-12},
        )
        f = made(answer.x)
        if f @ j <= mean * (1 + 1e-9):
            best = max(best, f[index:].sum())
    return best


# the optimiser of older SciPy steps over a bound and back
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize(
    ("mean", "top", "index", "power"),
    [
        (0.4, 3, 2, 2),
        (0.4, 3, 3, 2),
        (0.3, 4, 2, 2),
        (0.9, 4, 3, 4),
        (0.05, 4, 3, 4),
        (0.9, 5, 4, 2),
    ],
)
def test_a_search_among_all_laws_finds_the_same(mean, top, index, power):
    want = largest_tail(mean, top, index, power)
    found = [searched(mean, top, index, power, mode, seed=mode) for mode in (0, 1)]
    assert max(found) <= want * (1 + 1e-7)
    assert found[0] == pytest.approx(want, rel=1e-4)


def over_all_lines(mean, top, index, power):
    """Largest tail of the laws on l, .., k, for all l < k, whose power -1/power is a line."""
    best = 0.0
    for first in range(int(mean) + 1):
        for last in range(max(index, first + 1), top + 1):
            i = np.arange(last - first + 1.0)

            def law_of(log_ratio, i=i):
                line = (i[-1] - i) + np.exp(log_ratio) * i
                w = (line / line.min()) ** -power
                return w / w.sum()

            def excess(log_ratio, i=i, first=first, law_of=law_of):
                return law_of(log_ratio) @ (first + i) - mean

            if excess(-30.0) > 0.0 > excess(30.0):
                f = law_of(brentq(excess, -30.0, 30.0, xtol=1e-14))
                best = max(best, f[first + i >= index].sum())
    return best


@given(st.integers(3, 12), st.sampled_from([2, 4]), st.floats(0.01, 0.99), st.data())
@settings(max_examples=30, deadline=None)
def test_all_laws_without_a_kink(top, power, share, data):
    mean = share * (top - 1) / 2
    index = data.draw(st.integers(max(int(np.ceil(2 * mean)), 1) + 1, top))
    want = over_all_lines(mean, top, index, power)
    assert largest_tail(mean, top, index, power) == pytest.approx(want, rel=1e-9)


def with_a_part_at_the_end(mean, top, index, power):
    """Laws with a line on 0, .., k and the rest at k + 1: a fine scan, one k at a time."""

    def weights(a, k):
        return (a + np.arange(k + 1.0)) ** -power

    def average(log_a, k):
        w = weights(np.exp(log_a), k)
        return w @ np.arange(k + 1) / w.sum() - mean

    best = 0.0
    for k in range(index, top):
        ends = [brentq(average, -40, 25, args=(i,), xtol=1e-14) for i in (k + 1, k)]
        for log_a in np.linspace(*ends, 101):
            w = weights(np.exp(log_a), k)
            scale = (k + 1 - mean) / ((k + 1 - np.arange(k + 1)) @ w)
            best = max(best, 1.0 - scale * w[:index].sum())
    return best


@pytest.mark.parametrize(
    ("mean", "top", "index", "power"),
    [(0.5, 50, 10, 2), (4.5, 50, 10, 2), (0.5, 50, 49, 2), (1.0, 30, 15, 4), (3.1, 20, 9, 4)],
)
def test_a_part_at_the_end_gains_nothing(mean, top, index, power):
    # the ends of the scan are laws without that part; 1 - (1 - P) keeps about 11 digits of P
    want = with_a_part_at_the_end(mean, top, index, power)
    assert largest_tail(mean, top, index, power) == pytest.approx(want, rel=1e-10)


@pytest.mark.parametrize(
    ("mean", "top", "index", "power"),
    [(0.5, 400, 20, 2), (12.0, 400, 60, 4), (0.002, 700, 300, 4), (5.0, 600, 599, 2)],
)
def test_looking_at_few_k_finds_the_best_of_all(mean, top, index, power, monkeypatch):
    few = largest_tail(mean, top, index, power)
    monkeypatch.setattr(concave, "_LARGEST_FULL_SEARCH", 10**6)
    assert few == pytest.approx(largest_tail(mean, top, index, power), rel=1e-12)


@given(
    top=st.integers(2, 20),
    power=st.sampled_from([2, 4]),
    share=st.floats(1e-9, 1.0),
    less=st.floats(0.0, 1.0),
)
@settings(max_examples=25, deadline=None)
def test_it_falls_with_the_index_and_rises_with_the_mean(top, power, share, less):
    mean = share * top
    tail = np.array([largest_tail(mean, top, i, power) for i in range(1, top + 1)])
    assert np.all(np.diff(tail) <= 1e-12)
    assert np.all((tail > 0) & (tail <= 1))
    assert np.all(tail * np.arange(1, top + 1) <= mean * (1 + 1e-9) + (tail == 1) * top)  # Markov
    smaller = [largest_tail(max(less * mean, 1e-9), top, i, power) for i in range(1, top + 1)]
    assert np.all(np.array(smaller) <= np.maximum(tail, 1e-9 / np.arange(1, top + 1)) * (1 + 1e-9))


def test_the_larger_class_has_the_larger_tail():
    # every (-1/4)-concave law is (-1/2)-concave
    for index in (5, 10, 20):
        assert largest_tail(0.5, 20, index, 4) < largest_tail(0.5, 20, index, 2)


def test_an_index_that_the_mean_reaches():
    assert largest_tail(3.0, 10, 3, 2) == 1.0
    assert largest_tail(3.0, 10, 0, 2) == 1.0
    assert largest_tail(3.0, 10, -4, 2) == 1.0
    assert largest_tail(3.0, 10, 4, 2) == pytest.approx(3 / 4)


@pytest.mark.parametrize("power", [2, 4])
def test_tiny_means(power):
    # a mean m -> 0: f_j = c (a + j)^-n with a -> 0, hence P(X >= T) / m -> the ratio of tail and
    # first moment of j^-n on 1, .., k at the best k and with the best cut of its last point
    j = np.arange(1.0, 21.0)
    w = j**-power
    sums = [w[4 : k + 1].sum() / (w * j)[: k + 1].sum() for k in range(4, 20)]
    got = largest_tail(1e-30, 20, 5, power)
    assert got / 1e-30 == pytest.approx(max(sums), rel=1e-6)
