r"""The lasso of a quadratic function: no table, only a Gram matrix and a vector.

.. math:: \min_w \; \tfrac12 w'Gw - r'w + \lambda |w|_1 .

With :math:`G = X'X/n` and :math:`r = X'y/n` it is the lasso of a table, which is not needed. The
certificate is the largest violation of the optimality conditions: :math:`g = Gw - r` has to be
:math:`-\lambda\,\mathrm{sign}(w_j)` where :math:`w_j \ne 0`, and at most :math:`\lambda` in size
elsewhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.compiled import core
from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import matrix, number, numbers


class QuadraticFit(NamedTuple):
    """Coefficients, and the certificate that they are right.

    Examples
    --------
    >>> from selica.solvers import quadratic_lasso
    >>> fit = quadratic_lasso([[1.0, 0.0], [0.0, 1.0]], [0.5, -0.1], 0.2)
    >>> fit.coef, fit.kkt, fit.converged
    (array([0.3, 0. ]), 0.0, True)
    """

    coef: Array
    """(p,)."""
    kkt: float
    """Largest violation of the optimality conditions, in the unit of the gradient."""
    converged: bool


def quadratic_lasso(gram: Any, linear: Any, lam: float, start: Array | None = None) -> QuadraticFit:
    """Solve the lasso of a quadratic function.

    Parameters
    ----------
    gram : array of shape (p, p)
        Positive semidefinite.
    linear : array of shape (p,)
    lam : float
        Penalty, positive.
    start : array of shape (p,), optional
        Where to begin, such as the answer for a larger penalty.

    Returns
    -------
    QuadraticFit

    Examples
    --------
    >>> from selica.solvers import quadratic_lasso
    >>> quadratic_lasso([[1.0, 0.5], [0.5, 1.0]], [1.0, 0.5], 0.25).coef
    array([0.75, 0.  ])
    """
    G = np.ascontiguousarray(matrix("gram", gram))
    r = numbers("linear", linear)
    lam = number("lam", lam, above=0.0)
    if G.shape != (r.size, r.size):
        raise ArgumentError(
            f"gram must be {r.size} x {r.size}, as linear has {r.size} entries; got {G.shape}."
        )
    coef = np.zeros((1, 1, r.size))
    if start is not None:
        coef[0, 0] = numbers("start", start)
    failed = core().solve_members(G, np.ascontiguousarray(r[None, None]), lam, coef)
    w = coef[0, 0]
    g = G @ w - r
    on = w != 0.0
    wrong = np.where(on, np.abs(g + lam * np.sign(w)), np.maximum(np.abs(g) - lam, 0.0))
    return QuadraticFit(w, float(wrong.max()), failed == 0)
