r"""One member at one penalty, on its working set: the fit and its certificate.

With a ridge the problem is the lasso of the augmented design, whose further rows no column outside
the working set meets: there the gradient is that of the loss, and screening is as for the lasso.
"""

from __future__ import annotations

import numpy as np

from selica._core.compiled import njit
from selica.solvers.logistic_kernels import newton
from selica.solvers.quadratic import ridge_conjugate, solve_one


@njit(cache=True, nogil=True)
def solve_member(data, space, m, k, na, penalty, lam, lam2, held, logistic, tol, max_iter, left):
    """One member at one penalty; returns (failed, na, steps, relative gap, kkt, |r|^2).

    `held` is the ridge for which it was solved before.
    """
    unit = data.unit[m]
    pay, bend = np.empty(k), np.zeros(k)
    ridge = data.ridge[m % data.ridge.shape[0]]
    for i in range(k):
        j = space.which[m, i]
        if j < penalty.size:
            pay[i] = lam * penalty[j]
            if lam2 > 0.0:
                bend[i] = lam2 * ridge[j]
        else:  # the intercept of the logistic model
            pay[i] = 0.0
    if logistic:
        steps, gap, off, square = _logistic(
            space, m, k, pay, bend, data.weight[m], data.y[m], data.nb[m], penalty.size, unit, tol,
            max_iter, left,
        )  # fmt: skip
        failed, na = 0, 0
    else:
        if lam2 > 0.0 or held > 0.0:
            for i in range(k):
                space.gram[m, i * (i + 1) // 2 + i] = space.square[m, i] + bend[i]
        if lam2 != held:
            na = -1  # the factor is that of another matrix
        failed, na, steps, gap, off, square = _linear(
            space, m, k, na, penalty, lam, pay, bend, lam2 > 0.0, 2.0 * unit, tol, max_iter
        )
    if lam2 > 0.0:
        for i in range(k):
            space.q[m, i] += bend[i] * space.w[m, i]
    return failed, na, steps, gap / max(unit, 1e-300), off, square


@njit(cache=True, nogil=True)
def _linear(space, m, k, na, penalty, lam, pay, bend, ridged, yy, tol, max_iter):
    """Solves a member on its working set; returns (status, na, rounds, gap, kkt, |r|^2)."""
    w, q, b = space.w[m], space.q[m], space.b[m]
    status, na, rounds = solve_one(
        space.gram[m], b, pay, k, w, space.order[m], na, space.factor[m], q, 1e-2 * tol, max_iter
    )
    explained, along, paid, top, off, bent = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(k):
        explained += w[i] * (b[i] + q[i] + bend[i] * w[i])
        along += w[i] * b[i]
        paid += pay[i] * abs(w[i])
        bent += bend[i] * w[i] * w[i]
        size = abs(q[i])
        if penalty[space.which[m, i]] > 0.0:
            top = max(top, size / penalty[space.which[m, i]])
        off = max(off, _distance(q[i], w[i], pay[i]))
    rr = max(yy - explained, 0.0)
    if not ridged:
        return status, na, rounds, _duality_gap(rr, yy - along, paid, lam, top), off, rr
    scale = 1.0 if top <= lam or lam <= 0.0 else lam / top
    gap = 0.5 * (1.0 + scale * scale) * rr + 0.5 * bent + paid - scale * (yy - along)
    gap += ridge_conjugate(q, w, pay, bend, scale, k)
    return status, na, rounds, max(gap, 0.0), off, rr


@njit(cache=True, nogil=True)
def _duality_gap(rr, ry, penalised, lam, top):
    """Duality gap from |r|^2, r.y, the penalty paid, and max |gradient| / penalty weight.

    Without a penalty there is no dual point to be had so cheaply: |w . gradient| stands in.
    """
    if lam <= 0.0:
        return abs(ry - rr)
    scale = 1.0 if top <= lam else lam / top
    primal = 0.5 * rr + penalised
    dual = scale * ry - 0.5 * scale * scale * rr
    return max(primal - dual, 0.0)


@njit(cache=True, nogil=True)
def _logistic(space, m, k, pay, bend, c, y, nb, intercept, unit, tol, max_iter, left):
    """As `_linear`, for the logistic loss; `left` becomes the weighted residual."""
    w, q = space.w[m], space.q[m]
    constant = k > 0 and space.which[m, 0] == intercept
    gap, steps = newton(
        space.columns[m], space.gram[m], space.factor[m], space.b[m], w, q, space.order[m],
        c, y, nb, k, constant, pay, bend, 0.1 * tol * unit, max_iter, left,
    )  # fmt: skip
    off, rr = 0.0, 0.0
    for i in range(k):
        off = max(off, _distance(q[i], w[i], pay[i]))
    for i in range(nb):
        rr += left[i] * left[i] / c[i]
    return steps, gap, off, rr


@njit(cache=True, nogil=True)
def _distance(q, w, pay):
    """How far the gradient of a column is from where it should be, given its coefficient."""
    if w != 0.0:
        return abs(q - pay) if w > 0.0 else abs(q + pay)
    return abs(q) - pay
