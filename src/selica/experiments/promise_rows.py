"""Measured promises as rows of text files: what was promised, what was measured, by which command.

The pages on guarantees are made of such files, and a test fails where a row breaks its promise.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from selica._core.errors import ArgumentError
from selica._core.files import naming
from selica._core.table import Row, Table

PROMISES = ("proven", "expected", "withdrawn", "nothing")
"""What a selector says of a level: a theorem covers the fit, practice does, the selector took its
promise back after a look at the data, or it never made one."""
ERRORS = 3.0
"""Standard errors by which chance may take a measurement above its level."""
SHORT = {
    "false discovery rate": "FDR",
    "expected number of false selections": "false selections",
    "probability of 2 or more false selections": "2 or more false",
    "nothing": "nothing",
}
"""What `guarantee_` controls, in the words of a table."""


@dataclass(frozen=True, slots=True)
class PromiseRow:
    """One method on one kind of data.

    Attributes
    ----------
    setting, method : str
        Kind of data, and what selected on them.
    controls : str
        The measured error: "FDR", "false selections", ...
    level : float, optional
        What was promised of its mean.
    measured, error : float, optional
        The mean over the runs and its standard error; nothing where the method refused the data.
    promised : str
        One of `PROMISES`.
    selects, power : float, optional
        Share of the runs that select anything, and share of the signals that are selected.
    runs : int
        Data sets.
    command, note : str
        What makes the row, and what to know of it.

    Examples
    --------
    >>> from selica.experiments.promise_rows import PromiseRow
    >>> row = PromiseRow("weights", "knockoff+", "FDR", 0.2, 0.182, 0.016, "expected", runs=80)
    >>> row.holds
    True
    """

    setting: str
    method: str
    controls: str
    level: float | None
    measured: float | None
    error: float | None
    promised: str
    selects: float | None = None
    power: float | None = None
    runs: int = 0
    command: str = ""
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether nothing was promised, or the measurement is within three standard errors."""
        if self.promised not in ("proven", "expected"):
            return True
        if self.level is None or self.measured is None:
            return False
        return self.measured <= self.level + ERRORS * (self.error or 0.0) + 1e-12


HEADER = tuple(field.name for field in fields(PromiseRow))
"""Columns of a file of rows."""
_TEXT = ("setting", "method", "controls", "promised", "command", "note")
"""Columns that are no numbers."""


def is_promise_file(path: Path) -> bool:
    """Return whether a file has rows of promises; tables of another shape lie beside them."""
    with path.open(encoding="utf-8") as file:
        return file.readline().rstrip("\r\n") == ",".join(HEADER)


def read_promises(path: Path) -> list[PromiseRow]:
    """Read the rows of a file.

    Parameters
    ----------
    path : Path

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.experiments.promise_rows import PromiseRow, read_promises, write_promises
    >>> row = PromiseRow("weights", "knockoff+", "FDR", 0.2, 0.182, 0.016, "expected", runs=80)
    >>> with TemporaryDirectory() as folder:
    ...     write_promises(Path(folder, "rows.csv"), [row])
    ...     read_promises(Path(folder, "rows.csv")) == [row]
    True
    """
    with naming(path), path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, strict=True)
        if tuple(reader.fieldnames or ()) != HEADER:
            raise ArgumentError(f"path: {path.name} must have the columns {', '.join(HEADER)}.")
        return [_parsed(path, place, row) for place, row in enumerate(reader, 2)]


def _parsed(path: Path, line: int, row: dict[str, str]) -> PromiseRow:
    """Return a row of text with its numbers, and name the line where one is none."""
    try:
        values = {
            name: text.strip() if name in _TEXT else _number(text) for name, text in row.items()
        }
        out = PromiseRow(**{**values, "runs": int(values["runs"] or 0)})  # type: ignore[arg-type]
    except (ValueError, TypeError, AttributeError):
        raise ArgumentError(f"path: {path.name} has no proper row in line {line}.") from None
    if out.promised not in PROMISES:
        raise ArgumentError.choice(
            f"promised in line {line} of {path.name}", out.promised, PROMISES
        )
    return out


def _number(text: str) -> float | None:
    """Return a finite number, or None for an empty cell."""
    if not text.strip():
        return None
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def write_promises(path: Path, rows: Iterable[PromiseRow]) -> None:
    """Write rows to a file, and keep those of other settings that it has already.

    A run that was stopped can so go on where it was, and one setting can be measured again.

    Parameters
    ----------
    path : Path
    rows : iterable of PromiseRow
        All rows of their settings.
    """
    new = list(rows)
    old = read_promises(path) if path.exists() else []
    order = list(dict.fromkeys(row.setting for row in [*old, *new]))
    fresh = {row.setting for row in new}
    kept = [row for row in old if row.setting not in fresh]
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        for row in sorted([*kept, *new], key=lambda row: order.index(row.setting)):
            writer.writerow(_text(getattr(row, name)) for name in HEADER)


def _text(value: object) -> str:
    """Return a cell: four digits of a number say more than its standard error leaves of it."""
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def promises_of(table: Table, command: str, names: Sequence[str] = ()) -> list[PromiseRow]:
    """Return rows of what `guarantees` measured.

    Parameters
    ----------
    table : Table
        What `experiments.guarantees.guarantees` returns.
    command : str
        What made it.
    names : sequence of str
        Methods whose names end with a level, which becomes a number: "knockoff+, 0.05".
    """
    return [row for measured in table for row in _rows(measured, command, names)]


def _rows(found: Row, command: str, names: Sequence[str]) -> list[PromiseRow]:
    """Return what was promised of all false selections, and of rarely selected variables."""
    method, level = found["method"], found["level"]
    before, _, after = method.rpartition(", ")
    if before in names:
        method, level = before, float(after)
    promised = "proven" if found["promised"] else "withdrawn" if level is None else "expected"
    common = {
        "setting": found["setting"],
        "method": method,
        "level": level,
        "selects": found["any"],
        "power": None if "nothing" in found["setting"] else found["power"],
        "runs": found["runs"],
        "command": command,
    }
    main = PromiseRow(
        controls=SHORT[found["controls"]],
        measured=found["error"],
        error=found["error_error"],
        promised=promised,
        **common,
    )
    if found.get("low") is None:
        return [main]
    rare = PromiseRow(
        controls="rarely selected",
        measured=found["low"],
        error=found["low_error"],
        promised="proven" if found["proven"] else promised,
        **common,
    )
    return [main, rare]
