r"""Expected false selections of stability selection that is integrated over its path.

:math:`B` complementary pairs of halves give :math:`2B` fits, each with a path of growing lists of
variables. With :math:`\Pi_{lj}` the share of the fits whose list :math:`l` has variable :math:`j`,
lists of :math:`q_l` of :math:`p` variables on average, and weights :math:`w_l` that add up to one,
the score of a variable is

.. math:: s_j = \sum_l w_l\, h_m(\Pi_{lj}) , \qquad h_m(x) = \max(2x - 1, 0)^m

(Melikechi & Miller 2025). For one pair, with indicators :math:`a, a'` of its halves,
:math:`a + a' - 1 \le a a'`, so that :math:`2 \Pi - 1` is at most the share of the pairs in which
both halves select a variable. The :math:`m`-th moment of that share is a sum over sets of
:math:`k \le m` pairs. If :math:`k` pairs select an irrelevant variable by all their halves with
probability at most :math:`t^k`, :math:`t = (q/p)^2`, then by Markov's inequality

.. math::
    E(\text{false}) \le \frac{I}{\tau} \ \text{ for } s_j \ge \tau , \qquad
    I = \sum_l w_l\, b_m(q_l) , \qquad
    b_m = \frac{p}{B^m} \sum_{k=1}^m S(m, k)\, B (B - 1) \cdots (B - k + 1)\, t^k ,

with Stirling numbers :math:`S` of the second kind. For :math:`m = 1` the halves of a pair are
independent, and the condition says that irrelevant variables are selected no more often than the
average variable, which is all that Meinshausen and Bühlmann assume. For :math:`m \ge 2` it is more:
all pairs share the data, so that :math:`k` pairs select a variable with a probability of at least
:math:`t^k` where nothing matters. The bound is then no theorem, and `chance_efp` takes its
place: the expected number of irrelevant variables with such a score, from draws of the scores that
chance gives.

A path over *ranks* has the lists of the first 1, 2, .., Q variables of each fit, so that all
:math:`q_l`, the weights :math:`\log((q + 1)/q)`, Q and I are known before the data. One over
*penalties* has lists that are active at :math:`\lambda_1 > .. > \lambda_L`; cell
:math:`(\lambda_{l+1}, \lambda_l]` has the list of its upper end, and a weight by the measure
:math:`\lambda^{-\delta} d\lambda`. Of either the longest beginning is kept over which the mean
of :math:`b_m` is at most a limit. Weights and I have to be normalised over what is kept, both of
them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.rounding import ROUNDING
from selica._core.types import Array
from selica._core.validation import count, number, numbers, real

LIMIT = 0.05
"""Largest mean of the moments over the part of a path that is kept."""
ORDERS = (1, 2)
"""Powers of a share that are offered: with a third one, far more than the target is selected where
little matters."""


@dataclass(frozen=True, slots=True, repr=False)
class PathIntegral(Result):
    """The part of a path that is integrated over; see `rank_integral` and `penalty_integral`.

    Examples
    --------
    >>> from selica.control import rank_integral
    >>> path = rank_integral(200, order=2)
    >>> path.cells, round(path.integral, 5)
    (42, 0.04963)
    """

    weights: Array
    """(cells,): of the lists that are kept, from the shortest on; they add up to one."""
    integral: float
    """Weighted mean of the moments: a threshold on scores times the bound on false selections."""
    p: int
    """Number of variables."""
    n_pairs: int
    """Complementary pairs of halves."""
    order: int
    """Power of the shares."""

    @property
    def cells(self) -> int:
        """How many lists are kept."""
        return int(self.weights.size)


def rank_integral(
    p: int, n_pairs: int = 50, order: int = 2, *, limit: float = LIMIT, longest: int | None = None
) -> PathIntegral:
    """Return which of the lists of the first 1, 2, .. variables are integrated over.

    Parameters
    ----------
    p : int
        Number of variables, at least two.
    n_pairs : int
        Complementary pairs of halves.
    order : {1, 2}
        Power of the shares.
    limit : float
        Largest mean of the moments.
    longest : int, optional
        No longer lists are used, whatever the limit allows.

    Examples
    --------
    >>> from selica.control import rank_integral
    >>> rank_integral(1000, order=1).cells, rank_integral(1000, order=2).cells
    (16, 130)
    """
    p, B, m = _sizes(p, n_pairs, order)
    most = p if longest is None else min(count("longest", longest), p)
    q = np.arange(1, most + 1)
    moments = _moment(p, q.astype(float), B, m)
    weights, integral = _kept(np.log1p(1.0 / q), moments, number("limit", limit, above=0.0))
    return PathIntegral(weights, integral, p, B, m)


def penalty_integral(
    lams: ArrayLike,
    q: ArrayLike,
    p: int,
    n_pairs: int = 50,
    order: int = 2,
    *,
    exponent: float = 1.0,
    limit: float = LIMIT,
) -> PathIntegral:
    """Return which of the lists along penalties are integrated over.

    Parameters
    ----------
    lams : array of shape (L,)
        Penalties from large to small, positive.
    q : array of shape (L,)
        Mean number of variables that fits select at each of them.
    p, n_pairs, order, limit
        As in `rank_integral`.
    exponent : float
        The measure is lam to the power of minus this: 1 is even in the logarithm, 0 in lam.

    Examples
    --------
    >>> from selica.control import penalty_integral
    >>> path = penalty_integral([1.0, 0.5, 0.25], [0.2, 1.2, 2.0], 8, 10, order=1, limit=0.2)
    >>> path.weights.tolist(), round(path.integral, 4)
    ([0.5, 0.5], 0.0925)
    """
    p, B, m = _sizes(p, n_pairs, order)
    grid, mean = numbers("lams", lams, at_least=1e-300), numbers("q", q, at_least=0.0)
    if grid.size < 2 or np.any(np.diff(grid) >= 0.0):
        raise ArgumentError("lams must be two penalties or more that decrease.")
    if mean.shape != grid.shape or np.any(mean > p):
        raise ArgumentError("q must have a number between 0 and p for each of the lams.")
    weights = _cells(grid, number("exponent", exponent))
    moments = _moment(p, mean[:-1], B, m)
    weights, integral = _kept(weights, moments, number("limit", limit, above=0.0))
    return PathIntegral(weights, integral, p, B, m)


def integrated_scores(counts: ArrayLike, path: PathIntegral) -> Array:
    """Return the scores of variables, between 0 and 1.

    Parameters
    ----------
    counts : array of shape (L, p)
        How many of the 2 n_pairs fits select each variable, in each list of the path; lists that
        are not kept may be left out.
    path : PathIntegral

    Examples
    --------
    >>> from selica.control import integrated_scores, rank_integral
    >>> path = rank_integral(6, 5, 1, limit=1.0, longest=3)
    >>> counts = [[6, 3, 1, 0, 0, 0], [9, 7, 2, 1, 1, 0], [10, 9, 5, 3, 2, 1]]
    >>> integrated_scores(counts, path)[:3].round(3).tolist()
    [0.542, 0.283, 0.0]
    """
    if not isinstance(path, PathIntegral):
        raise ArgumentError("path must be what rank_integral or penalty_integral return.")
    table = real("counts", counts, at_least=0.0, at_most=2.0 * path.n_pairs)
    if table.ndim != 2 or len(table) < path.cells or table.shape[1] == 0:
        raise ArgumentError(f"counts must have {path.cells} rows or more, one for each list.")
    return _scores(table[: path.cells], path.weights, path.n_pairs, path.order)


def integrated_efp(scores: ArrayLike, path: PathIntegral) -> Array:
    """Return the bound on false selections at which each variable enters, at most p.

    Variables with the same score enter together. Nothing enters below p where the integral is zero.

    Parameters
    ----------
    scores : array of shape (p,)
        As from `integrated_scores`.
    path : PathIntegral

    Examples
    --------
    >>> from selica.control import integrated_efp, rank_integral
    >>> path = rank_integral(200, order=1)
    >>> integrated_efp([0.5, 0.1, 0.0], path).round(3).tolist()
    [0.095, 0.477, 200.0]
    """
    if not isinstance(path, PathIntegral):
        raise ArgumentError("path must be what rank_integral or penalty_integral return.")
    s = numbers("scores", scores, at_least=0.0)
    if path.integral <= 0.0:
        return np.full(s.size, float(path.p))
    return np.asarray(path.integral / np.maximum(s, path.integral / path.p))


def chance_efp(scores: ArrayLike, drawn: ArrayLike, weight: ArrayLike, p: int) -> Array:
    """Return the expected number of irrelevant variables with scores at least as high, at most p.

    Parameters
    ----------
    scores : array of shape (p,)
        As from `integrated_scores`.
    drawn : array of shape (draws,)
        Scores that chance gives, as from `integrated_scores` of drawn counts.
    weight : array of shape (draws,)
        Probabilities of the draws, which add up to one.
    p : int
        Number of variables.

    Examples
    --------
    >>> from selica.control import chance_efp
    >>> chance_efp([0.5, 0.2, 0.0], [0.6, 0.3, 0.0], [0.01, 0.04, 0.95], 100).tolist()
    [1.0, 5.0, 100.0]
    """
    s, d = numbers("scores", scores, at_least=0.0), numbers("drawn", drawn, at_least=0.0)
    w = numbers("weight", weight, at_least=0.0)
    p = count("p", p, at_least=2)
    if w.shape != d.shape:
        raise ArgumentError("weight must have a probability for each of the drawn scores.")
    order = np.argsort(d, kind="stable")
    # probability of the draws from each place on; scores that differ by rounding are the same
    above = np.append(np.cumsum(w[order][::-1])[::-1], 0.0)
    place = np.searchsorted(d[order], s * (1.0 - ROUNDING))
    return np.asarray(np.minimum(p * above[place], float(p)))


def efp_qvalues(efp: ArrayLike) -> Array:
    """Return the smallest expected share of false selections at which each variable enters.

    The expected number of false selections is divided by the number of selected variables. That
    is an estimate, and no bound on the false discovery rate.

    Parameters
    ----------
    efp : array of shape (p,)
        Expected numbers of false selections at which variables enter.

    Examples
    --------
    >>> from selica.control import efp_qvalues
    >>> efp_qvalues([0.1, 0.3, 0.3, 2.0, 8.0, 8.0]).round(3).tolist()
    [0.1, 0.1, 0.1, 0.5, 1.0, 1.0]
    """
    values = numbers("efp", efp, at_least=0.0)
    levels, place, tied = np.unique(values, return_inverse=True, return_counts=True)
    share = np.minimum.accumulate((levels / np.cumsum(tied))[::-1])[::-1]
    return np.asarray(np.minimum(share, 1.0)[place])


def _sizes(p: int, n_pairs: int, order: int) -> tuple[int, int, int]:
    """Return the number of variables, of pairs, and the order, checked."""
    at_most = ORDERS[-1]
    return (
        count("p", p, at_least=2),
        count("n_pairs", n_pairs),
        count("order", order, at_most=at_most),
    )


def _moment(p: int, q: Array, n_pairs: int, order: int) -> Array:
    """Return p times the bound on the moment of a share of pairs, for lists of q variables."""
    t, falling = (q / p) ** 2, 1.0
    total = np.zeros_like(t)
    for k in range(1, order + 1):
        falling *= n_pairs - k + 1
        total += _stirling(order, k) * falling * t**k
    return np.asarray(p * total / float(n_pairs) ** order)


def _stirling(m: int, k: int) -> int:
    """Return in how many ways m things form k sets, none of which is empty."""
    if m == k:
        return 1
    return 0 if k < 1 or k > m else k * _stirling(m - 1, k) + _stirling(m - 1, k - 1)


def _cells(grid: Array, exponent: float) -> Array:
    """Return the measures of the cells between penalties."""
    if abs(exponent - 1.0) < 1e-12:
        return np.asarray(-np.diff(np.log(grid)))
    power = 1.0 - exponent
    return np.asarray(-np.diff(grid**power) / power)


def _kept(weights: Array, moments: Array, limit: float) -> tuple[Array, float]:
    """Return the weights of the longest beginning whose mean is within the limit, and the mean."""
    mean = np.cumsum(weights * moments) / np.cumsum(weights)
    cells = int(np.count_nonzero(np.logical_and.accumulate(mean <= limit * (1.0 + ROUNDING))))
    if cells == 0:
        return np.empty(0), 0.0
    return weights[:cells] / weights[:cells].sum(), float(mean[cells - 1])


def _scores(counts: Array, weights: Array, n_pairs: int, order: int) -> Array:
    """Return the scores of variables for lists with these weights."""
    return np.asarray(weights @ np.maximum(counts / n_pairs - 1.0, 0.0) ** order)
