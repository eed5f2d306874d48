"""Numbers in a column of text, where a user says that it holds numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from selica._core.types import Array
from selica.tables.columns import Column

_FEWEST_NUMBERS = 5
"""Different numbers below which words with a number are names, such as 5 mg and 10 mg."""
_LIMIT = re.compile(r"(?:<=|>=|[<>\u2264\u2265])\s*(.+)")
"""A number that is known to be smaller or larger than a limit."""
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")
"""A number whose comma may separate thousands or decimals."""


_WITH_UNIT = re.compile(
    r"([<>\u2264\u2265]?=?\s*[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?)\s*(\D.*)"
)
"""A number with its unit."""


def common_unit(words: Sequence[str]) -> str | None:
    """Return the unit that most of the words, all of them numbers, have beside them; else None.

    Parameters
    ----------
    words : sequence of str
        Different values of a column.
    """
    units = Counter(match[2] for word in words if (match := _WITH_UNIT.fullmatch(word)))
    if not units or len(words) < _FEWEST_NUMBERS:
        return None
    unit, times = units.most_common(1)[0]
    plain = sum(_number(word) is not None for word in words)
    fits = 2 * times > len(words) or unit == "%"
    return unit if fits and times + plain == len(words) and not unit[0].isdigit() else None


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
    unit = common_unit([cell for cell in dict.fromkeys(values.tolist()) if cell is not None])
    for i, cell in enumerate(values):
        if cell is None:
            continue
        known += 1
        if unit is not None and cell.endswith(unit):
            cell = cell.removesuffix(unit).strip()
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
