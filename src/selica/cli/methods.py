"""`selica methods`: every method, what it promises, and what that rests on."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from selica import catalogue
from selica.catalogue import Method
from selica.cli.naming import options_in_words
from selica.cli.options import AsJson
from selica.cli.output import print_json, print_table, say

_LEGEND = (
    "controls: FDR, the expected share of false selections; 3.2 FDR, the same up to 3.2 times the "
    "level; PFER, the expected number of false selections; none, no error rate. uses: run, `selica "
    "select --method` runs it on a table; genotypes, it runs on genotypes (.bed, .pgen) alone; "
    "plan, `selica plan --method` predicts it before there is data. `selica methods NAME` says "
    "more about one method."
)


def methods(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Method to describe; without it all methods are listed.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the methods, or say what one of them promises.

    Example: selica methods knockoffs-evalues
    """
    rows = list(catalogue.methods())
    if name is not None:
        rows = [catalogue.method(name, argument="NAME")]
    if as_json:
        print_json({"methods": [_row(one) for one in rows]})
    elif name is None:
        _print_all(rows)
    else:
        _print_one(rows[0])


def _row(one: Method) -> dict[str, Any]:
    """Return a method as a row of JSON."""
    return {
        "name": one.name,
        "label": one.label,
        "controls": one.controls,
        "promise": one.promise,
        "rests_on": one.rests_on,
        "selector": one.class_name or None,
        "genotypes": one.genotypes is not None,
        "options": sorted(one.options),
        "predicted": one.predictor is not None,
    }


def _print_all(rows: list[Method]) -> None:
    """Print a table of the methods."""
    table = [[one.name, one.label, one.controls, _uses(one)] for one in rows]
    headings = ["--method", "what it is", "controls", "uses"]
    print_table(Console(highlight=False), headings, table, words=4)
    typer.echo()
    say(_LEGEND)


def _uses(one: Method) -> str:
    """Return what can be done with a method."""
    uses = {"run": one.selector, "genotypes": one.genotypes, "plan": one.predictor}
    return ", ".join(use for use, place in uses.items() if place is not None) or "-"


def _print_one(one: Method) -> None:
    """Print all that the catalogue says about a method."""
    say(f"{one.name}: {one.label}")
    typer.echo()
    say(f"{one.promise} {one.rests_on}")
    typer.echo()
    if one.genotypes is not None:
        say(
            f"`selica select cohort.bed --method {one.name}` runs it on genotypes, not on other "
            f"tables; in Python, {one.class_name}."
        )
    elif one.selector is None:
        say("It cannot be run on data.")
    else:
        say(f"`selica select --method {one.name}` runs it on a table; in Python, {one.class_name}.")
        say(f"It takes the options {options_in_words(one)}.")
    say(_prediction(one))


def _prediction(one: Method) -> str:
    """Return a sentence on where the power of a method is predicted."""
    if one.predictor is not None:
        return f"`selica plan compare --method {one.name}` predicts its power."
    if one in catalogue.at_ideal():
        return "`selica predict` predicts its power at the ideal threshold."
    return "Its power is not predicted."
