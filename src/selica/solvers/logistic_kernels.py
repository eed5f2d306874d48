r"""Compiled steps of the l1-penalised logistic ensemble.

Member b minimises :math:`\sum_i c_i [\log(1 + e^{\eta_i}) - y_i \eta_i] + \sum_j \lambda_j |w_j|`,
:math:`\eta = X w`, :math:`y_i \in \{0, 1\}`, by proximal Newton steps on its working set: the
quadratic model at the present w is a weighted lasso, solved exactly by the kernels of
`quadratic`, and a step is halved until the objective falls. The dual point is
:math:`v_i = y_i - s (y_i - p_i)`, with s so small that no gradient exceeds its penalty.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from selica.solvers.chunk_kernels import _candidates
from selica.solvers.quadratic import axpy, solve_from

# Curvatures below this share of the weight are raised to it: a saturated row still counts.
_LEAST_CURVATURE = 1e-6


@njit(cache=True, nogil=True)
def _log1pexp(x):
    if x > 0.0:
        return x + np.log1p(np.exp(-x))
    return np.log1p(np.exp(x))


@njit(cache=True, nogil=True)
def _entropy(v):
    """-[v log v + (1 - v) log(1 - v)], zero at both ends."""
    total = 0.0
    if v > 0.0:
        total -= v * np.log(v)
    if v < 1.0:
        total -= (1.0 - v) * np.log1p(-v)
    return total


@njit(cache=True, nogil=True)
def _loss(c, y, eta, count):
    total = 0.0
    for i in range(count):
        total += c[i] * (_log1pexp(eta[i]) - y[i] * eta[i])
    return total


@njit(cache=True, nogil=True)
def _predict(XW, w, size, count, eta):
    for i in range(count):
        eta[i] = 0.0
    for j in range(size):
        if w[j] != 0.0:
            axpy(w[j], XW[j], eta, count)


@njit(cache=True, nogil=True)
def _newton(XW, c, y, count, size, penalty, w, tol, max_newton, max_epochs):
    """Proximal Newton on a working set; w is updated; returns (status, steps, eta)."""
    eta = np.empty(count)
    trial_eta = np.empty(count)
    _predict(XW, w, size, count, eta)
    scaled = np.empty((size, count))
    pull = np.empty(count)
    trial = np.empty(size)
    value = _loss(c, y, eta, count)
    for j in range(size):
        value += penalty[j] * abs(w[j])
    for step in range(max_newton):
        root = np.empty(count)
        for i in range(count):
            chance = 1.0 / (1.0 + np.exp(-eta[i]))
            curve = max(c[i] * chance * (1.0 - chance), _LEAST_CURVATURE * c[i])
            root[i] = np.sqrt(curve)
            pull[i] = (c[i] * (y[i] - chance) + curve * eta[i]) / root[i]
        for j in range(size):
            for i in range(count):
                scaled[j, i] = root[i] * XW[j, i]
        G = np.dot(scaled, scaled.T)
        b = np.dot(scaled, pull)
        for j in range(size):
            trial[j] = w[j]
        solve_from(G, b, penalty, size, trial, 1e-3 * tol, max_epochs)
        _predict(XW, trial, size, count, trial_eta)
        # decrease the quadratic model promises, for the rule of Armijo
        slope = 0.0
        for i in range(count):
            chance = 1.0 / (1.0 + np.exp(-eta[i]))
            slope -= c[i] * (y[i] - chance) * (trial_eta[i] - eta[i])
        for j in range(size):
            slope += penalty[j] * (abs(trial[j]) - abs(w[j]))
        if slope > -1e-28 * (1.0 + abs(value)):
            return 0, step + 1, eta
        length = 1.0
        # where the gain drowns in rounding the iteration is quadratic and needs no search
        moved = slope > -1e-10 * abs(value)
        new = value
        for _ in range(0 if moved else 40):
            new = 0.0
            for i in range(count):
                mixed = eta[i] + length * (trial_eta[i] - eta[i])
                new += c[i] * (_log1pexp(mixed) - y[i] * mixed)
            for j in range(size):
                new += penalty[j] * abs(w[j] + length * (trial[j] - w[j]))
            if new <= value + 1e-4 * length * slope:
                moved = True
                break
            length *= 0.5
        if not moved:
            return 0, step + 1, eta
        for j in range(size):
            w[j] = trial[j] if length == 1.0 else w[j] + length * (trial[j] - w[j])
        for i in range(count):
            eta[i] += length * (trial_eta[i] - eta[i])
        value = new
        # the gap is of the order of the root of what a step still gains
        if -slope <= 1e-2 * tol * tol * abs(value):
            return 0, step + 1, eta
    return 1, max_newton, eta


@njit(cache=True, nogil=True, parallel=True)
def advance_logistic(
    members, XT, rows, c, nb, ys, gradient, bar, lam, factor,
    XW, W, k, slot, w, tol, max_newton, max_epochs, R, loss, iterations, status, short,
):  # fmt: skip
    """One penalty for the listed members; see `chunk_kernels.advance`.

    loss[m, 0] is the loss and loss[m, 1] the penalty paid; R[m] = c (y - p).
    """
    for position in prange(members.size):
        m = members[position]
        new = _candidates(gradient[m], factor[m], slot[m], bar[m])
        short[m] = max(0, k[m] + new.size - W.shape[1])
        if short[m] > 0:
            continue
        count = nb[m]
        for t in range(new.size):
            column = XT[new[t]]
            line = XW[m, k[m] + t]
            for i in range(count):
                line[i] = column[rows[m, i]]
            W[m, k[m] + t] = new[t]
            slot[m, new[t]] = k[m] + t
            w[m, k[m] + t] = 0.0
        k[m] += new.size
        size = k[m]
        penalty = np.empty(size)
        for i in range(size):
            penalty[i] = lam[m] * factor[m, W[m, i]]
        status[m], used, eta = _newton(
            XW[m], c[m], ys[m], count, size, penalty, w[m], tol, max_newton, max_epochs
        )
        iterations[m] += used
        paid = 0.0
        for i in range(size):
            paid += penalty[i] * abs(w[m, i])
        loss[m, 0] = _loss(c[m], ys[m], eta, count)
        loss[m, 1] = paid
        for i in range(count):
            chance = 1.0 / (1.0 + np.exp(-eta[i]))
            R[m, rows[m, i]] = c[m, i] * (ys[m, i] - chance)


@njit(cache=True, nogil=True, parallel=True)
def judge_logistic(
    members, gradient, lam, factor, slot, w, rows, c, nb, ys, R, loss, null, gap, kkt, missed
):
    """Duality gap relative to the null deviance, KKT violation, columns left out."""
    p = gradient.shape[1]
    for position in prange(members.size):
        m = members[position]
        top, off, free = 0.0, 0.0, 0.0
        count = 0
        for j in range(p):
            size = abs(gradient[m, j])
            if factor[m, j] > 0.0:
                top = max(top, size / factor[m, j])
            else:
                free = max(free, size)
            place = slot[m, j]
            if place >= 0 and w[m, place] != 0.0:
                sign = 1.0 if w[m, place] > 0.0 else -1.0
                off = max(off, abs(gradient[m, j] - sign * lam[m] * factor[m, j]))
            else:
                excess = size - lam[m] * factor[m, j]
                off = max(off, excess)
                if place < 0 and excess > 1e-11 * lam[m] * factor[m, j]:
                    count += 1
        missed[m] = count
        kkt[m] = off
        scale = 1.0 if top <= lam[m] else lam[m] / top
        dual = 0.0
        for i in range(nb[m]):
            if c[m, i] > 0.0:
                v = ys[m, i] - scale * R[m, rows[m, i]] / c[m, i]
                dual += c[m, i] * _entropy(min(max(v, 0.0), 1.0))
        gap[m] = max(loss[m, 0] + loss[m, 1] - dual, 0.0) / max(null[m], 1e-300)
