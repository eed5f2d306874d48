r"""What is left of each column once the others have predicted it, by an estimated law.

For normal columns with precision :math:`\Omega = \Sigma^{-1}` it is

.. math:: z_j = x_j - E[x_j \mid x_{-j}] = X \Omega_{\cdot j} / \Omega_{jj},

which is independent of all other columns if the law is right. That can be seen on rows to which
the law was not fitted: half of them say with which other column :math:`z_j` is correlated most, the
other half how much it is, so that chance has no part in it. The average over the columns is the
*left correlation*: zero for the right law, up to what the estimate of it costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky

from selica._core.random import RandomState, generator
from selica._core.types import Array, IntArray
from selica.sampling.laws.table import LAWS

INDEPENDENT = "independent"
"""Name of the law of columns that are independent of each other."""
FIRST = (INDEPENDENT, "neighbours")
"""Laws that are taken without a look at the others where they leave hardly any correlation."""
SMALL_CORRELATION = 0.05
"""Left correlation up to which one of these is taken."""
LARGEST_CORRELATION = 0.15
"""Left correlation above which no law describes the columns: 0.2 came with 27 % of false selections
at level 0.2, on a chain of neighbours with a correlation of 0.95 and fewer rows than columns."""
_PARTS = 4
"""Parts of the rows: a law is fitted to two of them, and judged on the others."""


class Remainders(NamedTuple):
    """What is left of the columns, and by which law.

    Examples
    --------
    >>> from selica.sampling import simulate
    >>> from selica.sampling.laws.remainders import remainders_of
    >>> X = simulate(300, 40, 0, noise_variance=1.0, covariance=("ar1", 0.8), random_state=0).X
    >>> found = remainders_of(X / X.std(axis=0), random_state=0)
    >>> found.law, bool(found.correlation < 0.1)
    ('neighbours', True)
    """

    columns: Array
    """(n, p)."""
    law: str
    """Name of the law, as in `LAWS`, or "independent"."""
    correlation: float
    """What is left of the correlation with other columns, on rows to which it was not fitted."""


def remainders_of(X: Array, random_state: RandomState | None = None) -> Remainders:
    """Return what is left of standardised columns, by the law that leaves the least correlation.

    Parameters
    ----------
    X : array of shape (n, p)
        Columns of mean zero and mean square one.
    random_state : None, int, SeedSequence, Generator or RandomState
        Source of the parts of the rows.
    """
    part = generator(random_state).permutation(len(X)) % _PARTS
    found: dict[str, float] = {}
    for law in (*FIRST, *(name for name in LAWS if name not in FIRST)):
        found[law] = left_correlation(X, law, part)
        if law in FIRST and found[law] <= SMALL_CORRELATION:
            break
    best = min(found, key=lambda name: found[name])
    return Remainders(remainders(X, best), best, found[best])


def remainders(X: Array, law: str) -> Array:
    """Return what is left of standardised columns by a law, (n, p).

    Parameters
    ----------
    X : array of shape (n, p)
        Columns of mean zero and mean square one.
    law : str
        A name in `LAWS`, or "independent".

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.laws.remainders import remainders
    >>> X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    >>> np.array_equal(remainders(X, "independent"), X)
    True
    """
    return np.asarray(X @ _predictions(X, law))


def left_correlation(X: Array, law: str, part: IntArray) -> float:
    """Return the correlation that a law leaves between a column's remainder and another column.

    Parameters
    ----------
    X : array of shape (n, p)
    law : str
        A name in `LAWS`, or "independent".
    part : array of int, shape (n,)
        Numbers from 0 to 3: the law is fitted to rows of two parts, the third says which other
        column it is, the fourth by how much; then they change places.
    """
    p = X.shape[1]
    if p < 2:
        return 0.0
    each = np.arange(p)
    seen: list[float] = []
    for first, second in ((0, 1), (2, 3)):
        known = X[(part != first) & (part != second)]
        centre, scale = known.mean(axis=0), known.std(axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        taken = _predictions((known - centre) / scale, law)
        a, b = (_correlations((X[part == one] - centre) / scale, taken) for one in (first, second))
        for chooses, tells in ((a, b), (b, a)):
            other = np.abs(chooses).argmax(axis=1)
            seen.append(float((np.sign(chooses[each, other]) * tells[each, other]).mean()))
    return float(np.mean(seen))


def _predictions(X: Array, law: str) -> Array:
    """Return the matrix that takes the others out of each column, (p, p)."""
    p = X.shape[1]
    if law == INDEPENDENT:
        return np.eye(p)
    covariance = LAWS[law].estimate(X, np.full(len(X), 1.0 / len(X)))
    try:
        precision: Array = cho_solve((cholesky(covariance, lower=True), True), np.eye(p))
    except LinAlgError:
        precision = np.asarray(np.linalg.pinv(covariance, hermitian=True), dtype=float)
    return np.asarray(precision / precision.diagonal())


def _correlations(X: Array, taken: Array) -> Array:
    """Return correlations of remainders (first axis) with the other columns, (p, p)."""
    found = _of_length_one(X @ taken).T @ _of_length_one(X)
    np.fill_diagonal(found, 0.0)
    return np.asarray(found)


def _of_length_one(columns: Array) -> Array:
    """Return columns divided by their lengths; those without any stay zero."""
    length = np.sqrt((columns**2).sum(axis=0))
    return np.asarray(columns / np.where(length > 0.0, length, 1.0))
