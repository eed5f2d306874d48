"""Lines that run a method once there is data: a command, and a call in Python."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from selica import catalogue
from selica.cli.options import option
from selica.cli.output import copyable

if TYPE_CHECKING:
    from selica.planning import Prediction
    from selica.planning.responses import StudyResponse


class SelectorRun:
    """How to run a method once there is data.

    Parameters
    ----------
    selector : str
        Name of its class.
    parameters : dict
    source : sequence of str, optional
        Words that say where the table is.
    arguments : mapping, optional
        Further arguments in Python, which the words of `source` stand for on the command line.
    """

    def __init__(
        self,
        selector: str,
        parameters: dict[str, Any],
        source: Sequence[str] | None = None,
        arguments: Mapping[str, Any] | None = None,
    ) -> None:
        given = parameters | dict(arguments or {})
        self.inner = [f"{name}={value!r}" for name, value in given.items()]
        self.selector = selector
        self.words = command_of(selector, parameters, *([] if source is None else [source]))

    @classmethod
    def of(cls, one: Prediction, source: Sequence[str] | None = None) -> SelectorRun:
        """Return how to run the settings of a prediction."""
        return cls(catalogue.method(one.method).class_name, one.parameters, source)

    @classmethod
    def on(cls, one: Prediction, response: StudyResponse) -> SelectorRun:
        """Return how to run the settings of a prediction on the response of a study."""
        source = ("table.csv", *response.source)
        class_name = catalogue.method(one.method).class_name
        return cls(class_name, one.parameters, source, response.arguments)

    @property
    def row(self) -> dict[str, str]:
        """For JSON."""
        code = f"{self.selector}({', '.join(self.inner)})"
        return {"code": code, "command": " ".join(self.words)}

    def tell(self) -> None:
        """Print lines to copy."""
        typer.echo(copyable(self.words))
        typer.echo("or, in Python,")
        parts = [f"{part}," for part in self.inner[:-1]] + self.inner[-1:]
        opened = [f"{self.selector}({''.join(parts[:1])}", *parts[1:]]
        typer.echo(copyable([*opened[:-1], f"{opened[-1]})"], end=""))


def command_of(
    selector: str,
    parameters: Mapping[str, Any],
    source: Sequence[str] = ("table.csv", "--target y"),
) -> list[str]:
    """Return the command that runs a selector: its words, each option with its value.

    Parameters
    ----------
    selector : str
        Name of its class.
    parameters : mapping
        Its arguments, those that the command has options for.
    source : sequence of str
        Words that say where the table is.
    """
    row = catalogue.of_selector(selector, parameters)
    option_of = {parameter: option for option, parameter in row.options.items()}
    chosen = [
        f"{option(option_of[name])} {_word(value)}"
        for name, value in parameters.items()
        if name not in row.preset
    ]
    return ["selica select", *source, f"--method {row.name}", *chosen]


def _word(value: Any) -> str:
    return repr(value).removesuffix(".0") if isinstance(value, float) else shlex.quote(str(value))
