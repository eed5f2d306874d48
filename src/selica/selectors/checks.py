"""What about the rows, the columns and the response of a table weakens a selection.

Each check looks at the table as it was read and answers with a sentence for the user. A check that
guesses, by the name of a column or the pattern of its values, asks for more than one sign, so that
it raises few false alarms.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import RefusedError
from selica._core.losses import Loss
from selica._core.parallel import blas_threads_for
from selica._core.types import Array, BoolArray, IntArray
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.statistics import Data
from selica.tables.columns import Column
from selica.tables.kinds import FEWEST_GROUPS, identifiers, is_dates
from selica.tables.naming import (
    LARGEST_FAMILY,
    is_event,
    is_measured,
    is_plural,
    is_time,
    named_for_groups,
)

__all__ = [
    "FEWEST_GROUPS", "LARGEST_CORRELATION", "NEAR_CORRELATION", "TOLERATED_EFFECT", "Column",
    "Dependence", "alike_columns", "copied_rows", "few_values", "identical_groups", "identifiers",
    "most_correlated", "near_duplicates", "refuse_many_classes", "repeated_measures", "survival",
    "whole_columns",
]  # fmt: skip

TOLERATED_EFFECT = 1.1
"""Design effect of dependent rows up to which a promise is kept.

The variance of a sum over rows that come in groups of m_1, m_2, ... equal ones is sum(m_i ** 2) / n
times that over independent rows: the design effect of survey statistics.
"""
_FEWEST_UNNAMED_GROUPS = 20
"""Groups from which on a column tells them by the pattern of its values alone."""
_LARGEST_BLOCK = 20
"""Rows on average of groups that lie in blocks."""
_MOST_CLASSES = 10
"""Values of a response that may be names of classes."""
_SKEWNESS_OF_COUNTS = 0.5
"""Skewness from which on whole numbers look like counts."""
_COMPARED_COLUMNS = 256
"""Columns that are left out in turn to find rows that nearly agree."""
LARGEST_CORRELATION = 0.95
"""Columns more correlated than this cannot be told apart by their knockoff copies."""
NEAR_CORRELATION = 0.999
"""Correlation from which two columns are near-duplicates."""
_MOST_COMPARED = 5000
"""Columns that are compared pair by pair; in a wider table only exact duplicates are searched."""
_COMPARED_TOGETHER = 256
"""Columns that are compared with all others at once."""
_EXACT_CORRELATION = 1.0 - 1e-9
"""Correlation from which two columns are identical up to sign, scale and rounding."""
_FEWEST_COMPARED_ROWS = 4
"""With fewer rows columns agree by chance."""
_BLOCK = 4_000_000
"""Correlations that are held at once."""


class Dependence(NamedTuple):
    """Rows that are not independent of one another."""

    caution: str
    """For the user, a sentence."""
    reason: str
    """Why nothing is promised, a clause."""
    effect: float
    """The design effect."""
    certain: bool = True
    """Whether more than a pattern of values says so."""

    def weakened(self, guarantee: Guarantee) -> Guarantee:
        """Return what is left of a promise: nothing or, where it is not certain, a practice.

        Rows are named as the reason also where something else withdrew the promise before, since
        what is measured of columns and copies follows from the rows.
        """
        if self.effect <= TOLERATED_EFFECT:
            return guarantee
        if guarantee.level is None and not guarantee.withdrawn:
            return guarantee
        if self.certain:
            return no_guarantee(self.reason, withdrawn=True)
        return replace(guarantee, proven=False)


def copied_rows(table: Array, target: Column) -> Dependence | None:
    """Find rows that are exact copies of others, response included.

    In a table of few columns with few values, independent rows agree by chance; then as many of the
    different rows agree with another in all columns but one, and nothing is said.
    """
    n = len(table)
    group = _row_groups(table, target)
    sizes = np.bincount(group)
    copies = n - sizes.size
    if copies == 0:
        return None
    first = np.unique(group, return_index=True)[1]
    if _near_copies(table[first], target[first]) >= np.count_nonzero(sizes > 1):
        return None
    many = f"{copies:,} of {n:,} rows {'is an exact copy' if copies == 1 else 'are exact copies'}"
    return Dependence(
        f"{many} of another row. Every guarantee needs independent rows: keep one of each",
        f"{many} of other rows, and every guarantee needs independent rows",
        float(np.sum(sizes**2) / n),
    )


def one_column(response: Column) -> Column:
    """Return a response with one value for each row: of several numbers, their place in order."""
    if response.ndim == 1:
        return response
    return np.unique(response, axis=0, return_inverse=True)[1].astype(float)


def repeated_measures(
    columns: Iterable[tuple[str, Column]], *, variables: bool = False
) -> list[Dependence]:
    """Find columns that tell which rows belong together, as numbers of patients do.

    Parameters
    ----------
    columns : iterable of (str, array)
        Names and values.
    variables : bool
        Whether they are variables to select from, and so more often measured than names.
    """
    found = []
    for name, values in columns:
        known, present = _labels(values)
        if known is None:
            continue
        labels, code, counts = np.unique(known, return_inverse=True, return_counts=True)
        if not FEWEST_GROUPS <= labels.size < known.size:
            continue
        named = named_for_groups(name, known.size / labels.size)
        laid_out = _laid_out(name, code, counts, variables)
        if not named and not laid_out:
            continue
        # a variable called "patients" may count them
        certain = named and (laid_out or not (variables and is_plural(name)))
        # a row without a value is on its own
        sizes = np.append(counts, np.ones(np.count_nonzero(~present), dtype=counts.dtype))
        many = f"Column {name!r} has {labels.size:,} different values in {present.size:,} rows"
        found.append(
            Dependence(
                f"{many}, as names of patients or families do in repeated measurements. Every "
                "guarantee needs independent rows: if rows with the same value belong together, "
                f"say so (rows_of, or on the command line --rows-of {name!r})",
                f"rows with the same {name!r} seem to belong together, and every guarantee needs "
                "independent rows",
                float(np.sum(sizes**2) / present.size),
                certain,
            )
        )
    return found


def whole_columns(table: Array, least_range: float) -> IntArray:
    """Find columns of whole numbers that differ by so much."""
    found: list[IntArray] = []
    step = max(1, 1_000_000 // max(len(table), 1))
    for start in range(0, table.shape[1], step):
        block = table[:, start : start + step]
        wide = np.ptp(block, axis=0) >= least_range
        places = np.flatnonzero(wide)
        whole = np.all(block[:, places] == np.rint(block[:, places]), axis=0)
        found.append(places[whole] + start)
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def survival(
    target: str, response: Column, names: Sequence[str], table: Array, left_out: Sequence[str]
) -> str | None:
    """Say so if a table looks like times until an event, with some of them censored."""
    no_model = "This looks like survival data"
    two_values = np.unique(response).size == 2
    if not two_values and is_time(target):
        events = [
            names[j]
            for j in range(len(names))
            if is_event(names[j]) and np.unique(table[:, j]).size == 2
        ]
        if events:
            return (
                f"{no_model}, and {target!r} is treated as if every time were observed. "
                f"{events[0]!r} seems to say whether it was: give both (on the command line: "
                f"--time {target!r} --event {events[0]!r})"
            )
        gone = [name for name in left_out if is_event(name)]
        if gone:
            return (
                f"{no_model}, and {target!r} is treated as if every time were observed, whatever "
                f"{gone[0]!r} says: give both (on the command line: --time {target!r} --event "
                f"{gone[0]!r})"
            )
    if two_values and is_event(target):
        times = [names[j] for j in range(len(names)) if is_time(names[j])]
        if times:
            return (
                f"{no_model}, and {target!r} is treated as two classes, whatever the time until it "
                f"was: give both (on the command line: --time {times[0]!r} --event {target!r})"
            )
    return None


def refuse_many_classes(loss: Loss, classes: Any, n: int) -> None:
    """Refuse classes of which most have one row."""
    if loss.several and 2 * len(classes) > n:
        raise RefusedError(
            f"y has {len(classes)} different values in {n} rows, too many for classes."
        )


def few_values(target: str, y: Array) -> str | None:
    """Say so if a response that is taken as a continuous number is a count, or a few classes."""
    if not np.all(y == np.rint(y)):
        return None
    values = np.unique(y)
    spread = float(np.std(y))
    skewness = float(np.mean(((y - np.mean(y)) / spread) ** 3)) if spread > 0.0 else 0.0
    if 0.0 <= values[0] <= 1.0 and skewness >= _SKEWNESS_OF_COUNTS and values.size > 3:
        return (
            f"The response {target!r} looks like counts: whole numbers from {values[0]:g} to "
            f"{values[-1]:g}, most of them small. A linear model is fitted to them. If they are "
            "counts, ask for a model of counts: response='count' (on the command line: --response "
            "count)"
        )
    if 3 <= values.size <= _MOST_CLASSES and y.size >= 3 * values.size:
        shown = ", ".join(f"{v:g}" for v in values)
        return (
            f"The response {target!r} has only the values {shown}. A linear model takes them as "
            "amounts. If they are names of classes, ask for classes: response='classes' (on the "
            "command line: --response classes); if only their order counts, response='ordinal'"
        )
    return None


def near_duplicates(data: Data) -> list[tuple[int, int]] | None:
    """Find pairs of columns with a correlation of 0.999 or more in size.

    Returns
    -------
    list of (int, int), or None
        None in a table too wide to compare all pairs; `identical_groups` is for any width.
    """
    X = data.X[:, data.varies]
    n, p = X.shape
    if n < _FEWEST_COMPARED_ROWS:
        return []
    if p > _MOST_COMPARED:
        return None
    where = np.flatnonzero(data.varies)
    weighted = X * data.weight[:, None]
    pairs = []
    for start in range(0, p, _COMPARED_TOGETHER):  # so that Ctrl-C is heard, and memory is small
        size = np.abs(weighted[:, start : start + _COMPARED_TOGETHER].T @ X[:, start:])
        first, second = np.nonzero(np.triu(size >= NEAR_CORRELATION * data.weight.sum(), 1))
        pairs += [
            (int(where[start + i]), int(where[start + j]))
            for i, j in zip(first, second, strict=True)
        ]
    return pairs


def most_correlated(data: Data) -> tuple[float, int, int]:
    """Find the pair of columns of different variables with the largest correlation in size.

    Returns
    -------
    (float, int, int)
        The size of the correlation, and the columns.
    """
    where = np.flatnonzero(data.varies)
    if where.size < 2:
        return 0.0, 0, 0
    X = data.X[:, where] * np.sqrt(data.weight / data.weight.sum())[:, None]
    with blas_threads_for(X.shape):
        size = np.abs(X.T @ X)
    np.fill_diagonal(size, 0.0)
    if data.variable is not None:  # columns of one category, or group, are correlated anyway
        own = data.variable[where]
        size[own[:, None] == own] = 0.0
    first, second = divmod(int(size.argmax()), where.size)
    return float(size[first, second]), int(where[first]), int(where[second])


def identical_groups(data: Data) -> list[IntArray]:
    """Find columns that are identical up to sign and scale, without comparing all pairs.

    Identical columns have the same projection on a random direction, up to its sign. Columns are
    sorted by its size, and neighbours with the same one are compared: (n p + p log p) steps.
    """
    n = len(data.X)
    if n < _FEWEST_COMPARED_ROWS:
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
        same[k] = abs(float((share * a) @ b)) >= _EXACT_CORRELATION
    ends = np.flatnonzero(~same) + 1
    return [np.sort(group) for group in np.split(order, ends) if group.size > 1]


class AlikeColumns(NamedTuple):
    """For each of some columns, all others that are like it; those that have none are left out."""

    identical: dict[int, IntArray]
    """Up to sign and scale."""
    nearly: dict[int, IntArray]
    """But for a few rows or digits."""


def alike_columns(data: Data, columns: IntArray) -> AlikeColumns:
    """List, for each of some columns, all others that are identical or nearly so to it."""
    n, p = data.X.shape
    found = AlikeColumns({}, {})
    if n < _FEWEST_COMPARED_ROWS or not columns.size:
        return found
    chosen: Array = (data.X[:, columns] * (data.weight / data.weight.sum())[:, None]).T
    # of a stored table a block is made of ordinary numbers
    step = max(1, _BLOCK // max(columns.size, n if data.stored else 1))
    parts: list[tuple[IntArray, IntArray, Array]] = []
    for start in range(0, p, step):
        size = np.abs(chosen @ data.X[:, start : start + step])
        row, column = np.nonzero(size >= NEAR_CORRELATION)
        parts.append((row, column + start, size[row, column]))
    rows, others, sizes = (np.concatenate(part) for part in zip(*parts, strict=True))
    for place, j in enumerate(columns.tolist()):
        own = (rows == place) & (others != j)
        exact = sizes >= _EXACT_CORRELATION
        for kind, which in ((found.identical, own & exact), (found.nearly, own & ~exact)):
            if which.any():
                kind[j] = np.sort(others[which])
    return found


def _row_groups(table: Array, target: Column) -> IntArray:
    """Return, for each row, the number of its group of equal rows."""
    numbers = np.unique(target, return_inverse=True)[1]
    seen: dict[bytes, int] = {}
    group = np.empty(len(table), dtype=np.int64)
    for i, row in enumerate(table):
        content = (row + 0.0).tobytes() + int(numbers[i]).to_bytes(8, "little")
        key = hashlib.blake2b(content, digest_size=16).digest()
        group[i] = seen.setdefault(key, len(seen))
    return group


def _near_copies(table: Array, target: Column) -> int:
    """Count rows of different ones that agree with another in all columns but one.

    A row has the sum of random numbers that stand for its cells; without one cell it is the sum
    less that number. Of many columns some are left out in turn, and the count is scaled.
    """
    n, p = table.shape
    labels = np.unique(target, return_inverse=True)[1].astype(np.float64)
    total = np.zeros(n, dtype=np.uint64)
    parts = [*(table[:, j] for j in range(p)), labels]
    left_out = set(np.linspace(0, p, min(p + 1, _COMPARED_COLUMNS)).astype(int).tolist())
    marks: list[NDArray[np.uint64]] = []
    with np.errstate(over="ignore"):
        for j, values in enumerate(parts):
            mark = _mixed((values + 0.0).view(np.uint64) + np.uint64(j + 1) * _STEP)
            total += mark
            if j in left_out:
                marks.append(mark)
        near: BoolArray = np.zeros(n, dtype=bool)
        for mark in marks:
            _, code, sizes = np.unique(total - mark, return_inverse=True, return_counts=True)
            near |= sizes[code] > 1
    return int(np.count_nonzero(near) * len(parts) / len(marks))


_STEP = np.uint64(0x9E3779B97F4A7C15)
"""The odd number by which splitmix64 steps."""


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Turn numbers into others of scattered bits (the finaliser of splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


def _labels(values: Column) -> tuple[Column | None, BoolArray]:
    """Return values that may be names (whole numbers, or text but dates), and where they are."""
    if values.dtype.kind in "iufb":
        present = np.isfinite(values.astype(float))
        known = values[present].astype(float)
        return (known if np.all(known == np.rint(known)) else None), present
    present = np.array([value is not None for value in values], dtype=bool)
    text = values[present].astype(str)
    return (None if is_dates(text) else text), present


def _laid_out(name: str, code: IntArray, sizes: IntArray, variable: bool) -> bool:
    """Tell whether values occur equally often, or in blocks that are out of order."""
    if sizes.size < _FEWEST_UNNAMED_GROUPS or is_measured(name):
        return False
    steps = np.diff(code)
    in_blocks = bool(1 + np.count_nonzero(steps) == sizes.size)
    usual = int(np.median(sizes))
    balanced = np.count_nonzero(sizes == usual) >= 0.9 * sizes.size
    if 2 <= usual <= LARGEST_FAMILY and balanced and (in_blocks or not variable):
        return True
    is_sorted = bool(np.all(steps >= 0) or np.all(steps <= 0))
    together = np.sum(sizes[sizes > 1]) >= 0.8 * code.size
    small = code.size <= _LARGEST_BLOCK * sizes.size
    return bool(in_blocks and not is_sorted and together and small)
