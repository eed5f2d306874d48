"""The penalty a method should use: for prediction, or for power."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import RESAMPLINGS
from selica._core.results import unwrap
from selica._core.types import Array, IntArray
from selica._core.validation import broadcast, choice, positive, real
from selica.theory.glm.responses import Logistic
from selica.theory.model import Model
from selica.theory.selection.levels import at_level, lasso_at_level
from selica.theory.selection.methods import LABEL_METHODS, METHODS, copies_of, solve
from selica.theory.selection.scanned import ScannedErrors
from selica.theory.selection.search import best_penalty, largest_penalty
from selica.theory.solve import check_ridge

_LABEL_DECADES, _LABEL_GRID = 2.5, 18  # a point takes a tenth of a second
CRITERIA = ("prediction", "power")
BY_LEVEL = ("lasso", "thresholded_lasso", "knockoff")
"""Methods whose most powerful penalty depends on the FDR level."""


def optimal_lam(
    model: Model,
    method: str = "stability",
    mu_B: ArrayLike = 1.0,
    criterion: str = "prediction",
    resampling: str = "poisson",
    fdr: ArrayLike = 0.1,
    *,
    lam2: ArrayLike = 0.0,
    response: Logistic | None = None,
) -> Any:
    """The best penalty of a method.

    Parameters
    ----------
    model : Model
    method : {"lasso", "thresholded_lasso", "stability", "knockoff", "derandomized"}
    mu_B, resampling
        As in `solve_stability`; used by "stability" only.
    criterion : {"prediction", "power"}
        "prediction" is the article's choice: the prediction error of one member, E + v (+ v_tilde).
        "power" maximises the true positive rate. For "stability" and "derandomized" that is one
        penalty for every FDR level, the one that minimises E, the error of the averaged estimator.
    fdr : float or array
        Level at which the power is maximised; used with criterion "power" by the other methods:
        "knockoff" (one copy), "thresholded_lasso" (only non-zero coefficients can be selected)
        and "lasso" (the penalty is the threshold).
    lam2 : float or array
        Ridge part of the penalty, as in `solve_lasso`; the search is over lam at this lam2.
    response : Logistic, optional
        As in `solve_lasso`, for "stability" and "thresholded_lasso". "prediction" is then the
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
    >>> round(theory.optimal_lam(model, "derandomized"), 4)
    0.0424
    >>> round(theory.optimal_lam(model, "derandomized", lam2=0.1), 4)
    0.1415
    """
    Model.check(model)
    method = choice("method", method, METHODS)
    criterion = choice("criterion", criterion, CRITERIA)
    resampling = choice("resampling", resampling, RESAMPLINGS)
    rate = positive("mu_B", mu_B)
    level = real("fdr", fdr, at_least=0.0, at_most=1.0)
    ridge = check_ridge(lam2)
    by_level = criterion == "power" and method in BY_LEVEL
    if response is not None:
        choice("method", method, LABEL_METHODS)
        Logistic.check(response, model)
        return _label_lam(model, response, method, rate, criterion, resampling, level, ridge)
    if by_level and method == "lasso":
        return unwrap(lasso_at_level(model, level, lam2=ridge).lam)
    named = model.parameters | {"lam2": ridge}
    if method == "stability":
        named["mu_B"] = rate
    if by_level:
        named["fdr"] = level
    arrays = dict(zip(named, broadcast(**named), strict=True))
    shape = arrays["alpha"].shape
    flat = {name: np.ravel(a) for name, a in arrays.items()}
    rate = flat.get("mu_B", np.ones(flat["alpha"].size))

    def objective(log_lam: Array, index: IntArray) -> Array:
        part = Model(flat["alpha"][index], flat["rho"][index], flat["Delta"][index], model.effects)
        solution = solve(
            part, method, np.exp(log_lam), rate[index], resampling, lam2=flat["lam2"][index]
        )
        if by_level:
            tpr = at_level(solution, method, flat["fdr"][index]).tpr
            return np.asarray(-np.log(np.maximum(tpr, 1e-300)))
        return _log(np.asarray(solution.ensemble_error))

    whole = Model(flat["alpha"], flat["rho"], flat["Delta"], model.effects)
    top = np.log(largest_penalty(whole, rate))
    models = {name: values for name, values in flat.items() if name != "fdr"}
    members = ScannedErrors(model.effects, models, copies_of(method), resampling)

    def prediction(log_lam: Array, index: IntArray) -> Array:
        return _log(members(log_lam, index).prediction)

    search = prediction if criterion == "prediction" else objective
    return unwrap(np.exp(best_penalty(search, top)).reshape(shape))


def _label_lam(
    model: Model,
    response: Logistic,
    method: str,
    mu_B: Array,
    criterion: str,
    resampling: str,
    fdr: Array,
    lam2: Array,
) -> Any:
    """The best penalty for labels: by power, or by the error of the log odds."""
    named = {n: model.parameters[n] for n in ("alpha", "rho")}
    named |= {"T": np.asarray(response.T), "mu_B": mu_B, "fdr": fdr, "lam2": lam2}
    if method != "stability":
        named["mu_B"] = np.ones(())
    if not (criterion == "power" and method in BY_LEVEL):
        named["fdr"] = np.ones(())
    arrays = dict(zip(named, broadcast(**named), strict=True))
    shape = arrays["alpha"].shape
    flat = {name: np.ravel(a) for name, a in arrays.items()}

    def objective(log_lam: Array, index: IntArray) -> Array:
        part = Model(flat["alpha"][index], flat["rho"][index], 0.0, model.effects)
        strength, rate = Logistic(flat["T"][index]), flat["mu_B"][index]
        ridge = flat["lam2"][index]
        solution = solve(part, method, np.exp(log_lam), rate, resampling, strength, ridge)
        if criterion == "prediction":
            return _log(np.asarray(solution.prediction_error))
        if method in BY_LEVEL:
            tpr = at_level(solution, method, flat["fdr"][index]).tpr
            return np.asarray(-np.log(np.maximum(tpr, 1e-300)))
        # noise of the field in units of its slope: what power depends on
        return _log(np.asarray(solution.chi_hat / np.maximum(solution.slope, 1e-150) ** 2))

    weight = flat["alpha"] * flat["mu_B"]
    # m_hat of an estimate that is zero is at most weight * min(1/4, 1/sqrt(2 pi T))
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(flat["T"] > 0.0, np.minimum(flat["T"] / 16.0, 0.16) / flat["rho"], 0.0)
    top = 3.0 * np.log(2.0) + 0.5 * np.log(weight * (1.0 + flat["mu_B"]) / 4.0 + weight**2 * size)
    lam = np.exp(best_penalty(objective, top, _LABEL_DECADES, _LABEL_GRID))
    return unwrap(lam.reshape(shape))


def _log(error: Array) -> Array:
    return np.asarray(np.log(np.maximum(error, 1e-300)))  # zero where y = 0
