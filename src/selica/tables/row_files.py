"""A file beside a table, with a line for each of its rows: responses and covariates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.files import as_path
from selica._core.types import IntArray
from selica.tables.columns import Column, Columns, listed
from selica.tables.files import read_table
from selica.tables.roles import several

_SINGLE = ("target", "time", "event", "rows_of", "weights", "offset", "strata")
"""Uses that one column has."""


class RowFile(NamedTuple):
    """Columns of a file in the order of the rows of a table."""

    path: Path
    columns: Columns
    notes: list[str]
    """On rows that have no line."""


def read_rows_of(pheno: Any, n_rows: int, row_names: tuple[str, ...]) -> RowFile:
    """Read a file with a line for each row of a table.

    Lines belong to rows by the names of rows in the first column, which is then left out, or else
    by their order.

    Parameters
    ----------
    pheno : path
    n_rows : int
        Rows of the table.
    row_names : tuple of str
        Names of these rows; empty where they have none.
    """
    path = as_path("pheno", pheno)
    found = read_table(path)
    first = _texts(found.values[0])
    if not {*first} & {*row_names}:
        if len(found) != n_rows:
            hint = f" or names of rows such as {listed(row_names[:2])} in its first column"
            raise RefusedError(
                f"{path}: it must have a line for each of the {n_rows:,} rows"
                f"{hint if row_names else ''}; it has {len(found):,} lines."
            )
        return RowFile(path, found, [])
    place = {name: k for k, name in enumerate(first)}
    if len(place) < len(first):
        twice = [name for name, times in Counter(first).items() if times > 1]
        raise ArgumentError(f"{path}: a row must have one line; more than one: {listed(twice)}.")
    order = np.array([place.get(name, -1) for name in row_names], dtype=np.intp)
    values = tuple(_in_order(one, order) for one in found.values[1:])
    gone = [row_names[i] for i in np.flatnonzero(order < 0)]
    notes = []
    if gone:
        has = "has" if len(gone) == 1 else "have"
        notes = [f"{len(gone):,} of {n_rows:,} rows {has} no line in {path.name}: {listed(gone)}."]
    return RowFile(path, replace(found, names=found.names[1:], values=values), notes)


def with_responses(
    table: Columns, pheno: Any, uses: Mapping[str, Any]
) -> tuple[Columns, dict[str, Any]]:
    """Return a table with those columns of a file that are used, and what columns are for.

    Parameters
    ----------
    table : Columns
        Rows have the names in its first column, if these are text and all different.
    pheno : path
        A file with a line for each row.
    uses : mapping of str to object
        What columns are for; without a target it is the one column of the file.
    """
    first = table.values[0] if table.values else np.empty(0)
    names = tuple(_texts(first)) if first.dtype == object else ()
    path, found, notes = read_rows_of(
        pheno, len(table), names if len({*names}) == len(names) else ()
    )
    uses = dict(uses)
    if uses["target"] is None and uses["time"] is None:
        if len(found.names) != 1:
            raise ArgumentError(
                f"target: name the column to explain (--target); {path.name} has "
                f"{listed(found.names)}."
            )
        uses["target"] = found.names[0]
    wanted = {_plain(uses[use]) for use in _SINGLE if isinstance(uses[use], str)}
    wanted |= {*several("keep", uses["keep"], found.names, problems=[])}
    taken = [name for name in found.names if name in wanted]
    twice = [name for name in taken if name in table.names]
    if twice:
        raise ArgumentError(
            f"pheno: {listed(twice)} {'is' if len(twice) == 1 else 'are'} in {path.name} and in "
            "the table; rename one."
        )
    values = [found.values[found.names.index(name)] for name in taken]
    joined = replace(
        table,
        names=(*table.names, *taken),
        values=(*table.values, *values),
        notes=(*table.notes, *found.notes, *notes),
        kinds={**table.kinds, **_some(found.kinds, taken)},
        orders={**table.orders, **_some(found.orders, taken)},
        remarks={**table.remarks, **_some(found.remarks, taken)},
        truths=table.truths | (found.truths & {*taken}),
    )
    return joined, uses


def _plain(name: str) -> str:
    """Return the column in the offset "log(exposure)"."""
    return name[4:-1] if name.startswith("log(") and name.endswith(")") else name


def _some(mapping: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: mapping[name] for name in names if name in mapping}


def _texts(column: Column) -> list[str]:
    """Return a column as text; whole numbers without a point."""
    return [f"{one:g}" if isinstance(one, float) else str(one) for one in column.tolist()]


def _in_order(values: Column, order: IntArray) -> Column:
    """Return a column in the order of the rows, with missing values where there is no line."""
    out = values[np.maximum(order, 0)]
    out[order < 0] = None if values.dtype == object else np.nan
    return out
