"""The penalty a method should use: for prediction, or for power."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import RESAMPLINGS
from selica._core.results import unwrap
from selica._core.types import Array, IntArray
from selica._core.validation import broadcast, choice, positive, real
from selica.theory.levels import at_level, lasso_at_level
from selica.theory.methods import METHODS, copies_of, solve
from selica.theory.model import Model
from selica.theory.search import Objective, best_penalty, largest_penalty
from selica.theory.solve import Errors, member_errors

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
    """
    Model.check(model)
    method = choice("method", method, METHODS)
    criterion = choice("criterion", criterion, CRITERIA)
    resampling = choice("resampling", resampling, RESAMPLINGS)
    rate = positive("mu_B", mu_B)
    level = real("fdr", fdr, at_least=0.0, at_most=1.0)
    by_level = criterion == "power" and method in BY_LEVEL
    if by_level and method == "lasso":
        return unwrap(lasso_at_level(model, level).lam)
    named = {n: np.asarray(getattr(model, n)) for n in ("alpha", "rho", "Delta")}
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
        solution = solve(part, method, np.exp(log_lam), rate[index], resampling)
        if by_level:
            tpr = at_level(solution, method, flat["fdr"][index]).tpr
            return np.asarray(-np.log(np.maximum(tpr, 1e-300)))
        return _log(np.asarray(solution.ensemble_error))

    whole = Model(flat["alpha"], flat["rho"], flat["Delta"], model.effects)
    top = np.log(largest_penalty(whole, rate))
    search: Objective = objective
    if criterion == "prediction":
        search = _PredictionError(whole, flat.get("mu_B"), copies_of(method), resampling)
    return unwrap(np.exp(best_penalty(search, top)).reshape(shape))


class _PredictionError:
    """log of the error of one member: what two members share need not be solved for.

    Each search begins with a scan; later calls start from what that found nearby.
    """

    def __init__(self, model: Model, rate: Array | None, copies: int, resampling: str) -> None:
        self._model, self._rate = model, rate
        self._copies, self._resampling = copies, resampling
        self._known: tuple[Array, IntArray, Errors] | None = None

    def __call__(self, log_lam: Array, index: IntArray) -> Array:
        m = self._model
        part = Model(m.alpha[index], m.rho[index], m.Delta[index], m.effects)
        rate = None if self._rate is None else self._rate[index]
        guess = self._near(log_lam, index)
        found = member_errors(
            part, np.exp(log_lam), rate, copies=self._copies, resampling=self._resampling,
            guess=guess,
        )  # fmt: skip
        if self._known is None:
            self._known = log_lam, index, found
        return _log(found.prediction)

    def _near(self, log_lam: Array, index: IntArray) -> Errors | None:
        """Of the same model, the scanned point with the nearest penalty."""
        if self._known is None:
            return None
        scanned, rows, found = self._known
        size = scanned.size // (rows[-1] + 1)
        grid = scanned.reshape(-1, size)[index]
        nearest = index * size + np.argmin(np.abs(grid - log_lam[:, None]), axis=1)
        return Errors(found.prediction[nearest], found.chi[nearest])


def _log(error: Array) -> Array:
    return np.asarray(np.log(np.maximum(error, 1e-300)))  # zero where y = 0
