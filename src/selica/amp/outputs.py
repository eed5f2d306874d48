r"""How a row answers: the loss of one row, averaged over its weight and over the members.

Without the row its linear predictor is :math:`\omega + \sqrt{v}\,\eta` over the members, and reacts
with susceptibility :math:`\chi`. A member with weight c moves it to

.. math:: \hat z = \arg\min_z\; c\,\ell(y, z) + (z - \omega - \sqrt v\,\eta)^2 / (2 \chi), \qquad
    G = (\hat z - \omega - \sqrt v\,\eta) / \chi = -c\,\ell'(y, \hat z) .
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit, roots_hermitenorm

from selica._core.counts import CountLaw
from selica._core.errors import ArgumentError
from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica._core.validation import choice
from selica.amp.weights import row_averages

RESPONSES = ("linear", "binary")
# Gauss nodes for the members of a row.
_NODES = 16
# Weights a row has less often than this are left out of sums over rows, weights and nodes.
_RARE = 1e-9


class Answer(NamedTuple):
    """Averages over weights and members, for each row."""

    mean: Array
    """E G."""
    slope: Array
    """-E dG/d omega, positive."""
    excess: Array
    """Var G - v slope^2: the part that does not come from the spread of omega; not negative."""


class Output(Protocol):
    """A loss."""

    def __call__(self, omega: Array, chi: Array, v: Array) -> Answer:
        """Answers of the rows; shapes (n, 1), chi and v also (1, 1)."""

    def error(self, omega: Array) -> float:
        """Mean square error of the averaged predictors of the rows."""


class Squares:
    """Half the squared residual: G = c/(1 + chi c) (y - omega), all averages in closed form."""

    def __init__(self, y: Array, law: CountLaw) -> None:
        self._y, self._law = y[:, None], law

    def __call__(self, omega: Array, chi: Array, v: Array) -> Answer:
        """With f_1 and f_2 - f_1^2 of the weights."""
        f = row_averages(self._law, chi)
        z = self._y - omega
        return Answer(f.f1 * z, f.f1, f.spread * (z**2 + v))

    def error(self, omega: Array) -> float:
        """Of the response."""
        return float(np.mean((self._y - omega) ** 2))


class Logistic:
    """Log-loss of a label 0 or 1: one scalar equation for each row, weight and Gauss node."""

    def __init__(self, y: Array, law: CountLaw) -> None:
        if not np.isin(y, (0.0, 1.0)).all():
            raise ArgumentError("y: the labels of a binary response must be 0 and 1.")
        c, share = law.weight[0], law.probability[0]
        node, gauss = roots_hermitenorm(_NODES)
        often = (share > _RARE) & (c > 0.0)  # a weight of zero gives no answer
        self._y = y[:, None]
        self._c = np.repeat(c[often], _NODES)
        self._node = np.tile(node, int(often.sum()))
        self._share = (share[often, None] * (gauss / gauss.sum())).ravel()

    def __call__(self, omega: Array, chi: Array, v: Array) -> Answer:
        """By Newton's method between bounds."""
        field = omega + np.sqrt(v) * self._node
        pull = np.broadcast_to(chi * self._c, field.shape)
        label = np.broadcast_to(self._y, field.shape)
        z = _proximal(field.ravel(), pull.ravel(), label.ravel()).reshape(field.shape)
        fitted = expit(z)
        curvature = self._c * fitted * expit(-z)
        G = self._c * (label - fitted)
        slope = np.sum(self._share * curvature / (1.0 + chi * curvature), axis=1, keepdims=True)
        mean = np.sum(self._share * G, axis=1, keepdims=True)
        rest = 1.0 - self._share.sum()  # rows with weight zero, which answer nothing
        variance = np.sum(self._share * (G - mean) ** 2, axis=1, keepdims=True) + rest * mean**2
        return Answer(mean, slope, np.maximum(variance - v * slope**2, 0.0))

    def error(self, omega: Array) -> float:
        """Of the probability of a one."""
        return float(np.mean((self._y - expit(omega)) ** 2))


def _proximal(field: Array, pull: Array, label: Array) -> Array:
    """z = field + pull (label - sigmoid(z)), all of shape (k,)."""

    def equation(z: Array, which: IntArray) -> tuple[Array, Array]:
        fitted = expit(z)
        value = z - field[which] - pull[which] * (label[which] - fitted)
        return value, 1.0 + pull[which] * fitted * (1.0 - fitted)

    low, high = field - pull * (1.0 - label), field + pull * label
    # halfway the sigmoid is within its range whatever the pull
    return find_root(equation, 0.5 * (low + high), lower=low, upper=high, tol=1e-6).x


def output_of(response: str, y: Array, law: CountLaw) -> Output:
    """The loss by the name of the response."""
    kind = choice("response", response, RESPONSES)
    return Squares(y, law) if kind == "linear" else Logistic(y, law)
