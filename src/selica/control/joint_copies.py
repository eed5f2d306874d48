r"""Selections with several joint copies: who is the largest of m + 1 versions of a variable?

A variable, or a group of variables, and its m copies have an importance :math:`T_l` each, the
variable itself as version 0. Of noise the m + 1 versions are exchangeable: which of them has the
largest importance, :math:`\kappa`, is uniform on 0, ..., m and independent of how far it is ahead,
:math:`\tau`, the largest minus the median of the others, and of all other variables. So wins of
copies count the wins of noise, m to one (Gimenez and Zou 2019; the median is that of He, Liu, Wang
and others 2021):

.. math:: \hat t = \min\Big\{ t > 0 :
          \frac{1 + \#\{\kappa \ne 0, \tau \ge t\}}{m \max(1, \#\{\kappa = 0, \tau \ge t\})}
          \le \alpha \Big\} ,

and variables with :math:`\kappa = 0` and :math:`\tau \ge \hat t` are selected, at a false discovery
rate of at most :math:`\alpha`. A first selection needs :math:`1/(m\alpha)` variables, where one
copy needs :math:`1/\alpha`. With m = 1 this is the filter of `knockoff_threshold` for
:math:`W = T_0 - T_1`.

A tie for the largest importance has no winner: it counts as the win of a copy with
:math:`\tau = 0`, which is never selected. A tie that always went to the variable would break the
level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.rounding import ROUNDING
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import array_of, count, error_level, numbers, real


@dataclass(frozen=True, slots=True, repr=False)
class Wins(Result):
    """Which version of each variable has the largest importance; see `joint_wins`.

    Examples
    --------
    >>> from selica.control import joint_wins
    >>> wins = joint_wins([[5.0, 1.0, 3.0], [1.0, 2.0, 3.0], [2.0, 0.5, 1.0]])
    >>> wins.winner, wins.lead, wins.n_joint
    (array([0, 1, 1]), array([3.5 , 1.25, 0.  ]), 2)
    """

    winner: IntArray
    """(p,): the version, 0 for the variable itself; the first of the copies in a tie."""
    lead: Array
    """(p,): by how much it is ahead of the median of the others; 0 in a tie."""
    n_joint: int
    """Number m of copies."""


def joint_wins(importances: ArrayLike) -> Wins:
    """Return which version of each variable has the largest importance, and by how much.

    Parameters
    ----------
    importances : array of shape (m + 1, p)
        Of the variables in the first row, of their m copies in the others; not negative.

    Returns
    -------
    Wins

    Examples
    --------
    >>> from selica.control import joint_wins
    >>> joint_wins([[3.0, 1.0, 2.0], [1.0, 4.0, 2.0]]).lead
    array([2., 3., 0.])
    """
    T = numbers("importances", importances, ndim=2, at_least=0.0)
    if len(T) < 2:
        raise ArgumentError("importances must have a row for the variables and one for each copy.")
    largest = T.max(axis=0)
    # a tie between versions goes to a copy: the first one that has the largest importance
    winner = np.where((T[1:] == largest).any(axis=0), 1 + np.argmax(T[1:] == largest, axis=0), 0)
    others = np.sort(T, axis=0)[:-1]
    tied = np.count_nonzero(largest == T, axis=0) > 1
    lead = np.where(tied, 0.0, largest - np.median(others, axis=0))
    return Wins(winner, lead, len(T) - 1)


def joint_threshold(winner: ArrayLike, lead: ArrayLike, n_joint: int, fdr: float) -> float:
    """Return the smallest lead that is selected, of variables that are ahead of their copies.

    Parameters
    ----------
    winner : array of int, shape (p,)
        Version of each variable with the largest importance; 0 is the variable itself.
    lead : array of shape (p,)
        By how much it is ahead; variables with a lead of zero are never selected.
    n_joint : int
        Number m of copies.
    fdr : float
        Target false discovery rate, between 0 and 1.

    Returns
    -------
    float
        Positive; infinite if nothing is selected.

    Examples
    --------
    >>> from selica.control import joint_threshold
    >>> winner, lead = [0, 0, 0, 0, 2, 0, 0, 1, 0, 0], [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    >>> joint_threshold(winner, lead, n_joint=5, fdr=0.1)
    1.0
    >>> joint_threshold(winner, lead, n_joint=2, fdr=0.1)
    inf
    """
    wins = _checked(winner, lead, n_joint)
    level = error_level("fdr", fdr)
    t, own, others = _counts(wins)
    fine = 1 + others <= level * wins.n_joint * np.maximum(own, 1) + ROUNDING
    return float(t[np.argmax(fine)]) if fine.any() else np.inf


def joint_selection(winner: ArrayLike, lead: ArrayLike, n_joint: int, fdr: float) -> BoolArray:
    """Select variables that are ahead of their joint copies, at a false discovery rate.

    Parameters
    ----------
    winner, lead, n_joint, fdr
        As in `joint_threshold`.

    Returns
    -------
    boolean array of shape (p,)

    Examples
    --------
    >>> from selica.control import joint_selection
    >>> joint_selection([0, 0, 2, 0, 1], [4.0, 3.0, 2.0, 1.0, 0.0], n_joint=4, fdr=0.2)
    array([ True,  True, False,  True, False])
    """
    threshold = joint_threshold(winner, lead, n_joint, fdr)
    return np.asarray((np.asarray(winner) == 0) & (np.asarray(lead, dtype=float) >= threshold))


def joint_qvalues(winner: ArrayLike, lead: ArrayLike, n_joint: int) -> Array:
    """Return for each variable the smallest level at which it is selected; 1 if at none.

    Parameters
    ----------
    winner, lead, n_joint
        As in `joint_threshold`.

    Returns
    -------
    array of shape (p,)

    Examples
    --------
    >>> from selica.control import joint_qvalues
    >>> joint_qvalues([0, 0, 2, 0, 1], [4.0, 3.0, 2.0, 1.0, 0.0], n_joint=4).round(4)
    array([0.125 , 0.125 , 1.    , 0.1667, 1.    ])
    """
    wins = _checked(winner, lead, n_joint)
    t, own, others = _counts(wins)
    found = np.ones(wins.winner.size)
    ahead = (wins.winner == 0) & (wins.lead > 0.0)
    if ahead.any():
        ratio = np.minimum((1 + others) / (wins.n_joint * np.maximum(own, 1)), 1.0)
        best = np.minimum.accumulate(ratio)
        found[ahead] = best[np.searchsorted(t, wins.lead[ahead])]
    return found


def _checked(winner: Any, lead: Any, n_joint: Any) -> Wins:
    """Return what was passed in, checked."""
    number = count("n_joint", n_joint)
    leads = numbers("lead", lead, at_least=0.0)
    raw = array_of(winner)
    if raw.dtype.kind not in "iu" or raw.shape != leads.shape:
        raise ArgumentError("winner must have one integer for each entry of lead.")
    real("winner", raw, at_least=0.0, at_most=float(number))
    return Wins(raw.astype(np.int64), leads, number)


def _counts(wins: Wins) -> tuple[Array, IntArray, IntArray]:
    """Return all leads t > 0 in rising order, and how many variables and copies have one >= t."""
    ahead = wins.lead > 0.0
    t = np.unique(wins.lead[ahead])
    own = np.sort(wins.lead[ahead & (wins.winner == 0)])
    others = np.sort(wins.lead[ahead & (wins.winner != 0)])
    return (
        t,
        own.size - np.searchsorted(own, t, side="left"),
        others.size - np.searchsorted(others, t, side="left"),
    )
