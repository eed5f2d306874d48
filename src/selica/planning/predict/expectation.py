"""What a rule is expected to do in a study, and what that means for one variable."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from scipy.special import bdtr

from selica._core.effects import Effects, Mixture
from selica._core.types import Array
from selica.planning.study import Study
from selica.theory import Model, Rates, Solution

S = TypeVar("S", bound=Solution)

FOUND_SHARES = (0.1, 0.9)
"""Shares of studies in which fewer signals are found than the ends of the stated range."""
_SHARE_RULE = np.polynomial.legendre.leggauss(48)
"""Nodes and weights of the mean share of false selections."""
_LONGEST_EXPONENT = 40.0
"""Exponent x up to which exp(-x) counts in it."""


class Expected(NamedTuple):
    """What a rule is expected to do in a study."""

    power: float
    """Mean share of the signals that are selected."""
    fdr: float
    """Mean share of false ones among the selected."""
    true_selections: float
    false_selections: float
    power_error: float = 0.0
    """Standard error of the power, from the draws; zero where nothing is drawn."""
    found_low: float = math.nan
    """Signals that are found in nine of ten studies, at least."""
    found_high: float = math.nan
    """Signals that are found in nine of ten studies, at most."""
    variable_power: float | None = None
    """Probability that the one variable of the study is selected; None if it has none."""

    @classmethod
    def of_rates(cls, study: Study, rates: Rates, variable_power: float | None = None) -> Expected:
        """Return what is expected if every variable is selected by itself, at these rates."""
        p, k = study.n_features, study.n_signals
        fdr = mean_false_share(p, k, rates.tpr, rates.fpr)
        low, high = (binomial_quantile(share, k, float(rates.tpr)) for share in FOUND_SHARES)
        return cls(
            rates.tpr, fdr, k * rates.tpr, (p - k) * rates.fpr,
            found_low=low, found_high=high, variable_power=variable_power,
        )  # fmt: skip


def binomial_quantile(share: float, number: int, chance: float) -> float:
    """Return the smallest count that a binomial number is at most with a probability.

    Parameters
    ----------
    share : float
        That probability.
    number : int
        Of tries.
    chance : float
        Of each of them.

    Examples
    --------
    >>> from selica.planning.predict.expectation import binomial_quantile
    >>> binomial_quantile(0.1, 10, 0.5), binomial_quantile(0.9, 10, 0.5)
    (3.0, 7.0)
    """
    if not 0.0 < chance < 1.0:
        return number * float(chance >= 1.0)
    low, high = -1, number  # at most this many: too unlikely, likely enough
    while high - low > 1:
        middle = (low + high) // 2
        if bdtr(middle, number, chance) >= share:
            high = middle
        else:
            low = middle
    return float(high)


def mean_false_share(p: int, k: int, tpr: float, fpr: float) -> float:
    r"""Return the mean share of false ones among variables that are selected independently.

    With V false and S true ones, V/(V + S) has the mean of V times 1/(1 + V' + S), V' of the other
    irrelevant variables; and the mean of 1/(1 + N) is the integral of that of x^N over x from 0 to
    1. In a large study it is the ratio of the expected numbers.
    """
    if p == k or fpr == 0.0:
        return 0.0
    number = k * tpr + (p - k) * fpr
    nodes, weights = _SHARE_RULE
    span = min(_LONGEST_EXPONENT / max(number, 1e-300), 1.0)
    missing = 0.5 * span * (nodes + 1.0)  # 1 - x
    with np.errstate(divide="ignore"):
        log = (p - k - 1) * np.log1p(-fpr * missing) + k * np.log1p(-tpr * missing)
    return float(min((p - k) * fpr * 0.5 * span * (weights @ np.exp(log)), 1.0))


@dataclass(frozen=True, slots=True)
class _OneEffect(Effects):
    """An effect of any size that all signals have: what is asked is what it means for one."""

    size: float

    def mixture(self) -> Mixture:
        """Return the one point."""
        return Mixture(np.array([self.size]), np.zeros(1), np.ones(1))

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Return the effect as often as asked."""
        return np.full(size, self.size)


def of_variable(solution: S, study: Study) -> S:
    """Return a solution whose signals all have the effect of the one variable of the study.

    Order parameters stay what they are, so that its rates are those of this variable.

    Parameters
    ----------
    solution : Solution
    study : Study
        With a `variable`.
    """
    m = solution.model
    one = Model(m.alpha, m.rho, m.Delta, _OneEffect(relative_effect(study)))
    return replace(solution, model=one)


def variable_rate(study: Study, solution: Any, rates: Callable[[Any], Rates]) -> float | None:
    """Return the probability that the variable of a study is selected; None without one.

    Parameters
    ----------
    study : Study
    solution : Solution
        Of one model.
    rates : callable
        From a solution to the rates of a rule with a known threshold.
    """
    if study.variable is None:
        return None
    return float(np.ravel(rates(of_variable(solution, study)).tpr)[0])


def relative_effect(study: Study) -> float:
    """Return the effect of the one variable, in the unit in which effects have unit size."""
    assert study.variable is not None
    return study.variable / study.effect_size
