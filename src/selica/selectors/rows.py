"""What is known of the rows beside columns and response: weights, units, covariates, strata."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError, RefusedError
from selica._core.losses import Loss
from selica._core.types import Array, IntArray
from selica._core.validation import real, short
from selica.sampling.checks import row_shares
from selica.sampling.weights import label_codes
from selica.selectors.frames import category_columns, encoded

FEWEST_UNITS = 4
"""Units below which halves of them say nothing."""
POLICIES = ("impute",)
"""What `fit` does with missing values, where it is asked to do anything."""


class RowArguments(NamedTuple):
    """Arguments of `fit` that are about the rows, as they were given."""

    sample_weight: Any = None
    keep: Any = None
    rows_of: Any = None
    offset: Any = None
    strata: Any = None
    missing: Any = None

    @property
    def impute(self) -> bool:
        """Whether missing values are to be filled in."""
        if self.missing is not None and self.missing not in POLICIES:
            raise ArgumentError(
                f"missing must be None or 'impute'; got {short(self.missing)}. selica.select can "
                "also leave out rows or columns."
            )
        return self.missing is not None

    def weight(self, n: int) -> Array | None:
        """Return the weights of the rows."""
        if self.sample_weight is None:
            return None
        weight = row_shares(self.sample_weight, n)
        if np.count_nonzero(weight) < 2:
            raise ArgumentError("sample_weight must be positive for at least two rows.")
        return weight

    def units(self, n: int) -> IntArray | None:
        """Return the unit of each row; None where every row is its own."""
        if self.rows_of is None:
            return None
        units = label_codes("rows_of", self.rows_of, n)
        number = int(units.max()) + 1
        if number < FEWEST_UNITS:
            raise RefusedError(
                f"rows_of has {number} different {'value' if number == 1 else 'values'}, and a "
                f"selection needs at least {FEWEST_UNITS} groups of rows."
            )
        return None if number == n else units

    def covariates(self, n: int, loss: Loss) -> Array | None:
        """Return the columns that are kept, and one for each stratum but the first."""
        parts = []
        if self.keep is not None:
            parts.append(_table(self.keep, n))
        if self.strata is not None and "stratum" not in loss.fields:
            codes = label_codes("strata", self.strata, n)
            parts.append((codes[:, None] == np.arange(1, codes.max() + 1)).astype(float))
        if not parts:
            return None
        kept = np.concatenate(parts, axis=1)
        if kept.shape[1] >= n - 1:
            raise RefusedError(f"keep has {kept.shape[1]} columns, which is too many for {n} rows.")
        return kept

    def response(self, y: Array, n: int, loss: Loss) -> Array:
        """Return the response with its offset, or its stratum, beside it."""
        if self.offset is not None:
            if "offset" not in loss.fields:
                raise ArgumentError(
                    f"offset is for counts (response='count'); the response is {loss.label}."
                )
            y = np.column_stack([y, _vector("offset", self.offset, n)])
        if self.strata is not None and "stratum" in loss.fields:
            codes = label_codes("strata", self.strata, n)
            y = np.column_stack([y[:, :2], codes.astype(float), y[:, 3:]])
        return y


def _vector(name: str, value: ArrayLike, n: int) -> Array:
    """Return one finite number for each row."""
    numbers = real(name, value)
    if numbers.shape != (n,):
        raise ArgumentError(
            f"{name} must have one number for each of the {n} rows; got shape {numbers.shape}."
        )
    return numbers


def _table(keep: Any, n: int) -> Array:
    """Return columns to keep as numbers; categories have a column for each value but one."""
    if isinstance(keep, np.ma.MaskedArray):
        keep = np.ma.filled(keep.astype(float), np.nan)
    categories = category_columns(keep)
    try:
        values = np.asarray(encoded(keep, categories).values if categories else keep, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            "keep must be columns of numbers or categories; selica.select takes names of columns, "
            "and text."
        ) from None
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or len(values) != n:
        raise ArgumentError(
            f"keep must have one row for each of the {n} rows of X; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ArgumentError("keep must be finite, without missing values.")
    return values


def column_variables(variable: Any, columns: int) -> IntArray | None:
    """Return which variable each column belongs to; None where every column is one.

    Parameters
    ----------
    variable : array of int, shape (columns,), or None
    columns : int
    """
    if variable is None:
        return None
    codes = np.asarray(variable)
    wrong = codes.shape != (columns,) or codes.dtype.kind not in "iu"
    if wrong or not np.array_equal(np.unique(codes), np.arange(codes.max(initial=-1) + 1)):
        raise ArgumentError(
            f"variable must have one number for each of the {columns} columns, from 0 up."
        )
    return None if np.array_equal(codes, np.arange(columns)) else codes.astype(np.intp)
