"""Answers of `selica plan`: tables, what to run then, JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from selica import catalogue
from selica.cli.output import copyable, print_table, say
from selica.cli.run_lines import SelectorRun

if TYPE_CHECKING:
    from selica.planning import Comparison, Prediction, RequiredValue, Requirement, Study
    from selica.planning.responses import StudyResponse

COUNTS = "found, false: expected numbers of signals and of irrelevant variables selected"
_CONTROLS = {
    "FDR": "FDR, the expected share of false selections",
    "3.2 FDR": "3.2 FDR, the same up to 3.2 times the level",
    "PFER": "PFER, the expected number of false selections",
    "none": "none, no error rate",
}
"""What a method controls, in the order in which it is explained."""
_FEW_FITS = (
    "stability, p-values: message passing computes selection probabilities without refits; on the "
    "data a few refits check them"
)
_BOUNDS = (
    "PFER bound: it assumes that the distribution of the selection frequencies of irrelevant "
    "variables falls smoothly; one peak: only that it has one peak; no shape: nothing about it"
)
_KNOWN = (
    "ideal, lasso: with best settings, the truth sets the threshold or the penalty, which nobody "
    "can do in practice; default settings are the usual ones, which control no error rate (see the "
    "FDR)"
)
CEILING = "best possible: the Bayes-optimal selector, which knows the distribution of the effects"
COPY_CEILING = (
    "best possible, one copy: knockoffs with one copy and the best statistic, which knows the same"
)
ONE_VARIABLE = (
    "found: expected number of signals selected; variable: probability to select the one variable"
)
_ROUGH = 0.02
"""Standard error of a power from which it is told."""
_TRIED = {
    "samples": "no number of samples up to {:,.0f} is enough",
    "effect size": "no effect size up to {:g} is enough",
    "signals": "the power is lower with every number of signals",
    "FDR level": "no level up to {:g} is enough",
}
"""What was tried where a power is not reached, by the quantity of a requirement."""
_SHORT = 3
"""Digits of an answer that is no whole number."""


def rounded_up(x: float) -> float:
    """Round up to few digits: more samples, effect or level than needed is still enough."""
    scale = 10.0 ** (_SHORT - 1 - math.floor(math.log10(x)))
    return float(f"{math.ceil(x * scale - 1e-9) / scale:.{_SHORT}g}")


def label(method: str) -> str:
    """Return what a method is called in tables and figures."""
    known = catalogue.METHODS.get(method)
    return method if known is None else known.label


def comparison_dict(found: Comparison, effects: str, changed: str | None) -> dict[str, Any]:
    """Return a comparison for JSON; `changed` is what would change it most."""
    from selica.planning.questions.listed import unlisted

    best, otherwise, left_out = found.recommendation
    chosen = {
        name: None if one is None else {"method": one.method, "settings": one.settings}
        for name, one in (("best", best), ("otherwise", otherwise))
    }
    rows = [_prediction_dict(one, found.study.response) for one in found.predictions]
    told = {
        "not_predicted": unlisted(found.study, [one.method for one in found.predictions]),
        "left_out": [
            {"method": one.method, "settings": one.settings, "reason": reason}
            for one, reason in left_out
        ],
        "most_sensitive": changed,
        "assumptions": found.study.assumptions,
    }
    return found.to_dict() | {"effects": effects, "methods": rows} | chosen | told


def print_comparison(found: Comparison, changed: str | None, named: bool = False) -> None:
    """Print a table, and what to run.

    Parameters
    ----------
    found : Comparison
    changed : str or None
        What would change the answer most.
    named : bool
        Whether the methods were chosen, so that nobody misses the others.
    """
    from selica.planning.questions.compare import NOTHING_FOUND
    from selica.planning.questions.recommendation import RULE, SETTINGS, note_lines

    asked = found.study.variable is not None
    # the width of a terminal leaves room for one variable or for the false ones
    headings = ["method", "settings", "power", "FDR", "found", "false", "controls"]
    if asked:
        headings[5] = "variable"
    copies = any(one.method.startswith("knockoffs") for one in found.predictions)
    rows = []
    for one in (*found.predictions, *(found.ceilings if copies else (found.ceiling,))):
        shown = numbers(one)
        if one.variable_power is not None:
            shown[3] = f"{one.variable_power:.2f}"
        predicted = one in found.predictions
        names = [label(one.method), one.settings if predicted else ""]
        rows.append([*names, *shown, one.controls if predicted else ""])
    _print(headings, rows, f"Power at FDR {found.fdr:g}", words=2)
    _legend([one.method for one in found.predictions], found.study)
    if copies and found.copy_ceiling is not None:
        say(COPY_CEILING)
    _tell_share(found.study)
    _tell_rough(one for one in found.predictions if one.settings == "best")
    if not named:
        _tell_unlisted(found.study, [one.method for one in found.predictions])
    best, other, left_out = found.recommendation
    typer.echo()
    if best is None:
        say(NOTHING_FOUND)
    else:
        share = best.power / max(found.ceiling.power, 1e-12)
        say(
            f"Most power: {label(best.method)}, {SETTINGS[best.settings]}; "
            f"{100 * share:.0f} % of the best possible."
        )
        say(best.found_words(found.study.n_signals))
    say(RULE)
    for one, reason in left_out:
        say(f"Left out: {label(one.method)}, {SETTINGS[one.settings]}: {reason}.")
    say(found.study.assumptions)
    if changed is not None:
        say(changed)
    for line in note_lines(found.predictions):
        say(line)
    if best is None:
        return
    typer.echo("\nOnce there is data:")
    response = found.study.response
    SelectorRun.on(best, response).tell()
    if other is not None:
        what = f"{label(other.method)}, {SETTINGS[other.settings]} (power {other.power:.2f})"
        _tell_other(other, what, response)


def requirement_dict(
    found: Requirement, asked: dict[str, Any], changed: str | None
) -> dict[str, Any]:
    """Return a requirement for JSON; the values that were tried with the power at each."""
    from selica.planning.questions.listed import unlisted

    best, otherwise, left_out = found.recommendation
    chosen = {
        name: None if one is None else {"method": one.method, "value": one.value}
        for name, one in (("best", best), ("otherwise", otherwise))
    }
    rows = [
        {"value": answer.value}
        | _prediction_dict(answer.prediction, found.study.response)
        | {
            "tried": [
                {"value": x, "power": power}
                for x, power in zip(answer.x.tolist(), answer.power.tolist(), strict=True)
            ]
        }
        for answer in found.answers
    ]
    if found.quantity == "effect size":
        for row in rows:
            row["r2"] = _r2(row["value"], found.study)
    told = {
        "not_predicted": unlisted(found.study, [one.method for one in found.answers]),
        "left_out": [{"method": one.method, "reason": reason} for one, reason in left_out],
        "most_sensitive": changed,
        "assumptions": found.study.assumptions,
    }
    return asked | found.to_dict() | {"methods": rows} | chosen | told


def settled(found: Requirement) -> Requirement:
    """Return a requirement with levels of few digits, where levels were searched."""
    if found.quantity != "FDR level":
        return found
    told = []
    for answer in found.answers:
        one = answer.prediction
        if "fdr" in one.parameters:
            short = {"fdr": rounded_up(one.parameters["fdr"])}
            one = replace(one, parameters=one.parameters | short)
        told.append(replace(answer, prediction=one))
    return replace(found, answers=tuple(told))


def print_requirement(found: Requirement, changed: str | None, named: bool = False) -> None:
    """Print a table, and what to run; see `print_comparison` for the arguments."""
    from selica.planning.questions.recommendation import RULE, note_lines

    sizes = found.quantity == "effect size"
    # the width of a terminal leaves room for the share of the variance or for counts
    columns = ["R2", "power", "FDR"] if sizes else ["power", "FDR", "found", "false"]
    headings = ["method", found.quantity, *columns, "controls"]
    rows = []
    for one in (*found.answers, found.ceiling):
        last = "" if one is found.ceiling else one.prediction.controls
        r2 = _r2(one.value, found.study) if sizes else None
        shown = numbers(one.prediction)
        if sizes:
            shown = ["-" if r2 is None else f"{r2:.3f}", *shown[:2]]
        rows.append([label(one.method), _value(one), *shown, last])
    _print(headings, rows, f"{_title(found.quantity)} for power {found.target:g}")
    _legend([answer.method for answer in found.answers], found.study, counts=not sizes)
    _tell_share(found.study)
    _tell_rough(answer.prediction for answer in found.answers)
    if not named:
        _tell_unlisted(found.study, [one.method for one in found.answers])
    if sizes:
        say(f"effect size: root mean square, in {found.study.response.unit}")
    if found.quantity == "signals" and round(found.ceiling.prediction.power, 2) == 1.0:
        say("best possible with nearly all variables as signals: it selects all variables")
    short = [answer for answer in found.answers if answer.value is None]
    if short:
        tried = _TRIED[found.quantity].format(max(float(one.x.max()) for one in short))
        say(f"not reached: {tried}; the power beside it is the largest that was found")
    best, other, left_out = found.recommendation
    typer.echo()
    if best is None:
        say(
            "No method that sets its threshold from the data reaches a power of "
            f"{found.target:g} and keeps the level."
        )
    else:
        also = ""
        if sizes:  # the study has the effects of the answer
            also = f" (R2 = {found.study.r2:.3g}, {found.study.typical_effect})"
        with_method = f"with {label(best.method)}{also}"
        say(f"{found.superlative}: {_value(best)}{_informative(found)} {with_method}.")
        if found.quantity != "signals":
            say(best.prediction.found_words(found.study.n_signals))
    say(RULE)
    for one, reason in left_out:
        say(f"Left out: {_value(one)} with {label(one.method)}: {reason}.")
    say(found.study.assumptions)
    if changed is not None:
        say(changed)
    for line in note_lines(answer.prediction for answer in found.answers):
        say(line)
    if best is None:
        return
    typer.echo("\nOnce there is data:")
    response = found.study.response
    SelectorRun.on(best.prediction, response).tell()
    if other is not None:
        what = f"{label(other.method)} ({found.quantity}: {_value(other)})"
        _tell_other(other.prediction, what, response)


def _r2(effect_size: float | None, study: Study) -> float | None:
    """Return the share of the variance that the signals of a study explain at an effect size."""
    if effect_size is None:
        return None
    return study.response.r2(study.n_signals * effect_size**2)


def _tell_other(one: Prediction, what: str, response: StudyResponse) -> None:
    """Print what to run where a check refuses the first choice."""
    from selica.planning.questions.recommendation import REFUSABLE

    typer.echo()
    say(REFUSABLE.format(f"{what}:"))
    typer.echo(copyable(SelectorRun.on(one, response).words))


def _informative(found: Requirement) -> str:
    """Return how many of the samples of an answer carry the information, in brackets."""
    best = found.best
    if found.quantity != "samples" or best is None or best.value is None:
        return ""
    told = found.study.response.informative(int(best.value))
    return f" ({told})" if told else ""


def _tell_share(study: Study) -> None:
    """Print what R2 is a share of, where that is not plain."""
    if study.response.ratio:
        say(f"R2: share of {study.response.explained} that the signals explain")


def _tell_unlisted(study: Study, names: Sequence[str]) -> None:
    """Print which of the usual methods have no row, and why."""
    from selica.planning.questions.listed import unlisted

    told = unlisted(study, names)
    if told is not None:
        say(told)


def _print(headings: list[str], rows: list[list[str]], title: str, words: int = 1) -> None:
    print_table(Console(highlight=False), headings, rows, title, words, wrapped=True)
    typer.echo()


def _title(quantity: str) -> str:
    return quantity[0].upper() + quantity[1:]


def numbers(one: Prediction) -> list[str]:
    """Return power, FDR and expected counts, as they are printed."""
    counts = (one.true_selections, one.false_selections)
    return [f"{one.power:.2f}", f"{one.fdr:.3f}", *(f"{value:.1f}" for value in counts)]


def _value(answer: RequiredValue) -> str:
    if answer.value is None:
        return "not reached"
    if isinstance(answer.value, int):
        return str(answer.value)
    return f"{rounded_up(answer.value):g}"


def _legend(methods: Iterable[str], study: Study, counts: bool = True) -> None:
    """Print what the words of a table mean, as far as they are in it."""
    rows = [catalogue.method(name) for name in dict.fromkeys(methods)]
    controlled = {one.controls for one in rows}
    explained = [text for word, text in _CONTROLS.items() if word in controlled]
    if counts and study.variable is None:
        say(COUNTS)
    elif counts:
        say(ONE_VARIABLE)
    say(f"controls: {'; '.join(explained)}")
    if any(one.controls == "FDR" and one.equations == "stability" for one in rows):
        say(_FEW_FITS)
    if any(one.controls == "PFER" and one.equations == "stability" for one in rows):
        say(_BOUNDS)
    if any(not one.calibrated for one in rows):
        say(_KNOWN)
    say(CEILING if study.columns is None else f"{CEILING}, if columns were independent")


def _tell_rough(predictions: Iterable[Prediction]) -> None:
    """Print the standard errors of powers that are not known well: they are means over draws."""
    for one in predictions:
        if one.power_error >= _ROUGH:
            say(f"{label(one.method)}: its power has a standard error of {one.power_error:.2f}")


def _prediction_dict(one: Prediction, response: StudyResponse) -> dict[str, Any]:
    return (
        one.to_dict()
        | {"label": label(one.method), "parameters": one.parameters}
        | SelectorRun.on(one, response).row
    )
