"""A table and a response in, selection probabilities out, without a single refit.

Message passing: averages over the ensemble are taken inside one iteration, not over many fits.
"""

from selica.amp.knockoff import knockoff_amp
from selica.amp.results import KnockoffAmp, StabilityAmp
from selica.amp.stability import stability_amp

__all__ = ["KnockoffAmp", "StabilityAmp", "knockoff_amp", "stability_amp"]
