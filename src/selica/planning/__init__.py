"""Before the data: what each method will find, how many samples it needs, which settings."""

from selica.planning.compare import Comparison, compare_methods
from selica.planning.methods import METHODS, Prediction
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
    "Prediction",
    "Requirement",
    "Study",
    "achievable_fdr",
    "compare_methods",
    "detectable_effect",
    "largest_support",
    "required_samples",
]
