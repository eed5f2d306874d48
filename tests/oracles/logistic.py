"""Rows with labels from the definitions: a grid over truth, data and member, bisection for fits."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from selica.solvers import logistic_path_batch


def normal(step: float) -> tuple[np.ndarray, np.ndarray]:
    x = np.arange(-8.5, 8.5 + step, step)
    weight = np.exp(-0.5 * x**2)
    return x, weight / weight.sum()


def fit(omega: np.ndarray, pull: np.ndarray, y: float) -> np.ndarray:
    """z = omega + pull y / (1 + exp(y z)), by bisection."""
    low, high = np.minimum(omega, omega + y * pull), np.maximum(omega, omega + y * pull)
    for _ in range(55):
        z = 0.5 * (low + high)
        up = z - omega - pull * y * expit(-y * z) < 0.0
        low, high = np.where(up, z, low), np.where(up, high, z)
    return 0.5 * (low + high)


def fields(alpha, T, weights, chances, *, q, m, v, chi, step=0.4):
    """Q_hat, m_hat, chi_hat and v_hat; every average as it is defined, both labels."""
    x, p = normal(step)
    s, xi = x[:, None, None], x[None, :, None]
    shared = (m / np.sqrt(T)) * s + np.sqrt(q - m * m / T) * xi
    omega = shared + np.sqrt(v) * x
    z0 = np.sqrt(T) * x
    Q = linear = common = square = 0.0
    for y in (1.0, -1.0):
        G, G2, bend = (np.zeros(omega.shape[:2]) for _ in range(3))
        for c, chance in zip(weights, chances, strict=True):
            z = fit(omega, chi * c, y)
            g = c * y * expit(-y * z)
            second = c * expit(z) * expit(-z)
            G += chance * (g @ p)
            G2 += chance * (g**2 @ p)
            bend += chance * ((second / (1.0 + chi * second)) @ p)
        law = (expit(y * z0) * p)[:, None] * p
        Q += alpha * np.sum(law * bend)
        linear += alpha * np.sum(law * G * z0[:, None])
        common += alpha * np.sum(law * G**2)
        square += alpha * np.sum(law * G2)
    return {
        "Q_hat": Q,
        "m_hat": (linear + m * Q) / T,
        "chi_hat": common,
        "v_hat": square - common,
    }


def one_data_set(rng, *, size, alpha, rho, T, lam, mu_B, resampling, effects, members, Pi_th):
    """Overlaps and rates of one data set, without the bias of a finite ensemble."""
    rows, signals = round(alpha * size), round(rho * size)
    X = rng.standard_normal((rows, size)) / np.sqrt(size)
    w0 = np.zeros(size)
    w0[:signals] = effects.sample(signals, rng)
    w0 *= np.sqrt(T * size / np.sum(w0**2))
    y = (rng.random(rows) < expit(X @ w0)).astype(float)
    if mu_B is None:
        weights = np.ones((1, rows))
    elif resampling == "poisson":
        weights = rng.poisson(mu_B, (members, rows)).astype(float)
    elif resampling == "bernoulli":
        weights = (rng.random((members, rows)) < mu_B).astype(float)
    else:
        weights = mu_B * rng.exponential(size=(members, rows))
    batch = logistic_path_batch(X, y, [lam], weights, fit_intercept=False, n_jobs=1)
    assert batch.converged
    w = batch.coef[:, 0]
    mean = w.mean(axis=0)
    var = w.var(axis=0, ddof=1) if mu_B is not None else np.zeros(size)
    chosen = (w != 0.0).mean(axis=0)
    selected = chosen >= (Pi_th if mu_B is not None else 0.5)
    return {
        "q": np.mean(mean**2 - var / len(w)),
        "m": np.mean(w0 * mean),
        "v": np.mean(var),
        "active": np.mean(chosen),
        "tpr": np.mean(selected[:signals]),
        "fpr": np.mean(selected[signals:]),
    }
