"""A tidy table: rows of named values, without a data frame library."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.validation import short

if TYPE_CHECKING:
    import pandas as pd

Value = str | int | float | bool | None
Row = dict[str, Any]


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """Rows with the same columns; a value that is missing is None.

    Parameters
    ----------
    rows : sequence of dict
        Columns appear in the order in which rows first name them.

    Examples
    --------
    >>> from selica._core.table import Table
    >>> table = Table.of([{"method": "lasso", "tpr": 0.5}, {"method": "knockoff", "tpr": 0.4}])
    >>> table.where(method="lasso")["tpr"]
    array([0.5])
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """Make a table of these rows; columns a row does not have are None in it."""
        given = list(rows)
        columns = tuple(dict.fromkeys(name for row in given for name in row))
        return cls(columns, tuple({c: _plain(row.get(c)) for c in columns} for row in given))

    @classmethod
    def check(cls, name: str, value: Any, *columns: str) -> Table:
        """Check that a value is a table with rows and these columns, and return it."""
        if not isinstance(value, cls) or not value.rows:
            raise ArgumentError(f"{name} must be a Table with rows; got {short(value)}.")
        missing = [column for column in columns if column not in value.columns]
        if missing:
            raise ArgumentError(f"{name} must have a column {missing[0]!r}; got {short(value)}.")
        return value

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __add__(self, other: Table) -> Table:
        return Table.of([*self.rows, *other.rows])

    def __getitem__(self, column: str) -> Any:
        """One column as an array."""
        if column not in self.columns:
            raise ArgumentError.choice("column", column, self.columns)
        return np.array([row[column] for row in self.rows])

    def where(self, **values: Any) -> Table:
        """Return the rows in which each named column has a value, or one of a collection."""
        for name in values:
            if name not in self.columns:
                raise ArgumentError.choice("column", name, self.columns)
        tests = [(name, _test(value)) for name, value in values.items()]
        kept = tuple(row for row in self.rows if all(test(row[n]) for n, test in tests))
        return Table(self.columns, kept)

    def unique(self, column: str) -> list[Any]:
        """Return the values of a column, each once, in the order of the rows."""
        return list(dict.fromkeys(row[column] for row in self.rows))

    def one(self, **values: Any) -> Row:
        """Return the only row with these values."""
        found = self.where(**values)
        if len(found) != 1:
            raise ArgumentError(f"One row was expected for {values}; there are {len(found)}.")
        return found.rows[0]

    def to_csv(self, path: Path) -> None:
        """Write the table; numbers keep every digit, so that the same table is the same file."""
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            for row in self.rows:
                writer.writerow("" if row[c] is None else repr_plain(row[c]) for c in self.columns)

    @classmethod
    def read_csv(cls, path: Path) -> Table:
        """Read a table written by `to_csv`."""
        with path.open(newline="", encoding="utf-8") as file:
            return cls.of({k: _parsed(v) for k, v in row.items()} for row in csv.DictReader(file))

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame (needs pandas)."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=list(self.columns))

    def __repr__(self) -> str:
        return f"Table({len(self)} rows: {', '.join(self.columns)})"


def repr_plain(value: Value) -> str:
    """Return a value as text that reads back as the same value."""
    return value if isinstance(value, str) else repr(value)


def _plain(value: Any) -> Value:
    if isinstance(value, np.generic):  # first: a NumPy float is a float, but prints its type
        value = value.item()
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _parsed(text: str) -> Value:
    if text == "":
        return None
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _test(value: Any) -> Callable[[Value], bool]:
    if isinstance(value, list | tuple | set | frozenset):
        return lambda x: any(_same(x, v) for v in value)
    return lambda x: _same(x, value)


def _same(x: Value, value: Any) -> bool:
    if isinstance(x, float) and isinstance(value, int | float) and not math.isnan(x):
        return math.isclose(x, value, rel_tol=1e-12)
    return bool(x == value)
