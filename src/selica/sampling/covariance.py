"""Covariances of synthetic designs: drawn, and used, without the p x p matrix where possible."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, block_diag, cholesky, eigh

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import count, number, short
from selica.sampling.checks import symmetric

_ROUNDING = 1e-8
"""Negative eigenvalues of a given matrix that count as rounding, as a share of the largest."""

FORMS = (
    '"identity", ("ar1", r), ("equicorrelated", r), ("block", r, size), ("factor", k, strength) '
    "or a matrix"
)


class Covariance(ABC):
    """Covariance of the rows of a design; `numpy.asarray` makes the (p, p) matrix of it.

    Parameters
    ----------
    n_features : int
        Number of variables p.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> covariance = simulate(10, 3, 1, snr=1.0, covariance=("ar1", 0.5), random_state=0).covariance
    >>> np.asarray(covariance).tolist()
    [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    """

    __slots__ = ()
    n_features: int

    @property
    def n_white(self) -> int:
        """Number of independent variables that one row is made of."""
        return self.n_features

    @abstractmethod
    def colour(self, white: Array) -> Array:
        """Return (p, n) correlated variables from (n_white, n) white ones, which it may overwrite.

        White variables of unit variance and any distribution become variables of this covariance.
        """

    @abstractmethod
    def variance_of(self, coef: Array) -> float:
        """Return the variance coef' Sigma coef of the combination x . coef."""

    @abstractmethod
    def matrix(self) -> Array:
        """Return the (p, p) matrix itself."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.matrix(), dtype=dtype)


@dataclass(frozen=True, slots=True)
class Scaled(Covariance):
    """Another covariance times a number."""

    base: Covariance
    factor: float

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of variables p."""
        return self.base.n_features

    @property
    def n_white(self) -> int:
        """Number of independent variables that one row is made of."""
        return self.base.n_white

    def colour(self, white: Array) -> Array:
        """Return (p, n) variables of this covariance from white ones."""
        out = self.base.colour(white)
        out *= np.sqrt(self.factor)
        return out

    def variance_of(self, coef: Array) -> float:
        """Return the variance of x . coef."""
        return self.factor * self.base.variance_of(coef)

    def matrix(self) -> Array:
        """Return the (p, p) matrix itself."""
        return self.factor * self.base.matrix()


@dataclass(frozen=True, slots=True)
class Autoregressive(Covariance):
    """Sigma_ij = r^|i - j|."""

    n_features: int
    r: float

    def colour(self, white: Array) -> Array:
        """Return x_j = r x_{j-1} + sqrt(1 - r^2) z_j."""
        white[1:] *= np.sqrt(1.0 - self.r**2)
        for before, here in pairwise(white):
            here += self.r * before
        return white

    def variance_of(self, coef: Array) -> float:
        """Return the variance of x . coef, by the recursion of the weighted past."""
        past, total = 0.0, 0.0
        for c in coef.tolist():
            total += c * (c + 2.0 * past)
            past = self.r * (past + c)
        return max(0.0, total)

    def matrix(self) -> Array:
        """Return the (p, p) matrix itself."""
        i = np.arange(self.n_features)
        return np.asarray(self.r ** np.abs(np.subtract.outer(i, i)).astype(float))


@dataclass(frozen=True, slots=True)
class Blocks(Covariance):
    """Correlation r inside consecutive blocks; the last block may be smaller."""

    n_features: int
    r: float
    size: int

    def colour(self, white: Array) -> Array:
        """Return a z + b sum(z) in each block: the symmetric root of (1 - r) I + r 11'."""
        if self.size == 1 or self.r == 0.0:
            return white
        full = self.n_features - self.n_features % self.size
        if full:
            self._colour(white[:full].reshape(-1, self.size, white.shape[1]))
        if full < self.n_features:
            self._colour(white[None, full:])
        return white

    def _colour(self, blocks: Array) -> None:
        size = blocks.shape[1]
        a = np.sqrt(1.0 - self.r)
        b = (np.sqrt(max(0.0, 1.0 + (size - 1) * self.r)) - a) / size
        shift = b * blocks.sum(axis=1, keepdims=True)
        blocks *= a
        blocks += shift

    def variance_of(self, coef: Array) -> float:
        """Return the variance of x . coef."""
        total = np.add.reduceat(coef, np.arange(0, self.n_features, self.size))
        return max(0.0, float((1.0 - self.r) * (coef @ coef) + self.r * (total @ total)))

    def matrix(self) -> Array:
        """Return the (p, p) matrix itself."""
        sizes = np.diff([*range(0, self.n_features, self.size), self.n_features])
        out = block_diag(*(np.full((k, k), self.r) for k in sizes))
        np.fill_diagonal(out, 1.0)
        return np.asarray(out)


@dataclass(frozen=True, slots=True)
class Factors(Covariance):
    """x = sqrt(strength) Lambda f + sqrt(1 - strength) z, rows of Lambda of unit length."""

    loadings: Array
    strength: float

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of variables p."""
        return int(self.loadings.shape[0])

    @property
    def n_white(self) -> int:
        """The variables' own parts and the factors."""
        return sum(self.loadings.shape)

    def colour(self, white: Array) -> Array:
        """Return (p, n) variables of this covariance from white ones."""
        own, factor = white[: self.n_features], white[self.n_features :]
        own *= np.sqrt(1.0 - self.strength)
        own += self.loadings @ (np.sqrt(self.strength) * factor)
        return own

    def variance_of(self, coef: Array) -> float:
        """Return the variance of x . coef."""
        load = coef @ self.loadings
        return float((1.0 - self.strength) * (coef @ coef) + self.strength * (load @ load))

    def matrix(self) -> Array:
        """Return the (p, p) matrix itself."""
        out = self.strength * (self.loadings @ self.loadings.T)
        np.fill_diagonal(out, 1.0)
        return np.asarray(out)


@dataclass(frozen=True, slots=True, repr=False)
class Given(Covariance):
    """A matrix with a root: sigma = root root'."""

    sigma: Array
    root: Array

    def __repr__(self) -> str:
        return f"Given({self.n_features} x {self.n_features})"

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Number of variables p."""
        return int(self.sigma.shape[0])

    def colour(self, white: Array) -> Array:
        """Return (p, n) variables of this covariance from white ones."""
        return np.asarray(self.root @ white)

    def variance_of(self, coef: Array) -> float:
        """Return the variance of x . coef."""
        return max(0.0, float(coef @ self.sigma @ coef))

    def matrix(self) -> Array:
        """Return the (p, p) matrix itself."""
        return self.sigma.copy()


def parse_covariance(value: Any, p: int, rng: np.random.Generator) -> Covariance:
    """Return the covariance of p variables that `value` stands for; `rng` draws factor loadings."""
    if isinstance(value, Covariance):
        if value.n_features != p:
            raise ArgumentError(f"covariance must be of {p} variables; got {value.n_features}.")
        return value
    if isinstance(value, str):
        value = (value,)
    if not (isinstance(value, tuple | list) and value and isinstance(value[0], str)):
        return _given(value, p)
    match value:
        case ("identity",):
            return Blocks(p, 0.0, 1)
        case ("ar1", r):
            return Autoregressive(p, _correlation(r, below=-1.0, strict=True))
        case ("equicorrelated", r):
            return Blocks(p, _correlation(r, below=-1.0 / max(1, p - 1)), p)
        case ("block", r, size):
            size = min(p, count("covariance: the size of a block", size))
            return Blocks(p, _correlation(r, below=-1.0 / max(1, size - 1)), size)
        case ("factor", k, strength):
            k = count("covariance: the number of factors", k)
            name = "covariance: the strength of the factors"
            share = number(name, strength, at_least=0.0, at_most=1.0)
            loadings = rng.standard_normal((p, k))
            loadings /= np.linalg.norm(loadings, axis=1, keepdims=True)
            return Factors(loadings, share)
    raise ArgumentError(f"covariance must be {FORMS}; got {short(value)}.")


def _correlation(r: Any, below: float, *, strict: bool = False) -> float:
    """Return r in [below, 1], or inside it if strict."""
    name = "covariance: the correlation"
    value = number(name, r, at_least=below, at_most=1.0)
    if strict and abs(value) == 1.0:
        raise ArgumentError("covariance: the correlation must be between -1 and 1, ends excluded.")
    return value


def _given(value: Any, p: int) -> Given:
    sigma = symmetric("covariance", value)
    if sigma.shape[0] != p:
        raise ArgumentError(f"covariance must be {p} x {p}; got {sigma.shape[0]} variables.")
    try:
        return Given(sigma, np.asarray(cholesky(sigma, lower=True)))
    except LinAlgError:  # singular, or not a covariance
        eigenvalue, vector = eigh(sigma)
    if eigenvalue[0] < -_ROUNDING * max(eigenvalue[-1], 0.0) or eigenvalue[-1] < 0.0:
        raise ArgumentError(
            f"covariance must be positive semidefinite; its smallest eigenvalue is "
            f"{eigenvalue[0]:.3g}."
        )
    return Given(sigma, np.asarray(vector * np.sqrt(np.maximum(eigenvalue, 0.0))))
