"""Sparsity and noise of a data set, as the theory sees them."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from selica._core.errors import RefusedError
from selica._core.types import Array
from selica.statistics.cross_validation import CrossValidation
from selica.statistics.data import Data
from selica.theory import Model, solve_lasso

# Where the search for the share of signals and of explained variance begins.
_STARTS = ((0.02, 0.3), (0.1, 0.6), (0.3, 0.9))


def estimate_model(data: Data, found: CrossValidation) -> Model:
    """Return the model whose lasso has the cross-validated error and the sparsity that were seen.

    Two numbers at the best penalty, the error of rows left out and the share of active variables,
    determine two unknowns, the share of signals and the noise. It assumes what the theory does:
    independent columns, Gaussian effects and the squared loss.
    """
    n, p = data.X.shape
    active = np.count_nonzero(found.coef[found.best]) / p
    error = float(found.error[found.best])  # of a response of variance one
    if active == 0.0 or error >= 1.0:
        raise RefusedError(
            "lam='theory' needs a signal, and cross-validation sees none; give a number."
        )
    penalty = found.penalties[found.best]

    def misfit(x: Array) -> Array:
        rho, r2 = _unbounded(x)
        scale = np.sqrt(r2 / rho)  # of the effects, for a response of variance one
        solution = solve_lasso(
            Model(n / p, rho, rho * (1.0 - r2) / r2), n * penalty / np.sqrt(p) / scale
        )
        seen = float(solution.chi * solution.Q_hat)
        return np.array([
            np.log(solution.prediction_error * scale**2 / error), np.log(seen / active)
        ])  # fmt: skip

    fits = [least_squares(misfit, np.log(np.array(s) / (1.0 - np.array(s)))) for s in _STARTS]
    rho, r2 = _unbounded(min(fits, key=lambda fit: fit.cost).x)
    return Model(n / p, rho, rho * (1.0 - r2) / r2)


def _unbounded(x: Array) -> tuple[float, float]:
    """Return shares between zero and one from any two numbers."""
    share = np.clip(1.0 / (1.0 + np.exp(-x)), 1e-6, 1.0 - 1e-6)
    return float(share[0]), float(share[1])
