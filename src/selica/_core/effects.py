r"""Distributions of the non-zero effects, normalised to unit second moment.

A distribution is used as a finite mixture of Gaussians :math:`\sum_k p_k N(\mu_k, \sigma_k^2)`:
for such a mixture every average of the theory is closed. A Gaussian is one component, points are
components without spread, and a Laplace distribution is a Gaussian whose variance is exponential.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import exponential_nodes
from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import choice, short


class Mixture(NamedTuple):
    """Components N(mean, sd^2) with probabilities, each of shape (K,)."""

    mean: Array
    sd: Array
    probability: Array

    def folded(self) -> Mixture:
        """Return the same distribution up to signs: enough for every even quantity."""
        if not self.mean.any():
            return self
        key, inverse = np.unique(
            np.stack([np.abs(self.mean), self.sd]), axis=1, return_inverse=True
        )
        weight = np.zeros(key.shape[1])
        np.add.at(weight, inverse.ravel(), self.probability)
        return Mixture(key[0], key[1], weight)

    def kinds(self) -> Mixture:
        """Return the kinds of variables: nulls, which have no spread around zero, then `folded`."""
        return Mixture(*(np.concatenate([[0.0], part]) for part in self.folded()))


class Effects(ABC):
    """A distribution of the non-zero effects with unit second moment.

    Examples
    --------
    >>> from selica.theory import Effects, LaplaceEffects
    >>> isinstance(LaplaceEffects(), Effects)
    True
    >>> parts = LaplaceEffects().mixture()
    >>> round(float(parts.probability @ (parts.mean**2 + parts.sd**2)), 12)
    1.0
    """

    @abstractmethod
    def mixture(self) -> Mixture:
        """Return a finite Gaussian mixture, exact to rounding for the averages of the theory."""

    @abstractmethod
    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw independent effects."""

    @property
    def label(self) -> str:
        """What such effects are called in an answer."""
        return f"effects of the distribution {type(self).__name__}"


@dataclass(frozen=True, slots=True)
class GaussianEffects(Effects):
    """Effects N(0, 1): those of the article.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.theory import GaussianEffects
    >>> GaussianEffects().sample(3, np.random.default_rng(0)).shape
    (3,)
    """

    @property
    def label(self) -> str:
        return "Gaussian effects"

    def mixture(self) -> Mixture:
        """Return one component; see `Effects.mixture`."""
        return Mixture(np.zeros(1), np.ones(1), np.ones(1))

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw normal numbers."""
        return rng.standard_normal(size)


@dataclass(frozen=True, slots=True)
class LaplaceEffects(Effects):
    """Double-exponential effects: many small ones, a few large ones.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.theory import LaplaceEffects
    >>> drawn = LaplaceEffects().sample(100_000, np.random.default_rng(0))
    >>> round(float(np.mean(drawn**2)), 1)
    1.0
    """

    @property
    def label(self) -> str:
        return "Laplace effects"

    def mixture(self) -> Mixture:
        """Return Gaussians of exponential variance; see `Effects.mixture`."""
        # w0 = sqrt(e) z with e ~ Exp(1) and z ~ N(0, 1) is Laplace with second moment one
        variance, probability = exponential_nodes()
        return Mixture(np.zeros_like(variance), np.sqrt(variance), probability)

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw double-exponential numbers."""
        return rng.laplace(scale=np.sqrt(0.5), size=size)


@dataclass(frozen=True, slots=True, init=False)
class PointEffects(Effects):
    """Effects of one or several sizes, by default with random signs.

    Parameters
    ----------
    values : float or sequence of float
        Sizes of the effects; only their ratios matter, the second moment is set to one.
    weights : sequence of float, optional
        How often each value occurs; equally often by default.
    signs : {"random", "given"}
        "random": each value occurs with both signs. "given": with its own sign.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.theory import PointEffects
    >>> drawn = PointEffects().sample(100, np.random.default_rng(0))
    >>> np.unique(drawn).tolist()
    [-1.0, 1.0]
    """

    values: tuple[float, ...]
    weights: tuple[float, ...]
    signs: str

    def __init__(
        self,
        values: float | Sequence[float] = 1.0,
        weights: Sequence[float] | None = None,
        signs: str = "random",
    ) -> None:
        value = _finite_vector("values", values)
        weight = np.ones(value.size) if weights is None else _finite_vector("weights", weights)
        if weight.size != value.size:
            raise ArgumentError(
                f"weights must have one entry for each of the {value.size} values; "
                f"got {weight.size}."
            )
        if np.any(weight < 0.0) or weight.sum() <= 0.0:
            raise ArgumentError("weights must be non-negative with a positive sum.")
        signs = choice("signs", signs, ("random", "given"))
        weight = weight / weight.sum()
        value = _unit(value, weight)
        object.__setattr__(self, "values", tuple(value.tolist()))
        object.__setattr__(self, "weights", tuple(weight.tolist()))
        object.__setattr__(self, "signs", signs)

    @property
    def label(self) -> str:
        sizes = len({abs(value) for value in self.values})
        return "equal effects" if sizes == 1 else f"effects of {sizes} sizes"

    def mixture(self) -> Mixture:
        """Return components without spread; see `Effects.mixture`."""
        value, weight = np.array(self.values), np.array(self.weights)
        if self.signs == "random":
            value, weight = np.concatenate([value, -value]), np.concatenate([weight, weight]) / 2
        return Mixture(value, np.zeros_like(value), weight)

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw some of the values, as often as their weights say."""
        mixture = self.mixture()
        return rng.choice(mixture.mean, p=mixture.probability, size=size)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class EmpiricalEffects(Effects):
    """The empirical distribution of given effects, e.g. of estimates from an earlier study.

    Parameters
    ----------
    values : array of float
        Non-zero effects in any unit, signs kept; the second moment is set to one.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.theory import EmpiricalEffects
    >>> drawn = EmpiricalEffects([3.0, -1.0]).sample(100, np.random.default_rng(0))
    >>> (np.unique(drawn) * np.sqrt(5)).round(6).tolist()  # of mean square one
    [-1.0, 3.0]
    """

    values: tuple[float, ...]

    def __init__(self, values: ArrayLike) -> None:
        value = _finite_vector("values", values)
        value = _unit(value, np.full(value.size, 1.0 / value.size))
        object.__setattr__(self, "values", tuple(value.tolist()))

    def __repr__(self) -> str:
        return f"EmpiricalEffects({len(self.values)} values)"

    @property
    def label(self) -> str:
        return "one given effect" if len(self.values) == 1 else f"{len(self.values)} given effects"

    def mixture(self) -> Mixture:
        """Return components without spread; see `Effects.mixture`."""
        value, number = np.unique(np.array(self.values), return_counts=True)
        return Mixture(value, np.zeros_like(value), number / number.sum())

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Draw some of the given effects, with replacement."""
        return rng.choice(np.array(self.values), size=size)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class PlacedEffects(EmpiricalEffects):
    """Given effects of given variables: zeros say which variables have none.

    Where columns are independent the places do not matter, and such effects are those of
    `EmpiricalEffects` without the zeros.

    Parameters
    ----------
    values : array of float, shape (p,)
        One for each variable, in any unit; of those that are not zero the second moment is set to
        one.

    Examples
    --------
    >>> from selica.theory import PlacedEffects
    >>> effects = PlacedEffects([1.0, 0.0, -1.0, 0.0])
    >>> effects.values, effects.places, effects.n_features
    ((1.0, -1.0), (0, 2), 4)
    """

    places: tuple[int, ...]
    """Which variables have the effects, in rising order."""
    n_features: int

    def __init__(self, values: ArrayLike) -> None:
        value = _finite_vector("values", values)
        places = np.flatnonzero(value)
        if places.size == 0:
            raise ArgumentError("values must not all be zero.")
        EmpiricalEffects.__init__(self, value[places])
        object.__setattr__(self, "places", tuple(places.tolist()))
        object.__setattr__(self, "n_features", value.size)

    def __repr__(self) -> str:
        return f"PlacedEffects({len(self.values)} of {self.n_features} values)"

    @property
    def label(self) -> str:
        given = "one given effect" if len(self.values) == 1 else f"{len(self.values)} given effects"
        return f"{given} at given places"

    def vector(self) -> Array:
        """Return the effects of all variables, (p,)."""
        found = np.zeros(self.n_features)
        found[list(self.places)] = self.values
        return found


LAWS: dict[str, Callable[[], Effects]] = {
    "gaussian": GaussianEffects,
    "laplace": LaplaceEffects,
    "point": PointEffects,
}
"""Distributions without parameters, by the names that are typed."""
MOST_EFFECTS = 1000
"""Numbers in a list of effects: each of them is a kind of variable of its own."""


def effects_of(text: str, *, placed: bool = False) -> Effects:
    """Return the distribution that a text names, or that of the numbers in it.

    Parameters
    ----------
    text : str
        One of `LAWS`, or numbers with commas, blanks or line breaks between them.
    placed : bool
        Whether zeros may say which variables have no effect.

    Examples
    --------
    >>> from selica._core.effects import effects_of
    >>> effects_of("laplace").label
    'Laplace effects'
    >>> effects_of("0.5, -0.3, 0.2").label
    '3 given effects'
    """
    if text in LAWS:
        return LAWS[text]()
    parts = text.replace(",", " ").split()
    values = [_number_in(part) for part in parts]
    if not values:
        raise ArgumentError("effects must not be empty.")
    if len(values) > MOST_EFFECTS:
        raise ArgumentError(f"effects must be at most {MOST_EFFECTS:,} numbers; got {len(values)}.")
    if not any(values):
        raise ArgumentError("effects must not all be zero.")
    if not all(values) and placed:
        return PlacedEffects(values)
    if not all(values):
        raise ArgumentError("effects must not be zero: leave out variables without an effect.")
    return EmpiricalEffects(values)


def _number_in(part: str) -> float:
    """Read one number of a list."""
    try:
        value = float(part)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentError(f"effects must be numbers; got {short(part)}.")
    return value


def check_effects(effects: object) -> Effects:
    """Return `effects` if it is a distribution of effects; None stands for Gaussian ones."""
    if effects is None:
        return GaussianEffects()
    if not isinstance(effects, Effects):
        raise ArgumentError(
            "effects must be a distribution of effects such as theory.GaussianEffects(); "
            f"got {short(effects)}."
        )
    return effects


def _finite_vector(name: str, values: ArrayLike) -> Array:
    try:
        vector = np.atleast_1d(np.asarray(values, dtype=float))
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name} must be numbers; got {short(values)}.") from None
    if vector.ndim != 1 or vector.size == 0:
        raise ArgumentError(f"{name} must be a non-empty vector; got shape {vector.shape}.")
    if not np.all(np.isfinite(vector)):
        raise ArgumentError(f"{name} must be finite.")
    return vector


def _unit(value: Array, weight: Array) -> Array:
    if np.any(value == 0.0):
        raise ArgumentError("values must be non-zero: zeros belong to rho, not to the effects.")
    value = value / np.abs(value).max()  # no overflow in the squares
    return np.asarray(value / np.sqrt(weight @ value**2))
