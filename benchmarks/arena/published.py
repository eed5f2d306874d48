"""Settings that others have published, with the numbers that they found.

T1 is the simulation of Machkour, Muma and Palomar (T-Rex): normal columns, ten effects of one, and
noise that gives a ratio of variances (SNR). I1 and I2 are of Melikechi and Miller (integrated path
stability selection): nonlinear effects on columns with correlations 0.5^|i-j|, and on gene
expressions of ovarian tumours. Their functions and their expressions are not at hand: here the
columns act as in the kind "nonlinear", at an SNR of one, and I2 has microRNA of prostate tumours.
The levels after the fit of Fischer and Sechidis are repeated by `benchmarks.after_the_fit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchmarks.arena.kinds import expressions
from benchmarks.table_kinds import Kind, autoregressive, curved

SIGNALS = 10
"""Columns that matter, in all of these settings."""
COLUMNS = 500
"""Columns of I1 and I2."""


@dataclass(frozen=True)
class Number:
    """What was published for one method."""

    method: str
    power: float
    fdr: float | None = None


@dataclass(frozen=True)
class Study:
    """A published setting, all of them at an FDR of 0.1."""

    kind: Kind
    same: bool
    """Whether the data are drawn as there; otherwise they are alike."""
    numbers: tuple[Number, ...]
    source: str


TREX = "Machkour, Muma and Palomar, The terminating-random experiments selector, arXiv 2110.06048"
IPSS = "Melikechi, Dunson and Miller, arXiv 2410.02208"


def _strength(rows: int, ratio: float) -> float:
    """Return the effect, in standard errors, at which all signals have this ratio of variances."""
    return float((rows * ratio / SIGNALS) ** 0.5)


def studies(folder: Path | None = None) -> tuple[Study, ...]:
    """Return the settings; I2 only with the folder of the tables."""
    trex = [
        Study(
            Kind(f"T1, SNR {ratio:g}", 300, 1000, SIGNALS, strength=_strength(300, ratio)),
            True,
            (Number("T-Rex, LARS", power, fdr),),
            TREX,
        )
        for ratio, power, fdr in ((0.5, 0.2515, 0.0366), (1.0, 0.72, None), (2.0, 0.9795, 0.0432))
    ]
    toeplitz = Kind(
        "I1", 250, COLUMNS, SIGNALS, autoregressive(0.5), _strength(250, 1.0), shape=curved
    )
    first = Study(
        toeplitz,
        False,
        (
            Number("IPSS, boosting", 0.150, 0.032),
            Number("IPSS, forest", 0.031, 0.002),
            Number("knockoffs, lasso", 0.000),
            Number("Boruta", 0.371, 0.503),
        ),
        IPSS,
    )
    if folder is None:
        return (*trex, first)
    real = Kind(
        "I2, other columns", 493, COLUMNS, SIGNALS, expressions(folder, COLUMNS),
        _strength(493, 1.0), shape=curved,
    )  # fmt: skip
    second = Study(
        real,
        False,
        (
            Number("IPSS, boosting", 0.239, 0.077),
            Number("IPSS, lasso", 0.139),
            Number("knockoffs, lasso", 0.011),
        ),
        IPSS,
    )
    return (*trex, first, second)
