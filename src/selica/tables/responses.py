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
from selica.tables.kinds import is_dates, levels_of
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
    return found._replace(related=related, notes=(*found.notes, *question))


def _read(table: Columns, target: str, values: Column, response: str) -> Outcome:
    """Return a response of one column."""
    text = values.dtype == object
    known = _known(values)
    different = _different(values, known)
    if not known.any():
        raise RefusedError(f"target: {target!r} has no value in any row.")
    if len(different) == 1:
        raise RefusedError(
            f"target: {target!r} is constant ({different[0]}): there is nothing to explain."
        )
    if response == "ordinal":
        return _ordinal(table, target, values, known)
    if text and (table.kinds.get(target) == "date" or is_dates(different)):
        raise RefusedError(f"target: {target!r} holds dates; it must be numbers or classes.")
    if response in ("linear", "count") and text:
        raise ArgumentError(
            f"target: {target!r} is text ({listed(different)}), which response={response!r} does "
            "not take; it must be numbers."
        )
    if response == "count":
        _check_counts(target, values[known])
    if response == "binary" and len(different) != 2:
        raise ArgumentError(
            f"target: {target!r} has {len(different):,} different values; response='binary' takes "
            "two."
        )
    if response == "auto" and (text or len(different) == 2):
        response = "binary" if len(different) == 2 else "classes"
    if response == "classes":
        _check_classes(target, different, int(known.sum()))
        y: Any = values if text else np.array([written(v) for v in values], dtype=object)
    else:
        y = values
    notes = _said(target, different, values, known) if response in ("binary", "classes") else ()
    plain = _as_text(y, known) if y.dtype == object else y
    return Outcome(plain, known, response, target, notes, {})


def _said(target: str, different: list[str], values: Column, known: BoolArray) -> tuple[str, ...]:
    """Say how many rows each class of text has; two classes are left to the selector."""
    if len(different) <= 2:
        return ()
    levels = levels_of(values[known])
    shown = ", ".join(
        f"{word!r} ({count:,})"
        for word, count in zip(levels.words[:8], levels.counts, strict=False)
    )
    more = "" if len(different) <= 8 else f" and {len(different) - 8} more"
    return (f"The response {target!r} has {len(different)} classes: {shown}{more}.",)


def _as_text(values: Column, known: BoolArray) -> NDArray[Any]:
    """Return classes as text; rows without one are empty, and are left out later."""
    return np.where(known, values, "").astype(str)


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


def _check_classes(target: str, different: list[str], rows: int) -> None:
    if len(different) > _MOST_CLASSES or (len(different) > 2 and rows < 2 * len(different)):
        raise RefusedError(
            f"target: {target!r} is text with {len(different):,} different values "
            f"({listed(different)}) in {counted(rows, 'row')}; it must be numbers, or a few "
            "classes."
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
    return np.unique(values[np.isfinite(values)]).size == 2
