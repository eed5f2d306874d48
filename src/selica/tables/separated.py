"""Text with separators between columns: its names, its separator, its rows."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from selica._core.errors import ArgumentError
from selica._core.progress import report
from selica._core.wording import counted
from selica.tables.arrow import columns_of_arrow, is_text
from selica.tables.buffers import copy_floats
from selica.tables.cells import MISSING, Writing, has_decimal_commas
from selica.tables.columns import Columns, Limits, clean_names
from selica.tables.spaced import with_tabs
from selica.tables.text import as_utf8

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""Characters that may separate columns, and what they are called."""
_TABS = (".tsv", ".tab")
"""Endings of files with tabs between columns."""
_LINE = re.compile(rb"[^\r\n]*(\r\n|\r|\n|$)")
_SEPARATOR_LINE = re.compile(r"sep=(.)", re.IGNORECASE)
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_COMMA_NUMBER = re.compile(r"\s*[+-]?(\d+,?\d*|,\d+)([eE][+-]?\d+)?\s*")
# a decimal comma for certain: 0,5 and 12,25, but not 1,500
_COMMA = re.compile(r"[+-]?(0+,\d+|[1-9]\d*,(\d{1,2}|\d{4,})|\d{4,},\d+)([eE][+-]?\d+)?")
_CODE = re.compile(r"\s*(0\d+|\d{16,})\s*")
_BAD_COLUMN = re.compile(r"In CSV column #(\d+): (Row #\d+: )?CSV conversion error")
_TRIALS = 8
"""Columns that may turn out to be text after all before all types are found anew."""
_WIDE = 1000
"""Columns from which on a table is read in one piece."""
_SAMPLED_ROWS = 8
"""Rows that are looked at before the table is read."""
_SAMPLED_BYTES = 4_000_000
"""Bytes of them, at most."""
_BLOCK = 1 << 23
"""Bytes that are read together."""
_RAGGED = 3
"""How many lines of a wrong length a sentence lists."""
_NULLS = frozenset(("", "NA", "NaN", "nan", "NULL", "null", "N/A"))
"""Cells that are missing in every column, as pyarrow is told."""


class _Head(NamedTuple):
    """The beginning of a file."""

    names: list[str]
    """As they are in the first line."""
    sample: list[list[str]]
    """The first rows."""
    end: int
    """Where the rows begin."""
    separator: str
    notes: tuple[str, ...]


def read_separated(path: Path, content: bytes, limits: Limits | None = None) -> Columns:
    """Read text with separators.

    Parameters
    ----------
    path : path
        What messages call the file; its ending may tell the separator.
    content : bytes
    limits : Limits, optional
    """
    content, notes = as_utf8(path, content)
    if not content or content.isspace():
        raise ArgumentError(f"{path}: the file is empty.")
    spaced = with_tabs(content)
    if spaced is not None:
        content, notes = spaced, (*notes, "Spaces separate the columns.")
    del spaced
    head = _head(path, content)
    if limits is not None:
        limits.check(path, 0, len(head.names))
    names, unnamed, problems = clean_names(head.names)
    problems += _numbers_for_names(head)
    columns, comma = _arrow(path, content, head, problems)
    del content
    if limits is not None:
        limits.check(path, len(columns[0]), len(names))
    found = columns_of_arrow(names, columns, writing=Writing(head.separator == ",", comma))
    return replace(
        found,
        unnamed=tuple(unnamed),
        notes=(*notes, *head.notes, *found.notes),
        read_as=f"text with {_SEPARATORS.get(head.separator, head.separator)} between columns",
    )


class _Lines:
    """Lines of text, one after another, and the place after the last one that was asked for."""

    def __init__(self, content: bytes, start: int = 0) -> None:
        self._content, self.end = content, start

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.end >= len(self._content):
            raise StopIteration
        match = _LINE.match(self._content, self.end)
        assert match is not None
        self.end = match.end()
        return match.group().decode("utf-8", "replace")


class _Records:
    """Records of separated text, which may go over several lines."""

    def __init__(self, path: Path, content: bytes, start: int, separator: str) -> None:
        self._path, self._content, self._start = path, content, start
        # the reader has the lines and not this object: in a circle the content would stay
        self._lines = _Lines(content, start)
        self._reader = csv.reader(self._lines, delimiter=separator, strict=False)

    @property
    def end(self) -> int:
        """The place after the last line that was read."""
        return self._lines.end

    @property
    def line(self) -> int:
        """The line at which the last record ends."""
        before = self._content.count(b"\n", 0, self._start) or self._content.count(
            b"\r", 0, self._start
        )
        return before + self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        try:
            for row in self._reader:
                if row and (len(row) > 1 or row[0].strip()):
                    yield row
        except csv.Error as error:
            raise ArgumentError(f"{self._path}: line {self.line}: {error}.") from None


def _head(path: Path, content: bytes) -> _Head:
    """Return names, separator and the first rows of a file."""
    start, first, notes, given = 0, "", list[str](), None
    comments = 0
    lines = _Lines(content)
    for line in lines:
        end = lines.end
        said = _SEPARATOR_LINE.fullmatch(line.strip())
        if said is not None and given is None:
            given, start = said[1], end
        elif line.startswith("#") and not _is_header(line, content[end : end + 4096]):
            comments, start = comments + 1, end
        elif line.strip():
            first = line
            break
        else:
            start = end
    if not first:
        raise ArgumentError(f"{path}: the file is empty.")
    if comments:
        notes.append(f"Lines at the beginning that start with # are left out ({comments}).")
    separator = given or _separator(path, content, start, first)
    records = _Records(path, content, start, separator)
    rows = iter(records)
    header = next(rows)
    end, sample = records.end, list[list[str]]()
    for row in islice(rows, _SAMPLED_ROWS):
        sample.append(row)
        if records.end - end > _SAMPLED_BYTES:
            break
    if sample and all(len(row) == len(header) + 1 for row in sample):
        if all(not row[-1].strip() for row in sample):
            header = [*header, ""]
        else:
            header = ["", *header]
            notes.append(
                "The rows have one field more than the line of names: the first is taken as names "
                "of the rows."
            )
    return _Head(header, sample, end, separator, tuple(notes))


def _is_header(line: str, following: bytes) -> bool:
    """Tell whether a line that begins with # is the line of names: its fields are as many."""
    after = following.decode("utf-8", "replace").splitlines()
    rows = [row for row in after[:2] if row.strip()]
    return (
        bool(rows)
        and not rows[0].startswith("#")
        and any(sign in line and line.count(sign) == rows[0].count(sign) for sign in _SEPARATORS)
    )


def _separator(path: Path, content: bytes, start: int, first: str) -> str:
    """Return what separates names: the one by which rows are as long as the first line."""
    counts = Counter("".join(first.split('"')[::2]))  # a quoted name may contain anything
    if any(suffix.lower() in _TABS for suffix in path.suffixes) and counts["\t"]:
        return "\t"
    there = [separator for separator in _SEPARATORS if counts[separator]]
    if len(there) < 2:
        return there[0] if there else ","

    def fits(separator: str) -> tuple[bool, int]:
        widths = [
            len(row) for row in islice(_Records(path, content, start, separator), _SAMPLED_ROWS)
        ]
        return len(set(widths)) == 1, widths[0]

    return max(there, key=fits)


def _numbers_for_names(head: _Head) -> list[str]:
    """Say so if the first line holds numbers, and so is a row."""
    known = [name for name in head.names if name.strip()]
    if len(known) < 1 or not all(_NUMBER.fullmatch(name) for name in known):
        return []
    whole = all(float(name) == round(float(name)) for name in known)
    if whole and len(set(known)) == len(known):
        return []
    return ["the first line holds numbers, not names of columns: put a line of names above it"]


def _arrow(
    path: Path, content: bytes, head: _Head, problems: Sequence[str]
) -> tuple[list[Any], bool]:
    """Return the columns of arrow, and whether decimal commas were found.

    All that is wrong with a file is in one error.
    """
    if not head.sample:
        raise ArgumentError(
            _sentence(path, [*problems, "there is a line of names, but there are no rows"])
        )
    source = _Source(content, head)
    try:
        comma = any(_COMMA.fullmatch(cell.strip()) for row in head.sample for cell in row)
        columns = source.columns(comma)
        text = [column for column in columns if is_text(column)]
        if not comma and has_decimal_commas(text):
            comma, columns = True, source.columns(True)
    except pa.ArrowInvalid as error:
        found = [*problems, *_ragged(path, content, head)]
        raise ArgumentError(
            _sentence(path, found or [f"the rows cannot be read ({_first_line(error)})"])
        ) from None
    if problems:
        raise ArgumentError(_sentence(path, problems))
    return columns, comma


class _Source(NamedTuple):
    """The rows of a file, to be read once or several times."""

    content: bytes
    head: _Head

    def columns(self, comma: bool) -> list[Any]:
        """Return columns of numbers where the first rows hold them; a few others are text."""
        types = self._types(comma)
        for _ in range(_TRIALS):
            try:
                return self._read(types, comma)
            except pa.ArrowInvalid as error:
                place = _BAD_COLUMN.search(str(error))
                if place is None:
                    break
                types[place[1]] = pa.string()
        return self._read({}, comma)

    def _types(self, comma: bool) -> dict[str, Any]:
        """Return the types of the columns as the first rows have them."""
        number = _COMMA_NUMBER if comma else _NUMBER
        types = {}
        for j in range(len(self.head.names)):
            cells = [row[j] for row in self.head.sample if j < len(row)]
            plain = all(
                (number.fullmatch(cell) and not _CODE.fullmatch(cell))
                or cell.strip().lower() in MISSING
                for cell in cells
            )
            types[str(j)] = pa.float64() if plain else pa.string()
        return types

    def _read(self, types: dict[str, Any], comma: bool) -> list[Any]:
        """Return the columns as pyarrow reads them; without types it finds them."""
        body = pa.py_buffer(self.content).slice(self.head.end)
        wide = len(self.head.names) > _WIDE
        names = [str(j) for j in range(len(self.head.names))]
        # every column keeps its own list of these: as few as will do
        seen = {cell for row in self.head.sample for cell in row if cell.lower() in MISSING}
        settings = {
            "read_options": arrow_csv.ReadOptions(
                column_names=names, block_size=min(body.size + 1 if wide else _BLOCK, 2**31 - 1)
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.head.separator,
                newlines_in_values=self.content.find(b'"', self.head.end) >= 0,
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=types,
                null_values=sorted(_NULLS | seen),
                strings_can_be_null=True,
                true_values=["true", "True", "TRUE"],
                false_values=["false", "False", "FALSE"],
                decimal_point="," if comma else ".",
            ),
        }
        if not types:
            return list(arrow_csv.read_csv(pa.BufferReader(body), **settings).columns)
        with arrow_csv.open_csv(pa.BufferReader(body), **settings) as stream:
            return _collected(stream, list(types.values()), self._most_rows())

    def _most_rows(self) -> int:
        """Return a number of rows that the file does not exceed."""
        ends = max(self.content.count(end, self.head.end) for end in (b"\n", b"\r"))
        return ends + 1


def _collected(batches: Iterable[Any], types: Sequence[Any], most: int) -> list[Any]:
    """Return numbers as arrays of floats, and text as arrow arrays, from one part after another."""
    numbers = [j for j, kind in enumerate(types) if pa.types.is_float64(kind)]
    texts: dict[int, list[Any]] = {
        j: [] for j, kind in enumerate(types) if not pa.types.is_float64(kind)
    }
    table, start = np.empty((most, len(numbers)), order="F"), 0
    for batch in batches:
        end = start + batch.num_rows
        for k, j in enumerate(numbers):
            copy_floats(batch.column(j), table[start:end, k])
        for j, parts in texts.items():
            parts.append(batch.column(j))
        start = end
        report("rows", start, most)
    columns: list[Any] = [None] * len(types)
    for k, j in enumerate(numbers):
        columns[j] = table[:start, k]
    for j, parts in texts.items():
        columns[j] = pa.chunked_array(parts, pa.string())
    return columns


def _ragged(path: Path, content: bytes, head: _Head) -> list[str]:
    """Say which lines have more or fewer fields than the first."""
    records = _Records(path, content, head.end, head.separator)
    wrong, count, widths = list[str](), 0, set[int]()
    for row in records:
        widths.add(len(row))
        if len(row) != len(head.names):
            count += 1
            if count <= _RAGGED:
                wrong.append(f"line {records.line} has {counted(len(row), 'field')}")
    if not wrong:
        return []
    if len(widths) == 1 and count > 1:
        return [
            f"the first line has {counted(len(head.names), 'field')}, and all others have "
            f"{widths.pop()}: the first line must hold the names of the columns"
        ]
    more = f" and {count - _RAGGED:,} more lines differ" if count > _RAGGED else ""
    return [f"{', '.join(wrong)}{more}, the first line has {len(head.names)}"]


def _sentence(path: Path, problems: Sequence[str]) -> str:
    return f"{path}: {'; '.join(problems)}."


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:100].rstrip(".")
