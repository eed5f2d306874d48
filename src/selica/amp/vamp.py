"""Resampled lassos by vector message passing: for columns that are correlated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import CountLaw
from selica._core.losses import Loss, loss_of
from selica._core.parallel import blas_threads_for
from selica._core.results import Status
from selica._core.types import Array, BoolArray, IntArray
from selica.amp.couplings import Beliefs, Cavities, Coupling, coupling_of
from selica.amp.loop import Iteration, State, iterate
from selica.amp.outputs import Output, output_of
from selica.amp.problem import MessageProblem, check, check_weakness
from selica.amp.results import StabilityVamp, shaped
from selica.amp.single_body import EnsembleMoments, member
from selica.amp.stability import resampling_law

# A variable selected by all but this share of the members counts as selected by all but it. Its
# belief is as wide as the share is small, and rounding grows with the square of that: 1e-6 would
# leave errors of 1e-4, while 1e-4 moves probabilities by 1e-6.
_ALWAYS = 1e-4
# Rows whose answer is this much flatter than that of the steepest row are made as steep.
_FLATTEST = 1e-8
# A share of the answer of a row that is left to the row itself, at least.
_LEAST = 1e-12
_ATTEMPTS = (((0.3, 1.0), 0.3), ((0.02, 0.3), 1.0))
"""Shortest and longest steps, up to a part of the iterations. Near twins among the variables let
the change grow for a while, which is no reason for short steps."""
_NEAR = 1e-2
"""A state with a smaller change is where the next attempt begins."""
_ROUNDING = 1e-6
"""What a change is compared with, at least, for columns of length one and rows of size one."""
_UNREACHABLE = 1e30
"""A penalty that no field reaches, in the same unit."""
_EMPTY = 1e-75
"""A column of a smaller length is empty."""


def stability_vamp(
    X: ArrayLike,
    y: ArrayLike,
    lam: ArrayLike,
    resample_rate: float = 1.0,
    *,
    response: str | Loss = "linear",
    form: str = "diagonal",
    resampling: str = "poisson",
    weakness: float = 1.0,
    lam2: ArrayLike = 0.0,
    tol: float = 1e-6,
    max_iter: int = 500,
) -> StabilityVamp:
    r"""Compute selection probabilities over resamples of the rows, for columns that are correlated.

    Replicated vector approximate message passing (Takahashi and Kabashima 2020). A member
    minimises

    .. math:: \sum_\mu c_\mu\, \ell(y_\mu, x_\mu \cdot w) + \lambda \sum_i |w_i|
        + \tfrac12 \lambda_2 \sum_i w_i^2

    with random weights :math:`c_\mu` of the rows, where :math:`\ell` is half the squared residual
    or, for a binary response of 0 and 1, the log-loss.

    Parameters
    ----------
    X : array of shape (n, p)
        As it is; no intercept is fitted.
    y : array of shape (n,)
    lam : float or array of shape (L,)
        Penalties, in the unit of the sum above. Each is started from the next larger one.
    resample_rate, resampling, weakness, lam2
        As in `stability_amp`.
    response : {"linear", "binary"}, or a registered response or its loss
        Message passing is for losses that are sums over the rows.
    form : {"diagonal", "restricted"}
        One variance for each row and variable, O(n p min(n, p)) an iteration; or one for all of
        them, which suits designs with singular vectors in general position, O(n p) an iteration.
    tol : float
        Relative change of fields and variances at which the iteration ends.
    max_iter : int
        For each penalty.

    Returns
    -------
    StabilityVamp

    Examples
    --------
    >>> from selica.amp import stability_vamp
    >>> from selica.sampling import simulate
    >>> data = simulate(200, 100, 5, snr=5.0, covariance=("ar1", 0.7), random_state=0)
    >>> found = stability_vamp(data.X, data.y, lam=20.0)
    >>> found.status
    'converged'
    """
    problem = check(X, y, lam, lam2, tol, max_iter)
    weakness = check_weakness(weakness)
    law = resampling_law(resampling, resample_rate)
    with blas_threads_for(problem.X.shape):
        joined = _along(problem, loss_of(response, "response"), form, law, weakness)
    return shaped(
        StabilityVamp, problem.single, lam=problem.lam, lam2=problem.lam2, weakness=weakness,
        **joined,
    )  # fmt: skip


def _along(
    problem: MessageProblem, loss: Loss, form: str, law: CountLaw, weakness: float
) -> dict[str, Array]:
    """Return the attributes of a result, penalty by penalty from the largest on."""
    units = _units(problem, loss)
    design = problem.X / units.column
    output = output_of(loss, problem.y / units.response, law)
    coupling = coupling_of(design, form)
    start = _start(coupling, *design.shape)
    floors = tuple(_ROUNDING * float(np.sqrt(part.shape[0])) for part in start)
    parts: list[dict[str, Array]] = [{}] * problem.lam.size
    for k in np.argsort(-problem.lam, kind="stable"):
        penalties = units.penalties(problem.lam[k]), units.ridges(problem.lam2[k])
        step = VectorStep(coupling, output, *penalties, weakness)
        outcome = _solve(step, start, floors, problem)
        parts[k] = _described(step, outcome, units)
        if outcome.status[0] == Status.CONVERGED:
            start = outcome.state
    return {name: np.concatenate([part[name] for part in parts], axis=-1) for name in parts[0]}


def _solve(
    step: VectorStep, start: State, floors: tuple[float, ...], problem: MessageProblem
) -> Iteration:
    """Iterate with long steps first, and with shorter ones where these do not converge."""
    best = Iteration(
        start, np.array([str(Status.MAX_ITER)]), np.full(1, np.inf), np.zeros(1, np.intp),
        np.ones(1),
    )  # fmt: skip
    spent = 0
    for shares, part in _ATTEMPTS:
        at = best.state if best.residual[0] < _NEAR else start
        budget = int(np.ceil(part * problem.max_iter)) - spent
        if budget > 0 and best.status[0] != Status.CONVERGED:
            found = iterate(step, at, floors, tol=problem.tol, max_iter=budget, shares=shares)
            spent += int(found.iterations[0])
            best = found if found.residual[0] < best.residual[0] else best
    return best._replace(iterations=np.full(1, spent))


class Units(NamedTuple):
    """Columns get length one; a linear response gets rows of size one."""

    column: Array
    """(p,): lengths of the columns, one for empty ones."""
    empty: BoolArray
    response: float

    def penalties(self, lam: float) -> Array:
        """Return the penalties of the coefficients of the scaled columns, (p, 1)."""
        scaled = np.minimum(lam / self.response / self.column, _UNREACHABLE)
        return np.where(self.empty, _UNREACHABLE, scaled)[:, None]

    def ridges(self, lam2: float) -> Array:
        """Return the ridges of the coefficients of the scaled columns, (p, 1)."""
        return np.minimum(lam2 / self.column**2, _UNREACHABLE)[:, None]


def _units(problem: MessageProblem, loss: Loss) -> Units:
    length = np.linalg.norm(problem.X, axis=0)
    empty = length < _EMPTY
    size = float(np.sqrt(np.mean(problem.y**2))) if loss.quadratic else 1.0
    return Units(np.where(empty, 1.0, length), empty, size if size > _EMPTY else 1.0)


def _start(coupling: Coupling, n: int, p: int) -> State:
    """Return the state in which nothing is selected and nothing is known."""
    own, row = (1, 1) if coupling.averaged else (p, n)
    sizes = (p, own, own, n, row, row)
    return tuple(np.full((size, 1), float(k == 2)) for k, size in enumerate(sizes))


def _described(step: VectorStep, outcome: Iteration, units: Units) -> dict[str, Array]:
    """Return the attributes of a result in the units of the user, for one penalty."""
    at = Cavities(*outcome.state)
    found = step.member(at)
    column = units.column[:, None]
    w, h = units.response / column, units.response * column
    return {
        "selection_probabilities": found.Pi,
        "coef": w * found.w_bar, "coef_variance": w**2 * found.v, "field": h * at.g,
        "field_variance": h**2 * at.v_hat, "precision": column**2 * at.Q_hat,
        "ensemble_error": np.atleast_1d(units.response**2 * step.output.error(at.omega)),
        "status": outcome.status, "residual": outcome.residual, "iterations": outcome.iterations,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class VectorStep:
    """One iteration at one penalty; a state is `Cavities`, as columns."""

    coupling: Coupling
    output: Output
    lam: Array
    """(p, 1)."""
    lam2: Array
    """(p, 1)."""
    weakness: float

    def __call__(self, state: State, columns: IntArray) -> State:
        """The next state, undamped."""
        at = Cavities(*state)
        beliefs = (*self._variables(at), *self._rows(at))
        return tuple(part[:, None] for part in self.coupling(Beliefs(*(b[:, 0] for b in beliefs))))

    def member(self, at: Cavities) -> EnsembleMoments:
        """Return what members make of the fields."""
        return member(at.g, at.v_hat, at.Q_hat, self.lam, self.weakness, lam2=self.lam2)

    def _variables(self, at: Cavities) -> tuple[Array, Array, Array]:
        r"""Return beliefs with the moments of the members, once the fields are taken out of them.

        With chi = Pi/(Q + lam2) the belief has precision 1/chi - Q. As the covariance of a
        coefficient with its field is chi v_hat, what is left of the variance is not negative.
        """
        found, Q = self.member(at), np.where(at.Q_hat > 0.0, at.Q_hat, 1.0)
        share, v = found.Pi / (1.0 + self.lam2 / Q), found.v  # chi Q: what the rows say
        if self.coupling.averaged:
            share, v = share.mean(keepdims=True), v.mean(keepdims=True)
        share = np.minimum(share, 1.0 - _ALWAYS)
        rest = 1.0 - share
        mu = (found.w_bar - share * at.g / Q) / rest
        tau = np.maximum(v - (share / Q) ** 2 * at.v_hat, 0.0) / rest**2
        return mu, share / (Q * rest), tau

    def _rows(self, at: Cavities) -> tuple[Array, Array, Array]:
        """Return observations that answer as the rows do."""
        mean, slope, excess = self.output(at.omega, at.chi, at.v)
        if self.coupling.averaged:
            flat = slope.mean(keepdims=True)
            excess = np.mean(excess + at.v * (slope**2 - flat**2), keepdims=True)
            slope = flat
        slope = np.maximum(slope, _FLATTEST * slope.max())
        D = slope / np.maximum(1.0 - at.chi * slope, _LEAST)
        return at.omega + mean / slope, D, excess / slope**2
