"""From statistics to decisions: thresholds, selections and bounds on their errors.

Pure functions of numbers: nothing here is random, fits a model or sees data.
"""

from selica.control.enough import MembersNeeded, members_needed, share_distances
from selica.control.evalues import averaged_level, ebh, knockoff_evalues
from selica.control.fdp_bounds import (
    PrefixBounds,
    SignBoundary,
    false_bound,
    prefix_bounds,
    sign_boundary,
)
from selica.control.frequencies import frequency_bound
from selica.control.integrated import (
    PathIntegral,
    chance_efp,
    efp_qvalues,
    integrated_efp,
    integrated_scores,
    penalty_integral,
    rank_integral,
)
from selica.control.joint_copies import (
    Wins,
    joint_qvalues,
    joint_selection,
    joint_threshold,
    joint_wins,
)
from selica.control.knockoffs import (
    KFwerParameters,
    first_negatives_filter,
    kfwer_parameters,
    knockoff_pvalues,
    knockoff_threshold,
)
from selica.control.posthoc import (
    PosthocDecision,
    posthoc_evalues,
    posthoc_level,
    posthoc_selection,
)
from selica.control.proportions import fdp, tpp
from selica.control.pvalues import benjamini_hochberg, benjamini_yekutieli, quantile_aggregation
from selica.control.splitting import inclusion_rate_cutoff, mirror_threshold
from selica.control.stability import (
    StabilityParameters,
    stability_bound,
    stability_parameters,
    supported_bound,
)
from selica.control.stability_index import StabilityIndex, stability_index

__all__ = [
    "KFwerParameters",
    "MembersNeeded",
    "PathIntegral",
    "PosthocDecision",
    "PrefixBounds",
    "SignBoundary",
    "StabilityIndex",
    "StabilityParameters",
    "Wins",
    "averaged_level",
    "benjamini_hochberg",
    "benjamini_yekutieli",
    "chance_efp",
    "ebh",
    "efp_qvalues",
    "false_bound",
    "fdp",
    "first_negatives_filter",
    "frequency_bound",
    "inclusion_rate_cutoff",
    "integrated_efp",
    "integrated_scores",
    "joint_qvalues",
    "joint_selection",
    "joint_threshold",
    "joint_wins",
    "kfwer_parameters",
    "knockoff_evalues",
    "knockoff_pvalues",
    "knockoff_threshold",
    "members_needed",
    "mirror_threshold",
    "penalty_integral",
    "posthoc_evalues",
    "posthoc_level",
    "posthoc_selection",
    "prefix_bounds",
    "quantile_aggregation",
    "rank_integral",
    "share_distances",
    "sign_boundary",
    "stability_bound",
    "stability_index",
    "stability_parameters",
    "supported_bound",
    "tpp",
]
