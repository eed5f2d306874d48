r"""One data set of a cell: fit the ensemble, and measure what the theory predicts.

Second moments of a finite ensemble are biased: the square of an average over B members exceeds that
over infinitely many by the variance over B. Unbiased are, for each variable,

.. math:: v = \frac{1}{B-1}\sum_b (w_b - \bar w)^2, \qquad q = \bar w^2 - \frac{v}{B},

and likewise the error of the averaged estimator is :math:`(B C - A) / (B - 1)` where C is the error
of the average of B members and A the average of their errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.types import Array, BoolArray
from selica.experiments.cells import Cell, ThresholdRule
from selica.sampling import GaussianKnockoffs, Simulation, iid_copies, resample_weights, simulate
from selica.solvers import knockoff_path_batch, lasso_path_batch
from selica.theory.selection.rates import votes_needed

Numbers = dict[str, list[float]]


class Dataset(NamedTuple):
    """What one data set gave, over the penalties of the cell (from large to small)."""

    moments: Numbers
    """q, m, v, v_tilde and prediction errors, each (L,)."""
    selections: list[dict[str, list[list[float]]]]
    """For each rule: true, false and fdp, each (L, thresholds)."""
    signals: int
    """Number of variables with an effect."""


def measure(cell: Cell, parent: np.random.SeedSequence, datasets: range) -> list[Dataset]:
    """Measure these data sets of a cell."""
    knockoffs = None
    out = []
    for number in datasets:
        seed = cell.seed(parent, number)
        data = simulate(
            cell.n_samples,
            cell.N,
            sparsity=cell.rho,
            noise_variance=cell.Delta,
            effects=cell.effects,
            covariance=cell.covariance,
            random_state=seed,
            scale="article",
        )
        if cell.ensemble == "knockoff" and not cell.independent:
            random = isinstance(cell.covariance, tuple) and cell.covariance[0] == "factor"
            if knockoffs is None or random:
                knockoffs = GaussianKnockoffs(0.0, data.covariance)
        out.append(_one(cell, data, seed, knockoffs))
    return out


def _one(
    cell: Cell, data: Simulation, seed: np.random.SeedSequence, knockoffs: GaussianKnockoffs | None
) -> Dataset:
    coef = _coefficients(cell, data, seed, knockoffs)
    moments = _moments(cell, data, coef, knockoffs)
    selections = [_selections(rule, coef, data.support, cell.N) for rule in cell.rules]
    return Dataset(moments, selections, int(data.support.sum()))


def _coefficients(
    cell: Cell, data: Simulation, seed: np.random.SeedSequence, knockoffs: GaussianKnockoffs | None
) -> Array:
    """Return coefficients (members, L, N), with knockoffs (members, L, 2 N)."""
    if cell.ensemble == "knockoff":
        if knockoffs is None:
            copies = iid_copies(
                data.X, scale=1.0 / np.sqrt(cell.N), random_state=seed, members=cell.n_members
            )
        else:
            copies = knockoffs.copies(data.X, seed, cell.n_members)
        fit = knockoff_path_batch(
            data.X, data.y, cell.lams, copies.__getitem__, cell.n_members, n_jobs=1
        )
    else:
        weights = np.ones((1, cell.n_samples))
        if cell.ensemble == "stability":
            weights = resample_weights(
                cell.n_samples, cell.n_members, rate=cell.mu_B, random_state=seed
            )
        fit = lasso_path_batch(data.X, data.y, cell.lams, weights, n_jobs=1)
    if not fit.converged:
        raise RuntimeError(f"the lasso did not converge; largest gap {np.nanmax(fit.gap):.1e}")
    assert fit.coef is not None
    return fit.coef


def _moments(
    cell: Cell, data: Simulation, coef: Array, knockoffs: GaussianKnockoffs | None
) -> Numbers:
    N, B = cell.N, coef.shape[0]
    own, truth = coef[:, :, :N], data.coef
    mean = own.mean(axis=0)
    spread = ((own - mean) ** 2).sum(axis=0) / max(B - 1, 1)
    q = (mean**2 - spread / B).mean(axis=1) if B > 1 else (mean**2).mean(axis=1)
    out = {"q": q, "m": mean @ truth / N}
    if cell.ensemble != "lasso":
        out["v"] = spread.mean(axis=1)
    if cell.ensemble == "knockoff":
        out["v_tilde"] = (coef[:, :, N:] ** 2).mean(axis=(0, 2))
    if cell.independent:
        error = q - 2.0 * out["m"] + np.mean(truth**2) + cell.Delta
        out["ensemble_error"] = error
        out["prediction_error"] = error + out.get("v", 0.0) + out.get("v_tilde", 0.0)
    else:
        sigma = np.asarray(data.covariance)
        if knockoffs is not None:
            beside = sigma - np.diag(knockoffs.s_)
            sigma = np.block([[sigma, beside], [beside, sigma]])
        away = coef.copy()
        away[:, :, :N] -= truth
        each = np.einsum("bli,bli->l", away @ sigma, away) / B
        out["prediction_error"] = each + cell.Delta
        if knockoffs is None:
            centre = away.mean(axis=0)
            joint = np.einsum("li,li->l", centre @ sigma, centre)
            error = (B * joint - each) / (B - 1) if B > 1 else joint
            out["ensemble_error"] = error + cell.Delta
    return {name: value.tolist() for name, value in out.items()}


def _selections(
    rule: ThresholdRule, coef: Array, support: BoolArray, N: int
) -> dict[str, list[list[float]]]:
    """Return true and false selections and the share of false ones, by penalty and threshold."""
    B = coef.shape[0]
    size = np.abs(coef)
    score = size  # (members, L, N); a rule on votes has one "member"
    if rule.method == "stability-ideal":
        score = np.count_nonzero(coef, axis=0)[None]
    elif rule.method in ("knockoffs-ideal", "knockoffs-frequency"):
        score = size[:, :, :N] - size[:, :, N:]
    parts = []
    for threshold in rule.thresholds:
        if rule.method == "stability-ideal":
            chosen = score >= votes_needed(np.asarray(threshold), B)
        else:
            chosen = score > threshold
        if rule.method == "knockoffs-frequency":
            assert rule.Pi_th is not None
            votes = np.count_nonzero(chosen, axis=0)[None]
            chosen = votes >= votes_needed(np.asarray(rule.Pi_th), B)
        true = np.count_nonzero(chosen & support, axis=2)
        false = np.count_nonzero(chosen, axis=2) - true
        fdp = false / np.maximum(true + false, 1)
        parts.append([a.mean(axis=0) for a in (true, false, fdp)])
    stacked = np.array(parts)  # (thresholds, 3, L)
    return {name: stacked[:, i].T.tolist() for i, name in enumerate(("true", "false", "fdp"))}
