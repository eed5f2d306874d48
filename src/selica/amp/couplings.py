r"""The linear part of vector message passing: variables and rows that see each other through X.

Variables come with Gaussian beliefs of mean :math:`\mu_i` and variance :math:`S_i`, rows with
observations :math:`u_\mu` of their predictors, of precision :math:`D_\mu`. Over the members the
means have variances :math:`\tau_i`, the observations :math:`\sigma_\mu^2`. With

.. math:: M = (D^{-1} + X S X^T)^{-1}, \quad r = M (u - X\mu), \quad m_i = x_i^T M x_i

everything said of a variable or a row by all the *others* has closed forms:

.. math:: \hat Q_i = \frac{m_i}{1 - S_i m_i}, \quad g_i = \frac{m_i\mu_i + x_i^T r}{1 - S_i m_i},
    \quad \chi_\mu = \frac1{M_{\mu\mu}} - \frac1{D_\mu}, \quad
    \omega_\mu = u_\mu - \frac{r_\mu}{M_{\mu\mu}} .

The own mean has no part in :math:`g_i`, nor the own observation in :math:`\omega_\mu`: their
variances over the members are sums of squares over the others, hence never negative.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve, svd

from selica._core.types import Array
from selica._core.validation import choice

FORMS = ("diagonal", "restricted")
"""Ways to keep variances: one for each variable, or one for all."""
# A variable or a row that the others leave undetermined keeps this share of its own.
_LEAST = 1e-10


class Beliefs(NamedTuple):
    """Beliefs about variables (p,) and rows (n,); all but means and observations also (1,)."""

    mu: Array
    S: Array
    tau: Array
    u: Array
    D: Array
    sigma2: Array


class Cavities(NamedTuple):
    """What the others say of a variable (p,) or a row (n,)."""

    g: Array
    v_hat: Array
    """Variance of g over the members."""
    Q_hat: Array
    omega: Array
    v: Array
    """Variance of omega over the members."""
    chi: Array


class Coupling(Protocol):
    """A design, prepared."""

    averaged: bool
    """Whether variances are one number for all variables, and one for all rows."""

    def __call__(self, beliefs: Beliefs) -> Cavities:
        """Return what the others say, given the beliefs."""


class Wide:
    """Fewer rows than variables: one n x n inverse, O(n^2 p)."""

    averaged = False

    def __init__(self, X: Array) -> None:
        self._X = X

    def __call__(self, beliefs: Beliefs) -> Cavities:
        """Return the cavities by M itself."""
        mu, S, tau, u, D, sigma2 = beliefs
        X, root = self._X, np.sqrt(D)
        A = root[:, None] * X * np.sqrt(S)
        M = root[:, None] * _inverse(np.eye(u.size) + A @ A.T) * root
        F = M @ X
        own = np.diagonal(M)
        m = np.einsum("ij,ij->j", X, F)
        B = X * np.sqrt(tau)
        spread = B @ B.T
        spread[np.diag_indices_from(spread)] += sigma2
        sums = Sums(
            M @ (u - X @ mu), m, 1.0 - S * m, own / D,
            spread=np.einsum("ij,ij->j", F, spread @ F) - m**2 * tau,
            rows=np.vecdot(M, M @ spread) - own**2 * sigma2,
        )  # fmt: skip
        return _cavities(X, beliefs, sums)


class Tall:
    """No fewer rows than variables: one p x p inverse, O(n p^2)."""

    averaged = False

    def __init__(self, X: Array) -> None:
        self._X = X

    def __call__(self, beliefs: Beliefs) -> Cavities:
        """Return the cavities by E = (I + S^1/2 X'DX S^1/2)^-1 and N = X'MX."""
        mu, S, tau, u, D, sigma2 = beliefs
        X, root = self._X, np.sqrt(S)
        A, B = np.sqrt(D)[:, None] * X, (D * np.sqrt(sigma2))[:, None] * X
        gram = A.T @ A
        E = _inverse(np.eye(S.size) + root[:, None] * gram * root)
        Xi = root[:, None] * E * root
        N = gram - gram @ Xi @ gram
        H = X @ Xi
        F = D[:, None] * (X - H @ gram)
        leverage = D * np.vecdot(H, X)
        e = u - X @ mu
        m = np.maximum(np.diagonal(N), 0.0)
        others = np.vecdot(H, H @ (B.T @ B))
        sums = Sums(
            D * (e - H @ (X.T @ (D * e))), m, np.diagonal(E), 1.0 - leverage,
            spread=(N**2) @ tau - np.diagonal(N) ** 2 * tau + (F**2).T @ sigma2,
            rows=(F**2) @ tau + D**2 * others - (leverage * D) ** 2 * sigma2,
        )  # fmt: skip
        return _cavities(X, beliefs, sums)


class Rotated:
    """Singular vectors in general position: one decomposition, then O(n p)."""

    averaged = True

    def __init__(self, X: Array) -> None:
        self._X = X
        self._U, s, _ = svd(X, full_matrices=False, check_finite=False)
        self._s2 = s**2

    def __call__(self, beliefs: Beliefs) -> Cavities:
        """Return the cavities by averages over the singular values."""
        mu, S, tau, u, D, sigma2 = beliefs
        n, p, s2 = *self._X.shape, self._s2
        shrink = 1.0 / (1.0 + s2 * S * D)
        e = u - self._X @ mu
        r = D * (e - self._U @ ((1.0 - shrink) * (self._U.T @ e)))
        N = s2 * D * shrink
        m = np.atleast_1d(N.sum() / p)
        leverage = np.atleast_1d(np.sum(1.0 - shrink) / n)
        M2 = (np.sum((D * shrink) ** 2) + (n - s2.size) * D**2) / n
        sums = Sums(
            r, m, 1.0 - S * m, 1.0 - leverage,
            spread=(np.sum(N**2) / p - m**2) * tau + np.sum(N * D * shrink) / p * sigma2,
            rows=np.sum(N * D * shrink) / n * tau + (M2 - (D * (1.0 - leverage)) ** 2) * sigma2,
        )  # fmt: skip
        return _cavities(self._X, beliefs, sums)


def coupling_of(X: Array, form: str) -> Coupling:
    """Return the coupling by the form of the variances."""
    if choice("form", form, FORMS) == "restricted":
        return Rotated(X)
    return Wide(X) if X.shape[0] < X.shape[1] else Tall(X)


class Sums(NamedTuple):
    """Sums over all variables and rows, of which the own part has still to be divided out."""

    r: Array
    """M (u - X mu), (n,)."""
    m: Array
    """Diagonal of X'MX, (p,)."""
    free: Array
    """1 - S m, (p,)."""
    kept: Array
    """M_{mu mu} / D, (n,)."""
    spread: Array
    """Variance over the members that the others give a field, (p,)."""
    rows: Array
    """And a predictor, (n,)."""


def _cavities(X: Array, b: Beliefs, sums: Sums) -> Cavities:
    """Return what the others say of a variable or a row."""
    free, kept = np.maximum(sums.free, _LEAST), np.clip(sums.kept, _LEAST, 1.0)
    own = kept * b.D
    return Cavities(
        (sums.m * b.mu + X.T @ sums.r) / free, np.maximum(sums.spread, 0.0) / free**2,
        sums.m / free, b.u - sums.r / own, np.maximum(sums.rows, 0.0) / own**2, (1.0 - kept) / own,
    )  # fmt: skip


def _inverse(matrix: Array) -> Array:
    """Return the inverse of a matrix with eigenvalues of at least one; NaN if it overflowed."""
    try:
        factor = cho_factor(matrix, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return np.full(matrix.shape, np.nan)
    return np.asarray(cho_solve(factor, np.eye(matrix.shape[0]), check_finite=False))
