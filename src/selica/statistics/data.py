"""A table and a response in the form the statistics work with: standardised columns, one loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.scaling import ridge_of_ratio
from selica._core.types import Array, BoolArray
from selica.solvers import LassoBatch, lasso_path_batch, logistic_path_batch

# A column whose standard deviation is below this share of its size is constant to rounding.
_CONSTANT = 1e-12


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
    """(n,): centred and divided by `y_scale`, or labels 0 and 1."""
    loss: str
    """squared or logistic."""
    weight: Array
    """(n,): weights of the rows, of mean one."""
    varies: BoolArray
    """(p,): columns that are not constant."""
    x_scale: Array
    """(p,): what the columns were divided by."""
    y_scale: float
    """What the response was divided by; 1 for labels."""
    l1_ratio: float = 1.0
    """Share of the l1 norm in the penalty: 1 is the lasso, less an elastic net."""


def standardised(X: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Columns of weighted mean 0 and variance 1, and what they were divided by.

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


def make_data(X: Array, y: Array, loss: str, weight: Array | None = None) -> Data:
    """Standardises a table and, for the squared loss, the response.

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
    y_scale = 1.0
    if loss == "squared":
        y = y - np.average(y, weights=rows)
        y_scale = float(np.sqrt(np.average(y**2, weights=rows)))
        y = y / y_scale if y_scale > 0.0 else y
    return Data(columns, y, loss, rows, varies, scale, y_scale)


def beside(data: Data, columns: Array) -> Data:
    """The data with further columns, standardised in the same way."""
    more, scale = standardised(columns, None if np.all(data.weight == 1.0) else data.weight)
    return data._replace(
        X=np.concatenate([data.X, more], axis=1),
        varies=np.concatenate([data.varies, more.any(axis=0)]),
        x_scale=np.concatenate([data.x_scale, scale]),
    )


def summed_penalties(penalties: Array, rows: Array) -> Array:
    """Return penalties of sums over rows, (B, L), from those of weighted averages.

    glmnet (``lambda``) and scikit-learn (``alpha``) divide the loss by the total weight of the
    rows; `selica.solvers` do not.

    Parameters
    ----------
    penalties : array of shape (L,)
    rows : array of shape (B, n)
        Weights of the rows in each member.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics.data import summed_penalties
    >>> summed_penalties(np.array([0.5, 0.1]), np.array([[1.0, 1.0, 2.0]])).tolist()
    [[2.0, 0.4]]
    """
    return np.asarray(np.multiply.outer(rows.sum(axis=-1), penalties))


def fit_members(data: Data, penalties: Array, weights: Array, **settings: Any) -> LassoBatch:
    """Penalised fits with an intercept, one for each row of weights.

    With `data.l1_ratio` below one these are elastic nets, each penalty with the ridge beside it.

    Parameters
    ----------
    data : Data
    penalties : array of shape (L,)
        In glmnet's unit: the loss is averaged over the weight of the rows.
    weights : array of shape (B, n)
        Resampling weights; those of the rows come on top.
    **settings
        As in `solvers.lasso_path_batch`.
    """
    rows = weights * data.weight
    solve = logistic_path_batch if data.loss == "logistic" else lasso_path_batch
    lams = summed_penalties(np.atleast_1d(penalties), rows)
    lam2 = 0.0 if data.l1_ratio == 1.0 else ridge_of_ratio(lams, data.l1_ratio)
    return solve(data.X, data.y, lams, rows, lam2=lam2, fit_intercept=True, **settings)


def largest_penalty(data: Data) -> float:
    """The smallest penalty, in glmnet's unit, at which nothing is selected."""
    centre = np.average(data.y, weights=data.weight)
    pull = np.abs((data.weight * (data.y - centre)) @ data.X)
    return float(pull.max(initial=0.0) / data.weight.sum())


def penalty_path(data: Data, n_penalties: int = 60, ratio: float | None = None) -> Array:
    """Penalties from the largest down, evenly spaced in their logarithms."""
    n, p = data.X.shape
    smallest = ratio if ratio is not None else (1e-2 if n <= p else 1e-3)
    top = largest_penalty(data)
    return np.geomspace(top, smallest * top, n_penalties) if top > 0.0 else np.zeros(1)
