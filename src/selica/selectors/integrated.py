"""Stability selection over all lengths of a list: which variables keep coming early."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from selica._core.errors import ArgumentError, RefusedError, UnstableWarning
from selica._core.progress import stopped_after
from selica._core.random import child, seed_sequence
from selica._core.rounding import ROUNDING
from selica._core.types import Array, BoolArray
from selica._core.validation import choice, count, error_level, number
from selica._core.warning import warn
from selica.control import (
    chance_efp,
    efp_qvalues,
    integrated_efp,
    integrated_scores,
    rank_integral,
)
from selica.control.enough import CLOSE
from selica.control.integrated import LIMIT, ORDERS, PathIntegral
from selica.plots import plot_bars
from selica.sampling import chance_counts
from selica.selectors.agreement import stability_of
from selica.selectors.base import Selector
from selica.selectors.bounds import ALIKE, carried
from selica.selectors.drawing import (
    ANY_NUMBER,
    FIRST_RESAMPLES,
    is_auto,
    most_drawn,
    number_drawn,
)
from selica.selectors.empty import (
    FDR_LEVELS,
    PFER_LEVELS,
    Demand,
    first_that_selects,
    of_p_values,
)
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.selectors.members import MemberRule, Refits, Scheme, Selections
from selica.selectors.summary import Summary, TableColumn, precision
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PFER = 1.0
"""False selections that are expected at most where nothing else is asked for."""
CHANCE_LIMIT = 0.2
"""Largest mean of the moments where chance sets the threshold: longer lists than a bound allows
find more where many variables matter."""
AVERAGE = "they are picked no more often than the average variable"
"""What the bound of order 1 rests on, beside irrelevant variables that are alike."""
CALIBRATIONS = ("chance", "bound")
"""What may set the threshold."""
NO_MORE = "pairs of halves agree on them no more than chance makes them"
"""What a threshold by chance rests on, beside irrelevant variables that are alike."""
CHANCE_SOURCE = (
    "after Melikechi and Miller 2025; the threshold is set by the scores that chance gives"
)
"""Where the rule with such a threshold comes from."""
CLOSE_TO_SHARE = (
    "the expected number of false selections over the number of selections is close to their false "
    "share"
)
"""What q-values rest on."""
NO_THEOREM = (
    "the published bound of order 2 is no theorem, and more false variables than it says are "
    "selected where there are many rows and nothing matters"
)
"""Why the bound of order 2 promises nothing."""
_LEAST = 1e-12
"""Smallest expected number that is told from zero."""
_REMEMBERED = 32
"""Settings whose scores by chance are kept."""
_ROWS = 1
"""Spawn key of the halves of the rows."""
_FITS = 2
"""Spawn key of the random numbers of an estimator."""


class IntegratedStability(Selector):
    """Selects variables that come early in the fits to many random halves of the rows.

    Each half ranks the variables: by their order on the path of the lasso, or by the importances of
    an estimator. For lists of the first 1, 2, .., q variables, the shares of the halves that have
    a variable on them make its score (integrated path stability selection, Melikechi and Miller
    2025), so that no single length of a list has to be chosen.

    Parameters
    ----------
    pfer : float, optional
        Expected number of false selections that is allowed; 1 by default.
    fdr : float, optional
        In the place of `pfer`: variables are selected as long as their expected number of false
        selections, divided by their number, is at most this. That is an estimate of the false
        discovery rate, and no theorem bounds it.
    calibration : {"chance", "bound"}
        "chance": a variable enters where the expected number of irrelevant variables with such a
        score is small enough, if nothing but chance decides about them. That number is known
        before the data, and measured rather than proven. "bound": where the published bound on it
        is; with `order` 1 it is proven, and finds much less. With `order` 2 it is not, and more
        false variables than allowed are selected where there are many rows and nothing matters.
    order : {1, 2}
        Power with which a share counts: the second gives high shares more weight.
    q : int, optional
        Length of the longest list. By default as long as chance puts few variables on all lists,
        and half of the rows can carry a fit.
    n_resamples : int or "auto"
        Number of halves, an even one. "auto" draws blocks of 200 until no decision is a close call,
        at most 2,000.
    l1_ratio : float
        Below 1, the path is that of an elastic net.
    estimator : scikit-learn estimator, optional
        Base learner with `coef_` or `feature_importances_`, such as boosted trees, for effects
        that are not linear. It ranks by importance; variables without any are on no list.
    groups, response, n_jobs, random_state
        As in `StabilitySelection`.

    Attributes
    ----------
    efp_ : array of shape (p,)
        Expected number of false selections at which each variable enters.
    qvalues_ : array of shape (p,)
        Smallest ratio of that number to the number of selected variables at which it enters.
    scores_ : array of shape (p,)
        Scores, between 0 and 1.
    probability_path_ : array of shape (q, p)
        Share of the halves that have each variable on their lists of 1, 2, .., q variables.
    threshold_, q_, pfer_, fdr_, n_resamples_
        As used; the threshold is one on scores.
    support_ : boolean array of shape (p,)
    groups_, group_names_, group_support_
        As in `StabilitySelection`.
    guarantee_ : Guarantee

    Examples
    --------
    >>> from selica import IntegratedStability
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> selector = IntegratedStability(pfer=0.5, random_state=0).fit(data.X, data.y)
    >>> bool((selector.get_support() == data.support).all()), bool(selector.efp_.min() < 0.01)
    (True, True)

    A signal that no straight line shows:

    >>> import numpy as np
    >>> from sklearn.ensemble import ExtraTreesRegressor
    >>> X = np.random.default_rng(0).standard_normal((200, 20))
    >>> trees = ExtraTreesRegressor(10)
    >>> selector = IntegratedStability(estimator=trees, n_resamples=40, random_state=0)
    >>> np.flatnonzero(selector.fit(X, X[:, 3] ** 2).get_support()).tolist()
    [3]
    """

    _title = "Integrated stability selection"

    def __init__(
        self,
        pfer: float | None = None,
        *,
        fdr: float | None = None,
        calibration: str = "chance",
        order: int = 2,
        q: int | None = None,
        n_resamples: int | str = 100,
        l1_ratio: float = 1.0,
        estimator: Any = None,
        groups: Any = None,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.pfer = pfer
        self.fdr = fdr
        self.calibration = calibration
        self.order = order
        self.q = q
        self.n_resamples = n_resamples
        self.l1_ratio = l1_ratio
        self.estimator = estimator
        self.groups = groups
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        self._settle()
        first = number_drawn("n_resamples", self.n_resamples, FIRST_RESAMPLES, at_least=2)
        if first % 2:
            raise ArgumentError(
                f"n_resamples must be even, since halves come in pairs; got {first}."
            )
        self._p = self._compared(data)
        self.q_ = self._path(data, first // 2).cells
        seed = seed_sequence(self.random_state)
        refits = Refits(
            data, Scheme("pairs", 0.5, 1.0), first,
            MemberRule(None, self.q_, self.estimator, every=True), self.n_jobs,
            (child(seed, _ROWS), child(seed, _FITS)),
        )  # fmt: skip
        self._decide(refits.at_least(first))
        asked = first
        if is_auto(self.n_resamples):
            asked = self._go_on(refits, first)
        if refits.stopped:
            self._caution(stopped_after(self.n_resamples_, asked, "resamples"), act=False)
        self.guarantee_ = self._guarantee()
        if self.stability_ is not None and 2 * self._close().sum() > max(self.support_.sum(), 2):
            warn(self.stability_.words, UnstableWarning)

    def _go_on(self, refits: Refits, first: int) -> int:
        """Fit further halves until no decision is a close call; return how many were asked for."""
        total = first
        while self._close().any() and total < most_drawn(first) and not refits.stopped:
            total += first
            refits.extend(total)
            self._decide(refits.at_least(total))
        return total

    def _settle(self) -> None:
        """Check what decides, and set what was not said."""
        if self.pfer is not None and self.fdr is not None:
            raise ArgumentError("pfer and fdr: give one of them.")
        self.fdr_ = None if self.fdr is None else error_level("fdr", self.fdr)
        self.pfer_ = None
        if self.fdr is None:
            self.pfer_ = PFER if self.pfer is None else number("pfer", self.pfer, at_least=_LEAST)
        choice("calibration", self.calibration, CALIBRATIONS)
        self._order = count("order", self.order, at_most=ORDERS[-1])

    def _compared(self, data: Data) -> int:
        """Return how many variables can be on a list; refuse where there is nothing to compare."""
        if data.n_variables < 2:
            if self._grouping is not None and self._grouping.of.size > 1:
                raise RefusedError("groups: all variables are in one group, and ranks need two.")
            raise RefusedError("X has n_features=1, and ranks need two columns.")
        return max(int(np.count_nonzero(data.variables_vary)), 2)

    def _path(self, data: Data, pairs: int) -> PathIntegral:
        """Return the lists that are integrated over."""
        p, most = self._p, self._p - 1
        if self.q is not None:
            q = count("q", self.q)
            if q > most:
                raise ArgumentError(f"q must be below the number of variables, {p}; got {q}.")
            return _whole_path(p, q, pairs, self._order)
        limit = CHANCE_LIMIT if self.calibration == "chance" else LIMIT
        longest = min(carried(data), most)
        path = rank_integral(p, pairs, self._order, limit=limit, longest=longest)
        if path.cells == 0:  # of few variables, a list of one is all there is
            return _whole_path(p, 1, pairs, self._order)
        return path

    def _decide(self, found: Selections) -> None:
        """Set scores, expected false selections and what they select."""
        self.n_resamples_ = found.members
        path = _whole_path(self._p, self.q_, found.members // 2, self._order)
        self.probability_path_ = found.counts / found.members
        self.scores_ = integrated_scores(found.counts, path)
        self._chance = _chance_scores(self._p, path.cells, path.n_pairs, path.order)
        self._path_used = path
        self.efp_ = self._efp(self.scores_)
        self.qvalues_ = efp_qvalues(self.efp_)
        self.support_ = self._selected(self.pfer_, self.fdr_)
        level = self.pfer_
        if level is None:
            level = float(self.fdr_ or 0.0) * max(int(np.count_nonzero(self.support_)), 1)
        self.threshold_ = self._score_at(level)
        self._error = score_errors(found, path)
        distance = np.full(self.scores_.size, np.inf)
        np.divide(
            np.abs(self.scores_ - self.threshold_), self._error, out=distance,
            where=self._error > 0.0,
        )  # fmt: skip
        self._distance = distance
        self.stability_ = stability_of(
            found.chosen, distance, self._unit_names(), "resamples", pairs=True, each=self.q_
        )

    def _efp(self, scores: Array) -> Array:
        """Return the expected numbers of false selections at which scores enter."""
        if self.calibration == "bound":
            return integrated_efp(scores, self._path_used)
        # a variable that no pair of halves agrees on is no finding, however rare agreement is
        expected = chance_efp(scores, *self._chance, self._p)
        return np.where(scores > 0.0, expected, float(self._p))

    def _selected(self, pfer: float | None, fdr: float | None) -> BoolArray:
        """Return what is selected at a level of either kind."""
        if fdr is not None:
            return np.asarray(self.qvalues_ <= fdr * (1.0 + ROUNDING))
        return np.asarray(self.efp_ <= float(pfer or 0.0) * (1.0 + ROUNDING))

    def _score_at(self, level: float) -> float:
        """Return the score that is needed where so many false selections are allowed."""
        if self.calibration == "bound":
            return self._path_used.integral / level
        scores = np.unique(self._chance[0])
        within = self._efp(scores) <= level * (1.0 + ROUNDING)
        return float(scores[within].min()) if within.any() else np.inf

    def _guarantee(self) -> Guarantee:
        if self.calibration == "bound" and self._order > 1:
            return no_guarantee(NO_THEOREM)
        if self.fdr_ is not None:
            controls, level = "false discovery rate", float(self.fdr_)
        else:
            controls, level = "expected number of false selections", float(self.pfer_ or 0.0)
        promise = Guarantee(controls, level, True, ALIKE, "Melikechi and Miller 2025")
        if self.calibration == "chance":
            promise = replace(promise.supposing(NO_MORE), source=CHANCE_SOURCE)
            if is_auto(self.n_resamples):  # the bound of order 1 holds for every such number
                promise = promise.supposing(ANY_NUMBER)
        else:
            promise = promise.needing(AVERAGE)
        if self.fdr_ is not None:
            promise = promise.supposing(CLOSE_TO_SHARE)
        return promise

    def _close(self) -> BoolArray:
        """Return the variables that another seed might decide differently."""
        return np.asarray(self._distance < CLOSE)

    def summary(self) -> Summary:
        """Return the variables by the expected number of false selections at which they enter."""
        self._get_support_mask()
        meaning = (
            "how many of the selected variables are expected to be false if the list ends with "
            "this variable"
        )
        more = [
            TableColumn("score", self.scores_.tolist(), self._meaning()),
            *precision(self._error, self._close()),
        ]
        if self.fdr_ is not None:
            share = "that number divided by the number of variables that are then selected"
            more.insert(1, TableColumn("q-value", self.qvalues_.tolist(), share))
        return self._ranked(
            f"{self._title} at {self._level()}",
            TableColumn("expected false", self.efp_.tolist(), meaning),
            -self.efp_, self.scores_,
            ties="the score",
            more=more,
        )  # fmt: skip

    def _level(self) -> str:
        """Return what was asked for, in a few words."""
        if self.fdr_ is not None:
            return f"FDR {self.fdr_:g}"
        return f"{self.pfer_:g} expected false"

    def _meaning(self) -> str:
        """Say what a score is, as a clause."""
        needed = f"; {self.threshold_:.3g} is needed" if np.isfinite(self.threshold_) else ""
        power = "squared and " if self._order == 2 else ""
        return (
            f"how far above one half is the share of {self.n_resamples_:,} random halves of the "
            f"rows that have the variable among their first ones, {power}averaged over the first 1 "
            f"to {self.q_}{needed}"
        )

    def _why(self) -> str:
        top = float(self.scores_.max())
        if top == 0.0:
            return (
                "No variable is among the first ones in more than half of the halves of the rows."
            )
        best = self._unit_names()[int(self.scores_.argmax())]
        text = (
            f"The highest score is {top:.3g}, that of {best}, with {self.efp_.min():.3g} expected "
            "false selections."
        )
        if self.fdr_ is not None:
            level, levels, name = float(self.fdr_), FDR_LEVELS, "FDR"
        else:
            level, levels, name = float(self.pfer_ or 0.0), PFER_LEVELS, "pfer"
        found = first_that_selects(
            [x for x in levels if x > level],
            lambda x: int(np.count_nonzero(self._at_level(x))),
        )
        if found is None:
            return f"{text} No level up to {levels[-1]:g} selects any."
        return f"{text} On the same data, {found.sentence(name)}"

    def _at_level(self, level: float) -> BoolArray:
        """Return what another level of the kind that was asked for selects."""
        if self.fdr_ is not None:
            return self._selected(None, level)
        return self._selected(level, None)

    def _demand(self) -> Demand | None:
        if self.estimator is not None:  # associations do not tell what it sees
            return None
        allowed = chance_efp([min(self.threshold_, 1.0)], *self._chance, self._p)[0]
        return of_p_values(self._p, max(float(allowed), _LEAST))

    def plot(self) -> Figure:
        """Draw the scores of the first variables (needs matplotlib)."""
        return plot_bars(self.summary().variables, "score", threshold=self.threshold_)


def _whole_path(p: int, q: int, pairs: int, order: int) -> PathIntegral:
    """Return the integral over lists of 1, 2, .., q variables, whatever their moments."""
    return rank_integral(p, pairs, order, limit=float(p), longest=q)


@lru_cache(maxsize=_REMEMBERED)
def _chance_scores(p: int, q: int, pairs: int, order: int) -> tuple[Array, Array]:
    """Return scores that chance gives, and their probabilities."""
    path = _whole_path(p, q, pairs, order)
    drawn = [
        (integrated_scores(one.counts, path), one.probability) for one in chance_counts(p, q, pairs)
    ]
    scores = np.concatenate([scores for scores, _ in drawn])
    return scores, np.concatenate([np.full(s.size, chance / s.size) for s, chance in drawn])


def score_errors(found: Selections, path: PathIntegral) -> Array:
    """Return the standard errors of scores over further pairs of halves of the same rows, (p,).

    A score is a smooth function of shares over the pairs; its slope in each share says how much
    a pair adds to it.

    Parameters
    ----------
    found : Selections
        With `lists`.
    path : PathIntegral
    """
    above = np.maximum(found.counts / path.n_pairs - 1.0, 0.0)
    slope = path.weights[:, None] * path.order * above ** (path.order - 1) * (above > 0.0)
    # what a half adds that has a variable on its longest 0, 1, .., q lists
    added = np.concatenate([np.zeros((1, slope.shape[1])), np.cumsum(slope[::-1], axis=0)])
    lists = found.lists.tocoo()
    member, variable = lists.coords
    values: Any = csr_array(
        (added[lists.data, variable], (member // 2, variable)),
        shape=(path.n_pairs, lists.shape[1]),
    )
    mean = np.asarray(values.mean(axis=0)).ravel()
    square = np.asarray(values.multiply(values).mean(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0.0) / path.n_pairs))
