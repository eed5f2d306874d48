"""The rules of `rules` on statistics of which only those are listed that can matter.

Of the statistics of many variables and copies few differ from zero once those are left out at which
no rule stops. They are kept as a list, sorted once by data set, copy and size, so that a rule costs
what the list is long and not what a table of all copies of all variables would be.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selica._core.rounding import ROUNDING, ceiling
from selica._core.types import Array, BoolArray, IntArray

_HALF = np.uint64(32)
"""Bits of a key that hold a size and a sign."""
_ODD = np.uint64(1)
"""The last bit of a key: set where a statistic is negative."""
_SIZE = np.uint64(0xFFFFFFFE)
"""The bits of a size."""


class Listed(NamedTuple):
    """Knockoff statistics of some data sets; all that are not listed are zero.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.planning.predict.listed import Listed
    >>> W = np.array([[[3.0, 0.0, -1.0, 2.0]]], dtype=np.float32)
    >>> Listed.of(W).knockoff_plus(0.5).tolist()
    [[True, False, False, True]]
    """

    group: IntArray
    """Data set and copy of each: the data set times the copies, and the copy."""
    variable: IntArray
    """Data set and variable of each: the data set times the variables, and the variable."""
    value: Any
    """The statistics in single precision, none of them zero."""
    shape: tuple[int, int, int]
    """Data sets, copies, variables."""

    @classmethod
    def of(cls, W: Any) -> Listed:
        """List a table of data sets, copies and variables.

        Parameters
        ----------
        W : array of shape (R, copies, M)
            In single precision.
        """
        row, copy, place = np.nonzero(W)
        shape = W.shape
        return cls(row * shape[1] + copy, row * shape[2] + place, W[row, copy, place], shape)

    def table(self) -> Any:
        """Return all statistics, (R, copies, M)."""
        out = np.zeros(self.shape, dtype=np.float32)
        place = self.variable % self.shape[2]
        out.reshape(-1, self.shape[2])[self.group, place] = self.value
        return out

    def knockoff_plus(self, fdr: float) -> BoolArray:
        """Select by the filter with offset one in the only copy; see `rules.knockoff_plus`."""
        threshold, _ = self._stops(fdr, posthoc=False)
        out = np.zeros(self.shape[0] * self.shape[2], dtype=bool)
        out[self.variable] = self.value >= threshold[self.group]
        return out.reshape(self.shape[0], -1)

    def mean_evalues(self, fdr: float, p: int) -> Array:
        """Return average e-values of the copies, (R, M); see `rules.mean_evalues`."""
        threshold, negative = self._stops(fdr, posthoc=True)
        ahead = self.value >= threshold[self.group]
        worth = (p / self.shape[1]) / (1.0 + negative)
        size = self.shape[0] * self.shape[2]
        found: Array = np.bincount(self.variable[ahead], worth[self.group[ahead]], size).astype(
            float
        )
        return found.reshape(self.shape[0], -1)

    def aggregated_pvalues(self, gamma: float, p: int) -> Array:
        """Return the quantile gamma of p-values, over gamma; see `rules.aggregated_pvalues`."""
        R, copies, M = self.shape
        rank = max(ceiling(gamma * copies), 1)
        out = np.full(R * M, float(p))
        keys = self._keys()
        order = np.argsort(keys)
        ranked = keys[order]
        behind, _ = _counts(ranked)
        # p times the p-value of a statistic that is ahead
        larger = 1 + behind
        ahead = (ranked & _ODD) == 0
        variable = self.variable[order[ahead]].astype(np.uint64)
        each = np.sort(variable << _HALF | larger[ahead].astype(np.uint64))
        owner = (each >> _HALF).astype(np.intp)
        first = np.flatnonzero(np.diff(owner, prepend=-1))
        number = np.diff(np.append(first, owner.size))
        enough = first[number >= rank]
        out[owner[enough]] = (each[enough + rank - 1] & np.uint64(0xFFFFFFFF)).astype(float)
        return np.minimum(out / (gamma * p), 1.0).reshape(R, M)

    def _keys(self) -> Any:
        """Return numbers that sort by group and then from the largest size down."""
        size = ~np.abs(self.value).view(np.uint32) & np.uint32(0xFFFFFFFE)
        sign = (self.value < 0.0).view(np.uint8)
        return self.group.astype(np.uint64) << _HALF | size | sign

    def _stops(self, fdr: float, *, posthoc: bool) -> tuple[Any, IntArray]:
        """Return where the filter of each group stops, and the negatives from there on."""
        groups = self.shape[0] * self.shape[1]
        threshold, negative = np.full(groups, np.float32(np.inf)), np.zeros(groups, dtype=np.intp)
        keys = np.sort(self._keys())
        behind, position = _counts(keys)
        allowed = fdr * np.maximum(position + 1 - behind, 1) + ROUNDING - 1.0
        if posthoc:
            allowed = np.maximum(allowed, 0.0)
        fine = np.flatnonzero(behind <= allowed)
        at = (keys[fine] >> _HALF).astype(np.intp)
        last = np.flatnonzero(np.diff(at, append=-1))
        at, fine = at[last], fine[last]
        bits = ~(keys[fine] & _SIZE).astype(np.uint32) & np.uint32(0xFFFFFFFE)
        threshold[at], negative[at] = bits.view(np.float32), behind[fine]
        return threshold, negative


def _counts(keys: Any) -> tuple[IntArray, IntArray]:
    """Return negatives up to each of the sorted keys in its group, and its place there."""
    group = keys >> _HALF
    starts = np.flatnonzero(np.diff(group, prepend=~group[:1])) if keys.size else np.zeros(0, int)
    sizes = np.diff(np.append(starts, keys.size))
    every = np.concatenate([[0], np.cumsum((keys & _ODD).astype(np.intp))])
    behind = every[1:] - np.repeat(every[starts], sizes)
    return behind, np.arange(keys.size) - np.repeat(starts, sizes)
