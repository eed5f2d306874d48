"""A table from a file: names, columns of numbers or text, and one sentence on what is wrong."""

from __future__ import annotations

import array
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError
from selica._core.files import as_path
from selica._core.types import Array
from selica._core.validation import short

Column = NDArray[Any]

_MISSING = frozenset(("", "na", "n/a", "nan", "null"))
"""Cells that are taken for missing values."""
_BOOLEAN = {"true": 1.0, "false": 0.0}
"""Cells that are taken for truth values."""
_SEPARATORS = (",", ";", "\t", "|")
"""Characters that may separate columns."""
_TABS = (".tsv", ".tab")
"""Endings of files with tabs between columns."""
_PARQUET = (".parquet", ".pq")
"""Endings of Parquet files."""
_SPREADSHEETS = (".xlsx", ".xls", ".ods")
"""Endings of spreadsheets, which are not read."""
_FIRST_LINE = re.compile(r"[\r\n]*([^\r\n]*)")
# 0,12 and 1,5e-3; those of them that may have a comma between thousands.
DECIMAL_COMMA = re.compile(r"[+-]?\d*(,\d*)?([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
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
    notes : tuple of str
        What the reader of a result has to know about how the table was read.

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
    notes: tuple[str, ...] = ()

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
        """Check that a table is within all limits, or name the one it is beyond in an error."""
        sizes = {"columns": columns, "rows": rows, "cells": rows * columns}
        for what, found in sizes.items():
            most = getattr(self, what)
            if found > most:
                raise ArgumentError(
                    f"{path}: the table has more than {most:,} {what}, the most that is read here."
                )


def read_table(path: str | Path) -> Columns:
    r"""Read a table.

    Parameters
    ----------
    path : path
        CSV or TSV in UTF-8 with a line of names, also compressed by gzip, or Parquet (needs
        pyarrow). The separator is that of the first line: comma, semicolon, tab or bar. Decimal
        commas are read where commas separate nothing and cannot be meant for thousands.

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
    r"""Read a table that is already in memory, as `read_table` does a file.

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
    if not text or text.isspace():
        raise ArgumentError(f"{path}: the file is empty.")
    first = _FIRST_LINE.match(text)
    assert first is not None
    separator = _separator(first.group(1), kind)
    underscores = text.find("_", first.end()) >= 0
    del text  # the bytes are read line by line: a table has many times its size as cells of text
    return _separated(_Source(path, content, separator, limits), underscores)


class _Source(NamedTuple):
    """Lines of separated text, to be read once or twice."""

    path: Path
    content: bytes
    separator: str
    limits: Limits | None

    def rows(self) -> Iterator[list[str]]:
        """Return the line of names, then the rows, without blank lines; all of one length."""
        text = io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig", newline="")
        reader = csv.reader(text, delimiter=self.separator)
        width, count = 0, -1
        try:
            for row in reader:
                if not row:
                    continue
                width, count = width or len(row), count + 1
                if self.limits is not None:
                    self.limits.check(self.path, count, width)
                if len(row) != width:
                    raise ArgumentError(
                        f"{self.path}: line {reader.line_num} has {_fields(len(row))}, the first "
                        f"line has {width}."
                    )
                yield row
        except csv.Error as error:
            raise ArgumentError(f"{self.path}: line {reader.line_num}: {error}.") from None


def _separated(source: _Source, underscores: bool) -> Columns:
    """Read numbers row by row; columns that hold anything else once more, as text."""
    rows = source.rows()
    header = next(rows)
    numbers = array.array("d")
    other: set[int] = set()
    for row in rows:
        if underscores:  # 1_000 is a number in Python only
            other.update(j for j, cell in enumerate(row) if "_" in cell)
        for j in other:
            row[j] = "nan"
        try:
            numbers.fromlist([float(cell) for cell in row])
        except ValueError:
            numbers.fromlist([_number(cell, j, other) for j, cell in enumerate(row)])
    if not numbers:
        raise ArgumentError(f"{source.path}: there is a line of names, but there are no rows.")
    table = np.frombuffer(numbers).reshape(-1, len(header))
    values: list[Column] = [table[:, j] for j in range(len(header))]
    read = _others(source, sorted(other))
    for j, column in read.items():
        values[j] = column.values
    commas = [j for j, column in read.items() if column.decimal_comma]
    columns = _columns(source.path, header, values)
    if not commas:
        return columns
    named = [columns.names[j] for j in commas]
    many = "1 column" if len(named) == 1 else f"{len(named)} columns"
    note = f"Decimal commas are read as decimal points in {many}: {listed(named)}."
    return replace(columns, notes=(note,))


def _number(cell: str, place: int, other: set[int]) -> float:
    """Return a cell as a number; the place of one that is neither a number nor missing is noted."""
    try:
        return float(cell)
    except ValueError:
        if cell.strip().casefold() not in _MISSING:
            other.add(place)
        return np.nan


class _Text(NamedTuple):
    """A column that does not consist of plain numbers."""

    values: Column
    decimal_comma: bool = False


def _others(source: _Source, places: Sequence[int]) -> dict[int, _Text]:
    """Return columns that hold something else than plain numbers: text, true and false, commas."""
    if not places:
        return {}
    cells: list[list[str]] = [[] for _ in places]
    rows = source.rows()
    next(rows)
    for row in rows:
        for column, j in zip(cells, places, strict=True):
            column.append(row[j].strip())
    with_commas = [
        j
        for j, column in zip(places, cells, strict=True)
        if all(DECIMAL_COMMA.fullmatch(cell) or _is_missing(cell) for cell in column)
    ]
    certain = source.separator != "," and any(
        "," in cell and not _THOUSANDS.fullmatch(cell)
        for j, column in zip(places, cells, strict=True)
        if j in with_commas
        for cell in column
    )
    found = {}
    for j, column in zip(places, cells, strict=True):
        if certain and j in with_commas:
            points = _parsed([cell.replace(",", ".") for cell in column])
            if points.dtype != object:
                found[j] = _Text(points, True)
                continue
        found[j] = _Text(_parsed(column))
    return found


def _is_missing(cell: str) -> bool:
    return cell.casefold() in _MISSING


def _separator(first: str, kind: str) -> str:
    """Return what separates names: in a TSV file tabs if there are any, else the most common."""
    counts = Counter("".join(first.split('"')[::2]))  # a quoted name may contain anything
    if kind in _TABS and counts["\t"]:
        return "\t"
    return max(_SEPARATORS, key=lambda separator: counts[separator])


def _parsed(cells: Sequence[str]) -> Column:
    missing = [_is_missing(cell) for cell in cells]
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
    """Return the cells as floats, or None where one of them is not a number."""
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
    """Return a few names in a sentence."""
    shown = ", ".join(repr(name) if quote else name for name in names[:_LISTED])
    more = len(names) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown
