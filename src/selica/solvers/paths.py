"""A chunk of members over a path of penalties, in lockstep: one compiled loop.

At each penalty every member admits the columns that the strong rule proposes and solves its small
problem exactly. Whether a column outside was missed is then decided as cheaply as certainty allows:

1. Gradients of all columns are remembered at two earlier fits. The present residual is a line
   through these two plus a remainder, and by Cauchy and Schwarz the gradient of column j is that of
   the line, up to |x_j| |remainder|. While no variable enters or leaves, the remainder is zero.
2. Where that leaves a few columns open, their gradients are computed.
3. Where it leaves many, the member asks for all gradients, and one matrix product in single
   precision serves all members that ask. Its rounding error is bounded by gamma_n |x_j| |residual|,
   and a column within that margin of its penalty is admitted and solved for in double precision.

The certificate is therefore exact although no product over all columns is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from selica._core.types import Array, IntArray
from selica.solvers.logistic_kernels import newton
from selica.solvers.quadratic import duality_gap, solve_one
from selica.solvers.working_set import (
    admit_columns,
    admit_products,
    compact,
    four_by_two,
    grown,
    write_residual,
)

# What is known of the columns outside a working set.
CERTIFIED, MISSING, ASKING = 0, 1, 2
# How a solution ended.
CONVERGED, FAILED, STOPPED = 0, 1, 2

_BLOCK = 32
# Terms summed at once in single precision: a sum of m terms is off by at most about m roundings.
SUMMED = 4096
# Up to this many rows a general matrix product is faster than tiles.
_SHORT = 512
# Bytes of a design that is meant to stay in the cache of a core, or of all cores (with copies).
_CACHED, _CACHED_BY_ALL = 256_000, 16_000_000
# Bounds and bars are moved apart by this much where they are compared in single precision.
_BELOW, _ABOVE = 1.0 - 1e-6, 1.0 + 1e-6
# How far below the next penalty the strong rule looks, in steps of the penalty.
_LOOK = 0.1
# A bound made of differences of computed numbers is widened by this share of |y|.
_ROUNDING = 1e-6


class Data(NamedTuple):
    """The problems of a chunk: B members over one design of n rows.

    `columns` counts those of the design and then those of a member's own.
    """

    design: Array
    """(p, n): the columns of the design."""
    own: Array
    """(B, p_own, n): further columns of each member, e.g. knockoff copies."""
    screen: Array
    """(p, n): the design in the precision of the screening."""
    own_screen: Array
    """(B, p_own, n)"""
    margin: float
    """Bound of the relative error of products with these."""
    rows: IntArray
    """(B, r): the rows of positive weight."""
    nb: IntArray
    """(B,): their number."""
    weight: Array
    """(B, r): their weights."""
    root: Array
    """(B, r): what columns are multiplied by: roots of the weights, or ones (logistic loss)."""
    y: Array
    """(B, r): the response there, for the linear model times `root`, and centred if need be."""
    shift: Array
    """(1 or B, columns): what is subtracted from the columns."""
    lams: Array
    """(B, L), each row decreasing."""
    penalty: Array
    """(1 or B, columns): penalty weights; infinite for columns that must stay out."""
    inverse: Array
    """(1 or B, columns): their inverses; zero for columns that need no screening."""
    reach: Array
    """(B, columns): weighted norms of the columns times `inverse`."""
    unit: Array
    """(B,): the gap is measured in this unit."""
    base: Array
    """(B,): intercepts without variables (linear model)."""


class Entries(NamedTuple):
    """Coefficients in sparse form."""

    rows: IntArray
    """member * n_lams + place"""
    columns: IntArray
    values: Array


class Kept(NamedTuple):
    """What is kept; arrays of size zero where it is not wanted."""

    coef: Array
    counts: IntArray
    total: Array
    square: Array
    entry: Array
    intercept: Array
    n_active: IntArray
    gap: Array
    kkt: Array
    iterations: IntArray
    status: IntArray
    """CONVERGED, FAILED or STOPPED"""


@njit(cache=True, nogil=True)
def _screened(value, inverse, reach, slack, slot, lam, ahead, new, strength):
    """Lists columns outside the working set that may exceed `lam`, or else those above `ahead`.

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
def _line(space, m, k, newest, yy):
    """The present residual as r2 + t (r2 - r1) + remainder; returns t and |remainder|.

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
def _open_columns(old, newest, t, rest, inverse, reach, slot, least, new, limit):
    """Columns outside whose gradient may reach `least`, up to limit + 1 of them; their number."""
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
def _settle(data, m, penalty, shift, left, lam, ahead, new, count):
    """Gradients of a few columns; lists those above lam, or else above `ahead`, as `_screened`."""
    p = data.design.shape[0]
    kept, missing = 0, 0
    for c in range(count):
        j = new[c]
        column = data.design[j] if j < p else data.own[m, j - p]
        value = 0.0
        for i in range(data.nb[m]):
            value += data.root[m, i] * left[i] * (column[data.rows[m, i]] - shift[j])
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
def _best(new, strength, count, limit):
    """The strongest `limit` of the listed columns come first."""
    if count <= limit:
        return count
    chosen = np.argsort(strength[:count])[:limit]
    chosen.sort()
    for c in range(limit):
        new[c] = new[chosen[c]]
    return limit


@njit(cache=True, nogil=True)
def _linear(space, m, k, na, penalty, lam, yy, tol, max_iter):
    """Solves a member on its working set; returns (status, na, rounds, gap, kkt, |r|^2)."""
    w, q, b = space.w[m], space.q[m], space.b[m]
    pay = np.empty(k)
    for i in range(k):
        pay[i] = lam * penalty[space.which[m, i]]
    status, na, rounds = solve_one(
        space.gram[m], b, pay, k, w, space.order[m], na, space.factor[m], q, 1e-2 * tol, max_iter
    )
    explained, along, paid, top, off = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(k):
        explained += w[i] * (b[i] + q[i])
        along += w[i] * b[i]
        paid += pay[i] * abs(w[i])
        size = abs(q[i])
        if penalty[space.which[m, i]] > 0.0:
            top = max(top, size / penalty[space.which[m, i]])
        if w[i] != 0.0:
            sign = 1.0 if w[i] > 0.0 else -1.0
            off = max(off, abs(q[i] - sign * pay[i]))
        else:
            off = max(off, size - pay[i])
    rr = max(yy - explained, 0.0)
    return status, na, rounds, duality_gap(rr, yy - along, paid, lam, top), off, rr


@njit(cache=True, nogil=True)
def _logistic(space, m, k, penalty, lam, c, y, nb, unit, tol, max_iter, left):
    """As `_linear`, for the logistic loss; `left` becomes the weighted residual."""
    w, q = space.w[m], space.q[m]
    pay = np.empty(k)
    constant = k > 0 and space.which[m, 0] == penalty.size
    for i in range(k):
        j = space.which[m, i]
        pay[i] = 0.0 if j == penalty.size else lam * penalty[j]
    gap, steps = newton(
        space.columns[m], space.gram[m], space.factor[m], space.b[m], w, q, space.order[m],
        c, y, nb, k, constant, pay, 0.1 * tol * unit, max_iter, left,
    )  # fmt: skip
    off, rr = 0.0, 0.0
    for i in range(k):
        sign = 1.0 if w[i] > 0.0 else -1.0
        off = max(off, abs(q[i] - sign * pay[i]) if w[i] != 0.0 else abs(q[i]) - pay[i])
    for i in range(nb):
        rr += left[i] * left[i] / c[i]
    return steps, gap, off, rr


@njit(cache=True, nogil=True)
def _record(space, m, k, place, lam, base, shift, kept):
    """Adds the solution of a member at one penalty to what is kept."""
    active = 0
    p = shift.size
    constant = base
    for i in range(k):
        value = space.w[m, i]
        j = space.which[m, i]
        if j == p:  # the intercept of the logistic model
            constant += value
            continue
        if value == 0.0:
            continue
        active += 1
        constant -= shift[j] * value
        if kept.coef.size > 0:
            kept.coef[m, place, j] = value
        if kept.counts.size > 0:
            kept.counts[place, j] += 1
        if kept.total.size > 0:
            kept.total[place, j] += value
            kept.square[place, j] += value * value
        if kept.entry.size > 0 and kept.entry[m, j] == 0.0:
            kept.entry[m, j] = lam
    kept.intercept[m, place] = constant
    kept.n_active[m, place] = active


@njit(cache=True, nogil=True)
def _n_active(space, m, k, p):
    count = 0
    for i in range(k):
        if space.w[m, i] != 0.0 and space.which[m, i] < p:
            count += 1
    return count


@njit(cache=True, fastmath=True, nogil=True)
def _long_dot(a, b):
    """A product summed in blocks of SUMMED terms."""
    total = a.dtype.type(0)
    for start in range(0, a.size, SUMMED):
        part = a.dtype.type(0)
        for i in range(np.uint64(start), np.uint64(min(start + SUMMED, a.size))):
            part += a[i] * b[i]
        total += part
    return total


@njit(cache=True, fastmath=True, nogil=True)
def _multiply_one(A, r, out):
    """out = A r, four rows of A at a time, summed in blocks of SUMMED terms."""
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
    """Gradients of many rows: in tiles that stay in registers, without copying the design."""
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
def _multiply(data, residuals, asking, count, old, newest):
    """Gradients of all columns for the members that ask, into old[m, newest[m]]."""
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


@njit(cache=True, nogil=True)
def _ahead(lams, place):
    """Gradients below this stay below the next penalty by the strong rule: slopes are at most 1."""
    if place + 1 < lams.size:
        return max(lams[place + 1] - _LOOK * (lams[place] - lams[place + 1]), 0.0)
    return lams[place]


@njit(cache=True, nogil=True)
def _make_room(space, m, k, na, needed, columns, slot, penalty, bar):
    """A space in which member m has `needed` more places; its idle columns may have left."""
    crowded = k[m] + needed > space.w.shape[1] or k[m] > na[m] + na[m] // 2 + 64
    if crowded and na[m] >= 0:
        least = np.empty(k[m])
        for i in range(k[m]):
            j = space.which[m, i]
            least[i] = 0.9 * bar * penalty[j] if j < columns else 0.0
        k[m] = compact(space, m, k[m], na[m], slot, least)
    needed += k[m]
    if needed > space.w.shape[1]:
        space = grown(space, k, na, min(columns + 1, max(needed + 8, space.w.shape[1] * 3 // 2)))
    return space


@njit(cache=True, nogil=True)
def _solve(data, space, m, k, na, penalty, lam, logistic, tol, max_iter, left):
    """One member at one penalty; returns (failed, na, steps, relative gap, kkt, |r|^2)."""
    unit = data.unit[m]
    if logistic:
        steps, gap, off, square = _logistic(
            space, m, k, penalty, lam, data.weight[m], data.y[m], data.nb[m], unit, tol, max_iter,
            left,
        )  # fmt: skip
        failed = 0
    else:
        failed, na, steps, gap, off, square = _linear(
            space, m, k, na, penalty, lam, 2.0 * unit, tol, max_iter
        )
    return failed, na, steps, gap / max(unit, 1e-300), off, square


@njit(cache=True, nogil=True)
def _few_or_all(data, space, m, k, old, newest, norms, inverse, penalty, shift, slot, lam, ahead,
                few, new, left):  # fmt: skip
    """Whether columns were missed, without gradients of all; returns (verdict, columns listed)."""
    t, rest = _line(space, m, k, newest, 2.0 * data.unit[m])
    rest += data.margin * (abs(1.0 + t) * norms[newest] + abs(t) * norms[1 - newest])
    opened = _open_columns(
        old, newest, t, rest, inverse, data.reach[m], slot, min(lam, ahead), new, few
    )
    if opened == 0:
        return CERTIFIED, 0
    write_residual(space, m, k, data.y[m], data.nb[m], left)
    if opened > few:
        return ASKING, 0
    missing, listed = _settle(data, m, penalty, shift, left, lam, ahead, new, opened)
    return (MISSING if missing > 0 else CERTIFIED), listed


@njit(cache=True, nogil=True)
def _judge(data, space, m, k, place, old, latest, norms, slot, new, strength):
    """Looks at the gradients of all columns; returns (nothing was missed, columns listed)."""
    value = old[latest]
    inverse = data.inverse[m % data.inverse.shape[0]]
    if place < 0:
        top = 0.0
        for j in range(value.size):
            top = max(top, abs(value[j]) * inverse[j])
        lam = np.inf
        ahead = min(max(2.0 * data.lams[m, 0] - top, 0.0), data.lams[m, 0])
        old[1 - latest] = value
        norms[1 - latest] = norms[latest]
        space.old_w[m, 1 - latest, :k] = space.old_w[m, latest, :k]
        space.old_q[m, 1 - latest, :k] = space.old_q[m, latest, :k]
    else:
        lam, ahead = data.lams[m, place], _ahead(data.lams[m], place)
    missing, listed = _screened(
        value, inverse, data.reach[m], data.margin * norms[latest], slot, lam, ahead, new, strength
    )
    return missing == 0, _best(new, strength, listed, max(64, k))


@njit(cache=True, nogil=True)
def _finish(data, space, m, k, place, tol, max_active, kept, entries, used):
    """Keeps a certified solution; returns the next place, and the sparse entries."""
    if place < 0:
        return 0, entries, used
    n_lams = data.lams.shape[1]
    shift = data.shift[m % data.shift.shape[0]]
    columns = shift.size
    if 0 <= max_active < _n_active(space, m, k, columns):
        kept.gap[m, place] = np.nan
        kept.kkt[m, place] = np.nan
        kept.iterations[m, place] = 0
        kept.status[m, place] = STOPPED
        return n_lams, entries, used
    if kept.gap[m, place] > tol:
        kept.status[m, place] = FAILED
    _record(space, m, k, place, data.lams[m, place], data.base[m], shift, kept)
    if entries.values.size > 0:
        if used + k > entries.values.size:
            size = 2 * (used + k)
            larger = Entries(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
            larger.rows[:used] = entries.rows[:used]
            larger.columns[:used] = entries.columns[:used]
            larger.values[:used] = entries.values[:used]
            entries = larger
        for i in range(k):
            if space.w[m, i] != 0.0 and space.which[m, i] < columns:
                entries.rows[used] = m * n_lams + place
                entries.columns[used] = space.which[m, i]
                entries.values[used] = space.w[m, i]
                used += 1
    return place + 1, entries, used


@njit(cache=True, nogil=True)
def follow(data, space, kept, sparse, logistic, intercept, tol, max_iter, max_active):
    """Solves all members along their paths; max_active < 0 means no limit.

    A member goes on from penalty to penalty until it needs the gradients of all columns, and then
    waits for the others, unless the design is small. Returns the space, for the next chunk, and
    the coefficients in sparse form (empty unless `sparse`).
    """
    members, n_lams = data.lams.shape
    columns = data.penalty.shape[1]
    k = np.zeros(members, dtype=np.int64)
    na = np.zeros(members, dtype=np.int64)
    slot = np.full((members, columns), -1, dtype=np.int32)
    new = np.empty((members, columns), dtype=np.int32)
    n_new = np.zeros(members, dtype=np.int64)
    strength = np.empty(columns)
    old = np.empty((members, 2, columns), dtype=data.screen.dtype)
    norms = np.zeros((members, 2))
    newest = np.zeros(members, dtype=np.int64)
    residuals = np.empty((members, data.design.shape[1]), dtype=data.screen.dtype)
    left = np.empty(data.rows.shape[1])
    asking = np.empty(members, dtype=np.int64)
    few = max(8, columns // 32)
    # a design that stays in the cache is multiplied at once, for one member
    alone = data.screen.size * data.screen.itemsize <= _CACHED
    if data.own.shape[1] > 0:
        alone = 2 * data.screen.size * data.screen.itemsize <= _CACHED_BY_ALL
    size = 1024 if sparse else 0
    entries = Entries(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
    used = 0

    for m in range(members):
        penalty = data.penalty[m % data.penalty.shape[0]]
        for j in range(columns):
            if penalty[j] == 0.0:
                new[m, n_new[m]] = j
                n_new[m] += 1
        if logistic and intercept:
            space.columns[m, 0, : data.nb[m]] = 1.0
            space.which[m, 0] = columns
            space.w[m, 0] = 0.0
            k[m] = 1

    places = np.full(members, -1, dtype=np.int64)  # before the path: what is not penalised
    while True:
        n_asking = 0
        for m in range(members):
            penalty = data.penalty[m % data.penalty.shape[0]]
            inverse = data.inverse[m % data.inverse.shape[0]]
            shift = data.shift[m % data.shift.shape[0]]
            while places[m] < n_lams:
                place = places[m]
                lam = data.lams[m, place] if place >= 0 else 1e300
                ahead = _ahead(data.lams[m], place) if place >= 0 else lam
                if n_new[m] > 0:
                    space = _make_room(
                        space, m, k, na, n_new[m], columns, slot[m], penalty, min(lam, ahead)
                    )
                    size = k[m]
                    k[m] = admit_columns(
                        space, m, size, new[m, : n_new[m]], data.design, data.own[m], data.rows[m],
                        data.root[m], shift, data.nb[m], slot[m],
                    )  # fmt: skip
                    if not logistic:
                        admit_products(space, m, size, k[m], data.y[m], data.nb[m])
                    n_new[m] = 0
                failed, na[m], steps, gap, off, square = _solve(
                    data, space, m, k[m], na[m], penalty, lam, logistic, tol, max_iter, left
                )
                verdict = ASKING
                if place >= 0:
                    kept.iterations[m, place] += steps
                    kept.gap[m, place] = gap
                    kept.kkt[m, place] = off
                    kept.status[m, place] = failed
                    if not logistic:
                        verdict, n_new[m] = _few_or_all(
                            data, space, m, k[m], old[m], newest[m], norms[m], inverse, penalty,
                            shift, slot[m], lam, ahead, few, new[m], left,
                        )  # fmt: skip
                elif not logistic:
                    write_residual(space, m, k[m], data.y[m], data.nb[m], left)
                if verdict == ASKING:
                    newest[m] = 1 - newest[m]
                    norms[m, newest[m]] = np.sqrt(square)
                    space.old_w[m, newest[m], : k[m]] = space.w[m, : k[m]]
                    space.old_q[m, newest[m], : k[m]] = space.q[m, : k[m]]
                    residuals[n_asking] = 0
                    for i in range(data.nb[m]):
                        residuals[n_asking, data.rows[m, i]] = data.root[m, i] * left[i]
                    asking[n_asking] = m
                    if not alone:
                        n_asking += 1
                        break
                    _multiply(data, residuals, asking, 1, old, newest)
                    certified, n_new[m] = _judge(
                        data, space, m, k[m], place, old[m], newest[m], norms[m], slot[m], new[m],
                        strength,
                    )  # fmt: skip
                    verdict = CERTIFIED if certified else MISSING
                if verdict == CERTIFIED:
                    places[m], entries, used = _finish(
                        data, space, m, k[m], place, tol, max_active, kept, entries, used
                    )
        if n_asking == 0:
            return space, Entries(
                entries.rows[:used], entries.columns[:used], entries.values[:used]
            )
        _multiply(data, residuals, asking, n_asking, old, newest)
        for position in range(n_asking):
            m = asking[position]
            certified, n_new[m] = _judge(
                data, space, m, k[m], places[m], old[m], newest[m], norms[m], slot[m], new[m],
                strength,
            )  # fmt: skip
            if certified:
                places[m], entries, used = _finish(
                    data, space, m, k[m], places[m], tol, max_active, kept, entries, used
                )
