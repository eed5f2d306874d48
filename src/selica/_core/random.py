"""One stream of random numbers for each member of an ensemble.

Member b draws from the child with spawn key (..., purpose, b) of the seed. Neither the number of
members nor their partition over workers enters, and the purpose keeps families apart: a design
simulated with seed 0 and its knockoff copies drawn with seed 0 are independent.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.keeping import kept_entropy
from selica._core.types import IntArray
from selica._core.validation import count

RandomState: TypeAlias = (
    int | np.integer[Any] | np.random.SeedSequence | np.random.Generator | np.random.RandomState
)

# Purposes are spawn keys of one 32-bit word, which nobody reaches by counting children.
WEIGHTS = int.from_bytes(b"wght", "big")
"""Purpose of resampling weights."""
SIMULATION = int.from_bytes(b"simu", "big")
"""Purpose of simulated data."""
COPIES = int.from_bytes(b"copy", "big")
"""Purpose of knockoff copies."""
ROWS = int.from_bytes(b"rows", "big")
"""Purpose of rows that are added to a table."""
_WORDS = 4
"""Words drawn from a generator: 128 bits, the size of a SeedSequence's pool."""


def seed_sequence(random_state: RandomState | None) -> np.random.SeedSequence:
    """Return a fresh seed; a given SeedSequence is copied, a given generator is advanced.

    Parameters
    ----------
    random_state : None, int, SeedSequence, Generator or RandomState
        None takes entropy from the system, or what a run before took (`keeping`). An integer or a
        SeedSequence gives the same seed at every call, whatever has been spawned from the latter.

    Examples
    --------
    >>> seed_sequence(7).entropy
    7
    """
    if random_state is None:
        return np.random.SeedSequence(kept_entropy())
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.SeedSequence(
            random_state.entropy,
            spawn_key=random_state.spawn_key,
            pool_size=random_state.pool_size,
        )
    if isinstance(random_state, np.random.Generator):
        words = random_state.integers(0, 2**32, size=_WORDS, dtype=np.uint32)
        return np.random.SeedSequence(words.tolist())
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(0, 2**32, size=_WORDS, dtype=np.uint32)
        return np.random.SeedSequence(words.tolist())
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return np.random.SeedSequence(count("random_state", random_state, at_least=0, at_most=None))
    raise ArgumentError(
        "random_state must be None, an integer, a SeedSequence or a Generator; "
        f"got a {type(random_state).__name__}."
    )


def child(seed: np.random.SeedSequence, *key: int) -> np.random.SeedSequence:
    """Return the descendant with this key; (b,) is the b-th child of a fresh `seed.spawn`."""
    return np.random.SeedSequence(
        seed.entropy, spawn_key=(*seed.spawn_key, *key), pool_size=seed.pool_size
    )


def generator(random_state: RandomState | None) -> np.random.Generator:
    """Return a generator: the given one, or a new one from a seed.

    Parameters
    ----------
    random_state : None, int, SeedSequence, Generator or RandomState
        A RandomState gives a seed, which advances it.

    Examples
    --------
    >>> generator(3).random() == generator(3).random()
    True
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_sequence(random_state))


def member_indices(members: Any, total: int | None = None) -> IntArray:
    """Return the indices of the members asked for.

    Parameters
    ----------
    members : None, int, slice, range or array of int
        None: all of `total`. An integer, where there is no total: the first so many.
    total : int, optional
        Number of members of the ensemble; without it an ensemble has no end.
    """
    if total is not None and members is None:
        return np.arange(total)
    if isinstance(members, slice):
        return np.arange(*_bounds(members, total))
    try:
        index = np.asarray(members)
    except ValueError:  # rows of different lengths
        index = np.empty((0, 0))
    if total is None and index.ndim == 0:
        return np.arange(count("members", members, at_least=0))
    if index.ndim == 1 and index.size == 0:
        return np.empty(0, dtype=np.intp)
    if index.ndim != 1 or index.dtype.kind not in "iu":
        raise ArgumentError(
            "members must be a slice or a vector of member indices; got "
            f"{type(members).__name__} of shape {index.shape}."
        )
    largest = np.iinfo(np.int64).max if total is None else total - 1
    if index.min() < 0 or index.max() > largest:
        wrong = index.min() if index.min() < 0 else index.max()
        raise ArgumentError(f"members must be between 0 and {largest}; got {wrong}.")
    return index.astype(np.intp)


def _bounds(members: slice, total: int | None) -> tuple[int, int, int]:
    """Return start, stop and step of a slice; without a total it must say where it ends."""
    try:
        if total is None:
            if min(members.start or 0, members.stop) < 0 or (members.step or 1) < 0:
                raise ValueError
            total = int(members.stop)
        return members.indices(total)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"members must be a slice of integers with an end, counted from 0; got {members!r}."
        ) from None
