"""Methods by the names that a command line gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer

from selica import catalogue
from selica._core.deprecation import REMOVAL
from selica._core.errors import ArgumentError
from selica.catalogue import Method


def runnable() -> list[Method]:
    """Return the methods that can be run on a table."""
    return [one for one in catalogue.methods() if one.selector is not None]


def predicted() -> list[Method]:
    """Return the methods whose power is predicted."""
    return [one for one in catalogue.methods() if one.predictor is not None]


def diagnosed() -> list[Method]:
    """Return the methods whose fit can be compared with a prediction at its level."""
    return [one for one in predicted() if "fdr" in one.levels]


def listed(methods: Iterable[Method]) -> str:
    """Return the names of methods with commas between them."""
    return ", ".join(one.name for one in methods)


def takers(option: str) -> str:
    """Return the methods that have an option, as a help text says them.

    A star stands for the rest of a name, where all methods that begin alike have the option.
    """
    families: dict[str, list[Method]] = {}
    for one in runnable():
        families.setdefault(one.name.split("-")[0], []).append(one)
    words = []
    for family, rows in families.items():
        able = [one.name for one in rows if option in one.options]
        words += [f"{family}*"] if len(able) == len(rows) > 1 else able
    return ", ".join(words)


def to_run(name: str, given: Mapping[str, Any]) -> Method:
    """Find the method that `selica select --method` names.

    Parameters
    ----------
    name : str
        A name of the catalogue, or a former one, about which a note is printed.
    given : mapping of str
        Options that are given, to their values: a former name can stand for several methods.
    """
    former = catalogue.formerly(name, "select")
    if former is None:
        row = catalogue.method(name, argument="--method")
    else:
        row = _former(former, given)
        _note(name, row)
    if row.selector is None:
        raise ArgumentError(
            f"--method {row.name} cannot be run on data; choose one of {listed(runnable())}."
        )
    return row


def _former(row: Method, given: Mapping[str, Any]) -> Method:
    """Return the method that the former name of `row` meant with these options."""
    family = {
        "stability-pfer": (
            ("stability-fdr", {"fdr"}),
            ("stability-pfer", {"pfer", "q"}),
            ("stability-ideal", {"lam", "engine", "resample_rate", "resampling"}),
        ),
        "knockoffs-evalues": (("knockoffs-frequency", {"pfer", "kfwer", "threshold"}),),
    }
    # pairs of halves are what the bound takes in any case
    decisive = {option for option, value in given.items() if value != "pairs"}
    for name, options in family.get(row.name, ()):
        if options & decisive:
            return catalogue.method(name)
    return row


def to_diagnose(name: str) -> Method:
    """Find the method that `selica plan diagnose --method` names."""
    row = to_run(name, {"fdr": True})
    if row not in diagnosed():
        raise ArgumentError(
            f"--method {row.name} has no prediction at a false discovery rate; choose one of "
            f"{listed(diagnosed())}."
        )
    return row


def to_plan(names: Sequence[str]) -> list[str]:
    """Find the methods that `selica plan --method` names; former names print a note."""
    found = []
    for name in names:
        former = catalogue.formerly(name, "planning") or catalogue.formerly(name, "select")
        row = former or catalogue.method(name, argument="--method")
        if former is not None:
            _note(name, former)
        if row.predictor is None:
            raise ArgumentError(
                f"--method {row.name} has no prediction; choose one of {listed(predicted())}."
            )
        found.append(row.name)
    return list(dict.fromkeys(found))


def _note(name: str, row: Method) -> None:
    typer.echo(
        f"Note: --method {name} is now called {row.name}; the old name will be removed in selica "
        f"{REMOVAL}.",
        err=True,
    )


def options_in_words(row: Method) -> str:
    """Return the options of a method with commas between them."""
    return ", ".join(f"--{name.replace('_', '-')}" for name in sorted(row.options))
