r"""What rows make of order parameters, at many points at once, for every response of a table.

A member's field is :math:`\omega = \sqrt{q + v}\,x` with a unit normal x, and the truth
:math:`z_0 = \sqrt T\,t` has the correlation :math:`r = m/\sqrt{T(q+v)}` with it. With Hermite
coefficients :math:`p_k` of the probability of a label, averages over labels and fields are sums
over Gauss nodes,

.. math:: E[f] = \sum_{y,j} B_{yj} f_y(x_j), \qquad B_{yj} = w_j \sum_k p_k r^k h_k(x_j) ,

and what two members share needs no new fit: the average of f over the part of the field that is a
member's own has the coefficients :math:`f_k\,(q/(q+v))^{k/2}`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray, IntArray
from selica.theory.glm.fits import exponential_mean, logistic_mean
from selica.theory.glm.tables import OutcomeTable, Precision

_NOTHING = 1e-200
"""Fields of such a variance are zero."""
_LEAST_CHI = 1e-290
"""A susceptibility of zero is replaced by this."""
_FARTHEST = 2.0
"""Of a hazard in one step, in logarithms."""
_TINY = 1e-300
"""What keeps a quotient finite."""


class MemberRows(NamedTuple):
    """What rows send to a variable, from one member; arrays over n points."""

    Q_hat: Array
    m_hat: Array
    total: Array
    """chi_hat + v_hat."""
    shift: Array
    """New less old offsets, (n, offsets)."""
    mean: Array
    """Average of G over the weights, for each label and node, (n, Y, J)."""
    loss: Array


@dataclass(frozen=True, slots=True)
class SpectralRows:
    """The rows of n models with one response: labels, and weights (n, C) above zero."""

    alpha: Array
    T: float
    table: OutcomeTable
    weight: Array
    probability: Array
    binary: bool
    precision: Precision

    def take(self, index: IntArray | BoolArray) -> SpectralRows:
        """Return the same rows at a part of the points."""
        return SpectralRows(
            self.alpha[index],
            self.T,
            self.table,
            self.weight[index],
            self.probability[index],
            self.binary,
            self.precision,
        )

    @property
    def size(self) -> int:
        """Numbers that one fit of all labels holds, for each point."""
        return int(self.weight.shape[1] * self.table.y.size * self.table.rule.x.size)

    def start(self) -> Array:
        """Return offsets without effects, (n, offsets)."""
        return np.tile(self.table.start, (self.alpha.size, 1))

    def correlation(self, m: Array, variance: Array) -> Array:
        """Return the correlation of truth and field."""
        square = self.T * variance
        some = square > _NOTHING
        r = np.where(some, m / np.sqrt(np.where(some, square, 1.0)), 0.0)
        return np.clip(r, 0.0, 1.0)

    def _spread(self, coefficients: Array, r: Array) -> Array:
        """Return B of each label and node, (n, Y, J)."""
        power = r[:, None] ** self.table.rule.degrees
        return (power[:, None, :] * coefficients) @ self.table.rule.dual.T

    def member(
        self, m: Array, variance: Array, chi: Array, offset: Array, with_loss: bool = False
    ) -> MemberRows:
        """Return averages over one member, with fields of a variance q + v."""
        gauss, y = self.table.rule, self.table.y[:, None]
        r = self.correlation(m, variance)
        share, slope = (self._spread(part, r) for part in (self.table.chance, self.table.score))
        omega = np.sqrt(np.maximum(variance, 0.0))[:, None] * gauss.x
        c = self.weight[:, :, None, None]
        pull = np.maximum(chi[:, None], _LEAST_CHI)[..., None, None] * c
        X = (offset[:, :, None] + omega[:, None, :])[:, None] + pull * y  # (n, C, Y, J)
        fit = logistic_mean if self.binary else exponential_mean
        mu = fit(X, pull, 1e-4 if self.precision.tolerance > 1e-9 else 1e-9)
        curve = mu * (1.0 - mu) if self.binary else mu
        p = self.probability
        G = c * (y - mu)
        steep = c * curve
        steep /= 1.0 + pull * curve
        mean = np.einsum("nc,ncyj->nyj", p, G)
        square = np.einsum("nc,ncyj,ncyj->nyj", p, G, G)
        bend = np.einsum("nc,ncyj->nyj", p, steep)
        alpha = self.alpha
        Q_hat = alpha * np.einsum("nyj,nyj->n", share, bend)
        if self.table.clock is None:
            balance = np.einsum("nyj,nyj->n", share, mean)
            at_risk = np.zeros(())
            shift = (alpha * balance / np.maximum(Q_hat, _TINY))[:, None]
        else:
            fitted = np.vecdot(share, np.einsum("nc,ncyj->nyj", p * self.weight, mu))
            shift, at_risk = self._hazards(fitted, offset)
        loss = np.zeros(alpha.size)
        if with_loss:
            z = X - pull * mu
            if self.table.clock is None:
                every = (np.logaddexp(0.0, z) if self.binary else mu) - y * z
            else:
                every = np.zeros_like(z)
                late = np.log(at_risk) + offset[:, :-1]
                every[:, :, :-1] = late[:, None, :, None] - z[:, :, :-1]
            loss = alpha * np.einsum("nyj,nc,nc,ncyj->n", share, p, self.weight, every)
        return MemberRows(
            Q_hat=Q_hat,
            m_hat=alpha * np.einsum("nyj,nyj->n", slope, mean),
            total=alpha * np.einsum("nyj,nyj->n", share, square),
            shift=shift,
            mean=mean,
            loss=loss,
        )

    def _hazards(self, fitted: Array, offset: Array) -> tuple[Array, Array]:
        """Return how far effective cumulative hazards move, in logarithms, and what is at risk.

        E[c u] of a label is `fitted`, and u is the hazard times exp(z).
        """
        clock = self.table.clock
        assert clock is not None
        every = np.einsum("nc,nc->n", self.weight, self.probability)
        risk = np.maximum(fitted, _TINY) * np.exp(-offset)
        at_risk = np.maximum(risk @ clock.later.T, _TINY)
        hazard = (every[:, None] / at_risk) @ clock.hazard.T
        low, high = np.exp(offset - _FARTHEST), np.exp(offset + _FARTHEST)
        return np.log(np.clip(hazard, low, high)) - offset, at_risk

    def pair(self, m: Array, variance: Array, own: Array, mean: Array) -> tuple[Array, Array]:
        """Return chi_hat and d v_hat / d v, where fields have the variance `own` of their own."""
        gauss = self.table.rule
        shared = np.clip(variance - own, 0.0, None)
        some = variance > _NOTHING
        keep = np.where(some, shared / np.where(some, variance, 1.0), 1.0)
        root = np.sqrt(keep)[:, None]
        power = root**gauss.degrees
        coefficients = (mean @ gauss.dual) * power[:, None, :]
        g = coefficients @ gauss.values.T
        share = self._spread(self.table.chance, self.correlation(m, shared))
        # derivative in the field: h_k' = sqrt(k) h_{k-1}
        scale = np.where(some, 1.0 / np.sqrt(np.where(some, variance, 1.0)), 0.0)
        lower = mean @ gauss.dual[:, 1:] * np.sqrt(gauss.degrees[1:]) * power[:, None, :-1]
        steep = (lower @ gauss.values[:, :-1].T) * scale[:, None, None]
        return (
            self.alpha * np.einsum("nyj,nyj,nyj->n", share, g, g),
            self.alpha * np.einsum("nyj,nyj,nyj->n", share, steep, steep),
        )
