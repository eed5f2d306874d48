"""From a checked problem to the arrays of the compiled loop, and back: one chunk of members."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import matrix
from selica.solvers.paths import STOPPED, Data, Entries, Kept, follow
from selica.solvers.problem import Problem
from selica.solvers.screening import SUMMED
from selica.solvers.working_set import Space, make_space, positive_rows, take_columns

_FIRST_CAPACITY = 64
_RESERVED = 400_000_000
# Screening is in single precision where columns, gradients and penalty weights are in this range.
_TINY, _HUGE = 1e-12, 1e12


class Design(NamedTuple):
    """A design in the two forms the loop needs, made once for all chunks."""

    columns: Array
    """(p, n), double precision."""
    screen: Array
    """(p, n), single precision where that will do, centred if there is an intercept."""
    centre: Array
    """(p,): column means, or zeros."""

    @property
    def margin(self) -> float:
        """Bound of the relative error of a product with `screen`, in any order of summation."""
        unit = float(np.finfo(self.screen.dtype).eps) / 2.0
        n = self.screen.shape[1]
        terms = min(n, SUMMED) + n // SUMMED + 8
        return float(1.01 * unit * terms / (1.0 - unit * terms))


def make_design(problem: Problem) -> Design:
    """The design of a problem, column by column, in both precisions."""
    X = problem.X
    p = X.shape[1]
    columns = X.T
    if not (columns.flags.c_contiguous and columns.flags.writeable):
        columns = columns.copy(order="C")  # compiled code is made for arrays that can be written
    centre = columns.mean(axis=1) if problem.fit_intercept else np.zeros(p)
    screen = np.empty(columns.shape, dtype=_precision(problem))
    for block in _blocks(p, X.shape[0]):
        screen[block] = columns[block] - centre[block, None]
    return Design(columns, screen, centre)


def _blocks(columns: int, rows: int) -> list[slice]:
    """Slices of columns that fit into a cache."""
    step = max(1, 100_000 // max(rows, 1))
    return [slice(start, min(start + step, columns)) for start in range(0, columns, step)]


def _precision(problem: Problem) -> Any:
    """Single precision, unless numbers are too large or too small for it."""
    columns = np.maximum(problem.X.max(axis=0), -problem.X.min(axis=0))
    response = np.abs(problem.y).max() * problem.weights.max(initial=0.0)
    sizes = np.concatenate([columns, columns * response, problem.factor.ravel(), [response]])
    fits = np.all((sizes == 0.0) | ((sizes > _TINY) & (sizes < _HUGE)))
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
        """Empty working sets for this many members."""
        space: Space | None = self._space
        if space is None or space.columns.shape[0] < members or space.columns.shape[2] < rows:
            # address space is free until it is used, moving to a larger one is not; so many
            # places have their columns, a Gram matrix and its factor: places * (rows + places)
            cells = _RESERVED / (8 * members)
            places = int((math.sqrt(rows**2 + 4.0 * cells) - rows) / 2.0)
            space = make_space(members, rows, min(max(places, _FIRST_CAPACITY), columns + 1))
        return space

    def own(self, members: int, p: int, n: int, dtype: Any) -> Own:
        """Room for the own columns of this many members."""
        shape = (members, p, n)
        if self._own is None or self._own.columns.shape != shape:
            lines = np.empty((2, members, p))
            self._own = Own(np.empty(shape), np.empty(shape, dtype=dtype), lines[0], lines[1])
        return self._own

    def give_back(self, space: Space) -> None:
        """Keeps the arrays, grown as they may be, for the next chunk."""
        self._space = space


def solve_chunk(problem: Problem, design: Design, space: Workspace) -> tuple[Kept, Entries]:
    """Solves the members of a chunk along their paths."""
    members, n = problem.weights.shape
    lams = np.broadcast_to(problem.lams, (members, problem.lams.shape[-1]))
    lam2 = np.broadcast_to(problem.lam2, lams.shape)
    own = _own_columns(problem, design.screen.dtype, space)
    rows, weight, nb = positive_rows(np.array(problem.weights), max(problem.most_rows, 1))
    y = np.take_along_axis(np.broadcast_to(problem.y, (members, n)), rows, axis=1)
    shift, penalty, inverse, reach, ridge = _scales(problem, design, own)
    total = np.maximum(weight.sum(axis=1), 1e-300)
    base = np.zeros(members)
    root = np.ones_like(weight)
    if problem.logistic:
        unit = _null_loss(weight, y, problem.fit_intercept)
    else:
        root = np.sqrt(weight)
        if problem.fit_intercept:
            base = np.vecdot(weight, y) / total
            y = y - base[:, None]
        y = y * root
        unit = 0.5 * np.vecdot(y, y)
    data = Data(
        design.columns, own.columns, design.screen, own.screen, design.margin, rows, nb, weight,
        root, np.array(y), shift, np.array(lams), np.array(lam2), penalty,
        inverse.astype(design.screen.dtype), ridge, reach.astype(design.screen.dtype), unit, base,
    )  # fmt: skip
    columns = problem.n_columns
    kept = _empty(problem.keep, members, lams.shape[1], columns)
    settings = problem.settings
    arrays, entries = follow(
        data, space.take(members, rows.shape[1], columns), kept, "sparse" in problem.keep,
        problem.logistic, problem.fit_intercept, settings.tol, settings.max_iter,
        -1 if settings.max_active is None else settings.max_active,
    )  # fmt: skip
    space.give_back(arrays)
    return kept, entries


def _empty(keep: frozenset[str], members: int, n_lams: int, p: int) -> Kept:
    """Arrays to fill; of size zero where they are not wanted."""

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


def _own_columns(problem: Problem, dtype: Any, space: Workspace) -> Own:
    members, n = problem.weights.shape
    p = 0 if problem.copies is None else problem.X.shape[1]
    own = space.own(members, p, n, dtype)
    if problem.copies is None:
        return own
    for m in range(members):
        copy = problem.copies(problem.first + m)
        try:
            copy = np.asarray(copy, dtype=float)
        except (TypeError, ValueError):
            copy = matrix("copies", copy)
        if copy.shape != problem.X.shape:
            raise ArgumentError(
                f"copies must have the shape {problem.X.shape} of X; got {copy.shape}."
            )
        weights = np.array(problem.weights[m])
        lines = own.columns[m], own.screen[m], own.mean[m], own.square[m]
        take_columns(copy, weights, problem.fit_intercept, *lines)
        if not np.all(np.isfinite(own.square[m])):
            raise ArgumentError("copies must be arrays of finite numbers.")
        if dtype == np.float32 and own.square[m].max() > _HUGE**2 * n:
            raise ArgumentError("copies must be of the scale of X; got columns far larger.")
    return own


def _scales(problem: Problem, design: Design, own: Own) -> tuple[Array, ...]:
    """Shifts of columns, penalty weights, their inverses, norms times these, factors of the ridge.

    All but the norms have one row where all members share them. The norms are weighted, those of
    the screened columns, about their means, and are rounded up.
    """
    c, p = problem.weights, problem.X.shape[1]
    members, n = c.shape
    total = np.maximum(c.sum(axis=1, keepdims=True), 1e-300)
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
        shift = centre if problem.logistic else centre + away
    flat = variance <= 1e-13 * (square / total + centre**2)
    penalty = np.broadcast_to(problem.factor, (members, problem.n_columns))
    ridge = np.ones((1, problem.n_columns))
    if problem.standardize:
        penalty = penalty * np.sqrt(variance)
        ridge = variance
    if np.any(flat):
        penalty = np.where(flat, np.inf, penalty)  # a column that does not vary tells nothing
    elif problem.factor.ndim == 1 and not problem.standardize:
        penalty = problem.factor[None, :]
    penalty = np.array(penalty)  # compiled code is made for arrays that can be written
    with np.errstate(divide="ignore"):
        inverse = np.where(penalty > 0.0, 1.0 / penalty, 0.0)
    inflate = 1.0 + 1e-6 + 2.0 * n * float(np.finfo(design.screen.dtype).eps)
    return np.array(shift), penalty, inverse, np.sqrt(square) * inverse * inflate, ridge


def _null_loss(c: Array, y: Array, intercept: bool) -> Array:
    """Logistic loss without variables, of the best constant or of even odds."""
    total = c.sum(axis=1)
    if not intercept:
        return np.asarray(np.log(2.0) * total)
    share = np.clip(np.vecdot(c, y) / np.maximum(total, 1e-300), 1e-300, 1.0)
    other = np.clip(1.0 - share, 1e-300, 1.0)
    return np.asarray(-total * (share * np.log(share) + other * np.log(other)))
