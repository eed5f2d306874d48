"""Solutions for designs with a given spectrum: what `solve_lasso` and `solve_stability` return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.results import statuses
from selica._core.types import Array
from selica.theory.iid.batch import TOLERANCE, EnsembleModel, by_chunks
from selica.theory.iid.equations import IidEquations
from selica.theory.model import Model
from selica.theory.solution import LassoSolution, LossGiven, StabilitySolution
from selica.theory.spectrum.fields import SpectralDesign
from selica.theory.spectrum.solver import at, own_variance, solve_members, solve_pairs
from selica.theory.spectrum.spectra import Spectrum

_CHUNK_VALUES = 200_000  # points * eigenvalues that fit the cache


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class DesignLassoSolution(LossGiven, LassoSolution):
    """One lasso on a design with a given spectrum; `ensemble_error` is q - 2 m + rho + Delta."""

    spectrum: Spectrum
    loss: Any
    """Training loss of the estimate for each variable."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class DesignStabilitySolution(LossGiven, StabilitySolution):
    """Stability selection on a design with a given spectrum."""

    spectrum: Spectrum
    loss: Any


def check_spectrum(spectrum: object, model: Model) -> Spectrum:
    """Return the spectrum if it can be that of a design with alpha N rows."""
    if not isinstance(spectrum, Spectrum):
        raise ArgumentError(f"spectrum must be a theory.Spectrum; got {spectrum!r}.")
    alpha = np.min(model.alpha)
    if spectrum.rank > alpha * (1.0 + 1e-9):
        raise ArgumentError(
            f"spectrum has a share {spectrum.rank:.4g} of non-zero eigenvalues: more than the "
            f"alpha = {alpha:.4g} rows for each variable can have."
        )
    return spectrum


def solve_design(
    ensemble: EnsembleModel, points: dict[str, Array], spectrum: Spectrum
) -> dict[str, Array]:
    """Return the fields of a solution at points in one row; see `iid.batch.solve_points`."""
    at_once = max(1, _CHUNK_VALUES // max(spectrum.values.size, 80))
    return by_chunks(ensemble, points, lambda eq, _: _solve_chunk(eq, spectrum), at_once)


def _solve_chunk(eq: IidEquations, spectrum: Spectrum) -> dict[str, Any]:
    """Return the fields of a solution at the points of the equations."""
    design = SpectralDesign(spectrum, eq.law, eq.alpha)
    with np.errstate(all="ignore"):  # whatever goes wrong shows in the residual
        members = solve_members(eq, design)
        here = at(eq, design, members.y, members.A)
        Q, T = here.response.Q, here.T
        e = here.one.N / here.K**2
        V, found_pairs, more = solve_pairs(eq, here.response, e, T)
        v_hat = np.minimum(own_variance(here.response, e, eq.Delta, V), T)
        fields = _overlaps(eq, Q, T, v_hat)
        # one undamped step, and how far it moved
        state = np.array([members.A - V, V, design.freedom(members.y) / Q])
        moved = np.array([fields["ensemble_error"], fields["v"], fields["chi"]]) - state
        residual = np.max(np.abs(moved) / (1.0 + np.abs(state)), axis=0)
    good = members.found & found_pairs & (residual <= TOLERANCE)
    return {
        **fields,
        "Q_hat": Q,
        "m_hat": Q,
        "chi_hat": T - v_hat,
        "v_hat": v_hat,
        "loss": here.response.loss_error * e + here.response.loss_noise * eq.Delta,
        "status": statuses(good, residual),
        "residual": residual,
        "iterations": members.iterations + more,
    }


def _overlaps(eq: IidEquations, Q: Array, T: Array, v_hat: Array) -> dict[str, Any]:
    """Compute q, m, chi, v and the error, by the single-body sums of all designs."""
    names = ("q", "m", "chi", "v", "ensemble_error")
    out = {name: np.zeros(Q.size) for name in names}
    out["ensemble_error"] += eq.rho + eq.Delta
    live = T > 0.0
    if live.any():
        new = eq.take(live).overlaps(Q[live], T[live], v_hat[live])
        new["ensemble_error"] = new.pop("error")
        for name in names:
            out[name][live] = new[name]
    return out
