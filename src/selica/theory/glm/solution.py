"""What the solvers return for responses other than linear ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from selica._core.counts import count_law, single_fit
from selica._core.errors import ArgumentError
from selica._core.losses import LogisticLoss
from selica._core.results import statuses, unwrap
from selica._core.types import Array
from selica.theory.glm.rows import Rows
from selica.theory.glm.solver import Body, GlmPoint, solve_point
from selica.theory.iid.batch import TOLERANCE
from selica.theory.iid.equations import IidEquations
from selica.theory.model import Model
from selica.theory.response import RowResponse
from selica.theory.solution import (
    KnockoffSolution,
    LassoSolution,
    LossGiven,
    StabilitySolution,
)


class _OtherResponse(LossGiven):
    """What is different: effects have a size of their own, and the loss is no square."""

    __slots__ = ()
    model: Model
    m_hat: Any
    T: Any
    absolute: Any

    @property
    def slope(self) -> Any:
        """Slope of the field in an effect of the model: m_hat sqrt(T / rho)."""
        rho = np.asarray(self.model.rho)
        size = np.sqrt(np.asarray(self.T) / np.where(rho > 0.0, rho, 1.0))
        return unwrap(np.asarray(self.m_hat * size))

    @property
    def mean_absolute(self) -> Any:
        """E|w_hat|; equals d cost / d lam."""
        return self.absolute


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ResponseLassoSolution(_OtherResponse, LassoSolution):
    """One penalised regression of classes, counts or times.

    Order parameters are in log odds, or logarithms of rates or hazards, and `ensemble_error` is
    the mean squared error q - 2 m + T of these; m_hat is not Q_hat.
    """

    T: Any
    loss: Any
    """Training loss for each variable."""
    absolute: Any
    intercept: Any = 0.0
    """What members fit; for times, the logarithm of the hazard up to the time of censoring."""

    _settings: ClassVar[tuple[str, ...]] = ("lam", "T")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ResponseStabilitySolution(_OtherResponse, StabilitySolution):
    """Stability selection by such regressions; see `ResponseLassoSolution`."""

    T: Any
    loss: Any
    absolute: Any
    intercept: Any = 0.0

    _settings: ClassVar[tuple[str, ...]] = ("lam", "mu_B", "T")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ResponseKnockoffSolution(_OtherResponse, KnockoffSolution):
    """Such a regression on data and knockoff copies; see `ResponseLassoSolution`."""

    T: Any
    loss: Any
    absolute: Any
    intercept: Any = 0.0

    _settings: ClassVar[tuple[str, ...]] = ("lam", "T")


def check_strength(response: RowResponse, points: dict[str, Array]) -> None:
    """Refuse a strength of the signal where there are no signals."""
    if np.any((points["rho"] == 0.0) & (points["T"] > 0.0)):
        raise ArgumentError(f"T must be 0 where rho is 0; got T = {response.T}.")


def solve_labels(model: Model, points: dict[str, Array], resampling: str | None) -> dict[str, Any]:
    """Return the fields of a solution, solved point by point.

    Parameters
    ----------
    model : Model
    points : dict
        alpha, rho, Delta, lam, lam2, T and with resampling mu_B, at their common shape.
    resampling : str or None
    """
    shape = points["lam"].shape
    flat = {name: np.ravel(value) for name, value in points.items()}
    answers: list[GlmPoint] = []
    for i in range(flat["lam"].size):
        law = count_law(resampling, flat["mu_B"][i : i + 1]) if resampling else single_fit(1)
        four = (flat[name][i : i + 1] for name in ("alpha", "rho", "Delta", "lam"))
        eq = IidEquations.of_kinds(*four, law=law, kinds=model.kinds, copies=0)
        alpha, T = float(flat["alpha"][i]), float(flat["T"][i])
        rows = Rows.of(alpha, T, LogisticLoss(), law.weight[0], law.probability[0])
        with np.errstate(all="ignore"):  # whatever goes wrong shows in the residual
            answers.append(solve_point(rows, Body.of(eq, T, float(flat["lam2"][i]))))
    columns = {
        name: np.array([getattr(a, name) for a in answers]).reshape(shape)
        for name in GlmPoint._fields
    }
    residual, found = columns["residual"], columns.pop("found")
    status = statuses(found & (residual <= TOLERANCE), residual)
    columns["absolute"] = columns.pop("mean_absolute")
    columns["ensemble_error"] = columns["q"] - 2.0 * columns["m"] + points["T"]
    columns |= {"status": status, "T": points["T"]}
    fields = {name: unwrap(value) for name, value in columns.items()}
    penalty = {name: unwrap(points[name]) for name in ("lam", "lam2")}
    return {"model": model, **penalty, **fields}
