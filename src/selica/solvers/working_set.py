"""The columns a member works with: how they come in, leave, and what they say of the fit.

Every member of a chunk owns a row of the arrays of a `Space`: the columns of its working set,
scaled by the roots of the row weights, their Gram matrix, and the coefficients. Gram matrices and
factors are packed triangles (see `quadratic`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.compiled import njit
from selica._core.types import Array, IntArray
from selica.solvers.quadratic import axpy, dot

# Numbers in a block of rows that is meant to stay in the cache of a core.
_CACHED = 24_000


class Space(NamedTuple):
    """Working sets of the members of a chunk, with room for `w.shape[1]` columns each."""

    columns: Array
    """(B, K, rows): columns scaled by the root of the weights, centred where there is an intercept;
    only rows of positive weight."""
    gram: Array
    """(B, K (K + 1) / 2)"""
    factor: Array
    """(B, K (K + 1) / 2): Cholesky factors of the active columns."""
    square: Array
    """(B, K): squared lengths of the columns: the diagonal of `gram` without a ridge."""
    b: Array
    """(B, K): products of the columns with the response."""
    w: Array
    """(B, K): coefficients."""
    q: Array
    """(B, K): gradients of the loss, without that of a ridge."""
    which: IntArray
    """(B, K): numbers of the columns in the design."""
    order: IntArray
    """(B, K): the active ones, in the order of the factor."""
    old_w: Array
    """(B, 2, K): coefficients where gradients of all columns were computed last."""
    old_q: Array
    """(B, 2, K): the gradients there."""


@njit(cache=True, nogil=True)
def make_space(members, rows, capacity):
    """Make an empty space; memory is touched when it is used."""
    packed = capacity * (capacity + 1) // 2
    return Space(
        columns=np.empty((members, capacity, rows)),
        gram=np.empty((members, packed)),
        factor=np.empty((members, packed)),
        square=np.empty((members, capacity)),
        b=np.empty((members, capacity)),
        w=np.zeros((members, capacity)),
        q=np.empty((members, capacity)),
        which=np.empty((members, capacity), dtype=np.int64),
        order=np.empty((members, capacity), dtype=np.int64),
        old_w=np.empty((members, 2, capacity)),
        old_q=np.empty((members, 2, capacity)),
    )


@njit(cache=True, nogil=True)
def grown(space, k, na, capacity):
    """Return a larger space with the same contents."""
    members, _, rows = space.columns.shape
    new = make_space(members, rows, capacity)
    for m in range(members):
        size = k[m]
        packed = size * (size + 1) // 2
        new.columns[m, :size] = space.columns[m, :size]
        new.gram[m, :packed] = space.gram[m, :packed]
        count = max(na[m], 0)
        packed = count * (count + 1) // 2
        new.factor[m, :packed] = space.factor[m, :packed]
        new.order[m, :count] = space.order[m, :count]
        new.square[m, :size] = space.square[m, :size]
        new.b[m, :size] = space.b[m, :size]
        new.w[m, :size] = space.w[m, :size]
        new.q[m, :size] = space.q[m, :size]
        new.which[m, :size] = space.which[m, :size]
        new.old_w[m, :, :size] = space.old_w[m, :, :size]
        new.old_q[m, :, :size] = space.old_q[m, :, :size]
    return new


@njit(cache=True, nogil=True)
def positive_rows(weights, most):
    """Return indices and weights of the rows that count, padded to `most`, and their number."""
    members, n = weights.shape
    rows = np.zeros((members, most), dtype=np.uint32)
    weight = np.zeros((members, most))
    n_rows = np.zeros(members, dtype=np.int64)
    for m in range(members):
        count = 0
        for i in range(n):
            if weights[m, i] > 0.0:
                rows[m, count] = i
                weight[m, count] = weights[m, i]
                count += 1
        n_rows[m] = count
    return rows, weight, n_rows


@njit(cache=True, fastmath={"reassoc", "contract"}, nogil=True)
def take_columns(X, weights, centred, columns, screen, mean, square):
    """Write X (n, p) to columns (p, n) and, centred if need be, to screen.

    mean and square become the weighted means (zero unless `centred`) and sums of squares about
    them; these are finite only if X is.
    """
    n, p = X.shape
    total = max(np.sum(weights), 1e-300)
    for first in range(0, p, 16):
        last = min(first + 16, p)
        for i in range(n):
            for j in range(first, last):
                columns[j, i] = X[i, j]
        for j in range(first, last):
            line, low = columns[j], screen[j]
            away = 0.0
            if centred:
                away = dot(line, 0, weights, n) / total
            size = 0.0
            for i in range(np.uint64(n)):
                value = line[i] - away
                low[i] = value
                size += weights[i] * value * value
            mean[j], square[j] = away, size


@njit(cache=True, fastmath=True, nogil=True)
def four_by_two(A, r, B, s, start, stop):
    """Return products of rows r .. r + 3 of A with s, s + 1 of B over a range of entries."""
    a0, a1 = A[r, start:stop], A[r + 1, start:stop]
    a2, a3 = A[r + 2, start:stop], A[r + 3, start:stop]
    b0, b1 = B[s, start:stop], B[s + 1, start:stop]
    v0 = v1 = v2 = v3 = v4 = v5 = v6 = v7 = A.dtype.type(0)
    for i in range(np.uint64(stop - start)):
        x, y = b0[i], b1[i]
        v0 += a0[i] * x
        v1 += a1[i] * x
        v2 += a2[i] * x
        v3 += a3[i] * x
        v4 += a0[i] * y
        v5 += a1[i] * y
        v6 += a2[i] * y
        v7 += a3[i] * y
    return v0, v1, v2, v3, v4, v5, v6, v7


@njit(cache=True, fastmath=True, nogil=True)
def _one_by_four(A, r, s, m):
    a0 = A[r]
    b0, b1, b2, b3 = A[s], A[s + 1], A[s + 2], A[s + 3]
    v0 = v1 = v2 = v3 = 0.0
    for i in range(m):
        x = a0[i]
        v0 += x * b0[i]
        v1 += x * b1[i]
        v2 += x * b2[i]
        v3 += x * b3[i]
    return v0, v1, v2, v3


@njit(cache=True, nogil=True)
def gram_rows(A, k, total, m, G):
    """Write rows k .. total - 1 of the packed Gram matrix of A, over m entries of its rows.

    In tiles that stay in registers, over blocks of rows that stay in the cache: for the narrow
    products of a growing working set this is faster than a general matrix product, which first has
    to copy both factors.
    """
    step = max(2, min(total + 1, _CACHED // max(m, 1)) // 2 * 2)
    whole = k + (total - k) // 4 * 4
    for start in range(0, total, step):
        stop = min(start + step, total)
        for r in range(k, whole, 4):
            last = min(stop, r + 4)
            for s in range(start, last - 1, 2):
                v = four_by_two(A, r, A, s, 0, m)
                for c in range(2):
                    for d in range(4):
                        if s + c <= r + d:
                            G[(r + d) * (r + d + 1) // 2 + s + c] = v[4 * c + d]
            if start < last and (last - start) % 2 == 1:
                for d in range(4):
                    if last - 1 <= r + d:
                        at = (r + d) * (r + d + 1) // 2 + last - 1
                        G[at] = dot(A[r + d], 0, A[last - 1], m)
        for r in range(whole, total):
            at = r * (r + 1) // 2
            last = min(stop, r + 1)
            s = start
            while s + 4 <= last:
                G[at + s], G[at + s + 1], G[at + s + 2], G[at + s + 3] = _one_by_four(A, r, s, m)
                s += 4
            while s < last:
                G[at + s] = dot(A[r], 0, A[s], m)
                s += 1


@njit(cache=True, nogil=True)
def write_column(column, rows, root, shift, n_rows, line):
    """Write a column over the rows of positive weight, shifted and scaled."""
    for i in range(n_rows):
        line[i] = root[i] * (column[rows[i]] - shift)


@njit(cache=True, nogil=True)
def admit_columns(space, m, k, new, XT, own, rows, root, shift, n_rows, slot):
    """Add columns to the working set of member m, with coefficient zero; return its size."""
    p = XT.shape[0]
    for c in range(new.size):
        j = new[c]
        column = XT[j] if j < p else own[j - p]
        write_column(column, rows, root, shift[j], n_rows, space.columns[m, k + c])
        space.which[m, k + c] = j
        space.w[m, k + c] = 0.0
        space.old_w[m, :, k + c] = 0.0
        slot[j] = k + c
    return k + new.size


@njit(cache=True, nogil=True)
def admit_products(space, m, k, total, ys, n_rows):
    """Write the Gram matrix, products with the response and gradients of columns k .. total - 1."""
    A, G, b = space.columns[m], space.gram[m], space.b[m]
    for i in range(k, total):
        b[i] = dot(A[i], 0, ys, n_rows)
    gram_rows(A, k, total, n_rows, G)
    for i in range(k, total):
        at = i * (i + 1) // 2
        space.square[m, i] = G[at + i]
        space.q[m, i] = b[i] - dot(G, at, space.w[m], k)
        for a in range(2):
            space.old_q[m, a, i] = b[i] - dot(G, at, space.old_w[m, a], k)


@njit(cache=True, nogil=True)
def compact(space, m, k, na, slot, least):
    """Remove columns without a coefficient, now or before, and with |gradient| below `least`."""
    place = np.full(k, -1, dtype=np.int64)
    size = 0
    w, q, which, b = space.w[m], space.q[m], space.which[m], space.b[m]
    for i in range(k):
        had = space.old_w[m, 0, i] != 0.0 or space.old_w[m, 1, i] != 0.0
        if w[i] != 0.0 or had or abs(q[i]) >= least[i]:
            place[i] = size
            size += 1
        else:
            slot[which[i]] = -1
    if size == k:
        return k
    G = space.gram[m]
    for i in range(k):
        t = place[i]
        if t < 0:
            continue
        if t < i:
            space.columns[m, t] = space.columns[m, i]
            b[t], w[t], q[t], which[t] = b[i], w[i], q[i], which[i]
            space.square[m, t] = space.square[m, i]
            slot[which[t]] = t
            for a in range(2):
                space.old_w[m, a, t] = space.old_w[m, a, i]
                space.old_q[m, a, t] = space.old_q[m, a, i]
        for j in range(i + 1):
            if place[j] >= 0:
                G[t * (t + 1) // 2 + place[j]] = G[i * (i + 1) // 2 + j]
    for i in range(na):
        space.order[m, i] = place[space.order[m, i]]
    return size


@njit(cache=True, nogil=True)
def write_residual(space, m, k, ys, n_rows, residual):
    """Write residual = y - X w over the scaled rows."""
    for i in range(n_rows):
        residual[i] = ys[i]
    for i in range(k):
        if space.w[m, i] != 0.0:
            axpy(-space.w[m, i], space.columns[m, i], 0, residual, n_rows)
