"""Rows of a summary as text: which columns a person is shown, numbers as text, lines that fit."""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

TEXT_WIDTH = 80
"""Signs in a line of text that is printed."""
_NARROWEST = 16
"""Signs of a name that a printed table shows at least."""
_MEMBER_SIGNS = 400
"""Signs of the names of members that a table for readers shows; files have all of them."""
_SHARES = ("probability", "inclusion rate")
"""Columns of shares, which have as many decimals in every row."""
_WORDS = ("variable", "group", "in this group", "identical to", "nearly identical to")
"""Columns that are set to the left."""
_CUT = (*_WORDS, "direction")
"""Columns that are cut where a printed table is too wide, in turn."""
_MORE = re.compile(r" and [\d,]+ more$")
"""How names of groups end that name one of several members."""


def wrapped(text: str) -> str:
    """Return sentences in lines that fit a terminal; what is longer than a line stays whole."""
    return textwrap.fill(text, TEXT_WIDTH, break_long_words=False, break_on_hyphens=False)


def cell(value: Any) -> str:
    """Return a value of the table as a person reads it; None is blank, as "-" is a sign."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def three_digits(value: float) -> str:
    """Return a number with three digits: 0.0132, 4,070, 1.2e+08."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if "e+" in text and abs(value) < 1e7 else text


def column_cell(name: str, value: Any) -> str:
    """Return a value as text: numbers have three digits, ratios near 1 more."""
    if name == "in this group":
        return list_cut(str(value), _MEMBER_SIGNS)
    if not isinstance(value, float):
        return cell(value)
    if name in _SHARES:
        return f"{value:.3f}"
    if " ratio per " in name and 0.0 < abs(value - 1.0) < 0.1:
        return f"{value:.{min(1 - math.floor(math.log10(abs(value - 1.0))), 9)}f}"
    return three_digits(value)


def reader_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that a person is shown: not empty, and ratios in the place of logarithms.

    The column "selected" is not among them: the order, and a line, say which rows are. Nor is
    "s.e.": a close call says what it means for the decision, and figures draw it.
    """
    if not rows:
        return []
    ratios = any(" ratio per " in name for name in rows[0])
    return [
        name
        for name in rows[0]
        if name not in ("selected", "s.e.")
        and not (ratios and name.startswith("effect per "))
        and any(cell(row[name]) for row in rows)
    ]


def text_table(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return rows as lines of text, headings in two lines, selected rows before the others.

    Where members of groups make the table too wide, they are the lines below it, which are
    returned as well, and effects of a unit are left out if that is not enough.
    """
    columns, heads = list(columns), [_two_lines(name) for name in columns]
    cells = [[column_cell(name, row[name]) for name in columns] for row in rows]

    def widths() -> list[int]:
        return [
            max(text_width(x) for x in (*head, *(line[i] for line in cells)))
            for i, head in enumerate(heads)
        ]

    def beyond() -> int:
        return sum(widths()) + 2 * (len(columns) - 1) - TEXT_WIDTH

    members = "in this group" in columns and beyond() > 0
    per_unit = [name for name in columns if members and name.endswith(" per unit")]
    for name in ["in this group", *per_unit] if members else []:
        if beyond() > 0:
            place = columns.index(name)
            columns = [one for one in columns if one != name]
            del heads[place]
            for row in cells:
                del row[place]
    for name in _CUT:
        if name in columns and beyond() > 0:
            place = columns.index(name)
            most = max(widths()[place] - beyond(), _NARROWEST)
            for row, short in zip(cells, _cut([c[place] for c in cells], most), strict=True):
                row[place] = short
    wide = widths()

    def line(values: Iterable[str]) -> str:
        parts = []
        for name, value, width in zip(columns, values, wide, strict=True):
            space = " " * (width - text_width(value))
            parts.append(value + space if name in _WORDS else space + value)
        return "  ".join(parts).rstrip()

    lines = [line(part) for part in zip(*heads, strict=True) if any(part)]
    chosen = sum(bool(row["selected"]) for row in rows)
    lines += [line(values) for values in cells[:chosen]]
    if 0 < chosen < len(rows):
        lines += ["", "Not selected, the closest first:"]
    lines += [line(values) for values in cells[chosen:]]
    return lines, _member_lines(rows[:chosen]) if members else []


def _member_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the members of groups that have several, a paragraph each, below a heading."""
    several = [row for row in rows if row["members"] > 1]
    texts = [
        textwrap.fill(
            f"{row['rank']:4}  {column_cell('in this group', row['in this group'])}",
            TEXT_WIDTH, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False,
        )
        for row in several
    ]  # fmt: skip
    return ["", "In this group, by rank:", *texts] if texts else []


def text_width(text: str) -> int:
    """Return how many places of a terminal a text takes: those of East Asia take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )


def _cut(texts: Sequence[str], most: int) -> list[str]:
    """Return texts cut in the middle; whole where others would look the same.

    That a group has more members than its name says is never cut.
    """
    ends = [found.group() if (found := _MORE.search(text)) else "" for text in texts]
    short = [
        middle_cut(text.removesuffix(end), most - len(end)) + end
        for text, end in zip(texts, ends, strict=True)
    ]
    alike = {text for text in short if short.count(text) > 1}
    return [
        whole if text in alike and text != whole else text
        for text, whole in zip(short, texts, strict=True)
    ]


def list_cut(text: str, most: int) -> str:
    """Return as many of some names as fit, whole, and an ellipsis for the rest."""
    if text_width(text) <= most:
        return text
    first, *names = text.split(", ")
    shown = middle_cut(first, most - 3)
    for name in names:
        if text_width(f"{shown}, {name}, \N{HORIZONTAL ELLIPSIS}") > most:
            break
        shown = f"{shown}, {name}"
    return f"{shown}, \N{HORIZONTAL ELLIPSIS}"


def middle_cut(text: str, most: int) -> str:
    """Return a text that fits: whole, or its first and last signs."""
    if text_width(text) <= most:
        return text
    first, last = text, text
    while text_width(first) > (most - 1) // 2:
        first = first[:-1]
    while text_width(last) > most // 2:
        last = last[1:]
    return f"{first}\N{HORIZONTAL ELLIPSIS}{last}"


def _two_lines(heading: str) -> tuple[str, str]:
    """Return a heading of several words in two lines, the second of which is never empty."""
    first, space, second = heading.partition(" per ")
    if space:
        return first, f"per {second}"
    if heading in ("close call", "false at most", "inclusion rate"):
        first, _, second = heading.partition(" ")
        return first, second
    return "", heading
