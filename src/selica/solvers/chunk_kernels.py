"""Compiled steps that all members of a chunk take together, one member a thread."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from selica.solvers.quadratic import axpy, dot, duality_gap, gradient_on, solve_one

# Members whose gradients are computed by one matrix product: a fixed number, so that results do
# not depend on the number of threads.
BLOCK = 32


@njit(cache=True, nogil=True, parallel=True)
def gradients(members, R, X, own, out):
    """Gradients of the listed members: R @ X in blocks, the one product that is shared.

    `own` (B, p_own, n) holds further columns that belong to each member alone.
    """
    p = X.shape[1]
    blocks = (members.size + BLOCK - 1) // BLOCK
    for t in prange(blocks):
        start, stop = t * BLOCK, min((t + 1) * BLOCK, members.size)
        block = np.dot(R[members[start:stop]], X)
        for i in range(start, stop):
            out[members[i], :p] = block[i - start]
    if own.shape[1] > 0:
        for i in prange(members.size):
            m = members[i]
            out[m, p:] = np.dot(own[m], R[m])


@njit(cache=True, nogil=True)
def _admit(XT, own, rows, root, shift, nb, ys, XW, G, b, W, k, slot, new):
    """Appends columns to a member's working set; returns its new size.

    XW holds columns scaled by the root of the weights and centred by `shift`, zero beyond the nb
    rows of positive weight.
    """
    count = new.size
    width = XW.shape[1]
    for c in range(count):
        j = new[c]
        line = XW[k + c]
        column = XT[j] if j < XT.shape[0] else own[j - XT.shape[0]]
        for i in range(nb):
            line[i] = root[i] * (column[rows[i]] - shift[j])
        for i in range(nb, width):
            line[i] = 0.0
        W[k + c] = j
        slot[j] = k + c
        b[k + c] = dot(line, ys, nb)
    total = k + count
    if count * total > 64:
        block = np.dot(XW[k:total], XW[:total].T)
        for c in range(count):
            for i in range(total):
                G[k + c, i] = block[c, i]
                G[i, k + c] = block[c, i]
    else:
        for c in range(count):
            for i in range(total):
                value = dot(XW[k + c], XW[i], nb)
                G[k + c, i] = value
                G[i, k + c] = value
    return total


@njit(cache=True, nogil=True)
def _compact(XW, G, b, W, k, slot, w, order, na, L, keep_bar, gradient, factor):
    """Drops inactive columns whose gradient is below the bar; active ones stay in order."""
    place = np.full(k, -1, dtype=np.int64)
    size = 0
    for i in range(k):
        j = W[i]
        if w[i] != 0.0 or abs(gradient[j]) >= keep_bar * factor[j]:
            place[i] = size
            size += 1
        else:
            slot[j] = -1
    if size == k:
        return k
    for i in range(k):
        t = place[i]
        if t < 0 or t == i:
            continue
        XW[t] = XW[i]
        b[t], w[t], W[t] = b[i], w[i], W[i]
        slot[W[t]] = t
    for i in range(k):
        if place[i] < 0:
            continue
        for j in range(k):
            if place[j] >= 0:
                G[place[i], place[j]] = G[i, j]
    for i in range(size, k):
        w[i] = 0.0
    for i in range(max(na, 0)):
        order[i] = place[order[i]]
    return size


@njit(cache=True, nogil=True)
def _candidates(gradient, factor, slot, bar):
    count = 0
    for j in range(gradient.size):
        if slot[j] < 0 and gradient[j] != 0.0 and abs(gradient[j]) >= bar * factor[j]:
            count += 1
    new = np.empty(count, dtype=np.int64)
    c = 0
    for j in range(gradient.size):
        if slot[j] < 0 and gradient[j] != 0.0 and abs(gradient[j]) >= bar * factor[j]:
            new[c] = j
            c += 1
    return new


@njit(cache=True, nogil=True, parallel=True)
def advance(
    members, XT, own, rows, root, shift, nb, ys, gradient, bar, lam, factor,
    XW, G, b, W, k, slot, w, order, na, L, q, tol, max_epochs, fresh,
    R, residual, loss, iterations, status, short,
):  # fmt: skip
    """One penalty for the listed members: admit candidates, solve, leave the weighted residual.

    Columns outside the working set with |gradient| >= bar * factor are admitted (`fresh`: the
    first call at a penalty, when the best of too many will do). Where they do not fit even after
    columns without prospects have left, `short` says how many places are missing and the member
    is left as it was. residual[m] is that of the scaled rows, R[m] = weight * residual over all
    rows, and loss[m] = (|r|^2, r.y, penalty paid).
    """
    for position in prange(members.size):
        m = members[position]
        new = _candidates(gradient[m], factor[m], slot[m], bar[m])
        if k[m] + new.size > W.shape[1]:
            k[m] = _compact(
                XW[m], G[m], b[m], W[m], k[m], slot[m], w[m], order[m], na[m], L[m],
                bar[m], gradient[m], factor[m],
            )  # fmt: skip
        room = W.shape[1] - k[m]
        if fresh and new.size > room and room >= 16:
            strength = np.empty(new.size)
            for c in range(new.size):
                strength[c] = -abs(gradient[m, new[c]]) / factor[m, new[c]]
            new = new[np.argsort(strength)[:room]]
        short[m] = max(0, new.size - room)
        if short[m] > 0:
            continue
        if new.size > 0:
            k[m] = _admit(
                XT, own[m], rows[m], root[m], shift[m], nb[m], ys[m], XW[m], G[m], b[m], W[m], k[m],
                slot[m], new,
            )  # fmt: skip
        size = k[m]
        penalty = np.empty(size)
        for i in range(size):
            penalty[i] = lam[m] * factor[m, W[m, i]]
        z = np.empty(size + 1)
        blocked = np.zeros(size, dtype=np.bool_)
        if na[m] < 0:  # the last factor was degenerate
            na[m] = 0
            for i in range(size):
                w[m, i] = 0.0
        gradient_on(G[m], b[m], w[m], order[m], na[m], q[m], size)
        status[m], na[m], used = solve_one(
            G[m], b[m], penalty, size, w[m], order[m], na[m], L[m], q[m], z, blocked, tol,
            max_epochs,
        )  # fmt: skip
        iterations[m] += used
        count = nb[m]
        left = residual[m]
        for i in range(count):
            left[i] = ys[m, i]
        paid = 0.0
        for i in range(size):
            if w[m, i] != 0.0:
                axpy(-w[m, i], XW[m, i], left, count)
                paid += penalty[i] * abs(w[m, i])
        loss[m, 0] = dot(left, left, count)
        loss[m, 1] = dot(left, ys[m], count)
        loss[m, 2] = paid
        for i in range(count):
            R[m, rows[m, i]] = root[m, i] * left[i]


@njit(cache=True, nogil=True, parallel=True)
def judge_by_bound(
    members, known, anchor, residual, nb, norm, lam, bar, factor, slot, w, W, k, q, loss, yy,
    gap, kkt, unsure,
):  # fmt: skip
    """Optimality without new gradients, where an inequality is enough.

    `known` are gradients at an earlier residual `anchor`; by Cauchy and Schwarz a gradient has
    moved by at most norm_j |residual - anchor|. If no column outside the working set can have
    reached the bar of the next penalty, the answer is certified and no candidate is missed;
    otherwise `unsure` asks for the product.
    """
    p = known.shape[1]
    for position in prange(members.size):
        m = members[position]
        move = 0.0
        for i in range(nb[m]):
            step = residual[m, i] - anchor[m, i]
            move += step * step
        move = np.sqrt(move) * (1.0 + 1e-9)
        least = min(bar[m], lam[m])
        unsure[m] = False
        for j in range(p):
            if slot[m, j] < 0 and abs(known[m, j]) + norm[m, j] * move >= least * factor[m, j]:
                unsure[m] = True
                break
        if unsure[m]:
            continue
        top, off = 0.0, 0.0
        for i in range(k[m]):
            weight = factor[m, W[m, i]]
            size = abs(q[m, i])
            if weight > 0.0:
                top = max(top, size / weight)
            if w[m, i] != 0.0:
                sign = 1.0 if w[m, i] > 0.0 else -1.0
                off = max(off, abs(q[m, i] - sign * lam[m] * weight))
            else:
                off = max(off, size - lam[m] * weight)
        kkt[m] = off
        value = duality_gap(loss[m, 0], loss[m, 1], loss[m, 2], lam[m], top)
        gap[m] = value / max(0.5 * yy[m], 1e-300)


@njit(cache=True, nogil=True, parallel=True)
def judge(members, gradient, lam, factor, slot, w, loss, yy, gap, kkt, missed):
    """Optimality over all variables: relative duality gap, KKT violation, columns left out."""
    p = gradient.shape[1]
    for position in prange(members.size):
        m = members[position]
        top, off = 0.0, 0.0
        count = 0
        for j in range(p):
            size = abs(gradient[m, j])
            if factor[m, j] > 0.0:
                top = max(top, size / factor[m, j])
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
        value = duality_gap(loss[m, 0], loss[m, 1], loss[m, 2], lam[m], top)
        gap[m] = value / max(0.5 * yy[m], 1e-300)


@njit(cache=True, nogil=True)
def collect(members, index, w, W, k, lam, coef, counts, total, square, entry, n_active):
    """Adds the solutions at one penalty to what is kept; an array of size zero is not wanted."""
    for position in range(members.size):
        m = members[position]
        active = 0
        for i in range(k[m]):
            value = w[m, i]
            if value == 0.0:
                continue
            active += 1
            j = W[m, i]
            if coef.size > 0:
                coef[m, index, j] = value
            if counts.size > 0:
                counts[index, j] += 1
            if total.size > 0:
                total[index, j] += value
                square[index, j] += value * value
            if entry.size > 0 and entry[m, j] == 0.0:
                entry[m, j] = lam[m]
        n_active[m, index] = active
