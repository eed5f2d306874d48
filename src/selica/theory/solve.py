"""The three solvers a user calls, and what chooses the equations that belong to a method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica import catalogue
from selica._core.counts import check_rate
from selica._core.errors import ArgumentError, ConvergenceWarning
from selica._core.results import unwrap
from selica._core.types import Array
from selica._core.validation import LARGEST, broadcast, positive, real
from selica._core.warning import warn
from selica.catalogue import METHODS, Method
from selica.theory.glm.fast import solve_columns
from selica.theory.glm.solution import (
    ResponseKnockoffSolution,
    ResponseLassoSolution,
    ResponseStabilitySolution,
    check_strength,
    solve_labels,
)
from selica.theory.glm.tables import FINE
from selica.theory.iid.batch import EnsembleModel, solve_points
from selica.theory.model import Model, ModelResult
from selica.theory.response import RowResponse
from selica.theory.solution import KnockoffSolution, LassoSolution, Solution, StabilitySolution
from selica.theory.spectrum.solution import (
    DesignLassoSolution,
    DesignStabilitySolution,
    check_spectrum,
    solve_design,
)
from selica.theory.spectrum.spectra import Spectrum


def solve_lasso(
    model: Model,
    lam: ArrayLike,
    *,
    lam2: ArrayLike = 0.0,
    spectrum: Spectrum | None = None,
    response: RowResponse | None = None,
) -> LassoSolution:
    """Solve for the order parameters of one lasso, or elastic net.

    Parameters
    ----------
    model : Model
    lam : float or array
        Penalty, positive; broadcasts against the model.
    lam2 : float or array
        Ridge part of the penalty, at least zero: ``lam |w|_1 + lam2 |w|^2 / 2``
        (docs/elastic-net.md).
    spectrum : Spectrum, optional
        Distribution of the eigenvalues of X'X where columns are not independent; the singular
        vectors of X point anywhere (docs/general-designs.md).
    response : Logistic, Poisson or Cox, optional
        Two classes, counts or times in place of a linear response: ``theory.Logistic(T=4.0)`` says
        how strongly the signal decides it (docs/logistic.md, docs/more-responses.md). For
        independent columns.

    Returns
    -------
    LassoSolution

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    >>> round(theory.solve_lasso(model, lam=0.1).rates().tpr, 5)
    0.95782
    >>> round(theory.solve_lasso(model, lam=0.1, lam2=0.5).rates().tpr, 5)
    0.95859
    >>> rows = theory.Spectrum.row_orthogonal(0.5)
    >>> l = theory.solve_lasso(theory.Model(0.5, 0.2, 0.01), lam=0.3, spectrum=rows)
    >>> round(l.rates().fdr, 4)
    0.1894
    """
    settings = check_penalty(lam, lam2)
    points = _points(model, settings, spectrum, response)
    return _lasso(model, points, spectrum, response)


def solve_stability(
    model: Model,
    lam: ArrayLike,
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    *,
    lam2: ArrayLike = 0.0,
    spectrum: Spectrum | None = None,
    response: RowResponse | None = None,
) -> StabilitySolution:
    """Solve for the order parameters of stability selection.

    Parameters
    ----------
    model : Model
    lam : float or array
        Penalty of a member, positive.
    mu_B : float or array
        Resampling rate, positive: mean number of times a row enters a member.
    resampling : {"poisson", "bernoulli", "exponential"}
        Bootstrap with replacement; subsampling without (mu_B is then the probability that a row
        is kept, at most one); Bayesian bootstrap (weights of mean mu_B).
    lam2, spectrum, response : optional
        As in `solve_lasso`.

    Returns
    -------
    StabilitySolution

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    >>> s = theory.solve_stability(model, lam=0.3, mu_B=1.0)
    >>> round(s.rates(Pi_th=0.15).fdr, 6)
    0.492586
    """
    rate = check_rate("mu_B", mu_B, resampling)
    settings = check_penalty(lam, lam2) | {"mu_B": rate}
    points = _points(model, settings, spectrum, response)
    return _stability(model, points, resampling, spectrum, response)


def solve_knockoff(
    model: Model,
    lam: ArrayLike,
    *,
    lam2: ArrayLike = 0.0,
    response: RowResponse | None = None,
) -> KnockoffSolution:
    """Solve for the order parameters of the lasso, or elastic net, on data and knockoff copies.

    Parameters
    ----------
    model : Model
    lam : float or array
        Penalty, positive; the same for variables and copies.
    lam2 : float or array
        As in `solve_lasso`; the same for variables and copies.
    response : Logistic, Poisson or Cox, optional
        As in `solve_lasso`.

    Returns
    -------
    KnockoffSolution

    Examples
    --------
    >>> from selica import theory
    >>> model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
    >>> d = theory.solve_knockoff(model, lam=0.1)
    >>> round(d.rates(Z_th=0.05, Pi_th=0.15).fdr, 6), round(d.single_rates(Z_th=0.05).fdr, 6)
    (0.32749, 0.216206)
    >>> round(theory.solve_knockoff(model, lam=0.1, lam2=0.5).single_rates(Z_th=0.05).fdr, 6)
    0.36476
    """
    points = _points(model, check_penalty(lam, lam2), None, response)
    return _knockoff(model, points, response)


def solve_method(
    model: Model,
    method: str,
    lam: ArrayLike,
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    *,
    lam2: ArrayLike = 0.0,
    response: RowResponse | None = None,
) -> Solution:
    """Solve the equations that belong to a method, and warn where they were not solved.

    Parameters
    ----------
    model, lam, mu_B, resampling, lam2, response
        As in `solve_stability`, and known to be valid; mu_B and resampling are used where rows are
        resampled.
    method : str
        Name of a method of the catalogue that has equations.
    """
    row = method_of(method, lambda one: one.equations is not None)
    equations = row.equations
    settings = {"lam": np.asarray(lam, dtype=float), "lam2": np.asarray(lam2, dtype=float)}
    if response is not None:
        settings |= response.settings
    if equations == "stability":
        settings["mu_B"] = np.asarray(mu_B, dtype=float)
    points = _common(model, settings)
    solution: Solution
    if equations == "stability":
        solution = _stability(model, points, resampling, None, response)
    elif equations == "knockoff":
        solution = _knockoff(model, points, response)
    else:
        solution = _lasso(model, points, None, response)
    warn_unless_converged(solution, row.name)
    return solution


def method_of(name: object, suits: Callable[[Method], bool]) -> Method:
    """Return the method of a name, or of a former name, among those that suit the caller."""
    known = METHODS.get(name) if isinstance(name, str) else None
    found = known or catalogue.method(name, room="theory")
    if not suits(found):
        raise ArgumentError.choice(
            "method", name, [one.name for one in METHODS.values() if suits(one)]
        )
    return found


def warn_unless_converged(solution: ModelResult, method: str) -> None:
    """Warn if the equations of a method were not solved at every point."""
    failed = np.size(solution.converged) - np.count_nonzero(solution.converged)
    if failed:
        warn(
            f"The equations of {method} did not converge at {failed} of "
            f"{np.size(solution.converged)} points (largest residual "
            f"{np.max(solution.residual):.1e}); results at these points are unreliable.",
            ConvergenceWarning,
        )


def check_penalty(lam: ArrayLike, lam2: ArrayLike) -> dict[str, Array]:
    """Return both parts of the penalty, checked."""
    return {"lam": positive("lam", lam), "lam2": check_ridge(lam2)}


def check_ridge(lam2: ArrayLike) -> Array:
    """Return the ridge part of the penalty, checked."""
    return real("lam2", lam2, at_least=0.0, at_most=LARGEST)


def check_response(model: Model, response: RowResponse) -> dict[str, Array]:
    """Return strength of the signal and place of a response that fits the model."""
    settings = RowResponse.check(response, model).settings
    rho, T = broadcast(rho=np.asarray(model.rho), T=settings["T"])
    check_strength(response, {"rho": rho, "T": T})
    return settings


def _points(
    model: Model,
    settings: dict[str, Array],
    spectrum: Spectrum | None = None,
    response: RowResponse | None = None,
) -> dict[str, Array]:
    """Return parameters and settings at their common shape, all checked."""
    if response is not None:
        if spectrum is not None:
            raise ArgumentError("spectrum and response cannot be given together.")
        settings = settings | check_response(model, response)
    points = _common(Model.check(model), settings)
    if spectrum is not None:
        check_spectrum(spectrum, model)
    return points


def _common(model: Model, settings: dict[str, Array]) -> dict[str, Array]:
    """Return parameters and settings at their common shape."""
    named = model.parameters | settings
    return dict(zip(named, broadcast(**named), strict=True))


def _lasso(
    model: Model, points: dict[str, Array], spectrum: Spectrum | None, response: RowResponse | None
) -> LassoSolution:
    if response is not None:
        return ResponseLassoSolution(**_solve_response(model, points, response))
    found = _solve(model, points, spectrum=spectrum)
    return LassoSolution(**found) if spectrum is None else DesignLassoSolution(**found)


def _stability(
    model: Model,
    points: dict[str, Array],
    resampling: str,
    spectrum: Spectrum | None,
    response: RowResponse | None,
) -> StabilitySolution:
    settings = {"mu_B": unwrap(points["mu_B"]), "resampling": resampling}
    if response is not None:
        fields = _solve_response(model, points, response, resampling)
        return ResponseStabilitySolution(**fields, **settings)
    found = _solve(model, points, resampling=resampling, spectrum=spectrum) | settings
    return StabilitySolution(**found) if spectrum is None else DesignStabilitySolution(**found)


def _knockoff(
    model: Model, points: dict[str, Array], response: RowResponse | None
) -> KnockoffSolution:
    if response is not None:
        return ResponseKnockoffSolution(**_solve_response(model, points, response, copies=1))
    return KnockoffSolution(**_solve(model, points, copies=1))


def _solve_response(
    model: Model,
    points: dict[str, Array],
    response: RowResponse,
    resampling: str | None = None,
    copies: int = 0,
) -> dict[str, Any]:
    """Return the fields of a solution for another response."""
    if response.plain and copies == 0:
        labels = {name: part for name, part in points.items() if name != "place"}
        return solve_labels(model, labels, resampling)
    return solve_columns(model, points, response, resampling, copies, FINE)


def _solve(
    model: Model,
    points: dict[str, Array],
    *,
    copies: int = 0,
    resampling: str | None = None,
    spectrum: Spectrum | None = None,
) -> dict[str, Any]:
    """Return the fields of a solution for a linear response."""
    shape = points["lam"].shape
    flat = {name: np.ravel(values) for name, values in points.items()}
    ensemble = EnsembleModel(model.kinds, model.mixture.mean.size, copies, resampling)
    if spectrum is None:
        found, design = solve_points(ensemble, flat), {}
    else:
        found, design = solve_design(ensemble, flat, spectrum), {"spectrum": spectrum}
    fields = {name: unwrap(values.reshape(shape)) for name, values in found.items()}
    penalty = {name: unwrap(points[name]) for name in ("lam", "lam2")}
    return {"model": model, **penalty, **fields, **design}
