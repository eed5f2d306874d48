"""Products with a design and with its squared entries, exactly or by its margins."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np

from selica._core.types import Array
from selica._core.validation import choice
from selica.amp.kernels import across, along, pack, unpack
from selica.amp.loop import State
from selica.amp.problem import MessageProblem

VARIANCES = ("vector", "scalar")
"""Variances for each variable and row, or one number for all."""
# What a change is compared with, at least, as a share of the fields without any fit.
_ROUNDING = 1e-6
# Up to so many penalties, reading the design once for each is faster than three matrix products.
_FEW = 4
# Tolerances that rounding in single precision is well below.
_SINGLE = 1e-6

Triple = tuple[Array, Array, Array]


class Squares(Protocol):
    """A design with the matrix of its squared entries."""

    def to_rows(self, mean: Array, one: Array, two: Array) -> Triple:
        """Return X mean, and sum_i X_{mu i}^2 values_i for both others, (p, L) -> (n, L)."""

    def to_columns(self, mean: Array, one: Array, two: Array) -> Triple:
        """Return X' mean, and sum_mu X_{mu i}^2 values_mu for both others, (n, L) -> (p, L)."""

    def sums(self, values: Array) -> Array:
        """Return sum_mu X_{mu i}^2 values_mu, (n, L) -> (p, L)."""


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
    def _square(self) -> tuple[Array, Array, Array]:
        """Mean squares of the columns, (p,), ones for the rows, squares divided by those means."""
        mean = np.einsum("ij,ij->j", self._X, self._X) / self._X.shape[0]
        inverse = 1.0 / np.sqrt(np.where(mean > 0.0, mean, 1.0))
        square = np.empty_like(self._X, dtype=self._type)
        np.multiply(self._X, inverse, out=square, casting="same_kind")
        return mean, np.ones(self._X.shape[0]), np.square(square, out=square)

    def to_rows(self, mean: Array, one: Array, two: Array) -> Triple:
        """Read X once for each penalty, or multiply matrices where there are many."""
        if mean.shape[1] <= _FEW:
            return _by_kernels(self._X, mean, one, two)
        scale, ones, square = self._square
        first, second = _sums(square, scale, ones, (one, two))
        return self._X @ mean, first, second

    def to_columns(self, mean: Array, one: Array, two: Array) -> Triple:
        """Read X once for each penalty, as `to_rows` does."""
        if mean.shape[1] <= _FEW:
            return _by_kernels(self._X.T, mean, one, two)
        scale, ones, square = self._square
        first, second = _sums(square.T, ones, scale, (one, two))
        return self._X.T @ mean, first, second

    def sums(self, values: Array) -> Array:
        """Return one of the sums of squares of `to_columns`."""
        if values.shape[1] <= _FEW:
            return _by_kernels(self._X.T, values, values, values)[1]
        scale, ones, square = self._square
        return np.asarray(_sums(square.T, ones, scale, (values,))[0])


def _sums(square: Array, inner: Array, outer: Array, parts: tuple[Array, ...]) -> Array:
    """Return outer * (square @ (inner * part)) for all parts, in one product of unit columns."""
    L = parts[0].shape[1]
    both = np.empty((inner.size, len(parts) * L), dtype=square.dtype)
    size, out = np.empty((len(parts), L)), np.empty((len(parts), outer.size, L))
    pack(parts, inner, both, size)
    unpack(square @ both, outer, size, out)
    return out


def _by_kernels(A: Array, mean: Array, one: Array, two: Array) -> Triple:
    in_rows = A.flags.c_contiguous
    out = along(A, mean, one, two) if in_rows else across(A.T, mean, one, two)
    return out[0], out[1], out[2]


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
        """Sum over the columns, shared out to the rows."""
        each = (self._rows * np.sum(self._columns * part, axis=0) for part in (one, two))
        return self._X @ mean, *each

    def to_columns(self, mean: Array, one: Array, two: Array) -> Triple:
        """Sum over the rows, shared out to the columns."""
        return self._X.T @ mean, self.sums(one), self.sums(two)

    def sums(self, values: Array) -> Array:
        """Return one of the sums of squares of `to_columns`."""
        return np.asarray(self._columns * np.sum(self._rows * values, axis=0))


def squares_of(problem: MessageProblem, variances: str) -> Squares:
    """Return the form of the variances by name."""
    if choice("variances", variances, VARIANCES) == "scalar":
        return Margins(problem.X)
    return Entries(problem.X, single=problem.tol >= _SINGLE)


def noise_of(squares: Squares, a: Array) -> Array:
    """Return the standard deviation of the fields for residuals that are independent, (p, L)."""
    return np.asarray(np.sqrt(squares.sums(a**2)))


def floors(start: State, y: Array) -> tuple[float, ...]:
    """Return norms below which a change is rounding, of the damped parts of a state.

    Those of the fields without any fit; only their variance over the members, which may be nothing
    then, is compared with what the squares of the responses would give.
    """
    g, _, Q_hat, *sums = start
    parts = [g, np.mean(y**2) * Q_hat, Q_hat, *sums]
    return tuple(_ROUNDING * float(np.linalg.norm(part)) + 1e-300 for part in parts)
