"""The tab *Select*: a table in, a list with its promise out."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import streamlit as st

from selica._core.errors import SelicaError
from selica.app import markup, selecting
from selica.app.selecting import ShownSelection
from selica.selectors.stability import PFER
from selica.selectors.summary import column_cell, reader_columns
from selica.tables import Columns

_DEMO = "Embedded data"
"""The choice of the table that comes with the package."""
_OWN = "My own table"
"""The choice of a table that is loaded."""
_ENDINGS = ["csv", "tsv", "tab", "txt", "parquet", "pq"]
"""Endings of the files that can be loaded."""
_MOST_SHOWN = 200
"""Variables in the table of a selection, at most."""


class _Request(NamedTuple):
    """What was asked for."""

    digest: str
    target: str
    drop: tuple[str, ...]
    method: str
    level: float | None


@st.cache_data(max_entries=8, show_spinner=False)
def _outcome(request: _Request, _table: Columns) -> ShownSelection:
    return selecting.select(_table, request.target, request.drop, request.method, request.level)


def show() -> None:
    """Show table and method on the left, the selection on the right."""
    left, right = st.columns([1, 2.4], gap="large")
    with left:
        asked = _ask()
    with right:
        if asked is None:
            st.caption(
                "The list of selected variables will appear here. Nothing you load leaves this "
                "machine."
            )
            return
        request, table = asked
        try:
            with st.spinner("selecting ..."):
                outcome = _outcome(request, table)
        except SelicaError as error:
            markup.problem(str(error))
            return
        _show(outcome)


def _ask() -> tuple[_Request, Columns] | None:
    """Show the controls, and return what is asked for; None until a selection is wanted."""
    source = st.radio("Table", [_DEMO, _OWN], key="data", bind="query-params", horizontal=True)
    drop: tuple[str, ...] = ()
    if source == _DEMO:
        (table, target), digest = selecting.embedded(), _DEMO
        st.caption(
            "Diabetes progression of 442 patients: ten measurements, their products, and 50 probes "
            "of pure noise that should not be selected."
        )
    else:
        file = st.file_uploader(
            "CSV, TSV or Parquet, one row per sample",
            _ENDINGS,
            key="file",
            help=f"At most {selecting.LIMITS.rows:,} rows and {selecting.LIMITS.columns:,} "
            "columns; `selica select` reads larger ones.",
        )
        if file is None:
            return None
        content = file.getvalue()
        try:
            table = selecting.uploaded(file.name, content)
        except SelicaError as error:
            markup.problem(str(error))
            return None
        digest = hashlib.sha256(content).hexdigest()
        target = st.selectbox("Column to explain", table.names, len(table.names) - 1)
        drop = tuple(
            st.multiselect(
                "Columns to leave out",
                [name for name in table.names if name != target],
                selecting.awkward(table, target),
            )
        )
    method = _method()
    levels = selecting.methods()[method].levels
    request = _Request(digest, target, drop, method, _level(levels[0] if levels else None))
    linked = "request" not in st.session_state and st.query_params.get("run") == "1"
    if st.button("Select variables", type="primary", width="stretch") or (
        linked and source == _DEMO
    ):
        st.session_state["request"] = request
    wanted = st.session_state.get("request") == request
    if wanted and source == _DEMO:
        st.query_params["run"] = "1"
    else:
        st.query_params.pop("run", None)
    return (request, table) if wanted else None


def _method() -> str:
    """Return the label of the chosen method; the address may have another name of it."""
    linked = selecting.label_of(st.query_params.get("method", ""))
    if linked is not None and "method" not in st.session_state:
        st.session_state["method"] = linked
    known = list(selecting.methods())
    return str(st.selectbox("Method", known, key="method", bind="query-params"))


def _level(name: str | None) -> float | None:
    if name == "fdr":
        label = "False discovery rate allowed (FDR)"
        return float(st.slider(label, 0.01, 0.5, 0.1, 0.01, key="fdr", bind="query-params"))
    if name == "pfer":
        label = "Expected number of false selections allowed (PFER)"
        return float(st.slider(label, 0.1, 5.0, PFER, 0.1, key="pfer", bind="query-params"))
    return None


def _show(outcome: ShownSelection) -> None:
    for caution in outcome.cautions:
        markup.remark(caution)
    markup.cards(
        {
            "variables selected": str(outcome.n_selected),
            "variables in the table": str(outcome.n_variables),
            "rows": str(outcome.n_samples),
        }
    )
    markup.remark(outcome.guarantee)
    for note in outcome.notes:
        markup.remark(note)
    st.download_button(
        "Download the report (CSV, JSON, HTML)",
        outcome.report,
        "selica-report.zip",
        "application/zip",
        on_click="ignore",
    )
    shown = outcome.rows[: min(outcome.n_selected + 5, _MOST_SHOWN)]
    st.markdown("**Selected variables, and those that came closest**")
    told = reader_columns(shown)
    markup.table(
        [{name: column_cell(name, row[name]) for name in told} for row in shown],
        [row["selected"] for row in shown],
    )
    for meaning in outcome.meanings:
        st.caption(meaning)
    if outcome.figure is None:
        st.caption("No figure: matplotlib is missing (pip install 'selica[plots]').")
    else:
        st.image(outcome.figure, width=760)
