"""`selica reproduce`: the figures of the article, with the numbers behind them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table as TextTable

from selica._core.errors import ArgumentError
from selica._core.files import check_folder
from selica.cli.options import AsJson, Jobs, Seed, check_jobs
from selica.cli.output import bar, print_json
from selica.experiments.figures import FIGURES
from selica.experiments.figures.figure import Finding
from selica.experiments.reproduction import Reproduced
from selica.experiments.reproduction import reproduce as make


class Scale(StrEnum):
    """Sizes of the simulations."""

    smoke = "smoke"
    quick = "quick"
    paper = "paper"


_MARK = {True: "holds", False: "FAILS", None: "     "}


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Figures to make: all, or some of {', '.join(FIGURES)}.", show_default=False
        ),
    ] = None,
    scale: Annotated[
        Scale,
        typer.Option(help="smoke: seconds; quick: a minute or two; paper: the article's sizes."),
    ] = Scale.quick,
    out: Annotated[Path, typer.Option(help="Folder for figures, tables and provenance.")] = Path(
        "reproduced"
    ),
    seed: Seed = 0,
    n_jobs: Jobs = -1,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start again instead of continuing a run that stopped.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Reproduce the figures of the article.

    Example: selica reproduce all --scale smoke --out figures
    """
    names = _names(figures)
    check_jobs(n_jobs)
    check_folder(out)
    console = Console(highlight=False)
    done: list[Reproduced] = []
    for name in names:
        with bar(name) as progress:
            one = make(
                name,
                scale.value,
                out,
                random_state=seed,
                n_jobs=n_jobs,
                fresh=fresh,
                progress=progress,
            )
        done.append(one)
        if not as_json:  # at once: a later figure may be stopped
            console.print(one.name, style="bold")
            for finding in one.findings:
                _print_finding(console, finding)
    if as_json:
        report = [
            {
                "figure": one.name,
                "seconds": round(one.seconds, 3),
                "rows": len(one.table),
                "files": [str(path) for path in one.files],
                "findings": [finding.to_dict() for finding in one.findings],
                "notes": one.notes,
            }
            for one in done
        ]
        print_json(report)
        return
    _print_times(console, done, out)
    for note in dict.fromkeys(note for one in done for note in one.notes):
        which = [one.name for one in done if note in one.notes]
        named = "" if which == names else f"{', '.join(which)}: "
        console.print(f"Note: {named}{note}", soft_wrap=True, markup=False)


def _names(figures: list[str] | None) -> list[str]:
    if not figures:
        raise ArgumentError(f"Name the figures to make: all, or some of {', '.join(FIGURES)}.")
    unknown = [name for name in figures if name != "all" and name not in FIGURES]
    if unknown:
        raise ArgumentError.choice("figure", unknown[0], ("all", *FIGURES))
    return list(FIGURES) if "all" in figures else list(dict.fromkeys(figures))


def _print_finding(console: Console, finding: Finding) -> None:
    colour = {True: "green", False: "red", None: "dim"}[finding.holds]
    mark = f"[{colour}]{_MARK[finding.holds]}[/{colour}]"
    grid = TextTable.grid(padding=(0, 1))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row(f"  {mark}", escape(finding.text))
    console.print(grid)


def _print_times(console: Console, done: list[Reproduced], out: Path) -> None:
    table = TextTable(box=None, pad_edge=False)
    for heading, side in (("figure", "left"), ("seconds", "right"), ("rows", "right")):
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    table.add_column("findings that hold", justify="right")
    for one in done:
        judged = [f for f in one.findings if f.holds is not None]
        score = f"{sum(bool(f.holds) for f in judged)} of {len(judged)}" if judged else "-"
        table.add_row(one.name, f"{one.seconds:.1f}", str(len(one.table)), score)
    console.print()
    console.print(table)
    console.print(f"\nFigures, tables and provenance are in {out}", soft_wrap=True, markup=False)
