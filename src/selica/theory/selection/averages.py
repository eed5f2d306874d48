r"""The article's general average, :math:`E_{\xi, w_0}[\phi(E_\eta[\psi(\hat w)])]`, by quadrature.

Rates, overlaps and errors are closed and do not come through here; this is for functions of the
reader's own. Composite Gauss-Legendre panels resolve both scales of the field: that of the data,
and that of the members' own randomness around :math:`|g| = \lambda`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from selica._core.effects import Mixture
from selica._core.errors import ArgumentError
from selica._core.quadrature import legendre, panels
from selica._core.scalar import density, selection_probability, soft_threshold
from selica._core.types import Array

_QUADRATURE_ORDER = 24
"""Gauss-Legendre nodes of a panel."""
_TRUNCATION = 9.0  # standard deviations; the rest weighs 2e-19
_CHUNK_VALUES = 2_000_000  # values of psi held at once


class Field(NamedTuple):
    """Scalars of one solution that the single-body problem needs."""

    curvature: float
    """Q_hat + lam2: the estimate is S(h; lam) divided by it."""
    slope: float
    """Of the field in a variable's effect."""
    chi_hat: float
    v_hat: float
    lam: float
    rho: float
    copy_var: float | None = None
    """Variance of the knockoff field; None without knockoffs."""


def expect(
    field: Field, mixture: Mixture, psi: Callable[..., Any], phi: Callable[[Array], Any]
) -> float:
    """Return E over the data of phi(E over the members of psi)."""
    total = 0.0
    kinds = [(0.0, 0.0, 1.0 - field.rho)]
    kinds += [(m, s, field.rho * p) for m, s, p in zip(*mixture, strict=True)]
    for mean, sd, share in kinds:
        if share == 0.0:
            continue
        g, weight = _data_nodes(field, field.slope * mean, field.slope * sd)
        inner = _over_members(field, g, psi)
        total += share * float(weight @ _call("phi", phi, inner))
    return total


def _data_nodes(field: Field, mean: float, spread: float) -> tuple[Array, Array]:
    """Return nodes and probabilities for g ~ N(mean, spread^2 + chi_hat)."""
    sd = float(np.sqrt(spread**2 + field.chi_hat))
    if sd == 0.0:
        return np.array([mean]), np.ones(1)
    own = np.sqrt(field.v_hat + (field.copy_var or 0.0))
    fine = np.sqrt(field.v_hat)
    edges = [mean + sd * np.linspace(-_TRUNCATION, _TRUNCATION, 25)]
    for centre in (-field.lam, field.lam):
        edges += [
            centre + width * np.linspace(-_TRUNCATION, _TRUNCATION, 25) for width in (own, fine)
        ]
    cuts = np.unique(np.concatenate(edges))
    cuts = cuts[(cuts >= mean - _TRUNCATION * sd) & (cuts <= mean + _TRUNCATION * sd)]
    node, width = panels(cuts, _QUADRATURE_ORDER)
    weight = width * density((node - mean) / sd) / sd
    return node, weight / weight.sum()


def _estimates(g: Array, own: float, field: Field) -> tuple[Array, Array]:
    """Return estimates and their probabilities, (len(g), nodes), given fields N(g, own)."""
    sd = np.sqrt(own)
    g = g[:, None]
    if sd == 0.0:
        value = soft_threshold(g, field.lam) / field.curvature
        return value, np.ones_like(value)
    values, weights = [np.zeros_like(g)], [1.0 - selection_probability(g, own, field.lam)]
    x, weight = legendre(_QUADRATURE_ORDER)
    for sign in (1.0, -1.0):
        # the active side sign * h > lam, as far as the field reaches
        start = np.maximum(field.lam, sign * g - _TRUNCATION * sd)
        stop = np.maximum(start, sign * g + _TRUNCATION * sd)
        for part in range(2):
            low = start + 0.5 * part * (stop - start)
            half = 0.25 * (stop - start)
            h = low + half + half * x
            values.append(sign * (h - field.lam) / field.curvature)
            weights.append(half * weight * density((h - sign * g) / sd) / sd)
    return np.concatenate(values, axis=1), np.concatenate(weights, axis=1)


def _over_members(field: Field, g: Array, psi: Callable[..., Any]) -> Array:
    """Return E_eta psi(w_hat), or E psi(w_hat, w_tilde) with knockoffs, for each g."""
    value, weight = _estimates(g, field.v_hat, field)
    if field.copy_var is None:
        return np.asarray((weight * _call("psi", psi, value)).sum(axis=1))
    copy, copy_weight = _estimates(np.zeros(1), field.copy_var, field)
    out = np.empty(g.size)
    step = max(1, _CHUNK_VALUES // (value.shape[1] * copy.size))
    for i in range(0, g.size, step):
        v, w = value[i : i + step, :, None], weight[i : i + step]
        full_v, full_c = np.broadcast_arrays(v, copy[0])
        inner = _call("psi", psi, full_v, full_c) @ copy_weight[0]
        out[i : i + step] = (w * inner).sum(axis=1)
    return out


def _call(name: str, function: Callable[..., Any], *args: Array) -> Array:
    result = np.asarray(function(*args), dtype=float)
    if result.shape != args[0].shape:
        raise ArgumentError(
            f"{name} must work elementwise on arrays: it returned shape {result.shape} "
            f"for an argument of shape {args[0].shape}."
        )
    return result
