"""An ensemble of penalised fits: the problem, its chunks of members, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from selica._core.compiled import core, threads
from selica._core.errors import ArgumentError
from selica._core.losses import Loss
from selica._core.parallel import on_workers, one_blas_thread, pieces
from selica._core.types import Array, BoolArray, IntArray, Progress
from selica._core.validation import matrix, reporter, workers
from selica.solvers.arguments import falling
from selica.solvers.designs import DesignTable, as_table
from selica.solvers.results import LassoBatch

_NOT_FINITE = "copies must be arrays of finite numbers."
"""What the core says of a copy with other entries."""
_MAX_ITER = {"squared": 10_000}
"""Iterations where none are given: epochs of coordinate descent, or Newton steps."""
_NEWTON_STEPS = 100
"""Of all other losses."""
STATUS = np.array(["converged", "max_iter", "stopped", "degenerate"])
"""How a fit ended, by the number that the core gives."""
CONVERGED = 0
"""A solution reached its tolerance."""
FAILED = 1
"""It did not."""
STOPPED = 2
"""A member stopped before it, with too many active columns."""
DEGENERATE = 3
"""A member has nothing to fit, e.g. no event."""


class SolverLimits(NamedTuple):
    """Tolerances and limits, the same for all members."""

    tol: float
    max_iter: int
    max_active: int | None


class Ensemble(NamedTuple):
    """Members over one design; `members` cuts out a chunk."""

    X: DesignTable
    y: Array
    """(n,) or (B, n); (n, width) or (B, n, width) where a row has several numbers."""
    lams: Array
    """(L,) or (B, L), from large to small."""
    lam2: Array
    """The ridge beside each of the penalties, at their shape."""
    weights: Array
    """(B, n)."""
    factor: Array
    """(columns,) or (B, columns): penalty weights."""
    loss: Loss
    keep: frozenset[str]
    limits: SolverLimits
    fit_intercept: bool = False
    standardize: bool = False
    variance: Array | None = None
    """(B, columns): variances by which columns are standardised, if not those by `weights`."""
    copies: Callable[[int], Array] | None = None
    copies_are_shared: bool = False
    """Whether several members have the same copy."""
    first: int = 0
    """Number of the first member, for the copies."""
    unpenalised: BoolArray | None = None
    """(columns,): columns without penalty, ridge and standardisation."""

    @property
    def n_columns(self) -> int:
        """Return the number of columns of a member's design."""
        return self.X.shape[1] * (1 if self.copies is None else 2)

    @property
    def kernel(self) -> str | None:
        """Return the name of the loss in the core, or None where the core has none for it."""
        return self.loss.compiled(self.y)

    @property
    def each_has_a_response(self) -> bool:
        """Return whether members have responses of their own."""
        return self.y.ndim == (2 if len(self.loss.fields) == 1 else 3)

    def members(self, start: int, stop: int) -> Ensemble:
        """Return a chunk of the members."""
        part = slice(start, stop)
        return self._replace(
            y=self.y[part] if self.each_has_a_response else self.y,
            lams=self.lams if self.lams.ndim == 1 else self.lams[part],
            lam2=self.lam2 if self.lam2.ndim == 1 else self.lam2[part],
            weights=self.weights[part],
            factor=self.factor if self.factor.ndim == 1 else self.factor[part],
            variance=None if self.variance is None else self.variance[part],
            first=self.first + start,
        )


def make_problem(
    X: Any,
    y: Array,
    lams: Array,
    weights: Array,
    loss: Loss,
    *,
    penalty_weights: Array | None = None,
    lam2: Array | float = 0.0,
    keep: str | Iterable[str] = "coef",
    tol: float = 1e-6,
    max_iter: int | None = None,
    max_active: int | None = None,
    fit_intercept: bool = False,
    standardize: bool = False,
    copies: Callable[[int], Array] | None = None,
    copies_are_shared: bool = False,
    unpenalised: BoolArray | None = None,
) -> Ensemble:
    """Return the problem with these arguments, which have been checked.

    They are those of `solvers.lasso_path_batch`; penalties are sorted from large to small.
    """
    path, ridge = falling(lams, lam2)
    columns = X.shape[1] * (1 if copies is None else 2)
    steps = _MAX_ITER.get(loss.name, _NEWTON_STEPS) if max_iter is None else max_iter
    return Ensemble(
        X=as_table("X", X),
        y=y,
        lams=path,
        lam2=ridge,
        weights=weights,
        factor=np.ones(columns) if penalty_weights is None else penalty_weights,
        loss=loss,
        keep=frozenset((keep,) if isinstance(keep, str) else keep),
        limits=SolverLimits(tol, steps, max_active),
        fit_intercept=fit_intercept,
        standardize=standardize,
        copies=copies,
        copies_are_shared=copies_are_shared,
        unpenalised=unpenalised,
    )


class Kept(NamedTuple):
    """What is kept; None where it is not wanted."""

    coef: Array | None
    counts: IntArray | None
    total: Array | None
    square: Array | None
    entry: Array | None
    intercept: Array
    n_active: IntArray
    gap: Array
    kkt: Array
    iterations: IntArray
    status: IntArray
    """CONVERGED, FAILED, STOPPED or DEGENERATE."""
    largest: Array
    """(B,): smallest penalty at which a member selects nothing."""


class Part(NamedTuple):
    """What is kept of some members."""

    kept: Kept
    sparse: Any
    """Coefficients as a sparse array, or None."""
    passes: float | None = None
    """How often the design was read, where the core counts it."""


def solve(
    problem: Ensemble, n_jobs: int | None = None, progress: Progress | None = None
) -> LassoBatch:
    """Solve all members: on the threads of the core, or chunk by chunk on workers."""
    n_jobs = workers(n_jobs)
    reporter(progress)
    members = problem.weights.shape[0]
    by_core = problem.kernel is not None
    if (n_jobs is None or n_jobs == 1) and by_core:
        with one_blas_thread():  # copies are drawn on the threads of the core
            alone = n_jobs is not None
            part = solve_part(problem, threads=1 if alone else threads(), progress=progress)
        return _join(problem, [part])
    size = _members_per_chunk(problem)
    chunks = [problem.members(start, start + size) for start in range(0, members, size)]
    parts: Iterable[Part]
    if n_jobs is None or n_jobs == 1:
        parts = map(_alone, chunks)
    else:
        parts = on_workers(_alone, [(chunk, size) for chunk in chunks], n_jobs)
    done = []
    for part in parts:
        done.append(part)
        if progress is not None:
            progress(min(len(done) * size, members), members)
    return _join(problem, done)


def solve_each(
    problem: Ensemble,
    table: Callable[[int], Any],
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LassoBatch:
    """Solve members that have a table of their own each.

    Parameters
    ----------
    problem : Ensemble
        Its own table says the shape only.
    table : callable
        The table of a member by its number, in any form that `as_table` takes.
    n_jobs : int, optional
    progress : callable, optional
    """
    reporter(progress)

    def alone(member: int) -> Part:
        one = problem.members(member, member + 1)._replace(X=as_table("X", table(member)))
        return _alone(one)

    each = ((member,) for member in range(problem.weights.shape[0]))
    return _join(problem, pieces(alone, each, n_jobs, progress=progress))


def _members_per_chunk(problem: Ensemble) -> int:
    """Return how many members go together; it follows from the problem alone."""
    n, p = problem.X.shape
    weights = problem.weights
    most_rows = int(np.count_nonzero(weights, axis=1).max(initial=0))
    own = p if problem.copies is not None else 0
    sizes = (n, p, own, problem.copies_are_shared, len(weights), most_rows)
    limit = problem.limits.max_active
    return int(
        core().members_per_chunk(*sizes, -1 if limit is None else limit, problem.X.most_bytes)
    )


def _alone(problem: Ensemble, size: int = 0) -> Part:
    """Solve a chunk on a worker."""
    with one_blas_thread():
        if problem.kernel is not None:
            return solve_part(problem, threads=1, chunk=size)
        from selica.solvers.newton import solve_chunk_of_any_loss  # which calls `solve_part`

        return solve_chunk_of_any_loss(problem)


def solve_part(
    problem: Ensemble, threads: int = 1, chunk: int = 0, progress: Progress | None = None
) -> Part:
    """Solve some members in the core.

    Parameters
    ----------
    problem : Ensemble
        With a loss that the core knows.
    threads : int
    chunk : int
        Members that go together; 0: as many as the problem asks for.
    progress : callable, optional
    """
    members = len(problem.weights)
    kept = empty_kept(problem.keep, members, problem.lams.shape[-1], problem.n_columns)
    limits = problem.limits
    try:
        passes, entries = core().solve_ensemble(
            problem.X.design(),
            problem.kernel,
            y=[in_rows(field) for field in problem.loss.columns(problem.y)],
            weights=in_rows(problem.weights),
            lams=in_rows(problem.lams),
            lam2=in_rows(problem.lam2),
            factor=in_rows(problem.factor),
            variance=None if problem.variance is None else in_rows(problem.variance),
            unpenalised=problem.unpenalised,
            settings={
                "fit_intercept": problem.fit_intercept,
                "standardize": problem.standardize,
                "tol": limits.tol,
                "max_iter": limits.max_iter,
                "max_active": -1 if limits.max_active is None else limits.max_active,
                "most_bytes": problem.X.most_bytes,
                "copies_are_shared": problem.copies_are_shared,
                "threads": threads,
                "chunk": chunk,
                "sparse": "sparse" in problem.keep,
            },
            arrays={name: array for name, array in kept._asdict().items() if array is not None},
            copies=None if problem.copies is None else lambda member: copy_of(problem, member),
            progress=progress,
        )
    except ValueError as error:
        if str(error) != _NOT_FINITE:  # what only the core sees
            raise
        raise ArgumentError(_NOT_FINITE) from None
    shape = (kept.gap.size, problem.n_columns)
    sparse = None if entries is None else csr_of(entries, shape)
    return Part(kept, sparse, float(passes))


def csr_of(entries: tuple[Any, Any, Any], shape: tuple[int, int]) -> Any:
    """Return rows, columns and values of the core as a sparse array."""
    from scipy.sparse import csr_array  # slow to import, and seldom needed

    rows, columns, values = entries
    return csr_array((values, (rows, columns)), shape=shape)


def in_rows(values: Array) -> Array:
    """Return an array of doubles in rows, with two dimensions."""
    return np.ascontiguousarray(np.atleast_2d(values), dtype=float)


def _join(problem: Ensemble, parts: list[Part]) -> LassoBatch:
    """Return the parts as one result."""
    members = problem.weights.shape[0]

    def stack(name: str) -> Any:
        values = [getattr(part.kept, name) for part in parts]
        return None if values[0] is None else np.concatenate(values)

    def add(name: str) -> Any:
        values = [getattr(part.kept, name) for part in parts]
        return None if values[0] is None else sum(values[1:], start=values[0])

    total, square = add("total"), add("square")
    read = [part.passes for part in parts if part.passes is not None]
    sparse = None
    if "sparse" in problem.keep:
        from scipy.sparse import vstack

        sparse = vstack([part.sparse for part in parts], format="csr")
    return LassoBatch(
        lams=problem.lams,
        lam2=problem.lam2,
        coef=stack("coef"),
        sparse=sparse,
        intercept=stack("intercept"),
        counts=add("counts"),
        mean=None if total is None else total / members,
        second_moment=None if square is None else square / members,
        first_entry=stack("entry"),
        n_active=stack("n_active"),
        gap=stack("gap"),
        kkt=stack("kkt"),
        iterations=stack("iterations"),
        status=STATUS[stack("status")],
        lam_max=stack("largest"),
        passes=float(sum(read)) if len(read) == len(parts) else None,
    )


def empty_kept(keep: frozenset[str], members: int, n_lams: int, p: int) -> Kept:
    """Return arrays to fill, and None where they are not wanted."""

    def zeros(name: str, shape: tuple[int, ...], dtype: Any = float) -> Any:
        return np.zeros(shape, dtype=dtype) if name in keep else None

    grid = (members, n_lams)
    return Kept(
        coef=zeros("coef", (members, n_lams, p)),
        counts=zeros("counts", (n_lams, p), np.int64),
        total=zeros("moments", (n_lams, p)),
        square=zeros("moments", (n_lams, p)),
        entry=zeros("entry", (members, p)),
        intercept=np.zeros(grid),
        n_active=np.full(grid, -1, dtype=np.int64),
        gap=np.full(grid, np.nan),
        kkt=np.full(grid, np.nan),
        iterations=np.zeros(grid, dtype=np.int64),
        status=np.full(grid, STOPPED, dtype=np.int8),
        largest=np.full(members, np.nan),
    )


def copy_of(problem: Ensemble, member: int) -> Array:
    """Return the copy of a member of a chunk, of the shape of the design, columns contiguous."""
    assert problem.copies is not None
    copy = problem.copies(problem.first + member)
    try:
        copy = np.asarray(copy, dtype=float)
    except (TypeError, ValueError):
        copy = matrix("copies", copy)
    if copy.shape != problem.X.shape:
        raise ArgumentError(f"copies must have the shape {problem.X.shape} of X; got {copy.shape}.")
    return np.asfortranarray(copy)
