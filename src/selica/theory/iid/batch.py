r"""Many points at once: chunks that fit the cache, and first guesses along many penalties.

In units of its noise a member thresholds its fields at :math:`\kappa = \lambda/\sqrt T`. Given
this number, activity and error depend on :math:`\tau^2 = T/\hat Q^2` alone, and Newton's method
finds :math:`\tau` and :math:`\chi` from one start for every :math:`\kappa` that has a solution; the
penalty comes out as :math:`\lambda = \kappa\,\tau\,\hat Q`. So a few :math:`\kappa` trace the whole
path from large penalties to small ones, along which :math:`\chi` grows by orders of magnitude.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from selica._core.counts import count_law, single_fit
from selica._core.effects import Mixture
from selica._core.results import statuses
from selica._core.types import Array, BoolArray, IntArray
from selica.theory.iid.equations import IidEquations
from selica.theory.iid.solver import solve_members, solve_pairs
from selica.theory.numerics.newton import Linear

TOLERANCE = 1e-10
"""Residual up to which a point counts as converged."""
THRESHOLDS = np.concatenate([np.linspace(0.04, 2.0, 18), np.linspace(2.3, 6.0, 8)])
"""Values of kappa: fewer where little is active and every start is good."""
_CHUNK_VALUES = 400_000  # points * kinds of variables * quadrature nodes that fit the cache
_GUESS_STEPS = 8  # of Newton's method, for first guesses
_LONGEST_STEP = 1.0  # of the same, in logarithms
_CONVERGED_STEP = 1e-4  # close enough for a guess
_DIVERGED_STEP = 100.0  # steps that long only grow: there is no solution


class EnsembleModel(NamedTuple):
    """What the members of an ensemble are fitted to, and with which weights."""

    kinds: Mixture
    """Kinds of variables, the nulls first."""
    components: int
    """Of the mixture of the effects, signs included."""
    copies: int = 0
    """Knockoff copies of each variable."""
    resampling: str | None = None
    """Distribution of the row weights, with rates mu_B of the points; None for single fits."""


def solve_points(ensemble: EnsembleModel, points: dict[str, Array]) -> dict[str, Array]:
    """Return the fields of a solution at points in one row.

    Parameters
    ----------
    ensemble : EnsembleModel
    points : dict of arrays of shape (points,)
        alpha, rho, Delta, lam, lam2 and, with resampling, mu_B.
    """
    return by_chunks(ensemble, points, lambda eq, _: _solve_chunk(eq))


def by_chunks(
    ensemble: EnsembleModel,
    points: dict[str, Array],
    solve: Callable[[IidEquations, IntArray], dict[str, Any]],
    at_once: int | None = None,
) -> dict[str, Array]:
    """Solve points in one row, in chunks that fit the cache.

    Parameters
    ----------
    ensemble, points
        As in `solve_points`.
    solve : callable
        (equations of a chunk, which of the points it holds) -> fields by name.
    at_once : int, optional
        Points of a chunk.
    """
    size = points["lam"].size
    per_point = max(20 * (ensemble.components + 1), 80)
    step = at_once or max(1, _CHUNK_VALUES // per_point)
    resampled = ensemble.resampling is not None
    # like rates together: the tables of counts in a chunk are as long as the longest
    order = np.argsort(points["mu_B"], kind="stable") if resampled else np.arange(size)
    parts = []
    for start in range(0, size, step):
        pick = order[start : start + step]
        law = (
            single_fit(pick.size)
            if ensemble.resampling is None
            else count_law(ensemble.resampling, points["mu_B"][pick])
        )
        five = (points[name][pick] for name in ("alpha", "rho", "Delta", "lam", "lam2"))
        eq = IidEquations.of_kinds(*five, law=law, kinds=ensemble.kinds, copies=ensemble.copies)
        parts.append(solve(eq, pick))
    joined = parts[0]
    if len(parts) > 1:
        joined = {name: np.concatenate([part[name] for part in parts]) for name in joined}
    if size > 1:
        back = np.argsort(order, kind="stable")
        joined = {name: values[back] for name, values in joined.items()}
    return joined


def _solve_chunk(eq: IidEquations) -> dict[str, Any]:
    """Return the fields of a solution at the points of a chunk."""
    with np.errstate(all="ignore"):  # whatever goes wrong shows in the residual
        A, chi, found_members, used = solve_members(eq)
        V, found_pairs, more = solve_pairs(eq, A, chi)
        new = eq.step(A - V, V, chi)
        # one undamped step, and how far it moved
        state = np.array([A - V, V, chi])
        moved = np.array([new.error, new.v + new.v_tilde, new.chi + new.chi_tilde]) - state
        residual = np.max(np.abs(moved) / (1.0 + np.abs(state)), axis=0)
    good = found_members & found_pairs & (residual <= TOLERANCE)
    fields: dict[str, Any] = {
        "q": new.q,
        "m": new.m,
        "chi": new.chi,
        "v": new.v,
        "Q_hat": new.Q_hat,
        "m_hat": new.Q_hat,
        "chi_hat": new.chi_hat,
        "v_hat": new.v_hat,
        "ensemble_error": new.error,
        "status": statuses(good, residual),
        "residual": residual,
        "iterations": used + more,
    }
    if eq.copies:
        fields["v_tilde"] = new.v_tilde
        fields["chi_tilde"] = new.chi_tilde
        fields["v_tilde_hat"] = new.chi_hat + new.v_hat
    return fields


class Errors(NamedTuple):
    """Prediction errors and susceptibilities of single members, at points in one row."""

    prediction: Array
    chi: Array


def member_errors(
    ensemble: EnsembleModel, points: dict[str, Array], guess: Errors | None = None
) -> Errors:
    """Return the prediction errors of single members: a search needs no more.

    Parameters
    ----------
    ensemble, points
        As in `solve_points`.
    guess : Errors, optional
        At penalties nearby, which saves iterations.
    """

    def chunk(eq: IidEquations, pick: IntArray) -> dict[str, Any]:
        near = None if guess is None else (guess.prediction[pick], guess.chi[pick])
        with np.errstate(all="ignore"):
            A, chi, found, _ = solve_members(eq, near)
        return {"prediction": np.where(found, A, np.inf), "chi": chi}

    return Errors(**by_chunks(ensemble, points, chunk))


def member_guesses(ensemble: EnsembleModel, models: dict[str, Array], log_lam: Array) -> Errors:
    """Return first guesses for `member_errors` along many penalties without a ridge part.

    Parameters
    ----------
    ensemble : EnsembleModel
    models : dict of arrays of shape (models,)
        The points of `member_errors` without their penalties.
    log_lam : array of shape (models, penalties)

    Returns
    -------
    Errors
        Arrays of shape (models * penalties,), not a number where there is no guess.
    """
    count, size = log_lam.shape[0], THRESHOLDS.size
    points = {name: np.repeat(values, size) for name, values in models.items()}
    points |= {"lam": np.tile(THRESHOLDS, count), "lam2": np.zeros(count * size)}

    def chunk(eq: IidEquations, _: IntArray) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return trace(eq, eq.lam)._asdict()

    traced = by_chunks(ensemble, points, chunk)
    rows = {name: values.reshape(count, size) for name, values in traced.items()}
    found = [
        along(Traced(**{name: values[k] for name, values in rows.items()}), log_lam[k])
        for k in range(count)
    ]
    return Errors(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


class Traced(NamedTuple):
    """Solutions at given thresholds."""

    lam: Array
    A: Array
    chi: Array
    found: BoolArray


def trace(eq: IidEquations, kappa: Array) -> Traced:
    """Solve for members without a ridge part at thresholds kappa, not at the penalties of `eq`."""
    ones = np.ones_like(kappa)
    u = 0.5 * np.log((eq.rho + eq.Delta) / eq.alpha)  # log tau
    f = eq.law.averages(np.zeros_like(kappa))
    active = replace(eq, lam=kappa * np.exp(u)).member(ones, np.exp(2.0 * u)).P
    w = np.log(active / (eq.alpha * f.f1))  # log chi
    size = np.full(kappa.shape, np.inf)
    for _ in range(_GUESS_STEPS):
        tau, chi = np.exp(u), np.exp(w)
        one = replace(eq, lam=kappa * tau).member(ones, tau**2)
        f1, f2, f3 = eq.law.averages(chi)
        error = eq.Delta + one.N
        off_w = w + np.log(eq.alpha * f1) - np.log(one.P)
        off_u = 2.0 * u - np.log(f2 * error / (eq.alpha * f1**2))
        # slopes in (log tau, log chi); more tau is less Q_hat at the same noise
        a, b = one.P_Q / one.P, 1.0 - chi * f2 / f1
        c, d = 2.0 - (2.0 * one.N - one.N_Q) / error, 2.0 * chi * (f3 / f2 - f2 / f1)
        step_u, step_w, _ = Linear(-off_w, -off_u, a, b, c, d).solve()
        size = np.maximum(np.abs(step_u), np.abs(step_w))
        size = np.where(np.isfinite(size), size, np.inf)
        shrink = np.where(np.isfinite(size), _LONGEST_STEP / np.maximum(size, _LONGEST_STEP), 0.0)
        u, w = (x + shrink * np.where(shrink > 0.0, s, 0.0) for x, s in ((u, step_u), (w, step_w)))
        if np.all((size < _CONVERGED_STEP) | (size > _DIVERGED_STEP)):
            break
    tau, chi = np.exp(u), np.exp(w)
    f1, f2, _ = eq.law.averages(chi)
    Q = eq.alpha * f1
    T = (Q * tau) ** 2
    return Traced(kappa * tau * Q, T / (eq.alpha * f2), chi, size < _CONVERGED_STEP)


def along(traced: Traced, log_lam: Array) -> tuple[Array, Array]:
    """Return guesses of A and chi at penalties of one model; not a number above the traced ones.

    Linear in logarithms. Below the smallest penalty A stays, and chi goes on as it came, at most as
    1/lam, which is how it grows where rows can be fitted without error.
    """
    nodes = np.flatnonzero(traced.found)
    nodes = nodes[np.argsort(traced.lam[nodes])]
    if nodes.size < 2:
        return np.full_like(log_lam, np.nan), np.full_like(log_lam, np.nan)
    x, A, chi = (np.log(part[nodes]) for part in (traced.lam, traced.A, traced.chi))
    above = log_lam > x[-1]
    slope = np.clip((chi[1] - chi[0]) / (x[1] - x[0]), -1.0, 0.0)
    more = slope * np.minimum(log_lam - x[0], 0.0)
    guesses = (np.interp(log_lam, x, A), np.interp(log_lam, x, chi) + more)
    first, second = (np.where(above, np.nan, np.exp(guess)) for guess in guesses)
    return first, second
