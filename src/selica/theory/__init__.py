"""The replica theory of ensemble variable selection: what a method will do, before any data.

Parameters in, order parameters, rates and power out; nothing here sees a data set.
"""

from typing import Any

from selica._core.deprecation import renamed
from selica._core.effects import (
    Effects,
    EmpiricalEffects,
    GaussianEffects,
    LaplaceEffects,
    PlacedEffects,
    PointEffects,
)
from selica.theory.bayes.masked import MaskedCeiling, masked_ceiling
from selica.theory.bayes.solution import BayesSolution, bayes_solutions, solve_bayes
from selica.theory.bayes.transitions import Transition, bayes_transitions
from selica.theory.glm.responses import Cox, Logistic, Poisson
from selica.theory.large_deviations.api import CostRange, RateFunction, rate_function
from selica.theory.model import Model
from selica.theory.selection.penalty import optimal_lam
from selica.theory.selection.power import Curve, OperatingPoint, operating_point, power, power_curve
from selica.theory.selection.rates import Rates
from selica.theory.selection.reconstruction import reconstruction_limit
from selica.theory.solution import (
    KnockoffSolution,
    LassoSolution,
    Solution,
    StabilitySolution,
)
from selica.theory.solve import solve_knockoff, solve_lasso, solve_stability
from selica.theory.spectrum.spectra import Spectrum

__all__ = [
    "BayesSolution",
    "CostRange",
    "Cox",
    "Curve",
    "Effects",
    "EmpiricalEffects",
    "GaussianEffects",
    "KnockoffSolution",
    "LaplaceEffects",
    "LassoSolution",
    "Logistic",
    "MaskedCeiling",
    "Model",
    "OperatingPoint",
    "PlacedEffects",
    "PointEffects",
    "Poisson",
    "RateFunction",
    "Rates",
    "Solution",
    "Spectrum",
    "StabilitySolution",
    "Transition",
    "bayes_solutions",
    "bayes_transitions",
    "masked_ceiling",
    "operating_point",
    "optimal_lam",
    "power",
    "power_curve",
    "rate_function",
    "reconstruction_limit",
    "solve_bayes",
    "solve_knockoff",
    "solve_lasso",
    "solve_stability",
]

_FORMER = {"Reach": "CostRange"}
"""Names that classes had, to those that they have."""


def __getattr__(name: str) -> Any:
    """Find a class by a name that it had, and warn."""
    if name not in _FORMER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _FORMER[name]
    renamed(f"theory.{name}", f"theory.{new}")
    return globals()[new]
