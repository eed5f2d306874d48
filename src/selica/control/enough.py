r"""Whether an ensemble has enough members, and how many more would settle its close calls.

Two things are asked of :math:`M` members. The decisions: no variable is within two standard errors
of the point where its decision changes. The agreement of the members: the stability index is known
to within 0.025. Distances from the point of decision, in standard errors, grow as
:math:`\sqrt M`, and the interval shrinks as :math:`1/\sqrt M`, so that both say how many members
would do:

.. math:: M' = M \max\{ (h / 0.025)^2, \max_j (2 / z_j)^2 \} ,

with :math:`h` half of the width of the interval and :math:`z_j` the distance of a close call. For a
share :math:`\Pi_j` of the members and a threshold :math:`\pi`, :math:`z_j = |\Pi_j - \pi| /
\sqrt{\Pi_j (1 - \Pi_j) / M}`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from selica._core.results import Result
from selica._core.types import Array
from selica._core.validation import LARGEST, array_of, count, number, numbers, real

CLOSE = 2.0
"""Standard errors from the point of decision within which a decision is a close call."""
WIDEST = 0.025
"""Half of the width of an interval for the stability index that is narrow enough."""
MOST_TIMES = 10
"""As many times the members there are, at most, are suggested."""


@dataclass(frozen=True, slots=True, repr=False)
class MembersNeeded(Result):
    """Whether members are enough, and how many would be.

    Attributes
    ----------
    settled : bool
        Whether no decision is a close call.
    precise : bool
        Whether the stability index is known to within 0.025, or is not asked for.
    members : int
        How many there are.
    suggested : int
        How many would settle the close calls and give the index, at most ten times as many as there
        are; as many as there are where these are enough.
    capped : bool
        Whether more than that would be needed.
    close : tuple of int
        The close calls, by their places, the closest first.
    undecided : tuple of int
        Those of them that are exactly at the point of decision: no number is sure to settle them.

    Examples
    --------
    >>> from selica.control import members_needed
    >>> found = members_needed([4.0, 1.0, 3.0], 100)
    >>> found.enough, found.close, found.suggested
    (False, (1,), 400)
    """

    settled: bool
    precise: bool
    members: int
    suggested: int
    capped: bool
    close: tuple[int, ...]
    undecided: tuple[int, ...]

    @property
    def enough(self) -> bool:
        """Whether decisions are settled and the index is known."""
        return self.settled and self.precise


def members_needed(distances: Any, members: int, half_width: float = 0.0) -> MembersNeeded:
    """Tell whether members are enough, and how many would settle the close calls.

    Parameters
    ----------
    distances : array of shape (p,)
        How far each variable is from the point where its decision changes, in standard errors;
        infinite where all members agree.
    members : int
        Members of the ensemble, which the standard errors are of.
    half_width : float
        Half of the width of the interval of the stability index; nan where it is not defined, and 0
        where it is not asked for.

    Examples
    --------
    >>> from selica.control import members_needed, share_distances
    >>> distances = share_distances([1.0, 0.92, 0.5, 0.0], 0.9, 200)
    >>> distances.round(2).tolist()
    [inf, 1.04, 11.31, inf]
    >>> members_needed(distances, 200).suggested
    736
    >>> members_needed([5.0, 8.0], 100, half_width=0.05).suggested
    400
    """
    given = array_of(distances)
    given = np.minimum(given, LARGEST) if given.dtype.kind == "f" else distances
    z = numbers("distances", given, at_least=0.0)
    M = count("members", members)
    undefined = isinstance(half_width, float) and math.isnan(half_width)
    width = 0.0 if undefined else number("half_width", half_width, at_least=0.0)
    close = np.flatnonzero(z < CLOSE)
    close = close[np.argsort(z[close], kind="stable")]
    undecided = close[z[close] == 0.0]
    times = 1.0  # of ratios beyond what is suggested the squares may overflow
    moved = z[close][z[close] > 0.0]
    if moved.size:
        times = max(times, min(CLOSE / float(moved[0]), MOST_TIMES) ** 2)
    precise = width <= WIDEST
    if not precise:
        times = max(times, min(width / WIDEST, MOST_TIMES) ** 2)
    wanted = math.ceil(M * times * (1.0 - 1e-12))
    return MembersNeeded(
        settled=close.size == 0,
        precise=precise,
        members=M,
        suggested=min(wanted, MOST_TIMES * M),
        capped=wanted > MOST_TIMES * M,
        close=tuple(close.tolist()),
        undecided=tuple(undecided.tolist()),
    )


def share_distances(shares: Any, threshold: float, members: int) -> Array:
    """Return how far shares of members are from a threshold, in standard errors.

    Parameters
    ----------
    shares : array of shape (p,)
        Between 0 and 1; shares of 0 and 1 have no error, and are infinitely far.
    threshold : float
    members : int

    Examples
    --------
    >>> from selica.control import share_distances
    >>> share_distances([0.5, 0.9, 1.0], 0.9, 100).tolist()
    [8.0, 0.0, inf]
    """
    P = real("shares", shares, at_least=0.0, at_most=1.0)
    error = np.sqrt(P * (1.0 - P) / count("members", members))
    distance = np.abs(P - number("threshold", threshold))
    distance = np.where(distance < 1e-12, 0.0, distance)
    out = np.full(P.shape, np.inf)
    np.divide(distance, error, out=out, where=error > 0.0)
    return out
