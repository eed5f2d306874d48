"""Variable selection as scikit-learn estimators."""

from selica._core.errors import AssumptionWarning, EmptySelectionWarning, UnstableWarning
from selica.selectors.after_fit import BoundCurve, ListBound, PosthocLevel
from selica.selectors.aggregated import AggregatedKnockoffs
from selica.selectors.agreement import Stability
from selica.selectors.auto import AutoSelection
from selica.selectors.clumps import ClumpKnockoffs, Resolution
from selica.selectors.derandomized import DerandomizedKnockoffs
from selica.selectors.group_map import GroupMap
from selica.selectors.guarantee import Guarantee
from selica.selectors.integrated import IntegratedStability
from selica.selectors.knockoffs import KnockoffSelection
from selica.selectors.lasso import Bolasso, LassoSelection
from selica.selectors.pipelines import InterceptIfEmpty
from selica.selectors.splitting import DataSplitting
from selica.selectors.stability import StabilitySelection
from selica.selectors.stability_path import StabilityPath
from selica.selectors.summary import Summary
from selica.selectors.summary_knockoffs import SummaryKnockoffs

__all__ = [
    "AggregatedKnockoffs",
    "AssumptionWarning",
    "AutoSelection",
    "Bolasso",
    "BoundCurve",
    "ClumpKnockoffs",
    "DataSplitting",
    "DerandomizedKnockoffs",
    "EmptySelectionWarning",
    "GroupMap",
    "Guarantee",
    "IntegratedStability",
    "InterceptIfEmpty",
    "KnockoffSelection",
    "LassoSelection",
    "ListBound",
    "PosthocLevel",
    "Resolution",
    "Stability",
    "StabilityPath",
    "StabilitySelection",
    "Summary",
    "SummaryKnockoffs",
    "UnstableWarning",
]
