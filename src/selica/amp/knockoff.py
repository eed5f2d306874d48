"""Derandomized knockoffs by message passing: averaged over the copies, none of them drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array, IntArray
from selica._core.validation import real
from selica.amp.kernels import copied_rows
from selica.amp.loop import State, iterate_path
from selica.amp.problem import MessageProblem, check
from selica.amp.results import KnockoffAmp, shaped
from selica.amp.single_body import at_rest, member
from selica.amp.squares import Squares, floors, noise_of, squares_of


def knockoff_amp(
    X: ArrayLike,
    y: ArrayLike,
    lam: ArrayLike,
    w_threshold: float = 0.0,
    *,
    scale: ArrayLike | None = None,
    lam2: ArrayLike = 0.0,
    variances: str = "vector",
    tol: float = 1e-6,
    max_iter: int = 500,
) -> KnockoffAmp:
    r"""Compute how often a variable beats its knockoff, without drawing a knockoff.

    A copy of the design has independent Gaussian entries, as `sampling.iid_copies` draws them:
    knockoffs for variables that are independent of one another. The lasso with the columns of X
    and of a copy,

    .. math:: \tfrac12 \sum_\mu (y_\mu - x_\mu \cdot w - \tilde x_\mu \cdot \tilde w)^2
        + \sum_i [\lambda (|w_i| + |\tilde w_i|) + \tfrac12 \lambda_2 (w_i^2 + \tilde w_i^2)] ,

    selects the variables with :math:`Z_i = |w_i| - |\tilde w_i|` above `w_threshold`. Averaged
    over all copies, message passing needs X alone; the copies enter through two numbers.

    Parameters
    ----------
    X : array of shape (n, p)
        As it is; no intercept is fitted.
    y : array of shape (n,)
    lam : float or array of shape (L,)
        Penalties, in the unit of the sum above.
    w_threshold : float
        What Z_i has to exceed; `probability` of the result has the whole law.
    scale : float or array of shape (p,), optional
        Standard deviation of the copied columns, as in `sampling.iid_copies`; by default the root
        mean square of each column of X.
    lam2, variances, tol, max_iter
        As in `stability_amp`.

    Returns
    -------
    KnockoffAmp

    Examples
    --------
    >>> from selica.amp import knockoff_amp
    >>> from selica.sampling import simulate
    >>> data = simulate(200, 100, 5, snr=5.0, random_state=0)
    >>> found = knockoff_amp(data.X, data.y, lam=20.0)
    >>> bool(found.selection_probabilities[data.support].min() > 0.9)
    True
    >>> found.probability([-0.5, 0.0]).shape
    (2, 100)
    """
    problem = check(X, y, lam, lam2, tol, max_iter)
    squares = squares_of(problem, variances)
    step = KnockoffStep(problem, squares, _variance(problem.X, scale))
    w = real("w_threshold", w_threshold)
    if w.ndim:
        raise ArgumentError("w_threshold must be one number; `probability` takes several.")
    start = step.start()
    outcome = iterate_path(
        step, start, floors(start[:5], problem.y), problem.lam,
        tol=problem.tol, max_iter=problem.max_iter,
    )  # fmt: skip
    fields = KnockoffFields(*outcome.state)
    found = member(fields.g, fields.v_hat, fields.Q_hat, problem.lam, lam2=problem.lam2)
    parts = {
        "lam": problem.lam, "lam2": problem.lam2, "coef": found.w_bar, "coef_variance": found.v,
        "field": fields.g, "field_variance": fields.v_hat, "precision": fields.Q_hat,
        "noise": noise_of(squares, fields.a), "ensemble_error": fields.E[0],
        "status": outcome.status, "residual": outcome.residual, "iterations": outcome.iterations,
        "copy_field_variance": step.scale * fields.v_tilde_hat,
        "copy_precision": step.scale * fields.Q_tilde_hat,
    }  # fmt: skip
    blank = shaped(
        KnockoffAmp, problem.single, selection_probabilities=found.Pi, w_threshold=float(w), **parts
    )
    P = blank.probability(float(w))
    return shaped(
        KnockoffAmp, problem.single, w_threshold=float(w), **parts,
        selection_probabilities=P[:, None] if problem.single else P.T,
    )  # fmt: skip


def _variance(X: Array, scale: ArrayLike | None) -> Array:
    """Return the variances of the entries of copied columns, (p, 1)."""
    if scale is None:
        return np.asarray(np.einsum("ij,ij->j", X, X)[:, None] / X.shape[0])
    sd = real("scale", scale, at_least=0.0)
    if sd.shape not in ((), (X.shape[1],)):
        raise ArgumentError(
            f"scale must be one number or have one entry for each of the {X.shape[1]} columns of "
            f"X; got shape {sd.shape}."
        )
    return np.broadcast_to(sd**2, (X.shape[1],))[:, None]


class KnockoffFields(NamedTuple):
    """A state: what variables and their copies see of the rows, and the rows' residuals."""

    g: Array
    v_hat: Array
    Q_hat: Array
    v_tilde_hat: Array
    """(1, L): variance over the copies of the field of a copied variable, in units of its scale."""
    Q_tilde_hat: Array
    """(1, L)."""
    a: Array
    E: Array


@dataclass(frozen=True, slots=True)
class KnockoffStep:
    """One iteration.

    Of the copies rows see two sums, which are the same for all rows: variance and response of the
    copied variables' part of a prediction.
    """

    problem: MessageProblem
    squares: Squares
    scale: Array
    """(p, 1): variance of the entries of each copied column."""

    def __call__(self, state: State, columns: IntArray) -> State:
        """The next state, undamped."""
        fields = KnockoffFields(*state)
        lam, lam2 = self.problem.lam[columns], self.problem.lam2[columns]
        found = member(fields.g, fields.v_hat, fields.Q_hat, lam, lam2=lam2)
        v_tilde_hat, Q_tilde_hat = (
            self.scale * part for part in (fields.v_tilde_hat, fields.Q_tilde_hat)
        )
        copy = at_rest(v_tilde_hat, Q_tilde_hat, lam, lam2)
        sums = (np.sum(self.scale * part, axis=0, keepdims=True) for part in (copy.v, copy.chi))
        return self.fields(found.w_bar, found.v, found.chi, fields.a, *sums)

    def start(self) -> State:
        """Return the fields of variables and copies that are zero: the same at every penalty."""
        n, p = self.problem.X.shape
        zeros, zero = np.zeros((p, 1)), np.zeros((1, 1))
        return self.fields(zeros, zeros, zeros, np.zeros((n, 1)), zero, zero)

    def fields(
        self, w_bar: Array, v: Array, chi: Array, a: Array, v_copies: Array, chi_copies: Array
    ) -> KnockoffFields:
        """Return the fields after a step from variables and copies to rows and back."""
        fit, chi_row, v_row = map(np.ascontiguousarray, self.squares.to_rows(w_bar, chi, v))
        a, f1, own, sums = copied_rows(
            self.problem.y, fit, chi_row, v_row, a, chi_copies[0], v_copies[0]
        )
        field, Q_hat, v_hat = self.squares.to_columns(a, f1, own)
        v_tilde_hat, Q_tilde_hat, square = sums[:, None]
        E = square / self.problem.y.size
        return KnockoffFields(Q_hat * w_bar + field, v_hat, Q_hat, v_tilde_hat, Q_tilde_hat, a, E)
