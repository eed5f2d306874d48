r"""Perfect reconstruction: how many samples a noiseless problem needs.

Without noise and with :math:`\lambda \to 0` the lasso recovers every effect exactly when
:math:`\alpha > \alpha_c(\rho)` (Donoho and Tanner; Kabashima, Wadayama and Tanaka 2009),

.. math:: \alpha_c(\rho) = 2 (1-\rho) H(u) + \rho, \qquad
          2 (1-\rho) \left(\frac{\varphi(u)}{u} - H(u)\right) = \rho .

The article prints the first equation with a minus sign before its last term. A resample sees only
the share :math:`P(c>0)` of the rows; knockoffs double the number of variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import check_rate
from selica._core.results import unwrap
from selica._core.root import find_root
from selica._core.scalar import density, survival
from selica._core.types import Array, IntArray
from selica._core.validation import broadcast, real
from selica.theory.selection.penalty import penalised
from selica.theory.solve import method_of


def reconstruction_limit(
    rho: ArrayLike, method: str, mu_B: ArrayLike = 1.0, resampling: str = "poisson"
) -> Any:
    """Return the alpha above which a noiseless signal is recovered exactly as lam goes to zero.

    Parameters
    ----------
    rho : float or array in [0, 1]
    method : {"lasso", "thresholded-lasso", "stability-ideal", "knockoffs-ideal", \
            "knockoffs-frequency"}
    mu_B : float or array
        Resampling rate; used by "stability-ideal" only.
    resampling : {"poisson", "bernoulli", "exponential"}

    Examples
    --------
    >>> from selica import theory
    >>> round(theory.reconstruction_limit(0.5, "stability-ideal", mu_B=2.0), 5)
    0.96141
    """
    equations = method_of(method, penalised).equations
    rho = real("rho", rho, at_least=0.0, at_most=1.0)
    if equations == "knockoff":
        return unwrap(2.0 * _l1_limit(0.5 * rho))
    if equations == "lasso":
        return unwrap(_l1_limit(rho))
    rho, rate = broadcast(rho=rho, mu_B=check_rate("mu_B", mu_B, resampling))
    seen = {"poisson": -np.expm1(-rate), "bernoulli": rate, "exponential": np.ones_like(rate)}
    return unwrap(_l1_limit(rho) / seen[resampling])


def _l1_limit(rho: Array) -> Array:
    flat = np.ravel(rho)
    out = np.array(flat)  # exact at rho = 0 and rho = 1
    inner = np.flatnonzero((flat > 0.0) & (flat < 1.0))
    if inner.size:
        goal = np.log(flat[inner]) - np.log(2.0 * (1.0 - flat[inner]))

        def equation(log_u: Array, index: IntArray) -> tuple[Array, Array]:
            u = np.exp(log_u)
            # phi/u - H = int_u^inf phi(x)/x^2 dx falls from infinity to zero
            left = density(u) / u - survival(u)
            return goal[index] - np.log(left), density(u) / (u * left)

        root = find_root(equation, np.zeros(inner.size), lower=-800.0, upper=np.log(36.0))
        out[inner] += 2.0 * (1.0 - flat[inner]) * survival(np.exp(root.x))
    return out.reshape(np.shape(rho))
