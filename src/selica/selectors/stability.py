"""Stability selection: what comes back when the rows are drawn again."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array, BoolArray
from selica._core.validation import choice, count, real
from selica.control import stability_bound, stability_parameters
from selica.plots import plot_bars, plot_frequencies, plot_stability_path
from selica.sampling import resample_weights
from selica.sampling.random import child, generator, seed_sequence
from selica.selectors.base import Selector
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.selectors.members import member_selections
from selica.selectors.penalty import choose_penalties
from selica.selectors.summary import Summary, frequency_table
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCHEMES = ("bootstrap", "poisson", "subsample", "pairs", "exponential")
ASSUMPTIONS = ("none", "unimodal", "r-concave")
# Spawn keys of the parts of a fit.
PENALTY, ROWS, WEAKNESS = range(3)


class UnstableWarning(UserWarning):
    """Another seed might decide differently; more resamples would settle it."""


class StabilitySelection(Selector):
    """Selects variables that the lasso keeps selecting when the rows are resampled.

    Parameters
    ----------
    lam : {"auto", "cv", "theory"}, float or array
        Penalty of each resample, in the unit of glmnet's lambda and scikit-learn's alpha, for
        standardised columns and (linear response) a response of unit variance. "auto" and "cv":
        by cross-validation; "theory", for a linear response: smallest expected prediction error
        of one resample. With an array a variable counts with its largest probability over these
        penalties. Not used where `q` decides.
    resampling : {"bootstrap", "poisson", "subsample", "pairs", "exponential"}
        As in `sampling.resample_weights`; "pairs" are complementary halves.
    resample_rate : float, optional
        Rows drawn for each row there is: 1 by default, 1/2 for "subsample" and "pairs".
    n_resamples : int
        Number of resamples (an even one for "pairs").
    threshold : float, optional
        A variable is selected when its probability is at least this; 0.6 by default, unless
        `pfer` and `q` determine it.
    q : int, optional
        A resample selects the first q variables of its path instead of those at `lam`; columns are
        then standardised in each resample.
    pfer : float, optional
        Bound on the expected number of false selections; determines `q` from the threshold, or
        the threshold from `q`. Needs "pairs", or for assumption "none" also "subsample" with
        rate 1/2: there is no such theorem for other resampling.
    assumption : {"none", "unimodal", "r-concave"}
        Of the bound, on the law of the frequencies of irrelevant variables: Meinshausen and
        Bühlmann (2010), or Shah and Samworth (2013).
    weakness : float
        Below 1, each penalty is divided by it with probability 1/2 in each resample (the
        randomised lasso).
    estimator : scikit-learn estimator, optional
        Base learner with `coef_` or `feature_importances_` instead of the lasso. It selects what
        it gives any importance, or its first q variables.
    response : {"auto", "linear", "binary"}
        "auto": binary where y has two values.
    n_jobs : int, optional
        Workers, through joblib; None: threads of this process.
    random_state : int, SeedSequence, Generator or None

    Attributes
    ----------
    selection_probabilities_ : array of shape (p,)
        Share of the resamples that select each variable.
    threshold_, q_ : float, int or None
        As used.
    lams_ : array, or None with `q`
        Penalties as used, and probability_path_, (L, p), the probabilities along them.
    signs_ : array of shape (p,)
        Sign of the mean coefficient; 0 where there is none.
    support_ : boolean array of shape (p,)
    guarantee_ : Guarantee

    Examples
    --------
    >>> from selica import StabilitySelection
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> selector = StabilitySelection(n_resamples=50, threshold=0.9, random_state=0)
    >>> bool((selector.fit(data.X, data.y).get_support() >= data.support).all())
    True
    """

    def __init__(
        self,
        lam: Any = "auto",
        *,
        resampling: str = "bootstrap",
        resample_rate: float | None = None,
        n_resamples: int = 256,
        threshold: float | None = None,
        q: int | None = None,
        pfer: float | None = None,
        assumption: str = "none",
        weakness: float = 1.0,
        estimator: Any = None,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.lam = lam
        self.resampling = resampling
        self.resample_rate = resample_rate
        self.n_resamples = n_resamples
        self.threshold = threshold
        self.q = q
        self.pfer = pfer
        self.assumption = assumption
        self.weakness = weakness
        self.estimator = estimator
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        B = count("n_resamples", self.n_resamples, at_least=2)
        rate = self._rate()
        threshold, q = self._rule(data.X.shape[1], B)
        seed = seed_sequence(self.random_state)
        weights = resample_weights(
            data.y.size, B, choice("resampling", self.resampling, SCHEMES), rate,
            strata=data.y if data.loss == "logistic" and not self._halves() else None,
            random_state=child(seed, ROWS),
        )  # fmt: skip
        penalties = None
        if q is None and self.estimator is None:
            rng = generator(child(seed, PENALTY))
            penalties = choose_penalties(self.lam, data, rng, method="stability", mu_B=rate)
        factors = _weakened(self.weakness, B, data.X.shape[1], child(seed, WEAKNESS))
        found = member_selections(
            data, weights, penalties=penalties, q=q, penalty_weights=factors,
            estimator=self.estimator, n_jobs=self.n_jobs,
        )  # fmt: skip
        self.lams_, self.q_, self.threshold_ = penalties, q, threshold
        self.probability_path_ = found.counts / B
        most = found.counts.max(axis=0)
        self.selection_probabilities_ = most / B
        self.signs_ = found.signs
        self.support_ = most >= np.ceil(threshold * B - 1e-9)
        self.mean_selected_ = found.mean_selected
        self.guarantee_ = self._guarantee(data.X.shape[1], B)
        self._warn(B)

    def _halves(self) -> bool:
        """Whether rows are drawn without replacement: purely at random, as the bounds ask for."""
        return self.resampling in ("subsample", "pairs")

    def _rate(self) -> float:
        if self.resample_rate is None:
            return 0.5 if self._halves() else 1.0
        return float(real("resample_rate", self.resample_rate, at_least=1e-3, at_most=1e3))

    def _rule(self, p: int, B: int) -> tuple[float, int | None]:
        """Threshold and q, checked, or determined by the bound that was asked for."""
        choice("assumption", self.assumption, ASSUMPTIONS)
        threshold = self.threshold
        if threshold is not None:
            threshold = float(real("threshold", threshold, at_least=0.0, at_most=1.0))
        q = None if self.q is None else count("q", self.q)
        if q is not None and q > p:
            raise ArgumentError(f"q must be at most the number of variables, {p}; got {q}.")
        if self.pfer is None:
            return (0.6 if threshold is None else threshold), q
        if threshold is not None and q is not None:
            raise ArgumentError("pfer determines q or threshold; give at most one of them.")
        self._check_scheme("pfer")
        if q is None and threshold is None:
            threshold = 0.6 if self.assumption != "none" else 0.75
        found = stability_parameters(
            p, q=q, cutoff=threshold, pfer=float(real("pfer", self.pfer, at_least=1e-12)),
            n_pairs=max(B // 2, 1), assumption=self.assumption,
        )  # fmt: skip
        if not found.feasible:
            raise ArgumentError(
                f"pfer must be at least {found.bound:.3g} for {p} variables and {B} resamples with "
                f"q={found.q} and threshold={found.cutoff:g}; got {self.pfer:g}."
            )
        return float(found.cutoff), int(found.q)

    def _check_scheme(self, name: str) -> None:
        pairs = self.resampling == "pairs"
        half = self.resampling == "subsample" and self._rate() == 0.5
        if pairs or (half and self.assumption == "none"):
            return
        needed = "'pairs'" if self.assumption != "none" else "'pairs' or 'subsample' at rate 1/2"
        raise ArgumentError(
            f"{name} with assumption={self.assumption!r} is proven for resampling={needed} only; "
            f"got {self.resampling!r} at rate {self._rate():g}."
        )

    def _guarantee(self, p: int, B: int) -> Guarantee:
        try:
            self._check_scheme("a bound")
        except ArgumentError:
            return no_guarantee(
                "no theorem bounds the false selections of a threshold on "
                f"{self.resampling} frequencies at rate {self._rate():g}"
            )
        q = float(self.q_) if self.q_ is not None else self.mean_selected_
        if self.estimator is not None and self.q_ is None:
            return no_guarantee("how many variables the base learner selects is not under control")
        try:
            level = stability_bound(p, q, self.threshold_, max(B // 2, 1), self.assumption)
        except ArgumentError as error:
            return no_guarantee(str(error).rstrip("."))
        law = {
            "none": "Meinshausen and Bühlmann 2010",
            "unimodal": "Shah and Samworth 2013, unimodal frequencies",
            "r-concave": "Shah and Samworth 2013, r-concave frequencies",
        }[self.assumption]
        return Guarantee(
            controls="expected number of false selections",
            level=float(level),
            proven=self.q_ is not None,
            assumptions=(
                "false are those that a random half selects with probability at most q/p, as "
                "exchangeable irrelevant variables are"
            ),
            source=law,
        )

    def _warn(self, B: int) -> None:
        """Says so when decisions hang on the seed."""
        close = self._close(B)
        if np.count_nonzero(close) > 0 and not np.all(
            np.isin(self.selection_probabilities_, (0, 1))
        ):
            n = int(np.count_nonzero(close))
            warnings.warn(
                f"n_resamples: {n} {'decision is' if n == 1 else 'decisions are'} within two "
                f"standard errors of the threshold with {B} resamples; more would settle them.",
                UnstableWarning,
                stacklevel=4,
            )

    def _close(self, B: int) -> BoolArray:
        """Variables another seed might decide differently."""
        P = self.selection_probabilities_
        error = np.sqrt(P * (1.0 - P) / B)
        return np.asarray((error > 0.0) & (np.abs(P - self.threshold_) < 2.0 * error))

    def summary(self) -> Summary:
        """The variables with their probabilities, the decision, and near misses."""
        self._get_support_mask()
        B = self.n_resamples
        return Summary(
            title=f"Stability selection: {int(self.support_.sum())} of {self.support_.size} "
            f"variables reach the threshold {self.threshold_:.4g}",
            variables=frequency_table(
                self._names(), self.selection_probabilities_, self.signs_, self.support_,
                self._close(B), B,
            ),
            guarantee=str(self.guarantee_),
            notes=self._notes(),
            shown=int(self.support_.sum()) + 5,
        )  # fmt: skip

    def _why(self) -> str:
        top = float(self.selection_probabilities_.max())
        if top == 0.0:
            return "No resample selects any variable: a smaller lam would."
        return (
            f"The largest probability is {top:.3g}; a threshold of at most that would have "
            f"selected {int(np.count_nonzero(self.selection_probabilities_ == top))}. More "
            "samples raise the probabilities of variables that matter."
        )

    def plot(self, kind: str = "probabilities") -> Figure:
        """Draws what was measured (needs matplotlib).

        Parameters
        ----------
        kind : {"probabilities", "path", "histogram"}
            Bars of the first variables; probabilities along the penalties; how many variables
            have which probability.
        """
        self._get_support_mask()
        choice("kind", kind, ("probabilities", "path", "histogram"))
        if kind == "histogram":
            return plot_frequencies(self.selection_probabilities_, self.threshold_)
        if kind == "path":
            if self.lams_ is None or self.lams_.size < 2:
                raise ArgumentError("kind='path' needs several penalties; give lam as an array.")
            return plot_stability_path(
                self.lams_, self.probability_path_, self.support_, self.threshold_
            )
        return plot_bars(self.summary().variables, "probability", threshold=self.threshold_)


def _weakened(weakness: float, B: int, p: int, seed: np.random.SeedSequence) -> Array | None:
    """Penalty weights of the randomised lasso, (B, p)."""
    w = float(real("weakness", weakness, at_least=1e-3, at_most=1.0))
    if w == 1.0:
        return None
    out = np.ones((B, p))
    for b in range(B):
        out[b, generator(child(seed, b)).random(p) < 0.5] = 1.0 / w
    return out
