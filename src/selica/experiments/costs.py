"""Training costs of finite ensembles beside the large deviations that the theory predicts.

The typical cost is the same for all data sets in the limit, but at N variables it differs between
them by a few parts in the square root of N, as much as between the members of one ensemble. What
members do is therefore measured inside each data set, and its average over data sets has the error
that data sets show.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.random import RandomState, child, seed_sequence
from selica._core.table import Table
from selica._core.types import Array
from selica._core.validation import choice, count
from selica.experiments.summary import mean_and_error
from selica.sampling import iid_copies, resample_weights, simulate
from selica.solvers import knockoff_path_batch, lasso_batch
from selica.theory import RateFunction

# How rows are drawn for each law of the theory.
_SCHEMES = {
    "poisson": "poisson",
    "multinomial": "bootstrap",
    "subsample": "subsample",
    "exponential": "exponential",
    "none": "knockoff copies",
}
_BINS = 40
"""Of the histogram of each data set."""
_KEY = 17  # of the data sets among the children of a seed


class Extrapolation(NamedTuple):
    """A quantity at infinite N, by a straight line in 1/N, with its standard error."""

    value: float
    error: float


def simulate_costs(
    rate: RateFunction,
    N: int,
    n_datasets: int,
    n_members: int,
    random_state: RandomState | None = None,
) -> Array:
    """Simulate minimal costs of the members of ensembles, for each variable.

    Parameters
    ----------
    rate : RateFunction
        Says which model, method, penalty and resampling.
    N : int
        Number of variables; there are alpha N rows.
    n_datasets, n_members : int
        Data sets, and resamples (or knockoff copies) of each.
    random_state
        As in `sampling.simulate`.

    Returns
    -------
    array of shape (n_datasets, n_members)
    """
    N = count("N", N, at_least=2)
    choice("resampling", rate.resampling, tuple(_SCHEMES))
    seed = seed_sequence(random_state)
    return np.stack(
        [
            _costs(rate, N, count("n_members", n_members), child(seed, _KEY, number))
            for number in range(count("n_datasets", n_datasets))
        ]
    )


def _costs(rate: RateFunction, N: int, members: int, seed: np.random.SeedSequence) -> Array:
    """Return the costs of one data set."""
    model, lam = rate.model, rate.lam
    data = simulate(
        round(model.alpha * N),
        N,
        sparsity=model.rho,
        noise_variance=model.Delta,
        effects=model.effects,
        random_state=seed,
        scale="article",
    )
    X, y = data.X, data.y
    if rate.resampling == "none":
        copies = iid_copies(X, scale=1.0 / np.sqrt(N), random_state=seed, members=members)
        fit = knockoff_path_batch(X, y, [lam], copies.__getitem__, members)
        assert fit.coef is not None
        coef = fit.coef[:, 0]
        away = y - coef[:, :N] @ X.T
        away -= np.stack([copies[b] @ coef[b, N:] for b in range(members)])
        loss = 0.5 * (away**2).sum(axis=1)
    else:
        scheme = _SCHEMES[rate.resampling]
        weights = resample_weights(y.size, members, scheme, rate.mu_B, random_state=seed)
        fit = lasso_batch(X, y, lam, weights)
        assert fit.coef is not None
        coef = fit.coef[:, 0]
        loss = 0.5 * (weights * (y - coef @ X.T) ** 2).sum(axis=1)
    if not fit.converged:
        raise RuntimeError(f"the lasso did not converge; largest gap {np.nanmax(fit.gap):.1e}")
    return np.asarray((loss + lam * np.abs(coef).sum(axis=1)) / N)


def cost_cumulants(costs: dict[int, Array]) -> Table:
    """Return the mean of the cost and N times its variance over the members, for each N.

    Parameters
    ----------
    costs : dict
        From N to what `simulate_costs` returned.

    Returns
    -------
    Table
        Columns N, quantity (mean or variance), value, error; errors are those of an average over
        data sets.
    """
    rows = []
    for N, values in costs.items():
        each = {"mean": values.mean(axis=1), "variance": N * values.var(axis=1, ddof=1)}
        for name, value in each.items():
            mean, error = mean_and_error(value)
            rows.append({"N": N, "quantity": name, "value": mean, "error": error})
    return Table.of(rows)


def empirical_rate(rate: RateFunction, N: int, costs: Array) -> Table:
    """Return what histograms of the costs say of s.

    Each data set has its own histogram, around its own mean cost, and logarithms are averaged over
    data sets: that is what the theory does. The prefactor of `RateFunction.density` is taken off.

    Parameters
    ----------
    rate : RateFunction
        With a grid that covers the costs; those outside are left out.
    N : int
    costs : array of shape (data sets, members)

    Returns
    -------
    Table
        Columns N, cost, s, error; bins in which every data set has ten members or more.
    """
    shifted = costs - costs.mean(axis=1, keepdims=True) + rate.typical_cost
    ends = np.array([np.nanmin(rate.cost), np.nanmax(rate.cost)])
    edges = np.linspace(max(shifted.min(), ends[0]), min(shifted.max(), ends[1]), _BINS + 1)
    number = np.stack([np.histogram(one, edges)[0] for one in shifted])
    full = (number >= 10).all(axis=0)
    width, middle = edges[1] - edges[0], 0.5 * (edges[1:] + edges[:-1])[full]
    log_density = np.log(number[:, full] / (costs.shape[1] * width))
    mean, error = mean_and_error(log_density)
    prefactor = np.log(rate.density(middle, N)) - N * rate.rate(middle)
    return Table.of(
        {"N": N, "cost": e, "s": (m - f) / N, "error": d / N}
        for e, m, d, f in zip(middle, mean, error, prefactor, strict=True)
    )


def empirical_generating(costs: Array, N: int, y: Sequence[float]) -> Table:
    """Return g(y) + y e(0) from the costs themselves: columns N, y, value, error.

    The logarithm of a mean over n members is too small by half its relative variance over n,
    which is put back.
    """
    rows = []
    off = N * (costs - costs.mean(axis=1, keepdims=True))
    for tilt in y:
        weight = np.exp(-tilt * off)
        mean = weight.mean(axis=1)
        short = weight.var(axis=1, ddof=1) / mean**2 / costs.shape[1]
        value, error = mean_and_error((np.log(mean) + 0.5 * short) / N)
        rows.append({"N": N, "y": tilt, "value": value, "error": error})
    return Table.of(rows)


def extrapolate(
    N: Sequence[float], value: Sequence[float], error: Sequence[float]
) -> Extrapolation:
    """Return the value at infinite N by weighted least squares on a + b/N."""
    size, sigma = np.asarray(N, dtype=float), np.asarray(error, dtype=float)
    if np.unique(size).size < 2:
        raise ArgumentError("N must have two values at least.")
    design = np.stack([1.0 / sigma, 1.0 / (size * sigma)], axis=1)
    inverse = np.linalg.inv(design.T @ design)
    a = inverse @ design.T @ (np.asarray(value, dtype=float) / sigma)
    return Extrapolation(float(a[0]), float(np.sqrt(inverse[0, 0])))
