"""Sentences on a table that was made ready: notes on what was done, questions for the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from selica._core.types import IntArray
from selica._core.validation import written
from selica._core.wording import counted
from selica.tables.columns import LISTED_NAMES, Column, Columns, columns_are, listed, typed
from selica.tables.kinds import Recognised, levels_of
from selica.tables.missing import stand_ins
from selica.tables.naming import is_of_groups
from selica.tables.numbers_in_text import numbers_in
from selica.tables.responses import Outcome
from selica.tables.roles import Roles
from selica.tables.sorted_columns import ASKED, LeftOut, SortedColumns

_OTHERS = {
    "missing": "with missing values",
    "response": "that seem to belong to the response",
}
"""What columns that are left out are called together, whatever their kind."""
_GROUPS = {
    "identifier": "that name rows",
    "date": "of dates",
    "constant": "with one value",
    "text": "of text",
    "empty": "without any value",
}
"""What columns that are left out are called together, by their kind."""
_FEWEST_CASES = 5
"""Rows of a class, or events, below which a note says that they are few."""
_MOST_CODES = 10
"""Different whole numbers that may be codes of groups."""


def together_note(name: str | None, units: IntArray | None) -> list[str]:
    """Say how many groups of rows belong together."""
    if name is None or units is None:
        return []
    sizes = np.unique(units, return_counts=True)[1]
    few, most = int(sizes.min()), int(sizes.max())
    size = f"{few:,}" if few == most else f"{few:,} to {most:,}"
    rows = "row" if most == 1 else "rows"
    return [f"Rows with the same {name!r} belong together: {sizes.size:,} groups of {size} {rows}."]


def left_out_note(left_out: Sequence[LeftOut], kinds: Mapping[str, Recognised]) -> list[str]:
    """Say which columns are left out unasked, and why; many of them by their kinds."""
    left_out = [one for one in left_out if one.reason != ASKED]
    if not left_out:
        return []
    are = "is" if len(left_out) == 1 else "are"
    shown = "; ".join(f"{one.name!r} {one.reason}" for one in left_out)
    if len(left_out) > LISTED_NAMES:
        groups: dict[str, list[str]] = {}
        for one in left_out:
            kind = kinds[one.name]
            what = _GROUPS[kind.kind] if one.reason == kind.reason else _OTHERS["missing"]
            what = _OTHERS["response"] if one.asked else what
            groups.setdefault(what, []).append(one.name)
        shown = "; ".join(
            f"{len(names):,} {what} ({listed(names)})" for what, names in groups.items()
        )
    return [f"{counted(len(left_out), 'column')} {are} left out: {shown}."]


def few_cases(read: Outcome, rows: IntArray) -> list[str]:
    """Say so if a class has a few rows only, or a few events were seen."""
    if read.response == "survival":
        sizes = {"The event": int(np.count_nonzero(read.y[rows, 1]))}
    elif read.response in ("binary", "classes"):
        each, counted_rows = np.unique(read.y[rows], return_counts=True)
        words = [repr(str(one) if read.y.dtype.kind == "U" else written(one)) for one in each]
        sizes = dict(zip(words, counted_rows.tolist(), strict=True))
    else:
        return []
    few = {word: size for word, size in sizes.items() if size < _FEWEST_CASES}
    if not few:
        return []
    shown = ", ".join(f"{word} has {counted(size, 'row')} only" for word, size in few.items())
    return [f"{shown}: so few say little about what distinguishes them."]


def questions(table: Columns, work: SortedColumns) -> list[str]:
    """Ask about numbers that may stand for missing values, or for groups."""
    by_name = dict(zip(table.names, table.values, strict=True))
    numbers = [name for name in work.variables if work.kinds[name].kind == "number"]
    asked = stand_ins(numbers, [by_name[name] for name in numbers])
    found = [] if asked is None else [asked]
    texts = [name for name in work.variables if work.kinds[name].kind == "category"]
    found += [said for name in texts if (said := _spellings(name, by_name[name])) is not None]
    mixed = [name for name in work.variables if name in table.remarks]
    found += [f"{name!r} is taken as a category: {table.remarks[name]}." for name in mixed]
    for one in work.left_out:
        if work.kinds[one.name].kind == "text" and numbers_in(one.values).mostly:
            found.append(
                f"{one.name!r} holds mostly numbers. To use it, say so: kinds={{{one.name!r}: "
                f"'number'}} (on the command line: {typed('--kind', f'{one.name}=number')}). A "
                "limit such as <0.1 is then taken as 0.1, and any other text as missing."
            )
    nameless = [name for name in table.unnamed if name in work.variables]
    if nameless:
        found.append(f"{columns_are(nameless)} without a name in the file.")
    codes = [name for name in numbers if is_of_groups(name) and _are_codes(by_name[name])]
    if codes:
        found.append(
            f"{listed(codes)} {'holds' if len(codes) == 1 else 'hold'} a few whole numbers, which "
            f"are taken as amounts. If they are names of groups, say so: kinds={{{codes[0]!r}: "
            f"'category'}} (on the command line: {typed('--kind', f'{codes[0]}=category')})."
        )
    return found


def questions_of_response(table: Columns, roles: Roles) -> list[str]:
    """Ask about an offset, and about classes of the response that differ in capitals only."""
    if roles.offset is not None and not roles.logarithm:
        return [
            f"The offset {roles.offset!r} is taken as the logarithm of the exposure. If it is the "
            f"exposure itself, write log({roles.offset}) in its place."
        ]
    if roles.target is None:
        return []
    values = table.values[table.names.index(roles.target)]
    said = _spellings(roles.target, values) if values.dtype == object else None
    return [] if said is None else [said]


def _spellings(name: str, values: Column) -> str | None:
    """Ask about values of a category that differ in capitals only, such as Male and male."""
    alike: dict[str, list[str]] = {}
    for word in levels_of(values).words:
        alike.setdefault(word.casefold(), []).append(word)
    pairs = [words for small, words in alike.items() if len(words) > 1 and len(small) > 2]
    if not pairs:
        return None
    return (
        f"{listed(pairs[0])} differ in capitals only, and are taken as different values of "
        f"{name!r}. If they are the same, write them alike."
    )


def _are_codes(values: Column) -> bool:
    known = values[~np.isnan(values)]
    if not np.all(known == np.rint(known)) or np.ptp(known) > 100 * _MOST_CODES:
        return False
    return 3 <= np.unique(known).size <= _MOST_CODES
