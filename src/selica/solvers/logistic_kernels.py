r"""One member of the l1-penalised logistic ensemble at one penalty.

It minimises :math:`\sum_i c_i [\log(1 + e^{\eta_i}) - y_i \eta_i] + \sum_j (\lambda_j |w_j|
+ \tfrac12 \kappa_j w_j^2)`, :math:`\eta = X w`, :math:`y_i \in \{0, 1\}`, by proximal Newton steps
on its working set: the quadratic model at the present w is a weighted lasso, solved exactly by the
kernels of `quadratic`, and a step is halved until the objective falls. The dual point is
:math:`v_i = y_i - s (y_i - p_i)`, with s so small that no gradient, that of the ridges included,
exceeds its penalty.
"""

from __future__ import annotations

import numpy as np

from selica._core.compiled import njit
from selica.solvers.quadratic import (
    axpy,
    dot,
    factorise,
    gradient_on,
    ridge_conjugate,
    solve_one,
)
from selica.solvers.working_set import gram_rows

# Curvatures below this share of the weight are raised to it: a saturated row still counts.
_LEAST_CURVATURE = 1e-9
_MAX_EPOCHS = 10_000
"""Passes of coordinate descent at most."""


@njit(cache=True, nogil=True)
def _log1pexp(x):
    if x > 0.0:
        return x + np.log1p(np.exp(-x))
    return np.log1p(np.exp(x))


@njit(cache=True, nogil=True)
def _entropy(v):
    """Return -[v log v + (1 - v) log(1 - v)], zero at both ends."""
    total = 0.0
    if v > 0.0:
        total -= v * np.log(v)
    if v < 1.0:
        total -= (1.0 - v) * np.log1p(-v)
    return total


@njit(cache=True, nogil=True)
def _objective(c, y, eta, count, w, penalty, ridge, size):
    total = 0.0
    for i in range(count):
        total += c[i] * (_log1pexp(eta[i]) - y[i] * eta[i])
    for j in range(size):
        total += penalty[j] * abs(w[j]) + 0.5 * ridge[j] * w[j] * w[j]
    return total


@njit(cache=True, nogil=True)
def _predict(A, w, size, count, eta):
    for i in range(count):
        eta[i] = 0.0
    for j in range(size):
        if w[j] != 0.0:
            axpy(w[j], A[j], 0, eta, count)


@njit(cache=True, nogil=True)
def _balance(c, y, eta, count):
    """Return the constant that makes the weighted residuals sum to zero; it is added to eta.

    The dual point is feasible only then.
    """
    total = 0.0
    for _ in range(50):
        pull, curve, size = 0.0, 0.0, 0.0
        for i in range(count):
            chance = 1.0 / (1.0 + np.exp(-eta[i]))
            pull += c[i] * (y[i] - chance)
            curve += c[i] * chance * (1.0 - chance)
            size += c[i]
        if abs(pull) <= 1e-15 * size or curve <= 1e-12 * size:
            break
        step = min(max(pull / curve, -1.0), 1.0)
        for i in range(count):
            eta[i] += step
        total += step
        if abs(step) <= 1e-15:
            break
    return total


@njit(cache=True, nogil=True)
def _state(A, c, y, eta, count, size, w, q, penalty, ridge, residual):
    """Write the weighted residual and gradients; return the objective and the gap."""
    for i in range(count):
        residual[i] = c[i] * (y[i] - 1.0 / (1.0 + np.exp(-eta[i])))
    scale = 1.0
    for j in range(size):
        q[j] = dot(A[j], 0, residual, count) - ridge[j] * w[j]
        if penalty[j] > 0.0 and abs(q[j]) > penalty[j]:
            scale = min(scale, penalty[j] / abs(q[j]))
    dual = -ridge_conjugate(q, w, penalty, ridge, scale, size)
    for i in range(count):
        if c[i] > 0.0:
            v = y[i] - scale * residual[i] / c[i]
            dual += c[i] * _entropy(min(max(v, 0.0), 1.0))
    value = _objective(c, y, eta, count, w, penalty, ridge, size)
    return value, max(value - dual, 0.0)


@njit(cache=True, nogil=True)
def _free_are_settled(A, c, count, size, penalty, q, enough):
    """Say whether moving an unpenalised coefficient, which the gap leaves out, gains little."""
    for j in range(size):
        if penalty[j] == 0.0:
            square = 0.0
            for i in range(count):
                square += c[i] * A[j, i] * A[j, i]
            if q[j] * q[j] > 1e-2 * enough * square:
                return False
    return True


@njit(cache=True, nogil=True)
def newton(
    A,
    G,
    L,
    b,
    w,
    q,
    order,
    c,
    y,
    count,
    size,
    constant,
    penalty,
    ridge,
    enough,
    max_newton,
    residual,
):
    """Take proximal Newton steps until the gap is `enough`; return (gap, steps).

    `constant`: column 0 is the intercept. w, q (gradients) and residual (weighted residual) are
    updated; G, L, b and order are scratch.
    """
    eta, trial_eta = np.empty(count), np.empty(count)
    scaled = np.empty((size, count))
    root, pull = np.empty(count), np.empty(count)
    trial, slopes = np.empty(size), np.empty(size)
    _predict(A, w, size, count, eta)
    if constant:
        w[0] += _balance(c, y, eta, count)
    value, gap = _state(A, c, y, eta, count, size, w, q, penalty, ridge, residual)
    for step in range(max_newton):
        if gap <= enough and _free_are_settled(A, c, count, size, penalty, q, enough):
            return gap, step
        for i in range(count):
            chance = 1.0 / (1.0 + np.exp(-eta[i]))
            curve = c[i] * max(chance * (1.0 - chance), _LEAST_CURVATURE)
            root[i] = np.sqrt(curve)
            pull[i] = (residual[i] + curve * eta[i]) / root[i]
        for j in range(size):
            for i in range(count):
                scaled[j, i] = root[i] * A[j, i]
            b[j] = dot(scaled[j], 0, pull, count)
            trial[j] = w[j]
        gram_rows(scaled, 0, size, count, G)
        for j in range(size):
            G[j * (j + 1) // 2 + j] += ridge[j]
        na = factorise(G, size, trial, order, L, False)
        gradient_on(G, b, trial, slopes, size)
        solve_one(G, b, penalty, size, trial, order, na, L, slopes, 1e-14, _MAX_EPOCHS)
        _predict(A, trial, size, count, trial_eta)
        # decrease the quadratic model promises, for the rule of Armijo
        slope = 0.0
        for i in range(count):
            slope -= residual[i] * (trial_eta[i] - eta[i])
        for j in range(size):
            slope += penalty[j] * (abs(trial[j]) - abs(w[j])) + ridge[j] * w[j] * (trial[j] - w[j])
        # where the gain drowns in rounding the iteration is quadratic and needs no search
        small = abs(slope) <= 1e-10 * abs(value)
        if slope >= 0.0 and not small:
            return gap, step + 1
        length = 1.0
        for _ in range(0 if small else 40):
            new = 0.0
            for i in range(count):
                mixed = eta[i] + length * (trial_eta[i] - eta[i])
                new += c[i] * (_log1pexp(mixed) - y[i] * mixed)
            for j in range(size):
                mixed = w[j] + length * (trial[j] - w[j])
                new += penalty[j] * abs(mixed) + 0.5 * ridge[j] * mixed * mixed
            if new <= value + 1e-4 * length * slope:
                break
            length *= 0.5
        before = gap
        for j in range(size):
            slopes[j] = w[j]
            w[j] = trial[j] if length == 1.0 else w[j] + length * (trial[j] - w[j])
        _predict(A, w, size, count, eta)
        if constant:
            w[0] += _balance(c, y, eta, count)
        value, gap = _state(A, c, y, eta, count, size, w, q, penalty, ridge, residual)
        if small and gap >= before:  # as far as rounding allows
            w[:size] = slopes
            _predict(A, w, size, count, eta)
            value, gap = _state(A, c, y, eta, count, size, w, q, penalty, ridge, residual)
            return gap, step + 1
    return gap, max_newton
