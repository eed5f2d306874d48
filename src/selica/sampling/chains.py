"""Knockoffs of Markov chains: discrete columns, each of which depends on the one before.

Copies are drawn from the first column to the last by a recursion that needs the transition
probabilities alone (after Sesia, Sabatti and Candes 2019; the formula is in `cpp/chains`). They are
exact knockoffs where the transitions are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.compiled import core, threads
from selica._core.errors import ArgumentError, ColumnError, RefusedError
from selica._core.random import RandomState
from selica._core.types import Array
from selica._core.validation import matrix, numbers, short
from selica.sampling.checks import row_shares
from selica.sampling.copies import Copies, draw_copies
from selica.sampling.motifs import segment_starts
from selica.sampling.sampler import Doubt, Sampler

MOST_VALUES = 50
"""Different values that a column may have where transitions are estimated."""
_PSEUDO_COUNT = 1.0
"""Rows that are added to each row of an estimated transition, shared like the next column."""
_FEW_ROWS = 5
"""Rows for each transition probability, below which an estimate is doubtful. Practice."""
_SMALLEST_WEIGHT = 1e-6
"""Weight of a row in an estimate, at least; their mean is one."""
_UNEVEN = 1e-8
"""Probabilities that sum to one to so many digits do."""


class MarkovKnockoffs(Sampler):
    """Model-X knockoffs of discrete columns that form a Markov chain, in the order of the columns.

    Parameters
    ----------
    first : array of shape (K_0,), optional
        Probabilities of the values 0, 1, ... of the first column, if they are known.
    steps : sequence of p - 1 arrays of shape (K_j-1, K_j), optional
        Probabilities of the values of column j (columns) given that of the column before (rows).
        None: values, probabilities and transitions are estimated by `fit`.
    segments : array of shape (p,), optional
        Labels of contiguous columns that are independent of other segments, for an estimate.

    Attributes
    ----------
    estimated : bool
        Whether the transitions are estimated, or have to be.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import MarkovKnockoffs
    >>> stay = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> known = MarkovKnockoffs([0.5, 0.5], [stay] * 9)
    >>> known
    MarkovKnockoffs(n_features=10)
    >>> X = np.random.default_rng(0).integers(0, 2, (40, 10))
    >>> known.sample(X, random_state=1).shape
    (40, 10)
    >>> MarkovKnockoffs().fit(X)
    MarkovKnockoffs(n_features=10, estimated=True)
    """

    discrete = True

    def __init__(
        self,
        first: ArrayLike | None = None,
        steps: Sequence[ArrayLike] | None = None,
        *,
        segments: ArrayLike | None = None,
    ) -> None:
        if (first is None) != (steps is None):
            raise ArgumentError("first and steps are given together, or neither of them.")
        if first is not None and segments is not None:
            raise ArgumentError("segments cannot be given beside first and steps.")
        self.segments = segments
        self.estimated = first is None
        self._law: ChainLaw | None = None
        if first is not None and steps is not None:
            self._law = _given(first, steps)

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> MarkovKnockoffs:
        """Return a sampler with transitions estimated from X; where they were given, this object.

        Parameters
        ----------
        X : array of shape (n, p)
            Columns with few different values.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        """
        table = matrix("X", X)
        if not self.estimated:
            self._known().states(table)
            return self
        weight = row_shares(sample_weight, len(table)) * len(table)
        fitted = copy(self)
        fitted._law = _estimated(table, weight, segment_starts(self.segments, table.shape[1]))
        return fitted

    @property
    def assumption(self) -> str:  # type: ignore[override]
        """What must be true of the columns, as a clause."""
        chain = "each predictor depends on those before it through its neighbour alone"
        if self.estimated:
            return f"{chain}, with probabilities close to those estimated here"
        return f"{chain}, with the probabilities that were given"

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether the transitions are known."""
        return not self.estimated

    @property
    def mismatch(self) -> str:  # type: ignore[override]
        """What is wrong where the copies do not fit the columns."""
        if self.estimated:
            return "the columns are no Markov chain in their order"
        return "the transitions given are not those of the table"

    def doubts(self, X: Array) -> list[Doubt]:
        """Return what speaks against transitions that were estimated from so few rows."""
        if not self.estimated:
            return []
        law = self._known()
        sizes = [a.size * (b.size - 1) for a, b in zip(law.values, law.values[1:], strict=False)]
        if max(sizes, default=0) * _FEW_ROWS <= len(X):
            return []
        return [
            Doubt(
                f"up to {max(sizes)} transition probabilities between two columns are estimated "
                f"from {len(X)} rows only"
            )
        ]

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return knockoff copies of X for these members; see `Sampler.copies`."""
        law = self._known()
        return draw_copies(GivenStates(law, law.states(matrix("X", X))), random_state, members)

    def _known(self) -> ChainLaw:
        if self._law is None:
            raise ArgumentError("steps are not known yet: call fit(X) first, and use its result.")
        return self._law

    def __repr__(self) -> str:
        if self._law is None:
            return "MarkovKnockoffs(not fitted)"
        estimated = ", estimated=True" if self.estimated else ""
        return f"MarkovKnockoffs(n_features={len(self._law.values)}{estimated})"


@dataclass(frozen=True, slots=True)
class ChainLaw:
    """A Markov chain over the values of columns; tables are filled with zeros to one size."""

    values: tuple[Array, ...]
    """Values of each column, ascending."""
    first: Array
    """Probabilities of the first column, (K,)."""
    steps: Array
    """Transitions, (p - 1, K, K)."""
    estimated: bool = False
    """Whether values and transitions come from rows."""

    def states(self, table: Array) -> Any:
        """Return the numbers of the values in a table, (n, p)."""
        if table.shape[1] != len(self.values):
            raise ArgumentError(f"X must have {len(self.values)} columns; got {table.shape[1]}.")
        out = np.empty(table.shape, dtype=np.int16)
        for j, values in enumerate(self.values):
            place = np.minimum(np.searchsorted(values, table[:, j]), values.size - 1)
            wrong = values[place] != table[:, j]
            if wrong.any():
                raise ColumnError(
                    f"X: {{column}} holds {table[wrong, j][0]:g}, which is no value that the "
                    "Markov chain knows there"
                    + (
                        ": it does not occur in the rows that the chain was estimated from."
                        if self.estimated
                        else "."
                    ),
                    j,
                )
            out[:, j] = place
        return out


@dataclass(frozen=True, slots=True)
class GivenStates:
    """Copies of rows of states by a Markov chain."""

    law: ChainLaw
    states: Any

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.states.shape[0], self.states.shape[1]

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory; each row has its own stream."""
        out = np.empty_like(self.states)
        key = rng.integers(0, 2**64, size=2, dtype=np.uint64)
        row, column = core().copy_chains(
            self.law.first, self.law.steps, self.states, key, out, threads=threads()
        )
        if row >= 0:
            raise RefusedError(
                f"X: row {row} has a value in column {column} that is impossible after the one "
                "before, under the Markov chain that was given."
            )
        copy = np.empty(self.shape, order="F")
        for j, values in enumerate(self.law.values):
            copy[:, j] = values[out[:, j]]
        return copy


def _given(first: ArrayLike, steps: Sequence[ArrayLike]) -> ChainLaw:
    """Return a chain with the values 0, 1, ..., checked."""
    start = numbers("first", first, at_least=0.0, at_most=1.0)
    if isinstance(steps, str) or not isinstance(steps, Sequence | np.ndarray):
        raise ArgumentError(f"steps must be a sequence of tables; got {short(steps)}.")
    each = [numbers(f"steps[{j}]", one, ndim=2, at_least=0.0, at_most=1.0)
            for j, one in enumerate(steps)]  # fmt: skip
    sizes = [start.size, *(one.shape[1] for one in each)]
    for j, one in enumerate(each):
        if one.shape[0] != sizes[j]:
            raise ArgumentError(
                f"steps[{j}] must have one row for each of the {sizes[j]} values of the column "
                f"before; got {one.shape[0]}."
            )
    for name, table in (("first", start[None]), *((f"steps[{j}]", t) for j, t in enumerate(each))):
        worst = np.abs(table.sum(axis=1) - 1.0).max()
        if worst > _UNEVEN:
            raise ArgumentError(f"{name} must hold probabilities that sum to one.")
    return _padded([np.arange(float(size)) for size in sizes], start, each)


def _padded(values: Sequence[Array], first: Array, steps: Sequence[Array]) -> ChainLaw:
    """Return a chain whose tables have the size of the largest."""
    K = max(one.size for one in values)
    start = np.zeros(K)
    start[: first.size] = first / first.sum()
    table = np.zeros((len(steps), K, K))
    for j, one in enumerate(steps):
        table[j, : one.shape[0], : one.shape[1]] = one / one.sum(axis=1, keepdims=True)
    return ChainLaw(tuple(values), start, table)


def _estimated(table: Array, weight: Array, starts: Any) -> ChainLaw:
    """Return the chain of a table: counted transitions, drawn towards the next column's shares."""
    values, places = [], []
    for j in range(table.shape[1]):
        found, place = np.unique(table[:, j], return_inverse=True)
        if found.size > MOST_VALUES:
            raise ColumnError(
                f"X must have columns of at most {MOST_VALUES} different values for a Markov "
                f"chain; {{column}} has {found.size}.",
                j,
            )
        values.append(found)
        places.append(place)
    weight = np.maximum(weight, _SMALLEST_WEIGHT)  # a row without weight has a copy too
    shares = [np.bincount(place, weight) / weight.sum() for place in places]
    steps = []
    for j in range(1, len(values)):
        before, after = values[j - 1].size, values[j].size
        joint = np.bincount(places[j - 1] * after + places[j], weight, before * after)
        counts = joint.reshape(before, after) * (not starts[j])
        steps.append(counts + _PSEUDO_COUNT * shares[j])
    return replace(_padded(values, shares[0], steps), estimated=True)
