"""Minima over the penalty, for many models at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from selica._core.errors import BoundaryWarning
from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST
from selica.theory.model import Model

Objective = Callable[[Array, IntArray], Array]
"""(log lam, index of the models) -> values"""

_DECADES = 7.0  # how far below the largest useful penalty the search goes
_GRID = 64


def largest_penalty(model: Model, mu_B: Array | float = 1.0) -> Array:
    """Six standard deviations of the field of an estimate that is zero."""
    slope = np.asarray(model.alpha) * mu_B
    noise = np.asarray(model.alpha) * mu_B * (1.0 + mu_B) * (model.rho + np.asarray(model.Delta))
    field = np.sqrt(slope**2 * (np.asarray(model.rho) > 0.0) + noise)
    # the search must stay among the penalties that `solve_*` accept
    return np.asarray(np.clip(6.0 * field, 1e6 / LARGEST, 0.1 * LARGEST))


def best_penalty(
    objective: Objective, top: Array, decades: float = _DECADES, points: int = _GRID
) -> Array:
    """log lam of the smallest value: a scan below `top`, refined around its best point."""
    grid = top[:, None] - np.linspace(0.0, decades * np.log(10.0), points)
    grid = np.maximum(grid, -np.log(LARGEST))
    rows = np.repeat(np.arange(top.size), points)
    value = objective(grid.ravel(), rows).reshape(grid.shape)
    best = np.argmin(value, axis=1)
    each = np.arange(top.size)
    x = np.asarray(grid[each, best])
    inner = (best > 0) & (best < points - 1)
    for edge, lower in ((best == points - 1, True), (best == 0, False)):
        if edge.any():
            warn_edge(int(edge.sum()), top.size, lower=lower, level=4)
    index = np.flatnonzero(inner)
    if index.size:
        at = best[index]
        left, right = grid[index, at + 1], grid[index, at - 1]
        three = (value[index, at + k] for k in (1, 0, -1))
        start = _vertex(x[index], 0.5 * (right - left), *three)
        x[index] = minimise(lambda y, i: objective(y, index[i]), left, start, right)
    return x


def _vertex(x: Array, step: Array, before: Array, here: Array, after: Array) -> Array:
    """Lowest point of the parabola through three values, the least of them in the middle."""
    bend = before - 2.0 * here + after
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = 0.5 * (before - after) / bend
    return np.asarray(x + step * np.where(np.abs(shift) <= 0.5, shift, 0.0))


def warn_edge(count: int, total: int, *, lower: bool, level: int) -> None:
    """Says that a search would have gone on."""
    what = "smaller than any tried: lam -> 0 is best" if lower else "larger than any tried"
    warnings.warn(
        f"At {count} of {total} points the best penalty is {what}; the edge of the search is used.",
        BoundaryWarning,
        stacklevel=level,
    )


def minimise(objective: Objective, left: Array, start: Array, right: Array) -> Array:
    """Minima of smooth functions inside brackets: the root of a fourth-order slope."""
    h = 2e-3

    def equation(x: Array, index: IntArray) -> tuple[Array, Array]:
        # one call for the five points: a solve costs much the same for one model and for five
        points = np.concatenate([x + k * h for k in (-2, -1, 0, 1, 2)])
        values = objective(points, np.tile(index, 5)).reshape(5, index.size)
        far_left, near_left, here, near_right, far_right = values
        slope = (far_left - 8.0 * near_left + 8.0 * near_right - far_right) / (12.0 * h)
        bend = 16.0 * (near_left + near_right) - 30.0 * here - far_left - far_right
        return slope, bend / (12.0 * h * h)

    return find_root(equation, start, lower=left, upper=right, tol=5e-6, max_iter=60).x
