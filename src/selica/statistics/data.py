"""A table and a response in the form the statistics work with: standardised columns, one loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.losses import Loss, loss_of
from selica._core.types import Array, BoolArray, IntArray
from selica.solvers import LassoBatch, multinomial_path_batch
from selica.solvers.ensemble import make_problem, solve
from selica.statistics.imputation import Imputation

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
    """(n, p), columns of weighted mean 0 and variance 1; constant ones are zero. Of a table that
    stays as it is stored, `statistics.stored.StoredColumns`, which makes blocks of them."""
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
    keep: Array | None = None
    """(n, k): further columns, standardised, that are in every fit, without a penalty."""
    units: IntArray | None = None
    """(n,): number of the unit to which a row belongs; None where every row is its own."""
    variable: IntArray | None = None
    """(p,): number of the variable to which a column belongs; None where every column is one. Where
    variables are in groups, the number of the group: what is selected or not as a whole."""
    member: IntArray | None = None
    """(p,): number of the variable itself where `variable` is that of a group; else None."""
    imputation: Imputation | None = None
    """Which values were missing, and how they are filled in for some of the rows."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.weight.size)

    @property
    def n_units(self) -> int:
        """Number of units: groups of rows that belong together, or else rows."""
        return self.n_rows if self.units is None else int(self.units.max()) + 1

    @property
    def n_variables(self) -> int:
        """Number of variables, some of which may have several columns, or of groups of them."""
        return self.X.shape[1] if self.variable is None else int(self.variable.max()) + 1

    @property
    def n_kept(self) -> int:
        """Number of columns without a penalty."""
        return 0 if self.keep is None else int(self.keep.shape[1])

    @property
    def stored(self) -> bool:
        """Whether columns stay as they are stored, in their own units."""
        return not isinstance(self.X, np.ndarray)

    @property
    def plain(self) -> bool:
        """Whether rows and columns are just that: independent, complete, one variable each."""
        return all(part is None for part in (self.keep, self.units, self.variable, self.imputation))

    @property
    def variables_vary(self) -> BoolArray:
        """(variables,): those that have a column which is not constant."""
        return np.asarray(self.summed(self.varies.astype(float)) > 0.0)

    def summed(self, values: Array) -> Array:
        """Return the sums over the columns of each variable, (..., variables)."""
        if self.variable is None:
            return values
        return self._over_columns(np.add, values)

    def largest(self, values: Array) -> Array:
        """Return the largest value of the columns of each variable, (..., variables)."""
        if self.variable is None:
            return values
        return self._over_columns(np.maximum, values)

    def _over_columns(self, join: Any, values: Array) -> Array:
        """Return values of columns joined by a function, variable by variable."""
        assert self.variable is not None
        order = np.argsort(self.variable, kind="stable")
        first = np.searchsorted(self.variable[order], np.arange(self.n_variables))
        return np.asarray(join.reduceat(values[..., order], first, axis=-1))

    def some_columns(self, which: Any) -> Data:
        """Return the data with some of the columns; variables without any are no longer counted."""
        variable, member = (
            None if one is None else np.unique(one[which], return_inverse=True)[1]
            for one in (self.variable, self.member)
        )
        filled = None if self.imputation is None else self.imputation.some_columns(which)
        return self._replace(
            X=self.X[:, which], varies=self.varies[which], x_scale=self.x_scale[which],
            variable=variable, member=member, imputation=filled,
        )  # fmt: skip

    def some_rows(self, which: Any) -> Data:
        """Return the data with some of the rows; their columns keep their scale."""
        filled = None if self.imputation is None else self.imputation.some_rows(which)
        return self._replace(
            X=self.X[which], y=self.y[which], weight=self.weight[which], imputation=filled,
            keep=None if self.keep is None else self.keep[which],
            units=None if self.units is None else self.units[which],
        )  # fmt: skip


def standardised(X: Array, weight: Array | None = None) -> tuple[Array, Array]:
    """Return columns of weighted mean 0 and variance 1, and what they were divided by.

    Column by column, so that exchanging a column with its knockoff exchanges the results: sums are
    taken in the same order whatever the layout of the table in memory. A constant column becomes
    zero, with a scale of one.
    """
    X = np.asfortranarray(X)
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


def make_data(
    X: Array,
    y: Array,
    loss: str | Loss,
    weight: Array | None = None,
    *,
    keep: Array | None = None,
    units: IntArray | None = None,
    variable: IntArray | None = None,
    imputation: Imputation | None = None,
) -> Data:
    """Standardise a table and, as the loss asks for it, the response.

    Parameters
    ----------
    X : array of shape (n, p)
    y : array of shape (n,)
    loss : str or Loss
        By name or by response, or the loss itself.
    weight : array of shape (n,), optional
        Weights of the rows.
    keep : array of shape (n, k), optional
        Columns to fit without a penalty. Constant ones are left out.
    units : array of int, shape (n,), optional
        Rows with the same number belong together.
    variable : array of int, shape (p,), optional
        Columns with the same number belong to one variable.
    imputation : Imputation, optional
        By which values of X that were missing have been filled in.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.statistics import make_data
    >>> data = make_data(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([0.0, 4.0]), "squared")
    >>> data.X[:, 0].tolist(), data.y.tolist(), data.varies.tolist()
    ([-1.0, 1.0], [-1.0, 1.0], [True, False])
    """
    rows = np.ones(X.shape[0]) if weight is None else weight / weight.mean()
    # as copies are standardised later, to the last bit
    even = None if np.all(rows == 1.0) else rows
    columns, scale = standardised(X, even)
    varies = np.asarray(columns.any(axis=0))
    kind = loss_of(loss)
    y, y_scale = kind.standardised(y, rows)
    data = Data(
        columns, y, kind, rows, varies, scale, y_scale, units=units, variable=variable,
        imputation=imputation,
    )  # fmt: skip
    return data if keep is None else data._replace(keep=kept_columns(keep, rows))


def kept_columns(keep: Array, weight: Array) -> Array | None:
    """Return columns without a penalty in standard form; None where all are constant."""
    kept, _ = standardised(keep, None if np.all(weight == 1.0) else weight)
    kept = kept[:, kept.any(axis=0)]
    return kept if kept.shape[1] else None


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


def null_predictors(data: Data, rows: Array) -> Array:
    """Return the predictors of all rows without any variable.

    Columns of `data.keep` are fitted.

    Parameters
    ----------
    data : Data
    rows : array of shape (..., n)
        Weights of the rows.

    Returns
    -------
    array of shape (..., n), or (..., n, K) for K classes
    """
    flat = rows.reshape(-1, data.n_rows)
    if data.keep is None:
        intercept = data.loss.null(data.y, flat).intercept[:, None]
        eta = np.broadcast_to(intercept, (*flat.shape, *intercept.shape[2:]))
    else:
        free = np.ones(data.n_kept, dtype=bool)
        lams = np.ones((len(flat), 1))
        fit: LassoBatch
        if data.loss.several:
            fit = multinomial_path_batch(data.keep, data.y, lams, flat, unpenalised=free)
            assert fit.coef is not None
            eta = np.einsum("nk,bkc->bnc", data.keep, fit.coef[:, 0]) + fit.intercept[:, 0, None]
        else:
            problem = make_problem(
                data.keep, data.y, lams, flat, data.loss, unpenalised=free,
                fit_intercept=data.loss.identified,
            )  # fmt: skip
            fit = solve(problem)
            assert fit.coef is not None
            eta = fit.coef[:, 0] @ data.keep.T + fit.intercept
    return np.asarray(eta.reshape(*rows.shape, *eta.shape[2:]))


def null_gradient(data: Data, rows: Array) -> Array:
    """Return the slopes of the loss in the predictors of all rows, without any variable.

    Columns of `data.keep` are fitted.

    Parameters
    ----------
    data : Data
    rows : array of shape (..., n)
        Weights of the rows.

    Returns
    -------
    array of shape (..., n), or (..., n, K) for K classes
    """
    if data.keep is None:
        return data.loss.null(data.y, rows).gradient
    return data.loss.gradient(data.y, rows, null_predictors(data, rows))


def pull(data: Data, gradient: Array, X: Array) -> Array:
    """Return the smallest penalty of a sum over rows at which each column stays out.

    Parameters
    ----------
    data : Data
    gradient : array of shape (..., n), or (..., n, K) for K classes
        As from `null_gradient`.
    X : array of shape (n, c)
        Columns.

    Returns
    -------
    array of shape (..., c)
    """
    if data.loss.several:
        return data.loss.pull(np.einsum("...nk,nc->...ck", gradient, X))
    return data.loss.pull(gradient @ X)


def largest_penalty(data: Data) -> float:
    """Return the smallest penalty, in glmnet's unit, at which nothing is selected."""
    size = pull(data, null_gradient(data, data.weight), data.X)
    return float(size.max(initial=0.0) / data.weight.sum())


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
