r"""How far a knockoff copy may be from its original: the diagonal matrix S.

Gaussian knockoffs have :math:`\mathrm{Cov}(X_j, \tilde X_j) = \Sigma_{jj} - s_j` and every other
covariance that of X; this needs :math:`S \succeq 0` and :math:`A = 2\Sigma - S \succeq 0`.
The less of a variable the others and the copies give away, the larger the power of a selection
(Spector and Janson 2022).

All methods work on the correlation matrix and scale back: s changes with the units of the
variables as a variance does.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lapack

from selica._core.errors import ConvergenceWarning, RefusedError
from selica._core.types import Array
from selica._core.validation import choice
from selica._core.warning import warn
from selica.sampling.checks import standardised
from selica.sampling.sdp import SDP_GAP, sdp_s

METHODS = ("mvr", "maxent", "sdp", "equi")
# These take S to the edge of what is possible: 2 Sigma - S is singular.
EDGE_METHODS = ("sdp", "equi")

_BLOCK = 64  # columns of the inverse updated one by one between two matrix products
_PASSES = 2  # of coordinate descent: enough to reach the region where Newton steps are long
_MAX_NEWTON = 100
"""Newton steps at most."""
_HALVINGS = 60
"""Halvings of a step at most."""
_GAP = 1e-10  # relative gap at which the last Newton step, which squares it, is taken
_PROMISED_GAP = 1e-8
"""Relative gap up to which s counts as optimal."""


def s_matrix(Sigma: Any, method: str = "mvr") -> Array:
    r"""Return the diagonal of the matrix S of Gaussian knockoffs for a known covariance.

    Parameters
    ----------
    Sigma : array of shape (p, p)
        Covariance of the variables; positive definite.
    method : {"mvr", "maxent", "sdp", "equi"}
        - "mvr": minimum variance-based reconstructability, the smallest
          :math:`\mathrm{Tr}[(2\Sigma - S)^{-1}] + \sum_j 1/s_j`.
        - "maxent": maximum entropy, the largest :math:`\log\det(2\Sigma - S) + \sum_j \log s_j`.
        - "sdp": semidefinite programming, the largest :math:`\sum_j s_j / \Sigma_{jj}`. Of strongly
          correlated variables it may leave some with next to no s_j, and so with no power, in
          favour of others.
        - "equi": the same for all, :math:`s_j = \min(1, 2\lambda_{\min})` times the variance.

    Returns
    -------
    array of shape (p,)
        s, with 0 < s_j <= Sigma_jj; 2 Sigma - S is positive definite ("sdp", "equi": semidefinite
        up to rounding).

    Warns
    -----
    ConvergenceWarning
        If the objective is not within a relative 1e-8 ("sdp": 1e-6) of its optimum.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import s_matrix
    >>> Sigma = 0.5 ** np.abs(np.subtract.outer(range(3), range(3)))
    >>> s_matrix(Sigma, "mvr").round(5)
    array([0.59427, 0.42335, 0.59427])
    >>> s_matrix(Sigma, "sdp").round(5)
    array([1.     , 0.66667, 1.     ])
    >>> s_matrix(Sigma, "equi").round(5)
    array([0.81386, 0.81386, 0.81386])
    """
    method = check_method(method)
    sd, correlation, smallest = standardised("Sigma", Sigma)
    return unit_s(correlation, smallest, method) * sd**2


def check_method(method: object) -> str:
    """Return `method` if there is one of this name."""
    return choice("method", method, METHODS)


def unit_s(correlation: Array, smallest: float, method: str) -> Array:
    """Return s for a correlation matrix with this smallest eigenvalue; warn if it is not optimal.

    Parameters
    ----------
    correlation : array of shape (p, p)
    smallest : float
        Its smallest eigenvalue.
    method : one of METHODS
    """
    p = correlation.shape[0]
    if method == "equi":
        return np.full(p, min(1.0, 2.0 * smallest))
    if method == "sdp":
        s, gap = sdp_s(correlation, smallest)
        warn_of_gap(gap, SDP_GAP)
        return s
    # s = lambda_min leaves A >= lambda_min: inside the feasible set, on the scale of its size
    s, gap = _minimise(correlation, np.full(p, min(1.0, smallest)), _MVR())
    if method == "maxent":
        # from there the logarithms, which saturate far from their optimum, take a few steps only
        s, last = _minimise(correlation, s, _MaxEnt())
        gap = max(gap, last)
    warn_of_gap(gap, _PROMISED_GAP)
    return s


def warn_of_gap(gap: float, promised: float) -> None:
    """Warn where s is not as close to its optimum as promised."""
    if not gap <= promised:
        warn(
            "The distance of the copies from their columns (the S-matrix) is not optimal: its "
            f"relative gap is {gap:.1e}. The copies are valid, but the selection may find less.",
            ConvergenceWarning,
        )


class _Inverse(NamedTuple):
    """M = A^-1 for A = 2 Sigma - S, and log det A."""

    M: Array
    logdet: float


class _Objective(Protocol):
    """A convex function of s."""

    def value(self, s: Array, inverse: _Inverse) -> float: ...
    def newton(self, s: Array, M: Array) -> tuple[Array, Array]: ...
    def best(self, s: float, M_jj: float, norm: float) -> float: ...
    def size(self, value: float, p: int) -> float: ...


class _MVR:
    """Tr M + sum 1/s."""

    def value(self, s: Array, inverse: _Inverse) -> float:
        return float(np.trace(inverse.M) + np.sum(1.0 / s))

    def newton(self, s: Array, M: Array) -> tuple[Array, Array]:
        """Return gradient and Hessian: dM/ds_j = M e_j e_j' M."""
        square = M @ M.T
        hessian = 2.0 * M * square
        hessian[np.diag_indices_from(hessian)] += 2.0 / s**3
        return square.diagonal() - 1.0 / s**2, hessian

    def best(self, s: float, M_jj: float, norm: float) -> float:
        """Return the s_j of least d |m|^2 / (1 - d M_jj) + 1/(s_j + d), m the j-th column of M."""
        return (1.0 + M_jj * s) / (M_jj + norm)

    def size(self, value: float, p: int) -> float:
        return value


class _MaxEnt:
    """-log det A - sum log s."""

    def value(self, s: Array, inverse: _Inverse) -> float:
        return float(-inverse.logdet - np.sum(np.log(s)))

    def newton(self, s: Array, M: Array) -> tuple[Array, Array]:
        hessian = M**2
        hessian[np.diag_indices_from(hessian)] += 1.0 / s**2
        return M.diagonal() - 1.0 / s, hessian

    def best(self, s: float, M_jj: float, norm: float) -> float:
        """Return the s_j that maximises log(1 - d M_jj) + log(s_j + d)."""
        return (1.0 + M_jj * s) / (2.0 * M_jj)

    def size(self, value: float, p: int) -> float:
        return float(p)  # entropy has no zero: its error is counted for each variable


def _minimise(correlation: Array, s: Array, objective: _Objective) -> tuple[Array, float]:
    """Solve by coordinate descent, then damped Newton steps; return s and its relative gap.

    Both keep s and A positive. Half the Newton decrement estimates how far the objective is above
    its minimum, and ends the iteration.
    """
    inverse = _invert(correlation, s)
    if inverse is None:  # rounding, at the very edge of what counts as positive definite
        raise RefusedError("The covariance must be positive definite; 2 Sigma - S is not.")
    value = objective.value(s, inverse)
    for _ in range(_PASSES):
        trial = _coordinate_pass(s, inverse.M, objective)
        trial_inverse = _invert(correlation, trial)
        if trial_inverse is None or objective.value(trial, trial_inverse) >= value:
            break
        s, inverse = trial, trial_inverse
        value = objective.value(s, inverse)
    gap = np.inf
    for _ in range(_MAX_NEWTON):
        gradient, hessian = objective.newton(s, inverse.M)
        try:
            step = -cho_solve(cho_factor(hessian), gradient)
        except LinAlgError:
            break
        gap = -0.5 * float(gradient @ step) / objective.size(value, s.size)
        if gap <= _GAP:
            last = s + step
            if last.min() > 0.0 and _invert(correlation, last) is not None:
                s = last
            break
        found = _line_search(correlation, s, step, value, float(gradient @ step), objective)
        if found is None:
            break
        s, inverse, value = found
    return s, gap


def _line_search(
    correlation: Array, s: Array, step: Array, value: float, slope: float, objective: _Objective
) -> tuple[Array, _Inverse, float] | None:
    """Return the first of 1, 1/2, 1/4, ... of the step that lowers the objective."""
    for k in range(_HALVINGS):
        length = 0.5**k
        trial = s + length * step
        if trial.min() <= 0.0:
            continue
        inverse = _invert(correlation, trial)
        if inverse is None:
            continue
        new = objective.value(trial, inverse)
        if new <= value + 1e-4 * length * slope:
            return trial, inverse, new
    return None


def _coordinate_pass(s: Array, M: Array, objective: _Objective) -> Array:
    """Move each s_j in turn to its minimiser, in closed form.

    s_j -> s_j + d makes A -> A - d e_j e_j' and M -> M + d/(1 - d M_jj) m_j m_j'. Within a block
    only the columns that are needed are brought up to date; the whole of M follows in one product.
    """
    s, M = s.copy(), M.copy()
    p = s.size
    for start in range(0, p, _BLOCK):
        stop = min(start + _BLOCK, p)
        column = np.empty((p, stop - start), order="F")
        factor = np.zeros(stop - start)
        for t, j in enumerate(range(start, stop)):
            m = M[:, j] + column[:, :t] @ (factor[:t] * column[j, :t])
            new = objective.best(float(s[j]), float(m[j]), float(np.sqrt(m @ m)))
            d = new - s[j]
            column[:, t] = m
            factor[t] = d / (1.0 - d * m[j])
            s[j] = new
        M += (column * factor) @ column.T
    return s


def _invert(correlation: Array, s: Array) -> _Inverse | None:
    """Return M and log det A by Cholesky; None if A is not positive definite."""
    A = 2.0 * correlation
    A[np.diag_indices_from(A)] -= s
    cholesky, failed = lapack.dpotrf(A, lower=1, overwrite_a=1)
    if failed:
        return None
    logdet = 2.0 * float(np.sum(np.log(cholesky.diagonal())))
    M, failed = lapack.dpotri(cholesky, lower=1, overwrite_c=1)
    if failed or not np.isfinite(logdet):
        return None
    M = np.tril(M)
    return _Inverse(M + np.tril(M, -1).T, logdet)
