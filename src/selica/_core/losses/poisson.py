r"""Counts: the log of their rate is linear, up to an offset that is known.

With the rate :math:`\mu = e^{o + \eta}` the loss of a row is :math:`\mu - y \eta`; the terms
:math:`\log y!` and :math:`-y o` of the likelihood are constants and left out.
"""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega, xlogy

from selica._core.errors import ArgumentError
from selica._core.losses.base import Reading, RowLoss, real_response
from selica._core.types import Array, BoolArray
from selica._core.validation import written

_NO_COUNT = 1e-300
"""A sum of zero is replaced by this in a logarithm."""
_LARGEST_DRAWN = 34.0
"""Logarithm of the largest rate at which a count is drawn: about 6e14."""


class PoissonLoss(RowLoss):
    """exp(z) - y z, for counts y of zero or more that need not be whole.

    A response of two columns is counts and offsets, e.g. logarithms of exposures.

    Examples
    --------
    >>> import numpy as np
    >>> from selica._core.losses import PoissonLoss
    >>> y = np.column_stack([[3.0, 1.0], np.log([2.0, 2.0])])
    >>> np.exp(PoissonLoss().null(y, np.ones(2)).intercept).round(12).item()  # four in four units
    1.0
    """

    name = "poisson"
    kernel = "poisson"
    response = "count"
    label = "counts"
    fields = ("count", "offset")
    defaults = (0.0,)

    # --- one row

    def value(self, y: Array, z: Array) -> Array:
        """Return minus the log likelihood up to a constant; infinite where the rate overflows."""
        return np.asarray(_rate(z) - y * z)

    def slope(self, y: Array, z: Array) -> Array:
        """Return the rate minus the count."""
        return np.asarray(_rate(z) - y)

    def curvature(self, y: Array, z: Array) -> Array:
        """Return the rate."""
        return np.broadcast_to(_rate(z), np.broadcast_shapes(np.shape(y), np.shape(z)))

    def lowest(self, y: Array) -> Array:
        """Return the loss at a rate that is the count."""
        return np.asarray(y - xlogy(y, y))

    def conjugate(self, y: Array, z: Array, scale: Array) -> Array:
        """Return r log r - r at the rate r = y + scale * slope."""
        r = _between(y, _rate(z), scale)
        return np.asarray(xlogy(r, r) - r)

    def proximal(self, y: Array, field: Array, pull: Array) -> Array:
        """Return the root in closed form: pull * exp(z) is a value of Wright's omega function."""
        pulled = pull > 0.0
        force = np.where(pulled, pull, 1.0)
        z = field + force * y - wrightomega(np.log(force) + field + force * y)
        return np.asarray(np.where(pulled, z, field))

    def mean(self, eta: Array) -> Array:
        """Return the rate."""
        return _rate(eta)

    # --- all rows

    def row_wise(self, y: Array, eta: Array) -> tuple[Array, Array]:
        """Return the counts, and the logarithms of the rates."""
        count, offset = self.columns(y)
        return count, np.asarray(eta + offset)

    def total(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the weighted sum of rate - count * eta."""
        count, line = self.row_wise(y, eta)
        linear = np.vecdot(c * count, np.where(c > 0.0, eta, 0.0))
        return np.asarray(_weighted_rate(c, line).sum(axis=-1) - linear)

    def gradient(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the weighted rates minus counts."""
        count, line = self.row_wise(y, eta)
        return np.asarray(_weighted_rate(c, line) - c * count)

    def majorant(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the weighted rates."""
        return _weighted_rate(c, self.row_wise(y, eta)[1])

    def dual(self, y: Array, c: Array, eta: Array, scale: Array) -> Array:
        """Return minus the weighted sum of r (log r - 1 - offset) at r = y + scale * (mu - y)."""
        count, offset = self.columns(y)
        r = _between(count, _rate(np.where(c > 0.0, eta + offset, 0.0)), scale[..., None])
        return np.asarray(-np.vecdot(c, xlogy(r, r) - r * (1.0 + offset)))

    def infimum(self, y: Array, c: Array) -> Array:
        """Return the loss at rates that are the counts."""
        count, offset = self.columns(y)
        return np.asarray(np.vecdot(c, self.lowest(count) + count * offset))

    def balance(self, y: Array, c: Array, eta: Array) -> Array:
        """Return the logarithm of all counts over all rates."""
        count, line = self.row_wise(y, eta)
        c = np.broadcast_to(c, np.broadcast_shapes(c.shape, line.shape))
        line = np.where(c > 0.0, line, -np.inf)
        top = line.max(axis=-1, initial=-np.inf)
        top = np.where(np.isfinite(top), top, 0.0)
        rates = np.vecdot(c, np.exp(line - top[..., None]))
        happened = np.log(np.maximum(np.vecdot(c, count), _NO_COUNT))
        return np.asarray(happened - top - np.log(np.where(rates > 0.0, rates, 1.0)))

    def degenerate(self, y: Array, c: Array) -> BoolArray:
        """Return where nothing was counted: the intercept would be minus infinity."""
        return np.asarray(np.vecdot(c, self.columns(y)[0]) <= 0.0)

    # --- the response

    def read(self, y: Array) -> Reading:
        """Return counts, or counts and offsets, as floats."""
        values = real_response(np.asarray(y))
        self.check(values)
        return Reading(values)

    def check(self, y: Array) -> None:
        """Refuse counts below zero, offsets that are not finite, and other shapes."""
        if y.ndim > 1 and y.shape[-1] > len(self.fields):
            raise ArgumentError(
                "y must be counts, or two columns of counts and offsets; got "
                f"{y.shape[-1]} columns."
            )
        count, offset = self.columns(y)
        if not np.all(np.isfinite(offset)):
            raise ArgumentError("y has an offset that is not finite: an exposure must be positive.")
        if np.any(count < 0.0):
            raise ArgumentError(
                f"y must hold counts of zero or more for response='count'; got "
                f"{written(count[count < 0.0].flat[0])}."
            )

    def informative_rows(self, y: Array) -> int:
        """Return the sum of the counts, which is what a fit learns from, at most one a row."""
        count = self.columns(y)[0]
        return int(min(count.size, count.sum()))

    def draw(self, eta: Array, noise_variance: float | None, rng: np.random.Generator) -> Array:
        """Return counts with rates exp(eta)."""
        del noise_variance
        return rng.poisson(np.exp(np.minimum(eta, _LARGEST_DRAWN))).astype(float)


def _rate(z: Array) -> Array:
    """Return exp(z), infinite where that is no number."""
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(z))


def _weighted_rate(c: Array, z: Array) -> Array:
    """Return c * exp(z), zero where a row has no weight whatever its predictor is."""
    return np.asarray(c * _rate(np.where(c > 0.0, z, -np.inf)))


def _between(y: Array, rate: Array, scale: Array) -> Array:
    """Return a rate on the way from the count to the fitted rate."""
    return np.asarray(np.maximum(y + scale * (rate - y), 0.0))
