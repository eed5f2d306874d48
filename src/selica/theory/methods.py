"""The methods the theory knows, and the equations that belong to each."""

from __future__ import annotations

from numpy.typing import ArrayLike

from selica.theory.model import Model
from selica.theory.solution import Solution
from selica.theory.solve import solve_knockoff, solve_lasso, solve_stability

METHODS = ("lasso", "thresholded_lasso", "stability", "knockoff", "derandomized")


def solve(
    model: Model,
    method: str,
    lam: ArrayLike,
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
) -> Solution:
    """The equations that belong to a method."""
    if method == "stability":
        return solve_stability(model, lam, mu_B, resampling)
    if method in ("knockoff", "derandomized"):
        return solve_knockoff(model, lam)
    return solve_lasso(model, lam)
