"""Data of the model, as the article scales it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import norm


class Instance(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    w0: np.ndarray


def instance(N, alpha, rho=0.3, Delta=0.01, seed=0, correlation=0.0, typical=False):
    """Rows N(0, Sigma/N) with Sigma of AR(1), effects rho N(0, 1).

    Typical effects are quantiles of their law instead of draws from it, so that data sets differ
    less.
    """
    rng = np.random.default_rng(seed)
    n = round(alpha * N)
    X = rng.standard_normal((n, N))
    for j in range(1, N):
        if correlation:
            X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    X /= np.sqrt(N)
    w0 = np.where(rng.random(N) < rho, rng.standard_normal(N), 0.0)
    if typical:
        k = round(rho * N)
        effects = norm.ppf((np.arange(k) + 0.5) / k)
        w0 = rng.permutation(np.r_[effects / np.sqrt(np.mean(effects**2)), np.zeros(N - k)])
    return Instance(X, X @ w0 + np.sqrt(Delta) * rng.standard_normal(n), w0)


def rms(x):
    """Root mean square."""
    return float(np.sqrt(np.mean(np.square(x))))
