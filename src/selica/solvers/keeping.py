"""Runs chunks of members and keeps what was asked for, so that memory does not grow with B."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack
from threadpoolctl import threadpool_limits

from selica._core.errors import ArgumentError
from selica._core.types import Array, IntArray
from selica._core.validation import real
from selica.solvers.chunk_kernels import collect
from selica.solvers.ensemble import Chunk, Step, Workspace, solve_chunk
from selica.solvers.problem import Problem
from selica.solvers.results import LassoBatch


class Part(NamedTuple):
    """What is kept of a chunk; arrays of size zero where it is not wanted."""

    coef: Array
    intercept: Array
    counts: IntArray
    total: Array
    square: Array
    entry: Array
    n_active: IntArray
    gap: Array
    kkt: Array
    iterations: IntArray
    status: Any
    sparse: csr_array | None = None

    @classmethod
    def empty(cls, keep: frozenset[str], members: int, n_lams: int, p: int) -> Part:
        """Arrays to fill."""

        def zeros(name: str, shape: tuple[int, ...], dtype: Any = float) -> Any:
            return np.zeros(shape if name in keep else (0,) * len(shape), dtype=dtype)

        grid = (members, n_lams)
        return cls(
            coef=zeros("coef", (members, n_lams, p)),
            intercept=np.zeros(grid),
            counts=zeros("counts", (n_lams, p), np.int64),
            total=zeros("moments", (n_lams, p)),
            square=zeros("moments", (n_lams, p)),
            entry=zeros("entry", (members, p)),
            n_active=np.full(grid, -1, dtype=np.int64),
            gap=np.full(grid, np.nan),
            kkt=np.full(grid, np.nan),
            iterations=np.zeros(grid, dtype=np.int64),
            status=np.full(grid, "stopped", dtype="<U9"),
        )

    def with_sparse(self, path: list[Array], n_lams: int) -> Part:
        """Keeps dense coefficients (members, p), one for each penalty, as a sparse array."""
        members, p = path[0].shape
        dense = np.zeros((members, n_lams, p))
        for index, coef in enumerate(path):
            dense[:, index] = coef
        return self._replace(sparse=csr_array(dense.reshape(members * n_lams, p)))


def run(problem: Problem, XT: Array | None = None, space: Workspace | None = None) -> Part:
    """Solves one chunk and keeps what was asked for."""
    if XT is None:
        XT = np.ascontiguousarray(problem.X.T)
    with threadpool_limits(limits=1, user_api="blas"):  # threads are over members
        return _solve_and_keep(problem, XT, space or Workspace())


def _solve_and_keep(problem: Problem, XT: Array, space: Workspace) -> Part:
    members, n = problem.weights.shape
    p = problem.n_columns
    lams = np.broadcast_to(problem.lams, (members, problem.lams.shape[-1]))
    n_lams = lams.shape[1]
    y = np.broadcast_to(problem.y, (members, n))
    own = _own_columns(problem)
    centre, factor, norm = _moments(problem, own)
    chunk = Chunk(problem.weights, y, lams, factor, centre, own, norm)
    rows: list[_Row] = []
    part = Part.empty(problem.keep, members, n_lams, p)
    mean_y = np.vecdot(problem.weights, y) / np.maximum(problem.weights.sum(axis=1), 1e-300)
    for step in solve_chunk(problem.X, XT, chunk, problem.settings, space):
        index, alive = step.place, step.alive
        part.gap[alive, index] = step.gap[alive]
        part.kkt[alive, index] = step.kkt[alive]
        part.iterations[alive, index] = step.iterations[alive]
        good = (step.status[alive] == 0) & (step.gap[alive] <= problem.settings.tol)
        part.status[alive, index] = np.where(good, "converged", "max_iter")
        collect(
            alive, index, step.w, step.columns, step.size, np.ascontiguousarray(lams[:, index]),
            part.coef, part.counts, part.total, part.square, part.entry, part.n_active,
        )  # fmt: skip
        if "sparse" in problem.keep:
            rows += [_sparse_row(m, index, step) for m in alive]
        if centre is not None:
            for m in alive:
                size = step.size[m]
                fitted = centre[m, step.columns[m, :size]] @ step.w[m, :size]
                part.intercept[m, index] = mean_y[m] - fitted
    return part._replace(sparse=_stack_rows(rows, (members * n_lams, p), n_lams))


class _Row(NamedTuple):
    member: int
    place: int
    columns: IntArray
    values: Array


def _sparse_row(member: int, place: int, step: Step) -> _Row:
    values = step.w[member, : step.size[member]]
    active = np.flatnonzero(values)
    return _Row(member, place, step.columns[member, active], values[active])


def _stack_rows(rows: list[_Row], shape: tuple[int, int], n_lams: int) -> csr_array | None:
    """Row m * n_lams + l holds the coefficients of member m at penalty l."""
    if not rows:
        return None
    rows.sort(key=lambda row: (row.member, row.place))
    length = np.zeros(shape[0] + 1, dtype=np.int64)
    for row in rows:
        length[row.member * n_lams + row.place + 1] = row.columns.size
    values = np.concatenate([row.values for row in rows])
    columns = np.concatenate([row.columns for row in rows])
    return csr_array((values, columns, np.cumsum(length)), shape=shape)


def _own_columns(problem: Problem) -> Array:
    """The copies of the members of a chunk, (B, p, n); none without knockoffs."""
    members, n = problem.weights.shape
    if problem.copies is None:
        return np.zeros((members, 0, n))
    own = np.empty((members, problem.X.shape[1], n))
    for m in range(members):
        copy = real("copies", problem.copies(problem.first + m))
        if copy.shape != problem.X.shape:
            raise ArgumentError(
                f"copies must have the shape {problem.X.shape} of X; got {copy.shape}."
            )
        own[m] = copy.T
    return own


def _moments(problem: Problem, own: Array) -> tuple[Array | None, Array, Array]:
    """Weighted column means (with an intercept), penalty weights (with scales), column norms."""
    members = problem.weights.shape[0]
    c, p = problem.weights, problem.X.shape[1]
    total = np.maximum(c.sum(axis=1, keepdims=True), 1e-300)
    factor = np.array(np.broadcast_to(problem.factor, (members, problem.n_columns)))
    square = np.empty_like(factor)
    for start in range(0, p, 1024):
        block = slice(start, min(start + 1024, p))
        square[:, block] = c @ problem.X[:, block] ** 2 / total
    square[:, p:] = np.einsum("bjn,bn->bj", own**2, c, optimize=True) / total
    variance, centre = square, None
    if problem.fit_intercept:
        copies = np.einsum("bjn,bn->bj", own, c, optimize=True)
        centre = np.concatenate([c @ problem.X, copies], axis=1) / total
        variance = square - centre**2
    if problem.standardize:
        factor *= np.sqrt(np.maximum(variance, 0.0))
    factor[variance <= 1e-13 * square] = np.inf  # a column that does not vary tells nothing
    return centre, factor, np.sqrt(np.maximum(variance, 0.0) * total)


def join(problem: Problem, parts: list[Part]) -> LassoBatch:
    """The chunks as one result."""
    members = problem.weights.shape[0]

    def stack(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return np.concatenate(values) if values[0].size else None

    def add(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        return sum(values[1:], start=values[0]) if values[0].size else None

    total, square = add("total"), add("square")
    return LassoBatch(
        lams=problem.lams,
        coef=stack("coef"),
        sparse=None
        if parts[0].sparse is None
        else vstack([part.sparse for part in parts if part.sparse is not None]),
        intercept=stack("intercept"),
        counts=add("counts"),
        mean=None if total is None else total / members,
        second_moment=None if square is None else square / members,
        first_entry=stack("entry"),
        n_active=stack("n_active"),
        gap=stack("gap"),
        kkt=stack("kkt"),
        iterations=stack("iterations"),
        status=stack("status"),
    )
