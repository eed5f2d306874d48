"""The response of a table: numbers, two classes or several, counts, or times until an event."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError, RefusedError
from selica._core.types import Array, BoolArray
from selica._core.validation import choice, written
from selica.tables.columns import Column, Columns, counted, listed
from selica.tables.kinds import Levels, is_dates, levels_of
from selica.tables.missing import absent
from selica.tables.naming import is_event, is_of_censoring, is_time, vocabulary
from selica.tables.roles import Roles

RESPONSES = ("auto", "linear", "binary", "count", "survival", "classes", "ordinal")
"""What a response can be asked to be."""
_MOST_CLASSES = 20
"""Classes that a response of text may have."""
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
    return found._replace(related=related, questions=question)


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


def _different(values: Column, known: BoolArray) -> list[str]:
    """Return the different values as text."""
    if values.dtype == object:
        return sorted(levels_of(values).words)
    return [written(value) for value in np.unique(values[known])]


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
    elif target in table.orders:
        levels = levels_of(values)
        order = [word for word in table.orders[target] if word in set(levels.words)]
        place = np.array([order.index(word) for word in levels.words] + [-1], dtype=float)
        scores = place[levels.codes]
    else:
        raise ArgumentError(
            f"target: the order of {listed(_different(values, known))} is not known; for "
            "response='ordinal' write numbers, or use an ordered category of a data frame."
        )
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
    return Outcome(np.column_stack([times, event]), known, "survival", time, (note,), {})


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
                "happened, which is no variable. If so, ask for a model of survival (time and "
                f"event; on the command line: --time {target!r} --event {others[0]!r}).",
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
                f"{target!r} looks like an event, and {others[0]!r} like the time until it, which "
                "is no variable. If so, ask for a model of survival (time and event; on the "
                f"command line: --time {others[0]!r} --event {target!r}).",
            )
    return {}, ()


def _two_values(values: Column) -> bool:
    if values.dtype == object:
        return len(levels_of(values).words) == 2
    known = values[np.isfinite(values)]
    if not known.size:
        return False
    low, high = known.min(), known.max()
    return bool(low < high and np.all((known == low) | (known == high)))
