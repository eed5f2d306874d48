"""Variables beside their knockoff copies: the statistics of as many copies as are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from selica._core.compiled import threads
from selica._core.errors import ColumnError, RefusedError, SelicaError
from selica._core.keeping import shelf_of
from selica._core.parallel import blas_threads_for, pieces
from selica._core.progress import reporter_of
from selica._core.random import child, generator
from selica._core.types import Array, BoolArray, Progress
from selica.sampling import Copies, Exchangeability, GaussianKnockoffs, Sampler, exchangeability
from selica.sampling.automatic import SamplerChoice, choose_sampler
from selica.sampling.covariates import Conditioned, condition, spread_of_rest
from selica.sampling.exchangeability import DOUBTFUL_RATIO
from selica.sampling.row_groups import group_means, grouped_copies
from selica.statistics import Data, joint_importances, knockoff_statistics
from selica.statistics.knockoff import MASKED

COPIES = 0
"""Spawn key of the copies of a fit."""
FOLDS = 1
"""Spawn key of the folds of its cross-validations."""
NEGATIVES = 2
"""Spawn key of the numbers of negatives at which copies stop."""
EXCHANGES = 3
"""Spawn key of the check of the first copy."""
LEFT_OUT = 4
"""Spawn key of the rows that are left out to compare samplers."""
FEWEST = 5
"""Copies with which Ctrl-C is answered by what is there, at least."""
_TOGETHER_BYTES = 80_000_000
"""Size of the copies that are fitted together."""
_MOST_TOGETHER = 8
"""Copies that are fitted together, at most."""


class Measure(NamedTuple):
    """How a variable is compared with its copy; fields as in `statistics.knockoff_statistic`."""

    statistic: str
    penalty: float | None
    estimator: Any


class _Drawn(NamedTuple):
    """Copies by a fitted sampler, and what the check says of the first."""

    sampler: Sampler
    copies: Copies
    exchangeability: Exchangeability | None


def _departure(found: _Drawn) -> float:
    return 1.0 if found.exchangeability is None else found.exchangeability.departure


def sampler_choice(data: Data, table: Array, n_joint: int = 1) -> SamplerChoice:
    """Choose how copies of a table are made, by its columns that vary.

    Parameters
    ----------
    data : Data
        The table in standard form.
    table : array of shape (n, p)
        As it was given.
    n_joint : int
        Number of joint copies.
    """
    which = data.varies if data.varies.any() else np.ones_like(data.varies)
    return choose_sampler(
        table[:, which], None if data.variable is None else data.variable[which],
        covariates=data.keep is not None, row_groups=data.units is not None,
        column_groups=data.member is not None, joint_copies=n_joint > 1,
    )  # fmt: skip


class KnockoffComparison:
    """Compare the columns of a table with copies of them.

    Parameters
    ----------
    data : Data
        The table in standard form.
    table : array of shape (n, p)
        As it was given.
    sampler : Sampler
        Not yet fitted.
    seed : SeedSequence
        Of the fit.
    n_copies : int
        How many copies there are at most.
    drop_constant : bool
        Whether constant columns are left out, as they have no copy: their statistics are zero.
    n_joint : int
        Number of copies that are exchangeable with the columns and with each other; more than one
        for `importances` only, and neither with covariates that are kept nor with rows that belong
        together.
    spare : Sampler, optional
        To be tried where copies by the other sampler do not behave like the columns.

    Attributes
    ----------
    sampler : Sampler
        Fitted to the table.
    exchangeability : Exchangeability or None
        Whether the first copy is exchangeable with the columns, where it is meant to be.
    replaced : Exchangeability or None
        The same of the sampler that was given, where another took its place.
    spared : bool
        Whether that other one is the spare sampler.
    units : array of int, shape (n,), or None
        Which rows belong together.
    keeps : bool
        Whether there are covariates that are kept.
    conditioned : bool
        Whether copies were drawn given the covariates that are kept.
    grouped : bool
        Whether copies were drawn for rows that belong together.
    weighted : bool
        Whether rows have different weights.
    stopped : bool
        Whether Ctrl-C ended it before all copies were compared.
    """

    def __init__(
        self,
        data: Data,
        table: Array,
        sampler: Sampler,
        seed: np.random.SeedSequence,
        *,
        n_copies: int,
        drop_constant: bool,
        n_joint: int = 1,
        spare: Sampler | None = None,
    ) -> None:
        varies = data.varies.copy() if drop_constant else np.ones(table.shape[1], dtype=bool)
        self.units = data.units
        self.keeps = data.keep is not None
        self.conditioned = (
            self.keeps and (not sampler.exact or drop_constant) and not sampler.discrete
        )
        estimated = isinstance(sampler, GaussianKnockoffs) and (
            sampler.mean is None and sampler.covariance is None
        )
        self._n_joint = n_joint
        self._groups = data.units if estimated else None
        self.grouped = self._groups is not None
        self.exchangeability: Exchangeability | None = None
        self.replaced: Exchangeability | None = None
        self.spared = False
        self._spare = spare
        self.sampler: Sampler
        self._copies: Copies
        self._seed = seed
        self._statistics = np.zeros((0, data.n_variables))
        self.stopped = False
        with blas_threads_for(table.shape):
            columns = (data.X if sampler.standardised else table)[:, varies]
            parts = None
            if data.keep is not None and self.conditioned:
                keep = data.keep
                if self._groups is not None:
                    # means of groups may depend on covariates in another way than rows do
                    means = group_means(keep, self._groups)[self._groups]
                    keep = np.concatenate([keep, means], axis=1)
                parts = condition(columns, keep, data.weight)
                left = parts.varies
                varies[varies] = left
                columns, parts = columns[:, left], parts.some_columns(left)
                if not left.any():
                    raise RefusedError("X: the covariates to keep determine all of its columns.")
            self._varies: BoolArray = varies
            self._data = data.some_columns(varies)
            self._standardised = sampler.standardised
            self._variables = (
                np.flatnonzero(varies)
                if data.variable is None
                else np.unique(data.variable[varies])
            )
            own = self._data.variable if self._data.member is None else self._data.member
            self._prepare(sampler.with_variables(own), columns, parts, n_copies)

    def _prepare(
        self, sampler: Sampler, columns: Array, parts: Conditioned | None, n_copies: int
    ) -> None:
        """Fit the sampler and check its first copy; where that fails, try the alternatives.

        Nothing here looks at the response.
        """
        if parts is not None:
            columns = parts.rest
        try:
            found = self._drawn(sampler, columns, parts, n_copies, place=0)
            if _departure(found) > DOUBTFUL_RATIO:
                self._try_others(sampler, found, columns, parts, n_copies)
            else:
                self._take(found)
        except ColumnError as error:
            raise ColumnError(error.text, int(np.flatnonzero(self._varies)[error.column])) from None
        if parts is not None:
            self._copies = parts.shifted(self._copies)

    def _try_others(
        self,
        sampler: Sampler,
        first: _Drawn,
        columns: Array,
        parts: Conditioned | None,
        n_copies: int,
    ) -> None:
        """Take the first alternative whose copies pass, or else whichever is nearest to that."""
        best, spared = first, False
        others = self._others(sampler, columns)
        for place, (other, spare) in enumerate(others, start=1):
            try:
                found = self._drawn(other, columns, parts, n_copies, place=place)
            except SelicaError:
                if not spare:
                    raise
                break  # the spare sampler cannot copy these columns at all
            if _departure(found) < _departure(best):
                best, spared = found, spare
            if _departure(best) <= DOUBTFUL_RATIO:
                break
        self._take(best)
        self.replaced = None if best is first else first.exchangeability
        self.spared = spared

    def _others(self, sampler: Sampler, columns: Array) -> Iterator[tuple[Sampler, bool]]:
        """Yield the alternatives of a sampler, then the spare one and its alternatives.

        Beside each stands whether it is from the spare sampler.
        """
        seed = child(self._seed, LEFT_OUT)
        for other in sampler.alternatives(columns, self._rows, seed):
            yield other, False
        if self._spare is not None:
            yield self._spare, True
            for other in self._spare.alternatives(columns, self._rows, seed):
                yield other, True

    def _take(self, found: _Drawn) -> None:
        self.sampler, self._copies, self.exchangeability = found

    def with_copies(self, n_copies: int) -> KnockoffComparison:
        """Return the same comparison for up to so many copies.

        Parameters
        ----------
        n_copies : int
        """
        other = copy(self)
        other._copies = replace(self._copies, members=np.arange(n_copies))
        return other

    @property
    def weighted(self) -> bool:
        """Whether rows have different weights."""
        weight = self._data.weight
        return bool(np.any(weight != weight[0]))

    @property
    def _rows(self) -> Array | None:
        """Weights of the rows; None where all are the same."""
        return self._data.weight if self.weighted else None

    def _drawn(
        self,
        sampler: Sampler,
        columns: Array,
        parts: Conditioned | None,
        n_copies: int,
        *,
        place: int,
    ) -> _Drawn:
        """Return copies by a sampler, the first of them checked.

        Parameters
        ----------
        sampler : Sampler
            Not yet fitted.
        columns : array of shape (n, p)
            What is to be copied.
        parts : Conditioned, optional
        n_copies : int
        place : int
            How many samplers were tried before: each is checked with directions of its own.
        """
        seed = child(self._seed, COPIES)
        directions = child(self._seed, EXCHANGES, *([place] if place else []))
        design = None if parts is None else parts.design
        together = None if self._data.member is None else self._data.variable
        if self._groups is not None:
            made = grouped_copies(
                sampler, columns, self._groups, self._rows, seed, n_copies, design=design,
                column_groups=together,
            )  # fmt: skip
            first = made.copies[0] if parts is None else parts.outside(made.copies[0])
            checked = made.exchangeability(first, self._rows, directions)
            return _Drawn(made.sampler, made.copies, checked)
        more = 1.0 if design is None else spread_of_rest(design, len(columns))
        if together is not None or self._n_joint > 1:
            sampler = sampler.of_groups(together, self._n_joint)
        fitted = sampler.fit(more * columns, self._rows)
        copies = fitted.copies(columns, seed, n_copies)
        if not fitted.exchangeable:
            return _Drawn(fitted, copies, None)
        first = copies[0] if parts is None else parts.outside(copies[0])
        weight = self._data.weight
        if fitted.own_rows is not None:
            weight = np.where(fitted.own_rows, 0.0, weight)
        return _Drawn(
            fitted,
            copies,
            exchangeability(
                columns, first[:, : columns.shape[1]], centre=fitted.centre, sample_weight=weight,
                groups=together, random_state=directions,
            ),
        )  # fmt: skip

    def _compared(self, measure: Measure) -> Data:
        """Return the table in the unit of its copies, which masked statistics need."""
        if not self._standardised or measure.statistic not in MASKED:
            return self._data
        return self._data._replace(x_scale=np.ones_like(self._data.x_scale))

    def importances(self, measure: Measure, n_jobs: int | None) -> Array:
        """Return the importances of every variable and of its joint copies, (m + 1, p).

        Parameters
        ----------
        measure : Measure
        n_jobs : int, optional
        """
        [found] = joint_importances(
            self._compared(measure), [self._copies[0]], [generator(child(self._seed, FOLDS, 0))],
            n_jobs=n_jobs, **measure._asdict(),
        )  # fmt: skip
        every = np.zeros((len(found), self._statistics.shape[1]))
        every[:, self._variables] = found
        return every

    def statistics(
        self, copies: int, measure: Measure, n_jobs: int | None, *, some: bool = False
    ) -> Array:
        """Return W of every variable for so many copies, or more, (copies, p).

        Those that are known are not computed again.

        Parameters
        ----------
        copies : int
        measure : Measure
        n_jobs : int, optional
        some : bool
            Whether fewer copies will do where Ctrl-C ends the work inside `stoppable`; they stay
            fewer.
        """
        known = len(self._statistics)
        if copies > known and not self.stopped:
            size = _copies_together(self._data.X.shape)
            batches = [
                range(start, min(start + size, copies)) for start in range(known, copies, size)
            ]
            data = self._compared(measure)
            # batches side by side have one thread each
            each = 1 if len(batches) >= threads() or n_jobs is not None else None
            found = self._kept_batches(batches, data, measure, each, n_jobs, some=some)
            self.stopped = len(found) < len(batches)
            if found:
                W = np.concatenate(found)
                more = np.zeros((len(W), self._statistics.shape[1]))
                more[:, self._variables] = W
                self._statistics = np.concatenate([self._statistics, more])
        return self._statistics

    def _kept_batches(
        self,
        batches: list[range],
        data: Data,
        measure: Measure,
        each: int | None,
        n_jobs: int | None,
        *,
        some: bool,
    ) -> list[Array]:
        """Return the statistics of batches of copies, perhaps from a run that was killed.

        Those that Ctrl-C ended are left out, with all that come after them.
        """
        known, copies, size = batches[0].start, batches[-1].stop, len(batches[0])
        # what draws its copies in its own way does not say of what they are
        drawn = self._copies if isinstance(self._copies, Copies) else None
        shelf = None
        if drawn is not None:
            seeds = (self._seed, drawn.seed)
            shelf = shelf_of("knockoff copies", data, (measure, drawn.law), seeds)
        done: dict[int, Array] = {}
        if shelf is not None:
            for batch in batches:
                kept = shelf.find(batch.start, batch.stop)
                if kept is not None:
                    done[batch.start] = kept["W"]
            shelf.tell(copies)
        left = [batch for batch in batches if batch.start not in done]

        def keep(place: int, W: Array) -> None:
            batch = left[place]
            done[batch.start] = W
            if shelf is not None:
                shelf.add(batch.start, batch.stop, {"W": W})

        pieces(
            _some,
            [(data, self._copies, batch, self._seed, measure, each) for batch in left],
            n_jobs,
            progress=_reporter(known + sum(map(len, done.values())), copies, size),
            fewest=-(-max(FEWEST - known, 0) // size) - len(done) if some else None,
            each=keep,
        )
        found = []
        for batch in batches:
            if batch.start not in done:
                break
            found.append(done[batch.start])
        return found


def _reporter(known: int, copies: int, size: int) -> Progress | None:
    """Return a function that reports batches as copies."""
    tell = reporter_of("knockoff copies", total=copies)
    return None if tell is None else lambda done, _: tell(min(known + done * size, copies), copies)


def _copies_together(shape: tuple[int, ...]) -> int:
    """Return how many copies are fitted as one ensemble; it follows from the table alone."""
    return int(np.clip(_TOGETHER_BYTES // (8 * shape[0] * shape[1]), 1, _MOST_TOGETHER))


def _some(
    data: Data,
    copies: Copies,
    which: range,
    seed: np.random.SeedSequence,
    measure: Measure,
    n_jobs: int | None,
) -> Array:
    """Return the statistics of some copies."""
    drawn = [copies[b] for b in which]
    rngs = [generator(child(seed, FOLDS, b)) for b in which]
    return knockoff_statistics(data, drawn, rngs, n_jobs=n_jobs, **measure._asdict())
