"""Adapters for labels, counts and survival times: as in `adapters`, for the other losses.

glmnet (in `glmnet.R`) and adelie take counts as weights. skglm and celer have none for these
losses: they get every row as often as it was drawn, n rows in all, which is the same problem (for
survival with Breslow's ties). celer has labels only, without an intercept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .problem import Array, Problem

Solve = Callable[[int], tuple[Array, Array | None]]


def _repeated(problem: Problem) -> Callable[[int], tuple[Array, Array, Any]]:
    """A member's rows as often as they were drawn, columns contiguous; their response; numbers."""
    Xt = np.ascontiguousarray(problem.X.T)
    y = problem.y
    if problem.kind == "logistic":
        y = 2.0 * y - 1.0
    if problem.kind == "cox":
        y = np.column_stack([y, problem.event])

    def rows(b: int) -> tuple[Array, Array, Any]:
        drawn = np.repeat(np.arange(len(y)), problem.weights[b].astype(int))
        return Xt.take(drawn, axis=1).T, np.asfortranarray(y[drawn]), drawn

    return rows


def celer(problem: Problem, way: str, tol: float) -> Solve:
    """prune | grow: working sets; with -newton: proximal Newton inside.

    tol goes to celer times n log 2; the gap that it then reports is some hundred times larger.
    """
    from celer import celer_path

    rows = _repeated(problem)

    def solve(b: int) -> tuple[Array, Array]:
        X, y, drawn = rows(b)
        options = {"max_iter": 200, "prune": way.startswith("prune"), "return_thetas": True}
        options |= {"use_PN": way.endswith("newton"), "tol": tol * len(y) * np.log(2.0)}
        fit = celer_path(X, y, "logreg", alphas=problem.lams, **options)
        dual = np.zeros((len(problem.lams), len(problem.y)))
        np.add.at(dual, (slice(None), drawn), -fit[3])
        return fit[1].T, dual

    return solve


def skglm(problem: Problem, way: str, tol: float) -> Solve:
    """newton: `ProxNewton`; anderson: `AndersonCD`, for labels. tol: gradient left over lam_max."""
    from skglm.datafits import Cox, Logistic, Poisson
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD, ProxNewton
    from skglm.utils.jit_compilation import compiled_clone

    rows = _repeated(problem)
    loss = {"logistic": Logistic, "poisson": Poisson, "cox": Cox}[problem.kind]
    p = problem.X.shape[1]

    def anderson(b: int) -> tuple[Array, None]:
        X, y, _ = rows(b)
        alphas = problem.lams / len(y)
        solver = AndersonCD(tol=tol * alphas[0], max_iter=200, fit_intercept=problem.intercept)
        return solver.path(X, y, loss(), L1(alphas[0]), alphas)[1].T[:, :p], None

    compiled, penalty = compiled_clone(loss()), compiled_clone(L1(1.0))

    def newton(b: int) -> tuple[Array, None]:
        X, y, _ = rows(b)
        alphas = problem.lams / len(y)
        solver = ProxNewton(tol=tol * alphas[0], max_iter=200, fit_intercept=problem.intercept)
        compiled.initialize(X, y)
        w = np.zeros(p + problem.intercept)
        fitted = np.zeros(len(y))
        W = np.empty((len(alphas), p))
        for row, alpha in enumerate(alphas):  # it has no path
            penalty.alpha = alpha
            w = solver.solve(X, y, compiled, penalty, w, fitted)[0]  # both are updated in place
            W[row] = w[:p]
        return W, None

    return {"anderson": anderson, "newton": newton}[way]


def adelie(problem: Problem, way: str, tol: float) -> Solve:
    """shared: weights on the whole X; rows: on rows of positive count; -strong: another screening.

    tol is adelie's for its outer loop, which reweights. The inner descent stays loose; with -tight
    it has a tenth of tol.
    """
    import adelie as ad

    Xt = np.ascontiguousarray(problem.X.T)
    whole = ad.matrix.dense(problem.X, method="naive")
    options: dict[str, Any] = {"early_exit": False, "progress_bar": False}
    options |= {"irls_tol": tol, "tol": 0.1 * tol if "tight" in way else 1e-8}
    options["intercept"] = problem.intercept
    options["screen_rule"] = "strong" if "strong" in way else "pivot"

    def solve(b: int) -> tuple[Array, None]:
        c, y, event = problem.weights[b], problem.y, problem.event
        total = c.sum()
        X = whole
        if not way.startswith("shared"):
            keep = np.flatnonzero(c)
            X = ad.matrix.dense(Xt.take(keep, axis=1).T, method="naive")
            c, y = c[keep], y[keep]
            event = None if event is None else event[keep]
        c = c / total
        if problem.kind == "cox":
            start = np.full(len(y), -1.0)
            glm = ad.glm.cox(start, y, event, weights=c, tie_method="breslow")
        else:
            family = {"logistic": ad.glm.binomial, "poisson": ad.glm.poisson}[problem.kind]
            glm = family(y=y, weights=c)
        state = ad.grpnet(X, glm, lmda_path=problem.lams / total, **options)
        return state.betas.toarray(), None

    return solve


ADAPTERS: dict[str, Callable[[Problem, str, float], Solve]] = {
    "celer": celer,
    "skglm": skglm,
    "adelie": adelie,
}
