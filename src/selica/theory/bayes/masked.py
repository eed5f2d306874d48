r"""The ceiling of knockoffs with one copy: what the best statistic of masked pairs finds.

A masked pair is seen through two fields, :math:`r = w_0 + \xi/\sqrt s` and
:math:`\tilde r = \tilde w_0 + \tilde\xi/\sqrt s`, of which at most one has an effect. The
Bayes-optimal fixed point has the errors of both, :math:`\alpha/s = \Delta + e(s)`, and message
passing takes the smallest s. With the likelihood ratio R of signal to null, in units
:math:`u = \sqrt s r` of the noise, the log odds that the first is the original are

.. math:: W = \log\frac{1 - \rho + \rho R(u)}{1 - \rho + \rho R(\tilde u)} ,

so that W > t where R(u) is above a bound that depends on the other field alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from selica._core.effects import Mixture
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.quadrature import panels
from selica._core.types import Array
from selica._core.validation import choice, error_level, number
from selica.theory.bayes.local_fdr import is_symmetric, log_ratio, tails
from selica.theory.model import Model
from selica.theory.response import RowResponse

LEVELS = ("estimated", "true")
"""False discovery rates a user can ask for: that which the filter estimates, or the true one."""
_STEP = 0.1
"""Of the scan for the first solution, in log s."""
_ORDER = 14
"""Nodes of a panel."""
_FEW = 6
"""Nodes of a panel where five digits are enough."""
_REACH = 10.0
"""Standard deviations that are integrated over."""
_PANELS = 0.5
"""Width of the panels of a field near zero, in units of its noise."""
_NEAR = 12.0
"""How far these panels reach."""
_GROWTH = 1.4
"""Ratio of neighbouring panels farther out."""
_POINT_PANELS = 2.0
"""Width of all panels where effects are points, whose fields have the width of the noise."""
_THRESHOLDS = np.concatenate([np.linspace(0.0, 2.0, 41)[1:], np.geomspace(2.1, 60.0, 40)])
"""Thresholds at which a level is looked for."""


class MaskedCeiling(NamedTuple):
    """What the best antisymmetric statistic of masked pairs finds, in the limit.

    Examples
    --------
    >>> from selica import theory
    >>> found = theory.masked_ceiling(theory.Model(alpha=0.63, rho=0.1, Delta=0.01), fdr=0.1)
    >>> round(found.precision, 3), round(found.discoveries, 4)
    (41.618, 0.0758)
    """

    precision: float
    """s: the precision of the fields, in units of the effects of the model."""
    prediction_error: float
    """E = alpha / s, that of a linear response which tells as much."""
    threshold: float
    """T of W; infinite where nothing is selected."""
    power: float
    """Share of the signals that are selected."""
    fdr: float
    """True false discovery rate."""
    discoveries: float
    """Share of all variables that is selected."""


class _Chances(NamedTuple):
    """Probabilities of W at a threshold."""

    null: float
    """P(W > t) of a null, and P(W < -t)."""
    signal: float
    """P(W > t) of a signal."""
    wrong: float
    """P(W < -t) of a signal."""


def masked_ceiling(
    model: Model,
    fdr: float,
    *,
    level: str = "estimated",
    n_features: int | None = None,
    response: RowResponse | None = None,
) -> MaskedCeiling:
    """Return what knockoffs with one independent copy find with the best statistic.

    Among antisymmetric statistics of the pairs the log odds have the most discoveries at each
    *estimated* false discovery rate, which is what the filter can see. At the same *true* rate
    others may find a little more.

    Parameters
    ----------
    model : Model
        Of shape (), with effects that are known and have both signs alike.
    fdr : float
        Level.
    level : {"estimated", "true"}
        Whether the level is that of the filter, or the true false discovery rate.
    n_features : int, optional
        Number of variables, by which the filter adds one false discovery; infinite by default.
    response : Logistic, Poisson or Cox, optional
        As in `solve_bayes`, of shape ().

    Examples
    --------
    >>> from selica import theory
    >>> found = theory.masked_ceiling(theory.Model(alpha=1.12, rho=0.5, Delta=0.01), fdr=0.1)
    >>> round(found.power, 4), round(found.fdr, 4)
    (0.7497, 0.0794)
    """
    Model.check_single(model)
    q, kind = error_level("fdr", fdr), choice("level", level, LEVELS)
    more = 0.0 if n_features is None else 1.0 / number("n_features", n_features, at_least=1.0)
    signals, rho = model.mixture, float(model.rho)
    s = pair_precision(model, response)
    if s == 0.0:
        return MaskedCeiling(0.0, np.inf, np.inf, 0.0, 0.0, 0.0)

    def rate(t: float) -> float:
        p = _chances(signals, rho, s, t)
        false = (1.0 - rho) * p.null
        if kind == "estimated":
            return float((false + rho * p.wrong + more) / (false + rho * p.signal))
        return float(false / (false + rho * p.signal))

    t = _first(rate, q)
    if not np.isfinite(t):
        return MaskedCeiling(s, model.alpha / s, np.inf, 0.0, 0.0, 0.0)
    p = _chances(signals, rho, s, t)
    found = (1.0 - rho) * p.null + rho * p.signal
    return MaskedCeiling(s, model.alpha / s, t, p.signal, (1.0 - rho) * p.null / found, found)


def pair_precision(
    model: Model, response: RowResponse | None = None, *, few_digits: bool = False
) -> float:
    """Return the precision s of the fields of masked pairs.

    Parameters
    ----------
    model : Model
        Of shape (), with effects of both signs alike.
    response : Logistic, Poisson or Cox, optional
    few_digits : bool
        Whether five digits are enough, which takes a tenth of the time.

    Examples
    --------
    >>> from selica import theory
    >>> from selica.theory.bayes.masked import pair_precision
    >>> round(pair_precision(theory.Model(alpha=1.12, rho=0.5, Delta=0.01)), 4)
    33.5454
    """
    signals, rho = model.mixture, float(model.rho)
    if not is_symmetric(signals):
        raise DoesNotApply("effects must have both signs alike for the ceiling of masked pairs.")
    if rho == 0.0:
        raise DoesNotApply("rho must be above 0 for the ceiling of masked pairs.")
    load = partial(_load, signals, rho, order=_FEW if few_digits else _ORDER)
    if response is None:
        return _precision(signals, rho, float(model.alpha), float(model.Delta), load)
    settings = RowResponse.check(response, model).settings
    if any(part.ndim for part in settings.values()):
        raise ArgumentError("response must be a single one here, of shape ().")
    T, place = (float(settings[name]) for name in ("T", "place"))
    if T == 0.0:
        return 0.0
    told = partial(response.information, T, place)
    return _precision_of_response(rho, float(model.alpha), told, T, load)


def _nodes(signals: Mixture, s: float, order: int = _ORDER) -> tuple[Array, Array]:
    """Return nodes and weights on both sides of zero, for the fields of signals and nulls."""
    own, mean = s * signals.sd**2, math.sqrt(s) * np.abs(signals.mean)
    top = max(float(np.max(mean + _REACH * np.sqrt(1.0 + own))), _NEAR)
    if mean.any():  # fields are near zero or near one of the points
        near = np.arange(-_NEAR, _NEAR + _POINT_PANELS / 2.0, _POINT_PANELS)
        wide = np.sqrt(1.0 + own)
        around = (mean[:, None] + wide[:, None] * near).ravel()
        edges = np.unique(np.concatenate([near, around]).round(9))
        edges = np.concatenate([[0.0], edges[(edges > 0.0) & (edges < top)], [top]])
    else:
        far = _NEAR * _GROWTH ** np.arange(1.0, np.log(top / _NEAR) / np.log(_GROWTH) + 1.0)
        edges = np.concatenate([np.arange(0.0, _NEAR + _PANELS / 2.0, _PANELS), far])
    u, weight = panels(edges[None], order)
    return u[0], 2.0 * weight[0]


def _load(signals: Mixture, rho: float, s: float, order: int = _ORDER) -> float:
    """Return s e(s): the variances of both members of a pair in units of the noise."""
    own, mean = s * signals.sd**2, math.sqrt(s) * signals.mean
    u, weight = _nodes(signals, s, order)
    shrink = own / (1.0 + own)
    power = -0.5 * (u[:, None] - mean) ** 2 / (1.0 + own) - 0.5 * np.log1p(own)
    ratio = signals.probability * np.exp(power)
    null = np.exp(-0.5 * u**2)
    # times exp(-u^2/2): likelihood ratio, and first two moments of an effect where there is one
    R = ratio.sum(axis=1)
    moved = u[:, None] * shrink + mean / (1.0 + own)
    first = np.vecdot(ratio, moved)
    second = np.vecdot(ratio, shrink + moved**2)
    total = (1.0 - rho) * np.outer(null, null) + 0.5 * rho * (np.outer(R, null) + np.outer(null, R))
    centre = 0.5 * rho * np.outer(first, null)
    square = 0.5 * rho * np.outer(second, null)
    spread = np.divide(centre**2, total, out=np.zeros_like(total), where=total > 0.0)
    return float(weight @ (2.0 * (square - spread)) @ weight / (2.0 * np.pi))


def _precision(
    signals: Mixture, rho: float, alpha: float, Delta: float, load: Callable[[float], float]
) -> float:
    """Return the smallest s with alpha = s e(s) + Delta s."""
    power = rho * float(signals.probability @ (signals.mean**2 + signals.sd**2))
    x = np.log(alpha / (Delta + power))

    def excess(x: float) -> float:
        s = float(np.exp(x))
        return load(s) + Delta * s - alpha

    from scipy.optimize import brentq  # a quarter of a second, and few need it

    last = np.log(alpha / Delta) if Delta > 0.0 else np.inf
    while x < last and excess(x + _STEP) < 0.0:
        x += _STEP
    return float(np.exp(brentq(excess, x, x + _STEP, xtol=1e-13, rtol=1e-13)))


def _precision_of_response(
    rho: float,
    alpha: float,
    told: Callable[[Array], Array],
    T: float,
    load: Callable[[float], float],
) -> float:
    """Return the smallest s at which rows tell as much as the errors of both columns leave."""
    size = T / rho

    def excess(x: float) -> float:
        s = float(np.exp(x))
        share = told(np.array([size * load(s) / s]))
        return s - alpha * size * float(share[0])

    from scipy.optimize import brentq

    worst, best = np.log(alpha * size * told(np.array([T, 0.0])))
    x = float(worst) - 1e-9
    while x < best and excess(x + _STEP) < 0.0:
        x += _STEP
    return float(np.exp(brentq(excess, x, x + _STEP, xtol=1e-13, rtol=1e-13)))


def _chances(signals: Mixture, rho: float, s: float, t: float) -> _Chances:
    """Return the probabilities of W at a threshold above zero, averaged over the other field."""
    u, weight = _nodes(signals, s)
    log_R = log_ratio(signals, np.full(u.size, s), u)[0]
    # (e^t (1 - rho + rho R) - (1 - rho)) / rho
    with np.errstate(divide="ignore"):  # without nulls
        odds = np.log1p(-rho) - np.log(rho)
    bound = np.logaddexp(np.log(np.expm1(t)) + odds, t + log_R)
    found = tails(signals, np.full(u.size, s), bound)
    null, signal = (
        weight * np.exp(power - 0.5 * u**2) / np.sqrt(2.0 * np.pi) for power in (0.0, log_R)
    )
    lower, upper = np.exp(found.log_fpr), np.exp(found.log_tpr)
    return _Chances(float(null @ lower), float(null @ upper), float(signal @ lower))


def _first(rate: Callable[[float], float], q: float) -> float:
    """Return the smallest threshold at which a rate is at most q, infinite where there is none."""
    from scipy.optimize import brentq

    before = 0.0
    for t in _THRESHOLDS:
        if rate(float(t)) <= q:
            low = max(before, 1e-9)
            if rate(low) <= q:
                return low
            return float(brentq(lambda x: rate(x) - q, low, float(t), xtol=1e-12))
        before = float(t)
    return np.inf
