r"""Solves the equations for a given spectrum: first one member, then a pair of members.

A member's degrees of freedom :math:`F = \chi\hat Q` and error :math:`A = \Delta + e` obey

.. math:: F = P(\hat Q, T)\,\hat Q/K, \qquad A = \Delta + N(\hat Q, T)/K^2, \qquad
          T = a e + b\Delta, \qquad K = \hat Q + \lambda_2,

with :math:`\hat Q, a, b` functions of F (`theory.spectrum.fields`) and the same single-body sums as
for independent entries (`theory.iid.equations`). Without a ridge part F is the activity P. What two
members share is one more scalar equation, as there: its slope
:math:`a_0 P(\text{both active})/K^2` lies below one for every spectrum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri

from selica._core.root import find_root
from selica._core.types import Array, BoolArray, IntArray
from selica.theory.iid.equations import IidEquations, MemberSums
from selica.theory.numerics.continuation import PathPoints, follow
from selica.theory.numerics.newton import Linear, newton
from selica.theory.spectrum.fields import Response, SpectralDesign

_LEAST_ACTIVITY = 1e-18  # so few active variables change nothing
_NEWTON_STEPS = 25  # at first; a second try may take many
_MANY_STEPS = 80
"""Newton steps of a second try."""
_MOST_STEPS = 400  # of the ways that come after Newton's
_LONGEST_STEP = 1.5
"""The longest Newton step, in logarithms."""
_NEWTON_TOLERANCE = 1e-8  # convergence is quadratic: the step after it is at rounding
_DIFFERENCE_WIDTH = 1e-4  # of the difference quotients of Q, a, b
_ZERO_LOG_ODDS = -40.0  # log odds of the freedom of an estimate that is zero
_LEAST_FIELD_SPREAD = 1e-10


class DesignMembers(NamedTuple):
    """One member at n points: log odds of its freedom, error with noise, how it was found."""

    y: Array
    A: Array
    found: BoolArray
    iterations: IntArray


class DesignPoint(NamedTuple):
    """Everything at an answer of the equations."""

    response: Response
    T: Array
    one: MemberSums
    K: Array
    """Curvature Q_hat + lam2 of a variable's cost."""

    @property
    def freedom(self) -> Array:
        """chi Q_hat."""
        return self.one.P * (self.response.Q / self.K)


def at(eq: IidEquations, design: SpectralDesign, y: Array, A: Array) -> DesignPoint:
    """Return fields and single-body sums at log odds of the freedom and errors."""
    response = design.response(y)
    T = response.a * np.maximum(A - eq.Delta, 0.0) + response.b * eq.Delta
    # orthogonal columns without noise: a field without spread is a limit
    T = np.maximum(T, (_LEAST_FIELD_SPREAD * eq.lam) ** 2)
    return DesignPoint(response, T, eq.member(response.Q, T), eq.curvature(response.Q))


@dataclass(frozen=True, slots=True)
class DesignSystem:
    """The two equations of one member, in log A and the log odds of its freedom."""

    eq: IidEquations
    design: SpectralDesign

    def linear(self, log_A: Array, y: Array) -> Linear:
        """Return the moves of a plain step, and minus their slopes."""
        eq, design = self.eq, self.design
        A, e = np.exp(log_A), np.maximum(np.exp(log_A) - eq.Delta, 0.0)
        here = at(eq, design, y, A)
        Q, K, one = here.response.Q, here.K, here.one
        beside = [design.response(y + d) for d in (-_DIFFERENCE_WIDTH, _DIFFERENCE_WIDTH)]
        left, right = ((r.Q, r.a * e + r.b * eq.Delta) for r in beside)
        Q_y, T_y = ((b - a) / (2.0 * _DIFFERENCE_WIDTH) for a, b in zip(left, right, strict=True))
        T_A = here.response.a * A * (e > 0.0)
        error = eq.Delta + one.N / K**2
        scale = K**2 * error
        d = expit(-y) - (one.P_Q * Q_y + one.P_T * T_y) / one.P
        return Linear(
            first=np.log(error) - log_A,
            second=np.log(here.freedom / design.freedom(y)),
            a=1.0 - one.N_T * T_A / scale,
            b=-(one.N_Q * Q_y + one.N_T * T_y - 2.0 * one.N * Q_y / K) / scale,
            c=-one.P_T * T_A / one.P,
            d=d - (1.0 - Q / K) * Q_y / Q,
        )

    def take(self, index: BoolArray) -> DesignSystem:
        """Return the equations at a part of the points."""
        return DesignSystem(self.eq.take(index), self.design.take(index))


def solve_members(eq: IidEquations, design: SpectralDesign) -> DesignMembers:
    """Solve for degrees of freedom and error of one member."""
    n = eq.alpha.size
    y, A = np.full(n, _ZERO_LOG_ODDS), eq.rho + eq.Delta
    found, count = np.ones(n, dtype=bool), np.zeros(n, dtype=np.intp)
    todo = np.flatnonzero(A > 0.0)
    if todo.size == 0:
        return DesignMembers(y, A, found, count)
    part, some = eq.take(todo), design.take(todo)
    first = at(part, some, y[todo], A[todo])
    A[todo] = part.Delta + first.one.N / first.K**2
    todo = todo[first.one.P > _LEAST_ACTIVITY]
    if todo.size == 0:
        return DesignMembers(y, A, found, count)
    part, some = eq.take(todo), design.take(todo)
    here, log_A = _damped(part, some, 2)
    here, log_A, found[todo], count[todo] = _newton(part, some, here, log_A, _NEWTON_STEPS)
    for rescue in (_follow, _patient):
        lost = np.flatnonzero(~found[todo])
        if lost.size:
            where = todo[lost]
            here[lost], log_A[lost], found[where], more = rescue(part.take(lost), some.take(lost))
            count[where] += more
    y[todo], A[todo] = here, np.exp(log_A)
    return DesignMembers(y, A, found, count)


def _start(eq: IidEquations, design: SpectralDesign) -> tuple[Array, Array]:
    """Return the log odds of the freedom and log error of the estimate zero, after one step."""
    A = eq.rho + eq.Delta
    first = at(eq, design, np.full(A.size, _ZERO_LOG_ODDS), A)
    return logit(np.minimum(first.freedom / design.most, 0.5)), np.log(A)


def _damped(eq: IidEquations, design: SpectralDesign, steps: int) -> tuple[Array, Array]:
    y, log_A = _start(eq, design)
    for _ in range(steps):
        here = at(eq, design, y, np.exp(log_A))
        share = np.clip(here.freedom / design.most, 1e-300, 1.0 - 1e-9)
        y = y + np.clip(0.5 * (logit(share) - y), -1.0, 1.0)
        log_A = 0.5 * (log_A + np.log(eq.Delta + here.one.N / here.K**2))
    return y, log_A


def _newton(
    eq: IidEquations, design: SpectralDesign, y: Array, log_A: Array, steps: int
) -> tuple[Array, Array, BoolArray, IntArray]:
    """Run Newton's method in (log A, log odds of F) with steps of bounded length."""
    solved = newton(
        DesignSystem(eq, design),
        log_A,
        y,
        steps=steps,
        longest=_LONGEST_STEP,
        tolerance=_NEWTON_TOLERANCE,
    )
    return solved.y, solved.x, solved.found, solved.iterations


def _follow(eq: IidEquations, design: SpectralDesign) -> tuple[Array, Array, BoolArray, IntArray]:
    """Follow the solution from a large penalty, where it is next to nothing, to the given one."""
    nothing = design.response(np.full(eq.lam.size, _ZERO_LOG_ODDS))
    field = np.sqrt(nothing.Q**2 * (eq.rho > 0.0) + nothing.a * eq.rho + nothing.b * eq.Delta)
    goal = np.log(eq.lam)
    far = -ndtri(np.minimum(0.005 * design.most, 1e-3))
    here = np.maximum(np.log(far * field), goal)

    def stacked(y: Array, log_A: Array, found: BoolArray, count: IntArray) -> PathPoints:
        return PathPoints(np.stack([y, log_A]), found, count)

    def solve(log_lam: Array, guess: Array, index: IntArray) -> PathPoints:
        part = replace(eq.take(index), lam=np.exp(log_lam))
        return stacked(*_newton(part, design.take(index), guess[0], guess[1], _NEWTON_STEPS))

    start = replace(eq, lam=np.exp(here))
    first = stacked(*_newton(start, design, *_damped(start, design, 2), _MANY_STEPS))
    step = np.maximum((here - goal) / 8.0, 0.05)
    (y, log_A), arrived, count = follow(solve, first, here, goal, step, _MOST_STEPS)
    return y, log_A, arrived, count


def _patient(eq: IidEquations, design: SpectralDesign) -> tuple[Array, Array, BoolArray, IntArray]:
    """Take many damped steps of the plain iteration, then run Newton's method."""
    y, log_A = _damped(eq, design, _MOST_STEPS)
    y, log_A, found, count = _newton(eq, design, y, log_A, _MANY_STEPS)
    return y, log_A, found, count + _MOST_STEPS


def own_variance(response: Response, e: Array, Delta: Array, V: Array) -> Array:
    """Return v_hat of a member of error e, when V of it is what averaging removes."""
    return np.asarray(response.a_own * e + response.b_own * Delta + response.a_shared * V)


def solve_pairs(
    eq: IidEquations, response: Response, e: Array, T: Array
) -> tuple[Array, BoolArray, IntArray]:
    """Solve for V = v, the part of a member's squared error e that averaging removes."""
    V = np.zeros_like(e)
    found, count = np.ones(e.size, dtype=bool), np.zeros(e.size, dtype=np.intp)
    random = own_variance(response, e, eq.Delta, V) > 1e-15 * T
    todo = np.flatnonzero(random & (T > 0.0) & (e > 0.0))
    if todo.size == 0:
        return V, found, count
    some = Response._make(part[todo] for part in response)
    part, error, total = eq.take(todo), e[todo], T[todo]
    KK = part.curvature(some.Q) ** 2

    def psi(V: Array, index: IntArray) -> tuple[Array, Array]:
        few = Response._make(a[index] for a in some)
        own = np.minimum(own_variance(few, error[index], part.Delta[index], V), total[index])
        spread, both = part.take(index).spread(few.Q, total[index], own)
        return spread / KK[index], few.a_shared * both / KK[index]

    def equation(V: Array, index: IntArray) -> tuple[Array, Array]:
        value, slope = psi(V, index)
        return V - value, 1.0 - slope

    # psi is concave with a slope below one: from V = e Newton's method descends to the root
    root = find_root(equation, error, lower=0.0, upper=error, tol=1e-13)
    V[todo], found[todo], count[todo] = root.x, root.converged, root.iterations
    return V, found, count
