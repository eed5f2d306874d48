r"""What message passing returns: probabilities, fields, and what they say of false selections.

At the fixed point the field of a variable that does not matter is a draw from
:math:`N(0, \sigma_i^2)` with a variance that is known from the residuals. Hence p-values, and for
every threshold on the probability the number of irrelevant variables to be expected above it. A
step-up rule on the p-values holds a level of the false discovery rate; where variables have one
variance, it is a threshold on the probability.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.results import Result, unwrap
from selica._core.root import find_root
from selica._core.scalar import (
    Chance,
    density,
    knockoff_probability,
    selection_probability,
    survival,
)
from selica._core.types import Array
from selica._core.validation import real

# Variables that stand for all in sums over irrelevant ones: their variances hardly differ.
_REPRESENTATIVES = 64
# A field this many standard deviations out has a probability below 1e-300.
_FARTHEST = 38.0
_FLAT = 1e-12


@dataclass(frozen=True, slots=True, repr=False)
class Members(Result):
    """Variables in their fields; the attributes are those of `StabilityAmp`."""

    lam: Any
    lam2: Any
    selection_probabilities: Array
    coef: Array
    coef_variance: Array
    field: Array
    field_variance: Array
    precision: Array
    ensemble_error: Any
    status: Any
    residual: Any
    iterations: Any

    _columns: ClassVar[tuple[str, ...]] = (
        "lam", "lam2", "ensemble_error", "status", "residual", "iterations",
    )  # fmt: skip

    @property
    def converged(self) -> bool:
        """Whether the iteration converged, at every penalty."""
        return bool(np.all(np.asarray(self.status) == "converged"))

    def at(self, position: int) -> Any:
        """Return the result at one of the penalties."""
        if np.ndim(self.lam) == 0:
            return self
        return type(self)(**{name: _pick(getattr(self, name), position) for name in _names(self)})

    def __repr__(self) -> str:
        L = np.size(self.lam)
        lam = f"lam={self.lam:.4g}" if np.ndim(self.lam) == 0 else f"{L} penalties"
        state = "converged" if self.converged else f"not converged: {np.unique(self.status)}"
        return f"{type(self).__name__}({self.field.shape[-1]} variables, {lam}, {state})"


@dataclass(frozen=True, slots=True, repr=False)
class Fields(Members):
    """Fields with a known distribution where variables do not matter."""

    noise: Array

    @property
    def z_values(self) -> Array:
        """Fields in units of their noise: standard normal for variables that do not matter."""
        return np.asarray(self.field / np.where(self.noise > 0.0, self.noise, np.inf))

    @property
    def p_values(self) -> Array:
        """Two-sided p-values of the fields."""
        return np.minimum(2.0 * survival(np.abs(self.z_values)), 1.0)

    def expected_false(self, threshold: ArrayLike) -> Any:
        """Return how many of the variables would reach a probability, if none of them mattered.

        Parameters
        ----------
        threshold : float or array
            Of the selection probability, above 0.
        """
        self._one_penalty("expected_false")
        t = real("threshold", threshold, at_least=1e-12, at_most=1.0)
        chosen = self._representatives()
        grid, index = np.broadcast_arrays(t.ravel()[:, None], chosen)
        sigma = self.noise[index].ravel()
        level, index = grid.ravel(), index.ravel()

        def equation(z: Array, which: Any) -> tuple[Array, Array]:
            chance = self._chance(z * sigma[which], index[which])
            above = chance.value - level[which]
            # where a probability is rounded to one its slope is no guide: halve the bracket
            flat = (above >= 0.0) & (chance.value > 1.0 - _FLAT)
            slope = np.where(flat, 1e-300, chance.slope * sigma[which])
            return np.where(flat, 1.0, above), slope

        # below the probability of a field of zero every variable reaches the threshold
        zero = self._chance(np.zeros(index.size), index).value
        start = (np.asarray(self.lam) / np.where(sigma > 0.0, sigma, np.inf)).clip(0.1, 5.0)
        root = find_root(equation, start, lower=0.0, upper=_FARTHEST, tol=1e-9)
        share = np.where(zero >= level, 1.0, 2.0 * survival(root.x))
        share = np.where(sigma > 0.0, share, 0.0).reshape(grid.shape)
        return unwrap(share.mean(axis=1).reshape(t.shape) * self.field.size)

    def fdr(self, threshold: ArrayLike) -> Any:
        """Return the estimated false discovery rate of all variables that reach a probability.

        As if none of the variables mattered, hence rather too large; 0 where none is selected.

        Parameters
        ----------
        threshold : float or array
            Of the selection probability, above 0.
        """
        t = np.asarray(threshold, dtype=float)
        selected = np.count_nonzero(self.selection_probabilities >= t[..., None], axis=-1)
        false = np.asarray(self.expected_false(threshold))
        return unwrap(np.where(selected > 0, np.minimum(false / np.maximum(selected, 1), 1.0), 0.0))

    def _one_penalty(self, what: str) -> None:
        if np.ndim(self.lam):
            raise ArgumentError(f"{what} is for one penalty; take one of them with .at(position).")

    def _representatives(self) -> Any:
        """Return variables that stand for all, evenly over the order of their noise."""
        order = np.argsort(self.noise, kind="stable")
        k = min(_REPRESENTATIVES, order.size)
        return order[((np.arange(k) + 0.5) * order.size / k).astype(np.intp)]

    @abstractmethod
    def _chance(self, field: Array, index: Any) -> Chance:
        """Return the selection probability of some variables in given fields, with its slope."""


@dataclass(frozen=True, slots=True, repr=False)
class StabilityAmp(Fields):
    """The lasso over resamples of the rows, at one penalty or along L of them (first axis).

    Attributes
    ----------
    lam, lam2 : float or array (L,)
        Penalty, and the ridge beside it.
    selection_probabilities : array (p,) or (L, p)
        Probability over the ensemble of being selected.
    coef, coef_variance : array
        Mean and variance of the coefficient over the ensemble.
    field, field_variance, precision : array
        Mean field of a variable, its variance over the ensemble, and its curvature: a member's
        coefficient is the soft threshold of its field divided by the curvature plus `lam2`.
    ensemble_error : float or array (L,)
        Estimated mean square error of the averaged fit on a new row, noise included. The penalty
        and resampling rate with the smallest one have the largest power.
    status : str or array of str (L,)
        converged, max_iter, or nonfinite where the iteration diverged.
    residual : float or array (L,)
        Relative change of the last step.
    iterations : int or array (L,)
    noise : array
        Standard deviation of the mean field of a variable that does not matter, over data sets.
    weakness : float
        Of the randomised lasso; 1 is the lasso.

    Examples
    --------
    >>> from selica.amp import stability_amp
    >>> from selica.sampling import simulate
    >>> data = simulate(200, 100, 5, snr=5.0, random_state=0)
    >>> found = stability_amp(data.X, data.y, lam=20.0)
    >>> int((found.p_values < 1e-4).sum()), round(float(found.fdr(0.9)), 3)
    (4, 0.006)
    """

    weakness: float

    def _chance(self, field: Array, index: Any) -> Chance:
        sd = np.sqrt(self.field_variance[index])
        value, slope = np.zeros(field.shape), np.zeros(field.shape)
        lams = (self.lam,) if self.weakness == 1.0 else (self.lam, self.lam / self.weakness)
        for lam in lams:
            share = 1.0 / len(lams)
            value += share * selection_probability(field, sd**2, lam)
            with np.errstate(divide="ignore", invalid="ignore"):
                edge = (density((lam - field) / sd) - density((lam + field) / sd)) / sd
            slope += share * np.where(sd > 0.0, edge, 0.0)
        return Chance(value, slope, slope)


@dataclass(frozen=True, slots=True, repr=False)
class StabilityVamp(Members):
    """The lasso over resamples of the rows, correlated columns.

    Attributes are those of `StabilityAmp` but for `noise`.
    Columns that are correlated give irrelevant variables fields with a bias: there is no noise
    level, and there are no p-values.

    Examples
    --------
    >>> from selica.amp import stability_vamp
    >>> from selica.sampling import simulate
    >>> data = simulate(200, 100, 5, snr=5.0, covariance=("ar1", 0.7), random_state=0)
    >>> found = stability_vamp(data.X, data.y, lam=20.0)
    >>> found.selection_probabilities[data.support].round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.72]
    """

    weakness: float

    def first_variables(self, p: int) -> StabilityVamp:
        """Return the result for the first p variables only."""
        names = [f.name for f in fields(self)]
        values = {name: getattr(self, name) for name in names}
        per_variable = ("selection_probabilities", "coef", "coef_variance", "field",
                        "field_variance", "precision")  # fmt: skip
        cut = {name: values[name][..., :p] for name in per_variable}
        return StabilityVamp(**(values | cut))


@dataclass(frozen=True, slots=True, repr=False)
class KnockoffAmp(Fields):
    """The lasso over knockoff copies.

    Attributes of `StabilityAmp` but for `weakness`, and of its own:

    Attributes
    ----------
    w_threshold : float
        A copy selects a variable whose coefficient is larger in size, by more than this, than
        that of its knockoff.
    copy_field_variance, copy_precision : array
        Of the knockoffs' fields, whose mean over the copies is zero.

    Examples
    --------
    >>> from selica.amp import knockoff_amp
    >>> from selica.sampling import simulate
    >>> data = simulate(200, 100, 5, snr=5.0, random_state=0)
    >>> found = knockoff_amp(data.X, data.y, lam=20.0)
    >>> found.probability(0.05)[data.support].round(2).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.0]
    >>> round(float(found.expected_fdp(0.05)), 2)
    0.02
    """

    w_threshold: float
    copy_field_variance: Array
    copy_precision: Array

    def probability(self, w_threshold: ArrayLike) -> Array:
        """Return P(Z_i > w_threshold) over the copies, Z_i = abs(w_i) - abs(copy of w_i).

        Parameters
        ----------
        w_threshold : float or array of shape (T,)
            May be negative.

        Returns
        -------
        array of shape (p,) or (T, p), after the penalties if there are several
        """
        w = real("w_threshold", w_threshold)
        return self._beats(self.field, self.field_variance, w)

    def expected_fdp(self, w_threshold: ArrayLike | None = None) -> Any:
        """Estimate the share of false selections of one copy that selects Z_i > w_threshold.

        As if none of the variables mattered, hence rather too large.

        Parameters
        ----------
        w_threshold : float or array, optional
            That of the result by default.
        """
        self._one_penalty("expected_fdp")
        w = real("w_threshold", self.w_threshold if w_threshold is None else w_threshold)
        null = self._beats(np.zeros(self.field.shape), self.field_variance + self.noise**2, w)
        selected = self.probability(w).sum(axis=-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = null.sum(axis=-1) / selected
        return unwrap(np.where(selected > 0.0, np.minimum(share, 1.0), 0.0))

    def _chance(self, field: Array, index: Any) -> Chance:
        Q, ratio = (part[index] for part in self._divisors())
        return knockoff_probability(
            field, self.field_variance[index], ratio**2 * self.copy_field_variance[index],
            np.asarray(self.lam), Q * self.w_threshold, ratio * np.asarray(self.lam),
        )  # fmt: skip

    def _divisors(self) -> tuple[Array, Array]:
        """Return what soft thresholds are divided by, and its ratio to that of the copy."""
        lam2 = np.asarray(self.lam2)[..., None]
        Q, Q_copy = self.precision + lam2, self.copy_precision + lam2
        return Q, np.where(Q_copy > 0.0, Q / np.where(Q_copy > 0.0, Q_copy, 1.0), 1.0)

    def _beats(self, field: Array, own: Array, w: Array) -> Array:
        """Return P(Z_i > w) with given means and variances of the fields."""
        Q, ratio = self._divisors()
        lam = np.asarray(self.lam)[..., None]
        shift = (..., None, slice(None)) if w.ndim else (...,)
        parts = (field, own, ratio**2 * self.copy_field_variance, lam, Q, ratio * lam)
        g, v, c, one, curvature, other = (np.broadcast_to(x, field.shape)[shift] for x in parts)
        gap = curvature * (w[:, None] if w.ndim else w)
        return knockoff_probability(g, v, c, one, gap, other).value


R = TypeVar("R", bound=Members)


def shaped(kind: type[R], single: bool, **parts: Any) -> R:
    """Make a result of arrays whose last axis runs over the penalties."""
    return kind(
        **{
            name: _pick(value.T, 0) if single and isinstance(value, np.ndarray) else _rows(value)
            for name, value in parts.items()
        }
    )


def _rows(value: Any) -> Any:
    return np.ascontiguousarray(value.T) if isinstance(value, np.ndarray) else value


def _pick(value: Any, position: int) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    part = value[position]
    return part.item() if np.ndim(part) == 0 else part


def _names(result: Members) -> tuple[str, ...]:
    return tuple(field.name for field in fields(result))
