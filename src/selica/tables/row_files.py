"""A file beside a table, with a line for each of its rows: responses and covariates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.files import as_path
from selica._core.types import IntArray
from selica.tables.columns import Column, Columns, cell_text, listed
from selica.tables.files import read_table
from selica.tables.roles import of_logarithm, several

_SINGLE = ("target", "time", "event", "rows_of", "weights", "offset", "strata")
"""Uses that one column has."""


class RowFile(NamedTuple):
    """Columns of a file in the order of the rows of a table."""

    path: Path
    columns: Columns
    notes: list[str]
    """On rows that have no line."""


def read_rows_of(
    pheno: Any, n_rows: int, row_names: tuple[str, ...], label: str | None = None
) -> RowFile:
    """Read a file with a line for each row of a table.

    Lines belong to rows by the names of rows in the first column, which is then left out, or else
    by their order. A note says which.

    Parameters
    ----------
    pheno : path
    n_rows : int
        Rows of the table.
    row_names : tuple of str
        Names of these rows; empty where they have none.
    label : str, optional
        What the names are called in the table. Numbers are names only where the first column of
        the file is called the same.
    """
    path = as_path("pheno", pheno)
    found = read_table(path)
    first = _texts(found.values[0])
    if not _are_names(path, found, first, row_names, label):
        if len(found) != n_rows:
            hint = f" or names of rows such as {listed(row_names[:2])} in its first column"
            raise RefusedError(
                f"{path}: it must have a line for each of the {n_rows:,} rows"
                f"{hint if row_names else ''}; it has {len(found):,} lines."
            )
        return RowFile(path, found, [f"Lines of {path.name} are taken in the order of the rows."])
    _refuse_twins(f"{path}: a row must have one line; more than one", first)
    _refuse_twins(
        "pheno: rows of the table must have different names; more than one is called", row_names
    )
    place = {name: k for k, name in enumerate(first)}
    order = np.array([place.get(name, -1) for name in row_names], dtype=np.intp)
    values = tuple(_in_order(one, order) for one in found.values[1:])
    gone = [row_names[i] for i in np.flatnonzero(order < 0)]
    notes = [f"Lines of {path.name} are matched with rows by {found.names[0]!r}."]
    if gone:
        has = "has" if len(gone) == 1 else "have"
        notes += [f"{len(gone):,} of {n_rows:,} rows {has} no line in {path.name}: {listed(gone)}."]
    return RowFile(path, replace(found, names=found.names[1:], values=values), notes)


def _are_names(
    path: Path, found: Columns, first: list[str], row_names: tuple[str, ...], label: str | None
) -> bool:
    """Tell whether the first column of a file has the names of rows; refuse where some fit."""
    known = [name for name in first if name]
    if not row_names or not known or len(found.names) < 2:
        return False
    if label is not None and found.names[0] != label:
        return False
    there = {*row_names}
    fitting, most = sum(name in there for name in known), min(len(known), len(there))
    are_text = found.values[0].dtype == object
    are_different = len({*known}) == len(known)
    if (are_text and 2 * fitting >= most) or (are_different and fitting == most):
        return True
    if not are_different or not (are_text or label is not None):
        return False  # values, some of which may look like names
    strange = next(name for name in known if name not in there)
    raise RefusedError(
        f"{path}: {'none' if not fitting else f'only {fitting:,}'} of the {len(first):,} names in "
        f"{found.names[0]!r} {'is' if fitting < 2 else 'are'} the name of a row; {strange!r} is "
        f"not, and rows have names such as {listed(row_names[:2])}. Without the column of names, "
        "lines are taken in the order of the rows."
    )


def _refuse_twins(sentence: str, names: Sequence[str]) -> None:
    """Refuse names of which some occur more than once."""
    twice = [name for name, times in Counter(names).items() if name and times > 1]
    if twice:
        raise ArgumentError(f"{sentence}: {listed(twice)}.")


def with_responses(
    table: Columns, pheno: Any, uses: Mapping[str, Any]
) -> tuple[Columns, dict[str, Any]]:
    """Return a table with those columns of a file that are used, and what columns are for.

    Parameters
    ----------
    table : Columns
        Rows have the names in its first column, if these are all different and text or whole
        numbers.
    pheno : path
        A file with a line for each row.
    uses : mapping of str to object
        What columns are for; without a target it is the one column of the file.
    """
    names, label = _names_of_rows(table)
    path, found, notes = read_rows_of(pheno, len(table), names, label)
    uses = dict(uses)
    if isinstance(uses["keep"], Iterator):
        uses["keep"] = tuple(uses["keep"])
    if uses["target"] is None and uses["time"] is None:
        if len(found.names) != 1:
            raise ArgumentError(
                f"target: name the column to explain (--target); {path.name} has "
                f"{listed(found.names)}."
            )
        uses["target"] = found.names[0]
    wanted = {of_logarithm(uses[use]) for use in _SINGLE if isinstance(uses[use], str)}
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


def _names_of_rows(table: Columns) -> tuple[tuple[str, ...], str | None]:
    """Return the names of rows in the first column, and its name where they are numbers."""
    if not table.values:
        return (), None
    first = table.values[0]
    names = tuple(_texts(first))
    if len({*names}) < len(names) or "" in names:
        return (), None
    if first.dtype == object:
        return names, None
    return (names, table.names[0]) if np.array_equal(first, np.rint(first)) else ((), None)


def _some(mapping: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: mapping[name] for name in names if name in mapping}


def _texts(column: Column) -> list[str]:
    """Return a column as text, nothing for missing values."""
    return [cell_text(one) or "" for one in column.tolist()]


def _in_order(values: Column, order: IntArray) -> Column:
    """Return a column in the order of the rows, with missing values where there is no line."""
    out = values[np.maximum(order, 0)]
    out[order < 0] = None if values.dtype == object else np.nan
    return out
