"""The response of a table: numbers, two classes or several, counts, or times until an event."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError, RefusedError
from selica._core.types import Array, BoolArray
from selica._core.validation import choice, written
from selica._core.wording import counted
from selica.tables.columns import Column, Columns, listed, typed
from selica.tables.kinds import Levels, blocks, is_dates, levels_of
from selica.tables.missing import absent
from selica.tables.naming import is_event, is_of_censoring, is_time, vocabulary
from selica.tables.orders import known_order
from selica.tables.roles import Roles

RESPONSES = ("auto", "linear", "binary", "count", "survival", "classes", "ordinal")
"""What a response can be asked to be."""
_MOST_CLASSES = 20
"""Classes that a response of text may have."""
_FEWEST_ROWS = 20
"""Rows from which on a column does not agree with the response by chance."""
_SCREENED_ROWS = 2000
"""Rows in which columns are compared with the response before all rows are."""
_LARGEST_CODE = 1000
"""How far numbers of classes may be from each other."""
_SAME = 1.0 - 1e-9
"""Correlation from which on a column is the response, in its unit or another."""
_HAPPENED = vocabulary(
    "dead died deceased death event yes y true t relapse relapsed progressed progression failure "
    "failed recurred recurrence recurrent observed uncensored positive case exitus"
)
"""Words for an event that happened."""
_CENSORED = vocabulary(
    "alive living censored censor no n none false f free lost ongoing negative control survived "
    "surviving stable disease-free"
)
"""Words for an event that did not, as far as is known."""


class Outcome(NamedTuple):
    """A response, read."""

    y: NDArray[Any]
    """(n,) numbers or names of classes, or (n, 2) times and events; rows as in the table."""
    known: BoolArray
    """(n,): where the response is known."""
    response: str
    target: str
    notes: tuple[str, ...]
    related: dict[str, str]
    """Columns that say a part of the response, and so are no variables: the reason, by name."""
    questions: tuple[str, ...] = ()
    """What only the user knows of the response."""


def outcome(table: Columns, roles: Roles, response: str) -> Outcome:
    """Return the response of a table, checked.

    Parameters
    ----------
    table : Columns
    roles : Roles
    response : str
        One of `RESPONSES`.
    """
    choice("response", response, RESPONSES)
    by_name = dict(zip(table.names, table.values, strict=True))
    if roles.time is not None or roles.event is not None or response == "survival":
        return _survival(by_name, roles, response)
    if roles.target is None:
        raise ArgumentError("Name the column to explain: target, or time and event.")
    target, values = roles.target, by_name[roles.target]
    related, question = _related(target, values, by_name, roles)
    found = _read(table, target, values, response)
    same = _copies({target: values}, by_name, roles)
    return found._replace(related={**same, **related}, questions=question)


def _read(table: Columns, target: str, values: Column, response: str) -> Outcome:
    """Return a response of one column."""
    known = _known(values)
    if not known.any():
        raise RefusedError(f"target: {target!r} has no value in any row.")
    levels = None if values.dtype != object else levels_of(values)
    only = _only_value(values[known]) if levels is None else levels.words[0]
    if only is not None and (levels is None or len(levels.words) == 1):
        raise RefusedError(f"target: {target!r} is constant ({only}): there is nothing to explain.")
    if response == "ordinal":
        return _ordinal(table, target, values, known)
    if levels is None and target in table.truths and response in ("auto", "binary"):
        words = np.where(values == 1.0, "True", "False")
        return Outcome(words, known, "binary", target, (), {})
    if levels is None:
        return _of_numbers(target, values, known, response)
    if table.kinds.get(target) == "date" or is_dates(levels.words):
        raise RefusedError(f"target: {target!r} holds dates; it must be numbers or classes.")
    return _of_text(target, levels, known, response)


def _of_numbers(target: str, values: Array, known: BoolArray, response: str) -> Outcome:
    """Return a response of numbers: two of them are classes, more are so on request."""
    if response == "count":
        _check_counts(target, values[known])
    if response == "classes":
        _check_classes(target, levels_of(values), "numbers with ")
    if response in ("auto", "binary"):
        two = _two_values(values)
        if response == "binary" and not two:
            different = np.unique(values[known]).size
            raise ArgumentError(
                f"target: {target!r} has {different:,} different values; response='binary' takes "
                "two."
            )
        response = "binary" if two else response
    return Outcome(values, known, response, target, (), {})


def _of_text(target: str, levels: Levels, known: BoolArray, response: str) -> Outcome:
    """Return a response of text: two classes, or several."""
    different = len(levels.words)
    if response in ("linear", "count"):
        raise ArgumentError(
            f"target: {target!r} is text ({listed(levels.words)}), which response={response!r} "
            "does not take; it must be numbers."
        )
    if response == "binary" and different != 2:
        raise ArgumentError(
            f"target: {target!r} has {different:,} different values ({listed(levels.words)}); "
            "response='binary' takes two."
        )
    if response == "auto":
        response = "binary" if different == 2 else "classes"
    _check_classes(target, levels, "text with ")
    words = np.array([*levels.words, ""])  # rows without a value are left out later
    return Outcome(words[levels.codes], known, response, target, (), {})


def _only_value(values: Array) -> str | None:
    """Return the value that all numbers have; None where they differ."""
    return written(values[0]) if values.min() == values.max() else None


def _known(values: Column) -> BoolArray:
    return ~absent(values) if values.dtype == object else np.isfinite(values)


def _check_counts(target: str, values: Array) -> None:
    if values.min() < 0.0 or not np.all(values == np.rint(values)):
        bad = values[(values < 0.0) | (values != np.rint(values))][0]
        raise ArgumentError(
            f"target: {target!r} must hold whole numbers of zero or more for response='count'; got "
            f"{written(bad)}."
        )


def _check_classes(target: str, levels: Levels, what: str) -> None:
    """Refuse names and free text as classes."""
    different, rows = len(levels.words), int(levels.counts.sum())
    if different > _MOST_CLASSES or (different > 2 and rows < 2 * different):
        raise RefusedError(
            f"target: {target!r} is {what}{different:,} different values ({listed(levels.words)}) "
            f"in {counted(rows, 'row')}; it must be numbers, or a few classes."
        )


def _ordinal(table: Columns, target: str, values: Column, known: BoolArray) -> Outcome:
    """Return the places of the values in their order, as scores."""
    if values.dtype != object:
        order = [written(value) for value in np.unique(values[known])]
        scores = np.searchsorted(np.unique(values[known]), values).astype(float)
    else:
        levels = levels_of(values)
        declared = [word for word in table.orders.get(target, ()) if word in set(levels.words)]
        order = declared or known_order(levels.words) or []
        if not order:
            raise ArgumentError(
                f"target: the order of {listed(sorted(levels.words))} is not known; for "
                "response='ordinal' write numbers, or use an ordered category of a data frame."
            )
        place = np.array([order.index(word) for word in levels.words] + [-1], dtype=float)
        scores = place[levels.codes]
    if len(order) > _MOST_CLASSES:
        raise ArgumentError(
            f"target: {target!r} has {len(order):,} different values, too many for "
            "response='ordinal'; take it as numbers."
        )
    scores[~known] = np.nan
    shown = ", ".join(f"{k} for {word}" for k, word in enumerate(order))
    note = f"The response {target!r} is taken as scores in a linear model: {shown}."
    return Outcome(scores, known, "linear", target, (note,), {})


def _survival(columns: dict[str, Column], roles: Roles, response: str) -> Outcome:
    """Return times and events."""
    time = roles.time or (roles.target if roles.target != roles.event else None)
    if response not in ("auto", "survival"):
        raise ArgumentError(f"response: {response!r} does not go with time and event.")
    if roles.target is not None and roles.target not in (time, roles.event):
        raise ArgumentError(
            f"target: {roles.target!r} is neither the time nor the event; leave it out."
        )
    if time is None or roles.event is None:
        raise ArgumentError("Survival needs both: time, and event, which says if it was observed.")
    times = columns[time]
    if times.dtype == object:
        raise ArgumentError(f"time: {time!r} is text; it must be numbers.")
    if np.any(times < 0.0):
        bad = times[times < 0.0][0]
        raise ArgumentError(f"time: {time!r} must not be negative; got {written(bad)}.")
    event, note = _event(roles.event, columns[roles.event])
    known = np.isfinite(times) & ~np.isnan(event)
    if not known.any():
        raise RefusedError(f"time and event: no row has both {time!r} and {roles.event!r}.")
    if not event[known].any():
        raise RefusedError(f"event: {roles.event!r} has no event; there is nothing to explain.")
    related, asked = _further(time, roles.event, columns, roles)
    related |= _copies({time: times, roles.event: event}, columns, roles)
    y = np.column_stack([times, event])
    return Outcome(y, known, "survival", time, (note,), related, asked)


def _event(name: str, values: Column) -> tuple[Array, str]:
    """Return 1 where an event happened and 0 where not, and a note on how it was told."""
    levels = levels_of(values)
    if not levels.words:
        raise RefusedError(f"event: {name!r} has no value in any row.")
    if len(levels.words) > 2:
        raise ArgumentError(
            f"event: {name!r} has {len(levels.words)} different values ({listed(levels.words)}); "
            "it must have two, one for an event and one for none."
        )
    yes = _which(name, levels.words)
    place = np.array([*(float(word == yes) for word in levels.words), np.nan])
    event = place[levels.codes]
    happened = int(np.nansum(event))
    others = [word for word in levels.words if word != yes]
    rest = (
        ""
        if not others
        else (
            f", and {others[0]} that it was not seen ({counted(int(np.sum(event == 0.0)), 'row')})"
        )
    )
    if yes not in levels.words:
        return event, f"{name!r}: no row has an event."
    return (
        event,
        f"{name!r}: {yes} means that the event happened ({counted(happened, 'row')}){rest}.",
    )


def _which(name: str, words: list[str]) -> str:
    """Return the value that means an event."""
    turned = is_of_censoring(name)
    plain = {word: re.sub(r"^\d+\s*[:=-]\s*", "", word).strip().lower() for word in words}
    if set(words) <= {"0", "1"}:
        return "0" if turned else "1"
    if set(words) <= {"1", "2"} and len(words) == 2:
        return "1" if turned else "2"
    happened = [word for word in words if plain[word] in _HAPPENED]
    not_seen = [word for word in words if plain[word] in _CENSORED]
    if turned and {*plain.values()} <= {"yes", "no", "y", "n", "true", "false", "t", "f"}:
        happened, not_seen = not_seen, happened
    if len(happened) == 1 and len(words) == 2:
        return happened[0]
    if len(not_seen) == 1 and len(words) == 2:
        return next(word for word in words if word != not_seen[0])
    if len(words) == 1 and happened:
        return happened[0]
    if len(words) == 1 and not_seen:
        return ""
    raise ArgumentError(
        f"event: it cannot be told which value of {name!r} ({listed(words)}) means that the event "
        "happened; write 1 for an event and 0 for none."
    )


def _related(
    target: str, values: Column, columns: dict[str, Column], roles: Roles
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Find columns that look like the event of a time, or the time of an event."""
    named = roles.uses()
    two = _two_values(values)
    if not two and values.dtype != object and is_time(target):
        others = [
            name
            for name, column in columns.items()
            if name not in named and is_event(name) and _two_values(column)
        ]
        if others:
            return dict.fromkeys(others, "seems to say whether the event happened"), (
                f"{target!r} looks like a time until an event, and {others[0]!r} like whether it "
                f"happened; so {others[0]!r} is left out. If so, ask for a model of survival, "
                f"time={target!r} and event={others[0]!r} (on the command line: "
                f"{typed('--time', target)} {typed('--event', others[0])}). {_back(others[0])}",
            )
    if two and is_event(target):
        others = [
            name
            for name, column in columns.items()
            if name not in named
            and column.dtype != object
            and is_time(name)
            and not _two_values(column)
        ]
        if others:
            return dict.fromkeys(others, "seems to be the time of the event"), (
                f"{target!r} looks like an event, and {others[0]!r} like the time until it; so "
                f"{others[0]!r} is left out. If so, ask for a model of survival, "
                f"time={others[0]!r} and event={target!r} (on the command line: "
                f"{typed('--time', others[0])} {typed('--event', target)}). {_back(others[0])}",
            )
    return {}, ()


def _further(
    time: str, event: str, columns: dict[str, Column], roles: Roles
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Find times and events of other endpoints, which come after the fact as this one does."""
    named = roles.uses()
    found = {
        name: "seems to belong to another endpoint"
        for name, column in columns.items()
        if name not in named
        and (
            (is_event(name) and _two_values(column))
            or (is_time(name) and column.dtype != object and not _two_values(column))
        )
    }
    if not found:
        return {}, ()
    return found, (
        f"{listed(list(found))} {'seems' if len(found) == 1 else 'seem'} to belong to another "
        f"endpoint than {time!r} and {event!r}, and {'is' if len(found) == 1 else 'are'} left out. "
        f"{_back(next(iter(found)))}",
    )


def _back(name: str) -> str:
    """Say how a column is made a variable after all."""
    return (
        f"If it is a variable, say so: kinds={{{name!r}: 'number'}} (on the command line: "
        f"{typed('--kind', f'{name}=number')})."
    )


def _copies(
    response: dict[str, Column], columns: dict[str, Column], roles: Roles
) -> dict[str, str]:
    """Find columns that say what the response says, in its unit or another."""
    named = roles.uses()
    others = {name: values for name, values in columns.items() if name not in named}
    found: dict[str, str] = {}
    for target, values in response.items():
        same = _proportional(values, others) if values.dtype != object else []
        same += _with_same_classes(values, others)
        found |= dict.fromkeys(same, f"says the same as the response {target!r}")
    return found


def _proportional(values: Array, columns: dict[str, Column]) -> list[str]:
    """Return columns of numbers with a correlation of one with a response, where both are known."""
    names = [name for name, other in columns.items() if other.dtype != object]
    rows = np.flatnonzero(np.isfinite(values))[:_SCREENED_ROWS]
    if rows.size < _FEWEST_ROWS:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        centred = values[rows] - values[rows].mean()
    found = []
    for start, part in blocks([columns[name][rows] for name in names], rows.size):
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            part -= part.mean(axis=0)
            near = np.abs(centred @ part)
            near /= np.linalg.norm(centred) * np.linalg.norm(part, axis=0)
        # not a number where a value is missing, or all are the same
        near_names = [names[start + int(k)] for k in np.flatnonzero(~(near < _SAME))]
        found += [name for name in near_names if _is_proportional(values, columns[name])]
    return found


def _is_proportional(values: Array, other: Array) -> bool:
    """Tell whether two columns have a correlation of one in the rows that know both."""
    both = np.isfinite(values) & np.isfinite(other)
    if np.count_nonzero(both) < _FEWEST_ROWS:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = values[both] - values[both].mean(), other[both] - other[both].mean()
        size = float(np.linalg.norm(a) * np.linalg.norm(b))
        return 0.0 < size < np.inf and abs(float(a @ b)) >= _SAME * size


def _with_same_classes(values: Column, columns: dict[str, Column]) -> list[str]:
    """Return columns each of whose values goes with one class of the response, and back."""
    classes = _few_values(values)
    if classes is None:
        return []
    found = _numbers_of_classes(classes, columns) if values.dtype == object else []
    for name, other in columns.items():
        levels = _few_values(other) if other.dtype == object else None
        if levels is None or len(levels.words) != len(classes.words):
            continue
        both = (classes.codes >= 0) & (levels.codes >= 0)
        pairs = np.unique(classes.codes[both] * _MOST_CLASSES + levels.codes[both])
        if np.count_nonzero(both) >= _FEWEST_ROWS and pairs.size == len(classes.words):
            found.append(name)
    return found


def _numbers_of_classes(classes: Levels, columns: dict[str, Column]) -> list[str]:
    """Return columns of numbers that are the same in a class, and differ between classes."""
    names = [name for name, other in columns.items() if other.dtype != object]
    known = np.flatnonzero(classes.codes >= 0)
    if known.size < _FEWEST_ROWS:
        return []
    first = known[np.unique(classes.codes[known], return_index=True)[1]]
    rows = np.concatenate([first, known[:_SCREENED_ROWS]])
    found = []
    for start, part in blocks([columns[name][rows] for name in names], rows.size):
        same = np.all(part == part[: first.size][classes.codes[rows]], axis=0)
        for k in map(int, np.flatnonzero(same)):
            values = columns[names[start + k]]
            one_each = np.array_equal(values[known], values[first][classes.codes[known]])
            if one_each and np.unique(values[first]).size == first.size:
                found.append(names[start + k])
    return found


def _few_values(values: Column) -> Levels | None:
    """Return the different values of a column that has a few; None for any other."""
    if values.dtype != object and not _two_values(values):
        known = values[np.isfinite(values)]
        if not np.array_equal(known, np.rint(known)) or np.ptp(known) > _LARGEST_CODE:
            return None
    levels = levels_of(values)
    return levels if 2 <= len(levels.words) <= _MOST_CLASSES else None


def _two_values(values: Column) -> bool:
    if values.dtype == object:
        return len(levels_of(values).words) == 2
    known = values[np.isfinite(values)]
    if not known.size:
        return False
    low, high = known.min(), known.max()
    return bool(low < high and np.all((known == low) | (known == high)))
