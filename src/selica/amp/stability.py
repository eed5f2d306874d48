"""The bootstrapped lasso by message passing: all resamples at once, none of them drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import CountLaw, check_rate, count_law
from selica._core.types import Array, IntArray
from selica._core.validation import single
from selica.amp.loop import State, iterate_path
from selica.amp.problem import MessageProblem, check, check_weakness
from selica.amp.results import StabilityAmp, shaped
from selica.amp.single_body import EnsembleMoments, member
from selica.amp.squares import Squares, floors, noise_of, squares_of
from selica.amp.weights import row_averages


def stability_amp(
    X: ArrayLike,
    y: ArrayLike,
    lam: ArrayLike,
    resample_rate: float = 1.0,
    *,
    resampling: str = "poisson",
    weakness: float = 1.0,
    lam2: ArrayLike = 0.0,
    variances: str = "vector",
    tol: float = 1e-6,
    max_iter: int = 500,
) -> StabilityAmp:
    r"""Compute selection probabilities of the lasso over resamples of the rows, without a refit.

    Message passing for the average over all resamples (Obuchi and Kabashima 2019), for designs
    whose columns are close to independent. A member minimises

    .. math:: \tfrac12 \sum_\mu c_\mu (y_\mu - x_\mu \cdot w)^2 + \lambda \sum_i |w_i|
        + \tfrac12 \lambda_2 \sum_i w_i^2

    with random weights :math:`c_\mu` of the rows.

    Parameters
    ----------
    X : array of shape (n, p)
        As it is; no intercept is fitted.
    y : array of shape (n,)
    lam : float or array of shape (L,)
        Penalties, in the unit of the sum above. Several are solved together, by matrix products.
    resample_rate : float
        Mean weight of a row: rows drawn for each row there is.
    resampling : {"poisson", "bernoulli", "exponential"}
        Distribution of the weights: bootstrap, subsampling without replacement (`resample_rate` is
        the share of the rows), Bayesian bootstrap.
    weakness : float
        Below 1, the penalty of each variable is divided by it with probability 1/2 in each
        resample; `lam2` stays.
    lam2 : float or array of shape (L,)
        The ridge of an elastic net: one for all penalties, or one beside each of them.
    variances : {"vector", "scalar"}
        One variance for each row and variable, or the cheaper self-averaging form.
    tol : float
        Relative change of fields and their variances at which the iteration ends.
    max_iter : int

    Returns
    -------
    StabilityAmp

    Examples
    --------
    >>> from selica.amp import stability_amp
    >>> from selica.sampling import simulate
    >>> data = simulate(200, 100, 5, snr=5.0, random_state=0)
    >>> found = stability_amp(data.X, data.y, lam=20.0)
    >>> found.status
    'converged'
    >>> found.selection_probabilities[data.support].round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.73]
    """
    problem = check(X, y, lam, lam2, tol, max_iter)
    weakness = check_weakness(weakness)
    law = resampling_law(resampling, resample_rate)
    squares = squares_of(problem, variances)
    step = StabilityStep(problem, law, weakness, squares)
    start = step.start()
    outcome = iterate_path(
        step, start, floors(start[:3], problem.y), problem.lam,
        tol=problem.tol, max_iter=problem.max_iter,
    )  # fmt: skip
    fields = StabilityFields(*outcome.state)
    found = step.member(fields, np.arange(problem.lam.size))
    return shaped(
        StabilityAmp, problem.single, lam=problem.lam, lam2=problem.lam2,
        selection_probabilities=found.Pi, coef=found.w_bar, coef_variance=found.v,
        field=fields.g, field_variance=fields.v_hat, precision=fields.Q_hat,
        noise=noise_of(squares, fields.a), ensemble_error=fields.E[0], status=outcome.status,
        residual=outcome.residual, iterations=outcome.iterations, weakness=weakness,
    )  # fmt: skip


def resampling_law(resampling: str, resample_rate: float) -> CountLaw:
    """Check the weights of the rows, and return their distribution."""
    rate = check_rate("resample_rate", resample_rate, resampling)
    return count_law(resampling, np.array([single("resample_rate", rate)]))


class StabilityFields(NamedTuple):
    """A state: what variables see of the rows, and the rows' residuals.

    Fields change slowly with the penalty; what variables make of them, by orders of magnitude.
    """

    g: Array
    """(p, L): mean field."""
    v_hat: Array
    """(p, L): its variance over the members."""
    Q_hat: Array
    """(p, L)."""
    a: Array
    """(n, L): residuals of the averaged fit, as if the row had not been used, times f_1."""
    E: Array
    """(1, L): mean square of these residuals."""


@dataclass(frozen=True, slots=True)
class StabilityStep:
    """One iteration."""

    problem: MessageProblem
    law: CountLaw
    weakness: float
    squares: Squares

    def __call__(self, state: State, columns: IntArray) -> State:
        """The next state, undamped."""
        fields = StabilityFields(*state)
        found = self.member(fields, columns)
        return self.fields(found.w_bar, found.v, found.chi, fields.a)

    def start(self) -> State:
        """Return the fields of variables that are all zero: the same at every penalty."""
        n, p = self.problem.X.shape
        zeros = np.zeros((p, 1))
        return self.fields(zeros, zeros, zeros, np.zeros((n, 1)))

    def fields(self, w_bar: Array, v: Array, chi: Array, a: Array) -> StabilityFields:
        """Return the fields after a step from variables to rows and back."""
        fit, chi_row, v_row = self.squares.to_rows(w_bar, chi, v)
        f = row_averages(self.law, chi_row)
        z = self.problem.y[:, None] - fit + chi_row * a
        a, square = f.f1 * z, z**2
        spread = f.spread * (v_row + square) + f.f1**2 * v_row
        field, Q_hat, v_hat = self.squares.to_columns(a, f.f1, spread)
        E = np.mean(square, axis=0, keepdims=True)
        return StabilityFields(Q_hat * w_bar + field, v_hat, Q_hat, a, E)

    def member(self, fields: StabilityFields, columns: IntArray) -> EnsembleMoments:
        """Return what members make of the fields, at some of the penalties."""
        return member(
            fields.g, fields.v_hat, fields.Q_hat, self.problem.lam[columns], self.weakness,
            lam2=self.problem.lam2[columns],
        )  # fmt: skip
