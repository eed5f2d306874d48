r"""Averages over one variable and over one row, tilted by the cost they cause.

Large deviations weigh each member of the ensemble by :math:`e^{-yL}`, L its minimal cost. One
variable then sees the field :math:`h = g + \sqrt{\hat v}\,\eta` with an extra weight
:math:`e^{y\phi(h)}`, :math:`\phi(h) = (|h| - \lambda)_+^2 / 2\hat Q`, and a row sees its count c
under an extra weight too. At y = 0 these are the averages of the article. docs/large-deviations.md
has the derivation; equation numbers are its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtr, roots_genlaguerre

from selica._core.quadrature import panels
from selica._core.scalar import LOG_SQRT_2PI, density
from selica._core.types import Array

# int_0^inf t^k exp(-x t - t^2/2) dt for x >= _TAIL_START by Laguerre nodes, to 1e-14 relatively.
_TAIL_START = 5.0
_LAGUERRE_RULE = roots_genlaguerre(24, 0.0)
_LAGUERRE_NODES = _LAGUERRE_RULE[0]
_TAIL_WEIGHTS = _LAGUERRE_RULE[1] * _LAGUERRE_NODES ** np.arange(3)[:, None]
_QUADRATURE_ORDER = 16
"""Gauss-Legendre nodes of a panel."""
TRUNCATION = 9.2  # standard deviations; the rest weighs 4e-20
_ROW_PANELS = 24
"""Panels of the average over a row."""
_COUNT_MARGIN = 60.0  # counts beyond the bulk that a table holds: tilts move weight there
_LONGEST_TABLE = 2000  # counts; where a tilt needs more, it is called a divergence


class Above(NamedTuple):
    """A standard normal z given z > x: see `above`."""

    log_probability: Array
    """log P(z > x)."""
    mean: Array
    """E[z - x | z > x]."""
    variance: Array
    """Var[z | z > x]."""


def above(x: Array) -> Above:
    """Return moments of a truncated normal distribution, to full accuracy however far out."""
    far = x > _TAIL_START
    near = np.where(far, 0.0, x)
    tail = ndtr(-near)
    ratio = density(near) / tail
    log_p, mean = np.log(tail), ratio - near
    variance = 1.0 - ratio * mean
    if far.any():
        z = x[far]
        s0, s1, s2 = _TAIL_WEIGHTS @ np.exp(-0.5 * (_LAGUERRE_NODES[:, None] / z) ** 2)
        log_p[far] = np.log(s0) - 0.5 * z * z - np.log(z) - LOG_SQRT_2PI
        mean[far] = s1 / (s0 * z)
        variance[far] = (s2 / s0 - (s1 / s0) ** 2) / z**2
    return Above(log_p, mean, variance)


class TiltedMember(NamedTuple):
    """Averages over a member's own randomness at given fields g >= 0 of the data."""

    log_weight: Array
    """log E exp(y phi(h))."""
    mean: Array
    """<w_hat>."""
    variance: Array
    """<w_hat^2> - <w_hat>^2, summed without a cancelling difference."""
    active: Array
    """<1(|h| > lam)>."""
    absolute: Array
    """<|w_hat|>."""


def tilted_member(g: Array, own: float, Q: float, lam: float, y: float) -> TiltedMember:
    """Return tilted averages of the soft threshold (eq. 13): three Gaussian pieces, each closed.

    Parameters
    ----------
    g : array
        The part of the field that the data fix.
    own, Q, lam, y : float
        v_hat > 0, Q_hat, the penalty, the tilt; y own < Q, else the average does not exist.
    """
    a = y / Q
    kappa = 1.0 - a * own
    sd = np.sqrt(own)
    narrow, wide = sd * np.sqrt(kappa), sd / np.sqrt(kappa)
    with np.errstate(divide="ignore"):  # pieces without weight
        inside = np.log(np.maximum(ndtr((lam - g) / sd) - ndtr(-(lam + g) / sd), 0.0))
    logs, means, variances = [inside], [np.zeros_like(g)], [np.zeros_like(g)]
    for sign in (1.0, -1.0):
        # u = sign * h - lam > 0 has the mean d; with the tilt it is N(d / kappa, own / kappa)
        d = sign * g - lam
        part = above(-d / narrow)
        logs.append(part.log_probability + 0.5 * a * d * d / kappa - 0.5 * np.log(kappa))
        means.append(sign * wide * part.mean)
        variances.append(wide * wide * part.variance)
    log, u, spread = np.stack(logs), np.stack(means), np.stack(variances)
    top = log.max(axis=0)
    p = np.exp(log - top)
    total = p.sum(axis=0)
    p /= total
    mean = (p * u).sum(axis=0)
    variance = (p * (spread + (u - mean) ** 2)).sum(axis=0)
    return TiltedMember(
        top + np.log(total),
        mean / Q,
        variance / Q**2,
        p[1] + p[2],
        (p * np.abs(u)).sum(axis=0) / Q,
    )


class TiltedRow(NamedTuple):
    """Averages over the counts of a row at given residuals; last axis of the input summed."""

    log_weight: Array
    """log E_c W_c (eq. 4)."""
    f: Array
    """<f_c>."""
    k: Array
    """<k_c>."""
    k_variance: Array
    """<k_c^2> - <k_c>^2."""
    fk: Array
    """<f_c k_c>."""
    loss: Array
    """Twice the training loss of the row."""
    rows: Array
    """<c>."""


def tilted_row(
    square: Array, count: Array, log_p: Array, chi: float, v: float, y: float
) -> TiltedRow:
    """Return tilted averages over the count of a row (eqs. 8 to 10).

    Parameters
    ----------
    square : array (n,)
        E xi^2, the square of what the members' residuals of the row share.
    count, log_p : array (C,)
        Values of the count and logarithms of their (unnormalised) probabilities.
    chi, v, y : float
        chi + chi_tilde, v + v_tilde, the tilt.
    """
    f = count / (1.0 + chi * count)
    fit = 1.0 / (1.0 + (chi + y * v) * count)  # k / c
    k = count * fit
    log = log_p - 0.5 * np.log1p(y * v * f) - 0.5 * y * square[:, None] * k
    top = log.max(axis=1, keepdims=True)
    p = np.exp(log - top)
    total = p.sum(axis=1)
    p /= total[:, None]
    mean = p @ k
    off = k - mean[:, None]
    return TiltedRow(
        top[:, 0] + np.log(total),
        p @ f,
        mean,
        np.vecdot(p, off * off),
        p @ (f * k),
        v * (p @ (f * fit)) + square * (p @ (k * fit)),
        p @ count,
    )


class OutOfRange(Exception):
    """A state at which the averages do not exist; the text says which of them."""


def half_normal(sharpness: float) -> tuple[Array, Array]:
    """Return xi^2 and probabilities for a standard normal xi, by its absolute value.

    The tilt turns one count into another over a width of 1 / sharpness in xi^2.
    """
    finer = min(max(np.ceil(np.log2(max(abs(sharpness), 1e-9) / 5.0)), 0.0), 4.0)
    return _half_normal(_ROW_PANELS * 2 ** int(finer))


@lru_cache(maxsize=8)
def _half_normal(number: int) -> tuple[Array, Array]:
    xi, width = panels(np.linspace(0.0, TRUNCATION, number + 1), _QUADRATURE_ORDER)
    weight = width * density(xi)
    return xi**2, weight / weight.sum()


def field_nodes(
    mean: Array, sd: Array, lam: float, own: float, kappa: float
) -> tuple[Array, Array]:
    """Return nodes g >= 0 and widths for variables of fields N(mean, sd^2), no mean negative.

    Panels are as narrow as the narrowest law where it lives, grow with g beyond, and shrink
    towards g = lam, where the members' own spread sqrt(own) rules.
    """
    top = float(np.max(mean + TRUNCATION * sd))
    thin = float(sd.min())
    near = min(float(mean.max()) + TRUNCATION * thin, top)
    fine = np.linspace(0.0, near, int(np.ceil(1.5 * near / thin)) + 1)
    parts = [fine]
    if top > near:
        parts.append(np.geomspace(near, top, int(np.ceil(np.log(top / near) / 0.2)) + 1))
    smallest = 0.25 * np.sqrt(own) * min(1.0, np.sqrt(kappa))
    number = int(np.ceil(np.log(max(top / smallest, 2.0)) / 0.5)) + 1
    away = np.geomspace(smallest, max(top, 2.0 * smallest), number)
    parts += [np.array([lam]), lam - away, lam + away]
    cuts = np.unique(np.concatenate(parts))
    return panels(cuts[(cuts >= 0.0) & (cuts <= top)], _QUADRATURE_ORDER)


def poisson_table(rate: float, factor: float, tilt: float, slope: float) -> tuple[Array, Array]:
    """Return Poisson counts and log probabilities, as far as a tilt can carry them.

    Parameters
    ----------
    rate : float
    factor : float
        By which e^nu multiplies the rate.
    tilt, slope : float
        The largest of the other weights is exp(tilt c / (1 + slope c)); tilt may be negative.
    """
    low, high = min(rate, factor * rate), max(rate, factor * rate)
    if tilt > 0.0:
        high = _largest_rate(high, tilt, slope)
        first = max(0.0, np.floor(low - 12.0 * np.sqrt(low) - _COUNT_MARGIN))
    else:
        first = 0.0
    last = np.ceil(high + 12.0 * np.sqrt(high) + _COUNT_MARGIN)
    if not last - first <= _LONGEST_TABLE:
        raise OutOfRange("the counts of a row have no finite average")
    count = np.arange(first, last)
    return count, count * np.log(rate) - rate - gammaln(count + 1.0)


def _largest_rate(rate: float, tilt: float, slope: float) -> float:
    """Return c = rate exp(tilt / (1 + slope c)^2), where a tilted Poisson count has its weight."""
    low, high = rate, rate + float(_LONGEST_TABLE)
    slope = max(slope, 0.0)
    if np.log(rate / high) + tilt / (1.0 + slope * high) ** 2 > 0.0:
        return np.inf
    for _ in range(60):
        middle = 0.5 * (low + high)
        if np.log(rate / middle) + tilt / (1.0 + slope * middle) ** 2 > 0.0:
            low = middle
        else:
            high = middle
    return high
