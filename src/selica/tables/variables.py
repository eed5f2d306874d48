"""The variables and the response of a table, checked."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import short
from selica._core.wording import counted
from selica.tables.columns import Column, Columns, columns_are, listed


def split(
    table: Columns, target: str, drop: Iterable[str] = ()
) -> tuple[Array, Column, tuple[str, ...]]:
    r"""Return the variables and the response of a table, checked.

    >>> from selica.tables import parse_table, split
    >>> table = parse_table("table.csv", b"age,dose,well\n61,1.5,yes\n58,0.5,no\n")
    >>> [part.tolist() for part in split(table, "well", drop=["dose"])[:2]]
    [[[61.0], [58.0]], ['yes', 'no']]

    Parameters
    ----------
    table : Columns
    target : str
        Column of the response: numbers, or text with two different values.
    drop : iterable of str
        Columns to leave out.

    Returns
    -------
    X : array of shape (n, p)
    y : array of shape (n,)
        Floats, or text of two classes.
    names : tuple of str
        Of the columns of X.
    """
    left_out = _names(drop)
    _check_columns(table, ("target", target))
    if target in left_out:
        raise ArgumentError(f"drop: {target!r} is the target.")
    y = table.values[table.names.index(target)]
    X, names = _variables(table, left_out, {target: y})
    return X, _response(target, y), names


def variables(
    table: Columns, drop: Iterable[str] = (), target: str | None = None
) -> tuple[Array, tuple[str, ...]]:
    r"""Return the variables of a table, checked: it need not have a response yet.

    >>> from selica.tables import parse_table, variables
    >>> X, names = variables(parse_table("table.csv", b"age,dose\n61,1.5\n58,0.5\n"))
    >>> X.shape, names
    ((2, 2), ('age', 'dose'))

    Parameters
    ----------
    table : Columns
    drop : iterable of str
        Columns to leave out.
    target : str, optional
        Column of the response, which is left out unseen.

    Returns
    -------
    X : array of shape (n, p)
    names : tuple of str
        Of the columns of X.
    """
    unseen = () if target is None else (target,)
    _check_columns(table, *(("target", name) for name in unseen))
    return _variables(table, (*_names(drop), *unseen), {})


def _variables(
    table: Columns, drop: tuple[str, ...], response: dict[str, Column]
) -> tuple[Array, tuple[str, ...]]:
    _check_columns(table, *(("drop", name) for name in drop))
    by_name = dict(zip(table.names, table.values, strict=True))
    used = {n: v for n, v in by_name.items() if n not in response and n not in drop}
    if not used:
        beside = " beside the target" if response else ""
        raise ArgumentError(f"There are no variables{beside}.")
    nameless = [name for name in table.unnamed if name in used]
    if nameless:
        raise ArgumentError(
            f"{columns_are(nameless)} without a name in the file: if these are row names, leave "
            f"them out (--drop {nameless[0]!r}); otherwise name them."
        )
    _check_missing(used | response)
    text = [name for name, values in used.items() if values.dtype == object]
    if text:
        raise ArgumentError(
            f"{columns_are(text)} text: leave them out (--drop {text[0]!r}) or encode them as "
            f"numbers, e.g. one column of 0 and 1 for each value."
        )
    _check_finite(used | response)
    if len(table) < 2:
        raise ArgumentError("There must be at least two rows; the table has one.")
    return np.column_stack(list(used.values())), tuple(used)


def _names(drop: Iterable[str]) -> tuple[str, ...]:
    try:
        found: tuple[str, ...] | None = tuple(drop)
    except TypeError:
        found = None
    if found is None or isinstance(drop, str) or not all(isinstance(name, str) for name in found):
        raise ArgumentError(f"drop must be a list of names; got {short(drop)}.")
    return found


def _check_columns(table: Columns, *named: tuple[str, str]) -> None:
    if not isinstance(table, Columns):
        raise ArgumentError(f"table must be Columns, as from read_table; got {short(table)}.")
    for option, name in named:
        if not isinstance(name, str):
            raise ArgumentError(f"{option} must be a name; got {short(name)}.")
        if name not in table.names:
            raise ArgumentError(f"{option}: there is no column {name!r}{_meant(name, table)}")


def _response(target: str, y: Column) -> Column:
    if y.dtype != object:
        return y
    classes = sorted(set(y))
    if len(classes) != 2:
        raise ArgumentError(
            f"target: {target!r} is text with {len(classes)} different "
            f"{'value' if len(classes) == 1 else 'values'} ({listed(classes)}); it must be "
            "numbers, or text with two."
        )
    return y.astype(str)


def _check_missing(columns: dict[str, Column]) -> None:
    absent = {
        name: values == None if values.dtype == object else np.isnan(values)  # noqa: E711
        for name, values in columns.items()
    }
    found = [f"{name!r} ({counted(int(a.sum()), 'row')})" for name, a in absent.items() if a.any()]
    if found:
        rows = int(np.any(list(absent.values()), axis=0).sum())
        raise ArgumentError(
            f"Values are missing in {counted(rows, 'row')}: {listed(found, quote=False)}. Fill "
            "them in, or leave out these rows or columns."
        )


def _check_finite(columns: dict[str, Column]) -> None:
    found = [
        name
        for name, values in columns.items()
        if values.dtype != object and not np.isfinite(values).all()
    ]
    if found:
        raise ArgumentError(f"{columns_are(found)} infinite in some rows.")


def _meant(name: str, table: Columns) -> str:
    close = difflib.get_close_matches(name, table.names, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {listed(table.names)}."
