"""The generative model: how many samples, how sparse, how noisy, which effects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.effects import Effects, GaussianEffects, check_effects
from selica._core.errors import ArgumentError
from selica._core.results import Result, Status, unwrap
from selica._core.types import Array
from selica._core.validation import LARGEST, broadcast, positive, real


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Model:
    """A sparse linear model y = X w0 + noise with independent Gaussian columns.

    Parameters
    ----------
    alpha : float or array
        Samples for each variable, M/N; positive.
    rho : float or array
        Share of the variables with a non-zero effect, in [0, 1].
    Delta : float or array
        Variance of the noise, in the unit in which effects have second moment one and rows have
        squared length one; rho / Delta is the signal-to-noise ratio.
    effects : Effects
        Law of the non-zero effects; Gaussian by default.

    Examples
    --------
    >>> from selica import theory
    >>> theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    Model(alpha=2.5, rho=0.3, Delta=0.01, effects=GaussianEffects())
    """

    alpha: Any
    rho: Any
    Delta: Any
    effects: Effects = field(default_factory=GaussianEffects)

    def __init__(
        self,
        alpha: ArrayLike,
        rho: ArrayLike,
        Delta: ArrayLike,
        effects: Effects | None = None,
    ) -> None:
        values = {
            "alpha": positive("alpha", alpha),
            "rho": real("rho", rho, at_least=0.0, at_most=1.0),
            "Delta": real("Delta", Delta, at_least=0.0, at_most=LARGEST),
        }
        broadcast(**values)
        for name, value in values.items():
            value.setflags(write=False)
            object.__setattr__(self, name, unwrap(value))
        object.__setattr__(self, "effects", check_effects(effects))

    @staticmethod
    def check(model: object) -> Model:
        """`model` if it is one, or an error that says so."""
        if not isinstance(model, Model):
            raise ArgumentError(f"model must be a theory.Model; got {model!r}.")
        return model

    @staticmethod
    def check_single(model: object) -> Model:
        """The same for a model that has to be one point."""
        one = Model.check(model)
        if one.shape:
            raise ArgumentError(f"model must be a single one; got a grid of shape {one.shape}.")
        return one

    @property
    def parameters(self) -> dict[str, Array]:
        """alpha, rho and Delta by name."""
        return {name: np.asarray(getattr(self, name)) for name in ("alpha", "rho", "Delta")}

    @property
    def shape(self) -> tuple[int, ...]:
        """Common shape of the parameters; () for a single model."""
        return np.broadcast_shapes(np.shape(self.alpha), np.shape(self.rho), np.shape(self.Delta))

    @property
    def snr(self) -> Any:
        """Signal-to-noise ratio rho / Delta."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return unwrap(np.divide(self.rho, self.Delta))


class ModelResult(Result):
    """Base of results that belong to a model, or to each point of a grid of models."""

    __slots__ = ()
    model: Model
    q: Any
    status: Any

    @property
    def alpha(self) -> Any:
        """Samples for each variable."""
        return self.model.alpha

    @property
    def rho(self) -> Any:
        """Share of signals."""
        return self.model.rho

    @property
    def Delta(self) -> Any:
        """Variance of the noise."""
        return self.model.Delta

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the grid; () for a single point."""
        return np.shape(self.q)

    @property
    def converged(self) -> Any:
        """Whether each point converged."""
        return unwrap(np.asarray(self.status) == Status.CONVERGED.value)
