"""From a power to a number of samples: the one place that knows who works it out."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from selica import theory
from selica._core.errors import BoundaryWarning
from selica._core.scaling import noise_from_r2, ratios
from selica._core.types import Array
from selica.plots.style import LineStyle, line_style

MOST_SAMPLES = 100_000
_FEWEST_SAMPLES = 20
# Method and resampling rate of the theory, and the selector that does it.
_METHODS: tuple[tuple[str, float | None, str], ...] = (
    ("stability", 2.0, 'StabilitySelection(fdr={fdr:g}, resample_rate=2.0, engine="auto")'),
    ("derandomized", None, "DerandomizedKnockoffs(fdr={fdr:g})"),
    ("knockoff", None, "KnockoffSelection(fdr={fdr:g})"),
)


class Need(NamedTuple):
    """What one method needs."""

    method: str
    samples: int | None
    """None where the largest number tried is not enough."""
    power: float
    """With so many samples; with the largest number tried where none is enough."""
    code: str


class Plan(NamedTuple):
    """Answers of all methods, and power against the number of samples."""

    needs: tuple[Need, ...]
    curves: list[dict[str, Any]]
    styles: tuple[LineStyle, ...]


def plan(power: float, n_features: int, n_signals: int, r2: float, fdr: float) -> Plan:
    """The smallest number of samples with which each method finds this share of the signals."""
    needs, curves, styles = [], [], []
    for method, rate, code in _METHODS:
        style = line_style(method, rate)
        n, found = _search(power, method, rate, n_features, n_signals, r2, fdr)
        enough = np.flatnonzero(found >= power)
        at = int(enough[0]) if enough.size else -1
        samples = int(n[at]) if enough.size else None
        needs.append(Need(style.label, samples, float(found[at]), code.format(fdr=fdr)))
        curves.extend(
            {"method": style.label, "n": float(x), "power": float(y)}
            for x, y in zip(n, found, strict=True)
        )
        styles.append(style)
    return Plan(tuple(needs), curves, tuple(styles))


def _search(
    power: float, method: str, rate: float | None, p: int, k: int, r2: float, fdr: float
) -> tuple[Array, Array]:
    """Numbers of samples, rising, and the power with each; the answer is among them."""

    def powers(n: Array) -> Array:
        alpha, rho = ratios(n, p, k)
        model = theory.Model(alpha, rho, noise_from_r2(rho, r2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BoundaryWarning)
            return np.asarray(theory.power(model, method, fdr, mu_B=1.0 if rate is None else rate))

    n = np.unique(np.geomspace(_FEWEST_SAMPLES, MOST_SAMPLES, 28).round())
    found = powers(n)
    while True:
        enough = np.flatnonzero(found >= power)
        if enough.size == 0 or enough[0] == 0 or n[enough[0]] - n[enough[0] - 1] <= 1:
            return n, found
        more = np.unique(np.linspace(n[enough[0] - 1], n[enough[0]], 12).round())[1:-1]
        n, found = np.append(n, more), np.append(found, powers(more))
        order = np.argsort(n)
        n, found = n[order], found[order]
