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
from scipy.special import expit

from selica._core.types import Array
from selica.theory.glm.counted import count_information
from selica.theory.glm.responses import prevalence
from selica.theory.glm.rows import gauss
from selica.theory.glm.tables import FAST, time_labels
from selica.theory.response import RowSetting

_NODES = 24
"""Variances at which information is computed."""
_LONGEST_BLOCK = 4_000_000
"""Numbers held at once."""
_NO_SIGNAL = 1e-12
"""Variances of the linear predictor below which rows tell nothing about each other."""
_TINY = 1e-250
"""Probabilities below tell nothing."""


class _Labels(NamedTuple):
    """Labels as functions of the truth: log p(y|z0) without what z0 does not change."""

    y: Array
    rate: Array
    """Factor of exp(z0), for times."""
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
    labels = time_labels(row.T, row.place, row.T, FAST)
    time = labels.time
    base = np.append(np.log(labels.measure), 0.0)
    y = np.append(np.ones(labels.measure.size), 0.0)
    return _Labels(y, time, base, np.ones_like(y), False)


class _Interpolated(NamedTuple):
    """log I(V) as a polynomial of log(1 + k V), in which I = k/(1 + k V) would be linear."""

    pace: float
    """k: how fast I falls at V = 0."""
    coefficients: Array
    """Of Chebyshev's polynomials."""


@lru_cache(maxsize=256)
def _interpolated(row: RowSetting) -> _Interpolated:
    labels = None if row.kind == "poisson" else _labels(row)

    def exact(share: float) -> float:
        if labels is None:
            return count_information(row.T, row.place, share * row.T)
        return _information(labels, row.T, share)

    # rows of the mean e^z tell e^z / (1 + V e^z) if V is small
    pace = float(np.exp(row.place + 1.5 * row.T)) if labels is None else 4.0 * exact(0.0)
    x = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    share = np.expm1(0.5 * (x + 1.0) * np.log1p(pace * row.T)) / (pace * row.T)
    value = [exact(min(one, 1.0)) for one in share.tolist()]
    return _Interpolated(pace, np.asarray(chebfit(x, np.log(value), _NODES - 1)))


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
    V = np.asarray(V, dtype=float)
    if row.T < _NO_SIGNAL:
        row = row._replace(T=0.0)
        if row.kind == "poisson":
            return np.full(V.shape, np.exp(row.place))
        return np.full(V.shape, _information(_labels(row), 0.0, 0.0))
    pace, coefficients = _interpolated(row)
    share = np.log1p(pace * np.clip(V, 0.0, row.T)) / np.log1p(pace * row.T)
    return np.asarray(np.exp(chebval(2.0 * share - 1.0, coefficients)))
