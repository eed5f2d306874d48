"""Half the squared residual: a continuous response."""

from __future__ import annotations

import numpy as np

from selica._core.losses.base import Null, RowLoss, weighted_mean
from selica._core.types import Array


class SquaredLoss(RowLoss):
    """(y - z)^2 / 2.

    Examples
    --------
    >>> import numpy as np
    >>> from selica._core.losses import SquaredLoss
    >>> SquaredLoss().proximal(np.ones(1), np.zeros(1), np.array([3.0])).item()
    0.75
    """

    name = "squared"
    response = "linear"
    label = "a continuous response"
    kernel = "squared"
    quadratic = True
    unpenalised = True
    noisy = True

    def value(self, y: Array, z: Array) -> Array:
        """Return half the squared residual."""
        return np.asarray(0.5 * (y - z) ** 2)

    def slope(self, y: Array, z: Array) -> Array:
        """Return minus the residual."""
        return np.asarray(z - y)

    def curvature(self, y: Array, z: Array) -> Array:
        """Return one."""
        return np.ones(np.broadcast_shapes(np.shape(y), np.shape(z)))

    def conjugate(self, y: Array, z: Array, scale: Array) -> Array:
        """Return s^2 / 2 + s y at s = scale * (z - y)."""
        s = scale * (z - y)
        return np.asarray(0.5 * s**2 + s * y)

    def proximal(self, y: Array, field: Array, pull: Array) -> Array:
        """Return the weighted mean of field and response."""
        return np.asarray((field + pull * y) / (1.0 + pull))

    def balance(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the weighted mean residual."""
        return weighted_mean(y - eta, c)

    def null(self, y: Array, c: Array, intercept: bool = True) -> Null:
        """Return the fit by the weighted mean."""
        a = weighted_mean(y, c) if intercept else np.zeros(np.shape(c)[:-1])
        gradient = c * (a[..., None] - y)
        return Null(a, gradient, 0.5 * np.vecdot(gradient, a[..., None] - y))

    def standardised(self, y: Array, weight: Array) -> tuple[Array, float]:
        """Return the response about its mean, in units of its standard deviation."""
        y = y - np.average(y, weights=weight)
        scale = float(np.sqrt(np.average(y**2, weights=weight)))
        return (y / scale if scale > 0.0 else y), scale

    def draw(self, eta: Array, noise_variance: float | None, rng: np.random.Generator) -> Array:
        """Return the predictor with normal noise."""
        spread = np.sqrt(noise_variance or 0.0)
        return np.asarray(eta + spread * rng.standard_normal(eta.size))
