"""Genotypes of two bits: four people in a byte, one line of bytes for each marker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.compiled import core
from selica._core.errors import ArgumentError
from selica._core.types import Array, IntArray
from selica._core.validation import array_of, count, real, short
from selica.solvers.design_table import DesignTable, places, row_weights, share_of

_MISSING = 1
"""The code of a missing call."""
_SHARE = 2.0
"""Memory of members that are solved together, as a share of the codes: one pass over a file should
serve many members. For 500,000 markers of 5,000 people it is 1.25 GB."""
_BLOCK = 4_000_000
"""Entries that are packed at once."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoBitTable(DesignTable):
    """Copies of an allele in two bits, with a unit and an origin: unit * (copies - origin)."""

    codes: Any
    """uint8 of shape (markers, ceil(n / 4)), low bits first: 0 is two copies, 1 a missing call,
    2 one copy, 3 none."""
    n_rows: int
    columns: IntArray
    """(p,): lines of the codes that are the columns."""
    unit: Array
    origin: Array
    fill: Array
    """(p,): copies that stand in for a missing call."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return (self.n_rows, int(self.columns.size))

    @property
    def nbytes(self) -> int:
        """Size of the codes of the columns, in memory or in the file that is mapped."""
        return int(self.columns.size) * int(self.codes.shape[1])

    @property
    def most_bytes(self) -> float:
        """Memory that members which are solved together may have: few passes over the codes."""
        return max(share_of(0), _SHARE * self.nbytes)

    def design(self) -> Any:
        """Return the table as the core reads it."""
        return core().two_bit(
            self.codes, self.n_rows, self.columns, self.unit, self.origin, self.fill
        )

    def column(self, j: int) -> Array:
        """Return one column as doubles."""
        from selica.tables.genotypes.codes import unpack  # a room that is slow to import

        line = np.asarray(self.codes[self.columns[j]])
        calls = unpack(line[None], self.n_rows)[0]
        by_call = np.array([0.0, 1.0, 2.0, self.fill[j]])  # a missing call is -1, the last
        return np.asarray((self.unit[j] * (by_call - self.origin[j]))[calls])

    def dense(self) -> Array:
        """Return the table as doubles."""
        return self.columns_of(np.arange(self.columns.size))

    def moments(self, weight: ArrayLike | None = None) -> tuple[Array, Array]:
        """Return weighted means and variances of the columns, by the counts of their codes."""
        given = row_weights(weight, self.n_rows)
        mean, first, second = (np.empty(self.columns.size) for _ in range(3))
        core().column_moments(self.design(), given, mean, first, second)
        away = first / given.sum()
        return mean + away, np.maximum(second / given.sum() - away**2, 0.0)

    def counts(self) -> IntArray:
        """Return how many people have each code, of shape (p, 4)."""
        return _counts(self.codes, self.n_rows, self.columns)

    def some_columns(self, which: ArrayLike) -> TwoBitTable:
        """Return a table of some columns; the codes are not copied.

        Parameters
        ----------
        which : integer array of shape (k,), or flags of shape (p,)
        """
        numbers = places("which", which, self.columns.size)
        if numbers.size == 0:
            raise ArgumentError("which must name a column.")
        scales = (
            np.ascontiguousarray(each[numbers]) for each in (self.unit, self.origin, self.fill)
        )
        return TwoBitTable(self.codes, self.n_rows, self.columns[numbers], *scales)

    def some_rows(self, which: ArrayLike) -> TwoBitTable:
        """Return a table of some rows, packed anew; a missing call keeps what stands in for it.

        Parameters
        ----------
        which : integer array of shape (k,), or flags of shape (n,)
        """
        numbers = places("which", which, self.n_rows)
        if numbers.size == 0:
            raise ArgumentError("which must name a row.")
        codes = np.empty((self.columns.size, _line_bytes(numbers.size)), dtype=np.uint8)
        core().two_bit_rows(self.codes, self.n_rows, self.columns, numbers, codes)
        lines = np.arange(self.columns.size, dtype=np.int64)
        return TwoBitTable(codes, int(numbers.size), lines, self.unit, self.origin, self.fill)


def two_bit_design(
    codes: Any,
    n_rows: int,
    columns: ArrayLike | None = None,
    unit: ArrayLike | None = None,
    origin: ArrayLike | None = None,
    fill: ArrayLike | None = None,
) -> TwoBitTable:
    """Return a table of genotypes in two bits each, e.g. the mapped contents of a .bed file.

    Parameters
    ----------
    codes : array of uint8, of shape (markers, ceil(n_rows / 4))
        One line a marker, four people a byte, low bits first: 0 is two copies of the first allele,
        1 a missing call, 2 one copy, 3 none. `numpy.memmap(path, mode="r", offset=3, shape=...)`
        of a .bed file is read where it lies.
    n_rows : int
        People.
    columns : integer array of shape (p,), or flags of shape (markers,), optional
        Lines of the codes that are the columns; all by default.
    unit, origin : array of shape (p,), optional
        Entries are unit * (copies - origin); ones and zeros by default.
    fill : array of shape (p,), optional
        Copies that stand in for a missing call; the mean of the calls by default, zero in a column
        that has none.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import pack_two_bit, two_bit_design
    >>> genotypes = np.array([[0, 1], [2, 0], [1, -1], [2, 2], [0, 0]], dtype=np.int8)
    >>> codes = pack_two_bit(genotypes)
    >>> codes.shape
    (2, 2)
    >>> two_bit_design(codes, n_rows=5).dense().T.tolist()
    [[0.0, 2.0, 1.0, 2.0, 0.0], [1.0, 0.0, 0.75, 2.0, 0.0]]
    """
    n_rows = count("n_rows", n_rows)
    if not isinstance(codes, np.ndarray) or codes.dtype != np.uint8 or codes.ndim != 2:
        raise ArgumentError(f"codes must be a two-dimensional array of uint8; got {short(codes)}.")
    if codes.shape[0] == 0 or codes.shape[1] != _line_bytes(n_rows):
        raise ArgumentError(
            f"codes must have lines of {_line_bytes(n_rows)} bytes for {n_rows} rows, four rows a "
            f"byte; got an array of shape {codes.shape}."
        )
    if codes.strides[1] != 1 and codes.shape[1] > 1:
        codes = np.ascontiguousarray(codes)
    markers = codes.shape[0]
    lines = np.arange(markers) if columns is None else places("columns", columns, markers)
    if lines.size == 0:
        raise ArgumentError("columns must name a line of the codes.")
    lines = np.ascontiguousarray(lines, dtype=np.int64)
    if fill is None:
        counts = _counts(codes, n_rows, lines)
        fill = (2.0 * counts[:, 0] + counts[:, 2]) / np.maximum(n_rows - counts[:, _MISSING], 1)
    scales = []
    for name, given, default in (("unit", unit, 1.0), ("origin", origin, 0.0), ("fill", fill, 0.0)):
        scale = np.full(lines.size, default) if given is None else real(name, given)
        if scale.shape != lines.shape or not np.isfinite(scale).all():
            raise ArgumentError(
                f"{name} must have one finite number for each of {lines.size} columns."
            )
        scales.append(np.ascontiguousarray(scale, dtype=float))
    return TwoBitTable(codes, n_rows, lines, *scales)


def pack_two_bit(values: ArrayLike) -> Any:
    """Return genotypes as codes of two bits, as a .bed file has them.

    Parameters
    ----------
    values : array of int8, of shape (n, p)
        Copies of the first allele: 0, 1, 2, or -1 where a call is missing.

    Returns
    -------
    array of uint8, of shape (p, ceil(n / 4))

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers import pack_two_bit
    >>> pack_two_bit(np.array([[2], [1], [0], [-1], [2]], dtype=np.int8)).tolist()
    [[120, 0]]
    """
    from selica.tables.genotypes.codes import pack  # a room that is slow to import

    array = array_of(values)
    if array.dtype != np.int8 or array.ndim != 2 or array.size == 0:
        raise ArgumentError("values must be a non-empty two-dimensional table of int8.")
    n, p = array.shape
    codes = np.empty((p, _line_bytes(n)), dtype=np.uint8)
    step = max(1, _BLOCK // n)
    for start in range(0, p, step):
        block = array[:, start : start + step].T
        if block.min() < -1 or block.max() > 2:
            raise ArgumentError("values must be 0, 1 or 2 copies, or -1 where a call is missing.")
        codes[start : start + step] = pack(block)
    return codes


def _line_bytes(rows: int) -> int:
    """Return the bytes of a line."""
    return (rows + 3) // 4


def _counts(codes: Any, n_rows: int, lines: IntArray) -> IntArray:
    """Return how many rows have each code, of shape (p, 4)."""
    counts = np.empty((lines.size, 4), dtype=np.int64)
    core().two_bit_counts(codes, n_rows, lines, counts)
    return counts
