"""Rows with classes, counts and times from the definitions; and data with fits of the library."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln, ndtri, wrightomega
from scipy.stats import qmc

from selica.solvers import cox_path_batch, logistic_path_batch, poisson_path_batch
from tests.oracles.logistic import normal


class Fields(NamedTuple):
    Q_hat: float
    m_hat: float
    chi_hat: float
    v_hat: float
    balance: float
    """E[G], which the intercept makes zero."""


def sampled(T, intercept, cases):
    """How much more frequent controls and cases are in the sample than in the population."""
    if cases is None:
        return np.ones(2)
    x = np.linspace(-9.0, 9.0, 20_001)
    weight = np.exp(-0.5 * x**2)
    share = (expit(intercept + np.sqrt(T) * x) * weight).sum() / weight.sum()
    return np.array([(1.0 - cases) / (1.0 - share), cases / share])


def class_fit(X, pull):
    """The mean at z with z + pull * mean = X, by bisection."""
    low, high = X - pull, X.copy()
    for _ in range(60):
        z = 0.5 * (low + high)
        up = z + pull * expit(z) < X
        low, high = np.where(up, z, low), np.where(up, high, z)
    return expit(0.5 * (low + high))


def count_fit(X, pull):
    return wrightomega(X + np.log(pull)) / pull


def fields(kind, alpha, T, place, s, weights, chances, cases=None, step=0.4, most=60):
    """Fields of classes or counts at a solution s: every average as it is defined."""
    x, p = normal(step)
    shared = (s.m / np.sqrt(T)) * x[:, None] + np.sqrt(s.q - s.m**2 / T) * x[None, :]
    own = np.sqrt(s.v + getattr(s, "v_tilde", 0.0))
    beside, inside = (x, p) if own > 0.0 else (np.zeros(1), np.ones(1))
    omega = shared[..., None] + own * beside
    chi = s.chi + getattr(s, "chi_tilde", 0.0)
    z0 = place + np.sqrt(T) * x
    more = sampled(T, place, cases)
    Q = linear = common = square = balance = 0.0
    for y in range(2 if kind == "logistic" else most):
        if kind == "logistic":
            chance = more[y] * expit(z0 if y else -z0)
        else:
            chance = np.exp(y * z0 - np.exp(z0) - gammaln(y + 1.0))
        G, G2, bend = (np.zeros(shared.shape) for _ in range(3))
        for c, share in zip(weights, chances, strict=True):
            if c == 0.0:
                continue
            mean = (class_fit if kind == "logistic" else count_fit)(
                s.intercept + omega + chi * c * y, chi * c
            )
            g = c * (y - mean)
            second = c * (mean * (1.0 - mean) if kind == "logistic" else mean)
            G += share * (g @ inside)
            G2 += share * (g**2 @ inside)
            bend += share * ((second / (1.0 + chi * second)) @ inside)
        law = (chance * p)[:, None] * p
        Q += alpha * np.sum(law * bend)
        linear += alpha * np.sum(law * G * (np.sqrt(T) * x)[:, None])
        common += alpha * np.sum(law * G**2)
        square += alpha * np.sum(law * G2)
        balance += np.sum(law * G)
    return Fields(Q, (linear + s.m * Q) / T, common, square - common, balance)


def time_fields(alpha, T, end, s, weight=1.0, chance=1.0, exponent=16, rounds=40):
    """Fields of times at a solution s, from a population, and its effective cumulative hazard.

    Members have the weight with a chance, else zero. Also returns (times, hazards), sorted.
    """
    points = qmc.Sobol(3, rng=np.random.default_rng(5)).random_base2(exponent)
    x, xi = ndtri(np.clip(points[:, :2], 1e-12, 1 - 1e-12)).T
    z0 = np.sqrt(T) * x
    time = -np.log1p(-points[:, 2]) * np.exp(-z0)
    event = (time < end).astype(float)
    time = np.minimum(time, end)
    order = np.argsort(time)
    time, event, z0, x, xi = (a[order] for a in (time, event, z0, x, xi))
    shared = (s.m / np.sqrt(T)) * x + np.sqrt(s.q - s.m**2 / T) * xi
    own = np.sqrt(s.v + getattr(s, "v_tilde", 0.0))
    node, p = np.polynomial.hermite_e.hermegauss(9 if own > 0.0 else 1)
    p = p / p.sum()
    omega = shared[:, None] + own * node
    k = (s.chi + getattr(s, "chi_tilde", 0.0)) * weight
    hazard = time.copy()
    delta = event[:, None]
    for _ in range(rounds):
        u = wrightomega(np.log(k * hazard)[:, None] + omega + k * delta) / k
        risk = chance * weight * (u @ p) / hazard
        at_risk = np.cumsum(risk[::-1])[::-1]
        hazard = np.cumsum(chance * weight * event / at_risk)
        hazard = np.maximum(hazard, hazard[hazard > 0.0][0])
    u = wrightomega(np.log(k * hazard)[:, None] + omega + k * delta) / k
    G = weight * (delta - u)
    mean, square = chance * (G @ p), chance * (G**2 @ p)
    slope = weight * u / (1.0 + k * u)
    found = Fields(
        alpha * chance * np.mean(slope @ p),
        alpha * np.mean((event - time * np.exp(z0)) * mean),
        alpha * np.mean(mean**2),
        alpha * np.mean(square - mean**2),
        np.mean(mean),
    )
    return found, (time, hazard)


def class_information(T, place, V, cases=None):
    """E[(slope of log p)^2] of a class less its squared mean, by dense sums."""
    x, p = normal(0.2)
    omega, beside = np.sqrt(T - V) * x, np.sqrt(V) * x
    more = sampled(T, place, cases)
    told = mean = 0.0
    for y in (0, 1):
        side = 2 * y - 1
        z = place + omega[:, None] + beside
        chance = expit(side * z) @ p
        slope = (side * expit(z) * expit(-z)) @ p
        told += more[y] * np.sum(p * slope**2 / chance)
        mean += more[y] * np.sum(p * slope)
    return told - mean**2


def count_information(T, place, V):
    """The same of a count, over all whole numbers."""
    x, p = normal(0.05)
    some, q = normal(0.3)
    near = np.abs(some) < 5.2
    some, q = some[near], q[near]
    total = 0.0
    for at, weight in zip(np.sqrt(T - V) * some, q, strict=True):
        z = place + at + np.sqrt(V) * x
        z = z[np.abs(x) < 6.0]
        inside = p[np.abs(x) < 6.0]
        most = np.exp(place + at + 5.0 * np.sqrt(V))
        y = np.arange(np.ceil(most + 8.0 * np.sqrt(most)) + 15.0)[:, None]
        law = np.exp(y * z - np.exp(z) - gammaln(y + 1.0))
        chance, slope = law @ inside, (law * (y - np.exp(z))) @ inside
        often = chance > 1e-200
        total += weight * np.sum(slope[often] ** 2 / chance[often])
    return total


def time_information(T, end, V):
    """The same of a time that is censored at the end."""
    x, p = normal(0.2)
    z = np.sqrt(T - V) * x[:, None] + np.sqrt(V) * x
    total = 0.0
    log_t = np.linspace(np.log(end) - 18.0 - 6.0 * np.sqrt(T), np.log(end), 1501)
    weight = np.full(log_t.size, log_t[1] - log_t[0])
    weight[[0, -1]] *= 0.5
    for t, w in zip(np.exp(log_t), weight, strict=True):
        law = np.exp(z - t * np.exp(z))
        total += w * t * np.sum(p * ((law * (1.0 - t * np.exp(z))) @ p) ** 2 / (law @ p))
    law = np.exp(-end * np.exp(z))
    return total + np.sum(p * ((-law * end * np.exp(z)) @ p) ** 2 / (law @ p))


def draw(rng, kind, rows, size, w0, place, cases=None):
    """Rows of length one and their responses."""
    if kind == "logistic" and cases is not None:
        want = [rows - round(cases * rows), round(cases * rows)]
        parts = []
        while any(want):
            X = rng.standard_normal((4096, size)) / np.sqrt(size)
            y = rng.random(4096) < expit(place + X @ w0)
            for k in (0, 1):
                mine = X[y == k][: want[k]]
                want[k] -= len(mine)
                parts.append((mine, np.full(len(mine), float(k))))
        X, y = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
        return X, y
    X = rng.standard_normal((rows, size)) / np.sqrt(size)
    z0 = X @ w0
    if kind == "logistic":
        return X, (rng.random(rows) < expit(place + z0)).astype(float)
    if kind == "poisson":
        return X, rng.poisson(np.exp(place + z0)).astype(float)
    time = rng.exponential(size=rows) * np.exp(-z0)
    return X, (np.minimum(time, place), (time < place).astype(float))


FITS = {"logistic": logistic_path_batch, "poisson": poisson_path_batch, "cox": cox_path_batch}


def one_data_set(rng, kind, *, size, alpha, rho, T, place, lam, how, members, cases=None):
    """Overlaps of one data set, without the bias of a finite ensemble.

    `how` is "lasso", "stability" (bootstrap) or "knockoff" (members have copies of their own).
    """
    signals = round(rho * size)
    w0 = np.zeros(size)
    w0[:signals] = rng.standard_normal(signals)
    w0 *= np.sqrt(T * size / np.sum(w0**2))
    X, y = draw(rng, kind, round(alpha * size), size, w0, place, cases)
    one = np.ones((1, len(X)))
    if how == "knockoff":
        fits = [
            FITS[kind](
                np.hstack([X, rng.standard_normal(X.shape) / np.sqrt(size)]), y, [lam], one,
                n_jobs=1,
            )
            for _ in range(members)
        ]  # fmt: skip
    else:
        c = one if how == "lasso" else rng.poisson(1.0, (members, len(X))).astype(float)
        fits = [FITS[kind](X, y, [lam], c, n_jobs=1)]
    assert all(fit.converged for fit in fits)
    w, copy = np.split(np.concatenate([fit.coef[:, 0] for fit in fits]), [size], axis=1)
    mean = w.mean(axis=0)
    var = w.var(axis=0, ddof=1) if len(w) > 1 else np.zeros(size)
    out = {
        "q": np.mean(mean**2 - var / len(w)),
        "m": np.mean(w0 * mean),
        "active": np.mean(w != 0.0),
    }
    if len(w) > 1:
        out["v"] = np.mean(var)
    if how == "knockoff":
        out["v_tilde"] = np.mean(copy**2)
        better = np.abs(w) > np.abs(copy) + 0.5
        out |= {"tpr": better[:, :signals].mean(), "fpr": better[:, signals:].mean()}
    if kind != "cox":
        out["intercept"] = float(np.mean([fit.intercept for fit in fits]))
    return out


def class_messages(rng, *, size, alpha, rho, T, place, cases=None, steps=25):
    """Mean squared error of the posterior mean by message passing, for classes of one data set.

    Columns are centred by the sample, as their means in the population are not known.
    """
    signals = round(rho * size)
    w0 = np.zeros(size)
    w0[:signals] = rng.standard_normal(signals)
    w0 *= np.sqrt(T * size / np.sum(w0**2))
    X, y = draw(rng, "logistic", round(alpha * size), size, w0, place, cases)
    shift = np.mean(X @ w0) if cases is not None else 0.0
    X = X - X.mean(axis=0) if cases is not None else X
    node, p = np.polynomial.hermite_e.hermegauss(31)
    p = p / p.sum()
    effect = T / rho
    side = 2.0 * y - 1.0
    w, V, g = np.zeros(size), T, np.zeros(len(X))
    for _ in range(steps):
        omega = X @ w - V * g
        here = shift * np.mean(w * w0) / T  # mean of the fields in the sample, one number
        z = place + here + omega[:, None] + np.sqrt(V) * node
        law = expit(side[:, None] * z)
        g = side * ((law * (1.0 - law)) @ p) / (law @ p)
        bend = (law * (1.0 - law) * (1.0 - 2.0 * law)) @ p / (law @ p) - g**2
        g = g - np.mean(g) if cases is not None else g
        s = alpha * np.mean(g**2)
        # the likelihood of a sample by class has the prevalence at w too, which is a ridge: the
        # precision is that of the scores, and not of the curvature
        r = (X.T @ g - alpha * np.mean(bend) * w) / s
        own = s * effect
        log_odds = np.log(rho / (1.0 - rho)) - 0.5 * np.log1p(own)
        chance = expit(log_odds + 0.5 * s * r**2 * own / (1.0 + own))
        mean = r * own / (1.0 + own)
        w = chance * mean
        V = np.mean(chance * (effect / (1.0 + own) + mean**2) - w**2)
    return np.mean((w - w0) ** 2)
