"""A selection on the page: what to heed, what was chosen, the list, the promise, files."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from selica.app import markup
from selica.app.selecting import ShownSelection
from selica.reports.figure import figures
from selica.reports.page import level_rows
from selica.selectors.summary import NEAR_MISSES
from selica.selectors.text_table import column_cell, reader_columns

_MOST_SHOWN = 200
"""Variables in the table of a selection, at most."""
_MINUS = "\N{MINUS SIGN}"
"""How a negative direction is shown: a hyphen is easily overlooked."""


def show(outcome: ShownSelection) -> None:
    """Show a selection."""
    selection = outcome.selection
    chosen, variables = len(selection.selected), len(selection.summary.variables)
    unit = selection.summary.unit
    check, nothing = selection.to_check, selection.selector.explain()
    markup.notes(" ".join(selection.about()))
    if check:
        settled = "Kinds and uses of columns can be corrected in the table above."
        own = selection.provenance.file is not None
        markup.heed("To be checked before the result is used", check, settled if own else "")
    markup.cards(
        {
            f"{unit}s selected": f"{chosen:,}",
            f"{unit}s in the table": f"{variables:,}",
            "rows": f"{selection.n_samples:,}",
        }
    )
    said = (selection.chosen, "" if chosen else nothing, str(selection.guarantee))
    markup.remark(*filter(None, said))
    _files(outcome)
    shown = selection.rows[: min(chosen + NEAR_MISSES, _MOST_SHOWN)]
    told = sorted(reader_columns(shown), key=lambda name: name != unit)
    markup.table(
        [{name: _cell(name, row[name]) for name in told} for row in shown],
        [row["selected"] for row in shown],
        title=f"Selected {unit}s, and those that came closest"
        if chosen
        else "Nothing was selected; these came closest",
        many_columns=True,
    )
    markup.notes(*selection.summary.meanings())
    levels, compared = level_rows(selection)
    if levels:
        markup.table(levels, title="Levels of the selected categories")
        markup.notes(compared)
    drawn = figures(selection)
    if drawn:
        markup.figures(drawn)
    noted = (*selection.cautions, *selection.notes)
    _listed("Notes", [one for one in noted if one not in (*check, nothing)])
    _listed("What to do next", selection.next_steps)
    again = selection.provenance
    with st.expander("How to run it again"):
        st.code(again.command or "", language="bash", wrap_lines=True)
        st.code(again.code or "", language="python", wrap_lines=True)


def _listed(title: str, texts: Sequence[str]) -> None:
    if texts:
        markup.heading(title)
        markup.points(texts)


def _cell(name: str, value: object) -> str:
    text = column_cell(name, value)
    return _MINUS if name == "direction" and text == "-" else text


def _files(outcome: ShownSelection) -> None:
    """Offer the report, and what repeats the selection, which is packed when it is asked for."""
    report, bundle = st.columns(2)
    report.download_button(
        "Download the report (CSV, JSON, HTML)",
        outcome.report,
        "selica-report.zip",
        "application/zip",
        on_click="ignore",
        width="stretch",
    )
    bundle.download_button(
        "Download a bundle that repeats it",
        outcome.bundle,
        "selica-bundle.zip",
        "application/zip",
        on_click="ignore",
        width="stretch",
        help="The table as it was used, settings, versions and a script by which anyone can repeat "
        "the selection to the last digit.",
    )
