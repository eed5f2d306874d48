"""`selica plan`: which method, how many samples, which settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from selica.cli import plan_answers as answers
from selica.cli.naming import predicted, to_plan
from selica.cli.options import (
    GAUSSIAN,
    R2,
    AsJson,
    EffectLaw,
    Effects,
    Level,
    Plot,
    Snr,
    effect_law,
)
from selica.cli.output import bar, check_figure, print_json, say, write_figure
from selica.cli.plan_options import (
    MOST,
    EffectSize,
    Features,
    Methods,
    Power,
    Samples,
    SettingsChoice,
    SettingsName,
    Signals,
    signal_count,
    strength_of,
)
from selica.cli.plan_table import diagnosis, own_table

_STUDY = ("n_features", "n_signals", "r2", "snr", "effect_size")
"""Options that say what a study is like, but for its number of samples."""


def compare(
    n_samples: Samples,
    n_features: Features,
    n_signals: Signals = None,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    fdr: Level = 0.1,
    effects: Effects = GAUSSIAN,
    method: Methods = None,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Compare what all methods will find in a study, with best and with default settings.

    Example: selica plan compare -n 400 -p 500 -k 50 --r2 0.7
    """
    strength = strength_of(r2, snr, effect_size)
    check_figure(plot)
    law = effect_law(effects)
    sizes = _sizes(n_samples, n_features, signal_count(n_signals, law))
    from selica import planning, theory  # late: other commands start without scikit-learn

    ask = partial(planning.compare_methods, **sizes, **strength, fdr=fdr)
    names = to_plan(method) if method else [one.name for one in predicted()]
    with bar("comparing") as progress:
        found = ask(methods=names, effects=law.law, progress=progress)
    best = found.best
    equal = None
    if best is not None:
        alike = ask(methods=[best.method], effects=theory.PointEffects())
        equal = alike.one(best.method, best.settings).power
    if as_json:
        print_json(answers.comparison_dict(found, law.name, equal))
    else:
        say_study(sizes | strength, law, found.study.r2)
        answers.print_comparison(found, equal)
    write_figure(plot, found.plot, quiet=as_json)


def samples(
    n_features: Features,
    n_signals: Signals = None,
    power: Power = 0.8,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    fdr: Level = 0.1,
    effects: Effects = GAUSSIAN,
    method: Methods = None,
    settings: SettingsName = SettingsChoice.best,
    at_most: Annotated[
        int, typer.Option(help="Largest number of samples to consider.", max=MOST)
    ] = 1_000_000,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Find the smallest number of samples with which a method reaches a power.

    Example: selica plan samples -p 200 -k 20 --r2 0.6 --power 0.8
    """
    law = effect_law(effects)
    asked: dict[str, Any] = {"n_features": n_features, "n_signals": signal_count(n_signals, law)}
    asked |= strength_of(r2, snr, effect_size) | {"fdr": fdr}
    more = {"settings": settings.value, "at_most": at_most}
    _answer("required_samples", power, asked, law, more, method, as_json=as_json, plot=plot)


def effect(
    n_samples: Samples,
    n_features: Features,
    n_signals: Signals = None,
    power: Power = 0.8,
    fdr: Level = 0.1,
    effects: Effects = GAUSSIAN,
    method: Methods = None,
    settings: SettingsName = SettingsChoice.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Find the smallest effects with which a method reaches a power.

    The effect size is the root mean square of all effects, for standardised columns, in standard
    deviations of the noise.

    Example: selica plan effect -n 400 -p 500 -k 50 --power 0.8
    """
    law = effect_law(effects)
    asked: dict[str, Any] = _sizes(n_samples, n_features, signal_count(n_signals, law))
    asked |= {"fdr": fdr}
    more = {"settings": settings.value}
    _answer("detectable_effect", power, asked, law, more, method, as_json=as_json, plot=plot)


def signals(
    n_samples: Samples,
    n_features: Features,
    power: Power = 0.8,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    fdr: Level = 0.1,
    effects: Effects = GAUSSIAN,
    method: Methods = None,
    settings: SettingsName = SettingsChoice.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Find the largest number of signals with which a method reaches a power.

    With --r2 or --snr more signals are weaker ones, as their total strength is given; with
    --effect-size each signal keeps its strength.

    Example: selica plan signals -n 400 -p 500 --r2 0.9 --power 0.6
    """
    asked: dict[str, Any] = {"n_samples": n_samples, "n_features": n_features}
    asked |= strength_of(r2, snr, effect_size) | {"fdr": fdr}
    more = {"settings": settings.value}
    law = effect_law(effects)
    _answer("largest_support", power, asked, law, more, method, as_json=as_json, plot=plot)


def level(
    n_samples: Samples,
    n_features: Features,
    n_signals: Signals = None,
    power: Power = 0.8,
    r2: R2 = None,
    snr: Snr = None,
    effect_size: EffectSize = None,
    effects: Effects = GAUSSIAN,
    method: Methods = None,
    settings: SettingsName = SettingsChoice.best,
    as_json: AsJson = False,
    plot: Plot = None,
) -> None:
    """Find the smallest false discovery rate to allow for a method to reach a power.

    Example: selica plan fdr -n 400 -p 500 -k 50 --r2 0.7 --power 0.5
    """
    law = effect_law(effects)
    asked: dict[str, Any] = _sizes(n_samples, n_features, signal_count(n_signals, law))
    asked |= strength_of(r2, snr, effect_size)
    more = {"settings": settings.value}
    _answer("achievable_fdr", power, asked, law, more, method, as_json=as_json, plot=plot)


def _answer(
    question: str,
    power: float,
    asked: dict[str, Any],
    effects: EffectLaw,
    more: dict[str, Any],
    method: Sequence[str] | None,
    *,
    as_json: bool,
    plot: Path | None,
) -> None:
    """Ask a function of `planning` for each method, and print the answers."""
    check_figure(plot)
    from selica import planning, theory

    names = to_plan(method) if method else [one.name for one in predicted() if one.calibrated]
    ask = partial(getattr(planning, question), power, **asked, **more)
    with bar("searching") as progress:
        found = ask(method=names, effects=effects.law, progress=progress)
    found = answers.settled(found)
    best = found.best
    equal = None
    if best is not None:
        equal = ask(method=best.method, effects=theory.PointEffects()).one(best.method)
    if as_json:
        print_json(answers.requirement_dict(found, asked | {"effects": effects.name}, equal))
    else:
        known = "n_signals" in asked and bool({"r2", "snr", "effect_size"} & asked.keys())
        r2 = (
            planning.Study.of(2, **{n: asked[n] for n in _STUDY if n in asked}).r2
            if known
            else None
        )
        say_study(asked, effects, r2)
        answers.print_requirement(found, equal, asked.get("n_signals"))
    write_figure(plot, found.plot, quiet=as_json)


def _sizes(n_samples: int, n_features: int, n_signals: int) -> dict[str, Any]:
    return {"n_samples": n_samples, "n_features": n_features, "n_signals": n_signals}


def say_study(asked: dict[str, Any], effects: EffectLaw, r2: float | None) -> None:
    """Print what was asked, in a sentence; with the share of the variance, where it is known."""
    from selica._core.wording import signals as signals_in_words

    parts = {
        "n_samples": "{} samples",
        "n_features": "{} variables",
        "n_signals": "{} signals",
        "r2": "R2 = {:g}",
        "snr": "signal-to-noise ratio {:g}",
        "effect_size": "effect size {:g}",
        "fdr": "FDR {:g}",
    }
    words = {name: text.format(asked[name]) for name, text in parts.items() if name in asked}
    if "n_signals" in words:
        words["n_signals"] = signals_in_words(asked["n_signals"])
    for name in ("snr", "effect_size"):
        if name in words and r2 is not None:
            words[name] += f" (R2 = {r2:.3g})"
    say(", ".join([*words.values(), effects.law.label]))
    typer.echo()


plan = typer.Typer(
    rich_markup_mode=None,
    help="Plan a study: which method, how many samples, which settings; or diagnose one.",
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
