r"""Knockoff statistics of groups of columns of a stored table, which is never made dense.

One lasso is fitted to the columns, their copies and the columns that are kept without a penalty.
All columns have variance one. For a group g of columns

.. math:: W_g = \sum_{j \in g} |b_j| - \sum_{j \in g} |\tilde b_j| .

The penalty is chosen by cross-validation on both halves together, so that an exchange of a group
with its copies changes the sign of W_g and nothing else.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import DoesNotApply
from selica._core.types import Array, IntArray
from selica.solvers import LassoBatch
from selica.solvers.designs import DesignTable, side_by_side
from selica.solvers.ensemble import make_problem, solve
from selica.solvers.two_bit import TwoBitTable, two_bit_design
from selica.statistics.cross_validation import Validation
from selica.statistics.data import Data, lam_from_average, path_from, ridge_of_ratio

_NOTHING = 1e300
"""A penalty at which no column enters."""


class PairSizes(NamedTuple):
    """Sizes of coefficients of columns and of their copies, and the penalty."""

    own: Array
    """(p,): of the columns, each of variance one."""
    copy: Array
    """(p,): of the copies."""
    penalty: float
    """In glmnet's unit."""

    def statistics(self, groups: IntArray) -> Array:
        """Return W of each group; groups are numbered from 0 on."""
        return np.asarray(np.bincount(groups, self.own - self.copy), dtype=float)

    def leading(self, groups: IntArray) -> IntArray:
        """Return the column of each group with the largest coefficient, the first of several."""
        order = np.lexsort((np.arange(groups.size), -self.own, groups))
        first = np.searchsorted(groups[order], np.arange(int(groups.max()) + 1))
        return np.asarray(order[first])


def standard_two_bit(codes: Any, n_rows: int, columns: Any = None) -> TwoBitTable:
    """Return genotypes in two bits as columns of mean zero and variance one.

    A missing call is the mean of the calls; a column that does not vary is zero.

    Parameters
    ----------
    codes, n_rows, columns
        As in `solvers.two_bit_design`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import pack_two_bit
    >>> from selica.statistics.clumps import standard_two_bit
    >>> codes = pack_two_bit(np.array([[0, 1], [2, 1], [0, -1], [2, 1]], dtype=np.int8))
    >>> standard_two_bit(codes, 4).dense().T.tolist()
    [[-1.0, 1.0, -1.0, 1.0], [0.0, 0.0, 0.0, 0.0]]
    """
    plain = two_bit_design(codes, n_rows, columns)
    mean, variance = plain.moments()
    unit = np.where(variance > 0.0, 1.0 / np.sqrt(np.where(variance > 0.0, variance, 1.0)), 1.0)
    return two_bit_design(codes, n_rows, plain.columns, unit, mean, plain.fill)


def pair_sizes(
    data: Data,
    table: DesignTable,
    copies: DesignTable,
    rng: np.random.Generator,
    *,
    penalty: float | None = None,
    n_folds: int = 5,
    n_jobs: int | None = None,
) -> PairSizes:
    """Fit the columns of a table beside their copies, and return the sizes of coefficients.

    Parameters
    ----------
    data : Data
        Response, weights and columns to keep; it has no other columns.
    table, copies : DesignTable of shape (n, p)
        Columns of mean zero and variance one, and their knockoff copies.
    rng : Generator
        For the folds.
    penalty : float, optional
        In glmnet's unit; by default from cross-validation.
    n_folds : int
    n_jobs : int, optional
        As in `solvers.lasso_path_batch`.
    """
    if data.loss.several:
        raise DoesNotApply("response: clumps are not selected for several classes; use two.")
    p = table.shape[1]
    fits = _Fits(data, table, copies, n_jobs)
    if penalty is not None:
        row = fits.fit(np.array([penalty]), np.ones((1, data.n_rows))).sparse[[0]]
        return PairSizes(*_halves(row, p), float(penalty))
    top = fits.largest_penalty()
    run = Validation(data, rng, n_folds, path_from(top, (data.n_rows, 2 * p)), early=True)
    while not run.over:
        fit = fits.fit(run.ahead, run.weights)
        # of a fit its place among all of them is passed on; its coefficients are looked up there
        places = fits.add(fit.sparse).reshape(*fit.intercept.shape, 1)
        run.take(places, fit.intercept, fits.predictors)
    found = run.result()
    row = fits.row(int(found.coef[found.best, 0]))
    return PairSizes(*_halves(row, p), float(found.penalties[found.best]))


def _halves(row: Any, p: int) -> tuple[Array, Array]:
    """Return the sizes of the coefficients of columns and copies."""
    size = np.abs(np.asarray(row.toarray()).ravel()[: 2 * p])
    return size[:p], size[p:]


class _Fits:
    """Sparse fits on columns, copies and kept columns, and their predictions."""

    def __init__(
        self, data: Data, table: DesignTable, copies: DesignTable, n_jobs: int | None
    ) -> None:
        kept = [] if data.keep is None else [data.keep]
        self.data, self.n_jobs = data, n_jobs
        self.design = side_by_side([table, copies, *kept])
        columns = self.design.shape[1]
        self.free = np.arange(columns) >= columns - data.n_kept if kept else None
        self.parts: list[Any] = []
        self.starts = [0]

    def fit(self, penalties: Array, weights: Array) -> LassoBatch:
        """Fit all members at all penalties."""
        data, rows = self.data, weights * self.data.weight
        lams = lam_from_average(penalties, rows)
        problem = make_problem(
            self.design, data.y, lams, rows, data.loss, keep="sparse",
            lam2=ridge_of_ratio(lams, data.l1_ratio), fit_intercept=data.loss.identified,
            unpenalised=self.free,
        )  # fmt: skip
        return solve(problem, self.n_jobs)

    def largest_penalty(self) -> float:
        """Return the smallest penalty, in glmnet's unit, at which nothing is selected."""
        fit = self.fit(np.array([_NOTHING]), np.ones((1, self.data.n_rows)))
        assert fit.lam_max is not None
        return float(fit.lam_max[0] / self.data.weight.sum())

    def add(self, sparse: Any) -> Array:
        """Keep coefficients, (fits, columns), and return the places of the fits."""
        rows = sparse.tocsr()
        self.parts.append(rows)
        start = self.starts[-1]
        self.starts.append(start + rows.shape[0])
        active = np.unique(rows.indices)
        self.active, self.columns = active, self.design.columns_of(active)
        return np.arange(start, start + rows.shape[0], dtype=float)

    def row(self, place: int) -> Any:
        """Return the coefficients of a fit, (1, columns)."""
        part = int(np.searchsorted(self.starts, place, side="right")) - 1
        return self.parts[part][[place - self.starts[part]]]

    def predictors(self, rows: Any, places: Array) -> Array:
        """Return predictors of some rows without the intercept, by fits that were added last."""
        numbers = places[:, 0].astype(np.intp) - self.starts[-2]
        coef = self.parts[-1][numbers][:, self.active].toarray()
        return np.asarray(self.columns[rows] @ coef.T)
