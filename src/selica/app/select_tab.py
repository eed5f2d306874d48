"""The tab *Select*: a table in, a list with its promise out."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import streamlit as st

from selica._core.errors import SelicaError
from selica.app import answer_view, column_rows, column_view, markup, selecting
from selica.app.column_view import ColumnControls
from selica.app.page import KEPT
from selica.app.selecting import ColumnUses, LoadedTable, SelectRequest, ShownSelection
from selica.catalogue import Method
from selica.selectors.grouping import CORRELATION, CUT
from selica.selectors.stability_settings import PFER
from selica.tables import Prepared
from selica.tables.kinds import Recognised, recognise
from selica.tables.roles import uses_of

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_DEMO = "Embedded data"
"""The choice of the table that comes with the package."""
_OWN = "My own table"
"""The choice of a table that is loaded."""
_TEXT = ("csv", "tsv", "tab", "txt", "gz", "zst", "bz2")
"""Endings of text files, also compressed."""
_BINARY = ("parquet", "pq", "feather", "arrow")
"""Endings of files of databases and data frames."""
_WORKBOOKS = ("xlsx", "xlsm")
"""Endings of workbooks, which need another package."""
_USUAL = "usual"
"""The choice of the level that a method has by itself."""
_ALLOWED = {
    _USUAL: f"Usual: {PFER:g} false variable on average",
    "pfer": "Another number of false variables",
    "fdr": "A share of false variables (FDR)",
    "kfwer": "A probability of k or more false variables",
}
"""What can be allowed, as the page calls it."""
_SINGLE = "Single variables"
"""The choice of a selection without groups."""
_BY_CORRELATION = "Groups of correlated variables"
"""The choice of groups that come from the columns."""
_REDRAWN = 0.3
"""Seconds between two drawings of a bar."""
_KEPT = 4
"""Answers that are kept; each has its table."""
Made = TypeVar("Made")


class _Asked(NamedTuple):
    """A table with what is asked of it."""

    table: LoadedTable
    ready: Prepared
    request: SelectRequest


def show() -> None:
    """Show table and method on the left, columns and selection on the right."""
    left, right = markup.sides()
    with left:
        source = st.radio("Table", [_DEMO, _OWN], key="data", bind="query-params", horizontal=True)
        try:
            table = _embedded() if source == _DEMO else _loaded()
        except SelicaError as error:
            markup.problem(str(error))
            table = None
    if table is None:
        with right:
            markup.notes(
                "The list of selected variables will appear here. Nothing you load leaves this "
                "machine."
            )
        return
    if table.file is None:
        _embedded_table(left, right, table)
    else:
        _own_table(left, right, table)


def _embedded_table(left: DeltaGenerator, right: DeltaGenerator, table: LoadedTable) -> None:
    """Ask for a method for the table that comes with the package, and show its answer."""
    uses = selecting.EMBEDDED_USES
    with left:
        markup.notes(
            "Diabetes progression of 442 patients: ten measurements, their products, and 50 probes "
            "of pure noise that should not be selected."
        )
        request = _method(table, uses)
        linked = "request" not in st.session_state and st.query_params.get("run") == "1"
        wanted = _wanted(request, linked=linked)
    if wanted:
        st.query_params["run"] = "1"
    else:
        st.query_params.pop("run", None)
    with right:
        if wanted:
            _answer(_Asked(table, _ready(table, uses), request))
        else:
            markup.notes("The list of selected variables will appear here.")


def _own_table(left: DeltaGenerator, right: DeltaGenerator, table: LoadedTable) -> None:
    """Ask what columns of a user's table are for, and show them and the answer."""
    st.query_params.pop("run", None)
    controls = ColumnControls(table)
    ready, problem = None, ""
    with left:
        uses = controls.outcome()
        response, method, button = st.container(), st.container(), st.container()
        more = st.expander("More options")
    with more:
        uses = controls.others(uses)
    with method:
        request = _method(table, uses, more)
    if uses.is_complete:
        try:
            ready = _ready(table, uses)
        except SelicaError as error:
            problem = str(error)
    with response:
        if ready is not None:
            by_name = "Chosen by the names of the columns; choose another if that is wrong."
            markup.notes(
                *([by_name] if controls.is_by_name(uses) else []), selecting.response_said(ready)
            )
        elif problem:
            markup.problem(problem)
        else:
            markup.remark("Choose what is to be explained.")
    with button:
        wanted = _wanted(request, disabled=ready is None)
    with right:
        answered = wanted and ready is not None
        with st.expander("The table and its columns", expanded=not answered):
            column_view.file_read(table)
            _columns(controls, table, uses, ready)
            if ready is not None:
                if ready.questions:
                    below = "Correct kinds and uses in the table above, or leave them as they are."
                    markup.heed("Questions about the columns", ready.questions, below)
                said = (*table.columns.notes, *ready.questions)
                markup.points([note for note in ready.notes if note not in said])
        if wanted and ready is not None:
            _answer(_Asked(table, ready, request))


def _columns(
    controls: ColumnControls, table: LoadedTable, uses: ColumnUses, ready: Prepared | None
) -> None:
    """Show kinds and uses of the columns, to be corrected."""
    first = _kinds(table, ())
    rows = column_rows.described(table.columns, _kinds(table, uses.kinds), uses_of(uses), ready)
    markup.notes(
        "The kind of each column was recognised. To correct a kind or a use, click twice into its "
        "cell."
    )
    controls.edit(rows, dict(zip(table.columns.names, first, strict=True)))


def _embedded() -> LoadedTable:
    return _remembered("table", ("embedded",), selecting.embedded)


def _loaded() -> LoadedTable | None:
    """Return the table that was uploaded; None where there is none."""
    workbooks = _WORKBOOKS if find_spec("openpyxl") is not None else ()
    file = st.file_uploader(
        "Text, Parquet, Feather or Excel" if workbooks else "Text, Parquet or Feather",
        [*_TEXT, *_BINARY, *workbooks],
        key="file",
        on_change=_file_changed,
        help=f"One row per sample. At most {selecting.LIMITS.rows:,} rows and "
        f"{selecting.LIMITS.columns:,} columns; `selica select` reads larger ones. Separators, "
        "decimal commas and encodings are recognised, and text may be compressed (.gz, .zst, "
        ".bz2).",
    )
    if file is None:
        return _still_loaded()
    content = file.getvalue()
    table = _remembered(
        "table", (file.name, content), lambda: selecting.uploaded(file.name, content)
    )
    st.session_state["loaded"] = table
    return table


def _file_changed() -> None:
    """Forget a table whose file was taken away, or is replaced."""
    st.session_state.pop("loaded", None)


def _still_loaded() -> LoadedTable | None:
    """Return the table that was loaded before another tab was open, which empties the control."""
    table: LoadedTable | None = st.session_state.get("loaded")
    if table is not None and table.file is not None:
        markup.notes(f"{table.file.name} is still loaded; another file takes its place.")
    return table


def _ready(table: LoadedTable, uses: ColumnUses) -> Prepared:
    """Return the table made ready, as it was if nothing changed."""
    return _remembered("ready", (table.digest, uses), lambda: selecting.prepared(table, uses))


def _kinds(table: LoadedTable, kinds: tuple[tuple[str, str], ...]) -> list[Recognised]:
    """Return the kinds of the columns, with corrections."""
    slot = "kinds, corrected" if kinds else "kinds"
    return _remembered(slot, (table.digest, kinds), lambda: recognise(table.columns, dict(kinds)))


def _remembered(slot: str, key: Any, make: Callable[[], Made]) -> Made:
    """Return what was made for a key in this window, or why it could not be made."""
    known = st.session_state.get(slot)
    if known is None or known[0] != key:
        try:
            known = (key, make(), None)
        except SelicaError as error:
            known = (key, None, error)
        st.session_state[slot] = known
    if known[2] is not None:
        raise known[2]
    return cast(Made, known[1])


def _wanted(request: SelectRequest, *, linked: bool = False, disabled: bool = False) -> bool:
    """Show the button, and return whether an answer to the request is wanted."""
    pressed = st.button("Select variables", type="primary", width="stretch", disabled=disabled)
    if pressed or linked:
        st.session_state["request"] = request
    return bool(st.session_state.get("request") == request)


def _method(
    table: LoadedTable, uses: ColumnUses, more: DeltaGenerator | None = None
) -> SelectRequest:
    """Ask for a method and its level; further settings are folded away in `more`."""
    linked = selecting.label_of(st.query_params.get("method", ""))
    if linked is not None and "method" not in st.session_state:
        st.session_state["method"] = linked
    known = selecting.methods()
    label = str(st.selectbox("Method", list(known), key="method", bind="query-params"))
    row = known[label]
    markup.notes(f"{row.promise} {row.rests_on}".strip())
    options, seed = _level(row), 0
    if more is not None:
        with more:
            seed = int(
                st.number_input("Seed of random numbers", 0, 2**31 - 1, 0, key=f"{KEPT}seed")
            )
            if "n_resamples" in row.options:
                asked = st.number_input(
                    "Resamples, or knockoff copies", 10, 2000, None, key=f"{KEPT}resamples",
                    placeholder="as many as usual",
                )  # fmt: skip
                if asked is not None:
                    options |= {"n_resamples": int(asked)}
            if "groups" in row.options:
                options |= _groups()
    return SelectRequest(table.digest, uses, label, tuple(options.items()), seed)


def _groups() -> dict[str, str]:
    """Ask whether groups of variables are selected, and how alike their members are."""
    asked = st.selectbox("What is selected", (_SINGLE, _BY_CORRELATION), key=f"{KEPT}groups")
    if asked != _BY_CORRELATION:
        return {}
    cut = st.slider(
        "Correlation within a group, on average", 0.3, 0.95, CUT, 0.05, key=f"{KEPT}cut",
        help="Columns are joined into a group as long as their correlations, in size, are above "
        "this on average. The response has no part in it.",
    )  # fmt: skip
    return {"groups": f"{CORRELATION}:{float(cut):g}"}


def _level(row: Method) -> dict[str, Any]:
    """Ask for the errors that are allowed; nothing where the method's own level is wanted."""
    if not row.levels:
        return {}
    name = row.levels[0]
    if len(row.levels) > 1:
        # a link from before there was a choice has the number alone
        if "allowed" not in st.session_state and "pfer" in st.query_params:
            st.session_state["allowed"] = "pfer"
        offered = [_USUAL, *row.levels]
        if st.session_state.get("allowed") not in (None, *offered):
            st.session_state["allowed"] = _USUAL
        name = str(
            st.selectbox(
                "False variables allowed", offered, key="allowed", bind="query-params",
                format_func=_ALLOWED.__getitem__,
            )
        )  # fmt: skip
    if name == "fdr":
        label = "False discovery rate allowed (FDR)"
        return {
            "fdr": float(st.slider(label, 0.01, 0.5, 0.1, 0.01, key="fdr", bind="query-params"))
        }
    if name == "pfer":
        label = "Expected number of false selections allowed (PFER)"
        return {
            "pfer": float(st.slider(label, 0.1, 5.0, PFER, 0.1, key="pfer", bind="query-params"))
        }
    if name == "kfwer":
        k, probability = st.columns(2)
        return {
            "kfwer": (
                int(k.number_input("k", 1, 100, 1, key="k false")),
                float(probability.number_input("Probability", 0.01, 0.5, 0.1, 0.01, key="kfwer")),
            )
        }
    return {}


@st.cache_resource
def _answers() -> OrderedDict[SelectRequest, ShownSelection]:
    """Return the last answers, those of all windows."""
    return OrderedDict()


class _ProgressBar:
    """A bar that says how far a selection has come, once it takes more than a moment."""

    def __init__(self, place: DeltaGenerator) -> None:
        self._place = place
        self._what = ""
        self._began = self._drawn = monotonic()

    def wait(self) -> None:
        """Say that another window is selecting."""
        self._place.caption("Another window is selecting; this one is next.")

    def listen(self, what: str, done: int, total: int) -> None:
        """Draw the bar; where the page is to be drawn anew, Streamlit ends the work here."""
        now = monotonic()
        if what != self._what:
            self._what, self._began = what, now
        if now < self._drawn + _REDRAWN or not 0 < done <= total:
            return
        self._drawn = now
        left = (now - self._began) * (total - done) / done
        text = f"{done:,} of {total:,} {what}, about {left:,.0f} s left"
        self._place.progress(done / total, text)


def _outcome(asked: _Asked, bar: _ProgressBar) -> ShownSelection:
    known = _answers()
    if asked.request not in known:
        known[asked.request] = selecting.select(
            asked.request, asked.table, asked.ready, bar.wait, bar.listen
        )
        while len(known) > _KEPT:
            known.popitem(last=False)
    return known[asked.request]


def _answer(asked: _Asked) -> None:
    """Show the selection that is asked for; what is wrong is a sentence."""
    place = st.empty()
    rows, variables = asked.ready.X.shape[0], len(asked.ready.names)
    try:
        with st.spinner(
            f"Selecting among {variables:,} variables in {rows:,} rows", show_time=True
        ):
            outcome = _outcome(asked, _ProgressBar(place))
    except SelicaError as error:
        markup.problem(str(error))
        return
    finally:
        place.empty()
    answer_view.show(outcome)
