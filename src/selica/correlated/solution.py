"""What the theory for correlated columns says: order parameters, probabilities, rates, power."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.results import Result, Status, unwrap
from selica._core.types import Array, BoolArray
from selica._core.validation import choice, number, real
from selica.correlated.fixed_point import balanced
from selica.theory import Model, Rates
from selica.theory.selection.rates import make_rates, votes_needed

_GROUPS = ("all", "null", "signal")
_GROUPS_LEFT_OUT = 24
"""Groups of data sets that a standard error leaves out in turn."""
_TINY = 1e-300
"""What keeps a ratio finite where a group is empty."""


class PowerCurve(NamedTuple):
    """Power of a rule against its false discovery rate, as the threshold falls; of shape (T,).

    Examples
    --------
    >>> import numpy as np
    >>> from selica.planning import PowerCurve
    >>> curve = PowerCurve(np.array([0.9, 0.5]), tpr=np.array([0.4, 0.8]), fdr=np.array([0.0, 0.2]))
    >>> round(curve.power(0.1), 12)
    0.6
    """

    threshold: Array
    """Of the statistic or the probability, from large to small."""
    tpr: Array
    """Share of the signals that are selected."""
    fdr: Array
    """Share of false ones among the selected."""

    def power(self, fdr: float) -> float:
        """Return the largest TPR with an FDR of at most the level, also within a step."""
        return tpr_at_level(fdr, self.tpr, self.fdr)


def tpr_at_level(level: float, tpr: Array, fdr: Array) -> float:
    """Return the largest TPR with an FDR of at most the level, as a threshold falls."""
    tpr, rate = np.append(0.0, tpr), np.append(0.0, fdr)
    inside = rate <= level
    best = float(tpr[inside].max())
    for k in np.flatnonzero(inside[:-1] & ~inside[1:]):
        share = (level - rate[k]) / (rate[k + 1] - rate[k])
        best = max(best, float(tpr[k] + share * (tpr[k + 1] - tpr[k])))
    return best


class PowerAtLevel(NamedTuple):
    """Power at a level of the FDR.

    Examples
    --------
    >>> from selica import planning, theory
    >>> model = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
    >>> found = planning.correlated_stability(
    ...     model, 0.2, ("ar1", 0.5), n_features=40, n_data=24, n_members=8, random_state=0
    ... )
    >>> power = found.power(fdr=0.2)
    >>> round(power.value, 2), round(power.error, 2)
    (0.34, 0.04)
    """

    value: float
    """Largest TPR with an FDR of at most the level."""
    without: Array
    """The same without each of some groups of data sets in turn."""

    @property
    def error(self) -> float:
        """Standard error over the draws of the data, at the order parameters as they are."""
        return jackknife(self.without)

    def minus(self, other: PowerAtLevel) -> tuple[float, float]:
        """Return how far it is ahead on the same draws, and the standard error of that."""
        return self.value - other.value, jackknife(self.without - other.without)


def jackknife(without: Array) -> float:
    """Return the standard error of a value from those that leave out one group each."""
    G = without.size
    return float(np.sqrt((G - 1) / G * np.sum((without - without.mean()) ** 2)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class CorrelatedSolution(Result):
    """Order parameters for correlated Gaussian rows, and draws of all variables at them.

    Attributes
    ----------
    method : {"lasso", "stability", "knockoff"}
    model : Model
    lam : float
    ensemble_error : float
        Prediction error E of the averaged estimator, noise included.
    v : float
        Variance of the prediction between members; with knockoffs, both halves.
    chi : float
        Response of a member; with knockoffs, of both halves.
    Q_hat, chi_hat, v_hat : float
        Their conjugates.
    active : float
        Active variables for each variable; with knockoffs, copies included. With resampling it is
        the mean selection probability.
    ensemble_error_se, v_se, chi_se, active_se : float
        Monte-Carlo errors of the four.
    status : {"converged", "max_iter"}
    residual : float
        What one more step of the equations would move, in logarithms.
    iterations : int
    effects : array of shape (n_data, N)
        True effects of each draw of the data.
    statistic : array of shape (n_data, n_members, N)
        abs(w_hat) of each member; with knockoffs, abs(w_hat) - abs(w_tilde).
    controls : array of shape (n_data, k)
        Quantities of each draw whose expectation is known, less that. Averages over the draws
        are weighted so that it holds for the draws too, which takes out much of their noise.

    Examples
    --------
    >>> from selica import planning, theory
    >>> model = theory.Model(alpha=1.0, rho=0.3, Delta=0.1)
    >>> found = planning.correlated_stability(
    ...     model, 0.2, ("ar1", 0.5), n_features=40, n_data=24, n_members=8, random_state=0
    ... )
    >>> found.status, round(found.ensemble_error, 2), round(found.ensemble_error_se, 2)
    ('converged', 0.19, 0.01)
    >>> round(found.rates(Pi_th=0.6).fdr, 2)
    0.41
    """

    method: str
    model: Model
    lam: float
    ensemble_error: float
    v: float
    chi: float
    Q_hat: float
    chi_hat: float
    v_hat: float
    active: float
    ensemble_error_se: float
    v_se: float
    chi_se: float
    active_se: float
    status: str
    residual: float
    iterations: int
    effects: Array
    statistic: Any
    controls: Array

    _columns: ClassVar[tuple[str, ...]] = (
        "method", "lam", "ensemble_error", "v", "chi", "Q_hat", "chi_hat", "v_hat", "active",
        "ensemble_error_se", "v_se", "chi_se", "active_se", "status", "residual", "iterations",
    )  # fmt: skip

    @property
    def converged(self) -> bool:
        """Whether the equations were solved."""
        return self.status == Status.CONVERGED.value

    @property
    def prediction_error(self) -> float:
        """Prediction error of one member, noise included."""
        return self.ensemble_error + self.v

    @property
    def n_members(self) -> int:
        """Members of a draw of the data."""
        return int(self.statistic.shape[1])

    def probabilities(self, Z_th: float = 0.0) -> Array:
        """Return the share of the members with a statistic above Z_th, shape (n_data, N).

        For given effects the mean over the first axis is what a variable can expect before there
        is data, and the rows are what data sets make of it.

        Parameters
        ----------
        Z_th : float
            Zero, other than for knockoffs and the thresholded lasso.
        """
        return np.asarray(np.mean(self.statistic > number("Z_th", Z_th), axis=1))

    def mean_probability(self, Z_th: float = 0.0) -> float:
        """Return the mean of the selection probabilities over variables and data."""
        return float(balanced(self.controls) @ self.probabilities(Z_th).mean(axis=1))

    def probability_cdf(self, Pi: ArrayLike, Z_th: float = 0.0, group: str = "all") -> Any:
        """Return the share of the variables that at most a share Pi of the members selects.

        Parameters
        ----------
        Pi : float or array in [0, 1]
        Z_th : float
        group : {"all", "null", "signal"}
        """
        at = real("Pi", Pi, at_least=0.0, at_most=1.0)
        group = choice("group", group, _GROUPS)
        weight = self._weights(group)
        if not weight.any():
            raise ArgumentError(f"group {group!r} is empty: there is no such variable.")
        below = self.probabilities(Z_th) <= at[..., None, None] + 1e-9
        return unwrap(np.sum(below * weight, axis=(-2, -1)) / weight.sum())

    def _weights(self, group: str) -> Array:
        """Return the weights of the variables of a group, (n_data, N); others have none."""
        truth = self.effects != 0.0
        kept = {"all": np.ones_like(truth), "signal": truth, "null": ~truth}[group]
        return np.asarray(balanced(self.controls)[:, None] * kept)

    def rates(self, Pi_th: ArrayLike, Z_th: float = 0.0) -> Rates:
        """Return the rates of selecting what at least Pi_th n_members members select.

        The false discovery rate is false over all selections, both summed over the draws.

        Parameters
        ----------
        Pi_th : float or array in [0, 1]
        Z_th : float
            A member selects statistics above it.
        """
        Pi = real("Pi_th", Pi_th, at_least=0.0, at_most=1.0)
        votes = np.sum(self.statistic > number("Z_th", Z_th), axis=1)
        needed = votes_needed(Pi, self.n_members)
        return self._rates(votes >= needed[..., None, None])

    def single_rates(self, Z_th: float = 0.0) -> Rates:
        """Return the rates of one member that selects statistics above Z_th."""
        return self._rates(np.mean(self.statistic > number("Z_th", Z_th), axis=1))

    def _rates(self, picked: Any) -> Rates:
        """Return the rates of masks or chances (..., n_data, N)."""
        true, false = self._weights("signal"), self._weights("null")
        tpr, fpr = (
            np.sum(picked * kind, axis=(-2, -1)) / max(float(kind.sum()), _TINY)
            for kind in (true, false)
        )
        return make_rates(true.sum() / (true.sum() + false.sum()), tpr, fpr)

    def scores(self, Pi_th: float | None = None) -> Array:
        """Return what variables are ranked by, shape (n_data, N).

        Parameters
        ----------
        Pi_th : float in [0, 1], optional
            Given: the largest Z that at least a share Pi_th of the members exceeds, for rules that
            move Z_th. By default the selection probability at Z_th = 0, or abs(w_hat) of a lasso.
        """
        if Pi_th is None:
            one = self.n_members == 1
            return np.asarray(self.statistic[:, 0], float) if one else self.probabilities()
        share = real("Pi_th", number("Pi_th", Pi_th), at_least=0.0, at_most=1.0)
        k = max(int(votes_needed(share, self.n_members)), 1)
        place = self.n_members - k
        ranked = np.partition(self.statistic, place, axis=1)[:, place]
        return np.asarray(ranked, dtype=float)

    def curve(self, Pi_th: float | None = None) -> PowerCurve:
        """Return TPR against FDR as the threshold on `scores(Pi_th)` falls to zero.

        Parameters
        ----------
        Pi_th : float in [0, 1], optional
            As in `scores`.
        """
        return _curve(self.scores(Pi_th), self.effects != 0.0, self.controls)

    def power(self, fdr: float = 0.1, Pi_th: float | None = None) -> PowerAtLevel:
        """Return the largest TPR with a false discovery rate of at most the level.

        Parameters
        ----------
        fdr : float
        Pi_th : float in [0, 1], optional
            As in `scores`.
        """
        level = number("fdr", fdr, at_least=0.0, at_most=1.0)
        scores, truth = self.scores(Pi_th), self.effects != 0.0
        groups = np.array_split(np.arange(len(truth)), min(len(truth), _GROUPS_LEFT_OUT))
        kept = [np.delete(np.arange(len(truth)), group) for group in groups]
        whole = _curve(scores, truth, self.controls).power(level)
        without = [_curve(scores[k], truth[k], self.controls[k]).power(level) for k in kept]
        return PowerAtLevel(whole, np.array(without))


def _curve(scores: Array, truth: BoolArray, controls: Array) -> PowerCurve:
    """Return the rates of scores at least a threshold, at each of their positive values."""
    weight = np.repeat(balanced(controls), scores.shape[1])
    flat, true = scores.ravel(), weight * truth.ravel()
    order = np.argsort(-flat, kind="stable")
    value = flat[order]
    last = np.append(value[1:] != value[:-1], True) & (value > 0.0)
    found, picked = (np.cumsum(each[order])[last] for each in (true, weight))
    return PowerCurve(value[last], found / max(float(true.sum()), _TINY), 1.0 - found / picked)
