"""The report as one HTML page that needs nothing else.

What a colleague needs comes first and fits on a sheet of paper: the answer, the promise, a figure,
the list, what to do next. What a reviewer needs comes after it, for the record.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import exp
from typing import Any

from selica import catalogue
from selica._core.wording import few
from selica._version import __version__
from selica.reports import account, again, figure
from selica.reports.selection import Selection
from selica.sampling.exchangeability import DOUBTFUL_RATIO
from selica.selectors import Guarantee
from selica.selectors.summary import NEAR_MISSES
from selica.selectors.text_table import (
    cell,
    column_cell,
    middle_cut,
    reader_columns,
    three_digits,
)

MOST_ROWS = 1000
"""Rows of a table of the page: with more it is slow to open. The CSV file beside it has all."""
_MOST_NAMES = 12
"""Names that a sentence lists."""
_MOST_SIGNS = 40
"""Signs of a name in a sentence; the list has all of them."""
_WIDE = ("identical to", "nearly identical to", "in this group")
"""Columns of names, of which a cell may have several."""
_NAMED = ("variable", "group")
"""Columns of the names of what is selected."""
_WORDS = (*_NAMED, *_WIDE, "name", "reason", "kind", "use", "level")
"""Columns that are set to the left."""
_LABELS = {
    "method": "method",
    "response": "kind of response",
    "pfer": "false selections allowed, on average (pfer)",
    "fdr": "false discovery rate allowed (fdr)",
    "kfwer": "false selections, and probability of as many (kfwer)",
    "threshold": "threshold",
    "q": "variables that each resample selects (q)",
    "lam": "penalty (lam)",
    "l1_ratio": "share of the l1 penalty (l1_ratio)",
    "n_resamples": "resamples (n_resamples)",
    "n_copies": "knockoff copies (n_copies)",
    "n_splits": "splits of the rows (n_splits)",
    "copy_fdr": "level of each copy (copy_fdr)",
    "resampling": "how rows are drawn (resampling)",
    "assumption": "assumption of the bound (assumption)",
    "calibration": "what sets the threshold (calibration)",
    "order": "power with which shares count (order)",
    "sampler": "how copies are made (sampler)",
    "statistic": "what is compared (statistic)",
    "estimator": "base learner (estimator)",
    "confidence": "probability with which bounds hold (confidence)",
    "engine": "how probabilities are computed (engine)",
    "groups": "groups of variables (groups)",
    "random_state": "seed (random_state)",
}
"""Settings in plain words, in the order of the table."""
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*(?: [0-9]+)?)")
"""Options of the command line in a sentence."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2126; --soft: #56606a; --line: #dce1e6;
  --paper: #ffffff; --card: #f4f6f8; --accent: #0069a8; --tint: #e9f3fa; --faint: #b7c0c8;
  --mark: #c2510a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6eaee; --soft: #a0abb6; --line: #343c45; --paper: #14181c;
    --card: #1d2329; --accent: #5ab5ea; --tint: #152c3a; --faint: #55606b; --mark: #f09a5c; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .35rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: .95rem; margin: 0 0 .6rem; }
table + h3 { margin-top: 1.5rem; }
li code { white-space: nowrap; font-size: .9em; }
p { margin: .5rem 0; }
ul { padding-left: 1.2rem; margin: .5rem 0; }
.soft { color: var(--soft); }
.lead { font-size: 1.1rem; overflow-wrap: anywhere; }
.lead b { color: var(--accent); }
.promise b { display: block; font-size: 1.05rem; }
.promise { border-left: .25rem solid var(--accent); background: var(--tint);
  padding: .8rem 1rem; border-radius: 0 .6rem .6rem 0; margin: 1rem 0; }
.heed { border-left: .25rem solid var(--mark); background: var(--card);
  padding: .6rem 1rem; border-radius: 0 .6rem .6rem 0; margin: 1rem 0; }
.heed ul { margin: .2rem 0 0; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { padding: .38rem .9rem .38rem 0; border-bottom: 1px solid var(--line); text-align: right;
  font-variant-numeric: tabular-nums; vertical-align: baseline; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; font-size: .85rem; }
td.word, th.word { text-align: left; overflow-wrap: anywhere; }
td.word { min-width: 8rem; }
td:last-child, th:last-child { padding-right: 0; }
tr.selected td.name { font-weight: 600; color: var(--accent); }
tr.rest td { color: var(--soft); text-align: left; padding-top: 1rem; font-style: italic; }
.facts td { text-align: left; vertical-align: top; }
.facts td:first-child { color: var(--soft); width: 18rem; min-width: 0; }
.facts td { overflow-wrap: anywhere; }
dl { margin: .75rem 0 0; font-size: .9rem; color: var(--soft); }
dl div { margin: .2rem 0; }
dt { display: inline; font-weight: 600; }
dd { display: inline; margin: 0; }
.figures .wide { grid-column: 1 / -1; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr));
  gap: 1.5rem 2.5rem; margin: 1.75rem 0 0; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: .85rem; color: var(--soft); margin-top: .4rem; }
pre { background: var(--card); border-radius: .6rem; padding: .8rem 1rem; font-size: .85rem;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
summary { cursor: pointer; color: var(--accent); }
details > table { margin-top: .75rem; }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
@media print, (min-width: 48rem) {
  .settings, .settings tbody { display: block; }
  .settings tbody { columns: 2; column-gap: 2.5rem; break-inside: avoid; }
  .settings tr { display: grid; grid-template-columns: 1fr 1fr; break-inside: avoid;
    border-bottom: 1px solid var(--line); }
  .settings td { border: 0; }
  .settings td:first-child { width: auto; }
}
@media (max-width: 38rem) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.4rem; }
  .figures .wide .scroll { overflow-x: auto; }
  .figures .wide .map { min-width: 600px; }
  .cards, .cards tbody { display: block; }
  .cards thead { display: none; }
  .cards tr { display: grid; grid-template-columns: 1fr 1fr; gap: .1rem 1rem; padding: .6rem 0;
    border-bottom: 1px solid var(--line); }
  .cards td { border: 0; padding: 0; text-align: left; display: flex; gap: .5rem;
    justify-content: space-between; }
  .cards td.word { min-width: 0; }
  .cards td::before { content: attr(data-label); color: var(--soft); font-weight: 400; }
  .cards td:empty { display: none; }
  .cards td.name { grid-column: 1 / -1; display: block; font-size: 1rem; }
  .cards td.name::before { content: attr(data-rank) ". "; }
  .cards td.rank { display: none; }
  .cards td.wide { grid-column: 1 / -1; }
  .cards td.wide::before { flex: none; }
  .cards tr.rest { display: block; }
  .cards tr.rest td::before { content: none; }
  .facts, .facts tbody, .facts tr, .facts td { display: block; width: auto; }
  .facts td:first-child { border: 0; padding-bottom: 0; width: auto; font-size: .85rem; }
  .facts td { padding-right: 0; }
}
@media print {
  :root { --ink: #000000; --soft: #444444; --line: #cccccc; --paper: #ffffff; --card: #f2f2f2;
    --accent: #005a92; --tint: #eef5fa; --faint: #b0b0b0; --mark: #b04a00; }
  @page { margin: 13mm 15mm; }
  body { font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  h1 { font-size: 17pt; }
  h2 { font-size: 11.5pt; margin: 1rem 0 .4rem; break-after: avoid; }
  h3 { break-after: avoid; }
  .lead { font-size: 11.5pt; }
  .promise, .heed { padding: .5rem .8rem; margin: .6rem 0; }
  .figures { grid-template-columns: 1fr 1fr; gap: 1rem 1.5rem; margin-top: .9rem; }
  table { font-size: 9pt; }
  .record, .record table, .record pre { font-size: 8.5pt; }
  .record h2 { margin-top: .7rem; }
  .record pre { padding: .4rem .7rem; }
  footer { margin-top: 1rem; font-size: 8pt; }
  th, td { padding-top: .16rem; padding-bottom: .16rem; }
  tr.rest td { padding-top: .45rem; }
  dl { font-size: 9pt; }
  tr, figure, .promise, .heed, pre, dl div, li { break-inside: avoid; }
  .screen { display: none; }
}
"""


def page(selection: Selection) -> str:
    """Return the HTML text of a report."""
    grouped = selection.summary.unit == "group"
    what = "Groups of variables" if grouped else "Variables"
    title = f"{what} selected for {selection.target}"
    parts = [
        f"<h1>{what} selected for {_name(selection.target)}</h1>",
        f"<p class=soft>{_origin(selection)}</p>",
        *_lead(selection),
        _promise(selection.guarantee),
        *_box(selection.to_check),
        *_figures(selection),
        "<h2>The list</h2>",
        _near(selection),
        *_levels(selection),
        *_listed("Notes", [*_closeness(selection), *_notes(selection)]),
        *_listed("What to do next", selection.next_steps),
        _meanings(selection),
        "<section class=record>",
        "<h2>For the record: the data</h2>",
        _data(selection),
        *_columns(selection.columns),
        "<h2>For the record: settings as used</h2>",
        _settings(selection),
        "<h2>How to run it again</h2>",
        *_again(selection),
        *_all(selection),
        f"<footer>selica {escape(__version__)}. {_listed_units(selection)}, with all digits, "
        "are in selection.csv, and everything on this page is in selection.json.</footer>",
        "</section>",
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{figure.STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _listed_units(selection: Selection) -> str:
    """Say which variables a table has; of many markers, those with anything to tell."""
    if len(selection.summary.variables) < selection.n_units:
        return f"The first {len(selection.summary.variables):,} {selection.summary.unit}s"
    return f"All {selection.summary.unit}s"


def _name(text: str) -> str:
    """Return a name for the page; letters from right to left do not turn what is around them."""
    return f"<bdi>{escape(text)}</bdi>"


def _sentence(text: str) -> str:
    """Return a sentence for the page; options of the command line are not broken."""
    return _OPTION.sub(r"<code>\1</code>", escape(text))


def _origin(selection: Selection) -> str:
    """Return the line under the title: file, day, size."""
    file, date = selection.provenance.file, selection.provenance.date
    said = (_name(file.name) if file else "", escape(date or ""), selection.size)
    return " · ".join(part for part in said if part)


def _lead(selection: Selection) -> list[str]:
    """Return what was chosen and why, and the answer in a sentence."""
    names, all_of = selection.selected, selection.n_units
    unit = selection.summary.unit
    how = selection.chosen or f"Method: {selection.summary.title.partition(':')[0]}."
    said = [f"<p>{_sentence(how)}</p>"]
    if not names:
        why = selection.selector.explain().removeprefix("Nothing was selected.")
        return [*said, f"<p class=lead>No {unit} was selected.</p><p>{escape(why)}</p>"]
    bold = [f"<b>{_name(middle_cut(name, _MOST_SIGNS))}</b>" for name in names]
    was = f"{unit} was" if len(names) == 1 else f"{unit}s were"
    return [
        *said,
        f"<p class=lead>{len(names):,} of {all_of:,} {was} selected: {few(bold, _MOST_NAMES)}.</p>",
    ]


def _promise(guarantee: Guarantee) -> str:
    """Return the promise, its first sentence set off."""
    first, end, rest = str(guarantee).partition(". ")
    kind = "promise" if guarantee.level is not None else "heed promise"
    return f'<div class="{kind}"><b>{escape(first)}{end.strip()}</b> {escape(rest)}</div>'


def _box(sentences: Sequence[str]) -> list[str]:
    """Return the box with what a person should act on."""
    if not sentences:
        return []
    items = "".join(f"<li>{_sentence(one)}</li>" for one in sentences)
    return [f"<div class=heed><b>Check this first</b><ul>{items}</ul></div>"]


def _notes(selection: Selection) -> list[str]:
    """Return the notes that are nowhere else on the page."""
    shown = {*selection.to_check, selection.selector.explain()}
    return [one for one in (*selection.cautions, *selection.notes) if one not in shown]


def _near(selection: Selection) -> str:
    """Return the selected variables and the near misses as a table."""
    chosen = len(selection.selected)
    rows = selection.rows[: min(chosen + NEAR_MISSES, MOST_ROWS)]
    return _table(rows, divided=0 < chosen < len(rows))


def _table(rows: Sequence[Mapping[str, Any]], *, divided: bool = False) -> str:
    """Return variables as a table that becomes cards where the screen is narrow."""
    columns = reader_columns(rows)
    heads = "".join(f"<th{_kind(name)}>{escape(name)}</th>" for name in columns)
    lines, before = [], True
    for row in rows:
        if divided and before and not row["selected"]:
            lines.append(
                f'<tr class=rest><td colspan="{len(columns)}">Not selected, the closest first</td>'
                "</tr>"
            )
        before = bool(row["selected"])
        cells = "".join(_cell(name, row) for name in columns)
        lines.append(f"<tr{' class=selected' if before else ''}>{cells}</tr>")
    return (
        f"<table class=cards><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _kind(name: str) -> str:
    return " class=word" if name in _WORDS else ""


def _cell(name: str, row: Mapping[str, Any]) -> str:
    """Return a cell with the name of its column, which a card shows."""
    text = column_cell(name, row[name])
    shown = _name(text) if name in (*_NAMED, *_WIDE) and text else escape(text)
    if name == "direction" and text == "-":
        shown = "\N{MINUS SIGN}"
    elif isinstance(row[name], float):
        shown = shown.replace("-", "\N{MINUS SIGN}")
    kinds = [kind for kind, here in (("name", name in _NAMED), ("word", name in _WORDS),
             ("rank", name == "rank"), ("wide", name in _WIDE)) if here]  # fmt: skip
    rank = f' data-rank="{row["rank"]}"' if name in _NAMED and "rank" in row else ""
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f'<td{kind}{rank} data-label="{escape(name)}">{shown}</td>'


def _levels(selection: Selection) -> list[str]:
    """Return the effects of the levels of selected categories."""
    rows, sentence = level_rows(selection)
    if not rows:
        return []
    head = "<h3>Levels of the selected categories</h3>"
    return [head, _words(rows), f"<p class=soft>{sentence}</p>"]


def level_rows(selection: Selection) -> tuple[list[dict[str, str]], str]:
    """Return the effects of the levels of selected categories as rows, and what they mean."""
    if not selection.levels:
        return [], ""
    ratio = selection.selector.effects_.ratio
    name = ratio or "effect"
    rows = [
        {
            "variable": variable,
            "level": level,
            name: three_digits(exp(effect)) if ratio else three_digits(effect),
        }
        for variable, effects in selection.levels.items()
        for level, effect in effects.items()
    ]
    what = "1" if ratio else "0"
    return rows, f"Each level is compared with the one whose {name} is {what}."


def _meanings(selection: Selection) -> str:
    items = "".join(
        f"<div><dt>{escape(name)}:</dt> <dd>{escape(text)}.</dd></div>"
        for name, text in selection.summary.explanations.items()
    )
    return f"<h2>What the columns mean</h2><dl>{items}</dl>" if items else ""


def _closeness(selection: Selection) -> list[str]:
    """Return the sentence on decisions that were close."""
    calls = selection.close["close calls"]
    if not calls:
        return []
    was = "Decided by little, a close call" if len(calls) == 1 else "Decided by little, close calls"
    return [f"{was}: {few(calls, _MOST_NAMES)}."]


def _listed(heading: str, notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    items = "".join(f"<li>{_sentence(note)}</li>" for note in notes)
    return [f"<h2>{heading}</h2>", f"<ul>{items}</ul>"]


def _figures(selection: Selection) -> list[str]:
    """Return what was measured, and the effects, side by side where there is room."""
    parts = [
        f"<figure{' class=wide' if one.wide else ''}><h3>{escape(one.title)}</h3>"
        f"<div class=scroll>{one.svg}</div><figcaption>{escape(one.caption)}</figcaption></figure>"
        for one in figure.figures(selection)
    ]
    return [f"<div class=figures>{''.join(parts)}</div>"] if parts else []


def _data(selection: Selection) -> str:
    """Return the facts about the table."""
    file = selection.provenance.file
    facts: dict[str, str] = {}
    if file is not None:
        facts |= {"file": f"{file.name} ({file.size:,} bytes)", "SHA-256 of the file": file.sha256}
    if selection.provenance.date:
        facts["date of the selection"] = selection.provenance.date
    facts["size"] = selection.size
    if selection.response:
        facts["response"] = account.response_sentence(selection.response, selection.target)
    said = account.column_sentences(selection.columns)
    if said:
        facts["covariates and rows"] = " ".join(said)
    if selection.prepared is not None:
        missing = selection.prepared.missing
        facts["missing values"] = missing.sentence(selection.n_samples) or "There are none."
    if selection.copies is not None:
        facts["knockoff copies"] = _copies(selection.copies)
    return _facts(facts)


def _copies(measured: Any) -> str:
    """Say how well the knockoff copies imitate the columns."""
    if measured.ratio is None:
        return str(measured)
    said = str(measured).removesuffix(".")
    return f"{said}; a ratio of 1 would be perfect, and up to {DOUBTFUL_RATIO} is accepted."


def _facts(facts: Mapping[str, str], kind: str = "facts") -> str:
    lines = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in facts.items()
    )
    return f'<table class="{kind}"><tbody>{lines}</tbody></table>'


def _columns(said: Mapping[str, Any]) -> Iterable[str]:
    """Yield what was left out, and what was done with every column."""
    if said.get("left_out"):
        yield "<h3>Columns that were left out</h3>"
        yield _words(said["left_out"][:MOST_ROWS])
    if said.get("kinds"):
        many = len(said["kinds"])
        cut = f", the first {MOST_ROWS:,}" if many > MOST_ROWS else ""
        yield f"<details class=screen><summary>What was done with each of the {many:,} columns{cut}"
        yield f"</summary>{_words(said['kinds'][:MOST_ROWS])}</details>"


def _words(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = "".join(f"<th{_kind(name)}>{escape(name)}</th>" for name in rows[0])
    lines = "".join(
        "<tr>" + "".join(f"<td{_kind(k)}>{_name(str(v or ''))}</td>" for k, v in row.items())
        + "</tr>"
        for row in rows
    )  # fmt: skip
    return f"<table class=words><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _settings(selection: Selection) -> str:
    """Return what was asked for, and what the method made of it where that is not the same."""
    asked = {"method": selection.method} | selection.settings
    if "reason_" in vars(selection.selector):
        asked["method"] = "auto"
    used = selection.used
    if "method" in used:
        used = used | {"method": f"{used['method']} ({catalogue.method(used['method']).label})"}
    names = [*_LABELS, *(n for n in again.changed(selection.selector) if n not in _LABELS)]
    if used.get("l1_ratio") == 1.0:  # the lasso, as the method says
        names.remove("l1_ratio")
    shown = {}
    for name in names:
        before, after = _setting(asked.get(name)), _setting(used.get(name))
        both = before and after and before != after and after != "not used"
        shown[_LABELS.get(name, name)] = f"{before}: {after}" if both else after or before
    return _facts({name: text for name, text in shown.items() if text}, "facts settings")


def _setting(value: Any) -> str:
    """Return a setting as text; what was not given, and decides nothing, is left out."""
    if isinstance(value, dict):
        return ", ".join(f"{k} ({n} rows)" for k, n in value.items())
    if isinstance(value, tuple | list):
        return ", ".join(map(cell, value))
    return "" if value is None else "no" if value is False else cell(value)


def _again(selection: Selection) -> Iterable[str]:
    """Yield the command line and the lines of Python that repeat the selection."""
    command = selection.provenance.command
    if command:
        yield f"<p>On a command line:</p><pre><code>{escape(command)}</code></pre>"
    yield f"<p>In Python:</p><pre><code>{escape(selection.code)}</code></pre>"


def _all(selection: Selection) -> Iterable[str]:
    rows = selection.rows
    cut = f", the first {MOST_ROWS:,}" if len(rows) > MOST_ROWS else ""
    unit = selection.summary.unit
    yield f"<h2 class=screen>All {unit}s</h2>"
    yield f"<details class=screen><summary>{len(rows):,} {unit}s{cut}</summary>"
    yield f"{_table(rows[:MOST_ROWS])}</details>"
