"""Slow oracles of the Bayes-optimal selector: quadrature, and message passing on data."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.integrate import quad


def _normal(x, mean, var):
    return np.exp(-0.5 * (x - mean) ** 2 / var) / np.sqrt(2 * np.pi * var)


def posterior(r, s, rho, effects):
    """P(w0 != 0 | r), posterior mean and variance for r = w0 + xi / sqrt(s), and the density of r.

    effects: "gaussian" or (values, weights).
    """
    r = np.asarray(r, dtype=float)
    null = (1 - rho) * _normal(r, 0.0, 1 / s)
    if effects == "gaussian":
        signal = rho * _normal(r, 0.0, 1 + 1 / s)
        first = signal * r * s / (1 + s)
        second = signal * ((r * s / (1 + s)) ** 2 + 1 / (1 + s))
    else:
        each = [(v, rho * p * _normal(r, v, 1 / s)) for v, p in zip(*effects, strict=True)]
        signal = sum(d for _, d in each)
        first = sum(v * d for v, d in each)
        second = sum(v * v * d for v, d in each)
    total = null + signal + 1e-300  # nobody is seen far from everyone
    mean = first / total
    return signal / total, mean, second / total - mean**2, total


def mmse(s, rho, effects):
    """E Var(w0 | r) by adaptive quadrature."""
    edges = sorted({0.0, *(np.array([]) if effects == "gaussian" else effects[0])})
    width = 1 / np.sqrt(s)
    cuts = sorted(
        {e + k * width for e in edges for k in (-12, -6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6, 12)}
    )
    if effects == "gaussian":
        cuts = sorted({*cuts, *(np.arange(-12.0, 12.5) * np.sqrt(1 + 1 / s))})

    def density(r):
        _, _, var, total = posterior(r, s, rho, effects)
        return var * total

    pairs = itertools.pairwise(cuts)
    return sum(quad(density, a, b, epsabs=1e-14, epsrel=1e-12, limit=200)[0] for a, b in pairs)


def best_rule(s, rho, effects, fdr, points=200_001):
    """TPR of the best set of cells of a fine grid on r with FDR at most fdr: cells by local FDR."""
    reach = 9 / np.sqrt(s) + 9 * (1 if effects == "gaussian" else np.abs(effects[0]).max() / 9)
    r = np.linspace(-reach, reach, points)
    inclusion, _, _, total = posterior(r, s, rho, effects)
    mass = total / total.sum()
    order = np.argsort(-inclusion)
    false = np.cumsum((mass * (1 - inclusion))[order])
    found = np.cumsum(mass[order])
    keep = false <= fdr * found
    true = np.cumsum((mass * inclusion)[order])
    return float(true[keep][-1] / rho) if keep.any() else 0.0


def draw(rng, size, alpha, rho, Delta, effects):
    rows = round(alpha * size)
    X = rng.standard_normal((rows, size)) / np.sqrt(size)
    if effects == "gaussian":
        w0 = rng.standard_normal(size)
    else:
        w0 = rng.choice(effects[0], p=effects[1], size=size)
    w0 = np.where(rng.random(size) < rho, w0, 0.0)
    return X, X @ w0 + np.sqrt(Delta) * rng.standard_normal(rows), w0


def bayes_amp(X, y, rho, effects, start=None, steps=80):
    """Message passing with the posterior mean; inclusion probabilities and the estimate."""
    rows, size = X.shape
    alpha = rows / size
    w = np.zeros(size) if start is None else np.array(start, dtype=float)
    z = y - X @ w
    for _ in range(steps):
        s = alpha * rows / (z @ z)
        inclusion, w, var, _ = posterior(w + X.T @ z / alpha, s, rho, effects)
        z = y - X @ w + z * np.mean(var) * s / alpha
    return inclusion, w
