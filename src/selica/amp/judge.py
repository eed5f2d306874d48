"""What a step of an iteration says: how far it went, whether it turned back, whether to go on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from selica._core.compiled import core
from selica._core.types import Array, BoolArray, IntArray

_MEMORY = 4
"""How many changes are remembered; the kernel counts on it."""
GOES_ON = 0
"""Verdict on a step: it was not the last."""
DONE = 1
"""The iteration has converged."""
GONE = 2
"""The iteration has diverged."""


class Books(NamedTuple):
    """What is remembered of each penalty; changed in place by `judge`."""

    rate: Array
    """Share of a step that is taken."""
    cap: Array
    """The largest share allowed."""
    last: Array
    """(memory, L): the last changes."""
    lost: IntArray
    """For how many steps it has been far from its best."""
    residual: Array
    """The smallest change."""
    iterations: IntArray

    @classmethod
    def opened(cls, rate: Array, longest: float) -> Books:
        """Return the record before the first step."""
        L = rate.size
        return cls(
            np.array(rate, dtype=float), np.full(L, longest), np.full((_MEMORY, L), np.inf),
            np.zeros(L, dtype=np.intp), np.full(L, np.inf), np.zeros(L, dtype=np.intp),
        )  # fmt: skip


def judge(
    books: Books,
    live: IntArray,
    sums: Array,
    rest: Array,
    floors: Array,
    *,
    tol: float,
    shares: tuple[float, float],
) -> tuple[NDArray[np.int8], BoolArray]:
    """Return verdicts on a step of the penalties `live`, and which of them have never been better.

    sums (parts, 4, live) are those of `kernels.compare`; rest (live,) is finite where everything
    that is not compared is. A change is the largest of all parts, relative to the norm of the part
    or its floor; the turn is the cosine with the step before, of the parts that change most. Steps
    that turn back on the last ones are too long, steps that repeat them too short; `shares` are
    the least and the most that may be taken.
    """
    verdict, better = np.empty(live.size, np.int8), np.empty(live.size, np.bool_)
    core().judge(
        *books, live, sums, rest, floors,
        tol=tol, shortest=shares[0], longest=shares[1], verdict=verdict, better=better,
    )  # fmt: skip
    return verdict, better
