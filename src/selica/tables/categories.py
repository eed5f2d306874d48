"""A category as columns of 0 and 1: one for each value but the most frequent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.types import Array, IntArray
from selica._core.wording import counted
from selica.tables.columns import Column, listed
from selica.tables.kinds import Levels, fewest_rows, levels_of
from selica.tables.naming import vocabulary

OTHER = "other"
"""What rare values of a category are called together."""
_YES = vocabulary(
    "yes y true t positive pos present + case affected treated ever exposed mutated mutant mut"
)
"""Values that are 1 where there are two."""


class Indicators(NamedTuple):
    """Columns of 0 and 1 that stand for a category."""

    levels: tuple[str, ...]
    """The value that each column stands for."""
    values: Array
    """(n, k), with NaN where the value is missing."""
    reference: str
    """The value without a column."""
    notes: tuple[str, ...]


def indicators(name: str, values: Column) -> Indicators:
    """Return a category as columns of 0 and 1; the most frequent value is the reference.

    Parameters
    ----------
    name : str
        For the notes.
    values : array of shape (n,)
    """
    levels, notes = merged(name, levels_of(values))
    words = list(levels.words)
    reference = 0
    if len(words) == 2 and words[0].lower() in _YES and words[1].lower() not in _YES:
        reference = 1
    shown = [k for k in range(len(words)) if k != reference]
    columns = np.zeros((values.size, len(shown)), order="F")
    for place, k in enumerate(shown):
        columns[:, place] = levels.codes == k
    columns[levels.codes < 0] = np.nan
    return Indicators(tuple(words[k] for k in shown), columns, words[reference], notes)


def merged(name: str, levels: Levels) -> tuple[Levels, tuple[str, ...]]:
    """Return values with those that few rows have as one, and a note on them."""
    rows = int(levels.counts.sum())
    fewest = fewest_rows(rows)
    rare = [k for k in range(len(levels.words)) if levels.counts[k] < fewest]
    if len(rare) < 2 or len(levels.words) - len(rare) < 2:
        return levels, ()
    kept = [k for k in range(len(levels.words)) if levels.counts[k] >= fewest]
    words = [levels.words[k] for k in kept]
    if OTHER not in words:
        words.append(OTHER)
    place: IntArray = np.full(len(levels.words) + 1, -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    place[rare] = words.index(OTHER)
    codes = place[levels.codes]
    counts = np.bincount(codes[codes >= 0], minlength=len(words))
    note = (
        f"{counted(len(rare), 'value')} of {name!r} that fewer than {fewest} rows have are "
        f"taken together as {OTHER!r}: {listed([levels.words[k] for k in rare])}."
    )
    order = np.argsort(-counts, kind="stable")
    rank: IntArray = np.empty(len(words) + 1, dtype=np.intp)
    rank[order] = np.arange(len(words))
    rank[-1] = -1
    return Levels([words[k] for k in order], counts[order], rank[codes]), (note,)
