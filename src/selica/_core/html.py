"""A table as HTML, for reports and for the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape


def html_table(
    rows: Sequence[Mapping[str, str]],
    classes: Sequence[str],
    *,
    title: str = "",
    labelled: bool = False,
) -> str:
    """Return rows with the same columns as an HTML table; all text is escaped.

    Parameters
    ----------
    rows : sequence of mappings of str to str
        Text of each cell, by the heading of its column.
    classes : sequence of str
        Classes of the rows in the style sheet, empty for plain ones.
    title : str
    labelled : bool
        Whether each cell also has the heading of its column, which a style sheet can show where the
        window is too narrow for a table.

    Examples
    --------
    >>> from selica._core.html import html_table
    >>> html_table([{"a": "<b>"}], ["selected"])
    '<table><tr><th>a</th></tr><tr class=selected><td>&lt;b&gt;</td></tr></table>'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    lines = "".join(
        f"<tr{f' class={kind}' if kind else ''}>"
        + "".join(_cell(name, text, labelled) for name, text in row.items())
        + "</tr>"
        for row, kind in zip(rows, classes, strict=True)
    )
    above = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{above}<tr>{head}</tr>{lines}</table>"


def _cell(name: str, text: str, labelled: bool) -> str:
    label = f' data-label="{escape(name)}"' if labelled else ""
    return f"<td{label}>{escape(text)}</td>"
