"""Checks that the rules of this room share, and how they round.

A rule compares counts with a level times a count. Levels such as 0.29 have no exact binary form:
0.29 * 100 is a little less than 29 in double precision. Every comparison therefore forgives
`ROUNDING`, so that a rule that holds with equality on paper also holds here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import array_of, count, real, short

ROUNDING = 1e-9
"""Share of a count that rounding may take away."""

_KINDS = {
    0: "a number",
    1: "a non-empty vector of numbers",
    2: "a non-empty two-dimensional table of numbers",
}


def numbers(
    name: str,
    value: Any,
    *,
    ndim: int = 1,
    at_least: float = -np.inf,
    at_most: float = np.inf,
) -> Array:
    """`value` as finite floats with `ndim` axes, inside the stated range (ends included)."""
    raw = array_of(value)
    if raw.dtype.kind not in "iuf" or raw.ndim != ndim or raw.size == 0:
        raise ArgumentError(f"{name} must be {_KINDS[ndim]}; got {short(value)}.")
    return real(name, raw, at_least=at_least, at_most=at_most)


def number(name: str, value: Any, *, above: float, at_most: float = np.inf) -> float:
    """`value` as one finite float, above one end of the range and up to the other."""
    got = float(numbers(name, value, ndim=0))
    if not above < got <= at_most:
        span = f"above {above:g}" + ("" if at_most == np.inf else f" and at most {at_most:g}")
        raise ArgumentError(f"{name} must be {span}; got {got:g}.")
    return got


def error_level(name: str, value: Any) -> float:
    """`value` as a level of error strictly between zero and one."""
    got = float(numbers(name, value, ndim=0))
    if not 0.0 < got < 1.0:
        raise ArgumentError(f"{name} must be between 0 and 1, both excluded; got {got:g}.")
    return got


def offset_of(value: Any) -> int:
    """The number that is added to the count of negatives: one, or zero for the looser rule."""
    return count("offset", value, at_least=0, at_most=1)


def ceiling(value: float) -> int:
    """The smallest integer that is not below `value`, but for rounding."""
    return math.ceil(value - ROUNDING)
