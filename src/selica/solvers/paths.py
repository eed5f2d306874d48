"""A chunk of members over a path of penalties: one compiled loop.

At each penalty every member admits the columns that may become active and solves its small problem
exactly. Whether a column outside was missed is then decided as cheaply as certainty allows:

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

from selica._core.compiled import njit
from selica._core.types import Array, IntArray
from selica.solvers.member import solve_member
from selica.solvers.screening import (
    best,
    multiply,
    open_columns,
    residual_line,
    screened,
    settle,
)
from selica.solvers.working_set import (
    admit_columns,
    admit_products,
    compact,
    grown,
    write_residual,
)

CERTIFIED = 0
"""No column outside a working set was missed."""
MISSING = 1
"""Some were, and are listed."""
ASKING = 2
"""The gradients of all columns are needed to tell."""
CONVERGED = 0
"""A solution reached its tolerance."""
FAILED = 1
"""It did not."""
STOPPED = 2
"""A member stopped before it, with too many active columns."""

_CACHED = 256_000
"""Bytes of a design that is meant to stay in the cache of a core."""
_CACHED_BY_ALL = 16_000_000
"""Bytes of a design with copies that is meant to stay in the cache of all cores."""
# How far below the next penalty candidates are looked for, in steps of the penalty. The strong
# rule has 1, which hardly misses a column; missed ones are found and cheap, needless ones are not.
_LOOK = 0.1


class ChunkData(NamedTuple):
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
    n_rows: IntArray
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
    lam2: Array
    """(B, L): the ridge beside each of them."""
    penalty: Array
    """(1 or B, columns): penalty weights; infinite for columns that must stay out."""
    inverse: Array
    """(1 or B, columns): their inverses; zero for columns that need no screening."""
    ridge: Array
    """(1 or B, columns): what the ridge of each column is multiplied by."""
    reach: Array
    """(B, columns): weighted norms of the columns times `inverse`."""
    unit: Array
    """(B,): the gap is measured in this unit."""
    base: Array
    """(B,): intercepts without variables (linear model)."""


class SparseEntries(NamedTuple):
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
def _record(space, m, k, place, lam, base, shift, kept):
    """Add the solution of a member at one penalty to what is kept."""
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


@njit(cache=True, nogil=True)
def _ahead(lams, place):
    """Return the gradient up to which columns are taken to stay inactive, until it is checked."""
    if place + 1 < lams.size:
        return max(lams[place + 1] - _LOOK * (lams[place] - lams[place + 1]), 0.0)
    return lams[place]


@njit(cache=True, nogil=True)
def _make_room(space, m, k, na, needed, columns, slot, penalty, bar):
    """Return a space in which member m has `needed` more places; its idle columns may have gone."""
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
def _few_or_all(data, space, m, k, old, newest, norms, inverse, penalty, shift, slot, lam, ahead,
                few, new, residual):  # fmt: skip
    """Check a few columns or ask for gradients of all; return (verdict, columns listed)."""
    t, rest = residual_line(space, m, k, newest, 2.0 * data.unit[m])
    rest += data.margin * (abs(1.0 + t) * norms[newest] + abs(t) * norms[1 - newest])
    opened = open_columns(
        old, newest, t, rest, inverse, data.reach[m], slot, min(lam, ahead), new, few
    )
    if opened == 0:
        return CERTIFIED, 0
    write_residual(space, m, k, data.y[m], data.n_rows[m], residual)
    if opened > few:
        return ASKING, 0
    missing, listed = settle(data, m, penalty, shift, residual, lam, ahead, new, opened)
    return (MISSING if missing > 0 else CERTIFIED), listed


@njit(cache=True, nogil=True)
def _judge(data, space, m, k, place, old, latest, norms, slot, new, strength):
    """Check the gradients of all columns; return (nothing was missed, columns listed)."""
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
    missing, listed = screened(
        value, inverse, data.reach[m], data.margin * norms[latest], slot, lam, ahead, new, strength
    )
    return missing == 0, best(new, strength, listed, max(64, k))


@njit(cache=True, nogil=True)
def _finish(data, space, m, k, place, tol, max_active, kept, entries, used):
    """Keep a certified solution; return the next place, and the sparse entries."""
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
            larger = SparseEntries(
                np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
            )
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
    """Solve all members along their paths; max_active < 0 means no limit.

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
    old_ridge = np.zeros(members)  # the ridge in the factor of each member
    strength = np.empty(columns)
    old = np.empty((members, 2, columns), dtype=data.screen.dtype)
    norms = np.zeros((members, 2))
    newest = np.zeros(members, dtype=np.int64)
    residuals = np.empty((members, data.design.shape[1]), dtype=data.screen.dtype)
    residual = np.empty(data.rows.shape[1])
    asking = np.empty(members, dtype=np.int64)
    few = max(8, columns // 32)
    # a design that stays in the cache is multiplied at once, for one member
    alone = data.screen.size * data.screen.itemsize <= _CACHED
    if data.own.shape[1] > 0:
        alone = 2 * data.screen.size * data.screen.itemsize <= _CACHED_BY_ALL
    size = 1024 if sparse else 0
    entries = SparseEntries(np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size))
    used = 0

    for m in range(members):
        penalty = data.penalty[m % data.penalty.shape[0]]
        for j in range(columns):
            if penalty[j] == 0.0:
                new[m, n_new[m]] = j
                n_new[m] += 1
        if logistic and intercept:
            space.columns[m, 0, : data.n_rows[m]] = 1.0
            space.which[m, 0] = columns
            space.w[m, 0] = 0.0
            space.old_w[m, :, 0] = 0.0
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
                        data.root[m], shift, data.n_rows[m], slot[m],
                    )  # fmt: skip
                    if not logistic:
                        admit_products(space, m, size, k[m], data.y[m], data.n_rows[m])
                    n_new[m] = 0
                lam2 = data.lam2[m, max(place, 0)]
                failed, na[m], steps, gap, violation, square = solve_member(
                    data, space, m, k[m], na[m], penalty, lam, lam2, old_ridge[m], logistic, tol,
                    max_iter, residual,
                )  # fmt: skip
                old_ridge[m] = lam2
                verdict = ASKING
                if place >= 0:
                    kept.iterations[m, place] += steps
                    kept.gap[m, place] = gap
                    kept.kkt[m, place] = violation
                    kept.status[m, place] = failed
                    if not logistic:
                        verdict, n_new[m] = _few_or_all(
                            data, space, m, k[m], old[m], newest[m], norms[m], inverse, penalty,
                            shift, slot[m], lam, ahead, few, new[m], residual,
                        )  # fmt: skip
                elif not logistic:
                    write_residual(space, m, k[m], data.y[m], data.n_rows[m], residual)
                if verdict == ASKING:
                    newest[m] = 1 - newest[m]
                    norms[m, newest[m]] = np.sqrt(square)
                    space.old_w[m, newest[m], : k[m]] = space.w[m, : k[m]]
                    space.old_q[m, newest[m], : k[m]] = space.q[m, : k[m]]
                    residuals[n_asking] = 0
                    for i in range(data.n_rows[m]):
                        residuals[n_asking, data.rows[m, i]] = data.root[m, i] * residual[i]
                    asking[n_asking] = m
                    if not alone:
                        n_asking += 1
                        break
                    multiply(data, residuals, asking, 1, old, newest)
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
            return space, SparseEntries(
                entries.rows[:used], entries.columns[:used], entries.values[:used]
            )
        multiply(data, residuals, asking, n_asking, old, newest)
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
