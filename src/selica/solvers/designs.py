"""Tables as the solvers read them: dense, of small integers, sparse, or several side by side.

Genotypes of two bits have a file of their own, and `as_table` is the one door for all of them.
A table is never turned into doubles as a whole, unless it is one of doubles in rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.compiled import core
from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import array_of, matrix, real, short
from selica.solvers.design_table import DesignTable, places, share_of
from selica.solvers.two_bit import TwoBitTable, pack_two_bit, two_bit_design

__all__ = [
    "DenseTable",
    "DesignTable",
    "Int8Table",
    "SparseTable",
    "TablesSideBySide",
    "TwoBitTable",
    "as_table",
    "int8_design",
    "pack_two_bit",
    "side_by_side",
    "two_bit_design",
]

_BLOCK = 4_000_000
"""Entries that are checked at once."""
_BYTES_WITH_DOUBLES = 2.5e8
"""With one of doubles, which are copied for the screening as well."""


@dataclass(frozen=True, slots=True)
class DenseTable(DesignTable):
    """Doubles or single precision."""

    values: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (int(self.values.shape[0]), int(self.values.shape[1]))

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return int(self.values.nbytes)

    @property
    def most_bytes(self) -> float:
        """Memory that members which are solved together may have."""
        double = self.values.dtype == np.float64
        return _BYTES_WITH_DOUBLES if double else share_of(self.nbytes)

    def design(self) -> Any:
        """Return the table as the core reads it; doubles need contiguous columns."""
        if self.values.dtype == np.float32:
            return core().dense_float(self.values, False)
        return core().dense_double(np.asfortranarray(self.values), True)

    def column(self, j: int) -> Array:
        """Return one column as doubles."""
        return np.asarray(self.values[:, j], dtype=float)

    def columns_of(self, which: ArrayLike) -> Array:
        """Return some columns as doubles, (n, len(which))."""
        numbers = places("which", which, self.shape[1])
        return np.asfortranarray(self.values[:, numbers], dtype=float)

    def dense(self) -> Array:
        """Return the table as doubles."""
        return np.asarray(self.values, dtype=float)


@dataclass(frozen=True, slots=True)
class Int8Table(DesignTable):
    """Small whole numbers with a unit and an origin: unit * (value - origin), column by column."""

    values: Any
    unit: Array
    origin: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (int(self.values.shape[0]), int(self.values.shape[1]))

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return int(self.values.nbytes)

    def design(self) -> Any:
        """Return the table as the core reads it."""
        return core().int8(self.values, self.unit, self.origin)

    def column(self, j: int) -> Array:
        """Return one column as doubles."""
        return np.asarray(self.unit[j] * (self.values[:, j] - self.origin[j]))

    def dense(self) -> Array:
        """Return the table as doubles."""
        return np.asarray(self.unit * (self.values - self.origin))


@dataclass(frozen=True, slots=True)
class SparseTable(DesignTable):
    """Compressed columns."""

    values: Any
    """A SciPy array in CSC form, with sorted indices."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (int(self.values.shape[0]), int(self.values.shape[1]))

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return int(self.values.data.nbytes + self.values.indices.nbytes)

    def design(self) -> Any:
        """Return the table as the core reads it."""
        return core().sparse(
            self.shape[0],
            self.values.indptr.astype(np.int64),
            self.values.indices.astype(np.int32, copy=False),
            self.values.data.astype(float, copy=False),
        )

    def column(self, j: int) -> Array:
        """Return one column as doubles."""
        return np.asarray(self.values[:, [j]].toarray()[:, 0], dtype=float)

    def columns_of(self, which: ArrayLike) -> Array:
        """Return some columns as doubles, (n, len(which))."""
        numbers = places("which", which, self.shape[1])
        return np.asfortranarray(self.values[:, numbers].toarray(), dtype=float)

    def dense(self) -> Array:
        """Return the table as doubles."""
        return np.asarray(self.values.toarray(), dtype=float)


@dataclass(frozen=True, slots=True)
class TablesSideBySide(DesignTable):
    """The columns of several tables of the same rows, one table after the other."""

    parts: tuple[DesignTable, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (self.parts[0].shape[0], sum(part.shape[1] for part in self.parts))

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return sum(part.nbytes for part in self.parts)

    @property
    def most_bytes(self) -> float:
        """Memory that members which are solved together may have: a share of the largest part's."""
        own = (part.most_bytes for part in self.parts if isinstance(part, TwoBitTable))
        return max(share_of(self.nbytes), *own, 0.0)

    def design(self) -> Any:
        """Return the table as the core reads it."""
        return core().side_by_side([part.design() for part in self.parts])

    def column(self, j: int) -> Array:
        """Return one column as doubles."""
        for part in self.parts:
            if j < part.shape[1]:
                return part.column(j)
            j -= part.shape[1]
        raise IndexError(j)

    def dense(self) -> Array:
        """Return the table as doubles."""
        return np.concatenate([part.dense() for part in self.parts], axis=1)


def int8_design(
    values: ArrayLike, unit: ArrayLike | None = None, origin: ArrayLike | None = None
) -> Int8Table:
    """Return a table of small whole numbers, e.g. genotypes, of one byte each.

    Parameters
    ----------
    values : array of int8 or bool, of shape (n, p)
    unit, origin : array of shape (p,), optional
        Entries are unit * (value - origin); ones and zeros by default.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers.designs import int8_design
    >>> int8_design(np.array([[0, 1], [2, 0]], dtype=np.int8), origin=[1.0, 0.5]).dense().tolist()
    [[-1.0, 0.5], [1.0, -0.5]]
    """
    array = array_of(values)
    if array.dtype == np.bool_:
        array = array.view(np.int8)
    if array.dtype != np.int8 or array.ndim != 2 or array.size == 0:
        raise ArgumentError("values must be a non-empty two-dimensional table of int8 or bool.")
    p = array.shape[1]
    scales = [
        np.full(p, default) if given is None else real(name, given)
        for name, given, default in (("unit", unit, 1.0), ("origin", origin, 0.0))
    ]
    for name, scale in zip(("unit", "origin"), scales, strict=True):
        if scale.shape != (p,) or not np.isfinite(scale).all():
            raise ArgumentError(f"{name} must have one finite number for each of {p} columns.")
    return Int8Table(array, *(np.ascontiguousarray(scale) for scale in scales))


def side_by_side(tables: Sequence[Any]) -> TablesSideBySide:
    """Return one table with the columns of several, each in its own form.

    Parameters
    ----------
    tables : sequence
        Arrays, sparse arrays or tables, all of the same rows.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers.designs import side_by_side
    >>> side_by_side([np.eye(2), np.ones((2, 3), dtype=np.int8)]).shape
    (2, 5)
    """
    if isinstance(tables, str) or not isinstance(tables, Sequence) or len(tables) == 0:
        raise ArgumentError(f"tables must be a list of tables; got {short(tables)}.")
    parts = tuple(as_table(f"tables[{i}]", table) for i, table in enumerate(tables))
    rows = {part.shape[0] for part in parts}
    if len(rows) > 1:
        counts = ", ".join(str(count) for count in sorted(rows))
        raise ArgumentError(f"tables must have the same rows; got tables with {counts} rows.")
    return TablesSideBySide(parts)


def as_table(name: str, X: Any) -> DesignTable:
    """Return a table in the form in which it is stored, checked.

    Parameters
    ----------
    name : str
        How the caller calls it; opens the message.
    X : array, sparse array, DesignTable or genotypes of a file
        Doubles and single precision, int8, bool and sparse arrays stay what they are, and so do
        genotypes with `codes` of two bits, `n_rows` and `columns`; all else becomes doubles.
    """
    if isinstance(X, DesignTable):
        return X
    if hasattr(X, "codes") and hasattr(X, "n_rows"):
        return two_bit_design(X.codes, X.n_rows, X.columns)
    if hasattr(X, "tocsc"):
        return _sparse(name, X)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.size > 0:
        if X.dtype in (np.int8, np.bool_):
            return int8_design(X)
        if X.dtype == np.float32:
            _check_finite(name, X)
            return DenseTable(X)
    return DenseTable(matrix(name, X))


def _sparse(name: str, X: Any) -> SparseTable:
    """Return a sparse array with sorted columns."""
    values = X.tocsc()
    if values.shape[0] == 0 or values.shape[1] == 0:
        raise ArgumentError(f"{name} must be a non-empty two-dimensional table; got {X.shape}.")
    try:
        values.check_format(full_check=True)
    except ValueError as error:
        raise ArgumentError(f"{name} must be a sparse table that fits together: {error}.") from None
    if values.dtype.kind not in "iufb" or not np.isfinite(values.data).all():
        raise ArgumentError(f"{name} must be a table of finite numbers.")
    if not values.has_canonical_format:
        values = values.copy()
        values.sum_duplicates()
    return SparseTable(values)


def _check_finite(name: str, X: Any) -> None:
    """Refuse a table with entries that are not finite, block by block."""
    lines = X if X.flags.c_contiguous else X.T
    step = max(1, _BLOCK // max(lines.shape[1], 1))
    for start in range(0, lines.shape[0], step):
        if not np.isfinite(lines[start : start + step]).all():
            raise ArgumentError(f"{name} must be finite.")
