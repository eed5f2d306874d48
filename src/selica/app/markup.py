"""Parts of the page as HTML. Everything that is put into them is escaped here."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from selica._core.html import html_table

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from selica.reports.figure import VectorFigure

FORMER = "selica-former"
"""Class of what belongs to a former setting."""
COMPUTING = "computing …"
"""What stands where an answer will be."""
STYLE = """<style>
.st-key-page { max-width: 90rem; margin: -2rem auto 0; }
.selica-head { display: flex; flex-wrap: wrap; gap: .2rem .9rem; align-items: baseline; }
.selica-head b { font-size: 1.7rem; letter-spacing: -.02em; }
.selica-head span { opacity: .7; }
.selica-cards { display: flex; flex-wrap: wrap; gap: .6rem; margin: .2rem 0 .6rem; }
.selica-cards div { flex: 1 1 8.5rem; background: rgba(128, 140, 155, .1);
  border-radius: .6rem; padding: .6rem .9rem; }
.selica-cards b { display: block; font-size: 1.45rem; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
.selica-cards span { opacity: .7; font-size: .88rem; }
.selica-wide { overflow-x: auto; }
.selica-wide table { border-collapse: collapse; width: 100%; font-size: .92rem; margin: 0; }
.selica-wide caption { caption-side: top; text-align: left; font-weight: 600; font-size: 1rem;
  color: inherit; padding: .2rem 0 .4rem; }
.selica-wide th, .selica-wide td { border: 0; border-bottom: 1px solid rgba(128, 140, 155, .25);
  padding: .32rem .8rem .32rem 0; text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.selica-wide th { opacity: .7; font-weight: 600; white-space: normal; vertical-align: bottom; }
.selica-wide th:first-child, .selica-wide td:first-child { text-align: left; white-space: normal;
  overflow-wrap: anywhere; min-width: 8rem; }
.selica-wide tr.marked td:first-child { font-weight: 600; color: var(--st-primary-color, #0a85cf); }
.selica-former { opacity: .4; }
.selica-note { font-size: .875rem; opacity: .7; margin: 0 0 .6rem; }
.selica-box { border-left: .25rem solid #0072b2; background: rgba(0, 114, 178, .1);
  border-radius: 0 .6rem .6rem 0; padding: .7rem 1rem; overflow-wrap: anywhere; }
.selica-box ul, .selica-points { margin: 0; padding-left: 1.1rem; }
.selica-box li + li, .selica-points li + li { margin-top: .3rem; }
.selica-box p { margin: 0 0 .3rem; }
.selica-box ul + p { margin-top: .3rem; }
.selica-box p:last-child { margin: 0; }
.selica-box.heed { border-color: #e69f00; background: rgba(230, 159, 0, .12); }
.selica-answer { position: relative; box-sizing: border-box; min-height: 6.6rem;
  padding-bottom: 1.9rem; } /* room for what stands below */
.selica-answer b { font-size: 1.15rem; font-weight: 600; }
.selica-answer > i { position: absolute; right: 1rem; bottom: .5rem; font-style: normal;
  font-size: .875rem; opacity: .7; }
.selica-box ul { font-size: .95rem; }
.selica-points { font-size: .92rem; opacity: .85; overflow-wrap: anywhere; }
.selica-heading { overflow-wrap: anywhere; }
.selica-heading span { opacity: .7; margin-left: .5rem; }
.selica-figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(18rem, 1fr));
  gap: 1rem 2.4rem; }
.selica-figures figure { margin: 0; min-width: 0; }
.selica-figures .wide { grid-column: 1 / -1; max-width: 42rem; }
.selica-figures img { width: 100%; display: block; margin: .4rem 0; background: #fff;
  border-radius: .4rem; padding: .5rem .6rem; box-sizing: border-box; }
.selica-figures figcaption { font-size: .875rem; opacity: .7; }
.selica-box.problem { border-color: #d55e00; background: rgba(213, 94, 0, .12); }
@media (min-width: 641px) {
  /* sliders stay in view beside what they change */
  .st-key-page :has(.selica-panel):not(:has(.st-key-answers)) { position: sticky; top: 1rem;
    align-self: flex-start; }
  .st-key-controls { max-height: calc(100vh - 2rem); overflow-y: auto; padding: .3rem;
    margin: -.3rem; }
}
@media (max-width: 640px) {
  .selica-cards div { flex-basis: 7rem; padding: .5rem .7rem; }
  .selica-cards b { font-size: 1.2rem; }
  .selica-wide table { font-size: .78rem; }
  .selica-wide th, .selica-wide td { padding-right: .35rem; white-space: normal; }
  .selica-wide th:last-child, .selica-wide td:last-child { padding-right: 0; }
  .selica-wide th:first-child, .selica-wide td:first-child { min-width: 5rem; }
  .selica-many table, .selica-many tbody, .selica-many caption { display: block; }
  .selica-many tr:first-child { display: none; }
  .selica-many tr { display: grid; grid-template-columns: 1fr 1fr; gap: .1rem 1.2rem;
    padding: .5rem 0; border-bottom: 1px solid rgba(128, 140, 155, .25); }
  .selica-many td { border: 0; padding: 0; display: flex; justify-content: space-between;
    gap: .6rem; white-space: normal; }
  .selica-many td::before { content: attr(data-label); opacity: .7; text-align: left; }
  .selica-many td:empty { display: none; }
  .selica-many td:first-child { grid-column: 1 / -1; font-size: .95rem; }
  .selica-many td:first-child::before { content: none; }
}
</style>"""


def sides() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Return the places of controls and of answers; their keys are their classes in a browser."""
    left, right = st.columns([1, 2.4], gap="large")
    return left.container(key="controls"), right.container(key="answers")


def held(data: Any) -> str:
    """Return an element that holds the data of a chart for a script of the page."""
    text = escape(json.dumps(data, separators=(",", ":"), allow_nan=False))
    return f'<div class=selica-held data-chart="{text}"></div>'


def problem(text: str) -> None:
    """Show a sentence on what is wrong. Not Markdown: a file may have put links into it."""
    st.html(f'<div class="selica-box problem" role=alert>{escape(text)}</div>')


def ignored(values: Sequence[str]) -> None:
    """Say in a sentence which values of a link make no sense; nothing where all do."""
    if values:
        what = "This value" if len(values) == 1 else "These values"
        verb = "makes" if len(values) == 1 else "make"
        listed = ", ".join(values)
        said = f"{what} of the link {verb} no sense and {{}} ignored: {listed}."
        st.html(
            '<div class="selica-box heed" role=alert>'
            f"{escape(said.format('is' if len(values) == 1 else 'are'))}</div>"
        )


def remark(*texts: str) -> None:
    """Show sentences in a box, each as a paragraph."""
    inner = "".join(f"<p>{escape(text)}</p>" for text in texts)
    st.html(f"<div class=selica-box>{inner}</div>")


def heed(title: str, texts: Sequence[str], below: str = "") -> None:
    """Show sentences that are to be read first, in a box, and what can be done about them."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    end = f"<p>{escape(below)}</p>" if below else ""
    st.html(
        f'<div class="selica-box heed"><p><b>{escape(title)}</b></p><ul>{items}</ul>{end}</div>'
    )


def points(texts: Sequence[str]) -> None:
    """Show sentences as a list; nothing where there are none."""
    if texts:
        items = "".join(f"<li>{escape(text)}</li>" for text in texts)
        st.html(f"<ul class=selica-points>{items}</ul>")


def heading(title: str, text: str = "") -> None:
    """Show a title, with a sentence beside it."""
    beside = f" <span>{escape(text)}</span>" if text else ""
    st.html(f"<div class=selica-heading><b>{escape(title)}</b>{beside}</div>")


def figures(drawn: Sequence[VectorFigure]) -> None:
    """Show vector figures side by side, below each other on a narrow window.

    A picture of an image element runs no scripts and loads nothing, whatever is in it.
    """
    parts = []
    for one in drawn:
        source = base64.b64encode(one.image.encode("utf-8")).decode("ascii")
        parts.append(
            f"<figure{' class=wide' if one.wide else ''}><b>{escape(one.title)}</b>"
            f'<img src="data:image/svg+xml;base64,{source}" alt="{escape(one.title)}">'
            f"<figcaption>{escape(one.caption)}</figcaption></figure>"
        )
    st.html(f"<div class=selica-figures>{''.join(parts)}</div>")


def cards(numbers: Mapping[str, str]) -> None:
    """Show a few numbers in large print, each over its name."""
    inner = "".join(
        f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>"
        for name, value in numbers.items()
    )
    st.html(f"<div class=selica-cards>{inner}</div>")


def table(
    rows: Sequence[Mapping[str, Any]],
    marked: Sequence[bool] = (),
    *,
    former: Sequence[bool] = (),
    title: str = "",
    drawn: DeltaGenerator | None = None,
    many_columns: bool = False,
) -> DeltaGenerator:
    """Show rows with the same columns, marked ones set off; replace a table that is drawn.

    Rows of a former answer are pale.

    A table with many columns becomes a list of cards where the window is narrow.
    """
    draw = st.html if drawn is None else drawn.html
    inner = _table(rows, marked, former, title, labelled=many_columns)
    return draw(f"<div class='selica-wide{' selica-many' if many_columns else ''}'>{inner}</div>")


def _table(
    rows: Sequence[Mapping[str, Any]],
    marked: Sequence[bool],
    former: Sequence[bool],
    title: str,
    *,
    labelled: bool,
) -> str:
    """Return a table as HTML."""
    texts = [{name: cell(value) for name, value in row.items()} for row in rows]
    none = [False] * len(rows)
    classes = [
        FORMER if is_former else "marked" if is_marked else ""
        for is_marked, is_former in zip(marked or none, former or none, strict=True)
    ]
    return html_table(texts, classes, title=title, labelled=labelled)


def notes(*texts: str, drawn: DeltaGenerator | None = None) -> DeltaGenerator:
    """Show sentences in small print, each on lines of its own. Not Markdown: it takes longer."""
    draw = st.html if drawn is None else drawn.html
    return draw("".join(f"<p class=selica-note>{escape(text)}</p>" for text in texts if text))


def answer(
    title: str,
    *texts: str,
    former: bool = False,
    working: bool = False,
    drawn: DeltaGenerator | None = None,
) -> DeltaGenerator:
    """Show the answer to a question: a sentence in large print, more below it.

    A former answer is pale. The box says so while more is worked out.
    """
    draw = st.html if drawn is None else drawn.html
    inner = "".join(f"<p>{escape(text)}</p>" for text in texts)
    pale = f" class={FORMER}" if former else ""
    inner = f"<div{pale}><p><b>{escape(title)}</b></p>{inner}</div>"
    inner += f"<i>{COMPUTING}</i>" if working else ""
    return draw(f"<div class='selica-box selica-answer'>{inner}</div>")


def cell(value: Any) -> str:
    """Return a value as text: four digits, a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
