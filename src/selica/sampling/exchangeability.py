r"""Are knockoff copies exchangeable with their columns?

For a set :math:`A` of columns let :math:`Z` be :math:`X` with the columns :math:`A` replaced by
their copies. To exchange the columns :math:`A` with their copies makes :math:`Z` of :math:`X` and
:math:`X` of :math:`Z`. So where the copies are knockoffs, :math:`(X_i, Z_i)` and :math:`(Z_i, X_i)`
have the same distribution for every row :math:`i`, and for a function :math:`g` that does not
depend on row :math:`i` the difference :math:`d_i = g(X_i) - g(Z_i)` is symmetric about zero: signs
of the :math:`d_i` may be flipped at random, which gives a p-value. :math:`A` of all columns asks
for the distribution of the copies alone, which an independent sample would have too; :math:`A` of
half of the columns asks for their distribution together with the columns. Copies of groups need to
pass for whole groups only: then :math:`A` is half of the groups.

An estimated covariance errs most where the columns hardly vary: an estimate gives such directions
too much variance, and copies drawn from it stand out there. So :math:`g` is the squared length in
weak directions: the rows are halved at random, one half gives the :math:`p/2` directions in which
its columns vary least, and the lengths are those of the rows of the other half; then the halves
change places. Each half has its own p-value, since the rows of one are the directions of the other,
and the smallest is multiplied by the number of tests. The unit of a column is taken from the column
and its copy together, which an exchange leaves as it is.

The p-value asks whether the copies are exact, and with an estimated covariance they never are. How
far they are from it is told by the ratio of the two sums of squared lengths.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from selica._core.errors import ArgumentError
from selica._core.random import RandomState, generator
from selica._core.results import Result
from selica._core.types import Array, BoolArray
from selica._core.validation import matrix, real
from selica.sampling.checks import group_labels, row_shares

FEWEST_ROWS = 40
"""Rows below which nothing is tested: halves of them know no weak directions."""
LEVEL = 0.01
"""A p-value up to this says that columns and copies differ."""
DOUBTFUL_RATIO = 1.25
"""Copies that vary so many times as much as the columns, or as little, where these vary least: from
here on a level may be exceeded. Practice, by the designs of docs/copies.md."""
WITHDRAWN_RATIO = 1.3
"""The same ratio, from which on no promise is made: at 1.37 twice as many selections were false as
the level allows."""
_ALIKE = 0.05
"""Ratios that differ from 1 by at most so much are called alike."""
FLIPS = 999
"""Random signs that a sum of differences is compared with."""
_NUMBERS_AT_ONCE = 1_000_000
"""Random numbers that are drawn at a time."""
_N_TESTS = 4
"""Two exchanges, each tested on two halves of the rows."""
_ROUNDING = 1e-12
"""Share of all squared lengths that rounding leaves in directions without any variance."""


@dataclass(frozen=True, slots=True, repr=False)
class Exchangeability(Result):
    """How far knockoff copies are from being exchangeable with their columns.

    Attributes
    ----------
    ratio : float, optional
        How many times as much the table with copies varies as the columns do, in directions in
        which these vary least; None where nothing was tested.
    p_value : float, optional
        Of the hypothesis that the copies are exchangeable, adjusted for the number of tests.
    swap : {"full", "half", "none"}
        Whether all columns or a random half of them were exchanged with their copies: the one
        with the larger departure. "none" where nothing was tested.
    rows : int
        Rows that were there to be tested.

    Examples
    --------
    >>> from selica.sampling import Exchangeability
    >>> print(Exchangeability(1.79, 0.004, "full", 500))  # doctest: +NORMALIZE_WHITESPACE
    The knockoff copies vary 1.79 times as much as the columns where the columns vary least
    (p = 0.004).
    >>> print(Exchangeability(None, None, "none", 30))
    Not tested: the check of the copies needs 40 rows, and there are 30.
    """

    ratio: float | None
    p_value: float | None
    swap: str
    rows: int

    @property
    def differs(self) -> bool:
        """Whether chance does not explain the ratio."""
        return self.p_value is not None and self.p_value <= LEVEL

    @property
    def departure(self) -> float:
        """The ratio or its inverse, whichever is larger; 1 where chance explains it."""
        if self.ratio is None or not self.differs:
            return 1.0
        return max(self.ratio, 1.0 / self.ratio if self.ratio > 0.0 else np.inf)

    @property
    def measured(self) -> str:
        """What was measured, as a clause."""
        if self.ratio is None:
            return f"the check of the copies needs {FEWEST_ROWS} rows, and there are {self.rows}"
        who = (
            "the knockoff copies vary"
            if self.swap == "full"
            else "the table with half of its columns replaced by copies varies"
        )
        columns = "as much as the columns where the columns vary least"
        if abs(self.ratio - 1.0) <= _ALIKE:
            return f"{who} {columns} (ratio {self.ratio:.2f}, p = {self.p_value:.3g})"
        return f"{who} {self.ratio:.3g} times {columns} (p = {self.p_value:.3g})"

    def __str__(self) -> str:
        if self.ratio is None:
            return f"Not tested: {self.measured}."
        return f"{self.measured[0].upper()}{self.measured[1:]}."


def exchangeability(
    X: ArrayLike,
    copy: ArrayLike,
    *,
    centre: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomState | None = None,
    groups: ArrayLike | None = None,
) -> Exchangeability:
    """Compare columns with their knockoff copy where the columns vary least.

    Parameters
    ----------
    X : array of shape (n, p)
        Independent rows.
    copy : array of shape (n, p)
        One knockoff copy of each column.
    centre : float or array of shape (p,), optional
        Mean of the columns in the distribution that the copies were drawn from; by default the
        mean of columns and copies together.
    sample_weight : array of shape (n,), optional
        Weights of the rows.
    random_state : None, int, SeedSequence, Generator or RandomState
        Source of the halves and of the signs.
    groups : array of int, shape (p,), optional
        Columns with the same number are exchanged with their copies together: half of the groups
        takes the place of half of the columns.

    Returns
    -------
    Exchangeability
        A ratio near one proves nothing: only weak directions and second moments are looked at.

    Notes
    -----
    A half of the rows judges with directions of the other, so that its p-value is exact for exact
    copies. The p-value here is the smallest of the two halves, for all columns exchanged and for
    half of them, times four.

    Examples
    --------
    >>> from selica.sampling import GaussianKnockoffs, exchangeability, iid_copies, simulate
    >>> X = simulate(200, 40, 0, noise_variance=1.0, covariance=("ar1", 0.9), random_state=0).X
    >>> estimated = GaussianKnockoffs().fit(X).sample(X, random_state=1)
    >>> round(exchangeability(X, estimated, random_state=2).ratio, 1)
    1.1
    >>> independent = iid_copies(X, random_state=1, members=1)[0]
    >>> round(exchangeability(X, independent, random_state=2).ratio, 1)
    11.6
    """
    table, other = matrix("X", X), matrix("copy", copy)
    if table.shape != other.shape:
        raise ArgumentError(f"copy must have the shape of X, {table.shape}; got {other.shape}.")
    share = row_shares(sample_weight, len(table))
    counted = share > 0.0
    rows = int(np.count_nonzero(counted))
    if rows < FEWEST_ROWS:
        return Exchangeability(None, None, "none", rows)
    table, other = _scaled(table[counted], other[counted], share[counted], centre)
    weight = share[counted] * rows
    rng = generator(random_state)
    first = np.zeros(rows, dtype=bool)
    first[rng.permutation(rows)[: rows // 2]] = True
    labels = np.arange(table.shape[1]) if groups is None else group_labels(groups, table.shape[1])
    chosen = np.zeros(int(labels.max()) + 1, dtype=bool)
    chosen[rng.permutation(chosen.size)[: max(chosen.size // 2, 1)]] = True
    half = chosen[labels]
    swaps = {"full": other, "half": np.where(half, other, table)}
    a, *each = weak_lengths((table, *swaps.values()), first, weight)
    differences = [np.where(part, a - b, 0.0) for b in each for part in (first, ~first)]
    smallest = _flipped(np.array(differences).T, rng).reshape(len(each), 2).min(axis=1)
    found = [
        Exchangeability(_ratio(a, b), min(_N_TESTS * float(p_value), 1.0), swap, rows)
        for swap, b, p_value in zip(swaps, each, smallest, strict=True)
    ]
    return max(found, key=lambda one: one.departure)


def weak_lengths(tables: Sequence[Array], first: BoolArray, weight: Array) -> list[Array]:
    """Return squared lengths of rows in the weak directions of the other half.

    Parameters
    ----------
    tables : sequence of arrays of shape (n, p)
    first : boolean array of shape (n,)
        Rows of the first half.
    weight : array of shape (n,)
        Of the rows.

    Returns
    -------
    list of arrays of shape (n,)
        One for each table, times the weights.
    """
    out = [np.empty(weight.size) for _ in tables]
    for known in (first, ~first):
        lengths = _weak(tables[0][known] * np.sqrt(weight[known])[:, None])
        for one, table in zip(out, tables, strict=True):
            one[~known] = weight[~known] * lengths(table[~known])
    return out


def _weak(own: Array) -> Callable[[Array], Array]:
    """Return a function for squared lengths in the directions in which rows `own` are short.

    Fewer rows than columns have no length at all in many directions. Then the few directions in
    which they are long are found from their inner products, and what is left is the length.
    """
    n, p = own.shape
    weak = max(p // 2, 1)
    if n >= p:
        _, vector = eigh(own.T @ own, driver="evd")
        return lambda rows: np.asarray(((rows @ vector[:, :weak]) ** 2).sum(axis=1))
    value, vector = eigh(own @ own.T)
    kept = np.arange(n) >= n - (p - weak)
    kept &= value > n * np.finfo(float).eps * max(value[-1], 0.0)
    long = own.T @ (vector[:, kept] / np.sqrt(value[kept]))
    return lambda rows: np.asarray((rows**2).sum(axis=1) - ((rows @ long) ** 2).sum(axis=1))


def _scaled(
    table: Array, copy: Array, share: Array, centre: ArrayLike | None
) -> tuple[Array, Array]:
    """Return columns and copies in units that are the same for both."""
    size = np.maximum(np.abs(table).max(axis=0), np.abs(copy).max(axis=0))
    size = np.where(size > 0.0, size, 1.0)  # so that squares are finite
    table, copy = table / size, copy / size
    if centre is None:
        middle = 0.5 * (share @ table + share @ copy)
    else:
        middle = real("centre", centre) / size
    table, copy = table - middle, copy - middle
    scale = np.sqrt(0.5 * (share @ table**2 + share @ copy**2))
    scale = np.where(scale > 0.0, scale, 1.0)
    return table / scale, copy / scale


def _ratio(a: Array, b: Array) -> float:
    """Return the ratio of the sums; 1 where both are nothing but rounding."""
    below, above = float(a.sum()), float(b.sum())
    if max(below, above) <= 0.0:
        return 1.0
    return above / below if below > 0.0 else float("inf")


def _flipped(differences: Array, rng: np.random.Generator) -> Array:
    """Return the share of random signs whose sum is as far from zero, for (rows, tests)."""
    observed = np.abs(differences.sum(axis=0)) - _ROUNDING * np.abs(differences).sum(axis=0)
    rows, as_far = len(differences), np.ones(differences.shape[1])
    block = max(_NUMBERS_AT_ONCE // rows, 1)  # signs of many rows would fill the memory
    for start in range(0, FLIPS, block):
        shape = (min(block, FLIPS - start), rows)
        signs = np.where(rng.random(shape) < 0.5, -1.0, 1.0)
        as_far += np.count_nonzero(np.abs(signs @ differences) >= observed, axis=0)
    return as_far / (1 + FLIPS)
