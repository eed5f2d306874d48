"""`selica select --ld`: markers from Z-scores, the number of people and LD."""

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
    from selica.selectors import SummaryKnockoffs
    from selica.tables import LinkageBlocks

_OPTIONS = ("fdr", "joint_copies", "groups", "lam")
"""Options of `selica select` that a selection from Z-scores has, as `SummaryKnockoffs` does."""


class ScoreOptions(NamedTuple):
    """What a selection from Z-scores is asked for."""

    table: Path | None
    ld: Path
    samples: int | None
    accept_mismatch: bool
    seed: int
    out: Path | None
    as_json: bool


def select_scores(options: ScoreOptions, given: dict[str, Any], words: list[str]) -> None:
    """Select markers from a file of Z-scores, and print what is promised.

    Parameters
    ----------
    options : ScoreOptions
    given : dict
        Other options of `selica select`; None where they were not given.
    words : list of str
        Options on the columns of a table that were given.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    foreign = [option(name) for name in asked if name not in _OPTIONS]
    foreign += [word.partition(" ")[0] for word in words]
    refuse_foreign(foreign, "--ld", ["--samples", "--accept-mismatch", *map(option, _OPTIONS)])
    if "groups" in asked:
        kind, _, cut = str(asked["groups"]).partition(":")
        asked["groups"] = ("correlation", _cut(cut)) if kind == "correlation" and cut else kind
    if "lam" in asked:
        asked["lam"] = number_or_word("lam", asked["lam"], ("theory", "validation"))
    if options.table is None:
        raise ArgumentError("Name the TABLE of Z-scores to read.")
    if options.samples is None:
        raise ArgumentError("--ld needs --samples, the number of people behind the Z-scores.")
    # late, so that other commands start without scikit-learn and the compiled solvers
    from selica.selectors import SummaryKnockoffs
    from selica.tables import align, read_zscores

    if options.out is not None:
        check_folder(options.out)
    selector = SummaryKnockoffs(
        **asked, accept_mismatch=options.accept_mismatch, random_state=options.seed
    )
    with waiting("reading"):
        scores = read_zscores(options.table)
        ld = linkage_of(options.ld, set(scores.names))
        found = align(scores, ld)
    with waiting(f"selecting among {found.z.size:,} markers"), noted():
        selector.fit(found.z, options.samples, ld.some(found.kept))
    notes = (*scores.notes, *found.notes)
    files = [] if options.out is None else _write(options.out, selector, notes, found.counts)
    if options.as_json:
        print_json(_record(selector, notes, found.counts) | {"files": [str(one) for one in files]})
        return
    typer.echo(str(selector.summary()))
    for note in notes:
        say(note)
    for path in files:
        say(f"Written: {path}")


def _cut(text: str) -> float:
    """Return the correlation above which markers are a group."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentError(f"--groups correlation:CUT needs a number; got {text!r}.") from None


def linkage_of(path: Path, names: set[str]) -> LinkageBlocks:
    """Read LD from .npz files, or compute it from genotypes of a reference panel.

    Parameters
    ----------
    path : Path
    names : set of str
        Markers with a Z-score: no others are read.
    """
    from selica.tables import read_linkage
    from selica.tables.genotypes import is_genotype_file, read_genotypes

    if path.is_dir() or not is_genotype_file(path):
        return read_linkage(path)
    from selica.sampling import reference_linkage

    panel = read_genotypes(path)
    some = [j for j, name in enumerate(panel.names) if name in names]
    if not some:
        raise ArgumentError(f"--ld {path}: no marker of it has a Z-score in the table.")
    panel = panel.some_markers(some)
    markers = {
        key: [str(one) for one in panel.markers[key]]
        for key in ("chromosome", "position", "allele_1", "allele_2")
    }
    return reference_linkage(
        panel, chromosome=markers["chromosome"], names=panel.names, markers=markers
    )


def _record(
    selector: SummaryKnockoffs, notes: tuple[str, ...], counts: dict[str, int]
) -> dict[str, Any]:
    """Return the answer for a program."""
    summary = selector.summary()
    mismatch = selector.mismatch_
    return {
        "title": summary.title,
        "selected": [row[summary.unit] for row in summary.variables if row["selected"]],
        "guarantee": selector.guarantee_.to_dict(),
        "notes": [*selector.notes_, *notes],
        "markers": counts,
        "mismatch": {
            "number": mismatch.number, "refused": mismatch.refused,
            "opposed": mismatch.opposed, "opposed_limit": mismatch.opposed_limit,
            "noise": mismatch.noise, "noise_limit": mismatch.noise_limit,
        },
        "variables": list(summary.variables.rows),
    }  # fmt: skip


def _write(
    out: Path, selector: SummaryKnockoffs, notes: tuple[str, ...], counts: dict[str, int]
) -> list[Path]:
    """Write selection.csv and selection.json."""
    record = _record(selector, notes, counts)
    del record["variables"]
    table = selector.summary().variables
    return write_whole(
        {
            out / "selection.csv": table.to_csv,
            out / "selection.json": lambda to: to.write_text(
                json.dumps(record, indent=2, default=str) + "\n", encoding="utf-8"
            ),
        }
    )
