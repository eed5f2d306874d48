r"""The S-matrix by semidefinite programming (Barber and Candes 2015), by an interior-point method.

For a correlation matrix R,

.. math::
    \text{primal:}\quad \max_s \sum_j s_j, \qquad 0 \le s_j \le 1,\quad
    A = 2R - \mathrm{diag}(s) \succeq 0,

    \text{dual:}\quad \min_{Z \succeq 0}\ 2\,\mathrm{Tr}(RZ) + \sum_j \max(0, 1 - Z_{jj}).

Every feasible s lies below every Z, so that the difference of the two values, the gap, bounds
the error of s. With multipliers u of s <= 1 and v of s >= 0 the central path is

.. math::
    ZA = \mu I, \quad u_j (1 - s_j) = \mu, \quad v_j s_j = \mu, \quad Z_{jj} + u_j - v_j = 1,

followed to mu = 0 by predictor-corrector steps (Mehrotra 1992) in the direction of Helmberg,
Rendl, Vanderbei and Wolkowicz (1996): as in their max-cut problem the variables sit on the
diagonal, and a step costs a few products of p x p matrices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from selica._core.types import Array

_MAX_STEPS = 50
"""Steps at most."""
_GAP = 1e-10  # relative gap at which the iteration ends: below, rounding decides the steps
SDP_GAP = 1e-6
"""Relative gap up to which s counts as optimal."""
_CLOSE_GAP = 1e-8  # below it, steps that no longer halve the gap have met rounding
_PATIENCE = 3  # such steps before the iteration ends
_HALVINGS = 20  # of a step that rounding has carried out of the cone


class _Point(NamedTuple):
    """Primal s and dual (Z, u, v), all inside their cones, and whitenings of A and Z."""

    s: Array
    Z: Array
    u: Array
    v: Array
    white_A: Array
    white_Z: Array


class _Step(NamedTuple):
    """A change of (s, Z, u, v)."""

    s: Array
    Z: Array
    u: Array
    v: Array


class _Lengths(NamedTuple):
    """The largest multiples of a step that keep the primal and the dual side in their cones."""

    primal: float
    dual: float


def sdp_s(correlation: Array, smallest: float) -> tuple[Array, float]:
    """Return the s of largest sum for a correlation matrix, and its relative gap.

    `smallest` is the smallest eigenvalue of the matrix. The result is strictly inside the feasible
    set, so that 2R - diag(s) is positive definite up to rounding.
    """
    point = _start(correlation, smallest)
    s, gap, stalled = point.s, np.inf, 0
    for _ in range(_MAX_STEPS):
        new = _gap(correlation, point)
        stalled = stalled + 1 if new > 0.5 * gap else 0
        if new < gap:
            s, gap = point.s, new
        if gap <= _GAP or (gap <= _CLOSE_GAP and stalled >= _PATIENCE):
            break
        try:
            following = _advance(correlation, point)
        except LinAlgError:  # rounding: the gap says how far the path was followed
            break
        if following is None:
            break
        point = following
    return s, gap


def _start(correlation: Array, smallest: float) -> _Point:
    """Return a point with equal products of all pairs, on the primal side feasible."""
    p = correlation.shape[0]
    s = np.full(p, 0.5 * smallest)
    white = _whitening(_slack(correlation, s))
    M = white.T @ white
    mu = p / float(np.trace(M))  # Z_jj = 1 on average, as where no bound on s is active
    Z = mu * M
    return _Point(s, Z, mu / (1.0 - s), mu / s, white, _whitening(Z))


def _gap(correlation: Array, point: _Point) -> float:
    """Return the dual value of Z less the primal value of s, relative to the latter."""
    bound = 2.0 * float(np.sum(correlation * point.Z))
    bound += float(np.sum(np.maximum(0.0, 1.0 - point.Z.diagonal())))
    total = float(point.s.sum())
    return (bound - total) / total


def _advance(correlation: Array, point: _Point) -> _Point | None:
    """Take one predictor-corrector step; None if no multiple of it stays in the cones."""
    s, Z, u, v = point.s, point.Z, point.u, point.v
    p, w = s.size, 1.0 - s
    M = point.white_A.T @ point.white_A
    A = _slack(correlation, s)
    hessian = Z * M
    hessian[np.diag_indices(p)] += u / w + v / s
    factor = cho_factor(hessian)

    def direction(mu: float, before: _Step | None) -> _Step:
        """Return the step towards products mu; `before` corrects for products of changes."""
        target = 1.0 - mu * (M.diagonal() + 1.0 / w - 1.0 / s)
        left_Z, left_u, left_v = np.zeros((p, p)), np.zeros(p), np.zeros(p)
        if before is not None:
            left_Z = _scaled_product(before.Z, before.s, M)
            left_u, left_v = before.u * before.s / w, before.v * before.s / s
            target -= left_Z.diagonal() + left_u + left_v
        ds = cho_solve(factor, target)
        return _Step(
            ds,
            mu * M - Z + _scaled_product(Z, ds, M) + left_Z,
            mu / w - u + u / w * ds + left_u,
            mu / s - v - v / s * ds - left_v,
        )

    product = float(np.sum(Z * A) + u @ w + v @ s)
    plain = direction(0.0, None)
    reach = _lengths(point, plain)
    a, b = min(1.0, reach.primal), min(1.0, reach.dual)
    after = float(
        np.sum((Z + b * plain.Z) * A)
        - a * (Z.diagonal() + b * plain.Z.diagonal()) @ plain.s
        + (u + b * plain.u) @ (w - a * plain.s)
        + (v + b * plain.v) @ (s + a * plain.s)
    )
    # Mehrotra's rule: little centring where the plain step already gets far
    mu = max(0.0, after / product) ** 3 * product / (3 * p)
    step = direction(mu, plain)
    reach = _lengths(point, step)
    # the closer to a full step, the closer to the edge of the cones
    share = 0.9 + 0.09 * min(1.0, reach.primal, reach.dual)
    return _moved(correlation, point, step, share, reach)


def _scaled_product(Z: Array, ds: Array, M: Array) -> Array:
    """Return the symmetric part of Z diag(ds) M."""
    product = (Z * ds) @ M
    return np.asarray(0.5 * (product + product.T))


def _lengths(point: _Point, step: _Step) -> _Lengths:
    """Return how far the step may go, in its vectors and in its matrices."""
    primal = max(
        _largest((point.white_A * step.s) @ point.white_A.T),
        float(np.max(step.s / (1.0 - point.s))),
        float(np.max(-step.s / point.s)),
    )
    dual = max(
        _largest(-(point.white_Z @ step.Z @ point.white_Z.T)),
        float(np.max(-step.u / point.u)),
        float(np.max(-step.v / point.v)),
    )
    return _Lengths(*(1.0 / x if x > 0.0 else np.inf for x in (primal, dual)))


def _largest(symmetric: Array) -> float:
    """Return the largest eigenvalue."""
    # all of them: routines for one alone give up where many are equal
    return float(np.linalg.eigvalsh(symmetric)[-1])


def _moved(
    correlation: Array, point: _Point, step: _Step, share: float, reach: _Lengths
) -> _Point | None:
    """Return the point after this share of what is possible, less if rounding asks for it."""
    for _ in range(_HALVINGS):
        a, b = min(1.0, share * reach.primal), min(1.0, share * reach.dual)
        s, Z = point.s + a * step.s, point.Z + b * step.Z
        try:
            white_A, white_Z = _whitening(_slack(correlation, s)), _whitening(Z)
        except LinAlgError:
            share *= 0.5
            continue
        return _Point(s, Z, point.u + b * step.u, point.v + b * step.v, white_A, white_Z)
    return None


def _slack(correlation: Array, s: Array) -> Array:
    """Return A = 2R - diag(s)."""
    A = 2.0 * correlation
    A[np.diag_indices_from(A)] -= s
    return A


def _whitening(symmetric: Array) -> Array:
    """Return W with W A W' = I; an error if A is not positive definite."""
    root = cholesky(symmetric, lower=True)
    return np.asarray(solve_triangular(root, np.eye(root.shape[0]), lower=True))
