"""What a control asks for: a number, one of a few, or text, and how each reads an address."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

Value = int | float | str
"""What a control holds."""
_LONGEST = 4000
"""Signs of a typed text, at most."""


class NumberField(NamedTuple):
    """A number with a slider and a place to type it."""

    key: str
    label: str
    low: float
    high: float
    first: float
    step: float = 1.0
    """Between two stops of the slider, where it is not logarithmic."""
    log: bool = False
    whole: bool = False
    note: str = ""

    @property
    def wanted(self) -> str:
        """What makes sense here, in words."""
        kind = "a whole number" if self.whole else "a number"
        return f"{kind} from {self.low:,.10g} to {self.high:,.10g}"

    def parse(self, text: object) -> Value | None:
        """Return the number that a text or a browser says; None where it makes no sense."""
        if isinstance(text, bool) or not isinstance(text, str | int | float):
            return None
        try:
            value = float(text)
        except (ValueError, OverflowError):
            return None
        if not math.isfinite(value) or not self.low <= value <= self.high:
            return None
        if not self.whole:
            return value
        return int(value) if value == int(value) else None

    def data(self, value: Value) -> dict[str, Any]:
        """Return what the browser is told of the field."""
        limits = {"low": self.low, "high": self.high, "step": self.step}
        return _data(self, "number", value) | limits | {"log": self.log, "whole": self.whole}


class ChoiceField(NamedTuple):
    """One of a few."""

    key: str
    label: str
    options: Mapping[str, str]
    """What each is called, by the word for it in an address."""
    first: str
    former: Mapping[str, str] = {}
    """What former addresses have, by the word they have now."""
    note: str = ""

    @property
    def wanted(self) -> str:
        """What makes sense here, in words."""
        return f"one of {', '.join(self.options)}"

    def parse(self, text: object) -> Value | None:
        """Return the choice that a text says; None where there is no such choice."""
        if not isinstance(text, str):
            return None
        word = self.former.get(text, text)
        return word if word in self.options else None

    def data(self, value: Value) -> dict[str, Any]:
        """Return what the browser is told of the field."""
        return _data(self, "choice", value) | {"options": [*map(list, self.options.items())]}


class TextField(NamedTuple):
    """Text of one line."""

    key: str
    label: str
    first: str
    note: str = ""
    wrong: str = ""
    """What is wrong with the text."""
    example: str = ""
    """Shown, and taken, where nothing is typed."""

    @property
    def wanted(self) -> str:
        """What makes sense here, in words."""
        return f"at most {_LONGEST} signs"

    def parse(self, text: object) -> Value | None:
        """Return the text, unless it is too long."""
        return text.strip() if isinstance(text, str) and len(text) <= _LONGEST else None

    def data(self, value: Value) -> dict[str, Any]:
        """Return what the browser is told of the field."""
        return _data(self, "text", value) | {"wrong": self.wrong, "example": self.example}


Field = NumberField | ChoiceField | TextField


def _data(field: Field, kind: str, value: Value) -> dict[str, Any]:
    shared = {"key": field.key, "label": field.label, "note": field.note, "first": field.first}
    return shared | {"kind": kind, "value": value}
