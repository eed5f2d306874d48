"""Knockoffs: what the selectors share, and the selector with one copy."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from selica._core.errors import ArgumentError, ColumnError
from selica._core.losses import require
from selica._core.memory import check_memory
from selica._core.parallel import blas_threads_for, pieces
from selica._core.random import child, generator, seed_sequence
from selica._core.rounding import ceiling
from selica._core.types import Array
from selica._core.validation import choice, number, short
from selica.control import knockoff_threshold
from selica.plots import plot_statistics
from selica.sampling import (
    Copies,
    Exchangeability,
    FixedKnockoffs,
    GaussianKnockoffs,
    callable_copies,
    exchangeability,
    iid_copies,
)
from selica.sampling.exchangeability import FEWEST_ROWS
from selica.selectors.base import AssumptionWarning, Selector
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.selectors.summary import Summary
from selica.statistics import Data, knockoff_statistic
from selica.statistics.knockoff import STATISTICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAMPLERS = ("gaussian", "fixed", "iid")
# Spawn keys of the parts of a fit.
COPIES, FOLDS, NEGATIVES, EXCHANGES = range(4)
# A column with so few different values is not Gaussian.
_FEW = 10
# Memory for the covariance and what is computed from it, for each pair of columns: ten matrices.
_BYTES = 84.0
# Copies that vary so many times as much as the columns, or as little, where these vary least: from
# here on a level may be exceeded, and from here on it is. Practice, by the designs of
# docs/guarantees.md.
DOUBTFUL = 1.25
WITHDRAWN = 1.5


class Drawn(NamedTuple):
    """Copies, and what their law says of the columns."""

    copies: Copies
    columns: Array | None
    """What they are exchangeable with, row by row; None where they are not meant to be."""
    centre: Any = None
    """Mean of the columns by the law of the copies, where it has one."""
    known: bool = True
    """Whether the law was given and not estimated."""


class KnockoffSelector(Selector):
    """Copies of the columns, and the statistics that compare variables with them."""

    sampler: Any
    statistic: str
    lam: Any
    estimator: Any
    n_jobs: int | None
    random_state: Any
    exchangeability_: Exchangeability | None

    def _statistics(
        self,
        data: Data,
        table: Array,
        n_copies: int,
        first: int = 0,
        penalty: float | None = None,
    ) -> Array:
        """W of every variable for every copy from `first` on, (copies, p).

        The penalty is that of the selector, or one that was chosen for all copies.
        """
        statistic = choice("statistic", self.statistic, STATISTICS)
        if data.l1_ratio < 1.0 and statistic == "correlation":
            raise ArgumentError(
                "l1_ratio is for a penalised fit; statistic='correlation' has none."
            )
        if self.sampler != "iid" and not callable(self.sampler):
            p = table.shape[1]
            check_memory(
                f"knockoffs of {p:,} columns", _BYTES * p**2,
                "use stability selection, or leave columns out",
            )  # fmt: skip
        penalty = self._penalty() if penalty is None else penalty
        seed = seed_sequence(self.random_state)
        varies = np.ones(table.shape[1], dtype=bool)
        if isinstance(self.sampler, str):  # a constant column has no copy, and needs none
            varies = data.varies
        part = data._replace(
            X=data.X[:, varies], varies=data.varies[varies], x_scale=data.x_scale[varies]
        )
        if not varies.any():
            raise ArgumentError("X: all columns are constant.")
        try:
            with blas_threads_for(table.shape):
                drawn = self._copies(part, table[:, varies], child(seed, COPIES), n_copies)
                self.known_law_ = drawn.known
                if first == 0:
                    self.exchangeability_ = _exchangeable(
                        drawn, data.weight, child(seed, EXCHANGES)
                    )
        except ColumnError as error:
            place = np.flatnonzero(varies)[error.column]
            raise error.named(self._names()[place]) from None
        arguments = (
            (part, drawn.copies, b, child(seed, FOLDS, b), statistic, penalty, self.estimator)
            for b in range(first, n_copies)
        )
        W = np.zeros((n_copies - first, table.shape[1]))
        W[:, varies] = pieces(_one, arguments, self.n_jobs)
        self._check(table)
        return W

    def _penalty(self) -> float | None:
        if isinstance(self.lam, str):
            choice("lam", self.lam, ("auto", "cv"))
            return None
        return number("lam", self.lam, at_least=1e-12)

    def _copies(
        self, data: Data, table: Array, seed: np.random.SeedSequence, n_copies: int
    ) -> Drawn:
        sampler = self.sampler
        if isinstance(sampler, str):
            choice("sampler", sampler, SAMPLERS)
            if sampler == "iid":
                drawn = iid_copies(data.X, random_state=seed, members=n_copies)
                return Drawn(drawn, data.X, centre=0.0)
            sampler = FixedKnockoffs(intercept=True) if sampler == "fixed" else GaussianKnockoffs()
        if isinstance(sampler, FixedKnockoffs):
            require("fixed-X knockoffs", data.loss)
            if not sampler.intercept:
                raise ArgumentError(
                    "sampler must be FixedKnockoffs(intercept=True): columns are centred here."
                )
            return Drawn(sampler.copies(table, seed, n_copies), None)
        if isinstance(sampler, GaussianKnockoffs):
            even = bool(np.all(data.weight == data.weight[0]))
            fitted = sampler.fit(table, None if even else data.weight)
            drawn = fitted.copies(table, seed, n_copies)
            return Drawn(drawn, table, fitted.mean, not fitted.estimated)
        if hasattr(sampler, "copies"):
            return Drawn(sampler.copies(table, seed, n_copies), table)
        if callable(sampler):
            return Drawn(callable_copies(sampler, table, seed, n_copies), table)
        raise ArgumentError(
            f"sampler must be one of {SAMPLERS}, an object with `copies`, or a function of (X, "
            f"rng); got {short(sampler)}."
        )

    def _check(self, table: Array) -> None:
        """Says what about the data weakens the promise."""
        n, p = table.shape
        if self.known_law_:
            return
        few = [j for j in range(p) if 1 < np.unique(table[:, j]).size <= _FEW]
        if few:
            self._warn_of(f"columns with few values are not Gaussian: {self._listed(few)}")
        if n < p:
            self._warn_of(f"the covariance of {p} columns is estimated from {n} rows")

    def _check_level(self, fdr: float, p: int) -> None:
        """Says so when the level cannot be reached with so few variables."""
        least = ceiling(1.0 / fdr)
        if least > p:
            warnings.warn(
                f"fdr: a selection at level {fdr:g} has at least {least} variables, and there are "
                f"{p}: nothing can be selected.",
                AssumptionWarning,
                stacklevel=4,
            )

    def _fixed(self) -> bool:
        return self.sampler == "fixed" or isinstance(self.sampler, FixedKnockoffs)

    def _promise(
        self,
        controls: str,
        level: float,
        source: str,
        *,
        also: str = "",
        proven: bool = True,
        settings: str = "",
    ) -> Guarantee:
        """What a rule promises with these copies.

        It warns where the copies are not exchangeable with the columns, and withdraws the promise
        where they are far from it.

        Parameters
        ----------
        controls, level, source, settings
            As in `Guarantee`.
        also : str
            What the rule needs beside proper copies, as a clause.
        proven : bool
            Whether a theorem covers the rule.
        """
        found = self.exchangeability_
        if found is not None and found.departure > WITHDRAWN:
            self._warn_of(f"{found.measured}{self._reproach()}; no level is promised")
            return no_guarantee(
                f"the knockoff copies are not exchangeable with the columns, as {found.measured}"
            )
        doubtful = found is not None and found.differs
        if found is not None and doubtful and (self.known_law_ or found.departure > DOUBTFUL):
            self._warn_of(f"{found.measured}{self._reproach()}; the level may be exceeded")
        law = self._law() if not also else f"{self._law()}, and {also}"
        return Guarantee(
            controls,
            level,
            proven and self._proven() and not doubtful,
            law,
            source,
            settings,
        )

    def _reproach(self) -> str:
        """What is wrong where the law of the columns was not estimated, as a clause."""
        if not self.known_law_:
            return ""
        if isinstance(self.sampler, GaussianKnockoffs):
            return ", so the mean or the covariance given is not that of the table"
        if self.sampler == "iid":
            return ", so the columns are not independent, as sampler='iid' takes them to be"
        return ", so the sampler does not draw knockoffs of this table"

    def _proven(self) -> bool:
        """Whether a theorem covers copies and statistic together.

        Fixed-X knockoffs allow statistics of inner products with the columns only; folds, and most
        estimators, look at single rows.
        """
        folds = self.statistic == "coefficient" and isinstance(self.lam, str)
        return self.known_law_ and not (self._fixed() and (folds or self.estimator is not None))

    def _law(self) -> str:
        """What the copies rest on, as a clause."""
        if self._fixed():
            law = "the response is a linear function of the predictors with normal noise"
            rows = "it does no harm that the statistic looks at single rows"
            return law if self._proven() else f"{law}, and {rows}"
        if self.sampler == "iid":
            return "the predictors are independent of each other and normal"
        if not self.known_law_:
            found = self.exchangeability_
            unchecked = found is not None and found.ratio is None
            rows = f" (not checked: this needs {FEWEST_ROWS} rows)" if unchecked else ""
            return (
                "the joint distribution of the predictors, which is estimated here, is close to "
                f"the true one{rows}"
            )
        if isinstance(self.sampler, GaussianKnockoffs):
            return "the joint distribution of the predictors is the one that was given"
        return "the sampler draws knockoff copies of the true joint distribution of the predictors"


def _exchangeable(
    drawn: Drawn, weight: Array, seed: np.random.SeedSequence
) -> Exchangeability | None:
    """Whether the first copy is exchangeable with the columns, where it is meant to be."""
    if drawn.columns is None:
        return None
    return exchangeability(
        drawn.columns, drawn.copies[0], centre=drawn.centre, sample_weight=weight,
        random_state=seed,
    )  # fmt: skip


def _one(
    data: Data,
    copies: Copies,
    b: int,
    seed: np.random.SeedSequence,
    statistic: str,
    penalty: float | None,
    estimator: Any,
) -> Array:
    return knockoff_statistic(
        data, copies[b], generator(seed), statistic=statistic, penalty=penalty, estimator=estimator
    )


class KnockoffSelection(KnockoffSelector):
    """Selects variables that are clearly ahead of their knockoff copies, at an FDR level.

    Parameters
    ----------
    fdr : float
        Target false discovery rate.
    offset : {0, 1}
        1 is knockoff+, which controls the FDR; 0 the plain filter, which controls a modified one.
    sampler : {"gaussian", "fixed", "iid"}, sampler object or callable
        "gaussian": law of the columns estimated (Ledoit and Wolf); a `GaussianKnockoffs` with a
        known or estimated law; "fixed": fixed-X knockoffs; "iid": the article's independent
        copies; or a function of (X, rng) that returns a copy.
    statistic : {"coefficient", "entry", "correlation"}
        As in `statistics.knockoff_statistic`.
    lam : {"auto", "cv"} or float
        Penalty of "coefficient", in glmnet's unit; by default cross-validated on both halves.
    l1_ratio : float
        Below 1, "coefficient" and "entry" are those of an elastic net, as in
        `StabilitySelection`; a copy has the ridge of its variable.
    estimator : scikit-learn estimator, optional
        Base learner whose importances are compared instead.
    response, n_jobs, random_state
        As in `StabilitySelection`.

    Attributes
    ----------
    statistics_ : array of shape (p,)
        W: positive where a variable is ahead of its copy.
    threshold_ : float
        Smallest W that is selected; infinite if none is.
    exchangeability_ : Exchangeability or None
        How far the first copy is from being exchangeable with the columns, as
        `sampling.exchangeability` measures it; None for fixed-X knockoffs, which need not be.
    support_, guarantee_

    Examples
    --------
    >>> from selica import KnockoffSelection
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 40, 15, snr=20.0, random_state=0)
    >>> selector = KnockoffSelection(fdr=0.2, sampler="iid", random_state=0)
    >>> selector.fit(data.X, data.y).get_support().sum() > 5
    np.True_
    """

    def __init__(
        self,
        fdr: float = 0.1,
        *,
        offset: int = 1,
        sampler: Any = "gaussian",
        statistic: str = "coefficient",
        lam: Any = "auto",
        l1_ratio: float = 1.0,
        estimator: Any = None,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fdr = fdr
        self.offset = offset
        self.sampler = sampler
        self.statistic = statistic
        self.lam = lam
        self.l1_ratio = l1_ratio
        self.estimator = estimator
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        self.statistics_ = self._statistics(data, table, 1)[0]
        self.threshold_ = float(knockoff_threshold(self.statistics_, self.fdr, self.offset))
        if self.offset == 1:
            self._check_level(self.fdr, self.statistics_.size)
        self.support_ = self.statistics_ >= self.threshold_
        what = "false discovery rate" if self.offset == 1 else "modified false discovery rate"
        self.guarantee_ = self._promise(what, float(self.fdr), "Barber and Candès 2015; 2018")

    def summary(self) -> Summary:
        """The variables by their statistics."""
        check_is_fitted(self)
        return self._ranked(
            f"Knockoffs at FDR {self.fdr:g}", "W", self.statistics_, self.statistics_
        )

    def _why(self) -> str:
        least = ceiling(self.offset / self.fdr) if self.offset else 1
        W = self.statistics_
        positive = int(np.count_nonzero(W > 0.0))
        text = (
            f"At FDR {self.fdr:g} knockoffs select at least {least} variables or none, and "
            f"{positive} are ahead of their copies."
        )
        levels = [
            (self.offset + np.count_nonzero(-t >= W)) / np.count_nonzero(t <= W)
            for t in np.unique(W[W > 0.0])
        ]
        lowest = float(min(levels, default=np.inf))
        lowest = float(np.ceil(1e3 * lowest - 1e-9) / 1e3)  # as it is said
        if lowest >= 1.0:
            return f"{text} No level below 1 selects any variable here."
        many = int(np.count_nonzero(knockoff_threshold(W, lowest, self.offset) <= W))
        return f"{text} The smallest level that selects any is {lowest:g}, which selects {many}."

    def plot(self) -> Figure:
        """The statistics with the threshold (needs matplotlib)."""
        self._get_support_mask()
        return plot_statistics(self.statistics_, self.threshold_)
