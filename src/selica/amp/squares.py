"""Products with a design and with its squared entries, exactly or by its margins."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from selica._core.types import Array
from selica._core.validation import choice
from selica.amp.kernels import across, along
from selica.amp.problem import Problem

VARIANCES = ("vector", "scalar")
# What a change is compared with, at least, as a share of the coefficients of single variables.
_ROUNDING = 1e-6
# Up to so many penalties, reading the design once for each is faster than three matrix products.
_FEW = 4
# Tolerances that rounding in single precision is well below.
_SINGLE = 1e-6

Triple = tuple[Array, Array, Array]


class Squares(Protocol):
    """A design with the matrix of its squared entries."""

    def to_rows(self, mean: Array, one: Array, two: Array) -> Triple:
        """X mean, and sum_i X_{mu i}^2 values_i for both others, (p, L) -> (n, L)."""

    def to_columns(self, mean: Array, one: Array, two: Array) -> Triple:
        """X' mean, and sum_mu X_{mu i}^2 values_mu for both others, (n, L) -> (p, L)."""


class Entries:
    """Every squared entry: one variance for each row and each variable.

    With many penalties the sums over squares may be of single precision: their terms are positive,
    so that they are known to about 1e-7, in half the time.
    """

    def __init__(self, X: Array, *, single: bool) -> None:
        flags = X.flags
        self._X = X if flags.c_contiguous or flags.f_contiguous else np.ascontiguousarray(X)
        self._type = np.float32 if single else np.float64

    @cached_property
    def _square(self) -> tuple[Array, Array]:
        """Mean squares of the columns, (p, 1), and the squares divided by them."""
        square = self._X * self._X
        mean = square.mean(axis=0)
        return mean[:, None], (square / np.where(mean > 0.0, mean, 1.0)).astype(self._type)

    def to_rows(self, mean: Array, one: Array, two: Array) -> Triple:
        """One reading of X for each penalty, or matrix products where there are many."""
        if mean.shape[1] <= _FEW:
            return _by_kernels(self._X, mean, one, two)
        scale, square = self._square
        return self._X @ mean, *_sums(square, scale * one, scale * two)

    def to_columns(self, mean: Array, one: Array, two: Array) -> Triple:
        """As `to_rows`."""
        if mean.shape[1] <= _FEW:
            return _by_kernels(self._X.T, mean, one, two)
        scale, square = self._square
        first, second = _sums(square.T, one, two)
        return self._X.T @ mean, scale * first, scale * second


def _sums(square: Array, one: Array, two: Array) -> tuple[Array, Array]:
    """Products with both in one, each column brought to unit size for single precision."""
    both = np.concatenate([one, two], axis=1)
    size = both.max(axis=0)
    size[~(size > 0.0)] = 1.0
    sums = (square @ (both / size).astype(square.dtype)) * size
    return sums[:, : one.shape[1]], sums[:, one.shape[1] :]


def _by_kernels(A: Array, mean: Array, one: Array, two: Array) -> Triple:
    out = np.empty((mean.shape[1], 3, A.shape[0]))
    for k, sums in enumerate(out):
        u, s, t = (np.ascontiguousarray(part[:, k]) for part in (mean, one, two))
        if A.flags.c_contiguous:
            along(A, u, s, t, sums)
        else:
            across(A.T, u, s, t, sums)
    first, second, third = np.ascontiguousarray(out.transpose(1, 2, 0))
    return first, second, third


class Margins:
    """Self-averaging: X_{mu i}^2 replaced by (sum of row mu) (sum of column i) / total.

    Exact on average for designs of independent entries, also where rows or columns differ in
    scale; costs nothing beside the products with X.
    """

    def __init__(self, X: Array) -> None:
        self._X = X
        rows = np.einsum("ij,ij->i", X, X)
        self._columns = np.einsum("ij,ij->j", X, X)[:, None]
        total = rows.sum()
        self._rows = (rows / total if total > 0.0 else rows)[:, None]

    def to_rows(self, mean: Array, one: Array, two: Array) -> Triple:
        """Sums over the columns, shared out to the rows."""
        each = (self._rows * np.sum(self._columns * part, axis=0) for part in (one, two))
        return self._X @ mean, *each

    def to_columns(self, mean: Array, one: Array, two: Array) -> Triple:
        """Sums over the rows, shared out to the columns."""
        each = (self._columns * np.sum(self._rows * part, axis=0) for part in (one, two))
        return self._X.T @ mean, *each


def squares_of(problem: Problem, variances: str) -> Squares:
    """The form of the variances by name."""
    if choice("variances", variances, VARIANCES) == "scalar":
        return Margins(problem.X)
    return Entries(problem.X, single=problem.tol >= _SINGLE)


def noise_of(squares: Squares, a: Array) -> Array:
    """Standard deviation of the fields for residuals that are independent, (p, L)."""
    return np.asarray(np.sqrt(squares.to_columns(a, a**2, a**2)[1]))


def floors(
    problem: Problem, squares: Squares, rate: float, *, copies: bool = False
) -> tuple[float, ...]:
    """Norms below which a change is rounding.

    Of mean, variance and response of the coefficients; with `copies`, also of variance and
    response of a prediction.
    """
    ones = np.ones((problem.y.size, 1))
    field, precision, _ = (
        rate * part[:, 0] for part in squares.to_columns(problem.y[:, None], ones, ones)
    )
    Q_hat = np.where(precision > 0.0, precision, np.inf)
    alone = np.abs(field) / Q_hat
    sizes = [float(np.linalg.norm(size)) for size in (alone, alone**2, 1.0 / Q_hat)]
    if copies:
        sizes += [float(np.mean(problem.y**2)), 1.0]
    return tuple(_ROUNDING * size + 1e-300 for size in sizes)
