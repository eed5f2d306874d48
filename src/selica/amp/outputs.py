r"""How a row answers: the loss of one row, averaged over its weight and over the members.

Without the row its linear predictor is :math:`\omega + \sqrt{v}\,\eta` over the members, and reacts
with susceptibility :math:`\chi`. A member with weight c moves it to

.. math:: \hat z = \arg\min_z\; c\,\ell(y, z) + (z - \omega - \sqrt v\,\eta)^2 / (2 \chi), \qquad
    G = (\hat z - \omega - \sqrt v\,\eta) / \chi = -c\,\ell'(y, \hat z) .
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import roots_hermitenorm

from selica._core.counts import CountLaw
from selica._core.losses import Loss, RowLoss, require
from selica._core.types import Array
from selica.amp.weights import row_averages

_NODES = 16
"""Gauss nodes for the members of a row."""
_RARE = 1e-9
"""Weights a row has less often than this are left out of sums over rows, weights and nodes."""


class RowAnswer(NamedTuple):
    """Averages over weights and members, for each row."""

    mean: Array
    """E G."""
    slope: Array
    """-E dG/d omega, positive."""
    excess: Array
    """Var G - v slope^2: the part that does not come from the spread of omega; not negative."""


class Output(Protocol):
    """The rows of a data set with their loss."""

    def __call__(self, omega: Array, chi: Array, v: Array) -> RowAnswer:
        """Return the answers of the rows; shapes (n, 1), chi and v also (1, 1)."""

    def error(self, omega: Array) -> float:
        """Return the mean square error of the averaged predictions of the rows."""


class SquaredRows:
    """Half the squared residual: G = c/(1 + chi c) (y - omega), all averages in closed form."""

    def __init__(self, y: Array, law: CountLaw) -> None:
        self._y, self._law = y[:, None], law

    def __call__(self, omega: Array, chi: Array, v: Array) -> RowAnswer:
        """Return the answers by f_1 and f_2 - f_1^2 of the weights."""
        f = row_averages(self._law, chi)
        z = self._y - omega
        return RowAnswer(f.f1 * z, f.f1, f.spread * (z**2 + v))

    def error(self, omega: Array) -> float:
        """Return the mean square error of the response."""
        return float(np.mean((self._y - omega) ** 2))


class AnyRows:
    """Any loss of a row: one scalar equation for each row, weight and Gauss node."""

    def __init__(self, loss: RowLoss, y: Array, law: CountLaw) -> None:
        c, share = law.weight[0], law.probability[0]
        node, gauss = roots_hermitenorm(_NODES)
        often = (share > _RARE) & (c > 0.0)  # a weight of zero gives no answer
        self._loss, self._y = loss, y[:, None]
        self._c = np.repeat(c[often], _NODES)
        self._node = np.tile(node, int(often.sum()))
        self._share = (share[often, None] * (gauss / gauss.sum())).ravel()

    def __call__(self, omega: Array, chi: Array, v: Array) -> RowAnswer:
        """Return the answers by the proximal map of the loss."""
        field = omega + np.sqrt(v) * self._node
        pull = np.broadcast_to(chi * self._c, field.shape)
        y = np.broadcast_to(self._y, field.shape)
        z = self._loss.proximal(y.ravel(), field.ravel(), pull.ravel()).reshape(field.shape)
        curvature = self._c * self._loss.curvature(y, z)
        G = -self._c * self._loss.slope(y, z)
        slope = np.sum(self._share * curvature / (1.0 + chi * curvature), axis=1, keepdims=True)
        mean = np.sum(self._share * G, axis=1, keepdims=True)
        rest = 1.0 - self._share.sum()  # rows with weight zero, which answer nothing
        variance = np.sum(self._share * (G - mean) ** 2, axis=1, keepdims=True) + rest * mean**2
        return RowAnswer(mean, slope, np.maximum(variance - v * slope**2, 0.0))

    def error(self, omega: Array) -> float:
        """Return the mean square error of the expected response."""
        return float(np.mean((self._y - self._loss.mean(omega)) ** 2))


def output_of(loss: Loss, y: Array, law: CountLaw) -> Output:
    """Return the rows of a response with their loss, which must be one of single rows."""
    loss.check(y)
    if loss.quadratic:
        return SquaredRows(y, law)
    require("message passing", loss)
    assert isinstance(loss, RowLoss)
    return AnyRows(loss, y, law)
