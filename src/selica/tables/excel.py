"""A table from a workbook of Excel: the first sheet that holds one."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from selica._core.errors import ArgumentError
from selica.tables.columns import Columns, Limits, clean_names
from selica.tables.values import columns_of_values


def read_excel(path: Path, content: bytes, limits: Limits | None = None) -> Columns:
    """Read the first sheet of a workbook that is not empty.

    Parameters
    ----------
    path : path
        What messages call the file.
    content : bytes
    limits : Limits, optional
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ArgumentError(
            f"{path}: Excel needs openpyxl (pip install 'selica[excel]'); CSV needs nothing."
        ) from None
    try:
        if limits is not None and limits.unpacked:
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                limits.check_unpacked(path, sum(part.file_size for part in packed.infolist()))
        book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        rows: list[Sequence[Any]] = []
        title = ""
        for sheet in sheets:
            rows, title = _rows(path, sheet, limits), sheet.title
            if rows:
                break
    except ArgumentError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, EOFError, SyntaxError):
        raise ArgumentError(f"{path}: this is not an Excel file that can be read.") from None
    if not rows:
        raise ArgumentError(f"{path}: the file is empty.")
    notes = (f"The table is read from the sheet {title!r}; there are {len(sheets)} sheets.",)
    found = replace(_columns(path, rows), read_as=f"Excel, sheet {title!r}")
    return replace(found, notes=notes) if len(sheets) > 1 else found


def _rows(path: Path, sheet: Any, limits: Limits | None) -> list[Sequence[Any]]:
    """Return the rows of a sheet without those that are empty."""
    rows: list[Sequence[Any]] = []
    for row in sheet.iter_rows(values_only=True):
        if any(cell is not None and str(cell).strip() for cell in row):
            rows.append(row)
            if limits is not None:
                limits.check(path, len(rows) - 1, len(row))
    return rows


def _columns(path: Path, rows: Sequence[Sequence[Any]]) -> Columns:
    width = max(len(row) for row in rows)
    padded = [[*row, *[None] * (width - len(row))] for row in rows]
    filled = [j for j in range(width) if any(row[j] is not None for row in padded)]
    names, unnamed, problems = clean_names(
        ["" if padded[0][j] is None else padded[0][j] for j in filled]
    )
    if len(rows) == 1:
        problems.append("there is a line of names, but there are no rows")
    if problems:
        raise ArgumentError(f"{path}: {'; '.join(problems)}.")
    found = columns_of_values(names, [[row[j] for row in padded[1:]] for j in filled])
    return replace(found, unnamed=tuple(unnamed))
