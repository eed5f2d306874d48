"""Variables as columns of numbers: one for a number, several for a category."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from selica._core.types import Array, IntArray
from selica._core.wording import counted
from selica.tables.categories import indicators
from selica.tables.columns import Columns, listed
from selica.tables.kinds import Recognised


class EncodedColumns(NamedTuple):
    """Variables as columns of numbers."""

    values: Array
    columns: tuple[str, ...]
    variable: IntArray
    notes: list[str]
    categories: tuple[bool, ...]
    """For each column, whether it stands for a value of a category."""
    references: tuple[str, ...]
    """For each variable, the value that has no column; empty for numbers."""


def encode(table: Columns, names: Sequence[str], kinds: Mapping[str, Recognised]) -> EncodedColumns:
    """Return variables as columns of numbers: one for a number, several for a category."""
    by_name = dict(zip(table.names, table.values, strict=True))
    parts: list[Array] = []
    columns: list[str] = []
    variable: list[int] = []
    notes: list[str] = []
    categories: list[bool] = []
    references: list[str] = []
    for place, name in enumerate(names):
        if kinds[name].kind == "number":
            parts.append(by_name[name])
            columns.append(name)
            variable.append(place)
            categories.append(False)
            references.append("")
            continue
        found = indicators(name, by_name[name])
        notes += found.notes
        parts += list(found.values.T)
        columns += [f"{name}: {' '.join(level.split())}" for level in found.levels]
        variable += [place] * len(found.levels)
        categories += [True] * len(found.levels)
        references.append(" ".join(found.reference.split()))
    values = np.empty((len(table), len(parts)), order="F")
    for j, part in enumerate(parts):
        values[:, j] = part
    return EncodedColumns(
        values, tuple(columns), np.array(variable, dtype=np.intp), notes, tuple(categories),
        tuple(references),
    )  # fmt: skip


def without_gaps(kept: EncodedColumns) -> tuple[Array, list[str]]:
    """Return columns to keep with their means, or most frequent values, where one is missing."""
    gone = np.isnan(kept.values)
    if not gone.any():
        return kept.values, []
    values = kept.values.copy(order="F")
    for j in np.flatnonzero(gone.any(axis=0)):
        known = values[~gone[:, j], j]
        values[gone[:, j], j] = 0.0 if kept.categories[j] else known.mean()
    named = [kept.columns[j] for j in np.flatnonzero(gone.any(axis=0))]
    cells = int(np.count_nonzero(gone.any(axis=1)))
    note = (
        f"In {counted(cells, 'row')} a value of a column to keep is missing ({listed(named)}); the "
        "mean of the column stands there, or its most frequent value."
    )
    return values, [note]
