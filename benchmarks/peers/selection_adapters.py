"""One function a peer: (problem, question) -> the mask of the selected columns.

Peers are imported here and nowhere else (those in R: `selecting.R`). Columns come standardised and
a linear response centred where the peer does not do it itself, as its users are told to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .exchange import Array
from .selecting import Problem, Question

Select = Callable[[Problem, Question], ArrayLike]


def standardised(problem: Problem) -> tuple[Array, Array]:
    """Columns of mean 0 and variance 1; the response without its mean unless it is binary."""
    X = problem.X - problem.X.mean(axis=0)
    spread = X.std(axis=0)
    X /= np.where(spread > 0, spread, 1.0)
    y = problem.y if problem.response == "binary" else problem.y - problem.y.mean(axis=0)
    return X, y


def knockpy(statistic: str) -> Select:
    """Gaussian model-X copies (MVR, Ledoit-Wolf covariance); a binary response is recognised."""

    def select(problem: Problem, question: Question) -> ArrayLike:
        from knockpy import KnockoffFilter

        X, y = standardised(problem)
        return KnockoffFilter(fstat=statistic, ksampler="gaussian").forward(
            X=X, y=y, fdr=question.level
        )

    return select


def trex(problem: Problem, question: Question) -> ArrayLike:
    """T-Rex with 20 experiments; it standardises by itself.

    Its variants for dependent columns ("trex+DA+BT", "trex+DA+NN") end with an error of shapes in
    trexselector 0.6.18; the others want the form of the dependence.
    """
    from trexselector import trex

    seed = problem.seed % 2**31
    found = trex(problem.X, problem.y, tFDR=question.level, seed=seed, verbose=False)
    return np.isin(np.arange(problem.X.shape[1]), found["selected_var"])


def ipss(base: str) -> Select:
    """Integrated path stability selection: q-values for FDR, efp scores for false selections."""

    def select(problem: Problem, question: Question) -> ArrayLike:
        from ipss import ipss

        found = ipss(problem.X, problem.y, selector=base)
        scores = found["q_values" if question.target == "fdr" else "efp_scores"]
        return np.array([scores[j] for j in range(problem.X.shape[1])]) <= question.level

    return select


def hidimstat_knockoffs(problem: Problem, question: Question) -> ArrayLike:
    """One Gaussian model-X copy, equicorrelated, Ledoit-Wolf covariance, lasso coefficients."""
    from hidimstat import ModelXKnockoff

    X, y = standardised(problem)
    knockoffs = ModelXKnockoff(random_state=problem.seed)
    knockoffs.fit_importance(X, y)
    return knockoffs.fdr_selection(fdr=question.level)


def _by_pvalues(test: Any, question: Question) -> ArrayLike:
    """Benjamini-Hochberg for FDR, Bonferroni for the expected number of false selections."""
    if question.target == "fdr":
        return test.fdr_selection(fdr=question.level)
    return test.pvalues_ < question.level / len(test.pvalues_)


def hidimstat_dcrt(problem: Problem, question: Question) -> ArrayLike:
    """Distilled conditional randomisation: lasso for y and for each column.

    Without the screening, as in its examples: the default looks at a tenth of the columns only.
    """
    from hidimstat import D0CRT
    from sklearn.linear_model import LassoCV

    X, y = standardised(problem)
    test = D0CRT(LassoCV(), screening_threshold=None, random_state=problem.seed)
    test.fit_importance(X, y)
    return _by_pvalues(test, question)


def hidimstat_desparsified(problem: Problem, question: Question) -> ArrayLike:
    """Desparsified lasso, with the penalties of its documentation for the lasso of each column.

    hidimstat 0.4.0 sets them only where `preconfigure_model_x_path` is None; with its default all
    are 1, so that every column is taken for independent of the others.
    """
    from hidimstat import DesparsifiedLasso

    X, y = standardised(problem)
    test = DesparsifiedLasso(preconfigure_model_x_path=None, random_state=problem.seed)
    test.fit_importance(X, y)
    return _by_pvalues(test, question)


def boruta(problem: Problem, question: Question) -> ArrayLike:
    """Boruta as in its documentation: forests of depth 5, as many trees as it wants."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    seed = problem.seed % 2**31
    forest = RandomForestRegressor(n_jobs=1, max_depth=5)
    if problem.response == "binary":
        forest = RandomForestClassifier(n_jobs=1, class_weight="balanced", max_depth=5)
    selector = BorutaPy(forest, n_estimators="auto", random_state=seed)
    return selector.fit(problem.X, problem.y).support_


ADAPTERS: dict[str, Select] = {
    "knockpy-lcd": knockpy("lcd"),
    "knockpy-mlr": knockpy("mlr"),
    "trex": trex,
    "ipss-lasso": ipss("l1"),
    "ipss-boosting": ipss("gb"),
    "hidimstat-knockoffs": hidimstat_knockoffs,
    "hidimstat-dcrt": hidimstat_dcrt,
    "hidimstat-desparsified": hidimstat_desparsified,
    "boruta": boruta,
}
