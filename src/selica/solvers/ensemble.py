"""An ensemble of penalised fits: the problem, its chunks of members, and what is kept of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Any, NamedTuple

import numba
import numpy as np

from selica._core.errors import ArgumentError
from selica._core.losses import Loss
from selica._core.parallel import one_blas_thread
from selica._core.types import Array, Progress
from selica._core.validation import matrix, reporter, workers
from selica.solvers.paths import STOPPED, ChunkData, Kept, SparseEntries, follow
from selica.solvers.results import LassoBatch
from selica.solvers.screening import SUMMED
from selica.solvers.working_set import Space, make_space, positive_rows, take_columns

FEWEST_MEMBERS = 8
"""Members solved in lockstep, at least: enough to fill the matrix products."""
ENOUGH_MEMBERS = 32
"""Members of a chunk that leave work for several threads."""
MOST_MEMBERS = 64
"""Members of a chunk, at most."""
_CHUNK_BYTES = 125_000_000
"""Memory of a chunk."""
_FIRST_CAPACITY = 64
"""Places of a working set, at least."""
_RESERVED_BYTES = 400_000_000
"""Address space of the working sets of a chunk."""
_SMALLEST_SINGLE = 1e-12
"""Screening is in single precision where columns, gradients and penalty weights are above."""
_LARGEST_SINGLE = 1e12
"""And where they are below."""
_NO_WEIGHT = 1e-300
"""A total weight of zero is replaced by this."""
_CONSTANT = 1e-13
"""A column whose variance is below this share of its mean square does not vary."""
_MAX_ITER = {"squared": 10_000}
"""Iterations of a kernel where none are given: epochs of coordinate descent, or Newton steps."""
_NEWTON_STEPS = 100
"""Of all others."""
_STATUS = np.array(["converged", "max_iter", "stopped"])
"""How a fit ended, by the number that the kernels give."""


class SolverLimits(NamedTuple):
    """Tolerances and limits, the same for all members."""

    tol: float
    max_iter: int
    max_active: int | None


class Ensemble(NamedTuple):
    """Members over one design; `members` cuts out a chunk."""

    X: Array
    y: Array
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
    first: int = 0
    """Number of the first member, for the copies."""
    most_rows: int = 0
    """Most rows of positive weight in any member, of this chunk or another."""

    @property
    def n_columns(self) -> int:
        """Return the number of columns of a member's design."""
        return int(self.X.shape[1]) * (1 if self.copies is None else 2)

    def members(self, start: int, stop: int) -> Ensemble:
        """Return a chunk of the members."""
        part = slice(start, stop)
        return self._replace(
            y=self.y if self.y.ndim == 1 else self.y[part],
            lams=self.lams if self.lams.ndim == 1 else self.lams[part],
            lam2=self.lam2 if self.lam2.ndim == 1 else self.lam2[part],
            weights=self.weights[part],
            factor=self.factor if self.factor.ndim == 1 else self.factor[part],
            variance=None if self.variance is None else self.variance[part],
            first=self.first + start,
        )


def make_problem(
    X: Array,
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
) -> Ensemble:
    """Return the problem with these arguments, which have been checked.

    They are those of `solvers.lasso_path_batch`; penalties are sorted from large to small.
    """
    order = np.argsort(-lams, axis=-1, kind="stable")
    path, ridge = (
        np.take_along_axis(part, order, axis=-1)
        for part in (lams, np.broadcast_to(np.asarray(lam2, dtype=float), lams.shape))
    )
    columns = X.shape[1] * (1 if copies is None else 2)
    steps = _MAX_ITER.get(loss.kernel or "", _NEWTON_STEPS) if max_iter is None else max_iter
    return Ensemble(
        X=X,
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
        most_rows=int(np.count_nonzero(weights, axis=1).max(initial=0)),
    )


def members_per_chunk(problem: Ensemble) -> int:
    """Return how many members go through the path together.

    It follows from the problem alone, so that results do not depend on the workers.
    """
    n, p = problem.X.shape
    members = problem.weights.shape[0]
    guess = min(0.7 * problem.most_rows, 0.1 * problem.n_columns) + 16  # size of a working set
    own = 0 if problem.copies is None else n * p
    each = 8 * (guess * (problem.most_rows + guess) + 4 * problem.n_columns + 2 * own)
    most = MOST_MEMBERS if n * problem.n_columns < 1_000_000 else ENOUGH_MEMBERS
    share = max(-(-members // 4), min(ENOUGH_MEMBERS, -(-members // 2)))
    size = int(np.clip(_CHUNK_BYTES // each, FEWEST_MEMBERS, max(FEWEST_MEMBERS, min(most, share))))
    return int(-(-members // -(-members // size)))  # chunks of equal size


class Part(NamedTuple):
    """What is kept of a chunk."""

    kept: Kept
    sparse: Any
    """Coefficients as a sparse array, or None."""


def solve(
    problem: Ensemble, n_jobs: int | None = None, progress: Progress | None = None
) -> LassoBatch:
    """Solve all members, in chunks that follow from the problem: on threads here, or on workers."""
    n_jobs = workers(n_jobs)
    reporter(progress)
    members = problem.weights.shape[0]
    size = members_per_chunk(problem)
    chunks = [problem.members(start, start + size) for start in range(0, members, size)]

    def joined(parts: Iterable[Part]) -> LassoBatch:
        done = []
        for part in parts:
            done.append(part)
            if progress is not None:
                progress(min(len(done) * size, members), members)
        return _join(problem, done)

    if n_jobs is not None and n_jobs != 1:
        from joblib import Parallel, delayed  # slow to import, and seldom needed

        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
        return joined(parallel(delayed(_alone)(chunk) for chunk in chunks))
    design = None if problem.loss.kernel is None else make_design(problem)
    machine: Any = numba.config
    threads = 1 if n_jobs == 1 else min(int(machine.NUMBA_NUM_THREADS), len(chunks))
    spaces = local()

    def run(chunk: Ensemble) -> Part:
        if not hasattr(spaces, "own"):
            spaces.own = Workspace()
        return _part(chunk, design, spaces.own)

    with one_blas_thread():  # one thread for each chunk
        if threads == 1:
            return joined(map(run, chunks))
        with ThreadPoolExecutor(threads) as pool:
            return joined(pool.map(run, chunks))


def _alone(problem: Ensemble) -> Part:
    """Solve a chunk on a worker."""
    with one_blas_thread():
        design = None if problem.loss.kernel is None else make_design(problem)
        return _part(problem, design, Workspace())


def _part(problem: Ensemble, design: ScreenedDesign | None, space: Workspace) -> Part:
    """Solve a chunk by the kernel of its loss, or by Newton steps over the kernel of squares."""
    if design is None:
        from selica.solvers.newton import solve_chunk_of_any_loss  # which calls `solve_chunk`

        kept, entries = solve_chunk_of_any_loss(problem)
    else:
        kept, entries = solve_chunk(problem, design, space)
    sparse = None
    if "sparse" in problem.keep:
        from scipy.sparse import csr_array  # slow to import, and seldom needed

        shape = (kept.gap.size, problem.n_columns)
        sparse = csr_array((entries.values, (entries.rows, entries.columns)), shape=shape)
    return Part(kept, sparse)


def _join(problem: Ensemble, parts: list[Part]) -> LassoBatch:
    """Return the chunks as one result."""
    members = problem.weights.shape[0]

    def stack(name: str) -> Any:
        values = [getattr(part.kept, name) for part in parts]
        return np.concatenate(values) if values[0].size else None

    def add(name: str) -> Any:
        values = [getattr(part.kept, name) for part in parts]
        return sum(values[1:], start=values[0]) if values[0].size else None

    total, square = add("total"), add("square")
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
        status=_STATUS[stack("status")],
    )


class ScreenedDesign(NamedTuple):
    """A design in the two forms the loop needs, made once for all chunks."""

    columns: Array
    """(p, n), double precision."""
    screen: Array
    """(p, n), single precision where that will do, centred if there is an intercept."""
    centre: Array
    """(p,): column means, or zeros."""

    @property
    def margin(self) -> float:
        """Return a bound of the relative error of a product with `screen`, however summed."""
        unit = float(np.finfo(self.screen.dtype).eps) / 2.0
        n = self.screen.shape[1]
        terms = min(n, SUMMED) + n // SUMMED + 8
        return float(1.01 * unit * terms / (1.0 - unit * terms))


def make_design(problem: Ensemble) -> ScreenedDesign:
    """Return the design of a problem, column by column, in both precisions."""
    X = problem.X
    p = X.shape[1]
    columns = X.T
    if not (columns.flags.c_contiguous and columns.flags.writeable):
        columns = columns.copy(order="C")  # compiled code is made for arrays that can be written
    centre = columns.mean(axis=1) if problem.fit_intercept else np.zeros(p)
    screen = np.empty(columns.shape, dtype=_precision(problem))
    for block in _blocks(p, X.shape[0]):
        screen[block] = columns[block] - centre[block, None]
    return ScreenedDesign(columns, screen, centre)


def _blocks(columns: int, rows: int) -> list[slice]:
    """Return slices of columns that fit into a cache."""
    step = max(1, 100_000 // max(rows, 1))
    return [slice(start, min(start + step, columns)) for start in range(0, columns, step)]


def _precision(problem: Ensemble) -> Any:
    """Return single precision, unless numbers are too large or too small for it."""
    columns = np.maximum(problem.X.max(axis=0), -problem.X.min(axis=0))
    response = np.abs(problem.y).max() * problem.weights.max(initial=0.0)
    sizes = np.concatenate([columns, columns * response, problem.factor.ravel(), [response]])
    fits = np.all((sizes == 0.0) | ((sizes > _SMALLEST_SINGLE) & (sizes < _LARGEST_SINGLE)))
    return np.float32 if fits else np.float64


class Own(NamedTuple):
    """Columns that belong to each member of a chunk alone: knockoff copies, or none."""

    columns: Array
    """(B, p, n)"""
    screen: Array
    """(B, p, n), centred if there is an intercept."""
    mean: Array
    """(B, p): what was subtracted."""
    square: Array
    """(B, p): weighted sums of squares of the screened columns."""


class Workspace:
    """Arrays of the working sets, kept between chunks: fresh memory is slow memory."""

    def __init__(self) -> None:
        self._space: Space | None = None
        self._own: Own | None = None

    def take(self, members: int, rows: int, columns: int) -> Space:
        """Return empty working sets for this many members."""
        space: Space | None = self._space
        if space is None or space.columns.shape[0] < members or space.columns.shape[2] < rows:
            # address space is free until it is used, moving to a larger one is not; so many
            # places have their columns, a Gram matrix and its factor: places * (rows + places)
            cells = _RESERVED_BYTES / (8 * members)
            places = int((math.sqrt(rows**2 + 4.0 * cells) - rows) / 2.0)
            space = make_space(members, rows, min(max(places, _FIRST_CAPACITY), columns + 1))
        return space

    def own(self, members: int, p: int, n: int, dtype: Any) -> Own:
        """Return room for the own columns of this many members."""
        shape = (members, p, n)
        if self._own is None or self._own.columns.shape != shape:
            lines = np.empty((2, members, p))
            self._own = Own(np.empty(shape), np.empty(shape, dtype=dtype), lines[0], lines[1])
        return self._own

    def give_back(self, space: Space) -> None:
        """Keep the arrays, grown as they may be, for the next chunk."""
        self._space = space


def solve_chunk(
    problem: Ensemble, design: ScreenedDesign, space: Workspace
) -> tuple[Kept, SparseEntries]:
    """Solve the members of a chunk along their paths, by the compiled kernel of their loss."""
    members, n = problem.weights.shape
    lams = np.broadcast_to(problem.lams, (members, problem.lams.shape[-1]))
    lam2 = np.broadcast_to(problem.lam2, lams.shape)
    own = _own_columns(problem, design.screen.dtype, space)
    rows, weight, n_rows = positive_rows(np.array(problem.weights), max(problem.most_rows, 1))
    y = np.take_along_axis(np.broadcast_to(problem.y, (members, n)), rows, axis=1)
    scales = _scales(problem, design, own)
    response = _scaled_response if problem.loss.quadratic else _plain_response
    root, y, unit, base = response(problem, weight, y)
    data = ChunkData(
        design=design.columns,
        own=own.columns,
        screen=design.screen,
        own_screen=own.screen,
        margin=design.margin,
        rows=rows,
        n_rows=n_rows,
        weight=weight,
        root=root,
        y=np.array(y),
        shift=scales.shift,
        lams=np.array(lams),
        lam2=np.array(lam2),
        penalty=scales.penalty,
        inverse=scales.inverse.astype(design.screen.dtype),
        ridge=scales.ridge,
        reach=scales.reach.astype(design.screen.dtype),
        unit=unit,
        base=base,
    )
    columns = problem.n_columns
    kept = empty_kept(problem.keep, members, lams.shape[1], columns)
    limits = problem.limits
    arrays, entries = follow(
        data, space.take(members, rows.shape[1], columns), kept, "sparse" in problem.keep,
        not problem.loss.quadratic, problem.fit_intercept, limits.tol, limits.max_iter,
        -1 if limits.max_active is None else limits.max_active,
    )  # fmt: skip
    space.give_back(arrays)
    return kept, entries


def _scaled_response(problem: Ensemble, weight: Array, y: Array) -> tuple[Array, ...]:
    """Return roots of the weights, the centred response times these, its unit and its mean."""
    root, base = np.sqrt(weight), np.zeros(len(weight))
    if problem.fit_intercept:
        base = np.vecdot(weight, y) / np.maximum(weight.sum(axis=1), _NO_WEIGHT)
        y = y - base[:, None]
    y = y * root
    return root, y, 0.5 * np.vecdot(y, y), base


def _plain_response(problem: Ensemble, weight: Array, y: Array) -> tuple[Array, ...]:
    """Return ones, the response as it is, the loss without variables, and zeros."""
    unit = problem.loss.null(y, weight, problem.fit_intercept).value
    return np.ones_like(weight), y, unit, np.zeros(len(weight))


def empty_kept(keep: frozenset[str], members: int, n_lams: int, p: int) -> Kept:
    """Return arrays to fill; of size zero where they are not wanted."""

    def zeros(name: str, shape: tuple[int, ...], dtype: Any = float) -> Any:
        return np.zeros(shape if name in keep else (0,) * len(shape), dtype=dtype)

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
        status=np.full(grid, STOPPED, dtype=np.int64),
    )


def copy_of(problem: Ensemble, member: int) -> Array:
    """Return the copy of a member of a chunk, of the shape of the design."""
    assert problem.copies is not None
    copy = problem.copies(problem.first + member)
    try:
        copy = np.asarray(copy, dtype=float)
    except (TypeError, ValueError):
        copy = matrix("copies", copy)
    if copy.shape != problem.X.shape:
        raise ArgumentError(f"copies must have the shape {problem.X.shape} of X; got {copy.shape}.")
    return copy


def _own_columns(problem: Ensemble, dtype: Any, space: Workspace) -> Own:
    """Return the own columns of the members of a chunk."""
    members, n = problem.weights.shape
    p = 0 if problem.copies is None else problem.X.shape[1]
    own = space.own(members, p, n, dtype)
    if problem.copies is None:
        return own
    for m in range(members):
        copy = copy_of(problem, m)
        weights = np.array(problem.weights[m])
        lines = own.columns[m], own.screen[m], own.mean[m], own.square[m]
        take_columns(copy, weights, problem.fit_intercept, *lines)
        if not np.all(np.isfinite(own.square[m])):
            raise ArgumentError("copies must be arrays of finite numbers.")
        if dtype == np.float32 and own.square[m].max() > _LARGEST_SINGLE**2 * n:
            raise ArgumentError("copies must be of the scale of X; got columns far larger.")
    return own


class Scales(NamedTuple):
    """What columns are shifted and penalised by; one row where all members share it."""

    shift: Array
    """(1 or B, columns): what is subtracted."""
    penalty: Array
    """(1 or B, columns): penalty weights, infinite where a column does not vary."""
    inverse: Array
    """(1 or B, columns): their inverses."""
    reach: Array
    """(B, columns): weighted norms of the screened columns, rounded up, times `inverse`."""
    ridge: Array
    """(1 or B, columns): factors of the ridge."""


def _scales(problem: Ensemble, design: ScreenedDesign, own: Own) -> Scales:
    """Return what the columns of a chunk are shifted and penalised by."""
    c, p = problem.weights, problem.X.shape[1]
    members, n = c.shape
    total = np.maximum(c.sum(axis=1, keepdims=True), _NO_WEIGHT)
    exact = problem.fit_intercept or problem.standardize
    square, first = np.empty((2, members, problem.n_columns))
    weights = c if exact else c.astype(design.screen.dtype)
    for block in _blocks(p, n):
        if exact:
            Z = design.columns[block] - design.centre[block, None]
        else:
            Z = design.screen[block]
        if problem.fit_intercept:
            first[:, block] = weights @ Z.T
        square[:, block] = weights @ (Z * Z).T
    centre = np.broadcast_to(design.centre, (members, p))
    square[:, p:], first[:, p:] = own.square, 0.0
    centre = np.concatenate([centre, own.mean], axis=1)
    variance = square / total
    shift = np.zeros((1, problem.n_columns))
    away = np.zeros_like(variance)
    if problem.fit_intercept:
        away = first / total
        variance = np.maximum(variance - away**2, 0.0)
        shift = centre + away if problem.loss.quadratic else centre
    flat = variance <= _CONSTANT * (square / total + centre**2)
    penalty = np.broadcast_to(problem.factor, (members, problem.n_columns))
    ridge = np.ones((1, problem.n_columns))
    if problem.standardize:
        ridge = variance if problem.variance is None else problem.variance
        penalty = penalty * np.sqrt(ridge)
    if np.any(flat):
        penalty = np.where(flat, np.inf, penalty)  # a column that does not vary tells nothing
    elif problem.factor.ndim == 1 and not problem.standardize:
        penalty = problem.factor[None, :]
    penalty = np.array(penalty)  # compiled code is made for arrays that can be written
    with np.errstate(divide="ignore"):
        inverse = np.where(penalty > 0.0, 1.0 / penalty, 0.0)
    inflate = 1.0 + 1e-6 + 2.0 * n * float(np.finfo(design.screen.dtype).eps)
    reach = np.sqrt(square) * inverse * inflate
    return Scales(np.array(shift), penalty, inverse, reach, np.array(ridge))
