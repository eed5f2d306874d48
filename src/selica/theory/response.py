"""What a response other than a linear one says about itself, whoever asks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica.theory.model import Model


class RowSetting(NamedTuple):
    """A response of one strength: what a table of its labels is made from."""

    kind: str
    T: float
    place: float
    """Intercept, or the time of censoring."""
    cases: float | None


class RowResponse(ABC):
    """A response that is random by itself: the model has no noise of its own.

    Examples
    --------
    >>> from selica import theory
    >>> from selica.theory.glm.responses import RowResponse
    >>> isinstance(theory.Poisson(T=0.5), RowResponse)
    True
    """

    __slots__ = ()
    T: Any
    kind: str

    @property
    @abstractmethod
    def settings(self) -> dict[str, Array]:
        """T and the place of the response, which broadcast against the model."""

    @abstractmethod
    def like(self, **settings: Array) -> Self:
        """Return the same response at other `settings`."""

    @property
    def plain(self) -> bool:
        """Whether symmetry makes an intercept needless."""
        return False

    @abstractmethod
    def information(self, T: float, place: float, V: Array) -> Array:
        """Return what a row tells about its linear predictor of a posterior variance V."""

    def row(self, T: float, place: float) -> RowSetting:
        """Return the response at one point."""
        return RowSetting(self.kind, T, place, None)

    @staticmethod
    def check(response: object, model: Model) -> RowResponse:
        """Return `response` if it is one that fits the model; else raise an error."""
        if not isinstance(response, RowResponse):
            raise ArgumentError(
                f"response must be theory.Logistic(T=...), theory.Poisson(T=...) or "
                f"theory.Cox(T=...) with the signal strength T; got {response!r}."
            )
        Model.check(model)
        if np.any(np.asarray(model.Delta) != 0.0):
            raise ArgumentError(
                "Delta must be 0 with a logistic, Poisson or Cox response: such a response is "
                "random by itself, and T says how much the signal decides."
            )
        return response
