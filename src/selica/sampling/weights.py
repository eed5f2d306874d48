"""Resampling weights: how often each row of the data enters each member of an ensemble."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError, RefusedError
from selica._core.random import WEIGHTS, RandomState, child, member_indices, seed_sequence
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST, array_of, choice, count, positive, single

SCHEMES = ("bootstrap", "poisson", "subsample", "pairs", "exponential")

_DRAWS_ONE_BY_ONE = 16.0
"""Row numbers are drawn one by one up to this many for each row, above it as multinomial counts."""


def resample_weights(
    n_samples: int,
    n_resamples: int,
    scheme: str = "bootstrap",
    rate: float = 1.0,
    *,
    random_state: RandomState | None = None,
    groups: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    members: Any = None,
) -> Array:
    """Draw the weights of the rows of the data in each member of an ensemble.

    Parameters
    ----------
    n_samples : int
        Number of rows n of the data.
    n_resamples : int
        Number of members B.
    scheme : {"bootstrap", "poisson", "subsample", "pairs", "exponential"}
        - "bootstrap": round(rate * n) rows drawn with replacement; weights are counts.
        - "poisson": independent Poisson counts of mean `rate`. A member that happens to draw no
          row at all keeps its zero weights.
        - "subsample": floor(rate * n) rows drawn without replacement.
        - "pairs": complementary halves. Members 2k and 2k + 1 are disjoint, each with floor(n/2)
          rows; with n odd one row, another one for each pair, is left out. B must be even.
        - "exponential": independent exponential weights of mean `rate` (Bayesian bootstrap).
    rate : float
        Mean weight of a row, positive; at most one for "subsample". For "pairs" it is 1/2 by
        construction and can be left out.
    random_state : None, int, SeedSequence, Generator or RandomState
        To draw members in chunks, pass an integer or a SeedSequence: a Generator is advanced by
        each call.
    groups : array of shape (n,), optional
        Labels of any type. Rows with the same label are drawn together and share their weight:
        the scheme, its rate included, then counts groups instead of rows.
    strata : array of shape (n,), optional
        Labels of any type. Each stratum is resampled on its own, at the same rate; a stratum of
        which the scheme could never draw a row is an error. A group must lie in one stratum.
        Poisson and exponential weights are independent anyway: strata change nothing.
    members : slice or array of int, optional
        Which members to draw, all by default: exactly these rows of the full table.

    Returns
    -------
    array of shape (n_resamples or len(members), n_samples)

    Examples
    --------
    >>> from selica.sampling import resample_weights
    >>> weights = resample_weights(101, 4, "pairs", random_state=0)
    >>> weights.sum(axis=1)
    array([50., 50., 50., 50.])
    >>> (weights[0] * weights[1]).sum()
    np.float64(0.0)
    >>> chunk = resample_weights(101, 4, "pairs", random_state=0, members=slice(2, 4))
    >>> bool((chunk == weights[2:]).all())
    True
    """
    n = count("n_samples", n_samples)
    total = count("n_resamples", n_resamples)
    scheme = choice("scheme", scheme, SCHEMES)
    rate = _rate(scheme, rate)
    if scheme == "pairs" and total % 2:
        raise ArgumentError(f"n_resamples must be even for pairs; got {total}.")
    unit = np.arange(n) if groups is None else label_codes("groups", groups, n)
    cells = _cells(unit, strata, n)
    sizes = [_draws(scheme, rate, cell.size) for cell in cells]
    if 0 in sizes:
        _complain(scheme, rate, cells[sizes.index(0)].size, groups, strata)
    index = member_indices(members, total)
    seed = seed_sequence(random_state)

    weights = np.empty((index.size, n))
    drawn = np.empty(unit.max() + 1)
    for row, b in zip(weights, index.tolist(), strict=True):
        key, half = divmod(b, 2) if scheme == "pairs" else (b, 0)  # a pair shares one child
        rng = np.random.default_rng(child(seed, WEIGHTS, key))
        for cell, size in zip(cells, sizes, strict=True):
            drawn[cell] = _draw(rng, scheme, rate, cell.size, size, half)
        row[:] = drawn[unit]
    return weights


def _draw(
    rng: np.random.Generator, scheme: str, rate: float, n: int, size: int, half: int
) -> Array | IntArray:
    """Draw the weights of n exchangeable units, of which `size` are drawn."""
    if scheme == "bootstrap":
        if size > _DRAWS_ONE_BY_ONE * n:
            return rng.multinomial(size, np.full(n, 1.0 / n))
        return np.bincount(rng.integers(n, size=size), minlength=n)
    if scheme == "poisson":
        return rng.poisson(rate, n)
    if scheme == "exponential":
        return rng.exponential(rate, n)
    # subsample: the first rows of a permutation; pairs: the first and the second half
    kept = rng.permutation(n)[half * size : (half + 1) * size]
    drawn = np.zeros(n)
    drawn[kept] = 1.0
    return drawn


def _draws(scheme: str, rate: float, n: int) -> int:
    """Return how many of n units a member draws; n where the number is random."""
    if scheme == "bootstrap":
        return round(rate * n)
    if scheme == "subsample":
        return int(np.floor(rate * n + 1e-9))
    return n // 2 if scheme == "pairs" else n


def _rate(scheme: str, rate: float) -> float:
    most = 1.0 if scheme == "subsample" else LARGEST
    value = single("rate", positive("rate", rate, at_most=most))
    if scheme == "pairs" and value not in (0.5, 1.0):
        raise ArgumentError(f"rate is 1/2 for pairs by construction; got {value:g}.")
    return value


def _cells(unit: IntArray, strata: ArrayLike | None, n: int) -> list[IntArray]:
    """Return the units (rows or groups) of each stratum."""
    if strata is None:
        return [np.arange(unit.max() + 1)]
    stratum = label_codes("strata", strata, n)
    of_unit = np.empty(unit.max() + 1, dtype=np.intp)
    of_unit[unit] = stratum
    if np.any(of_unit[unit] != stratum):
        raise ArgumentError("groups must each lie in one of the strata.")
    order = np.argsort(of_unit, kind="stable")
    return np.split(order, np.cumsum(np.bincount(of_unit))[:-1])


def label_codes(name: str, labels: ArrayLike, n: int) -> IntArray:
    """Return labels as 0, 1, ... in order of first appearance: names change no draw.

    Parameters
    ----------
    name : str
        How the caller calls them; opens the message.
    labels : array of shape (n,)
        Of any type, none missing.
    n : int
    """
    array = array_of(labels)
    if array.shape != (n,):
        raise ArgumentError(f"{name} must have one entry for each of the {n} rows.")
    if array.dtype.kind == "O":
        if any(missing_label(label) for label in array):
            raise ArgumentError(f"{name} must not have missing entries.")
        seen: dict[Any, int] = {}
        try:
            return np.array([seen.setdefault(label, len(seen)) for label in array], dtype=np.intp)
        except TypeError:
            raise ArgumentError(f"{name} must have hashable entries.") from None
    if array.dtype.kind in "fcmM" and np.any(array != array):  # NaN and NaT
        raise ArgumentError(f"{name} must not have missing entries.")
    _, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse], dtype=np.intp)


def missing_label(label: Any) -> bool:
    """Tell whether a label is None, NaN, NaT or pandas' NA."""
    try:
        return label is None or bool(label != label)
    except (TypeError, ValueError):
        return True


def _complain(scheme: str, rate: float, n: int, groups: object, strata: object) -> None:
    what = "rows" if groups is None else "groups"
    if strata is not None:
        raise RefusedError(
            f"strata: a stratum of {n} {what} is too small: {scheme!r} draws none of them."
        )
    name = "rate" if scheme != "pairs" else "n_samples" if groups is None else "groups"
    raise ArgumentError(
        f"{name} is too small: {scheme!r} at rate {rate:g} draws none of the {n} {what}."
    )
