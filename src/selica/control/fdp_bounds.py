r"""Bounds on the number of false variables in any list, from the signs of knockoff statistics.

In the order of falling :math:`|W|` the signs of noise variables are tosses of a fair coin. Let
:math:`S_v` be the variables with :math:`W > 0` that are larger than the :math:`v`-th largest
negative statistic (all of them if there are fewer). A boundary allows :math:`b_v` heads before the
:math:`v`-th tail. With the probability that a fair walk never has more, at once for **every** list
:math:`S`, also one that is chosen after looking,

.. math:: \#\{\text{false in } S\} \le \bar V(S) =
          \min\Big(|S|,\ \min_v \big[\, b_v + |S \setminus S_v| \,\big]\Big) ,

since at most :math:`b_v` of :math:`S_v` are false for all :math:`v`, and all others may be. Two
boundaries:

- linear, :math:`b_v = \lfloor C v \rfloor` for all :math:`v` (Katsevich & Ramdas 2020). Their
  constant is :math:`-\log \alpha / \log(2 - \alpha)`; here it is the smallest one that keeps
  :math:`\alpha`, which is 4 in the place of 4.49 for :math:`\alpha = 0.05`;
- joint, at :math:`v_i = \lceil i^2/2 \rceil` only (Li, Maathuis & Goeman 2022): as few heads as
  each :math:`v_i` allows with the same probability :math:`\beta`, and :math:`\beta` as large as the
  joint probability allows. Much better for long lists, a little worse for short ones.

Probabilities are computed exactly by a recursion on heads and tails, where the articles bound or
simulate them. Which boundary is used depends on the number of statistics that are not zero, never
on their signs: the smaller of two bounds at the same level would not be one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.rounding import ROUNDING
from selica._core.types import Array, IntArray
from selica._core.validation import count, error_level, mask_of, numbers, short

FEWEST_FOR_JOINT = 100
"""Statistics that are not zero from which on the joint boundary is used."""
_NEGATIVES_SHARE = 8
"""Statistics for each negative one that the joint boundary looks at."""
_MOST_NEGATIVES = 1200
"""Negative statistics that the joint boundary looks at, at most."""
_LONGEST_WALK = 10_000
"""Heads or tails for which probabilities of a walk are computed, at most."""
_SMALLEST_LEVEL = 1e-200
"""Level of a joint boundary, at least: far smaller probabilities are rounded to zero."""
_HALVINGS = 32
"""Steps of a bisection for a probability."""


@dataclass(frozen=True, slots=True, repr=False)
class SignBoundary(Result):
    """How many noise variables may be ahead of how many that are behind; see `sign_boundary`.

    Examples
    --------
    >>> from selica.control import sign_boundary
    >>> found = sign_boundary(0.05, 20)
    >>> found.negatives[:3], found.allowed[:3], round(found.missed, 4)
    (array([1, 2, 3]), array([ 4,  8, 12]), 0.0375)
    """

    negatives: IntArray
    """Numbers v of negative statistics, rising."""
    allowed: IntArray
    """False variables that may be larger than the v-th largest negative statistic."""
    missed: float
    """Probability that more are, if all variables are noise; it is never larger."""


@dataclass(frozen=True, slots=True, repr=False)
class PrefixBounds(Result):
    """Bounds on the false variables of all lists W >= t; see `prefix_bounds`.

    Examples
    --------
    >>> from selica.control import prefix_bounds, sign_boundary
    >>> prefix_bounds([6, 5, 4, 3, 2, 1], sign_boundary(0.05, 6)).false
    array([1, 2, 3, 4, 4, 4])
    """

    t: Array
    """Positive values of W, falling."""
    size: IntArray
    """Variables with W >= t."""
    false: IntArray
    """False ones among them, at most."""


def crossing_probability(v: IntArray, b: IntArray, length: int | None = None) -> float:
    """Return the probability that a fair walk has too many heads before one of some tails.

    Parameters
    ----------
    v : array of int, shape (m,)
        Numbers of tails, rising from 1 on.
    b : array of int, shape (m,)
        Heads that are allowed before the v-th tail.
    length : int, optional
        Tosses of the walk; without it the walk never ends.

    Notes
    -----
    While t tails have been seen, heads may not exceed the smallest number that is allowed before a
    later tail. The probability of every pair of heads and tails that is reached without exceeding
    it follows from that of the pairs with one toss less; what exceeds it leaves by a head.

    Examples
    --------
    >>> from selica.control.fdp_bounds import crossing_probability
    >>> crossing_probability(np.array([1, 2]), np.array([4, 7]))
    0.041015625
    """
    from scipy.signal import lfilter  # late: it takes half a second, and few need it

    most = np.minimum.accumulate(b[::-1])[::-1]
    tails = np.arange(v[-1] if length is None else min(int(v[-1]), length))
    limits = most[np.searchsorted(v, tails, side="right")]
    reached, crossed = np.ones(1), 0.0
    for seen, limit in enumerate(limits.tolist()):
        if length is not None and limit + 1 + seen > length:
            break
        row = np.zeros(limit + 1)
        row[: reached.size] = reached
        # heads may follow each other: g(h) = f(h) + g(h - 1) / 2
        row = lfilter([1.0], [1.0, -0.5], row)
        crossed += 0.5 * float(row[-1])
        reached = 0.5 * row
    return crossed


def linear_constant(level: float, length: int) -> Fraction:
    """Return the smallest C such that a fair walk rarely has more than C v heads before v tails.

    Parameters
    ----------
    level : float
        How rarely: probability that it has more before any tail, between 0 and 1.
    length : int
        Tosses of the walk.

    Examples
    --------
    >>> from selica.control.fdp_bounds import linear_constant
    >>> [str(linear_constant(level, 100)) for level in (0.05, 0.1, 0.2)]
    ['4', '3', '17/7']
    """
    level = error_level("level", level)
    length = count("length", length, at_most=_LONGEST_WALK)

    def kept(slope: Fraction) -> bool:
        return _linear(slope, length).missed <= level * (1.0 + ROUNDING)

    low, high = Fraction(0), Fraction(length)
    if kept(low):
        return low
    # the probability changes at fractions with denominators up to length + 1 only
    while high - low > Fraction(1, 2 * (length + 1) ** 2):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    found = ((low + high) / 2).limit_denominator(length + 1)
    return found if kept(found) else high


def _linear(slope: Fraction, length: int) -> SignBoundary:
    """Return the linear boundary of a constant."""
    v = np.arange(1, length + 2)
    b = slope.numerator * v // slope.denominator
    return SignBoundary(v, b, crossing_probability(v, b, length))


def joint_boundary(level: float, most: int) -> SignBoundary:
    """Return the boundary that treats some numbers of negative statistics alike.

    Parameters
    ----------
    level : float
        Probability with which a fair walk may cross the boundary, from 1e-200 to below 1.
    most : int
        Largest number of negative statistics that is looked at; fixed before their signs are seen.

    Examples
    --------
    >>> from selica.control.fdp_bounds import joint_boundary
    >>> found = joint_boundary(0.05, 10)
    >>> found.negatives, found.allowed, round(found.missed, 6)
    (array([1, 2, 5, 8]), array([ 5,  7, 13, 17]), 0.047784)
    """
    level, most = error_level("level", level), count("most", most, at_most=_LONGEST_WALK)
    if level < _SMALLEST_LEVEL:
        raise ArgumentError(
            f"level must be at least {_SMALLEST_LEVEL:g}, below which probabilities are not exact; "
            f"got {level:g}."
        )
    i = np.arange(1, int(np.sqrt(2.0 * most)) + 2)
    v = (i * i + 1) // 2
    v = v[v <= most]

    def at(share: float) -> SignBoundary:
        b = _fewest_heads(v, share) - 1
        return SignBoundary(v, b, crossing_probability(v, b))

    low, high = level / (2.0 * v.size), level
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if at(middle).missed <= level * (1.0 + ROUNDING):
            low = middle
        else:
            high = middle
    return at(low)


def _fewest_heads(v: IntArray, share: float) -> IntArray:
    """Return the smallest k such that k heads come before the v-th tail with at most that chance.

    Before the v-th tail there are NB(v, 1/2) heads: k or more if fewer than v of v + k - 1 tosses
    are tails.
    """
    low, high = np.zeros(v.size, dtype=int), np.ones(v.size, dtype=int)
    while np.any(more := betainc(high, v, 0.5) > share):
        low, high = np.where(more, high, low), np.where(more, 2 * high, high)
    while np.any(between := high - low > 1):
        middle = (low + high) // 2
        fine = betainc(np.maximum(middle, 1), v, 0.5) <= share
        low = np.where(between & ~fine, middle, low)
        high = np.where(between & fine, middle, high)
    return high


def sign_boundary(level: float, nonzero: int) -> SignBoundary:
    """Return the boundary for so many statistics that are not zero.

    Parameters
    ----------
    level : float
        Probability with which a bound on the false variables of any list may be exceeded.
    nonzero : int
        Number of statistics that are not zero. The boundary is the linear one below 100 of them and
        the joint one, up to one negative for eight of them, from there on.

    Examples
    --------
    >>> from selica.control import sign_boundary
    >>> sign_boundary(0.05, 400).negatives
    array([ 1,  2,  5,  8, 13, 18, 25, 32, 41, 50])
    """
    return _known_boundary(error_level("level", level), count("nonzero", nonzero, at_least=0))


@lru_cache(maxsize=32)
def _known_boundary(level: float, nonzero: int) -> SignBoundary:
    """Return the same; what was computed once is not computed again."""
    if nonzero >= FEWEST_FOR_JOINT:
        found = joint_boundary(level, min(nonzero // _NEGATIVES_SHARE, _MOST_NEGATIVES))
    else:
        found = _linear(linear_constant(level, max(nonzero, 1)), max(nonzero, 1))
    for array in (found.negatives, found.allowed):
        array.flags.writeable = False  # callers share it
    return found


def false_bound(W: ArrayLike, chosen: ArrayLike, boundary: SignBoundary) -> int:
    """Return how many variables of a list are false at most, by a boundary.

    With the probability that the boundary is for, this holds at once for all lists, however they
    were chosen.

    Parameters
    ----------
    W : array of shape (p,)
        Statistics of one draw of knockoffs; not averages over draws.
    chosen : boolean array of shape (p,)
        The list. Each of its variables with W <= 0 counts as possibly false.
    boundary : SignBoundary
        From `sign_boundary`, for the number of statistics that are not zero.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.control import false_bound, sign_boundary
    >>> W = np.array([9, 8, 7, 6, -5, 4, 3, 2, -1.5, 1, 0.5, 0.2])
    >>> false_bound(W, W >= 2, sign_boundary(0.2, 12))  # of seven
    4
    """
    w = numbers("W", W)
    listed = np.sort(w[mask_of("chosen", chosen, w.size, "W")])
    behind = np.searchsorted(listed, _cuts(w, boundary), side="right")
    return int(min(listed.size, np.min(boundary.allowed + behind)))


def prefix_bounds(W: ArrayLike, boundary: SignBoundary) -> PrefixBounds:
    """Return how many variables with W >= t are false at most, for all t, by a boundary.

    Parameters
    ----------
    W : array of shape (p,)
        Statistics of one draw of knockoffs.
    boundary : SignBoundary

    Examples
    --------
    >>> from selica.control import prefix_bounds, sign_boundary
    >>> found = prefix_bounds([9, 8, 7, 6, -5, 4, 3, 2, -1.5, 1, 0.5, 0.2], sign_boundary(0.2, 12))
    >>> found.size, found.false
    (array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10]), array([1, 2, 2, 2, 3, 4, 4, 5, 6, 6]))
    """
    w = numbers("W", W)
    positive = np.sort(w[w > 0.0])
    t = np.unique(positive)[::-1]
    size = positive.size - np.searchsorted(positive, t, side="left")
    # positives up to each cut are not in S_v; those below t are not in the list
    behind = np.searchsorted(positive, _cuts(w, boundary), side="right")
    outside = np.maximum(behind[:, None] - (positive.size - size), 0)
    false = np.minimum(size, np.min(boundary.allowed[:, None] + outside, axis=0))
    return PrefixBounds(t, size, false)


def _cuts(w: Array, boundary: SignBoundary) -> Array:
    """Return the v-th largest negative statistics, as sizes; zero where there are fewer."""
    if not isinstance(boundary, SignBoundary):
        raise ArgumentError(f"boundary must come from sign_boundary; got {short(boundary)}.")
    negative = np.sort(-w[w < 0.0])[::-1]
    sizes = np.append(negative, 0.0)
    return np.asarray(sizes[np.minimum(boundary.negatives - 1, negative.size)])
