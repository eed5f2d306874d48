"""A study before there is data: its size, its signals, and the words of theory and data for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from selica._core.effects import Effects, Mixture, check_effects
from selica._core.errors import ArgumentError
from selica._core.scaling import coefficient_of_data, penalty_of_data
from selica._core.types import Array
from selica._core.validation import count, exactly_one, number
from selica._core.wording import assumptions
from selica.theory import Model

_SMALLEST_RATIO = 1e-9
"""Ratio of signal to noise below which nothing is found."""
_LARGEST_RATIO = 1e6
"""Ratio of signal to noise above which there is no noise to speak of."""
_SMALLEST_SHARE = 0.02
"""Share of the largest penalty down to which penalties are tried, as selectors do."""
LARGEST_SIZE = 10**9
"""Rows or variables of a study, at most."""
_RARE_SHARE = 1e-6
"""Share of the effects up to which their kinds are not told apart."""


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
    """A study with independent Gaussian columns, k of which have an effect on a noisy response.

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
    """Variance of the signal over that of the noise."""
    effects: Effects

    @classmethod
    def of(
        cls,
        n_samples: int,
        n_features: int,
        n_signals: int,
        *,
        r2: float | None = None,
        snr: float | None = None,
        effect_size: float | None = None,
        effects: Effects | None = None,
    ) -> Study:
        """Return a study of checked arguments.

        Parameters
        ----------
        n_samples, n_features, n_signals : int
            Rows, variables, and how many of the variables have an effect.
        r2, snr, effect_size : float
            Exactly one of them: share of the variance of y that the signals explain; variance of
            the signal over that of the noise; root mean square of the non-zero coefficients of
            standardised columns, in standard deviations of the noise.
        effects : Effects, optional
            Distribution of the non-zero effects; Gaussian by default.

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
        k = count("n_signals", n_signals)
        for name, size in (("n_samples", n), ("n_features", p)):
            if size > LARGEST_SIZE:
                raise ArgumentError(f"{name} must be at most {LARGEST_SIZE:,}.")
        if k > p:
            raise ArgumentError(f"n_signals must be at most n_features = {p}; got {k}.")
        return cls(n, p, k, _ratio(k, r2, snr, effect_size), check_effects(effects))

    @property
    def model(self) -> Model:
        """The study as a model of the theory."""
        return _model(self)

    @property
    def assumptions(self) -> str:
        """What a prediction for the study assumes, in a sentence."""
        return assumptions(self.effects)

    @property
    def r2(self) -> float:
        """Share of the variance that the signals explain."""
        return self.snr / (1.0 + self.snr)

    @property
    def effect_size(self) -> float:
        """Root mean square coefficient in standard deviations of the noise."""
        return math.sqrt(self.snr / self.n_signals)

    def with_samples(self, n_samples: int) -> Study:
        """Return the same study with another number of rows."""
        return replace(self, n_samples=n_samples)

    def penalty(self, lam: float, rate: float = 1.0) -> float:
        """Return a penalty of the theory in the unit of the selectors."""
        m = self.model
        return float(penalty_of_data(lam, self.n_samples, self.n_features, m.rho, m.Delta, rate))

    def coefficient(self, w: float) -> float:
        """Return a threshold on estimates of the theory in the unit of the selectors."""
        m = self.model
        return float(coefficient_of_data(w, self.n_features, m.rho, m.Delta))

    def penalties(self, size: int, rate: float = 1.0) -> Array:
        """Return penalties of the theory, falling, that a selector would try."""
        noise = math.sqrt(2.0 * math.log(self.n_features) / self.n_samples)
        largest = noise + 3.0 * math.sqrt(self.r2 / self.n_signals)  # a large correlation with y
        shares = np.geomspace(1.0, _SMALLEST_SHARE, size)
        return np.asarray(min(largest, 1.0) * shares / self.penalty(1.0, rate))


@lru_cache(maxsize=256)
def _model(study: Study) -> Model:
    """Return the model of a study, which is kept: it is asked for again and again."""
    rho = study.n_signals / study.n_features
    law = _Lumped(study.effects)
    return Model(study.n_samples / study.n_features, rho, rho / study.snr, law)


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


def _ratio(k: int, r2: float | None, snr: float | None, effect_size: float | None) -> float:
    """Return the signal-to-noise ratio from the one argument that is given."""
    name, value = exactly_one(r2=r2, snr=snr, effect_size=effect_size)
    low, high = {
        "r2": (_SMALLEST_RATIO, 1.0 - 1.0 / _LARGEST_RATIO),
        "snr": (_SMALLEST_RATIO, _LARGEST_RATIO),
        "effect_size": (math.sqrt(_SMALLEST_RATIO), math.sqrt(_LARGEST_RATIO)),
    }[name]
    x = number(name, value, at_least=low, at_most=high)
    if name == "r2":
        return x / (1.0 - x)
    return x if name == "snr" else min(k * x * x, _LARGEST_RATIO)
