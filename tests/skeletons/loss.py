"""A new loss in one file: regression that is robust against outliers, by log cosh.

Importing the file registers it: from then on ``response="robust"`` works in the selectors, in
cross-validation and in message passing.
"""

from __future__ import annotations

import numpy as np

from selica._core.losses import RowLoss, register
from selica._core.types import Array

_NORMAL = 0.6744897501960817
"""Median absolute deviation of a standard normal number."""


class LogCosh(RowLoss):
    """log cosh(z - y): half the square of a small residual, the size of a large one."""

    name = "log-cosh"
    response = "robust"
    label = "a response with outliers"
    noisy = True

    def value(self, y: Array, z: Array) -> Array:
        """Return log cosh of the residual, for residuals of any size."""
        size = np.abs(z - y)
        return np.asarray(size + np.log1p(np.exp(-2.0 * size)) - np.log(2.0))

    def slope(self, y: Array, z: Array) -> Array:
        """Return the hyperbolic tangent of the residual."""
        return np.asarray(np.tanh(z - y))

    def curvature(self, y: Array, z: Array) -> Array:
        """Return the square of the hyperbolic secant of the residual."""
        decay = np.exp(-2.0 * np.abs(z - y))
        return np.asarray(4.0 * decay / (1.0 + decay) ** 2)

    def standardised(self, y: Array, weight: Array) -> tuple[Array, float]:
        """Return the response about its median, in units of its median absolute deviation."""
        y = y - np.median(y)
        scale = float(np.median(np.abs(y)) / _NORMAL)
        return (y / scale, scale) if scale > 0.0 else (y, 1.0)

    def draw(self, eta: Array, noise_variance: float | None, rng: np.random.Generator) -> Array:
        """Return the predictor with noise of which this loss is minus the log likelihood."""
        noise = np.log(np.tan(0.5 * np.pi * rng.random(eta.size))) * 2.0 / np.pi
        return np.asarray(eta + np.sqrt(noise_variance or 0.0) * noise)


register(LogCosh())
