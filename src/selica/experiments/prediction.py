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
- the first q variables of halves of the rows: the penalty at which a half selects q on average.

What is left out are the fluctuations of counts, which matter where few variables are selected.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from selica._core.types import Array, BoolArray
from selica.theory import KnockoffSolution, Model, Rates, StabilitySolution, solve_stability

# Thresholds on W go up to so many times the spread of an estimate, in two rounds of steps.
_REACH, _STEPS, _FINE = 6.0, 120, 40


class OneCopy:
    """The statistics W = abs(w) - abs(w_copy) of p variables and one copy, in a large system."""

    def __init__(self, solution: KnockoffSolution, p: int) -> None:
        self.solution, self.p = solution, p

    def knockoff_plus(self, fdr: float) -> Rates:
        """Rates of the filter with offset one."""
        t = self._smallest(lambda t: self._behind(t) <= fdr * self._ahead(t))
        return self.solution.single_rates(t)

    def evalues(self, fdr: float, copies: int) -> Rates:
        """Rates of e-BH on the average e-values, each copy at half the level."""
        own = 0.5 * fdr
        early = (math.ceil(1.0 / own - 1e-9) - 1.0) / self.p

        def stops(t: Array) -> BoolArray:
            ahead = self._ahead(t)
            return (self._behind(t) <= own * ahead) | (ahead <= early)

        t = self._smallest(stops)
        shares = np.arange(1, copies + 1) / copies
        rates = self.solution.rates(t, shares, n_members=copies)
        enough = shares / self._behind(t) * fdr * self._selected(rates) >= 1.0
        if not enough.any():
            return Rates(0.0, 0.0, 0.0)
        return self.solution.rates(t, shares[np.argmax(enough)], n_members=copies)

    def pvalues(self, fdr: float, copies: int, gamma: float) -> Rates:
        """Rates of the step-up rule on the aggregated p-values."""

        def rates(t: Array | float) -> Rates:
            return self.solution.rates(t, gamma, n_members=copies)

        t = self._smallest(lambda t: self._behind(t) / gamma <= fdr * self._selected(rates(t)))
        return rates(t)

    def _ahead(self, t: Array | float) -> Array:
        """P(W >= t) over all variables."""
        return self._selected(self.solution.single_rates(t))

    def _behind(self, t: Array | float) -> Array:
        """1/p + P(W <= -t): what W > -t leaves, and one more variable."""
        return 1.0 / self.p + 1.0 - self._ahead(-t)

    def _selected(self, rates: Rates) -> Array:
        """Share of the variables that a rule selects."""
        rho = self.solution.rho
        return np.asarray(rho * rates.tpr + (1.0 - rho) * rates.fpr)

    def _smallest(self, will_do: Callable[[Array], BoolArray]) -> float:
        """The smallest threshold that will do, or one that nothing exceeds."""
        s = self.solution
        step = _REACH / _STEPS * np.sqrt(1.0 + s.v_tilde_hat / s.Q_hat**2)
        coarse = step * np.arange(1, _STEPS + 1)
        fine = will_do(coarse)
        if not fine.any():
            return 1e6 * float(step)
        between = coarse[np.argmax(fine)] + step * (np.arange(1, _FINE + 1) / _FINE - 1.0)
        return float(between[np.argmax(will_do(between))])


def first_variables(model: Model, p: int, q: float) -> StabilitySolution:
    """Halves of the rows at the penalty at which they select q of p variables on average."""

    def half(log_lam: float) -> StabilitySolution:
        return solve_stability(model, math.exp(log_lam), 0.5, "bernoulli")

    def excess(log_lam: float) -> float:
        found = half(log_lam)
        return float(p * found.chi * found.Q_hat - q)

    return half(brentq(excess, -9.0, 5.0, xtol=1e-10))
