"""What the members of an ensemble select, and how precise their frequencies are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, vstack

from selica._core.keeping import Shelf, shelf_of
from selica._core.parallel import pieces
from selica._core.progress import report, reporter_of, stop_here
from selica._core.random import child, generator
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import LARGEST
from selica.sampling import resample_weights
from selica.solvers import LassoBatch
from selica.statistics.data import Data, null_gradient, pull
from selica.statistics.fits import fit_members
from selica.statistics.importance import ranking, selections

FEWEST = 20
"""Members with which Ctrl-C is answered by what is there, at least."""
_BLOCKS = 10
"""Blocks that members are fitted in, about: a block is there as a whole or not at all."""
_STORED_BLOCKS = 2
"""Of a stored table, which every block reads anew."""
_LARGEST_BYTE = 255
"""The largest weight that fits into a byte."""
_LARGEST_BLOCK = 200
"""Members of a block, at most."""
_PATH_LENGTH = 500
"""Penalties on the way to the first q variables: where several enter between two of them a member
stops short of q."""
_PATH_LENGTH_OF_CLASSES = 100
"""The same for several classes, whose fits are dearer."""
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
    every: bool = False
    """Whether the first 1, 2, .., q variables are counted, and not the first q alone."""

    @property
    def lengths(self) -> IntArray:
        """How many of the first variables are counted: q, or 1, 2, .., q."""
        assert self.q is not None
        return np.arange(1 if self.every else self.q, self.q + 1)


class Selections(NamedTuple):
    """Counts over the members."""

    counts: IntArray
    """(L, p): members that select each variable, at each penalty, or among the first variables of
    each number (L = 1 where there is one number)."""
    means: Array
    """(L, p): mean coefficients; 0 where they are unknown."""
    chosen: Any
    """Sparse boolean array (members, p): what each member selects, at any of the penalties."""
    member_counts: IntArray | None = None
    """(L, variables): members that select each variable, where the counts are those of groups."""
    lists: Any = None
    """Sparse array of int (members, p): how many of the lists of the first 1, 2, .., q variables of
    a member have each variable; None for other rules."""
    gap: float = 0.0
    """Largest relative duality gap of the fits; NaN where there is no certificate."""
    passes: float = 0.0
    """How often the fits read the whole table; NaN where it is not known."""

    @property
    def members(self) -> int:
        """How many there are."""
        return int(self.chosen.shape[0])

    @property
    def mean(self) -> Array:
        """(p,): mean coefficient, at the penalty where a variable is selected most."""
        best = self.counts.argmax(axis=0)
        return np.asarray(np.take_along_axis(self.means, best[None], axis=0)[0])

    @property
    def mean_selected(self) -> float:
        """Average number of variables a member selects, at any of the penalties."""
        return float(self.chosen.count_nonzero() / self.members)

    def arrays(self) -> dict[str, Any]:
        """Return the selections as plain arrays, small since most counts are zero."""
        parts: dict[str, Any] = {
            "counts": self.counts, "means": self.means, "fits": np.array([self.gap, self.passes])
        }  # fmt: skip
        if self.member_counts is not None:
            parts["member_counts"] = self.member_counts
        for name, table in (("chosen", self.chosen), ("lists", self.lists)):
            if table is not None:
                sparse = csr_array(table)
                parts |= {
                    f"{name}_shape": np.array(sparse.shape), f"{name}_data": sparse.data,
                    f"{name}_indices": sparse.indices, f"{name}_indptr": sparse.indptr,
                }  # fmt: skip
        return parts

    @classmethod
    def of_arrays(cls, parts: dict[str, Any]) -> Selections:
        """Return the selections that `arrays` gave."""

        def sparse(name: str) -> Any:
            if f"{name}_shape" not in parts:
                return None
            values = tuple(parts[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
            return csr_array(values, shape=tuple(parts[f"{name}_shape"].tolist()))

        return cls(
            parts["counts"], parts["means"], sparse("chosen"), parts.get("member_counts"),
            sparse("lists"), *parts["fits"].tolist(),
        )  # fmt: skip

    def joined(self, more: Selections) -> Selections:
        """Return the selections together with those of further members."""
        total = self.members + more.members
        a, b = self.members / total, more.members / total
        single = None
        if self.member_counts is not None and more.member_counts is not None:
            single = self.member_counts + more.member_counts
        return Selections(
            self.counts + more.counts, a * self.means + b * more.means,
            vstack([self.chosen, more.chosen], format="csr"), single,
            None if self.lists is None else vstack([self.lists, more.lists], format="csr"),
            float(np.maximum(self.gap, more.gap)), self.passes + more.passes,
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

    Attributes
    ----------
    stopped : bool
        Whether Ctrl-C ended it before all members were there.
    passes : float
        How often a stored table was read for the penalties, beside the fits.
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
        self._first = 0  # of the members whose rows are drawn together
        self.stopped = False
        self.passes = 0.0

    def extend(self, members: int) -> None:
        """Allow so many members in total; those that are there stay as they are.

        Parameters
        ----------
        members : int
            More than there are, and an even number for pairs.
        """
        self.at_least(self._members)
        self._first, self._members = self._members, members
        for drawn in ("_draws", "_path", "_shelf"):
            self.__dict__.pop(drawn, None)

    def at_least(self, members: int) -> Selections:
        """Return the selections of so many members or more; none is fitted twice.

        They are fewer where Ctrl-C ended it inside `stoppable`, and stay so.
        """
        while not self.stopped and (self._done is None or self._done.members < members):
            start = 0 if self._done is None else self._done.members
            part = slice(start, min(start + self._block, members))
            try:
                more = self._kept(part)
                self._done = more if self._done is None else self._done.joined(more)
                report("resamples", self._done.members, self._members)
            except KeyboardInterrupt:
                if self._done is None or self._done.members < FEWEST or not stop_here():
                    raise
                self.stopped = True
        assert self._done is not None
        return self._done

    @property
    def _block(self) -> int:
        """How many members are fitted together; an even number, since halves come in pairs."""
        blocks = _STORED_BLOCKS if self._data.stored else _BLOCKS
        pairs = -(-(self._members - self._first) // (2 * blocks))
        return 2 * int(np.clip(pairs, FEWEST // 2, _LARGEST_BLOCK // 2))

    def _kept(self, part: slice) -> Selections:
        """Return the selections of some members, perhaps from a run that was killed."""
        shelf = self._shelf
        if shelf is None:
            return self._selections(part)
        found = shelf.find(part.start, part.stop)
        if found is not None:
            if part.stop >= self._members:
                shelf.tell(self._members)
            return Selections.of_arrays(found)
        shelf.tell(self._members)
        more = self._selections(part)
        shelf.add(part.start, part.stop, more.arrays())
        return more

    @cached_property
    def _shelf(self) -> Shelf | None:
        """Where finished members are kept, if anywhere."""
        settings = (self._scheme, self._rule, self._first, self._members)
        return shelf_of("resamples", self._data, settings, self._seeds)

    def _selections(self, part: slice) -> Selections:
        """Return the selections of some members."""
        drawn, factors = self._draws
        place = slice(part.start - self._first, part.stop - self._first)
        weights = drawn[place].astype(float)
        settings: dict[str, Any] = {
            "penalty_weights": None if factors is None else factors[place],
            "n_jobs": self._n_jobs,
            "progress": reporter_of("resamples", part.start, self._members),
        }
        data, rule = self._data, self._rule
        if rule.estimator is not None:
            if rule.every:
                seeds = [child(self._seeds[1], b) for b in range(part.start, part.stop)]
                return _first_by_estimator(data, weights, rule, seeds, settings)
            return _of_estimator(data, weights, rule.estimator, rule.q, settings)
        if rule.q is not None:
            return _first(data, weights, rule.lengths, self._path, settings)
        assert rule.penalties is not None
        if data.variable is not None or data.loss.several:
            return _at_penalties(data, weights, rule.penalties, settings)
        return _active_at(data, weights, rule.penalties, settings)

    @cached_property
    def _path(self) -> Array:
        """Penalties from where the first variable enters any member, for a rule with q."""
        weights, factors = self._draws
        largest, step = _pull_of(self._data), self._block
        found = [
            largest(weights[start : start + step].astype(float))
            for start in range(0, len(weights), step)
        ]
        top = max(size for size, _ in found)
        self.passes += sum(passes for _, passes in found)
        if factors is not None:
            top /= factors.min()
        several = self._data.loss.several
        length = _PATH_LENGTH_OF_CLASSES if several else _PATH_LENGTH
        return np.geomspace(top, 1e-3 * top, length) if top > 0.0 else np.ones(1)

    @cached_property
    def _draws(self) -> tuple[Any, Array | None]:
        """Weights of the rows and of the penalties, for all members that are drawn together."""
        step, last = self._block, self._members
        parts = [
            _compact(self._weights(slice(start, min(start + step, last))))
            for start in range(self._first, last, step)
        ]
        members = range(self._first, last)
        weakness, p = self._scheme.weakness, self._data.X.shape[1]
        return np.concatenate(parts), _weakened(weakness, members, p, self._seeds[1])

    def _weights(self, members: slice) -> Array:
        """Draw the weights of the rows in some members."""
        data, scheme = self._data, self._scheme
        # halves are drawn purely at random, as the bounds of stability selection ask for
        even = scheme.resampling in ("subsample", "pairs") or data.units is not None
        return resample_weights(
            data.n_rows, self._members, scheme.resampling, scheme.rate, groups=data.units,
            strata=None if even else data.loss.strata(data.y), random_state=self._seeds[0],
            members=members,
        )  # fmt: skip


def _compact(weights: Array) -> Any:
    """Return weights in a byte each, where they are small whole numbers as counts of rows are."""
    if np.all((weights >= 0.0) & (weights <= _LARGEST_BYTE) & (weights == np.rint(weights))):
        return weights.astype(np.uint8)
    return weights


def _weakened(
    weakness: float, members: range, p: int, seed: np.random.SeedSequence
) -> Array | None:
    """Return the penalty weights of the randomised lasso, (members, p)."""
    if weakness == 1.0:
        return None
    out = np.ones((len(members), p))
    for row, b in zip(out, members, strict=True):
        row[generator(child(seed, b)).random(p) < 0.5] = 1.0 / weakness
    return out


def _active_at(
    data: Data, weights: Array, penalties: Array, settings: dict[str, Any]
) -> Selections:
    """Return the variables active at each penalty."""
    fit = fit_members(data, penalties, weights, keep=("counts", "moments", "entry"), **settings)
    assert fit.counts is not None
    assert fit.mean is not None
    assert fit.first_entry is not None
    counts = np.where(data.varies, fit.counts, 0)
    ever = (fit.first_entry > 0) & data.varies
    return Selections(counts, np.where(data.varies, fit.mean, 0.0), csr_array(ever))


class _Active(NamedTuple):
    """What members select along a path."""

    chosen: Any
    """Sparse array (B * L, variables): sizes of what is selected; row b * L + l."""
    signed: Any
    """Sparse array (B * L, variables): coefficients of variables of one column."""
    single: Any
    """Sparse array (B * L, p): the same as `chosen` for the members of groups; else None."""
    reached: IntArray
    """(B,): penalties that each member has been fitted at."""
    gap: float
    """Largest relative duality gap of the fits."""
    passes: float
    """How often they read the whole table."""


def _active(data: Data, path: Array, weights: Array, settings: dict[str, Any]) -> _Active:
    """Return what members select along a path, variable by variable."""
    fit = fit_members(data, path, weights, keep="sparse", **settings)
    coef = fit.sparse
    if data.stored:  # in units of the table
        coef = csr_array(coef.multiply(data.x_scale))
    reached = np.count_nonzero(fit.n_active >= 0, axis=1)
    if data.variable is None:
        return _Active(abs(coef), coef, None, reached, *_certificate(fit))
    large: Any = abs(coef)
    place = (np.arange(data.variable.size), data.variable)
    together = _summed(data.variable)
    alone = np.bincount(data.variable)[data.variable] == 1
    one = csr_array((np.where(alone, 1.0, 0.0), place), shape=together.shape)
    single = None if data.member is None else large @ _summed(data.member)
    return _Active(large @ together, coef @ one, single, reached, *_certificate(fit))


def _certificate(fit: LassoBatch) -> tuple[float, float]:
    """Return the largest gap of the fits that were made, and passes over the table."""
    made = fit.gap[fit.n_active >= 0]
    passes = np.nan if fit.passes is None else fit.passes
    return float(made.max(initial=0.0)), float(passes)


def _summed(owner: IntArray, owners: int | None = None) -> Any:
    """Return the sparse array that adds up the columns of each owner."""
    columns = owner.size
    place = (np.arange(columns), owner)
    many = int(owner.max()) + 1 if owners is None else owners
    return csr_array((np.ones(columns), place), shape=(columns, many))


def _at_penalties(
    data: Data, weights: Array, penalties: Array, settings: dict[str, Any]
) -> Selections:
    """Return the variables of several columns, or of several classes, active at each penalty."""
    B, L = len(weights), penalties.size
    found = _active(data, penalties, weights, settings)
    active = (found.chosen > 0.0).astype(np.intp)
    counts = _counts(active, L)
    single = None if found.single is None else _counts((found.single > 0.0).astype(np.intp), L)
    mean = np.array([np.asarray(found.signed[level::L].sum(axis=0)).ravel() for level in range(L)])
    member = (np.repeat(np.arange(B), L), np.arange(B * L))
    ever = csr_array((np.ones(B * L, dtype=np.intp), member), shape=(B, B * L)) @ active
    return Selections(counts, _signed(data, mean / B), ever.astype(bool), single)


def _counts(active: Any, penalties: int) -> IntArray:
    """Return how many members select each variable at each penalty, (L, variables)."""
    levels = (active[level::penalties].sum(axis=0) for level in range(penalties))
    return np.array([np.asarray(level).ravel() for level in levels])


def _signed(data: Data, mean: Array) -> Array:
    """Return mean coefficients; zeros for several classes, where they have no sign."""
    return np.zeros_like(mean) if data.loss.several else mean


def _pull_of(data: Data) -> Callable[[Array], tuple[float, float]]:
    """Return a function of weights: the largest gradient in any member, without variables.

    The second number is how often it reads a stored table.
    """
    if data.stored:
        return partial(_largest_stored_pull, data)
    return partial(_largest_pull, data, data.X**2)


def _largest_stored_pull(data: Data, weights: Array) -> tuple[float, float]:
    """Return the same for a stored table, from the solver, which finds it in one pass."""
    fit = fit_members(
        data, np.full(1, LARGEST), weights, keep="sparse", max_active=0, standardize=True
    )
    assert fit.lam_max is not None
    total = (weights * data.weight).sum(axis=1)
    top = float(np.max(fit.lam_max / np.maximum(total, 1e-300), initial=0.0))
    return top, _certificate(fit)[1]


def _largest_pull(data: Data, squares: Array, weights: Array) -> tuple[float, float]:
    """Return the largest gradient of a standardised column in any member, without variables."""
    rows = weights * data.weight
    total = np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    mean = rows @ data.X / total
    sd = np.sqrt(np.maximum(rows @ squares / total - mean**2, 0.0))
    size = pull(data, null_gradient(data, rows), data.X) / total
    return float(np.max(size / np.where(sd > 1e-9, sd, np.inf), initial=0.0)), 0.0


def _first(
    data: Data, weights: Array, lengths: IntArray, path: Array, settings: dict[str, Any]
) -> Selections:
    """Return the variables active at the smallest penalty before which no more than q ever were.

    Counts and means have a row for each of the numbers q; what members select is for the largest.
    Columns are standardised in each member, as glmnet does.
    """
    most = q = int(lengths[-1])
    if data.variable is not None:  # so many columns may the largest q variables have
        most = int(np.sort(np.bincount(data.variable))[::-1][:q].sum())
    limits = settings | {"max_active": most, "standardize": True}
    members, L = len(weights), path.size
    found = _active(data, path, weights, limits)
    number = np.asarray((found.chosen > 0.0).sum(axis=1)).reshape(-1, L)
    ever = np.maximum.accumulate(number, axis=1)
    # (lengths, members): the last penalty up to which no more than q variables were active
    below = np.array([np.searchsorted(row, lengths, side="right") for row in ever]).T
    last = np.minimum(below, found.reached) - 1
    of, some = np.nonzero(last >= 0)
    rows = some * L + last[of, some]
    chosen = found.chosen[rows] > 0.0
    added = _summed(of, lengths.size).T
    single = None
    if data.member is not None:
        single = (added @ (found.single[rows] > 0.0)).toarray().astype(np.intp)
    final = of == lengths.size - 1
    lists = None
    if lengths[0] == 1:
        lists = csr_array(_summed(some, members).T @ chosen).astype(np.intp)
    return Selections(
        (added @ chosen).toarray().astype(np.intp),
        _signed(data, (added @ found.signed[rows]).toarray() / members),
        csr_array(_summed(some[final], members).T @ chosen[final]).astype(bool),
        single, lists, found.gap, found.passes,
    )  # fmt: skip


def _of_estimator(
    data: Data, weights: Array, estimator: Any, q: int | None, settings: dict[str, Any]
) -> Selections:
    """Return what a base learner selects, or its q most important variables."""
    found = pieces(
        selections, ((estimator, data, row, q) for row in weights), settings["n_jobs"],
        progress=settings["progress"],
    )  # fmt: skip
    chosen = np.array([units for units, _ in found])
    single = [mask for _, mask in found if mask is not None]
    counts = np.count_nonzero(chosen, axis=0)
    return Selections(
        counts[None], np.zeros((1, chosen.shape[1])), csr_array(chosen),
        np.count_nonzero(single, axis=0)[None] if single else None,
    )  # fmt: skip


def _first_by_estimator(
    data: Data,
    weights: Array,
    rule: MemberRule,
    seeds: list[np.random.SeedSequence],
    settings: dict[str, Any],
) -> Selections:
    """Return the most important variables of a base learner, in lists of 1, 2, .., q of them."""
    lengths, q, p = rule.lengths, int(rule.q or 0), data.n_variables
    found = pieces(
        ranking,
        ((rule.estimator, data, row, q, seed) for row, seed in zip(weights, seeds, strict=True)),
        settings["n_jobs"], progress=settings["progress"],
    )  # fmt: skip
    member = np.repeat(np.arange(len(found)), [order.size for order in found])
    rank = np.concatenate([np.arange(order.size) for order in found])
    place = (member, np.concatenate(found))
    # variable number r, counted from 0, is on all lists but the first r
    lists: Any = csr_array((q - rank, place), shape=(len(found), p))
    entered = np.zeros((q, p), dtype=np.intp)
    np.add.at(entered, (rank, place[1]), 1)
    return Selections(
        np.cumsum(entered, axis=0)[lengths - 1], np.zeros((lengths.size, p)), lists > 0,
        lists=lists,
    )  # fmt: skip


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
