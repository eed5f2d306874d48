"""A study before there is data: its size, its signals, and the words of theory and data for it."""

from __future__ import annotations

import math
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

# Ratios of signal to noise: below, nothing is found; above, there is no noise to speak of.
_WEAKEST, _STRONGEST = 1e-9, 1e6
MOST = 10**9
"""Rows or variables of a study."""
# Selectors look for a penalty down to this share of the largest.
_SMALLEST = 0.02
# Kinds of effects with no more than this share are not told apart.
_RARE = 1e-6


@dataclass(frozen=True, slots=True)
class _Lumped(Effects):
    """A law whose rarest small effects are of one kind: the fewer kinds, the faster."""

    law: Effects

    def mixture(self) -> Mixture:
        """The law, but for a small share of it."""
        mean, sd, probability = self.law.mixture()
        square = mean**2 + sd**2
        order = np.argsort(probability)
        rare = order[(np.cumsum(probability[order]) < _RARE) & (square[order] < 1.0)]
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
        """Draws from the law itself."""
        return self.law.sample(size, rng)


@dataclass(frozen=True, slots=True)
class Study:
    """Independent Gaussian columns, k of which have an effect on a response with noise.

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
        """A study of checked arguments.

        Parameters
        ----------
        n_samples, n_features, n_signals : int
            Rows, variables, and how many of the variables have an effect.
        r2, snr, effect_size : float
            Exactly one of them: share of the variance of y that the signals explain; variance of
            the signal over that of the noise; root mean square of the non-zero coefficients of
            standardised columns, in standard deviations of the noise.
        effects : Effects, optional
            Law of the non-zero effects; Gaussian by default.

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
            if size > MOST:
                raise ArgumentError(f"{name} must be at most {MOST:,}.")
        if k > p:
            raise ArgumentError(f"n_signals must be at most n_features = {p}; got {k}.")
        return cls(n, p, k, _ratio(k, r2, snr, effect_size), check_effects(effects))

    @property
    def model(self) -> Model:
        """What the theory sees."""
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
        """The same signals, seen in another number of rows."""
        return replace(self, n_samples=n_samples)

    def penalty(self, lam: float, rate: float = 1.0) -> float:
        """A penalty of the theory in the unit of the selectors."""
        m = self.model
        return float(penalty_of_data(lam, self.n_samples, self.n_features, m.rho, m.Delta, rate))

    def coefficient(self, w: float) -> float:
        """A threshold on estimates of the theory in the unit of the selectors."""
        m = self.model
        return float(coefficient_of_data(w, self.n_features, m.rho, m.Delta))

    def penalties(self, size: int, rate: float = 1.0) -> Array:
        """Penalties of the theory, falling, that a selector would try."""
        noise = math.sqrt(2.0 * math.log(self.n_features) / self.n_samples)
        largest = noise + 3.0 * math.sqrt(self.r2 / self.n_signals)  # a large correlation with y
        shares = np.geomspace(1.0, _SMALLEST, size)
        return np.asarray(min(largest, 1.0) * shares / self.penalty(1.0, rate))


@lru_cache(maxsize=256)
def _model(study: Study) -> Model:
    """Kept, since it is asked for again and again."""
    rho = study.n_signals / study.n_features
    law = _Lumped(study.effects)
    return Model(study.n_samples / study.n_features, rho, rho / study.snr, law)


def _ratio(k: int, r2: float | None, snr: float | None, effect_size: float | None) -> float:
    """Signal-to-noise ratio from the one argument that is given."""
    name, value = exactly_one(r2=r2, snr=snr, effect_size=effect_size)
    low, high = {
        "r2": (_WEAKEST, 1.0 - 1.0 / _STRONGEST),
        "snr": (_WEAKEST, _STRONGEST),
        "effect_size": (math.sqrt(_WEAKEST), math.sqrt(_STRONGEST)),
    }[name]
    x = number(name, value, at_least=low, at_most=high)
    if name == "r2":
        return x / (1.0 - x)
    return x if name == "snr" else min(k * x * x, _STRONGEST)
