r"""Gaussian moments of the soft threshold: one variable as one member, or two members, see it.

Every average of the theory, and of message passing, is an average over a Gaussian field

.. math:: h = g + \sqrt{v}\,\eta, \qquad S(h; \lambda) = \mathrm{sign}(h)\,(|h| - \lambda)_+ .

*One member*: moments of :math:`S(h)` for one Gaussian field of given mean and variance.

*Two members* share the data but not their own randomness: fields :math:`h_1, h_2` alike
whose difference comes from an own variance :math:`v` each. By Price's theorem the derivative of
:math:`E[S(h_1)S(h_2)]` with respect to their covariance is
:math:`P(|h_1|>\lambda, |h_2|>\lambda)`, so that the variance over the members' own randomness is

.. math:: E[S^2] - E[S_1 S_2] = \int_0^{v} P(|h_1|>\lambda, |h_2|>\lambda)\, dv' ,

which is never a difference of nearly equal numbers, however small :math:`v`. The bivariate
probabilities are Owen integrals over :math:`(0, x)`, :math:`x^2 = v / (2\,\mathrm{var} - v) \le 1`,
with analytic integrands, and the outer integral is done in closed form (docs/theory.md). For
fields with a mean the part with opposite signs is a closed form of absolute accuracy 1e-16.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import erf, ndtr, owens_t, roots_genlaguerre

from selica._core.quadrature import legendre
from selica._core.types import Array

_SQRT_2 = np.sqrt(2.0)
"""The square root of 2."""
_SQRT_HALF = np.sqrt(0.5)
"""The square root of 1/2."""
_INV_SQRT_2PI = 1.0 / np.sqrt(2.0 * np.pi)
"""The standard normal density at zero."""
LOG_SQRT_2PI = float(0.5 * np.log(2.0 * np.pi))
"""Minus the logarithm of the standard normal density at zero."""

# Owen integrals: exp(-t^2 x^2 u^2 / 2) times a rational function of (x u)^2, u in (0, 1), x <= 1;
# where t x is large the prefactor exp(-t^2/2) is small. 20 nodes: error below 1e-15.
_OWEN_RULE = legendre(20)
_OWEN_SQUARES = (0.5 * (_OWEN_RULE[0] + 1.0)) ** 2
_OWEN_WEIGHTS = 0.5 * _OWEN_RULE[1]
# Tail of the second moment, int_0^inf y^2 exp(-x y - y^2/2) dy for x >= _TAIL, by Laguerre nodes.
_TAIL = 5.0
_TAIL_RULE = roots_genlaguerre(16, 2.0)
# exp(-x^2/2) < 1e-18 beyond: such terms are dropped.
_NEGLIGIBLE = 9.2


def soft_threshold(h: Array, lam: Array | float) -> Array:
    """Return S(h; lam) = sign(h) max(|h| - lam, 0)."""
    return np.asarray(np.sign(h) * np.maximum(np.abs(h) - lam, 0.0))


def survival(x: Array) -> Array:
    """Return H(x) = P(z > x) for a standard normal z; exact in both tails."""
    return np.asarray(ndtr(-np.asarray(x)))


def density(x: Array) -> Array:
    """Return the density of the standard normal distribution."""
    return np.asarray(_INV_SQRT_2PI * np.exp(-0.5 * np.square(x)))


def excess_mean(x: Array) -> Array:
    """Return E(z - x)_+ for a standard normal z."""
    return np.asarray(density(x) - x * survival(x))


def excess_square(x: Array) -> Array:
    """Return E(z - x)_+^2 for a standard normal z, to full relative accuracy in the upper tail."""
    x = np.asarray(x, dtype=float)
    out = np.asarray((1.0 + x * x) * survival(x) - x * density(x))
    far = x > _TAIL
    if np.any(far):
        y = x[far]
        tail = np.exp(-0.5 * (_TAIL_RULE[0] / y[..., None]) ** 2) @ _TAIL_RULE[1]
        out[far] = density(y) * tail / y**3
    return out


def _inside_square(t: Array, edge: Array) -> Array:
    """Return E[z^2; |z| < t] for a standard normal z, given 2 t times its density at t."""
    out = np.asarray(erf(t * _SQRT_HALF) - edge)
    small = t < 0.01
    if small.any():  # the difference of two terms of order t is of order t^3
        s2 = t[small] ** 2
        series = 1.0 / 3.0 - s2 * (1.0 / 10.0 - s2 / 56.0)
        out[small] = 2.0 * _INV_SQRT_2PI * s2 * t[small] * series
    return out


class MemberMoments(NamedTuple):
    """What one member of the ensemble makes of a field N(mean, var); see `one_member`."""

    active: Array
    """P(|h| > lam)."""
    clipped: Array
    """E[min(|h|, lam)^2]."""
    square: Array
    """E S(h)^2, to absolute accuracy; `soft_square` is exact in the tail."""
    first: Array | float
    """E S(h)."""
    edge: Array
    """lam times the density of abs(h) at lam."""
    gap: Array | float
    """Density of h at lam, less that at -lam."""


def one_member(mean: Array | None, var: Array, lam: Array) -> MemberMoments:
    """Return moments of the soft threshold and of the clipped field, for h ~ N(mean, var).

    Parameters
    ----------
    mean : array or None
        None stands for zero and takes a shorter way.
    var, lam : array
        Positive; all arguments broadcast.
    """
    sd = np.sqrt(var)
    t = lam / sd
    if mean is None:
        t2 = t * t
        edge = t * np.exp(-0.5 * t2) * (2.0 * _INV_SQRT_2PI)
        active = 2.0 * ndtr(-t)
        out = t2 * active
        # E clip^2 = E[h^2; |h| < lam] + lam^2 P(|h| > lam)
        clipped = var * (_inside_square(t, edge) + out)
        return MemberMoments(active, clipped, var * (active + out - edge), 0.0, edge, 0.0)
    a, b = t - mean / sd, t + mean / sd
    phi_a, phi_b = density(a), density(b)
    above, below = survival(a), survival(b)
    inside = ndtr(a) - below
    active = above + below
    clipped = (
        mean * mean * inside
        + 2.0 * mean * sd * (phi_b - phi_a)
        + var * (inside - a * phi_a - b * phi_b)
        + lam * lam * active
    )
    square = var * ((1.0 + a * a) * above - a * phi_a + (1.0 + b * b) * below - b * phi_b)
    first = sd * (phi_a - a * above - phi_b + b * below)
    edge, gap = t * (phi_a + phi_b), (phi_a - phi_b) / sd
    return MemberMoments(active, clipped, square, first, edge, gap)


def soft_square(mean: Array | None, var: Array, lam: Array) -> Array:
    """Return E S(h; lam)^2 for h ~ N(mean, var); mean None is zero."""
    sd = np.sqrt(var)
    if mean is None:
        return np.asarray(2.0 * var * excess_square(lam / sd))
    return np.asarray(var * (excess_square((lam - mean) / sd) + excess_square((lam + mean) / sd)))


def soft_absolute(mean: Array | None, var: Array, lam: Array) -> Array:
    """Return E |S(h; lam)| for h ~ N(mean, var); mean None is zero."""
    sd = np.sqrt(var)
    if mean is None:
        return np.asarray(2.0 * sd * excess_mean(lam / sd))
    return np.asarray(sd * (excess_mean((lam - mean) / sd) + excess_mean((lam + mean) / sd)))


def clipped_mean(mean: Array | None, var: Array, lam: Array) -> tuple[Array, Array | float]:
    """Return P(|h| < lam) and E[h - S(h; lam)] for h ~ N(mean, var); mean None is zero."""
    sd = np.sqrt(var)
    t = lam / sd
    if mean is None:
        return np.asarray(erf(t / _SQRT_2)), 0.0
    a, b = t - mean / sd, t + mean / sd
    above, below = survival(a), survival(b)
    inside = np.asarray(ndtr(a) - below)
    return inside, lam * (above - below) + mean * inside + sd * (density(b) - density(a))


class PairMoments(NamedTuple):
    """What two members of the ensemble have in common; see `two_members`."""

    spread: Array
    """E S(h_1)^2 - E S(h_1) S(h_2): the variance over the members' own randomness."""
    both: Array
    """P(|h_1| > lam, |h_2| > lam), the derivative of `spread` with respect to `own`."""


def two_members(mean: Array | None, var: Array, own: Array, lam: Array) -> PairMoments:
    """Return moments of a pair (h_1, h_2): each N(mean, var), with covariance var - own.

    Parameters
    ----------
    mean : array or None
        None stands for zero and takes a shorter way.
    var : array
        At the full shape.
    own, lam : array
        0 <= own <= var; broadcast against `var`.
    """
    sd = np.sqrt(var)
    t = lam / sd
    x2 = own / (2.0 * var - own)  # (1 - r) / (1 + r) for the correlation r = 1 - own / var
    x = np.sqrt(x2)
    rest = own / var  # 1 - r
    r = 1.0 - rest
    ratio = x / (1.0 + x2)  # sqrt(1 - r^2) / 2
    grid = 1.0 + x2[..., None] * _OWEN_SQUARES  # 1 + u^2 at the nodes u of (0, x)
    owen = _OWEN_WEIGHTS / grid
    outer = _OWEN_WEIGHTS * (1.0 - _OWEN_SQUARES) / grid**2
    if mean is None:
        same = np.exp(-0.5 * (t * t)[..., None] * grid)
        # P(z_1 > t, z_2 > t) = H(t) - 2 T(t, x), and its integral over the correlation
        upper = survival(t)
        both = upper - (x / np.pi) * np.vecdot(owen, same)
        spread = rest * upper - (2.0 / np.pi) * ratio * x2 * np.einsum(
            "...k,...k->...", outer, same
        )
        opposite, opposite_spread = _opposite_signs(t, x, r, ratio, owen)
        spread = np.maximum(spread + opposite_spread, 0.0)
        return PairMoments(2.0 * var * spread, 2.0 * np.maximum(both + opposite, 0.0))
    m = mean / sd
    a, b = t - m, t + m
    same = np.exp(-0.5 * (a * a)[..., None] * grid) + np.exp(-0.5 * (b * b)[..., None] * grid)
    active = survival(a) + survival(b)
    both = active - (x / np.pi) * np.vecdot(owen, same)
    spread = rest * active - (2.0 / np.pi) * ratio * x2 * np.vecdot(outer, same)
    opposite, opposite_spread = _opposite_signs_shifted(t, m, x, r, ratio)
    spread = np.maximum(spread + 2.0 * opposite_spread, 0.0)
    return PairMoments(var * spread, np.maximum(both + 2.0 * opposite, 0.0))


def _opposite_signs(t: Array, x: Array, r: Array, ratio: Array, owen: Array) -> tuple[Array, Array]:
    """Return P(z_1 > t, z_2 < -t) and E(z_1 - t)_+ (-z_2 - t)_+ for normals of correlation r."""
    near = t < _NEGLIGIBLE * x
    if not near.all():
        out = np.zeros((2, *t.shape))
        if near.any():
            part = _opposite_signs(t[near], x[near], r[near], ratio[near], owen[near])
            out[:, near] = part
        return out[0], out[1]
    c = t / x
    far = survival(c)
    gauss = np.exp(-0.5 * c * c)
    # L(t, t; -r) = 2 T(t/x, x) - H(t/x) (1 - 2 H(t)): both terms are O(x)
    nodes = np.exp(-0.5 * (t * t)[..., None] * _OWEN_SQUARES)
    lower = (x / np.pi) * gauss * np.vecdot(owen, nodes) - far * erf(t / _SQRT_2)
    moment = (
        (t * t - r) * lower
        - 2.0 * t * density(t) * far
        + ratio / np.pi * gauss * np.exp(-0.5 * t * t)
    )
    return lower, np.maximum(moment, 0.0)


def _opposite_signs_shifted(
    t: Array, m: Array, x: Array, r: Array, ratio: Array
) -> tuple[Array, Array]:
    """Return P(z_1 > t - m, z_2 < -t - m) and the mean product of the two excesses."""
    t, m, x, r, ratio = np.broadcast_arrays(t, m, x, r, ratio)
    probability, moment = np.zeros(t.shape), np.zeros(t.shape)
    near = (t < _NEGLIGIBLE * x) & (t + m < _NEGLIGIBLE)
    if not np.any(near):
        return probability, moment
    t, m, x, r, ratio = t[near], m[near], x[near], r[near], ratio[near]
    a, b = t - m, t + m
    c_a, c_b = t / x + m * x, t / x - m * x
    lower = bivariate_survival(a, b, c_a, c_b)
    product = (
        (a * b - r) * lower
        - b * density(a) * survival(c_a)
        - a * density(b) * survival(c_b)
        + ratio / np.pi * np.exp(-0.5 * (1.0 + x * x) * ((t / x) ** 2 + m * m))
    )
    probability[near] = lower
    moment[near] = np.maximum(product, 0.0)
    return probability, moment


def bivariate_survival(h: Array, k: Array, k_given_h: Array, h_given_k: Array) -> Array:
    """Return P(z_1 > h, z_2 > k) for unit normals of correlation r <= 0, by Owen's function.

    The correlation enters through k_given_h = (k - r h)/sqrt(1 - r^2) and
    h_given_k = (h - r k)/sqrt(1 - r^2), which the caller can form without cancellation.
    All four bound the probability: it is dropped where one of them is far out.
    """
    h, k, k_given_h, h_given_k = np.broadcast_arrays(h, k, k_given_h, h_given_k)
    near = np.maximum(np.maximum(h, k), np.maximum(k_given_h, h_given_k)) < _NEGLIGIBLE
    out = np.zeros(h.shape)
    h, k, k_given_h, h_given_k = (part[near] for part in (h, k, k_given_h, h_given_k))
    tiny = 1e-300
    h = np.where(h == 0.0, tiny, h)
    k = np.where(k == 0.0, tiny, k)
    with np.errstate(over="ignore"):
        total = (
            0.5 * (survival(h) + survival(k))
            - owens_t(h, k_given_h / h)
            - owens_t(k, h_given_k / k)
            - 0.5 * (h * k < 0.0)
        )
    out[near] = np.clip(total, 0.0, 1.0)
    return out


def selection_probability(g: Array, own: Array | float, lam: Array | float) -> Array:
    """Return P(|g + sqrt(own) eta| > lam): how often members select a variable of field g."""
    g, own, lam = np.broadcast_arrays(np.abs(g), own, lam)
    sd = np.sqrt(own)
    with np.errstate(divide="ignore", invalid="ignore"):
        out = survival((lam - g) / sd) + survival((lam + g) / sd)
    return np.asarray(np.where(sd > 0.0, out, g > lam))


class Chance(NamedTuple):
    """A probability with its slopes in the mean of the field and in the gap asked for."""

    value: Array
    slope: Array
    gap_slope: Array


def knockoff_probability(
    mean: Array,
    var: Array,
    var_copy: Array,
    lam: Array,
    gap: Array,
    lam_copy: Array | None = None,
) -> Chance:
    """Return P(|S(h)| - |S(h_copy)| > gap) for h ~ N(mean, var), h_copy ~ N(0, var_copy).

    The soft thresholds are in units of the field (gap = Q_hat * Z_th); gap may be negative.
    `lam_copy` is the threshold of the copy, where it is not `lam`.
    Closed form: the copy is either inactive, or the event is a pair of Gaussian inequalities.
    Absolute accuracy 1e-15: probabilities far below that are noise.
    `slope` is with respect to abs(mean).
    """
    mean, var, var_copy, lam, gap, lam_copy = np.broadcast_arrays(
        np.abs(np.asarray(mean, dtype=float)),
        var, var_copy, lam, gap, lam if lam_copy is None else lam_copy,
    )  # fmt: skip
    # A field without spread is a limit; a relative width of 1e-13 is beyond double precision.
    scale = lam + mean + np.abs(gap)
    sd = np.maximum(np.sqrt(var), 1e-13 * scale)
    sd_copy = np.maximum(np.sqrt(var_copy), 1e-13 * scale)
    up = gap >= 0.0
    if np.all(up):
        return _beats_copy(mean, sd, sd_copy, lam, lam_copy, gap)
    # gap < 0: complement of {|S(h_copy)| >= |S(h)| + |gap|}
    beaten = _beaten_by_copy(mean, sd, sd_copy, lam, lam_copy, np.abs(gap))
    if not np.any(up):
        return Chance(1.0 - beaten.value, -beaten.slope, beaten.gap_slope)
    beats = _beats_copy(mean, sd, sd_copy, lam, lam_copy, np.maximum(gap, 0.0))
    return Chance(
        np.where(up, beats.value, 1.0 - beaten.value),
        np.where(up, beats.slope, -beaten.slope),
        np.where(up, beats.gap_slope, beaten.gap_slope),
    )


def _beats_copy(
    mean: Array, sd: Array, sd_copy: Array, lam: Array, lam_copy: Array, gap: Array
) -> Chance:
    """Return P(|S(h)| > |S(h_copy)| + gap), gap >= 0."""
    inactive = erf(lam_copy / (sd_copy * _SQRT_2))
    low, high = (lam + gap - mean) / sd, (lam + gap + mean) / sd
    value = inactive * (survival(low) + survival(high))
    slope = inactive * (density(low) - density(high)) / sd
    gap_slope = -inactive * (density(low) + density(high)) / sd
    total = np.hypot(sd, sd_copy)
    k = lam_copy / sd_copy
    more = gap + (lam - lam_copy)
    for sign in (1.0, -1.0):
        # h - h_copy > more and h_copy > lam_copy, with h of mean sign * mean; correlation
        # -sd_copy/total
        h = (more - sign * mean) / total
        k_given_h = (k + sd_copy / total * h) * total / sd
        h_given_k = (gap + lam - sign * mean) / sd
        value = value + 2.0 * bivariate_survival(h, k, k_given_h, h_given_k)
        edge = 2.0 * density(h) * survival(k_given_h) / total
        slope, gap_slope = slope + sign * edge, gap_slope - edge
    return Chance(np.clip(value, 0.0, 1.0), slope, gap_slope)


def _beaten_by_copy(
    mean: Array, sd: Array, sd_copy: Array, lam: Array, lam_copy: Array, gap: Array
) -> Chance:
    """Return P(|S(h_copy)| >= |S(h)| + gap), gap > 0."""
    low, high = (lam - mean) / sd, (lam + mean) / sd
    alone = 2.0 * survival((lam_copy + gap) / sd_copy)
    inactive = ndtr(low) - ndtr(-high)
    value = alone * inactive
    slope = alone * (density(high) - density(low)) / sd
    gap_slope = -2.0 * density((lam_copy + gap) / sd_copy) / sd_copy * inactive
    total = np.hypot(sd, sd_copy)
    more = gap + (lam_copy - lam)
    for sign in (1.0, -1.0):
        # h_copy - h > more and h > lam, with h of mean sign * mean; correlation -sd/total
        h = (more + sign * mean) / total
        k = (lam - sign * mean) / sd
        k_given_h = (k + sd / total * h) * total / sd_copy
        h_given_k = (gap + lam_copy) / sd_copy
        value = value + 2.0 * bivariate_survival(h, k, k_given_h, h_given_k)
        edge = 2.0 * density(h) * survival(k_given_h) / total
        slope = slope + sign * (2.0 * density(k) * survival(h_given_k) / sd - edge)
        gap_slope = gap_slope - edge
    return Chance(np.clip(value, 0.0, 1.0), slope, gap_slope)
