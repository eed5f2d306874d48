"""Options of `selica plan`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from selica._core.errors import ArgumentError


class Procedure(StrEnum):
    """Methods that can be planned with, by name."""

    stability = "stability"
    knockoff = "knockoff"
    evalues = "evalues"
    pvalues = "pvalues"
    stability_none = "stability_none"
    stability_unimodal = "stability_unimodal"
    stability_r_concave = "stability_r_concave"
    ideal = "ideal"
    thresholded_lasso = "thresholded_lasso"
    lasso = "lasso"


class Settings(StrEnum):
    """Of the methods."""

    best = "best"
    default = "default"


MOST = 1_000_000_000
"""Samples or variables: the theory has numbers of finite size."""
Samples = Annotated[int, typer.Option("--n-samples", "-n", help="Number of samples.", max=MOST)]
Features = Annotated[int, typer.Option("--n-features", "-p", help="Number of variables.", max=MOST)]
Signals = Annotated[int, typer.Option("--n-signals", "-k", help="Number of true signals.")]
R2 = Annotated[
    float | None, typer.Option("--r2", help="Share of the variance that signals explain.")
]
Snr = Annotated[float | None, typer.Option(help="Signal-to-noise ratio, instead of --r2.")]
EffectSize = Annotated[
    float | None,
    typer.Option(
        help="Root mean square of the effects, for standardised columns, in standard deviations "
        "of the noise; instead of --r2."
    ),
]
Level = Annotated[float, typer.Option(help="False discovery rate to allow.")]
Power = Annotated[float, typer.Option(help="Share of the signals to find.")]
Methods = Annotated[
    list[Procedure] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"Method to plan with, one of {', '.join(Procedure)}; repeatable.",
    ),
]
As = Annotated[
    Settings, typer.Option(help="Penalty and rate with the most power, or selectors as they come.")
]
Plot = Annotated[Path | None, typer.Option(help="Write a figure (PNG, PDF or SVG).")]


def strength_of(r2: float | None, snr: float | None, effect_size: float | None) -> dict[str, Any]:
    """The one of them that is given."""
    named = {"r2": r2, "snr": snr, "effect_size": effect_size}
    given = {name: value for name, value in named.items() if value is not None}
    if len(given) != 1:
        said = " and ".join(f"--{name.replace('_', '-')}" for name in given) or "none"
        raise ArgumentError(
            "Give the strength of the signals by exactly one of --r2, --snr, --effect-size; "
            f"got {said}."
        )
    return given
