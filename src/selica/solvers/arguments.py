"""Arguments that the fits of one response and those of several classes share, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import real


def member_weights(weights: ArrayLike, n: int) -> Any:
    """Return row weights of each member, in rows of n."""
    rows = np.ascontiguousarray(real("weights", weights, at_least=0.0, copy=False))
    if rows.ndim != 2 or rows.shape[1] != n:
        raise ArgumentError(f"weights must have shape (members, {n}); got {rows.shape}.")
    return rows


def penalties_and_ridges(lams: ArrayLike, lam2: ArrayLike, members: int) -> tuple[Array, Array]:
    """Return penalties, of all members or of each, and the ridge of all or beside each of them."""
    path = np.atleast_1d(real("lams", lams, at_least=0.0))
    if path.ndim > 2 or (path.ndim == 2 and path.shape[0] != members):
        raise ArgumentError(f"lams must have shape (L,) or ({members}, L); got {path.shape}.")
    ridge = real("lam2", lam2, at_least=0.0)
    if ridge.shape not in ((), path.shape[-1:], path.shape):
        raise ArgumentError(
            f"lam2 must be a number or have one entry for each of the {path.shape[-1]} penalties; "
            f"got shape {ridge.shape}."
        )
    return path, ridge


def falling(path: Array, ridge: Array | float) -> tuple[Array, Array]:
    """Return penalties from large to small, and the ridge beside each of them."""
    order = np.argsort(-path, axis=-1, kind="stable")
    beside = np.broadcast_to(np.asarray(ridge, dtype=float), path.shape)
    return np.take_along_axis(path, order, axis=-1), np.take_along_axis(beside, order, axis=-1)


def penalty_factor(given: ArrayLike | None, columns: int, members: int | None) -> Array:
    """Return the penalty weights, ones by default; without `members` they are the same for all."""
    if given is None:
        return np.ones(columns)
    factor = real("penalty_weights", given, at_least=0.0)
    shapes = [(columns,)] if members is None else [(columns,), (members, columns)]
    if factor.shape not in shapes:
        allowed = " or ".join(str(shape) for shape in shapes)
        raise ArgumentError(f"penalty_weights must have shape {allowed}; got {factor.shape}.")
    return factor
