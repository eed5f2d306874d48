r"""Responses as tables: labels of a row, and how likely each is at the Gauss nodes of the truth.

A label is a class, a count, or an event at a time or its absence. A table has the probability of
each label given the true predictor, and its derivative, which is what the slope of a field needs.
Counts are all whole numbers where the mean is small, and Gauss nodes of the Poisson law where it
is large. Times are nodes of panels in the marginal cumulative hazard s: events have the density
exp(-s) there, and the effective cumulative hazard is smooth in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial.legendre import legvander
from scipy.linalg import eigh_tridiagonal
from scipy.special import expit, gammaln, logit

from selica._core.quadrature import legendre
from selica._core.types import Array
from selica.theory.glm.hermite import HermiteRule, covered, rule
from selica.theory.glm.responses import prevalence, survivors, time_of
from selica.theory.response import RowSetting

_MANY_SIDES = 200
"""Hermite polynomials of averages over the truth alone."""
_WIDEST = 1.2
"""Widest panel of the marginal cumulative hazard."""
_FIRST = 3.0
"""Minus the logarithm of the first edge, in deviations of a field."""
_GROWTH = 4.0
"""Ratio of neighbouring edges of panels."""


@dataclass(frozen=True, slots=True)
class Precision:
    """How finely averages are taken."""

    digits: float
    """Of averages over fields."""
    least: float
    """Digits below which a field is not resolved."""
    tolerance: float
    """Of the equations, in logarithms."""
    converged: float
    """Residual up to which a point counts as solved."""
    nodes: int
    """Most Hermite polynomials."""
    reach: float
    """Standard deviations of the outermost nodes."""
    few: float
    """Mean count up to which every count is a label."""
    counts: int
    """Gauss nodes of larger counts."""
    times: int
    """Nodes of a panel of times."""
    longest: float
    """Largest marginal cumulative hazard; what survives it is as good as censored."""
    rare: float
    """Labels and weights that matter less are left out."""
    weights: int | None
    """Gauss nodes of the law of the weights of rows; None for all weights."""
    path: int
    """Steps of the way from a large penalty, for what is not found otherwise."""


FINE = Precision(
    digits=11.0,
    least=5.0,
    tolerance=1e-12,
    converged=1e-10,
    nodes=400,
    reach=10.0,
    few=80.0,
    counts=20,
    times=10,
    longest=25.0,
    rare=1e-14,
    weights=None,
    path=40,
)
"""To about ten digits."""
FAST = Precision(
    digits=5.5,
    least=3.0,
    tolerance=1e-6,
    converged=1e-4,
    nodes=96,
    reach=7.5,
    few=12.0,
    counts=6,
    times=6,
    longest=11.5,
    rare=1e-8,
    weights=7,
    path=12,
)
"""To about five digits, which is enough for a plan."""


@dataclass(frozen=True, slots=True)
class Clock:
    """Times of events, and sums over earlier and later ones."""

    time: Array
    """Of each label, the last one that of censoring."""
    hazard: Array
    """(labels, events): sums to the effective cumulative hazard, of 1 / (what is at risk)."""
    later: Array
    """(events, labels): sums what labels have to what is at risk."""


@dataclass(frozen=True, slots=True)
class OutcomeTable:
    """Labels of a response, in terms of the Hermite coefficients of a rule."""

    rule: HermiteRule
    y: Array
    """What the loss takes as the response, (Y,)."""
    chance: Array
    """Hermite coefficients of the probability of each label as a function of the truth, (Y, K)."""
    score: Array
    """The same of its derivative."""
    start: Array
    """Intercept without effects; of times the logarithms of what the hazards would be."""
    clock: Clock | None = None


@lru_cache(maxsize=256)
def table(response: RowSetting, size: int, precision: Precision) -> OutcomeTable:
    """Return the table of a response of one strength, with so many Hermite polynomials."""
    gauss = rule(size, precision.reach)
    z0 = np.sqrt(response.T) * gauss.x
    if response.kind == "logistic":
        return _classes(response, gauss, z0)
    if response.kind == "poisson":
        return _counts(response, gauss, z0, precision)
    return _times(response, gauss, z0, precision)


def _made(
    gauss: HermiteRule,
    y: Array,
    chance: Array,
    score: Array,
    start: Array,
    clock: Clock | None = None,
) -> OutcomeTable:
    return OutcomeTable(gauss, y, chance @ gauss.dual, score @ gauss.dual, start, clock)


def _classes(response: RowSetting, gauss: HermiteRule, z0: Array) -> OutcomeTable:
    log_odds = response.place + z0
    both = np.stack([expit(-log_odds), expit(log_odds)])
    cases = prevalence(response.T, response.place)
    if response.cases is not None:
        share = response.cases
        both = both * np.array([(1.0 - share) / (1.0 - cases), share / cases])[:, None]
        cases = share
    y = np.array([0.0, 1.0])
    score = both * (y[:, None] - expit(log_odds))
    return _made(gauss, y, both, score, np.array([logit(cases)]))


def _counts(
    response: RowSetting, gauss: HermiteRule, z0: Array, precision: Precision
) -> OutcomeTable:
    mean = np.exp(response.place + z0)
    small = mean <= precision.few
    top = min(precision.few, float(mean.max()))
    digits = -np.log10(precision.rare)
    most = np.ceil(top + np.sqrt(2.0 * digits * np.log(10.0) * top) + 1.2 * digits)
    y = np.arange(most + 1.0)
    log_mean = np.log(mean)
    chance = np.exp(y[:, None] * log_mean - mean - gammaln(y + 1.0)[:, None]) * small
    parts_y, parts = [y], [chance]
    for j in np.flatnonzero(~small):
        # Golub-Welsch for the Charlier polynomials
        k = np.arange(precision.counts, dtype=float)
        node, vector = eigh_tridiagonal(k, np.sqrt(k[1:] * mean[j]))
        own = np.zeros((k.size, z0.size))
        own[:, j] = vector[0] ** 2
        parts_y.append(mean[j] + node)
        parts.append(own)
    y, chance = np.concatenate(parts_y), np.concatenate(parts)
    gain = (chance @ gauss.weight) * (1.0 + y) ** 2
    often = gain > precision.rare * gain.sum()
    y, chance = y[often], chance[often]
    start = response.place + 0.5 * response.T
    return _made(gauss, y, chance, chance * (y[:, None] - mean), np.array([start]))


class TimeLabels(NamedTuple):
    """Times of events, the last one that of censoring, and what an integral over them needs."""

    time: Array
    node: Array
    """Marginal cumulative hazard at the events."""
    weight: Array
    """Of an integral over that hazard."""
    earlier: Array
    """The matrix that integrates up to each node."""
    measure: Array
    """Of an integral over times."""


def time_labels(T: float, end: float, widest: float, precision: Precision) -> TimeLabels:
    """Return times that resolve fields up to a standard deviation."""
    last = precision.longest
    if np.isfinite(end):
        last = min(last, -float(np.log(survivors(T, np.array([end]))[0])))
    node, weight, earlier = _panels(_edges(max(np.sqrt(T), widest), last), precision.times)
    time = time_of(T, np.append(node, last))
    # dt/ds is the share of survivors over the density of t
    truth = rule(_MANY_SIDES)
    risk = np.exp(np.sqrt(T) * truth.x)
    density = (np.exp(-time[:-1, None] * risk) * risk) @ truth.weight
    return TimeLabels(time, node, weight, earlier, weight * np.exp(-node) / density)


def _times(
    response: RowSetting, gauss: HermiteRule, z0: Array, precision: Precision
) -> OutcomeTable:
    # strong fits tell rows apart by their first instants
    widest = covered(gauss.degrees.size, precision.digits)
    time, node, weight, earlier, measure = time_labels(
        response.T, response.place, widest, precision
    )
    rate = np.exp(z0)
    alive = np.exp(-time[:, None] * rate)
    event = alive[:-1] * rate * measure[:, None]
    chance = np.concatenate([event, alive[-1:]])
    y = np.append(np.ones(node.size), 0.0)
    score = chance * (y[:, None] - time[:, None] * rate)
    every = np.concatenate([earlier, weight[None]])
    hazard = every * np.exp(-node)
    later = np.concatenate([(weight - earlier) / weight, np.ones((node.size, 1))], axis=1)
    return _made(gauss, y, chance, score, np.log(time), Clock(time, hazard, later))


def _edges(sd: float, last: float) -> Array:
    """Return edges of panels of the marginal cumulative hazard, finer near zero."""
    edge = min(np.exp(-_FIRST * sd), 0.5 * last)
    edges = [0.0, edge]
    while edges[-1] < last:
        edges.append(edges[-1] + min((_GROWTH - 1.0) * edges[-1], _WIDEST))
    edges[-1] = last
    if len(edges) > 2 and last - edges[-2] < 0.3 * (edges[-2] - edges[-3]):
        del edges[-2]
    return np.array(edges)


def _panels(edges: Array, order: int) -> tuple[Array, Array, Array]:
    """Return nodes, weights, and the matrix that integrates from zero up to each node."""
    x, w = legendre(order)
    # integrals of the interpolating polynomial from -1 to each node
    vander = legvander(x, order)
    coefficient = (vander[:, :order] * w[:, None]).T * (np.arange(order) + 0.5)[:, None]
    integral = np.empty((order, order))
    integral[:, 0] = x + 1.0
    for k in range(1, order):
        integral[:, k] = (vander[:, k + 1] - vander[:, k - 1]) / (2.0 * k + 1.0)
    inner = integral @ coefficient
    width = 0.5 * np.diff(edges)
    node = (edges[:-1, None] + width[:, None] * (x + 1.0)).ravel()
    weight = (width[:, None] * w).ravel()
    panel = np.repeat(np.arange(width.size), order)
    earlier = np.where(panel[:, None] > panel, weight, 0.0)
    for k in range(width.size):
        here = slice(k * order, (k + 1) * order)
        earlier[here, here] = width[k] * inner
    return node, weight, earlier
