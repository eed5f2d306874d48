r"""Correlations shrunk by as much as suits rows that were left out.

:math:`\Sigma = (1 - \lambda) S + \lambda I`, with the :math:`\lambda` of largest likelihood of the
rows that are left out of :math:`S` in turn. Ledoit and Wolf choose :math:`\lambda` for the smallest
squared error, which large eigenvalues decide; the likelihood counts a direction in which the
columns hardly vary as much as any other.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import svd

from selica._core.types import Array
from selica.sampling.laws.moments import second_moments, with_nugget

STRENGTHS = np.logspace(-3.0, 0.0, 25)
"""Shares of the identity that are compared."""
_PARTS = 3
"""Parts of the rows that are left out in turn."""


def held_out_shrinkage(rows: Array, share: Array) -> Array:
    """Estimate the covariance by shrinkage whose strength suits rows that were left out.

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
    >>> from selica.sampling.laws.shrinkage import held_out_shrinkage
    >>> X = np.random.default_rng(0).standard_normal((60, 20))
    >>> covariance = held_out_shrinkage(X / X.std(axis=0), np.full(60, 1 / 60))
    >>> bool(abs(covariance - np.eye(20)).max() < 0.1)  # independent columns
    True
    """
    total = np.zeros(STRENGTHS.size)
    for part in range(_PARTS):
        out = np.arange(len(rows)) % _PARTS == part
        inside = share[~out].sum()
        if not 0.0 < inside < 1.0:
            continue
        total += _misfit(rows[~out], share[~out] / inside, rows[out], share[out])
    strength = float(STRENGTHS[np.argmin(total)])
    covariance = (1.0 - strength) * second_moments(rows, share)
    covariance[np.diag_indices(len(covariance))] += strength
    return with_nugget(covariance)


def _misfit(known: Array, share: Array, others: Array, weight: Array) -> Array:
    """Return minus twice the log likelihood of other rows, for each strength."""
    n, p = known.shape
    _, size, vector = svd(known * np.sqrt(share)[:, None], full_matrices=False)
    value, turned = size**2, others @ vector.T
    squares = weight @ turned**2
    spread = (1.0 - STRENGTHS[:, None]) * value + STRENGTHS[:, None]
    out = (squares / spread + weight.sum() * np.log(spread)).sum(axis=1)
    if n < p:  # in all other directions the rows have no length, and the spread is the strength
        rest = float(weight @ (others**2).sum(axis=1)) - float(squares.sum())
        out += max(rest, 0.0) / STRENGTHS + (p - n) * weight.sum() * np.log(STRENGTHS)
    return np.asarray(out)
