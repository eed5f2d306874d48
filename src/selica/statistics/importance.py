"""How much variables matter to an estimator of the reader's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from selica._core.errors import ArgumentError
from selica._core.random import generator
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import short
from selica.statistics.data import Data


def selections(
    estimator: Any, data: Data, weight: Array | None = None, q: int | None = None
) -> tuple[BoolArray, BoolArray | None]:
    """Return the variables that a base learner selects, and the members of groups.

    Parameters
    ----------
    estimator, data, weight
        As in `importances`.
    q : int, optional
        At most so many variables, the most important ones with any importance; variables that
        share the last place are all left out where they would be too many. Without it, non-zero
        coefficients, or where there are none that are zero, and for `feature_importances_`,
        more than the average importance.

    Returns
    -------
    boolean array of shape (variables,)
        Or (groups,), where variables are in groups.
    boolean array of shape (p,), or None where they are not
        Members with any importance, or where all have some more than the average, of the groups
        that are selected.
    """
    fitted, p = _fitted(estimator, data, weight), data.n_variables
    columns = _of_columns(fitted, data)
    size = data.summed(columns)
    chosen = size > 0.0
    dense = not hasattr(_last(fitted), "coef_") or bool(np.all(columns > 0.0))
    if q is None and dense and p > 1:
        chosen = size > size.mean()
    elif q is not None and q < p:
        cut = -np.sort(-size)[q - 1]
        ties = np.count_nonzero(size >= cut) > q
        chosen &= size > cut if ties else size >= cut
    return np.asarray(chosen), _members(data, columns, chosen, dense=dense)


def ranking(
    estimator: Any, data: Data, weight: Array, q: int, seed: np.random.SeedSequence
) -> IntArray:
    """Return the q most important variables, the first one first.

    They are fewer where fewer have any importance. Variables of the same importance come in a
    random order. Every fit has random numbers of its own, also where the estimator was given a
    seed: with the same ones the same columns would be favoured in all halves of the rows.

    Parameters
    ----------
    estimator, data, weight
        As in `importances`.
    q : int
    seed : SeedSequence
        Of this fit.
    """
    rng = generator(seed)
    own = clone(estimator, safe=False)
    if hasattr(own, "get_params"):
        drawn = [name for name in own.get_params() if name.split("__")[-1] == "random_state"]
        own.set_params(**{name: int(rng.integers(2**31)) for name in sorted(drawn)})
    size = data.summed(importances(own, data, weight))
    order = np.lexsort((rng.random(size.size), -size))
    return np.asarray(order[: min(q, np.count_nonzero(size > 0.0))])


def _members(data: Data, size: Array, chosen: BoolArray, *, dense: bool) -> BoolArray | None:
    """Return which members of the chosen groups are selected, (p,); None without groups."""
    if data.member is None or data.variable is None:
        return None
    own = size > (size.mean() if dense else 0.0)
    selected = np.zeros(int(data.member.max()) + 1, dtype=bool)
    selected[data.member[own & chosen[data.variable]]] = True
    return selected


def importances(estimator: Any, data: Data, weight: Array | None = None) -> Array:
    """Return the sizes of `coef_`, or `feature_importances_`, of a fit to the data.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A fresh copy of it is fitted.
    data : Data
    weight : array of shape (n,), optional
        Resampling weights. Rows without weight are left out; others go to `sample_weight` where
        the estimator takes it, or else whole numbers repeat their rows.
    """
    return _of_columns(_fitted(estimator, data, weight), data)


def _of_columns(fitted: Any, data: Data) -> Array:
    """Return the importances of the columns, without those that are kept."""
    p = data.X.shape[1]
    return importance_of(fitted, p + data.n_kept)[:p]


def _fitted(estimator: Any, data: Data, weight: Array | None) -> Any:
    """Return a fresh copy of an estimator, fitted to the rows as often as they were drawn."""
    if not hasattr(estimator, "fit"):
        raise ArgumentError(f"estimator must have a method fit; got {short(estimator)}.")
    rows = np.ones(data.n_rows) if weight is None else weight
    keep = np.flatnonzero(rows > 0.0)
    fresh = clone(estimator, safe=False)
    table = data.X if data.imputation is None else data.imputation.fill(data.X, rows)
    if data.keep is not None:
        table = np.concatenate([table, data.keep], axis=1)
    X, y, rows = table[keep], data.y[keep], (rows * data.weight)[keep]
    if np.all(rows == rows[0]):
        fresh.fit(X, y)
    elif np.all(rows == np.round(rows)):
        index = np.repeat(np.arange(keep.size), rows.astype(int))
        fresh.fit(X[index], y[index])
    else:
        fresh.fit(X, y, sample_weight=rows)
    return fresh


def importance_of(fitted: Any, p: int) -> Array:
    """Return the importances that a fitted estimator, or the last step of a pipeline, offers."""
    last = _last(fitted)
    for name in ("coef_", "feature_importances_"):
        if hasattr(last, name):
            values = np.abs(np.asarray(getattr(last, name), dtype=float))
            values = np.asarray(values.reshape(-1, values.shape[-1]).max(axis=0))
            if values.shape != (p,):
                raise ArgumentError(f"estimator: {name} has {values.size} entries for {p} columns.")
            return np.asarray(values, dtype=float)
    raise ArgumentError("estimator must have coef_ or feature_importances_ after fitting.")


def _last(fitted: Any) -> Any:
    """Return the estimator itself, the last step of a pipeline, or the best of a search."""
    last = fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted
    return getattr(last, "best_estimator_", last)
