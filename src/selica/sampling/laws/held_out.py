r"""Which law describes rows best that it was not fitted to.

The rows are parted at random. Each part in turn is left out, every law is fitted to the others,
and the likelihood of the part that was left out is computed. The likelihood counts all directions
alike, however little the columns vary in them: a law that gives a direction c times its variance
loses :math:`(1/c - 1 + \log c)/2` there. The response is not looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from selica._core.progress import report
from selica._core.random import RandomState, generator
from selica._core.types import Array
from selica.sampling.checks import column_mean
from selica.sampling.laws.table import LAWS

PARTS = 3
"""Parts of the rows that are left out in turn."""


class Judged(NamedTuple):
    """A law, and how well it describes rows that it was not fitted to.

    Examples
    --------
    >>> from selica.sampling import simulate
    >>> from selica.sampling.laws import best_law
    >>> X = simulate(200, 30, 0, noise_variance=1.0, covariance=("ar1", 0.9), random_state=0).X
    >>> best_law(X, random_state=0)[0].name
    'neighbours'
    """

    name: str
    """Of the law, as in `LAWS`."""
    likelihood: float
    """Mean log likelihood of a cell of a row that was left out, up to a constant."""


def best_law(
    X: Array, *, share: Array | None = None, random_state: RandomState | None = None
) -> list[Judged]:
    """Compare the laws on rows that they were not fitted to, and return the best first.

    Parameters
    ----------
    X : array of shape (n, p)
        None of the columns is constant.
    share : array of shape (n,), optional
        Weights of the rows, of sum one.
    random_state : None, int, SeedSequence, Generator or RandomState
        Source of the parts.
    """
    share = np.full(len(X), 1.0 / len(X)) if share is None else share
    counted = share > 0.0
    rows, share = X[counted], share[counted] / share[counted].sum()
    part = generator(random_state).permutation(len(rows)) % PARTS
    # a column that is constant in some of the rows says nothing of the laws
    varies = np.all(
        [np.ptp(rows[part != one], axis=0) > 0.0 for one in range(PARTS)], axis=0
    )  # fmt: skip
    rows = rows[:, varies]
    found = dict.fromkeys(LAWS, 0.0)
    for one in range(PARTS):
        out = part == one
        known = share[~out] / share[~out].sum()
        centre = column_mean(rows[~out], known)
        scale = np.sqrt(known @ (rows[~out] - centre) ** 2)
        inside, left = (rows[~out] - centre) / scale, (rows[out] - centre) / scale
        for place, (name, law) in enumerate(LAWS.items()):
            found[name] += log_likelihood(law.estimate(inside, known), left, share[out])
            report("laws of the columns", one * len(LAWS) + place + 1, PARTS * len(LAWS))
    judged = [Judged(name, total / max(rows.shape[1], 1)) for name, total in found.items()]
    return sorted(judged, key=lambda one: -one.likelihood)


def log_likelihood(covariance: Array, rows: Array, weight: Array) -> float:
    """Return the weighted log likelihood of normal rows of mean zero, up to a constant.

    Parameters
    ----------
    covariance : array of shape (p, p)
    rows : array of shape (n, p)
    weight : array of shape (n,)
    """
    try:
        root = cholesky(covariance, lower=True)
    except LinAlgError:
        return -np.inf
    lengths = (solve_triangular(root, rows.T, lower=True) ** 2).sum(axis=0)
    return float(-0.5 * weight @ lengths - weight.sum() * np.log(root.diagonal()).sum())
