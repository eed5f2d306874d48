"""Averages over the resampling law, for many rows and penalties at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selica._core.counts import CountLaw
from selica._core.types import Array, IntArray

# With more susceptibilities than this the averages are interpolated: between nodes this far apart
# in log(1 + chi E[c^2]/E[c]) a cubic with exact slopes errs by less than 1e-9 of the value.
_ONE_BY_ONE = 512
_SPACING = 0.005


class RowAverages(NamedTuple):
    """f_1 and f_2 - f_1^2 of c / (1 + chi c) over the distribution of the weights c."""

    f1: Array
    spread: Array


def row_averages(law: CountLaw, chi: Array) -> RowAverages:
    """Return averages at susceptibilities chi of any shape."""
    if chi.size <= _ONE_BY_ONE:
        return RowAverages(*(part.reshape(chi.shape) for part in _exact(law, chi.ravel())[:2]))
    mean, square = (np.vecdot(law.probability, law.weight**k)[0] for k in (1, 2))
    scale = float(square / mean)
    u = np.log1p(scale * np.maximum(chi, 0.0))
    low, high = float(u.min()), float(u.max())
    if not np.isfinite(high):
        return RowAverages(np.full(chi.shape, np.nan), np.full(chi.shape, np.nan))
    nodes, spacing = np.linspace(
        low, high + 1e-9, max(int(np.ceil((high - low) / _SPACING)), 1) + 1, retstep=True
    )
    at = np.expm1(nodes) / scale
    f1, spread, slope, spread_slope = _exact(law, at)
    step = float(spacing) * (1.0 + scale * at) / scale  # d chi from one node to the next
    share = (u - low) / float(spacing)
    node = np.minimum(share.astype(np.intp), nodes.size - 2)
    share -= node
    return RowAverages(
        _between(f1, slope * step, node, share),
        np.maximum(_between(spread, spread_slope * step, node, share), 0.0),
    )


def _between(value: Array, slope: Array, node: IntArray, share: Array) -> Array:
    """Return a cubic with these values and slopes, a share of the way to the next point."""
    rise = np.diff(value)
    square = 3.0 * rise - 2.0 * slope[:-1] - slope[1:]
    cube = slope[:-1] + slope[1:] - 2.0 * rise
    inner = slope[node] + share * (square[node] + share * cube[node])
    return np.asarray(value[node] + share * inner)


def _exact(law: CountLaw, chi: Array) -> tuple[Array, Array, Array, Array]:
    """Return f_1, f_2 - f_1^2 and their slopes in chi."""
    f = law.averages(chi)
    return f.f1, law.variance(f, chi), -f.f2, 2.0 * (f.f1 * f.f2 - f.f3)
