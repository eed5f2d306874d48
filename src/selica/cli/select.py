"""`selica select`: variables of a table, with what the selection promises."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from selica._core.errors import ArgumentError

if TYPE_CHECKING:
    from selica.reports import Selection


class Method(StrEnum):
    """Selectors by name."""

    stability = "stability"
    knockoffs = "knockoffs"
    derandomized = "derandomized"
    aggregated = "aggregated"
    splitting = "splitting"
    bolasso = "bolasso"
    lasso = "lasso"


class Resampling(StrEnum):
    """Ways to draw rows again."""

    bootstrap = "bootstrap"
    poisson = "poisson"
    subsample = "subsample"
    pairs = "pairs"
    exponential = "exponential"


class Assumption(StrEnum):
    """On the frequencies of irrelevant variables."""

    none = "none"
    unimodal = "unimodal"
    r_concave = "r-concave"


class Sampler(StrEnum):
    """Ways to make knockoff copies."""

    gaussian = "gaussian"
    fixed = "fixed"
    iid = "iid"


class Statistic(StrEnum):
    """Ways to compare a variable with its copy."""

    coefficient = "coefficient"
    entry = "entry"
    correlation = "correlation"


class Engine(StrEnum):
    """Ways to selection probabilities."""

    auto = "auto"
    monte_carlo = "monte-carlo"
    semi_analytic = "semi-analytic"


# Class of each method, and which parameter of it an option sets; all take the seed.
_KNOCKOFFS = {name: name for name in ("fdr", "lam", "sampler", "statistic", "n_jobs")}
_BOLASSO = {"threshold": "threshold", "n_resamples": "n_resamples", "lam": "lam"}
_METHODS: dict[Method, tuple[str, dict[str, str]]] = {
    Method.stability: (
        "StabilitySelection",
        {"pfer": "pfer", "resample_rate": "resample_rate", "resampling": "resampling"}
        | {"fdr": "fdr", "engine": "engine"}
        | {"assumption": "assumption", "q": "q", "weakness": "weakness", "n_jobs": "n_jobs"}
        | _BOLASSO,
    ),
    Method.knockoffs: ("KnockoffSelection", _KNOCKOFFS),
    Method.derandomized: (
        "DerandomizedKnockoffs",
        {"pfer": "pfer", "kfwer": "kfwer", "threshold": "threshold", "n_resamples": "n_copies"}
        | {"engine": "engine"}
        | _KNOCKOFFS,
    ),
    Method.aggregated: ("AggregatedKnockoffs", {"n_resamples": "n_copies"} | _KNOCKOFFS),
    Method.splitting: (
        "DataSplitting",
        {"fdr": "fdr", "n_resamples": "n_splits", "n_jobs": "n_jobs"},
    ),
    Method.bolasso: ("Bolasso", {"n_jobs": "n_jobs"} | _BOLASSO),
    Method.lasso: ("LassoSelection", {"lam": "lam", "threshold": "threshold"}),
}
_HEADINGS = {"error": "s.e.", "close": "close call"}


def select(
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="CSV or TSV (also .gz) or Parquet, one row a sample, numbers but for the target.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", "-y", help="Column to explain: numbers, or two classes."),
    ] = None,
    method: Annotated[Method, typer.Option(help="How to select.")] = Method.derandomized,
    fdr: Annotated[
        float | None,
        typer.Option(
            help="False discovery rate to allow; 0.1 by default (all but bolasso, lasso)."
        ),
    ] = None,
    pfer: Annotated[
        float | None,
        typer.Option(help="Expected number of false selections to allow (stability, derandomized)"),
    ] = None,
    kfwer: Annotated[
        tuple[int, float] | None,
        typer.Option(
            metavar="K LEVEL",
            help="Probability LEVEL of K or more false selections to allow (derandomized).",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Probability from which a variable is selected (stability, derandomized, "
            "bolasso); for the lasso, size of a coefficient."
        ),
    ] = None,
    n_resamples: Annotated[
        int | None, typer.Option(help="Resamples, knockoff copies or splits.")
    ] = None,
    lam: Annotated[
        str | None,
        typer.Option(
            help='Penalty in glmnet\'s unit: a number, "auto", "cv", "theory" or "power".'
        ),
    ] = None,
    q: Annotated[
        int | None,
        typer.Option(
            "--q",
            help="A resample selects the first so many variables of its path, not those at --lam "
            "(stability).",
        ),
    ] = None,
    weakness: Annotated[
        float | None,
        typer.Option(
            help="Divides each penalty with probability 1/2 in each resample; 1 by default "
            "(stability)."
        ),
    ] = None,
    resample_rate: Annotated[
        float | None, typer.Option(help="Rows drawn for each row there is (stability).")
    ] = None,
    resampling: Annotated[
        Resampling | None,
        typer.Option(help="How rows are drawn (stability); with --pfer pairs, else bootstrap."),
    ] = None,
    assumption: Annotated[
        Assumption | None, typer.Option(help="Of the bound on false selections (stability).")
    ] = None,
    engine: Annotated[
        Engine | None,
        typer.Option(
            help="Refits (monte-carlo, the default), message passing without refits "
            "(semi-analytic), or message passing checked by refits (auto, the default with "
            "--method stability --fdr)."
        ),
    ] = None,
    sampler: Annotated[
        Sampler | None, typer.Option(help="How knockoff copies are made; gaussian by default.")
    ] = None,
    statistic: Annotated[
        Statistic | None,
        typer.Option(
            help="How a variable is compared with its copy; coefficient by default (knockoffs)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.", min=0)] = 0,
    n_jobs: Annotated[
        int | None, typer.Option(help="Worker processes; -1 is one for each core.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Column to leave out; repeatable.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for selection.csv, selection.json and report.html."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    demo: Annotated[
        bool,
        typer.Option(
            "--demo",
            help="Instead of a TABLE: diabetes progression of 442 patients, with products of "
            "columns and 50 probes of pure noise that should not be selected.",
        ),
    ] = False,
) -> None:
    """Variables of a table that explain a target, and what the selection promises.

    Example: selica select measurements.csv --target yield --fdr 0.1 --out report
    """
    options = {
        "fdr": fdr,
        "pfer": pfer,
        "kfwer": kfwer,
        "threshold": threshold,
        "n_resamples": n_resamples,
        "lam": _penalty(lam),
        "q": q,
        "weakness": weakness,
        "resample_rate": resample_rate,
        "resampling": None if resampling is None else resampling.value,
        "assumption": None if assumption is None else assumption.value,
        "engine": None if engine is None else engine.value,
        "sampler": None if sampler is None else sampler.value,
        "statistic": None if statistic is None else statistic.value,
        "n_jobs": n_jobs,
    }
    parameters = _parameters(method, {k: v for k, v in options.items() if v is not None})
    _check_source(table, target, drop, demo)
    # late, so that other commands start without scikit-learn and the compiled solvers
    from selica import reports, selectors
    from selica.experiments.reproduction import check_folder
    from selica.reports.demo import TARGET

    if demo:
        columns, name = reports.demo_table(), TARGET
    else:
        assert table is not None
        assert target is not None
        columns, name = reports.read_table(table), target
    X, y, names = reports.split(columns, name, drop or ())
    if out is not None:
        check_folder(out)
    selector = getattr(selectors, _METHODS[method][0])(**parameters, random_state=seed)
    errors = Console(stderr=True)
    if errors.is_terminal:
        with errors.status(f"selecting among {len(names)} variables, {len(y)} rows"):
            selection = reports.select(selector, X, y, names, name)
    else:
        selection = reports.select(selector, X, y, names, name)
    files = [] if out is None else reports.write_report(selection, out)
    if as_json:
        _print_json(selection, files, demo)
    else:
        _print(selection, files, demo)


def _penalty(lam: str | None) -> float | str | None:
    if lam is None or lam in ("auto", "cv", "theory", "power"):
        return lam
    try:
        return float(lam)
    except ValueError:
        raise ArgumentError(
            f"--lam must be 'auto', 'cv', 'theory', 'power' or a number; got {lam!r}."
        ) from None


def _parameters(method: Method, given: dict[str, Any]) -> dict[str, Any]:
    """Arguments of the selector; an option that it does not have is an error, not ignored."""
    known = _METHODS[method][1]
    foreign = [_option(name) for name in given if name not in known]
    if foreign:
        raise ArgumentError(
            f"{' and '.join(foreign)} {'does' if len(foreign) == 1 else 'do'} not belong to "
            f"--method {method.value}, which takes {', '.join(map(_option, sorted(known)))}."
        )
    lam = given.get("lam")
    if (lam == "theory" and "sampler" in known) or (lam == "power" and "weakness" not in known):
        raise ArgumentError(f"--lam {lam!r} does not belong to --method {method.value}.")
    if given.get("n_jobs") == 0:
        raise ArgumentError("--n-jobs must not be 0.")
    if method is Method.stability and "pfer" in given:
        given = {"resampling": "pairs"} | given  # the bounds are for halves of the rows
    if method is Method.stability and "fdr" in given:
        given = {"engine": Engine.auto.value} | given  # only message passing knows the threshold
    if method is Method.derandomized and not given.keys() & {"fdr", "pfer", "kfwer", "threshold"}:
        given = {"fdr": 0.1} | given
    return {known[name]: value for name, value in given.items()}


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _check_source(
    table: Path | None, target: str | None, drop: list[str] | None, demo: bool
) -> None:
    if demo and (table is not None or target is not None or drop):
        raise ArgumentError("--demo brings its own table: leave out TABLE, --target and --drop.")
    if demo:
        return
    if table is None:
        raise ArgumentError("Name the TABLE to read, or try --demo.")
    if target is None:
        raise ArgumentError("Name the column to explain with --target.")


def _probes(selection: Selection) -> dict[str, int]:
    from selica.reports.demo import N_PROBES, is_probe

    return {"added": N_PROBES, "selected": sum(map(is_probe, selection.selected))}


def _print_json(selection: Selection, files: list[Path], demo: bool) -> None:
    from selica.reports.report import plain

    report = selection.to_dict() | {"variables": selection.rows}
    report["files"] = [str(path) for path in files]
    if demo:
        report["probes"] = _probes(selection)
    typer.echo(json.dumps(plain(report), indent=2, allow_nan=False))


def _print(selection: Selection, files: list[Path], demo: bool) -> None:
    console = Console(highlight=False)

    def say(text: str) -> None:
        console.print(text, soft_wrap=True, markup=False)

    say(f"{selection.summary.title}\n")
    rows = selection.rows
    shown = rows[: selection.summary.shown]
    _print_rows(console, shown)
    if len(rows) > len(shown):
        say(f"... and {len(rows) - len(shown)} more variables")
    say(f"\n{selection.guarantee}")
    for note in selection.notes:
        say(f"Note: {note}")
    if files:
        say(f"\nThe report is {files[-1]}; beside it are {_listed(files[:-1])}")
    if demo:
        probes = _probes(selection)
        say(f"\nOf {probes['added']} probes, which are pure noise, {probes['selected']} selected.")


def _listed(files: list[Path]) -> str:
    return " and ".join(path.name for path in files)


def _print_rows(console: Console, rows: list[dict[str, Any]]) -> None:
    from selica.selectors.summary import cell

    table = Table(box=None, pad_edge=False)
    for column in rows[0]:
        side: Any = "left" if column == "variable" else "right"
        table.add_column(_HEADINGS.get(column, column), justify=side, no_wrap=True)
    for row in rows:
        # a name with brackets is not markup
        table.add_row(*(Text(cell(value)) for value in row.values()))
    # a number cut off at the edge of a narrow terminal would be a wrong number
    width = Measurement.get(console, console.options.update(max_width=1000), table).maximum
    Console(width=max(width, console.width), highlight=False).print(table)
