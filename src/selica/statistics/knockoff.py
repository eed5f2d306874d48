r"""Knockoff statistics: how much more a variable matters than its copy.

W_j is positive where the variable is ahead and changes its sign when variable and copy are
exchanged (Candes, Fan, Janson and Lv 2018). That needs everything that enters it, the penalty
included, to treat the two halves alike: a penalty is chosen by cross-validation on [X, copy].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selica._core.types import Array
from selica.statistics.cross_validation import cross_validate
from selica.statistics.data import Data, beside, fit_members, penalty_path
from selica.statistics.importance import importances

STATISTICS = ("coefficient", "entry", "correlation")


def knockoff_statistic(
    data: Data,
    copy: Array,
    rng: np.random.Generator,
    *,
    statistic: str = "coefficient",
    penalty: float | None = None,
    estimator: Any = None,
    n_folds: int = 10,
) -> Array:
    """Return W of every variable, for one copy.

    Parameters
    ----------
    data : Data
    copy : array of shape (n, p)
        Knockoff copy of the columns as they were given, before standardisation.
    rng : Generator
        For the folds.
    statistic : {"coefficient", "entry", "correlation"}
        - "coefficient": abs(w_j) - abs(w_copy_j) of the penalised fit;
        - "entry": the penalty at which the first of the two enters the path, with its sign;
        - "correlation": the same difference for correlations with the response.
    penalty : float, optional
        In glmnet's unit; by default from cross-validation on both halves together.
    estimator : scikit-learn estimator, optional
        Instead of the penalised fit: its importances are compared.
    n_folds : int

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> from selica.statistics import knockoff_statistic, make_data
    >>> rng = np.random.default_rng(0)
    >>> data = simulate(100, 5, 1, snr=9.0, random_state=0)
    >>> copy = rng.standard_normal((100, 5))  # the columns are independent and Gaussian
    >>> W = knockoff_statistic(make_data(data.X, data.y, "squared"), copy, rng, penalty=0.1)
    >>> bool(W.argmax() == data.support.argmax())
    True
    """
    both = beside(data, copy)
    p = data.X.shape[1]
    if estimator is not None:
        size = importances(estimator, both)
    elif statistic == "correlation":
        size = np.abs((both.weight * (both.y - both.y.mean())) @ both.X) / both.weight.sum()
    elif statistic == "entry":
        return _entry(both, p)
    elif penalty is None:
        found = cross_validate(both, rng, n_folds=n_folds, n_jobs=1)
        size = np.abs(found.coef[found.best])
    else:
        fit = fit_members(both, np.array([penalty]), np.ones((1, both.y.size)), n_jobs=1)
        assert fit.coef is not None
        size = np.abs(fit.coef[0, 0])
    size = np.where(both.varies, size, 0.0)
    return np.asarray(size[:p] - size[p:])


def _entry(both: Data, p: int) -> Array:
    """Return the signed maximum of the penalties at which variable and copy enter the path."""
    path = penalty_path(both, 200)
    fit = fit_members(both, path, np.ones((1, both.y.size)), keep="entry", n_jobs=1)
    assert fit.first_entry is not None
    enters = fit.first_entry[0] / both.weight.sum()
    ahead, behind = enters[:p], enters[p:]
    return np.asarray(np.maximum(ahead, behind) * np.sign(ahead - behind))
