"""Joint distributions of rows and copies under exchanges of columns with their copies."""

from __future__ import annotations

from itertools import product

import numpy as np


def swap_error(rows, joint, groups=None):
    """Return the largest change of P(x, x~) when any set of columns changes places with copies.

    With `groups`, the number of the group of each column, groups change places as a whole.
    """
    places = {tuple(row): i for i, row in enumerate(rows.tolist())}
    m, p = rows.shape
    groups = np.arange(p) if groups is None else np.asarray(groups)
    worst = 0.0
    for swap in product((False, True), repeat=int(groups.max()) + 1):
        swap = np.array(swap)[groups]
        x = np.where(swap, rows[None], rows[:, None])
        y = np.where(swap, rows[:, None], rows[None])
        i, k = (
            np.array([places[tuple(row)] for row in each.reshape(-1, p).tolist()])
            for each in (x, y)
        )
        worst = max(worst, np.abs(joint[i, k].reshape(m, m) - joint).max())
    return worst
