"""A selection as files: a table, its provenance, and a page to read."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from selica._core.errors import ArgumentError
from selica.reports.page import page
from selica.reports.selection import Selection


def write_report(selection: Selection, folder: Path) -> list[Path]:
    """Writes `selection.csv`, `selection.json` and `report.html`.

    The same selection gives the same files. The page loads nothing; its figure needs matplotlib
    and is replaced by a sentence without it.

    Parameters
    ----------
    selection : Selection
    folder : path
        Made if need be.

    Returns
    -------
    list of path
        The files, the page last.
    """
    files = [folder / name for name in ("selection.csv", "selection.json", "report.html")]
    text = json.dumps(plain(selection.to_dict()), indent=2, allow_nan=False, ensure_ascii=False)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        selection.summary.variables.to_csv(files[0])
        files[1].write_text(f"{text}\n", encoding="utf-8")
        files[2].write_text(page(selection), encoding="utf-8")
    except OSError as error:
        raise ArgumentError(f"{folder}: {error.strerror or error}.") from None
    return files


def plain(value: Any) -> Any:
    """For JSON without NaN or infinity: those become null."""
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
