"""The posterior of which member of a pair is the original, by adding up all states."""

from __future__ import annotations

from itertools import product

import numpy as np


def log_density(y, columns, t2, s2):
    """Return the log density of y ~ N(0, s2 I + t2 F F')."""
    covariance = s2 * np.eye(y.size) + t2 * columns @ columns.T
    sign, size = np.linalg.slogdet(2.0 * np.pi * covariance)
    assert sign > 0.0
    return -0.5 * (size + y @ np.linalg.solve(covariance, y))


def states(units):
    """Yield versions and inclusions of all units."""
    for versions in product((0, 1), repeat=units):
        for inside in product((False, True), repeat=units):
            yield np.array(versions), np.array(inside)


def columns_of(first, second, variable, versions, inside):
    """Return the columns of a state."""
    chosen = np.where(versions[variable] == 0, first, second)
    return chosen[:, inside[variable]]


def originals(first, second, y, variable, p0, t2, s2):
    """Return P(the first is the original) and P(the unit matters), for given parameters."""
    units = variable.max() + 1
    weights, rows = [], list(states(units))
    for versions, inside in rows:
        k = inside.sum()
        F = columns_of(first, second, variable, versions, inside)
        prior = (units - k) * np.log(p0) + k * np.log1p(-p0)
        weights.append(prior + log_density(y, F, t2, s2))
    weight = np.exp(np.array(weights) - np.max(weights))
    weight /= weight.sum()
    is_first = np.array([versions == 0 for versions, _ in rows])
    matters = np.array([inside for _, inside in rows])
    return weight @ is_first, weight @ matters


def averaged(first, second, y, *, least_p0, t2_prior, s2_prior):
    """Return P(the first is the original), averaged over the parameters by sums over a grid.

    p0 is uniform above `least_p0`; the priors of t2 and s2 are inverse Gamma (shape, scale).
    """
    p = first.shape[1]
    grid = np.linspace(-12.0, 8.0, 161)  # logarithms, in units of the scale
    nodes, mass = np.polynomial.legendre.leggauss(2 * p + 2)
    p0 = least_p0 + (1.0 - least_p0) * 0.5 * (nodes + 1.0)

    def logs(prior):
        shape, scale = prior
        return scale * np.exp(grid), -shape * grid - np.exp(-grid)  # density in log units

    (t2, log_t2), (s2, log_s2) = logs(t2_prior), logs(s2_prior)
    log_weights, rows = [], list(states(p))
    for versions, inside in rows:
        k = inside.sum()
        F = columns_of(first, second, np.arange(p), versions, inside)
        value, axes = np.linalg.eigh(F @ F.T)
        square = (axes.T @ y) ** 2
        variance = s2[None, :, None] + t2[:, None, None] * np.maximum(value, 0.0)
        like = -0.5 * (np.log(variance) + square / variance).sum(axis=-1)
        cells = like + log_t2[:, None] + log_s2[None, :]
        top = cells.max()
        share = np.log(mass @ (p0 ** (p - k) * (1.0 - p0) ** k))
        log_weights.append(share + top + np.log(np.exp(cells - top).sum()))
    weight = np.exp(np.array(log_weights) - np.max(log_weights))
    weight /= weight.sum()
    return weight @ np.array([versions == 0 for versions, _ in rows])
