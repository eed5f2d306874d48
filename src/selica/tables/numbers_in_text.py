"""Numbers in a column of text, where a user says that it holds numbers."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from selica._core.types import Array
from selica.tables.columns import Column

_LIMIT = re.compile(r"(?:<=|>=|[<>\u2264\u2265])\s*(.+)")
"""A number that is known to be smaller or larger than a limit."""
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
"""A number whose comma may separate thousands or decimals."""


class NumbersInText(NamedTuple):
    """What a column of text holds."""

    values: Array
    """Numbers; NaN where there is none."""
    known: int
    """Cells that are not missing."""
    limits: list[str]
    """Cells such as <0.1, which are taken as the limit."""
    others: list[str]
    """Cells that are no numbers."""

    @property
    def mostly(self) -> bool:
        """Whether most cells are numbers."""
        return 2 * len(self.others) < self.known


def numbers_in(values: Column) -> NumbersInText:
    """Read a column of text as numbers.

    Parameters
    ----------
    values : array of objects
        Text, with None where it is missing.
    """
    found = np.full(values.size, np.nan)
    known, limits, others = 0, list[str](), list[str]()
    for i, cell in enumerate(values):
        if cell is None:
            continue
        known += 1
        limit = _LIMIT.fullmatch(cell)
        number = _number(limit[1] if limit else cell)
        if number is None:
            others.append(cell)
            continue
        found[i] = number
        if limit:
            limits.append(cell)
    return NumbersInText(found, known, limits, others)


def _number(text: str) -> float | None:
    """Return a number with a decimal point or comma; None where that cannot be told."""
    if _THOUSANDS.fullmatch(text):
        return None
    try:
        return float(text.replace(",", ".") if text.count(",") == 1 else text)
    except ValueError:
        return None
