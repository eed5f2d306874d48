"""`selica plan diagnose`: a selection, and the power of the study behind it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from selica._core.errors import BoundaryWarning, ConvergenceWarning, DoesNotApply
from selica.cli.naming import diagnosed, listed, to_diagnose
from selica.cli.options import (
    AsJson,
    CopySampler,
    Demo,
    EngineName,
    Jobs,
    Level,
    Penalty,
    Plot,
    Resamples,
    Seed,
    TableFile,
    Target,
)
from selica.cli.output import check_figure, copyable, print_json, say, waiting, write_figure
from selica.cli.plan_options import Power
from selica.cli.select_method import unfitted
from selica.cli.select_source import Source
from selica.cli.table_options import Drop, TableOptions

if TYPE_CHECKING:
    from selica.planning import Diagnosis


def diagnosis(
    table: TableFile = None,
    target: Target = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="NAME", help=f"How to select, one of {listed(diagnosed())}."
        ),
    ] = "knockoffs-evalues",
    fdr: Level = 0.1,
    power: Power = 0.8,
    n_resamples: Resamples = None,
    lam: Penalty = None,
    engine: EngineName = None,
    sampler: CopySampler = None,
    seed: Seed = 0,
    n_jobs: Jobs = None,
    drop: Drop = None,
    as_json: AsJson = False,
    plot: Plot = None,
    demo: Demo = False,
) -> None:
    """Select, and estimate the power of the study.

    The answer says what the data allowed to find, and how many samples would show more.

    Example: selica plan diagnose measurements.csv --target yield --method knockoffs
    """
    check_figure(plot)
    row = to_diagnose(method)
    source = Source.of(table, target, demo, TableOptions.of(drop=drop))
    selector = unfitted(
        row.name,
        seed,
        fdr=fdr,
        n_resamples=n_resamples,
        lam=lam,
        engine=engine,
        sampler=sampler,
        n_jobs=n_jobs,
    )
    from selica import planning, reports, tables
    from selica._core.losses import read_response, require
    from selica._core.wording import assumptions
    from selica.theory import GaussianEffects

    columns = source.columns()
    X, y, names = tables.split(columns, str(source.target), source.options.drop)
    try:
        require("diagnosis", read_response("auto", y)[0])
    except DoesNotApply as error:
        raise DoesNotApply(f"target {source.target!r}: {error}") from None
    with (
        warnings.catch_warnings(record=True) as caught,
        waiting(f"selecting among {len(names)} variables, {len(y)} rows, and diagnosing"),
    ):
        warnings.simplefilter("always")
        selection = reports.answer(selector, X, y, names, str(source.target), columns)
        found = planning.diagnose(selector, X, y, power=power)
    kinds = (BoundaryWarning, ConvergenceWarning)
    said = [str(w.message) for w in caught if issubclass(w.category, kinds)]
    notes = list(dict.fromkeys([*selection.cautions, *selection.notes, *said]))
    words = _compared(found)
    if as_json:
        more: dict[str, Any] = {"selected_variables": selection.selected}
        more["notes"] = [*notes, *found.notes]
        more["assumptions"] = None if words is None else assumptions(GaussianEffects())
        command = None if words is None else " ".join(words)
        print_json(found.to_dict() | more | {"command": command})
        _draw(plot, found, quiet=True)
        return
    for line in str(found).splitlines():
        say(line)
    for note in notes:
        say(f"Note: {note}")
    _draw(plot, found, quiet=False)
    if words is not None:
        typer.echo("\nAll methods in such a study:")
        typer.echo(copyable(words))
    else:
        say(
            "`selica plan table` measures the power in these columns, correlations included (see "
            "`selica plan table --help`)."
        )


def _compared(found: Diagnosis) -> list[str] | None:
    """Return the command that compares all methods in such a study; None without an estimate."""
    if found.reason is not None or found.r2 is None:
        return None
    sizes = f"-n {found.n_samples} -p {found.n_features} -k {found.n_signals}"
    return ["selica plan compare", sizes, f"--r2 {found.r2:.3g}", f"--fdr {found.fdr:g}"]


def _draw(plot: Path | None, found: Diagnosis, *, quiet: bool) -> None:
    """Draw the figure of a diagnosis, if it has one."""
    if found.reason is None:
        write_figure(plot, found.plot, quiet=quiet)
    elif plot is not None and not quiet:
        say(f"No figure: {found.reason}.")
