"""Data splitting: halves of the rows that have to agree on a sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from selica._core.losses import Loss, treats
from selica._core.parallel import pieces
from selica._core.progress import reporter_of
from selica._core.random import child, generator, seed_sequence
from selica._core.rounding import ceiling
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import count
from selica.control import inclusion_rate_cutoff, mirror_threshold
from selica.plots import plot_bars
from selica.selectors.agreement import AGREEMENT, joint_distances, stability_of
from selica.selectors.base import Selector
from selica.selectors.empty import FDR_LEVELS, first_that_selects
from selica.selectors.guarantee import Guarantee
from selica.selectors.summary import Summary, TableColumn
from selica.statistics import Data
from selica.statistics.mirror import mirror_statistic

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class DataSplitting(Selector):
    """Selects by mirror statistics of random halves of the rows (Dai et al. 2023).

    The lasso chooses variables on one half, a fit without penalty measures them on the other. For
    two classes both are logistic, and a ridge too weak to be felt elsewhere keeps the second
    finite where the classes can be separated.

    Parameters
    ----------
    fdr : float
        Target false discovery rate.
    n_splits : int
        One split, or many whose selections are combined by inclusion rates.
    offset : {0, 1}
        1 counts one false selection more than is seen, which is safer.
    groups, response, n_jobs, random_state
        As in `StabilitySelection`. A group has the statistic of its member with the largest one.

    Attributes
    ----------
    inclusion_rates_ : array of shape (p,)
        Average over the splits of 1 / (number selected) where the variable is selected.
    statistics_ : array of shape (n_splits, p)
        Mirror statistics.
    support_, guarantee_

    Examples
    --------
    >>> from selica import DataSplitting
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 40, 15, snr=20.0, random_state=0)
    >>> selector = DataSplitting(fdr=0.2, n_splits=10, random_state=0)
    >>> selector.fit(data.X, data.y).get_support().sum() > 5
    np.True_

    Two classes:

    >>> data = simulate(300, 40, 15, response="logistic", random_state=0)
    >>> selector.fit(data.X, data.y).get_support().sum() > 5
    np.True_
    """

    _bytes_each = 64.0  # splits side by side have halves of the table each

    def __init__(
        self,
        fdr: float = 0.1,
        *,
        n_splits: int = 50,
        offset: int = 1,
        groups: Any = None,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fdr = fdr
        self.n_splits = n_splits
        self.offset = offset
        self.groups = groups
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        splits = count("n_splits", self.n_splits)
        seed = seed_sequence(self.random_state)
        arguments = ((data, generator(child(seed, b))) for b in range(splits))
        self.statistics_ = np.array(
            pieces(mirror_statistic, arguments, self.n_jobs, progress=reporter_of("splits"))
        )
        self.inclusion_rates_, self.support_ = self._combined(self.fdr)
        self._measure_stability(child(seed, splits, AGREEMENT))
        self.guarantee_ = self._guarantee(data.loss)

    def _combined(self, level: float) -> tuple[Array, BoolArray]:
        """Return the inclusion rates over the splits at a level, and what they select."""
        chosen = self._each(level)
        size = np.maximum(np.count_nonzero(chosen, axis=1), 1)
        rates = (chosen / size[:, None]).mean(axis=0)
        if len(chosen) == 1:
            return rates, chosen[0]
        return rates, rates > inclusion_rate_cutoff(rates, level)

    def _each(self, level: float) -> BoolArray:
        """Return what every split selects at a level, (splits, p)."""
        return np.array([m > mirror_threshold(m, level, self.offset) for m in self.statistics_])

    def _measure_stability(self, seed: np.random.SeedSequence) -> None:
        """Measure how splits agree, and which decisions other splits may change."""
        chosen = self._each(self.fdr)
        rates = chosen / np.maximum(np.count_nonzero(chosen, axis=1), 1)[:, None]

        def decide(weight: IntArray) -> BoolArray:
            mean = weight @ rates / len(rates)
            return np.asarray(mean > inclusion_rate_cutoff(mean, self.fdr))

        distances = joint_distances(decide, len(rates), seed)
        self.stability_ = stability_of(chosen, distances, self._unit_names(), "splits")

    def _guarantee(self, loss: Loss) -> Guarantee:
        law = (
            "many variables matter, the predictors depend weakly on each other, and the lasso "
            "finds all that matter"
        )
        source = "Dai, Lin, Xing and Liu 2023, in the limit of many variables"
        if not treats("theorem of data splitting", loss):
            law = (
                "many variables matter, the predictors depend weakly on each other, the lasso "
                "finds all that matter, and there are enough rows that the estimates of irrelevant "
                "variables are symmetric about zero"
            )
            source = (
                "after Dai, Lin, Xing and Liu 2023, whose theorem needs the same kind of fit on "
                "both halves"
            )
        return Guarantee("false discovery rate", float(self.fdr), False, law, source)

    def summary(self) -> Summary:
        """Return the variables by their inclusion rates."""
        check_is_fitted(self)
        return self._ranked(
            f"Data splitting at FDR {self.fdr:g}",
            TableColumn(
                "inclusion rate", self.inclusion_rates_.tolist(),
                f"mean over {len(self.statistics_)} random splits of the rows of 1 / (number "
                "selected), counted where the variable is selected; all rates together are at "
                "most 1",
            ),
            self.inclusion_rates_,
            self.statistics_.mean(axis=0),
            ties="the mean mirror statistic over the splits",
        )  # fmt: skip

    def _why(self) -> str:
        some = int(np.count_nonzero(self.inclusion_rates_))
        text = f"{some} variables are selected by at least one split."
        if self.offset == 1:
            text += (
                f" At FDR {self.fdr:g} a split selects at least {ceiling(1.0 / self.fdr)} "
                "variables or none."
            )
        found = first_that_selects(
            [x for x in FDR_LEVELS if x > self.fdr],
            lambda x: int(np.count_nonzero(self._combined(x)[1])),
        )
        if found is None:
            return f"{text} With the same splits no level up to {FDR_LEVELS[-1]:g} selects any."
        return f"{text} With the same splits, {found.sentence('FDR')}"

    def plot(self) -> Figure:
        """Draw the inclusion rates of the first variables (needs matplotlib)."""
        return plot_bars(self.summary().variables, "inclusion rate")
