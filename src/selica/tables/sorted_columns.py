"""Which columns of a table are variables, and why the others are not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.types import BoolArray, IntArray
from selica.tables.columns import Column, Columns, listed
from selica.tables.kinds import USABLE, ColumnKind, Recognised, is_category, levels_of, recognise
from selica.tables.missing import MOST_MISSING, MissingCells, counts
from selica.tables.roles import Roles

ASKED = "was to be left out"
"""Why a column is left out that a user names."""


class LeftOut(NamedTuple):
    """A column that is no variable, though nothing else was asked of it.

    Examples
    --------
    >>> from selica.tables import prepare
    >>> table = {"day": ["2026-01-02", "2026-01-09"], "dose": [1, 2], "y": [3, 5]}
    >>> [(one.name, one.reason) for one in prepare(table, "y").left_out]
    [('day', 'is a date')]
    """

    name: str
    reason: str
    """A clause without its subject, such as "is a date"."""
    values: Column
    """In the rows that are used."""
    asked: bool = False
    """Whether a note asks about it, since it seems to be a part of the response."""


@dataclass(frozen=True, slots=True)
class SortedColumns:
    """Columns by what becomes of them."""

    variables: tuple[str, ...]
    kinds: dict[str, Recognised]
    left_out: tuple[LeftOut, ...]
    missing: MissingCells
    incomplete: BoolArray
    """(n,): rows that lack a value, by which they may be left out."""

    def table_of_kinds(self, table: Columns, roles: Roles) -> tuple[ColumnKind, ...]:
        """Return kind and use of every column."""
        uses = roles.uses()
        reasons = {one.name: one.reason for one in self.left_out}
        return tuple(
            ColumnKind(
                name,
                self.kinds[name].kind,
                uses.get(name, "left out" if name in reasons else "variable"),
                reasons.get(name, ""),
            )
            for name in table.names
        )


@dataclass(frozen=True, slots=True)
class ChosenTable:
    """A table whose rows are chosen, with what is known of its columns."""

    table: Columns
    roles: Roles
    given: Mapping[str, str]
    related: Mapping[str, str]
    elsewhere: bool = False

    def taken(self, rows: IntArray) -> ChosenTable:
        """Return the same for some of the rows."""
        return replace(self, table=_taken(self.table, rows))

    def sorted_out(self, policy: str) -> SortedColumns:
        """Return which columns are variables, and why the others are not."""
        table, uses = self.table, self.roles.uses()
        kinds = dict(zip(table.names, recognise(table, self.given), strict=True))
        by_name = dict(zip(table.names, table.values, strict=True))
        _check_forced(kinds, by_name, self.given)
        reasons: dict[str, str] = {}
        for name, kind in kinds.items():
            if name in self.roles.drop:
                reasons[name] = ASKED
            elif name in uses:
                continue
            elif name in self.related and name not in self.given:
                reasons[name] = self.related[name]
            elif kind.kind not in USABLE:
                reasons[name] = kind.reason
        open_names = [name for name in table.names if name not in uses and name not in reasons]
        lacking, _ = counts(open_names, [by_name[name] for name in open_names])
        most = MOST_MISSING * len(table)
        for name, gone in zip(open_names, lacking, strict=True):
            if gone > most:
                reasons[name] = _gaps(int(gone), len(table))
        used = [name for name in open_names if name not in reasons]
        # rows that lack a value of a column to keep are left out as others are
        looked_at = [*used, *(self.roles.keep if policy == "drop-rows" else ())]
        lacking, incomplete = counts(looked_at, [by_name[name] for name in looked_at])
        gone_from = {name: int(gone) for name, gone in zip(looked_at, lacking, strict=True) if gone}
        missing = MissingCells(
            policy,
            sum(gone_from.values()),
            int(np.count_nonzero(incomplete)),
            len(gone_from),
            gone_from,
        )
        if policy == "drop-columns":
            for name, gone in gone_from.items():
                reasons[name] = _gaps(gone, len(table))
            used = [name for name in used if name not in gone_from]
        _check_keep(self.roles.keep, kinds)
        if not used and not self.elsewhere:
            raise RefusedError(_no_variables(reasons))
        left_out = tuple(
            LeftOut(name, reasons[name], by_name[name], reasons[name] == self.related.get(name))
            for name in table.names
            if name in reasons
        )
        return SortedColumns(tuple(used), kinds, left_out, missing, incomplete)


def _taken(table: Columns, rows: IntArray) -> Columns:
    """Return the table in some of its rows."""
    if rows.size == len(table):
        return table
    return replace(table, values=tuple(values[rows] for values in table.values))


def _gaps(gone: int, rows: int) -> str:
    return f"has no value in {gone:,} of {rows:,} rows"


def _check_forced(
    kinds: Mapping[str, Recognised], columns: Mapping[str, Column], given: Mapping[str, str]
) -> None:
    """Refuse a category with too many values that a user asked for."""
    for name, kind in given.items():
        if kind == "category" and kinds[name].kind == "category":
            levels = levels_of(columns[name])
            if not is_category(levels.counts):
                raise ArgumentError(
                    f"kinds: {name!r} has {len(levels.words):,} different values in "
                    f"{columns[name].size:,} rows, too many for a category."
                )


def _check_keep(keep: Sequence[str], kinds: Mapping[str, Recognised]) -> None:
    wrong = [f"{name!r} {kinds[name].reason}" for name in keep if kinds[name].kind not in USABLE]
    if wrong:
        raise RefusedError(f"keep takes numbers and categories; {listed(wrong, quote=False)}.")


def _no_variables(reasons: Mapping[str, str]) -> str:
    if not reasons:
        return "There are no variables beside the target."
    shown = [f"{name!r} {reason}" for name, reason in reasons.items()]
    return f"There are no variables: {listed(shown, quote=False)}."
