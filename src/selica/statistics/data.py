"""A table and a response in the form the statistics work with: standardised columns, one loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.losses import Loss, loss_of
from selica._core.types import Array, BoolArray, Progress
from selica.solvers import LassoBatch
from selica.solvers.ensemble import make_problem, solve

_CONSTANT = 1e-12
"""A column whose standard deviation is below this share of its size is constant to rounding."""


class Data(NamedTuple):
    """Standardised columns and a response.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics import make_data
    >>> X, y = np.array([[1.0, 5.0], [3.0, 5.0], [5.0, 5.0]]), np.array([1.0, 2.0, 3.0])
    >>> data = make_data(X, y, "squared")
    >>> data.X.round(3).tolist(), data.varies.tolist()
    ([[-1.225, 0.0], [0.0, 0.0], [1.225, 0.0]], [True, False])
    """

    X: Array
    """(n, p), columns of weighted mean 0 and variance 1; constant ones are zero."""
    y: Array
    """(n,): in the unit in which the loss is fitted, e.g. divided by `y_scale`, or 0 and 1."""
    loss: Loss
    """What is fitted to the response."""
    weight: Array
    """(n,): weights of the rows, of mean one."""
    varies: BoolArray
    """(p,): columns that are not constant."""
    x_scale: Array
    """(p,): what the columns were divided by."""
    y_scale: float
    """What the response was divided by; 1 for a binary response."""
    l1_ratio: float = 1.0
    """Share of the l1 norm in the penalty: 1 is the lasso, less an elastic net."""


def standardised(X: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Return columns of weighted mean 0 and variance 1, and what they were divided by.

    Column by column, so that exchanging a column with its knockoff exchanges the results. A
    constant column becomes zero, with a scale of one.
    """
    share = None if weight is None else weight / weight.sum()
    mean = X.mean(axis=0) if share is None else share @ X
    centred = X - mean
    square = (centred**2).mean(axis=0) if share is None else share @ centred**2
    scale = np.sqrt(square)
    flat = scale <= _CONSTANT * np.abs(X).max(axis=0, initial=0.0)
    scale = np.where(flat, 1.0, scale)
    centred /= scale
    centred[:, flat] = 0.0
    return centred, scale


def make_data(X: Array, y: Array, loss: str | Loss, weight: Array | None = None) -> Data:
    """Standardise a table and, as the loss asks for it, the response.

    Parameters
    ----------
    X : array of shape (n, p)
    y : array of shape (n,)
    loss : str or Loss
        By name or by response, or the loss itself.
    weight : array of shape (n,), optional
        Weights of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics import make_data
    >>> data = make_data(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([0.0, 4.0]), "squared")
    >>> data.X[:, 0].tolist(), data.y.tolist(), data.varies.tolist()
    ([-1.0, 1.0], [-1.0, 1.0], [True, False])
    """
    rows = np.ones(X.shape[0]) if weight is None else weight / weight.mean()
    columns, scale = standardised(X, weight)
    varies = np.asarray(columns.any(axis=0))
    kind = loss_of(loss)
    y, y_scale = kind.standardised(y, rows)
    return Data(columns, y, kind, rows, varies, scale, y_scale)


def beside(data: Data, columns: Array) -> Data:
    """Return the data with further columns, standardised in the same way."""
    more, scale = standardised(columns, None if np.all(data.weight == 1.0) else data.weight)
    return data._replace(
        X=np.concatenate([data.X, more], axis=1),
        varies=np.concatenate([data.varies, more.any(axis=0)]),
        x_scale=np.concatenate([data.x_scale, scale]),
    )


def lam_from_average(penalty: ArrayLike, weights: ArrayLike) -> Array:
    """Return penalties of sums over rows from those of weighted averages, for each member.

    glmnet (``lambda``) and scikit-learn (``alpha``) divide the loss by the total weight of the
    rows; `selica.solvers` do not. For weights of shape (B, n) and L penalties the result has the
    shape (B, L); with one penalty, (B,).

    Examples
    --------
    >>> from selica.statistics.data import lam_from_average
    >>> lam_from_average([0.5, 0.1], [[1.0, 1.0, 2.0]]).tolist()
    [[2.0, 0.4]]
    """
    return np.asarray(np.multiply.outer(np.asarray(weights).sum(axis=-1), penalty))


def ridge_of_ratio(lam: ArrayLike, l1_ratio: float) -> Array:
    """Return the ridge beside a penalty, for scikit-learn's share of the l1 norm in an elastic net.

    The penalty is lam |w|_1 + lam2 |w|^2 / 2, and scikit-learn's alpha is lam / l1_ratio in the
    same unit.

    Examples
    --------
    >>> from selica.statistics.data import ridge_of_ratio
    >>> ridge_of_ratio([2.0, 0.4], 0.5).tolist()
    [2.0, 0.4]
    >>> ridge_of_ratio(2.0, 1.0).item()
    0.0
    """
    return np.asarray(np.asarray(lam) * ((1.0 - l1_ratio) / l1_ratio))


def fit_members(
    data: Data,
    penalties: Array,
    weights: Array,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> LassoBatch:
    """Fit penalised regressions with an intercept, one for each row of weights.

    With `data.l1_ratio` below one these are elastic nets, each penalty with the ridge beside it.

    Parameters
    ----------
    data : Data
    penalties : array of shape (L,)
        In glmnet's unit: the loss is averaged over the weight of the rows.
    weights : array of shape (B, n)
        Resampling weights; those of the rows come on top.
    n_jobs, progress, **settings
        As in `solvers.lasso_path_batch`.
    """
    rows = weights * data.weight
    lams = lam_from_average(np.atleast_1d(penalties), rows)
    lam2 = ridge_of_ratio(lams, data.l1_ratio)
    problem = make_problem(
        data.X, data.y, lams, rows, data.loss, lam2=lam2, fit_intercept=True, **settings
    )
    return solve(problem, n_jobs, progress)


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
    copies : sequence of k arrays of shape (n, p)
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
        With k m members and 2 p columns: the variables, then their copies.
    """
    k, m, n = weights.shape
    rows = (weights * data.weight).reshape(k * m, n)
    lams = np.repeat(penalties, m, axis=0) * rows.sum(axis=1, keepdims=True)
    columns = [np.asfortranarray(copy) for copy in copies]
    problem = make_problem(
        data.X, data.y, lams, rows, data.loss, lam2=ridge_of_ratio(lams, data.l1_ratio),
        fit_intercept=True, copies=lambda member: columns[member // m],
        copies_are_shared=m > 1, **settings,
    )  # fmt: skip
    return solve(problem, n_jobs)


def largest_penalty(data: Data) -> float:
    """Return the smallest penalty, in glmnet's unit, at which nothing is selected."""
    pull = np.abs(data.loss.null(data.y, data.weight).gradient @ data.X)
    return float(pull.max(initial=0.0) / data.weight.sum())


def penalty_path(data: Data, n_penalties: int = 60, ratio: float | None = None) -> Array:
    """Return penalties from the largest down, evenly spaced in their logarithms."""
    return path_from(largest_penalty(data), data.X.shape, n_penalties, ratio)


def path_from(
    top: float, shape: tuple[int, ...], n_penalties: int = 60, ratio: float | None = None
) -> Array:
    """Return penalties from `top` down, for a table of this shape."""
    n, p = shape
    smallest = ratio if ratio is not None else (1e-2 if n <= p else 1e-3)
    return np.geomspace(top, smallest * top, n_penalties) if top > 0.0 else np.zeros(1)
