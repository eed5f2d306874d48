r"""What is measured on each row of a study, and how strongly signals decide it.

The linear predictor z of a row has the variance T over the rows. A numeric response adds noise of
unit variance to it; in the others z is the log odds, the log of a rate or of a hazard, up to a
constant.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import number, short

if TYPE_CHECKING:
    from selica.theory import Cox, Logistic, Poisson

_HERMITE = np.polynomial.hermite_e.hermegauss(61)
"""Nodes and weights of a mean over a normal number."""
_LOGISTIC_VARIANCE = math.pi**2 / 3.0
"""Variance of the logistic distribution: of the noise behind a binary response."""
_GUMBEL_VARIANCE = math.pi**2 / 6.0
"""Variance of the Gumbel distribution: of the noise of the logarithm of a survival time."""
_RAREST = 1e-4
"""Smallest share of cases or events."""
_POPULATION = 20_000
"""People of a population that are drawn at a time, where cases and controls are sampled."""
_LARGEST_COUNT = 1e4
"""Largest mean count."""


class StudyResponse(ABC):
    """What is measured on each row.

    Examples
    --------
    >>> from selica.planning import Binary, Numeric
    >>> Numeric().label, Binary(prevalence=0.1).label
    ('a linear response', 'a binary response with prevalence 0.1')
    """

    name: ClassVar[str]
    """What is typed for it."""
    ratio: ClassVar[str]
    """What an effect is called on the scale that people know; empty for a numeric response."""
    unit: ClassVar[str]
    """What effect sizes are measured in."""
    explained: ClassVar[str]
    """What `r2` is a share of."""
    source: ClassVar[tuple[str, ...]] = ("--target y",)
    """How `selica select` is told where the response is in a table."""
    arguments: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    """Arguments that selectors need for it."""
    refused_by: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Methods that cannot be run on it, with the reason."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What an answer calls it."""

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """Options of the command line that say it."""

    @abstractmethod
    def r2(self, T: float) -> float:
        """Return the share of the variance that a linear predictor of variance T explains."""

    @abstractmethod
    def variance(self, r2: float) -> float:
        """Return the variance of the linear predictor that explains a share."""

    @abstractmethod
    def gradient(self, T: float) -> tuple[float, float]:
        """Return the standard deviation of the null residual, and its slope in the predictor.

        In the unit of y in which a selector takes its penalty.
        """

    @abstractmethod
    def in_theory(self, T: float) -> Logistic | Poisson | Cox | None:
        """Return the response of the theory; None for a linear one."""

    def draw(self, n_samples: int, T: float, rng: np.random.Generator) -> tuple[Array, Any]:
        """Draw linear predictors of variance T, shape (n,), and responses as selectors take them.

        Parameters
        ----------
        n_samples : int
        T : float
        rng : Generator
        """
        of_rows, of_response = rng.spawn(2)  # so that fewer rows are the first of many
        z = math.sqrt(T) * of_rows.standard_normal(n_samples)
        return z, self.respond(z, T, of_response)

    @abstractmethod
    def respond(self, z: Array, T: float, rng: np.random.Generator) -> Any:
        """Draw the responses of rows with linear predictors z that have the variance T."""

    def informative(self, n_samples: int) -> str:
        """Return how many of the samples carry the information, in words; empty for all."""
        return ""

    @property
    def informative_share(self) -> float:
        """Rows that carry as much as those of a balanced data set, as a share of all rows."""
        return 1.0


@dataclass(frozen=True, slots=True)
class Numeric(StudyResponse):
    """A number with Gaussian noise around the linear predictor.

    Examples
    --------
    >>> from selica.planning import Numeric
    >>> Numeric().r2(4.0)
    0.8
    """

    name: ClassVar[str] = "numeric"
    ratio: ClassVar[str] = ""
    unit: ClassVar[str] = "standard deviations of the noise"
    explained: ClassVar[str] = "the variance"

    @property
    def label(self) -> str:
        """What an answer calls it."""
        return "a linear response"

    @property
    def options(self) -> dict[str, Any]:
        """Options of the command line that say it."""
        return {}

    def r2(self, T: float) -> float:
        """Return the share of the variance that is explained; see `StudyResponse.r2`."""
        return T / (1.0 + T)

    def variance(self, r2: float) -> float:
        """Return the variance of the linear predictor; see `StudyResponse.variance`."""
        return r2 / (1.0 - r2)

    def gradient(self, T: float) -> tuple[float, float]:
        """Return spread and slope of the null residual; see `StudyResponse.gradient`."""
        return 1.0, 1.0 / math.sqrt(1.0 + T)  # selectors standardise y

    def in_theory(self, T: float) -> None:
        """Return the response of the theory."""
        return

    def respond(self, z: Array, T: float, rng: np.random.Generator) -> Any:
        """Draw numbers with noise of variance one; see `StudyResponse.respond`."""
        return z + rng.standard_normal(z.size)


@dataclass(frozen=True, slots=True)
class Binary(StudyResponse):
    """Two classes whose log odds are linear.

    Parameters
    ----------
    prevalence : float
        Share of cases in the population.
    cases : float, optional
        Share of cases in the sample, where cases and controls are sampled separately; by default
        that of the population.

    Examples
    --------
    >>> from selica.planning import Binary
    >>> Binary(prevalence=0.01, cases=0.5).label
    'a binary response with prevalence 0.01 (50 % of the sample are cases)'
    """

    prevalence: float = 0.5
    cases: float | None = None

    name: ClassVar[str] = "binary"
    ratio: ClassVar[str] = "odds ratio"
    unit: ClassVar[str] = "log odds"
    explained: ClassVar[str] = "the variance on the liability scale"

    def __post_init__(self) -> None:
        for name in ("prevalence", "cases"):
            value = getattr(self, name)
            if value is not None:
                share = number(name, value, at_least=_RAREST, at_most=1.0 - _RAREST)
                object.__setattr__(self, name, share)

    @property
    def label(self) -> str:
        """What an answer calls it."""
        words = f"a binary response with prevalence {self.prevalence:g}"
        if self.cases is None:
            return words
        return f"{words} ({100.0 * self.cases:g} % of the sample are cases)"

    @property
    def options(self) -> dict[str, Any]:
        """Options of the command line that say it."""
        more = {} if self.cases is None else {"cases": self.cases}
        return {"response": self.name, "prevalence": self.prevalence} | more

    def r2(self, T: float) -> float:
        """Return the share of the variance that is explained; see `StudyResponse.r2`."""
        return T / (T + _LOGISTIC_VARIANCE)

    def variance(self, r2: float) -> float:
        """Return the variance of the linear predictor; see `StudyResponse.variance`."""
        return r2 / (1.0 - r2) * _LOGISTIC_VARIANCE

    def gradient(self, T: float) -> tuple[float, float]:
        """Return spread and slope of the null residual; see `StudyResponse.gradient`."""
        share = self._share
        # within the sample the odds are those of the population times a constant
        nodes, weights = _HERMITE
        z = np.sqrt(T) * nodes
        truth = self.in_theory(T)
        odds = float(truth.intercept) + math.log(share / (1.0 - share))
        odds -= math.log(self.prevalence / (1.0 - self.prevalence))
        mean = expit(odds + z)
        slope = weights @ (mean * (1.0 - mean)) / weights.sum()
        return math.sqrt(share * (1.0 - share)), float(slope)

    @property
    def informative_share(self) -> float:
        """Share of rows that carry variables; see `StudyResponse.informative_share`."""
        share = self.prevalence if self.cases is None else self.cases
        return 2.0 * min(share, 1.0 - share)

    def in_theory(self, T: float) -> Logistic:
        """Return the response of the theory."""
        from selica.theory import Logistic

        return Logistic.of_prevalence(T, self.prevalence, cases=self.cases)

    def respond(self, z: Array, T: float, rng: np.random.Generator) -> Any:
        """Draw ones for cases, in the population; see `StudyResponse.respond`."""
        odds = float(self.in_theory(T).intercept) + z
        return (rng.random(z.size) < expit(odds)).astype(float)

    def draw(self, n_samples: int, T: float, rng: np.random.Generator) -> tuple[Array, Any]:
        """Draw rows of the sample; see `StudyResponse.draw`.

        Parameters
        ----------
        n_samples : int
        T : float
        rng : Generator
        """
        if self.cases is None:
            return super(Binary, self).draw(n_samples, T, rng)  # a class with slots is made anew
        wanted = round(self.cases * n_samples)
        missing = {1.0: wanted, 0.0: n_samples - wanted}
        found: list[tuple[Array, Array]] = []
        while any(missing.values()):  # of the population, until there are enough of both
            z, y = super(Binary, self).draw(_POPULATION, T, rng)
            for label, short_of in missing.items():
                some = z[y == label][:short_of]
                found.append((some, np.full(some.size, label)))
                missing[label] -= some.size
        z, y = (np.concatenate(part) for part in zip(*found, strict=True))
        order = rng.permutation(n_samples)
        return z[order], y[order]

    def informative(self, n_samples: int) -> str:
        """Return how many cases, or controls where these are fewer, are expected."""
        cases = self._share <= 0.5
        rarer = n_samples * (self._share if cases else 1.0 - self._share)
        return f"about {rarer:,.0f} {'cases' if cases else 'controls'}"

    @property
    def _share(self) -> float:
        """Share of cases in the sample."""
        return self.prevalence if self.cases is None else self.cases


@dataclass(frozen=True, slots=True)
class Counts(StudyResponse):
    """Poisson counts whose log rate is linear.

    Parameters
    ----------
    rate : float
        Mean count of a row.

    Examples
    --------
    >>> from selica.planning import Counts
    >>> round(Counts(rate=2.0).r2(0.2), 3)
    0.307
    """

    rate: float = 1.0

    name: ClassVar[str] = "counts"
    ratio: ClassVar[str] = "rate ratio"
    unit: ClassVar[str] = "log rates"
    explained: ClassVar[str] = "the variance of the counts"
    source: ClassVar[tuple[str, ...]] = ("--target y", "--response count")
    arguments: ClassVar[Mapping[str, Any]] = MappingProxyType({"response": "count"})

    def __post_init__(self) -> None:
        rate = number("rate", self.rate, at_least=_RAREST, at_most=_LARGEST_COUNT)
        object.__setattr__(self, "rate", rate)

    @property
    def label(self) -> str:
        """What an answer calls it."""
        return f"counts of mean {self.rate:g}"

    @property
    def options(self) -> dict[str, Any]:
        """Options of the command line that say it."""
        return {"response": self.name, "rate": self.rate}

    def r2(self, T: float) -> float:
        """Return the share of the variance that is explained; see `StudyResponse.r2`."""
        between = self.rate * math.expm1(T)
        return between / (1.0 + between)

    def variance(self, r2: float) -> float:
        """Return the variance of the linear predictor; see `StudyResponse.variance`."""
        return math.log1p(r2 / (1.0 - r2) / self.rate)

    def gradient(self, T: float) -> tuple[float, float]:
        """Return spread and slope of the null residual; see `StudyResponse.gradient`."""
        return math.sqrt(self.rate + self.rate**2 * math.expm1(T)), self.rate

    @property
    def informative_share(self) -> float:
        """Share of rows that carry variables; see `StudyResponse.informative_share`."""
        return min(self.rate, 1.0)

    def in_theory(self, T: float) -> Poisson:
        """Return the response of the theory."""
        from selica.theory import Poisson

        return Poisson.of_rate(T, self.rate)

    def respond(self, z: Array, T: float, rng: np.random.Generator) -> Any:
        """Draw counts; see `StudyResponse.respond`."""
        return rng.poisson(np.exp(float(self.in_theory(T).intercept) + z)).astype(float)


@dataclass(frozen=True, slots=True)
class Survival(StudyResponse):
    """Times to an event with proportional hazards; rows without an event are censored at the end.

    Parameters
    ----------
    events : float
        Share of the rows with an event.

    Examples
    --------
    >>> from selica.planning import Survival
    >>> Survival(events=0.3).label
    'survival times with events in 30 % of the rows'
    """

    events: float = 0.5

    name: ClassVar[str] = "survival"
    ratio: ClassVar[str] = "hazard ratio"
    unit: ClassVar[str] = "log hazards"
    explained: ClassVar[str] = "the variance of the log survival times"
    source: ClassVar[tuple[str, ...]] = ("--time time", "--event event")
    arguments: ClassVar[Mapping[str, Any]] = MappingProxyType({"response": "survival"})
    refused_by: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"stability-fdr": "it has no p-values for survival times"}
    )

    def __post_init__(self) -> None:
        share = number("events", self.events, at_least=_RAREST, at_most=1.0)
        object.__setattr__(self, "events", share)

    @property
    def label(self) -> str:
        """What an answer calls it."""
        return f"survival times with events in {100.0 * self.events:g} % of the rows"

    @property
    def options(self) -> dict[str, Any]:
        """Options of the command line that say it."""
        return {"response": self.name, "events": self.events}

    def r2(self, T: float) -> float:
        """Return the share of the variance that is explained; see `StudyResponse.r2`."""
        return T / (T + _GUMBEL_VARIANCE)

    def variance(self, r2: float) -> float:
        """Return the variance of the linear predictor; see `StudyResponse.variance`."""
        return r2 / (1.0 - r2) * _GUMBEL_VARIANCE

    def gradient(self, T: float) -> tuple[float, float]:
        """Return spread and slope of the null residual; see `StudyResponse.gradient`."""
        return math.sqrt(self.events), self.events

    @property
    def informative_share(self) -> float:
        """Share of rows that carry variables; see `StudyResponse.informative_share`."""
        return self.events

    def in_theory(self, T: float) -> Cox:
        """Return the response of the theory."""
        from selica.theory import Cox

        return Cox.of_events(T, self.events)

    def respond(self, z: Array, T: float, rng: np.random.Generator) -> Any:
        """Draw times, and whether the event happened before the end; see `StudyResponse.respond`.

        The hazard is exp(z) at all times, and all rows are censored at the same one.
        """
        end, time = float(self.in_theory(T).censoring), rng.exponential(size=z.size) * np.exp(-z)
        return np.minimum(time, end), time <= end

    def informative(self, n_samples: int) -> str:
        """Return how many events are expected."""
        return f"about {n_samples * self.events:,.0f} events"


RESPONSES: dict[str, type[StudyResponse]] = {
    kind.name: kind for kind in (Numeric, Binary, Counts, Survival)
}
"""All of them, by the names that are typed."""


def check_response(response: object) -> StudyResponse:
    """Return `response` if it is one; None stands for a numeric one.

    Parameters
    ----------
    response : StudyResponse or None

    Examples
    --------
    >>> from selica.planning.responses import check_response
    >>> check_response(None)
    Numeric()
    """
    if response is None:
        return Numeric()
    if not isinstance(response, StudyResponse):
        raise ArgumentError(
            "response must be one of planning.Numeric(), Binary(), Counts() and Survival(); "
            f"got {short(response)}."
        )
    return response
