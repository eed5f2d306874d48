"""A chunk of members over a path of penalties, in lockstep.

At each penalty every member admits the columns that the strong rule proposes, solves its small
problem exactly, and leaves its weighted residual; one matrix product then gives the gradients of
all members for all columns. The gradients certify the answers, name the columns that were missed
(rarely any), and propose candidates for the next penalty. Members whose residual has moved too
little to matter are certified by an inequality and spared the product.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.types import Array, IntArray
from selica.solvers.chunk_kernels import advance, gradients, judge, judge_by_bound

_FIRST_CAPACITY = 64


class Chunk(NamedTuple):
    """The problems of a chunk: B members over one design."""

    weights: Array
    """(B, n), non-negative."""
    y: Array
    """(B, n)"""
    lams: Array
    """(B, L), each row decreasing."""
    factor: Array
    """(B, p) penalty weights; infinite for columns that must stay out."""
    centre: Array | None
    """(B, p) weighted column means with an intercept, None without."""
    own: Array
    """(B, p_own, n): further columns of each member alone, e.g. knockoff copies; p counts them."""
    norm: Array
    """(B, p) root of the weighted sum of squares of each column, centred if `centre` is given."""


class Settings(NamedTuple):
    """Tolerances and limits, the same for all members."""

    tol: float
    max_iter: int
    max_active: int | None


class Step(NamedTuple):
    """The chunk's solution at one penalty, valid until the next."""

    place: int
    """Which penalty of the path."""
    slot: IntArray
    """(B, p): place of a column in its member's working set, or -1."""
    w: Array
    """(B, K): coefficients on the working sets."""
    columns: IntArray
    """(B, K): which columns these are."""
    size: IntArray
    """(B,): sizes of the working sets."""
    alive: Any
    """(B,): members that have not stopped."""
    gap: Array
    kkt: Array
    iterations: IntArray
    status: IntArray


class Workspace:
    """Arrays of the working sets, kept between chunks: fresh memory is slow memory."""

    def __init__(self) -> None:
        self.capacity = 0
        self._first = _FIRST_CAPACITY
        self.shape: tuple[int, int] = (0, 0)

    def expect(self, capacity: int) -> None:
        """Working sets will hold about this many columns."""
        self._first = max(_FIRST_CAPACITY, int(1.2 * capacity))

    def prepare(self, members: int, rows: int, columns: int) -> None:
        """Room for this many members with this many rows, all working sets empty."""
        if self.shape != (members, rows) or self.capacity == 0:
            self.shape = (members, rows)
            self._allocate(min(max(self._first, self.capacity), columns))
        self.w[:] = 0.0

    def _allocate(self, capacity: int) -> None:
        members, rows = self.shape
        self.capacity = capacity
        self.XW = np.zeros((members, capacity, rows))
        self.G = np.zeros((members, capacity, capacity))
        self.L = np.zeros((members, capacity + 1, capacity + 1))
        self.b = np.zeros((members, capacity))
        self.w = np.zeros((members, capacity))
        self.q = np.zeros((members, capacity))
        self.W = np.zeros((members, capacity), dtype=np.int64)
        self.order = np.zeros((members, capacity + 1), dtype=np.int64)

    def grow(self, needed: int, columns: int) -> None:
        """More places for each member, contents kept."""
        old = {name: getattr(self, name) for name in ("XW", "G", "L", "b", "w", "q", "W", "order")}
        self._allocate(min(columns, max(needed, 2 * self.capacity)))
        for name, array in old.items():
            getattr(self, name)[tuple(slice(0, d) for d in array.shape)] = array


def solve_chunk(X: Array, XT: Array, chunk: Chunk, settings: Settings, space: Workspace) -> Any:
    """Yields a `Step` for each penalty; stops early when every member has stopped.

    Parameters
    ----------
    X, XT : array (n, p) and (p, n), both C-contiguous
    chunk : Chunk
    settings : Settings
    space : Workspace
    """
    members, n_lams = chunk.lams.shape
    p = X.shape[1] + chunk.own.shape[1]
    every = np.arange(members)
    rows, root, nb = positive_rows(chunk.weights)
    shift = np.zeros((members, p)) if chunk.centre is None else chunk.centre
    y = chunk.y
    if chunk.centre is not None:
        total = np.maximum(chunk.weights.sum(axis=1), 1e-300)
        y = y - (np.vecdot(chunk.weights, y) / total)[:, None]
    ys = root * np.take_along_axis(y, rows, axis=1)
    yy = np.vecdot(ys, ys)
    space.prepare(members, rows.shape[1], p)

    R = chunk.weights * y
    gradient = np.empty((members, p))
    gradients(every, R, X, chunk.own, gradient)
    slot = np.full((members, p), -1, dtype=np.int64)
    k, na, short, status = (np.zeros(members, dtype=np.int64) for _ in range(4))
    missed = np.zeros(members, dtype=np.int64)
    unsure = np.zeros(members, dtype=bool)
    residual, anchor = ys.copy(), ys.copy()  # the known gradients belong to the anchor
    loss = np.zeros((members, 3))
    gap, kkt = np.zeros(members), np.zeros(members)
    alive = every
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(chunk.factor > 0.0, np.abs(gradient) / chunk.factor, 0.0)
    previous = ratio.max(axis=1, initial=0.0)

    def go(todo: IntArray, bar: Array, lam: Array, fresh: bool) -> None:
        while todo.size:
            advance(
                todo, XT, chunk.own, rows, root, shift, nb, ys, gradient, bar, lam, chunk.factor,
                space.XW, space.G, space.b, space.W, k, slot, space.w, space.order, na, space.L,
                space.q, 1e-2 * settings.tol, settings.max_iter, fresh,
                R, residual, loss, iterations, status, short,
            )  # fmt: skip
            todo = todo[short[todo] > 0]
            if todo.size:
                space.grow(int((k + short)[todo].max()), p)

    for index in range(n_lams):
        lam = np.ascontiguousarray(chunk.lams[:, index])
        iterations = np.zeros(members, dtype=np.int64)
        # strong rule: slopes of the gradient are at most one, so what is below 2 lam - previous
        # will most likely stay out
        bar = np.minimum(np.maximum(2.0 * lam - previous, 0.0), lam)
        todo, fresh = alive, True
        after = chunk.lams[:, index + 1] if index + 1 < n_lams else lam
        ahead = np.maximum(2.0 * after - lam, 0.0)
        while todo.size:
            go(todo, bar, lam, fresh)
            judge_by_bound(
                todo, gradient, anchor, residual, nb, chunk.norm, lam, ahead, chunk.factor, slot,
                space.w, space.W, k, space.q, loss, yy, gap, kkt, unsure,
            )  # fmt: skip
            todo = todo[unsure[todo]]
            if todo.size == 0:
                break
            anchor[todo] = residual[todo]
            gradients(todo, R, X, chunk.own, gradient)
            judge(todo, gradient, lam, chunk.factor, slot, space.w, loss, yy, gap, kkt, missed)
            todo, bar, fresh = todo[missed[todo] > 0], lam, False
        if settings.max_active is not None:
            active = np.array([np.count_nonzero(space.w[m, : k[m]]) for m in alive])
            alive = alive[active <= settings.max_active]
        yield Step(index, slot, space.w, space.W, k, alive, gap, kkt, iterations, status)
        if alive.size == 0:
            return
        previous = lam


def positive_rows(weights: Array) -> tuple[IntArray, Array, IntArray]:
    """Indices and root weights of the rows that count, padded, and how many there are."""
    nb = np.count_nonzero(weights, axis=1)
    width = max(int(nb.max(initial=0)), 1)
    order = np.argsort(weights <= 0.0, axis=1, kind="stable")[:, :width]
    root = np.sqrt(np.take_along_axis(weights, order, axis=1))
    return order.astype(np.int64), root, nb.astype(np.int64)
