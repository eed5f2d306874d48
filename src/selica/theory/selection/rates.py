r"""From a threshold on the field to true and false positive rates.

Selection probabilities are increasing functions of :math:`|g|`, the part of a variable's field
that the data fix. Every rule of the form "probability above a threshold" is therefore
:math:`|g| > g^*`, and needs one scalar equation for :math:`g^*`.

With B members a variable of selection probability :math:`\Pi` is selected when at least
:math:`k = \lceil B\,\Pi_{th} \rceil` of them agree, which has the probability
:math:`P(\mathrm{Bin}(B, \Pi) \ge k) = I_\Pi(k, B - k + 1)`. It replaces the step
:math:`1(\Pi > \Pi_{th})`, and is averaged over the distribution of the field.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betainc, betainccinv, betaincinv, ndtri

from selica._core.effects import Mixture
from selica._core.quadrature import panels
from selica._core.results import Result, unwrap
from selica._core.root import find_root
from selica._core.scalar import density, knockoff_probability, survival
from selica._core.types import Array, IntArray
from selica._core.validation import count

_QUADRATURE_ORDER = 12
"""Gauss-Legendre nodes of a panel."""
# Panels of the quadrature end where I_Pi(k, B - k + 1) has these values, and symmetrically.
_PANEL_PROBABILITIES = np.array([1e-17, 1e-13, 1e-10, 1e-7, 1e-5, 1e-3, 0.01, 0.05, 0.15, 0.3, 0.5])
_FIELD_EDGES = np.linspace(-9.0, 9.0, 19)  # standard deviations of the field
_LARGEST_PROBABILITY = 1.0 - 1e-16


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
    """Return P(|h| > threshold) for h ~ N(mean, var); a field without spread is a step."""
    sd = np.sqrt(var)
    with np.errstate(divide="ignore", invalid="ignore"):
        smooth = survival((threshold - mean) / sd) + survival((threshold + mean) / sd)
    return np.asarray(np.where(sd > 0.0, smooth, np.abs(mean) > threshold))


def over_signals(
    mixture: Mixture, slope: Array, noise: Array, probability: Callable[[Array, Array], Array]
) -> Array:
    """Return the average of a function of (mean, variance) of the field over the effects."""
    Q, noise = np.asarray(slope)[..., None], np.asarray(noise)[..., None]
    mean, var = np.broadcast_arrays(Q * mixture.mean, (Q * mixture.sd) ** 2 + noise)
    return np.asarray(probability(mean, var) @ mixture.probability)


def make_rates(rho: Array, tpr: Array, fpr: Array) -> Rates:
    """Return rates with that of false discoveries, which is zero if nothing is selected."""
    false, true = (1.0 - np.asarray(rho)) * fpr, np.asarray(rho) * tpr
    with np.errstate(invalid="ignore", divide="ignore"):
        fdr = np.where(false > 0.0, false / (false + true), 0.0)
    tpr, fpr, fdr = np.broadcast_arrays(tpr, fpr, fdr)
    return Rates(unwrap(tpr), unwrap(fpr), unwrap(fdr))


def threshold_of_frequency(Pi_th: Array, own: Array, lam: Array) -> Array:
    """Find g* with P(|g* + sqrt(own) eta| > lam) = Pi_th; 0 if all variables pass, inf if none."""
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
    """Find g* with P(|S(g* + sqrt(own) eta)| - |S(h_copy)| > gap) = Pi_th."""
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
    """Find a gap c >= 0 with P(|S(g + sqrt(own) eta)| - |S(h_copy)| > c) = Pi_th; 0 if none."""
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


def votes_needed(Pi_th: Array, n_members: int) -> Array:
    """Return how many of the members have to select a variable."""
    return np.ceil(n_members * np.asarray(Pi_th) - 1e-9)


def member_rates(
    Pi_th: Array,
    n_members: int,
    rho: Array,
    field: tuple[Array, Array],
    signals: Mixture,
    threshold: Callable[[Array], Array],
    probability: Callable[[Array], Array],
) -> Rates:
    """Return the rates of the rule "at least Pi_th n_members members".

    Parameters
    ----------
    Pi_th : array
        At the common shape of everything.
    n_members : int
    rho : array
    field : (slope, chi_hat)
        The field of a variable with effect w is N(slope w, chi_hat).
    signals : Mixture
        Distribution of the effects, folded.
    threshold, probability : callable
        g of a selection probability, and back; arguments have one more axis, the last.
    """
    count("n_members", n_members)
    k = votes_needed(Pi_th, n_members)[..., None]
    # with no vote needed everything is selected; the first vote stands in for it below
    a, b = np.maximum(k, 1.0), n_members - np.maximum(k, 1.0) + 1.0
    below, above = (
        betaincinv(a, b, _PANEL_PROBABILITIES),
        betainccinv(a, b, _PANEL_PROBABILITIES[-2::-1]),
    )
    Pi = np.minimum(np.concatenate([below, above], axis=-1), _LARGEST_PROBABILITY)
    knots = threshold(Pi)

    def rate(mean: Array, sd: Array) -> Array:
        """Return the chance that a variable whose field is N(mean, sd^2) is selected."""
        mean, sd = np.broadcast_arrays(mean, sd)
        mean, sd = mean[..., None], sd[..., None]
        low, high = knots[..., :1], knots[..., -1:]
        own = np.clip(np.abs(mean) + sd * _FIELD_EDGES, low, high)
        cuts = np.sort(np.concatenate([np.broadcast_to(knots, own.shape[:-1] + knots.shape[-1:]),
                                       own], axis=-1), axis=-1)  # fmt: skip
        g, weight = panels(cuts, _QUADRATURE_ORDER)
        with np.errstate(divide="ignore", invalid="ignore"):
            law = (density((g - mean) / sd) + density((g + mean) / sd)) / sd
        between = np.sum(weight * law * betainc(a, b, probability(g)), axis=-1)
        smooth = between + two_sided(high, mean, sd**2)[..., 0]
        certain = betainc(a, b, probability(np.abs(mean)))[..., 0]
        return np.asarray(np.where(sd[..., 0] > 0.0, smooth, certain))

    slope, chi_hat = field
    nobody = k[..., 0] <= 0.0
    fpr = np.where(nobody, 1.0, rate(np.zeros(()), np.sqrt(chi_hat)))
    tpr = np.zeros(())
    for mean, sd, share in zip(*signals, strict=True):
        tpr = tpr + share * rate(slope * mean, np.sqrt((slope * sd) ** 2 + chi_hat))
    return make_rates(rho, np.where(nobody, 1.0, tpr), fpr)
