"""The selector that chooses a method by the table and what is asked, and selects with it.

`choice` has the rules. What is asked for is a bound on the expected number of false selections
(`pfer`), one if nothing is said. A false discovery rate (`fdr`) is kept in one of three ways:

- by e-values of knockoffs, where these are used and columns depend on each other, or there are no
  p-values. E-values select at least about half of one over the rate, or none; where they select
  none, one of the next two takes their place;
- by p-values of stability selection, from 50 columns on and where they are known;
- by allowing that many false selections: the share of false ones is not zero only if there is one,
  and the chance of that is at most their expected number.

A probability of k or more false selections (`kfwer`) is at most their expected number over k.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import DoesNotApply
from selica._core.random import seed_sequence
from selica._core.rounding import ceiling
from selica._core.types import Array
from selica._core.validation import number
from selica._core.warning import warn, withheld
from selica.control import averaged_level
from selica.sampling.exchangeability import FEWEST_ROWS
from selica.selectors.after_fit import (
    AfterTheFit,
    BoundCurve,
    ListBound,
    PosthocLevel,
)
from selica.selectors.base import Selector
from selica.selectors.calibration import calibration_route
from selica.selectors.choice import KNOCKOFFS, NAMES, STABILITY, Choice, choose, too_large
from selica.selectors.comparison import KnockoffComparison
from selica.selectors.derandomized import (
    DerandomizedKnockoffs,
    checked_kfwer,
    copies_for,
    rate_given,
)
from selica.selectors.drawing import number_drawn
from selica.selectors.empty import Demand
from selica.selectors.engine import excess_correlation
from selica.selectors.guarantee import Guarantee, kept_by_number
from selica.selectors.stability import StabilitySelection
from selica.selectors.stability_settings import PFER
from selica.selectors.summary import Summary
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEPENDENT = 0.4
"""Columns depend on each other from this number on: the squared correlations of a column with all
others, summed up, beyond chance and on average. It is 0.67 where neighbours are correlated by 0.5,
and 0.2 where they are by 0.3."""
FEWEST_PVALUE_COLUMNS = 50
"""Columns from which on p-values of stability selection keep a false discovery rate."""
P_VALUES = "stability-fdr"
"""Name of stability selection with p-values, in the catalogue."""
EVALUES = "knockoffs-evalues"
"""Name of derandomized knockoffs with e-values, in the catalogue."""
_WHY_PVALUES = (
    f"Stability selection with p-values ({P_VALUES}) was chosen because a false discovery rate is "
    "asked for: p-values find few variables as well as many."
)
"""What is said first where p-values keep a rate."""
_TOOK_THE_PLACE = (
    "{} took the place of derandomized knockoffs with e-values, which selected nothing: they "
    "select at least {} variables or none."
)
"""What is said where another method selects and e-values do not."""
_DEPEND = "columns depend on each other, "
"""What speaks for e-values where there are p-values, too, as the beginning of a clause."""
_IF_LESS = (
    f"Stability selection with p-values ({P_VALUES}) would have been chosen for columns that "
    "depend less on each other."
)
"""When p-values would have been chosen in the place of e-values."""
_BY_RESPONSE = "it does not matter that the response decided whether e-values or {} keep it"
"""What a promise rests on where another method takes the place of e-values, as a clause."""
_WHY_NO_PVALUES = (
    f"Stability selection with a bound ({STABILITY}) was chosen because p-values cannot be trusted "
    "on these data; a note says why."
)
"""What is said where p-values were to keep a rate and a bound took their place."""
_PASSED_ON = (
    "n_features_in_",
    "feature_names_in_",
    "response_",
    "classes_",
    "_variable",
    "_columns",
    "_references",
    "_grouping",
)
"""What the chosen selector has to know of the table."""
USUAL_COPIES = 31
"""Knockoff copies where nothing else is asked for."""
MOST_COPIES = 199
"""Knockoff copies where few false selections are allowed, at most."""
USUAL_RESAMPLES = 200
"""Resamples of stability selection where nothing else is asked for."""
WIDE_L1_RATIO = 0.8
"""Share of the l1 norm in the penalty of stability selection where there are more columns than
rows: a little of a ridge keeps correlated columns from throwing each other out."""


class AutoSelection(Selector):
    """Choose a method by the table and what is asked, and select with it.

    Parameters
    ----------
    fdr : float, optional
        False discovery rate to keep, instead of `pfer`.
    pfer : float, optional
        Expected number of false selections to allow; 1 if nothing else is given.
    kfwer : tuple (k, level), optional
        Probability of k or more false selections to allow, instead of `pfer`.
    n_resamples : int or "auto", optional
        Resamples of stability selection, 200 by default, or knockoff copies, 31 by default (more
        where fewer than 0.0625 false selections are allowed). "auto": as many as settle the
        decisions, as in `StabilitySelection` and `DerandomizedKnockoffs`.
    groups, response, n_jobs, random_state
        As in `StabilitySelection`.

    Attributes
    ----------
    selector_ : selector
        The chosen one, fitted.
    method_ : {"knockoffs-frequency", "knockoffs-evalues", "stability-fdr", "stability-pfer"}
        Its name in the catalogue, and on the command line.
    reason_ : str
        Two sentences: what was chosen and why, and when it would have been another method.
    support_, guarantee_

    Notes
    -----
    Derandomized knockoffs are chosen where they are affordable and their copies pass as columns,
    stability selection elsewhere; `docs/choosing.md` has the table and what both find on tables of
    many kinds. The choice looks at the columns and their number, and not at what the response says
    of them, with two exceptions, under which a promise is expected and not proven: e-values that
    select nothing leave a false discovery rate to p-values or to a bound, and p-values that turn
    out not to be trusted leave it to a bound.

    Examples
    --------
    >>> from selica import AutoSelection
    >>> from selica.sampling import simulate
    >>> data = simulate(200, 30, 5, snr=10.0, random_state=0)
    >>> selector = AutoSelection(random_state=0).fit(data.X, data.y)
    >>> selector.method_, int((selector.support_ & ~data.support).sum())
    ('knockoffs-frequency', 0)
    """

    def __init__(
        self,
        *,
        fdr: float | None = None,
        pfer: float | None = None,
        kfwer: tuple[int, float] | None = None,
        n_resamples: int | str | None = None,
        groups: Any = None,
        response: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.fdr = fdr
        self.pfer = pfer
        self.kfwer = kfwer
        self.n_resamples = n_resamples
        self.groups = groups
        self.response = response
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _finish(self) -> None:
        # what is known of the rows and of identical columns is as true of the chosen selector
        self.selector_.guarantee_ = self.guarantee_
        self.selector_._of_copies = self._of_copies
        self.selector_.duplicates_ = self.duplicates_
        self.selector_.near_duplicates_ = self.near_duplicates_
        self.selector_.cautions_ = self.cautions_
        self.selector_._noticed = self._noticed
        self.selector_._list_members()

    def _select(self, data: Data, table: Array) -> None:
        rate_given(self)  # refuses several
        if self.fdr is not None:
            number("fdr", self.fdr, at_least=1e-6, at_most=1.0)
        if self.n_resamples is not None:
            number_drawn("n_resamples", self.n_resamples, 2, at_least=2)
        seed = seed_sequence(self.random_state)
        by_pvalues = self._has_pvalues(data)
        choice = None if by_pvalues and not _dependent(data) else choose(data, table, seed)
        made = None if choice is None else choice.comparison
        fitted = partial(self._fitted, data=data, table=table, seed=seed, made=made)
        if choice is None or (by_pvalues and choice.method == STABILITY):
            why = f"{_WHY_PVALUES}{_why_no_evalues(choice, data, table)}"
            self._by_one(P_VALUES, why, fitted)
        elif self.fdr is None or choice.method == STABILITY:
            self._by_one(choice.method, choice.sentences(), fitted)
        else:
            self._by_evalues(choice, P_VALUES if by_pvalues else KNOCKOFFS, data, fitted)
        self.cautions_ = (*self.cautions_, *self.selector_.cautions_)
        self.support_ = self.selector_.support_
        self.stability_ = self.selector_.stability_
        self.guarantee_ = self._as_asked(self.selector_.guarantee_)
        self._of_copies = self.selector_._of_copies

    def _fitted(
        self,
        method: str,
        data: Data,
        table: Array,
        seed: np.random.SeedSequence,
        made: KnockoffComparison | None,
    ) -> Any:
        """Return the selector of a method, fitted, with copies that were made for the choice."""
        chosen = self._chosen(method, data, seed)
        if isinstance(chosen, DerandomizedKnockoffs):
            chosen._prepared = made
        for name in _PASSED_ON:
            if hasattr(self, name):
                setattr(chosen, name, getattr(self, name))
        chosen._select(data._replace(l1_ratio=chosen._share()), table)
        return chosen

    def _by_one(self, method: str, why: str, fitted: Callable[[str], Any]) -> None:
        """Select by one method, or by a bound where p-values turn out not to be trusted."""
        self.method_, self.reason_, self.selector_ = method, why, fitted(method)
        if method == P_VALUES and self.selector_.fdr_ is None:
            self.method_, self.reason_ = STABILITY, _WHY_NO_PVALUES

    def _by_evalues(
        self, choice: Choice, spare: str, data: Data, fitted: Callable[[str], Any]
    ) -> None:
        """Keep a false discovery rate by e-values, and by another method where these are empty."""
        why = _WHY_PVALUES if spare == P_VALUES else choice.because_of(spare)
        level = float(self.fdr or 0.0)
        if level >= 1.0:  # every list keeps it; e-values are for levels below
            self._by_one(spare, why, fitted)
            return
        copies = self.n_resamples if isinstance(self.n_resamples, int) else USUAL_COPIES
        least = ceiling(1.0 / averaged_level(level, 0.5 * level, copies))
        many = min(int(np.count_nonzero(data.varies)), data.n_variables)
        if many < least:
            why = f"{why} E-values ({EVALUES}) select at least {least} variables or none"
            self._by_one(spare, self._words(f"{why}, and the table has {many}."), fitted)
            return
        self.method_, self.reason_ = EVALUES, choice.sentences(EVALUES)
        if spare == P_VALUES:
            self.reason_ = f"{choice.because_of(EVALUES, _DEPEND)} {_IF_LESS}"
        with withheld() as said:
            self.selector_ = fitted(EVALUES)
        if self._is_open(self.selector_):
            with withheld() as also:
                other = fitted(spare)
            if spare == P_VALUES and other.fdr_ is None:
                spare = STABILITY  # p-values could not be trusted, and a bound took their place
            name = f"{NAMES[spare]} ({spare})"
            if other.support_.any() and other.guarantee_.level is not None:
                least = ceiling(1.0 / self.selector_._raised_level_of_fit)
                self.method_, self.selector_, said = spare, other, also
                self.reason_ = self._words(_TOOK_THE_PLACE.format(name, least))
            else:
                self.reason_ += f" {name} would select nothing either."
        for one in said:
            warn(*one)
        promise = self.selector_.guarantee_
        if promise.level is not None:
            clause = _BY_RESPONSE.format("p-values" if spare == P_VALUES else "a bound")
            # the level that is proven for e-values does not count what takes their place
            settings = "" if self.method_ == EVALUES else promise.settings
            self.selector_.guarantee_ = replace(promise.supposing(clause), settings=settings)

    @staticmethod
    def _is_open(selector: DerandomizedKnockoffs) -> bool:
        """Tell whether e-values leave the question to another method: all copies select nothing."""
        empty = not selector.support_.any() and selector.guarantee_.level is not None
        return empty and not selector._stopped

    def _as_asked(self, promise: Guarantee) -> Guarantee:
        """Return a promise on false selections in the words of what was asked for."""
        if promise.level is None or "number" not in promise.controls:
            return promise
        if self.fdr is not None:
            return kept_by_number(promise, self.fdr)
        if self.kfwer is not None:
            k, _ = checked_kfwer(self.kfwer)
            what = f"probability of {k} or more false selections"
            said = (
                f"This level is kept by allowing at most {promise.level:.3g} false variables on "
                "average."
            )
            return replace(promise, controls=what, level=promise.level / k, settings=said)
        return promise

    def _chosen(self, method: str, data: Data, seed: np.random.SeedSequence) -> Any:
        """Return the selector of a method, with what was asked for."""
        common: dict[str, Any] = {
            "groups": self.groups,
            "response": self.response,
            "n_jobs": self.n_jobs,
            "random_state": seed,
        }
        if method == P_VALUES:
            if self.n_resamples is not None:
                common["n_resamples"] = self.n_resamples
            return StabilitySelection(fdr=self.fdr, **common)
        if method == STABILITY:
            allowed = self._allowed()
            return StabilitySelection(
                pfer=allowed, n_resamples=self.n_resamples or USUAL_RESAMPLES,
                l1_ratio=WIDE_L1_RATIO if data.X.shape[1] > data.n_rows else 1.0, **common,
            )  # fmt: skip
        if method == EVALUES:
            return DerandomizedKnockoffs(
                self.fdr, n_copies=self.n_resamples or USUAL_COPIES, **common
            )
        allowed = self._allowed() or PFER
        copies = self.n_resamples or min(max(USUAL_COPIES, copies_for(allowed)), MOST_COPIES)
        if self.kfwer is not None:
            return DerandomizedKnockoffs(kfwer=self.kfwer, n_copies=copies, **common)
        return DerandomizedKnockoffs(pfer=allowed, n_copies=copies, **common)

    def _has_pvalues(self, data: Data) -> bool:
        """Tell whether p-values can keep the false discovery rate that is asked for."""
        enough = data.n_variables >= FEWEST_PVALUE_COLUMNS and data.n_rows >= FEWEST_ROWS
        if self.fdr is None or not (enough and data.plain):
            return False
        try:
            calibration_route(data, "auto")
        except DoesNotApply:
            return False
        return True

    def _allowed(self) -> float | None:
        """Return the false selections that keep what was asked for; None if nothing was."""
        if self.kfwer is not None:
            k, level = checked_kfwer(self.kfwer)
            return k * level
        if self.fdr is not None:
            return float(self.fdr)
        return None if self.pfer is None else number("pfer", self.pfer, at_least=1e-12)

    def summary(self) -> Summary:
        """Return the variables as the chosen selector ranks them, and why it was chosen."""
        self._get_support_mask()
        found: Summary = self.selector_.summary()
        return replace(found, chosen=self.reason_, notes=tuple(self.selector_._notes()))

    def _notes(self) -> tuple[str, ...]:
        chosen = (
            self.selector_._chosen_notes()
            if isinstance(self.selector_, DerandomizedKnockoffs)
            else ()
        )
        return (self.reason_, *self.selector_._notes(), *chosen)

    def _why(self) -> str:
        return str(self.selector_._why())

    def _demand(self) -> Demand | None:
        demand: Demand | None = self.selector_._demand()
        return demand

    def posthoc(self) -> PosthocLevel:
        """Find the list and the level that the data support, as the chosen knockoffs do.

        Examples
        --------
        >>> from selica import AutoSelection
        >>> from selica.sampling import simulate
        >>> data = simulate(400, 40, 4, snr=20.0, random_state=0)
        >>> selector = AutoSelection(fdr=0.2, n_resamples=5, random_state=0).fit(data.X, data.y)
        >>> selector.method_, round(selector.posthoc().level, 2)
        ('knockoffs-evalues', 0.2)
        """
        return self._chosen_knockoffs().posthoc()

    def level_of(self, names: Any) -> PosthocLevel:
        """Find the level at which a list of one's own may be reported; see `posthoc`."""
        return self._chosen_knockoffs().level_of(names)

    def fdp_bound(
        self, names: Any = None, confidence: float | None = None
    ) -> ListBound | BoundCurve:
        """Bound the number of false variables in any list, as `KnockoffSelection` does."""
        return self._chosen_knockoffs().fdp_bound(names, confidence)

    def _chosen_knockoffs(self) -> AfterTheFit:
        """Return the chosen selector, if it can say more of lists after the fit."""
        self._get_support_mask()
        if self.fdr is not None and self.method_ == KNOCKOFFS:
            raise DoesNotApply(
                "Levels after the fit need e-values, which could select nothing here; "
                "DerandomizedKnockoffs(fdr=...) has them."
            )
        if not isinstance(self.selector_, AfterTheFit):
            raise DoesNotApply(
                f"{self.method_} was chosen: levels and bounds after the fit need knockoff copies."
            )
        return self.selector_

    def plot(self) -> Figure:
        """Draw what the chosen selector measured (needs matplotlib)."""
        self._get_support_mask()
        figure: Figure = self.selector_.plot()
        return figure


def _dependent(data: Data) -> bool:
    """Tell whether columns depend on each other so much that e-values find more than p-values."""
    excess, _ = excess_correlation(data)
    return bool(excess.size) and float(excess.mean()) > DEPENDENT


def _why_no_evalues(choice: Choice | None, data: Data, table: Array) -> str:
    """Say why p-values keep a rate and e-values do not, as a sentence, if there is a choice."""
    if choice is not None:
        return f" Derandomized knockoffs with e-values were not chosen because {choice.because}."
    if too_large(data, table):
        return ""
    return (
        " Derandomized knockoffs with e-values would have been chosen for columns that depend more "
        "on each other, if knockoff copies behave like them."
    )
