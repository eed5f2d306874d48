r"""Mirror statistics of data splitting (Dai, Lin, Xing and Liu 2023).

One half of the rows selects by the lasso and estimates b1, the other estimates b2 without a
penalty on what was selected. For a linear response
:math:`M_j = \mathrm{sign}(b_1 b_2)(|b_1| + |b_2|)`. For two classes b2 is a logistic fit, whose
unit is not that of b1: its variances are known up to a common factor only, those of
:math:`[(X^T X)^{-1}]_{jj}`. There :math:`M_j = b_1 b_2 / \sqrt{[(X^T X)^{-1}]_{jj}}`, a product, so
that no common factor of either half changes the order of the variables (the same authors' paper
on generalised linear models). Either is symmetric about zero where b2 of a variable that does not
matter is.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression

from selica._core.errors import RefusedError
from selica._core.losses import require
from selica._core.types import Array
from selica.statistics.cross_validation import cross_validate, folds
from selica.statistics.data import Data, standardised

_RIDGE = 1e-3
"""A logistic fit to classes that a plane separates has no end. This much of the sum of squared
coefficients, beside a log likelihood summed over the rows, gives it one; else it is not felt."""


def mirror_statistic(data: Data, rng: np.random.Generator, *, n_folds: int = 10) -> Array:
    """Return M of every variable for a random split into halves, even for each class."""
    require("data splitting", data.loss)
    strata = data.loss.strata(data.y)
    if strata is not None and np.unique(strata, return_counts=True)[1].min() < 2:
        raise RefusedError("y must have two rows of each class, one for each half; got one.")
    place = folds(data, 2, rng)
    half, other = (data.some_rows(rows) for rows in (place == 1, place == 0))
    found = cross_validate(half, rng, n_folds=n_folds, n_jobs=1)
    b1 = np.where(data.varies, found.coef[found.best], 0.0)
    chosen = np.flatnonzero(b1)
    # a fit without penalty needs more rows than columns: the largest coefficients stay
    most = max(other.n_rows - 2 - other.n_kept, 0)
    if chosen.size > most:
        chosen = chosen[np.argsort(-np.abs(b1[chosen]), kind="stable")[:most]]
    M = np.zeros(b1.size)
    if chosen.size:
        part = other.some_columns(chosen)
        M[chosen] = (_of_numbers if data.loss.quadratic else _of_labels)(b1[chosen], part)
    return M if data.variable is None else _of_variables(data, M)


def _of_variables(data: Data, M: Array) -> Array:
    """Return the statistic of each variable: that of its column with the largest size."""
    size = np.abs(M)
    best = data.largest(size)
    sign = data.summed(np.where(size == best[data.variable], np.sign(M), 0.0))
    return np.asarray(np.sign(sign) * best)


def _with_kept(other: Data) -> Array:
    """Return the chosen columns, and after them those without a penalty."""
    return other.X if other.keep is None else np.concatenate([other.X, other.keep], axis=1)


def _of_numbers(b1: Array, other: Data) -> Array:
    """Return the sum of the sizes, with the sign of the product; b2 by least squares."""
    root = np.sqrt(other.weight)
    design = np.column_stack([np.ones(other.n_rows), _with_kept(other)])
    b2 = np.linalg.lstsq(root[:, None] * design, root * other.y, rcond=None)[0][1 : 1 + b1.size]
    return np.asarray(np.sign(b1 * b2) * (np.abs(b1) + np.abs(b2)))


def _of_labels(b1: Array, other: Data) -> Array:
    """Return the product; b2 by maximum likelihood, in units of its standard error."""
    X, _ = standardised(_with_kept(other), other.weight)
    fit = LogisticRegression(C=0.5 / _RIDGE, solver="newton-cholesky", max_iter=1000)
    b2 = fit.fit(X, other.y, sample_weight=other.weight).coef_[0][: b1.size]
    spread = np.diagonal(np.linalg.pinv((X.T * other.weight) @ X, hermitian=True))[: b1.size]
    # a column that is constant in this half has neither an estimate nor a spread
    return np.asarray(b1 * b2 / np.sqrt(np.maximum(spread, np.finfo(float).tiny)))
