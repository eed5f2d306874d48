"""The generative model: how many samples, how sparse, how noisy, which effects."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from selica._core.effects import Effects, GaussianEffects, Mixture, check_effects
from selica._core.errors import ArgumentError
from selica._core.results import Result, Status, unwrap
from selica._core.types import Array
from selica._core.validation import LARGEST, broadcast, positive, real


class _Once:
    """Room for what a model computes once, when it is first asked for."""

    __slots__ = ("_mixtures",)
    _mixtures: tuple[Mixture, Mixture, Mixture]


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Model(_Once):
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
        Distribution of the non-zero effects; Gaussian by default.

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
        """Return `model` if it is one; otherwise say so in an error."""
        if not isinstance(model, Model):
            raise ArgumentError(f"model must be a theory.Model; got {model!r}.")
        return model

    @staticmethod
    def check_single(model: object) -> Model:
        """Return `model` if it is a single one; otherwise say so in an error."""
        one = Model.check(model)
        if one.shape:
            raise ArgumentError(f"model must be a single one; got a grid of shape {one.shape}.")
        return one

    @property
    def mixture(self) -> Mixture:
        """The effects as a mixture of Gaussians."""
        return self._computed()[0]

    @property
    def signals(self) -> Mixture:
        """The mixture up to signs: enough for every even quantity."""
        return self._computed()[1]

    @property
    def kinds(self) -> Mixture:
        """The kinds of variables: nulls first, then `signals`."""
        return self._computed()[2]

    def _computed(self) -> tuple[Mixture, Mixture, Mixture]:
        try:
            return self._mixtures
        except AttributeError:
            mixture = self.effects.mixture()
            three = (mixture, mixture.folded(), mixture.kinds())
            object.__setattr__(self, "_mixtures", three)
            return three

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

    def __getitem__(self, index: Any) -> Model:
        """Return the model at a point of the grid, or the models of a part of it.

        Parameters
        ----------
        index : int, slice, array or tuple of them
            As for an array of the shape of the grid.

        Examples
        --------
        >>> from selica import theory
        >>> theory.Model(alpha=[0.5, 2.5], rho=0.3, Delta=0.01)[1]
        Model(alpha=2.5, rho=0.3, Delta=0.01, effects=GaussianEffects())
        """
        return self._part(index, self.shape)

    def _part(self, index: Any, shape: tuple[int, ...]) -> Model:
        """Return the part of the model at an index into a grid of a shape it broadcasts to."""
        parts = {
            name: (np.broadcast_to(value, shape)[index], value)
            for name, value in self.parameters.items()
        }
        # one number for the whole grid is one number for a part of it
        return self.like(**{name: part if one.ndim else one for name, (part, one) in parts.items()})

    def like(self, alpha: Array, rho: Array, Delta: Array) -> Model:
        """Return a model with the same effects, at parameters that are known to be valid."""
        other = object.__new__(Model)
        for name, value in (("alpha", alpha), ("rho", rho), ("Delta", Delta)):
            object.__setattr__(other, name, unwrap(value))
        object.__setattr__(other, "effects", self.effects)
        object.__setattr__(other, "_mixtures", self._computed())
        return other


class ModelResult(Result):
    """Base of results that belong to a model, or to each point of a grid of models."""

    __slots__ = ()
    model: Model
    q: Any
    status: Any
    residual: Any

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

    def __getitem__(self, index: Any) -> Self:
        """Return the result at a point of the grid, with floats, or on a part of the grid.

        Parameters
        ----------
        index : int, slice, array or tuple of them
            As for an array of the shape of the grid; the model is indexed alike.

        Examples
        --------
        >>> from selica import theory
        >>> model = theory.Model(alpha=[[0.5], [2.5]], rho=0.3, Delta=0.01)
        >>> grid = theory.solve_lasso(model, lam=[0.1, 0.3])
        >>> grid[1, 0].model.alpha, grid[1, 0].lam, round(grid[1, 0].q, 5)
        (2.5, 0.1, 0.27797)
        >>> grid[:, 1].shape
        (2,)
        """
        shape = self.shape
        columns = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        parts = {
            name: unwrap(np.broadcast_to(value, shape)[index])
            for name, value in columns.items()
            if isinstance(value, np.ndarray)
        }
        return replace(self, model=self.model._part(index, shape), **parts)  # type: ignore[type-var]

    @property
    def converged(self) -> Any:
        """Whether each point converged."""
        return unwrap(np.asarray(self.status) == Status.CONVERGED.value)
