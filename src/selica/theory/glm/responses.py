"""Responses other than a linear one: two classes, counts, and times to an event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from selica._core.errors import ArgumentError
from selica._core.results import unwrap
from selica._core.root import find_root
from selica._core.types import Array, IntArray
from selica._core.validation import broadcast, number, real
from selica.theory.glm.hermite import MOST_NODES, rule
from selica.theory.glm.rows import gauss
from selica.theory.response import RowResponse, RowSetting

STRONGEST = 1e4
"""Largest T of two classes: standard deviations of a hundred logits, where they are signs."""
STRONGEST_RATES = 4.0
"""Largest T of counts, whose mean then varies by factors of fifty between rows of one deviation."""
STRONGEST_HAZARDS = 25.0
"""Largest T of times."""
_LARGEST_INTERCEPT = 30.0
"""Largest intercept in size, in log odds or logarithms of rates."""


def _set(response: RowResponse, **values: Array) -> None:
    """Set arrays of a frozen response, which broadcast."""
    broadcast(**values)
    for name, value in values.items():
        value.setflags(write=False)
        object.__setattr__(response, name, unwrap(value))


def _place(name: str, value: ArrayLike) -> Array:
    return real(name, value, at_least=-_LARGEST_INTERCEPT, at_most=_LARGEST_INTERCEPT)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Logistic(RowResponse):
    r"""A binary response with log odds linear in x, fitted by penalised logistic regression.

    Parameters
    ----------
    T : float or array
        Signal strength: variance of the log odds over the rows, :math:`T = E[w_0^2]`, from 0 to
        1e4; broadcasts against the model. With standardised independent columns and coefficients
        b it is :math:`\sum_j b_j^2`. The effects of the model, which have second moment one, are
        multiplied by :math:`\sqrt{T/\rho}`.
    intercept : float or array
        Log odds at x = 0 in the population; members fit an intercept of their own, without a
        penalty.
    cases : float, optional
        Share of cases in the sample, where cases and controls are sampled by their class; by
        default as many as in the population.

    Notes
    -----
    Such a response is random by itself: the model has no noise of its own, Delta = 0. Order
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
    intercept: Any
    cases: float | None

    kind = "logistic"

    def __init__(
        self, T: ArrayLike, intercept: ArrayLike = 0.0, cases: float | None = None
    ) -> None:
        strength = real("T", T, at_least=0.0, at_most=STRONGEST)
        _set(self, T=strength, intercept=_place("intercept", intercept))
        share = None if cases is None else number("cases", cases, at_least=0.0, at_most=1.0)
        if share in (0.0, 1.0):
            raise ArgumentError(f"cases must be between 0 and 1; got {cases!r}.")
        object.__setattr__(self, "cases", share)

    @classmethod
    def of_prevalence(
        cls, T: ArrayLike, prevalence: ArrayLike, cases: float | None = None
    ) -> Logistic:
        """Return the response whose share of cases in the population is `prevalence`.

        Parameters
        ----------
        T : float or array
        prevalence : float or array
            Between 0 and 1.
        cases : float, optional
            As in `Logistic`.

        Examples
        --------
        >>> from selica import theory
        >>> round(theory.Logistic.of_prevalence(T=1.0, prevalence=0.1).intercept, 4)
        -2.5642
        """
        share = real("prevalence", prevalence, at_least=1e-9, at_most=1.0 - 1e-9)
        strength, share = broadcast(
            T=real("T", T, at_least=0.0, at_most=STRONGEST), prevalence=share
        )
        flat, want = np.ravel(strength), np.ravel(share)

        def equation(a: Array, index: IntArray) -> tuple[Array, Array]:
            value, slope = _chances(flat[index], a)
            return value - want[index], slope

        reach = 10.0 * np.sqrt(flat) + np.abs(logit(want)) + 1.0
        root = find_root(equation, logit(want), lower=-reach, upper=reach)
        beyond = np.abs(root.x) > _LARGEST_INTERCEPT
        if beyond.any():
            first = int(np.argmax(beyond))
            raise ArgumentError(
                f"prevalence {want[first]:g} with T = {flat[first]:g} has log odds of "
                f"{root.x[first]:.0f} at x = 0; these must be between -30 and 30."
            )
        return cls(strength, root.x.reshape(share.shape), cases)

    def __repr__(self) -> str:
        more = "" if np.all(np.asarray(self.intercept) == 0.0) else f", intercept={self.intercept}"
        more += "" if self.cases is None else f", cases={self.cases}"
        return f"Logistic(T={self.T}{more})"

    @property
    def settings(self) -> dict[str, Array]:
        """T and the intercept."""
        return {"T": np.asarray(self.T), "place": np.asarray(self.intercept)}

    def like(self, **settings: Array) -> Logistic:
        """Return the same response at another strength and intercept."""
        return Logistic(settings["T"], settings["place"], self.cases)

    def information(self, T: float, place: float, V: Array) -> Array:
        """Return what a row tells about its linear predictor of a posterior variance V."""
        return _information(self.row(T, place), V)

    @property
    def plain(self) -> bool:
        """Whether classes are equally frequent by symmetry, in population and sample."""
        even = self.cases is None or self.cases == 0.5
        return bool(even and np.all(np.asarray(self.intercept) == 0.0))

    def row(self, T: float, place: float) -> RowSetting:
        """Return the response at one point."""
        return RowSetting(self.kind, T, place, self.cases)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Poisson(RowResponse):
    r"""Counts whose log mean is linear in x, fitted by penalised Poisson regression.

    Parameters
    ----------
    T : float or array
        Variance of the log mean over the rows, from 0 to 4; broadcasts against the model, whose
        effects are multiplied by :math:`\sqrt{T/\rho}`.
    intercept : float or array
        Log mean at x = 0; members fit an intercept of their own, without a penalty.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=2.0, rho=0.2, Delta=0.0)
    >>> s = theory.solve_lasso(model, lam=1.5, response=theory.Poisson(T=0.5))
    >>> round(s.q, 6), round(s.m, 6), round(s.intercept, 6)
    (0.321084, 0.323199, 0.069036)
    """

    T: Any
    intercept: Any

    kind = "poisson"

    def __init__(self, T: ArrayLike, intercept: ArrayLike = 0.0) -> None:
        strength = real("T", T, at_least=0.0, at_most=STRONGEST_RATES)
        _set(self, T=strength, intercept=_place("intercept", intercept))

    @classmethod
    def of_rate(cls, T: ArrayLike, rate: ArrayLike) -> Poisson:
        """Return the response whose mean count over all rows is `rate`.

        Parameters
        ----------
        T : float or array
        rate : float or array
            Positive.

        Examples
        --------
        >>> from selica import theory
        >>> theory.Poisson.of_rate(T=0.5, rate=1.0)
        Poisson(T=0.5, intercept=-0.25)
        """
        strength = real("T", T, at_least=0.0, at_most=STRONGEST_RATES)
        mean = real("rate", rate, at_least=1e-9, at_most=1e9)
        return cls(strength, np.log(mean) - 0.5 * strength)

    def __repr__(self) -> str:
        return f"Poisson(T={self.T}, intercept={self.intercept})"

    @property
    def settings(self) -> dict[str, Array]:
        """T and the intercept."""
        return {"T": np.asarray(self.T), "place": np.asarray(self.intercept)}

    def like(self, **settings: Array) -> Poisson:
        """Return the same response at another strength and intercept."""
        return Poisson(settings["T"], settings["place"])

    def information(self, T: float, place: float, V: Array) -> Array:
        """Return what a row tells about its linear predictor of a posterior variance V."""
        return _information(self.row(T, place), V)


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Cox(RowResponse):
    r"""Times to an event with proportional hazards, fitted by penalised partial likelihood.

    Parameters
    ----------
    T : float or array
        Variance of the log hazard over the rows, from 0 to 25; broadcasts against the model,
        whose effects are multiplied by :math:`\sqrt{T/\rho}`.
    censoring : float or array
        Time at which all rows are censored, on the scale on which the hazard at x = 0 is one; none
        by default. The partial likelihood knows no other scale.

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=2.0, rho=0.2, Delta=0.0)
    >>> s = theory.solve_lasso(model, lam=1.0, response=theory.Cox(T=1.0, censoring=1.5))
    >>> round(s.q, 3), round(s.m, 3)
    (0.752, 0.706)
    """

    T: Any
    censoring: Any

    kind = "cox"

    def __init__(self, T: ArrayLike, censoring: ArrayLike = np.inf) -> None:
        strength = real("T", T, at_least=0.0, at_most=STRONGEST_HAZARDS)
        try:
            end = np.array(censoring, dtype=float)
        except (TypeError, ValueError):
            end = np.array(np.nan)
        if not np.all(end > 0.0):
            raise ArgumentError(f"censoring must be a positive time; got {censoring!r}.")
        _set(self, T=strength, censoring=end)

    @classmethod
    def of_events(cls, T: ArrayLike, events: ArrayLike) -> Cox:
        """Return the response of which a share `events` of the rows has its event.

        Parameters
        ----------
        T : float or array
        events : float or array
            Above 0, at most 1.

        Examples
        --------
        >>> from selica import theory
        >>> round(theory.Cox.of_events(T=1.0, events=0.3).censoring, 4)
        0.2749
        """
        share = real("events", events, at_least=1e-9, at_most=1.0)
        strength, share = broadcast(
            T=real("T", T, at_least=0.0, at_most=STRONGEST_HAZARDS), events=share
        )
        out = np.full(share.size, np.inf)
        flat, want = np.ravel(strength), np.ravel(share)
        for i in np.flatnonzero(want < 1.0):
            out[i] = time_of(float(flat[i]), np.array([-np.log1p(-want[i])]))[0]
        return cls(strength, out.reshape(share.shape))

    def __repr__(self) -> str:
        return f"Cox(T={self.T}, censoring={self.censoring})"

    @property
    def settings(self) -> dict[str, Array]:
        """T and the time of censoring."""
        return {"T": np.asarray(self.T), "place": np.asarray(self.censoring)}

    def like(self, **settings: Array) -> Cox:
        """Return the same response at another strength and censoring."""
        return Cox(settings["T"], settings["place"])

    def information(self, T: float, place: float, V: Array) -> Array:
        """Return what a row tells about its linear predictor of a posterior variance V."""
        return _information(self.row(T, place), V)


def _information(row: RowSetting, V: Array) -> Array:
    from selica.theory.glm.information import information  # its labels need this module

    return information(row, V)


def _chances(T: Array, intercept: Array) -> tuple[Array, Array]:
    """Return E[sigmoid(intercept + z0)] and its slope in the intercept, (n,)."""
    sd = np.sqrt(T)
    widest = float(sd.max(initial=1.0))
    x, weight = gauss(widest)
    log_odds = intercept[:, None] + sd[:, None] * (x / widest)
    return expit(log_odds) @ weight, (expit(log_odds) * expit(-log_odds)) @ weight


def prevalence(T: float, intercept: float) -> float:
    """Return the share of cases in the population."""
    return float(_chances(np.array([T]), np.array([intercept]))[0][0])


def survivors(T: float, time: Array) -> Array:
    """Return the share of rows without an event up to each time."""
    truth = rule(MOST_NODES)
    return np.asarray(np.exp(-time[:, None] * np.exp(np.sqrt(T) * truth.x)) @ truth.weight)


def time_of(T: float, s: Array) -> Array:
    """Return the times at which the marginal cumulative hazard is s, by Newton's method."""
    truth = rule(MOST_NODES)
    risk = np.exp(np.sqrt(T) * truth.x)
    x = np.log(s) - 0.5 * T  # log t
    for _ in range(_TIME_STEPS):
        alive = np.exp(-np.exp(x)[:, None] * risk)
        left = np.maximum(alive @ truth.weight, 1e-300)
        slope = np.exp(x) * ((alive * risk) @ truth.weight) / left
        step = np.clip((s + np.log(left)) / np.maximum(slope, 1e-300), -1.0, 1.0)
        x = x + step
        if np.max(np.abs(step)) < _TIME_TOLERANCE:
            break
    return np.asarray(np.exp(x))


_TIME_STEPS = 200
"""Newton steps for a time, at most."""
_TIME_TOLERANCE = 1e-13
"""Of the logarithm of a time."""
