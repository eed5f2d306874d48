"""A study before there is data: its size, its signals, and the words of theory and data for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from selica._core.effects import (
    Effects,
    EmpiricalEffects,
    Mixture,
    PlacedEffects,
    check_effects,
)
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.scaling import coefficient_of_data, penalty_of_data
from selica._core.types import Array
from selica._core.validation import count, exactly_one, number
from selica._core.wording import assumptions
from selica.planning.columns import CorrelatedColumns, check_columns
from selica.planning.responses import Numeric, StudyResponse, check_response
from selica.planning.sizes import SizedEffects
from selica.theory import Model

_SMALLEST_RATIO = 1e-9
"""Ratio of signal to noise below which nothing is found."""
_LARGEST_RATIO = 1e6
"""Ratio of signal to noise above which there is no noise to speak of."""
LARGEST_PREDICTOR = {"binary": 100.0, "counts": 4.0, "survival": 25.0}
"""Largest variance of a linear predictor for which the equations are solved, by response."""
_SMALLEST_SHARE = 0.02
"""Share of the largest penalty down to which penalties are tried, as selectors do."""
LARGEST_SIZE = 10**9
"""Rows or variables of a study, at most."""
_RARE_SHARE = 1e-6
"""Share of the effects up to which their kinds are not told apart."""


_NUMERIC = Numeric()
"""The usual response."""


@dataclass(frozen=True, slots=True)
class _Lumped(Effects):
    """A distribution whose rarest small effects are of one kind: the fewer kinds, the faster."""

    law: Effects

    def mixture(self) -> Mixture:
        """Return the distribution, but for a small share of it."""
        mean, sd, probability = self.law.mixture()
        square = mean**2 + sd**2
        order = np.argsort(probability)
        rare = order[(np.cumsum(probability[order]) < _RARE_SHARE) & (square[order] < 1.0)]
        if rare.size < 2:
            return Mixture(mean, sd, probability)
        share = probability[rare].sum()
        size = np.sqrt(probability[rare] @ square[rare] / share)
        rest = np.delete(np.arange(mean.size), rare)
        return Mixture(
            np.append(mean[rest], 0.0), np.append(sd[rest], size),
            np.append(probability[rest], share),
        )  # fmt: skip

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw from the distribution itself."""
        return self.law.sample(size, rng)


@dataclass(frozen=True, slots=True)
class Study:
    """A study with Gaussian columns, k of which have an effect on a response.

    Examples
    --------
    >>> from selica.planning import Study
    >>> from selica.theory import GaussianEffects
    >>> Study(400, 500, 50, 4.0, GaussianEffects()).with_samples(800).n_samples
    800
    """

    n_samples: int
    n_features: int
    n_signals: int
    snr: float
    """Variance of the linear predictor; for a numeric response over that of the noise."""
    effects: Effects
    response: StudyResponse = _NUMERIC
    columns: CorrelatedColumns | None = None
    """How columns are correlated; None for independent ones."""
    variable: float | None = None
    """Effect of one variable whose probability to be found is asked for, as `effect_size` is."""
    draft: bool = False
    """Whether predictions for correlated columns may be rough: a quarter of the draws."""

    @classmethod
    def of(
        cls,
        n_samples: int,
        n_features: int,
        n_signals: int | None = None,
        *,
        r2: float | None = None,
        snr: float | None = None,
        effect_size: float | None = None,
        effects: Effects | None = None,
        response: StudyResponse | None = None,
        covariance: Any = None,
        variable: float | None = None,
    ) -> Study:
        """Return a study of checked arguments.

        Parameters
        ----------
        n_samples, n_features, n_signals : int
            Rows, variables, and how many of the variables have an effect; the last may be left out
            where `effects` lists them.
        r2, snr, effect_size : float
            Exactly one of them, or none where `effects` have sizes: share of the variance that the
            signals explain; variance of the linear predictor, over that of the noise for a numeric
            response; root mean square of the non-zero coefficients of standardised columns, in
            standard deviations of the noise, log odds, log rates or log hazards. For a binary
            response and survival times the share is that of the noise behind them, and for counts
            that of their variance.
        effects : Effects, optional
            Distribution of the non-zero effects; Gaussian by default. `theory.PlacedEffects` also
            says which variables have them.
        response : StudyResponse, optional
            `Numeric()` by default, `Binary`, `Counts` or `Survival`.
        covariance : tuple, array or Covariance, optional
            How columns are correlated, in the forms of `sampling.simulate`, such as ("ar1", 0.5);
            independent by default. `planning.covariance_of` estimates it from a table.
        variable : float, optional
            Effect of one variable whose probability to be found is asked for: in the unit of
            `effects` where these have sizes (a beta, an odds ratio, ...), otherwise in that of
            `effect_size`.

        Examples
        --------
        >>> from selica.planning.study import Study
        >>> round(Study.of(400, 500, 100, r2=0.8).snr, 12)
        4.0
        >>> round(Study.of(400, 500, 100, effect_size=0.2).snr, 12)
        4.0
        """
        n = count("n_samples", n_samples, at_least=2)
        p = count("n_features", n_features, at_least=2)
        law, kind = check_effects(effects), check_response(response)
        if isinstance(law, SizedEffects):
            law = law.of_study(n_signals, kind)
        k = count("n_signals", _listed(law) if n_signals is None else n_signals)
        for name, size in (("n_samples", n), ("n_features", p)):
            if size > LARGEST_SIZE:
                raise ArgumentError(f"{name} must be at most {LARGEST_SIZE:,}.")
        if k > p:
            raise ArgumentError(f"n_signals must be at most n_features = {p}; got {k}.")
        columns = check_columns(covariance, p)
        _check_places(law, k, p)
        if isinstance(law, SizedEffects):
            given = {"r2": r2, "snr": snr, "effect_size": effect_size}
            for name, value in given.items():
                if value is not None:
                    raise ArgumentError(f"{name} must be left out: {law.unit}s have a size.")
            name, strength = type(law).__name__, law.variance()
        else:
            name, strength = _variance(k, kind, r2, snr, effect_size)
            if name == "effect_size":
                strength *= _spread(law, columns)
        if strength > LARGEST_PREDICTOR.get(kind.name, math.inf):
            raise ArgumentError(
                f"{name} must stand for weaker effects: the linear predictor of {kind.label} has a "
                f"variance of {strength:.3g}, and there is a theory up to "
                f"{LARGEST_PREDICTOR[kind.name]:g}."
            )
        one = None if variable is None else number("variable", variable)
        if one is not None and isinstance(law, SizedEffects):
            one = law.size_of(one)
        return cls(n, p, k, strength, law, kind, columns, variable=_one(one, columns))

    @property
    def model(self) -> Model:
        """The study as a model of the theory."""
        return _model(self)

    @property
    def assumptions(self) -> str:
        """What a prediction for the study assumes, in a sentence."""
        rows = "independent columns" if self.columns is None else self.columns.label
        return assumptions(self.effects, rows, self.response.label)

    @property
    def r2(self) -> float:
        """Share of the variance that the signals explain."""
        return self.response.r2(self.snr)

    @property
    def effect_size(self) -> float:
        """Root mean square coefficient, in deviations of the noise or on a logarithmic scale."""
        spread = _spread(self.effects, self.columns)
        return math.sqrt(self.snr / (self.n_signals * spread))

    @property
    def is_simulated(self) -> bool:
        """Whether there is no theory for the study, so that methods are run on drawn data sets."""
        plain = isinstance(self.response, Numeric) and not isinstance(self.effects, PlacedEffects)
        return self.columns is not None and not plain

    def with_independent_columns(self) -> Study:
        """Return the study with the same effects in as many independent columns."""
        spread = _spread(self.effects, self.columns)
        return self if self.columns is None else replace(self, columns=None, snr=self.snr / spread)

    @property
    def typical_effect(self) -> str:
        """The root mean square effect in words and units that people know."""
        if not self.response.ratio:
            beta = self.effect_size / math.sqrt(1.0 + self.snr)
            return f"standardised beta {beta:.2g}"
        return f"{self.response.ratio} {math.exp(self.effect_size):.3g} per standard deviation"

    def with_samples(self, n_samples: int) -> Study:
        """Return the same study with another number of rows."""
        return replace(self, n_samples=n_samples)

    def penalty(self, lam: float, rate: float = 1.0) -> float:
        """Return a penalty of the theory in the unit of the selectors."""
        rho, noise = self._unit
        return float(penalty_of_data(lam, self.n_samples, self.n_features, rho, noise, rate))

    def coefficient(self, w: float) -> float:
        """Return a threshold on estimates of the theory in the unit of the selectors."""
        return float(coefficient_of_data(w, self.n_features, *self._unit))

    @property
    def _unit(self) -> tuple[float, float]:
        """Two numbers whose sum is the squared unit of y in the theory."""
        linear = self.theory_response is None
        return (self.model.rho, self.model.Delta) if linear else (1.0, 0.0)

    @property
    def theory_response(self) -> Any:
        """The response as one of the theory; None for a linear one."""
        return _in_theory(self.response, self.snr)

    @property
    def residual(self) -> float:
        """Standard deviation of what the signals leave of y, in the unit of the selectors."""
        if isinstance(self.response, Numeric):
            return 1.0 / math.sqrt(1.0 + self.snr)
        return self.response.gradient(self.snr)[0]

    def penalties(self, size: int, rate: float = 1.0) -> Array:
        """Return penalties of the theory, falling, that a selector would try."""
        noise = math.sqrt(2.0 * math.log(self.n_features) / self.n_samples)
        spread, slope = self.response.gradient(self.snr)
        largest = spread * noise + 3.0 * slope * self.effect_size  # a large correlation with y
        shares = np.geomspace(1.0, _SMALLEST_SHARE, size)
        return np.asarray(min(largest, spread) * shares / self.penalty(1.0, rate))


@lru_cache(maxsize=256)
def _model(study: Study) -> Model:
    """Return the model of a study, which is kept: it is asked for again and again."""
    rho = study.n_signals / study.n_features
    law = _Lumped(study.effects)
    noise = rho / study.snr if isinstance(study.response, Numeric) else 0.0
    return Model(study.n_samples / study.n_features, rho, noise, law)


@lru_cache(maxsize=256)
def _in_theory(response: StudyResponse, T: float) -> Any:
    """Return the response of the theory, whose intercept takes a search."""
    return response.in_theory(T)


def models(studies: Sequence[Study], axes: int = 0) -> Model:
    """Return the models of S studies as one of shape (S, 1, ...), with `axes` axes of one.

    Parameters
    ----------
    studies : sequence of Study
        With the same distribution of effects.
    axes : int
    """
    each = [study.model for study in studies]
    shape = (len(each),) + (1,) * axes
    alpha, rho, Delta = (
        np.array([getattr(model, name) for model in each]).reshape(shape)
        for name in ("alpha", "rho", "Delta")
    )
    return each[0].like(alpha, rho, Delta)  # a study is valid


def _one(variable: float | None, columns: CorrelatedColumns | None) -> float | None:
    """Return the effect of one variable, if it can be asked for."""
    if variable is not None and columns is not None:
        raise DoesNotApply(
            "variable: the probability to find one variable is predicted for independent columns; "
            "with correlated ones it depends on its neighbours. planning.plasmode_power measures "
            "it on a table."
        )
    return variable


def _check_places(effects: Effects, k: int, p: int) -> None:
    """Raise an error where effects at given places do not fit a study."""
    if not isinstance(effects, PlacedEffects):
        return
    if effects.n_features != p:
        raise ArgumentError(
            f"effects must be {p} numbers, one for each variable, where some are 0; got "
            f"{effects.n_features}."
        )
    if k != len(effects.values):
        raise ArgumentError(
            f"n_signals must be the number of effects that are not 0, {len(effects.values)}; got "
            f"{k}."
        )


@lru_cache(maxsize=64)
def _spread(effects: Effects, columns: CorrelatedColumns | None) -> float:
    """Return the variance of a linear predictor over that with independent columns.

    Signs and places are random, unless they are given, so that correlations add nothing on average.
    """
    if columns is None or not isinstance(effects, PlacedEffects):
        return 1.0
    found = columns.covariance.variance_of(effects.vector()) / len(effects.values)
    if found < _SMALLEST_RATIO:
        raise ArgumentError("effects must not cancel each other in columns so correlated.")
    return found


def _listed(effects: Effects) -> int | None:
    """Return how many effects a list has; None where effects are no list."""
    return len(effects.values) if isinstance(effects, EmpiricalEffects) else None


def _variance(
    k: int, response: StudyResponse, r2: float | None, snr: float | None, effect_size: float | None
) -> tuple[str, float]:
    """Return the one argument that is given, and the variance of the linear predictor from it."""
    name, value = exactly_one(r2=r2, snr=snr, effect_size=effect_size)
    low, high = {
        "r2": (_SMALLEST_RATIO, 1.0 - 1.0 / _LARGEST_RATIO),
        "snr": (_SMALLEST_RATIO, _LARGEST_RATIO),
        "effect_size": (math.sqrt(_SMALLEST_RATIO), math.sqrt(_LARGEST_RATIO)),
    }[name]
    x = number(name, value, at_least=low, at_most=high)
    if name == "r2":
        return name, response.variance(x)
    return name, x if name == "snr" else min(k * x * x, _LARGEST_RATIO)
