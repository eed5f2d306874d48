"""A table by columns, and what every message about it says alike."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from selica._core.errors import ArgumentError
from selica._core.validation import printable
from selica._core.wording import few

Column = NDArray[Any]
"""(n,): floats with NaN, or text with None, where a value is missing."""
LISTED_NAMES = 5
"""How many names a sentence lists."""


@dataclass(frozen=True, slots=True)
class Columns:
    r"""A table by columns.

    Attributes
    ----------
    names : tuple of str
    values : tuple of array
        Floats, with NaN where a value is missing; or objects, text with None where it is missing.
    unnamed : tuple of str
        Those of `names` that were made up because the file has none.
    notes : tuple of str
        What the reader of a result has to know about how the table was read.
    read_as : str
        How the file was read, such as "text with semicolons between columns"; empty for objects.
    kinds : mapping of str to str
        Kinds that the table itself declares: "category" and "date".
    orders : mapping of str to tuple of str
        For an ordered category, its values from the first to the last.
    remarks : mapping of str to str
        Why a column that looks like numbers is text, a clause.
    truths : frozenset of str
        Columns of 0 and 1 that are false and true in the table.

    Examples
    --------
    >>> from selica.tables import parse_table
    >>> table = parse_table("table.csv", b"age,well\n61,yes\n,no\n")
    >>> table.names, len(table)
    (('age', 'well'), 2)
    >>> [column.tolist() for column in table.values]
    [[61.0, nan], ['yes', 'no']]
    """

    names: tuple[str, ...]
    values: tuple[Column, ...]
    unnamed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    read_as: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict)
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: Mapping[str, str] = field(default_factory=dict)
    truths: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return self.values[0].size if self.values else 0


@dataclass(frozen=True, slots=True)
class Limits:
    r"""The largest table that is read.

    Examples
    --------
    >>> from selica.tables import Limits, parse_table
    >>> few = Limits(rows=1, columns=10, cells=10)
    >>> parse_table("table.csv", b"age\n61\n58\n", few)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    selica._core.errors.ArgumentError: table.csv: the table has more than 1 rows, ...
    """

    rows: int
    columns: int
    cells: int
    unpacked: int = 0
    """Bytes of a compressed file when it is unpacked; with 0 compressed text is refused."""

    def check(self, path: Path, rows: int, columns: int) -> None:
        """Check that a table is within all limits, or name the one it is beyond in an error."""
        sizes = {"columns": columns, "rows": rows, "cells": rows * columns}
        for what, found in sizes.items():
            most = getattr(self, what)
            if found > most:
                raise ArgumentError(
                    f"{path}: the table has more than {most:,} {what}, the most that is read here."
                )

    def check_unpacked(self, path: Path, size: int) -> None:
        """Check what a compressed file holds, in bytes, or say in an error that it is too much."""
        if size > self.unpacked:
            raise ArgumentError(
                f"{path}: unpacked, the file has more than {self.unpacked / 1e6:,.0f} MB, the most "
                "that is read here."
            )


def clean_names(header: Sequence[Any]) -> tuple[list[str], list[str], list[str]]:
    """Return names without needless spaces, those that are made up, and what is wrong with them."""
    raw = [" ".join(printable(str(name)).split()) for name in header]
    unnamed = [f"column {j}" for j, name in enumerate(raw, start=1) if not name]
    names = [name or f"column {j}" for j, name in enumerate(raw, start=1)]
    problems = []
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        problems.append(f"column names must differ; more than once: {listed(twice)}")
    odd = [name for name in names if not name.isprintable()]
    if odd:
        problems.append(
            "names of columns must be letters, digits and signs that can be printed; "
            f"{listed(odd)} {'has' if len(odd) == 1 else 'have'} others"
        )
    return names, unnamed, problems


def listed(names: Sequence[str], quote: bool = True) -> str:
    """Return a few names in a sentence."""
    return few([repr(name) for name in names] if quote else names, LISTED_NAMES)


def columns_are(names: Sequence[str]) -> str:
    """Return names as the beginning of a sentence, with its verb."""
    one = len(names) == 1
    return f"{'Column' if one else 'Columns'} {listed(names)} {'is' if one else 'are'}"


def typed(option: str, value: str) -> str:
    """Return an option as it is typed on the command line."""
    return f"{option} {shlex.quote(value)}"


def cell_text(value: Any) -> str | None:
    """Return a cell as text: whole numbers without a point, None where it is missing."""
    if value is None or value != value:
        return None
    if isinstance(value, float) and value.is_integer():  # np.float64 too
        return str(int(value))
    return str(value).strip() or None


def different_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names that differ: the second "a" is "a (2)"."""
    taken, out = {*names}, []
    seen: dict[str, int] = {}
    for one in names:
        name, many = one, seen.get(one, 0) + 1
        while many > 1 and (name := f"{one} ({many})") in taken:
            many += 1
        seen[one] = many
        taken.add(name)
        out.append(name)
    return tuple(out)
