r"""Laws of the non-zero effects, normalised to unit second moment.

A law is used as a finite mixture of Gaussians :math:`\sum_k p_k N(\mu_k, \sigma_k^2)`: for such a
mixture every average of the theory is closed. A Gaussian law is one component, points are
components without spread, and the Laplace law is a Gaussian whose variance is exponential.
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
        """The same law up to signs: enough for every even quantity."""
        if not self.mean.any():
            return self
        key, inverse = np.unique(
            np.stack([np.abs(self.mean), self.sd]), axis=1, return_inverse=True
        )
        weight = np.zeros(key.shape[1])
        np.add.at(weight, inverse.ravel(), self.probability)
        return Mixture(key[0], key[1], weight)

    def kinds(self) -> Mixture:
        """The kinds of variables: nulls, a Gaussian without spread at zero, then `folded`."""
        return Mixture(*(np.concatenate([[0.0], part]) for part in self.folded()))


class Effects(ABC):
    """A law of the non-zero effects with unit second moment.

    Examples
    --------
    >>> from selica.theory import Effects, LaplaceEffects
    >>> isinstance(LaplaceEffects(), Effects)
    True
    >>> law = LaplaceEffects().mixture()
    >>> round(float(law.probability @ (law.mean**2 + law.sd**2)), 12)
    1.0
    """

    @abstractmethod
    def mixture(self) -> Mixture:
        """The law as a finite Gaussian mixture, exact to rounding for the theory's averages."""

    @abstractmethod
    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        """Independent draws from the law."""

    @property
    def label(self) -> str:
        """What such effects are called in an answer."""
        return f"effects of the distribution {type(self).__name__}"


@dataclass(frozen=True, slots=True)
class GaussianEffects(Effects):
    """Effects N(0, 1): the law of the article.

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
        return Mixture(np.zeros(1), np.ones(1), np.ones(1))

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
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
        # w0 = sqrt(e) z with e ~ Exp(1) and z ~ N(0, 1) is Laplace with second moment one
        variance, probability = exponential_nodes()
        return Mixture(np.zeros_like(variance), np.sqrt(variance), probability)

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
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
        value, weight = np.array(self.values), np.array(self.weights)
        if self.signs == "random":
            value, weight = np.concatenate([value, -value]), np.concatenate([weight, weight]) / 2
        return Mixture(value, np.zeros_like(value), weight)

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        mixture = self.mixture()
        return rng.choice(mixture.mean, p=mixture.probability, size=size)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class EmpiricalEffects(Effects):
    """The empirical law of given effects, e.g. of estimates from an earlier study.

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
        value, number = np.unique(np.array(self.values), return_counts=True)
        return Mixture(value, np.zeros_like(value), number / number.sum())

    def sample(self, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
        return rng.choice(np.array(self.values), size=size)


LAWS: dict[str, Callable[[], Effects]] = {
    "gaussian": GaussianEffects,
    "laplace": LaplaceEffects,
    "point": PointEffects,
}
"""Laws without parameters, by the names that are typed."""
MOST_EFFECTS = 1000
"""Numbers in a list of effects: each of them is a kind of variable of its own."""


def effects_of(text: str) -> Effects:
    """The law that a text names, or that of the numbers in it.

    Parameters
    ----------
    text : str
        One of `LAWS`, or numbers with commas, blanks or line breaks between them.

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
    if not all(values):
        raise ArgumentError("effects must not be zero: leave out variables without an effect.")
    return EmpiricalEffects(values)


def _number_in(part: str) -> float:
    """One number of a list."""
    try:
        value = float(part)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ArgumentError(f"effects must be numbers; got {short(part)}.")
    return value


def check_effects(effects: object) -> Effects:
    """`effects` if it is a law, the Gaussian one for None, or an error that says so."""
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
