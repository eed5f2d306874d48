r"""Knockoff copies given covariates that stay in every fit.

Covariates have no copies, and copies of the columns must be exchangeable with them *given* the
covariates: with :math:`X = KB + R`, where R does not depend on K, a copy of R added to KB is one.
Copies that ignored K would lose what X and K have in common, and columns that go with K would look
better than their copies wherever K matters.

B is estimated, so that the rest has fewer directions than rows, one less for the constant and
one for each covariate: it varies less than R does, and nothing of it goes with K. What is drawn
has the variance of R and is treated in the same way. Else many covariates would make columns that
do not matter look better than their copies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from selica._core.types import Array, BoolArray
from selica.sampling.copies import Copies, CopyLaw

_NOTHING_LEFT = 1e-6
"""A column whose part outside of the covariates has less than this share of its standard deviation
is one of them."""


@dataclass(frozen=True, slots=True)
class Conditioned:
    """Columns of a table, parted into what covariates say of them and the rest.

    Attributes
    ----------
    explained : array of shape (n, p)
        What covariates say, with the mean.
    rest : array of shape (n, p)
    design : array of shape (n, k + 1)
        A constant, and the covariates.
    inverse : array of shape (k + 1, n)
        Takes a column to its coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.covariates import condition
    >>> K = np.arange(6.0)[:, None]
    >>> parts = condition(np.column_stack([K[:, 0] ** 2, 2.0 * K[:, 0]]), K)
    >>> bool(abs(K.T @ parts.rest).max() < 1e-10), parts.varies.tolist()
    (True, [True, False])
    """

    explained: Array
    rest: Array
    design: Array
    inverse: Array

    @property
    def varies(self) -> BoolArray:
        """Which columns are not determined by the covariates."""
        size = np.sqrt(np.mean((self.explained + self.rest - self.explained.mean(0)) ** 2, axis=0))
        left = np.sqrt(np.mean(self.rest**2, axis=0))
        return np.asarray(left > _NOTHING_LEFT * size)

    def some_columns(self, which: BoolArray) -> Conditioned:
        """Return some of the columns."""
        return replace(self, explained=self.explained[:, which], rest=self.rest[:, which])

    def outside(self, columns: Array) -> Array:
        """Return columns without what covariates say of them."""
        return columns - self.design @ (self.inverse @ columns)

    def shifted(self, copies: Copies) -> Copies:
        """Return copies of the columns from copies of the rest."""
        return replace(copies, law=ShiftedLaw(copies.law, self))


@dataclass(frozen=True, slots=True)
class ShiftedLaw:
    """A distribution of copies of the rest, moved by what covariates say of each row."""

    law: CopyLaw
    parts: Conditioned

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.law.shape

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        rest = self.parts.outside(self.law.draw(rng))
        joint = rest.shape[1] // self.parts.explained.shape[1]  # copies side by side
        return np.asfortranarray(rest + np.tile(self.parts.explained, joint))


def spread_of_rest(design: Array, rows: int) -> float:
    """Return by how much deviations are larger than what is left after fitting a design to them.

    Parameters
    ----------
    design : array of shape (n, k)
        What was fitted, the constant included.
    rows : int
        Directions that deviations had before.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.covariates import spread_of_rest
    >>> spread_of_rest(np.ones((4, 1)), 4) ** 2
    1.3333333333333333
    """
    left = rows - int(np.linalg.matrix_rank(design))
    return float(np.sqrt(rows / left)) if left > 0 else 1.0


def condition(X: Array, keep: Array, weight: Array | None = None) -> Conditioned:
    """Part columns into what covariates say of them, by least squares, and the rest.

    Parameters
    ----------
    X : array of shape (n, p)
    keep : array of shape (n, k)
        Covariates.
    weight : array of shape (n,), optional
        Weights of the rows.
    """
    design = np.column_stack([np.ones(len(keep)), keep])
    root = np.ones(len(keep)) if weight is None else np.sqrt(weight)
    inverse = np.linalg.pinv(root[:, None] * design) * root
    explained = design @ (inverse @ X)
    return Conditioned(explained, X - explained, design, inverse)
