"""The pages on guarantees: their tables are made from the measured rows in docs/data/guarantees.

`python docs/_ext/promises.py` writes the short table into docs/guarantees.md; the directive
`promise-browser` puts every row on a page, with the other tables and links to the files.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from selica.experiments.promise_rows import PromiseRow, is_promise_file, read_promises

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "data" / "guarantees"
PAGE = DOCS / "guarantees.md"
BROWSER = "guarantee-rows"
"""Name of the page with every row."""
LINES = "promises.csv"
"""File that says which methods share a line of the short table, and what the line rests on."""
BEGIN = "<!-- made by docs/_ext/promises.py -->"
END = "<!-- end of what is made -->"
MEANING = {
    "FDR": "share of false selections (FDR)",
    "false selections": "number of false selections",
    "rarely selected": "number of selections among rarely selected variables",
    "2 or more false": "share of runs with 2 or more false selections",
    "FDP bound missed": "share of runs in which a bound on the false share is missed",
    "FDP/level": "false share over the level that was chosen after the fit",
}
"""What is controlled, in words."""


@dataclass(frozen=True)
class Line:
    """A line of the short table: a promise with all its measurements."""

    name: str
    controls: str
    rests_on: str
    rows: tuple[PromiseRow, ...]

    def worst(self, promised: str) -> PromiseRow | None:
        """Return the measurement that comes closest to its level, or exceeds it most."""
        made = [row for row in self.rows if row.promised == promised and row.level]
        return max(made, key=share, default=None)


def share(row: PromiseRow) -> float:
    """Return a measurement as a share of its level."""
    return (row.measured or 0.0) / row.level if row.level else 0.0


def promise_files() -> list[Path]:
    """Return the files with rows of promises, in the order of the README."""
    order = [*titles()]
    found = [path for path in sorted(FOLDER.glob("*.csv")) if is_promise_file(path)]
    return sorted(
        found, key=lambda path: (path.name not in order, [*order, path.name].index(path.name))
    )


def other_files() -> list[Path]:
    """Return the files with tables of another shape."""
    known = {*promise_files(), FOLDER / LINES}
    return [path for path in sorted(FOLDER.glob("*.csv")) if path not in known]


def all_rows() -> list[PromiseRow]:
    """Return the rows of all files."""
    return [row for path in promise_files() for row in read_promises(path)]


def lines(rows: Sequence[PromiseRow]) -> list[Line]:
    """Return the promises of these rows; a method without a line of its own becomes one."""
    with (FOLDER / LINES).open(newline="", encoding="utf-8") as file:
        said = {(one["method"], one["controls"]): one for one in csv.DictReader(file)}
    groups: dict[tuple[str, str], list[PromiseRow]] = {}
    rests: dict[tuple[str, str], str] = {}
    for one in said.values():
        rests.setdefault((one["line"], one["controls"]), one["rests_on"])
    for row in rows:
        found = said.get((row.method, row.controls))
        key = (found["line"] if found else row.method, row.controls)
        groups.setdefault(key, []).append(row)
    order = [*(key for key in rests if key in groups), *(key for key in groups if key not in rests)]
    return [
        Line(*key, rests.get(key, ""), tuple(groups[key]))
        for key in order
        if any(row.promised in ("proven", "expected") for row in groups[key])
    ]


def short_table(rows: Sequence[PromiseRow]) -> str:
    """Return the table that a reader can take in at a glance, and a sentence below it."""
    out = [
        "| what is at most the level, on average | level | worst, where proven | "
        "worst, where expected | data sets | rests on |",
        "|---|---|---|---|---|---|",
    ]
    for line in lines(rows):
        levels = [row.level for row in line.rows if row.level is not None]
        cells = (
            f"**{line.name}**: {MEANING.get(line.controls, line.controls)}",
            _range(levels),
            _worst(line.worst("proven")),
            _worst(line.worst("expected")),
            f"{sum(row.runs for row in _once(line.rows)):,}",
            line.rests_on or "-",
        )
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join([*out, "", _sentence(rows)])


def _once(rows: Iterable[PromiseRow]) -> list[PromiseRow]:
    """Return one row of each setting of a command: methods and levels share its data sets."""
    return list({(row.command, row.setting): row for row in rows}.values())


def _range(values: Sequence[float]) -> str:
    """Return the levels that were asked for, as one number where they hardly differ."""
    low, high = min(values), max(values)
    return f"{high:.3g}" if high - low < 0.01 * high else f"{low:.3g} to {high:.3g}"


def _worst(row: PromiseRow | None) -> str:
    """Return a measurement with its standard error, its level and its setting."""
    if row is None:
        return "-"
    error = "" if row.error is None else f" ({row.error:.3f})"
    return f"{row.measured:.3f}{error} of {row.level:.3g}: {row.setting}"


def _sentence(rows: Sequence[PromiseRow]) -> str:
    """Return how many measurements there are, and which came out above their level."""
    made = [row for row in rows if row.promised in ("proven", "expected")]
    above = [row for row in made if share(row) > 1.0]
    gone = [row for row in rows if row.promised == "withdrawn"]
    text = f"These are the worst of {len(made):,} measured promises. "
    if above:
        far = max(
            ((row.measured or 0.0) - (row.level or 0.0)) / (row.error or 1.0) for row in above
        )
        text += (
            f"{len(above)} of them came out above their level, by at most {far:.1f} standard errors"
            "; a test allows three, and fails otherwise. "
        )
    if gone:
        worst = max(gone, key=share)
        many = "1 further row" if len(gone) == 1 else f"{len(gone)} further rows"
        text += f"In {many} the selector looked at the data and withdrew its promise"
        if share(worst) > 1.0:
            text += f"; the error was up to {worst.measured:.2f} instead of {worst.level:.3g} there"
        text += "."
    return text.strip()


def page_with(text: str, block: str) -> str:
    """Return the page with the short table in its place."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    table, _, sentence = block.rpartition("\n\n")
    made = f":::{{container}} dense\n\n{table}\n\n:::\n\n{sentence}"
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"


def titles() -> dict[str, str]:
    """Return what each file has, as the README of the folder says it."""
    text = (FOLDER / "README.md").read_text("utf-8")
    return dict(re.findall(r"^- `([\w-]+\.csv)`: (.*)$", text, re.MULTILINE))


COLUMNS = (
    ("setting", "setting", ""),
    ("method", "method", ""),
    ("controls", "controls", ""),
    ("level", "level", "what was promised of the mean"),
    ("measured", "measured", "mean over the data sets, with its standard error"),
    ("share", "of level", "measured over level; 1 is the level"),
    ("promised", "promised", ""),
    ("selects", "selects", "share of the data sets on which anything is selected"),
    ("power", "power", "share of the signals that are selected"),
    ("runs", "data sets", ""),
)
"""Columns of the browser: key, heading, explanation."""


def browser() -> str:
    """Return the rows as a table of HTML, which a script makes searchable, and the other tables."""
    head = "".join(
        f'<th scope="col" data-key="{key}" title="{escape(why)}">{name}</th>'
        for key, name, why in COLUMNS
    )
    body = "".join(_tr(row, path.stem) for path in promise_files() for row in read_promises(path))
    said = titles()
    links = "".join(
        f'<li><a href="guarantees/{path.name}" download>{path.name}</a>: '
        f"{_code(said.get(path.name, ''))}</li>"
        for path in promise_files()
    )
    others = "".join(_details(path, said.get(path.name, "")) for path in other_files())
    return (
        '<div class="promise-browser">'
        '<form class="promise-filter" hidden></form>'
        '<p class="promise-count" aria-live="polite"></p>'
        f'<table class="table promise-rows"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
        '<p class="promise-commands"></p>'
        f"<h2>The rows as files</h2><ul>{links}</ul>"
        f"<h2>Tables of another shape</h2>{others}</div>"
    )


def _tr(row: PromiseRow, part: str) -> str:
    """Return a row of the table; what it sorts by is in `data-value`."""
    measured = "refused" if row.measured is None else f"{row.measured:.3f}"
    if row.error is not None:
        measured += f" <small>({row.error:.3f})</small>"
    ratio = share(row) if row.level and row.measured is not None else None
    cells = {
        "setting": (row.setting, escape(row.setting) + _note(row.note)),
        "method": (row.method, escape(row.method)),
        "controls": (row.controls, escape(row.controls)),
        "level": (row.level, _cell(row.level, ".3g")),
        "measured": (row.measured, measured),
        "share": (ratio, _bar(ratio)),
        "promised": (row.promised, f'<span class="promise-{row.promised}">{row.promised}</span>'),
        "selects": (row.selects, _cell(row.selects, ".2f")),
        "power": (row.power, _cell(row.power, ".2f")),
        "runs": (row.runs, str(row.runs)),
    }
    inner = "".join(
        f'<td data-label="{name}" data-value="{escape(_value(cells[key][0]))}">{cells[key][1]}</td>'
        for key, name, _ in COLUMNS
    )
    return f'<tr data-part="{part}" data-command="{escape(row.command)}">{inner}</tr>'


def _value(value: object) -> str:
    return "" if value is None else str(value)


def _cell(value: float | None, how: str) -> str:
    return "" if value is None else f"{value:{how}}"


def _note(text: str) -> str:
    return f"<br><small>{escape(text)}</small>" if text else ""


def _bar(ratio: float | None) -> str:
    """Return a share with a bar that is full at the level."""
    if ratio is None:
        return ""
    kind = "over" if ratio > 1.0 else "within"
    return (
        f'<span class="promise-bar promise-{kind}" style="--share: {min(ratio, 1.0):.3f}">'
        f"{ratio:.2f}</span>"
    )


def _code(text: str) -> str:
    """Return a sentence of the README as HTML."""
    return re.sub(r"`([^`]*)`", r'<code class="literal">\1</code>', escape(text))


def _details(path: Path, title: str) -> str:
    """Return a table that opens with a click."""
    with path.open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    top = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return (
        f"<details><summary>{_code(title or path.stem)} "
        f'<a href="guarantees/{path.name}" download>{path.name}</a></summary>'
        '<div class="pst-scrollable-table-container"><table class="table">'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def setup(app: Any) -> dict[str, bool]:
    """Add the directive, and its script to the page that has it."""
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class PromiseBrowser(Directive):
        """Every row of docs/data/guarantees."""

        def run(self) -> list[nodes.Node]:
            """Return the table as HTML."""
            environment = self.state.document.settings.env
            for path in FOLDER.iterdir():
                environment.note_dependency(str(path))
            return [nodes.raw("", browser(), format="html")]

    def add_script(app: Any, page: str, *_: Any) -> None:
        if page == BROWSER:
            app.add_js_file("promises.js", loading_method="defer")

    app.add_directive("promise-browser", PromiseBrowser)
    app.connect("html-page-context", add_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text("utf-8"), short_table(all_rows())), "utf-8")
