"""The self-consistent equations for correlated rows, over draws that stay the same."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.counts import CountLaw, count_law, single_fit
from selica._core.errors import ArgumentError
from selica._core.results import Status
from selica._core.types import Array
from selica.correlated.drawn_fits import SingleBody
from selica.theory import Model, solve_knockoff, solve_lasso, solve_stability

_INNER_MEMBERS = 4
"""Members of a data set inside the fixed point: moments are unbiased for any number above one."""
_FIRST_PART = 4
"""One data set in so many is used where the iteration begins, and for slopes."""
_FEWEST_DATA_SETS = 16
"""Data sets of this part, at least."""
_LONGEST_STEP = 0.5
"""Longest step of the iteration, in logarithms."""
TOLERANCE = 1e-3
"""Step at which the iteration ends, in logarithms."""
_SLOPE_STEP = 0.05
"""Step of finite differences, in logarithms."""
_MAX_ITER = 40
"""Steps of the iteration, at most."""
_NOISE_SHARE = 0.1
"""Share of the Monte-Carlo error at which the iteration ends, too."""
_WORSE_FACTOR = 1.2
"""Factor by which a step may leave more to go; otherwise it is halved."""
_MAX_HALVINGS = 5
"""How often a step is halved, at most."""
_FLOOR_SHARE = 1e-12
"""Share of their scale that v and chi are where nothing is active."""
_LEAST_VARIANCE = 1e-100
"""Variance of the response, at least: products of such variances are still numbers."""


class Conjugates(NamedTuple):
    """What the order parameters make of the fields."""

    Q_hat: float
    chi_hat: float
    v_hat: float


def conjugates(alpha: float, law: CountLaw, error: float, v: float, chi: float) -> Conjugates:
    """Return the fields of one variable or of all: the same whatever the covariance.

    Parameters
    ----------
    alpha : float
    law : CountLaw
        Of the weight of a row, at one point.
    error, v, chi : float

    Examples
    --------
    >>> from selica._core.counts import single_fit
    >>> from selica.correlated.fixed_point import conjugates
    >>> conjugates(2.0, single_fit(1), error=0.5, v=0.0, chi=1.0)
    Conjugates(Q_hat=1.0, chi_hat=0.25, v_hat=0.0)
    """
    at = np.array([chi])
    f = law.averages(at)
    f1, f2, spread = float(f.f1[0]), float(f.f2[0]), float(law.variance(f, at)[0])
    return Conjugates(alpha * f1, alpha * f1**2 * error, alpha * (spread * error + f2 * v))


class EquationStep(NamedTuple):
    """One step of the equations, in logarithms of (E, v, chi)."""

    x: Array
    covariance: Array
    """Of x over the draws."""


class FixedPoint(NamedTuple):
    """Where the equations hold, in logarithms of (E, v, chi)."""

    x: Array
    covariance: Array
    """Of x over the draws."""
    residual: float
    iterations: int
    status: str
    inverse: Array
    """Of the slopes of x - F(x) there."""

    @property
    def converged(self) -> bool:
        """Whether the equations were solved."""
        return self.status == Status.CONVERGED.value


class DrawnEquations:
    """The map of (E, v, chi) to itself, over the draws of a `SingleBody`."""

    def __init__(
        self,
        body: SingleBody,
        model: Model,
        lam: float,
        resampled: tuple[float, str] | None,
        signal: float | None,
        share: Array | None = None,
    ) -> None:
        self.body, self.model, self.lam, self.resampled = body, model, lam, resampled
        J = body.shape[0]
        self.share: Array = np.full(J, 1.0 / J) if share is None else share
        """What each data set weighs; some kinds of them may be drawn more often than they occur."""
        self.law = single_fit(1)
        if resampled is not None:
            self.law = count_law(resampled[1], np.array([resampled[0]]))
        drawn = np.vecdot(body.truth @ body.sigma, body.truth) / body.sigma.shape[0]
        self._signal = float(self.share @ drawn)
        controls = [body.length - 1.0, body.overlap]
        if signal is not None:
            controls.append(drawn - signal)
        self.controls = np.stack(controls, axis=1)
        """Quantities of a data set whose expectation over the draws is known to be zero."""
        self.inside = min(_INNER_MEMBERS, body.shape[1])
        variance = self._signal + model.Delta
        if variance < _LEAST_VARIANCE:
            raise ArgumentError(
                f"Delta must be at least {_LEAST_VARIANCE:g} where no variable has an effect."
            )
        self._floor = _FLOOR_SHARE * np.array([variance, variance, 1.0])

    def fields(self, x: Array) -> Conjugates:
        """Return the conjugates at a point in logarithms."""
        error, v, chi = np.exp(x)
        return conjugates(self.model.alpha, self.law, error, v, chi)

    def active_slope(self, x: Array) -> float:
        """Return the slope of the active share chi Q_hat(chi) by chi: alpha (f_1 - chi f_2)."""
        chi = np.exp(x[2:])
        f = self.law.averages(chi)
        return float(self.model.alpha * (f.f1[0] - chi[0] * f.f2[0]))

    def coefficients(self, x: Array, data: int, members: int, *, keep: bool) -> Array:
        """Fit the lassos of the first data sets and members in the fields of x."""
        Q, chi_hat, v_hat = self.fields(x)
        scale = (self.lam / Q, np.sqrt(chi_hat) / Q, np.sqrt(v_hat) / Q)
        return self.body.fit(*scale, data, members, keep=keep)

    def step(self, x: Array, data: int, *, keep: bool = True) -> EquationStep:
        """Return the map at x, averaged over the first data sets."""
        coef = self.coefficients(x, data, self.inside, keep=keep)
        found = self.body.moments(coef)
        chi = found.active / self.fields(x).Q_hat
        each = np.stack([found.error + self.model.Delta, found.v, chi], axis=1)
        mean, covariance = controlled(each, self.controls[:data], self.share[:data])
        mean = np.maximum(mean, self._floor)
        return EquationStep(np.log(mean), covariance / np.outer(mean, mean))

    def solve(self, near: FixedPoint | None = None) -> FixedPoint:
        """Solve the equations, from a part of the draws to all of them.

        Parameters
        ----------
        near : FixedPoint, optional
            Of the same draws at a penalty nearby: the iteration starts from it, with its slopes,
            and errors are those of these slopes. Where that leads astray, it starts afresh.
        """
        found = self._solve_from(near)
        if near is None or found.converged:
            return found
        return min(found, self._solve_from(None), key=_distance)

    def _solve_from(self, near: FixedPoint | None) -> FixedPoint:
        """Solve the equations from a solution nearby, or afresh."""
        J = self.body.shape[0]
        part = min(max(J // _FIRST_PART, _FEWEST_DATA_SETS), J)
        if near is None:
            x, used, sizes = self._start(), 0, dict.fromkeys((part, J))
            inverse = self._solved(x, part, keep=True)
        else:
            x, inverse, used, sizes = near.x, near.inverse, 0, {J: None}
        for data in sizes:
            x, inverse, here, done, more = self._iterate(x, inverse, data)
            used += more
        solved = inverse if near is not None else self._solved(x, part, keep=False)
        residual = float(np.abs(here.x - x).max())
        status = Status.CONVERGED if done else Status.MAX_ITER
        covariance = solved @ here.covariance @ solved.T
        return FixedPoint(x, covariance, residual, used, status.value, solved)

    def _solved(self, x: Array, data: int, *, keep: bool) -> Array:
        """Return the inverse of the slopes of x - F(x), over the first data sets."""
        base = self.step(x, data, keep=keep)
        slopes = np.zeros((3, 3))
        for i in range(3):
            if np.exp(x[i]) > self._floor[i]:  # otherwise there is nothing to move
                moved = x + _SLOPE_STEP * np.eye(3)[i]
                slopes[:, i] = (self.step(moved, data, keep=False).x - base.x) / _SLOPE_STEP
        return np.asarray(np.linalg.pinv(np.eye(3) - slopes), dtype=float)

    def _start(self) -> Array:
        """Return the solution for independent columns and the same variance of the signal."""
        body, model = self.body, self.model
        rho = float(self.share @ np.mean(body.truth != 0.0, axis=1))
        scale = self._signal / rho if rho > 0.0 else 1.0
        lam = self.lam / np.sqrt(scale * np.mean(body.sigma.diagonal()))
        alike = Model(model.alpha, rho, model.Delta / scale)
        if body.copies is not None:
            one: Any = solve_knockoff(alike, lam)
            v, chi = one.v + one.v_tilde, one.chi + one.chi_tilde
        elif self.resampled is None:
            one = solve_lasso(alike, lam)
            v, chi = 0.0, one.chi
        else:
            one = solve_stability(alike, lam, *self.resampled)
            v, chi = one.v, one.chi
        found = np.array([one.ensemble_error, v, 1.0]) * [scale, scale, chi]
        return np.asarray(np.log(np.maximum(found, self._floor)))

    def _iterate(
        self, x: Array, H: Array, data: int
    ) -> tuple[Array, Array, EquationStep, bool, int]:
        """Iterate Broyden's method for x - F(x) = 0, with shorter steps where one goes astray.

        H is the inverse of the slopes of x - F(x).
        """
        here = self.step(x, data)
        for used in range(1, _MAX_ITER + 1):
            residual = here.x - x
            move = H @ residual
            # active variables are counted, so that steps cannot be smaller than a count
            noise = np.sqrt(np.diag(H @ here.covariance @ H.T))
            if np.all(np.abs(move) <= np.maximum(TOLERANCE, _NOISE_SHARE * noise)):
                return x, H, here, True, used
            move *= min(1.0, _LONGEST_STEP / np.abs(move).max())
            for halvings in range(_MAX_HALVINGS):
                move = move if halvings == 0 else 0.5 * move
                there = self.step(x + move, data)
                remaining = there.x - x - move
                if np.linalg.norm(remaining) <= _WORSE_FACTOR * np.linalg.norm(residual):
                    break
            change = residual - remaining  # of x - F(x)
            along = move @ H
            scale = float(along @ change)
            if abs(scale) > 1e-3 * float(move @ move):
                H = H + np.outer(move - H @ change, along) / scale
            x, here = x + move, there
        return x, H, here, False, _MAX_ITER


def _distance(point: FixedPoint) -> tuple[bool, float]:
    """Return how far a point is from a solution: whether it is none, and its residual."""
    return not point.converged, point.residual


def balanced(controls: Array, share: Array | None = None) -> Array:
    """Return weights of J data sets, of sum one, under which controls (J, k) have mean zero.

    Means under these weights are those that a regression on the controls corrects. No data set has
    less than a tenth of its share, so that counts stay positive.
    """
    own = np.full(len(controls), 1.0 / len(controls)) if share is None else share / share.sum()
    centre = own @ controls
    apart = controls - centre
    spread = (own[:, None] * apart).T @ apart
    weight = own * np.maximum(1.0 - apart @ np.linalg.pinv(spread, rcond=1e-10) @ centre, 0.1)
    return np.asarray(weight / weight.sum())


def controlled(each: Array, controls: Array, share: Array | None = None) -> tuple[Array, Array]:
    """Return means of (J, k) values and their covariance, less what controls explain."""
    J = len(each)
    own = np.full(J, 1.0 / J) if share is None else share / share.sum()
    apart, deviations = controls - own @ controls, each - own @ each
    root = np.sqrt(own)[:, None]
    rest = deviations - apart @ np.linalg.lstsq(root * apart, root * deviations, rcond=1e-10)[0]
    rest *= own[:, None]
    free = max(J - 1 - controls.shape[1], 1)
    return balanced(controls, own) @ each, rest.T @ rest * (J / free)
