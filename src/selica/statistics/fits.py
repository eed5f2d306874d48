"""Penalised fits of ensembles to data: to resampled rows, and to columns beside their copies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from selica._core.types import Array, BoolArray, Progress
from selica.solvers import LassoBatch, multinomial_path_batch
from selica.solvers.designs import side_by_side
from selica.solvers.ensemble import make_problem, solve, solve_each
from selica.statistics.data import Data, lam_from_average, ridge_of_ratio


def fit_members(
    data: Data,
    penalties: Array,
    weights: Array,
    *,
    whole: bool = False,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> LassoBatch:
    """Fit penalised regressions with an intercept, one for each row of weights.

    With `data.l1_ratio` below one these are elastic nets, each penalty with the ridge beside it.
    Columns of `data.keep` are in every fit. Missing values are filled in for each member by what
    its own rows know; for several classes, by what all rows know.

    Parameters
    ----------
    data : Data
    penalties : array of shape (L,)
        In glmnet's unit: the loss is averaged over the weight of the rows.
    weights : array of shape (B, n)
        Resampling weights; those of the rows come on top.
    whole : bool
        Whether the result has the columns of `data.keep` too, after the others.
    n_jobs, progress, **settings
        As in `solvers.lasso_path_batch`.
    """
    rows = weights * data.weight
    lams = lam_from_average(np.atleast_1d(penalties), rows)
    lam2 = ridge_of_ratio(lams, data.l1_ratio)
    factor = settings.pop("penalty_weights", None)
    if factor is not None and data.keep is not None:
        ones = np.ones((*factor.shape[:-1], data.n_kept))
        factor = np.concatenate([factor, ones], axis=-1)
    if settings.get("max_active") is not None:
        settings["max_active"] += data.n_kept
    settings |= {"penalty_weights": factor, "unpenalised": _free(data, data.X.shape[1])}
    if data.loss.several:
        fit: LassoBatch = multinomial_path_batch(
            _design(data, data.X), data.y, lams, rows, lam2=lam2, n_jobs=n_jobs,
            progress=progress, **settings,
        )  # fmt: skip
    else:
        problem = make_problem(
            _design(data, data.X), data.y, lams, rows, data.loss, lam2=lam2,
            fit_intercept=data.loss.identified, **settings,
        )  # fmt: skip
        if data.imputation is None:
            fit = solve(problem, n_jobs, progress)
        else:
            filled = data.imputation

            def table(member: int) -> Any:
                return _design(data, filled.fill(data.X, rows[member]))

            fit = solve_each(problem, table, n_jobs, progress)
    return fit if whole or data.keep is None else _first_columns(fit, data.X.shape[1])


def _design(data: Data, X: Any) -> Any:
    """Return columns, and beside them those without a penalty; a stored table as it is."""
    columns = getattr(X, "table", X)
    return columns if data.keep is None else side_by_side([columns, data.keep])


def _free(data: Data, columns: int) -> BoolArray | None:
    """Return which columns have no penalty: those after so many others."""
    return None if data.keep is None else np.arange(columns + data.n_kept) >= columns


def _first_columns(fit: LassoBatch, p: int) -> LassoBatch:
    """Return a result for its first columns alone; `n_active` still counts all of them."""
    several = fit.coef is not None and fit.coef.ndim == 4
    parts: dict[str, Any] = {
        name: None if getattr(fit, name) is None else getattr(fit, name)[..., :p]
        for name in ("counts", "mean", "second_moment", "first_entry")
    }
    return replace(
        fit,
        coef=None if fit.coef is None else fit.coef[:, :, :p] if several else fit.coef[..., :p],
        sparse=None if fit.sparse is None else fit.sparse[:, :p],
        **parts,
    )


def fit_copies(
    data: Data,
    copies: Sequence[Array],
    penalties: Array,
    weights: Array,
    *,
    n_jobs: int | None = None,
    **settings: Any,
) -> LassoBatch:
    """Fit penalised regressions on the columns beside copies of them, products with X shared.

    Parameters
    ----------
    data : Data
    copies : sequence of k arrays of shape (n, p), or (n, j p) for j joint copies
        In standard form.
    penalties : array of shape (k, L)
        Of each copy, in glmnet's unit.
    weights : array of shape (k, m, n)
        Resampling weights of the m members of each copy; those of the rows come on top.
    n_jobs, **settings
        As in `solvers.lasso_path_batch`.

    Returns
    -------
    LassoBatch
        With k m members and 2 p columns, or (j + 1) p: the variables, then their copies. Columns of
        `data.keep` come after either, those after the copies with coefficients of zero.
    """
    k, m, n = weights.shape
    rows = (weights * data.weight).reshape(k * m, n)
    lams = np.repeat(penalties, m, axis=0) * rows.sum(axis=1, keepdims=True)
    # columns without a penalty have no copy: zeros take its place, which no fit uses
    none = np.zeros((n, data.n_kept))
    columns = [np.asfortranarray(np.concatenate([copy, none], axis=1)) for copy in copies]
    if data.loss.several or copies[0].shape[1] != data.X.shape[1]:
        return _fit_each_copy(data, columns, lams, rows, n_jobs, settings)
    free = _free(data, data.X.shape[1])
    problem = make_problem(
        _design(data, data.X), data.y, lams, rows, data.loss,
        lam2=ridge_of_ratio(lams, data.l1_ratio), fit_intercept=data.loss.identified,
        copies=lambda member: columns[member // m], copies_are_shared=m > 1,
        unpenalised=None if free is None else np.concatenate([free, np.zeros_like(free)]),
        **settings,
    )  # fmt: skip
    return solve(problem, n_jobs)


def _fit_each_copy(
    data: Data,
    copies: Sequence[Array],
    lams: Array,
    rows: Array,
    n_jobs: int | None,
    settings: dict[str, Any],
) -> LassoBatch:
    """Return fits with a table for each copy: of several classes, or with several joint copies.

    For these the core has no columns that belong to one member alone.
    """
    m = len(rows) // len(copies)
    free = _free(data, data.X.shape[1])
    if free is not None:
        free = np.concatenate([free, np.zeros(copies[0].shape[1], dtype=bool)])
    done = []
    for number, copy in enumerate(copies):
        part = slice(number * m, (number + 1) * m)
        design = side_by_side([_design(data, data.X), copy])
        more = {"lam2": ridge_of_ratio(lams[part], data.l1_ratio), "unpenalised": free, **settings}
        if data.loss.several:
            fit: LassoBatch = multinomial_path_batch(
                design, data.y, lams[part], rows[part], n_jobs=n_jobs, **more
            )
        else:
            problem = make_problem(
                design, data.y, lams[part], rows[part], data.loss,
                fit_intercept=data.loss.identified, **more,
            )  # fmt: skip
            fit = solve(problem, n_jobs)
        done.append(fit)
    fields: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in done])
        for name in ("coef", "intercept", "first_entry", "n_active", "gap", "kkt", "iterations",
                     "status", "lam_max")
        if getattr(done[0], name) is not None
    }  # fmt: skip
    if getattr(done[0], "passes", None) is not None:
        fields["passes"] = sum(one.passes for one in done)
    return replace(done[0], **fields)
