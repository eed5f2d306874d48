"""A selection as files: a table, its provenance, and a page to read."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from functools import partial
from pathlib import Path

from selica._core.errors import ArgumentError
from selica._core.files import as_path, write_whole
from selica._core.results import plain
from selica._core.table import Table
from selica._core.validation import flag, short
from selica.reports.page import page
from selica.reports.selection import Selection

# What a spreadsheet takes for a formula at the start of a cell.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_report(
    selection: Selection, folder: Path | str, *, for_spreadsheets: bool = False
) -> list[Path]:
    """Write `selection.csv`, `selection.json` and `report.html`.

    The same selection gives the same files. The page loads nothing; its figure needs matplotlib
    and is replaced by a sentence without it.

    Parameters
    ----------
    selection : Selection
    folder : path
        Made if need be.
    for_spreadsheets : bool
        Text in the CSV file that begins like a formula gets an apostrophe in front of it, so that
        opening the file runs nothing.

    Returns
    -------
    list of path
        The files, the page last.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, answer, write_report
    >>> from selica.tables import split
    >>> X, y, names = split(demo_table(), "progression")
    >>> found = answer(LassoSelection(lam=0.3), X, y, names, "progression")
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_report(found, Path(folder))]
    ['selection.csv', 'selection.json', 'report.html']
    """
    _check(selection)
    folder, safe = as_path("folder", folder), flag("for_spreadsheets", for_spreadsheets)
    files = [folder / name for name in ("selection.csv", "selection.json", "report.html")]
    text = json.dumps(plain(selection.to_dict()), indent=2, allow_nan=False, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        variables = selection.summary.variables
        table = _without_formulas(variables) if safe else variables
        texts = [f"{text}\n", page(selection)]
        writers = [partial(Path.write_text, data=data, encoding="utf-8") for data in texts]
        return write_whole(dict(zip(files, [table.to_csv, *writers], strict=True)))
    except OSError as error:
        raise ArgumentError(f"{folder}: {error.strerror or error}.") from None


def report_zip(selection: Selection) -> bytes:
    """Return the files of a report for download; its CSV file is safe to open in a spreadsheet.

    Examples
    --------
    >>> import io
    >>> import zipfile
    >>> from selica import LassoSelection
    >>> from selica.reports import demo_table, report_zip, answer
    >>> from selica.tables import split
    >>> X, y, names = split(demo_table(), "progression")
    >>> packed = report_zip(answer(LassoSelection(lam=0.3), X, y, names, "progression"))
    >>> zipfile.ZipFile(io.BytesIO(packed)).namelist()
    ['selection.csv', 'selection.json', 'report.html']
    """
    _check(selection)
    packed = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(packed, "w") as archive:
        for path in write_report(selection, Path(folder), for_spreadsheets=True):
            archive.write(path, path.name, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _check(selection: Selection) -> None:
    if not isinstance(selection, Selection):
        raise ArgumentError(f"selection must be a Selection; got {short(selection)}.")


def _without_formulas(table: Table) -> Table:
    return Table.of(
        {
            name: f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
            for name, value in row.items()
        }
        for row in table
    )
