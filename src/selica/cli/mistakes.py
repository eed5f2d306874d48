"""What is wrong with a command, in a sentence that names the option and what was typed."""

from __future__ import annotations

from typing import Any

import typer

_KINDS = {"int_parsing": "a whole number", "int_from_float": "a whole number"}
_KINDS |= {"float_parsing": "a number", "bool_parsing": "true or false"}
"""What an option has to be, by the names that the parser has for what it is not."""
_ASKED_FOR = {
    "effect": (
        {"r2", "heritability", "snr", "effect-size", "smallest", "betas", "odds-ratios"}
        | {"rate-ratios", "hazard-ratios"},
        "the strength of the signals",
    ),
    "signals": ({"n-signals", "k"}, "the number of signals"),
    "samples": ({"n-samples", "n"}, "the number of samples"),
    "fdr": ({"fdr"}, "the false discovery rate"),
}
"""Options that questions of `selica plan` do not have, since they ask for their values."""


def said(error: typer.TyperException) -> str:
    """Return a sentence on a command that could not be read.

    Parameters
    ----------
    error : TyperException

    Examples
    --------
    >>> import typer
    >>> from selica.cli.mistakes import said
    >>> said(typer.BadParameter("there is no such day"))
    'Invalid value: there is no such day'
    """
    for wrong in _validation(error):
        option = getattr(error, "param", None)
        name = "The value" if option is None or not option.opts else option.opts[0]
        if wrong["type"] in _KINDS:
            return f"{name} must be {_KINDS[wrong['type']]}; got {wrong['input']!r}."
        if wrong["type"] == "value_error":
            _, _, known = str(wrong["msg"]).partition(" is not one of ")
            if known:
                known = known.rstrip(".").replace("'", "")
                return f"{name} must be one of {known}; got {wrong['input']!r}."
    asked = _asked_for(error)
    return asked or " ".join(error.format_message().split())


def _validation(error: BaseException) -> list[dict[str, Any]]:
    """Return what the parser says of a value that it does not take."""
    errors = getattr(error.__cause__, "errors", None)
    return list(errors()) if callable(errors) else []


def _asked_for(error: typer.TyperException) -> str | None:
    """Return a sentence where an option is given whose value the command looks for."""
    given = str(getattr(error, "option_name", ""))
    command = str(getattr(getattr(error, "cmd", None), "name", ""))
    names, what = _ASKED_FOR.get(command, (set(), ""))
    if given.lstrip("-") not in names:
        return None
    return f"{given} is not an option of `selica plan {command}`, which looks for {what}."
