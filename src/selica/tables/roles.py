"""Which columns are for what: names, lists and ranges of names, each for one use."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.validation import short
from selica.tables.columns import Columns, listed
from selica.tables.objects import as_columns

_NUMBERED = re.compile(r"(.*?)(\d+)")
_LOGARITHM = re.compile(r"log\((.+)\)")
LABELS = {
    "target": "target",
    "time": "time",
    "event": "event",
    "weights": "weights",
    "offset": "offset",
    "strata": "strata",
    "rows_of": "rows of",
    "keep": "keep",
    "drop": "left out",
}
"""Arguments that name columns, and the use that their columns have."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Columns of a table by what they are for; all are there, and none has two uses."""

    target: str | None
    time: str | None
    event: str | None
    weights: str | None
    offset: str | None
    strata: str | None
    rows_of: str | None
    keep: tuple[str, ...]
    drop: tuple[str, ...]
    logarithm: bool
    """Whether the offset is the logarithm of its column."""

    def uses(self) -> dict[str, str]:
        """Return the use of each column that has one other than to be a variable."""
        return uses_of(self)


def uses_of(named: Any) -> dict[str, str]:
    """Return the use of each column that is named for one, as far as it is named by itself.

    Parameters
    ----------
    named : object
        Has each argument of `LABELS`: a name, several names or None.
    """
    found: dict[str, str] = {}
    for argument, label in LABELS.items():
        value = getattr(named, argument)
        for name in (value,) if isinstance(value, str) else value or ():
            found.setdefault(name, label)
    return found


def assign(table: Columns, given: Mapping[str, Any]) -> tuple[Columns, Roles]:
    """Return what columns are for, or an error that lists all that is wrong.

    Parameters
    ----------
    table : Columns
    given : mapping of str to object
        "target", "time", "event", "weights", "offset", "strata", "rows_of": a name, or an array
        with a value for each row; "keep", "drop": names, lists or ranges of them.

    Returns
    -------
    Columns
        With a further column for each array that was given.
    Roles
    """
    problems: list[str] = []
    names: dict[str, Any] = {}
    logarithm = False
    given = _of_survival(given)
    for argument in LABELS:
        value = given.get(argument)
        if argument in ("keep", "drop"):
            names[argument] = tuple(several(argument, value, table.names, problems))
            continue
        if value is not None and not isinstance(value, str):
            table, value = _appended(table, argument, value)
        if argument == "offset" and isinstance(value, str) and value not in table.names:
            plain = of_logarithm(value)
            logarithm, value = plain != value, plain
        if isinstance(value, str) and value not in table.names:
            problems.append(
                f"{argument}: there is no column {value!r}"
                f"{_turned(value, table) or meant(value, table.names)}"
            )
        names[argument] = value
    problems += _twice(names)
    if problems:
        raise ArgumentError(" ".join(problems))
    return table, Roles(**names, logarithm=logarithm)


def _of_survival(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return times and events that are given as one target as two columns."""
    pair = _pair(given.get("target"))
    if pair is None:
        return given
    flags = [name for name, values in pair.items() if _is_flag(values)]
    if len(pair) != 2 or not flags:
        raise ArgumentError(
            "target: several values for each row must be two, a time and whether the event "
            f"happened (true and false, or 1 and 0); got {listed([str(name) for name in pair])}."
        )
    event = flags[-1]  # where both could be, the time comes first
    time = next(name for name in pair if name != event)
    return {**given, "target": None, "time": pair[time], "event": pair[event]}


def _pair(target: Any) -> dict[Any, Any] | None:
    """Return the columns of a target that has several: a structured array, a frame, a pair."""
    fields = getattr(getattr(target, "dtype", None), "names", None)
    if fields:
        return {name: target[name] for name in fields}
    if isinstance(target, tuple) and len(target) == 2 and all(np.ndim(one) == 1 for one in target):
        return dict(zip(("time", "event"), target, strict=True))
    if isinstance(target, np.ndarray) and target.ndim == 2 and target.shape[1] > 1:
        names = ("time", "event") if target.shape[1] == 2 else range(target.shape[1])
        return {name: target[:, j] for j, name in enumerate(names)}
    if hasattr(target, "columns") and len(getattr(target, "shape", ())) == 2:
        names = target.column_names if hasattr(target, "column_names") else target.columns
        return {name: target[name] for name in names}
    return None


def _is_flag(values: Any) -> bool:
    """Tell whether values are true and false, or 1 and 0."""
    array = np.asarray(values)
    return array.dtype.kind == "b" or (
        array.dtype.kind in "iuf" and bool(np.isin(array, (0, 1)).all())
    )


def _twice(names: Mapping[str, Any]) -> list[str]:
    """Say which columns are named for two uses; the time of survival may be the target, too."""
    uses: dict[str, list[str]] = {}
    for argument, value in names.items():
        for name in (value,) if isinstance(value, str) else value or ():
            if argument == "time" and name == names["target"]:
                continue
            uses.setdefault(name, []).append(argument)
    return [
        f"{name!r} is the target."
        if set(found) == {"target", "drop"}
        else f"{name!r} is named for {' and for '.join(found)}; a column has one use."
        for name, found in uses.items()
        if len(found) > 1
    ]


def _appended(table: Columns, argument: str, value: Any) -> tuple[Columns, str]:
    """Return the table with an array of values as a further column, and its name."""
    name = getattr(value, "name", None)
    name = name if isinstance(name, str) and name else ("y" if argument == "target" else argument)
    while name in table.names:
        name = f"{name} ({argument})"
    if np.ndim(value) != 1 or isinstance(value, bytes | dict):
        raise ArgumentError(
            f"{argument} must be the name of a column, or a vector with a value for each row; got "
            f"{short(value)}."
        )
    column = as_columns({name: value})
    if len(column) != len(table):
        raise ArgumentError(
            f"{argument} must have a value for each of {len(table):,} rows; it has {len(column):,}."
        )
    return (
        replace(
            table,
            names=(*table.names, name),
            values=(*table.values, *column.values),
            kinds={**table.kinds, **column.kinds},
            orders={**table.orders, **column.orders},
            notes=(*table.notes, *column.notes),
            truths=table.truths | column.truths,
        ),
        name,
    )


def of_logarithm(name: str) -> str:
    """Return the column in "log(exposure)", and any other name as it is."""
    match = _LOGARITHM.fullmatch(name.strip())
    return name if match is None else match[1].strip()


def several(
    argument: str, value: Any, names: tuple[str, ...], problems: list[str] | None = None
) -> list[str]:
    """Return the columns that a list names: names, "age,sex" and ranges such as "pc1-pc10".

    Parameters
    ----------
    argument : str
        For messages.
    value : str, iterable of str, or None
    names : tuple of str
        Of the columns of the table.
    problems : list of str, optional
        Where sentences on names that are not there go; without it they are raised.
    """
    found: dict[str, None] = {}
    wrong: list[str] = [] if problems is None else problems
    there = set(names)
    for item in _items(argument, value):
        parts = [item] if item in there else [part.strip() for part in item.split(",")]
        for part in parts:
            if part in there:
                found[part] = None
            elif part:
                span = _range(part, names, there)
                if not span:
                    wrong.append(f"{argument}: {_not_there(part, names, there)}")
                found |= dict.fromkeys(span)
    if problems is None and wrong:
        raise ArgumentError(" ".join(wrong))
    return list(found)


def _items(argument: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    try:
        found = tuple(value) if isinstance(value, Iterable) else None
    except TypeError:
        found = None
    if found is None or not all(isinstance(name, str) for name in found):
        raise ArgumentError(f"{argument} must be a list of names; got {short(value)}.")
    return found


def _range(text: str, names: tuple[str, ...], there: set[str]) -> list[str]:
    """Return the columns from one to another: by their numbers, or as they lie in the table."""
    pieces = re.split(r"\s*[-\u2013]\s*", text)
    for k in range(1, len(pieces)):
        first, last = "-".join(pieces[:k]), "-".join(pieces[k:])
        a, b = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
        if a and b and a[1] == b[1] and int(a[2]) <= int(b[2]):
            between = [
                name
                for name in names
                if (m := _NUMBERED.fullmatch(name))
                and m[1] == a[1]
                and int(a[2]) <= int(m[2]) <= int(b[2])
            ]
            if first in there and last in there:
                return between
        if first in there and last in there:
            start, end = names.index(first), names.index(last)
            if start <= end:
                return list(names[start : end + 1])
    return []


def _not_there(text: str, names: tuple[str, ...], there: set[str]) -> str:
    """Say that a column is not there; of a range, the end that is not."""
    ends = [end.strip() for end in re.split(r"[-\u2013]", text)]
    lacking = [end for end in ends if end not in there]
    close = {name.casefold() for name in names}
    if len(ends) == 2 and (len(lacking) == 1 or (lacking and lacking[0].casefold() in close)):
        return (
            f"the range {text!r} needs the column {lacking[0]!r}, which is not there"
            f"{meant(lacking[0], names)}"
        )
    return f"there is no column {text!r}{meant(text, names)}"


def _turned(name: str, table: Columns) -> str | None:
    """Say so if a name is in the first column, as in a table whose variables are rows."""
    first = table.values[0] if table.values else np.zeros(0)
    if first.dtype != object or not np.any(first == name):
        return None
    return (
        f", but a row of {table.names[0]!r} is called so: variables must be columns, and samples "
        "rows; turn the table around."
    )


def meant(name: str, names: tuple[str, ...]) -> str:
    """Return the end of a sentence on a name that is not there: the name that may be meant."""
    alike = [other for other in names if other.casefold() == name.casefold()]
    close = alike or difflib.get_close_matches(name, names[:5000], n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {listed(names)}."
