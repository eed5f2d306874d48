r"""All solutions of the Bayes-optimal fixed point, and the function they are stationary points of.

With :math:`x = \log s` the fixed point :math:`s = \alpha/(\Delta + \mathrm{mmse}(s))` reads

.. math:: \alpha = A(x), \qquad A(x) = L(s) + \Delta s , \quad L(s) = s\,\mathrm{mmse}(s) ,

and it is the stationarity of :math:`G(x) - \tfrac\alpha2 x`, :math:`G = I(s) + \tfrac12\Delta s`,
because :math:`G' = A/2`. Between two extrema of A there is at most one solution, so that a scan for
extrema finds all of them. Minima lie where A rises.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from selica._core.effects import Effects
from selica._core.root import find_root
from selica._core.types import Array, BoolArray, IntArray
from selica.theory.bayes.channel import Channel, channel

_SCAN_STEP = 0.2  # of the scan in log s, in which A changes over lengths of order one
_SCAN_END = float(np.log(1e12))  # without noise: where the scan ends


class FixedPoints(NamedTuple):
    """Solutions, one entry for each."""

    point: IntArray
    """Which of the parameters it belongs to; sorted, and then by x."""
    x: Array
    """log s; infinite for perfect reconstruction without noise."""
    stable: BoolArray
    """Whether it is a minimum of the free energy."""
    free_energy: Array
    r"""G(x) - alpha x / 2: up to a constant the mutual information of data and effects."""
    load: Array
    converged: BoolArray


class Landscape(NamedTuple):
    """A at increasing x, its extrema included: monotone between neighbours."""

    x: Array
    A: Array
    G: Array


def landscape(effects: Effects, rho: float, Delta: float, low: float, high: float) -> Landscape:
    """Return A and G over at least (low, high), with the extrema of A among the points."""
    first, last = int(np.floor(low / _SCAN_STEP)), int(np.ceil(high / _SCAN_STEP))
    grid, found = _scan(effects, rho, first, last)
    s = np.exp(grid)
    slope = found.slope + Delta * s
    turn = np.flatnonzero(slope[1:] * slope[:-1] < 0.0)
    if turn.size:
        sign = np.where(slope[turn] > 0.0, -1.0, 1.0)
        secant = np.abs(slope[turn + 1] - slope[turn]) / _SCAN_STEP

        def equation(x: Array, index: IntArray) -> tuple[Array, Array]:
            precision = np.exp(x)
            value = channel(signals, rho, precision).slope + Delta * precision
            return sign[index] * value, secant[index]

        signals = effects.mixture()
        left, right = grid[turn], grid[turn + 1]
        root = find_root(equation, 0.5 * (left + right), lower=left, upper=right, tol=1e-9)
        more = channel(signals, rho, np.exp(root.x))
        grid = np.concatenate([grid, root.x])
        found = Channel(*(np.concatenate(pair) for pair in zip(found, more, strict=True)))
        order = np.argsort(grid, kind="stable")
        grid, found = grid[order], Channel(*(part[order] for part in found))
    s = np.exp(grid)
    return Landscape(grid, found.load + Delta * s, found.information + 0.5 * Delta * s)


@lru_cache(maxsize=64)
def _scan(effects: Effects, rho: float, first: int, last: int) -> tuple[Array, Channel]:
    grid = _SCAN_STEP * np.arange(first, last + 1, dtype=np.float64)
    return grid, channel(effects.mixture(), rho, np.exp(grid))


def fixed_points(effects: Effects, rho: float, alpha: Array, Delta: Array) -> FixedPoints:
    """Find all solutions for one share of signals, at parameters of shape (n,)."""
    parts: list[tuple[IntArray, Array, Array, BoolArray]] = []
    perfect: list[int] = []
    for noise in np.unique(Delta):
        index = np.flatnonzero(Delta == noise)
        level = np.log(alpha[index])
        with np.errstate(divide="ignore"):
            low = level - np.log(noise + rho)
            high = level - np.log(noise)
        if noise == 0.0:
            low, high = np.minimum(low, _SCAN_END - 1.0), np.full(index.size, _SCAN_END)
        scene = landscape(effects, rho, float(noise), low.min() - 0.1, high.max() + 0.1)
        above = scene.A[None, :] >= alpha[index, None]
        where, cell = np.nonzero(above[:, 1:] != above[:, :-1])
        rising = above[where, cell + 1]
        parts.append((index[where], scene.x[cell], scene.x[cell + 1], rising))
        if noise == 0.0:
            perfect += index[~above[:, -1]].tolist()
    point, left, right, rising = (np.concatenate(column) for column in zip(*parts, strict=True))
    signals = effects.mixture()
    sign = np.where(rising, 1.0, -1.0)

    def equation(x: Array, index: IntArray) -> tuple[Array, Array]:
        s, noise = np.exp(x), Delta[point[index]]
        found = channel(signals, rho, s)
        A = found.load + noise * s
        value = np.log(A) - np.log(alpha[point[index]])
        return sign[index] * value, sign[index] * (found.slope + noise * s) / A

    root = find_root(equation, 0.5 * (left + right), lower=left, upper=right)
    s = np.exp(root.x)
    at = channel(signals, rho, s)
    energy = at.information + 0.5 * Delta[point] * s - 0.5 * alpha[point] * root.x
    extra = np.array(perfect, dtype=np.intp)
    many = np.full(extra.size, np.inf)
    owner, x = np.concatenate([point, extra]), np.concatenate([root.x, many])
    order = np.lexsort([x, owner])
    return FixedPoints(
        owner[order],
        x[order],
        np.concatenate([rising, many > 0.0])[order],
        np.concatenate([energy, -many])[order],
        np.concatenate([at.load, np.zeros(extra.size)])[order],
        np.concatenate([root.converged, many > 0.0])[order],
    )
