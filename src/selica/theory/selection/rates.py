r"""From a threshold on the field to true and false positive rates.

Selection probabilities are increasing functions of :math:`|g|`, the part of a variable's field
that the data fix. Every rule of the form "probability above a threshold" is therefore
:math:`|g| > g^*`, and needs one scalar equation for :math:`g^*`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from selica._core.effects import Mixture
from selica._core.results import Result, unwrap
from selica._core.root import find_root
from selica._core.scalar import density, knockoff_probability, survival
from selica._core.types import Array, IntArray


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Rates(Result):
    """True positive, false positive and false discovery rate in the limit of large systems.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    >>> rates = theory.solve_lasso(model, lam=0.5).rates()
    >>> round(rates.tpr, 3), round(rates.fpr, 3), round(rates.fdr, 3)
    (0.824, 0.026, 0.069)
    """

    tpr: Any
    fpr: Any
    fdr: Any


def two_sided(threshold: Array, mean: Array, var: Array) -> Array:
    """P(|h| > threshold) for h ~ N(mean, var); a field without spread is a step."""
    sd = np.sqrt(var)
    with np.errstate(divide="ignore", invalid="ignore"):
        smooth = survival((threshold - mean) / sd) + survival((threshold + mean) / sd)
    return np.asarray(np.where(sd > 0.0, smooth, np.abs(mean) > threshold))


def over_signals(
    mixture: Mixture, slope: Array, noise: Array, probability: Callable[[Array, Array], Array]
) -> Array:
    """Average of a function of (mean, variance) of the field over the law of the effects."""
    Q, noise = np.asarray(slope)[..., None], np.asarray(noise)[..., None]
    mean, var = np.broadcast_arrays(Q * mixture.mean, (Q * mixture.sd) ** 2 + noise)
    return np.asarray(probability(mean, var) @ mixture.probability)


def make_rates(rho: Array, tpr: Array, fpr: Array) -> Rates:
    """Rates with the false discovery rate; nothing selected counts as no false discovery."""
    false, true = (1.0 - np.asarray(rho)) * fpr, np.asarray(rho) * tpr
    with np.errstate(invalid="ignore", divide="ignore"):
        fdr = np.where(false > 0.0, false / (false + true), 0.0)
    tpr, fpr, fdr = np.broadcast_arrays(tpr, fpr, fdr)
    return Rates(unwrap(tpr), unwrap(fpr), unwrap(fdr))


def threshold_of_frequency(Pi_th: Array, own: Array, lam: Array) -> Array:
    """g* with P(|g* + sqrt(own) eta| > lam) = Pi_th; 0 if every variable passes, inf if none."""
    Pi_th, own, lam = (np.array(a, dtype=float) for a in np.broadcast_arrays(Pi_th, own, lam))
    out = np.array(lam)  # own = 0: members agree
    shape = out.shape
    Pi, sd, lam, out = Pi_th.ravel(), np.sqrt(own.ravel()), lam.ravel(), out.ravel()
    out[Pi >= 1.0] = np.inf
    with np.errstate(divide="ignore"):
        floor = 2.0 * survival(lam / sd)
    everyone = (Pi < floor) | ((Pi == 0.0) & (sd > 0.0))
    out[everyone] = 0.0
    todo = np.flatnonzero((sd > 0.0) & (Pi < 1.0) & ~everyone)
    if todo.size:
        t, goal = lam[todo] / sd[todo], Pi[todo]

        def equation(y: Array, index: IntArray) -> tuple[Array, Array]:
            edge = 2.0 * t[index] + y  # g = lam + sd y
            value = survival(-y) + survival(edge) - goal[index]
            return value, density(y) - density(edge)

        root = find_root(equation, ndtri(goal), lower=-t, upper=np.full(t.size, 40.0))
        out[todo] = np.maximum(lam[todo] + sd[todo] * root.x, 0.0)
    return out.reshape(shape)


def threshold_of_knockoff_frequency(
    Pi_th: Array, own: Array, var_copy: Array, lam: Array, gap: Array
) -> Array:
    """g* with P(|S(g* + sqrt(own) eta)| - |S(h_copy)| > gap) = Pi_th."""
    args = [np.array(a, dtype=float) for a in np.broadcast_arrays(Pi_th, own, var_copy, lam, gap)]
    shape = args[0].shape
    Pi, own, var_copy, lam, gap = (a.ravel() for a in args)
    out = np.full(Pi.size, np.inf)
    floor = knockoff_probability(np.zeros(Pi.size), own, var_copy, lam, gap).value
    everyone = (Pi < floor) & (Pi < 1.0)
    out[everyone] = 0.0
    todo = np.flatnonzero((Pi < 1.0) & ~everyone)
    if todo.size:
        own, var_copy, lam, gap, goal = (a[todo] for a in (own, var_copy, lam, gap, Pi))
        top = lam + np.maximum(gap, 0.0) + 40.0 * (np.sqrt(own) + np.sqrt(var_copy))

        def equation(g: Array, index: IntArray) -> tuple[Array, Array]:
            chance = knockoff_probability(
                g * top[index], own[index], var_copy[index], lam[index], gap[index]
            )
            return chance.value - goal[index], chance.slope * top[index]

        start = (lam + np.maximum(gap, 0.0)) / top
        out[todo] = top * find_root(equation, start, lower=0.0, upper=1.0).x
    return out.reshape(shape)


def gap_of_frequency(Pi_th: float, g: Array, own: Array, var_copy: Array, lam: Array) -> Array:
    """The gap c >= 0 with P(|S(g + sqrt(own) eta)| - |S(h_copy)| > c) = Pi_th; 0 if none."""
    g, own, var_copy, lam = (
        np.array(a, dtype=float) for a in np.broadcast_arrays(g, own, var_copy, lam)
    )
    shape = g.shape
    g, own, var_copy, lam = (a.ravel() for a in (g, own, var_copy, lam))
    top = np.abs(g) + 40.0 * np.sqrt(own) + 1e-300

    def equation(x: Array, index: IntArray) -> tuple[Array, Array]:
        chance = knockoff_probability(
            g[index], own[index], var_copy[index], lam[index], x * top[index]
        )
        return Pi_th - chance.value, -chance.gap_slope * top[index]

    start = np.maximum(np.abs(g) - lam, 0.0) / top
    return (top * find_root(equation, start, lower=0.0, upper=1.0).x).reshape(shape)
