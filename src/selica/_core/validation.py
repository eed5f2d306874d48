"""Checks of what people pass in: one clear sentence that names the argument."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array


def real(
    name: str,
    value: ArrayLike,
    *,
    above: float = -np.inf,
    at_least: float = -np.inf,
    at_most: float = np.inf,
) -> Array:
    """`value` as an array of finite floats inside the stated range.

    Parameters
    ----------
    name : str
        How the caller calls it; opens the message.
    value : number or array of numbers
    above, at_least, at_most : float
        Exclusive lower, inclusive lower and inclusive upper end of the range.
    """
    raw = np.asarray(value)
    if raw.dtype.kind not in "iuf" or isinstance(value, bool):
        raise ArgumentError(f"{name} must be a number or an array of numbers; got {value!r}.")
    array = raw.astype(float)
    if array.size == 0:
        raise ArgumentError(f"{name} must not be empty.")
    if not np.all(np.isfinite(array)):
        bad = array[~np.isfinite(array)].flat[0]
        raise ArgumentError(f"{name} must be finite; got {bad}.")
    wrong = (array <= above) | (array < at_least) | (array > at_most)
    if np.any(wrong):
        raise ArgumentError(
            f"{name} must be {_range(above, at_least, at_most)}; got {array[wrong].flat[0]:g}."
        )
    return array


def _range(above: float, at_least: float, at_most: float) -> str:
    if at_most < np.inf:
        if above > -np.inf:
            return f"above {above:g} and at most {at_most:g}"
        return f"between {at_least:g} and {at_most:g}"
    return f"above {above:g}" if above > -np.inf else f"at least {at_least:g}"


def broadcast(**arrays: Array) -> tuple[Array, ...]:
    """The arguments at their common shape, or an error that names those that do not fit."""
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(a)}" for name, a in arrays.items() if np.ndim(a))
        raise ArgumentError(f"These shapes do not broadcast together: {shapes}.") from None


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """`value` if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ArgumentError.choice(name, value, allowed)
    return value
