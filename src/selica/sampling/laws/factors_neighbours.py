r"""Columns that share a few factors, and of which what is left depends on a few others each.

Principal components are taken out, and what is left of the columns follows the law of
`neighbours`: :math:`\Sigma = V_k \Lambda_k V_k' + \Sigma_\text{rest}`. Fan, Liao and Mincheva
(2013) do the same with thresholded correlations of the rest.

References
----------
Fan, Liao and Mincheva (2013), Large covariance estimation by thresholding principal orthogonal
complements, JRSS B 75.
"""

from __future__ import annotations

import numpy as np

from selica._core.types import Array
from selica.sampling.laws.factors import number_of_factors
from selica.sampling.laws.moments import effective_rows
from selica.sampling.laws.neighbours import from_moments, neighbours


def factors_neighbours(rows: Array, share: Array) -> Array:
    """Estimate the covariance of columns with common factors and neighbours beside them.

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
    >>> from selica.sampling.laws.factors_neighbours import factors_neighbours
    >>> rng = np.random.default_rng(0)
    >>> data = simulate(500, 40, 0, noise_variance=1.0, covariance=("ar1", 0.7), random_state=0)
    >>> X = (data.X + rng.standard_normal((500, 1))) / np.sqrt(2.0)
    >>> found = factors_neighbours(X, np.full(500, 1 / 500))
    >>> bool(abs(found[0, 39] - 0.5) < 0.2), bool(abs(found[0, 1] - 0.85) < 0.1)
    (True, True)
    """
    count = number_of_factors(rows, share)
    if count == 0:
        return neighbours(rows, share)
    weighted = rows * np.sqrt(share)[:, None]
    left, value, vector = np.linalg.svd(weighted, full_matrices=False)
    strong = vector[:count].T * value[:count]
    rest = weighted - left[:, :count] @ strong.T
    n = effective_rows(share)
    moments = rest.T @ rest * (n / max(n - count, 1.0))
    return np.asarray(strong @ strong.T + from_moments(moments, n - count))
