"""How a row of the data answers its linear predictor: labels and their loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from selica._core.errors import ArgumentError
from selica._core.results import unwrap
from selica._core.types import Array
from selica._core.validation import real
from selica.theory.model import Model

STRONGEST = 1e4
"""Largest T: standard deviations of a hundred logits, where labels are signs."""


class Loss(Protocol):
    """A law of the response given the true predictor z0, and the loss that is fitted to it.

    Averages over responses are sums over `labels` with `multiplicity`. Functions of z are analytic
    at distances below pi from the real axis: the quadrature of `theory.glm.rows` builds on it.
    """

    labels: Array
    multiplicity: Array

    def chance(self, y: Array, z0: Array) -> Array:
        """Probability of the label y."""

    def chance_slope(self, y: Array, z0: Array) -> Array:
        """Its derivative in z0."""

    def value(self, y: Array, z: Array) -> Array:
        """Loss of a fitted predictor z."""

    def slope(self, y: Array, z: Array) -> Array:
        """Its derivative in z."""

    def curvature(self, y: Array, z: Array) -> Array:
        """Its second derivative in z, not negative."""


class LogLoss:
    """log(1 + exp(-y z)) of labels -1 and 1 that follow the logistic law.

    Turning the signs of label, truth and fit together changes no average, so that y = 1 counts
    twice and y = -1 not at all.
    """

    labels: Array = np.ones(1)
    multiplicity: Array = np.full(1, 2.0)

    def chance(self, y: Array, z0: Array) -> Array:
        """1 / (1 + exp(-y z0))."""
        return np.asarray(expit(y * z0))

    def chance_slope(self, y: Array, z0: Array) -> Array:
        """Of the logistic function."""
        return np.asarray(y * expit(z0) * expit(-z0))

    def value(self, y: Array, z: Array) -> Array:
        """The log-loss."""
        return np.asarray(np.logaddexp(0.0, -y * z))

    def slope(self, y: Array, z: Array) -> Array:
        """Minus the probability of the other label, with the sign of y."""
        return np.asarray(-y * expit(-y * z))

    def curvature(self, y: Array, z: Array) -> Array:
        """Variance of the label."""
        return np.asarray(expit(z) * expit(-z))


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Logistic:
    r"""Labels 0 and 1 with log odds linear in x, fitted by penalised logistic regression.

    Parameters
    ----------
    T : float or array
        Signal strength: variance of the log odds over the rows, :math:`T = E[w_0^2]`, from 0 to
        1e4; broadcasts against the model. With standardised independent columns and coefficients
        b it is :math:`\sum_j b_j^2`. The effects of the model, which have second moment one, are
        multiplied by :math:`\sqrt{T/\rho}`.

    Notes
    -----
    Labels are random by themselves: the model has no noise of its own, Delta = 0. Order
    parameters are in log odds, and `lam` is that of `solvers.logistic_path_batch` for rows of
    squared length one.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=4.0, rho=0.2, Delta=0.0)
    >>> s = theory.solve_stability(model, lam=1.0, response=theory.Logistic(T=4.0))
    >>> round(s.q, 5), round(s.m, 5), round(s.v, 5)
    (1.54531, 2.24401, 0.31902)
    >>> round(s.rates(Pi_th=0.6).fdr, 4)
    0.3484
    """

    T: Any

    def __init__(self, T: ArrayLike) -> None:
        strength = real("T", T, at_least=0.0, at_most=STRONGEST)
        strength.setflags(write=False)
        object.__setattr__(self, "T", unwrap(strength))

    def __repr__(self) -> str:
        return f"Logistic(T={self.T})"

    @staticmethod
    def check(response: object, model: Model) -> Logistic:
        """`response` if it is one that fits the model, or an error that says why not."""
        if not isinstance(response, Logistic):
            raise ArgumentError(
                f"response must be theory.Logistic(T=...) with the signal strength T; "
                f"got {response!r}."
            )
        Model.check(model)
        if np.any(np.asarray(model.Delta) != 0.0):
            raise ArgumentError(
                "Delta must be 0 with a logistic response: labels are random by themselves, and "
                "T says how much the signal decides."
            )
        return response
