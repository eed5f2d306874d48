"""What a step of an iteration says: how far it went, whether it turned back, whether to go on."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from selica._core.compiled import njit
from selica._core.types import Array, IntArray

# Steps that turn back on the last ones are too long, steps that repeat them too short.
_TURN = 0.4
_MEMORY = 4
"""A change that is larger than all of so many before shortens the step as well."""
_SHORTER = 0.7
"""Factor of the longest step allowed, after such a change."""
_RECOVERY = 1.01
"""Factor by which it grows again: the iteration should not run into the same wall."""
_LOST = 1e3
"""Changes that stay so many times above the smallest one seen are divergence."""
_PATIENCE = 60
"""If they stay there for so many steps."""
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


@njit(cache=True, nogil=True)
def judge(books, live, sums, rest, floors, tol, shortest, longest):
    """Return verdicts on a step of the penalties `live`, and which of them have never been better.

    sums (parts, 4, live) are those of `kernels.compare`; rest (live,) is finite where everything
    that is not compared is. A change is the largest of all parts, relative to the norm of the part
    or its floor; the turn is the cosine with the step before, of the parts that change most.
    """
    verdict, better = np.zeros(live.size, np.int8), np.zeros(live.size, np.bool_)
    for k in range(live.size):
        i = live[k]
        change = 0.0
        for j in range(floors.size):
            each = math.sqrt(sums[j, 0, k]) / max(math.sqrt(sums[j, 1, k]), floors[j])
            if not each <= change:
                change = each
                if math.isnan(each):
                    break
        if not math.isfinite(rest[k]):
            change = math.nan
        finite = math.isfinite(change)
        turn, weights = 0.0, 0.0
        if finite and change > 0.0:
            for j in range(floors.size):
                each = math.sqrt(sums[j, 0, k]) / max(math.sqrt(sums[j, 1, k]), floors[j])
                weight = (each / change) ** 2
                lengths = math.sqrt(sums[j, 0, k]) * math.sqrt(sums[j, 2, k])
                weights += weight
                if lengths > 0.0:
                    turn += weight * sums[j, 3, k] / lengths
            turn = min(max(turn / weights, -1.0), 1.0)
        books.iterations[i] += 1
        if finite and change < books.residual[i]:
            books.residual[i] = change
            better[k] = True
        larger = True
        for m in range(_MEMORY):
            larger &= not change <= books.last[m, i]
        cap = books.cap[i] * (_SHORTER if larger else _RECOVERY)
        books.cap[i] = min(max(cap, shortest), longest)
        rate = max(books.rate[i] * (1.0 + _TURN * turn), shortest)
        books.rate[i] = min(rate, books.cap[i])
        books.lost[i] = books.lost[i] + 1 if change > _LOST * books.residual[i] else 0
        for m in range(_MEMORY - 1):
            books.last[m, i] = books.last[m + 1, i]
        books.last[_MEMORY - 1, i] = change
        if not finite or books.lost[i] > _PATIENCE:
            verdict[k] = GONE
        elif change <= tol:
            verdict[k] = DONE
    return verdict, better
