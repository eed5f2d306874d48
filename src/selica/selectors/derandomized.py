"""Many knockoff copies, so that the selection does not hang on the seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.losses import require, treats
from selica._core.progress import stopped_after
from selica._core.random import child, generator, seed_sequence
from selica._core.rounding import ROUNDING, ceiling
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import choice, count, error_level, number, real
from selica.control import (
    averaged_level,
    ebh,
    first_negatives_filter,
    frequency_bound,
    posthoc_evalues,
    share_distances,
)
from selica.plots import plot_bars, plot_frequencies
from selica.sampling.sampler import as_sampler
from selica.selectors.after_fit import AfterTheFit
from selica.selectors.agreement import AGREEMENT, COPIES_NOUN, joint_distances, stability_of
from selica.selectors.comparison import NEGATIVES, KnockoffComparison, Measure
from selica.selectors.drawing import (
    ANY_COPIES,
    FIRST_COPIES,
    by_pilot,
    is_auto,
    number_drawn,
    possible_copies,
)
from selica.selectors.empty import (
    PFER_LEVELS,
    Demand,
    first_that_selects,
    of_copies,
)
from selica.selectors.engine import (
    ENGINES,
    REFITTED,
    decide,
    knockoff_fields,
    penalty_for_power,
    warn_of_fields,
)
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.selectors.knockoffs import AUTO, KnockoffSelector
from selica.selectors.members import near, standard_errors
from selica.selectors.penalty import fixed_penalty
from selica.selectors.summary import Summary, TableColumn, precision
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_RARER = "among irrelevant variables high selection frequencies are rarer than low ones"
"""What frequencies over copies need beside proper copies, as a clause."""
_RARER_EVALUES = "among irrelevant variables high e-values are rarer than low ones"
"""What averages of e-values need beside proper copies, as a clause."""
_EVALUES_SOURCE = "Ren and Barber 2024"
"""Who proved that averages of e-values keep the level at which e-BH takes them."""
_ON_COEFFICIENTS = "the threshold is one on coefficients (w_threshold)"
"""Why the article's rule compares coefficients, as a clause."""

MOST_NEEDED = 199
"""Copies that a level may need at least, where a pilot asks for them."""


class DerandomizedKnockoffs(KnockoffSelector, AfterTheFit):
    """Knockoffs over many copies, so that the selection does not hang on the seed.

    One of four rules, by what is given:

    - `fdr`: e-values of all copies are averaged, and e-BH selects (Ren and Barber 2024), at nearly
      twice the level. The level itself is expected, not proven, to be kept, if high e-values of
      irrelevant variables are rarer than low ones; that of e-BH (`control.averaged_level`, at most
      twice the level) is proven. Give half of a level that has to be proven;
    - `pfer`: frequency of being selected before the v-th negative statistic, at least
      `threshold` (Ren, Wei and Candès 2023);
    - `kfwer=(k, level)`: the same, for the probability of k or more false selections;
    - `threshold` alone: the article's rule, frequency of W > `w_threshold` at least `threshold`;
      nothing is controlled.

    Parameters
    ----------
    fdr : float, optional
        Target false discovery rate; 0.1 if no other rule is asked for.
    pfer : float, optional
        Bound on the expected number of false selections.
    kfwer : tuple (k, level), optional
    threshold : float, optional
        Frequency a variable must reach. By default 1/2; where `pfer`, or k times the level of
        `kfwer`, is below 1, the smallest one at which no copy has to stop before its first
        negative statistic.
    w_threshold : float
        Of the article's rule.
    n_copies : int or "auto"
        Number of knockoff copies. "auto": a pilot of 31 copies, which do not count in the
        selection, says how many settle the decisions, from 31 to 309 (more where fewer than 0.0625
        false selections are allowed). The promise is then expected, not proven. With `fdr` at most
        twice the level stays proven, unless copies are the same for every seed (`sampler="fixed"`).
    copy_fdr : float, optional
        Level of each copy's e-values, by default fdr / 2. A copy that cannot reach it takes the
        variables that are ahead of all copies.
    engine : {"monte-carlo", "semi-analytic", "auto"}
        For `threshold` with independent copies (`sampler="iid"`): "semi-analytic" averages over
        all copies by message passing, without drawing one; "auto" checks that against some
        copies and draws all of them where it is off. With lam="auto" the penalty is then the one
        with the smallest estimated error of the average over the copies, the same for all.
    sampler, statistic, lam, l1_ratio, estimator, groups, response, n_jobs, random_state
        As in `KnockoffSelection`; with `threshold` alone, statistic="auto" is "coefficient".

    Attributes
    ----------
    selection_probabilities_ : array of shape (p,)
        Share of the copies that select each variable, by the rule of one copy.
    evalues_ : array of shape (p,), or None without `fdr`
    negatives_ : float, or None without `pfer` and `kfwer`
        Negative statistic at which a copy stops, v; between whole numbers it is drawn at random.
    statistics_ : array of shape (copies drawn, p)
    fields_ : KnockoffAmp or None
        The result of message passing, where it gave the probabilities.
    probability_error_ : float or None
        Bound on its root mean square error, from the copies of "auto".
    sampler_ : str
        As in `KnockoffSelection`.
    statistic_ : str
        As in `KnockoffSelection`.
    law_ : str or None
        As in `KnockoffSelection`.
    exchangeability_ : Exchangeability or None
        As in `KnockoffSelection`; None where no copy was drawn.
    support_, guarantee_

    Examples
    --------
    >>> from selica import DerandomizedKnockoffs
    >>> from selica.sampling import simulate
    >>> data = simulate(300, 40, 15, snr=20.0, random_state=0)
    >>> selector = DerandomizedKnockoffs(0.2, n_copies=10, sampler="iid", lam=0.05, random_state=0)
    >>> chosen = selector.fit(data.X, data.y).get_support()
    >>> int((chosen & data.support).sum()), int((chosen & ~data.support).sum())
    (13, 0)
    >>> print(selector.guarantee_)  # doctest: +NORMALIZE_WHITESPACE
    On average at most 20 % of the selected variables are false. This is expected, not proven, if
    the rows are independent, the predictors are independent of each other and normal, and among
    irrelevant variables high e-values are rarer than low ones [e-values: Ren and Barber 2024; level
    of e-BH: own result, docs/many-copies]. If high e-values are not rarer, it is at most 33.3 %;
    this is proven if the other conditions hold, and so is 20 % if this method is asked for 10 %.
    """

    def __init__(
        self,
        fdr: float | None = None,
        *,
        pfer: float | None = None,
        kfwer: tuple[int, float] | None = None,
        threshold: float | None = None,
        w_threshold: float = 0.0,
        n_copies: int | str = 50,
        copy_fdr: float | None = None,
        sampler: Any = "auto",
        statistic: str = AUTO,
        lam: Any = "auto",
        l1_ratio: float = 1.0,
        estimator: Any = None,
        engine: str = "monte-carlo",
        groups: Any = None,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fdr = fdr
        self.pfer = pfer
        self.kfwer = kfwer
        self.threshold = threshold
        self.w_threshold = w_threshold
        self.n_copies = n_copies
        self.copy_fdr = copy_fdr
        self.sampler = sampler
        self.statistic = statistic
        self.lam = lam
        self.l1_ratio = l1_ratio
        self.estimator = estimator
        self.engine = engine
        self.groups = groups
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        rule = self._rule_of_fit = self._rule()
        fewest = copies_for(self._allowed(rule))
        self._offered = possible_copies(min(fewest, MOST_NEEDED))
        self._before, self._asked = 0, 0
        self.n_copies_ = B = number_drawn("n_copies", self.n_copies, self._offered[0])
        eta = self._share_needed(self._allowed(rule), B)
        engine = choice("engine", self.engine, ENGINES)
        self._seed = seed_sequence(self.random_state)
        self.evalues_: Array | None = None
        self.negatives_: float | None = None
        self.fields_: Any = None
        self.probability_error_: float | None = None
        self.note_ = None
        self.stability_ = None
        self.exchangeability_ = None
        self._of_copies = None
        self.statistics_ = np.zeros((0, data.n_variables))
        if rule == "threshold":
            self._by_threshold(data, table, B, eta)
            return
        if engine == "semi-analytic":
            raise DoesNotApply(
                f"engine='semi-analytic' works with threshold only, not with {rule}."
            )
        if engine == "auto":
            self.note_ = f"{REFITTED}message passing does not apply here."
        measure = self._measure(data)
        found = self._compare(data, table, self._most())
        self.exchangeability_ = found.exchangeability
        self._draw(found, measure, B, lambda W: self._distances(W, rule, eta))
        self._say_stopped(found)
        if not self._asked:
            eta = self._share_needed(self._allowed(rule), len(self.statistics_))
        if rule == "fdr":
            self._by_evalues(found, filled_in=data.imputation is not None)
        else:
            self._by_votes(self._by_negatives(found, rule, eta), eta)

    def _most(self) -> int:
        """Return how many copies may be drawn, those of a pilot included."""
        if is_auto(self.n_copies):
            return FIRST_COPIES + self._offered[-1]
        return self.n_copies_

    def _draw(
        self,
        found: KnockoffComparison,
        measure: Measure,
        B: int,
        distances: Callable[[Array], Array],
    ) -> None:
        """Set the statistics of B copies, or of as many as a pilot asks for."""
        if is_auto(self.n_copies):
            drawn = by_pilot(found, measure, self.n_jobs, distances, self._offered)
            self.statistics_, self._before, self._asked, _ = drawn
            if self._asked:
                self._caution(drawn.said(), act=False)
            return
        self.statistics_ = found.statistics(B, measure, self.n_jobs, some=True)

    def _distances(self, W: Array, rule: str, eta: float) -> Array:
        """Return how far the decisions of a pilot are from changing, in standard errors."""
        if rule == "fdr":
            level = self._level()
            return self._joint(self._evalues(level, W), self._raised(level, W))
        votes = self._votes(self._allowed(rule), eta, W)
        return share_distances(votes.mean(axis=0), eta, len(votes))

    def _joint(self, each: Array, level: float) -> Array:
        """Return how far the decisions by mean e-values are from changing, in standard errors."""
        return joint_distances(
            lambda weight: ebh(weight @ each / weight.sum(), level), len(each),
            child(self._seed, AGREEMENT, self._before),
        )  # fmt: skip

    def _say_stopped(self, found: KnockoffComparison) -> None:
        """Note how many copies there are, and say so where Ctrl-C left fewer than asked for."""
        self.n_copies_, self._stopped = len(self.statistics_), found.stopped
        if found.stopped:
            asked = self._asked or self._offered[0]
            if not is_auto(self.n_copies):
                asked = int(self.n_copies)
            self._caution(stopped_after(self.n_copies_, asked, "knockoff copies"), act=False)
            self._asked = 0  # the bound is that for the copies that are there

    def _by_votes(self, votes: BoolArray, eta: float) -> None:
        """Select the variables with the votes of a share of the copies."""
        self.selection_probabilities_ = P = votes.mean(axis=0)
        self.threshold_ = eta
        self.support_ = self._supported(votes, eta)
        distances = share_distances(P, eta, len(votes))
        self.stability_ = stability_of(votes, distances, self._unit_names(), COPIES_NOUN)

    @staticmethod
    def _supported(votes: BoolArray, eta: float) -> BoolArray:
        needed = max(ceiling(eta * len(votes)), 1)
        return np.asarray(np.count_nonzero(votes, axis=0) >= needed)

    def _by_threshold(self, data: Data, table: Array, B: int, eta: float) -> None:
        """Select by the article's rule, with copies or without them."""
        w = number("w_threshold", self.w_threshold)
        self.guarantee_ = no_guarantee(
            "no theorem bounds the errors of a threshold on the share of copies that a variable "
            "beats"
        )
        attempts, penalty = self._message_passing(data, w)
        measure = self._measure(data, penalty, coefficients=_ON_COEFFICIENTS)

        found: KnockoffComparison | None = None

        def votes(copies: int) -> BoolArray:
            nonlocal found
            if found is None:  # message passing may need no copy at all
                found = self._compare(data, table, self._most())
                self.exchangeability_ = found.exchangeability
            if copies < B:
                self.statistics_ = found.statistics(copies, measure, self.n_jobs, some=True)
            else:
                self._draw(found, measure, B, lambda W: _beaten(W, w, eta))
            return np.asarray(w < self.statistics_)

        def counts(copies: int) -> tuple[IntArray, int]:
            each = votes(copies)
            return np.asarray(np.count_nonzero(each[:, data.varies], axis=0)), len(each)

        outcome = decide(self.engine, attempts, counts, B)
        self.fields_, self.probability_error_, self.note_ = outcome
        if self.fields_ is None:
            self._by_votes(votes(B), eta)
        if found is not None:
            self._say_stopped(found)
        if self.fields_ is None:
            return
        warn_of_fields(self.fields_, data, checked=self.probability_error_ is not None)
        self.selection_probabilities_ = np.zeros(table.shape[1])
        self.selection_probabilities_[data.varies] = self.fields_.selection_probabilities
        self.threshold_ = eta
        self.support_ = self.selection_probabilities_ >= max(eta, 1e-12)

    def _message_passing(self, data: Data, w_threshold: float) -> tuple[list[Any], float | None]:
        """Return ways of message passing, none where it does not apply, and its penalty."""
        engine = self.engine
        possible = (
            as_sampler(self.sampler).independent
            and self.statistic in (AUTO, "coefficient")
            and self.estimator is None
            and not (isinstance(self.lam, str) and self.lam == "cv")
            and bool(np.all(data.weight == 1.0))
            and data.plain
        )
        if engine == "semi-analytic":
            require("message passing over copies", data.loss)
            if not possible:
                raise DoesNotApply(
                    "engine='semi-analytic' needs sampler='iid', statistic='coefficient', no "
                    "estimator, one penalty (lam='cv' has one for each copy) and no sample weights."
                )
        possible &= treats("message passing over copies", data.loss)
        if engine == "monte-carlo" or not possible:
            return [], None
        if not data.varies.any():
            raise RefusedError("X: all columns are constant; there is nothing to select.")
        part = data._replace(X=data.X[:, data.varies], varies=data.varies[data.varies])
        fields = partial(knockoff_fields, part, w_threshold=w_threshold)
        penalty = fixed_penalty(self.lam)
        if penalty is None:
            penalty = penalty_for_power(part, fields)
            if penalty is None and engine == "semi-analytic":
                raise RefusedError("lam: message passing converges at too few penalties to choose "
                                   "one; give a number, or engine='monte-carlo'.")  # fmt: skip
        return [] if penalty is None else [partial(fields, penalty)], penalty

    def _rule(self) -> str:
        given = rate_given(self)
        if given == "fdr" and self.threshold is not None:
            raise ArgumentError("fdr and threshold are two different rules; give one of them.")
        return given or ("threshold" if self.threshold is not None else "fdr")

    def _by_evalues(self, found: KnockoffComparison, *, filled_in: bool) -> None:
        """Select by e-BH with the averages of the e-values of the copies."""
        level = self._level_of_fit = self._level()
        each = self._evalues(level)
        raised = self._raised_level_of_fit = self._raised(level, self.statistics_)
        self.evalues_ = e = each.mean(axis=0)
        self.selection_probabilities_ = np.count_nonzero(each, axis=0) / len(each)
        self.support_ = ebh(e, raised)
        distances = self._joint(each, raised)
        self.stability_ = stability_of(each > 0.0, distances, self._unit_names(), COPIES_NOUN)
        self._check_level(level, e.size, ceiling(1.0 / raised))
        self.threshold_ = float(e[self.support_].min(initial=np.inf))
        promise = self._promise(found, "false discovery rate", float(level), _EVALUES_SOURCE)
        if self._before and not found.sampler.seeded:
            promise = promise.supposing(ANY_COPIES)
        self._of_copies = self.guarantee_ = promise
        if raised > level and promise.level is not None:
            self.guarantee_ = replace(
                self._by_shape(promise.supposing(_RARER_EVALUES)),
                source=f"e-values: {_EVALUES_SOURCE}; level of e-BH: own result, docs/many-copies",
                settings=self._without_shape(level, proven=promise.proven and not filled_in),
            )

    def _by_shape(self, promise: Guarantee) -> Guarantee:
        """Return a promise that rests on a shape at one number of copies, after a pilot or not."""
        if self._before and ANY_COPIES not in promise.assumptions:
            return promise.supposing(ANY_COPIES)
        return promise

    def _without_shape(self, level: float, *, proven: bool) -> str:
        """Say which level e-values keep whatever their distribution, and how to keep this one."""
        # the data decide, by a pilot, which of the levels that it offers is taken
        most = self._offered[-1] if self._asked else len(self.statistics_)
        bound = averaged_level(level, self._copy_level(level), most)
        said = f"If high e-values are not rarer, it is at most {100.0 * bound:.3g} %"
        kept, asked = f"{100.0 * level:.3g} %", f"this method is asked for {50.0 * level:.3g} %"
        if not proven:
            return f"{said}, and at most {kept} if {asked}."
        return f"{said}; this is proven if the other conditions hold, and so is {kept} if {asked}."

    def _level(self) -> float:
        """Return the false discovery rate that e-values are to keep."""
        return error_level("fdr", 0.1 if self.fdr is None else self.fdr)

    def _copy_level(self, level: float) -> float:
        """Return the level of the filter of each copy."""
        return 0.5 * level if self.copy_fdr is None else error_level("copy_fdr", self.copy_fdr)

    def _raised(self, level: float, statistics: Array) -> float:
        """Return the level at which e-BH takes the averages over copies with these statistics."""
        spread = float(np.ptp(statistics, axis=0).max(initial=0.0))
        differ = spread > ROUNDING * float(np.abs(statistics).max(initial=0.0))
        return averaged_level(level, self._copy_level(level), len(statistics) if differ else 1)

    def _evalues(self, level: float, statistics: Array | None = None) -> Array:
        """Return the e-values of every copy at a level, (copies, p), by default of the fit."""
        W = self.statistics_ if statistics is None else statistics
        own = self._copy_level(level)
        return np.array([posthoc_evalues(w, own) for w in W])

    def _by_negatives(self, found: KnockoffComparison, rule: str, eta: float) -> BoolArray:
        """Return which copies select what, before their v-th negative statistic."""
        level = allowed = self._allowed(rule)
        what = "expected number of false selections"
        if rule == "kfwer":
            k, level = checked_kfwer(self.kfwer)
            what = f"probability of {k} or more false selections"
        self.negatives_ = allowed / self._frequency_bound(eta)
        self._of_copies = self._promise(found, what, level, "Ren, Wei and Candès 2023")
        self.guarantee_ = self._by_shape(self._of_copies.needing(_RARER))
        return self._votes(allowed, eta)

    def _share_needed(self, allowed: float, B: int) -> float:
        """Return the share of the copies that a variable needs: half, unless few may be false.

        Where fewer than one false selection is allowed, the share is the smallest one at which
        every copy may stop at its first negative statistic; with half of the copies most of them
        would have to select nothing.
        """
        if self.threshold is not None:
            return float(real("threshold", self.threshold, at_least=0.0, at_most=1.0))
        if allowed >= 1.0:
            return 0.5
        shares = (votes / B for votes in range(-(-B // 2), B + 1))
        return next((x for x in shares if frequency_bound(B, x) <= allowed), 1.0)

    def _allowed(self, rule: str) -> float:
        """Return the expected false selections that a rule allows; 1 by default."""
        if rule == "pfer":
            return number("pfer", self.pfer, at_least=1e-12)
        if rule == "kfwer":
            k, level = checked_kfwer(self.kfwer)
            return k * level
        return 1.0

    def _frequency_bound(self, share: float) -> float:
        """Return the bound for a share of the copies, or of any number that a pilot may ask for."""
        if is_auto(self.n_copies) and (self._asked or not self.statistics_.size):
            return max(frequency_bound(many, share) for many in self._offered)
        return frequency_bound(len(self.statistics_), share)

    def _votes(self, allowed: float, share: float, statistics: Array | None = None) -> BoolArray:
        """Return the selections of every copy, (copies, p), for so many false selections."""
        v = allowed / self._frequency_bound(share)
        seed = child(self._seed, NEGATIVES)
        whole = int(np.floor(v))
        votes = []
        W = self.statistics_ if statistics is None else statistics
        for b, w in enumerate(W, start=self._before):
            more = generator(child(seed, b)).random() < v - whole
            votes.append(first_negatives_filter(w, whole + int(more)))
        return np.array(votes)

    def summary(self) -> Summary:
        """Return the variables by what decides: e-values, or the share of copies."""
        check_is_fitted(self)
        B, p = self.statistics_.shape
        title = "Derandomized knockoffs, " + (
            f"{B} copies" if self.fields_ is None else "all copies"
        )
        lead = [self.statistics_.mean(axis=0)] if B else []
        ties = "the mean lead over the copies (mean W)" if B else ""
        if self.evalues_ is not None:
            meaning = (
                "evidence that the variable matters, averaged over the knockoff copies (artificial "
                "columns that cannot matter): an irrelevant variable has at most 1 on average, and "
                f"each of k selected ones needs {p / self._raised_level_of_fit:.4g} / k"
            )
            column = TableColumn("e-value", self.evalues_.tolist(), meaning)
            return self._ranked(
                title, column, self.evalues_, *lead, ties=ties,
                more=[TableColumn("mean W", lead[0].tolist(), "")],
            )  # fmt: skip
        P = self.selection_probabilities_
        error = standard_errors(P, B if self.fields_ is None else None, self.probability_error_)
        meaning = (
            "share of the sets of knockoff copies (artificial columns that cannot matter) against "
            f"which the variable is selected; {self.threshold_:.3g} is needed"
        )
        return self._ranked(
            title, TableColumn("probability", P.tolist(), meaning), P, *lead, ties=ties,
            more=precision(error, near(P, self.threshold_, error)),
        )  # fmt: skip

    def _why(self) -> str:
        if self.evalues_ is None:
            return self._why_no_votes()
        level = self._level_of_fit
        least = ceiling(1.0 / self._raised_level_of_fit)
        text = f"At FDR {level:g} these e-values select at least {least} variables or none."
        text = f"{text}{self._said_after()}"
        many = self._selected_by_votes(1.0)
        return f"{text} Allowing one false selection on average (PFER 1) would select {many}."

    def _posthoc_evalues(self) -> tuple[Array, float]:
        check_is_fitted(self)
        if self.evalues_ is None:
            raise DoesNotApply(
                "A level after the fit needs e-values: DerandomizedKnockoffs has them with fdr, "
                "not with pfer, kfwer or threshold."
            )
        return self.evalues_, self._level_of_fit

    def _one_copy(self) -> Array:
        check_is_fitted(self)
        if self._rule_of_fit == "threshold":
            raise DoesNotApply(
                "A bound on the false variables of a list needs fdr, pfer or kfwer: with threshold "
                "the copies promise nothing."
            )
        return np.asarray(self.statistics_[0])

    def _demand(self) -> Demand | None:
        p = self._unit_support().size
        if self.evalues_ is not None:
            return of_copies(p, 0.5, ceiling(1.0 / self._raised_level_of_fit))
        if self.negatives_ is None or self.negatives_ < 1.0 - 1e-9:
            return None
        return of_copies(p, self.threshold_)

    def _selected_by_votes(self, allowed: float) -> int:
        """Count the variables that the same copies select for so many false selections."""
        share = self._share_needed(allowed, len(self.statistics_))
        return int(np.count_nonzero(self._supported(self._votes(allowed, share), share)))

    def _why_no_votes(self) -> str:
        top = float(self.selection_probabilities_.max())
        text = (
            f"A variable must be selected with {100 * self.threshold_:.3g} % of the copies; the "
            f"largest share is {100 * top:.3g} %."
        )
        if self.negatives_ is None:
            return text
        asked = self._allowed("pfer" if self.pfer is not None else "kfwer")
        if self.negatives_ < 1.0 - 1e-9 and self.threshold is None:
            text += (
                " To keep this level, each copy is allowed to select variables only with "
                f"probability {self.negatives_:.3g}; with n_copies={copies_for(asked)} every copy "
                "is."
            )
        found = first_that_selects([x for x in PFER_LEVELS if x > asked], self._selected_by_votes)
        if found is None:
            return (
                f"{text} Even if {PFER_LEVELS[-1]:g} false selections were allowed, the same "
                "copies would select none."
            )
        return (
            f"{text} With the same copies, {found.sentence('PFER')} (PFER is the number of false "
            "selections that is allowed on average.)"
        )

    def plot(self, kind: str = "decision") -> Figure:
        """Draw what decided, or the shares of copies (needs matplotlib).

        Parameters
        ----------
        kind : {"decision", "histogram", "groups"}
            Bars of the first variables; how many variables are selected by which share of the
            copies; a map of the groups.
        """
        check_is_fitted(self)
        by_evalues = self.evalues_ is not None
        choice("kind", kind, ("decision", "histogram", "groups"))
        if kind == "groups":
            return self.group_map().plot()
        if kind == "histogram":
            return plot_frequencies(
                self.selection_probabilities_, None if by_evalues else self.threshold_,
                unit=self._unit(),
            )  # fmt: skip
        column = "e-value" if by_evalues else "probability"
        return plot_bars(self.summary().variables, column, threshold=self.threshold_)


def _beaten(W: Array, w_threshold: float, share: float) -> Array:
    """Return how far shares of copies that a variable beats are from the one it needs."""
    return share_distances(np.mean(w_threshold < W, axis=0), share, len(W))


def copies_for(allowed: float) -> int:
    """Return the number of copies from which on all may select for so few false selections."""
    return max(ceiling(2.0 / allowed) - 1, 1)


def rate_given(selector: Any) -> str | None:
    """Return which of fdr, pfer and kfwer a selector was given; None where it is none."""
    given = [name for name in ("fdr", "pfer", "kfwer") if getattr(selector, name) is not None]
    if len(given) > 1:
        raise ArgumentError(f"Give one of fdr, pfer and kfwer; got {' and '.join(given)}.")
    return given[0] if given else None


def checked_kfwer(kfwer: Any) -> tuple[int, float]:
    """Return a number of false selections, and the probability of as many or more."""
    try:
        k, level = kfwer
    except (TypeError, ValueError):
        raise ArgumentError(f"kfwer must be a pair (k, level); got {kfwer!r}.") from None
    return count("kfwer: k", k), number("kfwer: level", level, at_least=1e-12, at_most=1.0)
