"""The order of words that have one: numbered, Roman, or of a scale that everybody knows."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SCALES = (
    "none trace minimal slight mild moderate marked severe extreme",
    "absent rare occasional frequent constant",
    "never seldom rarely sometimes often always",
    "never former current",
    "very low|low|medium low|medium|mid|moderate|intermediate|medium high|high|very high",
    "poor fair good excellent",
    "small medium large",
    "worse same better",
    "progression stable partial complete",
    "pd sd pr cr",
    "underweight normal overweight obese",
    "no primary secondary tertiary",
)
"""Words of a scale from the least to the most."""
_ROMAN = {"i": 1, "v": 5, "x": 10}
_NUMBERED = re.compile(r"(\D*?)(\d+(?:\.\d+)?)(\D*)")
_ROMAN_NUMBERED = re.compile(r"(.*?\s)?([ivx]+)([a-d]?)")


def known_order(words: Sequence[str]) -> list[str] | None:
    """Return words in their order, where it is known; else None.

    Parameters
    ----------
    words : sequence of str
        Different values of a column.
    """
    for rank in (_by_number, _by_roman_number, _by_scale):
        places = rank([" ".join(word.lower().split()) for word in words])
        if places is not None and len(set(places)) == len(words):
            return [word for _, word in sorted(zip(places, words, strict=True))]
    return None


def _by_number(words: Sequence[str]) -> list[tuple[float, str]] | None:
    """Rank words that differ in their number alone, such as "grade 2" and "pT3"."""
    found = [_NUMBERED.fullmatch(word) for word in words]
    if not all(found) or len({match[1] for match in found if match}) > 1:
        return None
    return [(float(match[2]), match[3]) for match in found if match]


def _by_roman_number(words: Sequence[str]) -> list[tuple[float, str]] | None:
    """Rank Roman numbers such as II, stage III and IVa."""
    found = [_ROMAN_NUMBERED.fullmatch(word) for word in words]
    if not all(found) or len({match[1] for match in found if match}) > 1:
        return None
    return [(float(_roman(match[2])), match[3]) for match in found if match]


def _roman(number: str) -> int:
    """Return the value of a Roman number up to thirty or so."""
    values = [_ROMAN[letter] for letter in number]
    after = [*values[1:], 0]
    return sum(-a if a < b else a for a, b in zip(values, after, strict=True))


def _by_scale(words: Sequence[str]) -> list[tuple[float, str]] | None:
    """Rank words of one scale."""
    for scale in _SCALES:
        steps = scale.split("|") if "|" in scale else scale.split()
        if set(words) <= set(steps):
            return [(float(steps.index(word)), "") for word in words]
    return None
