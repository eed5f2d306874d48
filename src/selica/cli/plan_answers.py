"""Answers of `selica plan`: tables, what to run then, JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from selica.cli.output import copyable, print_table, say
from selica.cli.select import command_of

if TYPE_CHECKING:
    from selica.planning import Answer, Comparison, Prediction, Requirement

_SETTINGS = {"best": "at its best settings", "default": "as it comes"}
_BEST = {
    # by the quantity of a requirement: the better end, and what it is called
    "samples": (min, "Fewest samples"),
    "effect size": (min, "Smallest effects"),
    "signals": (max, "Most signals"),
    "FDR level": (min, "Smallest level"),
}
_PROMISE = "promise: what a method controls (PFER: the expected number of false selections)"
_KNOWN = "known: by the truth, not by data, which shows what there is to gain"
_CEILING = "best possible: the Bayes-optimal selector, which knows the law of the effects"
_NOT_REACHED = "not reached: the power beside it is the largest that was found"
_REFUSABLE = "stability"
"""Message passing, which a check by refits may refuse."""
_SHORT = 3
"""Digits of an answer that is no whole number."""


def rounded_up(x: float) -> float:
    """To few digits, never below: more samples, effect or level than needed is still enough."""
    scale = 10.0 ** (_SHORT - 1 - math.floor(math.log10(x)))
    return float(f"{math.ceil(x * scale - 1e-9) / scale:.{_SHORT}g}")


class Run:
    """How to run a method once there is data.

    Parameters
    ----------
    selector : str
        Name of its class.
    parameters : dict
    source : sequence of str, optional
        Words that say where the table is.
    """

    def __init__(
        self, selector: str, parameters: dict[str, Any], source: Sequence[str] | None = None
    ) -> None:
        self.inner = [f"{name}={value!r}" for name, value in parameters.items()]
        self.selector = selector
        self.words = command_of(selector, parameters, *([] if source is None else [source]))

    @classmethod
    def of(cls, one: Prediction, source: Sequence[str] | None = None) -> Run:
        """The settings of a prediction."""
        from selica.planning import METHODS

        return cls(METHODS[one.method].selector, one.parameters, source)

    @property
    def row(self) -> dict[str, str]:
        """For JSON."""
        code = f"{self.selector}({', '.join(self.inner)})"
        return {"code": code, "command": " ".join(self.words)}

    def tell(self) -> None:
        """Lines to copy."""
        typer.echo(copyable(self.words))
        typer.echo("or, in Python,")
        parts = [f"{part}," for part in self.inner[:-1]] + self.inner[-1:]
        opened = [f"{self.selector}({''.join(parts[:1])}", *parts[1:]]
        typer.echo(copyable([*opened[:-1], f"{opened[-1]})"], end=""))


def label(method: str) -> str:
    """What a method is called in tables and figures."""
    from selica.planning import METHODS

    return METHODS[method].label if method in METHODS else method


def comparison_dict(found: Comparison, effects: str) -> dict[str, Any]:
    """Everything, for JSON."""
    chosen = {
        name: None if one is None else {"method": one.method, "settings": one.settings}
        for name, one in zip(("best", "otherwise"), _best_predictions(found), strict=True)
    }
    rows = [_prediction_dict(one) for one in found.predictions]
    return found.to_dict() | {"effects": effects, "methods": rows} | chosen


def print_comparison(found: Comparison) -> None:
    """A table, and what to run."""
    headings = ["method", "settings", "power", "FDR", "true", "false", "promise"]
    rows = [
        [label(one.method), one.settings, *_numbers(one), one.promise] for one in found.predictions
    ]
    rows.append([label(found.ceiling.method), "", *_numbers(found.ceiling), ""])
    _print(headings, rows, f"Power at FDR {found.fdr:g}", words=2)
    _legend(one.method for one in found.predictions)
    best, other = _best_predictions(found)
    if best is None:
        typer.echo()
        say("No method that sets its threshold by the data finds anything in such a study.")
        return
    share = best.power / max(found.ceiling.power, 1e-12)
    typer.echo()
    say(
        f"Most power: {label(best.method)}, {_SETTINGS[best.settings]}; "
        f"{100 * share:.0f} % of the best possible."
    )
    typer.echo("Once there is data:")
    Run.of(best).tell()
    if other is not None:
        _tell_other(
            other, f"{label(other.method)}, {_SETTINGS[other.settings]} (power {other.power:.2f})"
        )


def requirement_dict(found: Requirement, asked: dict[str, Any], fdr: float) -> dict[str, Any]:
    """Everything, for JSON; the values that were tried with the power at each."""
    chosen = {
        name: None if one is None else {"method": one.method, "value": one.value}
        for name, one in zip(("best", "otherwise"), _best_answers(found, fdr), strict=True)
    }
    rows = [
        {"value": answer.value}
        | _prediction_dict(answer.prediction)
        | {
            "tried": [
                {"value": x, "power": power}
                for x, power in zip(answer.x.tolist(), answer.power.tolist(), strict=True)
            ]
        }
        for answer in found.answers
    ]
    return asked | found.to_dict() | {"methods": rows} | chosen


def settled(found: Requirement) -> Requirement:
    """With levels of few digits in the settings, where levels were searched."""
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


def print_requirement(found: Requirement, fdr: float) -> None:
    """A table, and what to run."""
    headings = ["method", found.quantity, "power", "FDR", "true", "false", "promise"]
    rows = [
        [label(a.method), _value(a), *_numbers(a.prediction), a.prediction.promise]
        for a in found.answers
    ]
    most = found.ceiling
    rows.append([label(most.method), _value(most), *_numbers(most.prediction), ""])
    _print(headings, rows, f"{_title(found.quantity)} for power {found.target:g}")
    _legend(answer.method for answer in found.answers)
    if any(answer.value is None for answer in found.answers):
        typer.echo(_NOT_REACHED)
    best, other = _best_answers(found, fdr)
    if best is None:
        typer.echo()
        say(f"No method that sets its threshold by the data reaches a power of {found.target:g}.")
        return
    typer.echo(f"\n{_BEST[found.quantity][1]}: {_value(best)} with {label(best.method)}.")
    typer.echo("Once there is data:")
    Run.of(best.prediction).tell()
    if other is not None:
        _tell_other(other.prediction, f"{_value(other)} with {label(other.method)}")


def _tell_other(one: Prediction, what: str) -> None:
    """What to run where a check refuses the first choice."""
    typer.echo()
    say(f"Refits check message passing and may refuse the data. Then {what}:")
    typer.echo(copyable(Run.of(one).words))


def _print(headings: list[str], rows: list[list[str]], title: str, words: int = 1) -> None:
    print_table(Console(highlight=False), headings, rows, title, words)
    typer.echo()


def _title(quantity: str) -> str:
    return quantity[0].upper() + quantity[1:]


def _numbers(one: Prediction) -> list[str]:
    counts = (one.true_selections, one.false_selections)
    return [f"{one.power:.2f}", f"{one.fdr:.3f}", *(f"{value:.1f}" for value in counts)]


def _value(answer: Answer) -> str:
    if answer.value is None:
        return "not reached"
    if isinstance(answer.value, int):
        return str(answer.value)
    return f"{rounded_up(answer.value):g}"


def _legend(methods: Iterable[str]) -> None:
    typer.echo(_PROMISE)
    if any(label(method).endswith(" known") for method in methods):
        typer.echo(_KNOWN)
    typer.echo(_CEILING)


def _prediction_dict(one: Prediction) -> dict[str, Any]:
    return (
        one.to_dict() | {"label": label(one.method), "parameters": one.parameters} | Run.of(one).row
    )


def _best_predictions(found: Comparison) -> tuple[Prediction | None, Prediction | None]:
    """The best, None where there is none; and where it may be refused, the best that cannot be."""
    from selica.planning import METHODS

    def best(without: str) -> Prediction | None:
        able = [
            one
            for one in found.predictions
            if METHODS[one.method].calibrated and one.method != without
        ]
        if not able:
            return None
        one = replace(found, predictions=tuple(able)).best
        return one if round(one.power, 2) > 0.0 else None

    first = best("")
    return first, best(_REFUSABLE) if first is not None and first.method == _REFUSABLE else None


def _best_answers(found: Requirement, fdr: float) -> tuple[Answer | None, Answer | None]:
    """As `_best_predictions`, among methods that reach the power and keep the level."""
    from selica.planning import METHODS

    reached = [
        (answer.value, answer)
        for answer in found.answers
        if answer.value is not None
        and METHODS[answer.method].calibrated
        and round(answer.prediction.fdr, 2) <= fdr
    ]
    better = _BEST[found.quantity][0]

    def best(without: str) -> Answer | None:
        able = [(value, answer) for value, answer in reached if answer.method != without]
        return better(able, key=lambda pair: pair[0])[1] if able else None

    first = best("")
    return first, best(_REFUSABLE) if first is not None and first.method == _REFUSABLE else None
