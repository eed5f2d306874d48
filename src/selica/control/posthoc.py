r"""A level that is chosen after the fit.

One draw of knockoffs (Fischer & Sechidis 2025) looks at the signs of :math:`W` from the smallest
:math:`|W|` upwards and stops at

.. math:: T = \min\big\{ t \in \{|W_j|\}, t > 0 :\;
            1 + N(t) \le \alpha \max(1, R(t)) \ \text{ or }\ N(t) = 0 \big\} ,

with :math:`N(t) = \#\{W \le -t\}` and :math:`R(t) = \#\{W \ge t\}`: where knockoff+ stops, and
otherwise above the largest negative statistic. This is a stopping time, so that

.. math:: e_j = p\, \frac{1\{W_j \ge T\}}{1 + N(T)}

are e-values, :math:`\sum_{j\ \text{noise}} E\, e_j \le p`, and so are their averages over draws. A
list :math:`S`, chosen after looking at everything, is reported at the level

.. math:: \ell(S) = \frac{p}{|S| \min_{j \in S} e_j} .

Since the false share of :math:`S` divided by :math:`\ell(S)` is at most
:math:`\sum_{j\ \text{noise}} e_j / p` for all lists at once,

.. math:: E\Big[\max_S \frac{\mathrm{FDP}(S)}{\ell(S)}\Big] \le 1 .

This is not a bound on the false discovery rate: where nothing matters, one draw reports a list in
half of the data sets. And :math:`\alpha` has to be fixed before the data are seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.rounding import ROUNDING
from selica._core.types import Array, BoolArray
from selica._core.validation import count, error_level, mask_of, numbers
from selica.control.knockoffs import sign_counts, within_level


@dataclass(frozen=True, slots=True, repr=False)
class PosthocDecision(Result):
    """A list of variables, and the level that was chosen for it; see `posthoc_selection`.

    Examples
    --------
    >>> from selica.control import posthoc_selection
    >>> posthoc_selection([10, 10, 8, 3, 0, 0, 0, 0, 0, 0], fdr=0.2).level
    0.4166666666666667
    """

    support: BoolArray
    """Which variables are in the list."""
    level: float
    """At most 1; infinite where there is no list."""


def posthoc_evalues(W: ArrayLike, fdr: float, *, joint_copies: int = 1) -> Array:
    """Return e-values of one draw of knockoffs, for a level that is chosen after the fit.

    Average them over draws, and pass them to `posthoc_selection` or `posthoc_level`.

    Parameters
    ----------
    W : array of shape (p,)
        Knockoff statistics.
    fdr : float
        Level of the knockoff filter inside, between 0 and 1, fixed before the data are seen: for
        one draw the level that is asked for, for many draws half of it.
    joint_copies : int
        Copies m of each variable in the draw. With several, W is positive where the variable beats
        all of its copies, which noise does once in m + 1 times: e-values are m times as large, and
        the filter stops at 1 + N(t) <= m fdr R(t).

    Returns
    -------
    array of shape (p,)
        Zero for variables that are not ahead of the copies; all zero only if the largest of abs(W)
        is, or is tied with, a negative statistic.

    Notes
    -----
    `knockoff_evalues` gives up where the filter can stop no more; here it goes on to the largest
    negative statistic. Both are valid, and differ only in draws in which the filter selects
    nothing.

    Examples
    --------
    >>> from selica.control import posthoc_evalues
    >>> posthoc_evalues([5, 4, 3, -2, 1, 0.5], fdr=0.25)
    array([6., 6., 6., 0., 0., 0.])
    """
    w, fdr, m = numbers("W", W), error_level("fdr", fdr), count("joint_copies", joint_copies)
    counts = sign_counts(w)
    stop = within_level(counts, m * fdr, 1) | (counts.negative == 0)
    if not stop.any():
        return np.zeros(w.size)
    first = np.argmax(stop)
    e = m * w.size / (1.0 + counts.negative[first])
    return np.asarray(np.where(w >= counts.t[first], e, 0.0))


def posthoc_selection(evalues: ArrayLike, fdr: float) -> PosthocDecision:
    """Select at a level if e-values allow it, else at the smallest level that they support.

    Parameters
    ----------
    evalues : array of shape (p,)
        From `posthoc_evalues`, or averages of them.
    fdr : float
        The level that is asked for.

    Returns
    -------
    PosthocDecision
        The k largest e-values, with the largest k such that k e_(k) >= p / fdr; if there is none,
        with the largest k at which k e_(k) is largest, provided that this is at least p. The level
        is p / (k e_(k)). On average the false share divided by the level is at most 1.

    Examples
    --------
    >>> from selica.control import posthoc_evalues, posthoc_selection
    >>> found = posthoc_selection(posthoc_evalues([5, 4, 3, 2, -1, -0.5], fdr=0.1), fdr=0.1)
    >>> found.support, found.level
    (array([ True,  True,  True,  True, False, False]), 0.25)
    """
    e = numbers("evalues", evalues, at_least=0.0)
    fdr = error_level("fdr", fdr)
    p = e.size
    total = np.arange(1, p + 1) * np.sort(e)[::-1]
    needed = min(p / fdr, max(float(total.max()), float(p)))
    enough = np.flatnonzero(total >= needed * (1.0 - ROUNDING))
    if not enough.size:
        return PosthocDecision(np.zeros(p, dtype=bool), np.inf)
    smallest = total[enough[-1]] / (enough[-1] + 1)
    support = np.asarray(e >= smallest * (1.0 - ROUNDING))
    return PosthocDecision(support, min(posthoc_level(e, support), 1.0))


def posthoc_level(evalues: ArrayLike, chosen: ArrayLike) -> float:
    """Return the level at which a list of one's own may be reported.

    It holds for all lists at once, however they were chosen: on average the largest of the false
    shares, each divided by its level, is at most 1.

    Parameters
    ----------
    evalues : array of shape (p,)
        From `posthoc_evalues`, or averages of them.
    chosen : boolean array of shape (p,)
        The list; at least one variable.

    Returns
    -------
    float
        p / (size of the list times its smallest e-value). Above 1 it says nothing; it is infinite
        where an e-value is zero.

    Examples
    --------
    >>> from selica.control import posthoc_level
    >>> e = [4.5, 3, 3, 3, 1.5, 1.5]
    >>> posthoc_level(e, [True, True, True, True, False, False])
    0.5
    """
    e = numbers("evalues", evalues, at_least=0.0)
    mask = mask_of("chosen", chosen, e.size, "evalues")
    if not mask.any():
        raise ArgumentError("chosen must have at least one variable.")
    total = float(np.count_nonzero(mask) * e[mask].min())
    return e.size / total if total > 0.0 else np.inf
