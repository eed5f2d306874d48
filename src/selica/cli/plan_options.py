"""Options of `selica plan`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from selica._core.errors import ArgumentError
from selica.cli.naming import listed, predicted
from selica.cli.options import EffectLaw, given_one, signals_of


class SettingsChoice(StrEnum):
    """Settings of the methods."""

    best = "best"
    default = "default"


MOST = 1_000_000_000
"""Samples or variables: the theory has numbers of finite size."""
Samples = Annotated[int, typer.Option("--n-samples", "-n", help="Number of samples.", max=MOST)]
Features = Annotated[int, typer.Option("--n-features", "-p", help="Number of variables.", max=MOST)]
Signals = Annotated[
    int | None,
    typer.Option(
        "--n-signals",
        "-k",
        help="Number of true signals; not needed where --effects lists them.",
    ),
]
EffectSize = Annotated[
    float | None,
    typer.Option(
        help="Root mean square of the effects, for standardised columns, in standard deviations "
        "of the noise; instead of --r2."
    ),
]
Power = Annotated[float, typer.Option(help="Power to reach: the share of the signals to find.")]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help=f"Method to plan with, one of {listed(predicted())}; repeatable.",
    ),
]
SettingsName = Annotated[
    SettingsChoice,
    typer.Option(
        help="best: penalty and resampling rate with the most power; default: default settings."
    ),
]


def strength_of(r2: float | None, snr: float | None, effect_size: float | None) -> dict[str, Any]:
    """Return the strength that is given, by the name of its option."""
    what = "the strength of the signals"
    return dict([given_one(what, r2=r2, snr=snr, effect_size=effect_size)])


def signal_count(n_signals: int | None, effects: EffectLaw) -> int:
    """Return the number of signals, by `-k` or by the list of effects."""
    known = signals_of(n_signals, effects)
    if known is None:
        raise ArgumentError("Give the number of signals as --n-signals (-k).")
    return int(known)
