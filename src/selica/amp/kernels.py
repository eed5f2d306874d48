"""The compiled parts of an iteration, each of which reads its arrays once.

With one penalty products with a design are as fast as it is read from memory, so that three in one
cost little more than one, and the squares need not be stored. The averages over the members and the
length of a step would else make a dozen temporary arrays.
"""

from __future__ import annotations

import math

import numpy as np

from selica._core.compiled import njit

_SQRT_HALF = math.sqrt(0.5)
"""The square root of 1/2."""
_INV_SQRT_2PI = 1.0 / math.sqrt(2.0 * math.pi)
"""The standard normal density at zero."""

_NEVER = 38.5
"""A threshold this many standard deviations out is passed with a probability below 1e-320."""
_OTHER_SIDE = 80.0
"""The other threshold does not count where it is exp(-40) times as likely to be passed."""

_FAST = {"reassoc", "contract", "nsz"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def along(A, u, s, t, out):
    """Write (A u, A^2 s, A^2 t) to out (3, m), for A (m, k) in rows."""
    m, k = A.shape
    for i in range(m):
        first, second, third = 0.0, 0.0, 0.0
        for j in range(k):
            x = A[i, j]
            first += x * u[j]
            second += x * x * s[j]
            third += x * x * t[j]
        out[0, i], out[1, i], out[2, i] = first, second, third


@njit(cache=True, nogil=True, fastmath=_FAST)
def across(A, u, s, t, out):
    """Write (A' u, A'^2 s, A'^2 t) to out (3, k), for A (m, k) in rows."""
    m, k = A.shape
    out[:] = 0.0
    first, second, third = out[0], out[1], out[2]
    whole = m - m % 4
    for i in range(0, whole, 4):  # four rows for each writing of the sums
        for j in range(k):
            x, y, z, w = A[i, j], A[i + 1, j], A[i + 2, j], A[i + 3, j]
            first[j] += x * u[i] + y * u[i + 1] + z * u[i + 2] + w * u[i + 3]
            x, y, z, w = x * x, y * y, z * z, w * w
            second[j] += x * s[i] + y * s[i + 1] + z * s[i + 2] + w * s[i + 3]
            third[j] += x * t[i] + y * t[i + 1] + z * t[i + 2] + w * t[i + 3]
    for i in range(whole, m):
        for j in range(k):
            x = A[i, j]
            first[j] += x * u[i]
            second[j] += x * x * s[i]
            third[j] += x * x * t[i]


@njit(cache=True, nogil=True, fastmath=_FAST)
def pack(parts, scale, both, size):
    """Write parts (m, L) times scale (m,) side by side; size (parts, L) takes columns to 1."""
    m, L = parts[0].shape
    size[:] = 0.0
    for j, part in enumerate(parts):
        for i in range(m):
            for k in range(L):
                size[j, k] = max(size[j, k], scale[i] * part[i, k])
    for j in range(len(parts)):
        for k in range(L):
            if not size[j, k] > 0.0:
                size[j, k] = 1.0
    inverse = 1.0 / size
    for j, part in enumerate(parts):
        for i in range(m):
            for k in range(L):
                both[i, j * L + k] = scale[i] * part[i, k] * inverse[j, k]


@njit(cache=True, nogil=True, fastmath=_FAST)
def unpack(both, scale, size, out):
    """Write to out (parts, m, L) what `pack` packed, with another scale."""
    parts, m, L = out.shape
    for j in range(parts):
        for i in range(m):
            for k in range(L):
                out[j, i, k] = scale[i] * size[j, k] * both[i, j * L + k]


@njit(cache=True, nogil=True, fastmath=_FAST)
def copied_rows(y, fit, chi, v, a, chi_copies, v_copies):
    """Return what rows make of variables and copies: a, f_1 and f_1^2 v, each (n, L); and sums.

    The sums (3, L) are those of f_1^2 v + a^2, of f_1 and of the squared residuals. y is (n,), sums
    over the copies are (L,), the others (n, L); a is that of the step before.
    """
    n, L = fit.shape
    new, f1, own, sums = np.empty((n, L)), np.empty((n, L)), np.empty((n, L)), np.zeros((3, L))
    for i in range(n):
        for k in range(L):
            f = 1.0 / (1.0 + chi[i, k] + chi_copies[k])
            # the mean of the copies' part is zero: only the own response comes back
            z = y[i] - fit[i, k] + chi[i, k] * a[i, k]
            spread = f * f * (v[i, k] + v_copies[k])
            new[i, k], f1[i, k], own[i, k] = f * z, f, spread
            sums[0, k] += spread + f * z * f * z
            sums[1, k] += f
            sums[2, k] += z * z
    return new, f1, own, sums


@njit(cache=True, nogil=True)
def soft_moments(g, sd, lam):
    """Return the mean and variance of S(h), and P(S(h) != 0), for h ~ N(g, sd^2); each (p, L)."""
    p, L = g.shape
    first, variance, active = np.empty((p, L)), np.empty((p, L)), np.empty((p, L))
    for i in range(p):
        for k in range(L):
            size, scale = abs(g[i, k]), sd[i, k]
            a, b = (lam[i, k] - size) / scale, (lam[i, k] + size) / scale
            if a > _NEVER:
                first[i, k] = variance[i, k] = active[i, k] = 0.0
                continue
            above = 0.5 * math.erfc(_SQRT_HALF * a)
            phi_a = _INV_SQRT_2PI * math.exp(-0.5 * a * a)
            below = mean_b = square_b = 0.0
            if b * b - a * a < _OTHER_SIDE:
                below = 0.5 * math.erfc(_SQRT_HALF * b)
                phi_b = _INV_SQRT_2PI * math.exp(-0.5 * b * b)
                mean_b, square_b = phi_b - b * below, (1.0 + b * b) * below - b * phi_b
            if a < 0.0:
                # a variable that is nearly always active: what is missing to an unclipped field is
                # small and known to full accuracy, d = E(a - z)_+ and s = E(a - z)_+^2
                inside = 0.5 * math.erfc(-_SQRT_HALF * a)
                d = phi_a + a * inside
                s = (1.0 + a * a) * inside + a * phi_a
                mean_a = d - a
                variance_a = 1.0 - s - d * (d - 2.0 * a)
            else:
                mean_a = phi_a - a * above
                variance_a = (1.0 + a * a) * above - a * phi_a - mean_a * mean_a
            spread = variance_a + square_b + mean_b * (2.0 * mean_a - mean_b)
            first[i, k] = math.copysign(scale * (mean_a - mean_b), g[i, k])
            # a comparison that a spread which is no number fails keeps it one that is none
            variance[i, k] = 0.0 if spread < 0.0 else scale * scale * spread
            active[i, k] = above + below
    return first, variance, active


@njit(cache=True, nogil=True)
def compare(old, new, ago, sums):
    """Compare the step from old to new with the one before; all (p, L).

    To sums (4, L) are added the squares of step, new and ago and step times ago, of each column.
    """
    p, L = old.shape
    step = np.empty((p, L))
    for i in range(p):
        for k in range(L):
            d, x, e = new[i, k] - old[i, k], new[i, k], ago[i, k]
            step[i, k] = d
            sums[0, k] += d * d
            sums[1, k] += x * x
            sums[2, k] += e * e
            sums[3, k] += d * e
    return step
