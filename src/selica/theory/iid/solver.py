r"""Solves the self-consistent equations: first one member, then a pair of members.

**Members.** One member sees a field of variance :math:`T = \hat\chi + \hat v = \alpha f_2 A`,
where :math:`A = E + v + \tilde v` is its own prediction error. :math:`(A, \chi)` obey a closed
system without any ensemble average,

.. math:: \chi K = P(\hat Q, T), \qquad A = \Delta + N(\hat Q, T)/K^2,
          \qquad \hat Q = \alpha f_1(\chi), \quad T = \alpha f_2(\chi) A, \quad
          K = \hat Q + \lambda_2 .

Newton's method in :math:`(\log A, \log\chi)` finds most solutions in a few steps. Where it does
not, the solution is followed from a large penalty, where it is next to nothing.

**Pairs.** What two members share is one more scalar equation, :math:`V = \psi(V)` for the part
:math:`V = v + \tilde v` of :math:`A` that averaging removes. Its slope is
:math:`\psi' = P(\text{both active})(\hat Q/K)^2/\alpha < 1`, so the root is unique.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtri

from selica._core.root import find_root
from selica._core.scalar import soft_square
from selica._core.types import Array, BoolArray, IntArray
from selica.theory.iid.equations import IidEquations
from selica.theory.numerics.continuation import PathPoints, follow
from selica.theory.numerics.newton import Linear, newton

# Fewer active variables than this: chi changes f_1, f_2 by less than rounding, and the solution
# is one explicit step from zero.
_LEAST_ACTIVITY = 1e-18
_LEAST_CHI_GUESS = 1e-9  # a guess of chi above which it is not asked whether anything is active
_DAMPED_STEPS = 2
"""Steps before Newton's method."""
_NEWTON_STEPS = 14  # at first; a second try may take many
_MANY_STEPS = 80
"""Newton steps of a second try."""
_NEIGHBOUR_ROUNDS = 20  # from the solutions at neighbouring penalties, as long as these help
_MOST_STEPS = 1000  # of the ways that come after Newton's
_LONGEST_STEP = 1.5
"""The longest Newton step, in logarithms."""
_NEWTON_TOLERANCE = 1e-8  # quadratic convergence: the step after it is at rounding


@dataclass(frozen=True, slots=True)
class MemberSystem:
    """The two equations of one member, in log A and log chi."""

    eq: IidEquations

    def linear(self, log_A: Array, log_x: Array) -> Linear:
        """Return the moves of a plain step, and minus their slopes."""
        eq = self.eq
        x = np.exp(log_x)
        f1, f2, f3 = eq.law.averages(x)
        Q = eq.alpha * f1
        T = eq.alpha * f2 * np.exp(log_A)
        P, P_Q, P_T, N, N_Q, N_T = eq.member(Q, T)
        K = eq.curvature(Q)
        KK, Q_K = K * K, Q / K
        error = eq.Delta * KK + N  # K^2 times the right-hand side
        # logarithmic slopes of the two right-hand sides; f_1' = -f_2, f_2' = -2 f_3
        Q_x, T_x = -x * f2 / f1, -2.0 * x * f3 / f2
        T_A, Q_A = N_T * T / error, (N_Q * Q - 2.0 * N * Q_K) / error
        T_P, Q_P = P_T * T / P, P_Q * Q / P - Q_K
        return Linear(
            first=np.log(error / KK) - log_A,
            second=np.log(P / K) - log_x,
            a=1.0 - T_A,
            b=-(T_A * T_x + Q_A * Q_x),
            c=-T_P,
            d=1.0 - (T_P * T_x + Q_P * Q_x),
        )

    def take(self, index: BoolArray) -> MemberSystem:
        """Return the equations at a part of the points."""
        return MemberSystem(self.eq.take(index))


def solve_members(
    eq: IidEquations, guess: tuple[Array, Array] | None = None
) -> tuple[Array, Array, BoolArray, IntArray]:
    """Solve for A and chi of one member; also whether each was found, and iterations used.

    A guess of both saves iterations where it is close; there is none where it is not finite.
    """
    A = eq.rho + eq.Delta
    chi = np.zeros_like(A)
    found = np.ones(A.size, dtype=bool)
    count = np.zeros(A.size, dtype=np.intp)
    todo = np.flatnonzero(A > 0.0)  # otherwise y = 0 and there is nothing to fit
    fresh = todo
    if guess is not None:
        known = (A > 0.0) & np.isfinite(guess[0]) & (guess[1] > _LEAST_CHI_GUESS)
        A, chi = (np.where(known, new, old) for new, old in zip(guess, (A, chi), strict=True))
        fresh = todo[~known[todo]]
    if fresh.size:
        A[fresh], chi[fresh], busy = _first_steps(eq if fresh.size == A.size else eq.take(fresh))
        if not busy.all():
            todo = np.setdiff1d(todo, fresh[~busy], assume_unique=True)
    if todo.size == 0:
        return A, chi, found, count
    part = eq if todo.size == A.size else eq.take(todo)
    A[todo], chi[todo], found[todo], count[todo] = _newton(part, A[todo], chi[todo])
    for _ in range(_NEIGHBOUR_ROUNDS):
        lost, near = _beside(eq, todo[~found[todo]], todo[found[todo]])
        if lost.size == 0:
            break
        A[lost], chi[lost], found[lost], more = _newton(eq.take(lost), A[near], chi[near])
        count[lost] += more
        if not found[lost].any():
            break

    for rescue in (_follow, _patient):
        lost = todo[~found[todo]]
        if lost.size:
            A[lost], chi[lost], found[lost], more = rescue(eq.take(lost))
            count[lost] += more
    return A, chi, found, count


def _beside(eq: IidEquations, lost: IntArray, known: IntArray) -> tuple[IntArray, IntArray]:
    """Return lost points whose nearest known one is of their model, and the latter: a guess."""
    if lost.size == 0 or known.size == 0:
        return lost[:0], lost[:0]
    right = np.minimum(np.searchsorted(known, lost), known.size - 1)
    left = np.maximum(right - 1, 0)
    near = known[np.where(lost - known[left] <= np.abs(known[right] - lost), left, right)]
    same = (
        (eq.alpha[near] == eq.alpha[lost])
        & (eq.rho[near] == eq.rho[lost])
        & (eq.Delta[near] == eq.Delta[lost])
    )
    return lost[same], near[same]


def _nothing(eq: IidEquations) -> tuple[Array, Array]:
    """Return a and chi of the estimate zero."""
    return eq.rho + eq.Delta, np.zeros(eq.alpha.size)


def _plain_step(eq: IidEquations, A: Array, chi: Array) -> tuple[Array, Array, Array]:
    """Take one step of the fixed-point iteration, and the activity P."""
    f = eq.law.averages(chi)
    Q, T = eq.alpha * f.f1, eq.alpha * f.f2 * A
    one = eq.member(Q, T)
    K = eq.curvature(Q)
    return eq.Delta + one.N / K**2, one.P / K, one.P


def _first_steps(eq: IidEquations) -> tuple[Array, Array, BoolArray]:
    """Take a plain step from zero, exact where nothing is active, and say where something is.

    Where something is, damped steps follow: near enough for Newton's method at nine points of ten.
    """
    A, chi, P = _plain_step(eq, *_nothing(eq))
    busy = P > _LEAST_ACTIVITY
    if not busy.any():
        return A, chi, busy
    part = eq if busy.all() else eq.take(busy)
    start = 0.5 * (part.rho + part.Delta + A[busy]), 0.5 * chi[busy]
    A[busy], chi[busy] = _damped(part, *start, _DAMPED_STEPS)
    return A, chi, busy


def _damped(eq: IidEquations, A: Array, chi: Array, steps: int) -> tuple[Array, Array]:
    """Take steps of the plain iteration, each half as far."""
    for _ in range(steps):
        new_A, new_chi, _ = _plain_step(eq, A, chi)
        A, chi = 0.5 * (A + new_A), 0.5 * (chi + new_chi)
    return A, chi


def _newton(
    eq: IidEquations, A: Array, chi: Array, steps: int = _NEWTON_STEPS
) -> tuple[Array, Array, BoolArray, IntArray]:
    """Run Newton's method in (log A, log chi) with steps of bounded length."""
    solved = newton(
        MemberSystem(eq),
        np.log(A),
        np.log(chi),
        steps=steps,
        longest=_LONGEST_STEP,
        tolerance=_NEWTON_TOLERANCE,
    )
    return np.exp(solved.x), np.exp(solved.y), solved.found, solved.iterations


def _follow(eq: IidEquations) -> tuple[Array, Array, BoolArray, IntArray]:
    """Follow the solution from a large penalty, where it is next to nothing, to the given one."""
    size = eq.alpha.size
    f = eq.law.averages(np.zeros(size))
    field = np.sqrt((eq.alpha * f.f1) ** 2 + eq.alpha * f.f2 * (eq.rho + eq.Delta))
    goal = np.log(eq.lam)
    # far out: at most a hundredth as many variables active as there are samples
    far = -ndtri(np.minimum(0.005 * eq.alpha, 1e-3))
    here = np.maximum(np.log(far * field), goal)

    def logs(A: Array, chi: Array, found: BoolArray, count: IntArray) -> PathPoints:
        return PathPoints(np.log(np.stack([A, chi])), found, count)

    def solve(log_lam: Array, guess: Array, index: IntArray) -> PathPoints:
        part = replace(eq.take(index), lam=np.exp(log_lam))
        return logs(*_newton(part, *np.exp(guess)))

    start = replace(eq, lam=np.exp(here))
    first = logs(*_newton(start, *_damped(start, *_nothing(eq), _DAMPED_STEPS), _MANY_STEPS))
    step = np.maximum((here - goal) / 8.0, 0.05)
    (A, chi), arrived, count = follow(solve, first, here, goal, step, _MOST_STEPS)
    return np.exp(A), np.exp(chi), arrived, count


def _patient(eq: IidEquations) -> tuple[Array, Array, BoolArray, IntArray]:
    """Take many damped steps of the plain iteration, then run Newton's method."""
    A, chi = _damped(eq, *_nothing(eq), _MOST_STEPS)
    A, chi, found, count = _newton(eq, A, chi, _MANY_STEPS)
    return A, chi, found, count + _MOST_STEPS


def solve_pairs(eq: IidEquations, A: Array, chi: Array) -> tuple[Array, BoolArray, IntArray]:
    """Solve for V = v + v_tilde, the part of a member's error that averaging removes."""
    f = eq.law.averages(chi)
    Q, T = eq.alpha * f.f1, eq.alpha * f.f2 * A
    V = np.zeros_like(A)
    found = np.ones(A.size, dtype=bool)
    count = np.zeros(A.size, dtype=np.intp)
    noisy = np.flatnonzero(A > 0.0)
    uneven = eq.law.variance(f, chi)  # f_2 - f_1^2
    if noisy.size == 0 or (eq.copies == 0 and not np.any(uneven > 0.0)):
        return V, found, count  # nothing random is left between two members
    part = eq.take(noisy)
    Q, T = Q[noisy], T[noisy]
    KK = part.curvature(Q) ** 2
    shrunk = Q**2 / KK
    own_0, own_V = part.alpha * uneven[noisy] * A[noisy], part.alpha * f.f1[noisy] ** 2
    copy = part.copies * soft_square(None, T, part.lam) / KK

    def psi(V: Array, index: IntArray) -> tuple[Array, Array]:
        own = np.minimum(own_0[index] + own_V[index] * V, T[index])
        some = part.take(index)
        spread, both = some.spread(Q[index], T[index], own)
        return copy[index] + spread / KK[index], shrunk[index] * both / some.alpha

    def equation(log_V: Array, index: IntArray) -> tuple[Array, Array]:
        V = np.exp(log_V)
        value, slope = psi(V, live[index])
        value = np.maximum(value, 1e-300)
        return log_V - np.log(value), 1.0 - V * slope / value

    # psi is concave: a Newton step from V = A lands above the root and below A
    top, slope = psi(A[noisy], np.arange(noisy.size))
    start = np.maximum((top - slope * A[noisy]) / (1.0 - slope), copy)
    V[noisy] = start
    live = np.flatnonzero(start > 1e-200)  # below, a variance is zero for every purpose
    root = find_root(
        equation,
        np.log(start[live]),
        lower=np.log(np.maximum(copy[live], 1e-300)),
        upper=np.log(A[noisy[live]]),
        tol=1e-7,  # of the last step; the error left is its square
    )
    where = noisy[live]
    V[where], found[where], count[where] = np.exp(root.x), root.converged, root.iterations
    return V, found, count
