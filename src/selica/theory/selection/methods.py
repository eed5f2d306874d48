"""The methods the theory knows, and the equations that belong to each."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ConvergenceWarning
from selica.theory.bayes.solution import BayesSolution, solve_bayes
from selica.theory.glm.responses import Logistic
from selica.theory.model import Model
from selica.theory.solution import Solution
from selica.theory.solve import solve_knockoff, solve_lasso, solve_stability

LABEL_METHODS = ("thresholded_lasso", "stability")
"""Those that `power` knows for labels."""
METHODS = ("lasso", "thresholded_lasso", "stability", "knockoff", "derandomized")
CEILINGS = {"bayes": "information", "bayes_amp": "algorithm"}
"""The best selectors there can be, and the branch of the Bayes-optimal solution that each is."""


def copies_of(method: str) -> int:
    """Copies of the variables that a member of a method has."""
    return int(method in ("knockoff", "derandomized"))


def solve(
    model: Model,
    method: str,
    lam: ArrayLike,
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    response: Logistic | None = None,
    lam2: ArrayLike = 0.0,
) -> Solution:
    """The equations that belong to a method; warns where they were not solved."""
    solution: Solution
    if method == "stability":
        solution = solve_stability(model, lam, mu_B, resampling, lam2=lam2, response=response)
    elif copies_of(method):
        solution = solve_knockoff(model, lam, lam2=lam2)
    else:
        solution = solve_lasso(model, lam, lam2=lam2, response=response)
    _warn_unless_converged(solution, method)
    return solution


def solve_ceiling(model: Model, method: str) -> BayesSolution:
    """The solution of one of the `CEILINGS`; warns where it was not found."""
    solution = solve_bayes(model, CEILINGS[method])
    _warn_unless_converged(solution, method)
    return solution


def _warn_unless_converged(solution: Solution | BayesSolution, method: str) -> None:
    failed = np.size(solution.converged) - np.count_nonzero(solution.converged)
    if failed:
        warnings.warn(
            f"The equations of {method} did not converge at {failed} of "
            f"{np.size(solution.converged)} points (largest residual "
            f"{np.max(solution.residual):.1e}); what follows from them there is not to be trusted.",
            ConvergenceWarning,
            stacklevel=4,
        )
