"""l1-penalised logistic regressions by the hundred, along a path of penalties."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica.solvers.chunk_kernels import collect, gradients
from selica.solvers.ensemble import positive_rows
from selica.solvers.keeping import Part, join
from selica.solvers.logistic_kernels import advance_logistic, judge_logistic
from selica.solvers.problem import Problem, check, members_per_chunk
from selica.solvers.results import LassoBatch

_FIRST_CAPACITY = 64


def logistic_path_batch(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None = None,
    *,
    fit_intercept: bool = True,
    max_active: int | None = None,
    keep: str | Iterable[str] = "coef",
    tol: float = 1e-6,
    max_iter: int = 100,
    n_jobs: int | None = None,
) -> LassoBatch:
    r"""B weighted l1-penalised logistic regressions over one design, along a path of penalties.

    Member b minimises, for labels 0 and 1 and :math:`\eta_i = a_b + x_i \cdot w`,

    .. math:: \sum_i c_{bi} [\log(1 + e^{\eta_i}) - y_i \eta_i] + \lambda \sum_j u_{bj} |w_j| .

    Parameters
    ----------
    X : array of shape (n, p)
    y : array of shape (n,) or (B, n)
        Labels 0 and 1.
    lams, weights, penalty_weights, keep, max_active, n_jobs
        As in `lasso_path_batch`.
    fit_intercept : bool
        Whether the unpenalised a_b is fitted.
    tol : float
        Largest duality gap, relative to the loss of the model without variables.
    max_iter : int
        Newton steps at each penalty.

    Returns
    -------
    LassoBatch

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import logistic_path_batch
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> fit = logistic_path_batch(X, [0, 0, 1, 1], [0.5], np.ones((1, 4)))
    >>> fit.converged, bool(fit.coef[0, 0, 0] > 0)
    (True, True)
    """
    problem = check(X, y, lams, weights, penalty_weights, max_active, keep, tol, max_iter)
    if not np.all(np.isin(problem.y, (0.0, 1.0))):
        raise ArgumentError("y must hold the labels 0 and 1 only.")
    problem = problem._replace(fit_intercept=bool(fit_intercept))
    size = members_per_chunk(problem)
    chunks = [problem.members(s, s + size) for s in range(0, problem.weights.shape[0], size)]
    if n_jobs is None or n_jobs == 1:
        parts = [_run(chunk) for chunk in chunks]
    else:
        parts = list(Parallel(n_jobs=n_jobs)(delayed(_run)(chunk) for chunk in chunks))
    return join(problem, parts)


def _run(problem: Problem) -> Part:
    with threadpool_limits(limits=1, user_api="blas"):  # threads are over members
        return _solve(problem)


def _solve(problem: Problem) -> Part:
    members, n = problem.weights.shape
    p = problem.X.shape[1]
    lams = np.broadcast_to(problem.lams, (members, problem.lams.shape[-1]))
    n_lams = lams.shape[1]
    X = problem.X
    factor = np.array(np.broadcast_to(problem.factor, (members, p)))
    if problem.fit_intercept:  # a column of ones without penalty
        X = np.ascontiguousarray(np.hstack([X, np.ones((n, 1))]))
        factor = np.hstack([factor, np.zeros((members, 1))])
    columns = X.shape[1]
    XT = np.ascontiguousarray(X.T)
    rows, root, nb = positive_rows(problem.weights)
    c = root**2
    y = np.broadcast_to(problem.y, (members, n))
    ys = np.take_along_axis(y, rows, axis=1)
    null = _null_loss(c, ys, problem.fit_intercept)

    R = problem.weights * (y - 0.5)
    own = np.zeros((members, 0, n))
    gradient = np.empty((members, columns))
    every = np.arange(members)
    gradients(every, R, X, own, gradient)
    slot = np.full((members, columns), -1, dtype=np.int64)
    k, short, status, missed = (np.zeros(members, dtype=np.int64) for _ in range(4))
    loss = np.zeros((members, 2))
    gap, kkt = np.zeros(members), np.zeros(members)
    space: dict[str, Any] = {}
    _grow(space, members, rows.shape[1], min(_FIRST_CAPACITY, columns))
    part = Part.empty(problem.keep - {"sparse"}, members, n_lams, p)
    dense = np.zeros((members, p))
    kept: list[Array] = []
    alive = every
    settings = problem.settings
    # first fit what is not penalised, so that the strong rule starts from the right gradients
    previous = np.full(members, np.inf)
    for index in range(-1, n_lams):
        lam = np.full(members, 1e300) if index < 0 else np.ascontiguousarray(lams[:, index])
        iterations = np.zeros(members, dtype=np.int64)
        bar = np.where(
            np.isfinite(previous), np.minimum(np.maximum(2 * lam - previous, 0), lam), lam
        )
        todo = alive
        while todo.size:
            left = todo
            while left.size:
                advance_logistic(
                    left, XT, rows, c, nb, ys, gradient, bar, lam, factor,
                    space["XW"], space["W"], k, slot, space["w"], settings.tol,
                    settings.max_iter, 10_000, R, loss, iterations, status, short,
                )  # fmt: skip
                left = left[short[left] > 0]
                if left.size:
                    needed = max(int((k + short)[left].max()), 2 * space["w"].shape[1])
                    _grow(space, members, rows.shape[1], min(columns, needed))
            gradients(todo, R, X, own, gradient)
            judge_logistic(
                todo, gradient, lam, factor, slot, space["w"], rows, c, nb, ys, R, loss, null,
                gap, kkt, missed,
            )  # fmt: skip
            todo, bar = todo[missed[todo] > 0], lam
        if index < 0:
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(factor > 0.0, np.abs(gradient) / factor, 0.0)
            previous = ratio.max(axis=1, initial=0.0)
            continue
        previous = lam
        dense[:] = 0.0
        for m in alive:
            size = k[m]
            where = space["W"][m, :size]
            inside = where < p
            dense[m, where[inside]] = space["w"][m, :size][inside]
        if settings.max_active is not None:
            alive = alive[np.count_nonzero(dense[alive], axis=1) <= settings.max_active]
            dense[np.setdiff1d(every, alive)] = 0.0
        part.gap[alive, index] = gap[alive]
        part.kkt[alive, index] = kkt[alive]
        part.iterations[alive, index] = iterations[alive]
        good = (status[alive] == 0) & (gap[alive] <= settings.tol)
        part.status[alive, index] = np.where(good, "converged", "max_iter")
        every_column = np.broadcast_to(np.arange(p), (members, p))
        full = np.full(members, p, dtype=np.int64)
        collect(
            alive, index, dense, np.ascontiguousarray(every_column), full, lam,
            part.coef, part.counts, part.total, part.square, part.entry, part.n_active,
        )  # fmt: skip
        if problem.fit_intercept:
            at = slot[alive, p]
            part.intercept[alive, index] = np.where(at >= 0, space["w"][alive, at], 0.0)
        if "sparse" in problem.keep:
            kept.append(dense.copy())
        if alive.size == 0:
            break
    return part.with_sparse(kept, n_lams) if kept else part


def _grow(space: dict[str, Any], members: int, rows: int, capacity: int) -> None:
    new = {
        "XW": np.zeros((members, capacity, rows)),
        "W": np.zeros((members, capacity), dtype=np.int64),
        "w": np.zeros((members, capacity)),
    }
    for name, array in space.items():
        new[name][tuple(slice(0, d) for d in array.shape)] = array
    space.update(new)


def _null_loss(c: Array, ys: Array, intercept: bool) -> Array:
    """Loss without variables, of the best constant or of even odds."""
    total = c.sum(axis=1)
    if not intercept:
        return np.asarray(np.log(2.0) * total)
    share = np.clip(np.vecdot(c, ys) / np.maximum(total, 1e-300), 1e-300, 1.0)
    other = np.clip(1.0 - share, 1e-300, 1.0)
    return np.asarray(-total * (share * np.log(share) + other * np.log(other)))
