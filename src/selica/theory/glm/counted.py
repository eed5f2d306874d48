r"""How much a count tells about its linear predictor, for means from next to none to millions.

With :math:`z_0 \sim N(\omega, V)` a count has the probability

.. math:: \bar p(y|\omega) = \int N(z_0; \omega, V)\,\frac{\exp(y z - e^z)}{y!}\,dz_0,
    \qquad z = a_0 + z_0,

whose integrand is narrow where y is large. It is summed around its mode, which is a fit of the
row, in steps of its width there. Counts themselves are all whole numbers where these are small,
and steps in proportion to the width :math:`\sqrt{y + V y^2}` of the law where they are large.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from selica._core.types import Array
from selica.theory.glm.fits import exponential_mean
from selica.theory.glm.rows import gauss

_ALL_BELOW = 40.0
"""Counts up to which each is a label."""
_NONE_ABOVE = 500.0
"""Counts from which on steps are those of the width of the law."""
_STEP = 0.4
"""Of large counts, in widths of their law."""
_PARTS = 8
"""Parts of a step between these."""
_REACH = 6.5
"""Standard deviations of linear predictors whose counts are summed."""
_MANY = 1e5
"""Means from which on a count is as good as normal: its logarithm tells all but 1e-5 of it."""
_WIDTHS = np.arange(-10.2, 8.5, 0.6)
"""Nodes around a mode, in its widths; the side of small means falls off more slowly."""
_NEGLIGIBLE = -32.0
"""Logarithm of the probability of counts that are left out."""
_LARGE = 100.0
"""Counts from which on Stirling's series has all digits."""
_BLOCK = 40_000
"""Counts of a field that are summed at once."""


def count_information(T: float, intercept: float, V: float) -> float:
    """Return E[(d log p(y|omega) / d omega)^2] of a count, at a posterior variance V.

    Parameters
    ----------
    T : float
        Variance of the linear predictor.
    intercept : float
        Log mean at x = 0.
    V : float
        From 0 to T; at 0 the answer is the mean count.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.theory.glm.counted import count_information
    >>> round(count_information(0.5, np.log(2.0), 0.0), 4)  # 2 exp(1/4)
    2.5681
    """
    if V <= 0.0:
        return float(np.exp(intercept + 0.5 * T))
    omega, weight = gauss(float(np.sqrt(max(T - V, 0.0))))
    omega = omega + intercept
    # counts that cannot be small are as good as measurements of variance exp(-z)
    high = omega - _REACH * np.sqrt(V) > np.log(_MANY)
    linear = float(weight[high] @ (1.0 / (V + np.exp(-omega[high]))))
    omega, weight = omega[~high], weight[~high]
    if omega.size == 0:
        return linear
    top = np.exp(min(intercept + _REACH * np.sqrt(T), omega[-1] + _REACH * np.sqrt(V)))
    y, share = _counts(top + 8.0 * np.sqrt(top) + 12.0, V)
    mode = exponential_mean(omega[:, None] + V * y, np.asarray(V), 1e-9)
    peak = _log_law(y, np.log(mode), np.log(mode) - omega[:, None], V)
    field, label = np.nonzero(peak > _NEGLIGIBLE)
    told = np.empty(field.size)
    for start in range(0, field.size, _BLOCK):
        here = slice(start, start + _BLOCK)
        told[here] = _told(y[label[here]], omega[field[here]], mode[field[here], label[here]], V)
    return linear + float(np.sum(weight[field] * share[label] * told))


def _told(y: Array, omega: Array, mode: Array, V: float) -> Array:
    """Return the square of the slope of a probability over it."""
    width = 1.0 / np.sqrt(1.0 / V + mode)
    z = np.log(mode)[:, None] + width[:, None] * _WIDTHS
    law = np.exp(_log_law(y[:, None], z, z - omega[:, None], V))
    # equal by parts; neither is a difference of large numbers where it is taken
    near = np.where(V * mode > 1.0, 1.0, 0.0)[:, None]
    score = near * (z - omega[:, None]) / V + (1.0 - near) * (y[:, None] - np.exp(z))
    slope = np.vecdot(law, score)
    unit = (_WIDTHS[1] - _WIDTHS[0]) / np.sqrt(2.0 * np.pi * V)
    return np.asarray(unit * width * slope**2 / law.sum(axis=1))


def _log_law(y: Array, z: Array, away: Array, V: float) -> Array:
    """Return log [N(z0; omega, V) p(y|z)] but for a constant; no difference of large numbers.

    y z - exp(z) - log y! is -y (exp(d) - 1 - d) with d = z - log y, and a term of y alone.
    """
    some = np.maximum(y, 1.0)
    d = z - np.log(some)
    own = np.where(
        some < _LARGE,
        some * np.log(some) - some - gammaln(some + 1.0),
        -0.5 * np.log(2.0 * np.pi * some) - (1.0 - 1.0 / (30.0 * some**2)) / (12.0 * some),
    )
    law = np.where(y > 0.0, own - some * (np.expm1(d) - d), -np.exp(z))
    return np.asarray(law - 0.5 * away**2 / V)


def _counts(top: float, V: float) -> tuple[Array, Array]:
    """Return counts up to the largest one, and how many each stands for.

    Counts are y(k) at whole numbers k with a smooth dy/dk, which is one at first: sums over k are
    integrals to all digits.
    """
    whole = np.arange(min(_ALL_BELOW, np.ceil(top)) + 1.0)
    y, each = [float(whole[-1])], [1.0]
    while y[-1] < min(top, _NONE_ABOVE):
        here = y[-1]
        for _ in range(_PARTS):  # Runge-Kutta's method
            first = _pace(here, V) / _PARTS
            second = _pace(here + 0.5 * first, V) / _PARTS
            third = _pace(here + 0.5 * second, V) / _PARTS
            fourth = _pace(here + third, V) / _PARTS
            here += (first + 2.0 * second + 2.0 * third + fourth) / 6.0
        y.append(here)
        each.append(_pace(here, V))
    # beyond, dy/dk = step sqrt(y + V y^2) has the solution sinh(angle)^2 / V
    last, pace = np.arcsinh(np.sqrt(V * y[-1])), 0.5 * _STEP * np.sqrt(V)
    more = np.ceil(max(np.arcsinh(np.sqrt(V * top)) - last, 0.0) / pace)
    far = np.sinh(last + pace * np.arange(1.0, more + 1.0)) ** 2 / V
    ones = np.ones(whole.size)
    return (
        np.concatenate([whole, y[1:], far]),
        np.concatenate([ones, each[1:], _STEP * np.sqrt(far + V * far**2)]),
    )


def _pace(y: float, V: float) -> float:
    """Return dy/dk."""
    x = (y - _ALL_BELOW) / (_NONE_ABOVE - _ALL_BELOW)
    if x <= 0.0:
        return 1.0
    wide = _STEP * float(np.sqrt(y + V * y * y))
    if x >= 1.0:
        return wide
    rise = x**4 * (35.0 - x * (84.0 - x * (70.0 - 20.0 * x)))  # three derivatives at both ends
    return 1.0 + rise * (wide - 1.0)
