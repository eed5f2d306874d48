"""Randomness about data: resampling weights, synthetic designs, knockoff copies.

Every function takes `random_state`; member b of an ensemble has its own stream, so that a draw
does not depend on how many members there are or on who draws them.
"""

from selica.sampling.chains import MarkovKnockoffs
from selica.sampling.chance_counts import ChanceCounts, chance_counts
from selica.sampling.clumps import clumps
from selica.sampling.copies import Copies, callable_copies, iid_copies
from selica.sampling.covariance import Covariance
from selica.sampling.exchangeability import Exchangeability, exchangeability
from selica.sampling.fixed import AugmentationWarning, FixedKnockoffs
from selica.sampling.forming_groups import correlation_groups, linkage_groups
from selica.sampling.genotypes import GenotypeKnockoffs
from selica.sampling.ghosts import GhostKnockoffs, UsableLinkage, usable_linkage
from selica.sampling.group_copies import group_copies
from selica.sampling.group_s_matrices import group_s_matrix
from selica.sampling.independent import IndependentKnockoffs
from selica.sampling.knockoffs import GaussianKnockoffs
from selica.sampling.ld_blocks import ld_blocks
from selica.sampling.motifs import HaplotypeLaw
from selica.sampling.reference_panels import block_sizes, reference_linkage
from selica.sampling.representatives import RepresentativeKnockoffs, group_representatives
from selica.sampling.s_matrices import s_matrix
from selica.sampling.sampler import Sampler
from selica.sampling.segment_motifs import (
    SegmentMotifs,
    fit_segment_motifs,
    stored_group_copies,
)
from selica.sampling.sequential import SequentialKnockoffs
from selica.sampling.shrinkage import Shrunk, ledoit_wolf
from selica.sampling.simulation import Simulation, simulate
from selica.sampling.split_rows import SplitRows
from selica.sampling.weights import resample_weights

__all__ = [
    "AugmentationWarning",
    "ChanceCounts",
    "Copies",
    "Covariance",
    "Exchangeability",
    "FixedKnockoffs",
    "GaussianKnockoffs",
    "GenotypeKnockoffs",
    "GhostKnockoffs",
    "HaplotypeLaw",
    "IndependentKnockoffs",
    "MarkovKnockoffs",
    "RepresentativeKnockoffs",
    "Sampler",
    "SegmentMotifs",
    "SequentialKnockoffs",
    "Shrunk",
    "Simulation",
    "SplitRows",
    "UsableLinkage",
    "block_sizes",
    "callable_copies",
    "chance_counts",
    "clumps",
    "correlation_groups",
    "exchangeability",
    "fit_segment_motifs",
    "group_copies",
    "group_representatives",
    "group_s_matrix",
    "iid_copies",
    "ld_blocks",
    "ledoit_wolf",
    "linkage_groups",
    "reference_linkage",
    "resample_weights",
    "s_matrix",
    "simulate",
    "stored_group_copies",
    "usable_linkage",
]
