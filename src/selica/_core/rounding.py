"""How rules compare counts: with a small allowance for rounding.

A rule compares counts with a level times a count. Levels such as 0.29 have no exact binary form:
0.29 * 100 is a little less than 29 in double precision. Every comparison therefore forgives
`ROUNDING`, so that a rule that holds with equality on paper also holds here.
"""

from __future__ import annotations

import math

ROUNDING = 1e-9
"""Share of a count that rounding may take away."""


def ceiling(value: float) -> int:
    """Return the smallest integer that is not below `value`, but for rounding."""
    return math.ceil(value - ROUNDING)
