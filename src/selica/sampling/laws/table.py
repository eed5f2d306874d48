"""The table of laws: one row for each, by name.

A law is a function of standardised columns (mean zero, mean square one) and the shares of their
rows, which returns their covariance, positive definite for fewer rows than columns too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from selica._core.types import Array
from selica.sampling.laws.factors import factors
from selica.sampling.laws.factors_neighbours import factors_neighbours
from selica.sampling.laws.neighbours import neighbours
from selica.sampling.laws.shrinkage import held_out_shrinkage
from selica.sampling.shrinkage import ledoit_wolf


class ColumnLaw(NamedTuple):
    """A way to estimate the covariance of the columns.

    Examples
    --------
    >>> from selica.sampling.laws import LAWS
    >>> LAWS["neighbours"].words
    'each column depends on a few others (neighbours)'
    """

    words: str
    """What it assumes, as a clause with its name."""
    estimate: Callable[[Array, Array], Array]
    """Covariance, (p, p), of standardised rows (n, p) with shares (n,)."""


def _ledoit_wolf(rows: Array, share: Array) -> Array:
    """Return the covariance shrunk as Ledoit and Wolf do."""
    return ledoit_wolf(rows, mean=0.0, sample_weight=share).covariance


LAWS = {
    "ledoit_wolf": ColumnLaw(
        "correlations are those of the table, shrunk (Ledoit and Wolf)", _ledoit_wolf
    ),
    "shrinkage": ColumnLaw(
        "correlations are those of the table, shrunk by as much as suits left-out rows (shrinkage)",
        held_out_shrinkage,
    ),
    "factors": ColumnLaw("columns share a few factors (factors)", factors),
    "neighbours": ColumnLaw("each column depends on a few others (neighbours)", neighbours),
    "factors_neighbours": ColumnLaw(
        "columns share a few factors, and what is left of each depends on a few others "
        "(factors_neighbours)",
        factors_neighbours,
    ),
}
"""The laws by name; the first is the one that is tried first."""


def law_names() -> tuple[str, ...]:
    """Return the names that `GaussianKnockoffs(covariance=...)` takes.

    Examples
    --------
    >>> from selica.sampling.laws import law_names
    >>> law_names()[:2]
    ('ledoit_wolf', 'shrinkage')
    """
    return tuple(LAWS)
