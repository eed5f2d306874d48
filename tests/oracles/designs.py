"""Oracles for designs with a given spectrum: data with Haar singular vectors, and the equations
in their long form, two modules that exchange Gaussian messages about variables and rows."""

from __future__ import annotations

import numpy as np

from tests.oracles import replica


def haar(rng: np.random.Generator, size: int, columns: int) -> np.ndarray:
    """Orthonormal columns, uniformly distributed, shape (size, columns)."""
    Q, R = np.linalg.qr(rng.standard_normal((size, columns)))
    return Q * np.sign(np.diag(R))


def design(rng: np.random.Generator, rows: int, columns: int, singular: np.ndarray) -> np.ndarray:
    """X = U diag(singular) V' with uniform U, V."""
    r = singular.size
    return (haar(rng, rows, r) * singular) @ haar(rng, columns, r).T


def geometric(rows: int, columns: int, condition: float) -> np.ndarray:
    """Singular values in geometric progression, rows of mean squared length one."""
    value = condition ** -np.linspace(0.0, 1.0, min(rows, columns))
    return value * np.sqrt(rows / np.sum(value**2))


def one_data_set(rng, X, *, rho, Delta, lam, mu_B, members, votes, lasso):
    """Overlaps and rates of one ensemble; `lasso(X, y, weights, lam)` gives the members, (B, p)."""
    rows, size = X.shape
    w0 = np.where(rng.random(size) < rho, rng.standard_normal(size), 0.0)
    y = X @ w0 + np.sqrt(Delta) * rng.standard_normal(rows)
    if members == 1:
        weights = np.ones((1, rows))
    else:
        weights = rng.poisson(mu_B, size=(members, rows)).astype(float)
    w = lasso(X, y, weights, lam)
    mean = w.mean(axis=0)
    var = w.var(axis=0, ddof=1) if members > 1 else np.zeros(size)
    chosen = np.sum(w != 0.0, axis=0) >= votes
    return {
        "q": np.mean(mean**2 - var / members),
        "m": np.mean(mean * w0),
        "v": np.mean(var),
        "active": np.mean(w != 0.0),
        "tpr": np.mean(chosen[w0 != 0.0]),
        "fpr": np.mean(chosen[w0 == 0.0]),
        "fdp": np.sum(chosen & (w0 == 0.0)) / max(1, np.sum(chosen)),
        "strength": np.mean(w0**2),
    }


def two_modules(values, weights, *, alpha, rho, Delta, lam, lam2=0.0, mu_B=1.0,
                method="stability", resampling="poisson", effects="gaussian",
                steps=4000, damping=0.3):  # fmt: skip
    """Order parameters by damped iteration of the long form, from the prior.

    The state are messages to the variables (Q, m, c, v) and to the rows, in which a field is
    m w0 + sqrt(c) xi + sqrt(v) eta.
    """
    L, p = np.asarray(values, float), np.asarray(weights, float)
    c, prob = replica._law_of_counts(method, resampling, mu_B)
    T, T_row = rho, rho * (p @ L) / alpha
    mean_c = prob @ c

    def out(chi, q, m, v, old, strength):
        """Message to the other module."""
        return np.array([
            1 / chi - old[0], m / (strength * chi) - old[1],
            (q - m * m / strength) / chi**2 - old[2], v / chi**2 - old[3],
        ])  # fmt: skip

    x1 = np.array([mean_c * (p @ L), mean_c * (p @ L), alpha * mean_c**2 * (T + Delta),
                   alpha * mean_c * (T + Delta)])  # fmt: skip
    z1 = np.array([50.0, 50.0, 50.0**2 * T_row, 1e-3])
    previous = np.zeros(4)
    for _ in range(steps):
        hats = dict(zip(("Q_hat", "m_hat", "chi_hat", "v_hat"), x1, strict=True))
        orders = replica._orders(method, hats, rho, lam, effects, lam2)
        order = np.array([orders[k] for k in ("chi", "q", "m", "v")])
        x2 = out(*order, x1, T)
        k = 1 / (c + z1[0])
        g = c * k
        K, G, KK, GK, GG = (prob @ f for f in (k, g, k * k, g * k, g * g))
        m_row = T_row * (K * z1[1] + G)
        q_row = T_row * (K * z1[1] + G) ** 2 + K**2 * z1[2] + G**2 * Delta
        all_row = (
            T_row * (KK * z1[1] ** 2 + 2 * GK * z1[1] + GG) + KK * (z1[2] + z1[3]) + GG * Delta
        )
        z2 = out(K, q_row, m_row, all_row - q_row, z1, T_row)
        d, mm, cc, vv = (x2[i] + L * z2[i] for i in range(4))
        x = [p @ (1 / d), p @ ((cc + T * mm**2) / d**2), T * (p @ (mm / d)), p @ (vv / d**2)]
        z = [p @ (L / d), p @ (L * (cc + T * mm**2) / d**2), T * (p @ (L * mm / d)),
             p @ (L * vv / d**2)]  # fmt: skip
        new_x, new_z = out(*x, x2, T), out(*(np.array(z) / alpha), z2, T_row)
        x1 = x1 + damping * (new_x - x1)
        z1 = z1 + damping * (new_z - z1)
        if np.all(np.abs(order - previous) < 1e-13) and np.all(np.abs(new_x - x1) < 1e-11):
            break
        previous = order
    return {"Q_hat": x1[0], "m_hat": x1[1], "chi_hat": x1[2], "v_hat": x1[3], **orders}
