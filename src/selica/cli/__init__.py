"""The command line: parses, calls, prints."""

from __future__ import annotations

import os
import sys

import typer

from selica._core.errors import SelicaError
from selica._version import __version__
from selica.cli.app import app as page
from selica.cli.methods import methods
from selica.cli.mistakes import said
from selica.cli.options import options_named
from selica.cli.plan import plan
from selica.cli.predict import predict
from selica.cli.reproduce import reproduce
from selica.cli.select import select

_STOPPED = 130
"""Exit code of a command that Ctrl-C ended, as shells have it."""

app = typer.Typer(
    name="selica",
    add_completion=False,
    rich_markup_mode=None,
    help="Ensemble variable selection, and the theory that predicts it.",
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"selica {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(select)
app.command()(predict)
app.add_typer(plan, name="plan")
app.command()(methods)
app.command()(reproduce)
app.command("app")(page)


def main() -> None:
    """Run the command line: bad input ends with one line on stderr and exit code 2.

    So does what the system refuses, a full disk for instance, with exit code 1; Ctrl-C, with 130.
    """
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except typer.TyperException as error:
        typer.echo(f"selica: {said(error)}", err=True)
        sys.exit(2)
    except SelicaError as error:
        typer.echo(f"selica: {options_named(str(error))}", err=True)
        sys.exit(2)
    except (typer.Abort, KeyboardInterrupt):
        code = _STOPPED
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # whoever read has enough
            typer.echo(
                f"selica: {error.filename or 'output'}: {error.strerror or error}.", err=True
            )
        _leave_output()
        sys.exit(1)
    if code == _STOPPED:  # so typer, too, ends a command at Ctrl-C
        typer.echo("selica: stopped before there was an answer.", err=True)
    sys.exit(code if isinstance(code, int) else 0)


def _leave_output() -> None:
    """Forget what cannot be printed: it would fail again when Python ends, with a traceback."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
