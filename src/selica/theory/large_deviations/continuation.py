"""Follows the solution of the tilted equations from y = 0, as far as there is one."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from selica._core.types import Array
from selica.theory.large_deviations.equations import RateEquations, State, TiltedPoint
from selica.theory.large_deviations.tilted import OutOfRange

TOLERANCE = 1e-10
"""A point counts as solved when an undamped step moves it by at most this, relatively."""

_NEWTON_TOLERANCE = 1e-13  # what Newton's method aims at; rounding may stop it before
_NEWTON_STEPS = 30
"""Newton steps at most."""
_LONGEST_STEP = 1.0  # of a Newton step, in logarithms
_DIFFERENCE_WIDTH = 3e-5  # central differences: truncation 1e-9, rounding 1e-11
_LARGEST_CHANGE = 0.4  # largest change of a logarithm in one step of y
_SHORTEST_STEP = 1e-7  # step of y, relative to its natural scale, at which the search ends
_MOST_STEPS = 400
# Numbers below this part of their natural size count as zero: their logarithms race with y where
# hardly anything is active, and nothing depends on them.
_NEGLIGIBLE_PART = 1e-6


class End(StrEnum):
    """Why a branch of solutions ends."""

    RANGE = "range"
    """The last y asked for was reached."""
    INSTABILITY = "instability"
    """The replicon reaches one: beyond, groups of resamples differ by more than one overlap."""
    CONDENSATION = "condensation"
    """y v_tilde_hat = Q_hat: one knockoff coefficient takes a finite part of the cost."""
    DIVERGENCE = "divergence"
    """No average over the counts of a row exists: one row takes a finite part of the cost."""
    NO_SOLUTION = "no solution"
    """The branch turns back: no solution in its neighbourhood beyond."""
    MAX_ITER = "max_iter"
    """The steps allowed were used up."""


class Solved(NamedTuple):
    """A solution at one y."""

    y: float
    state: State
    point: TiltedPoint
    residual: float
    iterations: int
    variance: float
    """g''(y), by implicit differentiation."""
    jacobian: Array
    tangent: Array
    """d(logarithms of the state, nu) / dy."""


class Branch(NamedTuple):
    """Solutions in one direction."""

    solved: list[Solved]
    """At the values asked for, as far as they go."""
    last: Solved
    """The farthest solution found."""
    end: End


def solve_at(
    eq: RateEquations, y: float, start: Array, jacobian: Array | None = None
) -> Solved | None:
    """Solve for the logarithms of the state by Newton's method; None where it does not arrive."""
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return _solve_at(eq, y, start, jacobian)
    except (OutOfRange, np.linalg.LinAlgError):
        return None


def follow(eq: RateEquations, start: Solved, targets: Sequence[float]) -> Branch:
    """Follow the solutions to `targets`, which move away from `start` on one side of it.

    Steps extrapolate along the tangent and are corrected by Newton's method; they are halved
    where that fails and lengthened where it works.
    """
    here = start
    solved: list[Solved] = []
    scale = 1.0 / start.state.error  # y E is a number without a unit
    factor = 1.0
    steps = 0
    for target in targets:
        while here.y != target:
            steps += 1
            if steps > _MOST_STEPS:
                return Branch(solved, here, End.MAX_ITER)
            longest = factor * _LARGEST_CHANGE / max(float(np.max(np.abs(here.tangent))), 1e-12)
            gap = target - here.y
            y = target if abs(gap) <= longest else here.y + np.sign(gap) * longest
            trial = solve_at(eq, y, _vector(eq, here) + (y - here.y) * here.tangent, here.jacobian)
            if trial is None or not _continues(here, trial):
                factor *= 0.5 * min(1.0, abs(gap) / longest)
                if abs(y - here.y) < _SHORTEST_STEP * (scale + abs(here.y)):
                    return Branch(solved, here, _why(eq, here, y))
                continue
            if trial.point.replicon >= 1.0:
                return Branch(solved, _last_stable(eq, here, trial), End.INSTABILITY)
            here, factor = trial, min(1.0, 1.6 * factor)
        solved.append(here)
    return Branch(solved, here, End.RANGE)


def _vector(eq: RateEquations, solved: Solved) -> Array:
    return to_vector(eq, solved.state)


def to_vector(eq: RateEquations, state: State) -> Array:
    """Return the logarithms of the state above a floor, and nu where it is unknown."""
    logs = np.log(np.asarray(state[:3]) + _floor(eq))
    return np.append(logs, state.nu) if eq.counted else logs


def _floor(eq: RateEquations) -> Array:
    return _NEGLIGIBLE_PART * np.array([0.0, 1.0, eq.rho + eq.Delta])


def _state(eq: RateEquations, x: Array) -> State:
    error, chi, v = np.maximum(np.exp(x[:3]) - _floor(eq), 0.0)
    return State(float(error), float(chi), float(v), float(x[3]) if x.size > 3 else 0.0)


def _evaluate(eq: RateEquations, x: Array, y: float) -> tuple[Array, TiltedPoint]:
    """Return what has to vanish, and the point."""
    point = eq.step(_state(eq, x), y)
    off = np.log(np.asarray(point.new[:3]) + _floor(eq)) - x[:3]
    return (np.append(off, point.new.nu) if eq.counted else off), point


def _rough_jacobian(eq: RateEquations, x: Array, y: float, off: Array) -> Array:
    columns = [(_evaluate(eq, x + 1e-7 * e, y)[0] - off) / 1e-7 for e in np.eye(x.size)]
    return np.stack(columns, axis=1)


def _solve_at(eq: RateEquations, y: float, x: Array, jacobian: Array | None) -> Solved | None:
    off, point = _evaluate(eq, x, y)
    fresh = jacobian is None
    if jacobian is None:
        jacobian = _rough_jacobian(eq, x, y, off)
    best = (float(np.max(np.abs(off))), x)
    count = 0
    while count < _NEWTON_STEPS:
        count += 1
        size = float(np.max(np.abs(off)))
        if size <= _NEWTON_TOLERANCE:
            break
        step = np.linalg.solve(jacobian, -off)
        longest = float(np.max(np.abs(step)))
        if not longest < np.inf:
            return None
        x = x + step * min(1.0, _LONGEST_STEP / longest)
        off, point = _evaluate(eq, x, y)
        now = float(np.max(np.abs(off)))
        if now < best[0]:
            best = (now, x)
        if now > 0.3 * size:
            if fresh and now < 1e-11:
                break  # rounding
            jacobian, fresh = _rough_jacobian(eq, x, y, off), True
    x = best[1]
    off, point = _evaluate(eq, x, y)
    state = _state(eq, x)
    moved = [abs(a - b) / (1.0 + abs(b)) for a, b in zip(point.new[:3], state[:3], strict=True)]
    residual = float(max(*moved, abs(point.new.nu)))
    if not residual <= TOLERANCE:
        return None
    jacobian, tangent, variance = _differentiate(eq, x, y)
    return Solved(
        y=y,
        state=state,
        point=point,
        residual=residual,
        iterations=count,
        variance=variance,
        jacobian=jacobian,
        tangent=tangent,
    )


def _differentiate(eq: RateEquations, x: Array, y: float) -> tuple[Array, Array, float]:
    """Return the Jacobian, the tangent and g'' = -de/dy at a solution, by central differences."""
    h = _DIFFERENCE_WIDTH
    columns, costs = [], []
    for e in np.eye(x.size):
        up, up_point = _evaluate(eq, x + h * e, y)
        down, down_point = _evaluate(eq, x - h * e, y)
        columns.append((up - down) / (2.0 * h))
        costs.append((up_point.cost - down_point.cost) / (2.0 * h))
    jacobian = np.stack(columns, axis=1)
    h = _DIFFERENCE_WIDTH / float(np.exp(x[0]))
    up, up_point = _evaluate(eq, x, y + h)
    down, down_point = _evaluate(eq, x, y - h)
    tangent = np.asarray(np.linalg.solve(jacobian, -(up - down) / (2.0 * h)), dtype=float)
    slope = (up_point.cost - down_point.cost) / (2.0 * h) + float(np.dot(costs, tangent))
    return jacobian, tangent, -slope


def _continues(here: Solved, trial: Solved) -> bool:
    """Say whether a solution is on the same branch: g is convex, and changes as its slope says.

    The mean of the slopes at both ends differs from the slope of the chord in third order only.
    """
    gap = trial.y - here.y
    rise = trial.point.g - here.point.g
    mean = -0.5 * gap * (here.point.cost + trial.point.cost)
    bend = abs(gap * (here.point.cost - trial.point.cost))
    convex = trial.variance >= -1e-8 * trial.point.cost**2  # but for rounding
    return convex and abs(rise - mean) <= 0.5 * bend + 1e-10 * (1.0 + abs(rise))


def _last_stable(eq: RateEquations, stable: Solved, unstable: Solved) -> Solved:
    """Find where the replicon reaches one, from below."""
    for _ in range(40):
        gap = unstable.y - stable.y
        if abs(gap) <= 1e-9 * (1.0 + abs(stable.y)):
            break
        low, high = stable.point.replicon - 1.0, unstable.point.replicon - 1.0
        part = min(max(-low / (high - low), 0.05), 0.95)
        y = stable.y + part * gap
        start = _vector(eq, stable) + (y - stable.y) * stable.tangent
        trial = solve_at(eq, y, start, stable.jacobian)
        if trial is None:
            break
        if trial.point.replicon < 1.0:
            stable = trial
        else:
            unstable = trial
    return stable


def _why(eq: RateEquations, here: Solved, y: float) -> End:
    """Return what stands in the way of a step to y, when none was found however short."""
    point = here.point
    # slopes are taken by differences, which reach a little farther than y itself
    beyond = y + np.sign(y - here.y) * 2.0 * _DIFFERENCE_WIDTH / here.state.error
    try:
        eq.step(_state(eq, _vector(eq, here) + (beyond - here.y) * here.tangent), beyond)
    except OutOfRange:
        counts = not eq.copies or point.row_margin < point.copy_margin
        return End.DIVERGENCE if counts else End.CONDENSATION
    if min(point.copy_margin, point.row_margin) > 0.1:
        return End.NO_SOLUTION
    return End.CONDENSATION if point.copy_margin < point.row_margin else End.DIVERGENCE
