r"""How much rows with a response that is random by itself tell about their linear predictor.

With a posterior variance V of the linear predictor a row is seen through
:math:`\bar p(y|\omega) = E[p(y|z_0)]`, :math:`z_0 \sim N(\omega, V)`, and
:math:`\omega \sim N(0, T - V)`. What it tells is its information

.. math:: I(V) = E_\omega \sum_y \frac{(\partial_\omega \bar p)^2}{\bar p} ,

so that fields of variables have the precision :math:`s = \alpha I(V)` and
:math:`V = \mathrm{mmse}(s)`, in the unit of the log odds, rates or hazards. A linear response has
I = 1/(Delta + V). With times the hazard at x = 0 counts as known: a bound.

Where cases and controls are sampled, scores have a mean. It would tell how far the columns of the
sample are from those of the population, if these were known; they are not, and its square is
subtracted.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebfit, chebval
from scipy.special import expit, gammaln

from selica._core.types import Array
from selica.theory.glm.responses import prevalence
from selica.theory.glm.rows import gauss
from selica.theory.glm.tables import FAST, time_labels
from selica.theory.response import RowSetting

_NODES = 20
"""Variances at which information is computed."""
_LONGEST_BLOCK = 4_000_000
"""Numbers held at once."""
_MOST_COUNTS = 4000
"""Counts that are summed over; beyond, every second, third, ... of them is."""
_TINY = 1e-250
"""Probabilities below tell nothing."""


class _Labels(NamedTuple):
    """Labels as functions of the truth: log p(y|z0) without what z0 does not change."""

    y: Array
    rate: Array
    """Factor of exp(z0), for counts and times."""
    base: Array
    """What z0 does not change, in logarithms; with what a sum over labels weighs them."""
    sampled: Array
    """How much more frequent a label is in the sample."""
    binary: bool

    def law(self, z0: Array) -> tuple[Array, Array]:
        """Return probabilities, and their slopes in z0, of shape (labels, *z0.shape)."""
        y, rate, base = (
            part[(...,) + (None,) * z0.ndim] for part in (self.y, self.rate, self.base)
        )
        if self.binary:
            share = expit(z0 + base)
            chance = np.where(y > 0.0, share, 1.0 - share)
            return chance, chance * (y - share)
        mean = rate * np.exp(z0)
        with np.errstate(under="ignore"):
            chance = np.exp(y * z0 - mean + base)
        return chance, chance * (y - mean)


def _labels(row: RowSetting) -> _Labels:
    if row.kind == "logistic":
        ones = np.ones(2)
        sampled = ones
        if row.cases is not None:
            share = prevalence(row.T, row.place)
            sampled = np.array([(1.0 - row.cases) / (1.0 - share), row.cases / share])
        return _Labels(np.array([0.0, 1.0]), ones, row.place * ones, sampled, True)
    if row.kind == "poisson":
        largest = np.exp(row.place + 6.5 * np.sqrt(row.T))
        top = largest + 8.0 * np.sqrt(largest) + 12.0
        every = max(1, int(np.ceil(top / _MOST_COUNTS)))
        y = np.arange(0.0, top + every, every)
        rate = np.exp(row.place) * np.ones_like(y)
        base = y * row.place - gammaln(y + 1.0) + np.log(every)
        return _Labels(y, rate, base, np.ones_like(y), False)
    labels = time_labels(row.T, row.place, row.T, FAST)
    time = labels.time
    base = np.append(np.log(labels.measure), 0.0)
    y = np.append(np.ones(labels.measure.size), 0.0)
    return _Labels(y, time, base, np.ones_like(y), False)


@lru_cache(maxsize=256)
def _coefficients(row: RowSetting) -> Array:
    """Return Chebyshev coefficients of log I(V) in V / T."""
    labels = _labels(row)
    x = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    value = [_information(labels, row.T, 0.5 * (one + 1.0)) for one in x.tolist()]
    return np.asarray(chebfit(x, np.log(value), _NODES - 1))


def _information(labels: _Labels, T: float, share: float) -> float:
    omega, weight = gauss(float(np.sqrt(T * (1.0 - share))))
    beside, inner = gauss(float(np.sqrt(T * share)))
    block = max(1, _LONGEST_BLOCK // (labels.y.size * beside.size))
    total = mean = 0.0
    for start in range(0, omega.size, block):
        here = slice(start, start + block)
        chance, slope = (part @ inner for part in labels.law(omega[here, None] + beside))
        often = chance > _TINY
        told = np.where(often, slope**2 / np.where(often, chance, 1.0), 0.0)
        total += float(labels.sampled @ told @ weight[here])
        mean += float(labels.sampled @ slope @ weight[here])
    return total - mean**2


def information(row: RowSetting, V: Array) -> Array:
    """Return what a row tells about its linear predictor of a posterior variance V.

    Parameters
    ----------
    row : RowSetting
    V : array
        From 0 to T.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.theory.glm.information import information
    >>> from selica.theory.response import RowSetting
    >>> weak = RowSetting("poisson", 1e-6, np.log(3.0), None)
    >>> information(weak, np.zeros(1)).round(3).tolist()
    [3.0]
    """
    if row.T == 0.0:
        return np.full(np.shape(V), _information(_labels(row), 0.0, 0.0))
    x = 2.0 * np.clip(np.asarray(V) / row.T, 0.0, 1.0) - 1.0
    return np.asarray(np.exp(chebval(x, _coefficients(row))))
