r"""Models of one variable given many columns, for one variable after the other.

All models have a ridge. Column :math:`j` of the standardised table is regressed on the others by
minimising :math:`\tfrac12\sum_i s_i (z_{ij} - z_{i,-j}\beta)^2 + \tfrac12\lambda|\beta|^2`, where
the shares :math:`s_i` of the rows add to one. With :math:`\Omega = (Z'SZ + \lambda I)^{-1}` the
solution is :math:`-\Omega_{-j,j}/\Omega_{jj}` for every :math:`j`, its residuals are
:math:`Z\Omega_j/\Omega_{jj}`, and a further column changes :math:`\Omega` by a matrix of rank one.
So no model of a number has to be fitted by itself. Variables with a ridge of their own, and
classes, are fitted by conjugate gradients with :math:`\Omega` as the preconditioner, classes in
Newton steps. The ridge of a model of classes is in the same unit: it is multiplied by the variance
of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.special import expit, logsumexp, softmax

from selica._core.types import Array, IntArray

RIDGES = np.geomspace(1e-3, 100.0, 16)
"""Ridges that are tried, for columns of unit variance and rows whose shares add to one."""
_NEWTON_STEPS = 12
"""Newton steps for a model of classes, at most."""
_SHORTEST_STEP = 1e-3
"""Share of a Newton step below which nothing is gained by it."""
_GRADIENTS = 12
"""Conjugate gradients for one system of equations, at most."""
_ACCURACY = 1e-3
"""Size of the gradient at which the fit of classes ends, relative to that without any column: far
below the error of the estimate."""
_STEP_ACCURACY = 0.1
"""The same for the system of equations of a Newton step."""
_LINEAR_ACCURACY = 1e-2
"""The same for a linear model with a ridge of its own."""


class Coefficients(NamedTuple):
    """Slopes of a model: one set for a number or a logit, one for each of several levels."""

    coef: Array
    """(columns, sets); zero for the variable itself."""
    constant: Array
    """(sets,)"""


class GrowingColumns:
    """Standardised columns that grow by copies, with the inverse of their second moments.

    Parameters
    ----------
    Z : array of shape (n, p)
        Columns of mean zero.
    share : array of shape (n,)
        Of the rows; they add to one.
    ridge : float
        Of the inverse.
    room : int
        Columns there will be at most.
    """

    def __init__(self, Z: Array, share: Array, ridge: float, room: int) -> None:
        n, p = Z.shape
        self.share, self.ridge, self.size = share, ridge, p
        self._all = np.zeros((n, room), order="F")
        self._all[:, :p] = Z
        self._moments = np.zeros((room, room), order="F")
        self._inverse = np.zeros((room, room), order="F")
        moments = (Z * share[:, None]).T @ Z
        self._moments[:p, :p] = moments
        moments.flat[:: p + 1] += ridge
        self._inverse[:p, :p] = np.linalg.inv(moments)

    @property
    def Z(self) -> Array:
        """All columns so far, (n, size)."""
        return self._all[:, : self.size]

    def add(self, columns: Array) -> None:
        """Append columns, (n, m)."""
        for column in columns.T:
            q = self.size
            weighted = self.share * column
            cross, own = weighted @ self.Z, float(weighted @ column)
            inverse = self._inverse[:q, :q]
            slope = inverse @ cross
            rest = own + self.ridge - float(cross @ slope)
            inverse += np.outer(slope, slope / rest)
            self._inverse[:q, q] = self._inverse[q, :q] = -slope / rest
            self._inverse[q, q] = 1.0 / rest
            self._moments[:q, q] = self._moments[q, :q] = cross
            self._moments[q, q] = own
            self._all[:, q] = column
            self.size = q + 1

    def _without(self, own: IntArray) -> Callable[[Array], Array]:
        """Return a function that applies the inverse for all columns but some.

        It takes and returns arrays of shape (size, sets) that are zero for those columns.
        """
        inverse = self._inverse[: self.size, : self.size]
        part = inverse[:, own]
        core = np.linalg.inv(part[own])

        def apply(right: Array) -> Array:
            found = inverse @ right - part @ (core @ (part.T @ right))
            found[own] = 0.0
            return np.asarray(found)

        return apply

    def linear(self, column: int, ridge: float) -> Coefficients:
        """Return the ridge regression of one column on all others."""
        q, own = self.size, np.array([column])
        part = self._inverse[:q, own]
        coef = part / -part[column]
        coef[own] = 0.0
        if ridge != self.ridge:
            moments = self._moments[:q, :q]

            def curve(step: Array) -> Array:
                found = moments @ step + ridge * step
                found[own] = 0.0
                return np.asarray(found)

            right = moments[:, own].copy()
            right[own] = 0.0
            coef *= min(self.ridge / ridge, 1.0)
            coef += _solved(curve, self._without(own), right - curve(coef), _LINEAR_ACCURACY)
        return Coefficients(coef, np.zeros(1))

    def classes(self, own: IntArray, levels: Array, ridge: float) -> Coefficients:
        """Return the ridge regression of classes on all columns but those of the variable.

        Parameters
        ----------
        own : array of int
            Columns of the variable.
        levels : array of shape (n, K)
            1 at the level of each row. A single column is a binary variable with one logit;
            otherwise there is one for each level, relative to each other.
        ridge : float
        """
        Z, share = self.Z, self.share[:, None]
        mean = (share * levels).sum(axis=0)
        variance = float((mean * (1.0 - mean)).mean())
        ridge = ridge * variance
        inverse = self._without(own)

        def precondition(gradient: Array) -> Array:
            """Return the Newton step of a linear model, constants in the last row."""
            step = np.empty_like(gradient)
            step[:-1], step[-1] = inverse(gradient[:-1]), gradient[-1]
            return step / variance

        def gradient(slope: Array, at: Array) -> Array:
            """Return slopes in coefficients and constants, given those in the logits."""
            found = np.empty_like(at)
            found[:-1] = Z.T @ slope + ridge * at[:-1]
            found[own] = 0.0
            found[-1] = slope.sum(axis=0)
            return found

        def loss(eta: Array, at: Array) -> float:
            misfit = float(self.share @ (_norm(eta) - (levels * eta).sum(axis=1)))
            return misfit + 0.5 * ridge * float((at[:-1] ** 2).sum())

        at = np.zeros((self.size + 1, levels.shape[1]))
        at[-1] = np.log(mean) - (np.log1p(-mean) if mean.size == 1 else 0.0)
        eta = np.broadcast_to(at[-1], levels.shape)
        now, first = loss(eta, at), 0.0
        for _ in range(_NEWTON_STEPS):
            chance = chances(eta)
            slope = gradient(share * (chance - levels), at)
            size = float(np.sqrt((slope * precondition(slope)).sum()))
            first = first or size
            if size <= _ACCURACY * first:
                break

            def curve(step: Array, chance: Array = chance) -> Array:
                moved = chance * (Z @ step[:-1] + step[-1])
                moved -= chance * moved.sum(axis=1, keepdims=True)
                return gradient(share * moved, step)

            step = _solved(curve, precondition, -slope, _STEP_ACCURACY)
            move, length = Z @ step[:-1] + step[-1], 1.0
            while (then := loss(eta + length * move, at + length * step)) > now:
                length *= 0.5
                if length < _SHORTEST_STEP:
                    return Coefficients(at[:-1], at[-1])
            at, eta, now = at + length * step, eta + length * move, then
        return Coefficients(at[:-1], at[-1])


def chances(eta: Array) -> Array:
    """Return the probabilities of classes by their logits, (n, K); one column is a binary one."""
    return np.asarray(expit(eta) if eta.shape[1] == 1 else softmax(eta, axis=1))


def calibrated(fit: Coefficients, line: Array, levels: Array, share: Array) -> Coefficients:
    """Return a fit of classes with constants that give every class its share of the rows.

    Parameters
    ----------
    fit : Coefficients
    line : array of shape (n, sets)
        Logits without the constants, for columns that the fit has not seen.
    levels, share
        As in `GrowingColumns`.
    """
    goal, constant = share @ levels, fit.constant
    for _ in range(_NEWTON_STEPS):
        now = share @ chances(line + constant)
        constant = constant + np.log(goal / now)
        if goal.size == 1:
            constant = constant - np.log((1.0 - goal) / (1.0 - now))
    return fit._replace(constant=constant)


def _norm(eta: Array) -> Array:
    """Return the logarithm of the sum over classes, (n,)."""
    if eta.shape[1] == 1:
        return np.asarray(np.logaddexp(0.0, eta[:, 0]))
    return np.asarray(logsumexp(eta, axis=1))


def _solved(
    curve: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    right: Array,
    accuracy: float,
) -> Array:
    """Solve a linear system by conjugate gradients, to a share of its right side."""
    x, rest = np.zeros_like(right), right
    turned = precondition(rest)
    direction, size = turned, float((rest * turned).sum())
    goal = accuracy**2 * size
    for _ in range(_GRADIENTS):
        if size <= goal:
            break
        bent = curve(direction)
        length = size / float((direction * bent).sum())
        x += length * direction
        rest = rest - length * bent
        turned = precondition(rest)
        before, size = size, float((rest * turned).sum())
        direction = turned + size / before * direction
    return x


def best_ridges(Z: Array, share: Array, variables: Sequence[IntArray]) -> Array:
    """Return the ridge of each variable with the smallest error when rows are left out in turn.

    Every variable is regressed on the columns of all others; classes are taken as numbers.

    Parameters
    ----------
    Z : array of shape (n, p)
        Standardised columns.
    share : array of shape (n,)
        Of the rows.
    variables : sequence of arrays of int
        Columns of each variable.
    """
    value, vector = eigh((Z * share[:, None]).T @ Z)
    turned = Z @ vector
    single = np.array([own.size == 1 for own in variables])
    columns = np.array([own[0] for own in variables], dtype=np.intp)[single]
    errors = np.zeros((RIDGES.size, len(variables)))
    for place, ridge in enumerate(RIDGES):
        scale = 1.0 / (np.maximum(value, 0.0) + ridge)
        inverse = (vector * scale) @ vector.T
        moved = Z @ inverse
        # leverage of a row in the regression on all columns; without the variable it is less
        lever = turned**2 @ scale + 1.0
        own, rest = inverse[columns, columns], moved[:, columns]
        out = 1.0 - share[:, None] * (lever[:, None] - rest**2 / own)
        errors[place, single] = share @ (rest / own / out) ** 2
        for number in np.flatnonzero(~single):
            block = variables[int(number)]
            core = np.linalg.inv(inverse[np.ix_(block, block)])
            rest = moved[:, block] @ core
            left = 1.0 - share * (lever - (rest * moved[:, block]).sum(axis=1))
            errors[place, number] = share @ ((rest / left[:, None]) ** 2).sum(axis=1)
    return np.asarray(RIDGES[errors.argmin(axis=0)])
