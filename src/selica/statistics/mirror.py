r"""Mirror statistics of data splitting (Dai, Lin, Xing and Liu 2023).

One half of the rows selects by the lasso and estimates b1, the other estimates b2 by least squares
on what was selected. :math:`M_j = \mathrm{sign}(b_1 b_2)(|b_1| + |b_2|)` is symmetric about zero
for a variable that does not matter.
"""

from __future__ import annotations

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica.statistics.cross_validation import cross_validate
from selica.statistics.data import Data


def mirror_statistic(data: Data, rng: np.random.Generator, *, n_folds: int = 10) -> Array:
    """M of every variable for one random split into halves."""
    if data.loss != "squared":
        raise ArgumentError("y must be continuous: mirror statistics are for a linear response.")
    n, p = data.X.shape
    order = rng.permutation(n)
    first, second = order[: n // 2], order[n // 2 :]
    half = data._replace(X=data.X[first], y=data.y[first], weight=data.weight[first])
    found = cross_validate(half, rng, n_folds=n_folds, n_jobs=1)
    b1 = np.where(data.varies, found.coef[found.best], 0.0)
    chosen = np.flatnonzero(b1)
    # least squares needs more rows than columns: the largest coefficients stay
    most = max(second.size - 2, 0)
    if chosen.size > most:
        chosen = chosen[np.argsort(-np.abs(b1[chosen]), kind="stable")[:most]]
    b2 = np.zeros(p)
    if chosen.size:
        root = np.sqrt(data.weight[second])
        design = np.column_stack([np.ones(second.size), data.X[np.ix_(second, chosen)]])
        fit = np.linalg.lstsq(root[:, None] * design, root * data.y[second], rcond=None)[0]
        b2[chosen] = fit[1:]
    kept = np.where(np.isin(np.arange(p), chosen), b1, 0.0)
    return np.asarray(np.sign(kept * b2) * (np.abs(kept) + np.abs(b2)))
