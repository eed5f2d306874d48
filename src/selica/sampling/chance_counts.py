r"""How often halves of the rows have an irrelevant variable among their first ones, by chance.

Where nothing matters, the association of a variable with the response in a half of the rows is
normal, and those in the two halves of a pair are :math:`(z \pm w)/\sqrt 2`, with :math:`z` of the
whole table and :math:`w` of the pair, independent standard normal. A half has the variable among
its first q of p where the size of its association passes the cut that a share of q/p passes. Given
:math:`z`, pairs are independent.

Such linear measures are the worst case as far as variances tell: by Hoeffding's bound on the
variance of a U-statistic, what a half of the rows selects owes at most half of its variance to the
table that all halves share, and a linear measure owes it exactly that half. Fits of many variables
to few rows, and measures that are not linear, owe it less.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from selica._core.types import IntArray
from selica._core.validation import count

_LARGEST_FIELD = 8.0
"""Largest association of a table that is drawn, in standard errors."""
_FIELDS = 161
"""Associations of a table, evenly spaced."""
_DRAWS = 200
"""Draws of all pairs for each of them: an expected number is known to one per cent."""
_SEED = 20251118
"""Seed of the draws, which are the same for everyone: a threshold is no matter of luck."""


class ChanceCounts(NamedTuple):
    """Counts of an irrelevant variable that has one association in the whole table.

    Examples
    --------
    >>> from selica.sampling import chance_counts
    >>> next(chance_counts(100, 10, 50)).counts.shape
    (10, 200)
    """

    counts: IntArray
    """(longest, draws): halves that have the variable among their first 1, 2, .. ones."""
    probability: float
    """Of this association, shared by the draws; all of them add up to one."""


def chance_counts(p: int, longest: int, n_pairs: int = 50) -> Iterator[ChanceCounts]:
    """Draw how many halves have an irrelevant variable among their first ones, in a large table.

    Parameters
    ----------
    p : int
        Number of variables.
    longest : int
        The longest list of first variables, below p.
    n_pairs : int
        Complementary pairs of halves.

    Returns
    -------
    iterator of ChanceCounts
        One for each of many associations in the whole table. The draws have a fixed seed.

    Examples
    --------
    >>> from selica.sampling import chance_counts
    >>> drawn = chance_counts(100, 10, 50)
    >>> share = sum(one.probability * one.counts[-1].mean() / 100 for one in drawn)
    >>> round(float(share), 2)  # the first 10 of 100
    0.1
    """
    p = count("p", p, at_least=2)
    return _drawn(p, count("longest", longest, at_most=p - 1), count("n_pairs", n_pairs))


def _drawn(p: int, longest: int, n_pairs: int) -> Iterator[ChanceCounts]:
    """Yield the draws of each association."""
    rng = np.random.default_rng(_SEED)
    share = np.arange(longest, 0, -1) / p
    cut = np.sqrt(2.0) * ndtri(1.0 - 0.5 * share)  # from the longest list to the shortest
    z = np.linspace(0.0, _LARGEST_FIELD, _FIELDS)
    chance = np.exp(-0.5 * z**2) * np.where(z == 0.0, 0.5, 1.0)
    first = np.arange(_DRAWS)[:, None] * (longest + 1)
    for field, probability in zip(z, chance / chance.sum(), strict=True):
        own = rng.standard_normal((_DRAWS, n_pairs))
        sizes = np.abs(np.concatenate([field + own, field - own], axis=1))
        passed = np.searchsorted(cut, sizes)  # how many lists a half has it on
        many = np.bincount((first + passed).ravel(), minlength=_DRAWS * (longest + 1))
        # it is on the shortest list where it is on all of them, on the next where on all but one
        lists = np.cumsum(many.reshape(_DRAWS, -1)[:, :0:-1], axis=1)
        yield ChanceCounts(lists.T, float(probability))
