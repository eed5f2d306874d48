"""A table and a response in, selection probabilities out, without a single refit.

Message passing: averages over the ensemble are taken inside one iteration, not over many fits.
"""

from selica.amp.knockoff import knockoff_amp
from selica.amp.results import KnockoffAmp, StabilityAmp, StabilityVamp
from selica.amp.stability import stability_amp
from selica.amp.vamp import stability_vamp

__all__ = [
    "KnockoffAmp",
    "StabilityAmp",
    "StabilityVamp",
    "knockoff_amp",
    "stability_amp",
    "stability_vamp",
]
