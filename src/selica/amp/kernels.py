"""The compiled parts of an iteration, each of which reads its arrays once.

With one penalty products with a design are as fast as it is read from memory, so that three in one
cost little more than one, and the squares need not be stored. The averages over the members and the
length of a step would else make a dozen temporary arrays. The kernels are in `cpp/amp`.
"""

from __future__ import annotations

import numpy as np

from selica._core.compiled import core
from selica._core.types import Array


def along(A: Array, u: Array, s: Array, t: Array) -> Array:
    """Return A u, A^2 s and A^2 t, (3, m, L), for A (m, k) in rows and the others (k, L)."""
    out = np.empty((3, A.shape[0], u.shape[1]))
    core().along(A, *map(np.ascontiguousarray, (u, s, t)), out)
    return out


def across(A: Array, u: Array, s: Array, t: Array) -> Array:
    """Return A' u, A'^2 s and A'^2 t, (3, k, L), for A (m, k) in rows and the others (m, L)."""
    out = np.empty((3, A.shape[1], u.shape[1]))
    core().across(A, *map(np.ascontiguousarray, (u, s, t)), out)
    return out


def pack(parts: tuple[Array, ...], scale: Array, both: Array, size: Array) -> None:
    """Write parts (m, L) times scale (m,) side by side; size (parts, L) takes columns to 1."""
    core().pack(tuple(map(np.ascontiguousarray, parts)), scale, both, size)


def unpack(both: Array, scale: Array, size: Array, out: Array) -> None:
    """Write to out (parts, m, L) what `pack` packed, with another scale."""
    core().unpack(both, scale, size, out)


def copied_rows(
    y: Array, fit: Array, chi: Array, v: Array, a: Array, chi_copies: Array, v_copies: Array
) -> tuple[Array, Array, Array, Array]:
    """Return what rows make of variables and copies: a, f_1 and f_1^2 v, each (n, L); and sums.

    The sums (3, L) are those of f_1^2 v + a^2, of f_1 and of the squared residuals. y is (n,), sums
    over the copies are (L,), the others (n, L); a is that of the step before.
    """
    rows, sums = np.empty((3, *fit.shape)), np.empty((3, fit.shape[1]))
    seen = map(np.ascontiguousarray, (y, fit, chi, v, a, chi_copies, v_copies))
    core().copied_rows(*seen, rows, sums)
    return rows[0], rows[1], rows[2], sums


def soft_moments(g: Array, sd: Array, lam: Array) -> tuple[Array, Array, Array]:
    """Return the mean and variance of S(h), and P(S(h) != 0), for h ~ N(g, sd^2); each (p, L)."""
    out = np.empty((3, *g.shape))
    core().soft_moments(g, sd, lam, out)
    return out[0], out[1], out[2]


def compare(old: Array, new: Array, ago: Array, sums: Array) -> Array:
    """Compare the step from old to new with the one before; all (p, L).

    To sums (4, L) are added the squares of step, new and ago and step times ago, of each column.
    """
    step = np.empty(old.shape)
    core().compare(*map(np.ascontiguousarray, (old, new, ago)), step, sums)
    return step
