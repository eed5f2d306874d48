"""Checks of what people pass in: one clear sentence that names the argument."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array, BoolArray

LARGEST = 1e12
"""Parameters lie between 1/LARGEST and LARGEST: beyond, squares and exponentials overflow."""
MOST_WORKERS = 4096
"""Processes or threads at the same time."""
MODERATE = 1e150
"""Numbers up to this have squares that can be added up."""
_PER_CENT = 5.0
"""A share from here to 100 was probably meant in per cent."""
LARGEST_COUNT = 10**12
"""Nothing is counted farther: no machine gets there, and sums of fractions are no longer exact."""


_KINDS = {
    0: "a number",
    1: "a non-empty vector of numbers",
    2: "a non-empty two-dimensional table of numbers",
}


def array_of(value: Any) -> Any:
    """Return `value` as an array of what it holds; rows of different lengths hold nothing."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.asarray(None)


def real(
    name: str,
    value: ArrayLike,
    *,
    at_least: float = -np.inf,
    at_most: float = np.inf,
    copy: bool = True,
) -> Array:
    """Return `value` as an array of finite floats inside the stated range.

    Parameters
    ----------
    name : str
        How the caller calls it; opens the message.
    value : number or array of numbers
    at_least, at_most : float
        Ends of the range, which belong to it.
    copy : bool
        Whether the result may not share memory with `value`; a large table need not be doubled.
    """
    raw = array_of(value)
    if raw.dtype.kind not in "iuf" or isinstance(value, bool):
        raise ArgumentError(f"{name} must be a number or an array of numbers; got {short(value)}.")
    array: Array = raw.astype(float, copy=copy)
    if array.size == 0:
        raise ArgumentError(f"{name} must not be empty.")
    if not np.all(np.isfinite(array)):
        bad = array[~np.isfinite(array)].flat[0]
        raise ArgumentError(f"{name} must be finite; got {bad}.")
    wrong = (array < at_least) | (array > at_most)
    if np.any(wrong):
        span = f"between {at_least:g} and {at_most:g}"
        if at_most == np.inf:
            span = f"at least {at_least:g}"
        elif at_least == -np.inf:
            span = f"at most {at_most:g}"
        bad = array[wrong].flat[0]
        per_cent = array.ndim == 0 and at_most <= 1.0 and _PER_CENT <= bad < 100.0
        meant = f" (did you mean {bad / 100.0:g}?)" if per_cent else ""
        raise ArgumentError(f"{name} must be {span}; got {bad:g}{meant}.")
    return array


def numbers(
    name: str,
    value: Any,
    *,
    ndim: int = 1,
    at_least: float = -np.inf,
    at_most: float = np.inf,
) -> Array:
    """Return `value` as finite floats with `ndim` axes, inside the stated range (ends included)."""
    raw = array_of(value)
    if raw.dtype.kind not in "iuf" or raw.ndim != ndim or raw.size == 0:
        raise ArgumentError(f"{name} must be {_KINDS[ndim]}; got {short(value)}.")
    return real(name, raw, at_least=at_least, at_most=at_most)


def number(
    name: str,
    value: Any,
    *,
    at_least: float = -np.inf,
    at_most: float = np.inf,
    above: float | None = None,
) -> float:
    """Return `value` as one finite float inside the stated range, `above` not included."""
    if above is None:
        return single(name, real(name, value, at_least=at_least, at_most=at_most))
    got = float(numbers(name, value, ndim=0))
    if not above < got <= at_most:
        span = f"above {above:g}" + ("" if at_most == np.inf else f" and at most {at_most:g}")
        raise ArgumentError(f"{name} must be {span}; got {got:g}.")
    return got


def error_level(name: str, value: Any) -> float:
    """Return `value` as a level of error strictly between zero and one."""
    got = float(numbers(name, value, ndim=0))
    if not 0.0 < got < 1.0:
        raise ArgumentError(f"{name} must be between 0 and 1, both excluded; got {got:g}.")
    return got


def offset_of(value: Any) -> int:
    """Return the number that is added to the count of negatives: one, or zero."""
    return count("offset", value, at_least=0, at_most=1)


def positive(name: str, value: ArrayLike, *, at_most: float = LARGEST) -> Array:
    """Return `value` as an array of positive floats of a size that double precision can carry."""
    return real(name, value, at_least=1.0 / LARGEST, at_most=at_most)


def single(name: str, value: Array) -> float:
    """Return the number that a checked array holds, if it is one and not several."""
    if value.ndim:
        raise ArgumentError(f"{name} must be one number; got shape {value.shape}.")
    return float(value)


def exactly_one(**given: float | None) -> tuple[str, float]:
    """Return name and value of the one argument that is not None."""
    some = [(name, value) for name, value in given.items() if value is not None]
    if len(some) != 1:
        *names, last = given
        got = " and ".join(name for name, _ in some) or "none of them"
        raise ArgumentError(f"Give exactly one of {', '.join(names)} and {last}; got {got}.")
    return some[0]


def matrix(name: str, value: Any, *, columns: int | None = None) -> Array:
    """Return `value` as a finite, non-empty (n, p) table of floats, not copied if it is one."""
    raw = array_of(value)
    if raw.dtype.kind not in "iuf":
        raise ArgumentError(f"{name} must be a table of numbers; got {short(value)}.")
    table = np.asarray(raw, dtype=float)
    if table.ndim != 2 or table.size == 0:
        raise ArgumentError(f"{name} must be a non-empty two-dimensional table; got {table.shape}.")
    if columns is not None and table.shape[1] != columns:
        raise ArgumentError(f"{name} must have {columns} columns; got {table.shape[1]}.")
    if not np.isfinite(table).all():
        raise ArgumentError(f"{name} must be finite.")
    return table


def moderate(name: str, array: Array, largest: float = MODERATE) -> Array:
    """Return an array of numbers whose squares can be added up, or an error."""
    if max(array.max(), -array.min()) > largest:
        raise ArgumentError(f"{name}: values beyond {largest:g} are too large; rescale them.")
    return array


def square(name: str, value: Any) -> Array:
    """Return `value` as a finite table with as many rows as columns."""
    table = matrix(name, value)
    if table.shape[0] != table.shape[1]:
        raise ArgumentError(f"{name} must be a square matrix; got shape {table.shape}.")
    return table


def broadcast(**arrays: Array) -> tuple[Array, ...]:
    """Return the arguments at their common shape, or an error that names those that do not fit."""
    try:
        return tuple(np.broadcast_arrays(*arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {np.shape(a)}" for name, a in arrays.items() if np.ndim(a))
        raise ArgumentError(f"These shapes do not broadcast together: {shapes}.") from None


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """Return `value` if it is one of the allowed words."""
    if not isinstance(value, str) or value not in allowed:
        raise ArgumentError.choice(name, value, allowed)
    return value


def count(
    name: str, value: object, *, at_least: int = 1, at_most: int | None = LARGEST_COUNT
) -> int:
    """Return `value` as a Python integer inside the stated range (ends included)."""
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(f"{name} must be an integer; got {short(value)}.") from None
    if number < at_least:
        raise ArgumentError(f"{name} must be at least {at_least}; got {short(number)}.")
    if at_most is not None and number > at_most:
        raise ArgumentError(f"{name} must be at most {at_most}; got {short(number)}.")
    return number


def flag(name: str, value: object) -> bool:
    """Return `value` if it is a truth value; zero and one are not."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name} must be True or False; got {short(value)}.")
    return bool(value)


def instance(name: str, value: object, *kinds: type) -> None:
    """Refuse an object that is of none of these classes."""
    if not isinstance(value, kinds):
        allowed = " or ".join(kind.__name__ for kind in kinds)
        raise ArgumentError(f"{name} must be of the class {allowed}; got {short(value)}.")


def mask_of(name: str, value: Any, size: int, beside: str) -> BoolArray:
    """Return `value` as an array of True and False, one for each number of another argument."""
    mask = array_of(value)
    if mask.dtype != bool or mask.shape != (size,):
        raise ArgumentError(
            f"{name} must be True or False for each number of {beside}, of which there are {size}; "
            f"got {short(value)}."
        )
    return np.asarray(mask)


def workers(n_jobs: object) -> int | None:
    """Return `n_jobs` if joblib can have so many workers: None, or an integer other than zero."""
    if n_jobs is None:
        return None
    try:
        if isinstance(n_jobs, bool | np.bool_):
            raise TypeError
        number = operator.index(n_jobs)  # type: ignore[arg-type]
    except TypeError:
        number = 0
    if number == 0 or abs(number) > MOST_WORKERS:
        raise ArgumentError(
            f"n_jobs must be None or an integer other than 0, at most {MOST_WORKERS}; "
            f"got {short(n_jobs)}."
        )
    return number


def reporter(progress: object) -> None:
    """Refuse a `progress` that is not a function."""
    if progress is not None and not callable(progress):
        raise ArgumentError(f"progress must be a function; got {short(progress)}.")


def short(value: object) -> str:
    """Return one line about `value`, however long it is."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def written(value: Any) -> str:
    """Return a value of the response as a person writes it: 2, not 2.0 or np.float64(2.0)."""
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    if isinstance(value, int | float | np.number):
        return f"{float(value):.10g}"
    return printable(str(value))


def printable(name: str) -> str:
    """Return a name without halves of characters (surrogates), which no file can hold."""
    return name.encode("utf-8", "backslashreplace").decode()
