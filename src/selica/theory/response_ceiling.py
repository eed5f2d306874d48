r"""What a row with another response than a linear one tells the Bayes-optimal estimate.

Given the other rows, the linear predictor z of a row is :math:`N(\omega, V)`, with
:math:`\omega \sim N(0, T - V)` over the rows. A response with probabilities p(y | z) then carries
the information

.. math:: I(V) = E_\omega \sum_y \frac{Z_y'(\omega)^2}{Z_y(\omega)} , \qquad
          Z_y = E_z[p(y | z)] , \quad Z_y' = E_z[\partial_z p(y | z)] ,

about z. Of classes that are sampled separately each term counts as often as its class, and the
square of the mean of Z'/Z is taken off, which is then not zero: it is what the means of the columns
in the population would tell, which nobody knows. Noise of variance :math:`1/I(V) - V` around z carries as much. So the fixed point is that of a linear response
whose noise depends on V, which a few steps settle. Intercept and baseline hazard are taken to be
known: what is found is a ceiling.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, gammaln

from selica._core.types import Array
from selica.theory.bayes.solution import BayesSolution, solve_bayes
from selica.theory.glm.responses import Cox, Logistic, Poisson, RowResponse, prevalence
from selica.theory.model import Model

_HERMITE = np.polynomial.hermite_e.hermegauss(48)
"""Nodes and weights of a mean over a normal number."""
_NODES = _HERMITE[0]
_WEIGHTS = _HERMITE[1] / _HERMITE[1].sum()
_TIMES = 64
"""Nodes of times to an event, in logarithms."""
_EARLIEST = -14.0
"""Logarithm of the earliest time, on the scale of the baseline hazard."""
_LATEST = 5.0
"""Logarithm of the last time where none is censored."""
_MAX_STEPS = 60
"""Steps to the fixed point."""
_TOLERANCE = 1e-10
"""Relative change of the noise at which they end."""


def solve_bayes_response(model: Model, response: RowResponse) -> BayesSolution:
    """Solve for the Bayes-optimal estimate with another response than a linear one.

    Parameters
    ----------
    model : Model
        With Delta = 0; one rho.
    response : Logistic, Poisson or Cox
        Of one strength T.

    Returns
    -------
    BayesSolution
        Of the linear response that tells as much, whose Delta is in units of the effects.

    Examples
    --------
    >>> from selica import theory
    >>> from selica.theory.response_ceiling import solve_bayes_response
    >>> model = theory.Model(alpha=2.0, rho=0.2, Delta=0.0)
    >>> found = solve_bayes_response(model, theory.Logistic(T=0.5))
    >>> 0.4 < found.mse / 0.2 < 1.0
    True
    """
    T, rho = float(np.asarray(response.T)), np.asarray(model.rho, dtype=float)
    unit = T / rho  # squared size of an effect
    alpha = np.asarray(model.alpha, dtype=float)
    V = np.full(np.broadcast_shapes(alpha.shape, rho.shape), T)
    noise = np.ones_like(V)
    for _ in range(_MAX_STEPS):
        before = noise
        tells = np.array([information(response, T, v) for v in V.ravel()]).reshape(V.shape)
        noise = np.maximum(1.0 / tells - V, 1e-12) / unit
        found = solve_bayes(model.like(alpha, rho, noise))
        V = np.clip(unit * np.asarray(found.mse), 1e-12 * T, T)
        if np.all(np.abs(noise - before) <= _TOLERANCE * noise):
            break
    return found


def information(response: RowResponse, T: float, V: float) -> float:
    """Return what a row tells about its linear predictor, I(V).

    Parameters
    ----------
    response : Logistic, Poisson or Cox
    T : float
        Variance of the linear predictor.
    V : float
        What is left of it, given the other rows.

    Examples
    --------
    >>> from selica import theory
    >>> from selica.theory.response_ceiling import information
    >>> round(information(theory.Logistic(T=1.0), T=1e-12, V=1e-12), 6)
    0.25
    """
    omega = np.sqrt(max(T - V, 0.0)) * _NODES
    z = omega[:, None] + np.sqrt(V) * _NODES
    total = mean = 0.0
    for weight, p, slope in _outcomes(response, z):
        Z, dZ = p @ _WEIGHTS, slope @ _WEIGHTS
        share = np.divide(dZ**2, Z, out=np.zeros_like(Z), where=Z > 0.0)
        total += weight * float(_WEIGHTS @ share)
        mean += weight * float(_WEIGHTS @ dZ)
    return total - mean**2


def _outcomes(response: RowResponse, z: Array) -> list[tuple[float, Array, Array]]:
    """Return weights, probabilities and their slopes in z, of all values of a response."""
    if isinstance(response, Logistic):
        a = float(np.asarray(response.intercept))
        mean = expit(a + z)
        slope = mean * (1.0 - mean)
        weights = (1.0, 1.0)
        if response.cases is not None:
            share, known = float(np.asarray(response.cases)), prevalence(float(response.T), a)
            weights = (share / known, (1.0 - share) / (1.0 - known))
        return [(weights[0], mean, slope), (weights[1], 1.0 - mean, -slope)]
    if isinstance(response, Poisson):
        log_rate = float(np.asarray(response.intercept)) + z
        rate = np.exp(log_rate)
        largest = np.exp(log_rate).max()
        counts = np.arange(np.ceil(largest + 12.0 * np.sqrt(largest) + 20.0))
        if counts.size > 400:  # large counts tell as much as their sum over neighbours
            counts = np.unique(np.round(np.geomspace(1.0, counts.size, 400))) - 1.0
        width = np.diff(np.append(counts, counts[-1] + 1.0))
        out = []
        for y, w in zip(counts.tolist(), width.tolist(), strict=True):
            p = np.exp(y * log_rate - rate - gammaln(y + 1.0))
            out.append((w, p, (y - rate) * p))
        return out
    assert isinstance(response, Cox)
    hazard = np.exp(z)
    end = float(np.asarray(response.censoring))
    last = min(np.log(end), _LATEST) if np.isfinite(end) else _LATEST
    nodes, parts = np.polynomial.legendre.leggauss(_TIMES)
    log_time = _EARLIEST + 0.5 * (last - _EARLIEST) * (nodes + 1.0)
    times, each = np.exp(log_time), 0.5 * (last - _EARLIEST) * parts
    out = []
    for t, w in zip(times.tolist(), each.tolist(), strict=True):
        p = hazard * np.exp(-t * hazard)
        out.append((w * t, p, (1.0 - t * hazard) * p))
    if np.isfinite(end):
        p = np.exp(-end * hazard)
        out.append((1.0, p, -end * hazard * p))
    return out
