"""docs/arena.md and tables of README.md and docs/choosing.md, from the rows in docs/data/arena."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from benchmarks.arena import figures, tables
from benchmarks.arena.contestants import TARGETS, VARIANTS, ours, peers
from benchmarks.arena.kinds import kinds
from benchmarks.arena.published import Study, studies
from benchmarks.arena.store import TOO_SLOW, Answers
from benchmarks.arena.tables import BROKEN, MARGIN, RANKED, REFUSED, SILENT, Row
from benchmarks.peers.selecting import PEERS
from benchmarks.table_kinds import Kind

from benchmarks import result_files
from selica import catalogue

ROOT = Path(__file__).parents[2]
DATA = ROOT / "docs" / "data" / "arena"
RESULTS = "results.csv"
PUBLISHED = "published.csv"
IMAGES = ROOT / "docs" / "images"
PAGE = ROOT / "docs" / "arena.md"
README = ROOT / "README.md"
CHOOSING = ROOT / "docs" / "choosing.md"
PAGES = (PAGE, README, CHOOSING)
"""Files with parts that are made from the rows."""
BEGIN = "<!-- made by python -m benchmarks.arena tables: {} -->"
END = "<!-- end of what is made -->"
ANYWHERE = Path()
"""Stands for the folder of the tables where only names and sizes of kinds are asked for."""
SHOWN = 4
"""Contestants of each side in the table of README.md."""
CLOSE = 0.05
"""Power by which the best of ours may be behind a peer, at most."""


def write_all(answers: Answers, folder: Path | None, sets: int) -> None:
    """Write the rows, the figures and the pages from the answers."""
    everyone = [*ours().values(), *peers().values()]
    found = tables.rows(answers, kinds(folder), everyone, sets)
    if not found:
        raise SystemExit(f"{answers.folder} has no answers; ask with `python -m benchmarks.arena`.")
    tables.write(DATA / RESULTS, found)
    repeated = [one.kind.name for one in studies(folder)]
    again = tables.rows(answers, repeated, everyone, sets)
    tables.write(DATA / PUBLISHED, again)
    figures.draw(found, IMAGES)
    result_files.record("arena")
    write_pages()


def write_pages() -> None:
    """Write what is made into the pages."""
    for path in PAGES:
        path.write_text(renewed(path.read_text("utf-8")), "utf-8")


def renewed(text: str) -> str:
    """Return a page with what is made from the rows as they are now."""
    found, again = tables.read(DATA / RESULTS), tables.read(DATA / PUBLISHED)
    parts: dict[str, Callable[[], str]] = {
        "headline": lambda: headline(found),
        "short": lambda: short(found),
        "kinds": lambda: by_kind(found, TARGETS[0].name),
        "other targets": lambda: "\n\n".join(
            f"**{target.name}**\n\n{by_kind(found, target.name)}" for target in TARGETS[1:]
        ),
        "methods": lambda: by_method(found, TARGETS[0].name),
        "choosing": lambda: choosing(found),
        "variants": lambda: variants(found),
        "marked": lambda: marked(found),
        "refused": lambda: refused(found),
        "peers": peer_table,
        "published": lambda: published(again),
    }
    for name, make in parts.items():
        begin = BEGIN.format(name)
        if begin in text:
            before, _, rest = text.partition(begin)
            _, _, after = rest.partition(END)
            text = f"{before}{begin}\n\n{make()}\n\n{END}{after}"
    return text


def of(found: Iterable[Row], target: str) -> dict[str, list[Row]]:
    """Return the rows of a target by kind."""
    out: dict[str, list[Row]] = {}
    for row in found:
        if row.target == target:
            out.setdefault(row.kind, []).append(row)
    return out


def best(rows: Sequence[Row], peer: bool) -> Row | None:
    """Return the best of ours, or of the peers, that is ranked."""
    able = [row for row in rows if row.status == RANKED and row.peer == peer]
    return max(able, key=lambda row: row.power, default=None)


def ahead(rows: Sequence[Row]) -> tuple[float, float] | None:
    """Return by how much our best finds more than the best peer, with a standard error."""
    mine, theirs = best(rows, False), best(rows, True)
    if mine is None or theirs is None:
        return None
    if mine.power >= theirs.power:
        return theirs.behind or 0.0, theirs.behind_error or 0.0
    return -(mine.behind or 0.0), mine.behind_error or 0.0


def _signals(kind: str) -> int:
    return _kind(kind).k


def _kind(name: str) -> Kind:
    return kinds(ANYWHERE)[name]


def headline(found: Sequence[Row]) -> str:
    """Say in how many kinds the best of ours is ahead, and where it is furthest behind."""
    lines = [f"- {_standing(found, target.name)}" for target in TARGETS]
    sets = sorted(row.sets for row in found if row.status != TOO_SLOW)
    middle = sets[len(sets) // 2]
    mine, theirs = (_minutes(row for row in found if row.peer == peer) for peer in (False, True))
    lines += [
        "",
        f"A number rests on {sets[0]} to {sets[-1]} data sets, {middle} in the middle. Our answers "
        f"took {mine:.0f} processor minutes, those of the peers {theirs:.0f}.",
    ]
    return "\n".join(lines)


def _minutes(rows: Iterable[Row]) -> float:
    """Return the processor minutes of all answers, without those that were too slow."""
    return sum(row.sets * (1.0 - row.refused) * row.seconds for row in rows) / 60.0


def _standing(found: Sequence[Row], target: str) -> str:
    every = {kind: rows for kind, rows in of(found, target).items() if _signals(kind)}
    sides = {kind: ahead(rows) for kind, rows in every.items()}
    both = {kind: side[0] for kind, side in sides.items() if side is not None}
    clear = sum(side[0] > MARGIN * side[1] for side in sides.values() if side is not None)
    alone = [k for k, side in sides.items() if side is None and best(every[k], False)]
    lost = [k for k, side in sides.items() if side is None and not best(every[k], False)]
    last = {kind: more for kind, more in both.items() if more < 0.0}
    if not both:
        return f"**{target}**: no peer keeps its level, or none was asked on data sets enough."
    text = (
        f"**{target}**: on {len(both)} kinds of data something matters and a peer keeps its level. "
        f"The best of ours finds more on {sum(more > 0.0 for more in both.values())} of them"
    )
    tied = sum(more == 0.0 for more in both.values())
    text += f" (by more than {MARGIN:g} standard errors on {clear})"
    text += f", as much on {tied}, and less on {len(last)}" if tied else f" and less on {len(last)}"
    if last:
        worst = min(last, key=lambda kind: last[kind])
        far = sum(more < -CLOSE for more in last.values())
        text += (
            f"; it is furthest behind on *{worst}*, by {-last[worst]:.2f}, and by more than "
            f"{CLOSE:g} on {far}"
        )
    text += "."
    if alone:
        text += f" On {len(alone)} more no peer takes part or keeps its level."
    if lost:
        text += f" None of ours keeps its level on {', '.join(lost)}."
    return text


def by_kind(found: Sequence[Row], target: str) -> str:
    """Return the table of the best on each side."""
    if not of(found, target):
        return "Nobody was asked on data sets enough."
    out = [
        "| kind | n x p, signals | best of selica | power | best peer | power | difference "
        "| marked |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rows in of(found, target).items():
        kind = _kind(name)
        mine, theirs, side = best(rows, False), best(rows, True), ahead(rows)
        silent = kind.k == 0
        broken = [row.label for row in rows if row.status == BROKEN]
        cells = (
            name,
            f"{kind.n} x {kind.p}, {kind.k}",
            "-" if mine is None or silent else mine.label,
            "-" if mine is None or silent else _value(mine.power, mine.power_error),
            "-" if theirs is None or silent else theirs.label,
            "-" if theirs is None or silent else _value(theirs.power, theirs.power_error),
            "-" if side is None or silent else f"{side[0]:+.2f} ({side[1]:.2f})",
            "; ".join(broken) or "-",
        )
        out.append(f"| {' | '.join(cells)} |")
    return _dense(out)


class Total:
    """A contestant over all kinds of data at one target."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.row = rows[0]
        self.taken = [row for row in rows if _signals(row.kind)]
        """Kinds on which something matters and it was asked."""
        self.ranked = [row for row in self.taken if row.status == RANKED]
        self.power = sum(row.power for row in self.ranked) / max(len(self.taken), 1)
        self.broken = sum(row.status == BROKEN for row in rows)
        self.silent = sum(row.status in (SILENT, REFUSED, TOO_SLOW) for row in rows)
        self.seconds = float(np.mean([row.seconds for row in rows if row.refused < 1.0] or [0.0]))


def totals(found: Sequence[Row], target: str) -> list[Total]:
    """Return the contestants of a target, those that find most first."""
    names: dict[str, list[Row]] = {}
    for row in found:
        if row.target == target:
            names.setdefault(row.contestant, []).append(row)
    each = [Total(rows) for rows in names.values()]
    most = max((len(one.taken) for one in each), default=0)
    # whoever was asked on few kinds comes last: a mean over other kinds says little
    return sorted(each, key=lambda one: (2 * len(one.taken) < most, -one.power))


def by_method(found: Sequence[Row], target: str) -> str:
    """Return the table of all contestants."""
    out = [
        "| contestant | power, mean | kinds | best on | within 0.05 of the best on | marked on | "
        "withdraws or refuses on | data sets | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in totals(found, target):
        cells = (
            one.row.label if one.row.peer else f"**{one.row.label}**",
            f"{one.power:.2f}",
            str(len(one.taken)),
            str(sum(row.behind == 0.0 for row in one.ranked)),
            str(sum((row.behind or 0.0) <= CLOSE for row in one.ranked)),
            str(one.broken),
            str(one.silent),
            f"{sum(row.sets for row in one.rows):,}",
            f"{one.seconds:.2g}",
        )
        out.append(f"| {' | '.join(cells)} |")
    return _dense(out)


def short(found: Sequence[Row]) -> str:
    """Return the table of README.md: the first of both sides, if asked on most kinds."""
    target = TARGETS[0].name
    most = max(len(one.taken) for one in totals(found, target))
    able = [one for one in totals(found, target) if 2 * len(one.taken) > most]
    first = [*[one for one in able if not one.row.peer][:SHOWN]]
    first += [one for one in able if one.row.peer][:SHOWN]
    out = [
        f"| at {target} | power, mean | above its level on | kinds of data | seconds |",
        "|---|---|---|---|---|",
    ]
    for one in sorted(first, key=lambda one: -one.power):
        name = one.row.label if one.row.peer else f"selica: {one.row.label}"
        cells = (f"{one.power:.2f}", str(one.broken), str(len(one.taken)), f"{one.seconds:.2g}")
        out.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(out)


def choosing(found: Sequence[Row]) -> str:
    """Return the table of docs/choosing.md: our methods of most kinds, at each target."""
    out = [
        "| target | method | power, mean | kinds | within 0.05 of the best on | above its level on "
        "| empty | seconds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for target in TARGETS:
        every = totals(found, target.name)
        most = max((len(one.taken) for one in every), default=0)
        for one in every:
            if one.row.peer or 2 * len(one.taken) < most:
                continue
            empty = float(np.mean([row.empty for row in one.taken]))
            near = sum((row.behind or 0.0) <= CLOSE for row in one.ranked)
            cells = (
                target.name,
                one.row.label,
                f"{one.power:.2f}",
                str(len(one.taken)),
                str(near),
                str(one.broken),
                f"{empty:.2f}",
                f"{one.seconds:.2g}",
            )
            out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


def variants(found: Sequence[Row]) -> str:
    """Return what methods find with other settings than their defaults, on the same kinds."""
    out = [
        "| method | settings | target | kinds | power | error over the level | power by default | "
        "error by default |",
        "|---|---|---|---|---|---|---|---|",
    ]
    levels = {target.name: target.level for target in TARGETS}
    places = {(row.contestant, row.kind, row.target): row for row in found}
    for one in VARIANTS:
        for target in levels:
            pairs = [
                (places[one.name, kind, target], places[one.method, kind, target])
                for kind in kinds(ANYWHERE)
                if _signals(kind)
                and {(one.name, kind, target), (one.method, kind, target)} <= places.keys()
            ]
            if pairs:
                numbers = np.array(
                    [(a.power, a.error / levels[target], b.power, b.error / levels[target])
                     for a, b in pairs]
                ).mean(axis=0)  # fmt: skip
                label = catalogue.method(one.method).label
                other = one.label.removeprefix(f"{label}, ")
                cells = (label, other, target, str(len(pairs)), *(f"{x:.2f}" for x in numbers))
                out.append(f"| {' | '.join(cells)} |")
    return _dense(out) if len(out) > 2 else "No variant was asked on data sets enough."


def marked(found: Sequence[Row]) -> str:
    """Return who exceeds a level, and by how much."""
    out = [
        "| contestant | target | kind | measured | standard errors above |",
        "|---|---|---|---|---|",
    ]
    levels = {target.name: target.level for target in TARGETS}
    for row in sorted(found, key=lambda row: (row.peer, row.label, row.target)):
        if row.status == BROKEN:
            above = (row.error - levels[row.target]) / max(row.error_error, 1e-9)
            by = f"{above:.1f}" if row.error_error > 0.0 else "all the same"
            cells = (row.label, row.target, row.kind, _value(row.error, row.error_error), by)
            out.append(f"| {' | '.join(cells)} |")
    return _dense(out) if len(out) > 2 else "Nobody is marked."


def refused(found: Sequence[Row]) -> str:
    """Return who does not answer, or promises nothing, and why."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for row in found:
        if row.status in (SILENT, REFUSED, TOO_SLOW):
            words = row.sentence if row.status == REFUSED else row.status
            groups.setdefault((row.label, row.target, words), []).append(row.kind)
    out = ["| contestant | target | kinds | why |", "|---|---|---|---|"]
    for (label, target, words), names in sorted(groups.items()):
        out.append(f"| {label} | {target} | {', '.join(names)} | {words.replace('|', '/')} |")
    return _dense(out) if len(out) > 2 else "Everybody answers."


def peer_table() -> str:
    """Return what each peer takes and promises."""
    out = ["| peer | takes | responses | promises |", "|---|---|---|---|"]
    for one in PEERS.values():
        takes = " and ".join(rate.upper() for rate in one.targets) or "no level"
        out.append(f"| {one.label} | {takes} | {', '.join(one.responses)} | {one.promise} |")
    return _dense(out)


def published(again: Sequence[Row]) -> str:
    """Return published numbers, and what the contestants find."""
    out = [
        "| setting | data | published: power (FDR) | here: power (FDR) | data sets |",
        "|---|---|---|---|---|",
    ]
    each = of(again, TARGETS[0].name)
    for study in studies(ANYWHERE):
        rows = each.get(study.kind.name)
        if rows:
            out += _of_study(study, rows)
    return _dense(out)


def _of_study(study: Study, rows: Sequence[Row]) -> list[str]:
    """Return the published numbers of a setting in one line, and ours below each other."""
    theirs = "; ".join(
        f"{one.method} {one.power:.3g}" + ("" if one.fdr is None else f" ({one.fdr:.3f})")
        for one in study.numbers
    )
    out = []
    ordered = sorted(rows, key=lambda row: -row.power)
    for place, row in enumerate(one for one in ordered if one.status in (RANKED, BROKEN)):
        first = place == 0
        note = ", above its level" if row.status == BROKEN else ""
        here = f"{row.label} {row.power:.2f} ± {row.power_error:.2f} ({row.error:.3f}{note})"
        cells = (
            study.kind.name if first else "",
            ("drawn as there" if study.same else "alike") if first else "",
            theirs if first else "",
            here,
            str(row.sets),
        )
        out.append(f"| {' | '.join(cells)} |")
    return out


def _value(mean: float, error: float) -> str:
    return f"{mean:.2f} ({error:.2f})"


def _dense(lines: Sequence[str]) -> str:
    """Return a table in the small print of the pages."""
    return "\n".join([":::{container} dense", "", *lines, "", ":::"])
