r"""Who is at risk when: the terms of a partial likelihood, sorted out once for a data set.

At each distinct time T of an event, by strata, the risk set is everybody who entered before T and
was still there at T, those who die or are censored at T included. The loss is a sum over terms,

.. math:: \sum_k \omega_k \log \sum_i b_{ki} e^{\eta_i} - \sum_i c_i \delta_i \eta_i ,

where :math:`b_{ki}` is the weight c of the survivors of T, and a share :math:`1 - f_k` of the
weight of those who die at T. Breslow has one term for each time, with f = 0 and the weight d of all
events. Efron has one for each of the n events of positive weight, with f = k / n and d / n.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.losses.intervals import Intervals
from selica._core.types import Array, BoolArray, IntArray

_MOST_TIED = 32
"""Events at one time whose pairs are gone through, in Efron's terms."""


class Terms(NamedTuple):
    """Weights of the terms, which depend on the weights of the rows."""

    omega: Array
    """(..., K); zero for a term that is not there."""
    share: Array
    """(..., K): 1 - f, the part of those who die that is still at risk."""


class RiskSets:
    """Risk sets of one data set with at least one event; the places of a line are its event times.

    Parameters
    ----------
    time, event, stratum, entry : arrays of shape (n,)
    efron : bool
        Whether ties are treated by Efron's terms, else by Breslow's.

    Attributes
    ----------
    dying : integer array (E,)
        Rows with an event, by their place.
    place : integer array (E,)
        The place of each.
    begin : integer array (G,)
        Where the rows of each place begin.
    surviving : Intervals
        Places at which a row is at risk and does not die.
    term_place : integer array (K,)
        The place of each term.
    term_begin : integer array (G,)
        Where the terms of each place begin.
    pair_term, pair_dying : integer arrays
        Pairs of a term and of a position in `dying` at the same place; large ties have none.
    tied : boolean array (K,)
        Terms of large ties.
    """

    def __init__(
        self, time: Array, event: Array, stratum: Array, entry: Array, efron: bool
    ) -> None:
        died = event > 0.0
        distinct = np.unique(time[died])
        code = np.unique(stratum, return_inverse=True)[1] * (distinct.size + 1)
        left = code + np.searchsorted(distinct, time, side="right")
        came = code + np.searchsorted(distinct, entry, side="right")
        places = np.unique(left[died])
        stop = np.searchsorted(places, left, side="right")
        start = np.searchsorted(places, came, side="right")
        rows = np.flatnonzero(died)
        self.dying = rows[np.argsort(stop[rows], kind="stable")]
        self.place = stop[self.dying] - 1
        self.begin = np.searchsorted(self.place, np.arange(places.size))
        self.surviving = Intervals(start, stop - died, places.size)
        self._efron = efron
        self.term_place = self.place if efron else np.arange(places.size)
        self.term_begin = self.begin if efron else self.term_place
        ties = np.diff(np.append(self.begin, self.dying.size))
        self.pair_term, self.pair_dying, self.tied = self._pairs(ties)

    def _pairs(self, ties: IntArray) -> tuple[IntArray, IntArray, BoolArray]:
        """Return pairs of terms and events, and which terms belong to ties that are too large."""
        large = ties > _MOST_TIED if self._efron else np.zeros(ties.size, dtype=bool)
        tied = large[self.term_place]
        terms = np.flatnonzero(~tied)
        partners = ties[self.term_place[terms]]
        first = np.repeat(self.begin[self.term_place[terms]], partners)
        ahead = np.repeat(np.cumsum(partners) - partners, partners)
        return np.repeat(terms, partners), first + np.arange(first.size) - ahead, tied

    def of_dying(self, x: Array) -> Array:
        """Return sums over the events of each place, (..., G) from (..., n)."""
        return np.asarray(np.add.reduceat(x[..., self.dying], self.begin, axis=-1))

    def log_of_dying(self, x: Array) -> Array:
        """Return the same of logarithms."""
        return np.asarray(np.logaddexp.reduceat(x[..., self.dying], self.begin, axis=-1))

    def log_of_terms(self, x: Array) -> Array:
        """Return sums over the terms of each place, (..., G) from (..., K), of logarithms."""
        return np.asarray(np.logaddexp.reduceat(x, self.term_begin, axis=-1))

    def terms(self, c: Array) -> Terms:
        """Return the weights of the terms for rows of weight c."""
        events = self.of_dying(c)
        if not self._efron:
            return Terms(events, np.ones(events.shape))
        there = c[..., self.dying] > 0.0
        so_far = np.cumsum(there, axis=-1, dtype=np.intp) - there
        before = so_far - so_far[..., self.begin[self.place]]
        number = np.maximum(np.add.reduceat(there, self.begin, axis=-1, dtype=np.intp), 1)
        number = number[..., self.place]
        omega = np.where(there, events[..., self.place] / number, 0.0)
        return Terms(omega, np.where(there, 1.0 - before / number, 1.0))
