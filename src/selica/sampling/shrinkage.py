r"""Covariances from data by linear shrinkage.

With rows :math:`x_i` of known or estimated mean, weights :math:`\pi_i` of sum one and
:math:`S = \sum_i \pi_i (x_i - \mu)(x_i - \mu)'`, Ledoit and Wolf (2004) estimate

.. math::
    \Sigma^* = \frac{b^2}{d^2} m I + \Bigl(1 - \frac{b^2}{d^2}\Bigr) S, \qquad
    m = \frac{\mathrm{Tr}\,S}{p}, \quad d^2 = \lVert S - m I \rVert^2, \quad
    b^2 = \min\Bigl(d^2, \sum_i \pi_i^2 \lVert x_i x_i' - S \rVert^2\Bigr),

b^2 being an estimate of the variance of S when the rows are independent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import flag, matrix, moderate, real
from selica.sampling.checks import column_mean, row_shares, varying

_LARGEST = 1e153
"""Numbers up to this have covariances that are numbers."""


class Shrunk(NamedTuple):
    """A mean, a covariance, and how much of the latter is the multiple of the identity.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import ledoit_wolf
    >>> found = ledoit_wolf(np.random.default_rng(0).standard_normal((50, 4)))
    >>> found.covariance.shape, 0.0 < found.shrinkage < 1.0
    ((4, 4), True)
    """

    mean: Array
    """Means of the columns, shape (p,)."""
    covariance: Array
    """Shape (p, p)."""
    shrinkage: float
    """Share of the multiple of the identity, between 0 and 1."""


def ledoit_wolf(
    X: ArrayLike,
    *,
    mean: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    standardise: bool = False,
) -> Shrunk:
    """Estimate the covariance of the columns of X, shrunk towards a multiple of the identity.

    Parameters
    ----------
    X : array of shape (n, p)
        Independent rows.
    mean : float or array of shape (p,), optional
        Mean of the columns, where it is known.
    sample_weight : array of shape (n,), optional
        Weights of the rows. Only their ratios matter; a row of weight zero is left out. A row of
        weight two is one row that counts twice, not two independent rows.
    standardise : bool
        Whether to shrink the correlation matrix and scale back. The estimate then follows the
        units of the columns, and their variances are those of the sample.

    Returns
    -------
    Shrunk
        `mean` of shape (p,), `covariance` of shape (p, p) and `shrinkage` in [0, 1].

    References
    ----------
    Ledoit and Wolf (2004), A well-conditioned estimator for large-dimensional covariance
    matrices, Journal of Multivariate Analysis 88.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import ledoit_wolf
    >>> X = np.random.default_rng(0).standard_normal((20, 50))
    >>> found = ledoit_wolf(X)
    >>> found.covariance.shape, bool(np.linalg.eigvalsh(found.covariance)[0] > 0.5)
    ((50, 50), True)
    >>> ledoit_wolf([[-1.0, 1.0], [1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]).covariance
    array([[1., 0.],
           [0., 1.]])
    """
    table = moderate("X", matrix("X", X), _LARGEST)
    share = row_shares(sample_weight, table.shape[0])
    if mean is None:
        centre = column_mean(table, share)
    else:
        centre = moderate("mean", real("mean", mean), _LARGEST)
        if centre.shape not in ((), table.shape[1:]):
            raise ArgumentError(
                f"mean must be one number or have one entry for each of the {table.shape[1]} "
                f"columns of X; got shape {centre.shape}."
            )
        centre = np.broadcast_to(centre, table.shape[1:]).copy()
    rows = table - centre
    if flag("standardise", standardise):
        varying("X", table, share)
        largest = np.abs(rows).max(axis=0)
        unit = largest * np.sqrt(share @ (rows / largest) ** 2)
    else:
        # fourth powers of the entries follow: one unit for all keeps them in range
        unit = np.full(table.shape[1], np.abs(rows).max() or 1.0)
    covariance, shrinkage = _shrink(rows / unit, share)
    return Shrunk(centre, covariance * unit * unit[:, None], shrinkage)


def _shrink(rows: Array, share: Array) -> tuple[Array, float]:
    """Return the estimate for rows of mean zero, and b^2 / d^2."""
    p = rows.shape[1]
    S = (rows.T * share) @ rows
    m = float(np.trace(S)) / p
    off = S.copy()
    off[np.diag_indices(p)] -= m
    d2 = float(np.sum(off**2))
    # sum_i share_i^2 |x_i x_i' - S|^2, without the n matrices
    square = np.sum(rows**2, axis=1)
    variance = float(
        share**2 @ square**2
        - 2.0 * np.sum(((rows.T * share**2) @ rows) * S)
        + np.sum(share**2) * np.sum(S**2)
    )
    shrinkage = min(1.0, max(0.0, variance) / d2) if d2 > 0.0 else 0.0
    covariance = (1.0 - shrinkage) * S
    covariance[np.diag_indices(p)] += shrinkage * m
    return 0.5 * (covariance + covariance.T), shrinkage
