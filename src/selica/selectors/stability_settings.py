"""What decides in stability selection: its arguments, checked, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.losses import require
from selica._core.validation import choice, count, number, real
from selica.control.stability import ASSUMPTIONS
from selica.control.thresholds import THRESHOLD, USUAL_THRESHOLD
from selica.sampling.weights import SCHEMES
from selica.selectors.base import Selector
from selica.selectors.bounds import Bound, carried, weakest_assumption
from selica.selectors.engine import ENGINES
from selica.selectors.stored import MOST_UNPACKED, P_VALUES_NEED_NUMBERS
from selica.solvers.designs import DesignTable
from selica.statistics import Data

PFER = 1.0
"""False selections that are expected at most where nothing else is asked for."""


class StabilitySettings(Selector):
    """The part of stability selection that settles what was not said.

    Names with an underscore at the end are arguments as used.
    """

    if TYPE_CHECKING:  # arguments, and what a fit made of them
        lam: Any
        resampling: str | None
        resample_rate: float | None
        threshold: float | None
        q: int | None
        pfer: float | None
        assumption: str | None
        fdr: float | None
        engine: str | None
        resampling_: str
        assumption_: str
        engine_: str
        pfer_: float | None
        fdr_: float | None
        q_: int | None

    def _settle(self, data: Data, *, bounded: bool = False) -> None:
        """Set what was not said: what decides, how rows are drawn, and by which engine.

        A false discovery rate is kept by message passing, or by a bound on the number of false
        selections.
        """
        self.fdr_ = None if bounded else self.fdr
        self.pfer_ = self.fdr if bounded else self.pfer
        if self._nothing_decides():
            self.pfer_ = PFER
        by_count = self.pfer_ is not None or self.q is not None
        resampling = self.resampling or ("pairs" if by_count else "bootstrap")
        self.resampling_ = choice("resampling", resampling, SCHEMES)
        assumption = self.assumption or self._usual_assumption(data)
        self.assumption_ = choice("assumption", assumption, ASSUMPTIONS)
        engine = self.engine or ("monte-carlo" if self.fdr_ is None else "auto")
        self.engine_ = choice("engine", engine, ENGINES)

    def _nothing_decides(self) -> bool:
        """Tell whether no argument says how many variables a resample selects."""
        given = (self.fdr, self.pfer, self.q, self.engine, self.resample_rate)
        plain = isinstance(self.lam, str) and self.lam == "auto"
        halves = self.resampling is None or self.resampling == "pairs"
        return plain and halves and all(value is None for value in given)

    def _usual_assumption(self, data: Data) -> str:
        """Return the assumption of the bound where none was named."""
        if self.resampling_ != "pairs":
            return "none"
        if self.pfer_ is None or self.threshold is not None:
            return "r-concave"
        q = carried(data) if self.q is None else count("q", self.q)
        return weakest_assumption(data.n_variables, number("pfer", self.pfer_, at_least=1e-12), q)

    def _rate(self) -> float:
        halves = self.resampling_ == "pairs" and self.resample_rate in (None, 0.5, 1.0)
        if halves or (self.resample_rate is None and self.resampling_ == "subsample"):
            return 0.5
        if self.resample_rate is None:
            return 1.0
        return number("resample_rate", self.resample_rate, at_least=1e-3, at_most=1e3)

    def _rule(self, data: Data, B: int) -> tuple[float, int | None]:
        """Return threshold and q, checked, or determined by the bound that was asked for."""
        p = data.n_variables
        threshold = self.threshold
        if threshold is not None:
            threshold = number("threshold", threshold, at_least=0.0, at_most=1.0)
        q = None if self.q is None else count("q", self.q)
        if q is not None and q > p:
            raise ArgumentError(f"q must be at most the number of variables, {p}; got {q}.")
        if self.fdr is not None:
            given = [name for name in ("threshold", "pfer") if getattr(self, name) is not None]
            if given:
                raise ArgumentError(f"fdr determines the threshold; leave out {given[0]}.")
            real("fdr", self.fdr, at_least=1e-6, at_most=1.0)
        if self.pfer_ is None:
            usual = USUAL_THRESHOLD if q is None else THRESHOLD
            return (usual if threshold is None else threshold), q
        if threshold is not None and q is not None:
            raise ArgumentError("pfer determines q or threshold; give at most one of them.")
        if p < 2:
            if self._grouping is not None and self._grouping.of.size > 1:
                raise RefusedError(
                    "groups: all variables are in one group, and a bound on false selections "
                    "needs two."
                )
            raise RefusedError(
                "X has n_features=1, and a bound on false selections needs two columns."
            )
        pfer = number("pfer", self.pfer_, at_least=1e-12)
        return self._bound().parameters(p, B, pfer, threshold, q, carried(data))

    def _bound(self) -> Bound:
        return Bound(self.assumption_, self.resampling_, self._rate())

    def _analytic(self, data: Data) -> bool:
        """Tell whether message passing is to be tried."""
        engine = self.engine_
        if self.fdr_ is not None and data.stored:
            raise DoesNotApply(P_VALUES_NEED_NUMBERS)
        if engine == "semi-analytic" and not data.varies.any():
            raise RefusedError("X: all columns are constant; there is nothing to select.")
        lasso = self.q_ is None and self.estimator is None
        possible = lasso and np.size(self.lam) == 1 and bool(data.varies.any()) and data.plain
        if engine == "semi-analytic" and not possible:
            raise ArgumentError(
                "engine='semi-analytic' works with the lasso at one penalty: leave out q, pfer "
                "and estimator. It knows neither keep nor rows_of, categories nor missing values."
            )
        if self.fdr_ is not None and not data.plain:
            raise DoesNotApply(
                "Message passing knows neither keep nor rows_of, categories nor missing values."
            )
        if self.fdr_ is not None and not (possible and engine != "monte-carlo"):
            raise ArgumentError(
                "fdr works with the lasso at one penalty, by message passing: leave out q, "
                "estimator and engine='monte-carlo', or use knockoffs."
            )
        if self.fdr_ is not None:
            unchecked = engine == "semi-analytic"
            require("message passing with p-values" if unchecked else "left-out fields", data.loss)
        return engine != "monte-carlo" and possible

    def _may_be_bounded(self, data: Data) -> bool:
        """Tell whether a bound may keep a false discovery rate that message passing cannot."""
        plain = isinstance(self.lam, str) and self.lam == "auto" and self.engine is None
        halves = self.resampling in (None, "pairs") and self.resample_rate is None
        return self.fdr is not None and plain and halves and data.n_variables > 1

    def _reads_stored(self) -> bool:
        """Tell whether the first variables of halves decide, or may keep a rate."""
        given = (self.pfer, self.q, self.fdr)
        decides = self._nothing_decides() or any(value is not None for value in given)
        return decides and self.estimator is None

    def _unpacks(self, table: DesignTable) -> bool:
        """Tell whether p-values are computed, which needs ordinary numbers."""
        return self.fdr is not None and table.shape[0] * table.shape[1] <= MOST_UNPACKED
