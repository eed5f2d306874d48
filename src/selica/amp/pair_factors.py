r"""The linear model with normal factors in the place of the prior of its coefficients.

A column has a factor :math:`\exp(h w - \lambda w^2 / 2)`. With the ratios :math:`t = 1 / (\lambda
\sigma^2)` of the factors' variances to that of the noise, all that is asked of the model is in

.. math:: B = 1 + \sum_j t_j x_j x_j^T , \qquad T = X^T B^{-1} X .

For tables with fewer rows than columns B is factored only now and then. From round to round most
ratios hardly move: those are kept as they are in the matrix that was factored, and the others are
corrected in it, with their changes d on the diagonal of D,

.. math:: T - T_{\cdot A} (1 + D T_{AA})^{-1} D \, T_{A \cdot} .

So a round is exact for the ratios that it has, which are near to those that were asked for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas, lapack, solve_triangular

from selica._core.types import Array, IntArray

KNOWN = 0.99
"""A column whose coefficient the data know to this share, N, is computed in double precision."""
CORRECTED = 1.0 / 3.0
"""Columns that are corrected, at most, as a share of the rows."""
MAGNIFIED = 100.0
"""A correction that makes errors of rounding larger by more than this is not made: ratios fall that
nearly all of B stood on, in some direction."""
FEWEST_ROWS = 100
"""Smaller matrices are factored in every round."""
PANEL = 64
"""Rows of a triangle that are inverted at once."""


class PairMeans(NamedTuple):
    """The normal distribution of the coefficients, in units of their factors."""

    blocks: Array
    """(p, V, V): blocks of N, the versions of each column."""
    pull: Array
    """(V p,): e."""
    residual: Array
    """(n,): response minus the fit by the means."""


class PairModel(ABC):
    """The linear model with normal factors in the place of the prior.

    Parameters
    ----------
    X : array of shape (n, V p)
    response : array of shape (n,)
    versions : int
    """

    def __init__(self, X: Array, response: Array, versions: int) -> None:
        self.X, self.response, self.versions = X, response, versions
        self.p = X.shape[1] // versions
        self.square = float(np.einsum("np,np->", X, X)) / X.size
        """Mean square of the entries."""

    @abstractmethod
    def ridge(self, ratio: float) -> tuple[float, float]:
        """Return what the likelihood of normal coefficients has in it.

        Parameters
        ----------
        ratio : float
            Variance of each coefficient, over that of the noise.

        Returns
        -------
        float
            Half the logarithm of the determinant of the response's covariance over the noise.
        float
            Square of the response in units of this matrix.
        """

    @abstractmethod
    def kept(self, ratio: Array, share: float) -> Array:
        """Return ratios that are easy to solve for, near to those that are wanted.

        Parameters
        ----------
        ratio : array of shape (V p,)
        share : float
            Share of what the data know, of one coefficient and of all together, that may be lost
            or added by the difference.
        """

    @abstractmethod
    def solve(self, ratio: Array, shift: Array, noise: float) -> PairMeans:
        """Return the means for ratios of factors, the shift in units of the factors."""


class WideModel(PairModel):
    """Tables with fewer rows than columns: matrices of the rows.

    What costs most has single precision; columns that are nearly known are computed again.
    """

    def __init__(self, X: Array, response: Array, versions: int) -> None:
        super().__init__(X, response, versions)
        self._single: Any = X.astype(np.float32)
        self._gram = np.asarray(self._single @ self._single.T, dtype=float)
        self._base: _Base | None = None

    def ridge(self, ratio: float) -> tuple[float, float]:
        """Return what the likelihood of normal coefficients has in it."""
        half = _factor(ratio * self._gram)
        seen = solve_triangular(half, self.response, lower=True, check_finite=False)
        return float(np.log(np.diag(half)).sum()), float(seen @ seen)

    def kept(self, ratio: Array, share: float) -> Array:
        """Return the ratios with those of the last matrix that was factored where it may be."""
        if self._base is None or len(self.X) < FEWEST_ROWS:
            return ratio
        return self._base.kept(ratio, share)

    def solve(self, ratio: Array, shift: Array, noise: float) -> PairMeans:
        """Return the means for ratios of factors."""
        if self._base is None or not self._base.follows(ratio):
            self._base = _Base(self._matrix(ratio), self.X, self._single, ratio, self.versions)
        base, size = self._base, np.sqrt(ratio * noise)
        back = base.solved(self.response - self.X @ (shift * size))
        return PairMeans(base.known_blocks(ratio), (self.X.T @ back) * (size / noise), back)

    def _matrix(self, ratio: Array) -> Array:
        """Return the sum over the columns, without the identity."""
        if np.all(ratio == ratio[0]):
            return np.asarray(self._gram * ratio[0])
        scaled = self._single * np.sqrt(ratio).astype(np.float32)
        return np.asarray(scaled @ scaled.T, dtype=float)


class _Base:
    """B for some ratios, factored, and T for ratios that differ from them in a few columns.

    Parameters
    ----------
    matrix : array of shape (n, n)
        B without the identity; it is overwritten.
    X : array of shape (n, V p)
    single : array of shape (n, V p)
        X in single precision.
    ratio : array of shape (V p,)
    versions : int
    """

    def __init__(self, matrix: Array, X: Array, single: Any, ratio: Array, versions: int) -> None:
        self.X, self.ratio, self.versions = X, ratio.copy(), versions
        self._half = _factor(matrix)
        self._white = _whitened(self._half, single)
        parts = np.split(self._white.T, versions)
        self._blocks = _products(parts, parts, "pn,pn->p")
        self._inner = np.einsum("pkk->kp", self._blocks).ravel()
        self._most = int(CORRECTED * len(X))
        self._columns: IntArray = np.empty(0, dtype=int)
        self._exact: Array = np.empty((len(X), 0))
        """(n, k): the columns that are corrected, over the factor."""
        self._rows: Any = np.empty((0, X.shape[1]), dtype=np.float32)
        """(k, V p): rows of T."""
        self._weight: Array = np.empty((0, 0))
        """(k, k): what is between the rows in the correction."""
        self._now, self._sound = ratio.copy(), True
        """(V p,): the ratios that the correction is for, and whether it keeps enough digits."""

    def kept(self, ratio: Array, share: float) -> Array:
        """Return ratios that differ from those of the base where it matters.

        All are as they are wanted if this is too much for a correction.
        """
        change = np.abs(ratio - self.ratio) * self._inner
        ranked = np.sort(change)
        few = np.cumsum(ranked) <= share * float(self.ratio @ self._inner)
        moved = change > min(float(ranked[few].max(initial=0.0)), share)
        moved[self._columns] = True
        near = np.where(moved, ratio, self.ratio)
        return near if self.follows(near) else ratio

    def follows(self, ratio: Array) -> bool:
        """Correct the columns whose ratios differ; return whether it can be done."""
        if np.array_equal(ratio, self._now):
            return self._sound
        moved = np.flatnonzero(ratio != self.ratio)
        if moved.size > self._most:
            return False
        new = np.setdiff1d(moved, self._columns)
        if new.size:
            self._columns = np.concatenate([self._columns, new])
            more = blas.dtrsm(1.0, self._half, self.X[:, new], lower=1)
            self._exact = np.concatenate([self._exact, more], axis=1)
            self._rows = np.concatenate([self._rows, self._white[:, new].T @ self._white])
        change = (ratio - self.ratio)[self._columns]
        inner = self._exact.T @ self._exact
        matrix = np.eye(change.size) + change[:, None] * inner
        self._weight = np.asarray(np.linalg.solve(matrix, np.diag(change)), dtype=float)
        self._now = ratio.copy()
        self._sound = bool(np.all(np.diag(self._weight) * np.diag(inner) > -MAGNIFIED))
        return self._sound

    def solved(self, right: Array) -> Array:
        """Return the inverse of B times a vector."""
        seen = solve_triangular(self._half, right, lower=True, check_finite=False)
        seen -= self._exact @ (self._weight @ (self._exact.T @ seen))
        return np.asarray(
            solve_triangular(self._half, seen, lower=True, trans="T", check_finite=False)
        )

    def known_blocks(self, ratio: Array) -> Array:
        """Return the blocks of N."""
        size = np.sqrt(ratio).reshape(self.versions, -1)
        scale = np.einsum("kp,lp->pkl", size, size)
        found = self._blocks
        if self._columns.size:
            parts = np.split(self._rows, self.versions, axis=1)
            others = np.split(self._weight.astype(np.float32) @ self._rows, self.versions, axis=1)
            found = found - _products(parts, others, "kp,kp->p")
        blocks = np.asarray(scale * found)
        known = np.einsum("pkk->pk", blocks).max(axis=1) > KNOWN
        if known.any():
            blocks[known] = scale[known] * self._double(np.flatnonzero(np.tile(known, len(size))))
        return blocks

    def _double(self, use: IntArray) -> Array:
        """Return blocks of T in double precision, for all versions of some columns."""
        white = blas.dtrsm(1.0, self._half, self.X[:, use], lower=1)
        inner = self._exact.T @ white
        parts, rows = np.split(white.T, self.versions), np.split(inner, self.versions, axis=1)
        others = np.split(self._weight @ inner, self.versions, axis=1)
        return _products(parts, parts, "pn,pn->p") - _products(rows, others, "kp,kp->p")


class TallModel(PairModel):
    """Tables with at least as many rows as columns: matrices of the columns."""

    def __init__(self, X: Array, response: Array, versions: int) -> None:
        super().__init__(X, response, versions)
        self._gram, self._inner = X.T @ X, X.T @ response

    def ridge(self, ratio: float) -> tuple[float, float]:
        """Return what the likelihood of normal coefficients has in it."""
        half = _factor(ratio * self._gram)
        seen = solve_triangular(half, self._inner, lower=True, check_finite=False)
        square = float(self.response @ self.response) - ratio * float(seen @ seen)
        return float(np.log(np.diag(half)).sum()), max(square, 0.0)

    def kept(self, ratio: Array, share: float) -> Array:
        """Return the ratios as they are: every round factors its matrix."""
        return ratio

    def solve(self, ratio: Array, shift: Array, noise: float) -> PairMeans:
        """Return the means for ratios of factors."""
        root = np.sqrt(ratio)
        matrix = self._gram * root
        matrix *= root[:, None]
        right = self._inner * (root / np.sqrt(noise)) - matrix @ shift
        half = _factor(matrix)
        inverse, _ = lapack.dpotri(half, lower=1)
        each = inverse.reshape(self.versions, self.p, self.versions, self.p)
        lower = np.tril(np.einsum("kplp->pkl", each))
        full = lower + np.swapaxes(np.tril(lower, -1), 1, 2)
        seen = solve_triangular(half, right, lower=True, check_finite=False)
        pull = solve_triangular(half, seen, lower=True, trans="T", check_finite=False)
        residual = self.response - self.X @ ((shift + pull) * (np.sqrt(noise) * root))
        return PairMeans(np.eye(self.versions) - full, pull, residual)


def _factor(matrix: Array) -> Array:
    """Return the lower factor of a matrix, which is overwritten, plus the identity."""
    matrix.flat[:: len(matrix) + 1] += 1.0
    half, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("The matrix is not positive definite.")
    return np.asarray(half)


def _whitened(half: Array, single: Any) -> Any:
    """Return columns over a lower factor, in single precision."""
    return blas.strmm(1.0, _inverted(half.astype(np.float32)), single, lower=1)


def _inverted(half: Any) -> Any:
    """Return the inverse of a lower factor, by products of its parts."""
    size = len(half)
    if size <= PANEL:
        return lapack.strtri(half, lower=1)[0]
    cut = size // 2
    first, last = _inverted(half[:cut, :cut]), _inverted(half[cut:, cut:])
    out = np.zeros_like(half, order="F")
    out[:cut, :cut], out[cut:, cut:] = first, last
    out[cut:, :cut] = -last @ (half[cut:, :cut] @ first)
    return out


def _products(first: list[Any], second: list[Any], sum_over: str) -> Array:
    """Return the symmetric blocks of products of the versions' parts, (p, V, V)."""
    table = [[np.einsum(sum_over, a, b) for b in second[: k + 1]] for k, a in enumerate(first)]
    out = np.empty((table[0][0].size, len(first), len(first)))
    for k, row in enumerate(table):
        for j, one in enumerate(row):
            out[:, k, j] = out[:, j, k] = one
    return out
