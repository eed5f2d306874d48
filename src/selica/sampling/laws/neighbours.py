r"""Columns that depend on a few others each: a sparse Cholesky factor of the precision.

The columns are put in an order, and each is regressed on a few of those before it:

.. math:: x_j = \sum_{i \in N_j} b_{ji} x_i + e_j, \qquad \mathrm{Var}\, e_j = v_j,

so that with :math:`B` of the coefficients :math:`\Sigma^{-1} = (I - B)' V^{-1} (I - B)`. Chains,
bands, blocks and fields on a line, in a plane or in space have this form, or nearly. A direction in
which the columns hardly vary is one residual of a regression here, and its variance is as well
known as that of any other: an estimate of the covariance as a whole loses it.

The order is that of Prim's tree: the next column is the one with the largest correlation with any
before it. With one neighbour each, this is the tree of largest likelihood (Chow and Liu 1968).
Neighbours are added one by one, the one that explains most first, as long as the logarithm of the
likelihood grows by more than the logarithm of the number of columns (the risk inflation criterion
of Foster and George 1994), which chance does for hardly any column. Variances of residuals are
divided by the degrees of freedom that are left.

References
----------
Vecchia (1988), Estimation and model identification for continuous spatial processes, JRSS B 50.
Pourahmadi (1999), Joint mean-covariance models with applications to longitudinal data,
Biometrika 86.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from selica._core.types import Array, IntArray
from selica.sampling.laws.moments import (
    NUGGET,
    effective_rows,
    second_moments,
    with_nugget,
)

MOST_NEIGHBOURS = 40
"""Neighbours of one column, at most."""
_ROWS_PER_NEIGHBOUR = 4.0
"""Rows for each neighbour of a column, at least."""


def neighbours(rows: Array, share: Array) -> Array:
    """Estimate the covariance of columns that depend on a few others each.

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
    >>> from selica.sampling import simulate
    >>> from selica.sampling.laws.neighbours import neighbours
    >>> data = simulate(400, 5, 0, noise_variance=1.0, covariance=("ar1", 0.8), random_state=0)
    >>> precision = np.linalg.inv(neighbours(data.X, np.full(400, 1 / 400)))
    >>> bool(abs(precision[0, 2:]).max() < 1e-3 < abs(precision[0, 1]))  # a chain
    True
    """
    return from_moments(second_moments(rows, share), effective_rows(share))


def from_moments(moments: Array, rows: float) -> Array:
    """Return the covariance for second moments of so many rows.

    Parameters
    ----------
    moments : array of shape (p, p)
    rows : float
        Independent rows that the moments are of, less what was fitted to them before.
    """
    scale = np.sqrt(np.maximum(moments.diagonal(), NUGGET))
    correlation = moments / scale / scale[:, None]
    order = chain_order(correlation)
    coefficients, variances = _regressions(correlation[np.ix_(order, order)], rows)
    root = solve_triangular(
        np.eye(len(order)) - coefficients, np.diag(np.sqrt(variances)), lower=True,
        unit_diagonal=True,
    )  # fmt: skip
    covariance = np.empty_like(moments)
    covariance[np.ix_(order, order)] = root @ root.T
    return with_nugget(covariance) * scale * scale[:, None]


def chain_order(correlation: Array) -> IntArray:
    """Return the columns in the order in which Prim's tree takes them in.

    The first is the one with the largest sum of squared correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.laws.neighbours import chain_order
    >>> R = np.array([[1.0, 0.1, 0.5], [0.1, 1.0, 0.6], [0.5, 0.6, 1.0]])
    >>> chain_order(R).tolist()
    [2, 1, 0]
    """
    size = np.abs(correlation)
    p = len(size)
    order = np.empty(p, dtype=np.intp)
    order[0] = int(np.argmax((size**2).sum(axis=0)))
    largest = size[order[0]].copy()
    outside = np.ones(p, dtype=bool)
    for place in range(1, p):
        outside[order[place - 1]] = False
        order[place] = int(np.argmax(np.where(outside, largest, -1.0)))
        np.maximum(largest, size[order[place]], out=largest)
    return order


def _regressions(correlation: Array, rows: float) -> tuple[Array, Array]:
    """Return the coefficients of each column on a few before it, and the variances left."""
    p = len(correlation)
    coefficients, variances = np.zeros((p, p)), np.ones(p)
    for j in range(1, p):
        chosen = _forward(correlation[:j, :j], correlation[:j, j], rows)
        if not chosen:
            continue
        among = correlation[np.ix_(chosen, chosen)]
        among[np.diag_indices(len(chosen))] += NUGGET
        own = correlation[chosen, j]
        slope = np.linalg.solve(among, own)
        coefficients[j, chosen] = slope
        left = max(1.0 - float(slope @ own), NUGGET)
        variances[j] = left * rows / max(rows - len(chosen) - 1.0, 1.0)
    return coefficients, variances


def _forward(correlation: Array, own: Array, rows: float) -> list[int]:
    """Return which columns explain one, those that explain most first.

    Parameters
    ----------
    correlation : array of shape (j, j)
        Of the columns that may be chosen.
    own : array of shape (j,)
        Their correlations with the one.
    rows : float
    """
    most = int(min(MOST_NEIGHBOURS, own.size, rows / _ROWS_PER_NEIGHBOUR))
    # a growth of the log likelihood by log p
    least = 1.0 - np.exp(-2.0 * np.log(own.size + 1.0) / rows)
    rest, left = own.copy(), np.ones(own.size)  # outside of those chosen: covariances, variances
    total = 1.0
    directions = np.empty((most, own.size))
    chosen: list[int] = []
    for k in range(most):
        free = left > NUGGET
        gain = np.where(free, rest**2, 0.0) / np.where(free, left, 1.0)
        best = int(np.argmax(gain))
        if gain[best] <= least * total or total <= NUGGET:
            break
        chosen.append(best)
        direction = correlation[best] - directions[:k, best] @ directions[:k]
        direction /= np.sqrt(left[best])
        directions[k] = direction
        rest -= rest[best] / np.sqrt(left[best]) * direction
        left -= direction**2
        left[best] = 0.0
        total -= float(gain[best])
    return chosen
