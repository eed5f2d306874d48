"""Power: the largest true positive rate at a given false discovery rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from selica._core.results import Result, unwrap
from selica._core.types import Array, BoolArray
from selica._core.validation import LARGEST, real
from selica.catalogue import Method
from selica.theory.bayes.solution import BayesSolution, solve_bayes
from selica.theory.model import Model
from selica.theory.response import RowResponse
from selica.theory.selection.lasso_level import lasso_at_level
from selica.theory.selection.levels import at_level
from selica.theory.selection.penalty import MethodSetting, for_other_response
from selica.theory.selection.rates import Rates, gap_of_frequency
from selica.theory.solution import (
    KnockoffSolution,
    LassoSolution,
    Solution,
    StabilitySolution,
)
from selica.theory.solve import method_of, solve_lasso, warn_unless_converged

_BRANCHES = {"bayes": "information", "bayes-amp": "algorithm"}
"""The branch of the Bayes-optimal solution that each of the best selectors is."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Curve(Result):
    """Power against the false discovery rate; levels run along the last axis of `tpr`.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.12, rho=0.5, Delta=0.01)
    >>> curve = theory.power_curve(model, "stability-ideal", [0.05, 0.1], mu_B=2.0)
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
        """Return arrays by name, at the shape of `tpr`."""
        lam = np.asarray(self.lam)
        if lam.ndim < np.ndim(self.tpr):
            lam = lam[..., None]
        lam, fdr = (np.broadcast_to(a, np.shape(self.tpr)) for a in (lam, self.fdr))
        return {"method": self.method, "lam": lam, "fdr": fdr, "tpr": self.tpr}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class OperatingPoint(Result):
    """A method at its best threshold for a level: settings, rates and the solution behind them.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.12, rho=0.5, Delta=0.01)
    >>> found = theory.operating_point(model, "stability-ideal", fdr=0.1, mu_B=2.0)
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
    response: RowResponse | None = None,
) -> Any:
    """Return the largest true positive rate over the method's threshold with FDR at most `fdr`.

    Parameters
    ----------
    model : Model
    method : {"lasso", "thresholded-lasso", "stability-ideal", "knockoffs-ideal", \
            "knockoffs-frequency", "bayes", "bayes-amp"}
        For "lasso" the penalty itself is the threshold, and `lam` is not used. "bayes" is the
        ceiling: the best any method can do that knows the distribution of the effects; "bayes-amp"
        the best that message passing does. See `solve_bayes`; neither has a penalty.
    fdr : float or array in [0, 1]
        Broadcasts against the model.
    lam : {"prediction", "power"}, float or array
        The penalty, or how to choose it; see `optimal_lam`.
    mu_B, resampling
        As in `solve_stability`; used by "stability-ideal" only.
    lam2 : float or array
        Ridge part of the penalty, as in `solve_lasso`; a search is over lam at this lam2.
    response : Logistic, Poisson or Cox, optional
        As in `solve_lasso`; for every method but "lasso".

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.12, rho=0.5, Delta=0.01)
    >>> round(theory.power(model, "stability-ideal", fdr=0.1, mu_B=2.0), 4)
    0.769
    >>> round(theory.power(model, "stability-ideal", fdr=0.1, mu_B=2.0, lam2=0.1), 4)
    0.6797
    >>> round(theory.power(model, "bayes", fdr=0.1), 4)
    0.8005
    """
    level = real("fdr", fdr, at_least=0.0, at_most=1.0)
    setting = _setting(
        model, method, lam=lam, lam2=lam2, mu_B=mu_B, resampling=resampling, response=response
    )
    setting.check_shape(level)
    if setting.method.threshold == "lfdr":
        return unwrap(_ceiling(setting).at_level(level).tpr)
    if setting.method.threshold == "lam":
        return unwrap(lasso_at_level(model, level, lam2=setting.lam2).tpr)
    solution = setting.solve(setting.penalty(level))
    return unwrap(at_level(solution, setting.method.name, level).tpr)


def power_curve(
    model: Model,
    method: str,
    fdrs: ArrayLike | None = None,
    lam: ArrayLike | str = "prediction",
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    *,
    lam2: ArrayLike = 0.0,
    response: RowResponse | None = None,
) -> Curve:
    """Return the power at many levels, with one penalty for each model where that is possible.

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
    >>> theory.power_curve(model, "knockoffs-frequency", [0.05, 0.1]).tpr.round(3).tolist()
    [0.863, 0.88]
    """
    levels = np.linspace(0.005, 0.5, 100) if fdrs is None else fdrs
    fdr = np.ravel(real("fdrs", levels, at_least=0.0, at_most=1.0))
    setting = _setting(
        model, method, lam=lam, lam2=lam2, mu_B=mu_B, resampling=resampling, response=response
    )
    name = setting.method.name
    if setting.method.threshold == "lfdr":
        best = _ceiling(setting).at_level(fdr, own_axis=True)
        return Curve(name, fdr, best.tpr, unwrap(np.full(model.shape, np.nan)))
    if setting.method.threshold == "lam":
        support = lasso_at_level(model, fdr, own_axis=True, lam2=setting.lam2)
        return Curve(name, fdr, support.tpr, support.lam)
    if setting.by_level:
        wide = _with_last_axis(setting)
        lam = wide.penalty(fdr)
        return Curve(name, fdr, at_level(wide.solve(lam), name, fdr).tpr, lam)
    lam = setting.penalty(fdr)
    return Curve(name, fdr, at_level(setting.solve(lam), name, fdr, own_axis=True).tpr, unwrap(lam))


def _with_last_axis(setting: MethodSetting) -> MethodSetting:
    """Return the setting with one more axis, the last, for levels."""
    model, response = setting.model, setting.response
    shape = np.broadcast_shapes(model.shape, setting.lam2.shape)
    four = (model.alpha, model.rho, model.Delta, setting.lam2)
    alpha, rho, Delta, ridge = (np.broadcast_to(a, shape)[..., None] for a in four)
    if response is not None:
        wide = {k: np.broadcast_to(v, shape)[..., None] for k, v in response.settings.items()}
        response = response.like(**wide)
    return setting._replace(model=model.like(alpha, rho, Delta), lam2=ridge, response=response)


def operating_point(
    model: Model,
    method: str,
    fdr: ArrayLike = 0.1,
    lam: ArrayLike | str = "prediction",
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    *,
    lam2: ArrayLike = 0.0,
    response: RowResponse | None = None,
) -> OperatingPoint:
    """Find the threshold that gives a method its power, and all rates at it.

    Parameters
    ----------
    model, method, fdr, lam, mu_B, resampling, lam2, response
        As in `power`.

    Returns
    -------
    OperatingPoint
        The threshold is a penalty for "lasso", one on coefficients (w_th) for
        "thresholded-lasso", on selection probabilities (Pi_th) for "stability-ideal", on Z (Z_th)
        for "knockoffs-ideal", and on P(Z > 0) (Pi_th) for "knockoffs-frequency". Where that
        probability is all but certain, "knockoffs-frequency" gives the Z_th with
        P(Z > Z_th) > 1/2 instead; where a probability cannot serve as a threshold, the one on the
        field itself (g_th) is given. That of "bayes" and "bayes-amp" is on the posterior
        probability of being null (lfdr).

    Examples
    --------
    >>> from selica import theory
    >>> found = theory.operating_point(theory.Model(2.5, 0.3, 0.01), "knockoffs-frequency", fdr=0.1)
    >>> found.threshold_name, round(found.tpr, 3), round(found.fdr, 3)
    ('Pi_th', 0.88, 0.1)
    """
    level = real("fdr", fdr, at_least=0.0, at_most=1.0)
    setting = _setting(
        model, method, lam=lam, lam2=lam2, mu_B=mu_B, resampling=resampling, response=response
    )
    setting.check_shape(level)
    name = setting.method.name
    if setting.method.threshold == "lfdr":
        ceiling = _ceiling(setting)
        best = ceiling.at_level(level)
        rates, found = best.rates(model.rho), ("lfdr", best.local)
        return _point(name, level, ceiling, found, rates)
    if setting.method.threshold == "lam":
        support = lasso_at_level(model, level, lam2=setting.lam2)
        # where no penalty keeps the level, the largest selects nothing
        lasso = solve_lasso(model, np.minimum(support.lam, LARGEST), lam2=setting.lam2)
        return _point(name, level, lasso, ("lam", support.lam), lasso.rates())
    return point_of(setting.solve(setting.penalty(level)), name, level)


def _setting(
    model: Model, method: str, *, response: RowResponse | None, **settings: Any
) -> MethodSetting:
    """Check the settings of a method that has a threshold, or has one for another response."""

    def suits(one: Method) -> bool:
        return one.threshold is not None if response is None else for_other_response(one)

    return MethodSetting.of(model, method_of(method, suits), response=response, **settings)


def _ceiling(setting: MethodSetting) -> BayesSolution:
    """Solve for one of the best selectors there can be, and warn where it was not found."""
    branch = _BRANCHES[setting.method.name]
    solution = solve_bayes(setting.model, branch, response=setting.response)
    warn_unless_converged(solution, setting.method.name)
    return solution


def point_of(solution: Solution, method: str, level: Array) -> OperatingPoint:
    """Return the threshold of a method at a level, given its solved equations, and all rates.

    Parameters
    ----------
    solution : Solution
    method : str
        Name of a method with a threshold on the fields of the solution.
    level : array
        Of the FDR; broadcasts against the solution.
    """
    row = method_of(method, lambda one: one.threshold in ("w_th", "Pi_th", "Z_th"))
    cut = at_level(solution, row.name, level).threshold
    if row.threshold == "Z_th":
        assert isinstance(solution, KnockoffSolution)
        Z_th = cut / solution.curvature
        rates = solution.single_rates(np.clip(Z_th, -LARGEST, LARGEST))
        return _point(row.name, level, solution, ("Z_th", Z_th), rates)
    rates = solution.rates_of_field(cut)
    if isinstance(solution, LassoSolution):
        w_th = np.maximum(cut - solution.lam, 0.0) / solution.curvature
        return _point(row.name, level, solution, ("w_th", w_th), rates)
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
    return _point(row.name, level, solution, (unwrap(name), threshold), rates)


def _usable(chance: Array) -> BoolArray:
    """Say whether a probability is far enough from zero and one to be a threshold."""
    return np.asarray((chance > 1e-7) & (chance < 1.0 - 1e-7))


def _point(
    method: str,
    level: Array,
    solution: Solution | BayesSolution,
    threshold: tuple[Any, Any],
    rates: Rates,
) -> OperatingPoint:
    """Put a point together; the threshold is its name and its value."""
    none = np.full(np.shape(solution.q), np.nan)
    name, value = threshold
    return OperatingPoint(
        method=method,
        level=unwrap(level),
        lam=unwrap(none) if isinstance(solution, BayesSolution) else solution.lam,
        threshold_name=name,
        threshold=unwrap(value),
        tpr=rates.tpr,
        fpr=rates.fpr,
        fdr=rates.fdr,
        solution=solution,
    )
