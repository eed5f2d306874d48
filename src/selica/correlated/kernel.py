"""Many lassos over one Gram matrix, compiled."""

from __future__ import annotations

from selica._core.compiled import core
from selica._core.types import Array


def solve_members(gram: Array, b: Array, theta: float, coef: Array) -> int:
    """Find the w of least w'Gw/2 - b'w + theta |w|_1 for each b, into coef; count the failures.

    b and coef are (sets, members, k). A fit starts from coef; a member that starts from zero takes
    the answer of the one before, which has the same data.
    """
    return int(core().solve_members(gram, b, theta, coef))
