"""A table from a file: which kind of file it is, and one sentence on what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import feather, parquet

from selica._core.errors import ArgumentError
from selica._core.files import as_path
from selica._core.memory import SMALL, check_memory
from selica._core.validation import short
from selica.tables.arrow import columns_of_arrow
from selica.tables.columns import Columns, Limits, clean_names
from selica.tables.excel import read_excel
from selica.tables.separated import read_separated

_PARQUET = (".parquet", ".pq")
"""Endings of Parquet files."""
_FEATHER = (".feather", ".arrow", ".ipc", ".fea")
"""Endings of Feather files, which are those of Arrow."""
_WORKBOOKS = (".xlsx", ".xlsm")
"""Endings of workbooks that are read."""
_SPREADSHEETS = (".xls", ".xlsb", ".ods", ".numbers")
"""Endings of spreadsheets that are not read."""
_TIMES_ITS_SIZE = 3.2
"""Memory that reading a file takes, as a multiple of its size."""
_COMPRESSED = (
    (".gz", b"\x1f\x8b", "gzip"),
    (".zst", b"\x28\xb5\x2f\xfd", "zstd"),
    (".bz2", b"BZh", "bz2"),
)
"""Compressed files: their ending, their beginning and how pyarrow calls the method."""
_PIECE = 1 << 24
"""Bytes that are unpacked at once."""


def read_table(path: str | Path) -> Columns:
    r"""Read a table.

    Parameters
    ----------
    path : path
        Text with commas, semicolons, tabs or bars between columns and a line of names, also
        compressed (`.gz`, `.zst`, `.bz2`); Parquet; Feather or Arrow; Excel (`.xlsx`, which needs
        openpyxl). Separator, encoding, decimal commas and separators of thousands are recognised.

    Returns
    -------
    Columns
        A column of numbers is an array of floats; so is one of true and false. All others are
        text. What had to be decided is said in `notes`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_text("age;dose\n61;1,5\n")
    ...     table = read_table(path)
    >>> table.names, [column.tolist() for column in table.values]
    (('age', 'dose'), [[61.0], [1.5]])
    >>> table.notes
    ("Decimal commas are read as decimal points in 1 column: 'dose'.",)
    """
    file = as_path("path", path)
    try:
        size = file.stat().st_size
        if size > SMALL:
            check_memory(f"reading {file}", _TIMES_ITS_SIZE * size, "read a part of the table")
        content = file.read_bytes()
    except OSError as error:
        raise ArgumentError(f"{file}: {error.strerror or error}.") from None
    found = parse_table(file, content)
    pa.default_memory_pool().release_unused()  # which would stay until arrow is used again
    return found


def parse_table(name: str | Path, content: bytes, limits: Limits | None = None) -> Columns:
    r"""Read a table that is already in memory, as `read_table` does a file.

    >>> from selica.tables import parse_table
    >>> parse_table("table.csv", b"age;y\n61;0.2\n58;0.1\n").names
    ('age', 'y')

    Parameters
    ----------
    name : path
        What messages call it; its ending says how it is read.
    content : bytes
    limits : Limits, optional
        Compressed files are then unpacked as far as it allows: what is in them may be of any size.
    """
    path = as_path("name", name)
    if not isinstance(content, bytes):
        raise ArgumentError(f"content must be bytes; got {short(content)}.")
    if limits is not None and not isinstance(limits, Limits):
        raise ArgumentError(f"limits must be Limits; got {short(limits)}.")
    bare = path
    for ending, beginning, method in _COMPRESSED:
        named = path.suffix.lower() == ending
        if named or content.startswith(beginning):
            if limits is not None and not limits.unpacked:
                raise ArgumentError(f"{path}: unpack the file first.")
            content = _unpacked(path, content, method, limits)
            bare = path.with_suffix("") if named else path
            break
    kind = bare.suffix.lower()
    if kind in _SPREADSHEETS:
        raise ArgumentError(
            f"{path}: spreadsheets of this kind are not read; save the table as .xlsx or as CSV."
        )
    if kind in _WORKBOOKS:
        return read_excel(path, content, limits)
    if content[:4] == b"PAR1" or kind in _PARQUET:
        return _parquet(path, content, limits)
    if content[:6] == b"ARROW1" or kind in _FEATHER:
        return _feather(path, content, limits)
    return read_separated(path, content, limits)


def _unpacked(path: Path, content: bytes, method: str, limits: Limits | None) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        with pa.CompressedInputStream(pa.BufferReader(content), method) as stream:
            while part := stream.read(_PIECE):
                parts.append(part)
                size += len(part)
                if limits is not None:
                    limits.check_unpacked(path, size)
    except (pa.ArrowException, OSError):
        raise ArgumentError(f"{path}: the {method} file is broken.") from None
    return b"".join(parts)


def _parquet(path: Path, content: bytes, limits: Limits | None) -> Columns:
    try:
        if limits is not None:
            size = parquet.read_metadata(pa.BufferReader(content))
            limits.check(path, size.num_rows, size.num_columns)
            if limits.unpacked:
                groups = map(size.row_group, range(size.num_row_groups))
                limits.check_unpacked(path, sum(group.total_byte_size for group in groups))
        # `read_table` of parquet plans a scan for each of many columns, which takes gigabytes
        table = parquet.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError):
        raise ArgumentError(f"{path}: this is not a Parquet file that can be read.") from None
    return replace(_of_arrow(path, table, limits), read_as="Parquet")


def _feather(path: Path, content: bytes, limits: Limits | None) -> Columns:
    try:
        if content[:4] == b"FEA1":  # the first version, which compresses nothing
            table = feather.read_table(pa.BufferReader(content))
        elif content[:6] == b"ARROW1":
            table = _batches(path, pa.ipc.open_file(pa.BufferReader(content)), limits)
        else:
            table = _batches(path, pa.ipc.open_stream(pa.BufferReader(content)), limits)
    except (pa.ArrowException, OSError):
        raise ArgumentError(
            f"{path}: this is not a Feather or Arrow file that can be read."
        ) from None
    return replace(_of_arrow(path, table, limits), read_as="Feather or Arrow")


def _batches(path: Path, reader: Any, limits: Limits | None) -> Any:
    """Return the table of an Arrow file, read no further than the limits allow."""
    if limits is None:
        return reader.read_all()
    columns, rows, parts = len(reader.schema), 0, []
    limits.check(path, 0, columns)
    stream = (
        reader
        if hasattr(reader, "read_next_batch")
        else map(reader.get_batch, range(reader.num_record_batches))
    )
    for batch in stream:
        rows += batch.num_rows
        limits.check(path, rows, columns)
        parts.append(batch)
    return pa.Table.from_batches(parts, reader.schema)


def _of_arrow(path: Path, table: Any, limits: Limits | None) -> Columns:
    """Return a table of arrow, checked."""
    if limits is not None:
        limits.check(path, table.num_rows, table.num_columns)
    names, unnamed, problems = clean_names(table.column_names)
    if table.num_rows == 0:
        problems.append("the table has no rows")
    if not table.num_columns:
        problems.append("the table has no columns")
    if problems:
        raise ArgumentError(f"{path}: {'; '.join(problems)}.")
    return replace(columns_of_arrow(names, list(table.columns)), unnamed=tuple(unnamed))
