"""Effects in the units in which people know them, which say how many and how strong they are.

A distribution of effects has a unit second moment, and the strength of the signals is given beside
it. Effects that come with their size need neither: standardised coefficients of a numeric response,
or odds, rate and hazard ratios for one standard deviation of a variable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from selica._core.effects import EmpiricalEffects, PointEffects
from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import count, short
from selica.planning.responses import Binary, Counts, Numeric, StudyResponse, Survival


@dataclass(frozen=True, slots=True, init=False, repr=False)
class SizedEffects(EmpiricalEffects):
    """Given effects with their sizes.

    Parameters
    ----------
    values : float or sequence of float
        One for each signal.

    Examples
    --------
    >>> from selica.planning import OddsRatios
    >>> OddsRatios([1.5, 1.2, 0.8]).label
    '3 given effects'
    """

    sizes: tuple[float, ...]
    """Effects on the scale of the linear predictor."""

    response: ClassVar[type[StudyResponse]]
    """The response that they belong to."""
    unit: ClassVar[str]
    """What one of them is called."""

    def __init__(self, values: ArrayLike) -> None:
        name = type(self).__name__
        try:
            given = np.atleast_1d(np.asarray(values, dtype=float)).ravel()
        except (TypeError, ValueError):
            raise ArgumentError(f"{name} must be numbers; got {short(values)}.") from None
        if given.size == 0:
            raise ArgumentError(f"{name} must not be empty.")
        if not np.all(np.isfinite(given)):
            bad = given[~np.isfinite(given)][0]
            raise ArgumentError(f"{name} must be finite; got {bad:g}.")
        sizes = self._of(given)
        if not sizes.all():
            bad = given[sizes == 0.0][0]
            raise ArgumentError(
                f"{name} must not stand for no effect; got {bad:g}: leave such variables out."
            )
        EmpiricalEffects.__init__(self, sizes)
        object.__setattr__(self, "sizes", tuple(sizes.tolist()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.sizes)} values)"

    @property
    def label(self) -> str:
        """What an answer calls such effects."""
        if len(self.sizes) > 1 and len({abs(size) for size in self.sizes}) == 1:
            return PointEffects().label
        return super(SizedEffects, self).label  # a class with slots is made anew

    def of_study(self, n_signals: int | None, response: StudyResponse) -> SizedEffects:
        """Return the effects of a study: one is that of all signals, more are one for each.

        Parameters
        ----------
        n_signals : int or None
        response : StudyResponse
            The one that such effects belong to; an error if it is another.
        """
        if not isinstance(response, self.response):
            raise ArgumentError(
                f"{type(self).__name__} must go with a {self.response.name} response; the response "
                f"of the study is {response.name}."
            )
        if n_signals is None or n_signals == len(self.sizes):
            return self
        if len(self.sizes) != 1:
            raise ArgumentError(
                f"n_signals must be the number of {self.unit}s, {len(self.sizes)}; got {n_signals}."
            )
        return self._repeated(count("n_signals", n_signals))

    def _repeated(self, number: int) -> SizedEffects:
        """Return the one effect as that of so many signals."""
        return type(self)([math.exp(self.sizes[0])] * number)

    def variance(self) -> float:
        """Return the variance of the linear predictor."""
        return math.fsum(size**2 for size in self.sizes)

    def size_of(self, value: float) -> float:
        """Return the size of one more effect in the same unit, beside those that are given.

        Parameters
        ----------
        value : float
        """
        if value <= 0.0:
            raise ArgumentError(f"variable must be above 0, as {self.unit}s are; got {value:g}.")
        return math.log(value)

    @classmethod
    def _of(cls, given: Array) -> Array:
        """Return the sizes of given values on the scale of the linear predictor."""
        if np.any(given <= 0.0):
            bad = given[given <= 0.0][0]
            raise ArgumentError(f"{cls.__name__} must be above 0; got {bad:g}.")
        return np.asarray(np.log(given))


class Betas(SizedEffects):
    """Coefficients of standardised columns, in standard deviations of the response.

    Examples
    --------
    >>> from selica.planning import Betas
    >>> round(Betas([0.3, 0.2, 0.1]).variance(), 4)
    0.1628
    """

    __slots__ = ()
    response: ClassVar[type[StudyResponse]] = Numeric
    unit: ClassVar[str] = "beta"

    @classmethod
    def _of(cls, given: Array) -> Array:
        explained = float(given @ given)
        if explained >= 1.0:
            raise ArgumentError(
                "Betas must explain less than all of the variance: the sum of their squares is "
                f"{explained:.3g}, and has to be below 1."
            )
        return np.asarray(given / math.sqrt(1.0 - explained))

    def size_of(self, value: float) -> float:
        """Return the size of one more effect in the same unit; see `SizedEffects.size_of`.

        Parameters
        ----------
        value : float
        """
        return value * math.sqrt(1.0 + self.variance())

    def _repeated(self, number: int) -> SizedEffects:
        """Return the one effect as that of so many signals."""
        size = self.sizes[0]
        return Betas([size / math.sqrt(1.0 + size**2)] * number)


class OddsRatios(SizedEffects):
    """Odds ratios for one standard deviation of a variable.

    Examples
    --------
    >>> from selica.planning import OddsRatios
    >>> round(OddsRatios([2.0]).variance(), 4)
    0.4805
    """

    __slots__ = ()
    response: ClassVar[type[StudyResponse]] = Binary
    unit: ClassVar[str] = "odds ratio"


class RateRatios(SizedEffects):
    """Ratios of rates of counts for one standard deviation of a variable.

    Examples
    --------
    >>> from selica.planning import RateRatios
    >>> RateRatios([1.2, 1.1]).label
    '2 given effects'
    """

    __slots__ = ()
    response: ClassVar[type[StudyResponse]] = Counts
    unit: ClassVar[str] = "rate ratio"


class HazardRatios(SizedEffects):
    """Hazard ratios for one standard deviation of a variable.

    Examples
    --------
    >>> from selica.planning import HazardRatios
    >>> HazardRatios([1.5, 0.7]).label
    '2 given effects'
    """

    __slots__ = ()
    response: ClassVar[type[StudyResponse]] = Survival
    unit: ClassVar[str] = "hazard ratio"
