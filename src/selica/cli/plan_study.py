"""The options of `selica plan` that say what a study is like, the same for every question."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import wraps
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from selica._core.errors import ArgumentError
from selica._core.validation import number, short
from selica.cli.options import (
    GAUSSIAN,
    EffectLaw,
    Effects,
    effect_law,
    given_one,
    numbers_of,
    option,
)
from selica.cli.plan_options import signal_count

if TYPE_CHECKING:
    from selica.planning.responses import StudyResponse


class ResponseName(StrEnum):
    """Responses of a study."""

    numeric = "numeric"
    binary = "binary"
    counts = "counts"
    survival = "survival"


_PARAMETERS = {"prevalence": "binary", "cases": "binary", "rate": "counts", "events": "survival"}
"""Options of one response each."""
_CLASSES = {"binary": "Binary", "counts": "Counts", "survival": "Survival", "numeric": "Numeric"}
"""Classes of the responses in `planning`."""
_SIZED = {
    "betas": "Betas",
    "odds_ratios": "OddsRatios",
    "rate_ratios": "RateRatios",
    "hazard_ratios": "HazardRatios",
}
"""Options of effects that have a size, with their classes in `planning`."""


def _number(*names: str, text: str) -> Any:
    return Annotated[float | None, typer.Option(*names, help=text)]


def _list(text: str) -> Any:
    help_text = f"{text}: one number for all signals, numbers with commas, or a file."
    return Annotated[str | None, typer.Option(metavar="NUMBERS", help=help_text)]


_LAW: dict[str, tuple[Any, Any]] = {
    "effects": (Effects, GAUSSIAN),
    "response": (
        Annotated[ResponseName, typer.Option(help="What is measured on each row.")],
        ResponseName.numeric,
    ),
    "prevalence": (_number(text="Share of cases in the population (binary response)."), None),
    "cases": (
        _number(text="Share of cases in the sample, where they are sampled separately (binary)."),
        None,
    ),
    "rate": (_number(text="Mean count of a row (counts)."), None),
    "events": (_number(text="Share of rows with an event (survival)."), None),
    "covariance": (
        Annotated[
            str | None,
            typer.Option(
                metavar="FORM",
                help="Correlation of the columns: ar1:0.5 (neighbours by 0.5, falling with the "
                "distance), block:0.5:10 (blocks of 10), or a CSV file with a covariance matrix. "
                "Independent by default.",
            ),
        ],
        None,
    ),
}
_STRENGTH: dict[str, tuple[Any, Any]] = {
    "r2": (
        _number("--r2", "--heritability", text="Share of the variance that signals explain."),
        None,
    ),
    "snr": (_number(text="Signal-to-noise ratio, instead of --r2."), None),
    "effect_size": (
        _number(
            text="Root mean square of the effects, for standardised columns, in standard "
            "deviations of the noise, log odds, log rates or log hazards; instead of --r2."
        ),
        None,
    ),
}
_SIZES: dict[str, tuple[Any, Any]] = {
    "smallest": (
        _number(text="Smallest relevant effect: all signals have this effect size."),
        None,
    ),
    "betas": (_list("Standardised coefficients (numeric response)"), None),
    "odds_ratios": (_list("Odds ratios for one standard deviation (binary)"), None),
    "rate_ratios": (_list("Ratios of rates for one standard deviation (counts)"), None),
    "hazard_ratios": (_list("Hazard ratios for one standard deviation (survival)"), None),
}
_GROUPS = {"law": _LAW, "strength": _STRENGTH, "sizes": _SIZES}
"""Options that commands have together."""


class StudyOptions(NamedTuple):
    """What a study is like, as it was typed."""

    keywords: dict[str, Any]
    """Arguments of the functions of `planning`."""
    effects: EffectLaw
    typed: dict[str, Any]
    """Options by name, for a program that reads the answer."""

    @classmethod
    def of(cls, given: dict[str, Any]) -> StudyOptions:
        """Check options that are given, of which some may be missing."""
        from selica import planning

        kind = given["response"].value
        response = _response(kind, given)
        keywords: dict[str, Any] = {"response": response}
        law = effect_law(given["effects"], placed=True)
        covariance = given["covariance"]
        if covariance is not None:
            keywords["covariance"] = covariance_of(covariance)
        typed = {name: value for name, value in given.items() if value is not None}
        typed |= {"response": kind, "effects": law.name}
        known = {name: given[name] for name in (*_STRENGTH, *_SIZES) if name in given}
        if not known:
            return cls(keywords | {"effects": law.law}, law, typed)
        name, value = given_one("the strength of the signals", **known)
        if name in _SIZES and given["effects"] != GAUSSIAN:
            raise ArgumentError(f"--effects must be left out: {option(name)} says what they are.")
        if name in _SIZED:
            kind_of = getattr(planning, _SIZED[name])
            law = EffectLaw(kind_of(numbers_of(option(name), str(value))), option(name))
        elif name == "smallest":
            law = EffectLaw(planning_point(), "point")
            keywords["effect_size"] = number("smallest", value, at_least=1e-4, at_most=1e3)
        else:
            keywords[name] = value
        return cls(keywords | {"effects": law.law}, law, typed)

    def signals(self, n_signals: int | None) -> int:
        """Return the number of signals, by `-k` or by the list of effects."""
        if self.effects.given == 1 and n_signals is not None:
            return n_signals  # one size for all signals
        return signal_count(n_signals, self.effects)


def planning_point() -> Any:
    """Return equal effects."""
    from selica.theory import PointEffects

    return PointEffects()


def _response(kind: str, given: dict[str, Any]) -> StudyResponse:
    """Return the response of the options."""
    from selica import planning

    parts = {}
    for name, owner in _PARAMETERS.items():
        if given[name] is None:
            continue
        if owner != kind:
            raise ArgumentError(
                f"{option(name)} belongs to --response {owner}; the response is {kind}."
            )
        parts[name] = given[name]
    found: StudyResponse = getattr(planning, _CLASSES[kind])(**parts)
    return found


def covariance_of(text: str) -> Any:
    """Return the correlation that is typed: a form, or a matrix in a file.

    Parameters
    ----------
    text : str
        Such as ar1:0.5.
    """
    name, *rest = text.split(":")
    if name in ("ar1", "block", "equicorrelated"):
        try:
            numbers: Sequence[Any] = [float(part) for part in rest]
        except ValueError:
            numbers = []
        if len(numbers) == (2 if name == "block" else 1) and all(map(isfinite, numbers)):
            # a size that is no whole number is refused where it is used
            return (name, numbers[0], *(int(x) if x.is_integer() else x for x in numbers[1:]))
    elif Path(text).is_file():
        return _matrix(text)
    raise ArgumentError(
        "--covariance must be ar1:0.5, block:0.5:10, equicorrelated:0.5 or a CSV file with a "
        f"matrix; got {short(text)}."
    )


def _matrix(path: str) -> Any:
    """Return the numbers of a file, one row on each line."""
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # of an empty file
        try:
            return np.loadtxt(path, delimiter=",", ndmin=2)
        except (ValueError, UserWarning):
            raise ArgumentError(
                f"--covariance {path}: the file must have one row of numbers with commas for each "
                "variable."
            ) from None


def asks(*groups: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of some groups; it is called with them as `study`.

    Parameters
    ----------
    *groups : str
        Of "law", "strength" and "sizes".
    """
    options = {name: part for group in groups for name, part in _GROUPS[group].items()}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        added = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind
            )
            for name, (kind, default) in options.items()
        ]
        kept = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for name, one in own.items()
            if name != "study"
        ]
        first = [
            one for one in kept if one.name in ("n_samples", "n_features", "n_signals", "power")
        ]
        rest = [one for one in kept if one not in first]

        @wraps(command)
        def run(**given: Any) -> None:
            study = StudyOptions.of({name: given.pop(name) for name in options})
            command(study=study, **given)

        every = sorted([*first, *added, *rest], key=lambda one: one.default is not one.empty)
        run.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in every}
        return run

    return decorate
