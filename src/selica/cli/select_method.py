"""The selector that a command line asks for, by the name of a method and its options."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from selica import catalogue
from selica._core.errors import ArgumentError
from selica.catalogue import Method
from selica.cli.naming import to_run
from selica.cli.options import (
    check_jobs,
    count_or_auto,
    number_or_word,
    option,
    refuse_foreign,
)


def unfitted(method: str, seed: int, **options: Any) -> Any:
    """Make the selector that a command line asks for; options that are None were not given."""
    given = {
        name: value.value if isinstance(value, StrEnum) else value
        for name, value in options.items()
        if value is not None
    }
    row = to_run(method, given)
    if "lam" in given:
        given["lam"] = number_or_word("lam", given["lam"], ("auto", "cv", "theory", "power"))
    if "n_resamples" in given:
        given["n_resamples"] = count_or_auto("n_resamples", given["n_resamples"])
    former = method != row.name
    parameters = _parameters(row, _options_of(row, former), given)
    # a former name left everything else to the class
    arguments = parameters if former else row.arguments(parameters)
    return row.load_selector()(**arguments, random_state=seed)


def _options_of(row: Method, former: bool) -> dict[str, str]:
    """Return the options of a method; a former name took those of all methods of the class."""
    rows = catalogue.methods(selector=row.selector) if former else [row]
    return {option: parameter for one in rows for option, parameter in one.options.items()}


def _parameters(row: Method, known: dict[str, str], given: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the selector; an option that it does not have is an error."""
    foreign = [option(name) for name in given if name not in known]
    refuse_foreign(foreign, f"--method {row.name}", map(option, sorted(known)))
    lam = given.get("lam")
    if (lam == "theory" and "sampler" in known) or (lam == "power" and "weakness" not in known):
        raise ArgumentError(f"--lam {lam!r} does not belong to --method {row.name}.")
    check_jobs(given.get("n_jobs"))
    return {known[name]: value for name, value in given.items()}
