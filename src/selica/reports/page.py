"""The report as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from selica._version import __version__
from selica.reports import account, figure
from selica.reports.selection import Selection
from selica.selectors import Guarantee
from selica.selectors.summary import NEAR_MISSES, cell, column_cell, reader_columns

MOST_ROWS = 1000
"""Rows of a table of the page: with more it is slow to open. The CSV file beside it has all."""
_WORDS = ("variable", "identical to", "reason", "kind", "use")
"""Columns that are set to the left."""
_LABELS = {
    "assumption": "assumption of the bound",
    "copy_fdr": "level of each copy (copy_fdr)",
    "estimator": "base learner (estimator)",
    "fdr": "false discovery rate allowed (fdr)",
    "kfwer": "false selections and probability (kfwer)",
    "l1_ratio": "share of the l1 penalty (l1_ratio)",
    "lam": "penalty (lam)",
    "n_copies": "knockoff copies (n_copies)",
    "n_resamples": "resamples (n_resamples)",
    "n_splits": "splits of the rows (n_splits)",
    "pfer": "false selections allowed (pfer)",
    "q": "variables that each resample selects (q)",
    "random_state": "seed (random_state)",
    "resampling": "how rows are drawn (resampling)",
    "sampler": "how copies are made (sampler)",
    "statistic": "what is compared (statistic)",
}
"""Settings in plain words."""

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
p { margin: .5rem 0; }
ul { padding-left: 1.2rem; margin: .5rem 0; }
.soft { color: var(--soft); }
.lead { font-size: 1.1rem; overflow-wrap: anywhere; }
.lead b { color: var(--accent); }
.numbers { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr));
  gap: .75rem; margin: 1.25rem 0; }
.numbers div { background: var(--card); border-radius: .6rem; padding: .7rem .9rem; }
.numbers b { display: block; font-size: 1.5rem; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
.numbers span { font-size: .88rem; }
.promise b { display: block; font-size: 1.05rem; margin-bottom: .2rem; }
.promise { border-left: .25rem solid var(--accent); background: var(--tint);
  padding: .8rem 1rem; border-radius: 0 .6rem .6rem 0; margin: 1rem 0; }
.heed { border-left: .25rem solid var(--mark); background: var(--card);
  padding: .6rem 1rem; border-radius: 0 .6rem .6rem 0; margin: 1rem 0; }
.heed ul { margin: 0; }
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
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr));
  gap: 1.5rem 2.5rem; }
figure { margin: 0; min-width: 0; }
figcaption { font-size: .85rem; color: var(--soft); margin-top: .4rem; }
pre { background: var(--card); border-radius: .6rem; padding: .8rem 1rem; font-size: .85rem;
  white-space: pre-wrap; overflow-wrap: anywhere; margin: .5rem 0; }
summary { cursor: pointer; color: var(--accent); }
details > table { margin-top: .75rem; }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
@media (max-width: 38rem) {
  main { padding: 1.5rem 1rem 3rem; }
  h1 { font-size: 1.4rem; }
  .numbers { grid-template-columns: 1fr 1fr; }
  .cards, .cards tbody { display: block; }
  .cards tr.heads { display: none; }
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
  .cards tr.rest { display: block; }
  .cards tr.rest td::before { content: none; }
  .facts, .facts tbody, .facts tr, .facts td { display: block; width: auto; }
  .facts td:first-child { border: 0; padding-bottom: 0; width: auto; font-size: .85rem; }
  .facts td { padding-right: 0; }
}
@media print {
  :root { --ink: #000000; --soft: #444444; --line: #cccccc; --paper: #ffffff; --card: #f2f2f2;
    --accent: #005a92; --tint: #eef5fa; --faint: #b0b0b0; --mark: #b04a00; }
  @page { margin: 16mm 15mm; }
  body { font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  h1 { font-size: 17pt; }
  h2 { font-size: 12pt; margin-top: 1.4rem; break-after: avoid; }
  tr, figure, .promise, .numbers div, pre, dl div { break-inside: avoid; }
  .numbers { grid-template-columns: repeat(4, 1fr); }
  .screen { display: none; }
}
"""


def page(selection: Selection) -> str:
    """Return the HTML text of a report."""
    title = f"Variables selected for {selection.target}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p class=soft>{escape(_origin(selection))}</p>",
        *_lead(selection),
        _numbers(selection),
        _promise(selection.guarantee),
        *_heed(selection.cautions),
        "<h2>Selected variables, and those that came closest</h2>",
        _near(selection),
        _meanings(selection),
        *_listed("Notes", [*_closeness(selection), *selection.notes]),
        _figures(selection),
        "<h2>The data</h2>",
        _data(selection),
        *_columns(selection.columns),
        *_copies(selection),
        "<h2>Settings as used</h2>",
        _settings({"method": selection.method} | selection.settings, selection.used),
        "<h2>How to run it again</h2>",
        *_again(selection),
        *_all(selection),
        f"<footer>selica {escape(__version__)}. All variables are in selection.csv, all settings "
        "in selection.json.</footer>",
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{figure.STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _origin(selection: Selection) -> str:
    """Return the line under the title: file, day, method."""
    file, date = selection.provenance.file, selection.provenance.date
    method = selection.summary.title.partition(":")[0]
    return " · ".join(part for part in (file.name if file else "", date or "", method) if part)


def _lead(selection: Selection) -> list[str]:
    """Return the answer in a sentence."""
    chosen, all_of = selection.selected, len(selection.summary.variables)
    if not chosen:
        return ["<p class=lead>No variable was selected; the notes say what would have been "
                "needed.</p>"]  # fmt: skip
    shown = ", ".join(f"<b>{escape(name)}</b>" for name in chosen[:12])
    more = f" and {len(chosen) - 12} more" if len(chosen) > 12 else ""
    was = "variable was" if len(chosen) == 1 else "variables were"
    return [f"<p class=lead>{len(chosen)} of {all_of:,} {was} selected: {shown}{more}.</p>"]


def _numbers(selection: Selection) -> str:
    """Return the tiles."""
    close = len(selection.close["close calls"])
    selected = f"of {len(selection.summary.variables):,} variables selected"
    numbers = {selected: f"{len(selection.selected)}", "rows": f"{selection.n_samples:,}"}
    numbers |= _level(selection.guarantee)
    if "close call" in selection.summary.variables.columns:
        numbers["close call" if close == 1 else "close calls"] = str(close)
    tiles = "".join(
        f"<div><b>{escape(value)}</b><span class=soft>{escape(name)}</span></div>"
        for name, value in numbers.items()
    )
    return f"<div class=numbers>{tiles}</div>"


def _level(guarantee: Guarantee) -> dict[str, str]:
    """Return what is controlled, as a number with its name; a practice is not called a bound."""
    if guarantee.level is None:
        return {"is controlled": "nothing"}
    aim = "" if guarantee.proven else ", aimed at"
    if guarantee.controls == "false discovery rate":
        return {f"of them false, on average{aim}": f"≤ {100.0 * guarantee.level:.3g} %"}
    names = {"expected number of false selections": "of them false, on average"}
    name = names.get(guarantee.controls, guarantee.controls)
    return {f"{name}{aim}": f"≤ {guarantee.level:.3g}"}


def _promise(guarantee: Guarantee) -> str:
    """Return the promise, its first sentence set off."""
    first, end, rest = str(guarantee).partition(". ")
    return f"<div class=promise><b>{escape(first)}{end.strip()}</b> {escape(rest)}</div>"


def _heed(cautions: Sequence[str]) -> list[str]:
    """Return the box with what is to be known of the data before the result."""
    if not cautions:
        return []
    items = "".join(f"<li>{escape(one)}</li>" for one in cautions)
    return [f"<h2>About the data, before the result</h2><div class=heed><ul>{items}</ul></div>"]


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
    return f"<table class=cards><tbody><tr class=heads>{heads}</tr>{''.join(lines)}</tbody></table>"


def _kind(name: str) -> str:
    return " class=word" if name in _WORDS else ""


def _cell(name: str, row: Mapping[str, Any]) -> str:
    """Return a cell with the name of its column, which a card shows."""
    text = escape(column_cell(name, row[name]))
    if name == "direction" and text == "-":
        text = "\N{MINUS SIGN}"
    kinds = [kind for kind, here in (("name", name == "variable"), ("word", name in _WORDS),
             ("rank", name == "rank"), ("wide", name == "identical to")) if here]  # fmt: skip
    rank = f' data-rank="{row["rank"]}"' if name == "variable" and "rank" in row else ""
    kind = f' class="{" ".join(kinds)}"' if kinds else ""
    return f'<td{kind}{rank} data-label="{escape(name)}">{text}</td>'


def _meanings(selection: Selection) -> str:
    items = "".join(
        f"<div><dt>{escape(name)}:</dt> <dd>{escape(text)}.</dd></div>"
        for name, text in selection.summary.explanations.items()
    )
    return f"<dl>{items}</dl>" if items else ""


def _closeness(selection: Selection) -> list[str]:
    """Return the sentence on decisions that were close."""
    calls = selection.close["close calls"]
    if not calls:
        return []
    more = f" and {len(calls) - 12} more" if len(calls) > 12 else ""
    was = "Decided by little, a close call" if len(calls) == 1 else "Decided by little, close calls"
    return [f"{was}: {', '.join(calls[:12])}{more}."]


def _listed(heading: str, notes: Sequence[str]) -> list[str]:
    if not notes:
        return []
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return [f"<h2>{heading}</h2>", f"<ul>{items}</ul>"]


def _figures(selection: Selection) -> str:
    """Return what was measured, and the effects, side by side where there is room."""
    parts = [
        f"<figure><h3>{escape(one.title)}</h3>{one.svg}<figcaption>{escape(one.caption)}"
        "</figcaption></figure>"
        for one in figure.figures(selection)
    ]
    return f"<h2>In pictures</h2><div class=figures>{''.join(parts)}</div>" if parts else ""


def _data(selection: Selection) -> str:
    """Return the facts about the table."""
    file = selection.provenance.file
    facts: dict[str, str] = {}
    if file is not None:
        facts |= {"file": f"{file.name} ({file.size:,} bytes)", "SHA-256 of the file": file.sha256}
    if selection.provenance.date:
        facts["date of the selection"] = selection.provenance.date
    facts["size"] = f"{selection.n_samples:,} rows, {len(selection.summary.variables):,} variables"
    if selection.response:
        facts["response"] = account.response_sentence(selection.response, selection.target)
    said = account.column_sentences(selection.columns)
    if said:
        facts["covariates and rows"] = " ".join(said)
    missing = selection.columns.get("missing")
    if missing:
        facts["missing values"] = ", ".join(
            f"{name.replace('_', ' ')}: {cell(value)}"
            for name, value in missing.items()
            if not isinstance(value, dict)
        )
    return _facts(facts)


def _facts(facts: Mapping[str, str]) -> str:
    lines = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in facts.items()
    )
    return f"<table class=facts><tbody>{lines}</tbody></table>"


def _columns(said: Mapping[str, Any]) -> Iterable[str]:
    """Yield what was left out, and what was done with every column."""
    if said.get("left_out"):
        yield "<h3>Columns that were left out</h3>"
        yield _words(said["left_out"][:MOST_ROWS])
    if said.get("kinds"):
        many = len(said["kinds"])
        yield f"<details class=screen><summary>What was done with each of the {many:,} columns"
        yield f"</summary>{_words(said['kinds'][:MOST_ROWS])}</details>"


def _words(rows: Sequence[Mapping[str, Any]]) -> str:
    heads = "".join(f"<th class=word>{escape(name)}</th>" for name in rows[0])
    lines = "".join(
        "<tr>" + "".join(f"<td class=word>{escape(str(v or ''))}</td>" for v in row.values())
        + "</tr>"
        for row in rows
    )  # fmt: skip
    return f"<table><tbody><tr>{heads}</tr>{lines}</tbody></table>"


def _copies(selection: Selection) -> list[str]:
    """Return the paragraph on knockoff copies, where copies were drawn."""
    if selection.copies is None:
        return []
    return ["<h2>Knockoff copies</h2>", f"<p>{escape(str(selection.copies))}</p>"]


def _settings(settings: Mapping[str, Any], used: Mapping[str, Any]) -> str:
    """Return what was asked for, and what the method made of it where that is not the same."""
    shown = {name: _setting(value) for name, value in settings.items()}
    for name, value in used.items():
        text = (
            ", ".join(f"{k} ({n} rows)" for k, n in value.items())
            if isinstance(value, dict)
            else cell(value)
        )
        asked = shown.get(name, "")
        shown[name] = text if asked in ("", text) or text == "not used" else f"{asked}: {text}"
    return _facts({_LABELS.get(name, name): text for name, text in shown.items() if text})


def _setting(value: Any) -> str:
    """Return a setting as text; what was not given, and decides nothing, is left out."""
    return "" if value is None else "no" if value is False else cell(value)


def _again(selection: Selection) -> Iterable[str]:
    """Yield the command line and the lines of Python that repeat the selection."""
    command = selection.provenance.command
    if command:
        yield f"<p>On a command line:</p><pre><code>{escape(command)}</code></pre>"
    yield f"<p>In Python:</p><pre><code>{escape(selection.code)}</code></pre>"


def _all(selection: Selection) -> Iterable[str]:
    rows = selection.rows
    cut = f", the first {MOST_ROWS}" if len(rows) > MOST_ROWS else ""
    yield "<h2 class=screen>All variables</h2>"
    yield f"<details class=screen><summary>{len(rows)} variables{cut}</summary>"
    yield f"{_table(rows[:MOST_ROWS])}</details>"
