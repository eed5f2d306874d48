r"""The large-system theory for correlated Gaussian rows, x ~ N(0, Sigma/N).

Errors E of the averaged estimator (noise included), variance v between members and response chi
of one member fix the fields,

.. math:: \hat Q = \alpha f_1, \quad \hat\chi = \alpha f_1^2 E, \quad
          \hat v = \alpha[(f_2 - f_1^2) E + f_2 v] ,

with the averages f of the distribution of the resampling weights at chi, as for independent
columns; and the N-dimensional lasso of `drawn_fits` in these fields gives back E, v and
chi = (active variables) / (N Q_hat). Its averages are taken over draws that stay the same during
the iteration, so that the fixed point is that of a deterministic map (docs/correlated.md).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import check_rate
from selica._core.effects import Effects
from selica._core.errors import ArgumentError, ConvergenceWarning
from selica._core.random import RandomState, child, generator, seed_sequence
from selica._core.types import Array
from selica._core.validation import count, positive, real, single
from selica._core.warning import warn
from selica.correlated.drawn_fits import GaussianCopies, SingleBody, draw_effects, mean_signal
from selica.correlated.fixed_point import DrawnEquations, FixedPoint
from selica.correlated.solution import CorrelatedSolution
from selica.sampling.covariance import Covariance, parse_covariance
from selica.theory import Model

_COVARIANCE_KEY = 0
"""Spawn key of random covariances."""
_DRAWS_KEY = 1
"""Spawn key of effects and fields."""


class CorrelatedEnsemble(NamedTuple):
    """Which fits are made, and how many of them are drawn.

    Examples
    --------
    >>> from selica.correlated.ensembles import CorrelatedEnsemble
    >>> CorrelatedEnsemble("lasso", n_members=1).resampled is None
    True
    """

    method: str
    """ "lasso", "stability" or "knockoff"."""
    n_members: int
    """Members of each data set."""
    n_data: int = 64
    """Draws of the data."""
    resampled: tuple[float, str] | None = None
    """Rate and kind of the resampling; None if nothing is resampled."""
    s: Any = None
    """How the S-matrix of knockoff copies is chosen, or its diagonal; None without copies."""


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
    """Solve stability selection with correlated columns: order parameters and probabilities.

    Parameters
    ----------
    model : theory.Model
        One model; `alpha` is samples for each variable, `rho` and its effects give the distribution
        of w0.
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
        Given effects w0, for all data sets or for each, or another distribution than that of the
        model.
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
        rate = check_rate("resample_rate", resample_rate, resampling)
        resampled = (single("resample_rate", rate), resampling)
    members = count("n_members", n_members, at_least=2)
    data = count("n_data", n_data, at_least=8)
    if resampled is None:
        asked = CorrelatedEnsemble("lasso", 1, data)
    else:
        asked = CorrelatedEnsemble("stability", members, data, resampled)
    return _checked(
        asked, model, lam, covariance, n_features, effects=effects, random_state=random_state
    )


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
    """Solve knockoffs with correlated columns: order parameters and selection probabilities.

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
    asked = CorrelatedEnsemble("knockoff", members, count("n_data", n_data, at_least=8), s=s)
    return _checked(
        asked, model, lam, covariance, n_features, effects=effects, random_state=random_state
    )


def _checked(
    asked: CorrelatedEnsemble,
    model: Model,
    lam: float,
    covariance: Any,
    n_features: int | None,
    *,
    effects: ArrayLike | Effects | None,
    random_state: RandomState | None,
) -> CorrelatedSolution:
    """Check the arguments, solve, and warn where the equations were not solved."""
    Model.check_single(model)
    penalty = single("lam", positive("lam", lam))
    seed = seed_sequence(random_state)
    sigma = _covariance(covariance, n_features, seed)
    known = model.effects if effects is None else effects
    if not isinstance(known, Effects):
        known = _given(known, asked.n_data, sigma.n_features)
    found = solve_ensemble(asked, model, penalty, sigma, effects=known, seed=seed)
    if not found.converged:
        warn(
            f"The equations of the {asked.method} were not solved: a step of "
            f"{found.residual:.1e} is left after {found.iterations} steps.",
            ConvergenceWarning,
        )
    return found


def solve_ensemble(
    asked: CorrelatedEnsemble,
    model: Model,
    lam: float,
    covariance: Covariance,
    *,
    effects: Array | Effects,
    seed: np.random.SeedSequence,
) -> CorrelatedSolution:
    """Solve the equations of an ensemble; arguments are checked by the callers.

    Parameters
    ----------
    asked : CorrelatedEnsemble
    model : Model
    lam : float
    covariance : Covariance
    effects : array of shape (n_data, N), or Effects
        Effects of each data set, or their distribution.
    seed : SeedSequence

    Returns
    -------
    CorrelatedSolution
        Its status says whether the equations were solved.
    """
    sigma, draws = np.asarray(covariance), child(seed, _DRAWS_KEY)
    if isinstance(effects, Effects):
        truth = draw_effects(effects, model.rho, (asked.n_data, len(sigma)), draws)
        signal = mean_signal(effects, model.rho, sigma)
    else:
        truth, signal = effects, None
    copies = None if asked.s is None else GaussianCopies.of(sigma, asked.s)
    body = SingleBody(covariance, truth, asked.n_members, draws, copies)
    equations = DrawnEquations(body, model, lam, asked.resampled, signal)
    found = equations.solve()
    coef = equations.coefficients(found.x, *body.shape, keep=False)
    return _solution(equations, found, coef, asked.method)


def _solution(
    equations: DrawnEquations, found: FixedPoint, coef: Array, method: str
) -> CorrelatedSolution:
    """Return what a fixed point says, with the coefficients of all members there."""
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
        active_se=float(deviation[2]) * equations.active_slope(found.x),
        ensemble_error_se=float(deviation[0]),
        v_se=float(deviation[1]) if body.shape[1] > 1 else 0.0,
        chi_se=float(deviation[2]),
        status=found.status,
        residual=found.residual,
        iterations=found.iterations,
        effects=body.truth,
        statistic=statistic.astype(np.float32),
        controls=equations.controls,
    )


def _covariance(value: Any, p: int | None, seed: np.random.SeedSequence) -> Covariance:
    if p is not None:
        p = count("n_features", p, at_least=2)
    if isinstance(value, Covariance):
        size = value.n_features
    elif isinstance(value, str | tuple | list) and value and isinstance(value[0], str):
        if p is None:
            raise ArgumentError("n_features must be given where covariance does not say it.")
        size = p
    else:
        size = len(value) if np.ndim(value) == 2 else 0
    if p is not None and p != size:
        raise ArgumentError(f"n_features must be that of covariance, {size}; got {p}.")
    return parse_covariance(value, size, generator(child(seed, _COVARIANCE_KEY)))


def _given(effects: ArrayLike, data: int, N: int) -> Array:
    truth = real("effects", effects)
    if truth.shape not in ((N,), (data, N)):
        raise ArgumentError(
            f"effects must have one entry for each of the {N} variables, in one row or in one for "
            f"each of the {data} data sets; got shape {truth.shape}."
        )
    return np.array(np.broadcast_to(truth, (data, N)))
