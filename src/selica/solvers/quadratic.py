r"""The small problem of one member: a lasso given by a Gram matrix.

An elastic net is a lasso with the rows :math:`\sqrt{\lambda_2} I` appended to its design: here the
ridge is on the diagonal of the Gram matrix.

A member solves, over its working set of k variables,

.. math:: \min_w \tfrac12 w^\top G w - b^\top w + \sum_j \lambda_j |w_j|,
          \qquad G = X_W^\top C X_W, \quad b = X_W^\top C y .

`solve_active_set` is feature-sign search: on the active set with fixed signs the minimiser is a
linear system, kept as a Cholesky factor that grows by a row when a variable enters and is rotated
back to a triangle when one leaves. A step that would change a sign stops at zero and drops the
variable; a variable whose gradient exceeds its penalty enters. The objective falls at every step,
so it ends, and its answer is exact to rounding. `solve_coordinate_descent` is the slow and sure way
for degenerate cases.

G and its factor L are lower triangles, packed row by row: row i begins at i (i + 1) / 2, so that
they grow without being moved. The diagonal of L holds inverses: a division would wait for the one
before it.
"""

from __future__ import annotations

import numpy as np

from selica._core.compiled import njit

# A column whose part outside the span of the active ones is below this share is dependent.
DEPENDENT = 1e-10

# A gradient may exceed its penalty by this share before its variable enters: far below any gap.
ENTRY = 1e-12

# Gradients of active variables may miss their penalty by this share of the largest before the
# factor, which has been updated many times, is built anew.
_STALE = 1e-12

# Products of a scale and a gradient may exceed a penalty by this share, by rounding.
_ROUNDING = 1e-14

OK = 0
"""A problem was solved."""
FAILED = 1
"""It was not."""


@njit(cache=True, fastmath=True, nogil=True)
def dot(a, at, b, m):
    """Sum a[at + i] b[i] over the first m entries.

    Unsigned indices: a negative one would have to be wrapped around, which stops vector code.
    """
    total = 0.0
    begin = np.uint64(at)
    for i in range(np.uint64(m)):
        total += a[begin + i] * b[i]
    return total


@njit(cache=True, fastmath=True, nogil=True)
def axpy(scale, a, at, b, m):
    """Add scale * a[at + i] to b[i] for the first m entries."""
    begin = np.uint64(at)
    for i in range(np.uint64(m)):
        b[i] += scale * a[begin + i]


@njit(cache=True, nogil=True, inline="always")
def _entry(G, i, j):
    """Return G[i, j] of a packed symmetric matrix."""
    return G[i * (i + 1) // 2 + j] if i >= j else G[j * (j + 1) // 2 + i]


@njit(cache=True, nogil=True)
def _factor_row(G, order, L, row, line):
    """Write a row of the Cholesky factor of G[order, order]; return False if it is dependent."""
    j = order[row]
    for i in range(row):
        line[i] = _entry(G, j, order[i])
    at = 0
    for i in range(row):
        line[i] = (line[i] - dot(L, at, line, i)) * L[at + i]
        at += i + 1
    own = _entry(G, j, j)
    rest = own - dot(line, 0, line, row)
    if rest <= DEPENDENT * own:
        return False
    L[at : at + row] = line[:row]
    L[at + row] = 1.0 / np.sqrt(rest)
    return True


@njit(cache=True, nogil=True)
def _forward(L, rhs, m):
    """Solve L x = rhs in place."""
    at = 0
    for i in range(m):
        rhs[i] = (rhs[i] - dot(L, at, rhs, i)) * L[at + i]
        at += i + 1


@njit(cache=True, nogil=True)
def _backward(L, rhs, m):
    """Solve L' x = rhs in place."""
    at = m * (m + 1) // 2
    for i in range(m - 1, -1, -1):
        at -= i + 1
        rhs[i] *= L[at + i]
        axpy(-rhs[i], L, at, rhs, i)


@njit(cache=True, nogil=True)
def _drop(order, sign, na, L, half, gone, line, cosine, sine):
    """Take active variable number `gone` out of the factor and of half = L^{-1} rhs.

    Without its row the factor has one entry above the diagonal in each later row; rotations of
    neighbouring columns remove them, and turn `half` with them.
    """
    for row in range(gone, na - 1):
        old = (row + 1) * (row + 2) // 2
        line[: row + 2] = L[old : old + row + 2]
        line[row + 1] = 1.0 / line[row + 1]
        left = line[gone]
        for i in range(gone, row):
            right = line[i + 1]
            line[i] = cosine[i] * left + sine[i] * right
            left = cosine[i] * right - sine[i] * left
        right = line[row + 1]
        length = np.hypot(left, right)
        cosine[row], sine[row] = left / length, right / length
        line[row] = 1.0 / length
        new = row * (row + 1) // 2
        L[new : new + row + 1] = line[: row + 1]
        left, right = half[row], half[row + 1]
        half[row] = cosine[row] * left + sine[row] * right
        half[row + 1] = cosine[row] * right - sine[row] * left
        order[row], sign[row] = order[row + 1], sign[row + 1]


@njit(cache=True, nogil=True)
def gradient_on(G, b, w, q, k):
    """Write q = b - G w on the working set."""
    at = 0
    for i in range(k):
        q[i] = b[i] - dot(G, at, w, i) - G[at + i] * w[i]
        if w[i] != 0.0:
            axpy(-w[i], G, at, q, i)
        at += i + 1


@njit(cache=True, nogil=True)
def _gradient_outside(G, b, w, q, k):
    """Write q = b - G w where w is zero; elsewhere q is left undefined."""
    at = 0
    for i in range(k):
        if w[i] != 0.0:
            axpy(-w[i], G, at, q, i)
        else:
            q[i] = b[i] - dot(G, at, w, i)
        at += i + 1


@njit(cache=True, nogil=True)
def _half_solved(b, penalty, order, sign, na, L, half):
    """Write half = L^{-1} (b - penalty * sign) on the active set."""
    for i in range(na):
        j = order[i]
        half[i] = b[j] - penalty[j] * sign[i]
    _forward(L, half, na)


@njit(cache=True, nogil=True)
def _enter(G, b, penalty, order, sign, na, L, half, line, j, towards):
    """Add variable j with the sign `towards`; return False if it depends on the active ones."""
    order[na] = j
    if not _factor_row(G, order, L, na, line):
        return False
    sign[na] = 1.0 if towards > 0.0 else -1.0
    at = na * (na + 1) // 2
    half[na] = (b[j] - penalty[j] * sign[na] - dot(L, at, half, na)) * L[at + na]
    return True


@njit(cache=True, nogil=True)
def _exchange(G, b, penalty, w, q, order, sign, na, L, half, z, line, cosine, sine, j):
    """Bring in a column that depends on the active ones; return whether that was possible.

    With x_j = X_A v the fit does not change along (w_A, w_j) -> (w_A - t s v, t s); since the
    gradient of j exceeds its penalty, the penalty paid falls until an active variable reaches
    zero. That one leaves, j takes its place.
    """
    for i in range(na):
        z[i] = _entry(G, j, order[i])
    _forward(L, z, na)
    _backward(L, z, na)
    towards = 1.0 if q[j] > 0.0 else -1.0
    step, hit = np.inf, -1
    for i in range(na):
        move = -towards * z[i]
        value = w[order[i]]
        if move * value < 0.0 and -value / move < step:
            step, hit = -value / move, i
    if hit < 0:
        return False
    for i in range(na):
        w[order[i]] -= step * towards * z[i]
    w[order[hit]] = 0.0
    w[j] = step * towards
    _drop(order, sign, na, L, half, hit, line, cosine, sine)
    return _enter(G, b, penalty, order, sign, na - 1, L, half, line, j, towards)


@njit(cache=True, nogil=True)
def solve_active_set(G, b, penalty, k, w, order, na, L, q, max_rounds):
    """Run a feature-sign search from the current state; return (status, na, rounds).

    State: w (k,), order[:na] the active variables, L their Cholesky factor, q = b - G w, which is
    up to date again on return.
    """
    scratch = np.empty((6, k + 1))
    sign, half, z = scratch[0], scratch[1], scratch[2]
    line, cosine, sine = scratch[3], scratch[4], scratch[5]
    blocked = np.zeros(k, dtype=np.bool_)
    largest = 0.0
    for j in range(k):
        largest = max(largest, abs(b[j]))
    for i in range(na):
        sign[i] = 1.0 if w[order[i]] > 0.0 else -1.0
    _half_solved(b, penalty, order, sign, na, L, half)
    renewed = False
    for rounds in range(max_rounds):
        for i in range(na):
            z[i] = half[i]
        _backward(L, z, na)
        step = 1.0
        hit = -1
        for i in range(na):
            if z[i] * sign[i] <= 0.0:
                value = w[order[i]]
                reach = value / (value - z[i]) if value != z[i] else 0.0
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
                blocked[:] = False
            else:
                blocked[gone] = True
            _drop(order, sign, na, L, half, hit, line, cosine, sine)
            na -= 1
            continue
        for i in range(na):
            w[order[i]] = z[i]
        _gradient_outside(G, b, w, q, k)
        entered = 0
        # a variable can be blocked wrongly only if nothing moved since; it is tried when no other
        # is left
        for again in range(2):
            for j in range(k):
                if w[j] != 0.0 or abs(q[j]) <= penalty[j] * (1.0 + ENTRY):
                    continue
                if blocked[j] != (again == 1):
                    continue
                if _enter(G, b, penalty, order, sign, na, L, half, line, j, q[j]):
                    na += 1
                    entered += 1
                    if again == 1:
                        blocked[:] = False
                        break
                elif entered == 0:
                    if not _exchange(
                        G, b, penalty, w, q, order, sign, na, L, half, z, line, cosine, sine, j
                    ):
                        return FAILED, 0, rounds
                    entered += 1
                    break  # the gradient has to be seen anew
            if entered > 0:
                break
        if entered > 0:
            continue
        gradient_on(G, b, w, q, k)
        violation = 0.0
        for i in range(na):
            j = order[i]
            violation = max(violation, abs(q[j] - penalty[j] * sign[i]))
        if renewed or violation <= _STALE * largest:
            return OK, na, rounds + 1
        renewed = True
        for i in range(na):
            if not _factor_row(G, order, L, i, line):
                return FAILED, 0, rounds
        _half_solved(b, penalty, order, sign, na, L, half)
    return FAILED, 0, max_rounds


@njit(cache=True, nogil=True)
def solve_coordinate_descent(G, b, penalty, k, w, q, tol, max_epochs):
    """Run cyclic coordinate descent until no coordinate moves; return (status, epochs).

    Stops when the largest change of a coordinate's contribution, in units of the largest
    gradient, is below tol.
    """
    gradient_on(G, b, w, q, k)
    scale = 0.0
    for j in range(k):
        scale = max(scale, abs(b[j]))
    if scale == 0.0:
        return OK, 0
    for epoch in range(max_epochs):
        largest = 0.0
        for j in range(k):
            at = j * (j + 1) // 2
            own = G[at + j]
            if own <= 0.0:
                continue
            pull = q[j] + own * w[j]
            new = 0.0
            if pull > penalty[j]:
                new = (pull - penalty[j]) / own
            elif pull < -penalty[j]:
                new = (pull + penalty[j]) / own
            change = new - w[j]
            if change != 0.0:
                w[j] = new
                axpy(-change, G, at, q, j + 1)
                for i in range(j + 1, k):
                    q[i] -= change * G[i * (i + 1) // 2 + j]
                largest = max(largest, abs(change) * own)
        if largest <= tol * scale:
            gradient_on(G, b, w, q, k)
            return OK, epoch + 1
    gradient_on(G, b, w, q, k)
    return FAILED, max_epochs


@njit(cache=True, nogil=True)
def factorise(G, k, w, order, L, strict):
    """Write the factor of the variables with w != 0; return their number, or -1 if dependent.

    Unless `strict`, dependent ones are set to zero instead: they may come back by an exchange.
    """
    line = np.empty(k + 1)
    na = 0
    for j in range(k):
        if w[j] != 0.0:
            order[na] = j
            if _factor_row(G, order, L, na, line):
                na += 1
            elif strict:
                return -1
            else:
                w[j] = 0.0
    return na


@njit(cache=True, nogil=True)
def solve_one(G, b, penalty, k, w, order, na, L, q, tol, max_epochs):
    """Solve by active set, or coordinate descent if it fails; return (status, na, iterations).

    na is -1 where the active columns are dependent and have no factor.
    """
    if na < 0:
        na = factorise(G, k, w, order, L, False)
        gradient_on(G, b, w, q, k)
    status, count, rounds = solve_active_set(G, b, penalty, k, w, order, na, L, q, 20 + 4 * k)
    if status == OK:
        return OK, count, rounds
    status, epochs = solve_coordinate_descent(G, b, penalty, k, w, q, tol, max_epochs)
    return status, factorise(G, k, w, order, L, True), rounds + epochs


@njit(cache=True, nogil=True)
def ridge_conjugate(q, w, penalty, ridge, scale, size):
    r"""Return what ridges add to minus the dual objective at `scale` times the residual.

    The conjugate of :math:`\lambda_j |w| + \tfrac12 \kappa_j w^2` at the gradient g of the loss is
    :math:`(|g| - \lambda_j)_+^2 / 2 \kappa_j`, finite everywhere: with a ridge every residual is a
    dual point. q = g - ridge * w is the gradient of loss and ridge together. Where scale * q is
    within the penalty the conjugate is at most :math:`\kappa_j (s w_j)^2 / 2`, which is free of the
    rounding that a tiny ridge magnifies.
    """
    total = 0.0
    for j in range(size):
        if ridge[j] > 0.0:
            over = max(scale * abs(q[j] + ridge[j] * w[j]) - penalty[j], 0.0)
            value = 0.5 * over * over / ridge[j]
            if scale * abs(q[j]) <= penalty[j] * (1.0 + _ROUNDING):
                value = min(value, 0.5 * ridge[j] * (scale * w[j]) ** 2)
            total += value
    return total
