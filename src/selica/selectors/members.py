"""What the members of an ensemble select, and how precise their frequencies are."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from selica._core.parallel import pieces
from selica._core.random import child, generator
from selica._core.types import Array, BoolArray, IntArray
from selica.sampling import resample_weights
from selica.statistics.data import Data, fit_members
from selica.statistics.importance import selections

_BLOCK = 256
"""Members whose gradients are computed at once: Ctrl-C is heard in between."""
_PATH_LENGTH = 500
"""Penalties on the way to the first q variables: where several enter between two of them a member
stops short of q."""
SEEN = 0.05
"""Variables that are selected less often are no part of a check of probabilities."""


class Scheme(NamedTuple):
    """How rows and penalties are drawn."""

    resampling: str
    rate: float
    weakness: float


class MemberRule(NamedTuple):
    """What a member selects: what is active at a penalty, q variables, or what a learner uses."""

    penalties: Array | None
    q: int | None
    estimator: Any


class Selections(NamedTuple):
    """Counts over the members."""

    counts: IntArray
    """(L, p): members that select each variable, at each penalty (L = 1 without penalties)."""
    mean: Array
    """(p,): mean coefficient, at the penalty where it is selected most; 0 where it is unknown."""
    mean_selected: float
    """Average number of variables a member selects, at any of the penalties."""
    members: int

    def joined(self, more: Selections) -> Selections:
        """Return the selections together with those of further members, at one penalty."""
        total = self.members + more.members
        a, b = self.members / total, more.members / total
        return Selections(
            self.counts + more.counts, a * self.mean + b * more.mean,
            a * self.mean_selected + b * more.mean_selected, total,
        )  # fmt: skip


class Refits:
    """Members of an ensemble over resampled rows, refitted as far as they are asked for.

    Parameters
    ----------
    data : Data
    scheme : Scheme
    members : int
        How many there are at most.
    rule : MemberRule
    n_jobs : int, optional
    seeds : two SeedSequences
        For the rows, and for the penalties of the randomised lasso.
    """

    def __init__(
        self,
        data: Data,
        scheme: Scheme,
        members: int,
        rule: MemberRule,
        n_jobs: int | None,
        seeds: tuple[np.random.SeedSequence, np.random.SeedSequence],
    ) -> None:
        self._data, self._scheme, self._members = data, scheme, members
        self._rule, self._n_jobs, self._seeds = rule, n_jobs, seeds
        self._done: Selections | None = None

    def at_least(self, members: int) -> Selections:
        """Return the selections of so many members or more; none is fitted twice."""
        start = 0 if self._done is None else self._done.members
        if members > start:
            part = slice(start, members)
            weights, factors = self._draws
            more = _selections(
                self._data, weights[part], None if factors is None else factors[part],
                self._rule, self._n_jobs,
            )  # fmt: skip
            self._done = more if self._done is None else self._done.joined(more)
        assert self._done is not None
        return self._done

    @cached_property
    def _draws(self) -> tuple[Array, Array | None]:
        """Weights of the rows and of the penalties, for all members."""
        data, scheme = self._data, self._scheme
        # halves are drawn purely at random, as the bounds of stability selection ask for
        halves = scheme.resampling in ("subsample", "pairs")
        weights = resample_weights(
            data.y.size, self._members, scheme.resampling, scheme.rate,
            strata=None if halves else data.loss.strata(data.y), random_state=self._seeds[0],
        )  # fmt: skip
        p = data.X.shape[1]
        return weights, _weakened(scheme.weakness, self._members, p, self._seeds[1])


def _weakened(weakness: float, B: int, p: int, seed: np.random.SeedSequence) -> Array | None:
    """Return the penalty weights of the randomised lasso, (B, p)."""
    if weakness == 1.0:
        return None
    out = np.ones((B, p))
    for b in range(B):
        out[b, generator(child(seed, b)).random(p) < 0.5] = 1.0 / weakness
    return out


def _selections(
    data: Data, weights: Array, penalty_weights: Array | None, rule: MemberRule, n_jobs: int | None
) -> Selections:
    """Return the selections at given penalties, of the first q variables, or of a base learner."""
    if rule.estimator is not None:
        return _of_estimator(data, weights, rule.estimator, rule.q, n_jobs)
    settings: dict[str, Any] = {"penalty_weights": penalty_weights, "n_jobs": n_jobs}
    if rule.q is not None:
        return _first(data, weights, rule.q, settings)
    assert rule.penalties is not None
    fit = fit_members(
        data, rule.penalties, weights, keep=("counts", "moments", "entry"), **settings
    )
    assert fit.counts is not None
    assert fit.mean is not None
    assert fit.first_entry is not None
    counts = np.where(data.varies, fit.counts, 0)
    best = counts.argmax(axis=0)
    mean = np.take_along_axis(fit.mean, best[None], axis=0)[0]
    ever = np.count_nonzero(fit.first_entry[:, data.varies], axis=1)
    return Selections(
        counts, np.where(data.varies, mean, 0.0), float(ever.mean()), weights.shape[0]
    )


def _largest_pull(data: Data, weights: Array) -> float:
    """Return the largest gradient of a standardised column in any member, without variables."""
    rows = weights * data.weight
    total = np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    mean = rows @ data.X / total
    sd = np.sqrt(np.maximum(rows @ data.X**2 / total - mean**2, 0.0))
    pull = data.loss.null(data.y, rows).gradient @ data.X / total
    return float(np.max(np.abs(pull) / np.where(sd > 1e-9, sd, np.inf), initial=0.0))


def _first(data: Data, weights: Array, q: int, settings: dict[str, Any]) -> Selections:
    """Return the variables active at the smallest penalty at which no more than q are.

    Columns are standardised in each member, as glmnet does, and the path begins where the first
    variable enters any of them.
    """
    top = max(
        (_largest_pull(data, weights[start : start + _BLOCK])
         for start in range(0, len(weights), _BLOCK)),
        default=0.0,
    )  # fmt: skip
    if settings["penalty_weights"] is not None:
        top /= settings["penalty_weights"].min()
    path = np.geomspace(top, 1e-3 * top, _PATH_LENGTH) if top > 0.0 else np.ones(1)
    fit = fit_members(
        data, path, weights, keep="sparse", max_active=q, standardize=True, **settings
    )
    members, L = fit.n_active.shape
    last = np.count_nonzero(fit.n_active >= 0, axis=1) - 1
    rows = np.arange(members) * L + np.maximum(last, 0)
    chosen = fit.sparse[rows[last >= 0]]
    active = chosen != 0.0
    counts = np.asarray(active.sum(axis=0)).ravel().astype(np.intp)
    mean = np.asarray(chosen.sum(axis=0)).ravel() / members
    return Selections(counts[None], mean, float(active.sum() / members), members)


def _of_estimator(
    data: Data, weights: Array, estimator: Any, q: int | None, n_jobs: int | None
) -> Selections:
    """Return what a base learner selects, or its q most important variables."""
    masks = pieces(selections, ((estimator, data, row, q) for row in weights), n_jobs)
    chosen = np.array(masks)
    members, p = chosen.shape
    counts = np.count_nonzero(chosen, axis=0)
    return Selections(counts[None], np.zeros(p), float(chosen.sum() / members), members)


def standard_errors(probability: Array, members: int | None, error: float | None) -> Array | None:
    """Return the standard errors of shares of so many members; None where they are not known.

    Without members, those of probabilities with a given root mean square error, which is shared
    out: probabilities near 0 and 1 have less of it.
    """
    spread = probability * (1.0 - probability)
    if members is not None:
        return np.asarray(np.sqrt(spread / members))
    if error is None:
        return None
    typical = spread[probability > SEEN].mean() if np.any(probability > SEEN) else 0.0
    return np.asarray(error * np.sqrt(spread / typical)) if typical > 0.0 else np.zeros(spread.size)


def near(probability: Array, threshold: float, error: Array | None) -> BoolArray:
    """Return which decisions are within two standard errors; none where errors are unknown."""
    if error is None:
        return np.zeros(probability.size, dtype=bool)
    return np.asarray((error > 0.0) & (np.abs(probability - threshold) < 2.0 * error))
