"""Before the data: what each method will find, how many samples it needs, which settings."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from selica._core.deprecation import renamed
from selica.planning.predict.prediction import Prediction, predictable
from selica.planning.questions.answers import RequiredValue, Requirement
from selica.planning.questions.compare import Comparison, compare_methods
from selica.planning.questions.inverse import (
    achievable_fdr,
    detectable_effect,
    largest_support,
    required_samples,
)
from selica.planning.questions.recommendation import Recommendation
from selica.planning.responses import Binary, Counts, Numeric, Survival
from selica.planning.sizes import Betas, HazardRatios, OddsRatios, RateRatios
from selica.planning.study import Study

if TYPE_CHECKING:
    from selica.correlated.ensembles import correlated_knockoff, correlated_stability
    from selica.correlated.solution import CorrelatedSolution, PowerAtLevel, PowerCurve
    from selica.planning.data.correlated_power import correlated_power, covariance_of
    from selica.planning.data.diagnosis import Diagnosis, diagnose
    from selica.planning.data.plasmode import PlasmodePower, plasmode_power

__all__ = [
    "METHODS",
    "Betas",
    "Binary",
    "Comparison",
    "CorrelatedSolution",
    "Counts",
    "Diagnosis",
    "HazardRatios",
    "Numeric",
    "OddsRatios",
    "PlasmodePower",
    "PowerAtLevel",
    "PowerCurve",
    "Prediction",
    "RateRatios",
    "Recommendation",
    "RequiredValue",
    "Requirement",
    "Study",
    "Survival",
    "achievable_fdr",
    "compare_methods",
    "correlated_knockoff",
    "correlated_power",
    "correlated_stability",
    "covariance_of",
    "detectable_effect",
    "diagnose",
    "largest_support",
    "plasmode_power",
    "required_samples",
]

_LATER = {
    "CorrelatedSolution": "selica.correlated.solution",
    "Diagnosis": "selica.planning.data.diagnosis",
    "PlasmodePower": "selica.planning.data.plasmode",
    "PowerAtLevel": "selica.correlated.solution",
    "PowerCurve": "selica.correlated.solution",
    "correlated_knockoff": "selica.correlated.ensembles",
    "correlated_power": "selica.planning.data.correlated_power",
    "correlated_stability": "selica.correlated.ensembles",
    "covariance_of": "selica.planning.data.correlated_power",
    "diagnose": "selica.planning.data.diagnosis",
    "plasmode_power": "selica.planning.data.plasmode",
}
"""What needs selectors or draws, and where it is: a plan without a table starts without them."""
_RENAMED = {"Answer": "RequiredValue", "Power": "PowerAtLevel", "RocCurve": "PowerCurve"}
"""Former names of classes, to the names that they have now."""


def __getattr__(name: str) -> Any:
    """Return the methods that have a prediction, or what a former name stands for."""
    if name == "METHODS":  # read anew, since methods can be registered
        return predictable()
    if name in _RENAMED:
        now = _RENAMED[name]
        renamed(f"planning.{name}", f"planning.{now}")
        name = now
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in __all__:
        return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
