"""Columns that are the same, or nearly so: they compete for selection."""

from __future__ import annotations

import numpy as np

from selica._core.types import Array, BoolArray, IntArray
from selica.statistics import Data

NEAR = 0.999
"""Correlation from which two columns are near-duplicates."""
_MOST_COMPARED = 5000
"""Columns that are compared pair by pair; in a wider table only exact duplicates are searched."""
_EXACT = 1.0 - 1e-9
"""Correlation from which two columns are identical up to sign, scale and rounding."""
_FEWEST_ROWS = 4
"""With fewer rows columns agree by chance."""
_BLOCK = 4_000_000
"""Correlations that are held at once."""


def near_duplicates(data: Data) -> list[tuple[int, int]] | None:
    """Find pairs of columns with a correlation of 0.999 or more in size.

    Returns
    -------
    list of (int, int), or None
        None in a table too wide to compare all pairs; `identical_groups` is for any width.
    """
    X = data.X[:, data.varies]
    n, p = X.shape
    if n < _FEWEST_ROWS:
        return []
    if p > _MOST_COMPARED:
        return None
    where = np.flatnonzero(data.varies)
    size = np.abs((X * data.weight[:, None]).T @ X) / data.weight.sum()
    first, second = np.nonzero(np.triu(size >= NEAR, 1))
    return [(int(where[i]), int(where[j])) for i, j in zip(first, second, strict=True)]


def identical_groups(data: Data) -> list[IntArray]:
    """Group columns that are identical up to sign and scale, without comparing all pairs.

    Identical columns have the same projection on a random direction, up to its sign. Columns are
    sorted by its size, and neighbours with the same one are compared: (n p + p log p) steps.
    """
    n = len(data.X)
    if n < _FEWEST_ROWS:
        return []
    direction = np.random.default_rng(0).standard_normal(n)
    size = np.abs((direction * data.weight) @ data.X)
    order = np.argsort(size, kind="stable")
    order = order[data.varies[order]]
    close = np.flatnonzero(np.diff(size[order]) <= 1e-6 * np.sqrt(n))
    same: BoolArray = np.zeros(max(order.size - 1, 0), dtype=bool)
    share = data.weight / data.weight.sum()
    for k in close:
        a, b = data.X[:, order[k]], data.X[:, order[k + 1]]
        same[k] = abs(float((share * a) @ b)) >= _EXACT
    ends = np.flatnonzero(~same) + 1
    return [np.sort(group) for group in np.split(order, ends) if group.size > 1]


def identical_to(data: Data, columns: IntArray) -> dict[int, IntArray]:
    """List, for each of some columns, all others that are identical up to sign and scale."""
    n, p = data.X.shape
    found: dict[int, IntArray] = {}
    if n < _FEWEST_ROWS or not columns.size:
        return found
    chosen: Array = (data.X[:, columns] * (data.weight / data.weight.sum())[:, None]).T
    step = max(1, _BLOCK // columns.size)
    parts: list[tuple[IntArray, IntArray]] = []
    for start in range(0, p, step):
        row, column = np.nonzero(np.abs(chosen @ data.X[:, start : start + step]) >= _EXACT)
        parts.append((row, column + start))
    rows = np.concatenate([row for row, _ in parts])
    others = np.concatenate([column for _, column in parts])
    for place, j in enumerate(columns):
        same = np.sort(others[(rows == place) & (others != j)])
        if same.size:
            found[int(j)] = same
    return found
