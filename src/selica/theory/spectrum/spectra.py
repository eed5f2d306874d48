r"""Distributions of the eigenvalues of X'X, for designs whose singular vectors point anywhere.

A spectrum is a list of eigenvalues with weights, N of them in all, those that are zero included.
Spectra with a density come as quadrature nodes that are exact to rounding for every average of the
theory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.quadrature import panels
from selica._core.types import Array
from selica._core.validation import LARGEST, count, number, real

_QUADRATURE_ORDER = 16
"""Gauss-Legendre nodes of a panel."""
_PANEL_HALVINGS = 44  # panels shrink by half towards an end near which averages may have a pole
_WEIGHT_TOLERANCE = 1e-9  # of weights that add up to one
_MOST_COLUMNS = 10**8  # an eigenvalue is kept for each


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Spectrum:
    """Distribution of the eigenvalues of X'X; use one of the constructors.

    The unit is that of X: with rows of mean squared length one, as the model has them, the mean
    eigenvalue is alpha = M/N.

    Attributes
    ----------
    values, weights : array of shape (n,)
        Non-negative eigenvalues, and their shares among the N, which add up to one.
    name : str

    Examples
    --------
    >>> from selica import theory
    >>> theory.Spectrum.row_orthogonal(0.5)
    Spectrum(row-orthogonal, 2 nodes, mean=0.5, rank=0.5)
    """

    values: Array
    weights: Array
    name: str = field(default="given")

    def __post_init__(self) -> None:
        values = real("values", self.values, at_least=0.0, at_most=LARGEST, copy=False)
        weights = real("weights", self.weights, at_least=0.0, at_most=1.0, copy=False)
        if values.ndim != 1 or weights.shape != values.shape:
            raise ArgumentError(
                "values and weights must be vectors of one length; got shapes "
                f"{values.shape} and {weights.shape}."
            )
        if abs(float(weights.sum()) - 1.0) > _WEIGHT_TOLERANCE:
            raise ArgumentError(f"weights must add up to one; got {weights.sum():g}.")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "weights", weights)

    @classmethod
    def of_eigenvalues(cls, values: ArrayLike) -> Spectrum:
        """Build a spectrum from the eigenvalues of one matrix X'X, all N of them.

        Examples
        --------
        >>> import numpy as np
        >>> from selica import theory
        >>> X = np.random.default_rng(0).standard_normal((30, 50)) / np.sqrt(50)
        >>> theory.Spectrum.of_eigenvalues(np.linalg.eigvalsh(X.T @ X))
        Spectrum(given, 50 nodes, mean=0.5871, rank=0.6)
        """
        value = np.ravel(real("values", values, at_least=-LARGEST, at_most=LARGEST))
        top = float(np.abs(value).max())
        if top == 0.0:
            raise ArgumentError("values must not all be zero.")
        if value.min() < -1e-8 * top:
            raise ArgumentError(f"values must be non-negative; got {value.min():g}.")
        # what a numerical eigenvalue of a rank-deficient matrix is worth
        value = np.where(value < 1e-12 * top, 0.0, value)
        return cls(value, np.full(value.size, 1.0 / value.size))

    @classmethod
    def of_singular_values(cls, values: ArrayLike, n_features: int) -> Spectrum:
        """Build a spectrum from the singular values of one X with so many columns.

        Examples
        --------
        >>> from selica import theory
        >>> theory.Spectrum.of_singular_values([1.0, 1.0], n_features=4)
        Spectrum(given, 4 nodes, mean=0.5, rank=0.5)
        """
        value = np.ravel(real("values", values, at_least=0.0, at_most=np.sqrt(LARGEST)))
        columns = count("n_features", n_features, at_most=_MOST_COLUMNS)
        if value.size > columns:
            extra = np.sort(value)[: value.size - columns]
            if extra.max() > 1e-6 * value.max():
                raise ArgumentError(
                    f"values must be at most n_features = {columns} non-zero ones; "
                    f"got {value.size}."
                )
            value = np.sort(value)[-columns:]
        return cls.of_eigenvalues(np.concatenate([value**2, np.zeros(columns - value.size)]))

    @classmethod
    def marchenko_pastur(cls, alpha: float) -> Spectrum:
        """Build the spectrum of independent entries of variance 1/N, the design of the article.

        Examples
        --------
        >>> from selica import theory
        >>> theory.Spectrum.marchenko_pastur(2.0)
        Spectrum(Marchenko-Pastur, 720 nodes, mean=2, rank=1)
        """
        ratio = number("alpha", alpha, at_least=1.0 / LARGEST, at_most=LARGEST)
        root = np.sqrt(ratio)
        # L = 1 + alpha - 2 sqrt(alpha) cos(t): the density is smooth in t up to a pole near t = 0
        t, width = _towards_zero(np.pi)
        value = (1.0 - root) ** 2 + 4.0 * root * np.sin(0.5 * t) ** 2
        weight = width * 2.0 * ratio * np.sin(t) ** 2 / (np.pi * value)
        weight *= min(1.0, ratio) / weight.sum()
        return cls._with_zeros(value, weight, "Marchenko-Pastur")

    @classmethod
    def row_orthogonal(cls, alpha: float) -> Spectrum:
        """Build the spectrum of orthonormal rows, of which there are at most N.

        Examples
        --------
        >>> from selica import theory
        >>> theory.Spectrum.row_orthogonal(0.25)
        Spectrum(row-orthogonal, 2 nodes, mean=0.25, rank=0.25)
        """
        ratio = number("alpha", alpha, at_least=1.0 / LARGEST, at_most=1.0)
        return cls._with_zeros(np.ones(1), np.full(1, ratio), "row-orthogonal")

    @classmethod
    def geometric(cls, alpha: float, condition: float) -> Spectrum:
        """Build a spectrum of singular values in geometric progression, with this ratio of ends.

        The squared length of the rows is one on average.

        Examples
        --------
        >>> from selica import theory
        >>> theory.Spectrum.geometric(0.5, condition=100)
        Spectrum(geometric, 161 nodes, mean=0.5, rank=0.5)
        """
        ratio = number("alpha", alpha, at_least=1.0 / LARGEST, at_most=LARGEST)
        spread = number("condition", condition, at_least=1.0, at_most=1e12)
        # log L is uniform; panels of at most one e-folding
        pieces = max(1, int(np.ceil(2.0 * np.log(spread))))
        share, width = panels(np.linspace(0.0, 1.0, pieces + 1), _QUADRATURE_ORDER)
        value, weight = spread ** (-2.0 * share), width * min(1.0, ratio)
        return cls._with_zeros(value * ratio / (weight @ value), weight, "geometric")

    @classmethod
    def _with_zeros(cls, value: Array, weight: Array, name: str) -> Spectrum:
        empty = 1.0 - float(weight.sum())
        if empty > 1e-12:
            value, weight = np.concatenate([value, [0.0]]), np.concatenate([weight, [empty]])
        return cls(value, weight, name)

    @property
    def mean(self) -> float:
        """Mean eigenvalue: alpha times the mean squared length of a row."""
        return float(self.weights @ self.values)

    @property
    def rank(self) -> float:
        """Share of eigenvalues that are not zero."""
        return min(float(self.weights[self.values > 0.0].sum()), 1.0)

    def __repr__(self) -> str:
        return (
            f"Spectrum({self.name}, {self.values.size} nodes, mean={self.mean:.4g}, "
            f"rank={self.rank:.4g})"
        )


def _towards_zero(end: float) -> tuple[Array, Array]:
    """Return Gauss-Legendre nodes on (0, end) in panels that halve towards zero."""
    edges = np.concatenate([[0.0], end * 2.0 ** np.arange(-_PANEL_HALVINGS, 1.0)])
    return panels(edges, _QUADRATURE_ORDER)
