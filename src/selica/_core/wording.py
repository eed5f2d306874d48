"""Sentences and phrases that several rooms say."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selica._core.effects import Effects


def assumptions(
    effects: Effects, columns: str = "independent columns", response: str = "a linear response"
) -> str:
    """Return what every prediction for a study assumes, in a sentence.

    Parameters
    ----------
    effects : Effects
        Distribution of the non-zero effects.
    columns, response : str
        What columns and response are like.

    Examples
    --------
    >>> from selica._core.wording import assumptions
    >>> from selica.theory import PointEffects
    >>> assumptions(PointEffects())
    'Assumes independent columns, independent rows, a linear response and equal effects.'
    """
    return f"Assumes {columns}, independent rows, {response} and {effects.label}."


def counted(n: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> from selica._core.wording import counted
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def signals(n: int) -> str:
    """Return how many signals there are."""
    return counted(n, "signal")


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Return options as they are written on a command line.

    Parameters
    ----------
    options : mapping of str to object
        By their names in Python. A list is an option that is repeated, a tuple one of several
        values.

    Examples
    --------
    >>> from selica._core.wording import option_words
    >>> option_words({"rows_of": "patient id", "keep": ["age", "sex"], "kfwer": (2, 0.1)})
    ["--rows-of 'patient id'", '--keep age', '--keep sex', '--kfwer 2 0.1']
    """
    words = []
    for name, value in options.items():
        for one in value if isinstance(value, list) else [value]:
            parts = one if isinstance(one, tuple) else (one,)
            quoted = " ".join(shlex.quote(str(part)) for part in parts)
            words.append(f"--{name.replace('_', '-')} {quoted}")
    return words


def few(names: Sequence[str], most: int = 5) -> str:
    """Return names for a sentence, not too many.

    Examples
    --------
    >>> from selica._core.wording import few
    >>> few(["a", "b", "c", "d"], most=2)
    'a, b and 2 more'
    """
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")
