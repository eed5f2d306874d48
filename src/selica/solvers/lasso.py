"""Penalised regressions by the hundred, along a path of penalties: what a user calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.losses import Loss, loss_of
from selica._core.losses.cox import TIES, CoxLoss
from selica._core.types import Array, Progress
from selica._core.validation import choice, count, flag, number, real
from selica.solvers.arguments import member_weights, penalties_and_ridges, penalty_factor
from selica.solvers.designs import as_table
from selica.solvers.ensemble import Ensemble, make_problem, solve
from selica.solvers.free_columns import free_columns
from selica.solvers.results import LassoBatch

KEEP = ("coef", "sparse", "counts", "moments", "entry")
"""What can be kept of the members."""


def lasso_path_batch(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None = None,
    *,
    unpenalised: ArrayLike | None = None,
    lam2: ArrayLike = 0.0,
    fit_intercept: bool = False,
    standardize: bool = False,
    max_active: int | None = None,
    keep: str | Iterable[str] = "coef",
    tol: float = 1e-6,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LassoBatch:
    r"""Fit B weighted lassos or elastic nets over one design, along a path of penalties.

    Member b minimises, at each penalty,

    .. math:: \tfrac12 \sum_i c_{bi} (y_i - a_b - x_i \cdot w)^2 + \lambda \sum_j u_{bj} |w_j|
        + \tfrac12 \lambda_2 \sum_j w_j^2 .

    Parameters
    ----------
    X : table of shape (n, p)
        An array of doubles or of single precision, of int8 or bool, a sparse array, or a table of
        `solvers.designs`; it is read as it is stored.
    y : array of shape (n,) or (B, n)
        One response for all members, or one for each.
    lams : array of shape (L,) or (B, L)
        Penalties in the unit of the objective above; sorted from large to small on return.
    weights : array of shape (B, n)
        Non-negative row weights c, e.g. bootstrap counts.
    penalty_weights : array of shape (p,) or (B, p), optional
        u, ones by default, for the first part of the penalty only; zero leaves a variable
        unpenalised but for the ridge.
    unpenalised : array of int or bool, optional
        Columns without any penalty: no ridge either, and no standardisation.
    lam2 : float or array of shape (L,) or that of `lams`
        The ridge: one for all penalties, or one beside each of them.
    fit_intercept : bool
        Whether a_b is fitted (unpenalised) or zero.
    standardize : bool
        Penalise, in both parts, coefficients of columns scaled to unit weighted variance (about
        the weighted mean with an intercept, about zero without) in each member; they are returned
        in the unit of X. Columns without variance stay out.
    max_active : int, optional
        A member stops before the first penalty at which more variables are active.
    keep : {"coef", "sparse", "counts", "moments", "entry"} or several of them
        What is kept: all coefficients, dense or sparse; how many members select a variable at
        each penalty; means
        and second moments over members; the penalty at which a variable enters each member.
    tol : float
        Largest duality gap, relative to half the weighted sum of squares of y.
    max_iter : int
        Limit of the coordinate descent that steps in where columns are degenerate.
    n_jobs : int, optional
        Workers for chunks of members, through joblib; None keeps one process, with threads.
    progress : callable, optional
        ``progress(done, members)`` is called whenever a chunk of members is done.

    Returns
    -------
    LassoBatch

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import lasso_path_batch
    >>> X = np.eye(3)
    >>> fit = lasso_path_batch(X, [3.0, -2.0, 0.5], [1.0], np.ones((1, 3)))
    >>> fit.coef[0, 0].tolist()
    [2.0, -1.0, 0.0]
    >>> fit = lasso_path_batch(X, [3.0, -2.0, 0.5], [1.0], np.ones((1, 3)), lam2=1.0)
    >>> fit.coef[0, 0].round(12).tolist()
    [1.0, -0.5, 0.0]
    """
    problem = _checked(
        X, y, lams, weights, "squared", penalty_weights=penalty_weights,
        unpenalised=unpenalised, lam2=lam2, keep=keep,
        tol=tol, max_iter=max_iter, max_active=max_active, fit_intercept=fit_intercept,
        standardize=standardize,
    )  # fmt: skip
    return solve(problem, n_jobs, progress)


def logistic_path_batch(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None = None,
    *,
    unpenalised: ArrayLike | None = None,
    lam2: ArrayLike = 0.0,
    fit_intercept: bool = True,
    standardize: bool = False,
    max_active: int | None = None,
    keep: str | Iterable[str] = "coef",
    tol: float = 1e-6,
    max_iter: int = 100,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LassoBatch:
    r"""Fit B weighted l1-penalised logistic regressions over one design, along a path of penalties.

    Member b minimises, for a binary response of 0 and 1 and :math:`\eta_i = a_b + x_i \cdot w`,

    .. math:: \sum_i c_{bi} [\log(1 + e^{\eta_i}) - y_i \eta_i] + \lambda \sum_j u_{bj} |w_j|
        + \tfrac12 \lambda_2 \sum_j w_j^2 .

    Parameters
    ----------
    y : array of shape (n,) or (B, n)
        A binary response, 0 and 1.
    X, lams, weights, penalty_weights, unpenalised, lam2
        As in `lasso_path_batch`.
    standardize, keep, max_active, n_jobs, progress
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
    problem = _checked(
        X, y, lams, weights, "logistic", penalty_weights=penalty_weights,
        unpenalised=unpenalised, lam2=lam2, keep=keep,
        tol=tol, max_iter=max_iter, max_active=max_active, fit_intercept=fit_intercept,
        standardize=standardize,
    )  # fmt: skip
    return solve(problem, n_jobs, progress)


def poisson_path_batch(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None = None,
    *,
    offset: ArrayLike | None = None,
    unpenalised: ArrayLike | None = None,
    lam2: ArrayLike = 0.0,
    fit_intercept: bool = True,
    standardize: bool = False,
    max_active: int | None = None,
    keep: str | Iterable[str] = "coef",
    tol: float = 1e-6,
    max_iter: int = 100,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LassoBatch:
    r"""Fit B weighted l1-penalised Poisson regressions over one design, along a path of penalties.

    Member b minimises, for counts y and :math:`\eta_i = a_b + x_i \cdot w`,

    .. math:: \sum_i c_{bi} [e^{o_i + \eta_i} - y_i \eta_i] + \lambda \sum_j u_{bj} |w_j|
        + \tfrac12 \lambda_2 \sum_j w_j^2 .

    Parameters
    ----------
    y : array of shape (n,)
        Counts, at least zero; they need not be whole.
    offset : array of shape (n,), optional
        o, e.g. logarithms of exposures; zero by default.
    fit_intercept : bool
        Whether the unpenalised a_b is fitted.
    tol : float
        Largest duality gap, relative to the loss of the model without variables above the smallest
        possible one.
    max_iter : int
        Newton steps at each penalty.
    X, lams, weights, penalty_weights, unpenalised, lam2
        As in `lasso_path_batch`.
    standardize, keep, max_active, n_jobs, progress
        As in `lasso_path_batch`.

    Returns
    -------
    LassoBatch
        A member without a count has zeros and the status "degenerate".

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import poisson_path_batch
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> fit = poisson_path_batch(X, [0, 1, 2, 6], [0.5], np.ones((1, 4)))
    >>> fit.converged, bool(fit.coef[0, 0, 0] > 0)
    (True, True)
    """
    response = real("y", y, at_least=0.0, copy=False)
    if offset is not None:
        shift = real("offset", offset)
        if shift.shape != response.shape:
            raise ArgumentError(f"offset must have the shape {response.shape} of y.")
        response = np.stack([response, shift], axis=-1)
    problem = _checked(
        X, response, lams, weights, "poisson", penalty_weights=penalty_weights,
        unpenalised=unpenalised, lam2=lam2, keep=keep,
        tol=tol, max_iter=max_iter, max_active=max_active, fit_intercept=fit_intercept,
        standardize=standardize,
    )  # fmt: skip
    return solve(problem, n_jobs, progress)


def cox_path_batch(
    X: ArrayLike,
    y: Any,
    lams: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None = None,
    *,
    strata: ArrayLike | None = None,
    ties: str = "breslow",
    unpenalised: ArrayLike | None = None,
    lam2: ArrayLike = 0.0,
    standardize: bool = False,
    max_active: int | None = None,
    keep: str | Iterable[str] = "coef",
    tol: float = 1e-6,
    max_iter: int = 100,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LassoBatch:
    r"""Fit B weighted l1-penalised Cox regressions over one design, along a path of penalties.

    Member b minimises minus the logarithm of the partial likelihood of
    :math:`\eta_i = x_i \cdot w`, in which row i counts :math:`c_{bi}` times, plus the penalty of
    `lasso_path_batch`.

    Parameters
    ----------
    y : pair of arrays of shape (n,), or what else holds times and events
        Times, and whether an event happened then (1) or the row was censored (0).
    strata : array of shape (n,), optional
        Rows of different strata are never at risk together.
    ties : {"breslow", "efron"}
        How events at the same time share the risk.
    tol : float
        Largest duality gap, relative to the loss without variables above the smallest possible one.
    max_iter : int
        Newton steps at each penalty.
    X, lams, weights, penalty_weights, unpenalised, lam2
        As in `lasso_path_batch`.
    standardize, keep, max_active, n_jobs, progress
        As in `lasso_path_batch`.

    Returns
    -------
    LassoBatch
        A member without an event has zeros and the status "degenerate".

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import cox_path_batch
    >>> X = np.array([[2.0], [1.0], [-1.0], [-2.0]])
    >>> fit = cox_path_batch(X, ([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 1]), [0.3], np.ones((1, 4)))
    >>> fit.converged, bool(fit.coef[0, 0, 0] > 0)
    (True, True)
    """
    loss = CoxLoss(choice("ties", ties, TIES))
    response = loss.read(y).values
    if strata is not None:
        groups = np.unique(np.asarray(strata), return_inverse=True)[1]
        if groups.shape != (len(response),):
            raise ArgumentError(f"strata must have shape ({len(response)},); got {groups.shape}.")
        response = np.column_stack([response[:, :2], groups])
    problem = _checked(
        X, response, lams, weights, loss, penalty_weights=penalty_weights,
        unpenalised=unpenalised, lam2=lam2, keep=keep,
        tol=tol, max_iter=max_iter, max_active=max_active, fit_intercept=False,
        standardize=standardize,
    )  # fmt: skip
    return solve(problem, n_jobs, progress)


def knockoff_path_batch(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    copies: Callable[[int], Array],
    n_copies: int,
    penalty_weights: ArrayLike | None = None,
    *,
    lam2: ArrayLike = 0.0,
    sample_weight: ArrayLike | None = None,
    fit_intercept: bool = False,
    standardize: bool = False,
    keep: str | Iterable[str] = "coef",
    tol: float = 1e-6,
    max_iter: int = 10_000,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    loss: str | Loss = "squared",
) -> LassoBatch:
    """Fit lassos on [X, copy of X], one for each knockoff copy; products with X are shared.

    Parameters
    ----------
    X : array of shape (n, p)
    y : array of shape (n,)
    lams : array of shape (L,)
    copies : callable
        ``copies(b)`` returns the copy of member b, an array of the shape of X. It is called once
        for each member, from the thread or process that solves it, and only the copies of a few
        chunks exist at a time.
    n_copies : int
        Number of members.
    penalty_weights : array of shape (2 p,), optional
        For the variables, then for their copies.
    lam2 : float or array of shape (L,)
        The ridge, of variables and copies alike, as in `lasso_path_batch`.
    sample_weight : array of shape (n,), optional
        Row weights, the same in all members.
    fit_intercept, standardize, keep, tol, max_iter, n_jobs, progress
        As in `lasso_path_batch`.
    loss : str or Loss
        "squared"; "logistic" for a binary response, as in `logistic_path_batch`; or another loss.

    Returns
    -------
    LassoBatch
        With 2 p columns: the variables, then their copies.

    Examples
    --------
    >>> from selica.sampling import iid_copies, simulate
    >>> from selica.solvers import knockoff_path_batch
    >>> data = simulate(80, 10, 3, snr=10.0, random_state=0)
    >>> copies = iid_copies(data.X, random_state=1, members=5)
    >>> knockoff_path_batch(data.X, data.y, [20.0, 5.0], copies.__getitem__, 5).coef.shape
    (5, 2, 20)
    """
    members = count("n_copies", n_copies)
    if not callable(copies):
        raise ArgumentError("copies must be a function of the number of the member.")
    design = as_table("X", X)
    n = design.shape[0]
    given = np.ones(n) if sample_weight is None else sample_weight
    one = real("sample_weight", given, at_least=0.0)
    if one.shape != (n,):
        raise ArgumentError(f"sample_weight must have shape ({n},); got {one.shape}.")
    weights = np.broadcast_to(one, (members, n))
    problem = _checked(
        design, y, lams, weights, loss, penalty_weights=penalty_weights, lam2=lam2, keep=keep,
        tol=tol, max_iter=max_iter, fit_intercept=fit_intercept, standardize=standardize,
        copies=copies,
    )  # fmt: skip
    return solve(problem, n_jobs, progress)


def lasso_batch(
    X: ArrayLike,
    y: ArrayLike,
    lam: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None = None,
    *,
    lam2: ArrayLike = 0.0,
    **settings: Any,
) -> LassoBatch:
    """Fit B weighted lassos or elastic nets, each at its own penalty.

    Parameters
    ----------
    lam : float or array of shape (B,)
        Penalty of each member.
    lam2 : float or array of shape (B,)
        Ridge of each member.
    X, y, weights, penalty_weights, **settings
        As in `lasso_path_batch`.

    Returns
    -------
    LassoBatch
        With a path of length one.

    Examples
    --------
    >>> from selica.sampling import resample_weights, simulate
    >>> from selica.solvers import lasso_batch
    >>> data = simulate(80, 10, 3, snr=10.0, random_state=0)
    >>> weights = resample_weights(80, 4, "bootstrap", rate=1.0, random_state=1)
    >>> lasso_batch(data.X, data.y, [40.0, 20.0, 10.0, 5.0], weights).coef.shape
    (4, 1, 10)
    """
    members = np.atleast_2d(real("weights", weights, copy=False)).shape[0]
    lams, ridge = (
        _of_members(name, value, members) for name, value in (("lam", lam), ("lam2", lam2))
    )
    return lasso_path_batch(X, y, lams, weights, penalty_weights, lam2=ridge, **settings)


def _of_members(name: str, value: ArrayLike, members: int) -> Array:
    """Return one number for each member, (B, 1)."""
    each = np.asarray(real(name, value, at_least=0.0))
    if each.ndim > 1 or (each.ndim == 1 and each.size != members):
        raise ArgumentError(
            f"{name} must be a number or have one entry for each of {members} members."
        )
    return np.broadcast_to(each, (members,))[:, None]


def _checked(
    X: Any,
    y: ArrayLike,
    lams: ArrayLike,
    weights: ArrayLike,
    loss: str | Loss,
    *,
    penalty_weights: ArrayLike | None,
    lam2: ArrayLike,
    keep: str | Iterable[str],
    tol: float,
    max_iter: int,
    fit_intercept: bool,
    standardize: bool,
    max_active: int | None = None,
    copies: Callable[[int], Array] | None = None,
    unpenalised: ArrayLike | None = None,
) -> Ensemble:
    """Return the problem that the arguments of `lasso_path_batch` pose, checked."""
    design = as_table("X", X)
    n = design.shape[0]
    columns = design.shape[1] * (1 if copies is None else 2)
    rows = member_weights(weights, n)
    members = rows.shape[0]
    kind = loss_of(loss)
    response = real("y", y, copy=False)
    last = response.shape[-1] if response.ndim else 1
    allowed = [(n,), (members, n)] if len(kind.fields) == 1 else [(n,), (n, last)]
    if response.shape not in allowed:
        shapes = " or ".join(str(shape) for shape in allowed)
        raise ArgumentError(f"y must have shape {shapes}; got {response.shape}.")
    path, ridge = penalties_and_ridges(lams, lam2, members)
    factor = penalty_factor(penalty_weights, columns, None if copies is not None else members)
    if isinstance(keep, str) or not isinstance(keep, Iterable):
        keep = (keep,)
    intercept = flag("fit_intercept", fit_intercept)
    constant = intercept or not kind.identified  # Cox's loss does not see one
    problem = make_problem(
        design, response, path, rows, kind, penalty_weights=factor, lam2=ridge,
        keep=[choice("keep", one, KEEP) for one in keep],
        tol=number("tol", tol, at_least=1e-14, at_most=1.0),
        max_iter=count("max_iter", max_iter),
        max_active=None if max_active is None else count("max_active", max_active, at_least=0),
        fit_intercept=intercept,
        standardize=flag("standardize", standardize),
        copies=copies,
        unpenalised=free_columns(unpenalised, design, columns, constant),
    )  # fmt: skip
    kind.check(response)
    return problem
