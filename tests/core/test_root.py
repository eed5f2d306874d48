"""The one loop: roots, certificates, and what it says when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from selica._core.root import find_root


def cubic(seed, number):
    """Increasing cubics a (x - r) + b (x - r)^3 with roots r over several orders of magnitude."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=number) * 10.0 ** rng.uniform(-2, 3, number)
    a, b = 10.0 ** rng.uniform(-3, 3, (2, number))
    return root, lambda x, i: (
        a[i] * (x - root[i]) + b[i] * (x - root[i]) ** 3,
        a[i] + 3.0 * b[i] * (x - root[i]) ** 2,
    )


def close(x, root):
    np.testing.assert_array_less(np.abs(x - root), 1e-11 * (1.0 + np.abs(root)))


@pytest.mark.parametrize("seed", range(5))
def test_random_increasing_functions(seed):
    root, equation = cubic(seed, 200)
    start = np.random.default_rng(seed + 100).normal(size=200) * 50.0
    found = find_root(equation, start, lower=-1e5, upper=1e5, max_iter=200)
    assert found.converged.all()
    close(found.x, root)


def test_other_shapes_of_increase():
    shapes = [
        (np.tanh, lambda x: 1.0 / np.cosh(x) ** 2),  # flat far away: Newton alone diverges
        (np.expm1, np.exp),
        (np.cbrt, lambda x: 1.0 / (3.0 * np.cbrt(x) ** 2)),  # infinite slope at the root
        (np.arctan, lambda x: 1.0 / (1.0 + x * x)),
        (lambda x: x**5, lambda x: 5.0 * x**4),  # no slope at the root
    ]
    for f, slope in shapes:
        root = np.array([-7.3, -0.02, 0.4, 12.0])
        found = find_root(
            lambda x, i, f=f, slope=slope, root=root: (f(x - root[i]), slope(x - root[i])),
            np.array([30.0, -25.0, 8.0, -30.0]),
            lower=-40.0,
            upper=40.0,
            max_iter=200,
        )
        assert found.converged.all()
        np.testing.assert_allclose(found.x, root, atol=1e-9)


@pytest.mark.parametrize("factor", [-1.0, 0.0, 1e-6, 1e-2, 0.4, 3.0, 1e3, np.nan])
def test_a_wrong_slope_costs_time_and_not_correctness(factor):
    root, equation = cubic(7, 50)

    def wrong(x, i):
        value, slope = equation(x, i)
        return value, factor * slope

    found = find_root(wrong, np.zeros(50), lower=-1e4, upper=1e4, max_iter=400)
    assert found.converged.all()
    # "found" is a last step of tol; slopes too large by a factor c leave an error of c * tol
    slack = 1e-11 * max(1.0, np.nan_to_num(factor))
    np.testing.assert_array_less(np.abs(found.x - root), slack * (1.0 + np.abs(root)))


def test_an_infinite_slope_is_no_proof_of_a_root():
    def equation(x, i):
        return x - 3.0, np.full(x.size, np.inf)  # a Newton step of length zero

    found = find_root(equation, np.zeros(1), lower=-10.0, upper=10.0, max_iter=200)
    assert not found.converged[0] or abs(found.x[0] - 3.0) < 1e-9


def test_slopes_that_are_nan_here_and_there():
    root, equation = cubic(8, 100)
    rng = np.random.default_rng(0)

    def holes(x, i):
        value, slope = equation(x, i)
        return value, np.where(rng.random(x.size) < 0.5, np.nan, slope)

    found = find_root(holes, np.zeros(100), lower=-1e4, upper=1e4, max_iter=400)
    assert found.converged.all()
    close(found.x, root)


@pytest.mark.parametrize("bounds", [{}, {"lower": -1e4}, {"upper": 1e4}])
@pytest.mark.parametrize("slope_known", [True, False])
def test_open_brackets_are_left_in_steps(bounds, slope_known):
    root = np.array([-300.0, -2.0, 0.1, 55.0, 420.0])

    def equation(x, i):
        value = np.tanh((x - root[i]) / 50.0)
        return value, (1.0 - value**2) / 50.0 if slope_known else np.full(x.size, np.nan)

    found = find_root(equation, np.zeros(5), max_step=20.0, max_iter=300, **bounds)
    assert found.converged.all()
    np.testing.assert_allclose(found.x, root, atol=1e-9)


def test_no_step_in_an_open_bracket_is_longer_than_max_step():
    seen = []

    def equation(x, i):
        seen.append(x.copy())
        return np.expm1(x - 30.0), np.full(x.size, 1e-9)  # Newton would leap

    found = find_root(equation, np.zeros(1), max_step=4.0)
    assert found.converged.all()
    np.testing.assert_allclose(found.x, 30.0, atol=1e-11)
    assert np.max(np.abs(np.diff(np.ravel(seen)))) <= 4.0 * (1 + 1e-12)


def test_a_jump_is_located():
    edge = np.array([-3.25, 0.0, 1.0 / 3.0, 777.1])

    def step(x, i):
        return np.where(x < edge[i], -1.0, 2.0), np.zeros(x.size)

    found = find_root(step, np.zeros(4), lower=-1e3, upper=1e3)
    assert found.converged.all()
    np.testing.assert_allclose(found.x, edge, rtol=1e-14, atol=1e-14)


def test_many_points_at_once_equal_one_at_a_time():
    root, equation = cubic(3, 60)
    lower, upper = root - np.linspace(1.0, 100.0, 60), root + np.linspace(50.0, 1.0, 60)
    start = 0.3 * lower + 0.7 * upper
    together = find_root(equation, start, lower=lower, upper=upper, max_iter=200)
    for k in range(60):
        one = find_root(
            lambda x, i, k=k: equation(x, np.full(x.size, k)),
            start[k : k + 1],
            lower=lower[k],
            upper=upper[k],
            max_iter=200,
        )
        assert one.x[0] == together.x[k]
        assert one.iterations[0] == together.iterations[k]


def test_the_equation_sees_only_points_that_still_run():
    calls = np.zeros(3, dtype=int)

    def equation(x, i):
        calls[i] += 1
        return x - np.array([0.0, 1.0, 5.0])[i], np.array([1.0, 1.0, 1e-3])[i]

    found = find_root(equation, np.zeros(3), lower=-100.0, upper=100.0)
    np.testing.assert_array_equal(calls, found.iterations)
    assert calls[0] == 1  # the start was the root
    assert calls[2] > calls[1]


def test_a_start_at_the_root_or_outside_the_bracket():
    found = find_root(
        lambda x, i: (x - 2.0, np.ones(x.size)), np.array([2.0, -50.0, 90.0]), lower=0.0, upper=3.0
    )
    assert found.converged.all()
    np.testing.assert_allclose(found.x, 2.0, atol=1e-14)


@pytest.mark.parametrize("end", [0.0, 3.0])
def test_a_root_at_the_end_of_the_bracket(end):
    found = find_root(
        lambda x, i: ((x - end) ** 3, np.full(x.size, np.nan)),
        np.array([1.0]),
        lower=0.0,
        upper=3.0,
        max_iter=200,
    )
    assert found.converged.all()
    np.testing.assert_allclose(found.x, end, atol=1e-13)


def test_without_a_root_the_nearer_end_is_returned():
    # the theory uses this where a solution sits at the edge of what may be
    for sign, end in ((-1.0, 5.0), (1.0, -5.0)):
        found = find_root(
            lambda x, i, sign=sign: (np.full(x.size, sign), np.full(x.size, np.nan)),
            np.zeros(1),
            lower=-5.0,
            upper=5.0,
            max_iter=200,
        )
        np.testing.assert_allclose(found.x, end, rtol=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_not_converged(bad):
    def equation(x, i):
        return np.where(i == 1, bad, x - 3.0), np.ones(x.size)

    found = find_root(equation, np.zeros(3), lower=-10.0, upper=10.0)
    np.testing.assert_array_equal(found.converged, [True, False, True])
    np.testing.assert_allclose(found.x[[0, 2]], 3.0, atol=1e-12)


def test_a_closed_bracket_does_not_hide_that_a_value_is_not_finite():
    found = find_root(
        lambda x, i: (np.array([np.nan, -1.0])[i], np.ones(x.size)),
        np.full(2, 2.0),
        lower=2.0,
        upper=2.0,
    )
    np.testing.assert_array_equal(found.converged, [False, True])
    np.testing.assert_array_equal(found.x[1], 2.0)


def test_an_iteration_that_runs_out_says_so():
    root, equation = cubic(5, 20)
    start = np.full(20, 5e3)
    start[4] = root[4]
    found = find_root(equation, start, lower=-1e4, upper=1e4, max_iter=3)
    np.testing.assert_array_equal(np.flatnonzero(found.converged), [4])
    assert found.iterations.max() == 3
    assert find_root(equation, start, lower=-1e4, upper=1e4, max_iter=200).converged.all()


def test_the_start_is_left_alone():
    start = np.array([4.0, 5.0])
    find_root(lambda x, i: (x - 1.0, np.ones(x.size)), start, lower=0.0, upper=9.0)
    np.testing.assert_array_equal(start, [4.0, 5.0])


def test_no_points_at_all():
    found = find_root(lambda x, i: (x, np.ones(x.size)), np.zeros(0))
    assert found.x.size == found.converged.size == found.iterations.size == 0
