r"""What a selection got right, when the truth is known.

Of the selected set :math:`S` and the true one :math:`S_0`, the false discovery proportion is
:math:`|S \setminus S_0| / \max(|S|, 1)` and the true positive proportion
:math:`|S \cap S_0| / \max(|S_0|, 1)`. Their means over data sets are the false discovery rate and
the power.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import IntArray
from selica._core.validation import array_of, short


def fdp(selected: ArrayLike, truth: ArrayLike) -> float:
    """Return the false discovery proportion: the share of selected variables that are not true.

    Parameters
    ----------
    selected, truth : boolean array of shape (p,), or list of indices from 0
        Each may be given in either way. Numbers are indices, also zeros and ones.

    Returns
    -------
    float
        Zero if nothing is selected.

    Examples
    --------
    >>> from selica.control import fdp
    >>> fdp([True, True, False, True], [True, False, False, True])
    0.3333333333333333
    >>> fdp([0, 1, 3], [0, 3])
    0.3333333333333333
    """
    chosen, true = _indices(selected, truth)
    return np.setdiff1d(chosen, true).size / max(chosen.size, 1)


def tpp(selected: ArrayLike, truth: ArrayLike) -> float:
    """Return the true positive proportion: the share of the true variables that are selected.

    Parameters
    ----------
    selected, truth : boolean array of shape (p,), or list of indices from 0
        Each may be given in either way. Numbers are indices, also zeros and ones.

    Returns
    -------
    float
        Zero if nothing is selected, or nothing is true.

    Examples
    --------
    >>> from selica.control import tpp
    >>> tpp([True, True, False, False], [True, False, False, True])
    0.5
    """
    chosen, true = _indices(selected, truth)
    return np.intersect1d(chosen, true).size / max(true.size, 1)


def _indices(selected: Any, truth: Any) -> tuple[IntArray, IntArray]:
    """Return both sets as indices of one list of variables."""
    given = {"selected": _set("selected", selected), "truth": _set("truth", truth)}
    lengths = {name: array.size for name, array in given.items() if array.dtype.kind == "b"}
    if len(set(lengths.values())) > 1:
        raise ArgumentError(
            "selected and truth must be masks of the same length; "
            f"got {lengths['selected']} and {lengths['truth']}."
        )
    out = {
        name: np.flatnonzero(array) if name in lengths else array.astype(np.intp)
        for name, array in given.items()
    }
    for mask, length in lengths.items():
        for name, indices in out.items():
            if np.any(indices >= length):
                raise ArgumentError(
                    f"selected and truth do not fit: {name} names variable {indices.max()}, "
                    f"{mask} is a mask of length {length}."
                )
    return out["selected"], out["truth"]


def _set(name: str, value: Any) -> Any:
    """Return a mask, or indices without repetition."""
    array = array_of(value)
    if array.ndim == 1 and array.size == 0 and array.dtype.kind != "b":
        return np.empty(0, dtype=np.intp)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise ArgumentError(
            f"{name} must be a boolean mask or a list of indices; got {short(value)}."
        )
    if array.dtype.kind == "b":
        return array
    if np.any(array < 0):
        raise ArgumentError(f"{name} must have indices from 0; got {int(array.min())}.")
    if np.unique(array).size < array.size:
        raise ArgumentError(
            f"{name} names a variable twice; a mask must be boolean, numbers are indices."
        )
    return array
