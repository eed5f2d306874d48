"""The penalty by cross-validation: all folds are members of one ensemble."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from selica._core.results import Result
from selica._core.types import Array, IntArray
from selica.statistics.data import Data, fit_members, penalty_path

_ENDS = (20, 30, 40, 50, 60)
"""Places of a default path at which it may end."""
_PATIENCE = 5
"""It does, where its smallest error lies this many places before."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CrossValidation(Result):
    """Error along the path, and the fit to all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> from selica.statistics import cross_validate, make_data
    >>> data = simulate(100, 10, 2, snr=9.0, random_state=0)
    >>> found = cross_validate(make_data(data.X, data.y, "squared"), np.random.default_rng(0))
    >>> bool(found.error[found.best] == found.error.min()), found.one_error <= found.best
    (True, True)
    """

    penalties: Array
    """(L,), in glmnet's unit, from large to small."""
    error: Array
    """(L,): mean deviance of rows left out; for a linear response the mean squared error."""
    spread: Array
    """(L,): standard error of it, from the folds."""
    coef: Array
    """(L, p): coefficients of standardised columns, fitted to all rows."""
    best: int
    """Place with the smallest error."""
    one_error: int
    """Place of the largest penalty whose error is within one standard error of the smallest."""


def folds(data: Data, n_folds: int, rng: np.random.Generator) -> IntArray:
    """Return the fold of each row, at random; strata of the loss are spread evenly."""
    n = data.y.size
    place = np.empty(n, dtype=np.intp)
    groups = [np.arange(n)]
    strata = data.loss.strata(data.y)
    if strata is not None:
        groups = [np.flatnonzero(strata == label) for label in np.unique(strata)]
    start = 0
    for rows in groups:
        place[rng.permutation(rows)] = (start + np.arange(rows.size)) % n_folds
        start += rows.size
    return place


def cross_validate(
    data: Data,
    rng: np.random.Generator,
    *,
    n_folds: int = 10,
    penalties: Array | None = None,
    **settings: Any,
) -> CrossValidation:
    """Choose the penalty by cross-validation, and fit all rows, in one call of the solver.

    Parameters
    ----------
    data : Data
    rng : Generator
        Shuffles the rows into folds.
    n_folds : int
        At most the number of rows.
    penalties : array of shape (L,), optional
        In glmnet's unit; by default a path from the largest down, which ends early where the
        error has its smallest value well before.
    **settings
        As in `solvers.lasso_path_batch`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> from selica.statistics import cross_validate, make_data
    >>> data = simulate(100, 20, 3, snr=5.0, random_state=0)
    >>> found = cross_validate(make_data(data.X, data.y, "squared"), np.random.default_rng(0))
    >>> bool(found.error[found.best] == found.error.min())
    True
    """
    path = penalty_path(data) if penalties is None else np.sort(penalties)[::-1]
    n_folds = min(n_folds, data.y.size)
    place = folds(data, n_folds, rng)
    left_out = place[None, :] == np.arange(n_folds)[:, None]
    weights = np.concatenate([np.where(left_out, 0.0, 1.0), np.ones((1, data.y.size))])
    mass = left_out @ data.weight
    share = mass / mass.sum()
    parts, coef, done = [], [], 0
    # a path by default ends where its error has clearly risen: small penalties take longest
    for end in [path.size] if penalties is not None else _ENDS:
        fit = fit_members(data, path[done:end], weights, keep="coef", **settings)
        assert fit.coef is not None
        errors = np.empty((n_folds, path[done:end].size))
        for k in range(n_folds):
            rows = left_out[k]
            line = data.X[rows] @ fit.coef[k].T + fit.intercept[k]
            deviance = data.loss.deviance(data.y[rows, None], line)
            errors[k] = data.weight[rows] @ deviance / mass[k]
        parts.append(errors)
        coef.append(fit.coef[-1])
        done = min(end, path.size)
        if done == path.size or np.argmin(share @ np.hstack(parts)) < done - _PATIENCE:
            break
    errors, path = np.hstack(parts), path[:done]
    error = share @ errors
    spread = np.sqrt(share @ (errors - error) ** 2 / max(n_folds - 1, 1))
    best = int(np.argmin(error))
    near = int(np.argmax(error <= error[best] + spread[best]))
    return CrossValidation(path, error, spread, np.concatenate(coef), best, near)
