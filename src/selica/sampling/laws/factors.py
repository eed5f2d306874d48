r"""Columns that share a few factors: a covariance of low rank and a diagonal.

With :math:`k` factors, :math:`\Sigma = \Lambda\Lambda' + \Psi`, fitted by the EM algorithm for the
largest likelihood (Rubin and Thayer 1982), which needs no p x p matrix. How many factors there are
is decided by the criterion :math:`IC_{p2}` of Bai and Ng (2002) on the eigenvalues.

References
----------
Rubin and Thayer (1982), EM algorithms for ML factor analysis, Psychometrika 47.
Bai and Ng (2002), Determining the number of factors in approximate factor models, Econometrica 70.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.types import Array
from selica.sampling.laws.moments import effective_rows, with_nugget

MOST_FACTORS = 40
"""Factors, at most."""
_ROWS_PER_FACTOR = 4.0
"""Rows for each factor, at least."""
_STEPS = 200
"""Steps of the EM algorithm, at most."""
_CHANGE = 1e-5
"""Change of all variances of single columns from which on the steps end."""
_LEAST = 1e-3
"""Variance of a column that factors cannot explain, at least."""


class LowRank(NamedTuple):
    """A covariance of low rank and a diagonal."""

    loadings: Array
    """(p, k)."""
    own: Array
    """(p,): variances that the factors do not explain."""


def factors(rows: Array, share: Array) -> Array:
    """Estimate the covariance of columns that share a few factors.

    Parameters
    ----------
    rows : array of shape (n, p)
        Columns of mean zero and mean square one.
    share : array of shape (n,)
        Weights of the rows, of sum one.

    Returns
    -------
    array of shape (p, p)

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.laws.factors import factors
    >>> rng = np.random.default_rng(0)
    >>> X = 0.8 * rng.standard_normal((500, 1)) + 0.6 * rng.standard_normal((500, 30))
    >>> covariance = factors(X / X.std(axis=0), np.full(500, 1 / 500))
    >>> abs(covariance[0, 1:] - 0.64).max() < 0.1
    np.True_
    """
    found = low_rank(rows, share, number_of_factors(rows, share))
    n, k = effective_rows(share), found.loadings.shape[1]
    covariance = found.loadings @ found.loadings.T
    covariance[np.diag_indices(len(covariance))] += found.own * n / max(n - k - 1.0, 1.0)
    return with_nugget(covariance)


def number_of_factors(rows: Array, share: Array) -> int:
    """Return how many factors the columns share, zero included.

    Parameters
    ----------
    rows, share
        As in `factors`.
    """
    n, p = effective_rows(share), rows.shape[1]
    most = int(min(MOST_FACTORS, n / _ROWS_PER_FACTOR, p / _ROWS_PER_FACTOR))
    weighted = rows * np.sqrt(share)[:, None]
    gram = weighted @ weighted.T if len(rows) < p else weighted.T @ weighted
    value = np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0)
    left = np.maximum(value.sum() - np.concatenate([[0.0], np.cumsum(value)]), 1e-12)[: most + 1]
    price = (n + p) / (n * p) * np.log(min(n, p))
    return int(np.argmin(np.log(left / p) + price * np.arange(left.size)))


def low_rank(rows: Array, share: Array, count: int) -> LowRank:
    """Return loadings of so many factors and the variances that are left.

    Parameters
    ----------
    rows, share
        As in `factors`.
    count : int
        Number of factors.
    """
    weighted = rows * np.sqrt(share)[:, None]
    total = (weighted**2).sum(axis=0)
    if count == 0:
        return LowRank(np.zeros((rows.shape[1], 0)), total)
    _, value, vector = np.linalg.svd(weighted, full_matrices=False)
    noise = max(float(total.sum() - (value[:count] ** 2).sum()), 0.0) / total.size
    loadings = vector[:count].T * np.sqrt(np.maximum(value[:count] ** 2 - noise, 1e-3))
    own = np.maximum(total - (loadings**2).sum(axis=1), _LEAST)
    for _ in range(_STEPS):
        scaled = loadings / own[:, None]
        take = np.linalg.solve(np.eye(count) + loadings.T @ scaled, scaled.T)  # (k, p)
        scores = weighted @ take.T
        cross = weighted.T @ scores
        within = np.eye(count) - take @ loadings + take @ cross
        loadings = np.linalg.solve(within, cross.T).T
        before = own
        own = np.maximum(total - (loadings * cross).sum(axis=1), _LEAST)
        if np.abs(own - before).max() <= _CHANGE:
            break
    return LowRank(loadings, own)
