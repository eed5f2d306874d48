"""Thresholds calibrated to an FDR level by message passing: do they hold it, at what power?"""

from __future__ import annotations

from typing import Any

from selica.experiments.guarantees import Setting
from selica.sampling import GaussianKnockoffs
from selica.selectors import DerandomizedKnockoffs, KnockoffSelection, StabilitySelection

LEVELS = (0.05, 0.1, 0.2)
"""Levels of the false discovery rate."""
_COPIES = 10
"""Knockoff copies of derandomized methods."""
# One penalty for all copies, chosen before the data.
_LAM = 0.06

SETTINGS = (
    Setting("independent, 400 x 200", n=400, p=200, k=30, strength=0.18),
    Setting("independent, 300 x 400", n=300, p=400, k=20, strength=0.25),
    Setting("independent, nothing matters", n=300, p=200, k=0),
    Setting("AR(1) 0.5", n=400, p=200, k=30, strength=0.2, covariance=("ar1", 0.5)),
    Setting("AR(1) 0.9", n=400, p=200, k=30, strength=0.5, covariance=("ar1", 0.9)),
)


def calibrated_methods(setting: Setting, sigma: Any) -> dict[str, Any]:
    """Return calibrated stability selection, and knockoffs that know the covariance."""
    knockoffs: dict[str, Any] = {
        "sampler": GaussianKnockoffs(0.0, sigma), "lam": _LAM, "n_jobs": 1,
    }  # fmt: skip
    out: dict[str, Any] = {}
    for fdr in LEVELS:
        out[f"calibrated stability, {fdr:g}"] = StabilitySelection(
            fdr=fdr, engine="semi-analytic", n_jobs=1
        )
        out[f"knockoff+, {fdr:g}"] = KnockoffSelection(fdr, **knockoffs)
        out[f"e-values, {fdr:g}"] = DerandomizedKnockoffs(fdr, n_copies=_COPIES, **knockoffs)
    return out
