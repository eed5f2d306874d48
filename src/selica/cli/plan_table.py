"""`selica plan table`: power on a table of one's own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console

from selica import catalogue
from selica._core.errors import ArgumentError
from selica._core.validation import count
from selica.cli.naming import to_plan
from selica.cli.options import (
    GAUSSIAN,
    R2,
    AsJson,
    Demo,
    EffectLaw,
    Effects,
    Jobs,
    Level,
    Plot,
    Seed,
    Snr,
    TableFile,
    check_jobs,
    effect_law,
)
from selica.cli.output import (
    bar,
    check_figure,
    print_json,
    print_table,
    say,
    waiting,
    write_figure,
)
from selica.cli.plan_answers import label
from selica.cli.plan_options import (
    MOST,
    EffectSize,
    Methods,
    Signals,
    signal_count,
    strength_of,
)
from selica.cli.run_lines import SelectorRun
from selica.cli.select_source import Source
from selica.cli.table_options import Drop, TableOptions

if TYPE_CHECKING:
    from selica._core.table import Table
    from selica._core.types import Array
    from selica.planning import PlasmodePower


def own_table(
    n_signals: Signals = None,
    table: TableFile = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-y", help="Column of the response, if the table has one; it is left out."
        ),
    ] = None,
    drop: Drop = None,
    n_samples: Annotated[
        int | None,
        typer.Option(
            "--n-samples", "-n", help="Rows of the study; by default those of the table.", max=MOST
        ),
    ] = None,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    fdr: Level = 0.1,
    effects: Effects = GAUSSIAN,
    method: Methods = None,
    n_sets: Annotated[
        int,
        typer.Option(
            help="Number of simulated data sets with planted signals; 0: only the theory."
        ),
    ] = 10,
    theory: Annotated[
        bool,
        typer.Option(
            help="Print a first answer by the theory for correlated columns before the simulation."
        ),
    ] = True,
    seed: Seed = 0,
    n_jobs: Jobs = None,
    as_json: AsJson = False,
    plot: Plot = None,
    demo: Demo = False,
) -> None:
    """Measure power on your own table, with simulated responses.

    Correlations lower the power here as they will in the study. By default all procedures run, with
    default settings, that set their threshold from the data. A study of fewer rows than the table
    has takes some of them; one of more rows has Gaussian ones with the correlations of the table.

    Example: selica plan table measurements.csv --target yield -k 20 --r2 0.6
    """
    check_figure(plot)
    law = effect_law(effects)
    planted = strength_of(r2, snr, effect_size)
    planted |= {"n_signals": signal_count(n_signals, law), "fdr": fdr, "effects": law.law}
    check_jobs(n_jobs)
    if n_sets != 0:
        count("n_sets", n_sets, at_least=2)  # before anything is printed
    elif not theory:
        raise ArgumentError("n_sets must be at least 2 where --no-theory leaves out the theory.")
    # a table without a response gets one that is called y, as in the other examples
    source = Source.of(table, target if demo else target or "y", demo, TableOptions.of(drop=drop))
    from selica import planning, tables
    from selica._core.wording import signals

    if source.table is None:
        X, names = source.read()[::2]
    else:
        X, names = tables.variables(tables.read_table(source.table), source.options.drop, target)
    chosen = to_plan(method) if method else _calibrated()
    rows = len(X) if n_samples is None else n_samples
    planted["n_samples"] = n_samples
    first = None
    if theory:
        with waiting("a first answer by theory"):
            first = planning.correlated_power(X, **planted, methods=chosen, random_state=seed)
        if not as_json:
            _print_first(first, more=n_sets > 0)
    if n_sets == 0:
        told = _assumptions(law, len(X), rows, theory=True)
        _only_theory(first, chosen, as_json, fdr, told)
        return
    with bar(f"{len(names)} variables, {rows} rows") as progress:
        found = planning.plasmode_power(
            X,
            **planted,
            methods=chosen,
            n_sets=n_sets,
            theory=False,
            random_state=seed,
            n_jobs=n_jobs,
            progress=progress,
        )
    found = replace(found, predicted=first)
    assumed = _assumptions(law, len(X), rows)
    best = _best(found, chosen, fdr)
    run = None if best is None else _as_it_comes(best, X, rows, planted, source)
    if as_json:
        size = {"n_samples": rows, "n_features": len(names), "n_signals": planted["n_signals"]}
        report = found.to_dict() | {
            "effects": law.name,
            "assumptions": _assumptions(law, len(X), rows),
        }
        picked = None if run is None else run.row | {"method": str(best)}
        print_json(size | report | {"best": picked})
        write_figure(plot, found.plot, quiet=True)
        return
    say(
        f"{rows} rows, {len(names)} variables; {signals(planted['n_signals'])} planted in "
        f"{found.n_sets} data sets, {law.law.label}, R2 = {found.r2:.2g} on average"
    )
    typer.echo()
    _print(found, fdr)
    write_figure(plot, found.plot, quiet=False)
    if best is None or run is None:
        say(f"No method finds anything in such data and keeps an FDR of {fdr:g}.")
    else:
        typer.echo(f"Most power: {label(best)}.")
    say(
        "The comparison is limited to methods whose measured FDR may be at most the level (by its "
        "95 % interval)."
    )
    for name, row in zip(chosen, found.methods, strict=True):
        if row["fdr_low"] > fdr:
            say(
                f"Left out: {label(name)}: measured FDR {row['fdr']:.2f} is above the level "
                f"{fdr:g}."
            )
    say(assumed)
    if run is not None:
        typer.echo("\nTo select from these data:")
        run.tell()


def _calibrated() -> list[str]:
    """Return the methods of the catalogue that set their threshold from the data."""
    rows = catalogue.methods(calibrated=True)
    return [row.name for row in rows if row.selector is not None and row.name != "auto"]


def _only_theory(
    first: Table | None, names: list[str], as_json: bool, fdr: float, assumptions: str
) -> None:
    """End with what the theory says."""
    rows = [] if first is None else list(first)
    known = [row for row in rows if row["power"] is not None]
    kept = [row for row in known if round(row["power"], 2) > 0.0 and row["fdr"] < fdr + 0.005]
    best = max(kept, key=lambda row: float(row["power"]), default=None)
    if as_json:
        told = {"n_sets": 0, "fdr": fdr, "predicted": rows, "assumptions": assumptions}
        print_json(told | {"best": None if best is None else {"method": best["method"]}})
        return
    if not known:
        say("The theory has no answer for these methods, or for so many columns.")
    elif best is None:
        say(f"No method finds anything in such data and keeps an FDR of {fdr:g}.")
    else:
        say(f"Most power: {best['label']}.")
    answered = {row["method"] for row in known}
    missing = [label(name) for name in names if name not in answered]
    if known and missing:
        say(f"Not in the table: {', '.join(missing)}; a simulation (--n-sets 20) measures them.")
    say(assumptions)


def _assumptions(effects: EffectLaw, have: int, rows: int, theory: bool = False) -> str:
    """Return what power on a table of one's own assumes, in a simulation or by theory."""
    columns = "columns are those of the table"
    if theory:
        columns = f"{rows} Gaussian rows with the correlations of the table"
    elif rows < have:
        columns = f"each data set has {rows} rows of the table"
    elif rows > have:
        columns = "rows are Gaussian with the correlations of the table"
    return f"Assumes independent rows, a linear response and {effects.law.label}; {columns}."


def _best(found: PlasmodePower, names: list[str], fdr: float) -> str | None:
    """Return the most powerful of those that may well keep the level."""
    kept = {
        name: float(row["power"])
        for name, row in zip(names, found.methods, strict=True)
        if row["fdr_low"] <= fdr and row["power"] > 0.0
    }
    return max(kept, key=lambda name: kept[name], default=None)


def _as_it_comes(
    method: str, X: Array, rows: int, planted: dict[str, Any], source: Source
) -> SelectorRun:
    """Return how to run the settings that ran."""
    from selica import planning

    row = catalogue.method(method)
    if row.predictor is None:
        level = {"fdr": planted["fdr"]}
        if "fdr" not in row.levels:
            level = {"pfer": planted["fdr"] * planted["n_signals"]}
        return SelectorRun(row.class_name, {**row.preset, **level}, source.words)
    study = {name: value for name, value in planted.items() if name != "n_samples"}
    sizes = (rows, int((np.ptp(X, axis=0) > 0.0).sum()))
    found = planning.compare_methods(*sizes, **study, methods=[method])
    return SelectorRun.of(found.one(method, "default"), source.words)


def _print_first(first: Table, more: bool) -> None:
    """Print what is known before the simulation, if there is `more` to come."""
    if len(first) == 0:
        return
    known = [row for row in first if row["power"] is not None]
    if known:
        rows = [[row["label"], f"{row['power']:.2f}", f"{row['fdr']:.3f}"] for row in known]
        headings = ["method", "power", "FDR"]
        title = "First answer, by theory" if more else "Power by theory"
        print_table(Console(highlight=False), headings, rows, title)
        typer.echo()
        if more:
            say(
                "The theory is for Gaussian columns with the correlations of the table. The "
                "simulation follows."
            )
    for row in first:
        if row["status"] != "converged":
            say(f"Note: theory of {row['label']}: {row['status']}")
    if more:
        typer.echo()


def _print(found: PlasmodePower, fdr: float) -> None:
    def span(row: dict[str, Any], key: str) -> str:
        return f"{row[key]:.2f} ({row[f'{key}_low']:.2f}-{row[f'{key}_high']:.2f})"

    told = found.predicted is not None
    theory = {
        row["method"]: found.predicted_power(row["method"]) if told else row["predicted"]
        for row in found.methods
    }
    rows = [
        [
            row["label"],
            *(span(row, key) for key in ("power", "fdr")),
            f"{row['selected']:.1f}",
            "-" if theory[row["method"]] is None else f"{theory[row['method']]:.2f}",
        ]
        for row in found.methods
    ]
    headings = ["method", "power", "FDR", "selected", "theory"]
    title = f"Power at FDR {fdr:g}, 95 % intervals"
    print_table(Console(highlight=False), headings, rows, title, wrapped=True)
    if told:
        typer.echo("\ntheory: power of Gaussian columns with the correlations of the table")
    else:
        typer.echo("\ntheory: power with independent columns; correlated ones usually have less")
    for row in found.methods:
        if row["refused"]:
            say(
                f"Note: {row['label']} refused {row['refused']} of {found.n_sets} data sets "
                "and selected nothing there: refits did not confirm message passing."
            )
    typer.echo()
