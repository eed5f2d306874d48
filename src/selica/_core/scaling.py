r"""The one dictionary between the units of a study and the units of the theory.

The theory scales rows to :math:`x \sim N(0, I/N)` and effects to unit second moment. A study has
n samples, p standardised variables, k true signals and a signal-to-noise ratio. With
:math:`s^2 = p \cdot \mathrm{mean}(b_j^2 : b_j \ne 0)` for coefficients b of standardised columns,
the dictionary is :math:`w = \sqrt{p}\, b / s`, :math:`\alpha = n/p`, :math:`\rho = k/p`,
:math:`\Delta = \sigma^2/s^2`, and glmnet's penalty :math:`\ell` (scikit-learn's ``alpha``)
corresponds to :math:`\lambda = (\sum_\mu c_\mu)\, \ell / (\sqrt{p}\, s)`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import positive, real


def noise_from_snr(rho: ArrayLike, snr: ArrayLike) -> Array:
    """Return Delta for a ratio Var(x.w0) / Var(noise) = rho / Delta."""
    return np.asarray(_signals("snr", rho) / positive("snr", snr))


def noise_from_r2(rho: ArrayLike, r2: ArrayLike) -> Array:
    """Return Delta for an explained share of the variance rho / (rho + Delta)."""
    r2 = positive("r2", r2, at_most=1.0)
    return np.asarray(_signals("r2", rho) * (1.0 - r2) / r2)


def _signals(name: str, rho: ArrayLike) -> Array:
    share = real("rho", rho, at_least=0.0, at_most=1.0)
    if np.any(share == 0.0):
        raise ArgumentError(f"rho must be above 0 where {name} is given: no signal, no such ratio.")
    return share


def ratios(
    n_samples: ArrayLike, n_features: ArrayLike, n_signals: ArrayLike
) -> tuple[Array, Array]:
    """Return (alpha, rho) of a study."""
    n = real("n_samples", n_samples, at_least=1.0)
    p = real("n_features", n_features, at_least=1.0)
    k = real("n_signals", n_signals, at_least=0.0)
    for name, value in (("n_samples", n), ("n_features", p), ("n_signals", k)):
        if np.any(value != np.round(value)):
            raise ArgumentError(f"{name} must be a whole number.")
    if np.any(k > p):
        raise ArgumentError("n_signals must be at most n_features.")
    return n / p, k / p


def penalty_of_data(
    lam: ArrayLike,
    n_samples: ArrayLike,
    n_features: ArrayLike,
    rho: ArrayLike,
    Delta: ArrayLike,
    mu_B: ArrayLike = 1.0,
) -> Array:
    """Return glmnet's lambda (scikit-learn's alpha) for standardised X and y.

    A y of unit variance fixes the scale of the effects, s^2 (rho + Delta) = 1; a resample of
    rate mu_B has mu_B * n_samples rows and glmnet averages over the rows it is given.
    """
    scale = 1.0 / np.sqrt(np.asarray(rho) + np.asarray(Delta))
    rows = np.asarray(mu_B) * np.asarray(n_samples)
    return np.asarray(np.asarray(lam) * np.sqrt(n_features) * scale / rows)


def coefficient_of_data(
    w: ArrayLike, n_features: ArrayLike, rho: ArrayLike, Delta: ArrayLike
) -> Array:
    """Return the coefficient of standardised X and y for an effect or estimate w of the theory.

    Examples
    --------
    >>> from selica._core.scaling import coefficient_of_data
    >>> coefficient_of_data(1.0, n_features=100, rho=0.2, Delta=0.05).item()
    0.2
    """
    return np.asarray(
        np.asarray(w) / np.sqrt(np.asarray(n_features) * (np.asarray(rho) + np.asarray(Delta)))
    )
