r"""The scalar channel of one variable: what its field tells about its effect.

A variable is seen through :math:`r = w_0 + \xi/\sqrt s` with precision s. In the unit of the noise,
:math:`u = \sqrt s\, r`, a mixture :math:`\sum_k p_k N(\mu_k, \sigma_k^2)` of the effects becomes
:math:`\sum_k p_k N(\sqrt s\mu_k, 1 + s\sigma_k^2)`, and the posterior is a mixture again. With
:math:`V(u)` the posterior variance in that unit,

.. math:: L(s) = s\,\mathrm{mmse}(s) = E[V], \qquad \frac{dL}{d\log s} = E[V - V^2], \qquad
          \frac{dI}{d\log s} = \tfrac12 L .

Every average is a sum of positive terms, by quadrature over u: Gauss-Legendre panels for mixtures
of centred Gaussians, the trapezoidal rule where there are points.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from selica._core.effects import Mixture
from selica._core.quadrature import panels
from selica._core.scalar import LOG_SQRT_2PI
from selica._core.types import Array

# Centred mixtures. The posterior has its nearest poles where the odds are -1, at
# Im u = pi / Re u > 0.3 as long as exp(-u^2/2) counts: panels of 0.5 with 14 nodes reach rounding.
_QUADRATURE_ORDER = 14
_NEAR_EDGES = np.linspace(0.0, 12.0, 25)
_PANEL_GROWTH = np.log(1.5)  # growth of the panels beyond, where only wide components are left
_TRUNCATION = 10.0  # standard deviations of a component that are integrated
# Points. Two points at distance M meet with weight exp(-M^2/8), and their posterior has poles at
# Im u = pi/M: a step of 0.1 errs by exp(-2 pi^2 / 0.1 M - M^2/8) < 1e-14 for every M.
_NODE_STEP = 0.1
_SEPARATION = 18.0  # exp(-M^2/8) < 1e-17 beyond
_CHUNK_VALUES = 200_000  # values held at once
# Components narrower than this, in units of the noise, count as one of their mean variance: what
# they add is linear in it up to its square times their probability.
_NARROW_VARIANCE = 1e-6


class Channel(NamedTuple):
    """Averages over the channel at precisions s, each of the shape of s."""

    load: Array
    """s mmse(s): the posterior variance in units of the noise."""
    slope: Array
    """Its derivative in log s."""
    information: Array
    """Mutual information between effect and field, in nats."""


def with_nulls(signals: Mixture, rho: float) -> Mixture:
    """Return the distribution of one variable: zero with probability 1 - rho, else an effect."""
    mean = np.concatenate([[0.0], signals.mean])
    sd = np.concatenate([[0.0], signals.sd])
    probability = np.concatenate([[1.0 - rho], rho * signals.probability])
    keep = probability > 0.0
    return Mixture(mean[keep], sd[keep], probability[keep])


def channel(signals: Mixture, rho: float, s: Array) -> Channel:
    """Return least error and information of the channel, at precisions s of shape (n,)."""
    law = with_nulls(signals, rho)
    out = np.zeros((3, s.size))
    if not law.mean.any():
        step = max(1, _CHUNK_VALUES // (500 * law.mean.size))
        for i in range(0, s.size, step):
            part = s[i : i + step]
            variance, probability = _without_narrow(law, part.max())
            own = part[:, None] * variance
            reach = _TRUNCATION * np.sqrt(1.0 + own.max(axis=1))
            u, du = _radial_nodes(np.maximum(reach, _NEAR_EDGES[-1]))
            weight = np.log(probability)
            out[:, i : i + step] = _averages(u, 2.0 * du, np.zeros_like(own), own, weight)
        return Channel(*out)
    order = np.argsort(law.mean, kind="stable")
    mean, sd, weight = law.mean[order], law.sd[order], np.log(law.probability[order])
    for i, precision in enumerate(s):
        out[:, i] = _by_points(np.sqrt(precision) * mean, precision * sd**2, weight)
    return Channel(*out)


def _without_narrow(law: Mixture, s: float) -> tuple[Array, Array]:
    """Return variances and probabilities, with all narrow components but the nulls in one."""
    variance, probability = law.sd**2, law.probability
    narrow = (variance * s < _NARROW_VARIANCE) & (variance > 0.0)
    if np.count_nonzero(narrow) < 2:
        return variance, probability
    share = probability[narrow].sum()
    one = probability[narrow] @ variance[narrow] / share
    return (
        np.concatenate([variance[~narrow], [one]]),
        np.concatenate([probability[~narrow], [share]]),
    )


def _radial_nodes(top: Array) -> tuple[Array, Array]:
    """Return nodes and weights on (0, top), shape (n, nodes): even panels, then growing ones."""
    number = int(
        np.ceil(np.log(top.max() / _NEAR_EDGES[-1]) / _PANEL_GROWTH)
    )  # none where all are narrow
    growth = np.linspace(0.0, 1.0, number + 1)[1:]
    far = _NEAR_EDGES[-1] * (top[:, None] / _NEAR_EDGES[-1]) ** growth
    edges = np.concatenate(
        [np.broadcast_to(_NEAR_EDGES, (top.size, _NEAR_EDGES.size)), far], axis=1
    )
    return panels(edges, _QUADRATURE_ORDER)


def _averages(u: Array, du: Array, mean: Array, own: Array, weight: Array) -> Array:
    """Return E V, E[V - V^2] and I by nodes (n, nodes); components (n, K) have variance 1 + own."""
    wide = 1.0 + own
    log_joint = (
        weight[..., None, :]
        - LOG_SQRT_2PI
        - 0.5 * np.log(wide)[..., None, :]
        - 0.5 * (u[..., None] - mean[..., None, :]) ** 2 / wide[..., None, :]
    )
    peak = log_joint.max(axis=-1, keepdims=True)
    joint = np.exp(log_joint - peak)
    total = joint.sum(axis=-1, keepdims=True)
    posterior = joint / total
    density = (np.exp(peak) * total)[..., 0] * du
    variance = own / wide
    centre = (own[..., None, :] * u[..., None] + mean[..., None, :]) / wide[..., None, :]
    average = np.sum(posterior * centre, axis=-1, keepdims=True)
    V = np.sum(posterior * (variance[..., None, :] + (centre - average) ** 2), axis=-1)
    surprise = log_joint - peak - np.log(total) - weight[..., None, :]
    which = np.sum(posterior * surprise, axis=-1)  # of the component, given the field
    within = 0.5 * np.sum(np.exp(weight) * np.log1p(own), axis=-1)
    return np.stack(
        [
            np.sum(density * V, axis=-1),
            np.sum(density * (V - V * V), axis=-1),
            np.sum(density * which, axis=-1) + within,
        ]
    )


def _by_points(mean: Array, own: Array, weight: Array) -> Array:
    """Return the same averages for components in the order of their means, at one precision."""
    out = np.zeros(3)
    if not own.any():
        # a point that no other comes near is known once seen: no error, -log p of information
        gap = np.concatenate([[np.inf], np.diff(mean), [np.inf]])
        alone = np.minimum(gap[1:], gap[:-1]) > _SEPARATION
        out[2] = -np.sum((np.exp(weight) * weight)[alone])
        mean, own, weight = mean[~alone], own[~alone], weight[~alone]
        if mean.size == 0:
            return out
    reach = _TRUNCATION * np.sqrt(1.0 + own)
    u = _covered(mean - reach, mean + reach)
    far = float(reach.max()) + 2.0
    step = max(1, _CHUNK_VALUES // mean.size)
    within = 0.5 * np.sum(np.exp(weight) * np.log1p(own))
    # blocks of nodes see the components near them
    cuts = np.unique(np.concatenate([np.arange(0, u.size, min(step, 256)), [u.size]]))
    for start, stop in itertools.pairwise(cuts):
        block = u[start:stop]
        low = np.searchsorted(mean, block[0] - far)
        high = np.searchsorted(mean, block[-1] + far, side="right")
        near = slice(low, high)
        out += _averages(
            block, np.full(block.size, _NODE_STEP), mean[near], own[near], weight[near]
        ) - [
            0.0,
            0.0,
            0.5 * np.sum(np.exp(weight[near]) * np.log1p(own[near])),
        ]
    out[2] += within
    return out


def _covered(low: Array, high: Array) -> Array:
    """Return the nodes of one even grid that lie in the union of the intervals, sorted."""
    order = np.argsort(low, kind="stable")
    low, high = low[order], np.maximum.accumulate(high[order])
    first = np.flatnonzero(np.concatenate([[True], low[1:] > high[:-1]]))
    last = np.concatenate([first[1:] - 1, [low.size - 1]])
    parts = [
        np.arange(np.floor(a / _NODE_STEP), np.ceil(b / _NODE_STEP) + 1.0)
        for a, b in zip(low[first], high[last], strict=True)
    ]
    return _NODE_STEP * np.unique(np.concatenate(parts))
