"""Controls that say what the columns of a table are for, and the table to correct them in.

What a column is for is the value of a control; a correction in the table of columns sets it. Keys
of controls have the digest of the table in them, so that another table begins afresh.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from selica._core.errors import SelicaError
from selica.app import column_rows, markup
from selica.app.page import KEPT
from selica.app.selecting import ColumnUses, LoadedTable
from selica.tables import Columns
from selica.tables.kinds import KINDS, USABLE, Recognised
from selica.tables.roles import LABELS, several

_ONE = "One column"
"""The choice of a response of one column."""
_EVENTS = "Time until an event"
"""The choice of a response of survival."""
_ARGUMENTS = {label: argument for argument, label in LABELS.items()}
"""Arguments of `tables.prepare`, by the use that their columns have."""
_USES = ("variable", *_ARGUMENTS)
"""Uses of a column that can be chosen."""
_SEARCHED = 30
"""Columns from which on they can be searched."""
_ROW_HEIGHT = 35
"""Height of a row of the table of columns, in pixels."""
_MOST_VISIBLE = 12
"""Rows of the table of columns that are visible without scrolling."""
RESPONSES = {
    "auto": "Recognise it",
    "linear": "A number",
    "binary": "Two classes",
    "count": "A count",
    "classes": "Several classes",
    "ordinal": "Ordered values, as scores",
}
"""What a response of one column can be, as the page calls it."""
POLICIES = {
    "impute": "Fill them in, inside each resample",
    "drop-rows": "Leave out rows that have any",
    "drop-columns": "Leave out columns that have any",
}
"""What can be done with missing values, as the page calls it."""


class ColumnControls:
    """The controls of one table."""

    def __init__(self, table: LoadedTable) -> None:
        self._table = table.columns
        self._mark = table.digest[:16]
        found = column_rows.outcomes(table.columns)
        self._first("about", _EVENTS if found.time is not None else _ONE)
        for name in ("target", "time", "event"):
            self._first(name, getattr(found, name))
        self._by_name = {found.target, found.time, found.event} - {None}
        self._first("kinds", {})
        self._first("edits", 0)
        self._first("log", True)

    def key(self, name: str) -> str:
        """Return the key of a control in the session."""
        return f"{KEPT}{name} {self._mark}"

    def _first(self, name: str, value: Any) -> None:
        st.session_state.setdefault(self.key(name), value)

    def _value(self, name: str) -> Any:
        return st.session_state.get(self.key(name))

    def _one(self, name: str, label: str, help_text: str | None = None) -> str | None:
        """Ask for one column, or none."""
        found = st.selectbox(
            label, self._table.names, index=None, key=self.key(name), placeholder="none",
            help=help_text,
        )  # fmt: skip
        return None if found is None else str(found)

    def _several(self, name: str, label: str, help_text: str) -> tuple[str, ...]:
        """Ask for columns by their names, or by ranges of names."""
        found = st.multiselect(
            label, self._table.names, key=self.key(name), accept_new_options=True,
            placeholder="none", help=help_text,
        )  # fmt: skip
        return tuple(map(str, found))

    def outcome(self) -> ColumnUses:
        """Ask what is to be explained."""
        about = st.radio(
            "What is to be explained",
            [_ONE, _EVENTS],
            key=self.key("about"),
            horizontal=True,
            help="Choose the second for survival: one column has times, another says whether the "
            "event was observed or the row was censored.",
        )
        if about == _ONE:
            asked = ColumnUses(target=self._one("target", "Column to explain"))
        else:
            asked = ColumnUses(
                time=self._one("time", "Time until the event, or until the last news"),
                event=self._one("event", "Whether the event was observed"),
            )
        return asked

    def is_by_name(self, asked: ColumnUses) -> bool:
        """Tell whether what is to be explained is what names of columns say."""
        return (
            bool(self._by_name)
            and {asked.target, asked.time, asked.event} - {None} == self._by_name
        )

    def others(self, asked: ColumnUses) -> ColumnUses:
        """Ask what other columns are for, and what is done with missing values."""
        if asked.time is None and asked.event is None:
            asked = asked._replace(
                response=str(
                    st.selectbox(
                        "What the response is",
                        list(RESPONSES),
                        key=self.key("response"),
                        format_func=RESPONSES.__getitem__,
                        help="Two values are recognised as two classes, and text with more as "
                        "several classes. Counts and ordered values have to be chosen.",
                    )
                )
            )
        asked = asked._replace(
            missing=str(
                st.selectbox(
                    "Missing values", list(POLICIES), key=self.key("missing"),
                    format_func=POLICIES.__getitem__,
                )
            ),
            keep=self._several(
                "keep",
                "Covariates to keep",
                "They are in every fit and are never selected, such as age and sex. A range such "
                "as pc1-pc10 can be typed.",
            ),
            rows_of=self._one(
                "rows_of",
                "Rows that belong together have the same",
                "For example the number of a patient with several visits. Such rows are resampled "
                "and split as wholes.",
            ),
            drop=self._several(
                "drop", "Columns to leave out", "A range such as x1-x20 can be typed."
            ),
            weights=self._one("weights", "Weights of the rows"),
            strata=self._one(
                "strata",
                "Strata",
                "Each stratum has an intercept of its own, or a hazard of its own for survival.",
            ),
            offset=self._one(
                "offset",
                "Offset of a count",
                "For counts only: how long or how much was observed in each row.",
            ),
        )  # fmt: skip
        if asked.offset is not None and st.checkbox(
            "The offset is the exposure itself: take its logarithm", key=self.key("log")
        ):
            asked = asked._replace(offset=f"log({asked.offset})")
        return asked._replace(kinds=tuple(sorted(self._value("kinds").items())))

    def edit(
        self, rows: Sequence[column_rows.ColumnRow], recognised: Mapping[str, Recognised]
    ) -> None:
        """Show the columns in a table in which kinds and uses can be corrected.

        Parameters
        ----------
        rows : sequence of ColumnRow
        recognised : mapping of str to Recognised
            Kinds as they are without corrections.
        """
        search = ""
        if len(rows) > _SEARCHED:
            search = st.text_input(
                "Find columns", key=self.key("search"), placeholder="part of a name, a kind, a use"
            )
        found = column_rows.shown(rows, search)
        if found.rest:
            markup.notes(found.rest)
        if not found.rows:
            return
        key = f"columns {self._mark} {self._value('edits')} {search}"
        by_name = dict(zip(self._table.names, self._table.values, strict=True))
        st.data_editor(
            {
                "column": [row.name for row in found.rows],
                "kind": [row.kind for row in found.rows],
                "used as": [row.use for row in found.rows],
                "missing": [_share(row.missing, len(self._table)) for row in found.rows],
                "examples": [column_rows.examples(by_name[row.name]) for row in found.rows],
                "left out because it": [row.reason for row in found.rows],
            },
            column_config={
                "column": st.column_config.TextColumn(pinned=True, width=140),
                "kind": st.column_config.SelectboxColumn(
                    options=list(KINDS), required=True, width=100
                ),
                "used as": st.column_config.SelectboxColumn(
                    options=list(_USES), required=True, width=95
                ),
                "missing": st.column_config.TextColumn(width=85, alignment="right"),
                "examples": st.column_config.TextColumn(width=170),
            },
            disabled=["column", "missing", "examples", "left out because it"],
            hide_index=True,
            height=_ROW_HEIGHT * (min(len(found.rows), _MOST_VISIBLE) + 1) + 3,
            row_height=_ROW_HEIGHT,
            key=key,
            on_change=self._edited,
            args=(key, [row.name for row in found.rows], recognised),
            alt="Columns of the table with their kinds and uses",
        )

    def _edited(self, key: str, names: Sequence[str], recognised: Mapping[str, Recognised]) -> None:
        """Take what was changed in the table of columns over into the controls."""
        for place, change in st.session_state[key]["edited_rows"].items():
            name = names[int(place)]
            if "kind" in change:
                self.set_kind(name, change["kind"], recognised[name].kind)
            if "used as" in change:
                self.set_use(name, change["used as"], recognised[name].kind)
        st.session_state[self.key("edits")] += 1

    def set_kind(self, name: str, kind: str, recognised: str) -> None:
        """Say what kind a column has; the one that was recognised is no correction."""
        kinds = {other: known for other, known in self._value("kinds").items() if other != name}
        st.session_state[self.key("kinds")] = kinds | ({} if kind == recognised else {name: kind})

    def set_use(self, name: str, use: str, recognised: str) -> None:
        """Say what a column is for, and take it away from what it was for."""
        for argument in _ARGUMENTS.values():
            value = self._value(argument)
            if argument in ("keep", "drop"):
                st.session_state[self.key(argument)] = without(name, value, self._table)
            elif value == name:
                st.session_state[self.key(argument)] = None
        if use == "variable":
            if self._value("kinds").get(name, recognised) not in USABLE:
                text = self._table.values[self._table.names.index(name)].dtype == object
                self.set_kind(name, "category" if text else "number", recognised)
            return
        argument = _ARGUMENTS[use]
        if argument in ("keep", "drop"):
            st.session_state[self.key(argument)] = [*self._value(argument), name]
        else:
            st.session_state[self.key(argument)] = name
        if argument in ("target", "time", "event"):
            st.session_state[self.key("about")] = _ONE if argument == "target" else _EVENTS


def without(name: str, names: Sequence[str] | None, table: Columns) -> list[str]:
    """Return names without one; a range that has it becomes the names of the others.

    Parameters
    ----------
    name : str
    names : sequence of str or None
        Names, and ranges such as "pc1-pc10".
    table : Columns
    """
    found: list[str] = []
    for item in names or ():
        try:
            span = several("names", item, table.names)
        except SelicaError:  # no such columns, which is said elsewhere
            span = []
        found += [one for one in span if one != name] if name in span else [item]
    return found


def _share(missing: int, rows: int) -> str:
    """Return a number of missing cells with its share; nothing where there are none."""
    if not missing:
        return ""
    share = 100.0 * missing / rows
    return f"{missing:,} ({'<1' if share < 1.0 else f'{share:.0f}'} %)"


def file_read(table: LoadedTable) -> None:
    """Show which file was read, how, and what was noticed in reading it."""
    columns = table.columns
    size = f"{len(columns):,} rows, {len(columns.names):,} columns"
    read = f", read as {columns.read_as}" if columns.read_as else ""
    markup.heading("" if table.file is None else table.file.name, f"{size}{read}.")
    markup.points(columns.notes)
