"""Columns of Python objects: numbers, truth values, dates and text, also mixed."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from selica.tables.arrow import columns_of_arrow
from selica.tables.columns import Columns


def columns_of_values(names: Sequence[str], columns: Sequence[Sequence[Any]]) -> Columns:
    """Return columns of Python objects as a table.

    Parameters
    ----------
    names : sequence of str
    columns : sequence of sequence
    """
    return columns_of_arrow(names, [arrow_of(column) for column in columns])


def arrow_of(column: Any) -> Any:
    """Return objects as an arrow array: of one type where they have one, else as text."""
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([_cell(value) for value in column], pa.string())


def _cell(value: Any) -> str | None:
    """Return an object as the text that a file would hold."""
    if value is None or value is np.ma.masked or value != value:  # NaN is not itself
        return None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime.datetime | datetime.date):
        return value.isoformat()
    return str(value).encode("utf-8", "backslashreplace").decode()
