"""Finite systems with correlated rows, drawn and fitted from the definitions."""

from __future__ import annotations

import numpy as np

from selica.sampling import GaussianKnockoffs, resample_weights
from selica.solvers import knockoff_path_batch, lasso_path_batch

SCHEMES = {"poisson": "poisson", "bernoulli": "subsample", "exponential": "exponential"}


def ar1(N, r):
    return r ** np.abs(np.subtract.outer(np.arange(N), np.arange(N))).astype(float)


def one_data_set(
    seed, Sigma, *, alpha, rho, Delta, lam, members, rate=1.0, resampling="poisson", copies=None,
    truth=None,
):  # fmt: skip
    """Moments over the members of one data set, unbiased, and the statistics (members, N)."""
    rng = np.random.default_rng(seed)
    N = len(Sigma)
    rows = round(alpha * N)
    X = rng.standard_normal((rows, N)) @ np.linalg.cholesky(Sigma).T / np.sqrt(N)
    w0 = np.zeros(N)
    if truth is None:
        k = int(rho * N + rng.random())
        w0[rng.permutation(N)[:k]] = rng.standard_normal(k)
    else:
        w0[:] = truth
    y = X @ w0 + np.sqrt(Delta) * rng.standard_normal(rows)
    if copies is not None:
        sampler = GaussianKnockoffs(0.0, Sigma / N, copies)
        drawn = sampler.copies(X, int(rng.integers(2**31)), members)
        w = knockoff_path_batch(X, y, [lam], drawn.__getitem__, members, tol=1e-8).coef[:, 0]
        S = np.diag(sampler.s_ * N)
        joint = np.block([[Sigma, Sigma - S], [Sigma - S, Sigma]])
    else:
        weights = np.ones((1, rows))
        if members > 1:
            weights = resample_weights(
                rows, members, SCHEMES[resampling], rate, random_state=int(rng.integers(2**31))
            )
        w = lasso_path_batch(X, y, [lam], weights, tol=1e-8).coef[:, 0]
        joint = Sigma
    # on new rows: predictions of members that share the rows and, for knockoffs, not the copies
    total = np.einsum("bi,ij,bj->b", w, joint, w) / N
    cross = w[:, :N] @ Sigma
    if copies is not None:
        # E[x'(w + C w~)] for the part of a copy that rows explain: C = I - Sigma^-1 S
        along = w[:, :N] + w[:, N:] - w[:, N:] @ np.linalg.solve(Sigma, S).T
        cross = along @ Sigma
    else:
        along = w
    mean = along.mean(axis=0)
    if members > 1:
        pairs = (mean @ Sigma @ mean * members - np.vecdot(cross, along).mean()) / (members - 1)
    else:
        pairs = mean @ Sigma @ mean
    pairs /= N
    error = pairs - 2.0 * mean @ Sigma @ w0 / N + w0 @ Sigma @ w0 / N + Delta
    statistic = np.abs(w[:, :N]) - (np.abs(w[:, N:]) if copies is not None else 0.0)
    return {
        "ensemble_error": error,
        "v": total.mean() - pairs,
        "active": np.count_nonzero(w) / (members * N),
    }, statistic, w0  # fmt: skip
