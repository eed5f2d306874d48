"""What the members of an ensemble select."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.types import Array, IntArray
from selica.selectors.work import pieces
from selica.statistics.data import Data, fit_members
from selica.statistics.importance import importances


class Selections(NamedTuple):
    """Counts over the members."""

    counts: IntArray
    """(L, p): members that select each variable, at each penalty (L = 1 without penalties)."""
    signs: Array
    """(p,): sign of the mean coefficient where it is selected most; 0 where it is unknown."""
    mean_selected: float
    """Average number of variables a member selects, at any of the penalties."""


def member_selections(
    data: Data,
    weights: Array,
    *,
    penalties: Array | None,
    q: int | None,
    penalty_weights: Array | None,
    estimator: Any,
    n_jobs: int | None,
) -> Selections:
    """Selections at given penalties, of the first q variables, or of a base learner."""
    if estimator is not None:
        return _of_estimator(data, weights, estimator, q, n_jobs)
    settings: dict[str, Any] = {"penalty_weights": penalty_weights, "n_jobs": n_jobs}
    if q is not None:
        return _first(data, weights, q, settings)
    assert penalties is not None
    fit = fit_members(data, penalties, weights, keep=("counts", "moments", "entry"), **settings)
    assert fit.counts is not None
    assert fit.mean is not None
    assert fit.first_entry is not None
    counts = np.where(data.varies, fit.counts, 0)
    best = counts.argmax(axis=0)
    signs = np.sign(np.take_along_axis(fit.mean, best[None], axis=0)[0])
    ever = np.count_nonzero(fit.first_entry[:, data.varies], axis=1)
    return Selections(counts, np.where(data.varies, signs, 0.0), float(ever.mean()))


def _first(data: Data, weights: Array, q: int, settings: dict[str, Any]) -> Selections:
    """The variables active at the smallest penalty at which no more than q are.

    Columns are standardised in each member, as glmnet does, and the path begins where the first
    variable enters any of them.
    """
    rows = weights * data.weight
    total = np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    mean = rows @ data.X / total
    sd = np.sqrt(np.maximum(rows @ data.X**2 / total - mean**2, 0.0))
    pull = (rows * (data.y - rows @ data.y[:, None] / total)) @ data.X / total
    top = np.max(np.abs(pull) / np.where(sd > 1e-9, sd, np.inf), initial=0.0)
    if settings["penalty_weights"] is not None:
        top /= settings["penalty_weights"].min()
    path = np.geomspace(top, 1e-3 * top, 120) if top > 0.0 else np.ones(1)
    fit = fit_members(
        data, path, weights, keep="sparse", max_active=q, standardize=True, **settings
    )
    members, L = fit.n_active.shape
    last = np.count_nonzero(fit.n_active >= 0, axis=1) - 1
    rows = np.arange(members) * L + np.maximum(last, 0)
    chosen = fit.sparse[rows[last >= 0]]
    active = chosen != 0.0
    counts = np.asarray(active.sum(axis=0)).ravel().astype(np.intp)
    signs = np.sign(np.asarray(chosen.sum(axis=0)).ravel())
    return Selections(counts[None], signs, float(active.sum() / members))


def _of_estimator(
    data: Data, weights: Array, estimator: Any, q: int | None, n_jobs: int | None
) -> Selections:
    """What a base learner gives importance to, or its q most important variables."""
    sizes = np.array(pieces(importances, ((estimator, data, row) for row in weights), n_jobs))
    chosen = sizes > 0.0
    if q is not None and q < sizes.shape[1]:
        cut = -np.sort(-sizes, axis=1)[:, q - 1 : q]
        above = sizes > cut
        # ties at the cut would make it more than q: they are all left out, unless they fit
        fits = np.count_nonzero(sizes >= cut, axis=1, keepdims=True) <= q
        chosen &= np.where(fits, sizes >= cut, above)
    counts = np.count_nonzero(chosen, axis=0)
    return Selections(counts[None], np.zeros(sizes.shape[1]), float(chosen.sum() / len(sizes)))
