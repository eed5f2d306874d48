"""Knockoff p-values of many copies, made one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from selica._core.progress import stopped_after
from selica._core.random import child, seed_sequence
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import choice
from selica.control import (
    benjamini_hochberg,
    benjamini_yekutieli,
    knockoff_pvalues,
    quantile_aggregation,
)
from selica.plots import plot_bars
from selica.selectors.agreement import AGREEMENT, COPIES_NOUN, joint_distances, stability_of
from selica.selectors.drawing import (
    FIRST_COPIES,
    by_pilot,
    is_auto,
    number_drawn,
    possible_copies,
)
from selica.selectors.empty import FDR_LEVELS, first_that_selects
from selica.selectors.knockoffs import AUTO, KnockoffSelector
from selica.selectors.summary import Summary, TableColumn
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Nguyen, Chevalier, Thirion and Arlot (2020): the FDR of aggregated p-values is at most this
# many times the level.
AGGREGATION_CONSTANT = (math.sqrt(22.0) - 2.0) / (7.0 * math.sqrt(22.0) - 32.0)


class AggregatedKnockoffs(KnockoffSelector):
    """Knockoff p-values of many copies, aggregated by a quantile (Nguyen et al. 2020).

    Parameters
    ----------
    fdr : float
        Level of the step-up procedure on the aggregated p-values. The theorem bounds the FDR by
        3.24 times this level only.
    n_copies : int or "auto"
        Number of knockoff copies; "auto" as in `DerandomizedKnockoffs`.
    gamma : float
        Quantile, or the smallest one where `adaptive`.
    adaptive : bool
        Use the best quantile above gamma, at a price of 1 - log(gamma).
    step_up : {"bh", "by"}
        Benjamini and Hochberg, or Benjamini and Yekutieli.
    sampler, statistic, lam, l1_ratio, estimator, groups, response, n_jobs, random_state
        As in `KnockoffSelection`.

    Attributes
    ----------
    pvalues_ : array of shape (p,)
    statistics_ : array of shape (n_copies, p)
    sampler_ : str
        As in `KnockoffSelection`.
    statistic_ : str
        As in `KnockoffSelection`.
    law_ : str or None
        As in `KnockoffSelection`.
    exchangeability_ : Exchangeability or None
        As in `KnockoffSelection`.
    support_, guarantee_

    Examples
    --------
    >>> from selica import AggregatedKnockoffs
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 40, 15, snr=20.0, random_state=0)
    >>> selector = AggregatedKnockoffs(0.3, n_copies=10, sampler="iid", lam=0.05, random_state=0)
    >>> chosen = selector.fit(data.X, data.y).get_support()
    >>> int((chosen & data.support).sum()), int((chosen & ~data.support).sum())
    (13, 0)
    >>> round(selector.guarantee_.level, 2)  # the theorem knows a multiple of the level only
    0.97
    """

    def __init__(
        self,
        fdr: float = 0.1,
        *,
        n_copies: int | str = 25,
        gamma: float = 0.3,
        adaptive: bool = False,
        step_up: str = "bh",
        sampler: Any = "auto",
        statistic: str = AUTO,
        lam: Any = "auto",
        l1_ratio: float = 1.0,
        estimator: Any = None,
        groups: Any = None,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fdr = fdr
        self.n_copies = n_copies
        self.gamma = gamma
        self.adaptive = adaptive
        self.step_up = step_up
        self.sampler = sampler
        self.statistic = statistic
        self.lam = lam
        self.l1_ratio = l1_ratio
        self.estimator = estimator
        self.groups = groups
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        choice("step_up", self.step_up, ("bh", "by"))
        copies = number_drawn("n_copies", self.n_copies, FIRST_COPIES)
        measure = self._measure(data)
        if is_auto(self.n_copies):
            offered = possible_copies(FIRST_COPIES)
            found = self._compare(data, table, FIRST_COPIES + offered[-1])
            drawn = by_pilot(
                found, measure, self.n_jobs, lambda W: self._distances(_pvalues(W)), offered
            )
            self.statistics_ = drawn.statistics
            if drawn.asked:
                self._caution(drawn.said(), act=False)
            if found.stopped:
                asked = drawn.asked or FIRST_COPIES
                self._caution(stopped_after(len(self.statistics_), asked, COPIES_NOUN), act=False)
        else:
            found = self._compare(data, table, copies)
            self.statistics_ = found.statistics(copies, measure, self.n_jobs)
        self.n_copies_ = len(self.statistics_)
        self.exchangeability_ = found.exchangeability
        each = _pvalues(self.statistics_)
        self.pvalues_ = quantile_aggregation(each, self.gamma, self.adaptive)
        self.support_ = self._step_up(self.fdr)
        selections = np.array([self._step_up(self.fdr, one) for one in each])
        self.stability_ = stability_of(
            selections, self._distances(each), self._unit_names(), COPIES_NOUN
        )
        self.guarantee_ = self._promise(
            found, "false discovery rate", AGGREGATION_CONSTANT * float(self.fdr),
            "Nguyen, Chevalier, Thirion and Arlot 2020",
            proven=False,
            settings=f"You asked for {100.0 * float(self.fdr):.3g} %; the theorem bounds "
            f"the rate by {AGGREGATION_CONSTANT:.3g} times that only.",
        ).needing(
            "the statistics of irrelevant variables, of which there are many, are independent of "
            "each other and alike"
        )  # fmt: skip

    def _distances(self, each: Array) -> Array:
        """Return how far the decisions by p-values of copies are from changing."""

        def decide(weight: IntArray) -> BoolArray:
            drawn = np.repeat(each, weight, axis=0)
            return self._step_up(self.fdr, quantile_aggregation(drawn, self.gamma, self.adaptive))

        seed = child(seed_sequence(self.random_state), AGREEMENT)
        return joint_distances(decide, len(each), seed)

    def _step_up(self, level: float, pvalues: Array | None = None) -> BoolArray:
        """Return the variables that the step-up rule selects at a level, by default as used."""
        rule = benjamini_hochberg if self.step_up == "bh" else benjamini_yekutieli
        return rule(self.pvalues_ if pvalues is None else pvalues, level)

    def summary(self) -> Summary:
        """Return the variables by their aggregated p-values."""
        check_is_fitted(self)
        return self._ranked(
            f"Aggregated knockoffs at level {self.fdr:g}",
            TableColumn(
                "p-value", self.pvalues_.tolist(),
                "how often an irrelevant variable would be as far ahead of its knockoff copies, "
                f"artificial columns that cannot matter; aggregated over {len(self.statistics_)}",
            ),
            -self.pvalues_,
            self.statistics_.mean(axis=0),
            ties="the mean lead over the copies (mean W)",
            more=[TableColumn("mean W", self.statistics_.mean(axis=0).tolist(), "")],
        )  # fmt: skip

    def _why(self) -> str:
        text = (
            f"The smallest aggregated p-value is {self.pvalues_.min():.3g}; with "
            f"{self.pvalues_.size} variables no single copy gives a p-value below "
            f"{1.0 / self.pvalues_.size:.3g}."
        )
        found = first_that_selects(
            [x for x in FDR_LEVELS if x > self.fdr],
            lambda x: int(np.count_nonzero(self._step_up(x))),
        )
        if found is None:
            return f"{text} With the same copies no level up to {FDR_LEVELS[-1]:g} selects any."
        return f"{text} With the same copies, {found.sentence('level')}"

    def plot(self) -> Figure:
        """Draw the p-values of the first variables (needs matplotlib)."""
        return plot_bars(self.summary().variables, "p-value")


def _pvalues(statistics: Array) -> Array:
    """Return the p-values of every copy, (copies, p)."""
    return np.array([knockoff_pvalues(w) for w in statistics])
