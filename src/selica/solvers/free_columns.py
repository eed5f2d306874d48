"""Columns without a penalty: which they are, and those that others among them say already."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import BoolArray, IntArray
from selica._core.warning import warn
from selica.solvers.designs import DesignTable

_DEPENDENT = 1e-10
"""A column whose part outside the span of the others is below this share is dependent."""
_MANY = 10
"""Free columns are many where there are fewer rows than this for each."""
_LISTED = 5
"""Columns that a sentence names."""


class FreeColumnWarning(UserWarning):
    """Free columns say the same twice, or are many for the rows."""


def free_columns(
    given: ArrayLike | None, table: DesignTable, columns: int, intercept: bool
) -> BoolArray | None:
    """Return which columns have no penalty, (columns,), and warn where they depend on each other.

    Parameters
    ----------
    given : array of int or bool, or None
        Numbers of columns, or one flag for each.
    table : DesignTable
    columns : int
        Those of the table and of a copy, if there is one.
    intercept : bool
        Whether a constant is fitted beside them.
    """
    if given is None:
        return None
    free = _mask(np.asarray(given), columns)
    which = np.flatnonzero(free[: table.shape[1]])
    if which.size == 0:
        return free
    doubled = dependent(table, which, intercept)
    if doubled.size:
        names = ", ".join(str(j) for j in doubled[:_LISTED])
        more = ", ..." if doubled.size > _LISTED else ""
        warn(
            f"unpenalised: the other unpenalised columns determine column {names}{more}; where no "
            "resample breaks that, its coefficient is zero.",
            FreeColumnWarning,
        )
    if _MANY * which.size > table.shape[0]:
        warn(
            f"unpenalised: {which.size} columns without a penalty are many for {table.shape[0]} "
            "rows; a resample has fewer different rows still.",
            FreeColumnWarning,
        )
    return free


def dependent(table: DesignTable, which: IntArray, intercept: bool) -> IntArray:
    """Return those of the columns that the constant and the columns before them determine."""
    basis: list[np.ndarray] = []
    if intercept:
        basis.append(np.full(table.shape[0], table.shape[0] ** -0.5))
    doubled = []
    for j in which:
        column = table.column(int(j))
        rest, size = column, float(np.linalg.norm(column))
        for _ in range(2):  # once more, for the rounding of the first time
            for direction in basis:
                rest = rest - (direction @ rest) * direction
        left = float(np.linalg.norm(rest))
        if left <= _DEPENDENT**0.5 * size:
            doubled.append(j)
        else:
            basis.append(rest / left)
    return np.array(doubled, dtype=np.intp)


def _mask(listed: np.ndarray, columns: int) -> BoolArray:
    """Return one flag for each column."""
    if listed.dtype == np.bool_:
        if listed.shape != (columns,):
            raise ArgumentError(f"unpenalised must have shape ({columns},); got {listed.shape}.")
        return np.ascontiguousarray(listed)
    free = np.zeros(columns, dtype=bool)
    if listed.size == 0:
        return free
    if listed.dtype.kind not in "iu" or listed.ndim != 1:
        raise ArgumentError("unpenalised must be numbers of columns, or one flag for each column.")
    if listed.min() < 0 or listed.max() >= columns:
        raise ArgumentError(f"unpenalised must be numbers of columns below {columns}.")
    free[listed] = True
    return free
