"""Many lassos over one Gram matrix, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from selica._core.compiled import njit
from selica.solvers.quadratic import solve_one

_TOL = 1e-12
"""Tolerance of coordinate descent, where columns are degenerate."""
_EPOCHS = 100_000
"""Longest run of coordinate descent."""


def _solve_members(packed: Any, b: Any, theta: float, coef: Any) -> int:
    """Find the w of least w'Gw/2 - b'w + theta |w|_1 for each b, into coef; count the failures."""
    sets, members, k = b.shape
    penalty = np.full(k, theta)
    order = np.empty(k, dtype=np.int64)
    factor = np.empty(k * (k + 1) // 2)
    gradient = np.empty(k)
    failed = 0
    for j in range(sets):
        for m in range(members):
            status = solve_one(
                packed, b[j, m], penalty, k, coef[j, m], order, -1, factor, gradient, _TOL, _EPOCHS
            )[0]
            failed += status
            if m + 1 < members and not coef[j, m + 1].any():
                coef[j, m + 1] = coef[j, m]  # a member is close to the next of the same data
    return failed


solve_members = njit(cache=True, nogil=True)(_solve_members)
