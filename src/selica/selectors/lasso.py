"""The baseline, and its bootstrap: the lasso, and Bolasso."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from selica._core.random import generator
from selica._core.types import Array
from selica.plots import plot_bars
from selica.selectors.base import Selector
from selica.selectors.guarantee import no_guarantee
from selica.selectors.penalty import choose_penalties
from selica.selectors.stability import StabilitySelection
from selica.selectors.summary import Summary, TableColumn
from selica.statistics import Data
from selica.statistics.fits import fit_members

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LassoSelection(Selector):
    """Selects the variables one lasso fit selects: the baseline, without error control.

    Parameters
    ----------
    lam : {"auto", "cv", "theory"} or float
        Penalty, in the unit of glmnet's lambda and scikit-learn's alpha for standardised columns
        and a response of unit variance; "auto" and "cv" by cross-validation, "theory", for a
        linear response, where the theory expects the smallest prediction error.
    threshold : float
        Coefficients of standardised columns must exceed it in size (the thresholded lasso).
    l1_ratio, groups, response, random_state
        As in `StabilitySelection`. A group is selected with any of its members.

    Attributes
    ----------
    coef_ : array of shape (p,), or (p, K) for K classes
        In the unit of X and y.
    lam_ : float
    support_, guarantee_

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> LassoSelection(lam=0.3).fit(data.X, data.y).get_support().sum() <= 10
    np.True_
    """

    def __init__(
        self,
        lam: Any = "auto",
        *,
        threshold: float = 0.0,
        l1_ratio: float = 1.0,
        groups: Any = None,
        response: str = "auto",
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.threshold = threshold
        self.l1_ratio = l1_ratio
        self.groups = groups
        self.response = response
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        self.lam_ = float(choose_penalties(self.lam, data, generator(self.random_state))[-1])
        fit = fit_members(data, np.array([self.lam_]), np.ones((1, data.n_rows)), n_jobs=1)
        assert fit.coef is not None
        # (columns,), or (columns, classes)
        standard = np.where(data.varies, fit.coef[0, 0].T, 0.0).T
        self.coef_ = (standard.T * data.y_scale / data.x_scale).T
        sizes = data.largest(data.loss.charged(standard))
        self.support_ = sizes > self.threshold
        single = standard.shape == sizes.shape  # else it has a size, and no sign
        self._per_sd = (standard if single else sizes) * data.y_scale
        self.guarantee_ = no_guarantee(
            "no theorem bounds the false selections of a single lasso fit"
        )

    def summary(self) -> Summary:
        """Return the variables by the size of their coefficients for a standard deviation."""
        check_is_fitted(self)
        return self._ranked(
            f"Lasso at lam = {self.lam_:.4g}",
            TableColumn(
                "coefficient", self._per_sd.tolist(),
                "of the lasso, for one standard deviation of the variable; the penalty shrinks it",
            ),
            np.abs(self._per_sd),
            ties="",
        )  # fmt: skip

    def _why(self) -> str:
        return (
            f"The penalty {self.lam_:.3g} is too large for any variable; a smaller lam would "
            "select some."
        )

    def plot(self) -> Figure:
        """Draw the coefficients of the first variables (needs matplotlib)."""
        return plot_bars(self.summary().variables, "coefficient")


class Bolasso(StabilitySelection):
    """Variables that the lasso selects in every bootstrap sample (Bach 2008).

    `threshold` below one gives the soft version, in which a share of the samples is enough.

    Parameters
    ----------
    lam, n_resamples, threshold, l1_ratio, groups, response, n_jobs, random_state
        As in `StabilitySelection`.

    Examples
    --------
    >>> from selica import Bolasso
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> chosen = Bolasso(lam=0.2, n_resamples=50, random_state=0).fit(data.X, data.y).get_support()
    >>> int((chosen & data.support).sum()), int((chosen & ~data.support).sum())
    (3, 0)
    """

    _title = "Bolasso"

    def __init__(
        self,
        lam: Any = "auto",
        *,
        n_resamples: int | str = 128,
        threshold: float = 1.0,
        l1_ratio: float = 1.0,
        groups: Any = None,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            lam,
            resampling="bootstrap",
            n_resamples=n_resamples,
            threshold=threshold,
            l1_ratio=l1_ratio,
            groups=groups,
            response=response,
            n_jobs=n_jobs,
            random_state=random_state,
        )
