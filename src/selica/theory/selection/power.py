"""Power: the largest true positive rate at a given false discovery rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import RESAMPLINGS
from selica._core.results import Result, unwrap
from selica._core.types import Array, BoolArray
from selica._core.validation import LARGEST, broadcast, choice, positive, real
from selica.theory.bayes.solution import BayesSolution
from selica.theory.glm.responses import Logistic
from selica.theory.model import Model
from selica.theory.selection.levels import at_level, lasso_at_level
from selica.theory.selection.methods import CEILINGS, LABEL_METHODS, METHODS, solve, solve_ceiling
from selica.theory.selection.penalty import BY_LEVEL, CRITERIA, optimal_lam
from selica.theory.selection.rates import Rates, gap_of_frequency
from selica.theory.solution import (
    KnockoffSolution,
    LassoSolution,
    Solution,
    StabilitySolution,
)
from selica.theory.solve import check_ridge, solve_lasso


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Curve(Result):
    """Power against the false discovery rate; levels run along the last axis of `tpr`.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.12, rho=0.5, Delta=0.01)
    >>> curve = theory.power_curve(model, "stability", [0.05, 0.1], mu_B=2.0)
    >>> curve.fdr.tolist(), curve.tpr.round(3).tolist()
    ([0.05, 0.1], [0.723, 0.769])
    """

    method: str
    fdr: Any
    tpr: Any
    lam: Any
    """Penalty used: one for each model; where it depends on the level, one for each level; NaN for
    methods without a penalty."""

    _columns: ClassVar[tuple[str, ...]] = ("method", "lam", "fdr", "tpr")

    def to_dict(self) -> dict[str, Any]:
        """Arrays at the shape of `tpr`."""
        lam = np.asarray(self.lam)
        if lam.ndim < np.ndim(self.tpr):
            lam = lam[..., None]
        lam, fdr = (np.broadcast_to(a, np.shape(self.tpr)) for a in (lam, self.fdr))
        return {"method": self.method, "lam": lam, "fdr": fdr, "tpr": self.tpr}


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class OperatingPoint(Result):
    """A method at its best threshold for a level: settings, rates and the solution behind them.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.12, rho=0.5, Delta=0.01)
    >>> found = theory.operating_point(model, "stability", fdr=0.1, mu_B=2.0)
    >>> found.threshold_name, round(found.threshold, 3), round(found.tpr, 3)
    ('Pi_th', 0.919, 0.769)
    """

    method: str
    level: Any
    """The FDR level asked for; `fdr` is what the rule has."""
    lam: Any
    threshold_name: Any
    """Which threshold the method moves: lam, w_th, Pi_th, Z_th, g_th or lfdr."""
    threshold: Any
    tpr: Any
    fpr: Any
    fdr: Any
    solution: Solution | BayesSolution

    _columns: ClassVar[tuple[str, ...]] = (
        *("method", "level", "lam", "threshold_name", "threshold", "tpr", "fpr", "fdr"),
    )


def power(
    model: Model,
    method: str,
    fdr: ArrayLike = 0.1,
    lam: ArrayLike | str = "prediction",
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    *,
    lam2: ArrayLike = 0.0,
    response: Logistic | None = None,
) -> Any:
    """Largest true positive rate over the method's threshold with FDR at most `fdr`.

    Parameters
    ----------
    model : Model
    method : {"lasso", "thresholded_lasso", "stability", "knockoff", "derandomized", "bayes", \
            "bayes_amp"}
        For "lasso" the penalty itself is the threshold, and `lam` is not used. "bayes" is the
        ceiling: the best any method can do that knows the law of the effects; "bayes_amp" the best
        that message passing does. See `solve_bayes`; neither has a penalty.
    fdr : float or array in [0, 1]
        Broadcasts against the model.
    lam : {"prediction", "power"}, float or array
        The penalty, or how to choose it; see `optimal_lam`.
    mu_B, resampling
        As in `solve_stability`; used by "stability" only.
    lam2 : float or array
        Ridge part of the penalty, as in `solve_lasso`; a search is over lam at this lam2.
    response : Logistic, optional
        As in `solve_lasso`, for "stability" and "thresholded_lasso".

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.12, rho=0.5, Delta=0.01)
    >>> round(theory.power(model, "stability", fdr=0.1, mu_B=2.0), 4)
    0.769
    >>> round(theory.power(model, "stability", fdr=0.1, mu_B=2.0, lam2=0.1), 4)
    0.6797
    >>> round(theory.power(model, "bayes", fdr=0.1), 4)
    0.8005
    """
    level = real("fdr", fdr, at_least=0.0, at_most=1.0)
    setting = _Setting.of(model, method, lam, lam2, mu_B, resampling, response)
    setting.check_shape(level)
    if method in CEILINGS:
        return unwrap(solve_ceiling(model, method).at_level(level).tpr)
    if method == "lasso":
        return unwrap(lasso_at_level(model, level, lam2=setting.lam2).tpr)
    penalty = setting.penalty(level)
    solution = solve(model, method, penalty, setting.rate, resampling, response, setting.lam2)
    return unwrap(at_level(solution, method, level).tpr)


def power_curve(
    model: Model,
    method: str,
    fdrs: ArrayLike | None = None,
    lam: ArrayLike | str = "prediction",
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    *,
    lam2: ArrayLike = 0.0,
    response: Logistic | None = None,
) -> Curve:
    """Power at many levels; the penalty is chosen once for each model where that is possible.

    Parameters
    ----------
    model, method, lam, mu_B, resampling, lam2, response
        As in `power`.
    fdrs : vector in [0, 1], optional
        Levels; by default 0.005, 0.01, ..., 0.5.

    Returns
    -------
    Curve
        With `tpr` of the shape of the model and lam2 and, last, the number of levels.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    >>> theory.power_curve(model, "derandomized", [0.05, 0.1]).tpr.round(3).tolist()
    [0.863, 0.88]
    """
    levels = np.linspace(0.005, 0.5, 100) if fdrs is None else fdrs
    fdr = np.ravel(real("fdrs", levels, at_least=0.0, at_most=1.0))
    setting = _Setting.of(model, method, lam, lam2, mu_B, resampling, response)
    if method in CEILINGS:
        best = solve_ceiling(model, method).at_level(fdr, own_axis=True)
        return Curve(method, fdr, best.tpr, unwrap(np.full(model.shape, np.nan)))
    if method == "lasso":
        support = lasso_at_level(model, fdr, own_axis=True, lam2=setting.lam2)
        return Curve(method, fdr, support.tpr, support.lam)
    if setting.by_level:
        shape = np.broadcast_shapes(model.shape, setting.lam2.shape)
        four = (model.alpha, model.rho, model.Delta, setting.lam2)
        alpha, rho, Delta, ridge = (np.broadcast_to(a, shape)[..., None] for a in four)
        wide = Model(alpha, rho, Delta, model.effects)
        if response is not None:
            response = Logistic(np.broadcast_to(response.T, shape)[..., None])
        best = optimal_lam(wide, method, criterion="power", fdr=fdr, lam2=ridge, response=response)
        solution = solve(wide, method, best, response=response, lam2=ridge)
        return Curve(method, fdr, at_level(solution, method, fdr).tpr, np.asarray(best))
    penalty = setting.penalty(fdr)
    solution = solve(model, method, penalty, setting.rate, resampling, response, setting.lam2)
    return Curve(method, fdr, at_level(solution, method, fdr, own_axis=True).tpr, unwrap(penalty))


def operating_point(
    model: Model,
    method: str,
    fdr: ArrayLike = 0.1,
    lam: ArrayLike | str = "prediction",
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    *,
    lam2: ArrayLike = 0.0,
    response: Logistic | None = None,
) -> OperatingPoint:
    """The method at the threshold that gives its power: which threshold, and all rates.

    Parameters
    ----------
    model, method, fdr, lam, mu_B, resampling, lam2, response
        As in `power`.

    Returns
    -------
    OperatingPoint
        The threshold is a penalty for "lasso", one on coefficients (w_th) for
        "thresholded_lasso", on selection probabilities (Pi_th) for "stability", on Z (Z_th) for
        "knockoff", and on P(Z > 0) (Pi_th) for "derandomized". Where that probability is all but
        certain, "derandomized" gives the Z_th with P(Z > Z_th) > 1/2 instead; where a probability
        cannot serve as a threshold, the one on the field itself (g_th) is given. That of "bayes"
        and "bayes_amp" is on the posterior probability of being null (lfdr).

    Examples
    --------
    >>> from selica import theory
    >>> found = theory.operating_point(theory.Model(2.5, 0.3, 0.01), "derandomized", fdr=0.1)
    >>> found.threshold_name, round(found.tpr, 3), round(found.fdr, 3)
    ('Pi_th', 0.88, 0.1)
    """
    level = real("fdr", fdr, at_least=0.0, at_most=1.0)
    setting = _Setting.of(model, method, lam, lam2, mu_B, resampling, response)
    setting.check_shape(level)
    if method in CEILINGS:
        ceiling = solve_ceiling(model, method)
        best = ceiling.at_level(level)
        return _point(method, level, ceiling, "lfdr", best.local, best.rates(model.rho))
    if method == "lasso":
        support = lasso_at_level(model, level, lam2=setting.lam2)
        # where no penalty keeps the level, the largest selects nothing
        lasso = solve_lasso(model, np.minimum(support.lam, LARGEST), lam2=setting.lam2)
        return _point(method, level, lasso, "lam", support.lam, lasso.rates())
    penalty = setting.penalty(level)
    solution = solve(model, method, penalty, setting.rate, resampling, response, setting.lam2)
    return point_of(solution, method, level)


def point_of(solution: Solution, method: str, level: Array) -> OperatingPoint:
    """The threshold at a level of a method that looks at solved fits, and all rates."""
    cut = at_level(solution, method, level).threshold
    if method == "knockoff":
        assert isinstance(solution, KnockoffSolution)
        Z_th = cut / solution.curvature
        rates = solution.single_rates(np.clip(Z_th, -LARGEST, LARGEST))
        return _point(method, level, solution, "Z_th", Z_th, rates)
    rates = solution.rates_of_field(cut)
    if isinstance(solution, LassoSolution):
        w_th = np.maximum(cut - solution.lam, 0.0) / solution.curvature
        return _point(method, level, solution, "w_th", w_th, rates)
    some = np.where(np.isfinite(cut), cut, 0.0)
    if isinstance(solution, StabilitySolution):
        chance = np.asarray(solution.selection_probability(some))
    else:
        assert isinstance(solution, KnockoffSolution)
        chance = np.asarray(solution.selection_probability(some, 0.0))
    name = np.where(_usable(chance), "Pi_th", "g_th")
    threshold = np.where(_usable(chance), chance, cut)
    if isinstance(solution, KnockoffSolution):
        # Z > 0 is all but certain at the cut: ask for more than a bare win
        certain = (chance > 0.5) & ~_usable(chance) & np.isfinite(cut)
        if certain.any():
            Z_half = gap_of_frequency(
                0.5, some, solution.v_hat, solution.v_tilde_hat, solution.lam
            ) / np.asarray(solution.curvature)
            name, threshold = np.where(certain, "Z_th", name), np.where(certain, Z_half, threshold)
    none = np.isinf(cut)
    name, threshold = np.where(none, "Pi_th", name), np.where(none, 1.0, threshold)
    return _point(method, level, solution, unwrap(name), threshold, rates)


def _usable(chance: Array) -> BoolArray:
    """Whether a probability is far enough from zero and one to be a threshold."""
    return np.asarray((chance > 1e-7) & (chance < 1.0 - 1e-7))


def _point(
    method: str,
    level: Array,
    solution: Solution | BayesSolution,
    name: Any,
    threshold: Any,
    rates: Rates,
) -> OperatingPoint:
    none = np.full(np.shape(solution.q), np.nan)
    return OperatingPoint(
        method,
        unwrap(level),
        unwrap(none) if isinstance(solution, BayesSolution) else solution.lam,
        name,
        unwrap(threshold),
        rates.tpr,
        rates.fpr,
        rates.fdr,
        solution,
    )


class _Setting(NamedTuple):
    """Checked settings of a method."""

    model: Model
    method: str
    lam: Array | str
    lam2: Array
    rate: Array
    resampling: str
    response: Logistic | None

    @classmethod
    def of(
        cls,
        model: Model,
        method: str,
        lam: ArrayLike | str,
        lam2: ArrayLike,
        mu_B: ArrayLike,
        resampling: str,
        response: Logistic | None,
    ) -> _Setting:
        Model.check(model)
        method = choice(
            "method", method, (*METHODS, *CEILINGS) if response is None else LABEL_METHODS
        )
        if response is not None:
            Logistic.check(response, model)
        choice("resampling", resampling, RESAMPLINGS)
        rate = positive("mu_B", mu_B)
        ridge = check_ridge(lam2)
        penalty = choice("lam", lam, CRITERIA) if isinstance(lam, str) else positive("lam", lam)
        return cls(model, method, penalty, ridge, rate, resampling, response)

    def check_shape(self, fdr: Array) -> None:
        """The level must fit the model; said in the words of the caller."""
        named = self.model.parameters
        if not isinstance(self.lam, str):
            named["lam"] = self.lam
        if self.response is not None:
            named["T"] = np.asarray(self.response.T)
        broadcast(**named, lam2=self.lam2, mu_B=self.rate, fdr=fdr)

    @property
    def by_level(self) -> bool:
        """Whether the penalty has to be chosen for each level."""
        return self.method in BY_LEVEL and isinstance(self.lam, str) and self.lam == "power"

    def penalty(self, fdr: Array) -> Array:
        if not isinstance(self.lam, str):
            return self.lam
        level = fdr if self.by_level else 0.1
        chosen = optimal_lam(
            self.model,
            self.method,
            self.rate,
            self.lam,
            self.resampling,
            fdr=level,
            lam2=self.lam2,
            response=self.response,
        )
        return np.asarray(chosen)
