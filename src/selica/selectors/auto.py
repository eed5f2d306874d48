"""The selector that chooses a method by the table and what is asked, and selects with it.

`choice` has the rules. What is asked for is a bound on the expected number of false selections
(`pfer`), one if nothing is said. A false discovery rate (`fdr`) is kept in one of three ways. From
200 columns and a rate of 0.2 on, where knockoffs are used, e-values keep it: they select at least
about half of one over the rate, or none. Elsewhere p-values of stability selection keep it, from 50
columns on and where they are known. On all other tables it is kept by allowing that many false
selections: the share of false ones is not zero only if there is one, and the chance of that is at
most their expected number. A
probability of k or more false selections (`kfwer`) is at most their expected number over k.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.random import seed_sequence
from selica._core.rounding import ceiling
from selica._core.types import Array
from selica._core.validation import number
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
from selica.selectors.choice import KNOCKOFFS, STABILITY, Choice, choose
from selica.selectors.derandomized import DerandomizedKnockoffs, checked_kfwer, copies_for
from selica.selectors.drawing import number_drawn
from selica.selectors.empty import Demand
from selica.selectors.guarantee import Guarantee, kept_by_number
from selica.selectors.stability import PFER, StabilitySelection
from selica.selectors.summary import Summary
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST_EVALUE_COLUMNS = 200
"""Columns from which on e-values keep a false discovery rate."""
SMALLEST_EVALUE_FDR = 0.2
"""False discovery rate from which on e-values keep it: at 0.1 they need six variables that matter,
and p-values are never empty for lack of them."""
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
_WHY_NO_PVALUES = (
    f"Stability selection with a bound ({STABILITY}) was chosen because p-values cannot be trusted "
    "on these data; a note says why."
)
"""What is said where p-values were to keep a rate and a bound took their place."""
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
    many kinds. The choice looks at the columns and their number, and not at what
    the response says of them; only p-values that turn out not to be trusted are given up for a
    bound by a look at the response, and the promise is then expected and not proven.

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
        given = [name for name in ("fdr", "pfer", "kfwer") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ArgumentError(f"Give one of fdr, pfer and kfwer; got {' and '.join(given)}.")
        if self.fdr is not None:
            number("fdr", self.fdr, at_least=1e-6, at_most=1.0)
        if self.n_resamples is not None:
            number_drawn("n_resamples", self.n_resamples, 2, at_least=2)
        seed = seed_sequence(self.random_state)
        by_pvalues, by_evalues = self._has_pvalues(data), self._by_evalues(data.n_variables)
        choice = None if by_pvalues and not by_evalues else choose(data, table, seed)
        if choice is None or (by_pvalues and choice.method == STABILITY):
            self.method_ = P_VALUES
            self.reason_ = f"{_WHY_PVALUES} {self._why_no_evalues(data.n_variables, choice)}"
        else:
            self.method_ = EVALUES if by_evalues and choice.method == KNOCKOFFS else choice.method
            self.reason_ = choice.sentences(self.method_)
        self.selector_ = self._chosen(data, seed)
        if choice is not None and isinstance(self.selector_, DerandomizedKnockoffs):
            self.selector_._prepared = choice.comparison
        if self.fdr is not None and self.method_ == KNOCKOFFS:
            many = ceiling(1.0 / averaged_level(self.fdr, 0.5 * self.fdr, USUAL_COPIES))
            self.reason_ += self._words(
                f" If you expect that more than {many} variables matter, e-values "
                "(knockoffs-evalues) find more at this level; with fewer they find none."
            )
        for name in (
            "n_features_in_",
            "feature_names_in_",
            "response_",
            "classes_",
            "_variable",
            "_columns",
            "_references",
            "_grouping",
        ):
            if hasattr(self, name):
                setattr(self.selector_, name, getattr(self, name))
        self.selector_._select(data._replace(l1_ratio=self.selector_._share()), table)
        if self.method_ == P_VALUES and self.selector_.fdr_ is None:
            self.method_ = STABILITY
            self.reason_ = _WHY_NO_PVALUES
        self.cautions_ = (*self.cautions_, *self.selector_.cautions_)
        self.support_ = self.selector_.support_
        self.stability_ = self.selector_.stability_
        self.guarantee_ = self._as_asked(self.selector_.guarantee_)
        self._of_copies = self.selector_._of_copies

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

    def _chosen(self, data: Data, seed: np.random.SeedSequence) -> Any:
        """Return the chosen selector, with what was asked for."""
        common: dict[str, Any] = {
            "groups": self.groups,
            "response": self.response,
            "n_jobs": self.n_jobs,
            "random_state": seed,
        }
        if self.method_ == P_VALUES:
            if self.n_resamples is not None:
                common["n_resamples"] = self.n_resamples
            return StabilitySelection(fdr=self.fdr, **common)
        if self.method_ == STABILITY:
            allowed = self._allowed()
            return StabilitySelection(
                pfer=allowed, n_resamples=self.n_resamples or USUAL_RESAMPLES,
                l1_ratio=WIDE_L1_RATIO if data.X.shape[1] > data.n_rows else 1.0, **common,
            )  # fmt: skip
        if self.method_ == EVALUES:
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

    def _by_evalues(self, p: int) -> bool:
        """Tell whether e-values keep the false discovery rate, where knockoffs are used."""
        return (
            self.fdr is not None and self.fdr >= SMALLEST_EVALUE_FDR and p >= FEWEST_EVALUE_COLUMNS
        )

    def _why_no_evalues(self, p: int, choice: Choice | None) -> str:
        """Say which condition of e-values is missing, as a sentence."""
        if choice is not None:
            return f"Derandomized knockoffs with e-values were not chosen because {choice.because}."
        missing = []
        if self.fdr is not None and self.fdr < SMALLEST_EVALUE_FDR:
            missing.append(
                f"a rate of {SMALLEST_EVALUE_FDR:g} or more (you asked for {self.fdr:g})"
            )
        if p < FEWEST_EVALUE_COLUMNS:
            missing.append(f"{FEWEST_EVALUE_COLUMNS} or more columns (there are {p})")
        return (
            "Derandomized knockoffs with e-values would have been chosen for "
            f"{' and '.join(missing)}, if knockoff copies behave like the columns."
        )

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
        >>> data = simulate(400, 200, 4, snr=20.0, random_state=0)
        >>> selector = AutoSelection(fdr=0.2, n_resamples=5, random_state=0).fit(data.X, data.y)
        >>> selector.method_, round(selector.posthoc().level, 2)
        ('knockoffs-evalues', 0.17)
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
