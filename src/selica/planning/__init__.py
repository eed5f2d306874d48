"""Before the data: what each method will find, how many samples it needs, which settings."""

from selica.planning.compare import Comparison, compare_methods
from selica.planning.correlated_solution import CorrelatedSolution, Power, RocCurve
from selica.planning.correlated_theory import correlated_knockoff, correlated_stability
from selica.planning.diagnosis import Diagnosis, diagnose
from selica.planning.first_answer import correlated_power
from selica.planning.methods import METHODS, Prediction
from selica.planning.plasmode import PlasmodePower, plasmode_power
from selica.planning.recommendation import Recommendation
from selica.planning.requirement import Answer, Requirement
from selica.planning.samples import (
    achievable_fdr,
    detectable_effect,
    largest_support,
    required_samples,
)
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
