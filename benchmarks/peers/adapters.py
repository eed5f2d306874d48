"""One function a peer: (problem, way, tol) -> a function from a member's number to its (L, p) path.

Everything a member needs (dropping the rows of zero count, scaling rows by √c, putting its copy
beside X, its Gram matrix) happens inside the returned function and is therefore timed; peers are
imported here and nowhere else. `way` names the route through the peer (`settings` holds the
fastest one a workload). Units: our lam is the peer's alpha times the number of rows passed, or
times Σc where the peer normalises weights itself. R's glmnet is in `glmnet.R`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import metadata
from typing import Any

import numpy as np

from .problem import Array, Problem

# The path, and for a peer that carries its own dual point also that, (L, n).
Solve = Callable[[int], tuple[Array, Array | None]]


def _rows(problem: Problem, scaled: bool = True) -> Callable[[int], tuple[Array, Array]]:
    """A member's rows of positive count, by default scaled by √c; columns contiguous.

    With copies nothing is dropped or scaled: the copy is written behind the columns of X, into
    one array that all members use in turn.
    """
    Xt = np.ascontiguousarray(problem.X.T)

    def rows(b: int) -> tuple[Array, Array]:
        c = problem.weights[b]
        keep = np.flatnonzero(c)
        X, y = Xt.take(keep, axis=1), problem.y[keep]
        if scaled:
            root = np.sqrt(c[keep])
            X *= root
            y *= root
        return X.T, y

    if problem.copies is None:
        return rows
    both = np.concatenate([Xt, np.empty_like(Xt)])

    def beside(b: int) -> tuple[Array, Array]:
        both[len(Xt) :] = problem.copies[b]
        return both.T, problem.y

    return beside


def sklearn(problem: Problem, way: str, tol: float) -> Solve:
    """gram | residual: coordinate descent; lars | lars-gram: the exact path, interpolated.

    tol is scikit-learn's: the gap over Σ c y². LARS has none, it is exact to rounding.
    """
    from sklearn.linear_model import lars_path, lars_path_gram, lasso_path

    rows = _rows(problem)

    def descend(b: int) -> tuple[Array, None]:
        X, y = rows(b)
        gram: dict[str, Any] = {"precompute": False}
        if way == "gram":
            gram = {"precompute": X.T @ X, "Xy": X.T @ y}
        alphas = problem.lams / len(y)
        options = {"tol": tol, "max_iter": 100_000, "check_input": False}
        return lasso_path(X, y, alphas=alphas, **gram, **options)[1].T, None

    def follow(b: int) -> tuple[Array, None]:
        X, y = rows(b)
        grid = problem.lams / len(y)
        options = {"method": "lasso", "alpha_min": grid[-1], "max_iter": 100_000}
        options["copy_X"] = problem.copies is not None  # it swaps columns
        if way == "lars-gram":
            knots, _, coefs = lars_path_gram(X.T @ y, X.T @ X, n_samples=len(y), **options)
        else:
            knots, _, coefs = lars_path(X, y, **options)
        # Between knots the path is linear; above the first it is zero.
        right = np.clip(np.searchsorted(-knots, -grid), 1, len(knots) - 1)
        step = np.clip((knots[right - 1] - grid) / (knots[right - 1] - knots[right]), 0, 1)
        return ((1 - step) * coefs[:, right - 1] + step * coefs[:, right]).T, None

    return follow if way.startswith("lars") else descend


def celer(problem: Problem, way: str, tol: float) -> Solve:
    """prune | grow: working sets that may shrink, or only grow. tol: the gap over ½ Σ c y²."""
    from celer import celer_path

    rows = _rows(problem)

    def solve(b: int) -> tuple[Array, Array]:
        X, y = rows(b)
        n = len(y)
        options = {"max_iter": 200, "prune": way == "prune", "return_thetas": True}
        absolute = tol * (y @ y) / (2 * n)
        fit = celer_path(X, y, "lasso", alphas=problem.lams / n, tol=absolute, **options)
        c = problem.weights[b]
        keep = np.flatnonzero(c)
        dual = np.zeros((len(problem.lams), len(c)))
        dual[:, keep] = fit[3] / np.sqrt(c[keep])
        return fit[1].T, dual

    return solve


def skglm(problem: Problem, way: str, tol: float) -> Solve:
    """anderson: working sets, residual; gram: `GramCD`. tol: violated gradient over lam_max."""
    from skglm.datafits import Quadratic
    from skglm.penalties import L1
    from skglm.solvers import AndersonCD, GramCD

    rows = _rows(problem)

    def anderson(b: int) -> tuple[Array, None]:
        X, y = rows(b)
        alphas = problem.lams / len(y)
        solver = AndersonCD(tol=tol * alphas[0], max_iter=200, fit_intercept=False)
        return solver.path(X, y, Quadratic(), L1(alphas[0]), alphas)[1].T, None

    def gram(b: int) -> tuple[Array, None]:
        X, y = rows(b)
        alphas = problem.lams / len(y)
        solver = GramCD(tol=tol * alphas[0], max_iter=100_000, fit_intercept=False, greedy_cd=False)
        W = np.zeros((len(alphas), X.shape[1]))
        for row, alpha in enumerate(alphas):  # it has no path and forms the Gram matrix each time
            W[row] = solver.solve(X, y, None, L1(alpha), W[max(row - 1, 0)].copy())[0]
        return W, None

    return {"anderson": anderson, "gram": gram}[way]


def adelie(problem: Problem, way: str, tol: float) -> Solve:
    """shared: `grpnet`, its weights on the whole X; rows: on rows of positive count; cov: Gram.

    rows-strong: strong-rule screening in the place of adelie's own. tol is adelie's: the gap
    falls as its root.
    """
    import adelie as ad

    rows, scaled_rows = _rows(problem, scaled=False), _rows(problem)
    whole = ad.matrix.dense(problem.X, method="naive")
    options: dict[str, Any] = {"tol": tol, "early_exit": False, "progress_bar": False}
    options["screen_rule"] = "strong" if way == "rows-strong" else "pivot"

    def naive(b: int) -> tuple[Array, None]:
        c, X, y = problem.weights[b], whole, problem.y
        total = c.sum()
        if way != "shared" or problem.copies is not None:
            few, y = rows(b)
            X, c = ad.matrix.dense(few, method="naive"), c[c > 0]
        glm = ad.glm.gaussian(y=y, weights=c / total)
        state = ad.grpnet(X, glm, lmda_path=problem.lams / total, intercept=False, **options)
        return state.betas.toarray(), None

    def cov(b: int) -> tuple[Array, None]:
        total = problem.weights[b].sum()
        X, y = scaled_rows(b)
        gram = np.asfortranarray(X.T @ X)
        gram /= total
        state = ad.gaussian_cov(gram, X.T @ y / total, lmda_path=problem.lams / total, **options)
        return state.betas.toarray(), None

    return cov if way == "cov" else naive


ADAPTERS: dict[str, Callable[[Problem, str, float], Solve]] = {
    "sklearn": sklearn,
    "celer": celer,
    "skglm": skglm,
    "adelie": adelie,
}


def version(peer: str) -> str:
    """Of the installed package."""
    return metadata.version({"sklearn": "scikit-learn"}.get(peer, peer))


def quiet() -> None:
    """Peers warn when they stop early; the certificate judges that better."""
    warnings.filterwarnings("ignore")
