"""Options that more than one command has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from selica._core.errors import ArgumentError
from selica._core.validation import short
from selica.cli.naming import takers

if TYPE_CHECKING:
    from selica import theory


class EffectLaw(NamedTuple):
    """A distribution of effects, as it was asked for."""

    law: theory.Effects
    name: str
    """For a program that reads the answer."""

    @property
    def given(self) -> int | None:
        """How many effects were listed; None for a distribution by name."""
        from selica.theory import EmpiricalEffects

        return len(self.law.values) if isinstance(self.law, EmpiricalEffects) else None


GAUSSIAN = "gaussian"
"""The distribution of effects by default."""
_LARGEST_LIST = 1_000_000
"""Bytes of a file with effects."""


def effect_law(text: str, *, placed: bool = False) -> EffectLaw:
    """Return the effects that `--effects` asks for: by name, by numbers, or by a file of them.

    Parameters
    ----------
    text : str
    placed : bool
        Whether zeros may say which variables have no effect.
    """
    from selica._core.effects import LAWS, effects_of  # late: other commands start faster

    if text in LAWS:
        return EffectLaw(effects_of(text), text)
    content = _file_of_numbers(text)
    try:
        law = effects_of(text if content is None else content, placed=placed)
    except ArgumentError as error:
        if content is not None:
            raise ArgumentError(f"--effects {text}: {error}") from None
        if "," in text:
            raise ArgumentError(f"--{error}") from None
        raise ArgumentError(
            f"--effects must be {', '.join(LAWS)}, numbers such as 0.5,-0.3,0.2 or a file with "
            f"one number per line; got {short(text)}."
        ) from None
    return EffectLaw(law, law.label)


def numbers_of(name: str, text: str) -> list[float]:
    """Return the numbers of an option: typed with commas, or in a file.

    Parameters
    ----------
    name : str
        The option, with its dashes.
    text : str
    """
    content = _file_of_numbers(text, name)
    parts = (text if content is None else content).replace(",", " ").split()
    try:
        return [float(part) for part in parts]
    except ValueError:
        raise ArgumentError(
            f"{name} must be a number, numbers such as 1.5,1.2 or a file with one number per line; "
            f"got {short(text)}."
        ) from None


def _file_of_numbers(text: str, name: str = "--effects") -> str | None:
    """Return what is in a file of this name; None where there is none."""
    path = Path(text)
    try:
        if not path.is_file():
            return None
        if path.stat().st_size > _LARGEST_LIST:
            raise ArgumentError(f"{name} {text}: the file is too large for a list of effects.")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ArgumentError(f"{name} {text}: the file is not UTF-8 text.") from None
    except (OSError, ValueError):
        return None


def signals_of(n_signals: float | None, effects: EffectLaw) -> float | None:
    """Return how many signals there are: as many as effects, where these were listed."""
    if effects.given is None or n_signals == effects.given:
        return n_signals
    if n_signals is not None:
        raise ArgumentError(
            f"-k must be {effects.given}, the number of effects given, or be left out; "
            f"got {n_signals:g}."
        )
    return effects.given


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
Effects = Annotated[
    str,
    typer.Option(
        "--effects",
        metavar="EFFECTS",
        help="Distribution of the non-zero effects: gaussian, laplace or point (all equal), or "
        "your own: numbers such as 0.5,-0.3,0.2, or a file with one number per line. Only their "
        "ratios count.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)]
Jobs = Annotated[int | None, typer.Option(help="Worker processes; -1 is one for each core.")]
TableFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="TABLE",
        help="Table with one row per sample: CSV or TSV (also .gz, .zst), Parquet, Feather or "
        "Excel; `selica select` also takes genotypes (.bed, .pgen) and arrays (.h5ad, .zarr).",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-y", help="Column to explain (the response): numbers, or classes."),
]
Demo = Annotated[
    bool,
    typer.Option(
        "--demo",
        help="Use this table instead of TABLE: diabetes progression of 442 patients, with "
        "products of columns and 50 probes of pure noise that should not be selected.",
    ),
]
Resamples = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER|auto",
        help=f"Number of resamples, knockoff copies or splits ({takers('n_resamples')}); auto: as "
        "many resamples or copies as settle the decisions.",
    ),
]
Penalty = Annotated[
    str | None,
    typer.Option(
        help='Penalty in glmnet\'s unit: a number, "auto", "cv", "theory" or "power" '
        f"({takers('lam')})."
    ),
]
CopySampler = Annotated[
    str | None,
    typer.Option(
        help="How knockoff copies are made: auto (the default: by the kinds of the columns), "
        "gaussian, sequential, genotypes, markov, fixed or iid; gaussian and fixed may name the "
        f"method of their S-matrix, as in fixed:mvr ({takers('sampler')})."
    ),
]
EngineName = Annotated[
    Engine | None,
    typer.Option(
        help="Refits (monte-carlo, the default), message passing without refits "
        "(semi-analytic), or message passing checked by refits (auto; the default of "
        f"--method stability-fdr). For {takers('engine')}."
    ),
]


def option(name: str) -> str:
    """Return what a parameter is called on the command line."""
    return f"--{name.replace('_', '-')}"


_SHORT = {"n_samples": "-n", "n_features": "-p", "n_signals": "-k"}
_LONG = (
    *("r2", "snr", "effect_size", "fdr", "power", "effects", "at_most", "n_sets", "method"),
    *("alpha", "rho", "Delta", "mu_B", "lam", "prevalence", "cases", "rate", "events"),
    *("covariance", "smallest"),
)
_SIZED = {
    "Betas": "--betas",
    "OddsRatios": "--odds-ratios",
    "RateRatios": "--rate-ratios",
    "HazardRatios": "--hazard-ratios",
}
_NAMES = _SHORT | {name: f"--{name.lower().replace('_', '-')}" for name in _LONG} | _SIZED
"""Options of `predict` and `plan` by the arguments that messages name."""


def options_named(text: str) -> str:
    """Return a message in which arguments are called as on the command line."""
    named = re.sub(r"^\w+(?= must\b|: )", lambda found: _NAMES.get(found[0], found[0]), text)
    return re.sub(r"(?<=at most )n_features\b", _SHORT["n_features"], named)


def given_one(what: str, **values: float | None) -> tuple[str, float]:
    """Return the one option of several that is given."""
    some = [(name, value) for name, value in values.items() if value is not None]
    if len(some) != 1:
        known, got = ", ".join(map(option, values)), " and ".join(option(name) for name, _ in some)
        raise ArgumentError(f"Give {what} by exactly one of {known}; got {got or 'none'}.")
    return some[0]


def refuse_foreign(names: Sequence[str], owner: str, takes: Iterable[str]) -> None:
    """Refuse options that do not belong to what was asked for; all have their dashes.

    Parameters
    ----------
    names : sequence of str
        Options that do not belong there; none is fine.
    owner : str
        Option to which they do not belong, such as --method lasso.
    takes : iterable of str
        Options that it has.
    """
    if names:
        raise ArgumentError(
            f"{' and '.join(names)} {'does' if len(names) == 1 else 'do'} not belong to {owner}, "
            f"which takes {', '.join(takes)}."
        )


def number_or_word(name: str, text: str, words: tuple[str, ...]) -> float | str:
    """Return an option that is a number or one of some words."""
    if text in words:
        return text
    try:
        return float(text)
    except ValueError:
        known = ", ".join(map(repr, words))
        raise ArgumentError(f"{option(name)} must be {known} or a number; got {text!r}.") from None


def count_or_auto(name: str, text: str) -> int | str:
    """Return an option that is a whole number or the word auto."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise ArgumentError(
            f"{option(name)} must be a whole number or auto; got {text!r}."
        ) from None


def check_jobs(n_jobs: int | None) -> None:
    """Refuse zero workers, which would do nothing."""
    if n_jobs == 0:
        raise ArgumentError("--n-jobs must not be 0.")
