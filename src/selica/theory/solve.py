"""The three solvers a user calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.counts import check_rate, count_law, single_fit
from selica._core.effects import Effects
from selica._core.errors import ArgumentError
from selica._core.results import statuses, unwrap
from selica._core.types import Array, IntArray
from selica._core.validation import LARGEST, broadcast, positive, real
from selica.theory.glm.responses import Logistic
from selica.theory.glm.solution import (
    LogisticLassoSolution,
    LogisticStabilitySolution,
    check_strength,
    solve_labels,
)
from selica.theory.iid.equations import Equations
from selica.theory.iid.guesses import THRESHOLDS, Traced, along, trace
from selica.theory.iid.solver import solve_members, solve_pairs
from selica.theory.model import Model
from selica.theory.solution import KnockoffSolution, LassoSolution, StabilitySolution
from selica.theory.spectrum.solution import (
    DesignLassoSolution,
    DesignStabilitySolution,
    check_spectrum,
    chunk_size,
    solve_chunk,
)
from selica.theory.spectrum.spectra import Spectrum

TOLERANCE = 1e-10
"""A point counts as converged when its residual is at most this."""

# Points solved at once, so that points * kinds of variables * quadrature nodes fit the cache.
_CHUNK_VALUES = 400_000


def solve_lasso(
    model: Model,
    lam: ArrayLike,
    *,
    lam2: ArrayLike = 0.0,
    spectrum: Spectrum | None = None,
    response: Logistic | None = None,
) -> LassoSolution:
    """Order parameters of one lasso, or elastic net.

    Parameters
    ----------
    model : Model
    lam : float or array
        Penalty, positive; broadcasts against the model.
    lam2 : float or array
        Ridge part of the penalty, at least zero: ``lam |w|_1 + lam2 |w|^2 / 2``
        (docs/elastic-net.md).
    spectrum : Spectrum, optional
        Law of the eigenvalues of X'X where columns are not independent: X has these eigenvalues,
        and singular vectors that point anywhere (docs/general-designs.md).
    response : Logistic, optional
        Labels in place of a linear response: ``theory.Logistic(T=4.0)`` says how strongly the
        signal decides them (docs/logistic.md). For independent columns.

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
    if response is not None:
        return LogisticLassoSolution(**_solve_labels(model, response, settings, None, spectrum)[0])
    points = _points(model, **settings)
    found = _solve(model, points, copies=0, spectrum=spectrum)
    return LassoSolution(**found) if spectrum is None else DesignLassoSolution(**found)


def solve_stability(
    model: Model,
    lam: ArrayLike,
    mu_B: ArrayLike = 1.0,
    resampling: str = "poisson",
    *,
    lam2: ArrayLike = 0.0,
    spectrum: Spectrum | None = None,
    response: Logistic | None = None,
) -> StabilitySolution:
    """Order parameters of stability selection.

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
    if response is not None:
        labels, points = _solve_labels(model, response, settings, resampling, spectrum)
        labels |= {"mu_B": unwrap(points["mu_B"]), "resampling": resampling}
        return LogisticStabilitySolution(**labels)
    points = _points(model, **settings)
    found = _solve(model, points, copies=0, resampling=resampling, spectrum=spectrum)
    found |= {"mu_B": unwrap(points["mu_B"]), "resampling": resampling}
    return StabilitySolution(**found) if spectrum is None else DesignStabilitySolution(**found)


def solve_knockoff(model: Model, lam: ArrayLike, *, lam2: ArrayLike = 0.0) -> KnockoffSolution:
    """Order parameters of the lasso, or elastic net, on the data together with knockoff copies.

    Parameters
    ----------
    model : Model
    lam : float or array
        Penalty, positive; the same for variables and copies.
    lam2 : float or array
        As in `solve_lasso`; the same for variables and copies.

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
    points = _points(model, **check_penalty(lam, lam2))
    return KnockoffSolution(**_solve(model, points, copies=1))


def check_penalty(lam: ArrayLike, lam2: ArrayLike) -> dict[str, Array]:
    """Both parts of the penalty."""
    return {"lam": positive("lam", lam), "lam2": check_ridge(lam2)}


def check_ridge(lam2: ArrayLike) -> Array:
    """The ridge part of the penalty."""
    return real("lam2", lam2, at_least=0.0, at_most=LARGEST)


def _points(model: Model, **settings: Array) -> dict[str, Array]:
    """Parameters and settings at their common shape."""
    named = Model.check(model).parameters | settings
    return dict(zip(named, broadcast(**named), strict=True))


def _solve_labels(
    model: Model,
    response: Logistic,
    settings: dict[str, Array],
    resampling: str | None,
    spectrum: Spectrum | None,
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Fields of a solution for labels, and the points they belong to."""
    if spectrum is not None:
        raise ArgumentError("spectrum and response cannot be given together.")
    Logistic.check(response, model)
    points = _points(model, **settings, T=np.asarray(response.T))
    check_strength(response, points)
    return solve_labels(model, points, resampling, TOLERANCE), points


class Errors(NamedTuple):
    """Of one member, at points in one row."""

    prediction: Array
    chi: Array


def member_errors(
    effects: Effects,
    points: dict[str, Array],
    *,
    copies: int,
    resampling: str,
    guess: Errors | None = None,
) -> Errors:
    """Prediction errors of single members at points in one row: a search needs no more.

    Parameters
    ----------
    effects : Effects
    points : dict of arrays of shape (points,)
        alpha, rho, Delta, lam, lam2 and mu_B; without the last, nothing is resampled.
    copies, resampling
        As in the equations.
    guess : Errors, optional
        At penalties nearby, which saves iterations.
    """

    def chunk(eq: Equations, pick: IntArray) -> dict[str, Any]:
        near = None if guess is None else (guess.prediction[pick], guess.chi[pick])
        with np.errstate(all="ignore"):
            A, chi, found, _ = solve_members(eq, near)
        return {"prediction": np.where(found, A, np.inf), "chi": chi}

    law = resampling if "mu_B" in points else None
    return Errors(**_by_chunks(effects, points, chunk, copies, law))


def member_guesses(
    effects: Effects, models: dict[str, Array], log_lam: Array, *, copies: int, resampling: str
) -> Errors:
    """First guesses for `member_errors` along many penalties without a ridge part.

    Parameters
    ----------
    effects, copies, resampling
        As in `member_errors`.
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

    def chunk(eq: Equations, _: IntArray) -> dict[str, Any]:
        with np.errstate(all="ignore"):
            return trace(eq, eq.lam)._asdict()

    law = resampling if "mu_B" in points else None
    traced = _by_chunks(effects, points, chunk, copies, law)
    rows = {name: values.reshape(count, size) for name, values in traced.items()}
    found = [
        along(Traced(**{name: values[k] for name, values in rows.items()}), log_lam[k])
        for k in range(count)
    ]
    return Errors(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _solve(
    model: Model,
    points: dict[str, Array],
    *,
    copies: int,
    resampling: str | None = None,
    spectrum: Spectrum | None = None,
) -> dict[str, Any]:
    """Fields of a solution."""
    shape = points["lam"].shape
    solve, at_once = (lambda eq, _: _solve_chunk(eq)), None
    if spectrum is not None:
        given = check_spectrum(spectrum, model)
        solve, at_once = (lambda eq, _: solve_chunk(eq, given, TOLERANCE)), chunk_size(given)
    found = _by_chunks(model.effects, points, solve, copies, resampling, at_once)
    fields = {name: unwrap(values.reshape(shape)) for name, values in found.items()}
    if spectrum is not None:
        fields["spectrum"] = spectrum
    penalty = {name: unwrap(points[name]) for name in ("lam", "lam2")}
    return {"model": model, **penalty, **fields}


def _by_chunks(
    effects: Effects,
    points: dict[str, Array],
    solve: Callable[[Equations, IntArray], dict[str, Any]],
    copies: int,
    resampling: str | None,
    at_once: int | None = None,
) -> dict[str, Array]:
    """Solves points in one row; the grid is cut into chunks that fit the cache."""
    flat = {name: np.ravel(value) for name, value in points.items()}
    size = flat["lam"].size
    mixture = effects.mixture()
    per_point = max(20 * (mixture.mean.size + 1), 80)
    step = at_once or max(1, _CHUNK_VALUES // per_point)
    # like rates together: the tables of counts in a chunk are as long as the longest
    order = np.argsort(flat["mu_B"], kind="stable") if "mu_B" in flat else np.arange(size)
    parts = []
    for start in range(0, size, step):
        pick = order[start : start + step]
        law = count_law(resampling, flat["mu_B"][pick]) if resampling else single_fit(pick.size)
        five = (flat[name][pick] for name in ("alpha", "rho", "Delta", "lam", "lam2"))
        eq = Equations.of_signals(*five, law=law, signals=mixture, copies=copies)
        parts.append(solve(eq, pick))
    joined = parts[0]
    if len(parts) > 1:
        joined = {name: np.concatenate([part[name] for part in parts]) for name in joined}
    if size > 1:
        back = np.argsort(order, kind="stable")
        joined = {name: values[back] for name, values in joined.items()}
    return joined


def _solve_chunk(eq: Equations) -> dict[str, Any]:
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
