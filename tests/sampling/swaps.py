"""Joint distributions of rows and copies under exchanges of columns with their copies."""

from __future__ import annotations

from itertools import product

import numpy as np


def swap_error(rows, joint):
    """Return the largest change of P(x, x~) when any set of columns changes places with copies."""
    places = {tuple(row): i for i, row in enumerate(rows.tolist())}
    m, p = rows.shape
    worst = 0.0
    for swap in product((False, True), repeat=p):
        x = np.where(swap, rows[None], rows[:, None])
        y = np.where(swap, rows[:, None], rows[None])
        i, k = (
            np.array([places[tuple(row)] for row in each.reshape(-1, p).tolist()])
            for each in (x, y)
        )
        worst = max(worst, np.abs(joint[i, k].reshape(m, m) - joint).max())
    return worst
