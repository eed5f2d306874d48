"""What the theory predicts for rules that set their thresholds by the data.

In a large system such a rule sets its threshold where expected counts meet its condition. With p
variables, W the knockoff statistic of one copy and B copies:

- knockoff+: the smallest t with (1/p + P(W <= -t)) / P(W >= t) at most the level;
- e-values: each copy takes its own t at half the level, or at the early stop of the method if that
  is smaller, and gives e = 1 / (1/p + P(W <= -t)) to W >= t; k of B copies give k/B of it, and e-BH
  takes the smallest k with (k/B) e at least 1 / (level P(at least k copies));
- p-values: (1/p + P(W <= -z)) / gamma is the aggregated p-value of a variable of which a share
  gamma of the copies has W >= z, and the step-up rule takes the smallest z at which it is at most
  the level times the share of the variables selected;
- fields: message passing knows the law of irrelevant fields, counts all p variables as irrelevant
  and takes the smallest cut u with 2 H(u) at most the level times the share above it;
- the first q variables of halves of the rows: the penalty at which a half selects q on average.

What is left out are the fluctuations of counts, which matter where few variables are selected;
`planning.finite` puts them back.
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq
from scipy.special import betainc, betaincinv, binom, ndtr, xlog1py, xlogy

from selica._core.scalar import density, knockoff_probability
from selica._core.types import Array
from selica.control.arguments import ceiling
from selica.theory import KnockoffSolution, Model, Rates, Solution, StabilitySolution
from selica.theory import solve_stability as _solve
from selica.theory.members import votes_needed
from selica.theory.rates import make_rates, two_sided
from selica.theory.roc import log_rates

NOTHING = Rates(0.0, 0.0, 0.0)
"""Rates of a rule that selects nothing."""
# Thresholds in deviations of what is irrelevant: beyond, no such variable is left to be counted.
_FARTHEST, _STEPS, _COARSE = 8.0, 65, 17
# Cells for the law of a field up to where all copies select it, and further edges beyond.
_CELLS, _BEYOND = 160, np.array([1.1, 1.25, 1.5, 2.0, 4.0, 1e6])
# Cells of a copy's field in a step between two thresholds.
_PARTS, _TINY = 4, 1e-300
# Normal quantiles of a threshold and their weights; the largest threshold that is not one.
_NODES = np.linspace(-7.0, 7.0, 113)
_WEIGHTS = density(_NODES) * (_NODES[1] - _NODES[0])
_CERTAIN = 1.0 - 1e-16


class FieldLaw(NamedTuple):
    """Values of abs(g), the field of a variable, and what they weigh; each of shape (G,)."""

    g: Array
    null: Array
    signal: Array

    @classmethod
    def of(cls, solution: Solution, top: float) -> FieldLaw:
        """The law of the fields in a solved model, in cells that are fine up to `top`."""
        edges = top * np.concatenate([np.linspace(0.0, 1.0, _CELLS + 1), _BEYOND])
        sd, Q = math.sqrt(solution.chi_hat), float(solution.Q_hat)
        signals = solution.model.effects.mixture().folded()
        mean, spread = Q * signals.mean[:, None], np.hypot(Q * signals.sd, sd)[:, None]
        above = two_sided(edges, mean, spread**2)
        above[:, -1] = 0.0
        null = two_sided(edges, np.zeros(()), np.asarray(sd**2))
        centre = 0.5 * (edges[1:] + edges[:-1])
        return cls(centre, -np.diff(null), -(signals.probability @ np.diff(above)))

    def rates(self, rho: float, chance: Array) -> Rates:
        """Rates of a rule that selects a variable in the field g with a chance, (..., G)."""
        return make_rates(np.asarray(rho), chance @ self.signal, chance @ self.null)


def rates_of_members(solution: StabilitySolution, Pi_th: float, members: int) -> Rates:
    """Rates of so many resamples, as an average over thresholds of infinitely many.

    At least k of B resamples select a variable of probability Pi as often as a threshold drawn
    from Beta(k, B - k + 1) is at most Pi.
    """
    votes = float(votes_needed(np.array(Pi_th), members))
    if votes == 0.0:
        return solution.rates(0.0)
    drawn = np.minimum(betaincinv(votes, members - votes + 1.0, ndtr(_NODES)), _CERTAIN)
    rates = solution.rates(drawn)
    mean = (float(_WEIGHTS @ part) for part in (rates.tpr, rates.fpr))
    return make_rates(np.asarray(solution.rho), *(np.asarray(x) for x in mean))


class Counts(NamedTuple):
    """Shares of the variables by their statistics W of one copy; solutions by thresholds."""

    t: Array
    ahead: Array
    """P(W > t)."""
    behind: Array
    """P(W <= -t)."""

    @classmethod
    def of(cls, solution: KnockoffSolution) -> Counts:
        """At each of L solutions, or at one.

        Own and copied fields are independent, so that both shares are averages over the copy, in
        cells of which a step between two thresholds has a whole number.
        """
        s = solution
        Q, lam, spread = (
            np.ravel(part)[:, None] for part in (s.Q_hat, s.lam, np.sqrt(s.v_tilde_hat))
        )
        steps = np.append(1e-9, np.linspace(0.0, _FARTHEST, _STEPS)[1:])
        width = (steps[2] - steps[1]) * spread
        # edges of the cells of the copy, from the penalty on; thresholds are some of them
        edges = lam + width / _PARTS * np.arange(_PARTS * (_STEPS - 1) + 1.0)
        copy = two_sided(edges, np.zeros(()), spread**2)
        weight = np.concatenate([-np.diff(copy), copy[:, -1:]], axis=1)
        cells = weight.shape[1]
        # what the own field has to exceed, up to the sum of the largest copy and threshold
        coarse = np.arange(2.0 * _STEPS)
        known = _own(s, lam + width * coarse)
        middle = (np.arange(2.0 * cells) + 0.5) / _PARTS
        own = np.exp(PchipInterpolator(coarse, np.log(known + _TINY), axis=1)(middle))
        windows = sliding_window_view(own, cells, axis=1)[:, : _PARTS * _STEPS : _PARTS]
        ahead = np.vecdot(windows, weight[:, None]) + (1.0 - copy[:, :1]) * known[:, :_STEPS]
        # a copy in the cell i is ahead by d cells of what is at most the middle of cell i - d
        below = np.concatenate([np.zeros((len(own), cells - 1)), 1.0 - own[:, :cells]], axis=1)
        windows = sliding_window_view(below, cells, axis=1)[:, ::-_PARTS]
        return cls(spread / Q * steps, ahead, np.vecdot(windows, weight[:, None]))


def _own(solution: KnockoffSolution, x: Array) -> Array:
    """P(abs(h) > x) over all variables, h the whole field of one member; x is (L, X)."""
    s = solution
    signals = s.model.effects.mixture().folded()
    Q, var = (np.ravel(part)[:, None, None] for part in (s.Q_hat, s.chi_hat + s.v_hat))
    null = two_sided(x, np.zeros(()), var[:, 0])
    signal = two_sided(x[:, :, None], Q * signals.mean, (Q * signals.sd) ** 2 + var)
    return np.asarray(s.rho * (signal @ signals.probability) + (1.0 - s.rho) * null)


class OneCopy:
    """The statistics W = abs(w) - abs(w_copy) of p variables and one copy, in a large system."""

    def __init__(self, solution: KnockoffSolution, p: int, counts: Counts | None = None) -> None:
        self.solution, self.p = solution, p
        if counts is None:
            counts = Counts(*(part[0] for part in Counts.of(solution)))
        self._t, self._ahead = counts.t, counts.ahead
        self._behind = 1.0 / p + counts.behind
        """The share that is behind, and one more variable."""

    @cached_property
    def _law(self) -> FieldLaw:
        s = self.solution
        top = float(s.lam + (_FARTHEST + 4.0) * math.sqrt(s.v_tilde_hat))
        return FieldLaw.of(s, top)

    def knockoff_plus(self, fdr: float) -> Rates:
        """Rates of the filter with offset one."""
        t = _first(self._t, self._behind - fdr * self._ahead)
        return NOTHING if t is None else self.solution.single_rates(t)

    def evalues(self, fdr: float, copies: int) -> Rates:
        """Rates of e-BH on the average e-values, each copy at half the level."""
        own = 0.5 * fdr
        early = (ceiling(1.0 / own) - 1.0) / self.p
        excess = np.minimum(self._behind - own * self._ahead, self._ahead - early)
        t = _first(self._t, excess)
        if t is None:
            return NOTHING
        votes = np.arange(1.0, copies + 1.0)
        rates = self._law.rates(self.solution.rho, _tails(self._wins(np.array([t]))[0], copies))
        e = votes / copies / np.interp(t, self._t, self._behind)
        enough = e * fdr * self._share(rates) >= 1.0
        return _at(rates, int(np.argmax(enough))) if enough.any() else NOTHING

    def pvalues(self, fdr: float, copies: int, gamma: float) -> Rates:
        """Rates of the step-up rule on the aggregated p-values."""
        votes = int(votes_needed(np.array(gamma), copies))
        pick = slice(None, None, (_STEPS - 1) // (_COARSE - 1))
        t, behind = self._t[pick], self._behind[pick]
        # no more variables have so many votes than Markov's inequality allows
        possible = behind / gamma <= fdr * self._ahead[pick] * copies / votes
        if not possible.any():
            return NOTHING
        selected = np.zeros(t.size)
        selected[possible] = self._share(self._by_votes(votes, copies, t[possible]))
        cut = _first(t, behind / gamma - fdr * selected)
        if cut is None:
            return NOTHING
        # the same between two steps of the coarse grid
        fine = cut + (t[1] - t[0]) * np.linspace(-0.5, 0.5, 9)
        fine = fine[fine > 0.0]
        selected = self._share(self._by_votes(votes, copies, fine))
        better = _first(fine, np.interp(fine, self._t, self._behind) / gamma - fdr * selected)
        return _at(self._by_votes(votes, copies, np.array([cut if better is None else better])), 0)

    def _wins(self, t: Array) -> Array:
        """P(W > t) of a variable in each cell, (T, G)."""
        s = self.solution
        gap = s.Q_hat * t[:, None]
        return knockoff_probability(self._law.g, s.v_hat, s.v_tilde_hat, s.lam, gap).value

    def _by_votes(self, votes: int, copies: int, t: Array) -> Rates:
        """Rates where at least so many copies have W > t."""
        chance, tail = _tail(votes, copies)
        return self._law.rates(self.solution.rho, np.interp(self._wins(t), chance, tail))

    def _share(self, rates: Rates) -> Array:
        """Share of the variables that a rule selects."""
        rho = self.solution.rho
        return np.asarray(rho * rates.tpr + (1.0 - rho) * rates.fpr)


def _tails(chance: Array, copies: int) -> Array:
    """P(Bin(copies, chance) >= k) for k from one on, (copies, G)."""
    k = np.arange(copies + 1.0)[:, None]
    with np.errstate(divide="ignore"):
        logs = xlogy(k, chance) + xlog1py(copies - k, -np.minimum(chance, 1.0))
    law = binom(copies, k) * np.exp(logs)
    return np.asarray(np.minimum(np.cumsum(law[:0:-1], axis=0)[::-1], 1.0))


@lru_cache(maxsize=8)
def _tail(votes: int, copies: int) -> tuple[Array, Array]:
    """P(Bin(copies, chance) >= votes) at chances close enough to interpolate."""
    chance = np.linspace(0.0, 1.0, 4001)
    return chance, np.asarray(betainc(votes, copies - votes + 1.0, chance))


def _first(t: Array, excess: Array) -> float | None:
    """Where a continuous excess is first zero or less; None if it never is."""
    fine = excess <= 0.0
    if not fine.any():
        return None
    i = int(np.argmax(fine))
    if i == 0:
        return float(t[0])
    share = excess[i - 1] / (excess[i - 1] - excess[i])
    return float(t[i - 1] + share * (t[i] - t[i - 1]))


def _at(rates: Rates, place: int) -> Rates:
    return Rates(*(float(part[place]) for part in (rates.tpr, rates.fpr, rates.fdr)))


def cut_of_fields(solution: Solution, fdr: float) -> float:
    """The cut on abs(g) at which message passing estimates the level; infinite if there is none.

    It counts all variables as irrelevant, so that the false discovery rate is 1 - rho times the
    level.
    """
    sd = math.sqrt(solution.chi_hat)
    u = np.linspace(0.0, _FARTHEST + 1.0, 2 * _STEPS)
    signals = solution.model.effects.mixture().folded()
    log_tpr, log_fpr, _ = log_rates(signals, np.full(u.size, sd / solution.Q_hat), u)
    fpr, rho = np.exp(log_fpr), solution.rho
    # relative, so that what is linear between two steps is the logarithm
    excess = log_fpr - np.log(fdr * (rho * np.exp(log_tpr) + (1.0 - rho) * fpr))
    cut = _first(u, excess)
    return math.inf if cut is None else sd * cut


def first_variables(model: Model, p: int, q: float) -> StabilitySolution:
    """Halves of the rows at the penalty at which they select q of p variables on average."""

    def half(log_lam: float) -> StabilitySolution:
        return _solve(model, math.exp(log_lam), 0.5, "bernoulli")

    def excess(log_lam: float) -> float:
        found = half(log_lam)
        return float(p * found.chi * found.Q_hat - q)

    return half(brentq(excess, -9.0, 5.0, xtol=1e-10))
