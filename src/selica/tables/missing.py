"""Missing values: what is done with them, how many they are, and numbers that stand for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from selica._core.types import Array, BoolArray
from selica._core.validation import written
from selica._core.wording import counted
from selica.tables.columns import Column, listed
from selica.tables.kinds import blocks

POLICIES = ("impute", "drop-rows", "drop-columns")
"""What can be done with missing values."""
MOST_MISSING = 0.5
"""Share of its values from which on a column that lacks them is left out."""
_STAND_INS = tuple(sign * float(nines) for nines in (9, 99, 999, 9999, 99999) for sign in (-1, 1))
"""Numbers that are written for missing values."""
_FEWEST_CELLS = 2
"""Cells with such a number that are asked about."""


@dataclass(frozen=True, slots=True)
class MissingCells:
    """Missing values among the variables of a table, and what is done with them.

    Attributes
    ----------
    policy : str
        "impute", "drop-rows" or "drop-columns".
    cells, rows, columns : int
        How many cells are missing, in the rows and variables as the policy finds them, and how
        many rows and variables have such a cell.
    by_column : mapping of str to int
        Missing cells of each variable that has any.

    Examples
    --------
    >>> from selica.tables import prepare
    >>> prepare({"age": [61, None, 70], "dose": [1, 2, 4], "y": [1, 5, 2]}, "y").missing
    MissingCells(policy='impute', cells=1, rows=1, columns=1, by_column={'age': 1})
    """

    policy: str
    cells: int
    rows: int
    columns: int
    by_column: Mapping[str, int] = field(default_factory=dict)

    def sentence(self, n_rows: int) -> str | None:
        """Return what is done with missing values; None where there are none."""
        if not self.cells:
            return None
        one, row, column = self.cells == 1, self.rows == 1, self.columns == 1
        where = (
            f"{counted(self.cells, 'value')} of the variables {'is' if one else 'are'} missing, in "
            f"{self.rows:,} of {n_rows:,} rows and {counted(self.columns, 'column')} "
            f"({listed(list(self.by_column))})"
        )
        done = {
            "impute": f"{'it is' if one else 'they are'} estimated from the other columns, anew in "
            "each resample",
            "drop-rows": f"{'this row is' if row else 'these rows are'} left out",
            "drop-columns": f"{'this column is' if column else 'these columns are'} left out",
        }
        return f"{where}; {done[self.policy]}."


def absent(values: Column) -> BoolArray:
    """Tell where a column has no value."""
    if values.dtype == object:
        return np.asarray(values == None, dtype=np.bool_)  # noqa: E711
    return np.isnan(values)


def counts(names: Sequence[str], columns: Sequence[Column]) -> tuple[Array, BoolArray]:
    """Return how many values each column lacks, and which rows lack any of them.

    Parameters
    ----------
    names : sequence of str
    columns : sequence of array
    """
    rows = columns[0].size if columns else 0
    found = np.zeros(len(names))
    touched: BoolArray = np.zeros(rows, dtype=bool)
    numbers = [j for j, values in enumerate(columns) if values.dtype != object]
    for start, block in blocks([columns[j] for j in numbers], rows):
        gone = np.isnan(block)
        found[numbers[start : start + block.shape[1]]] = np.count_nonzero(gone, axis=0)
        touched |= gone.any(axis=1)
    for j, values in enumerate(columns):
        if values.dtype == object:
            gone = absent(values)
            found[j] = np.count_nonzero(gone)
            touched |= gone
    return found, touched


def stand_ins(names: Sequence[str], columns: Sequence[Column]) -> str | None:
    """Ask about a number such as -999 that is far from all others in its columns.

    Parameters
    ----------
    names : sequence of str
    columns : sequence of array
        Of numbers.
    """
    where: dict[float, list[str]] = {}
    cells: dict[float, int] = {}
    rows = columns[0].size if columns else 0
    for start, block in blocks(columns, rows):
        with np.errstate(invalid="ignore"):
            low, high = np.fmin.reduce(block, axis=0), np.fmax.reduce(block, axis=0)
        for value in _STAND_INS:
            for k in np.flatnonzero((low if value < 0.0 else high) == value):
                others = block[block[:, k] != value, k]
                others = others[~np.isnan(others)]
                if others.size and _is_far(value, others):
                    where.setdefault(value, []).append(names[start + int(k)])
                    cells[value] = cells.get(value, 0) + int(np.sum(block[:, k] == value))
    found = [value for value in where if cells[value] >= _FEWEST_CELLS]
    if not found:
        return None
    value = max(found, key=lambda one: cells[one])
    return (
        f"{written(value)} is far from all other values of {listed(where[value])} "
        f"({counted(cells[value], 'cell')}), and is taken as a number. If it stands for a missing "
        "value, leave these cells empty."
    )


def _is_far(value: float, others: Array) -> bool:
    """Tell whether a number is farther from all others than they are from each other."""
    low, high = float(others.min()), float(others.max())
    gap = low - value if value < 0.0 else value - high
    return gap > max(high - low, 1.0)
