"""`selica plan`: which method, how many samples, which settings."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from selica.cli import plan_answers as answers
from selica.cli.naming import to_plan
from selica.cli.options import AsJson, Level, Plot
from selica.cli.output import bar, check_figure, print_json, say, write_figure
from selica.cli.plan_diagnosis import diagnosis
from selica.cli.plan_options import (
    MOST,
    Features,
    Methods,
    Power,
    Samples,
    SettingsChoice,
    SettingsName,
    Signals,
)
from selica.cli.plan_study import StudyOptions, asks
from selica.cli.plan_table import own_table

if TYPE_CHECKING:
    from selica.planning import Study


@asks("law", "strength", "sizes")
def compare(
    n_samples: Samples,
    n_features: Features,
    study: StudyOptions,
    n_signals: Signals = None,
    variable: Annotated[
        float | None,
        typer.Option(
            help="Effect of one variable, in the unit of the effects that are given or of "
            "--effect-size: how likely is it found?"
        ),
    ] = None,
    fdr: Level = 0.1,
    method: Methods = None,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Compare what all methods will find in a study. Each has best and default settings.

    Example: selica plan compare -n 400 -p 500 -k 50 --r2 0.7
    """
    check_figure(plot)
    sizes = _sizes(n_samples, n_features, study.signals(n_signals))
    from selica import planning  # late: other commands start without it
    from selica.planning.questions.sensitivity import most_sensitive

    names = to_plan(method) if method else None
    with bar("comparing") as progress:
        found = planning.compare_methods(
            **sizes,
            **study.keywords,
            variable=variable,
            fdr=fdr,
            methods=names,
            progress=progress,
        )
    changed = most_sensitive(found)
    if as_json:
        print_json(study.typed | answers.comparison_dict(found, study.effects.name, changed))
    else:
        say_study(found.study, {"n_samples", "n_signals", "strength"}, fdr)
        answers.print_comparison(found, changed, named=bool(method))
    write_figure(plot, found.plot, quiet=as_json)


@asks("law", "strength", "sizes")
def samples(
    n_features: Features,
    study: StudyOptions,
    n_signals: Signals = None,
    power: Power = 0.8,
    fdr: Level = 0.1,
    method: Methods = None,
    settings: SettingsName = SettingsChoice.best,
    at_most: Annotated[
        int, typer.Option(help="Largest number of samples to consider.", max=MOST)
    ] = 1_000_000,
    protocol: Annotated[
        bool, typer.Option(help="Print the answer as a paragraph for a study protocol.")
    ] = False,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Find the smallest number of samples that reaches a power.

    Example: selica plan samples -p 200 -k 20 --r2 0.6 --power 0.8
    """
    asked = {"n_features": n_features, "n_signals": study.signals(n_signals), "fdr": fdr}
    more: dict[str, Any] = {"settings": settings.value, "at_most": at_most}
    more["curves"] = plot is not None
    show = Shown(as_json, plot, protocol)
    _answer("required_samples", power, asked, study, more, method=method, show=show)


@asks("law")
def effect(
    n_samples: Samples,
    n_features: Features,
    study: StudyOptions,
    n_signals: Signals = None,
    power: Power = 0.8,
    fdr: Level = 0.1,
    method: Methods = None,
    settings: SettingsName = SettingsChoice.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Find the smallest effects with which a method reaches a power.

    The effect size is the root mean square of all effects, for standardised columns, in standard
    deviations of the noise, log odds, log rates or log hazards.

    Example: selica plan effect -n 400 -p 500 -k 50 --power 0.8
    """
    asked = _sizes(n_samples, n_features, study.signals(n_signals)) | {"fdr": fdr}
    more = {"settings": settings.value, "curves": plot is not None}
    show = Shown(as_json, plot)
    _answer("detectable_effect", power, asked, study, more, method=method, show=show)


@asks("law", "strength")
def signals(
    n_samples: Samples,
    n_features: Features,
    study: StudyOptions,
    power: Power = 0.8,
    fdr: Level = 0.1,
    method: Methods = None,
    settings: SettingsName = SettingsChoice.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Find the largest number of signals that leaves a power.

    With --r2 or --snr more signals are weaker ones, as their total strength is given; with
    --effect-size each signal keeps its strength.

    Example: selica plan signals -n 400 -p 500 --r2 0.9 --power 0.6
    """
    asked = {"n_samples": n_samples, "n_features": n_features, "fdr": fdr}
    more = {"settings": settings.value, "curves": plot is not None}
    show = Shown(as_json, plot)
    _answer("largest_support", power, asked, study, more, method=method, show=show)


@asks("law", "strength", "sizes")
def level(
    n_samples: Samples,
    n_features: Features,
    study: StudyOptions,
    n_signals: Signals = None,
    power: Power = 0.8,
    method: Methods = None,
    settings: SettingsName = SettingsChoice.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Find the smallest false discovery rate that leaves a power.

    Example: selica plan fdr -n 400 -p 500 -k 50 --r2 0.7 --power 0.5
    """
    asked = _sizes(n_samples, n_features, study.signals(n_signals))
    more = {"settings": settings.value, "curves": plot is not None}
    show = Shown(as_json, plot)
    _answer("achievable_fdr", power, asked, study, more, method=method, show=show)


class Shown(NamedTuple):
    """How an answer is shown."""

    as_json: bool
    plot: Path | None
    protocol: bool = False


def _answer(
    question: str,
    power: float,
    asked: dict[str, Any],
    study: StudyOptions,
    more: dict[str, Any],
    *,
    method: Sequence[str] | None,
    show: Shown,
) -> None:
    """Ask a function of `planning` for each method, and print the answers."""
    check_figure(show.plot)
    from selica import planning
    from selica.planning.questions.sensitivity import most_sensitive

    names = to_plan(method) if method else None
    ask = getattr(planning, question)
    with bar("searching") as progress:
        found = ask(power, **asked, **study.keywords, **more, method=names, progress=progress)
    found = answers.settled(found)
    paragraph = None
    if show.protocol:
        from selica.planning.questions.protocol import protocol

        paragraph = protocol(found, command=typed_command())
    changed = None if paragraph is not None and not show.as_json else most_sensitive(found)
    if show.as_json:
        told = answers.requirement_dict(found, study.typed | asked, changed)
        print_json(told | ({} if paragraph is None else {"protocol": paragraph}))
    elif paragraph is not None:
        typer.echo(paragraph)
    else:
        known: set[str] = {"n_samples", "n_signals"} & asked.keys()
        known |= set() if question == "detectable_effect" else {"strength"}
        say_study(found.study, known, asked.get("fdr"))
        answers.print_requirement(found, changed, named=bool(method))
    write_figure(show.plot, found.plot, quiet=show.as_json)


def _sizes(n_samples: int, n_features: int, n_signals: int) -> dict[str, Any]:
    return {"n_samples": n_samples, "n_features": n_features, "n_signals": n_signals}


def typed_command() -> str:
    """Return the command as it was typed, without what only says how the answer is shown."""
    words = [word for word in sys.argv[1:] if word not in ("--protocol", "--json")]
    return shlex.join(["selica", *words])


def say_study(study: Study, known: set[str], fdr: float | None) -> None:
    """Print what was asked, in a sentence.

    Parameters
    ----------
    study : Study
    known : set of str
        Which of "n_samples", "n_signals" and "strength" are not what is asked for.
    fdr : float or None
    """
    from selica._core.wording import signals as signals_in_words

    words = []
    if "n_samples" in known:
        told = study.response.informative(study.n_samples)
        words.append(f"{study.n_samples} samples" + (f" ({told})" if told else ""))
    words.append(f"{study.n_features} variables")
    if "n_signals" in known:
        words.append(signals_in_words(study.n_signals))
    if "strength" in known:
        typical = f" ({study.typical_effect})" if "n_signals" in known else ""
        words.append(f"R2 = {study.r2:.3g}{typical}")
    words += [] if fdr is None else [f"FDR {fdr:g}"]
    columns = [] if study.columns is None else [study.columns.label]
    say(", ".join([*words, *columns, study.response.label, study.effects.label]))
    typer.echo()


plan = typer.Typer(
    rich_markup_mode=None,
    help="Plan a study: which method, how many samples. Or diagnose one.",
)


@plan.callback(invoke_without_command=True)
def _questions(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


plan.command()(compare)
plan.command()(samples)
plan.command()(effect)
plan.command()(signals)
plan.command("fdr")(level)
plan.command("table")(own_table)
plan.command("diagnose")(diagnosis)
