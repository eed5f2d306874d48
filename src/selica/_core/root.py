"""The one loop: a bracketed Newton iteration for many scalar equations at once.

What two members share, thresholds, critical ratios and optimal penalties are scalar equations with
one root between known ends. Every one of them runs through `find_root`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray, IntArray

Equation = Callable[[Array, IntArray], tuple[Array, Array]]
"""(x, index of the points) -> (values, slopes); only the signs of the values must be right."""


class Root(NamedTuple):
    """Roots of many equations, with a certificate for each."""

    x: Array
    converged: BoolArray
    iterations: IntArray


def find_root(
    equation: Equation,
    start: Array,
    *,
    lower: Array | float = -np.inf,
    upper: Array | float = np.inf,
    max_step: float = np.inf,
    tol: float = 1e-12,
    max_iter: int = 100,
) -> Root:
    """Find roots of increasing functions, one for each element of `start`.

    "Increasing" may be weakened to: negative below the root, positive above it. A Newton step is
    taken where it stays inside the current bracket and the steps shrink at least by half every
    second time; otherwise the bracket is halved or, while it has no end on that side, left by
    `max_step`. The bracket is never lost, so a wrong slope costs time and not correctness.

    Parameters
    ----------
    equation : callable
        ``equation(x, index)`` returns values and slopes at the points `index`.
    start : array of shape (n,)
    lower, upper : array or float
        Ends between which the root is known to lie, possibly infinite.
    max_step : float
        Longest step while the bracket is open on that side.
    tol : float
        A root counts as found when the last Newton step is below tol * (1 + abs(x)). With exact
        slopes the error left is about the square of that step.
    max_iter : int
    """
    x = np.array(start, dtype=float)
    n = x.size
    converged = np.zeros(n, dtype=bool)
    iterations = np.zeros(n, dtype=np.intp)
    # state of the points still running: position, bracket, the last two steps
    active = np.arange(n)
    low = np.full(n, lower, dtype=float) if np.ndim(lower) == 0 else np.array(lower, dtype=float)
    high = np.full(n, upper, dtype=float) if np.ndim(upper) == 0 else np.array(upper, dtype=float)
    here = np.minimum(np.maximum(x, low), high)
    last = np.full(n, np.inf)
    before_last = last
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for count in range(1, max_iter + 1):
            if active.size == 0:
                break
            value, slope = equation(here, active)
            below = value < 0.0
            low = np.where(below, here, low)
            high = np.where(below, high, here)
            step = -value / slope
            if max_step < np.inf:
                step = np.minimum(np.maximum(step, -max_step), max_step)
            target = here + step
            size = np.abs(step)
            # a NaN compares as False and is caught with the rest
            good = (target >= low) & (target <= high) & (size <= 0.5 * before_last)
            good &= np.abs(slope) < np.inf  # a step of zero is no sign of a root
            before_last, last = last, size
            if not good.all():
                middle = 0.5 * (low + high)
                away = here + np.where(below, max_step, -max_step)
                target = np.where(good, target, np.where(np.isfinite(middle), middle, away))
                before_last = np.where(good, before_last, np.inf)
                last = np.where(good, last, np.inf)
                target = np.where(value == 0.0, here, target)
            scale = 1.0 + np.abs(target)
            done = good & (size <= tol * scale) | (value == 0.0) | (high - low <= 4e-16 * scale)
            broken = ~np.isfinite(value)
            x[active] = target
            iterations[active] = count
            here = target
            over = done | broken
            if over.any():
                converged[active] = done & ~broken
                stay = ~over
                active, here, low, high = active[stay], here[stay], low[stay], high[stay]
                last, before_last = last[stay], before_last[stay]
    return Root(x, converged, iterations)
