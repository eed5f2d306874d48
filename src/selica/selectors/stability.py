"""Stability selection: what comes back when the rows are drawn again."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError, DoesNotApply, RefusedError, UnstableWarning
from selica._core.losses import require
from selica._core.progress import stopped_after
from selica._core.random import child, generator, seed_sequence
from selica._core.rounding import ceiling
from selica._core.types import Array, IntArray
from selica._core.validation import number
from selica._core.warning import warn
from selica.control import share_distances
from selica.control.thresholds import LOWEST_PROBABILITY
from selica.selectors.agreement import stability_of
from selica.selectors.calibration import (
    LEFT_OUT,
    FieldCalibration,
    ResponseError,
    calibrated,
    calibration_route,
    penalty_for_fields,
)
from selica.selectors.drawing import (
    ANY_NUMBER,
    FIRST_RESAMPLES,
    is_auto,
    most_drawn,
    number_drawn,
)
from selica.selectors.engine import (
    REFITTED,
    EngineOutcome,
    decide,
    penalty_for_power,
    stability_attempts,
    stability_fields,
    warn_of_fields,
)
from selica.selectors.grouping import equal_sizes
from selica.selectors.guarantee import Guarantee, kept_by_number, no_guarantee
from selica.selectors.members import MemberRule, Refits, Scheme, Selections
from selica.selectors.penalty import choose_penalties
from selica.selectors.stability_description import StabilityDescription
from selica.selectors.stability_path import ROWS, WEAKNESS
from selica.selectors.stored import certificate_of
from selica.statistics import Data

UNEQUAL = "groups with many members are picked no more often than those with few"
"""What a bound on false groups rests on where their sizes differ."""
BY_RESPONSE = "it does not matter that the response decided between p-values and a bound"
"""What a bound rests on where what the response says of the columns spoke against p-values."""
PENALTY = 0
"""Spawn key of the folds that choose a penalty."""
FIELDS = 3
"""Spawn key of what left-out fields draw: resamples for a penalty, and parts of the rows."""


class StabilitySelection(StabilityDescription):
    """Selects variables that the lasso keeps selecting when the rows are resampled.

    Parameters
    ----------
    lam : {"auto", "cv", "theory", "power"}, float or array
        Penalty of each resample, in the unit of glmnet's lambda and scikit-learn's alpha, for
        standardised columns and (linear response) a response of unit variance. "cv": by
        cross-validation; "theory", for a linear response: smallest expected prediction error
        of one resample; "power": smallest error of the average over the resamples, as message
        passing or the refits estimate it, which gives the most power. "auto" is "power" where
        `fdr` is given and the response is linear, else "cv". With an array a variable counts with
        its largest probability over these penalties. Not used where `q` or `pfer` decides.
    resampling : {"bootstrap", "poisson", "subsample", "pairs", "exponential"}, optional
        As in `sampling.resample_weights`; "pairs" are complementary halves. By default "pairs"
        where `q` or `pfer` decides, else "bootstrap".
    resample_rate : float, optional
        Rows drawn for each row there is: 1 by default, 1/2 for "subsample" and "pairs".
    n_resamples : int or "auto"
        Number of resamples (an even one for "pairs"). "auto" draws blocks of 200 until no decision
        is a close call, at most 2,000. A bound on false selections under the assumption "none"
        holds for every such rule; under the others it is then expected and not proven.
    threshold : float, optional
        A variable is selected when its probability is at least this; by default 0.9 where `q` or
        `pfer` decides, else 0.6. A bound on false selections needs more than 1/2.
    q : int, optional
        A resample selects the first q variables of its path instead of those at `lam`; columns are
        then standardised in each resample.
    pfer : float, optional
        Bound on the expected number of false selections; determines `q` from the threshold, or
        the threshold from `q`. It is 1 by default, unless `fdr`, `q`, `lam`, `engine`,
        `resample_rate` or another `resampling` than "pairs" is given. Needs "pairs", or for
        assumption "none" also "subsample" with rate 1/2: there is no such theorem for other
        resampling.
    assumption : {"none", "unimodal", "r-concave"}, optional
        Of the bound, on the distribution of the frequencies of irrelevant variables: Meinshausen
        and Bühlmann (2010), or Shah and Samworth (2013). By default "none" where it allows as
        many variables as half of the rows can carry, or other resampling than "pairs" is given;
        else "r-concave".
    weakness : float
        Below 1, each penalty is divided by it with probability 1/2 in each resample (the
        randomised lasso).
    l1_ratio : float
        Below 1, members are elastic nets with the ridge lam * (1 - l1_ratio) / l1_ratio beside the
        penalty: scikit-learn's ElasticNet with alpha = lam / l1_ratio.
    fdr : float, optional
        Target false discovery rate, kept by p-values of the fields of the ensemble. Where columns
        are close to independent and no more than the rows, message passing knows how large the
        fields of irrelevant variables get; elsewhere it is known from what is left of a column
        once the others have predicted it, by an estimated distribution that is checked. Where
        that fails, and neither `engine` nor `lam` is given, a bound on the number of false
        selections keeps it (`pfer` = `fdr`), which finds less. `notes_` says which it was;
        a bound that the response brought about is expected and not proven.
    estimator : scikit-learn estimator, optional
        Base learner with `coef_` or `feature_importances_` instead of the lasso. It selects its
        `q` most important variables; where neither `q` nor `pfer` decides, those with non-zero
        coefficients, or with more than the average importance where no coefficient is zero.
    engine : {"monte-carlo", "semi-analytic", "auto"}, optional
        "monte-carlo" refits each resample. "semi-analytic" computes the probabilities at one
        penalty by message passing, without a refit, and unchecked. "auto" checks message passing
        against some refits and reports its estimated error; where that is above 0.03, or message
        passing does not converge or apply, all resamples are refitted. By default "auto" with
        `fdr`, else "monte-carlo".
    groups : sequence, mapping, "correlation" or ("correlation", cut), optional
        Variables that are selected or not as a whole: one label for each variable, in order or by
        its name (a mapping, or a Series of pandas with names for its index), or as text
        "FILE:COLUMN", a column of a table of the variables; an empty label makes a group of the
        variable alone. "correlation", or "correlation:0.7": clusters of columns whose
        correlation is above `cut` in size, 0.5 by default, by average linkage. A resample selects
        a group if it selects any member of it (cluster stability selection, Faletto and Bien
        2022), and `q` counts groups.
    response : {"auto", "linear", "binary"} or another registered response
        "auto": binary where y has two values.
    n_jobs : int, optional
        Workers, through joblib; None: threads of this process.
    random_state : int, SeedSequence, Generator or None

    Attributes
    ----------
    selection_probabilities_ : array of shape (p,)
        Share of the resamples that select each variable.
    threshold_, q_, pfer_, fdr_, resampling_, assumption_, engine_, n_resamples_
        As used; `q_`, `pfer_` and `fdr_` are None where they do not decide.
    lams_ : array, or None with `q`
        Penalties as used, and `probability_path_`, (L, p), the probabilities along them.
    signs_ : array of shape (p,)
        Sign of the mean coefficient; 0 where there is none.
    fields_ : StabilityAmp, StabilityVamp or None
        The result of message passing, where it gave the probabilities.
    calibration_ : FieldCalibration or None
        The p-values that keep a false discovery rate and what they rest on, where they are not
        those of message passing (`fields_.p_values`).
    probability_error_ : float or None
        Bound on its root mean square error, from the refits of "auto".
    member_probabilities_ : array of shape (p,), or None without groups of several members
        Share of the resamples that select each variable; the entries of
        `selection_probabilities_` are then those of groups.
    support_ : boolean array of shape (p,)
    groups_, group_names_, group_support_
        Number of the group of each variable; names of the groups, and which are selected; None
        without `groups`.
    guarantee_ : Guarantee

    Examples
    --------
    >>> from selica import StabilitySelection
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> selector = StabilitySelection(pfer=0.5, random_state=0).fit(data.X, data.y)
    >>> bool((selector.get_support() == data.support).all()), selector.q_
    (True, 10)
    """

    def __init__(
        self,
        lam: Any = "auto",
        *,
        resampling: str | None = None,
        resample_rate: float | None = None,
        n_resamples: int | str = 256,
        threshold: float | None = None,
        q: int | None = None,
        pfer: float | None = None,
        assumption: str | None = None,
        weakness: float = 1.0,
        l1_ratio: float = 1.0,
        fdr: float | None = None,
        estimator: Any = None,
        engine: str | None = None,
        groups: Any = None,
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
        self.l1_ratio = l1_ratio
        self.fdr = fdr
        self.estimator = estimator
        self.engine = engine
        self.groups = groups
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        B = number_drawn("n_resamples", self.n_resamples, FIRST_RESAMPLES, at_least=2)
        self.n_resamples_ = B
        self._settle(data)
        try:
            self._answer(data, B)
        except (RefusedError, DoesNotApply) as refused:
            if not self._may_be_bounded(data):
                raise
            self._settle(data, bounded=True)
            self._answer(data, B)
            fits = f" {self.note_}" if data.stored else ""
            self.note_ = (
                "A bound keeps the false discovery rate here, and not p-values. Reason: "
                f"{str(refused).removeprefix('fdr: ').split('. ')[0].rstrip('.')}.{fits}"
            )
            self.guarantee_ = kept_by_number(self.guarantee_, float(self.fdr or 0.0))
            if isinstance(refused, ResponseError):
                self.guarantee_ = self.guarantee_.supposing(BY_RESPONSE)
        self._say_doubts(data)

    def _answer(self, data: Data, B: int) -> None:
        """Select by what was settled, and say what is promised."""
        self.threshold_, self.q_ = self._rule(data, B)
        scheme = Scheme(
            self.resampling_, self._rate(),
            number("weakness", self.weakness, at_least=1e-3, at_most=1.0),
        )  # fmt: skip
        self._seed = seed = seed_sequence(self.random_state)
        analytic = self._analytic(data)
        self.calibration_: FieldCalibration | None = None
        self._route = None if self.fdr_ is None else calibration_route(data, self.engine_)
        self.lams_ = None
        if self.q_ is None and self.estimator is None:
            self.lams_ = self._penalties(data, scheme, generator(child(seed, PENALTY)), analytic)
        refits = Refits(
            data, scheme, B, MemberRule(self.lams_, self.q_, self.estimator), self.n_jobs,
            (child(seed, ROWS), child(seed, WEAKNESS)),
        )  # fmt: skip
        outcome = EngineOutcome()
        if self.engine_ != "monte-carlo":
            outcome = self._decided(data, scheme, refits, B, analytic)
        self.fields_, self.probability_error_, self.note_ = outcome
        self.stability_ = None
        asked = B
        if self.fields_ is None:
            self._by_refits(data, refits.at_least(B))
            if is_auto(self.n_resamples):
                asked = self._go_on(data, refits, B)
        else:
            self._by_fields(data)
        if data.stored:
            self.note_ = certificate_of(refits, data)
        if refits.stopped:
            self.n_resamples_ = refits.at_least(0).members
            self._caution(stopped_after(self.n_resamples_, asked, "resamples"), act=False)
        # where close calls decided how many there are, the fewest that could have been
        self.guarantee_ = self._guarantee(data.n_variables, min(B, self.n_resamples_))
        if self.fields_ is None and is_auto(self.n_resamples) and self.assumption_ != "none":
            self.guarantee_ = self.guarantee_.supposing(ANY_NUMBER)
        if data.member is not None and not equal_sizes(data):
            self.guarantee_ = self.guarantee_.supposing(UNEQUAL)

    def _go_on(self, data: Data, refits: Refits, first: int) -> int:
        """Fit further resamples until no decision is a close call; return how many were asked for.

        The threshold stays what it was for the first block.
        """
        total = first
        while self._close().any() and total < most_drawn(first) and not refits.stopped:
            total += first
            refits.extend(total)
            self._by_refits(data, refits.at_least(total))
        self.n_resamples_ = total
        if self._close().any() and not refits.stopped:
            self._caution(
                f"close calls are left after {total:,} resamples, the most that n_resamples='auto' "
                "draws", act=False,
            )  # fmt: skip
        return total

    def _decided(
        self, data: Data, scheme: Scheme, refits: Refits, B: int, analytic: bool
    ) -> EngineOutcome:
        """Return what message passing found, where it applies and is believed."""
        attempts: list[Any] = []
        if analytic and (self._route is None or self._route.messages):
            assert self.lams_ is not None
            attempts = stability_attempts(
                data, float(self.lams_[0]), scheme, self.engine_, self.fdr_ is not None
            )

        def counts(members: int) -> tuple[IntArray, int]:
            found = refits.at_least(members)
            return found.counts[0], found.members

        return decide(self.engine_, attempts, counts, B)

    def _penalties(
        self, data: Data, scheme: Scheme, rng: np.random.Generator, analytic: bool
    ) -> Array:
        """Return the penalties, given or chosen: for power, or as in `choose_penalties`."""
        lam = self.lam
        if isinstance(lam, str) and lam == "auto" and self.fdr_ is not None:
            lam = "power"
        if isinstance(lam, str) and lam == "power":
            if not analytic:
                raise ArgumentError("lam='power' needs engine='semi-analytic' or 'auto'.")
            best, route = None, self._route
            if self.lam == "auto" and not data.loss.quadratic:
                return choose_penalties("cv", data, rng)
            require("penalty for power", data.loss)
            if route is None or route.messages:
                best = penalty_for_power(data, partial(stability_fields, data, scheme=scheme))
            if best is None and route is not None and route.left_out:
                seed = child(self._seed, FIELDS)
                best = penalty_for_fields(data, scheme, seed, self.n_jobs)
            if best is not None:
                return np.array([best])
            self._caution(
                "message passing converges at too few penalties to choose one for power; "
                "cross-validation chose it",
                act=False,
            )
            lam = "cv"
        return choose_penalties(lam, data, rng, method="stability-ideal", mu_B=scheme.rate)

    def _by_refits(self, data: Data, found: Selections) -> None:
        """Take frequencies for probabilities, and compare thresholds in whole numbers."""
        if self._route is not None and not self._route.left_out:
            raise ResponseError(
                f"fdr: {str(self.note_).removeprefix(REFITTED)} Without it no threshold is known "
                "to hold the level: ask for pfer instead, or use knockoffs."
            )
        self.n_resamples_ = B = found.members
        most = found.counts.max(axis=0)
        self.probability_path_ = found.counts / B
        self.selection_probabilities_ = most / B
        self.signs_ = np.sign(found.mean)
        self._mean_size = np.abs(found.mean)
        self.mean_selected_ = found.mean_selected
        self.member_probabilities_ = None
        if found.member_counts is not None:
            self.member_probabilities_ = found.member_counts.max(axis=0) / B
        if self._route is not None:
            self._by_left_out_fields(data, found.mean, found.mean_selected)
            return
        self.support_ = most >= ceiling(self.threshold_ * B)
        self.stability_ = stability_of(
            found.chosen, share_distances(most / B, self.threshold_, B), self._unit_names(),
            "resamples", pairs=self.resampling_ == "pairs", each=self.q_,
        )  # fmt: skip

    def _by_fields(self, data: Data) -> None:
        """Take the probabilities of message passing, and its threshold for a level."""
        P = np.where(data.varies, self.fields_.selection_probabilities, 0.0)
        self.member_probabilities_ = None
        self.selection_probabilities_, self.probability_path_ = P, P[None]
        self.signs_ = np.where(data.varies, np.sign(self.fields_.coef), 0.0)
        self._mean_size = np.where(data.varies, np.abs(self.fields_.coef), 0.0)
        self.mean_selected_ = float(P.sum())
        if self.fdr_ is None:
            self.support_ = self.threshold_ <= P
            return
        if not self.fields_.converged:
            raise ResponseError(
                "fdr: message passing did not converge, and without it no threshold is known to "
                "hold the level: ask for pfer instead, or use knockoffs."
            )
        if self._route is not None and self._route.fields == LEFT_OUT:
            self._by_left_out_fields(data, self.fields_.coef, self.mean_selected_)
            return
        # by fields, since probabilities may all be one; where variances are alike it is the same
        self.support_ = self._by_p_values(self.fdr_)
        self.threshold_ = float(P[self.support_].min(initial=np.inf))

    def _by_left_out_fields(self, data: Data, coef: Array, selected: float) -> None:
        """Select by p-values of the fields as if each variable had been left out."""
        level, seed = float(self.fdr_ or 0.0), child(self._seed, FIELDS)
        self.calibration_ = calibrated(data, coef, selected, level, seed)
        self.note_ = self.calibration_.sentence
        self.support_ = self._by_p_values(level)
        self.threshold_ = LOWEST_PROBABILITY

    def _guarantee(self, p: int, B: int) -> Guarantee:
        if self.calibration_ is not None:
            return Guarantee(
                "false discovery rate", float(self.fdr_ or 0.0), False,
                self.calibration_.assumption,
                "fields with degrees of freedom, Bellec and Zhang 2022; conditional "
                "randomisation, Liu et al. 2022",
            )  # fmt: skip
        if self.fdr_ is not None:
            return Guarantee(
                "false discovery rate", float(self.fdr_), False,
                "the predictors are many and close to independent of each other",
                "message passing, Obuchi and Kabashima 2019",
            )  # fmt: skip
        exact = self.q_ is not None
        if self.estimator is not None and not exact and self._bound().proven:
            return no_guarantee(
                "the number of variables that the estimator selects is not limited; q would "
                "limit it"
            )
        q = float(self.q_) if self.q_ is not None else self.mean_selected_
        asked = None if self.pfer is None else float(self.pfer)
        return self._bound().guarantee(p, B, q, self.threshold_, exact=exact, asked=asked)

    def _say_doubts(self, data: Data) -> None:
        """Warn where most decisions hang on the seed, or an iteration has not converged."""
        if self.fields_ is not None:
            warn_of_fields(
                self.fields_, data, checked=self.probability_error_ is not None,
                calibrated=self.fdr_ is not None,
            )  # fmt: skip
            return
        close = int(np.count_nonzero(self._close()))
        if self.stability_ is not None and 2 * close > max(int(self.support_.sum()), 2):
            warn(self.stability_.words, UnstableWarning)
