"""Follows solutions from a large penalty, where they are next to nothing, to the one asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray, IntArray


class PathPoints(NamedTuple):
    """Points (k, n) in the coordinates of a solver, whether each solves its equations, and work."""

    point: Array
    found: BoolArray
    iterations: IntArray


Solve = Callable[[Array, Array, IntArray], PathPoints]
"""(log lam, guesses (k, m), which of the n points these m are) -> the points there."""


def follow(
    solve: Solve, first: PathPoints, here: Array, goal: Array, step: Array | float, most: int
) -> PathPoints:
    """Follow points from log lam = here to log lam = goal, which is not above it.

    Each step extrapolates in log lam and corrects by `solve`; it is shortened where that fails and
    lengthened where it works.

    Parameters
    ----------
    solve : callable
    first : PathPoints
        Where nothing was found there is no path.
    here, goal : array of shape (n,)
    step : float or array of shape (n,)
        The first step.
    most : int
        Steps of the whole path.
    """
    point, count = first.point.copy(), first.iterations.copy()
    here, step = here.copy(), np.full(here.shape, step)
    before, earlier = point.copy(), here.copy()
    arrived = first.found & (here <= goal)
    active = np.flatnonzero(first.found & ~arrived)
    for _ in range(most):
        if active.size == 0:
            break
        target = np.maximum(here[active] - step[active], goal[active])
        gone = here[active] - earlier[active]
        ahead = np.where(gone < 0.0, (target - here[active]) / np.where(gone < 0.0, gone, 1.0), 0.0)
        guess = point[:, active] + ahead * (point[:, active] - before[:, active])
        new = solve(target, guess, active)
        count[active] += new.iterations
        moved = active[new.found]
        before[:, moved], earlier[moved] = point[:, moved], here[moved]
        point[:, moved], here[moved] = new.point[:, new.found], target[new.found]
        step[active] *= np.where(new.found, 1.5, 0.4)
        arrived[moved] = here[moved] <= goal[moved]
        active = active[~arrived[active]]
    return PathPoints(point, arrived, count)
