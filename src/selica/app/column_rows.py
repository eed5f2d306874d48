"""The columns of a table as rows of a table: what each is, holds and is used for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from selica._core.validation import printable, written
from selica.tables import Columns, Prepared
from selica.tables.columns import Column
from selica.tables.kinds import USABLE, Recognised, levels_of
from selica.tables.missing import absent
from selica.tables.naming import is_event, is_time, words_of

MOST_ROWS = 300
"""Columns of a table that are shown at once."""
PLAIN = 3
"""The place of a column about which there is nothing to see: a number without gaps."""
_EXAMPLES = 3
"""Values of a column that are shown."""
_LONGEST = 24
"""Signs of a value that are shown."""
_RESPONSES = frozenset({"y", "target", "outcome", "response", "label"})
"""Names that say that a column is what is to be explained."""


class ColumnRow(NamedTuple):
    """A column of a table, as the page shows it."""

    name: str
    kind: str
    use: str
    missing: int
    reason: str
    """Why it is left out; empty for all others."""
    asked: bool = False
    """Whether there is a question about it."""

    @property
    def place(self) -> int:
        """Where it is shown: what was named for a use first, numbers without gaps last."""
        if self.use not in ("variable", "left out"):
            return 0
        if self.use == "left out" or self.kind != "number" or self.asked:
            return 1
        return 2 if self.missing else PLAIN


class ShownRows(NamedTuple):
    """Some of the rows, and a sentence on the others."""

    rows: list[ColumnRow]
    rest: str
    """Empty where all are shown."""


class Outcomes(NamedTuple):
    """What a table seems to be about, by the names of its columns."""

    target: str | None = None
    time: str | None = None
    event: str | None = None


def described(
    table: Columns,
    kinds: Sequence[Recognised],
    uses: Mapping[str, str],
    ready: Prepared | None,
) -> list[ColumnRow]:
    """Return every column with its kind and use.

    Parameters
    ----------
    table : Columns
    kinds : sequence of Recognised
        Of its columns.
    uses : mapping of str to str
        Uses that were asked for, by name of the column.
    ready : Prepared, optional
        The table made ready; None where it could not be, or nothing is to be explained yet.
    """
    final = {} if ready is None else {one.name: one for one in ready.kinds}
    questions = "" if ready is None else " ".join(ready.questions)
    rows = []
    for name, values, kind in zip(table.names, table.values, kinds, strict=True):
        usable = "variable" if kind.kind in USABLE else "left out"
        use, reason = uses.get(name, usable), kind.reason
        if name in final:
            use, reason = final[name].use, final[name].reason
        rows.append(
            ColumnRow(
                name,
                kind.kind,
                use,
                int(np.count_nonzero(absent(values))),
                reason if use == "left out" else "",
                repr(name) in questions,
            )
        )
    return rows


def shown(rows: Sequence[ColumnRow], search: str = "") -> ShownRows:
    """Return rows to show: those that are no plain numbers first, and not too many.

    Parameters
    ----------
    rows : sequence of ColumnRow
    search : str
        Words that names, kinds or uses must contain.
    """
    wanted = search.casefold().split()
    found = [
        row
        for row in rows
        if all(word in f"{row.name} {row.kind} {row.use}".casefold() for word in wanted)
    ]
    ordered = sorted(found, key=lambda row: row.place)
    hidden = ordered[MOST_ROWS:]
    rest = ""
    if hidden:
        plain = sum(row.place == PLAIN for row in hidden)
        what = "numbers without missing values" if plain == len(hidden) else "further columns"
        rest = (
            f"{len(ordered) - len(hidden):,} of {len(ordered):,} columns are shown; the others are "
            f"{what}. Search for a name to see them."
        )
    elif wanted and len(found) < len(rows):
        rest = f"{len(found):,} of {len(rows):,} columns have this in their name, kind or use."
    return ShownRows(ordered[:MOST_ROWS], rest)


def examples(values: Column) -> str:
    """Return a few different values of a column: the most frequent of text, the first numbers."""
    if values.dtype == object:
        words = levels_of(values).words
    else:
        known = values[~np.isnan(values)]
        first = list(dict.fromkeys(known[:50].tolist()))
        words = [written(value) for value in first]
    cut = [_short(printable(word)) for word in words[:_EXAMPLES]]
    return ", ".join(cut) + (", …" if len(words) > _EXAMPLES else "")


def _short(word: str) -> str:
    word = " ".join(word.split())
    return word if len(word) <= _LONGEST else f"{word[: _LONGEST - 1]}…"


def outcomes(table: Columns) -> Outcomes:
    """Return what is to be explained, only where the names of the columns leave no doubt."""
    named = [name for name in table.names if words_of(name) and {*words_of(name)} <= _RESPONSES]
    if len(named) == 1:
        return Outcomes(target=named[0])
    columns = list(zip(table.names, table.values, strict=True))
    events = [name for name, values in columns if is_event(name) and _few(values)]
    times = [
        name
        for name, values in columns
        if is_time(name) and name not in events and values.dtype != object and not _few(values)
    ]
    if not named and len(times) == len(events) == 1:
        return Outcomes(time=times[0], event=events[0])
    return Outcomes()


def _few(values: Column) -> bool:
    """Tell whether a column has two different values at most."""
    return len(levels_of(values).words) <= 2
