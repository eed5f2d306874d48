"""docs/benchmarks.md from stored results: `make bench-page`.

Each section of the page has a table of what was measured, and one of the run: the command, the day,
the machine, the versions, how long it takes, and a smaller run. Both are made from the files in
docs/data; nothing is measured here. A benchmark that is run again writes its file and its run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

from benchmarks.arena import page as arena_page
from benchmarks.arena import tables as arena_tables
from benchmarks.cost_model import own_memory
from benchmarks.genotype_paths import TARGET
from benchmarks.plan_kinds import summaries
from benchmarks.result_files import FOLDER, Run, read_rows, read_runs

from selica._core.table import Table
from selica.experiments.promise_rows import PromiseRow

DOCS = FOLDER.parents[1]
PAGE = DOCS / "benchmarks.md"
BEGIN = "<!-- made by python -m benchmarks.page_of_results: {} -->"
END = "<!-- end of what is made -->"
SOLVERS = ("selica", "sklearn", "celer", "skglm", "adelie", "glmnet")
"""Columns of the table of ensembles."""
STORED = {
    "selica": "two bits, from a file",
    "adelie": "its SNP matrix",
    "glmnet": "doubles",
}
"""How each package stores genotypes."""


def write_page() -> None:
    """Write what is made into the page."""
    PAGE.write_text(renewed(PAGE.read_text("utf-8")), "utf-8")


def renewed(text: str) -> str:
    """Return the page with what the stored files say."""
    runs = read_runs()
    text = _with_part(text, "summary", summary())
    for section, make in SECTIONS.items():
        text = _with_part(text, section, f"{make()}\n\n{run_table(runs[section])}")
    return text


def _with_part(text: str, name: str, made: str) -> str:
    begin = BEGIN.format(name)
    before, found, rest = text.partition(begin)
    if not found:
        raise SystemExit(f"{PAGE.name} has no part {begin}")
    _, _, after = rest.partition(END)
    return f"{before}{begin}\n\n{made}\n\n{END}{after}"


def summary() -> str:
    """Return the answer of each section in a line."""
    rows = read_rows(FOLDER / "ensemble.csv")
    ahead = [float(row["times"]) for row in rows if row["times"] not in ("", "-")]
    paths = read_rows(FOLDER / "genotype_paths.csv")
    exact = [row for row in paths if row["package"] != "selica" and float(row["gap"]) <= TARGET]
    plans_made = read_rows(DOCS / "data" / "plans" / "kinds.csv")
    apart = [abs(float(row["power"]) - float(row["simulated_power"])) for row in plans_made]
    made = [row for row in promises().all_rows() if row.promised in ("proven", "expected")]
    far = max(_excess(row) for row in made)
    largest = max(int(row["p"]) for row in read_rows(DOCS / "data" / "scale" / "growth.csv"))
    _, _, said = arena().partition("on ")
    standing = said.partition(". ")[2].partition(";")[0].replace("them", f"{said.split()[0]} kinds")
    answers = (
        ("How fast are many fits?", "many-fits-beside-five-packages", "ensemble",
         f"{min(ahead):.1f} to {max(ahead):.0f} times as fast as the fastest peer"
         if ahead
         else "no peer was run"),
        ("How fast is one path on genotypes?", "one-path-on-genotypes", "stored-tables",
         f"{min(int(row['times']) for row in exact)} times as fast as the fastest peer that "
         f"reaches a gap of {TARGET:g}"
         if exact
         else "no peer was run"),
        ("How fast is the theory?", "the-theory-engine", "theory",
         f"a solution in {read_rows(FOLDER / 'theory.csv')[4]['median']} (stability selection)"),
        ("Who finds more?", "who-finds-more", "arena", f"{standing}, at an FDR of 0.1"),
        ("Do plans come true?", "plans-against-simulation", "planning-accuracy",
         f"mean error of the power {sum(apart) / len(apart):.3f}"),
        ("Do promises hold?", "promises", "guarantees",
         f"none of {len(made)} is more than {far:.1f} standard errors above its level"),
        ("How large may a table be?", "scale", "scale",
         f"{largest:,} markers were measured, on two cores"),
        ("What if something breaks?", "reliability", "reliability",
         "one sentence, and nothing is lost"),
    )  # fmt: skip
    lines = [
        [f"[{asked}](#{anchor})", answer, f"{{doc}}`{where}`"]
        for asked, anchor, where, answer in answers
    ]
    return markdown(("question", "answer", "details"), lines)


def promises() -> ModuleType:
    """Return the extension of the documentation that reads measured promises."""
    folder = str(DOCS / "_ext")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return import_module("promises")


def _excess(row: PromiseRow) -> float:
    """Return by how many standard errors a measurement is above its level."""
    return ((row.measured or 0.0) - (row.level or 0.0)) / (row.error or 1.0)


def markdown(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def run_table(run: Run) -> str:
    """Return how the numbers of a section were measured."""
    commands = " then ".join(f"`{one.strip()}`" for one in run.command.split(";"))
    versions = f"selica {run.selica}" + (f"; {run.peers}" if run.peers else "")
    rows = [
        ("command", commands),
        ("measured", f"{run.date}, {run.machine}"),
        ("versions", versions),
        ("takes", run.took),
    ]
    if run.smaller:
        rows.append(("smaller run", f"`{run.smaller}`: {run.smaller_took}"))
    return markdown(("how it was measured", ""), [*rows, ("rows", run.source)])


def ensemble() -> str:
    """Return milliseconds of each solver on each workload."""
    rows = read_rows(FOLDER / "ensemble.csv")
    known = {(row["workload"], row["solver"]): row for row in rows}
    lines = []
    for workload in dict.fromkeys(row["workload"] for row in rows):
        own = known[workload, "selica"]
        cells = [f"{own['milliseconds']} ({own['gap']})"]
        for solver in SOLVERS[1:]:
            row = known.get((workload, solver))
            cells.append("-" if row is None else row["milliseconds"] or row["note"])
        lines.append([workload, *cells, f"**{own['times']}**"])
    return markdown(["problem", "selica (gap)", *SOLVERS[1:], "times faster"], lines)


def genotype_paths() -> str:
    """Return processor seconds of one path by each package."""
    rows = read_rows(FOLDER / "genotype_paths.csv")
    lines = [
        [row["package"], row["tolerance"], STORED[row["package"]], row["processor"], row["times"],
         row["gap"], row["active"]]
        for row in rows
    ]  # fmt: skip
    head = ("package", "tolerance", "genotypes as", "processor, s", "/ selica", "gap", "active")
    return markdown(head, lines)


def theory() -> str:
    """Return times of the theory engine with their accuracy."""
    rows = read_rows(FOLDER / "theory.csv")
    lines = [
        [row["work"], row["median"], row["asked"] or "-", row["accuracy"] or "-"] for row in rows
    ]
    return markdown(("work", "median", "asked for", "accuracy"), lines)


def arena() -> str:
    """Return on how many kinds of data the best of ours finds more than the best peer."""
    path = DOCS / "data" / "arena" / arena_page.RESULTS
    return arena_page.headline(arena_tables.read(path))


def plans() -> str:
    """Return errors of predicted powers by the kind of study."""
    rows = read_rows(DOCS / "data" / "plans" / "kinds.csv")
    found = summaries(rows)
    lines = []
    for kind in dict.fromkeys(one.kind for one in found):
        some = [one for one in found if one.kind == kind]
        plans_of = sum(one.settings for one in some)
        mean, chance = (
            sum(getattr(one, name) * one.settings for one in some) / plans_of
            for name in ("mean", "chance")
        )
        worst = max(some, key=lambda one: abs(one.worst))
        lines.append([
            kind, plans_of, sum(one.data_sets for one in some), f"{mean:.3f}", f"{chance:.3f}",
            f"{worst.worst:+.3f} ({worst.worst_error:.3f})", f"`{worst.method}`",
        ])  # fmt: skip
    apart = [abs(float(r["power"]) - float(r["simulated_power"])) for r in rows]
    required = read_rows(DOCS / "data" / "plans" / "samples.csv")
    missed = [abs(float(row["asked"]) - float(row["simulated_power"])) for row in required]
    head = ("kind of study", "plans", "runs", "mean error", "by chance", "worst error", "of")
    text = (
        f"Over all {len(rows)} plans the mean error of the power is "
        f"{sum(apart) / len(apart):.3f}. Of {len(required)} studies that were given the number of "
        f"samples that `required_samples` asks for, the power misses what was asked for by "
        f"{sum(missed) / len(missed):.3f} on average, and by {max(missed):.3f} at most."
    )
    return f"{markdown(head, lines)}\n\n{text}"


def plan_sanity() -> str:
    """Return what 200 random studies say."""
    (row,) = read_rows(FOLDER / "plan_sanity.csv")
    return markdown(
        ("what", "number"),
        [
            ("random studies", row["studies"]),
            ("comparisons of two predicted powers", f"{int(row['comparisons']):,}"),
            ("comparisons that are wrong by more than two standard errors", row["beyond"]),
            ("as many as chance would make if all pairs were equal", row["by_chance"]),
            ("largest excess beyond two standard errors, of power", row["largest"]),
            ("largest standard error of a predicted power", row["power_error"]),
            ("slowest prediction, seconds on a busy core", row["slowest"]),
        ],
    )


def guarantees() -> str:
    """Return how many promises were measured, and how many came out above their level."""
    known = promises()
    made = [row for row in known.all_rows() if row.promised in ("proven", "expected")]
    lines = []
    for controls in dict.fromkeys(row.controls for row in made):
        some = [row for row in made if row.controls == controls]
        above = [row for row in some if known.share(row) > 1.0]
        far = [_excess(row) for row in above]
        proven = sum(row.promised == "proven" for row in some)
        lines.append([
            known.MEANING.get(controls, controls), len(some), proven, len(above),
            f"{max(far):.1f}" if far else "-",
        ])  # fmt: skip
    head = ("what is kept at a level", "promises", "of them proven", "above", "by at most, s.e.")
    return markdown(head, lines)


def scale() -> str:
    """Return time and memory of stability selection on genotypes."""
    rows = [dict(row) for row in Table.read_csv(DOCS / "data" / "scale" / "growth.csv")]
    lines = [
        [f"{row['n']:,}", f"{row['p']:,}", f"{row['q']:,}", f"{row['file'] / 1e6:.0f}",
         f"{row['seconds']:.0f}", f"{own_memory(row) / 1e9:.1f}",
         f"{row['causal']} of {row['selected']}", f"{row['gap']:.0e}"]
        for row in rows
    ]  # fmt: skip
    head = ("people", "markers", "q", "file, MB", "processor, s", "memory, GB", "causal", "gap")
    return markdown(head, lines)


def reliability() -> str:
    """Return what the long runs found; each has its own day."""
    rows = read_rows(DOCS / "data" / "reliability.csv")
    lines = [
        [row["run"], row["measured"], row["verdict"], row["date"], row["seconds"]] for row in rows
    ]
    return markdown(("run", "measured", "verdict", "day", "seconds"), lines)


SECTIONS: dict[str, Callable[[], str]] = {
    "ensemble": ensemble,
    "genotype_paths": genotype_paths,
    "theory": theory,
    "arena": arena,
    "plans": plans,
    "plan_sanity": plan_sanity,
    "guarantees": guarantees,
    "scale": scale,
    "reliability": reliability,
}
"""Parts of the page, by the name of their run."""


if __name__ == "__main__":
    write_page()
    print(f"{PAGE.relative_to(Path.cwd())} says what the stored files say.")
