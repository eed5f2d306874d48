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
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc

from selica._core.scalar import knockoff_probability
from selica._core.types import Array
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
# With more kinds of effects than this, sums over cells are faster than the closed form.
_KINDS = 8


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


class OneCopy:
    """The statistics W = abs(w) - abs(w_copy) of p variables and one copy, in a large system."""

    def __init__(self, solution: KnockoffSolution, p: int) -> None:
        self.solution, self.p = solution, p
        sd = math.sqrt(solution.v_tilde_hat) / solution.Q_hat
        self._t = sd * np.append(1e-9, np.linspace(0.0, _FARTHEST, _STEPS)[1:])
        Q = float(solution.Q_hat)
        top = float(solution.lam + (_FARTHEST + 4.0) * Q * sd)
        self._law = FieldLaw.of(solution, top)
        both = self._share(self._wins(np.concatenate([self._t, -self._t])))
        self._ahead = both[:_STEPS]
        """P(W > t) over all variables."""
        self._behind = 1.0 / p + 1.0 - both[_STEPS:]
        """1/p + P(W <= -t): what W > -t leaves, and one more variable."""

    def knockoff_plus(self, fdr: float) -> Rates:
        """Rates of the filter with offset one."""
        t = _first(self._t, self._behind - fdr * self._ahead)
        return NOTHING if t is None else self.solution.single_rates(t)

    def evalues(self, fdr: float, copies: int) -> Rates:
        """Rates of e-BH on the average e-values, each copy at half the level."""
        own = 0.5 * fdr
        early = (math.ceil(1.0 / own - 1e-9) - 1.0) / self.p
        excess = np.minimum(self._behind - own * self._ahead, self._ahead - early)
        t = _first(self._t, excess)
        if t is None:
            return NOTHING
        votes = np.arange(1.0, copies + 1.0)
        rates = self._by_votes(votes, copies, np.array([t]))
        e = votes / copies / np.interp(t, self._t, self._behind)
        enough = e * fdr * self._share(rates) >= 1.0
        return _at(rates, int(np.argmax(enough))) if enough.any() else NOTHING

    def pvalues(self, fdr: float, copies: int, gamma: float) -> Rates:
        """Rates of the step-up rule on the aggregated p-values."""
        votes = votes_needed(np.array([gamma]), copies)
        pick = slice(None, None, (_STEPS - 1) // (_COARSE - 1))
        t, behind = self._t[pick], self._behind[pick]
        selected = self._share(self._by_votes(votes, copies, t))
        cut = _first(t, behind / gamma - fdr * selected)
        if cut is None:
            return NOTHING
        # the same between two steps of the coarse grid
        fine = cut + (t[1] - t[0]) * np.linspace(-0.5, 0.5, 9)
        fine = fine[fine > 0.0]
        selected = self._share(self._by_votes(votes, copies, fine))
        better = _first(fine, np.interp(fine, self._t, self._behind) / gamma - fdr * selected)
        return _at(self._by_votes(votes, copies, np.array([cut if better is None else better])), 0)

    def _wins(self, t: Array) -> Rates:
        """Rates of the rule W > t."""
        s = self.solution
        if s.model.effects.mixture().mean.size <= _KINDS:
            return s.single_rates(t)
        return self._by_votes(np.ones(1), 1, t)

    def _by_votes(self, votes: Array, copies: int, t: Array) -> Rates:
        """Rates where at least so many copies have W > t; votes and t broadcast."""
        s = self.solution
        gap = s.Q_hat * t[:, None]
        P = knockoff_probability(self._law.g, s.v_hat, s.v_tilde_hat, s.lam, gap).value
        votes = votes[:, None]
        return self._law.rates(s.rho, np.asarray(betainc(votes, copies - votes + 1.0, P)))

    def _share(self, rates: Rates) -> Array:
        """Share of the variables that a rule selects."""
        rho = self.solution.rho
        return np.asarray(rho * rates.tpr + (1.0 - rho) * rates.fpr)


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
