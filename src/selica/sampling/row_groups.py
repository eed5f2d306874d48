r"""Knockoff copies of rows that belong together, such as the visits of one patient.

Let row i of group u be :math:`\mu + B_u + W_{ui}` with independent normal parts, the same in all
rows of a group and its own in each. The mean of a group and the deviations :math:`D = CW` from it
(C takes the mean away) are independent. With knockoffs :math:`\tilde M` of the means, group by
group, and :math:`\tilde D = C \tilde W` of the deviations, the sum is a knockoff of the columns: to
exchange column j with its copy exchanges both of its parts, and neither exchange changes anything.
For :math:`\tilde W = W A + E`, row by row, :math:`\tilde D = D A + C E`, which knows the deviations
alone.

Copies that are drawn row by row instead differ more within a group than the columns do. Where rows
of a group have something of the response in common, the columns then look better than the copies.

Groups of unequal size have means of unequal variance; one covariance stands for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from selica._core.random import RandomState
from selica._core.types import Array, BoolArray, IntArray
from selica.sampling.copies import Copies, CopyLaw
from selica.sampling.covariates import spread_of_rest
from selica.sampling.exchangeability import Exchangeability, exchangeability
from selica.sampling.sampler import Sampler

_NO_SPREAD = 1e-9
"""A part of a column with less than this share of its standard deviation is constant."""


@dataclass(frozen=True, slots=True)
class Parted:
    """Columns of a table, parted into means of the groups and deviations from them.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.row_groups import part
    >>> X = np.array([[1.0, 5.0], [3.0, 5.0], [4.0, 7.0], [8.0, 7.0]])
    >>> parts = part(X, np.array([0, 0, 1, 1]))
    >>> parts.means.tolist(), parts.deviations[:, 0].tolist(), parts.within.tolist()
    ([[2.0, 5.0], [6.0, 7.0]], [-1.0, 1.0, -2.0, 2.0], [True, False])
    """

    means: Array
    """(groups, p)."""
    deviations: Array
    """(n, p)."""
    units: IntArray
    """(n,): the group of each row."""
    between: BoolArray
    """(p,): columns whose means differ between groups."""
    within: BoolArray
    """(p,): columns that differ within groups."""


def group_means(X: Array, units: IntArray) -> Array:
    """Return the mean of each column in each group, (groups, p).

    Parameters
    ----------
    X : array of shape (n, p)
    units : array of int, shape (n,)
        The group of each row, 0, 1, ...
    """
    sizes = np.bincount(units)
    order = np.argsort(units, kind="stable")
    total = np.add.reduceat(X[order], np.cumsum(sizes) - sizes, axis=0)
    return np.asarray(total / sizes[:, None])


def part(X: Array, units: IntArray) -> Parted:
    """Part columns into means of the groups and deviations from them."""
    means = group_means(X, units)
    deviations = X - means[units]
    spread = _NO_SPREAD * np.abs(X - X.mean(axis=0)).max(axis=0)
    between = np.ptp(means, axis=0) > spread
    within = np.abs(deviations).max(axis=0) > spread
    deviations[:, ~within] = 0.0
    return Parted(means, deviations, units, between, within)


@dataclass(frozen=True, slots=True)
class GroupedLaw:
    """A distribution of copies: of the means of groups, and of deviations from them."""

    of_means: CopyLaw | None
    """Of the columns whose means differ; None where there is no such column."""
    of_deviations: CopyLaw | None
    """Of the columns that differ within groups; None where there is no such column."""
    parts: Parted

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.parts.deviations.shape[0], self.parts.deviations.shape[1]

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        parts = self.parts
        means = parts.means.copy()
        if self.of_means is not None:
            means[:, parts.between] = self.of_means.draw(rng)
        copy = np.asfortranarray(means[parts.units])
        if self.of_deviations is not None:
            drawn = self.of_deviations.draw(rng)
            copy[:, parts.within] += drawn - group_means(drawn, parts.units)[parts.units]
        return copy


@dataclass(frozen=True, slots=True)
class GroupedCopies:
    """Copies of rows that belong together, and what their parts are drawn from."""

    copies: Copies
    sampler: Sampler
    """Fitted to the means or, where they do not differ, to the deviations."""
    parts: Parted
    samplers: tuple[Sampler | None, Sampler | None]
    column_groups: IntArray | None = None
    """(p,): groups of columns that are exchanged together; None where each is by itself."""

    def exchangeability(
        self, copy: Array, sample_weight: Array | None, random_state: RandomState | None
    ) -> Exchangeability:
        """Tell how far a copy is from being exchangeable, by means and by deviations.

        Parameters
        ----------
        copy : array of shape (n, p)
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        random_state : None, int, SeedSequence, Generator or RandomState
        """
        parts = self.parts
        own = part(copy, parts.units)
        weight = None if sample_weight is None else _group_weight(sample_weight, parts.units)
        found = []
        between, within = self.samplers
        if between is not None:
            found.append(
                exchangeability(
                    parts.means[:, parts.between], own.means[:, parts.between],
                    centre=between.centre, sample_weight=weight,
                    groups=_some(self.column_groups, parts.between), random_state=random_state,
                )
            )  # fmt: skip
        if within is not None:
            found.append(
                exchangeability(
                    parts.deviations[:, parts.within], own.deviations[:, parts.within], centre=0.0,
                    sample_weight=sample_weight,
                    groups=_some(self.column_groups, parts.within), random_state=random_state,
                )
            )  # fmt: skip
        return max(found, key=lambda one: one.departure)


def _group_weight(weight: Array, units: IntArray) -> Array:
    """Return the mean weight of the rows of each group."""
    return group_means(weight[:, None], units)[:, 0]


def grouped_copies(
    sampler: Sampler,
    X: Array,
    units: IntArray,
    weight: Array | None,
    random_state: RandomState | None,
    members: Any,
    *,
    design: Array | None = None,
    column_groups: IntArray | None = None,
) -> GroupedCopies:
    """Return knockoff copies of rows that belong together.

    Parameters
    ----------
    sampler : Sampler
        Of normal columns with an estimated covariance, not yet fitted.
    X : array of shape (n, p)
        None of the columns is constant.
    units : array of int, shape (n,)
        The group of each row, 0, 1, ...
    weight : array of shape (n,), optional
        Weights of the rows.
    random_state : None, int, SeedSequence, Generator or RandomState
    members : int, slice or array of int
        As in `GaussianKnockoffs.copies`.
    design : array of shape (n, k), optional
        Covariates, their means in the groups and a constant, of which X is what they leave.
    column_groups : array of int, shape (p,), optional
        Columns with the same number are exchanged with their copies together.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import GaussianKnockoffs
    >>> from selica.sampling.row_groups import grouped_copies
    >>> rng = np.random.default_rng(0)
    >>> patient = np.repeat(np.arange(50), 4)
    >>> X = rng.standard_normal((50, 3))[patient]  # the same in all rows of a patient
    >>> copy = grouped_copies(GaussianKnockoffs(), X, patient, None, 0, 1).copies[0]
    >>> bool(np.ptp(copy[:4], axis=0).max() < 1e-12)
    True
    """
    parts = part(X, units)
    n, groups = len(X), len(parts.means)
    between = within = None
    of_design = None if design is None else part(design, units)
    laws: list[Copies | None] = [None, None]
    if parts.between.any():
        columns = parts.means[:, parts.between]
        more = 1.0 if of_design is None else spread_of_rest(of_design.means, groups)
        shares = None if weight is None else _group_weight(weight, units)
        between = _of_groups(sampler, column_groups, parts.between).fit(more * columns, shares)
        laws[0] = between.copies(columns, random_state, members)
    if parts.within.any():
        columns = parts.deviations[:, parts.within]
        # deviations from estimated means vary less than the rows do around the true ones
        more = np.sqrt(n / (n - groups))
        if of_design is not None:
            more *= spread_of_rest(of_design.deviations, n - groups)
        within = _of_groups(sampler, column_groups, parts.within).fit(more * columns, weight)
        laws[1] = within.copies(columns, random_state, members)
    some = laws[0] or laws[1]
    assert some is not None
    of_means, of_deviations = (None if one is None else one.law for one in laws)
    law = GroupedLaw(of_means, of_deviations, parts)
    fitted = between or within
    assert fitted is not None
    return GroupedCopies(
        Copies(law, some.seed, some.members), fitted, parts, (between, within), column_groups
    )


def _some(groups: IntArray | None, columns: BoolArray) -> IntArray | None:
    """Return the groups of some of the columns."""
    return None if groups is None else groups[columns]


def _of_groups(sampler: Sampler, groups: IntArray | None, columns: BoolArray) -> Sampler:
    """Return the sampler for some of the columns, in their groups."""
    return sampler if groups is None else sampler.of_groups(groups[columns])
