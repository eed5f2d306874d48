r"""Knockoff statistics: how much more a variable matters than its copy.

W_j is positive where the variable is ahead and changes its sign when variable and copy are
exchanged (Candes, Fan, Janson and Lv 2018). That needs everything that enters it, the penalty
included, to treat the two halves alike: a penalty is chosen by cross-validation on [X, copy].

The fits of several copies, with all folds of their cross-validations, are members of one ensemble:
products with X serve all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from selica._core.types import Array
from selica.statistics.cross_validation import Validation, predictors
from selica.statistics.data import (
    Data,
    beside,
    fit_copies,
    null_gradient,
    path_from,
    pull,
    standardised,
)
from selica.statistics.importance import importances

STATISTICS = ("coefficient", "entry", "correlation")
"""Names of the statistics."""
_LEAST_TOP = 1e-300
"""Where no column has any pull a path begins here, so that all paths have the same length."""
_ENTRY_PENALTIES = 200
"""Penalties of the path along which variables enter."""


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
    [W] = knockoff_statistics(
        data, [copy], [rng], statistic=statistic, penalty=penalty, estimator=estimator,
        n_folds=n_folds,
    )  # fmt: skip
    return np.asarray(W)


def knockoff_statistics(
    data: Data,
    copies: Sequence[Array],
    rngs: Sequence[np.random.Generator],
    *,
    statistic: str = "coefficient",
    penalty: float | None = None,
    estimator: Any = None,
    n_folds: int = 10,
    n_jobs: int | None = None,
) -> Array:
    """Return W of every variable for several copies, (copies, p).

    Parameters
    ----------
    copies : sequence of arrays of shape (n, p)
    rngs : sequence of Generator
        For the folds of each copy.
    n_jobs : int, optional
        1 for one thread; None for all.
    data, statistic, penalty, estimator, n_folds
        As in `knockoff_statistic`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> from selica.statistics import knockoff_statistics, make_data
    >>> data = simulate(100, 5, 1, snr=9.0, random_state=0)
    >>> rngs = [np.random.default_rng(seed) for seed in range(3)]
    >>> copies = [rng.standard_normal((100, 5)) for rng in rngs]
    >>> made = make_data(data.X, data.y, "squared")
    >>> knockoff_statistics(made, copies, rngs, penalty=0.1).shape
    (3, 5)
    """
    if estimator is not None:
        size = data.summed(np.array([_importances(estimator, data, copy) for copy in copies]))
        return np.asarray(size[:, 0] - size[:, 1])
    even = None if np.all(data.weight == 1.0) else data.weight
    columns = [standardised(copy, even)[0] for copy in copies]
    varies = np.array([copy.any(axis=0) for copy in columns])
    if statistic == "correlation":
        slope = null_gradient(data, data.weight) / data.weight.sum()
        own, other = pull(data, slope, data.X), np.array([pull(data, slope, c) for c in columns])
    elif statistic == "entry":
        return _entry(data, columns, n_jobs)
    elif penalty is not None:
        penalties, weights = np.full((len(columns), 1), penalty), _all_rows(data, len(columns))
        fit = fit_copies(data, columns, penalties, weights, n_jobs=n_jobs)
        assert fit.coef is not None
        own, other = _sizes(data, fit.coef[:, 0])
    else:
        own, other = _cross_validated(data, columns, rngs, n_folds, n_jobs)
    own, other = np.where(data.varies, own, 0.0), np.where(varies, other, 0.0)
    return np.asarray(data.summed(own) - data.summed(other))


def _sizes(data: Data, coef: Array) -> tuple[Array, Array]:
    """Return the sizes of the coefficients of columns and copies, (copies, p) each.

    Parameters
    ----------
    data : Data
    coef : array of shape (copies, columns), or (copies, columns, K) for K classes
        As `fit_copies` returns them.
    """
    size = data.loss.charged(coef)
    p, whole = data.X.shape[1], data.X.shape[1] + data.n_kept
    return size[:, :p], size[:, whole : whole + p]


def _importances(estimator: Any, data: Data, copy: Array) -> Array:
    """Return the importances of variables and of their copies, (2, p)."""
    both = beside(data, copy)
    size = np.where(both.varies, importances(estimator, both), 0.0)
    return size.reshape(2, -1)


def _all_rows(data: Data, copies: int) -> Array:
    """Return the weights of one member for each copy."""
    return np.ones((copies, 1, data.n_rows))


def _paths(data: Data, columns: list[Array], **settings: Any) -> list[Array]:
    """Return a path of penalties for each copy."""
    slope = null_gradient(data, data.weight) / data.weight.sum()
    own = pull(data, slope, data.X).max(initial=0.0)
    tops = [max(own, pull(data, slope, copy).max(initial=0.0), _LEAST_TOP) for copy in columns]
    n, p = data.X.shape
    return [path_from(float(top), (n, 2 * p), **settings) for top in tops]


def _entry(data: Data, columns: list[Array], n_jobs: int | None) -> Array:
    """Return the signed maximum of the penalties at which variable and copy enter the path."""
    paths = np.array(_paths(data, columns, n_penalties=_ENTRY_PENALTIES))
    weights = _all_rows(data, len(columns))
    fit = fit_copies(data, columns, paths, weights, keep="entry", n_jobs=n_jobs)
    assert fit.first_entry is not None
    p, whole = data.X.shape[1], data.X.shape[1] + data.n_kept
    entry = fit.first_entry / data.weight.sum()
    # a variable enters with the first of its columns
    ahead, behind = data.largest(entry[:, :p]), data.largest(entry[:, whole : whole + p])
    return np.asarray(np.maximum(ahead, behind) * np.sign(ahead - behind))


def _cross_validated(
    data: Data,
    columns: list[Array],
    rngs: Sequence[np.random.Generator],
    n_folds: int,
    n_jobs: int | None,
) -> tuple[Array, Array]:
    """Return sizes of coefficients of variables and copies at the best penalties, (copies, p)."""
    runs = [
        Validation(data, rng, n_folds, path, early=True)
        for path, rng in zip(_paths(data, columns), rngs, strict=True)
    ]
    while live := [k for k, run in enumerate(runs) if not run.over]:
        fit = fit_copies(
            data, [columns[k] for k in live], np.array([runs[k].ahead for k in live]),
            np.array([runs[k].weights for k in live]), keep="coef", n_jobs=n_jobs,
        )  # fmt: skip
        assert fit.coef is not None
        for place, k in enumerate(live):
            members = slice(place * len(runs[k].weights), (place + 1) * len(runs[k].weights))

            def predict(rows: Any, coef: Array, copy: Array = columns[k]) -> Array:
                return predictors(data, rows, coef, data.X, copy)

            runs[k].take(fit.coef[members], fit.intercept[members], predict)
    best = [run.result() for run in runs]
    return _sizes(data, np.array([found.coef[found.best] for found in best]))
