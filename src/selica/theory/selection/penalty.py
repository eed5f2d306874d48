"""The penalty a method should use: for prediction, for power, or as its own threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import RESAMPLINGS, check_rate
from selica._core.results import unwrap
from selica._core.types import Array, IntArray
from selica._core.validation import broadcast, choice, positive, real
from selica.catalogue import Method
from selica.theory.glm.fast import null_fields
from selica.theory.iid.batch import EnsembleModel
from selica.theory.model import Model
from selica.theory.response import RowResponse
from selica.theory.selection.lasso_level import lasso_at_level
from selica.theory.selection.levels import at_level
from selica.theory.selection.search import ScannedErrors, best_penalty, largest_penalty
from selica.theory.solution import Solution
from selica.theory.solve import check_response, check_ridge, method_of, solve_method

CRITERIA = ("prediction", "power")
"""Ways to choose a penalty."""
BY_LEVEL = ("lam", "w_th", "Z_th")
"""Thresholds of the methods whose most powerful penalty depends on the FDR level."""
_BINARY_DECADES = 2.5  # for another response, where a point takes longer
_BINARY_GRID_POINTS = 18
"""Penalties of a scan for another response."""


def optimal_lam(
    model: Model,
    method: str = "stability-ideal",
    mu_B: ArrayLike = 1.0,
    criterion: str = "prediction",
    resampling: str = "poisson",
    fdr: ArrayLike = 0.1,
    *,
    lam2: ArrayLike = 0.0,
    response: RowResponse | None = None,
) -> Any:
    """Return the best penalty of a method.

    Parameters
    ----------
    model : Model
    method : {"lasso", "thresholded-lasso", "stability-ideal", "knockoffs-ideal", \
            "knockoffs-frequency"}
    mu_B, resampling
        As in `solve_stability`; used by "stability-ideal" only.
    criterion : {"prediction", "power"}
        "prediction" is the article's choice: the prediction error of one member, E + v (+ v_tilde).
        "power" maximises the true positive rate. For "stability-ideal" and "knockoffs-frequency"
        that is one penalty for every FDR level, the one that minimises E, the error of the averaged
        estimator.
    fdr : float or array
        Level at which the power is maximised; used with criterion "power" by the other methods:
        "knockoffs-ideal" (one copy), "thresholded-lasso" (only non-zero coefficients can be
        selected) and "lasso" (the penalty is the threshold).
    lam2 : float or array
        Ridge part of the penalty, as in `solve_lasso`; the search is over lam at this lam2.
    response : Logistic, Poisson or Cox, optional
        As in `solve_lasso`, for "stability-ideal" and "thresholded-lasso". "prediction" is then the
        squared error of a member's log odds.

    Returns
    -------
    float or array
        A `BoundaryWarning` says where the search would have gone on beyond its edge; that of an
        ensemble often tends to zero, since averaging does what a penalty does.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=1.12, rho=0.5, Delta=0.01)
    >>> round(theory.optimal_lam(model, "knockoffs-frequency"), 4)
    0.0424
    >>> round(theory.optimal_lam(model, "knockoffs-frequency", lam2=0.1), 4)
    0.1415
    """
    choice("criterion", criterion, CRITERIA)
    setting = MethodSetting.of(
        model,
        method_of(method, _searched(response)),
        lam=criterion,
        lam2=lam2,
        mu_B=mu_B,
        resampling=resampling,
        response=response,
    )
    return unwrap(setting.penalty(real("fdr", fdr, at_least=0.0, at_most=1.0)))


class MethodSetting(NamedTuple):
    """Checked settings of a method."""

    model: Model
    method: Method
    lam: Array | str
    """The penalty, or one of `CRITERIA`."""
    lam2: Array
    rate: Array
    resampling: str
    response: RowResponse | None

    @classmethod
    def of(
        cls,
        model: Model,
        method: Method,
        *,
        lam: ArrayLike | str,
        lam2: ArrayLike,
        mu_B: ArrayLike,
        resampling: str,
        response: RowResponse | None,
    ) -> MethodSetting:
        """Check the settings."""
        Model.check(model)
        if response is not None:
            check_response(model, response)
        if method.equations == "stability":
            rate = check_rate("mu_B", mu_B, resampling)
        else:  # neither is used
            choice("resampling", resampling, RESAMPLINGS)
            rate = positive("mu_B", mu_B)
        ridge = check_ridge(lam2)
        penalty = choice("lam", lam, CRITERIA) if isinstance(lam, str) else positive("lam", lam)
        return cls(model, method, penalty, ridge, rate, resampling, response)

    def check_shape(self, fdr: Array) -> None:
        """Refuse a level that does not fit the model, in the words of the caller."""
        named = self.model.parameters
        if not isinstance(self.lam, str):
            named["lam"] = self.lam
        if self.response is not None:
            named |= self.response.settings
        broadcast(**named, lam2=self.lam2, mu_B=self.rate, fdr=fdr)

    @property
    def by_level(self) -> bool:
        """Whether the penalty has to be chosen for each level."""
        chosen = isinstance(self.lam, str) and self.lam == "power"
        return chosen and self.method.threshold in BY_LEVEL

    @property
    def resampled(self) -> bool:
        """Whether the members see resampled rows."""
        return self.method.equations == "stability"

    def penalty(self, fdr: Array) -> Array:
        """Return the penalty that was given, or the best one at levels of the FDR."""
        if not isinstance(self.lam, str):
            return self.lam
        if self.response is not None:
            return _best_for_labels(self, fdr)
        if self.by_level and self.method.threshold == "lam":
            return lasso_at_level(self.model, fdr, lam2=self.lam2).lam
        return _best_for_numbers(self, fdr)

    def solve(self, lam: Array) -> Solution:
        """Solve the equations of the method at penalties."""
        return solve_method(
            self.model,
            self.method.name,
            lam,
            self.rate,
            self.resampling,
            lam2=self.lam2,
            response=self.response,
        )

    def at(self, flat: dict[str, Array], index: IntArray) -> MethodSetting:
        """Return the setting of some of the points of a search."""
        response = (
            None
            if self.response is None
            else self.response.like(T=flat["T"][index], place=flat["place"][index])
        )
        return self._replace(
            model=self.model.like(*(part[index] for part in _three(flat))),
            lam2=flat["lam2"][index],
            rate=flat["mu_B"][index],
            response=response,
        )


def penalised(method: Method) -> bool:
    """Say whether the theory sets a threshold of the method, and it has a penalty."""
    return method.threshold not in (None, "lfdr")


def for_other_response(method: Method) -> bool:
    """Say whether the theory sets a threshold of the method for classes, counts or times."""
    return method.threshold in ("w_th", "Pi_th", "Z_th", "lfdr")


def _searched(response: RowResponse | None) -> Callable[[Method], bool]:
    """Return which methods have a penalty that is searched for."""
    if response is None:
        return penalised
    return lambda method: penalised(method) and for_other_response(method)


def _best_for_numbers(setting: MethodSetting, fdr: Array) -> Array:
    """Return the best penalty for a linear response."""
    model, method = setting.model, setting.method
    named = model.parameters | {"lam2": setting.lam2}
    if setting.resampled:
        named["mu_B"] = setting.rate
    if setting.by_level:
        named["fdr"] = fdr
    flat, shape = _flat(named)
    models = {name: values for name, values in flat.items() if name != "fdr"}
    flat.setdefault("mu_B", np.ones(flat["alpha"].size))
    top = np.log(largest_penalty(model.like(*_three(flat)), flat["mu_B"]))
    members = ScannedErrors(
        EnsembleModel(
            model.kinds,
            model.mixture.mean.size,
            copies=int(method.equations == "knockoff"),
            resampling=setting.resampling if setting.resampled else None,
        ),
        models,
    )

    def prediction(log_lam: Array, index: IntArray) -> Array:
        return _log(members(log_lam, index).prediction)

    def power(log_lam: Array, index: IntArray) -> Array:
        solution = setting.at(flat, index).solve(np.exp(log_lam))
        if setting.by_level:
            return _lost_power(solution, method, flat["fdr"][index])
        return _log(np.asarray(solution.ensemble_error))

    search = prediction if setting.lam == "prediction" else power
    return np.exp(best_penalty(search, top)).reshape(shape)


def _best_for_labels(setting: MethodSetting, fdr: Array) -> Array:
    """Return the best penalty for another response: by power, or by the error of the predictor."""
    assert setting.response is not None
    named = (
        setting.model.parameters
        | setting.response.settings
        | {
            "lam2": setting.lam2,
            "mu_B": setting.rate if setting.resampled else np.ones(()),
            "fdr": fdr if setting.by_level else np.ones(()),
        }
    )
    flat, shape = _flat(named)

    def objective(log_lam: Array, index: IntArray) -> Array:
        solution = setting.at(flat, index).solve(np.exp(log_lam))
        if setting.lam == "prediction":
            return _log(np.asarray(solution.prediction_error))
        if setting.by_level:
            return _lost_power(solution, setting.method, flat["fdr"][index])
        # noise of the field in units of its slope: what power depends on
        return _log(np.asarray(solution.chi_hat / np.maximum(solution.slope, 1e-150) ** 2))

    weight = flat["alpha"] * flat["mu_B"]
    if setting.response.plain:
        # m_hat of an estimate that is zero is at most weight * min(1/4, 1/sqrt(2 pi T))
        noise, slope = np.full(weight.shape, 0.25), np.minimum(flat["T"] / 16.0, 0.16)
    else:
        noise, slope = _null_fields(setting.response, flat)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(flat["T"] > 0.0, slope / flat["rho"], 0.0)
    top = 3.0 * np.log(2.0) + 0.5 * np.log(weight * (1.0 + flat["mu_B"]) * noise + weight**2 * size)
    best = best_penalty(objective, top, _BINARY_DECADES, _BINARY_GRID_POINTS)
    return np.exp(best).reshape(shape)


def _null_fields(response: RowResponse, flat: dict[str, Array]) -> tuple[Array, Array]:
    """Return chi_hat, and T m_hat^2, of an estimate that is zero, for each row of the data."""
    key = np.stack([flat["T"], flat["place"]], axis=1)
    groups, where = np.unique(key, axis=0, return_inverse=True)
    fields = np.array([null_fields(response.row(T, place)) for T, place in groups.tolist()])
    m_hat, noise = fields[where.ravel()].T
    return noise, flat["T"] * m_hat**2


def _flat(named: dict[str, Array]) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Return arrays at their common shape, in one row, and that shape."""
    arrays = dict(zip(named, broadcast(**named), strict=True))
    shape = arrays["alpha"].shape
    return {name: np.ravel(values) for name, values in arrays.items()}, shape


def _three(flat: dict[str, Array]) -> tuple[Array, Array, Array]:
    return flat["alpha"], flat["rho"], flat["Delta"]


def _lost_power(solution: Solution, method: Method, fdr: Array) -> Array:
    """Return minus the logarithm of the power at levels of the FDR."""
    tpr = at_level(solution, method.name, fdr).tpr
    return np.asarray(-np.log(np.maximum(tpr, 1e-300)))


def _log(error: Array) -> Array:
    return np.asarray(np.log(np.maximum(error, 1e-300)))  # zero where y = 0
