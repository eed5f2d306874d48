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

_KEEPS = (
    "keeps: FDR, the expected share of false selections; PFER, their expected number; none, "
    "neither. run: on a table, by `selica select --method`. plan: before there is data, by "
    "`selica plan --method`. `selica methods NAME` says more about one."
)


def methods(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Say more about one method.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List every method: what it keeps, what it promises and what that rests on.

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
        "keeps": one.controls,
        "promise": one.promise,
        "rests_on": one.rests_on,
        "selector": one.class_name or None,
        "options": sorted(one.options),
        "predicted": one.predictor is not None,
    }


def _print_all(rows: list[Method]) -> None:
    """Print a table of the methods."""
    table = [[one.name, one.label, one.controls, _uses(one)] for one in rows]
    headings = ["--method", "what it is", "keeps", "uses"]
    print_table(Console(highlight=False), headings, table, words=4)
    typer.echo()
    say(_KEEPS)


def _uses(one: Method) -> str:
    """Return what can be done with a method."""
    uses = {"run": one.selector, "plan": one.predictor}
    return ", ".join(use for use, place in uses.items() if place is not None) or "-"


def _print_one(one: Method) -> None:
    """Print all that the catalogue says about a method."""
    say(f"{one.name}: {one.label}")
    typer.echo()
    say(f"{one.promise} {one.rests_on}")
    typer.echo()
    if one.selector is None:
        say("It cannot be run on data.")
    else:
        say(f"selica select --method {one.name}, in Python {one.class_name}.")
        say(f"It takes {options_in_words(one)}.")
    planned = one.predictor is not None
    say(f"selica plan --method {one.name}." if planned else "Its power is not predicted.")
