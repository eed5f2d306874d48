r"""Gaussian knockoffs for a known mean and covariance.

Given X the copy is :math:`\tilde X \sim N(X - (X - \mu)\Sigma^{-1}S,\ 2S - S\Sigma^{-1}S)`
(Candes, Fan, Janson and Lv 2018), so that :math:`(X, \tilde X)` has mean :math:`(\mu, \mu)` and
covariance :math:`\Sigma` in the diagonal blocks, :math:`\Sigma - S` off them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, eigh

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import real
from selica.sampling.checks import matrix, standardised, symmetric
from selica.sampling.copies import Copies, draw_copies
from selica.sampling.random import RandomState
from selica.sampling.s_matrices import check_method, unit_s


class GaussianKnockoffs:
    """Model-X knockoffs of Gaussian variables whose mean and covariance are known.

    Parameters
    ----------
    mean : float or array of shape (p,)
        Mean of the variables.
    covariance : array of shape (p, p)
        Their covariance; positive definite. A covariance whose correlation matrix has an
        eigenvalue below 1e-10 is refused: the variables it ties together have no knockoff but
        themselves.
    method : {"mvr", "maxent", "equi"}
        How S is chosen, see `s_matrix`.

    Attributes
    ----------
    s_ : array of shape (p,)
        Diagonal of S: the covariance of variable j with its copy is covariance[j, j] - s_[j].
    mean, covariance, method
        As given, as arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import GaussianKnockoffs, simulate
    >>> data = simulate(100, 5, 2, r2=0.5, covariance=("ar1", 0.5), random_state=0)
    >>> knockoffs = GaussianKnockoffs(0.0, data.covariance)
    >>> knockoffs
    GaussianKnockoffs(n_features=5, method='mvr')
    >>> knockoffs.sample(data.X, random_state=1).shape
    (100, 5)
    >>> [copy.shape for copy in knockoffs.copies(data.X, random_state=1, members=2)]
    [(100, 5), (100, 5)]
    """

    def __init__(self, mean: ArrayLike, covariance: Any, method: str = "mvr") -> None:
        self.method = check_method(method)
        sd, correlation, smallest = standardised("covariance", covariance)
        self.covariance = symmetric("covariance", covariance)
        self.mean = real("mean", mean)
        if self.mean.shape not in ((), sd.shape):
            raise ArgumentError(
                f"mean must be one number or have one entry for each of the {sd.size} variables; "
                f"got shape {self.mean.shape}."
            )
        self.mean = np.broadcast_to(self.mean, sd.shape).copy()
        s = unit_s(correlation, smallest, self.method)
        self.s_ = s * sd**2
        # in units of the standard deviations: R^-1 S, and a root of 2S - S R^-1 S
        slope = cho_solve(cho_factor(correlation), np.diag(s))
        self._slope = slope / sd[:, None] * sd
        spread = np.diag(2.0 * s) - s[:, None] * slope
        self._root = sd[:, None] * _root(0.5 * (spread + spread.T), self.method)

    @property
    def n_features(self) -> int:
        """Number of variables p."""
        return self.s_.size

    def sample(self, X: ArrayLike, random_state: RandomState | None = None) -> Array:
        """One knockoff copy of X; the first of `copies` with the same seed.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows from N(mean, covariance).
        random_state : None, int, SeedSequence, Generator or RandomState
            Source of the copy.

        Returns
        -------
        array of shape (n, p)
        """
        return self.copies(X, random_state, 1)[0]

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Knockoff copies of X for these members, each drawn when it is asked for.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows from N(mean, covariance).
        random_state : None, int, SeedSequence, Generator or RandomState
            An integer or a SeedSequence gives member b the same copy at every call.
        members : int, slice or array of int
            The first so many members, or their indices.

        Returns
        -------
        Copies
            Indexed and iterated like a list of (n, p) arrays.
        """
        table = matrix("X", X, columns=self.n_features)
        centre = table - (table - self.mean) @ self._slope
        law = GivenData(np.ascontiguousarray(centre.T), self._root)
        return draw_copies(law, random_state, members)

    def __repr__(self) -> str:
        return f"GaussianKnockoffs(n_features={self.n_features}, method={self.method!r})"


@dataclass(frozen=True, slots=True)
class GivenData:
    """Rows N(centre, root root'), columns of the copy stored one after the other."""

    centre: Array
    """Conditional means, shape (p, n)."""
    root: Array

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.centre.shape[1], self.centre.shape[0]

    def draw(self, rng: np.random.Generator) -> Array:
        """One copy, columns contiguous in memory."""
        copy = self.root @ rng.standard_normal(self.centre.shape)
        copy += self.centre
        return copy.T


def _root(spread: Array, method: str) -> Array:
    """R with R R' = spread, the conditional covariance."""
    if method != "equi":
        try:
            return np.asarray(cholesky(spread, lower=True))
        except LinAlgError:  # rounding, for nearly singular covariances
            pass
    # "equi" takes S to the edge, where the copy is an exact function of X in one direction
    value, vector = eigh(spread)
    return np.asarray(vector * np.sqrt(np.maximum(value, 0.0)))
