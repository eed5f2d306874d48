"""From data to statistics: penalties by cross-validation, knockoff and mirror statistics."""

from selica.statistics.cross_validation import CrossValidation, cross_validate
from selica.statistics.data import Data, make_data
from selica.statistics.knockoff import joint_importances, knockoff_statistic, knockoff_statistics
from selica.statistics.ld_mismatch import LinkageMismatch, linkage_mismatch

__all__ = [
    "CrossValidation",
    "Data",
    "LinkageMismatch",
    "cross_validate",
    "joint_importances",
    "knockoff_statistic",
    "knockoff_statistics",
    "linkage_mismatch",
    "make_data",
]
