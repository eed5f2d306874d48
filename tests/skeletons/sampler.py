"""A sampler in one file: columns that are independent of each other, each shuffled on its own.

If the columns are independent and the rows are exchangeable, a column and its shuffled copy can
change places without a change of their joint distribution, whatever else is in the table. So the
copies are exact knockoffs, for columns of any kind: counts, classes, numbers with outliers.

Copy this file, change `copies` and what it assumes, and register the class under a name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica.errors import RefusedError
from selica.sampling import Copies, Sampler, callable_copies
from selica.sampling.sampler import register

FEWEST_ROWS = 10
"""Rows below which a shuffled column is too often nearly the column itself."""


class ShuffledColumns(Sampler):
    """Draw knockoffs of independent columns by shuffling each of them."""

    assumption = "the predictors are independent of each other"
    mismatch = "the columns are not independent, as sampler='shuffled' takes them to be"

    def needs(self, rows: int, columns: int, loss: Any) -> None:
        """Refuse tables with too few rows; any response will do."""
        super().needs(rows, columns, loss)
        if rows < FEWEST_ROWS:
            raise RefusedError(f"sampler='shuffled' needs {FEWEST_ROWS} rows; X has {rows}.")

    def copies(self, X: ArrayLike, random_state: Any, members: Any) -> Copies:
        """Return copies by member; each draws from its own stream of random numbers."""
        return callable_copies(_shuffled, X, random_state, members)


def _shuffled(table: Any, rng: np.random.Generator) -> Any:
    """Return the table with every column in an order of its own."""
    return rng.permuted(table, axis=0)


def add() -> None:
    """Make `sampler="shuffled"` known to every knockoff selector."""
    register("shuffled", ShuffledColumns)
