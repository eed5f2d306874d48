r"""How many resamples or knockoff copies are drawn where a selector is to find that out.

Resamples go on, block after block, until no decision is a close call. What is promised of a
selection after a number of pairs of halves that depends on the data? Let :math:`Z_b` be the share
of the first :math:`b` pairs in which both halves select an irrelevant variable. Given the data
pairs are exchangeable, so that :math:`Z_B, Z_{B+1}, ..` is a martingale in reversed order, and by
Doob's inequality

.. math:: P(\max_{b \ge B} Z_b \ge t) \le E(Z_B) / t .

That is all that the bound of Meinshausen and Bühlmann uses: it holds whatever decides when to stop,
and needs no change. The unimodal and the r-concave bound use the shape of the distribution of one
:math:`Z_b`, which a rule that avoids values near the threshold changes: they are expected, not
proven, there, and are taken for the smallest number that could have been drawn.

Copies are averaged: e-values, and shares in Markov's inequality, need :math:`E(\bar e_N) \le 1` for
the mean over N copies. Where N is chosen by the copies that are averaged this may fail: to stop
when a mean happens to be large makes it large. A pilot decides therefore, and does not count. Given
the data, the copies after it do not depend on it, so that :math:`E(\bar e_N) = E\,E(\bar e_N |
\text{data}, N) = E(e)`, for every rule by which a pilot may choose N.

Two promises are expected, not proven, after a pilot. One that uses the shape of a distribution, of
shares or of mean e-values, needs that shape for the number of copies that was chosen by the same
data. And copies that are the same for every seed, such as those of a fixed design that are not
randomized, are no fresh draws given the data. Where e-BH takes a level that grows with the number
of copies, the level that is proven is that of the largest number that a pilot may ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from selica._core.types import Array
from selica._core.validation import count
from selica.control import members_needed
from selica.control.enough import MOST_TIMES
from selica.selectors.comparison import FEWEST, KnockoffComparison, Measure

AUTO = "auto"
"""What is said where a selector is to find out how many are needed."""
FIRST_RESAMPLES = 200
"""Resamples of a block."""
FIRST_COPIES = 31
"""Copies of a pilot, and the fewest that count unless a level needs more. Odd, as are all numbers
that a pilot asks for: the bound for half of the copies is smallest for odd numbers."""
ANY_NUMBER = "it does not matter that close calls decided how many resamples were drawn"
"""What an unproven promise rests on where resamples went on until decisions were settled."""
ANY_COPIES = "it does not matter that a pilot decided how many knockoff copies were drawn"
"""What an unproven promise rests on where the argument for a pilot is not enough."""


def number_drawn(name: str, value: Any, first: int, *, at_least: int = 1) -> int:
    """Return a number of resamples or copies, checked; the first one where it is "auto".

    Parameters
    ----------
    name : str
    value : int or "auto"
    first : int
    at_least : int
    """
    return first if is_auto(value) else count(name, value, at_least=at_least)


def is_auto(value: Any) -> bool:
    """Tell whether a selector is to find out how many are needed."""
    return isinstance(value, str) and value == AUTO


def most_drawn(first: int) -> int:
    """Return how many are drawn at most."""
    return MOST_TIMES * first


def possible_copies(fewest: int) -> range:
    """Return the numbers of copies that a pilot may ask for, all of them odd.

    Parameters
    ----------
    fewest : int
        As many as are needed anyway.

    Examples
    --------
    >>> from selica.selectors.drawing import possible_copies
    >>> possible_copies(31)[:3], possible_copies(40)[-1]
    (range(31, 37, 2), 409)
    """
    first = max(fewest, FIRST_COPIES) | 1
    return range(first, most_drawn(first) + 1, 2)


def copies_asked(distances: Array, pilot: int, offered: range) -> int:
    """Return how many copies a pilot asks for, one of those that are offered.

    Parameters
    ----------
    distances : array of shape (p,)
        As in `control.members_needed`, of the pilot.
    pilot : int
        Copies of the pilot.
    offered : range

    Examples
    --------
    >>> import numpy as np
    >>> from selica.selectors.drawing import copies_asked, possible_copies
    >>> [copies_asked(np.array([z]), 31, possible_copies(31)) for z in (3.0, 1.0, 0.1, 0.0)]
    [31, 125, 309, 309]
    """
    needed = members_needed(distances, pilot)
    # what is exactly at the threshold in the pilot needs more than anything else
    wanted = offered[-1] if needed.undecided else needed.suggested
    return next((many for many in offered if many >= wanted), offered[-1])


class Drawn(NamedTuple):
    """Statistics of the copies that count, and how many there were before them."""

    statistics: Array
    """(copies, p)."""
    before: int
    """Copies of the pilot."""
    asked: int
    """Copies that the pilot asked for; 0 without one."""
    most: int
    """Copies that it may ask for."""

    def said(self) -> str:
        """Say how the number of copies came about, as a clause."""
        capped = ", the most that are drawn" if self.asked == self.most else ""
        return (
            f"a pilot of {self.before} knockoff copies, which do not count in the selection, asked "
            f"for {self.asked} copies{capped}"
        )


def by_pilot(
    found: KnockoffComparison,
    measure: Measure,
    n_jobs: int | None,
    distances: Callable[[Array], Array],
    offered: range,
) -> Drawn:
    """Return the statistics of as many copies as a pilot asks for, without the pilot.

    Where Ctrl-C ends the work early these are fewer; the pilot, where hardly any came after it.

    Parameters
    ----------
    found : KnockoffComparison
        With as many copies as the pilot and `possible_copies` need.
    measure : Measure
    n_jobs : int, optional
    distances : callable
        How far decisions are from changing, for the statistics of some copies.
    offered : range
        Numbers of copies that the pilot may ask for.
    """
    pilot = found.statistics(FIRST_COPIES, measure, n_jobs, some=True)
    if found.stopped:
        return Drawn(pilot, 0, 0, offered[-1])
    asked = copies_asked(distances(pilot), len(pilot), offered)
    rest = found.statistics(len(pilot) + asked, measure, n_jobs, some=True)[len(pilot) :]
    if len(rest) < min(FEWEST, asked):
        return Drawn(pilot, 0, 0, offered[-1])
    return Drawn(rest, len(pilot), asked, offered[-1])
