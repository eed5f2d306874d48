"""Tests of each column by itself: a complete method in one file, with its row of the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import t as student

from selica import catalogue
from selica.control import benjamini_yekutieli
from selica.planning.predict.expectation import Expected
from selica.planning.predict.prediction import Forecast
from selica.planning.study import Study
from selica.plots import plot_bars
from selica.selectors.base import Selector
from selica.selectors.guarantee import Guarantee
from selica.selectors.summary import Summary, TableColumn

N_DRAWS = 200
"""Data sets that a prediction is the mean of."""


class MarginalTests(Selector):
    """Select columns whose correlation with the response is not zero, at a false discovery rate.

    Parameters
    ----------
    fdr : float
        False discovery rate to keep.
    response : {"linear"}
        A continuous response.
    random_state : int, optional
        Not used: nothing is drawn.

    Attributes
    ----------
    pvalues_ : array of shape (p,)
    support_, guarantee_, notes_

    Examples
    --------
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 40, 5, snr=10.0, random_state=0)
    >>> int(MarginalTests(fdr=0.1).fit(data.X, data.y).get_support().sum()) > 2
    True
    """

    def __init__(
        self, fdr: float = 0.1, *, response: str = "linear", random_state: Any = None
    ) -> None:
        self.fdr = fdr
        self.response = response
        self.random_state = random_state

    def _select(self, data: Any, table: Any) -> None:
        """Set what a selection consists of; columns and response have variance one."""
        self.pvalues_ = correlation_pvalues(
            (data.weight * data.y) @ data.X / len(data.y), len(table)
        )
        self.pvalues_[~data.varies] = 1.0
        self.support_ = benjamini_yekutieli(self.pvalues_, self.fdr)
        self.guarantee_ = Guarantee(
            controls="false discovery rate",
            level=float(self.fdr),
            proven=True,
            assumptions="the response is normal, and a variable is false if it is uncorrelated "
            "with the response",
            source="Benjamini and Yekutieli 2001",
        )

    def summary(self) -> Summary:
        """Return the variables by their p-values."""
        title = f"Marginal tests at FDR {self.fdr:g}"
        meaning = "how often a variable without any association would have one as strong"
        measured = TableColumn("p-value", self.pvalues_.tolist(), meaning)
        return self._ranked(title, measured, -self.pvalues_)

    def _why(self) -> str:
        """Say what a selection would have needed, where there is none."""
        return f"The smallest p-value is {self.pvalues_.min():.2g}."

    def plot(self) -> Any:
        """Draw the p-values of the first variables."""
        return plot_bars(self.summary().variables, "p-value")


def correlation_pvalues(r: Any, n: int) -> Any:
    """Return two-sided p-values of correlations in n rows."""
    limited = np.clip(r, -1.0 + 1e-15, 1.0 - 1e-15)
    return 2.0 * student.sf(np.abs(limited) * np.sqrt((n - 2) / (1.0 - limited**2)), n - 2)


def predict(studies: tuple[Study, ...], fdr: float, best: bool) -> Iterator[Forecast]:
    """Predict what the method finds in each study; there is nothing to tune, so `best` is idle."""
    for study in studies:
        n, p, k = study.n_samples, study.n_features, study.n_signals
        rng = np.random.default_rng(0)
        found = []
        for _ in range(N_DRAWS):
            effect = study.effects.sample(k, rng) * study.effect_size
            variance = 1.0 + float(effect @ effect)
            r = rng.standard_normal(p) / np.sqrt(n)
            r[:k] += effect / np.sqrt(variance)
            mask = benjamini_yekutieli(correlation_pvalues(r, n), fdr)
            found.append((mask[:k].mean(), mask[k:].sum() / max(mask.sum(), 1), mask[k:].sum()))
        power, share, false = np.mean(found, axis=0).tolist()
        error = float(np.std([one[0] for one in found]) / np.sqrt(N_DRAWS))
        yield Forecast(Expected(power, share, k * power, false, error), {"fdr": fdr})


ROW = catalogue.Method(
    "marginal",
    "tests of each column by itself",
    selector=f"{__name__}:MarginalTests",
    levels=("fdr",),
    controls="FDR",
    promise="On average at most the chosen share of the selected variables is false.",
    rests_on="It is proven if the rows are independent and the response is normal; a variable is "
    "false if it is uncorrelated with the response.",
    predictor=f"{__name__}:predict",
    calibrated=True,
    options={"fdr": "fdr"},
    colour="#999999",
    dash="solid",
    marker="h",
)
