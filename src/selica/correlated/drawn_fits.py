r"""The lasso that stands for a whole data set when rows are N(0, Sigma/N), drawn many times.

With independent columns the large-system limit leaves one variable in a Gaussian field. With a
covariance it leaves all N of them:

.. math:: \hat w = \arg\min_w \tfrac12 w^\top \Sigma w - b^\top w + \theta |w|_1, \qquad
          b = \Sigma w_0 + \Sigma^{1/2}(\sigma \xi + \tau \eta) ,

where xi belongs to the data and eta to one member (docs/correlated.md). With knockoffs the
problem has 2N variables and the covariance of a row and its copy. The matrix is the same for all
draws and at every step of the fixed point, so that each lasso starts from its last solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from selica._core.effects import Effects
from selica._core.errors import ArgumentError, RefusedError
from selica._core.random import child, generator
from selica._core.types import Array
from selica._core.validation import moderate, real
from selica.sampling.checks import standardised
from selica.sampling.covariance import Covariance
from selica.sampling.s_matrices import METHODS as S_METHODS
from selica.sampling.s_matrices import s_matrix

_DATA_KEY = 0
"""Spawn key, below a data set, of its effects and field."""
_MEMBER_KEY = 1
"""Spawn key, below a data set, of its members."""
_DATA_SETS_A_THREAD = 4
"""Data sets that are fitted by one thread, at least."""
_VARIABLES_A_THREAD = 2048
"""Variables of these data sets, if there are so many."""
_PROXIMAL_STEPS = 25
"""Steps that come before the exact solution where nothing is known."""
_ROUNDING = 1e-8
"""How far below zero an S-matrix may leave 2 Sigma - S, as a share of the largest variance."""


@dataclass(frozen=True, slots=True)
class GaussianCopies:
    """Gaussian copies: the mean of a copy is (I - S Sigma^-1) x, its covariance given x root^2."""

    s: Array
    slope: Array
    """Sigma^-1 S."""
    root: Array
    """A root of 2 S - S Sigma^-1 S."""

    @classmethod
    def of(cls, sigma: Array, s: Any) -> GaussianCopies:
        """Return the copies for a covariance and an S-matrix, by name or by its diagonal."""
        standardised("covariance", sigma)
        if isinstance(s, str):
            if s not in S_METHODS:
                raise ArgumentError.choice("s", s, S_METHODS)
            diagonal = s_matrix(sigma, s)
        else:
            diagonal = moderate("s", real("s", s, at_least=0.0))
            if diagonal.shape not in ((), sigma.shape[:1]):
                raise ArgumentError(
                    f"s must be one number or have one entry for each of the {len(sigma)} "
                    f"variables; got shape {diagonal.shape}."
                )
            diagonal = np.broadcast_to(diagonal, sigma.shape[:1])
        slope = np.asarray(cho_solve(cho_factor(sigma), np.diag(diagonal)))
        spread = np.diag(2.0 * diagonal) - diagonal[:, None] * slope
        value, vector = eigh(0.5 * (spread + spread.T))
        if value[0] < -_ROUNDING * float(sigma.diagonal().max()):
            raise ArgumentError("s must leave 2 covariance - S positive semidefinite.")
        # the symmetric root, which does not hang on the signs of the eigenvectors
        root = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
        return cls(diagonal, slope, np.asarray(root))

    def joint(self, sigma: Array) -> Array:
        """Return the covariance of a row and its copy, (2N, 2N)."""
        across = sigma - np.diag(self.s)
        return np.block([[sigma, across], [across, sigma]])

    def seen(self, field: Array) -> Array:
        """Return (..., N) fields of rows with what they are for the copies: (..., 2N)."""
        return np.concatenate([field, field - field @ self.slope], axis=-1)


class Moments(NamedTuple):
    """What data sets say of the order parameters, each of shape (J,)."""

    error: Array
    """Error of the average over members, without noise; unbiased for any number of members."""
    v: Array
    """Variance between members, also unbiased."""
    active: Array
    """Active variables, copies included, for each variable."""


class SingleBody:
    """The N-dimensional lasso for J data sets with K members each, by common random numbers.

    Parameters
    ----------
    covariance : Covariance
    truth : array of shape (J, N)
        Effects of each data set.
    members : int
        K; one is a single fit, without eta.
    seed : SeedSequence or Generator
        With a seed, the numbers of a member do not depend on how many there are; a generator draws
        all of them at once, which is much faster where the problems are small.
    copies : GaussianCopies, optional
        For knockoffs.
    """

    def __init__(
        self,
        covariance: Covariance,
        truth: Array,
        members: int,
        seed: np.random.SeedSequence | np.random.Generator,
        copies: GaussianCopies | None = None,
    ) -> None:
        J, N = truth.shape
        self.truth, self.copies = truth, copies
        self.sigma = np.asarray(covariance)
        self.gram = self.sigma if copies is None else copies.joint(self.sigma)
        n = covariance.n_white
        sizes = (J, members, n, 0 if copies is None else N)
        if isinstance(seed, np.random.Generator):
            xi, eta, copied = _at_once(sizes, seed)
        else:
            xi, eta, copied = _one_by_one(sizes, seed)
        self.length = np.mean(xi**2, axis=1)
        """Mean square of xi in each data set, one on average."""
        self._shared = np.ascontiguousarray(covariance.colour(xi.T.copy()).T)
        self.overlap = np.vecdot(truth, self._shared) / N
        """Of the effects with the field of the data, zero on average."""
        self._copied = None if copies is None else copied @ copies.root.T
        own = covariance.colour(eta.reshape(-1, n).T.copy())
        self._member = np.ascontiguousarray(own.T).reshape(J, members, N)
        self._last: Array | None = None
        self._largest = 0.0

    @property
    def shape(self) -> tuple[int, int]:
        """(data sets, members)."""
        return self._member.shape[0], self._member.shape[1]

    def fit(
        self, theta: float, sigma: float, tau: float, data: int, members: int, *, keep: bool
    ) -> Array:
        """Fit coefficients (data, members, D) of the first data sets and members.

        Parameters
        ----------
        theta, sigma, tau : float
            Penalty, spread of the field of the data and of a member.
        data, members : int
        keep : bool
            Whether the next fit starts from this one.
        """
        from selica._core.parallel import pieces

        start = np.zeros((data, members, len(self.gram)))
        if self._last is not None:
            J, K = (min(a, b) for a, b in zip(self._last.shape[:2], (data, members), strict=True))
            start[:J, :K] = self._last[:J, :K]
            start[:J, K:] = self._last[:J, K - 1 : K]
        b = self._linear(sigma, tau, data, members)
        if self._last is None:
            some = np.abs(b[:, 0]).max(axis=1) > theta  # others are zero
            start[some, 0] = self._about(b[some, 0], theta)
        size = max(_DATA_SETS_A_THREAD, _VARIABLES_A_THREAD // len(self.gram))
        blocks = [slice(j, j + size) for j in range(0, data, size)]
        parts = pieces(solve_block, [(self.gram, b[i], theta, start[i]) for i in blocks], None)
        coef = np.concatenate(parts)
        if keep:
            self._last = coef
        return coef

    def _about(self, b: Array, theta: float) -> Array:
        """Return lassos of (data, D) after some accelerated proximal steps, for all at once.

        They have nearly the active set, which is what an exact solver takes long to find.
        """
        if self._largest == 0.0:
            self._largest = _largest_eigenvalue(self.gram)
        L = self._largest
        w = before = np.zeros(b.shape)
        for step in range(_PROXIMAL_STEPS):
            ahead = w + step / (step + 3.0) * (w - before)
            ahead -= (ahead @ self.gram - b) / L
            before, w = w, np.sign(ahead) * np.maximum(np.abs(ahead) - theta / L, 0.0)
        return np.asarray(w)

    def _linear(self, sigma: float, tau: float, data: int, members: int) -> Array:
        """Return b for each fit, (data, members, D)."""
        field = (self.truth[:data] @ self.sigma + sigma * self._shared[:data])[:, None]
        own = field + tau * self._member[:data, :members]
        if self.copies is None or self._copied is None:
            return np.ascontiguousarray(own)
        both = self.copies.seen(own)
        both[..., own.shape[-1] :] += np.hypot(sigma, tau) * self._copied[:data, :members]
        return both

    def moments(self, coef: Array) -> Moments:
        """Return unbiased moments over the members of each data set."""
        J, K, _ = coef.shape
        N = self.sigma.shape[0]
        own, extra = coef, 0.0
        if self.copies is not None:
            copy = coef[..., N:]
            # what a member adds along the rows, and what it adds off them
            own = coef[..., :N] + copy - copy @ self.copies.slope.T
            extra = np.mean(np.sum((copy @ self.copies.root) ** 2, axis=-1), axis=1) / N
        mean = own.mean(axis=1)
        deviation = mean - self.truth[:J]
        error = np.vecdot(deviation @ self.sigma, deviation) / N
        spread = np.zeros(J)
        if K > 1:
            apart = own - mean[:, None]
            spread = np.sum((apart @ self.sigma) * apart, axis=(1, 2)) / (N * (K - 1))
            error = error - spread / K
        active = np.count_nonzero(coef, axis=2).mean(axis=1) / N
        return Moments(error, spread + extra, active)


def _largest_eigenvalue(gram: Array) -> float:
    top = len(gram) - 1
    return float(eigh(gram, eigvals_only=True, subset_by_index=(top, top))[0])


def _one_by_one(
    sizes: tuple[int, int, int, int], seed: np.random.SeedSequence
) -> tuple[Array, Array, Array]:
    """Draw white fields of the data, of members and of copies, each from a seed of its own."""
    J, members, n, N = sizes
    xi = np.array([generator(child(seed, j, _DATA_KEY, 1)).standard_normal(n) for j in range(J)])
    eta, copied = np.empty((J, members, n)), np.empty((J, members, N))
    for j in range(J):
        for k in range(members):
            rng = generator(child(seed, j, _MEMBER_KEY, k))
            rng.standard_normal(out=eta[j, k])
            rng.standard_normal(out=copied[j, k])
    return xi, eta, copied


def _at_once(
    sizes: tuple[int, int, int, int], rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Draw the same numbers from one generator."""
    J, members, n, N = sizes
    shapes = ((J, n), (J, members, n), (J, members, N))
    xi, eta, copied = (rng.standard_normal(shape) for shape in shapes)
    return xi, eta, copied


def solve_block(gram: Array, b: Array, theta: float, start: Array) -> Array:
    """Solve lassos of some data sets with one Gram matrix, each from its start."""
    from selica.correlated.kernel import solve_members

    coef = np.ascontiguousarray(start)
    failed = solve_members(np.ascontiguousarray(gram), np.ascontiguousarray(b), theta, coef)
    if failed:
        raise RefusedError(
            f"covariance must not be so close to singular: {failed} fits did not converge."
        )
    return coef


def draw_effects(
    law: Effects, rho: float, shape: tuple[int, int], seed: np.random.SeedSequence
) -> Array:
    """Draw effects (J, N): a share rho of each data set, to a whole number on either side."""
    J, N = shape
    truth = np.zeros(shape)
    for j in range(J):
        rng = generator(child(seed, j, _DATA_KEY, 0))
        k = int(rho * N + rng.random())
        truth[j, rng.permutation(N)[:k]] = law.sample(k, rng)
    return truth


def mean_signal(law: Effects, rho: float, sigma: Array) -> float:
    """Return the expectation of w0' Sigma w0 / N for effects of `draw_effects`."""
    N = len(sigma)
    mixture = law.mixture()
    mean = float(mixture.probability @ mixture.mean)
    whole = np.floor(rho * N)
    rest = rho * N - whole
    pairs = (1.0 - rest) * whole * (whole - 1.0) + rest * (whole + 1.0) * whole
    own = float(np.trace(sigma))
    between = (float(sigma.sum()) - own) * pairs / max(N * (N - 1.0), 1.0)
    return float(rho * own + mean**2 * between) / N
