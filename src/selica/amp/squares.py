"""Sums weighted by the squared entries of a design, exactly or by its margins."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from selica._core.types import Array
from selica._core.validation import choice
from selica.amp.problem import Problem

VARIANCES = ("vector", "scalar")
# What a change is compared with, at least, as a share of the coefficients of single variables.
_ROUNDING = 1e-6


class Squares(Protocol):
    """The matrix of squared entries."""

    def over_columns(self, values: Array) -> Array:
        """sum_i X_{mu i}^2 values_i, (p, L) -> (n, L)."""

    def over_rows(self, values: Array) -> Array:
        """sum_mu X_{mu i}^2 values_mu, (n, L) -> (p, L)."""


class Entries:
    """Every squared entry: one variance for each row and each variable."""

    def __init__(self, X: Array) -> None:
        self._square = X * X

    def over_columns(self, values: Array) -> Array:
        """One matrix product."""
        return np.asarray(self._square @ values)

    def over_rows(self, values: Array) -> Array:
        """One matrix product."""
        return np.asarray(self._square.T @ values)


class Margins:
    """Self-averaging: X_{mu i}^2 replaced by (sum of row mu) (sum of column i) / total.

    Exact on average for designs of independent entries, also where rows or columns differ in
    scale; costs nothing beside the products with X.
    """

    def __init__(self, X: Array) -> None:
        rows = np.einsum("ij,ij->i", X, X)
        self._columns = np.einsum("ij,ij->j", X, X)[:, None]
        total = rows.sum()
        self._rows = (rows / total if total > 0.0 else rows)[:, None]

    def over_columns(self, values: Array) -> Array:
        """A sum over the columns, shared out to the rows."""
        return np.asarray(self._rows * np.sum(self._columns * values, axis=0))

    def over_rows(self, values: Array) -> Array:
        """A sum over the rows, shared out to the columns."""
        return np.asarray(self._columns * np.sum(self._rows * values, axis=0))


def squares_of(X: Array, variances: str) -> Squares:
    """The form of the variances by name."""
    return Margins(X) if choice("variances", variances, VARIANCES) == "scalar" else Entries(X)


def floors(problem: Problem, squares: Squares, rate: float) -> tuple[float, float, float]:
    """Norms of mean, variance and response of the coefficients below which a change is rounding."""
    Q_hat = rate * squares.over_rows(np.ones((problem.y.size, 1)))[:, 0]
    Q_hat = np.where(Q_hat > 0.0, Q_hat, np.inf)
    alone = rate * np.abs(problem.X.T @ problem.y) / Q_hat
    sizes = (alone, alone**2, 1.0 / Q_hat)
    return tuple(_ROUNDING * float(np.linalg.norm(size)) + 1e-300 for size in sizes)  # type: ignore[return-value]
