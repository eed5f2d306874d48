"""Knockoffs: what the selectors share, and the selector with one copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from selica._core.errors import ArgumentError, AssumptionWarning, ColumnError, DoesNotApply
from selica._core.random import seed_sequence
from selica._core.rounding import ceiling
from selica._core.types import Array
from selica._core.validation import choice, count, error_level
from selica._core.warning import warn
from selica.control import joint_threshold, joint_wins, knockoff_threshold, posthoc_evalues
from selica.plots import plot_fdp_bound, plot_statistics
from selica.sampling import Exchangeability, Sampler
from selica.sampling.automatic import GAUSSIAN, AutomaticSampler
from selica.sampling.exchangeability import DOUBTFUL_RATIO, FEWEST_ROWS, WITHDRAWN_RATIO
from selica.sampling.sampler import as_sampler
from selica.selectors.after_fit import CONFIDENCE, AfterTheFit, BoundCurve, ListBound
from selica.selectors.base import Selector
from selica.selectors.checks import LARGEST_CORRELATION, most_correlated
from selica.selectors.comparison import KnockoffComparison, Measure, sampler_choice
from selica.selectors.empty import Demand, of_copies
from selica.selectors.grouping import SAME_ROWS
from selica.selectors.guarantee import Guarantee, no_guarantee
from selica.selectors.penalty import fixed_penalty
from selica.selectors.statistic_choice import statistic_choice
from selica.selectors.summary import Summary, TableColumn
from selica.statistics import Data
from selica.statistics.knockoff import MASKED, SAMPLED, STATISTICS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_JOINT = 50
"""Joint copies at most: the fit has a column for each of them, and each variable."""
_WEIGHTED = "it does not matter that rows have different weights, which the theorem excludes"
"""What an unproven promise rests on where the rows of a fixed design are weighted."""
_NEARLY_THE_SAME = "it does not matter that some columns are nearly the same"
"""What a promise by an estimated distribution rests on where copies hardly tell columns apart."""
AUTO = "auto"
"""The statistic that `selectors.statistic_choice` chooses."""


class KnockoffSelector(Selector):
    """Base of the selectors that compare variables with knockoff copies."""

    sampler: Any
    statistic: str
    lam: Any
    estimator: Any
    n_jobs: int | None
    random_state: Any
    exchangeability_: Exchangeability | None
    law_: str | None
    _prepared: KnockoffComparison | None = None
    """What `AutoSelection` has made of the same table with the same seed, for the next fit."""
    sampler_: str
    statistic_: str
    _nearly_the_same: bool = False
    """Whether columns are so correlated that an estimated distribution hardly tells them apart."""
    _sampler_notes: tuple[str, ...] = ()
    _statistic_notes: tuple[str, ...] = ()

    def _compare(
        self, data: Data, table: Array, n_copies: int, n_joint: int = 1
    ) -> KnockoffComparison:
        """Prepare up to so many copies of the columns, or one set of joint copies."""
        if data.l1_ratio < 1.0 and self.statistic_ in ("correlation", *MASKED):
            raise ArgumentError(
                "l1_ratio is a setting of the penalised fit, and "
                f"statistic={self.statistic_!r} fits none."
            )
        sampler, spare = self._sampler_of(data, table, n_joint)
        if data.keep is not None and not sampler.exchangeable:
            raise DoesNotApply(
                "sampler: fixed-X knockoffs know no covariates to keep; use sampler='gaussian'."
            )
        if data.member is None and _has_groups(sampler, data):
            raise ArgumentError("sampler is for groups of columns; give groups= too.")
        drawn = getattr(sampler, "n_joint", 1)
        if drawn not in (1, n_joint):
            raise ArgumentError(
                f"sampler draws {drawn} joint copies, and {n_joint} will do here; joint_copies of "
                "KnockoffSelection says how many."
            )
        if n_joint > 1 and (data.keep is not None or data.units is not None):
            raise DoesNotApply(
                "joint_copies: several joint copies know neither keep nor rows_of; use one."
            )
        named = isinstance(self.sampler, str)
        columns = int(np.count_nonzero(data.varies)) if named else table.shape[1]
        sampler.needs(len(table), columns, data.loss)
        prepared, self._prepared = self._prepared, None
        try:
            # a constant column has no copy, and needs none
            found = (
                KnockoffComparison(
                    data, table, sampler, seed_sequence(self.random_state), n_copies=n_copies,
                    drop_constant=named, n_joint=n_joint, spare=spare,
                )
                if prepared is None
                else prepared.with_copies(n_copies)
            )  # fmt: skip
        except ColumnError as error:
            raise error.named(self._column_names()[error.column]) from None
        for doubt in found.sampler.doubts(table):
            listed = f": {self._listed(doubt.columns)}" if doubt.columns else ""
            # what is measured of the copies decides whether it matters
            self._caution(f"{doubt.clause}{listed}", act=False)
        law = getattr(found.sampler, "law", None)
        self.law_ = law if isinstance(law, str) else None
        self._say_replaced(found)
        self._say_nearly_the_same(found, data)
        if found.grouped and data.n_units < columns:
            self._caution(
                f"the covariance of the means of {columns} columns is estimated from "
                f"{data.n_units} groups of rows only",
                act=False,
            )
        return found

    def _say_replaced(self, found: KnockoffComparison) -> None:
        """Say where copies did not behave like the columns, and what took their place."""
        if found.replaced is None:
            return
        ratio, structure = f"(ratio {found.replaced.departure:.3g})", found.sampler.structure
        if found.spared:
            first, self.sampler_ = self.sampler_, GAUSSIAN
            self._sampler_notes = ()
            text = (
                f"knockoff copies by sampler={first!r} did not behave like the columns {ratio}, so "
                f"they are made by sampler={GAUSSIAN!r}, whose copies are closer to them"
            )
            if structure:
                text += f"; their covariance is estimated as if {structure}"
        else:
            text = (
                "knockoff copies by the shrunk covariance of the table did not behave like the "
                f"columns {ratio}, so they are drawn from another estimate, which describes "
                f"left-out rows better and takes for granted that {structure}"
            )
        self._caution(text, act=False)

    def _say_nearly_the_same(self, found: KnockoffComparison, data: Data) -> None:
        """Say which columns an estimated distribution hardly tells apart."""
        self._nearly_the_same = False
        if found.sampler.exact:
            return
        size, first, second = most_correlated(data)
        self._nearly_the_same = size > LARGEST_CORRELATION
        if self._nearly_the_same:
            names = self._column_names()
            self._caution(
                f"columns {names[first]} and {names[second]} are nearly the same (correlation "
                f"{size:.3f}), and knockoff copies from an estimated distribution may take one for "
                "the other, so that more false variables are selected than the level allows; "
                "groups='correlation' selects such columns together",
                act=False,
            )

    def _sampler_of(self, data: Data, table: Array, n_joint: int) -> tuple[Sampler, Sampler | None]:
        """Return the sampler that was asked for, or the one that suits the columns and a spare."""
        sampler = as_sampler(self.sampler)
        self.sampler_ = self.sampler if isinstance(self.sampler, str) else repr(self.sampler)
        self._sampler_notes = ()
        if not isinstance(sampler, AutomaticSampler):
            return sampler, None
        choice = sampler_choice(data, table, n_joint)
        self.sampler_, self._sampler_notes = choice.name, (choice.sentence,)
        return as_sampler(choice.name), choice.spare

    @property
    def notes_(self) -> tuple[str, ...]:
        """Sentences on what was noticed, and which sampler and statistic were chosen and why."""
        return (*super().notes_, *self._chosen_notes())

    def _chosen_notes(self) -> tuple[str, ...]:
        """Return sentences on what was chosen where the user left it open."""
        return (*self._statistic_notes, *self._sampler_notes)

    def _measure(
        self,
        data: Data,
        penalty: float | None = None,
        *,
        n_joint: int = 1,
        coefficients: str = "",
    ) -> Measure:
        """Return how variables are compared, with the selector's penalty or one for all copies.

        Parameters
        ----------
        data : Data
        penalty : float, optional
        n_joint, coefficients
            As in `statistic_choice`.
        """
        statistic = choice("statistic", self.statistic, (AUTO, *STATISTICS))
        self._statistic_notes = ()
        if statistic == AUTO:
            chosen = statistic_choice(
                data, self.lam, self.estimator, n_joint=n_joint, coefficients=coefficients
            )
            statistic = chosen.name
            if self.estimator is None:
                self._statistic_notes = (chosen.sentence,)
        self.statistic_ = statistic
        if statistic in MASKED and self.estimator is not None:
            raise ArgumentError(
                f"estimator takes the place of a statistic, and statistic={statistic!r} is another."
            )
        if statistic in MASKED and not isinstance(self.lam, str):
            raise ArgumentError(
                f"lam is a setting of the penalised fit, and statistic={statistic!r} fits none."
            )
        if penalty is None:
            penalty = fixed_penalty(self.lam)
        return Measure(statistic, penalty, self.estimator)

    def _check_level(self, fdr: float, p: int, least: int) -> None:
        """Say so where a selection has more variables, at least, than there are."""
        if least > p:
            said = f"A selection at FDR {fdr:g} has at least {least} variables, and there are {p}"
            warn(self._words(f"{said}: nothing can be selected."), AssumptionWarning)

    def _promise(
        self,
        found: KnockoffComparison,
        controls: str,
        level: float,
        source: str,
        *,
        proven: bool = True,
        settings: str = "",
    ) -> Guarantee:
        """Return what a rule promises with these copies.

        It warns where the copies are not exchangeable with the columns, and withdraws the promise
        where they are far from it.

        Parameters
        ----------
        found : KnockoffComparison
        controls, level, source, settings
            As in `Guarantee`.
        proven : bool
            Whether a theorem covers the rule.
        """
        sampler, copies = found.sampler, found.exchangeability
        if found.units is not None and not found.grouped:
            return no_guarantee(
                "rows that belong together depend on each other, and these knockoff copies are "
                "drawn row by row; sampler='gaussian' draws them for groups of rows"
            )
        mismatch = f", so {sampler.mismatch}" if sampler.mismatch else ""
        if copies is not None and copies.departure > WITHDRAWN_RATIO:
            self._caution(f"{copies.measured}{mismatch}; no error rate is promised")
            return no_guarantee(
                f"the knockoff copies do not behave like the columns: {copies.measured}",
                withdrawn=True,
            )
        doubtful = copies is not None and copies.differs
        if copies is not None and doubtful and (sampler.exact or copies.departure > DOUBTFUL_RATIO):
            self._caution(f"{copies.measured}{mismatch}; the level may be exceeded")
        # some copies allow statistics of inner products only; folds, the random numbers that follow
        # the order of masked pairs, and most estimators look at single rows. "bayes" does not
        # depend on that order: `statistics.bayes` has the argument
        part = ""
        if self.estimator is not None:
            part = "the estimator"
        elif self.statistic_ in SAMPLED:
            part = "the order of the masked pairs"
        elif self.statistic_ == "coefficient" and isinstance(self.lam, str):
            part = "the cross-validated penalty"
        row_wise = not sampler.any_statistic and bool(part)
        rests_on = sampler.assumption
        if row_wise:
            rests_on += (
                f", and it does not matter that {part} uses single rows, which the theorem excludes"
            )
        if not sampler.exact and copies is not None and copies.ratio is None:
            rests_on += f" (not checked: this needs {FEWEST_ROWS} rows)"
        if found.keeps and not found.conditioned:
            rests_on += ", and the predictors do not depend on the covariates that are kept"
        if found.grouped:
            rests_on += ", and the rows of a group differ from its mean by chance alone"
        promise = Guarantee(
            controls,
            level,
            proven and sampler.exact and not row_wise and not doubtful,
            rests_on,
            source,
            settings,
        )
        if self._nearly_the_same:
            promise = promise.supposing(_NEARLY_THE_SAME)
        if not sampler.exchangeable and found.weighted:
            promise = promise.supposing(_WEIGHTED)
        if sampler.exchangeable and self._grouping is not None and self._grouping.formed:
            promise = promise.supposing(SAME_ROWS)
        return promise


def _has_groups(sampler: Sampler, data: Data) -> bool:
    """Tell whether a group of columns of a sampler has more than one variable."""
    own = sampler.groups
    if own is None:
        return False
    variable = np.arange(own.size) if data.variable is None else data.variable
    if own.size != variable.size:
        return True
    pairs = np.unique(np.stack([own, variable]), axis=1)
    return bool(pairs.shape[1] > np.unique(own).size)


class _Settings(NamedTuple):
    """What a fit was asked for; parameters may be others by now."""

    fdr: float
    copies: int
    offset: int


class KnockoffSelection(KnockoffSelector, AfterTheFit):
    """Selects variables that are clearly ahead of their knockoff copies, at an FDR level.

    Parameters
    ----------
    fdr : float
        Target false discovery rate.
    offset : {0, 1}
        1 is knockoff+, which controls the FDR; 0 the plain filter, which controls a modified one.
    joint_copies : int
        Number m of copies that are exchangeable with the columns and with each other, all in one
        fit (Gimenez and Zou 2019). A selection then has at least 1 / (m fdr) variables, where one
        copy needs 1 / fdr; the fit has m + 1 times as many columns. For normal columns.
    sampler : str, sampler object or callable
        "auto": by the kinds of the columns (`sampling.automatic`), "gaussian" where all are
        continuous, "sequential" where some hold classes or counts, "genotypes" for numbers of
        alleles along a chromosome. "gaussian": mean and covariance of the columns are estimated
        (Ledoit and Wolf, or where its copies do not behave like the columns by the law that suits
        them, see docs/copies); a `GaussianKnockoffs` with a known or estimated covariance.
        "sequential": each column is drawn by a model of it given the others. "genotypes" and
        "markov" fit a hidden Markov model to numbers of alleles, or a Markov chain to discrete
        columns. "fixed": fixed-X knockoffs. "iid": the article's independent copies. Or a
        `sampling.Sampler`, an object with its method `copies`, or a function of (X, rng) that
        returns a copy.
    statistic : {"auto", "bayes", "coefficient", "entry", "correlation", "mlr"}
        As in `statistics.knockoff_statistic`; docs/statistics says when which finds most. "auto":
        "bayes"; where `lam`, `l1_ratio`, `estimator` or several joint copies are given, for several
        classes and for very large tables "coefficient".
    lam : {"auto", "cv"} or float
        Penalty of "coefficient", in glmnet's unit; by default cross-validated on both halves.
    l1_ratio : float
        Below 1, "coefficient" and "entry" are those of an elastic net, as in
        `StabilitySelection`; a copy has the ridge of its variable.
    estimator : scikit-learn estimator, optional
        Base learner whose importances are compared instead.
    groups : sequence, mapping, "correlation" or ("correlation", cut), optional
        As in `StabilitySelection`. Copies need to be exchangeable with the columns only if whole
        groups change places, so that they can differ more from columns that are much alike: those
        of a `GaussianKnockoffs` are made for it.
    confidence : float
        Probability with which bounds on the false variables of any list hold, all at once
        (`fdp_bound`). It does not change what is selected.
    response, n_jobs, random_state
        As in `StabilitySelection`.

    Attributes
    ----------
    statistics_ : array of shape (p,), or (K,) for K groups
        W: positive where a variable is ahead of its copy. With several joint copies, by how much
        the largest of all versions is ahead of the median of the others; negative where that is a
        copy.
    threshold_ : float
        Smallest W that is selected; infinite if none is.
    sampler_ : str
        Name of the sampler that made the copies, or what a given one is called.
    statistic_ : str
        Name of the statistic that compared variables with their copies, unless `estimator` did.
    law_ : str or None
        Name of the law of the columns that normal copies were drawn from (`sampling.laws`), where
        it was estimated.
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
        joint_copies: int = 1,
        sampler: Any = "auto",
        statistic: str = AUTO,
        lam: Any = "auto",
        l1_ratio: float = 1.0,
        estimator: Any = None,
        groups: Any = None,
        confidence: float = CONFIDENCE,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fdr = fdr
        self.offset = offset
        self.joint_copies = joint_copies
        self.sampler = sampler
        self.statistic = statistic
        self.lam = lam
        self.l1_ratio = l1_ratio
        self.estimator = estimator
        self.groups = groups
        self.confidence = confidence
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, data: Data, table: Array) -> None:
        error_level("confidence", self.confidence)
        m = count("joint_copies", self.joint_copies, at_most=_MOST_JOINT)
        measure = self._measure(data, n_joint=m)
        self._of_fit = _Settings(self.fdr, m, self.offset)
        if m > 1 and self.offset != 1:
            raise ArgumentError("offset must be 1 with several joint copies.")
        found = self._compare(data, table, 1, m)
        self.exchangeability_ = found.exchangeability
        if m > 1:
            wins = joint_wins(found.importances(measure, self.n_jobs))
            self.statistics_ = np.where(wins.winner == 0, wins.lead, 0.0 - wins.lead)
            self.threshold_ = joint_threshold(wins.winner, wins.lead, m, self.fdr)
        else:
            self.statistics_ = found.statistics(1, measure, self.n_jobs)[0]
            self.threshold_ = float(knockoff_threshold(self.statistics_, self.fdr, self.offset))
        if self.offset == 1:
            self._check_level(self.fdr, self.statistics_.size, self._fewest())
        self.support_ = self.statistics_ >= self.threshold_
        what = "false discovery rate" if self.offset == 1 else "modified false discovery rate"
        one = "Barber and Candès 2015; Candès et al. 2018"
        source = one if m == 1 else "Gimenez and Zou 2019"
        self.guarantee_ = self._promise(found, what, float(self.fdr), source)

    def summary(self) -> Summary:
        """Return the variables by their statistics."""
        check_is_fitted(self)
        needed = f", and {self.threshold_:.3g} was needed" if np.isfinite(self.threshold_) else ""
        return self._ranked(
            f"Knockoffs at FDR {self._of_fit.fdr:g}",
            TableColumn(
                "W", self.statistics_.tolist(),
                f"{self._lead()}{needed}",
            ),
            self.statistics_,
            ties="",
            more=self._bound_columns(),
        )  # fmt: skip

    def _lead(self) -> str:
        """Say what a statistic is, as a clause."""
        if self._of_fit.copies == 1:
            return (
                "how far the variable is ahead of its knockoff copy, an artificial column that "
                "cannot matter; negative where the copy is ahead"
            )
        return (
            f"how far the variable is ahead of the median of its {self._of_fit.copies} knockoff "
            "copies, artificial columns that cannot matter; negative where one of these is the "
            "largest"
        )

    def _fewest(self) -> int:
        """Return how many variables a selection has at least."""
        fdr, copies, offset = self._of_fit
        return ceiling(offset / (copies * fdr)) if offset else 1

    def _bound_columns(self) -> list[TableColumn]:
        """Return the bounds of the lists from the first variable on, as a column of a table."""
        curve = self.fdp_bound()
        assert isinstance(curve, BoundCurve)
        if self.guarantee_.level is None or np.all(curve.false == curve.size):
            return []
        below = {row["W"]: row["false at most"] for row in curve.table}
        return [
            TableColumn(
                "false at most", [below.get(w) for w in self.statistics_.tolist()],
                f"with probability {curve.confidence:g}, so many of the variables from the first "
                "to this one are false at most, for all such lists at once; blank where there is "
                "no bound",
            )
        ]  # fmt: skip

    def _notes(self) -> tuple[str, ...]:
        chosen = self.statistics_ >= self.threshold_
        if self.guarantee_.level is None or not chosen.any():
            return super()._notes()
        bound = self.fdp_bound(chosen)
        assert isinstance(bound, ListBound)
        rests = "" if bound.false is None else " They rest on what the promise rests on."
        return (*super()._notes(), f"{bound.claim}{rests}")

    def _confidence(self) -> float:
        return self.confidence

    def _why(self) -> str:
        least = self._fewest()
        positive = int(np.count_nonzero(self.statistics_ > 0.0))
        have = {0: "none has a larger statistic than its", 1: "1 has a larger statistic than its"}
        ahead = have.get(positive, f"{positive:,} have a larger statistic than their")
        # without copies that are ahead so many would have been selected
        but = ", but too many copies are ahead of their variables by as much" * (positive >= least)
        fewest = "variable" if least == 1 else "variables"
        text = (
            f"At FDR {self._of_fit.fdr:g} knockoffs select at least {least} {fewest} or none, and "
            f"{ahead} {'copy' if positive < 2 else 'copies'}{but}."
        )
        return f"{text}{self._said_after()}"

    def _posthoc_evalues(self) -> tuple[Array, float]:
        check_is_fitted(self)
        fdr, copies, _ = self._of_fit
        return posthoc_evalues(self.statistics_, fdr, joint_copies=copies), float(fdr)

    def _one_copy(self) -> Array:
        check_is_fitted(self)
        return np.asarray(self.statistics_)

    def _demand(self) -> Demand | None:
        return of_copies(self._unit_support().size, 0.5, self._fewest())

    def plot(self, kind: str = "decision") -> Figure:
        """Draw what decided, or bounds on the false variables (needs matplotlib).

        Parameters
        ----------
        kind : {"decision", "bound", "groups"}
            The statistics with the threshold; how many of the variables with the largest
            statistics are false at most; a map of the groups.
        """
        self._get_support_mask()
        choice("kind", kind, ("decision", "bound", "groups"))
        if kind == "groups":
            return self.group_map().plot()
        if kind == "decision":
            return plot_statistics(self.statistics_, self.threshold_, unit=self._unit())
        curve = self.fdp_bound()
        assert isinstance(curve, BoundCurve)
        selected = int(np.count_nonzero(self.statistics_ >= self.threshold_))
        return plot_fdp_bound(
            curve.size, curve.false, curve.confidence, selected=selected, unit=self._unit()
        )
