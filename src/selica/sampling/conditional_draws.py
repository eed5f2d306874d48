"""Values of a variable, drawn given what a model says of each row.

Each takes one uniform number a row, so that the values of a variable do not depend on how many
numbers others take. All values are in the unit of the standardised columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from selica._core.types import Array, IntArray
from selica.sampling.conditional_models import chances


class Draw(Protocol):
    """How values of a variable are drawn."""

    def draw(self, index: Array, chance: Array) -> Array:
        """Draw the columns of the variable, (n, columns).

        Parameters
        ----------
        index : array of shape (n, sets)
            What the model says of each row.
        chance : array of shape (n,)
            Uniform numbers.
        """


@dataclass(frozen=True, slots=True)
class NormalResiduals:
    """The fit plus a normal number."""

    sd: float

    def draw(self, index: Array, chance: Array) -> Array:
        """Draw a column; see `Draw.draw`."""
        return np.asarray(index + self.sd * ndtri(chance)[:, None])


@dataclass(frozen=True, slots=True)
class ResampledResiduals:
    """The fit plus the residual of a row that is drawn at random."""

    residuals: Array
    """(N,)"""
    below: Array
    """(N,): shares of the rows, added up."""

    def draw(self, index: Array, chance: Array) -> Array:
        """Draw a column; see `Draw.draw`."""
        row = np.searchsorted(self.below, chance * self.below[-1], side="right")
        return np.asarray(index + self.residuals[np.minimum(row, self.residuals.size - 1), None])


@dataclass(frozen=True, slots=True)
class ResampledValues:
    """The value of another row with a similar fit, so that values stay those of the column.

    Rows are ordered by their fits, and the other row is up to half of the square root of their
    number away. At the ends the order is reflected: every row gives its value equally often.
    """

    values: Array
    """(N,): values in the order of the fits."""
    rows: IntArray
    """(N,): to which row each belongs."""

    def draw(self, index: Array, chance: Array) -> Array:
        """Draw a column; see `Draw.draw`."""
        n, size = len(index), self.values.size
        rank = np.empty(n, dtype=np.intp)
        rank[np.argsort(index[:, 0], kind="stable")] = np.arange(n)
        if n != size:
            rank = rank * size // n
        far = min(max(2, int(np.ceil(0.5 * np.sqrt(size)))), size - 1)
        shift = np.floor(2 * far * chance).astype(np.intp) - far
        shift += shift >= 0
        other = _reflected(rank + shift, size)
        # a row takes its own value at the ends alone, where to forbid it would cost variance
        same = self.rows[other] == np.arange(n)
        same &= (rank >= 2 * far) & (rank < size - 2 * far)
        other[same] = (rank - shift)[same]
        return np.asarray(self.values[other, None])


def _reflected(place: IntArray, size: int) -> IntArray:
    """Return places that are outside of 0 to size - 1 reflected at its ends."""
    place = np.where(place < 0, -1 - place, place)
    return np.asarray(np.where(place >= size, 2 * size - 1 - place, place))


@dataclass(frozen=True, slots=True)
class TwoValues:
    """One of two values, by a logit."""

    low: float
    high: float

    def draw(self, index: Array, chance: Array) -> Array:
        """Draw a column; see `Draw.draw`."""
        return np.where(chance[:, None] < chances(index), self.high, self.low)


@dataclass(frozen=True, slots=True)
class LevelsOfFactor:
    """One of several levels, each with a row of its indicators."""

    indicators: Array
    """(levels, columns)"""
    group: IntArray
    """(levels,): class of the model to which a level belongs."""
    within: Array
    """(levels,): share of a level in its class."""

    def draw(self, index: Array, chance: Array) -> Array:
        """Draw the columns; see `Draw.draw`."""
        below = np.cumsum(chances(index)[:, self.group] * self.within, axis=1)
        level = (below < chance[:, None]).sum(axis=1)
        return np.asarray(self.indicators[np.minimum(level, self.group.size - 1)])
