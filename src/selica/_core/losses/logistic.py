"""The log-loss: a binary response, 0 or 1, whose log odds are linear."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, xlog1py, xlogy

from selica._core.errors import ArgumentError
from selica._core.losses.base import LabelledLoss, Null, Reading, weighted_mean
from selica._core.types import Array

_LEAST_SHARE = 1e-300
"""A share of zero is replaced by this in a logarithm."""


class LogisticLoss(LabelledLoss):
    """log(1 + exp(-s z)) with the sign s = 2 y - 1 of a response y of 0 or 1.

    For the theory: turning the signs of response, truth and fit together changes no average, so
    that y = 1 counts twice and y = 0 not at all.

    Examples
    --------
    >>> import numpy as np
    >>> from selica._core.losses import LogisticLoss
    >>> LogisticLoss().value(np.array([0.0, 1.0]), np.array([800.0, 800.0])).tolist()
    [800.0, 0.0]
    """

    name = "logistic"
    response = "binary"
    label = "two classes"
    unpenalised = True
    kernel = "logistic"
    distinct_values = 2
    labels: Array = np.ones(1)
    multiplicity: Array = np.full(1, 2.0)

    def value(self, y: Array, z: Array) -> Array:
        """Return minus the log likelihood."""
        return np.asarray(np.logaddexp(0.0, -(2.0 * y - 1.0) * z))

    def slope(self, y: Array, z: Array) -> Array:
        """Return minus the probability of the other class, with the sign of y."""
        sign = 2.0 * y - 1.0
        return np.asarray(-sign * expit(-sign * z))

    def curvature(self, y: Array, z: Array) -> Array:
        """Return the variance of the response."""
        return np.asarray(expit(z) * expit(-z))

    def conjugate(self, y: Array, z: Array, scale: Array) -> Array:
        """Return minus the entropy of the share y + scale * slope."""
        share = np.clip(y + scale * self.slope(y, z), 0.0, 1.0)
        return np.asarray(xlogy(share, share) + xlog1py(1.0 - share, -share))

    def mean(self, eta: Array) -> Array:
        """Return the probability of a one."""
        return np.asarray(expit(eta))

    def null(self, y: Array, c: Array, intercept: bool = True) -> Null:
        """Return the fit by the weighted share of ones, or by even odds."""
        total = c.sum(axis=-1)
        if not intercept:
            value = np.asarray(np.log(2.0) * total)
            return Null(np.zeros(total.shape), np.asarray(c * (0.5 - y)), value)
        mean = weighted_mean(y, c)
        share, other = (np.clip(part, _LEAST_SHARE, 1.0) for part in (mean, 1.0 - mean))
        value = -total * (share * np.log(share) + other * np.log(other))
        return Null(np.log(share / other), np.asarray(c * (mean[..., None] - y)), value)

    def read(self, y: Array) -> Reading:
        """Return 1 for the second of two classes and 0 for the first."""
        classes = np.unique(y)
        if classes.size != 2:
            raise ArgumentError(
                f"y must have two classes for response='binary'; got {classes.size}."
            )
        return Reading((y == classes[1]).astype(float), classes)

    def check(self, y: Array) -> None:
        """Refuse numbers other than 0 and 1."""
        if not np.isin(y, (0.0, 1.0)).all():
            raise ArgumentError("y must hold 0 and 1 only for a binary response.")

    def strata(self, y: Array) -> Array:
        """Return the class of each row."""
        return y

    def informative_rows(self, y: Array) -> int:
        """Return twice the rows of the rarer class, which limits what a fit learns."""
        ones = int(np.count_nonzero(y))
        return 2 * min(ones, int(y.size) - ones)

    def draw(self, eta: Array, noise_variance: float | None, rng: np.random.Generator) -> Array:
        """Return ones with log odds `eta`, else zeros."""
        del noise_variance
        return (rng.random(eta.size) < expit(eta)).astype(float)

    def chance(self, y: Array, z0: Array) -> Array:
        """Return the probability of the class y."""
        return np.asarray(expit((2.0 * y - 1.0) * z0))

    def chance_slope(self, y: Array, z0: Array) -> Array:
        """Return its derivative in z0."""
        return np.asarray((2.0 * y - 1.0) * expit(z0) * expit(-z0))
