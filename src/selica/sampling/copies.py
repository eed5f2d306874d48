"""Knockoff copies of a design, one at a time and each from its own seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.random import COPIES, RandomState, child, member_indices, seed_sequence
from selica._core.types import Array, IntArray
from selica._core.validation import matrix, real, short


class CopyLaw(Protocol):
    """The distribution of one copy given the data."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""


@dataclass(frozen=True, slots=True)
class Copies:
    """Copies of a design by position; each is drawn when it is asked for, and never kept.

    `copies[i]` is the copy of member `copies.members[i]`, the same at each access and in each
    process; `copies[2:5]` is a smaller collection. Small to send to a worker.

    Parameters
    ----------
    law : CopyLaw
        What one copy is drawn from.
    seed : SeedSequence
        Parent of the members' seeds.
    members : array of int, shape (B,)
        Which members these are.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import iid_copies
    >>> copies = iid_copies(np.eye(4), random_state=0, members=3)
    >>> len(copies), copies[1].shape, bool((copies[1] == copies[1:][0]).all())
    (3, (4, 4), True)
    """

    law: CopyLaw
    seed: np.random.SeedSequence
    members: IntArray

    @property
    def shape(self) -> tuple[int, int, int]:
        """(B, n, p): what the copies would fill, were they stored."""
        return (self.members.size, *self.law.shape)

    def __len__(self) -> int:
        return self.members.size

    @overload
    def __getitem__(self, position: int | np.integer[Any]) -> Array: ...
    @overload
    def __getitem__(self, position: slice) -> Copies: ...
    def __getitem__(self, position: int | np.integer[Any] | slice) -> Array | Copies:
        if isinstance(position, slice):
            return Copies(self.law, self.seed, self.members[position])
        b = int(self.members[position])
        return self.law.draw(np.random.default_rng(child(self.seed, COPIES, b)))

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Copies({type(self.law).__name__}, shape={self.shape})"


@dataclass(frozen=True, slots=True)
class IndependentEntries:
    """Independent entries N(0, scale_j^2)."""

    rows: int
    scale: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.rows, self.scale.size

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        copy = rng.standard_normal((self.scale.size, self.rows))
        copy *= self.scale[:, None]
        return copy.T


@dataclass(frozen=True, slots=True)
class Sampled:
    """What a user's function returns for the design and a generator."""

    sampler: Callable[[Array, np.random.Generator], ArrayLike]
    design: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.design.shape[0], self.design.shape[1]

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        # a sampler that wrote into the design would change the copies of other members
        design = self.design.view()
        design.flags.writeable = False
        try:
            drawn = self.sampler(design, rng)
        except Exception as error:
            reason = " ".join(str(error).split())
            raise ArgumentError(
                f"sampler raised {type(error).__name__} for X of shape {self.shape}: {reason}"
            ) from error
        copy = matrix("What sampler returns", drawn)
        if copy.shape != self.shape:
            raise ArgumentError(
                f"What sampler returns must have the shape of X, {self.shape}; got {copy.shape}."
            )
        return np.array(copy, order="F")


def draw_copies(law: CopyLaw, random_state: RandomState | None, members: Any) -> Copies:
    """Return the copies of these members, as a collection that draws on demand."""
    return Copies(law, seed_sequence(random_state), member_indices(members))


def iid_copies(
    X: ArrayLike,
    *,
    scale: ArrayLike | None = None,
    random_state: RandomState | None = None,
    members: Any,
) -> Copies:
    """Draw copies with independent Gaussian entries: the article's knockoffs.

    They are knockoffs where the columns of X are independent N(0, scale_j^2); for correlated
    columns see `GaussianKnockoffs`.

    Parameters
    ----------
    X : array of shape (n, p)
        The design.
    scale : float or array of shape (p,), optional
        Standard deviation of the columns, where it is known (1/sqrt(p) in the article). By
        default the root mean square of each column; a column of zeros has a copy of zeros.
    random_state : None, int, SeedSequence, Generator or RandomState
        An integer or a SeedSequence gives member b the same copy at every call.
    members : int, slice or array of int
        The first so many members, or their indices.

    Returns
    -------
    Copies
        Indexed and iterated like a list of (n, p) arrays, each drawn on demand.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import iid_copies
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> copies = iid_copies(X, random_state=1, members=100)
    >>> copies.shape
    (100, 50, 3)
    >>> bool((copies[7] == iid_copies(X, random_state=1, members=[7])[0]).all())
    True
    """
    table = matrix("X", X)
    n, p = table.shape
    if scale is None:
        # scaled by the largest entry, so that squares neither overflow nor vanish
        largest = np.abs(table).max(axis=0)
        unit = np.where(largest > 0.0, largest, 1.0)
        sd = unit * np.sqrt(np.mean((table / unit) ** 2, axis=0))
    else:
        sd = real("scale", scale, at_least=0.0)
        if sd.shape not in ((), (p,)):
            raise ArgumentError(
                f"scale must be one number or have one entry for each of the {p} columns of X; "
                f"got shape {sd.shape}."
            )
        sd = np.broadcast_to(sd, (p,))
    return draw_copies(IndependentEntries(n, sd), random_state, members)


def callable_copies(
    sampler: Callable[[Array, np.random.Generator], ArrayLike],
    X: ArrayLike,
    random_state: RandomState | None,
    members: Any,
) -> Copies:
    """Draw copies by a function of the user.

    Whether they are knockoffs, exchangeable with the columns of X, is up to the function.

    Parameters
    ----------
    sampler : callable
        `sampler(X, rng)` returns one copy, an array of the shape of X. X is read-only; all
        randomness must come from the Generator `rng`, or a member will differ between calls.
    X : array of shape (n, p)
        The design; kept as it is now.
    random_state : None, int, SeedSequence, Generator or RandomState
        An integer or a SeedSequence gives member b the same generator at every call.
    members : int, slice or array of int
        The first so many members, or their indices.

    Returns
    -------
    Copies
        Indexed and iterated like a list of (n, p) arrays, each drawn on demand. A sampler that
        raises, or returns anything but a finite table of the right shape, is an `ArgumentError`
        when the copy is drawn.

    Examples
    --------
    Rows of a design with independent columns, each column shuffled:

    >>> import numpy as np
    >>> from selica.sampling import callable_copies
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> copies = callable_copies(lambda X, rng: rng.permuted(X, axis=0), X, 1, members=4)
    >>> copies.shape
    (4, 50, 3)
    >>> bool((np.sort(copies[2], axis=0) == np.sort(X, axis=0)).all())
    True
    """
    if not callable(sampler):
        raise ArgumentError(f"sampler must be a function of (X, rng); got {short(sampler)}.")
    design = np.array(matrix("X", X))
    return draw_copies(Sampled(sampler, design), random_state, members)
