"""A table from a file: names, columns of numbers or text, and one sentence on what is wrong."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError
from selica._core.files import as_path
from selica._core.types import Array
from selica._core.validation import short

Column = NDArray[Any]

_MISSING = frozenset(("", "na", "n/a", "nan", "null"))
_BOOLEAN = {"true": 1.0, "false": 0.0}
_SEPARATORS = (",", ";", "\t", "|")
_TABS = (".tsv", ".tab")
_PARQUET = (".parquet", ".pq")
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
# How many names a sentence lists.
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Columns:
    r"""A table by columns.

    Attributes
    ----------
    names : tuple of str
    values : tuple of array
        Floats, with NaN where a value is missing; or objects, text with None where it is missing.
    unnamed : tuple of str
        Those of `names` that were made up because the file has none.

    Examples
    --------
    >>> from selica.reports import parse_table
    >>> table = parse_table("table.csv", b"age,well\n61,yes\n,no\n")
    >>> table.names, len(table)
    (('age', 'well'), 2)
    >>> [column.tolist() for column in table.values]
    [[61.0, nan], ['yes', 'no']]
    """

    names: tuple[str, ...]
    values: tuple[Column, ...]
    unnamed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.values[0].size if self.values else 0


@dataclass(frozen=True, slots=True)
class Limits:
    r"""The largest table that is read.

    Examples
    --------
    >>> from selica.reports import Limits, parse_table
    >>> few = Limits(rows=1, columns=10, cells=10)
    >>> parse_table("table.csv", b"age\n61\n58\n", few)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    selica._core.errors.ArgumentError: table.csv: the table has more than 1 rows, ...
    """

    rows: int
    columns: int
    cells: int

    def check(self, path: Path, rows: int, columns: int) -> None:
        """Says which of them a table is beyond."""
        sizes = {"columns": columns, "rows": rows, "cells": rows * columns}
        for what, found in sizes.items():
            most = getattr(self, what)
            if found > most:
                raise ArgumentError(
                    f"{path}: the table has more than {most:,} {what}, the most that is read here."
                )


def read_table(path: str | Path) -> Columns:
    r"""Reads a table.

    Parameters
    ----------
    path : path
        CSV or TSV in UTF-8 with a line of names, also compressed by gzip, or Parquet (needs
        pyarrow). The separator is that of the first line: comma, semicolon, tab or bar.

    Returns
    -------
    Columns
        A column of numbers is an array of floats; so is one of true and false. All others are
        text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.reports import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("age;dose\n61;1.5\n")
    ...     read_table(path).names
    ('age', 'dose')
    """
    file = as_path("path", path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ArgumentError(f"{file}: {error.strerror or error}.") from None
    return parse_table(file, content)


def parse_table(name: str | Path, content: bytes, limits: Limits | None = None) -> Columns:
    r"""Reads a table that is already in memory, as `read_table` does a file.

    >>> from selica.reports import parse_table
    >>> parse_table("table.csv", b"age;y\n61;0.2\n58;0.1\n").names
    ('age', 'y')

    Parameters
    ----------
    name : path
        What messages call it; its ending says how it is read.
    content : bytes
    limits : Limits, optional
        Compressed files are then refused: what is in them may be of any size.
    """
    path = as_path("name", name)
    if not isinstance(content, bytes):
        raise ArgumentError(f"content must be bytes; got {short(content)}.")
    if limits is not None and not isinstance(limits, Limits):
        raise ArgumentError(f"limits must be Limits; got {short(limits)}.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] and suffixes[-1] in _SPREADSHEETS:
        raise ArgumentError(f"{path}: spreadsheets are not read; save the table as CSV.")
    if content[:2] == b"\x1f\x8b" or suffixes[-1:] == [".gz"]:
        if limits is not None:
            raise ArgumentError(f"{path}: unpack the file first.")
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            raise ArgumentError(f"{path}: the gzip file is broken.") from None
        suffixes = suffixes[:-1]
    kind = suffixes[-1] if suffixes else ""
    if content[:4] == b"PAR1" or kind in _PARQUET:
        return _parquet(path, content, limits)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ArgumentError(
            f"{path}: line {line} is not UTF-8; save the table as a CSV file in UTF-8."
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise ArgumentError(
            f"{path}: line {line} is not text; save the table as a CSV file in UTF-8."
        )
    return _separated(path, text, kind, limits)


def _separated(path: Path, text: str, kind: str, limits: Limits | None) -> Columns:
    lines = text.lstrip("\r\n")
    if not lines.strip():
        raise ArgumentError(f"{path}: the file is empty.")
    skipped = text.count("\n", 0, len(text) - len(lines))
    separator = _separator(lines.splitlines()[0], kind)
    reader = csv.reader(io.StringIO(lines, newline=""), delimiter=separator)
    rows: list[list[str]] = []
    try:
        header = next(reader)
        for row in reader:
            if limits is not None:
                limits.check(path, len(rows) + 1, len(header))
            if not row:  # a blank line
                continue
            if len(row) != len(header):
                raise ArgumentError(
                    f"{path}: line {skipped + reader.line_num} has {_fields(len(row))}, the first "
                    f"line has {len(header)}."
                )
            rows.append(row)
    except csv.Error as error:
        raise ArgumentError(f"{path}: line {skipped + reader.line_num}: {error}.") from None
    if not rows:
        raise ArgumentError(f"{path}: there is a line of names, and no rows.")
    return _columns(path, header, [_parsed(column) for column in zip(*rows, strict=True)])


def _separator(first: str, kind: str) -> str:
    """What separates the names: in a TSV file tabs if there are any, else what is most common."""
    counts = Counter("".join(first.split('"')[::2]))  # a quoted name may contain anything
    if kind in _TABS and counts["\t"]:
        return "\t"
    return max(_SEPARATORS, key=lambda separator: counts[separator])


def _parsed(column: Sequence[str]) -> Column:
    cells = [cell.strip() for cell in column]
    missing = [cell.casefold() in _MISSING for cell in cells]
    known = [cell for cell, absent in zip(cells, missing, strict=True) if not absent]
    numbers = _numbers(known)
    if numbers is None:
        text = np.array(cells, dtype=object)
        text[missing] = None
        return text
    out = np.full(len(cells), np.nan)
    out[~np.array(missing, dtype=bool)] = numbers
    return out


def _numbers(cells: list[str]) -> Array | None:
    """The cells as floats, or None where one of them is not a number."""
    folded = [cell.casefold() for cell in cells]
    if cells and all(cell in _BOOLEAN for cell in folded):
        return np.array([_BOOLEAN[cell] for cell in folded])
    if any("_" in cell for cell in cells):  # 1_000 is a number in Python only
        return None
    try:
        return np.array(cells, dtype=float)
    except ValueError:
        return None


def _parquet(path: Path, content: bytes, limits: Limits | None) -> Columns:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ArgumentError(
            f"{path}: Parquet needs pyarrow (pip install 'selica[data]'); CSV needs nothing."
        ) from None
    try:
        if limits is not None:
            size = pq.read_metadata(pa.BufferReader(content))
            limits.check(path, size.num_rows, size.num_columns)
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError):
        raise ArgumentError(f"{path}: this is not a Parquet file that can be read.") from None
    if table.num_rows == 0:
        raise ArgumentError(f"{path}: the table has no rows.")
    return _columns(path, table.column_names, [_of_arrow(column) for column in table.columns])


def _of_arrow(column: Any) -> Column:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind):
        values = column.to_pylist()
        return np.array([np.nan if v is None else float(v) for v in values])
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return np.array(column.cast(pa.float64(), safe=False).to_numpy(), dtype=float)
    return np.array([None if v is None else str(v) for v in column.to_pylist()], dtype=object)


def _columns(path: Path, header: Sequence[str], values: Sequence[Column]) -> Columns:
    names = [" ".join(str(name).split()) for name in header]
    unnamed = [f"column {j}" for j, name in enumerate(names, start=1) if not name]
    names = [name or f"column {j}" for j, name in enumerate(names, start=1)]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ArgumentError(f"{path}: column names must differ; more than once: {listed(twice)}.")
    return Columns(tuple(names), tuple(values), tuple(unnamed))


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"


def listed(names: Sequence[str], quote: bool = True) -> str:
    """A few names in a sentence."""
    shown = ", ".join(repr(name) if quote else name for name in names[:_LISTED])
    more = len(names) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown
