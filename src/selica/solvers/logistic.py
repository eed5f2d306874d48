"""l1-penalised logistic regressions by the hundred, along a path of penalties."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from selica._core.types import Progress
from selica._core.validation import flag
from selica.solvers.keeping import solve
from selica.solvers.problem import check
from selica.solvers.results import LassoBatch


def logistic_path_batch(
    X: ArrayLike,
    y: ArrayLike,
    lams: ArrayLike,
    weights: ArrayLike,
    penalty_weights: ArrayLike | None = None,
    *,
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
    r"""B weighted l1-penalised logistic regressions over one design, along a path of penalties.

    Member b minimises, for labels 0 and 1 and :math:`\eta_i = a_b + x_i \cdot w`,

    .. math:: \sum_i c_{bi} [\log(1 + e^{\eta_i}) - y_i \eta_i] + \lambda \sum_j u_{bj} |w_j|
        + \tfrac12 \lambda_2 \sum_j w_j^2 .

    Parameters
    ----------
    X : array of shape (n, p)
    y : array of shape (n,) or (B, n)
        Labels 0 and 1.
    lams, weights, penalty_weights, lam2, standardize, keep, max_active, n_jobs, progress
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
    problem = check(X, y, lams, lam2, weights, penalty_weights, max_active, keep, tol, max_iter)
    problem = problem._replace(
        fit_intercept=flag("fit_intercept", fit_intercept),
        standardize=flag("standardize", standardize),
    )
    return solve(problem.with_labels(), n_jobs, progress)
