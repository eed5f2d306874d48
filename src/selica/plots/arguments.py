"""Checks of what is to be drawn: one sentence that names the argument."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import real, short

_LARGEST = 1e100
"""Beyond, the ends of an axis overflow."""
T = TypeVar("T")


def number(name: str, value: Any) -> float:
    """Return `value` as one number; infinite where a rule selects nothing."""
    got = np.asarray(value) if isinstance(value, float | int | np.number) else np.asarray(None)
    if got.dtype.kind not in "iuf" or isinstance(value, bool) or np.isnan(got):
        raise ArgumentError(f"{name} must be one number; got {short(value)}.")
    if _LARGEST < abs(float(got)) < np.inf:
        raise ArgumentError(f"{name} must be at most {_LARGEST:g}; got {short(value)}.")
    return float(got)


def finite(name: str, value: Any) -> float:
    """Return `value` as one finite number."""
    got = number(name, value)
    if not np.isfinite(got):
        raise ArgumentError(f"{name} must be finite; got {got}.")
    return got


def numbers(name: str, value: Any, shape: tuple[int | None, ...] = (None,)) -> Array:
    """Return `value` as finite numbers of this shape; None in it is any length but zero."""
    got = real(name, value, at_least=-_LARGEST, at_most=_LARGEST, copy=False)
    wanted = len(shape) == got.ndim and all(
        want in (None, have) for want, have in zip(shape, got.shape, strict=True)
    )
    if not wanted:
        axes = ", ".join("any" if one is None else str(one) for one in shape)
        raise ArgumentError(f"{name} must have shape ({axes}); got {got.shape}.")
    return got


def text(name: str, value: Any) -> str:
    """Return `value` if it is text."""
    if not isinstance(value, str):
        raise ArgumentError(f"{name} must be text; got {short(value)}.")
    return value


def several(name: str, value: Any, kind: type[T] | tuple[type[T], ...], what: str) -> list[T]:
    """Return `value` as a list of things of one kind, which has at least one."""
    array = isinstance(value, np.ndarray) and value.ndim > 0
    listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
    found = list(value) if listed or array else []
    if not found or not all(isinstance(one, kind) for one in found):
        raise ArgumentError(f"{name} must be a sequence of {what}; got {short(value)}.")
    return found


def same_length(**named: Iterable[Any]) -> None:
    """Check that all of them have as many entries as the first."""
    (first, want), *others = ((name, len(list(value))) for name, value in named.items())
    for name, have in others:
        if have != want:
            raise ArgumentError(
                f"{name} must have as many entries as {first}, {want}; there are {have}."
            )
