r"""Selections from p-values, and p-values of many runs made one.

With :math:`m` p-values in rising order, the :math:`k` smallest are selected for the largest
:math:`k` with :math:`p_{(k)} \le k \alpha / m` (Benjamini & Hochberg 1995: the false discovery rate
is at most :math:`\alpha` if they are independent or positively dependent) or
:math:`p_{(k)} \le k \alpha / (m \sum_{i=1}^m 1/i)` (Benjamini & Yekutieli 2001: under any
dependence).

Quantile aggregation of p-values of the same variable in :math:`B` runs, under any dependence
(Meinshausen, Meier & Bühlmann 2009):

.. math::
    \bar p = \min\{1, q_\gamma / \gamma\}, \qquad
    \bar p = \min\Big\{1, (1 - \log\gamma_{min}) \inf_{\gamma \ge \gamma_{min}}
    q_\gamma / \gamma \Big\} ,

where :math:`q_\gamma` is the empirical quantile, the :math:`\lceil \gamma B \rceil`-th smallest of
the p-values. An interpolated quantile can be smaller, and the result then is no p-value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selica._core.rounding import ROUNDING, ceiling
from selica._core.types import Array, BoolArray
from selica._core.validation import error_level, flag, number, numbers


def benjamini_hochberg(pvalues: ArrayLike, fdr: float) -> BoolArray:
    """Select by step-up from independent or positively dependent p-values.

    Parameters
    ----------
    pvalues : array of shape (m,)
        Between 0 and 1.
    fdr : float
        Target false discovery rate, between 0 and 1.

    Returns
    -------
    boolean array of shape (m,)
        Equal p-values are selected together.

    Examples
    --------
    >>> from selica.control import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.2, 0.03, 0.9], fdr=0.1)
    array([ True, False,  True, False])
    """
    return _step_up(numbers("pvalues", pvalues, at_least=0.0, at_most=1.0), error_level("fdr", fdr))


def benjamini_yekutieli(pvalues: ArrayLike, fdr: float) -> BoolArray:
    """Select by step-up from p-values under any dependence.

    Parameters
    ----------
    pvalues : array of shape (m,)
        Between 0 and 1.
    fdr : float
        Target false discovery rate, between 0 and 1.

    Returns
    -------
    boolean array of shape (m,)
        Equal p-values are selected together.

    Examples
    --------
    >>> from selica.control import benjamini_yekutieli
    >>> benjamini_yekutieli([0.01, 0.2, 0.03, 0.9], fdr=0.1)
    array([ True, False, False, False])
    """
    pvalues = numbers("pvalues", pvalues, at_least=0.0, at_most=1.0)
    return _step_up(pvalues, error_level("fdr", fdr) / np.sum(1.0 / np.arange(1, pvalues.size + 1)))


def quantile_aggregation(pvalues: ArrayLike, gamma: float = 0.5, adaptive: bool = False) -> Array:
    """Return one p-value for each variable from its p-values in many runs.

    Parameters
    ----------
    pvalues : array of shape (runs, p)
        Between 0 and 1; runs may depend on each other in any way.
    gamma : float
        Which quantile, above 0 and at most 1. If `adaptive`, the smallest one to be tried.
    adaptive : bool
        Whether to take the best quantile from `gamma` on, at the price of a factor 1 - log(gamma).

    Returns
    -------
    array of shape (p,)

    Examples
    --------
    >>> from selica.control import quantile_aggregation
    >>> runs = [[0.01, 0.20], [0.04, 0.50], [0.02, 0.90], [0.03, 0.04]]
    >>> quantile_aggregation(runs)
    array([0.04, 0.4 ])
    >>> quantile_aggregation(runs, adaptive=True).round(4)
    array([0.0677, 0.6773])
    """
    pvalues = np.sort(numbers("pvalues", pvalues, ndim=2, at_least=0.0, at_most=1.0), axis=0)
    gamma = number("gamma", gamma, above=0.0, at_most=1.0)
    runs = len(pvalues)
    rank = max(ceiling(gamma * runs), 1)
    if not flag("adaptive", adaptive):
        return np.asarray(np.minimum(pvalues[rank - 1] / gamma, 1.0))
    # the quantile is constant between multiples of 1/runs, so that the smallest ratio is at one
    ratio = pvalues[rank - 1 :] * (runs / np.arange(rank, runs + 1.0)[:, None])
    return np.asarray(np.minimum((1.0 - np.log(gamma)) * ratio.min(axis=0), 1.0))


def _step_up(pvalues: Array, fdr: float) -> BoolArray:
    k = np.arange(1, pvalues.size + 1)
    allowed = fdr * (1.0 + ROUNDING) / pvalues.size
    enough = np.sort(pvalues) <= k * allowed
    if not enough.any():
        return np.zeros(pvalues.size, dtype=bool)
    return np.asarray(pvalues <= k[enough][-1] * allowed)
