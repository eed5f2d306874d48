r"""Solves the self-consistent equations: first one member, then a pair of members.

**Members.** One member sees a field of variance :math:`T = \hat\chi + \hat v = \alpha f_2 A`,
where :math:`A = E + v + \tilde v` is its own prediction error. :math:`(A, \chi)` obey a closed
system without any ensemble average,

.. math:: \chi \hat Q = P(\hat Q, T), \qquad A = \Delta + N(\hat Q, T)/\hat Q^2,
          \qquad \hat Q = \alpha f_1(\chi), \quad T = \alpha f_2(\chi) A .

Newton's method in :math:`(\log A, \log\chi)` finds most solutions in a few steps. Where it does
not, the system is nested: for a given :math:`\chi` the first equation is monotone in :math:`T`,
and what is left is a scalar equation in :math:`\chi` with a known sign at both ends.

**Pairs.** What two members share is one more scalar equation, :math:`V = \psi(V)` for the part
:math:`V = v + \tilde v` of :math:`A` that averaging removes. Its slope is
:math:`\psi' = P(\text{both active})/\alpha < 1`, so the root is unique.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from selica._core.root import find_root
from selica._core.scalar import soft_square
from selica._core.types import Array, BoolArray, IntArray
from selica.theory.equations import Equations

# Fewer active variables than this: chi changes f_1, f_2 by less than rounding, and the solution
# is one explicit step from zero.
_EMPTY = 1e-18
_NEWTON_STEPS = 14  # at first; a second try may take many
_MANY_STEPS = 80
_LONGEST_STEP = 1.5
_NEWTON_TOL = 1e-8  # quadratic convergence: the step after it is at rounding


def solve_members(eq: Equations) -> tuple[Array, Array, BoolArray, IntArray]:
    """A and chi of one member, whether each was found, and iterations used."""
    A = eq.rho + eq.Delta
    chi = np.zeros_like(A)
    found = np.ones(A.size, dtype=bool)
    count = np.zeros(A.size, dtype=np.intp)
    todo = np.flatnonzero(A > 0.0)  # otherwise y = 0 and there is nothing to fit
    if todo.size == 0:
        return A, chi, found, count

    part = eq if todo.size == A.size else eq.take(todo)
    A[todo], chi[todo], P = _plain_step(part, A[todo], chi[todo])
    busy = P > _EMPTY
    todo = todo[busy]
    if todo.size == 0:
        return A, chi, found, count
    if not busy.all():
        part = part.take(busy)
    start_A, start_chi = _damped(part, 0.5 * (part.rho + part.Delta + A[todo]), 0.5 * chi[todo])
    A[todo], chi[todo], found[todo], count[todo] = _newton(part, start_A, start_chi)

    # Newton lost its way: a rough nested solution puts it right; if even that fails, a full one.
    for tol in (1e-3, 1e-14):
        lost = todo[~found[todo]]
        if lost.size == 0:
            break
        part = eq.take(lost)
        start_A, start_chi, nested, used = _nested(part, tol)
        A[lost], chi[lost], found[lost], more = _newton(part, start_A, start_chi, _MANY_STEPS)
        count[lost] += used + more
        if tol < 1e-10:
            keep = nested & ~found[lost]
            A[lost[keep]], chi[lost[keep]] = start_A[keep], start_chi[keep]
            found[lost[keep]] = True
    return A, chi, found, count


def _plain_step(eq: Equations, A: Array, chi: Array) -> tuple[Array, Array, Array]:
    """One step of the fixed-point iteration, and the activity P."""
    f = eq.law.averages(chi)
    Q, T = eq.alpha * f.f1, eq.alpha * f.f2 * A
    one = eq.member(Q, T)
    return eq.Delta + one.N / Q**2, one.P / Q, one.P


def _damped(eq: Equations, A: Array, chi: Array) -> tuple[Array, Array]:
    """Two damped steps: near enough for Newton's method at nineteen points of twenty."""
    for _ in range(2):
        new_A, new_chi, _ = _plain_step(eq, A, chi)
        A, chi = 0.5 * (A + new_A), 0.5 * (chi + new_chi)
    return A, chi


def _newton(
    eq: Equations, A: Array, chi: Array, steps: int = _NEWTON_STEPS
) -> tuple[Array, Array, BoolArray, IntArray]:
    """Newton's method in (log A, log chi) with steps of bounded length."""
    log_A, log_x = np.log(A), np.log(chi)
    out_A, out_x = log_A.copy(), log_x.copy()
    found = np.zeros(A.size, dtype=bool)
    count = np.full(A.size, steps, dtype=np.intp)
    active = np.arange(A.size)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for step in range(1, steps + 1):
            x = np.exp(log_x)
            f1, f2, f3 = eq.law.averages(x)
            Q = eq.alpha * f1
            T = eq.alpha * f2 * np.exp(log_A)
            P, P_Q, P_T, N, N_Q, N_T = eq.member(Q, T)
            QQ = Q * Q
            error = eq.Delta * QQ + N  # Q^2 times the right-hand side
            # logarithmic slopes of the two right-hand sides; f_1' = -f_2, f_2' = -2 f_3
            Q_x, T_x = -x * f2 / f1, -2.0 * x * f3 / f2
            T_A, Q_A = N_T * T / error, (N_Q * Q - 2.0 * N) / error
            T_P, Q_P = P_T * T / P, P_Q * Q / P - 1.0
            a, b = 1.0 - T_A, -(T_A * T_x + Q_A * Q_x)
            c, d = -T_P, 1.0 - (T_P * T_x + Q_P * Q_x)
            off_A, off_x = np.log(error / QQ) - log_A, np.log(P / Q) - log_x
            det = a * d - b * c
            step_A, step_x = (d * off_A - b * off_x) / det, (a * off_x - c * off_A) / det
            size = np.maximum(np.abs(step_A), np.abs(step_x))
            usable = (det > 0.0) & (size < np.inf)
            if not usable.all():
                step_A = np.where(usable, step_A, 0.5 * off_A)
                step_x = np.where(usable, step_x, 0.5 * off_x)
                size = np.maximum(np.abs(step_A), np.abs(step_x))
            shrink = _LONGEST_STEP / np.maximum(size, _LONGEST_STEP)
            log_A, log_x = log_A + shrink * step_A, log_x + shrink * step_x
            done = usable & (size < _NEWTON_TOL)
            if done.any() or step == steps:
                out_A[active], out_x[active] = log_A, log_x
                found[active] = done
                count[active[done]] = step
                if done.all():
                    break
                stay = ~done
                active, log_A, log_x = active[stay], log_A[stay], log_x[stay]
                eq = eq.take(stay)
    return np.exp(out_A), np.exp(out_x), found, count


def _nested(eq: Equations, tol: float) -> tuple[Array, Array, BoolArray, IntArray]:
    """The scalar equation in chi; its sign is known even where no noise fits the activity."""
    log_T = np.full(eq.alpha.size, np.nan)

    def equation(log_chi: Array, index: IntArray) -> tuple[Array, Array]:
        """log A - log(Delta + N/Q^2) with T from the activity, and its slope in log chi."""
        part = eq.take(index)
        chi = np.exp(log_chi)
        f = part.law.averages(chi)
        Q = part.alpha * f.f1
        target = chi * Q
        # more activity asked than there are variables: chi is too large
        value = np.where(target < 1.0 + part.copies, -1.0, 1.0)
        slope = np.full(index.size, np.nan)
        # signals alone are more active than chi allows: chi is too small
        can = (value < 0.0) & (part.activity_without_noise(Q) < target)
        if not can.any():
            return value, slope
        part, chi, Q, target = part.take(can), chi[can], Q[can], target[can]
        f2, f3 = f.f2[can], f.f3[can]
        y = _noise(part, Q, target, log_T[index[can]])
        log_T[index[can]] = y
        T = np.exp(y)
        one = part.member(Q, T)
        right = part.Delta + one.N / Q**2
        value[can] = y - np.log(part.alpha * f2) - np.log(right)
        dQ = -part.alpha * f2
        with np.errstate(divide="ignore", invalid="ignore"):
            dT = (Q + chi * dQ - one.P_Q * dQ) / one.P_T
        d_right = (one.N_Q * dQ + one.N_T * dT - 2.0 * one.N / Q * dQ) / Q**2
        slope[can] = chi * (dT / T + 2.0 * f3 / f2 - d_right / right)
        return value, slope

    A, chi = _damped(eq, eq.rho + eq.Delta, np.zeros(eq.alpha.size))
    root = find_root(equation, np.log(chi), max_step=2.0, tol=tol, max_iter=200)
    chi = np.exp(root.x)
    f = eq.law.averages(chi)
    A = np.where(np.isfinite(log_T), np.exp(log_T) / (eq.alpha * f.f2), A)
    return A, chi, root.converged, root.iterations


def _noise(eq: Equations, Q: Array, target: Array, start: Array) -> Array:
    """log T at which the expected activity is `target`; NaN in `start` asks for a guess."""
    share = np.clip(target / (1.0 + eq.copies), 1e-300, 1.0 - 1e-12)
    guess = 2.0 * np.log(eq.lam / -ndtri(0.5 * share))  # as if all variables were null
    log_target = np.log(target)

    def equation(y: Array, index: IntArray) -> tuple[Array, Array]:
        T = np.exp(y)
        one = eq.take(index).member(Q[index], T)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.maximum(np.log(one.P), -1e4) - log_target[index], T * one.P_T / one.P

    start = np.where(np.isfinite(start), start, guess)
    return find_root(equation, start, max_step=4.0, tol=1e-14, max_iter=200).x


def solve_pairs(eq: Equations, A: Array, chi: Array) -> tuple[Array, BoolArray, IntArray]:
    """V = v + v_tilde, the part of a member's error that averaging removes."""
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
    own_0, own_V = part.alpha * uneven[noisy] * A[noisy], part.alpha * f.f1[noisy] ** 2
    copy = part.copies * soft_square(None, T, part.lam) / Q**2

    def psi(V: Array, index: IntArray) -> tuple[Array, Array]:
        own = np.minimum(own_0[index] + own_V[index] * V, T[index])
        some = part.take(index)
        spread, both = some.spread(Q[index], T[index], own)
        return copy[index] + spread / Q[index] ** 2, both / some.alpha

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
        tol=1e-9,
    )
    where = noisy[live]
    V[where], found[where], count[where] = np.exp(root.x), root.converged, root.iterations
    return V, found, count
