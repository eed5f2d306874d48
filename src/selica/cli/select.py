"""`selica select`: variables of a table, with what the selection promises."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from selica._core.errors import ArgumentError
from selica._core.files import check_folder
from selica._core.keeping import keeping
from selica._core.progress import stoppable
from selica.cli.genotype_options import (
    Cache,
    Chromosomes,
    ComponentCount,
    Exclude,
    Extract,
    GenotypeOptions,
    KeepPeople,
    Layer,
    Maf,
    MaxMissing,
    Pheno,
    RemovePeople,
)
from selica.cli.naming import listed, runnable, takers
from selica.cli.options import (
    AsJson,
    CopySampler,
    Demo,
    EngineName,
    Jobs,
    Penalty,
    Resamples,
    Seed,
    TableFile,
    Target,
)
from selica.cli.output import print_json, say, waiting
from selica.cli.select_clumps import CLUMPS, ClumpOptions, select_clumps
from selica.cli.select_method import unfitted
from selica.cli.select_scores import ScoreOptions, select_scores
from selica.cli.select_source import Source
from selica.cli.table_options import (
    Drop,
    Event,
    Keep,
    Kind,
    MissingPolicy,
    Offset,
    Policy,
    ResponseKind,
    ResponseName,
    RowsOf,
    Strata,
    TableOptions,
    Time,
    Weights,
)

if TYPE_CHECKING:
    from selica.reports import Selection


class RowResampling(StrEnum):
    """Ways to draw rows again."""

    bootstrap = "bootstrap"
    poisson = "poisson"
    subsample = "subsample"
    pairs = "pairs"
    exponential = "exponential"


class Assumption(StrEnum):
    """Assumptions on the frequencies of irrelevant variables."""

    none = "none"
    unimodal = "unimodal"
    r_concave = "r-concave"


class Calibration(StrEnum):
    """What sets the threshold of integrated stability selection."""

    chance = "chance"
    bound = "bound"


class Statistic(StrEnum):
    """Ways to compare a variable with its copy."""

    auto = "auto"
    coefficient = "coefficient"
    entry = "entry"
    correlation = "correlation"
    bayes = "bayes"
    mlr = "mlr"


def select(
    table: TableFile = None,
    target: Target = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME",
            help=f"How to select, one of {listed(runnable())}; auto chooses one for the table "
            "and says why. `selica methods` says what they promise.",
        ),
    ] = "auto",
    fdr: Annotated[
        float | None,
        typer.Option(
            help=f"False discovery rate to allow ({takers('fdr')}); by default 0.1 where the "
            "method has no other level."
        ),
    ] = None,
    pfer: Annotated[
        float | None,
        typer.Option(
            help=f"Expected number of false selections to allow ({takers('pfer')}); by default 1 "
            "where the method has no other level."
        ),
    ] = None,
    kfwer: Annotated[
        tuple[int, float] | None,
        typer.Option(
            metavar="K LEVEL",
            help=f"Probability LEVEL of K or more false selections to allow ({takers('kfwer')}).",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Share of the resamples or copies that must select a variable; for the lasso, "
            f"size that a coefficient must exceed ({takers('threshold')})."
        ),
    ] = None,
    n_resamples: Resamples = None,
    lam: Penalty = None,
    l1_ratio: Annotated[
        float | None,
        typer.Option(
            help="Share of the l1 norm in the penalty, as in scikit-learn; below 1 an elastic net "
            f"({takers('l1_ratio')})."
        ),
    ] = None,
    q: Annotated[
        int | None,
        typer.Option(
            "--q",
            help="Each resample selects the first q variables of its path instead of those at "
            f"--lam ({takers('q')}).",
        ),
    ] = None,
    weakness: Annotated[
        float | None,
        typer.Option(
            help="In each resample, the penalty of each variable is divided by this number with "
            "probability 1/2; the default, 1, changes nothing "
            f"({takers('weakness')})."
        ),
    ] = None,
    resample_rate: Annotated[
        float | None,
        typer.Option(
            help="Number of rows drawn per row of the data, in each resample "
            f"({takers('resample_rate')})."
        ),
    ] = None,
    resampling: Annotated[
        RowResampling | None,
        typer.Option(
            help="How rows are drawn: by default pairs of halves, or bootstrap where --lam or "
            "--fdr is given "
            f"({takers('resampling')})."
        ),
    ] = None,
    assumption: Annotated[
        Assumption | None,
        typer.Option(
            help="What the bound on false selections assumes about the selection frequencies of "
            f"irrelevant variables ({takers('assumption')})."
        ),
    ] = None,
    calibration: Annotated[
        Calibration | None,
        typer.Option(
            help="What sets the threshold: the scores that chance gives, or the published bound "
            f"({takers('calibration')})."
        ),
    ] = None,
    order: Annotated[
        int | None,
        typer.Option(
            help="Power with which shares of the resamples count, 1 or 2; with 1 the bound is "
            f"proven ({takers('order')})."
        ),
    ] = None,
    engine: EngineName = None,
    sampler: CopySampler = None,
    statistic: Annotated[
        Statistic | None,
        typer.Option(
            help="How a variable is compared with its copy; by default bayes, or coefficient where "
            f"a penalty is given ({takers('statistic')})."
        ),
    ] = None,
    joint_copies: Annotated[
        int | None,
        typer.Option(
            help="Knockoff copies of each variable in one fit: m of them select from 1 / (m FDR) "
            f"variables on; 1 by default ({takers('joint_copies')})."
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="GROUPS",
            help="Select groups of variables, not single ones: correlation (clusters of columns "
            "with correlations above 0.5, on average), correlation:0.7, or FILE:COLUMN, a column "
            f"of a table with one row for each variable ({takers('groups')}).",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="Probability with which bounds on the false variables of any list hold; 0.95 by "
            f"default ({takers('confidence')})."
        ),
    ] = None,
    time: Time = None,
    event: Event = None,
    response: ResponseName = ResponseKind.auto,
    keep: Keep = None,
    drop: Drop = None,
    rows_of: RowsOf = None,
    weights: Weights = None,
    offset: Offset = None,
    strata: Strata = None,
    missing: MissingPolicy = Policy.impute,
    kind: Kind = None,
    pheno: Pheno = None,
    components: ComponentCount = None,
    maf: Maf = None,
    max_missing: MaxMissing = None,
    extract: Extract = None,
    exclude: Exclude = None,
    chromosomes: Chromosomes = None,
    keep_people: KeepPeople = None,
    remove_people: RemovePeople = None,
    cache: Cache = None,
    layer: Layer = None,
    seed: Seed = 0,
    n_jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for selection.csv, selection.json and report.html."),
    ] = None,
    bundle: Annotated[
        Path | None,
        typer.Option(
            help="ZIP file with table, settings and a script, by which anyone can repeat the "
            "selection to the last digit."
        ),
    ] = None,
    ld: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Select from Z-scores: TABLE has columns marker, z (or beta and se), allele_1 and "
            "allele_2, and PATH is LD, an .npz file of blocks, a folder of them, or genotypes of a "
            "reference panel (.bed, .pgen).",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Number of people behind the Z-scores (with --ld).")
    ] = None,
    accept_mismatch: Annotated[
        bool,
        typer.Option(
            "--accept-mismatch",
            help="Go on with LD that is not that of the people behind the Z-scores; nothing is "
            "promised then (with --ld).",
        ),
    ] = False,
    resolutions: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS",
            help="For genotypes with --method clump-knockoffs: markers of a clump on average, or "
            "squared correlations below 1, with commas. By default 5,20,100.",
        ),
    ] = None,
    as_json: AsJson = False,
    demo: Demo = False,
) -> None:
    """Select the variables of a table that explain a target. Say what is promised.

    Example: selica select measurements.csv --target yield --fdr 0.1 --out report

    Genotypes: selica select cohort.bed --pheno y.txt --keep covariates.txt --components 10

    AnnData: selica select cells.h5ad --target type --layer counts
    """
    of_columns = TableOptions.of(
        time=time, event=event, response=response, keep=keep, drop=drop, rows_of=rows_of,
        weights=weights, offset=offset, strata=strata, missing=missing, kind=kind,
    )  # fmt: skip
    of_genotypes = GenotypeOptions.of(
        pheno=pheno, components=components, maf=maf, max_missing=max_missing, extract=extract,
        exclude=exclude, chromosomes=chromosomes, keep_people=keep_people,
        remove_people=remove_people, cache=cache,
    )  # fmt: skip
    given: dict[str, Any] = {
        "fdr": fdr,
        "pfer": pfer,
        "kfwer": kfwer,
        "threshold": threshold,
        "n_resamples": n_resamples,
        "lam": lam,
        "l1_ratio": l1_ratio,
        "q": q,
        "weakness": weakness,
        "resample_rate": resample_rate,
        "resampling": resampling,
        "assumption": assumption,
        "calibration": calibration,
        "order": order,
        "engine": engine,
        "sampler": sampler,
        "statistic": statistic,
        "joint_copies": joint_copies,
        "groups": groups,
        "confidence": confidence,
        "n_jobs": n_jobs,
    }
    if ld is not None:
        foreign = {
            "target": target, "bundle": bundle, "demo": demo or None, "layer": layer,
            "resolutions": resolutions,
        }  # fmt: skip
        select_scores(
            ScoreOptions(table, ld, samples, accept_mismatch, seed, out, as_json=as_json),
            given | foreign | of_genotypes.given | ({} if method == "auto" else {"method": method}),
            of_columns.words,
        )
        return
    if samples is not None or accept_mismatch:
        raise ArgumentError("--samples and --accept-mismatch belong to --ld.")
    source = Source.of(table, target, demo, of_columns, of_genotypes, layer)
    if bundle is not None and source.stored:
        raise ArgumentError(
            "--bundle: genotypes and arrays in files are not packed; --out writes a report."
        )
    if source.of_genotypes and method == CLUMPS:
        select_clumps(
            partial(source.prepared, seed),
            ClumpOptions(resolutions, seed, out, as_json=as_json),
            given,
        )
        return
    if resolutions is not None:
        raise ArgumentError(f"--resolutions belongs to genotypes with --method {CLUMPS}.")
    selector = unfitted(source.method(method, given), seed, **given)
    # late, so that other commands start without scikit-learn and the compiled solvers
    from selica import reports

    for place in (out, None if bundle is None else bundle.parent):
        if place is not None:
            check_folder(place)
    with waiting("reading"):
        prepared = source.prepared(seed)
    rows, variables = prepared.X.shape[0], len(prepared.names)
    with stoppable(), _kept_in(out):
        with waiting(f"selecting among {variables:,} variables, {rows:,} rows"):
            found = source.provenance(selector)
            selection = reports.answer_to(selector, prepared, provenance=found)
        with waiting("writing"):
            files = [] if out is None else reports.write_report(selection, out)
            if bundle is not None:
                files.append(selection.bundle(bundle))
    if as_json:
        _print_json(selection, files, demo)
    else:
        _print(selection, out, bundle, demo)


def _kept_in(out: Path | None) -> AbstractContextManager[object]:
    """Return a context in which finished parts are kept in the folder of the report."""
    if out is None:
        return nullcontext()
    return keeping(out / "unfinished", tell=lambda sentence: typer.echo(sentence, err=True))


def _print_json(selection: Selection, files: list[Path], demo: bool) -> None:
    report = selection.to_dict() | {"variables": selection.rows}
    report["files"] = [str(path) for path in files]
    if demo:
        from selica.reports.demo import probes_of

        report["probes"] = probes_of(selection)
    print_json(report)


def _print(selection: Selection, out: Path | None, bundle: Path | None, demo: bool) -> None:
    if demo:
        from selica.reports.demo import short_answer

        typer.echo(short_answer(selection, None if out is None else out / "report.html"))
    else:
        typer.echo(str(selection))
    typer.echo()
    if out is not None:
        place = out / "report.html"
        say(f"The report is {place}; beside it are selection.csv and selection.json.")
    if bundle is not None:
        say(f"The bundle is {bundle}: it has all that a reviewer needs to repeat the selection.")
    if out is None and bundle is None:
        packed = ", and --bundle FILE.zip all that a reviewer needs to repeat it"
        say(
            "Nothing was written: --out FOLDER writes a page to hand over"
            f"{'' if selection.stored else packed}."
        )
