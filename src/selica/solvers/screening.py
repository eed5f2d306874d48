"""Whether a column outside a working set was missed: gradients, bounds, and lists of columns."""

from __future__ import annotations

import numpy as np

from selica._core.compiled import njit
from selica.solvers.working_set import four_by_two

_BLOCK = 32
# Terms summed at once in single precision: a sum of m terms is off by at most about m roundings.
SUMMED = 4096
# Up to this many rows a general matrix product is faster than tiles.
_SHORT = 512
_BELOW = 1.0 - 1e-6
"""Factor of a bar that bounds are compared with in single precision."""
_ABOVE = 1.0 + 1e-6
"""Factor of a bound there."""
# A bound made of differences of computed numbers is widened by this share of |y|.
_ROUNDING = 1e-6


@njit(cache=True, nogil=True)
def screened(value, inverse, reach, slack, slot, lam, ahead, new, strength):
    """List columns outside the working set that may exceed `lam`, or else those above `ahead`.

    value are gradients with an error of at most slack * |x_j|. Returns (number that may exceed lam,
    length of the list).
    """
    p = value.size
    low = np.empty(2, dtype=value.dtype)
    low[0], low[1] = min(lam, ahead) * _BELOW, slack * _ABOVE
    least, wide = low[0], low[1]
    count, missing = 0, 0
    for start in range(0, p, _BLOCK):
        stop = min(start + _BLOCK, p)
        some = False
        for j in range(start, stop):
            some |= abs(value[j]) * inverse[j] + wide * reach[j] >= least
        if not some:
            continue
        for j in range(start, stop):
            if slot[j] >= 0 or inverse[j] == 0.0:
                continue
            size = abs(value[j]) * inverse[j]
            if size + slack * reach[j] >= lam:
                if missing == 0:
                    count = 0
                missing += 1
                new[count] = j
                strength[count] = -size
                count += 1
            elif missing == 0 and size >= ahead:
                new[count] = j
                strength[count] = -size
                count += 1
    return missing, count


@njit(cache=True, nogil=True)
def residual_line(space, m, k, newest, yy):
    """Write the present residual as r2 + t (r2 - r1) + remainder; return t and |remainder|.

    Inner products of residual differences come from coefficients and gradients: G d = -(q - q').
    """
    other = 1 - newest
    dd, dx, xx = 0.0, 0.0, 0.0
    for i in range(k):
        step = space.w[m, i] - space.old_w[m, newest, i]
        past = space.old_w[m, newest, i] - space.old_w[m, other, i]
        turn = space.old_q[m, newest, i] - space.q[m, i]
        dd += step * turn
        dx += past * turn
        xx += past * (space.old_q[m, other, i] - space.old_q[m, newest, i])
    t = dx / xx if xx > _ROUNDING * _ROUNDING * yy else 0.0
    rest = max(dd - t * dx, 0.0) if t != 0.0 else max(dd, 0.0)
    return t, np.sqrt(rest) + _ROUNDING * np.sqrt(yy)


@njit(cache=True, nogil=True)
def open_columns(old, newest, t, rest, inverse, reach, slot, least, new, limit):
    """List columns outside whose gradient may reach `least`, up to limit + 1; return how many."""
    p = inverse.size
    last, first = old[newest], old[1 - newest]
    low = np.empty(3, dtype=last.dtype)
    low[0], low[1], low[2] = least * _BELOW, rest * _ABOVE, t
    bar, wide, slope = low[0], low[1], low[2]
    count = 0
    for start in range(0, p, _BLOCK):
        stop = min(start + _BLOCK, p)
        some = False
        for j in range(start, stop):
            value = last[j] + slope * (last[j] - first[j])
            some |= abs(value) * inverse[j] + wide * reach[j] >= bar
        if not some:
            continue
        for j in range(start, stop):
            if slot[j] >= 0 or inverse[j] == 0.0:
                continue
            value = last[j] + slope * (last[j] - first[j])
            if abs(value) * inverse[j] + wide * reach[j] >= bar:
                new[count] = j
                count += 1
                if count > limit:
                    return count
    return count


@njit(cache=True, nogil=True)
def settle(data, m, penalty, shift, residual, lam, ahead, new, count):
    """Compute gradients of a few columns; list those above lam, or else `ahead`, as `screened`."""
    p = data.design.shape[0]
    kept, missing = 0, 0
    for c in range(count):
        j = new[c]
        column = data.design[j] if j < p else data.own[m, j - p]
        value = 0.0
        for i in range(data.n_rows[m]):
            value += data.root[m, i] * residual[i] * (column[data.rows[m, i]] - shift[j])
        size = abs(value) / penalty[j]
        if size > lam:
            if missing == 0:
                kept = 0
            missing += 1
        elif missing > 0 or size < ahead:
            continue
        new[kept] = j
        kept += 1
    return missing, kept


@njit(cache=True, nogil=True)
def best(new, strength, count, limit):
    """Move the strongest `limit` of the listed columns to the front; return how many."""
    if count <= limit:
        return count
    chosen = np.argsort(strength[:count])[:limit]
    chosen.sort()
    for c in range(limit):
        new[c] = new[chosen[c]]
    return limit


@njit(cache=True, fastmath=True, nogil=True)
def _long_dot(a, b):
    """Return a product summed in blocks of SUMMED terms."""
    total = a.dtype.type(0)
    for start in range(0, a.size, SUMMED):
        part = a.dtype.type(0)
        for i in range(np.uint64(start), np.uint64(min(start + SUMMED, a.size))):
            part += a[i] * b[i]
        total += part
    return total


@njit(cache=True, fastmath=True, nogil=True)
def _multiply_one(A, r, out):
    """Write out = A r, four rows of A at a time, summed in blocks of SUMMED terms."""
    p, n = A.shape
    zero = A.dtype.type(0)
    for j in range(0, p // 4 * 4, 4):
        t0 = t1 = t2 = t3 = zero
        for start in range(0, n, SUMMED):
            stop = min(start + SUMMED, n)
            a0, a1 = A[j, start:stop], A[j + 1, start:stop]
            a2, a3 = A[j + 2, start:stop], A[j + 3, start:stop]
            part = r[start:stop]
            v0 = v1 = v2 = v3 = zero
            for i in range(np.uint64(stop - start)):
                x = part[i]
                v0 += a0[i] * x
                v1 += a1[i] * x
                v2 += a2[i] * x
                v3 += a3[i] * x
            t0 += v0
            t1 += v1
            t2 += v2
            t3 += v3
        out[j], out[j + 1], out[j + 2], out[j + 3] = t0, t1, t2, t3
    for j in range(p // 4 * 4, p):
        out[j] = _long_dot(A[j], r)


@njit(cache=True, nogil=True)
def _multiply_long(screen, residuals, asking, count, old, newest):
    """Compute gradients of many rows in tiles that stay in registers, without copies."""
    p, n = screen.shape
    whole, pairs = p // 4 * 4, count // 2 * 2
    sums = np.empty(8, dtype=screen.dtype)
    for j in range(0, whole, 4):
        for r in range(0, pairs, 2):
            sums[:] = 0
            for start in range(0, n, SUMMED):
                v = four_by_two(screen, j, residuals, r, start, min(start + SUMMED, n))
                for c in range(8):
                    sums[c] += v[c]
            for c in range(2):
                m = asking[r + c]
                for d in range(4):
                    old[m, newest[m], j + d] = sums[4 * c + d]
    for r in range(pairs):
        m = asking[r]
        for j in range(whole, p):
            old[m, newest[m], j] = _long_dot(screen[j], residuals[r])
    if pairs < count:
        m = asking[pairs]
        _multiply_one(screen, residuals[pairs], old[m, newest[m]])


@njit(cache=True, nogil=True)
def multiply(data, residuals, asking, count, old, newest):
    """Compute gradients of all columns for the members that ask, into old[m, newest[m]]."""
    p, n = data.screen.shape
    if count == 1 or n > _SHORT:
        _multiply_long(data.screen, residuals, asking, count, old, newest)
    else:
        out = np.dot(data.screen, residuals[:count].T)
        for i in range(count):
            m = asking[i]
            old[m, newest[m], :p] = out[:, i]
    if data.own.shape[1] > 0:
        for i in range(count):
            m = asking[i]
            _multiply_one(data.own_screen[m], residuals[i], old[m, newest[m], p:])
