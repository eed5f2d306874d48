"""Before the data: what each method will find, how many samples it needs, which settings."""

from typing import Any

from selica._core.errors import RenamedWarning
from selica._core.warning import warn
from selica.correlated.ensembles import correlated_knockoff, correlated_stability
from selica.correlated.solution import CorrelatedSolution, PowerAtLevel, PowerCurve
from selica.planning.data.correlated_power import correlated_power
from selica.planning.data.diagnosis import Diagnosis, diagnose
from selica.planning.data.plasmode import PlasmodePower, plasmode_power
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
from selica.planning.study import Study

__all__ = [
    "METHODS",
    "Comparison",
    "CorrelatedSolution",
    "Diagnosis",
    "PlasmodePower",
    "PowerAtLevel",
    "PowerCurve",
    "Prediction",
    "Recommendation",
    "RequiredValue",
    "Requirement",
    "Study",
    "achievable_fdr",
    "compare_methods",
    "correlated_knockoff",
    "correlated_power",
    "correlated_stability",
    "detectable_effect",
    "diagnose",
    "largest_support",
    "plasmode_power",
    "required_samples",
]

_RENAMED = {"Answer": "RequiredValue", "Power": "PowerAtLevel", "RocCurve": "PowerCurve"}
"""Former names of classes, to the names that they have now."""


def __getattr__(name: str) -> Any:
    """Return the methods that have a prediction, or what a former name stands for."""
    if name == "METHODS":  # read anew, since methods can be registered
        return predictable()
    if name in _RENAMED:
        now = _RENAMED[name]
        warn(
            f"planning.{name} is now called planning.{now}; the old name will be removed "
            "in the next release.",
            RenamedWarning,
        )
        return globals()[now]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
