"""How much variables matter to an estimator of the reader's own."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import short
from selica.statistics.data import Data


def importances(estimator: Any, data: Data, weight: Array | None = None) -> Array:
    """Sizes of `coef_`, or `feature_importances_`, of a fit to the data.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A fresh copy of it is fitted.
    data : Data
    weight : array of shape (n,), optional
        Resampling weights. Rows without weight are left out; others go to `sample_weight` where
        the estimator takes it, or else whole numbers repeat their rows.
    """
    if not hasattr(estimator, "fit"):
        raise ArgumentError(f"estimator must have a method fit; got {short(estimator)}.")
    rows = np.ones(data.y.size) if weight is None else weight
    keep = np.flatnonzero(rows > 0.0)
    fresh = copy.deepcopy(estimator)
    X, y, rows = data.X[keep], data.y[keep], (rows * data.weight)[keep]
    if np.all(rows == rows[0]):
        fresh.fit(X, y)
    elif np.all(rows == np.round(rows)):
        index = np.repeat(np.arange(keep.size), rows.astype(int))
        fresh.fit(X[index], y[index])
    else:
        fresh.fit(X, y, sample_weight=rows)
    return importance_of(fresh, data.X.shape[1])


def importance_of(fitted: Any, p: int) -> Array:
    """The importances a fitted estimator, or the last step of a pipeline, offers."""
    last = fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted
    last = getattr(last, "best_estimator_", last)
    for name in ("coef_", "feature_importances_"):
        if hasattr(last, name):
            values = np.abs(np.asarray(getattr(last, name), dtype=float))
            values = np.asarray(values.reshape(-1, values.shape[-1]).max(axis=0))
            if values.shape != (p,):
                raise ArgumentError(f"estimator: {name} has {values.size} entries for {p} columns.")
            return np.asarray(values, dtype=float)
    raise ArgumentError("estimator must have coef_ or feature_importances_ after fitting.")
