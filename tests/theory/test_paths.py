"""A path whose points are known: x = sin(log lam), y = cos(log lam), found only from nearby."""

from __future__ import annotations

import numpy as np
import pytest

from selica.theory.numerics.continuation import PathPoints, follow


def curve(log_lam):
    return np.stack([np.sin(log_lam), np.cos(log_lam)])


def found_within(reach, seen=None):
    """A solver that arrives where the guess is nearer than `reach`, and says nothing elsewhere."""

    def solve(log_lam, guess, index):
        right = curve(log_lam)
        near = np.abs(guess - right).max(axis=0) < np.broadcast_to(reach, (4,))[index]
        if seen is not None:
            seen.append((index.copy(), log_lam.copy(), near))
        return PathPoints(np.where(near, right, np.nan), near, np.full(index.size, 3))

    return solve


HERE, GOAL = np.array([2.0, 1.0, 0.5, 3.0]), np.array([-6.0, 1.0, -1.0, -2.0])


def first(found=(True, True, True, True)):
    return PathPoints(curve(HERE), np.array(found), np.array([1, 2, 3, 4]))


@pytest.mark.parametrize("reach", [1e-3, 0.05, 1.0])
def test_every_path_arrives_at_its_goal(reach):
    path = follow(found_within(reach), first(), HERE, GOAL, 0.5, 2000)
    assert path.found.all()
    np.testing.assert_array_equal(path.point, curve(GOAL))
    assert path.iterations[1] == 2  # it began at its goal


def test_steps_grow_where_they_succeed_and_shrink_where_they_fail():
    seen = []
    follow(found_within(0.05, seen), first(), HERE, GOAL, np.full(4, 3.0), 2000)
    tried = [(at[index == 0][0], near[index == 0][0]) for index, at, near in seen if 0 in index]
    assert not tried[0][1]  # a first step of three is too long here
    here, step = HERE[0], 3.0
    for target, near in tried[:-1]:
        assert target == pytest.approx(here - step)
        here, step = (target, 1.5 * step) if near else (here, 0.4 * step)
    assert tried[-1] == (GOAL[0], True)


def test_the_guess_is_on_the_line_through_the_last_two_points():
    guesses = []

    def solve(log_lam, guess, index):
        guesses.append(guess[:, index == 0])
        return PathPoints(
            np.stack([2.0 * log_lam, 5.0 - log_lam]), np.ones(index.size, bool), index
        )

    start = PathPoints(np.stack([2.0 * HERE, 5.0 - HERE]), np.ones(4, bool), np.zeros(4, int))
    follow(solve, start, HERE, GOAL, 0.5, 100)
    for guess, log_lam in zip(guesses[1:3], (0.75, -0.375), strict=True):
        np.testing.assert_allclose(guess[:, 0], [2.0 * log_lam, 5.0 - log_lam])


def test_without_a_first_point_there_is_no_path():
    path = follow(found_within(0.05), first((False, True, True, True)), HERE, GOAL, 0.5, 2000)
    assert path.found.tolist() == [False, True, True, True]
    assert path.iterations[0] == 1


def test_steps_that_run_out_are_said():
    start = first()
    before = start.point.copy()
    path = follow(found_within(0.05), start, HERE, GOAL, 0.1, 3)
    assert path.found.tolist() == [False, True, False, False]
    np.testing.assert_array_equal(start.point, before)
