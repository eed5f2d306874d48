"""Searches along penalties: errors of members that are scanned, and the smallest value between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from selica._core.errors import BoundaryWarning
from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST
from selica._core.warning import warn
from selica.theory.iid.batch import EnsembleModel, Errors, member_errors, member_guesses
from selica.theory.model import Model

_DECADES = 7.0  # how far below the largest useful penalty the search goes
_GRID_POINTS = 64
"""Penalties of a scan."""
_SLOPE_STEP = 2e-3  # of log lam, in difference quotients

Objective = Callable[[Array, IntArray], Array]
"""(log lam, index of the models) -> values"""


class ScannedErrors:
    """Errors of members of many models, at any of their penalties.

    What two members share is not solved for. The first call is a scan, with equally many penalties
    of each model in turn, falling; later calls start from what it found nearby.

    Parameters
    ----------
    ensemble : EnsembleModel
    models : dict of arrays of shape (models,)
        alpha, rho, Delta, lam2 and, with resampling, mu_B.
    """

    def __init__(self, ensemble: EnsembleModel, models: dict[str, Array]) -> None:
        self._ensemble, self._models = ensemble, models
        self._scan: tuple[Array, Errors] | None = None

    def __call__(self, log_lam: Array, index: IntArray) -> Errors:
        """Return the errors of the models `index`."""
        points = {name: values[index] for name, values in self._models.items()}
        points["lam"] = np.exp(log_lam)
        found = member_errors(self._ensemble, points, self._near(log_lam, index))
        if self._scan is None:
            self._scan = self._rows(log_lam), found
        return found

    def _rows(self, log_lam: Array) -> Array:
        """Return the penalties of a scan, one row for each model."""
        return log_lam.reshape(self._models["alpha"].size, -1)

    def _near(self, log_lam: Array, index: IntArray) -> Errors | None:
        """Return a guess from the two scanned points of the same model beside a penalty."""
        if self._scan is None:
            return self._first(log_lam)
        grid, found = self._scan
        size = grid.shape[1]  # falling penalties
        right = np.clip(np.sum(grid[index] > log_lam[:, None], axis=1), 1, size - 1)
        high, low = grid[index, right - 1], grid[index, right]
        share = np.clip((high - log_lam) / np.maximum(high - low, 1e-12), 0.0, 1.0)
        after = index * size + right
        return Errors(*(part[after - 1] ** (1.0 - share) * part[after] ** share for part in found))

    def _first(self, log_lam: Array) -> Errors | None:
        """Return a guess for the scan itself; with a ridge part it begins as anywhere else."""
        models = dict(self._models)
        if models.pop("lam2").any():
            return None
        return member_guesses(self._ensemble, models, self._rows(log_lam))


def largest_penalty(model: Model, mu_B: Array | float = 1.0) -> Array:
    """Return six standard deviations of the field of an estimate that is zero."""
    slope = np.asarray(model.alpha) * mu_B
    noise = np.asarray(model.alpha) * mu_B * (1.0 + mu_B) * (model.rho + np.asarray(model.Delta))
    field = np.sqrt(slope**2 * (np.asarray(model.rho) > 0.0) + noise)
    # the search must stay among the penalties that `solve_*` accept
    return np.asarray(np.clip(6.0 * field, 1e6 / LARGEST, 0.1 * LARGEST))


def best_penalty(
    objective: Objective, top: Array, decades: float = _DECADES, points: int = _GRID_POINTS
) -> Array:
    """Find log lam of the smallest value: a scan below `top`, refined around its best point."""
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
            warn_edge(int(edge.sum()), top.size, lower=lower)
    index = np.flatnonzero(inner)
    if index.size:
        at = best[index]
        left, right = grid[index, at + 1], grid[index, at - 1]
        three = (value[index, at + k] for k in (1, 0, -1))
        start = _vertex(x[index], 0.5 * (right - left), *three)
        x[index] = minimise(lambda y, i: objective(y, index[i]), left, start, right)
    return x


def _vertex(x: Array, step: Array, before: Array, here: Array, after: Array) -> Array:
    """Return the lowest point of the parabola through three values, the least in the middle."""
    curvature = before - 2.0 * here + after
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = 0.5 * (before - after) / curvature
    return np.asarray(x + step * np.where(np.abs(shift) <= 0.5, shift, 0.0))


def warn_edge(count: int, total: int, *, lower: bool) -> None:
    """Warn that a search would have gone on."""
    what = "smaller than any tried: lam -> 0 is best" if lower else "larger than any tried"
    warn(
        f"At {count} of {total} points the best penalty is {what}; the edge of the search is used.",
        BoundaryWarning,
    )


def minimise(objective: Objective, left: Array, start: Array, right: Array) -> Array:
    """Find the minima of smooth functions inside brackets, as roots of fourth-order slopes."""
    h = _SLOPE_STEP

    def equation(x: Array, index: IntArray) -> tuple[Array, Array]:
        # one call for the five points: a solve costs much the same for one model and for five
        points = np.concatenate([x + k * h for k in (-2, -1, 0, 1, 2)])
        values = objective(points, np.tile(index, 5)).reshape(5, index.size)
        far_left, near_left, here, near_right, far_right = values
        slope = (far_left - 8.0 * near_left + 8.0 * near_right - far_right) / (12.0 * h)
        curvature = 16.0 * (near_left + near_right) - 30.0 * here - far_left - far_right
        return slope, curvature / (12.0 * h * h)

    return find_root(equation, start, lower=left, upper=right, tol=5e-6, max_iter=60).x
