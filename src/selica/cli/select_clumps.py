"""`selica select --method clump-knockoffs`: clumps of markers at several resolutions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from selica._core.errors import ArgumentError
from selica._core.files import check_folder, write_whole
from selica._core.warning import noted
from selica.cli.options import number_or_word, option, refuse_foreign
from selica.cli.output import print_json, say, waiting

if TYPE_CHECKING:
    from selica.selectors import ClumpKnockoffs
    from selica.tables import Prepared

CLUMPS = "clump-knockoffs"
"""Name of the method in the catalogue."""
_OPTIONS = ("fdr", "lam", "n_jobs")
"""Options of `selica select` that a selection of clumps has, as `ClumpKnockoffs` does."""


class ClumpOptions(NamedTuple):
    """What a selection of clumps is asked for."""

    resolutions: str | None
    seed: int
    out: Path | None
    as_json: bool


def select_clumps(prepared: Any, options: ClumpOptions, given: dict[str, Any]) -> None:
    """Select clumps of markers, and print what is promised.

    Parameters
    ----------
    prepared : callable
        Reads the genotypes and what belongs to them.
    options : ClumpOptions
    given : dict
        Other options of `selica select`; None where they were not given.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    foreign = [option(name) for name in asked if name not in _OPTIONS]
    refuse_foreign(foreign, f"--method {CLUMPS}", ["--resolutions", *map(option, _OPTIONS)])
    if "lam" in asked:
        asked["lam"] = number_or_word("lam", asked["lam"], ("auto", "cv"))
    if options.resolutions is not None:
        asked["resolutions"] = _numbers(options.resolutions)
    # late, so that other commands start without scikit-learn and the compiled solvers
    from selica.selectors import ClumpKnockoffs

    if options.out is not None:
        check_folder(options.out)
    with waiting("reading"):
        table: Prepared = prepared()
    if table.rows_of is not None or table.sample_weight is not None:
        raise ArgumentError(f"--rows-of and --weights do not belong to --method {CLUMPS}.")
    selector = ClumpKnockoffs(**asked, response=table.response, random_state=options.seed)
    n, p = table.X.shape
    with waiting(f"selecting among {p:,} markers, {n:,} people"), noted():
        selector.fit(table.X, table.y, keep=table.keep, offset=table.offset, strata=table.strata)
    files = [] if options.out is None else _write(options.out, selector, table.notes)
    if options.as_json:
        print_json(_record(selector, table.notes) | {"files": [str(one) for one in files]})
        return
    typer.echo(str(selector.summary()))
    for note in table.notes:
        say(note)
    for path in files:
        say(f"Written: {path}")


def _numbers(text: str) -> list[float]:
    """Return numbers with commas between them; whole ones stay whole."""
    try:
        return [int(part) if part.strip().isdecimal() else float(part) for part in text.split(",")]
    except ValueError:
        raise ArgumentError(
            f"--resolutions must be numbers with commas, such as 5,20,100; got {text!r}."
        ) from None


def _record(selector: ClumpKnockoffs, notes: tuple[str, ...]) -> dict[str, Any]:
    """Return the answer for a program."""
    return {
        "title": selector.summary().title,
        "guarantee": selector.guarantee_.to_dict(),
        "notes": [*selector.notes_, *notes],
        "resolutions": {one.name: int(one.selected.sum()) for one in selector.resolutions_},
        "discoveries": list(selector.discoveries_.rows),
    }


def _write(out: Path, selector: ClumpKnockoffs, notes: tuple[str, ...]) -> list[Path]:
    """Write the discoveries as CSV and JSON, and a picture where matplotlib is there."""
    record = _record(selector, notes)
    files: dict[Path, Any] = {
        out / "discoveries.csv": selector.discoveries_.to_csv,
        out / "selection.json": lambda to: to.write_text(
            json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8"
        ),
    }
    try:
        figure = selector.plot()
    except ImportError:
        say("There is no picture of the genome, which needs matplotlib.")
    else:
        files[out / "genome.png"] = lambda to: figure.savefig(to, dpi=150, format="png")
    return write_whole(files)
