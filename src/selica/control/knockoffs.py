r"""Selections from knockoff statistics.

The sign of the statistic :math:`W_j` of a noise variable is a fair coin, independent of all
:math:`|W|` and of the other signs; variables that matter tend to have large positive statistics.
Negative statistics therefore count the false among the positive ones of the same size.

- Threshold (Barber & Candès 2015; Candès, Fan, Janson & Lv 2018):

  .. math:: T = \min\Big\{ t \in \{|W_j|\}, t > 0 :
            \frac{o + \#\{W \le -t\}}{\max(1, \#\{W \ge t\})} \le \alpha \Big\} ,

  and :math:`W_j \ge T` are selected. With offset :math:`o = 1` ("knockoff+") the false discovery
  rate is at most :math:`\alpha`; with :math:`o = 0` only a modified rate is.
- First negatives (Janson & Su 2016): in the order of falling :math:`|W|`, the positives before the
  :math:`v`-th negative. Their false selections are stochastically below :math:`NB(v, 1/2)`, the
  number of tails before the :math:`v`-th head, so that at most :math:`v` are expected.
- p-values (Nguyen, Chevalier, Thirion & Arlot 2020):
  :math:`\pi_j = (1 + \#\{k : W_k \le -W_j\}) / p` if :math:`W_j > 0`, else 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from selica._core.results import Result
from selica._core.rounding import ROUNDING
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import count, error_level, numbers, offset_of


class SignCounts(NamedTuple):
    """How many statistics are at least as large as t, by their sign; see `sign_counts`."""

    t: Array
    positive: IntArray
    negative: IntArray


@dataclass(frozen=True, slots=True, repr=False)
class KFwerParameters(Result):
    """Parameter of the first-negatives filter for a k-FWER; see `kfwer_parameters`.

    Examples
    --------
    >>> from selica.control import kfwer_parameters
    >>> found = kfwer_parameters(k=3, level=0.2)
    >>> found.v, round(found.probability, 4)
    (1, 0.4)
    """

    k: int
    level: float
    v: int
    """Largest number of negatives whose error is at most `level`."""
    probability: float
    """With this probability v + 1 may be used instead, and the error is `level` exactly."""


def sign_counts(W: Array) -> SignCounts:
    """Count W >= t and W <= -t for all values t > 0 of abs(W), in rising order."""
    t = np.unique(np.abs(W[W != 0.0]))
    positive, negative = np.sort(W[W > 0.0]), np.sort(-W[W < 0.0])
    return SignCounts(
        t,
        positive.size - np.searchsorted(positive, t, side="left"),
        negative.size - np.searchsorted(negative, t, side="left"),
    )


def within_level(counts: SignCounts, fdr: float, offset: int) -> BoolArray:
    """Return which t keep (offset + negatives) / max(1, positives) at most `fdr`."""
    allowed = fdr * np.maximum(counts.positive, 1)
    return np.asarray(offset + counts.negative <= allowed + ROUNDING)


def knockoff_threshold(W: ArrayLike, fdr: float, offset: int = 1) -> float:
    """Return the threshold of the knockoff filter: variables with W >= threshold are selected.

    Parameters
    ----------
    W : array of shape (p,)
        Knockoff statistics.
    fdr : float
        Target false discovery rate, between 0 and 1.
    offset : {1, 0}
        With 1 (knockoff+) the false discovery rate is controlled, with 0 a modified one is.

    Returns
    -------
    float
        Positive, so that W = 0 is never selected; infinite if nothing is selected.

    Examples
    --------
    >>> from selica.control import knockoff_threshold
    >>> W = [-2, -1, 1, 2, 3, 4, 5, 6, 7, 8]
    >>> knockoff_threshold(W, fdr=0.2)
    3.0
    >>> knockoff_threshold(W, fdr=0.1)
    inf
    """
    counts = sign_counts(numbers("W", W))
    fine = within_level(counts, error_level("fdr", fdr), offset_of(offset))
    return float(counts.t[np.argmax(fine)]) if fine.any() else np.inf


def first_negatives_filter(W: ArrayLike, v: int) -> BoolArray:
    """Select the positives before the v-th negative in the order of falling abs(W).

    The expected number of false selections is at most v.

    Parameters
    ----------
    W : array of shape (p,)
        Knockoff statistics.
    v : int
        Number of negatives at which to stop; 0 selects nothing. A fractional v is drawn by the
        caller: floor(v), or one more with the probability of the fraction.

    Returns
    -------
    boolean array of shape (p,)
        All positives if there are fewer than v negatives.

    Notes
    -----
    Among equal abs(W) negatives come first: a positive is selected only if it is larger than the
    v-th largest negative. The answer does not depend on the order of the variables, and is
    contained in the one of any other order of the ties: the guarantee stays.

    Examples
    --------
    >>> from selica.control import first_negatives_filter
    >>> first_negatives_filter([5, -4, 3, -2, 1, 6], v=2)
    array([ True, False,  True, False, False,  True])
    """
    w = numbers("W", W)
    v = count("v", v, at_least=0)
    if v == 0:
        return np.zeros(w.size, dtype=bool)
    negative = np.sort(-w[w < 0.0])[::-1]
    return np.asarray(w > (negative[v - 1] if v <= negative.size else 0.0))


def kfwer_parameters(k: int, level: float) -> KFwerParameters:
    """Return the number of negatives that keeps the probability of k false selections.

    The false selections of `first_negatives_filter` are stochastically below NB(v, 1/2): v is the
    largest with P(NB(v, 1/2) >= k) <= level. To use the whole level, take v + 1 with probability
    (level - P_v) / (P_{v+1} - P_v).

    Parameters
    ----------
    k : int
        Number of false selections to avoid, at least one; k = 1 is the family-wise error rate.
    level : float
        Allowed probability of k or more of them, between 0 and 1.

    Returns
    -------
    KFwerParameters
        v may be zero: then nothing is selected unless v + 1 is drawn.

    Examples
    --------
    >>> from selica.control import kfwer_parameters
    >>> kfwer_parameters(2, 0.1)
    KFwerParameters(k=2, level=0.1, v=0, probability=0.4)
    >>> kfwer_parameters(5, 0.05).v
    1
    """
    k = count("k", k)
    share = error_level("level", level)

    def tail(v: int) -> float:
        """Return P(NB(v, 1/2) >= k): fewer than v heads in v + k - 1 tosses."""
        return float(betainc(k, v, 0.5)) if v else 0.0

    limit = share + ROUNDING * min(share, 1.0 - share)  # below one, which the tail reaches
    low, high = 0, k  # tail(k) = 1/2
    while tail(high) <= limit:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if tail(middle) <= limit:
            low = middle
        else:
            high = middle
    more = (share - tail(low)) / (tail(high) - tail(low))
    return KFwerParameters(k, share, low, min(max(more, 0.0), 1.0))


def knockoff_pvalues(W: ArrayLike) -> Array:
    """Return conservative p-values from one draw of knockoffs, for aggregation over draws.

    Parameters
    ----------
    W : array of shape (p,)
        Knockoff statistics.

    Returns
    -------
    array of shape (p,)
        (1 + number of k with W_k <= -W_j) / p for positive W_j, one for the others.

    Examples
    --------
    >>> from selica.control import knockoff_pvalues
    >>> knockoff_pvalues([4, 3, -2, 1, 0])
    array([0.2, 0.2, 1. , 0.4, 1. ])
    """
    w = numbers("W", W)
    negative = np.sort(-w[w < 0.0])
    larger = negative.size - np.searchsorted(negative, w, side="left")
    return np.asarray(np.where(w > 0.0, (1.0 + larger) / w.size, 1.0))
