"""The penalty by cross-validation: all folds are members of one ensemble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from selica._core.results import Result
from selica._core.types import Array, BoolArray, IntArray
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


class Validation:
    """A cross-validation on its way along the path, a few penalties at a time.

    Parameters
    ----------
    data : Data
        Response, weights and loss; the columns may be others.
    rng : Generator
        Shuffles the rows into folds.
    n_folds : int
        At most the number of rows.
    path : array of shape (L,)
        Penalties in glmnet's unit, from large to small.
    early : bool
        Whether the path ends where its error has clearly risen: small penalties take longest.

    Attributes
    ----------
    weights : array of shape (folds + 1, n)
        Members that have to be fitted: without each of the folds, and with all rows.
    over : bool
        Whether the path has ended.
    """

    def __init__(
        self, data: Data, rng: np.random.Generator, n_folds: int, path: Array, early: bool
    ) -> None:
        n_folds = min(n_folds, data.y.size)
        place = folds(data, n_folds, rng)
        self._data, self._path = data, path
        self._left_out = place[None, :] == np.arange(n_folds)[:, None]
        ones = np.ones((1, data.y.size))
        self.weights: Array = np.concatenate([np.where(self._left_out, 0.0, 1.0), ones])
        self._mass = self._left_out @ data.weight
        self._share = self._mass / self._mass.sum()
        self._ends = [end for end in _ENDS if end < path.size] if early else []
        self._ends.append(path.size)
        self._errors: list[Array] = []
        self._coef: list[Array] = []
        self._done = 0
        self.over = False

    @property
    def ahead(self) -> Array:
        """Return the penalties that have to be fitted next."""
        return self._path[self._done : self._ends[0]]

    def take(
        self, coef: Array, intercept: Array, predict: Callable[[BoolArray, Array], Array]
    ) -> None:
        """Take fits at the penalties `ahead`.

        Parameters
        ----------
        coef : array of shape (folds + 1, L, columns)
        intercept : array of shape (folds + 1, L)
        predict : callable
            ``predict(rows, coef)`` returns the predictors of some rows without the intercept.
        """
        errors = np.empty((len(self._left_out), coef.shape[1]))
        for k, rows in enumerate(self._left_out):
            line = predict(rows, coef[k]) + intercept[k]
            deviance = self._data.loss.deviance(self._data.y[rows, None], line)
            errors[k] = self._data.weight[rows] @ deviance / self._mass[k]
        self._errors.append(errors)
        self._coef.append(coef[-1])
        self._done = self._ends.pop(0)
        place = int(np.argmin(self._share @ np.hstack(self._errors)))
        self.over = not self._ends or place < self._done - _PATIENCE

    def result(self) -> CrossValidation:
        """Return errors and fits along the path as far as it went."""
        errors, path = np.hstack(self._errors), self._path[: self._done]
        error = self._share @ errors
        spread = np.sqrt(self._share @ (errors - error) ** 2 / max(len(errors) - 1, 1))
        best = int(np.argmin(error))
        near = int(np.argmax(error <= error[best] + spread[best]))
        return CrossValidation(path, error, spread, np.concatenate(self._coef), best, near)


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
    run = Validation(data, rng, n_folds, path, early=penalties is None)
    while not run.over:
        fit = fit_members(data, run.ahead, run.weights, keep="coef", **settings)
        assert fit.coef is not None
        run.take(fit.coef, fit.intercept, lambda rows, coef: data.X[rows] @ coef.T)
    return run.result()
