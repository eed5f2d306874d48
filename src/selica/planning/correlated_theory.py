r"""The large-system theory for correlated Gaussian rows, x ~ N(0, Sigma/N).

Errors E of the averaged estimator (noise included), variance v between members and response chi
of one member fix the fields,

.. math:: \hat Q = \alpha f_1, \quad \hat\chi = \alpha f_1^2 E, \quad
          \hat v = \alpha[(f_2 - f_1^2) E + f_2 v] ,

with the averages f of the resampling law at chi, as for independent columns; and the
N-dimensional lasso of `correlated_fits` in these fields gives back E, v and
chi = (active variables) / (N Q_hat). Its averages are taken over draws that stay the same during
the iteration, so that the fixed point is that of a deterministic map (docs/correlated.md).
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import RESAMPLINGS, CountLaw, count_law, single_fit
from selica._core.effects import Effects
from selica._core.errors import ArgumentError, ConvergenceWarning
from selica._core.results import Status
from selica._core.types import Array
from selica._core.validation import LARGEST, choice, count, positive, real
from selica.planning.correlated_fits import CopyLaw, SingleBody, draw_effects, mean_signal
from selica.planning.correlated_solution import CorrelatedSolution
from selica.sampling.covariance import Covariance, parse_covariance
from selica.sampling.random import RandomState, child, generator, seed_sequence
from selica.theory import Model, solve_knockoff, solve_lasso, solve_stability

# Spawn keys: random covariances, effects and fields.
_COVARIANCE, _DRAWS = range(2)
# Members of a data set inside the fixed point: moments are unbiased for any number above one.
_INSIDE = 4
# The first part of the data sets, on which the iteration begins, and slopes are taken.
_PART, _LEAST = 4, 16
# Longest step, last step and step of slopes, in logarithms; steps of the iteration.
_LONGEST, TOLERANCE, _SLOPE, _MAX_ITER = 0.5, 1e-3, 0.05, 40
# The last step may also be this share of the Monte-Carlo error.
_NOISE = 0.1
# A step may leave this much more to go; otherwise it is halved, so many times.
_WORSE, _HALVINGS = 1.2, 4
# Where nothing is active, v and chi are this share of their scale.
_FLOOR = 1e-12


class Conjugates(NamedTuple):
    """What the order parameters make of the fields."""

    Q_hat: float
    chi_hat: float
    v_hat: float


def conjugates(alpha: float, law: CountLaw, error: float, v: float, chi: float) -> Conjugates:
    """Fields of one variable or of all: the same whatever the covariance.

    Parameters
    ----------
    alpha : float
    law : CountLaw
        Of the weight of a row, at one point.
    error, v, chi : float

    Examples
    --------
    >>> from selica._core.counts import single_fit
    >>> from selica.planning.correlated_theory import conjugates
    >>> conjugates(2.0, single_fit(1), error=0.5, v=0.0, chi=1.0)
    Conjugates(Q_hat=1.0, chi_hat=0.25, v_hat=0.0)
    """
    at = np.array([chi])
    f = law.averages(at)
    f1, f2, spread = float(f.f1[0]), float(f.f2[0]), float(law.variance(f, at)[0])
    return Conjugates(alpha * f1, alpha * f1**2 * error, alpha * (spread * error + f2 * v))


class Step(NamedTuple):
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


class Equations:
    """The map of (E, v, chi) to itself, over the draws of a `SingleBody`."""

    def __init__(
        self,
        body: SingleBody,
        model: Model,
        lam: float,
        resampled: tuple[float, str] | None,
        signal: float | None,
    ) -> None:
        self.body, self.model, self.lam, self.resampled = body, model, lam, resampled
        self.law = single_fit(1)
        if resampled is not None:
            self.law = count_law(resampled[1], np.array([resampled[0]]))
        N = body.sigma.shape[0]
        controls = [body.length - 1.0, body.overlap]
        if signal is not None:
            controls.append(np.vecdot(body.truth @ body.sigma, body.truth) / N - signal)
        self._controls = np.stack(controls, axis=1)
        """Quantities of a data set whose expectation over the draws is known to be zero."""
        self.inside = min(_INSIDE, body.shape[1])

    def fields(self, x: Array) -> Conjugates:
        """Conjugates at a point in logarithms."""
        error, v, chi = np.exp(x)
        return conjugates(self.model.alpha, self.law, error, v, chi)

    def coefficients(self, x: Array, data: int, members: int, *, keep: bool) -> Array:
        """Lassos of the first data sets and members in the fields of x."""
        Q, chi_hat, v_hat = self.fields(x)
        scale = (self.lam / Q, np.sqrt(chi_hat) / Q, np.sqrt(v_hat) / Q)
        return self.body.fit(*scale, data, members, keep=keep)

    def step(self, x: Array, data: int, *, keep: bool = True) -> Step:
        """The map at x, averaged over the first data sets."""
        coef = self.coefficients(x, data, self.inside, keep=keep)
        found = self.body.moments(coef)
        chi = found.active / self.fields(x).Q_hat
        each = np.stack([found.error + self.model.Delta, found.v, chi], axis=1)
        mean, covariance = controlled(each, self._controls[:data])
        floor = _FLOOR * np.array([np.exp(x[0]), np.exp(x[0]), 1.0])
        mean = np.maximum(mean, floor)
        return Step(np.log(mean), covariance / np.outer(mean, mean))

    def solve(self) -> FixedPoint:
        """From a part of the draws to all of them."""
        J = self.body.shape[0]
        part = min(max(J // _PART, _LEAST), J)
        x, used = self._start(), 0
        inverse = self._solved(x, part, keep=True)
        for data in dict.fromkeys((part, J)):
            x, inverse, here, done, more = self._iterate(x, inverse, data)
            used += more
        solved = self._solved(x, part, keep=False)
        residual = float(np.abs(here.x - x).max())
        status = Status.CONVERGED if done else Status.MAX_ITER
        return FixedPoint(x, solved @ here.covariance @ solved.T, residual, used, status.value)

    def _solved(self, x: Array, data: int, *, keep: bool) -> Array:
        """Inverse of the slopes of x - F(x), over the first data sets."""
        base = self.step(x, data, keep=keep)
        slopes = np.zeros((3, 3))
        for i in range(3):
            if np.exp(x[i]) > 1e3 * _FLOOR:  # otherwise there is nothing to move
                moved = x + _SLOPE * np.eye(3)[i]
                slopes[:, i] = (self.step(moved, data, keep=False).x - base.x) / _SLOPE
        return np.asarray(np.linalg.inv(np.eye(3) - slopes), dtype=float)

    def _start(self) -> Array:
        """The solution for independent columns and the same variance of the signal."""
        body, model = self.body, self.model
        N = body.sigma.shape[0]
        rho = float(np.mean(body.truth != 0.0))
        signal = float(np.vecdot(body.truth @ body.sigma, body.truth).mean()) / N
        scale = signal / rho if rho > 0.0 else 1.0
        lam = self.lam / np.sqrt(scale * np.trace(body.sigma) / N)
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
        least = _FLOOR * np.array([1.0, found[0], 1.0])
        return np.asarray(np.log(np.maximum(found, least)))

    def _iterate(self, x: Array, H: Array, data: int) -> tuple[Array, Array, Step, bool, int]:
        """Broyden's method for x - F(x) = 0 with shorter steps where one goes astray.

        H is the inverse of the slopes of x - F(x).
        """
        here = self.step(x, data)
        for used in range(1, _MAX_ITER + 1):
            off = here.x - x
            move = H @ off
            # active variables are counted, so that steps cannot be smaller than a count
            noise = np.sqrt(np.diag(H @ here.covariance @ H.T))
            if np.all(np.abs(move) <= np.maximum(TOLERANCE, _NOISE * noise)):
                return x, H, here, True, used
            move *= min(1.0, _LONGEST / np.abs(move).max())
            for _ in range(_HALVINGS):
                there = self.step(x + move, data)
                left = there.x - x - move
                if np.linalg.norm(left) <= _WORSE * np.linalg.norm(off):
                    break
                move = 0.5 * move
            change = off - left  # of x - F(x)
            along = move @ H
            scale = float(along @ change)
            if abs(scale) > 1e-3 * float(move @ move):
                H = H + np.outer(move - H @ change, along) / scale
            x, here = x + move, there
        return x, H, here, False, _MAX_ITER


def controlled(each: Array, controls: Array) -> tuple[Array, Array]:
    """Means of (J, k) values and their covariance, with what controls of mean zero explain."""
    J = len(each)
    centred = controls - controls.mean(axis=0)
    deviations = each - each.mean(axis=0)
    slope = np.linalg.lstsq(centred, deviations, rcond=1e-10)[0]
    rest = deviations - centred @ slope
    free = max(J - 1 - controls.shape[1], 1)
    mean = each.mean(axis=0) - controls.mean(axis=0) @ slope
    return mean, rest.T @ rest / (free * J)


def correlated_stability(
    model: Model,
    lam: float,
    covariance: Any,
    resample_rate: float | None = 1.0,
    resampling: str = "poisson",
    *,
    n_features: int | None = None,
    effects: ArrayLike | Effects | None = None,
    n_data: int = 64,
    n_members: int = 64,
    random_state: RandomState | None = None,
) -> CorrelatedSolution:
    """Order parameters and selection probabilities of stability selection, correlated columns.

    Parameters
    ----------
    model : theory.Model
        One model; `alpha` is samples for each variable, `rho` and its effects are the law of w0.
    lam : float
        Penalty of a member, in the unit of the theory.
    covariance : array of shape (N, N), tuple or Covariance
        Covariance of a row times N, in the forms that `sampling.simulate` takes.
    resample_rate : float or None
        Mean weight of a row in a member. None: nothing is resampled, one lasso.
    resampling : {"poisson", "bernoulli", "exponential"}
        Bootstrap with replacement, subsampling without, Bayesian bootstrap.
    n_features : int, optional
        N, where `covariance` does not say it.
    effects : array of shape (N,) or (n_data, N), or Effects, optional
        Given effects w0, for all data sets or for each, or another law than that of the model.
    n_data, n_members : int
        Draws of the data, and members of each.
    random_state : None, int, SeedSequence, Generator or RandomState

    Returns
    -------
    CorrelatedSolution

    Warns
    -----
    ConvergenceWarning
        If the equations were not solved.

    Examples
    --------
    >>> from selica import planning, theory
    >>> model = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
    >>> found = planning.correlated_stability(
    ...     model, 0.2, ("ar1", 0.5), n_features=60, n_data=32, n_members=16, random_state=0
    ... )
    >>> found.status, bool(abs(found.ensemble_error - 0.18) < 0.02)
    ('converged', True)
    """
    resampled = None
    if resample_rate is not None:
        resampling = choice("resampling", resampling, RESAMPLINGS)
        top = 1.0 if resampling == "bernoulli" else LARGEST
        rate = positive("resample_rate", resample_rate, at_most=top)
        if rate.ndim:
            raise ArgumentError("resample_rate must be one number.")
        resampled = (float(rate), resampling)
    members = count("n_members", n_members, at_least=2)
    return _solve(
        model, lam, covariance, resampled, None, n_features, effects,
        (n_data, 1 if resample_rate is None else members), random_state,
        "lasso" if resample_rate is None else "stability",
    )  # fmt: skip


def correlated_knockoff(
    model: Model,
    lam: float,
    covariance: Any,
    s: Any = "mvr",
    *,
    n_features: int | None = None,
    effects: ArrayLike | Effects | None = None,
    n_data: int = 64,
    n_members: int = 64,
    random_state: RandomState | None = None,
) -> CorrelatedSolution:
    """Order parameters and selection probabilities of knockoffs, correlated columns.

    Parameters
    ----------
    model, lam, covariance
        As in `correlated_stability`; the covariance must be positive definite.
    s : {"mvr", "maxent", "sdp", "equi"} or array of shape (N,)
        How the S-matrix of the copies is chosen, or its diagonal.
    n_features, effects, n_data, n_members, random_state
        As in `correlated_stability`; members are copies.

    Returns
    -------
    CorrelatedSolution

    Warns
    -----
    ConvergenceWarning
        If the equations were not solved.

    Examples
    --------
    >>> from selica import planning, theory
    >>> model = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
    >>> found = planning.correlated_knockoff(
    ...     model, 0.2, ("ar1", 0.5), n_features=40, n_data=32, n_members=16, random_state=0
    ... )
    >>> found.status, bool(0.0 < found.rates(0.5, 0.05).fdr < 0.5)
    ('converged', True)
    """
    members = count("n_members", n_members, at_least=2)
    return _solve(
        model, lam, covariance, None, s, n_features, effects, (n_data, members),
        random_state, "knockoff",
    )  # fmt: skip


def _solve(
    model: Model, lam: float, covariance: Any, resampled: tuple[float, str] | None, s: Any,
    n_features: int | None,
    effects: ArrayLike | Effects | None, sizes: tuple[int, int],
    random_state: RandomState | None, method: str,
) -> CorrelatedSolution:  # fmt: skip
    Model.check(model)
    penalty = positive("lam", lam)
    if model.shape or penalty.ndim:
        raise ArgumentError("model and lam must be one point, not a grid.")
    data = count("n_data", sizes[0], at_least=8)
    seed = seed_sequence(random_state)
    sigma = _covariance(covariance, n_features, seed)
    N = sigma.n_features
    draws = child(seed, _DRAWS)
    known = model.effects if effects is None else effects
    if isinstance(known, Effects):
        truth = draw_effects(known, model.rho, (data, N), draws)
        signal = mean_signal(known, model.rho, np.asarray(sigma))
    else:
        truth, signal = _given(known, data, N), None
    copies = None if s is None else CopyLaw.of(np.asarray(sigma), s)
    body = SingleBody(sigma, truth, sizes[1], draws, copies)
    equations = Equations(body, model, float(penalty), resampled, signal)
    found = equations.solve()
    if found.status != Status.CONVERGED.value:
        warnings.warn(
            f"The equations of the {method} were not solved: a step of {found.residual:.1e} is "
            f"left after {found.iterations}.",
            ConvergenceWarning,
            stacklevel=3,
        )
    coef = equations.coefficients(found.x, *body.shape, keep=False)
    return _solution(equations, found, coef, method)


def _solution(
    equations: Equations, found: FixedPoint, coef: Array, method: str
) -> CorrelatedSolution:
    """What a fixed point says, with the coefficients of all members there."""
    body, N = equations.body, equations.body.sigma.shape[0]
    error, v, chi = np.exp(found.x)
    Q, chi_hat, v_hat = equations.fields(found.x)
    deviation = np.exp(found.x) * np.sqrt(np.diag(found.covariance))
    statistic = np.abs(coef[..., :N])
    if body.copies is not None:
        statistic -= np.abs(coef[..., N:])
    return CorrelatedSolution(
        method=method,
        model=equations.model,
        lam=equations.lam,
        ensemble_error=float(error),
        v=float(v) if body.shape[1] > 1 else 0.0,
        chi=float(chi),
        Q_hat=Q,
        chi_hat=chi_hat,
        v_hat=v_hat if body.shape[1] > 1 else 0.0,
        active=float(chi * Q),
        ensemble_error_se=float(deviation[0]),
        v_se=float(deviation[1]) if body.shape[1] > 1 else 0.0,
        chi_se=float(deviation[2]),
        status=found.status,
        residual=found.residual,
        iterations=found.iterations,
        effects=body.truth,
        statistic=statistic.astype(np.float32),
    )


def _covariance(value: Any, p: int | None, seed: np.random.SeedSequence) -> Covariance:
    if isinstance(value, Covariance):
        size = value.n_features
    elif isinstance(value, str | tuple | list) and value and isinstance(value[0], str):
        if p is None:
            raise ArgumentError("n_features must be given where covariance does not say it.")
        size = count("n_features", p, at_least=2)
    else:
        size = len(value) if np.ndim(value) == 2 else 0
    if p is not None and p != size:
        raise ArgumentError(f"n_features must be that of covariance, {size}; got {p}.")
    return parse_covariance(value, size, generator(child(seed, _COVARIANCE)))


def _given(effects: ArrayLike, data: int, N: int) -> Array:
    truth = real("effects", effects)
    if truth.shape not in ((N,), (data, N)):
        raise ArgumentError(
            f"effects must have one entry for each of the {N} variables, in one row or in one for "
            f"each of the {data} data sets; got shape {truth.shape}."
        )
    return np.array(np.broadcast_to(truth, (data, N)))
