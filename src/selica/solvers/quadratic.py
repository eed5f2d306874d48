r"""The small problem of one member: a lasso given by a Gram matrix.

A member solves, over its working set of k variables,

.. math:: \min_w \tfrac12 w^\top G w - b^\top w + \sum_j \lambda_j |w_j|,
          \qquad G = X_W^\top C X_W, \quad b = X_W^\top C y .

`solve_active_set` is feature-sign search: on the active set with fixed signs the minimiser is a
linear system, kept as a Cholesky factor that grows by a row when a variable enters. A step that
would change a sign stops at zero and drops the variable; a variable whose gradient exceeds its
penalty enters. The objective falls at every step, so it ends, and its answer is exact to rounding.
`solve_coordinate_descent` is the slow and sure way for degenerate cases (duplicated columns).
"""

from __future__ import annotations

import numpy as np
from numba import njit

# A column whose part outside the span of the active ones is below this share is dependent.
DEPENDENT = 1e-10

# A gradient may exceed its penalty by this share before its variable enters: far below any gap.
ENTRY = 1e-12

OK, FAILED = 0, 1


@njit(cache=True, fastmath=True, nogil=True)
def dot(a, b, m):
    """Sum of a[i] b[i] over the first m entries."""
    total = 0.0
    for i in range(m):
        total += a[i] * b[i]
    return total


@njit(cache=True, fastmath=True, nogil=True)
def axpy(scale, a, b, m):
    """b += scale * a."""
    for i in range(m):
        b[i] += scale * a[i]


@njit(cache=True, nogil=True)
def _factor_row(G, order, L, row):
    """Row `row` of the Cholesky factor of G[order, order]; False if it is dependent."""
    j = order[row]
    line = L[row]
    for i in range(row):
        line[i] = (G[j, order[i]] - dot(L[i], line, i)) / L[i, i]
    left = G[j, j] - dot(line, line, row)
    if left <= DEPENDENT * G[j, j]:
        return False
    line[row] = np.sqrt(left)
    return True


@njit(cache=True, nogil=True)
def _solve_factored(L, rhs, m):
    """rhs <- (L L')^{-1} rhs."""
    for i in range(m):
        rhs[i] = (rhs[i] - dot(L[i], rhs, i)) / L[i, i]
    for i in range(m - 1, -1, -1):
        rhs[i] /= L[i, i]
        axpy(-rhs[i], L[i], rhs, i)


@njit(cache=True, nogil=True)
def _exchange(G, w, q, order, na, L, z, j):
    """Brings in a column that depends on the active ones; returns the new na, or -1.

    With x_j = X_A v the fit does not change along (w_A, w_j) -> (w_A - t s v, t s); since the
    gradient of j exceeds its penalty, the penalty paid falls until an active variable reaches
    zero. That one leaves, j takes its place.
    """
    for i in range(na):
        z[i] = G[j, order[i]]
    _solve_factored(L, z, na)
    sign = 1.0 if q[j] > 0.0 else -1.0
    step, hit = np.inf, -1
    for i in range(na):
        move = -sign * z[i]
        value = w[order[i]]
        if move * value < 0.0 and -value / move < step:
            step, hit = -value / move, i
    if hit < 0:
        return -1
    for i in range(na):
        w[order[i]] -= step * sign * z[i]
    w[order[hit]] = 0.0
    w[j] = step * sign
    for i in range(hit, na - 1):
        order[i] = order[i + 1]
    order[na - 1] = j
    for i in range(hit, na):
        if not _factor_row(G, order, L, i):
            return -1
    return na


@njit(cache=True, nogil=True)
def gradient_on(G, b, w, order, na, q, k):
    """q = b - G w on the working set."""
    for i in range(k):
        q[i] = b[i]
    for i in range(na):
        j = order[i]
        axpy(-w[j], G[j], q, k)


@njit(cache=True, nogil=True)
def solve_active_set(G, b, penalty, k, w, order, na, L, q, z, blocked, tol, max_rounds):
    """Feature-sign search from the current state; returns (status, na, rounds).

    State: w (k,), order[:na] the active variables, L their Cholesky factor. On return q = b - G w.
    """
    for j in range(k):
        blocked[j] = False
    for rounds in range(max_rounds):
        # minimiser on the active set with the present signs; an entering variable has w = 0 and
        # takes the sign of its gradient, kept in q
        for i in range(na):
            j = order[i]
            sign = np.sign(w[j]) if w[j] != 0.0 else np.sign(q[j])
            z[i] = b[j] - penalty[j] * sign
        _solve_factored(L, z, na)
        step = 1.0
        hit = -1
        for i in range(na):
            j = order[i]
            sign = np.sign(w[j]) if w[j] != 0.0 else np.sign(q[j])
            if z[i] * sign <= 0.0:
                reach = w[j] / (w[j] - z[i]) if w[j] != z[i] else 0.0
                if reach < step:
                    step = reach
                    hit = i
        if hit >= 0:
            for i in range(na):
                j = order[i]
                w[j] += step * (z[i] - w[j])
            gone = order[hit]
            w[gone] = 0.0
            if step > 0.0:
                for j in range(k):
                    blocked[j] = False
            else:
                blocked[gone] = True
            for i in range(hit, na - 1):
                order[i] = order[i + 1]
            na -= 1
            for i in range(hit, na):
                if not _factor_row(G, order, L, i):
                    return FAILED, na, rounds
            # variables that entered together with w = 0 keep the sign of their old gradient
            continue
        for i in range(na):
            w[order[i]] = z[i]
        gradient_on(G, b, w, order, na, q, k)
        entered = 0
        for j in range(k):
            if w[j] == 0.0 and not blocked[j] and abs(q[j]) > penalty[j] * (1.0 + tol):
                order[na] = j
                if _factor_row(G, order, L, na):
                    na += 1
                    entered += 1
                elif entered == 0:
                    na = _exchange(G, w, q, order, na, L, z, j)
                    if na < 0:
                        return FAILED, 0, rounds
                    entered += 1
                    break  # the gradient has to be seen anew
        if entered == 0:
            # a variable can be blocked wrongly only if nothing moved since; then try it alone
            worst, which = 0.0, -1
            for j in range(k):
                if blocked[j] and abs(q[j]) > penalty[j] * (1.0 + tol):
                    excess = abs(q[j]) / max(penalty[j], 1e-300)
                    if excess > worst:
                        worst, which = excess, j
            if which < 0:
                return OK, na, rounds + 1
            for j in range(k):
                blocked[j] = False
            order[na] = which
            if _factor_row(G, order, L, na):
                na += 1
            else:
                na = _exchange(G, w, q, order, na, L, z, which)
                if na < 0:
                    return FAILED, 0, rounds
    return FAILED, na, max_rounds


@njit(cache=True, nogil=True)
def solve_coordinate_descent(G, b, penalty, k, w, q, tol, max_epochs):
    """Cyclic coordinate descent until no coordinate moves; returns (status, epochs).

    Stops when the largest change of a coordinate's contribution, in units of its penalty or of
    the largest gradient, is below tol.
    """
    for i in range(k):
        q[i] = b[i]
    scale = 0.0
    for j in range(k):
        scale = max(scale, abs(b[j]))
        if w[j] != 0.0:
            axpy(-w[j], G[j], q, k)
    if scale == 0.0:
        return OK, 0
    for epoch in range(max_epochs):
        largest = 0.0
        for j in range(k):
            if G[j, j] <= 0.0:
                continue
            pull = q[j] + G[j, j] * w[j]
            new = 0.0
            if pull > penalty[j]:
                new = (pull - penalty[j]) / G[j, j]
            elif pull < -penalty[j]:
                new = (pull + penalty[j]) / G[j, j]
            change = new - w[j]
            if change != 0.0:
                w[j] = new
                axpy(-change, G[j], q, k)
                largest = max(largest, abs(change) * G[j, j])
        if largest <= tol * scale:
            return OK, epoch + 1
    return FAILED, max_epochs


@njit(cache=True, nogil=True)
def solve_one(G, b, penalty, k, w, order, na, L, q, z, blocked, tol, max_epochs):
    """Active set, and coordinate descent where it fails; returns (status, na, iterations)."""
    status, count, rounds = solve_active_set(
        G, b, penalty, k, w, order, na, L, q, z, blocked, ENTRY, 20 + 4 * k
    )
    if status == OK:
        return OK, count, rounds
    # degenerate Gram matrix: coordinate descent, then the factor is built anew where possible
    status, epochs = solve_coordinate_descent(G, b, penalty, k, w, q, tol, max_epochs)
    count = 0
    for j in range(k):
        if w[j] != 0.0:
            order[count] = j
            if not _factor_row(G, order, L, count):
                # keep the solution; the next penalty starts from coordinate descent again
                return status, -1, rounds + epochs
            count += 1
    return status, count, rounds + epochs


@njit(cache=True, nogil=True)
def solve_from(G, b, penalty, k, w, tol, max_epochs):
    """Solves from scratch, with w as the start; returns the status."""
    order = np.zeros(k + 1, dtype=np.int64)
    L = np.zeros((k + 1, k + 1))
    q, z = np.empty(k), np.empty(k + 1)
    blocked = np.zeros(k, dtype=np.bool_)
    na = 0
    for j in range(k):
        if w[j] != 0.0:
            order[na] = j
            if _factor_row(G, order, L, na):
                na += 1
            else:
                w[j] = 0.0  # depends on columns already in: it may come back by an exchange
    gradient_on(G, b, w, order, na, q, k)
    status, _, _ = solve_one(G, b, penalty, k, w, order, na, L, q, z, blocked, tol, max_epochs)
    return status


@njit(cache=True, nogil=True)
def duality_gap(rr, ry, penalised, lam, top):
    """Duality gap from |r|^2, r.y, the penalty paid, and max |gradient| / penalty weight.

    Without a penalty there is no dual point to be had so cheaply: |w . gradient| stands in.
    """
    if lam <= 0.0:
        return abs(ry - rr)
    scale = 1.0 if top <= lam else lam / top
    primal = 0.5 * rr + penalised
    dual = scale * ry - 0.5 * scale * scale * rr
    return max(primal - dual, 0.0)
