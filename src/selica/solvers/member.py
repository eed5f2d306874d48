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
def solve_member(data, space, m, k, na, factor, lam, lam2, old_ridge, logistic, tol, max_iter,
                 residual):  # fmt: skip
    """Solve one member at one penalty; return (failed, na, steps, relative gap, kkt, |r|^2).

    `factor` are penalty weights of the columns; it was solved before for the ridge `old_ridge`.
    """
    unit = data.unit[m]
    penalty, ridge = np.empty(k), np.zeros(k)
    ridge_factor = data.ridge[m % data.ridge.shape[0]]
    for i in range(k):
        j = space.which[m, i]
        if j < factor.size:
            penalty[i] = lam * factor[j]
            if lam2 > 0.0:
                ridge[i] = lam2 * ridge_factor[j]
        else:  # the intercept of the logistic model
            penalty[i] = 0.0
    if logistic:
        steps, gap, violation, square = _logistic(
            space, m, k, penalty, ridge, data.weight[m], data.y[m], data.n_rows[m], factor.size,
            unit, tol, max_iter, residual,
        )  # fmt: skip
        failed, na = 0, 0
    else:
        if lam2 > 0.0 or old_ridge > 0.0:
            for i in range(k):
                space.gram[m, i * (i + 1) // 2 + i] = space.square[m, i] + ridge[i]
        if lam2 != old_ridge:
            na = -1  # the factor is that of another matrix
        failed, na, steps, gap, violation, square = _linear(
            space, m, k, na, factor, lam, penalty, ridge, lam2 > 0.0, 2.0 * unit, tol, max_iter
        )
    if lam2 > 0.0:
        for i in range(k):
            space.q[m, i] += ridge[i] * space.w[m, i]
    return failed, na, steps, gap / max(unit, 1e-300), violation, square


@njit(cache=True, nogil=True)
def _linear(space, m, k, na, factor, lam, penalty, ridge, ridged, yy, tol, max_iter):
    """Solve a member on its working set; return (status, na, rounds, gap, kkt, |r|^2)."""
    w, q, b = space.w[m], space.q[m], space.b[m]
    status, na, rounds = solve_one(
        space.gram[m], b, penalty, k, w, space.order[m], na, space.factor[m], q, 1e-2 * tol,
        max_iter,
    )  # fmt: skip
    explained, along, paid, top, violation, bent = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(k):
        explained += w[i] * (b[i] + q[i] + ridge[i] * w[i])
        along += w[i] * b[i]
        paid += penalty[i] * abs(w[i])
        bent += ridge[i] * w[i] * w[i]
        size = abs(q[i])
        if factor[space.which[m, i]] > 0.0:
            top = max(top, size / factor[space.which[m, i]])
        violation = max(violation, _distance(q[i], w[i], penalty[i]))
    rr = max(yy - explained, 0.0)
    if not ridged:
        return status, na, rounds, _duality_gap(rr, yy - along, paid, lam, top), violation, rr
    scale = 1.0 if top <= lam or lam <= 0.0 else lam / top
    gap = 0.5 * (1.0 + scale * scale) * rr + 0.5 * bent + paid - scale * (yy - along)
    gap += ridge_conjugate(q, w, penalty, ridge, scale, k)
    return status, na, rounds, max(gap, 0.0), violation, rr


@njit(cache=True, nogil=True)
def _duality_gap(rr, ry, penalised, lam, top):
    """Return the duality gap from |r|^2, r.y, the penalty and max |gradient| / penalty weight.

    Without a penalty there is no dual point to be had so cheaply: |w . gradient| stands in.
    """
    if lam <= 0.0:
        return abs(ry - rr)
    scale = 1.0 if top <= lam else lam / top
    primal = 0.5 * rr + penalised
    dual = scale * ry - 0.5 * scale * scale * rr
    return max(primal - dual, 0.0)


@njit(cache=True, nogil=True)
def _logistic(space, m, k, penalty, ridge, c, y, n_rows, intercept, unit, tol, max_iter, residual):
    """Solve as `_linear` does, for the logistic loss; `residual` becomes the weighted residual."""
    w, q = space.w[m], space.q[m]
    constant = k > 0 and space.which[m, 0] == intercept
    gap, steps = newton(
        space.columns[m], space.gram[m], space.factor[m], space.b[m], w, q, space.order[m],
        c, y, n_rows, k, constant, penalty, ridge, 0.1 * tol * unit, max_iter, residual,
    )  # fmt: skip
    violation, rr = 0.0, 0.0
    for i in range(k):
        violation = max(violation, _distance(q[i], w[i], penalty[i]))
    for i in range(n_rows):
        rr += residual[i] * residual[i] / c[i]
    return steps, gap, violation, rr


@njit(cache=True, nogil=True)
def _distance(q, w, penalty):
    """Return how far the gradient of a column is from where it should be, given its coefficient."""
    if w != 0.0:
        return abs(q - penalty) if w > 0.0 else abs(q + penalty)
    return abs(q) - penalty
