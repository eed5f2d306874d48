"""Before the data: what each method will find, how many samples it needs, which settings."""

from selica.correlated.api import correlated_knockoff, correlated_stability
from selica.correlated.solution import CorrelatedSolution, Power, RocCurve
from selica.planning.data.diagnosis import Diagnosis, diagnose
from selica.planning.data.first_answer import correlated_power
from selica.planning.data.plasmode import PlasmodePower, plasmode_power
from selica.planning.predict.methods import METHODS, Prediction
from selica.planning.questions.answers import Answer, Requirement
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
    "Answer",
    "Comparison",
    "CorrelatedSolution",
    "Diagnosis",
    "PlasmodePower",
    "Power",
    "Prediction",
    "Recommendation",
    "Requirement",
    "RocCurve",
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
