"""Rows split between the distribution of the columns and the selection.

A distribution that is estimated from the rows it is used for fits them better than it should. Here
some rows estimate it, and the others are compared with their copies. The copies of the first rows
are these rows themselves, so that a column and its copy are alike there and the rows still help
every fit (Barber and Candes 2019 call it recycling). Whatever is wrong with the copies is then the
error of an estimate from other rows, for which Barber, Candes and Samworth (2020) bound the false
discovery rate.

References
----------
Barber and Candes (2019), A knockoff filter for high-dimensional selective inference, Annals of
Statistics 47.
Barber, Candes and Samworth (2020), Robust inference with knockoffs, Annals of Statistics 48.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.losses import Loss
from selica._core.random import RandomState, generator
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import matrix, number
from selica.sampling.checks import row_shares
from selica.sampling.copies import Copies, CopyLaw
from selica.sampling.sampler import Doubt, Sampler, as_sampler

_LARGEST_SHARE = 0.95
"""Rows that may estimate the distribution: some must be left to be compared."""


class SplitRows(Sampler):
    """Estimate the distribution of the columns from some rows, and copy the others.

    Parameters
    ----------
    sampler : str or Sampler
        What estimates a distribution and draws copies, e.g. "gaussian" or
        `GaussianKnockoffs(covariance="neighbours")`; not "fixed" or "iid", which estimate none.
    share : float
        Share of the rows that estimate the distribution.
    random_state : None, int, SeedSequence, Generator or RandomState
        Source of the rows; an integer takes the same rows at every fit.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import SplitRows
    >>> X = np.random.default_rng(0).standard_normal((100, 5))
    >>> fitted = SplitRows("gaussian", share=0.4).fit(X)
    >>> same = (fitted.sample(X, random_state=1) == X).all(axis=1)
    >>> int(same.sum()), bool((same == fitted.own_rows).all())
    (40, True)
    """

    def __init__(
        self,
        sampler: Any = "gaussian",
        share: float = 0.5,
        random_state: RandomState | None = 0,
    ) -> None:
        self.sampler = as_sampler(sampler)
        if not self.sampler.exchangeable or self.sampler.standardised:
            raise ArgumentError(
                "sampler must be one whose copies are exchangeable with the rows of the table as "
                f"they are, such as 'gaussian'; got {self.sampler!r}."
            )
        self.share = number("share", share, at_least=1.0 - _LARGEST_SHARE, at_most=_LARGEST_SHARE)
        self.random_state = random_state
        self.own_rows: BoolArray | None = None

    def fit(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> SplitRows:
        """Return a sampler that was fitted to some of the rows; this object stays as it is.

        Parameters
        ----------
        X : array of shape (n, p)
        sample_weight : array of shape (n,), optional
        """
        table = matrix("X", X)
        rows = self._rows(len(table))
        fitted = copy(self)
        fitted.sampler = self.sampler.fit(table[rows], _some(sample_weight, rows))
        fitted.own_rows = rows
        return fitted

    def _rows(self, n: int) -> BoolArray:
        """Return which rows estimate the distribution."""
        rows = np.zeros(n, dtype=bool)
        rows[generator(self.random_state).permutation(n)[: max(round(self.share * n), 1)]] = True
        return rows

    def copies(self, X: ArrayLike, random_state: RandomState | None, members: Any) -> Copies:
        """Return copies of the rows that are compared, beside the others as they are.

        Parameters
        ----------
        X : array of shape (n, p)
            The rows that the sampler was fitted to, in the same order.
        random_state : None, int, SeedSequence, Generator or RandomState
        members : int, slice or array of int
            As in `Sampler.copies`.
        """
        table = matrix("X", X)
        fitted = self if self.own_rows is not None else self.fit(table)
        rows = fitted.own_rows
        assert rows is not None
        drawn = fitted.sampler.copies(table, random_state, members)
        return replace(drawn, law=OwnRows(drawn.law, table, rows))

    def alternatives(
        self,
        X: ArrayLike,
        sample_weight: ArrayLike | None = None,
        random_state: RandomState | None = None,
    ) -> Iterable[Sampler]:
        """Return the alternatives of the sampler, each with the same rows.

        Parameters
        ----------
        X : array of shape (n, p)
        sample_weight : array of shape (n,), optional
        random_state : None, int, SeedSequence, Generator or RandomState
        """
        table = matrix("X", X)
        rows = self._rows(len(table))
        others = self.sampler.alternatives(table[rows], _some(sample_weight, rows), random_state)
        for other in others:
            made = copy(self)
            made.sampler = other
            yield made

    def of_groups(self, groups: ArrayLike | None, n_joint: int = 1) -> Sampler:
        """Return the same rows with a sampler of groups; see `Sampler.of_groups`."""
        made = copy(self)
        made.sampler = self.sampler.of_groups(groups, n_joint)
        return made

    def with_variables(self, variable: ArrayLike | None) -> Sampler:
        """Return the same rows with a sampler that knows variables; see `Sampler`."""
        made = copy(self)
        made.sampler = self.sampler.with_variables(variable)
        return made

    def needs(self, rows: int, columns: int, loss: Loss) -> None:
        """Check what the sampler needs; see `Sampler.needs`."""
        self.sampler.needs(rows, columns, loss)

    def doubts(self, X: Array) -> list[Doubt]:
        """Return what speaks against the sampler, for the rows that it was fitted to."""
        return self.sampler.doubts(X if self.own_rows is None else X[self.own_rows])

    @property
    def assumption(self) -> str:  # type: ignore[override]
        """What must be true of the columns, as a clause."""
        return self.sampler.assumption

    @property
    def exact(self) -> bool:  # type: ignore[override]
        """Whether the distribution is known."""
        return self.sampler.exact

    @property
    def any_statistic(self) -> bool:  # type: ignore[override]
        """Whether the promise holds for statistics that look at single rows."""
        return self.sampler.any_statistic

    @property
    def groups(self) -> IntArray | None:  # type: ignore[override]
        """Groups of columns of which only whole ones are exchangeable."""
        return self.sampler.groups

    @property
    def n_joint(self) -> int:
        """Number of joint copies that the sampler draws."""
        return int(getattr(self.sampler, "n_joint", 1))

    @property
    def mismatch(self) -> str:  # type: ignore[override]
        """What is wrong where the copies do not fit the columns."""
        return self.sampler.mismatch

    @property
    def centre(self) -> Any:
        """Mean of the columns."""
        return self.sampler.centre

    @property
    def structure(self) -> str:  # type: ignore[override]
        """What an estimate takes for granted, as a clause."""
        return self.sampler.structure

    @property
    def law(self) -> str | None:
        """Name of the law of the columns, where the sampler has one."""
        return getattr(self.sampler, "law", None)

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Whether values of the table must stay as they are."""
        return self.sampler.discrete

    def __repr__(self) -> str:
        return f"SplitRows({self.sampler!r}, share={self.share:g})"


@dataclass(frozen=True, slots=True)
class OwnRows:
    """A distribution of copies in which some rows are as they were."""

    law: CopyLaw
    table: Array
    rows: BoolArray

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p) of a copy."""
        return self.law.shape

    def draw(self, rng: np.random.Generator) -> Array:
        """Draw one copy, columns contiguous in memory."""
        drawn = np.array(self.law.draw(rng), order="F")
        joint = drawn.shape[1] // self.table.shape[1]
        drawn[self.rows] = np.tile(self.table[self.rows], (1, joint))
        return drawn


def _some(sample_weight: ArrayLike | None, rows: BoolArray) -> Array | None:
    """Return the weights of some rows."""
    return None if sample_weight is None else row_shares(sample_weight, rows.size)[rows]
