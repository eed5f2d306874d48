"""Options that more than one command has."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selica._core.errors import ArgumentError

if TYPE_CHECKING:
    from selica import theory


class EffectLaw(StrEnum):
    """Laws of effects by name."""

    gaussian = "gaussian"
    laplace = "laplace"
    point = "point"

    @property
    def law(self) -> theory.Effects:
        """The law itself."""
        from selica import theory  # late: other commands start without SciPy

        laws: dict[EffectLaw, Callable[[], theory.Effects]] = {
            EffectLaw.gaussian: theory.GaussianEffects,
            EffectLaw.laplace: theory.LaplaceEffects,
            EffectLaw.point: theory.PointEffects,
        }
        return laws[self]()


class Selector(StrEnum):
    """Selectors by name."""

    auto = "auto"
    stability = "stability"
    knockoffs = "knockoffs"
    derandomized = "derandomized"
    aggregated = "aggregated"
    splitting = "splitting"
    bolasso = "bolasso"
    lasso = "lasso"


class Sampler(StrEnum):
    """Ways to make knockoff copies."""

    gaussian = "gaussian"
    fixed = "fixed"
    iid = "iid"


class Engine(StrEnum):
    """Ways to selection probabilities."""

    auto = "auto"
    monte_carlo = "monte-carlo"
    semi_analytic = "semi-analytic"


R2 = Annotated[
    float | None, typer.Option("--r2", help="Share of the variance that signals explain.")
]
Snr = Annotated[float | None, typer.Option(help="Signal-to-noise ratio, instead of --r2.")]
Level = Annotated[float, typer.Option(help="False discovery rate to allow.")]
Plot = Annotated[Path | None, typer.Option(help="Write a figure (PNG, PDF or SVG).")]
Effects = Annotated[EffectLaw, typer.Option(help="Law of the non-zero effects.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Seed = Annotated[int, typer.Option(help="Seed of all randomness.", min=0)]
Jobs = Annotated[int | None, typer.Option(help="Worker processes; -1 is one for each core.")]
TableFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="TABLE",
        help="CSV or TSV (also .gz) or Parquet, one row a sample, numbers but for the target.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-y", help="Column to explain: numbers, or two classes."),
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; repeatable.")]
Demo = Annotated[
    bool,
    typer.Option(
        "--demo",
        help="Instead of a TABLE: diabetes progression of 442 patients, with products of "
        "columns and 50 probes of pure noise that should not be selected.",
    ),
]
Method = Annotated[
    Selector,
    typer.Option("--method", help="How to select; auto chooses by the table, and says why."),
]
Resamples = Annotated[int | None, typer.Option(help="Resamples, knockoff copies or splits.")]
Penalty = Annotated[
    str | None,
    typer.Option(help='Penalty in glmnet\'s unit: a number, "auto", "cv", "theory" or "power".'),
]
Copies = Annotated[
    Sampler | None, typer.Option(help="How knockoff copies are made; gaussian by default.")
]
Way = Annotated[
    Engine | None,
    typer.Option(
        help="Refits (monte-carlo, the default), message passing without refits "
        "(semi-analytic), or message passing checked by refits (auto; the default of "
        "--method stability with --fdr)."
    ),
]


def option(name: str) -> str:
    """What a parameter is called on the command line."""
    return f"--{name.replace('_', '-')}"


def given_one(what: str, **values: float | None) -> tuple[str, float]:
    """The one option of several that is given."""
    some = [(name, value) for name, value in values.items() if value is not None]
    if len(some) != 1:
        known, got = ", ".join(map(option, values)), " and ".join(option(name) for name, _ in some)
        raise ArgumentError(f"Give {what} by exactly one of {known}; got {got or 'none'}.")
    return some[0]


def number_or_word(name: str, text: str, words: tuple[str, ...]) -> float | str:
    """An option that is a number or one of some words."""
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        known = ", ".join(map(repr, words))
        raise ArgumentError(f"{option(name)} must be {known} or a number; got {text!r}.") from None


def check_jobs(n_jobs: int | None) -> None:
    """Zero workers would do nothing."""
    if n_jobs == 0:
        raise ArgumentError("--n-jobs must not be 0.")
