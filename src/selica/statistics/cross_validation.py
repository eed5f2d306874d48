"""The penalty by cross-validation: all folds are members of one ensemble."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from selica._core.losses.base import RowLoss
from selica._core.results import Result
from selica._core.types import Array, BoolArray, IntArray
from selica.statistics.data import Data, penalty_path
from selica.statistics.fits import fit_members

_ENDS = (20, 30, 40, 50, 60)
"""Places of a default path at which it may end."""
_PATIENCE = 5
"""It does, where its smallest error lies this many places before."""
_CONSTANT_OF_NO_CLASS = -30.0
"""Constant of a class that a fold does not have: rows of it are very unlikely, not impossible."""
_NO_MASS = 1e-300
"""Keeps a division defined where no fold has any event."""


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
    """Return the fold of each row, at random; strata of the loss are spread evenly.

    Rows that belong together are in one fold.
    """
    if data.units is not None:
        place = np.empty(data.n_units, dtype=np.intp)
        place[rng.permutation(data.n_units)] = np.arange(data.n_units) % n_folds
        return place[data.units]
    n = data.n_rows
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
        n_folds = min(n_folds, data.n_units)
        place = folds(data, n_folds, rng)
        self._data, self._path = data, path
        self._left_out = place[None, :] == np.arange(n_folds)[:, None]
        ones = np.ones((1, data.n_rows))
        self.weights: Array = np.concatenate([np.where(self._left_out, 0.0, 1.0), ones])
        self._mass = np.zeros(n_folds)
        self._ends = [end for end in _ENDS if end < path.size] if early else []
        self._ends.append(path.size)
        self._excess: list[Array] = []
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
        coef : array of shape (folds + 1, L, columns), or (folds + 1, L, columns, K)
        intercept : array of shape (folds + 1, L), or (folds + 1, L, K)
        predict : callable
            ``predict(rows, coef)`` returns the predictors of some rows without the intercept,
            (rows, L), or (rows, L, K) for K classes.
        """
        loss, y, weight = self._data.loss, self._data.y, self._data.weight
        by_rows = isinstance(loss, RowLoss) or loss.several
        constant = np.where(np.isneginf(intercept), _CONSTANT_OF_NO_CLASS, intercept)
        excess = np.empty((len(self._left_out), coef.shape[1]))
        for k, out in enumerate(self._left_out):
            # a sum over rows asks for the rows that were left out, risk sets for all of them
            rows = out if by_rows else np.ones_like(out)
            line = np.moveaxis(predict(rows, coef[k]) + constant[k], 0, 1)
            found = loss.held_out_score(y[rows], weight[rows], out[rows], line)
            excess[k], self._mass[k] = found.deviance, found.mass
        self._excess.append(excess)
        self._coef.append(coef[-1])
        self._done = self._ends.pop(0)
        total = np.hstack(self._excess).sum(axis=0)
        place = int(np.argmin(total))
        self.over = not self._ends or place < self._done - _PATIENCE

    def result(self) -> CrossValidation:
        """Return errors and fits along the path as far as it went."""
        excess, path = np.hstack(self._excess), self._path[: self._done]
        share = self._mass / max(self._mass.sum(), _NO_MASS)
        error = excess.sum(axis=0) / max(self._mass.sum(), _NO_MASS)
        some = self._mass > 0.0
        errors = excess[some] / self._mass[some, None]
        spread = np.sqrt(share[some] @ (errors - error) ** 2 / max(len(errors) - 1, 1))
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
    p = data.X.shape[1]

    def predict(rows: BoolArray, coef: Array) -> Array:
        return predictors(data, rows, coef, data.X)

    while not run.over:
        fit = fit_members(data, run.ahead, run.weights, keep="coef", whole=True, **settings)
        assert fit.coef is not None
        run.take(fit.coef, fit.intercept, predict)
    found = run.result()
    return found if data.keep is None else replace(found, coef=found.coef[:, :p])


def predictors(data: Data, rows: BoolArray, coef: Array, *tables: Array) -> Array:
    """Return the predictors of some rows without the intercept, (rows, L) or (rows, L, K).

    Parameters
    ----------
    data : Data
    rows : boolean array of shape (n,)
    coef : array of shape (L, columns), or (L, columns, K) for K classes
        Of the columns of each table, each followed by those of `data.keep`.
    *tables : arrays of shape (n, p)
    """
    total: Array | float = 0.0
    start = 0
    for table in tables:
        parts = [table] if data.keep is None else [table, data.keep]
        for part in parts:
            some = coef[:, start : start + part.shape[1]]
            start += part.shape[1]
            total = total + (
                part[rows] @ some.T
                if coef.ndim == 2
                else np.einsum("nc,lck->nlk", part[rows], some)
            )
    return np.asarray(total)
