"""What stability selection says of its selection: probabilities, close calls, paths."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.random import child
from selica._core.types import Array, BoolArray
from selica._core.validation import choice
from selica._core.warning import noted
from selica.control import benjamini_hochberg
from selica.control.thresholds import LOWEST_PROBABILITY
from selica.plots import plot_bars, plot_frequencies
from selica.selectors.agreement import close_by_error
from selica.selectors.calibration import FieldCalibration
from selica.selectors.empty import (
    FDR_LEVELS,
    Demand,
    first_that_selects,
    of_halves,
    of_p_values,
)
from selica.selectors.grouping import REPRESENTATIVES, representative_weights
from selica.selectors.members import Scheme, near, standard_errors
from selica.selectors.stability_path import (
    ROWS,
    WEAKNESS,
    StabilityPath,
    path_penalties,
    path_probabilities,
)
from selica.selectors.stability_settings import StabilitySettings
from selica.selectors.summary import Summary, TableColumn, precision
from selica.statistics import Data

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_MEANING_OF_P_VALUES = (
    "of the association with what is left of the column once the other columns have predicted it, "
    "in the average over the resamples"
)
"""What the p-values of left-out fields are, as a clause."""


class StabilityDescription(StabilitySettings):
    """The part of stability selection that describes what was measured."""

    _title = "Stability selection"
    if TYPE_CHECKING:  # arguments, and what a fit measured
        n_jobs: int | None
        weakness: float
        selection_probabilities_: Array
        probability_path_: Array
        member_probabilities_: Array | None
        threshold_: float
        n_resamples_: int
        lams_: Array | None
        fields_: Any
        calibration_: FieldCalibration | None
        probability_error_: float | None
        _mean_size: Array
        _seed: np.random.SeedSequence

    @property
    def _p_values(self) -> Array:
        """(p,): p-values by which a false discovery rate is kept."""
        found = self.fields_ if self.calibration_ is None else self.calibration_
        return np.asarray(found.p_values)

    def _by_p_values(self, level: float) -> BoolArray:
        """Return what the p-values of the fields select at a level."""
        chosen = benjamini_hochberg(self._p_values, level)
        return np.asarray(chosen & (self.selection_probabilities_ >= LOWEST_PROBABILITY))

    def _errors(self) -> Array | None:
        """Return the standard errors of the probabilities; None where they are not known."""
        members = self.n_resamples_ if self.fields_ is None else None
        return standard_errors(self.selection_probabilities_, members, self.probability_error_)

    def _close(self) -> BoolArray:
        """Return the variables that another seed might decide differently."""
        # a threshold that is one of the probabilities is not one they are close to by chance
        errors = self._errors() if self.fdr_ is None else None
        return near(self.selection_probabilities_, self.threshold_, errors)

    def _notes(self) -> tuple[str, ...]:
        close = int(np.count_nonzero(self._close()))
        if self.stability_ is not None or not close:
            return super()._notes()
        return (*super()._notes(), close_by_error(close))

    def summary(self) -> Summary:
        """Return the variables with their probabilities, the decision, and near misses."""
        self._get_support_mask()
        P = self.selection_probabilities_
        probability = TableColumn("probability", P.tolist(), self._meaning())
        if self.calibration_ is not None:
            return self._ranked(
                self._title,
                TableColumn("p-value", self._p_values.tolist(), _MEANING_OF_P_VALUES),
                -self._p_values, P, self._mean_size, ties="the probability", more=[probability],
            )  # fmt: skip
        # a level decides by p-values, since probabilities may all be one
        evidence = [] if self.fdr_ is None else [-self._p_values]
        by_learner = self.estimator is not None
        coefficients = [] if by_learner else [self._mean_size]
        found = self._ranked(
            self._title, probability, P, *evidence, *coefficients,
            ties="" if by_learner else "the mean coefficient over the resamples",
            more=precision(self._errors(), self._close()),
        )  # fmt: skip
        verb = "reaches" if np.count_nonzero(self._unit_support()) == 1 else "reach"
        return replace(found, title=f"{found.title} {verb} the threshold {self.threshold_:.4g}")

    def _meaning(self) -> str:
        """Say what a probability is, as a clause."""
        rows = {
            "pairs": "random halves of the rows",
            "subsample": "random parts of the rows",
            "bootstrap": "bootstrap samples of the rows",
        }.get(self.resampling_, "resamples of the rows")
        if self.fields_ is not None:
            return f"share of {rows} whose fit would select the variable, by message passing"
        first = "" if self.q_ is None else f" among its first {self.q_}"
        needed = f"; {self.threshold_:.3g} is needed" if np.isfinite(self.threshold_) else ""
        return (
            f"share of {self.n_resamples_:,} {rows} whose fit selects the variable{first}{needed}"
        )

    def _why(self) -> str:
        if self.fdr_ is not None:
            return self._why_no_evidence()
        top = float(self.selection_probabilities_.max())
        if top == 0.0 and self.q_ is None:
            return "No resample selects any variable; a smaller lam would select some."
        if top == 0.0:
            return (
                "No half of the rows selects any variable: no column is associated with the "
                "response."
            )
        many = int(np.count_nonzero(self.selection_probabilities_ == top))
        text = (
            f"The largest probability is {top:.3g}, and a variable needs {self.threshold_:.3g}. "
            f"A threshold of {top:.3g} would select {_variables(many)}"
        )
        if self.q_ is None or not self._bound().proven:
            return f"{text}."
        top_of = self._unit_support().size
        weaker = self._bound().guarantee(top_of, self.n_resamples_, float(self.q_), top, exact=True)
        if weaker.level is None or weaker.level >= top_of:
            return f"{text}, but then no error rate would be controlled."
        return (
            f"{text}, with a bound of {weaker.level:.3g} on the expected number of false "
            "selections."
        )

    def _demand(self) -> Demand | None:
        if self.fdr_ is not None:
            return of_p_values(self._unit_support().size, float(self.fdr_))
        if self.q_ is None or self.resampling_ not in ("pairs", "subsample"):
            return None
        return of_halves(self._unit_support().size, self.q_, self.threshold_)

    def _why_no_evidence(self) -> str:
        P, level = self._p_values, float(self.fdr_ or 0.0)
        text = f"The smallest p-value of a variable is {P.min():.3g}, among {_variables(P.size)}."
        found = first_that_selects(
            [x for x in FDR_LEVELS if x > level],
            lambda x: int(np.count_nonzero(self._by_p_values(x))),
        )
        if found is None:
            return f"{text} No level up to {FDR_LEVELS[-1]:g} selects any."
        return f"{text} On the same data, {found.sentence('FDR')}"

    def representatives(self, kind: str = "sparse") -> Array:
        """Return the weights of the members in the representative of their group, (p,).

        A representative is a weighted mean of the members, one column in the place of several.
        Nothing is promised about it: the promise is about the group.

        Parameters
        ----------
        kind : {"sparse", "weighted", "simple"}
            All weight on the member that resamples select most, shared where several are; by how
            often they select each; the same for all.

        Examples
        --------
        >>> import numpy as np
        >>> from selica import StabilitySelection
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((100, 20))
        >>> y = X[:, 0] + X[:, 1] + rng.standard_normal(100)
        >>> selector = StabilitySelection(groups=np.arange(20) // 2, random_state=0).fit(X, y)
        >>> selector.representatives("simple")[:2].tolist()
        [0.5, 0.5]
        """
        self._get_support_mask()
        if self.groups_ is None:
            raise ArgumentError("groups were not given, so that there is nothing to represent.")
        choice("kind", kind, REPRESENTATIVES)
        if self.member_probabilities_ is None:  # every group has one member
            return np.ones(self.groups_.size)
        return representative_weights(self.member_probabilities_, self.groups_, kind)

    def stability_path(self, X: Any = None, y: Any = None, **arguments: Any) -> StabilityPath:
        """Compute the selection probabilities along the penalty, with the resamples of the fit.

        Parameters
        ----------
        X, y : optional
            The data of the fit. They are needed where the selector does not have them any more:
            it keeps tables of up to 256 MB, and does not take them along when it is pickled.
        **arguments
            Others that `fit` was given, such as `sample_weight`.

        Returns
        -------
        StabilityPath
            At the penalties of the fit where these were several, else at 30 of them. Each resample
            is refitted at each, on columns that are standardised once, whatever decided the
            selection: `q`, a bound, one penalty or message passing.

        Examples
        --------
        >>> from selica import StabilitySelection
        >>> from selica.sampling import simulate
        >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
        >>> path = StabilitySelection(0.2, random_state=0).fit(data.X, data.y).stability_path()
        >>> path.lams.size, round(float(path.lams[-1] / path.lams[0]), 3)
        (30, 0.02)
        """
        self._get_support_mask()
        lams, P = self.lams_, self.probability_path_
        if lams is None or lams.size < 2:
            if self.estimator is not None:
                raise DoesNotApply(
                    "A stability path is about the penalty of the lasso; an estimator has none."
                )
            lams, P = self._path(self._known_data(X, y, arguments))
        return StabilityPath(
            lams, P, tuple(self._unit_names()), self._unit_support(), float(self.threshold_)
        )

    def _path(self, data: Data) -> tuple[Array, Array]:
        """Return penalties, and the probabilities at each of them."""
        lam = None if self.lams_ is None else float(self.lams_[0])
        lams = path_penalties(data, lam)
        scheme = Scheme(self.resampling_, self._rate(), float(self.weakness))
        seeds = (child(self._seed, ROWS), child(self._seed, WEAKNESS))
        return lams, path_probabilities(data, scheme, self.n_resamples_, lams, seeds, self.n_jobs)

    def _known_data(self, X: Any, y: Any, arguments: dict[str, Any]) -> Data:
        """Return the data of the fit, from what is kept or what is given."""
        if X is not None and y is not None:
            again = clone(self).set_params(random_state=self._seed)
            with noted():
                again.fit(X, y, **arguments)
            if not np.array_equal(again.selection_probabilities_, self.selection_probabilities_):
                raise ArgumentError("X and y are not the data that the selector was fitted to.")
            data: Data | None = again._data
        else:
            data = self._data
        if data is None:
            raise ArgumentError(
                "The data of the fit are not kept (they are large, or the selector was pickled): "
                "give them again, as in stability_path(X, y)."
            )
        return data

    def plot(self, kind: str = "probabilities", X: Any = None, y: Any = None) -> Figure:
        """Draw what was measured (needs matplotlib).

        Parameters
        ----------
        kind : {"probabilities", "path", "histogram", "groups"}
            Bars of the first variables; probabilities along the penalty; how many variables have
            which probability; a map of the groups.
        X, y : optional
            The data of the fit, for "path" where the selector does not have them any more; see
            `stability_path`.
        """
        self._get_support_mask()
        choice("kind", kind, ("probabilities", "path", "histogram", "groups"))
        if kind == "groups":
            return self.group_map().plot()
        if kind == "histogram":
            return plot_frequencies(
                self.selection_probabilities_, self.threshold_, unit=self._words("variable")
            )
        if kind == "path":
            return self.stability_path(X, y).plot()
        return plot_bars(self.summary().variables, "probability", threshold=self.threshold_)


def _variables(number: int) -> str:
    return "1 variable" if number == 1 else f"{number} variables"
