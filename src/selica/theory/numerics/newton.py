"""Newton's method for two equations in two unknowns, at many points of parameter space at once.

One member is two equations, whatever the design: for its error and for its susceptibility or its
freedom. Both unknowns are logarithms or log odds, so that a step of bounded length is a bounded
factor. What the equations and their slopes are is said by a `System`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from selica._core.types import Array, BoolArray, IntArray


class Linear(NamedTuple):
    """Two linear equations a x + b y = first, c x + d y = second at each point, shape (n,)."""

    first: Array
    second: Array
    a: Array
    b: Array
    c: Array
    d: Array

    def solve(self) -> tuple[Array, Array, Array]:
        """Return x, y and the determinant; not finite where that is zero."""
        det = self.a * self.d - self.b * self.c
        x = (self.d * self.first - self.b * self.second) / det
        y = (self.a * self.second - self.c * self.first) / det
        return x, y, det


class System(Protocol):
    """Two equations at n points: each says where a plain iteration would move its unknown."""

    def linear(self, x: Array, y: Array) -> Linear:
        """Return the moves of a plain step, and minus their slopes in x and y."""

    def take(self, index: BoolArray) -> Self:
        """Return the same equations at a part of the points."""


class NewtonResult(NamedTuple):
    """Where Newton's method ended, shape (n,)."""

    x: Array
    y: Array
    found: BoolArray
    iterations: IntArray


def newton(
    system: System, x: Array, y: Array, *, steps: int, longest: float, tolerance: float
) -> NewtonResult:
    """Solve two equations by Newton's method with steps of bounded length.

    Parameters
    ----------
    system : System
    x, y : array of shape (n,)
        First guesses.
    steps : int
        The most that a point may take.
    longest : float
        Largest change of an unknown in one step.
    tolerance : float
        A point is found with the first step below. Convergence is quadratic: the error left is
        about the square of that step.

    Notes
    -----
    Where the determinant is not positive the plain iteration would not contract, and Newton's
    method may run to a solution that is none: there the step is half of the plain one.
    """
    out_x, out_y = x.copy(), y.copy()
    found = np.zeros(x.size, dtype=bool)
    count = np.full(x.size, steps, dtype=np.intp)
    active = np.arange(x.size)
    with np.errstate(all="ignore"):
        for step in range(1, steps + 1):
            linear = system.linear(x, y)
            step_x, step_y, det = linear.solve()
            size = np.maximum(np.abs(step_x), np.abs(step_y))
            usable = (det > 0.0) & (size < np.inf)
            if not usable.all():
                step_x = np.where(usable, step_x, 0.5 * linear.first)
                step_y = np.where(usable, step_y, 0.5 * linear.second)
                size = np.maximum(np.abs(step_x), np.abs(step_y))
            shrink = longest / np.maximum(size, longest)
            x, y = x + shrink * step_x, y + shrink * step_y
            done = usable & (size < tolerance)
            if done.any() or step == steps:
                out_x[active], out_y[active] = x, y
                found[active] = done
                count[active[done]] = step
                if done.all():
                    break
                stay = ~done
                active, x, y, system = active[stay], x[stay], y[stay], system.take(stay)
    return NewtonResult(out_x, out_y, found & np.isfinite(out_x) & np.isfinite(out_y), count)
