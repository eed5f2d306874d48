"""Data of the model, as the article scales it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Instance(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    w0: np.ndarray


def instance(N, alpha, rho=0.3, Delta=0.01, seed=0, correlation=0.0):
    """Rows N(0, Sigma/N) with Sigma of AR(1), effects rho N(0, 1)."""
    rng = np.random.default_rng(seed)
    n = round(alpha * N)
    X = rng.standard_normal((n, N))
    for j in range(1, N):
        if correlation:
            X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    X /= np.sqrt(N)
    w0 = np.where(rng.random(N) < rho, rng.standard_normal(N), 0.0)
    return Instance(X, X @ w0 + np.sqrt(Delta) * rng.standard_normal(n), w0)
