"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from selica._core.html import html_table
from selica._version import __version__
from selica.reports.figure import inline_svg
from selica.reports.selection import Selection
from selica.sampling import Exchangeability
from selica.selectors import Guarantee
from selica.selectors.summary import cell

# A page with more rows than this is slow to open; the CSV file beside it has all of them.
MOST_ROWS = 1000
HEADINGS = {"error": "standard error", "close": "close call"}

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2126; --soft: #5c6670; --line: #dfe3e8;
  --paper: #ffffff; --card: #f5f7f9; --accent: #0072b2; --tint: #e8f2f9; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --soft: #9aa5b0; --line: #323a42; --paper: #14181c;
    --card: #1d2329; --accent: #56b4e9; --tint: #16303f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .75rem; }
p { margin: .5rem 0; }
.soft { color: var(--soft); }
.numbers { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.5rem 0; }
.numbers div { flex: 1 1 9rem; background: var(--card); border-radius: .6rem;
  padding: .8rem 1rem; }
.numbers b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.promise { border-left: .25rem solid var(--accent); background: var(--tint);
  padding: .8rem 1rem; border-radius: 0 .6rem .6rem 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line);
  text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
th:first-child, td:first-child { text-align: left; white-space: normal;
  overflow-wrap: anywhere; min-width: 9rem; }
.settings td { text-align: left; white-space: normal; }
tr.selected td:first-child { font-weight: 600; color: var(--accent); }
figure { margin: 0; }
svg { max-width: 100%; height: auto; color: var(--ink); fill: currentColor; }
summary { cursor: pointer; color: var(--accent); }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
"""


def page(selection: Selection) -> str:
    """Return the HTML text of a report."""
    rows = selection.rows
    chosen = len(selection.selected)
    near = rows[: chosen + 5]
    title = f"Variables selected for {selection.target}"
    numbers = {
        "variables selected": str(chosen),
        "variables in the table": str(len(rows)),
        "rows": str(selection.n_samples),
    } | _promise(selection.guarantee)
    cards = "".join(
        f"<div><b>{escape(value)}</b><span class=soft>{escape(name)}</span></div>"
        for name, value in numbers.items()
    )
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p class=soft>{escape(selection.summary.title)}</p>",
        f"<div class=numbers>{cards}</div>",
        *_notes("About the data", selection.cautions),
        "<h2>What this selection guarantees</h2>",
        f"<p class=promise>{escape(str(selection.guarantee))}</p>",
        *_copies(selection.copies),
        *_notes("Notes", selection.notes),
        "<h2>Selected variables, and those that came closest</h2>",
        _table(near[:MOST_ROWS]),
        "<h2>What was measured</h2>",
        _figure(selection.selector),
        *_all(rows),
        "<h2>Settings</h2>",
        _settings({"method": selection.method} | selection.settings, selection.used),
        f"<footer>selica {escape(__version__)}. All variables are in selection.csv, the settings "
        "in selection.json.</footer>",
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _promise(guarantee: Guarantee) -> dict[str, str]:
    """Return what is controlled, as a number with its name; a practice is not called a bound."""
    if guarantee.level is None:
        return {"controlled": "nothing"}
    aim = "" if guarantee.proven else ", aimed at"
    return {f"{guarantee.controls}{aim}": f"≤ {guarantee.level:.3g}"}


def _copies(copies: Exchangeability | None) -> list[str]:
    """Return the paragraph on knockoff copies, where copies were drawn."""
    return [] if copies is None else ["<h2>Knockoff copies</h2>", f"<p>{escape(str(copies))}</p>"]


def _notes(heading: str, notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return [f"<h2>{heading}</h2>", f"<ul>{items}</ul>"]


def _table(rows: Sequence[dict[str, Any]]) -> str:
    texts = [{HEADINGS.get(name, name): cell(value) for name, value in row.items()} for row in rows]
    table = html_table(texts, [bool(row["selected"]) for row in rows], mark="selected")
    return f"<div class=wide>{table}</div>"


def _figure(selector: Any) -> str:
    try:
        svg = inline_svg(selector.plot())
    except ImportError:
        return "<p class=soft>No figure: matplotlib is missing (pip install 'selica[plots]').</p>"
    return f"<figure>{svg}</figure>"


def _all(rows: Sequence[dict[str, Any]]) -> Iterable[str]:
    cut = f", the first {MOST_ROWS}" if len(rows) > MOST_ROWS else ""
    yield "<h2>All variables</h2>"
    yield f"<details><summary>{len(rows)} variables{cut}</summary>{_table(rows[:MOST_ROWS])}"
    yield "</details>"


def _settings(settings: dict[str, Any], used: dict[str, Any]) -> str:
    """Return what was asked for, and what the method made of it where that is not the same."""
    shown = {name: _setting(value) for name, value in settings.items()}
    for name, value in used.items():
        text = (
            ", ".join(f"{k} ({n} rows)" for k, n in value.items())
            if isinstance(value, dict)
            else cell(value)
        )
        asked = shown.get(name, "-")
        shown[name] = text if asked in ("-", text) else f"{asked}: {text}"
    lines = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in shown.items()
    )
    return f"<table class=settings>{lines}</table>"


def _setting(value: Any) -> str:
    return "-" if value is None else "no" if value is False else cell(value)
