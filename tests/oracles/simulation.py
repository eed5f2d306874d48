"""Finite systems, drawn and fitted from the definitions: accelerated proximal gradient."""

from __future__ import annotations

import numpy as np


def lasso(
    X: np.ndarray, y: np.ndarray, weights: np.ndarray, lam: float, lam2: float = 0.0
) -> np.ndarray:
    """Members' minimisers of sum_i c_i (y_i - x_i w)^2 / 2 + lam |w|_1 + lam2 |w|^2 / 2, (B, p).

    X has shape (B, n, p), weights (B, n).
    """
    scaled = weights[:, :, None] * X
    gram = np.swapaxes(X, 1, 2) @ scaled + lam2 * np.eye(X.shape[2])
    target = np.swapaxes(scaled, 1, 2) @ y
    step = 1.0 / np.linalg.eigvalsh(gram)[:, -1:]
    w = np.zeros(target.shape)
    z, momentum = w, 1.0
    for _ in range(20_000):
        new = z - step * ((gram @ z[:, :, None])[:, :, 0] - target)
        new = np.sign(new) * np.maximum(np.abs(new) - step * lam, 0.0)
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        restart = np.sum((z - new) * (new - w), axis=1, keepdims=True) > 0.0
        z = np.where(restart, new, new + (momentum - 1.0) / faster * (new - w))
        momentum = 1.0 if restart.all() else faster
        change = np.abs(new - w).max()
        w = new
        if change < 1e-7:
            return w
    raise RuntimeError("the proximal gradient iteration did not converge")


def one_data_set(
    method: str,
    rng: np.random.Generator,
    *,
    size: int,
    alpha: float,
    rho: float,
    Delta: float,
    lam: float,
    mu_B: float,
    members: int,
    lam2: float = 0.0,
    cut: float = 0.5,
) -> dict[str, float]:
    """Overlaps of one data set, without the bias of a finite ensemble, and the rates of a rule.

    `cut` is what the rule asks for: a share of the members, or an excess over the copy
    (a mean over copies, of the rule of one copy), or for "lasso" an absolute value.
    """
    rows = round(alpha * size)
    X = rng.standard_normal((rows, size)) / np.sqrt(size)
    w0 = np.where(rng.random(size) < rho, rng.standard_normal(size), 0.0)
    y = X @ w0 + np.sqrt(Delta) * rng.standard_normal(rows)
    if method == "lasso":
        w = lasso(X[None], y, np.ones((1, rows)), lam, lam2)
    elif method == "stability":
        counts = rng.multinomial(round(mu_B * rows), np.full(rows, 1 / rows), size=members)
        w = lasso(np.broadcast_to(X, (members, rows, size)), y, counts.astype(float), lam, lam2)
    else:
        copies = rng.standard_normal((members, rows, size)) / np.sqrt(size)
        both = np.concatenate([np.broadcast_to(X, copies.shape), copies], axis=2)
        w = lasso(both, y, np.ones((members, rows)), lam, lam2)
    copy = w[:, size:]
    w = w[:, :size]
    mean = w.mean(axis=0)
    var = w.var(axis=0, ddof=1) if len(w) > 1 else np.zeros(size)
    out = {
        "q": np.mean(mean**2 - var / len(w)),
        "m": np.mean(mean * w0),
        "v": np.mean(var),
        "active": np.mean(w != 0.0),
        "signal": np.mean(w0**2) - rho,
    }
    if method == "knockoff":
        out["v_tilde"] = np.mean(copy**2)
        chosen = np.mean(np.abs(w) - np.abs(copy) > cut, axis=0)
    elif method == "stability":
        chosen = 1.0 * (np.mean(w != 0.0, axis=0) >= cut)
    else:
        chosen = 1.0 * (np.abs(w[0]) > cut)
    out |= {"tpr": np.mean(chosen[w0 != 0.0]), "fpr": np.mean(chosen[w0 == 0.0])}
    return {name: float(value) for name, value in out.items()}
