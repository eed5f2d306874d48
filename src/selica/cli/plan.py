"""`selica plan`: which method, how many samples, which settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from selica.cli import plan_answers as answers
from selica.cli.options import R2, AsJson, EffectLaw, Effects, Level, Plot, Snr
from selica.cli.output import check_figure, each, print_json, say, write_figure
from selica.cli.plan_options import (
    MOST,
    As,
    EffectSize,
    Features,
    Methods,
    Power,
    Samples,
    Settings,
    Signals,
    strength_of,
)
from selica.cli.plan_table import diagnosis, own_table


def compare(
    n_samples: Samples,
    n_features: Features,
    n_signals: Signals,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    fdr: Level = 0.1,
    effects: Effects = EffectLaw.gaussian,
    method: Methods = None,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """What every method will find in a study, at its best settings and as it comes.

    Example: selica plan compare -n 400 -p 500 -k 50 --r2 0.7
    """
    strength = strength_of(r2, snr, effect_size)
    check_figure(plot)
    from selica import planning  # late: other commands start without scikit-learn

    ask = partial(
        planning.compare_methods, n_samples, n_features, n_signals, **strength,
        fdr=fdr, effects=effects.law,
    )  # fmt: skip
    names = _names(method, planning.METHODS)
    parts = [ask(methods=[name]) for name in each(names, "comparing")]
    found = replace(parts[0], predictions=tuple(one for part in parts for one in part.predictions))
    if as_json:
        print_json(answers.comparison_dict(found, effects.value))
    else:
        say_study(_sizes(n_samples, n_features, n_signals) | strength, effects)
        answers.print_comparison(found)
    write_figure(plot, found.plot, quiet=as_json)


def samples(
    n_features: Features,
    n_signals: Signals,
    power: Power = 0.8,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    fdr: Level = 0.1,
    effects: Effects = EffectLaw.gaussian,
    method: Methods = None,
    settings: As = Settings.best,
    at_most: Annotated[
        int, typer.Option(help="More samples are not considered.", max=MOST)
    ] = 1_000_000,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """The smallest number of samples with which a method finds a share of the signals.

    Example: selica plan samples -p 200 -k 20 --r2 0.6 --power 0.8
    """
    asked: dict[str, Any] = {"n_features": n_features, "n_signals": n_signals}
    asked |= strength_of(r2, snr, effect_size) | {"fdr": fdr}
    more = {"settings": settings.value, "at_most": at_most}
    _answer("required_samples", power, asked, effects, more, method, as_json, plot)


def effect(
    n_samples: Samples,
    n_features: Features,
    n_signals: Signals,
    power: Power = 0.8,
    fdr: Level = 0.1,
    effects: Effects = EffectLaw.gaussian,
    method: Methods = None,
    settings: As = Settings.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """The smallest effects of which a method finds a share.

    In standard deviations of the noise, for standardised columns; root mean square of all effects.

    Example: selica plan effect -n 400 -p 500 -k 50 --power 0.8
    """
    asked: dict[str, Any] = _sizes(n_samples, n_features, n_signals) | {"fdr": fdr}
    more = {"settings": settings.value}
    _answer("detectable_effect", power, asked, effects, more, method, as_json, plot)


def signals(
    n_samples: Samples,
    n_features: Features,
    power: Power = 0.8,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    fdr: Level = 0.1,
    effects: Effects = EffectLaw.gaussian,
    method: Methods = None,
    settings: As = Settings.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """The largest number of signals of which a method finds a share.

    They share --r2 or --snr, so that more of them are weaker; --effect-size is that of each.

    Example: selica plan signals -n 400 -p 500 --r2 0.9 --power 0.6
    """
    asked: dict[str, Any] = {"n_samples": n_samples, "n_features": n_features}
    asked |= strength_of(r2, snr, effect_size) | {"fdr": fdr}
    more = {"settings": settings.value}
    _answer("largest_support", power, asked, effects, more, method, as_json, plot)


def level(
    n_samples: Samples,
    n_features: Features,
    n_signals: Signals,
    power: Power = 0.8,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    effects: Effects = EffectLaw.gaussian,
    method: Methods = None,
    settings: As = Settings.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """The smallest level of the false discovery rate that leaves a power.

    Example: selica plan fdr -n 400 -p 500 -k 50 --r2 0.7 --power 0.5
    """
    strength = strength_of(r2, snr, effect_size)
    asked: dict[str, Any] = _sizes(n_samples, n_features, n_signals) | strength
    more = {"settings": settings.value}
    _answer("achievable_fdr", power, asked, effects, more, method, as_json, plot)


def _answer(
    question: str,
    power: float,
    asked: dict[str, Any],
    effects: EffectLaw,
    more: dict[str, Any],
    method: Sequence[str] | None,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Asks a function of `planning` for each method, prints the answers."""
    check_figure(plot)
    from selica import planning
    from selica.planning.samples import sample_search

    able = [name for name, known in planning.METHODS.items() if known.calibrated]
    names = _names(method, able)
    whole = asked | more | {"effects": effects.law}
    if question == "required_samples":  # curves of one method go as far as those of the others
        growing = sample_search(power, method=names, **whole).growing()
        *_, found = (next(growing) for _ in each([*names, "curves"], "searching"))
    else:
        ask = partial(getattr(planning, question), power, **whole)
        parts = [ask(method=name) for name in each(names, "searching")]
        found = replace(parts[0], answers=tuple(part.answers[0] for part in parts))
    found = answers.settled(found)
    allowed = asked.get("fdr", 1.0)
    if as_json:
        told = asked | {"effects": effects.value}
        print_json(answers.requirement_dict(found, told, allowed))
    else:
        say_study(asked, effects)
        answers.print_requirement(found, allowed)
    write_figure(plot, found.plot, quiet=as_json)


def _sizes(n_samples: int, n_features: int, n_signals: int) -> dict[str, Any]:
    return {"n_samples": n_samples, "n_features": n_features, "n_signals": n_signals}


def _names(method: Sequence[str] | None, known: Iterable[str]) -> list[str]:
    return [str(name) for name in dict.fromkeys(method or known)]


def say_study(asked: dict[str, Any], effects: EffectLaw) -> None:
    """What was asked, in a sentence."""
    parts = {
        "n_samples": "{} samples",
        "n_features": "{} variables",
        "n_signals": "{} signals",
        "r2": "R2 = {:g}",
        "snr": "signal-to-noise ratio {:g}",
        "effect_size": "effect size {:g}",
        "fdr": "FDR {:g}",
    }
    words = [text.format(asked[name]) for name, text in parts.items() if name in asked]
    words = [word.removesuffix("s") if word == "1 signals" else word for word in words]
    say(", ".join([*words, f"{effects.value} effects"]))
    typer.echo()


plan = typer.Typer(
    rich_markup_mode=None,
    help="Which method, how many samples, which settings: before there is data, and after.",
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
