"""What members are asked to solve, checked once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import choice, count, matrix, number, real

KEEP = ("coef", "sparse", "counts", "moments", "entry")
# Members solved in lockstep: enough to fill the matrix products, few enough to stay in memory and
# to leave work for several threads.
_FEWEST, _ENOUGH, _MOST = 8, 32, 64
_CHUNK_BYTES = 125_000_000


class Settings(NamedTuple):
    """Tolerances and limits, the same for all members."""

    tol: float
    max_iter: int
    max_active: int | None


class Problem(NamedTuple):
    """Members over one design; `members` cuts out a chunk."""

    X: Array
    y: Array
    lams: Array
    lam2: Array
    """The ridge beside each of the penalties, at their shape."""
    weights: Array
    factor: Array
    keep: frozenset[str]
    settings: Settings
    fit_intercept: bool = False
    standardize: bool = False
    logistic: bool = False
    copies: Callable[[int], Array] | None = None
    first: int = 0
    """Number of the first member, for the copies."""
    most_rows: int = 0
    """Most rows of positive weight in any member, of this chunk or another."""

    @property
    def n_columns(self) -> int:
        """Columns of a member's design."""
        return int(self.X.shape[1]) * (1 if self.copies is None else 2)

    def with_labels(self) -> Problem:
        """The same with logistic loss; y must be binary."""
        if not np.all(np.isin(self.y, (0.0, 1.0))):
            raise ArgumentError("y must hold the labels 0 and 1 only.")
        return self._replace(logistic=True)

    def members(self, start: int, stop: int) -> Problem:
        """A chunk of the members."""
        part = slice(start, stop)
        return self._replace(
            y=self.y if self.y.ndim == 1 else self.y[part],
            lams=self.lams if self.lams.ndim == 1 else self.lams[part],
            lam2=self.lam2 if self.lam2.ndim == 1 else self.lam2[part],
            weights=self.weights[part],
            factor=self.factor if self.factor.ndim == 1 else self.factor[part],
            first=self.first + start,
        )


def check(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    lam2: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None,
    max_active: int | None,
    keep: str | Iterable[str],
    tol: float,
    max_iter: int,
) -> Problem:
    """The arguments of `lasso_path_batch`, checked and at their full shapes."""
    design = matrix("X", X)
    n, p = design.shape
    rows = np.ascontiguousarray(real("weights", weights, at_least=0.0, copy=False))
    if rows.ndim != 2 or rows.shape[1] != n:
        raise ArgumentError(f"weights must have shape (members, {n}); got {rows.shape}.")
    members = rows.shape[0]
    response = real("y", y, copy=False)
    if response.shape not in ((n,), (members, n)):
        raise ArgumentError(f"y must have shape ({n},) or ({members}, {n}); got {response.shape}.")
    path = np.atleast_1d(real("lams", lams, at_least=0.0))
    if path.ndim > 2 or (path.ndim == 2 and path.shape[0] != members):
        raise ArgumentError(f"lams must have shape (L,) or ({members}, L); got {path.shape}.")
    ridge = real("lam2", lam2, at_least=0.0)
    if ridge.shape not in ((), path.shape[-1:], path.shape):
        raise ArgumentError(
            f"lam2 must be a number or have one entry for each of the {path.shape[-1]} penalties; "
            f"got shape {ridge.shape}."
        )
    factor = penalty_factor(penalty_weights, p)
    if factor.shape not in ((p,), (members, p)):
        raise ArgumentError(
            f"penalty_weights must have shape ({p},) or ({members}, {p}); got {factor.shape}."
        )
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        keep = (keep,)
    wanted = frozenset(choice("keep", one, KEEP) for one in keep)
    settings = Settings(
        number("tol", tol, at_least=1e-14, at_most=1.0),
        count("max_iter", max_iter),
        None if max_active is None else count("max_active", max_active, at_least=0),
    )
    order = np.argsort(-path, axis=-1, kind="stable")
    path, ridge = (
        np.take_along_axis(part, order, axis=-1)
        for part in (path, np.broadcast_to(ridge, path.shape))
    )
    most = int(np.count_nonzero(rows, axis=1).max(initial=0))
    return Problem(design, response, path, ridge, rows, factor, wanted, settings, most_rows=most)


def penalty_factor(penalty_weights: ArrayLike | None, columns: int) -> Array:
    """Penalty weights, ones by default."""
    if penalty_weights is None:
        return np.ones(columns)
    return real("penalty_weights", penalty_weights, at_least=0.0)


def members_per_chunk(problem: Problem) -> int:
    """How many members go through the path together.

    It follows from the problem alone, so that results do not depend on the workers.
    """
    n, p = problem.X.shape
    members = problem.weights.shape[0]
    guess = min(0.7 * problem.most_rows, 0.1 * problem.n_columns) + 16  # size of a working set
    own = 0 if problem.copies is None else n * p
    each = 8 * (guess * (problem.most_rows + guess) + 4 * problem.n_columns + 2 * own)
    most = _MOST if n * problem.n_columns < 1_000_000 else _ENOUGH
    share = max(-(-members // 4), min(_ENOUGH, -(-members // 2)))
    size = int(np.clip(_CHUNK_BYTES // each, _FEWEST, max(_FEWEST, min(most, share))))
    return int(-(-members // -(-members // size)))  # chunks of equal size
