"""Thresholds calibrated to an FDR level by message passing: do they hold it, at what power?"""

from __future__ import annotations

from typing import Any

from selica.experiments.guarantees import Setting
from selica.sampling import GaussianKnockoffs
from selica.selectors import (
    AutoSelection,
    DerandomizedKnockoffs,
    KnockoffSelection,
    StabilitySelection,
)

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

LEFT_OUT_LEVELS = (0.1, 0.2)
"""Levels of p-values of left-out fields."""
LEFT_OUT_SETTINGS = (
    Setting("independent, 300 x 100", n=300, p=100, k=15, strength=0.22),
    Setting("independent, 200 x 1000", n=200, p=1000, k=10, strength=0.4),
    Setting("AR(1) 0.5, 400 x 200", n=400, p=200, k=30, strength=0.2, covariance=("ar1", 0.5)),
    Setting("AR(1) 0.8, 300 x 100", n=300, p=100, k=15, strength=0.4, covariance=("ar1", 0.8)),
    Setting("AR(1) 0.9, 300 x 100", n=300, p=100, k=15, strength=0.6, covariance=("ar1", 0.9)),
    Setting("blocks of 10, 0.5", n=300, p=100, k=15, strength=0.35, covariance=("block", 0.5, 10)),
    Setting("blocks of 10, 0.7", n=300, p=100, k=15, strength=0.45, covariance=("block", 0.7, 10)),
    Setting("AR(1) 0.8, 150 x 300", n=150, p=300, k=10, strength=0.9, covariance=("ar1", 0.8)),
    Setting("AR(1) 0.5, nothing matters", n=300, p=100, k=0, covariance=("ar1", 0.5)),
    Setting("blocks of 10, 0.7, nothing matters", n=300, p=100, k=0, covariance=("block", 0.7, 10)),
    Setting(
        "AR(1) 0.5 of t with 5 degrees of freedom",
        n=300, p=100, k=15, strength=0.28, covariance=("ar1", 0.5), design=("t", 5.0),
    ),
    Setting(
        "AR(1) 0.8, two classes", n=400, p=60, k=10, strength=1.0, covariance=("ar1", 0.8),
        binary=True,
    ),
)  # fmt: skip
"""Tables on which left-out fields keep the level, and independent columns beside them."""

BESIDE_SETTINGS = (
    Setting("AR(1) 0.5, 500 x 200", n=500, p=200, k=25, strength=0.2, covariance=("ar1", 0.5)),
    Setting("AR(1) 0.8, 500 x 200", n=500, p=200, k=25, strength=0.3, covariance=("ar1", 0.8)),
    Setting(
        "blocks of 10, 0.7, 500 x 200",
        n=500, p=200, k=25, strength=0.3, covariance=("block", 0.7, 10),
    ),
    Setting("independent, 300 x 1000", n=300, p=1000, k=10, strength=0.1**0.5),
)  # fmt: skip
"""Tables on which left-out fields stand beside other methods."""


AUTO_SETTINGS = (
    Setting("AR(1) 0.8, 5 of 100", n=200, p=100, k=5, strength=0.5, covariance=("ar1", 0.8)),
    Setting("AR(1) 0.8, 7 of 100", n=200, p=100, k=7, strength=0.42, covariance=("ar1", 0.8)),
    Setting("AR(1) 0.5, 8 of 100", n=200, p=100, k=8, strength=0.3, covariance=("ar1", 0.5)),
    Setting("AR(1) 0.8, 15 of 100", n=300, p=100, k=15, strength=0.4, covariance=("ar1", 0.8)),
    Setting("AR(1) 0.8, nothing matters", n=200, p=100, k=0, covariance=("ar1", 0.8)),
)  # fmt: skip
"""Tables on which e-values select or leave it to p-values, as the response has it."""


def auto_methods(setting: Setting, sigma: Any) -> dict[str, Any]:
    """Return the selector that chooses, at a level of 0.1."""
    del setting, sigma
    return {"automatic choice, 0.1": AutoSelection(fdr=0.1, n_jobs=1)}


def beside_methods(setting: Setting, sigma: Any) -> dict[str, Any]:
    """Return stability selection by left-out fields, one copy and a bound, at a level of 0.1."""
    del setting, sigma
    return {
        "calibrated stability, 0.1": StabilitySelection(fdr=0.1, n_jobs=1),
        "knockoff+, 0.1": KnockoffSelection(0.1, n_jobs=1),
        "stability, r-concave": StabilitySelection(pfer=0.1, assumption="r-concave", n_jobs=1),
    }


def left_out_methods(setting: Setting, sigma: Any) -> dict[str, Any]:
    """Return stability selection as it comes, at each level."""
    del setting, sigma
    return {
        f"calibrated stability, {fdr:g}": StabilitySelection(fdr=fdr, n_jobs=1)
        for fdr in LEFT_OUT_LEVELS
    }


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
