"""Files of geneticists as columns of text: spaces, tabs or commas, also compressed."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv

from selica._core.errors import ArgumentError

TextColumn = NDArray[np.object_]
"""(n,): text; equal values of a column are one object."""


def content_of(path: Path) -> bytes:
    """Return what is in a file, unpacked if it ends in `.gz`, `.zst` or `.bz2`."""
    try:
        if path.suffix.lower() in (".gz", ".zst", ".bz2"):
            with pa.input_stream(str(path), compression="detect") as stream:
                content: bytes = stream.read()
            return content
        return path.read_bytes()
    except (OSError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or "the file cannot be unpacked"
        raise ArgumentError(f"{path}: {reason}.") from None


def columns_of_text(
    path: Path, content: bytes, n_columns: int | None = None, *, commas: bool = False
) -> list[TextColumn]:
    """Return the columns of a text in which all lines have the same number of fields.

    Parameters
    ----------
    path : path
        What messages call the text.
    content : bytes
        Fields are separated by tabs or spaces.
    n_columns : int, optional
        How many fields there have to be.
    commas : bool
        Whether commas separate fields where the first line has any.
    """
    content = content.removeprefix(b"\xef\xbb\xbf").strip(b"\r\n")
    if not content.strip():
        raise ArgumentError(f"{path}: the file is empty.")
    first = content.split(b"\n", 1)[0]
    separator = b"," if commas and b"," in first else b"\t"
    if separator == b"\t" and (b" " in content or b"\t\t" in content):
        content = re.sub(rb"[ \t]+", b"\t", re.sub(rb"(?m)^[ \t]+|[ \t]+(?=\r?$)", b"", content))
        first = content.split(b"\n", 1)[0]
    wanted = n_columns or first.count(separator) + 1
    try:
        read = csv.read_csv(
            io.BytesIO(content),
            read_options=csv.ReadOptions(column_names=[str(j) for j in range(wanted)]),
            parse_options=csv.ParseOptions(delimiter=separator.decode(), quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types={str(j): pa.string() for j in range(wanted)}, strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        found = re.search(r"Expected (\d+) columns, got (\d+)", str(error))
        if found is None:
            raise ArgumentError(f"{path}: this is not a text in UTF-8 with columns.") from None
        raise ArgumentError(
            f"{path}: every line must have {found[1]} fields; one has {found[2]}."
        ) from None
    return [_text(column) for column in read.columns]


def _text(column: Any) -> TextColumn:
    """Return a column as text, of which each of few different values is one object."""
    coded = column.combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.combine_chunks()
    kinds = np.array([value.strip() for value in coded.dictionary.to_pylist()], dtype=object)
    return np.asarray(kinds[coded.indices.to_numpy(zero_copy_only=False)])


def positions_of(path: Path, column: TextColumn) -> NDArray[np.int64]:
    """Return a column of text as positions, which are whole numbers."""
    try:
        return column.astype(np.int64)
    except (ValueError, OverflowError):
        bad = next(text for text in column if not re.fullmatch(r"[+-]?\d{1,18}", text))
        raise ArgumentError(f"{path}: positions must be whole numbers; one is {bad!r}.") from None


def header_of(path: Path, content: bytes, mark: bytes) -> tuple[list[str], bytes]:
    """Return the names after the line that begins with `mark`, and the lines that follow it.

    Lines before it that begin with `##` are comments. Without such a line there are no names.
    """
    place = 0
    while content.startswith(b"##", place):
        end = content.find(b"\n", place)
        place = len(content) if end < 0 else end + 1
    if not content.startswith(mark, place):
        return [], content[place:]
    end = content.find(b"\n", place)
    line = content[place : len(content) if end < 0 else end]
    names = [name.decode("utf-8", "replace") for name in line.lstrip(b"#").split()]
    if len(set(names)) < len(names):
        raise ArgumentError(f"{path}: names of columns must differ.")
    return names, b"" if end < 0 else content[end + 1 :]


def write_lines(path: Path, columns: Sequence[Any]) -> None:
    """Write columns with tabs between them."""
    table = pa.table(
        {str(j): pa.array([str(v) for v in column]) for j, column in enumerate(columns)}
    )
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    csv.write_csv(table, str(path), write_options=options)
