"""A table from a file: names, columns of numbers or text, and one sentence on what is wrong."""

from __future__ import annotations

import csv
import difflib
import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError
from selica._core.types import Array

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
    """A table by columns.

    Attributes
    ----------
    names : tuple of str
    values : tuple of array
        Floats, with NaN where a value is missing; or objects, text with None where it is missing.
    unnamed : tuple of str
        Those of `names` that were made up because the file has none.
    """

    names: tuple[str, ...]
    values: tuple[Column, ...]
    unnamed: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.values[0].size if self.values else 0


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest table that is read."""

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
    """Reads a table.

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
    """
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror or error}.") from None
    return parse_table(path, content)


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
    path = Path(name)
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
        raise ArgumentError(f"{path}: column names must differ; more than once: {_listed(twice)}.")
    return Columns(tuple(names), tuple(values), tuple(unnamed))


def split(
    table: Columns, target: str, drop: Iterable[str] = ()
) -> tuple[Array, Column, tuple[str, ...]]:
    r"""The variables and the response of a table, checked.

    >>> from selica.reports import parse_table, split
    >>> table = parse_table("table.csv", b"age,dose,well\n61,1.5,yes\n58,0.5,no\n")
    >>> [part.tolist() for part in split(table, "well", drop=["dose"])[:2]]
    [[[61.0], [58.0]], ['yes', 'no']]

    Parameters
    ----------
    table : Columns
    target : str
        Column of the response: numbers, or text with two different values.
    drop : iterable of str
        Columns to leave out.

    Returns
    -------
    X, y, names : arrays of shape (n, p) and (n,), tuple of str
        y is floats, or text of two classes; names are those of the columns of X.
    """
    _check_columns(table, ("target", target))
    left_out = tuple(drop)
    if target in left_out:
        raise ArgumentError(f"drop: {target!r} is the target.")
    y = table.values[table.names.index(target)]
    X, names = _variables(table, left_out, {target: y})
    return X, _response(target, y), names


def variables(
    table: Columns, drop: Iterable[str] = (), target: str | None = None
) -> tuple[Array, tuple[str, ...]]:
    r"""The variables of a table and their names, checked: it need not have a response yet.

    >>> from selica.reports import parse_table, variables
    >>> X, names = variables(parse_table("table.csv", b"age,dose\n61,1.5\n58,0.5\n"))
    >>> X.shape, names
    ((2, 2), ('age', 'dose'))

    Parameters
    ----------
    table : Columns
    drop : iterable of str
        Columns to leave out.
    target : str, optional
        Column of the response, which is left out unseen.
    """
    unseen = () if target is None else (target,)
    _check_columns(table, *(("target", name) for name in unseen))
    return _variables(table, (*drop, *unseen), {})


def _variables(
    table: Columns, drop: tuple[str, ...], response: dict[str, Column]
) -> tuple[Array, tuple[str, ...]]:
    _check_columns(table, *(("drop", name) for name in sorted(drop)))
    by_name = dict(zip(table.names, table.values, strict=True))
    used = {n: v for n, v in by_name.items() if n not in response and n not in drop}
    if not used:
        beside = " beside the target" if response else ""
        raise ArgumentError(f"There are no variables{beside}.")
    nameless = [name for name in table.unnamed if name in used]
    if nameless:
        raise ArgumentError(
            f"{_columns_are(nameless)} without a name in the file: if these are row names, leave "
            f"them out (--drop {nameless[0]!r}); otherwise name them."
        )
    _check_missing(used | response)
    text = [name for name, values in used.items() if values.dtype == object]
    if text:
        raise ArgumentError(
            f"{_columns_are(text)} text: leave them out (--drop {text[0]!r}) or encode them as "
            f"numbers, e.g. one column of 0 and 1 for each value."
        )
    _check_finite(used | response)
    if len(table) < 2:
        raise ArgumentError("There must be at least two rows; the table has one.")
    return np.column_stack(list(used.values())), tuple(used)


def _check_columns(table: Columns, *named: tuple[str, str]) -> None:
    for option, name in named:
        if name not in table.names:
            raise ArgumentError(f"{option}: there is no column {name!r}{_meant(name, table)}")


def _response(target: str, y: Column) -> Column:
    if y.dtype != object:
        return y
    classes = sorted(set(y))
    if len(classes) != 2:
        raise ArgumentError(
            f"target: {target!r} is text with {len(classes)} different "
            f"{'value' if len(classes) == 1 else 'values'} ({_listed(classes)}); it must be "
            "numbers, or text with two."
        )
    return y.astype(str)


def _check_missing(columns: dict[str, Column]) -> None:
    absent = {
        name: values == None if values.dtype == object else np.isnan(values)  # noqa: E711
        for name, values in columns.items()
    }
    found = [f"{name!r} ({_rows(int(a.sum()))})" for name, a in absent.items() if a.any()]
    if found:
        rows = int(np.any(list(absent.values()), axis=0).sum())
        raise ArgumentError(
            f"Values are missing in {_rows(rows)}: {_listed(found, quote=False)}. Fill them in, or "
            "leave out these rows or columns."
        )


def _check_finite(columns: dict[str, Column]) -> None:
    found = [
        name
        for name, values in columns.items()
        if values.dtype != object and not np.isfinite(values).all()
    ]
    if found:
        raise ArgumentError(f"{_columns_are(found)} infinite in some rows.")


def _meant(name: str, table: Columns) -> str:
    close = difflib.get_close_matches(name, table.names, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {_listed(table.names)}."


def _listed(names: Sequence[str], quote: bool = True) -> str:
    shown = ", ".join(repr(name) if quote else name for name in names[:_LISTED])
    more = len(names) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown


def _columns_are(names: Sequence[str]) -> str:
    return f"{'Column' if len(names) == 1 else 'Columns'} {_listed(names)} {_are(names)}"


def _are(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n} rows"


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"
