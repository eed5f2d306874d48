"""Arrays in files made ready for a selector: a response and covariates of the same rows."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.validation import short
from selica.tables.arrays import ArrayTable, read_array
from selica.tables.columns import Columns, different_names, listed
from selica.tables.prepared import Prepared, made_ready
from selica.tables.roles import meant, of_logarithm, several
from selica.tables.row_files import read_rows_of

ARRAY_FILES = (".h5ad", ".zarr")
"""Endings of arrays in files."""


def is_array_file(path: Any) -> bool:
    """Tell whether a path is that of an array in a file, by its ending.

    Parameters
    ----------
    path : object

    Examples
    --------
    >>> from selica.tables import is_array_file
    >>> is_array_file("cells.h5ad"), is_array_file("table.csv")
    (True, False)
    """
    return isinstance(path, str | os.PathLike) and Path(path).suffix.lower() in ARRAY_FILES


def prepare_array(
    table: ArrayTable | str | Path,
    target: str | None = None,
    *,
    pheno: str | Path | None = None,
    layer: str | None = None,
    keep: Any = (),
    drop: Any = (),
    time: str | None = None,
    event: str | None = None,
    rows_of: str | None = None,
    weights: str | None = None,
    offset: str | None = None,
    strata: str | None = None,
    response: str = "auto",
    kinds: Mapping[str, str] | None = None,
) -> Prepared:
    """Make an array ready for a selector; its numbers stay in the smallest form that holds them.

    Parameters
    ----------
    table : ArrayTable or path
        A path is read by `read_array`.
    target : str, optional
        Column of `obs`, or of the file `pheno`; not needed if that file has one column of values.
    pheno : path, optional
        Table with a line for each row. If its first column has names of rows, lines are matched by
        them, in any order; otherwise they are in the order of the rows.
    layer : str, optional
        As in `read_array`.
    keep : str or iterable of str
        Columns of `obs` or of `pheno` that are in every fit and never selected.
    drop : str or iterable of str
        Columns of the array to leave out.
    time, event, rows_of, weights, offset, strata : str
        Columns of `obs` or of `pheno`, as in `tables.prepare`.
    response, kinds
        As in `tables.prepare`.

    Returns
    -------
    Prepared
        Its X is an `ArrayTable`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.tables import ArrayTable, Columns, prepare_array
    >>> about = Columns(("dose",), (np.array([1.0, np.nan, 3.0]),))
    >>> counts = np.array([[0, 1], [2, 1], [1, 0]], dtype=np.int8)
    >>> cells = ArrayTable(counts, ("a", "b"), ("c1", "c2", "c3"), about)
    >>> study = prepare_array(cells, "dose")
    >>> study.y.tolist(), study.X.row_names
    ([1.0, 3.0], ('c1', 'c3'))
    """
    if not isinstance(table, ArrayTable):
        table = read_array(table, layer=layer)
    elif layer is not None:
        raise ArgumentError("layer belongs to read_array, where the table is read already.")
    about, matched = _about(table, pheno)
    uses = {
        "target": target, "time": time, "event": event, "rows_of": rows_of, "weights": weights,
        "offset": offset, "strata": strata,
    }  # fmt: skip
    if target is None and time is None:
        uses["target"] = _only(about, table, pheno)
    problems: list[str] = []
    kept = several("keep", keep, about.names, problems)
    table, left = _without(table, drop, problems)
    wanted = {*kept}
    for use, name in uses.items():
        if name is None:
            continue
        if not isinstance(name, str):
            raise ArgumentError(
                f"{use} must be the name of a column where the table is an array in a file; got "
                f"{short(name)}."
            )
        plain = of_logarithm(name) if use == "offset" else name
        wanted.add(plain)
        if plain not in about.names:
            problems.append(f"{use}: there is no column {plain!r}{meant(plain, about.names)}")
    if problems:
        raise ArgumentError(" ".join(problems))
    prepared = made_ready(
        _some(about, wanted), {**uses, "keep": kept, "drop": ()}, "drop-rows", response, kinds,
        elsewhere=True,
    )  # fmt: skip
    table, renamed = _named(table.some_rows(prepared.rows))
    return replace(
        prepared,
        X=table,
        names=table.names,
        variable=np.arange(table.shape[1]),
        notes=tuple(dict.fromkeys([*matched, *left, *renamed, *prepared.notes])),
    )


def _about(table: ArrayTable, pheno: str | Path | None) -> tuple[Columns, list[str]]:
    """Return the columns of `obs` and of a file, in the order of the rows, and a note."""
    own = Columns((), ()) if table.about is None else table.about
    if pheno is None:
        return own, []
    path, found, notes = read_rows_of(pheno, table.shape[0], table.row_names)
    twice = [name for name in found.names if name in own.names]
    if twice:
        raise ArgumentError(
            f"pheno: {listed(twice)} {'is' if len(twice) == 1 else 'are'} in {path.name} and in "
            "obs; rename one."
        )
    names, values = (*own.names, *found.names), (*own.values, *found.values)
    return replace(found, names=names, values=values), notes


def _only(about: Columns, table: ArrayTable, pheno: Any) -> str:
    """Return the one column that a file of responses has."""
    own = () if table.about is None else table.about.names
    given = [name for name in about.names if name not in own]
    if len(given) == 1:
        return given[0]
    if not about.names:
        raise ArgumentError(
            "pheno: the array has no columns beside it; name a table with a line for each row "
            "(--pheno FILE)."
        )
    where = "obs" if pheno is None else "obs and in the file"
    raise ArgumentError(
        f"target: name the column to explain (--target); in {where} there are "
        f"{listed(about.names)}."
    )


def _without(table: ArrayTable, drop: Any, problems: list[str]) -> tuple[ArrayTable, list[str]]:
    """Return the array without some of its columns, and a note on them."""
    gone = several("drop", drop, table.names, problems)
    if not gone:
        return table, []
    stay = np.flatnonzero(~np.isin(np.array(table.names, dtype=object), gone))
    if not stay.size:
        raise RefusedError("drop: no column of the array is left.")
    note = f"{len(gone):,} {'column is' if len(gone) == 1 else 'columns are'} left out as asked."
    return table.some_columns(stay), [note]


def _named(table: ArrayTable) -> tuple[ArrayTable, list[str]]:
    """Return the array with a different name for each column."""
    names = table.names or tuple(f"x{j}" for j in range(table.shape[1]))
    times = Counter(names)
    if len(times) == len(names):
        return replace(table, names=names), []
    twice = [name for name, many in times.items() if many > 1]
    note = f"Several columns have the same name and are numbered: {listed(twice)}."
    return replace(table, names=different_names(names)), [note]


def _some(about: Columns, wanted: set[str]) -> Columns:
    """Return the columns that are used."""
    places = [j for j, name in enumerate(about.names) if name in wanted]
    return replace(
        about,
        names=tuple(about.names[j] for j in places),
        values=tuple(about.values[j] for j in places),
    )
