"""The table a person reads after a selection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selica._core.table import Table
from selica._core.types import Array, BoolArray
from selica.selectors.text_table import reader_columns, text_table, wrapped

if TYPE_CHECKING:
    import pandas as pd


NEAR_MISSES = 5
"""Variables that are printed beyond the selected ones."""
_DIGITS = 11
"""Significant digits in which values are compared when they are ranked: sums of the same numbers
in another order differ beyond."""


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """Variables, or groups, with what was measured of them, the decision, and what it promises.

    `print` shows the selected variables and the near misses; `to_frame` has all of them.

    Attributes
    ----------
    title : str
    variables : Table
        One row for each variable, or group of them, selected ones first, then by rank. Columns:
        rank, variable (or group), selected, what was measured (`measure`), its s.e. and close call
        where there are any, direction, effect per SD, effect per unit, the same as ratios where the
        response is not a number, which columns are identical to a selected one, and the members of
        a group.
    guarantee : str
    notes : tuple of str
    shown : int
        How many rows are printed.
    measure : str
        The column that decides.
    explanations : mapping of str to str
        What the columns mean, a sentence each.
    chosen : str
        Sentences on which method was chosen and why, where one was.
    unit : {"variable", "group", "clump"}
        What is selected, and the column with its name.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> found = LassoSelection(lam=0.3).fit(data.X, data.y).summary()
    >>> found.title
    'Lasso at lam = 0.3: 3 of 30 variables'
    >>> [(row["rank"], row["variable"], row["direction"]) for row in found.variables][:3]
    [(1, 'x25', '+'), (2, 'x11', '-'), (3, 'x8', '+')]
    >>> found.measure, "effect" in found.explanations
    ('coefficient', True)
    """

    title: str
    variables: Table
    guarantee: str
    notes: tuple[str, ...]
    shown: int
    measure: str = ""
    explanations: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    chosen: str = ""
    unit: str = "variable"

    def to_frame(self) -> pd.DataFrame:
        """Return all variables as a data frame (needs pandas)."""
        return self.variables.to_frame()

    def table(self) -> str:
        """Return the selected variables and the near misses as text, with what columns mean."""
        unseen = {*self.variables.columns} - {*reader_columns(self._rows)}
        said = {name: text for name, text in self.explanations.items() if name not in unseen}
        return "\n".join([self.listing(), "", *map(wrapped, _sentences(said))])

    def listing(self) -> str:
        """Return the selected variables and the near misses as text."""
        rows = self._rows
        hidden = len(self.variables) - len(rows)
        lines, below = text_table(rows, reader_columns(rows))
        if hidden > 0:
            lines.append(f"... and {hidden:,} more {self.unit}{'' if hidden == 1 else 's'}")
        return "\n".join([*lines, *below])

    @property
    def _rows(self) -> tuple[dict[str, Any], ...]:
        """The rows that are shown as text."""
        return self.variables.rows[: self.shown]

    def meanings(self) -> list[str]:
        """Return sentences on what the columns mean."""
        return _sentences(self.explanations)

    def __str__(self) -> str:
        head = [self.title, *([self.chosen] if self.chosen else [])]
        return "\n".join([*head, "", self.table(), "", self.guarantee, *self.notes])

    def __repr__(self) -> str:
        return str(self)


class TableColumn(NamedTuple):
    """A column of the table beside what decides."""

    name: str
    values: Sequence[Any]
    """One for each variable; None where there is none."""
    meaning: str
    """A clause, or nothing."""
    last: bool = False
    """Whether it stands behind the effects."""


def _sentences(meanings: Mapping[str, str]) -> list[str]:
    """Return names and what they mean as sentences."""
    return [f"{name}: {text}." for name, text in meanings.items()]


def order_of(selected: BoolArray, keys: Iterable[Array]) -> Any:
    """Return the variables in the order of a table, without ties.

    Selected ones come first; then the largest values of the first key, of the second where the
    first are the same, and so on; then the order in the table.
    """
    order = [-_rounded(np.asarray(key, dtype=float)) for key in keys]
    return np.lexsort((*order[::-1], ~selected))


def precision(error: Array | None, close: BoolArray) -> list[TableColumn]:
    """Return the standard errors of probabilities, and which decisions are close, as columns."""
    some = [] if error is None else error.tolist()
    columns = [TableColumn("s.e.", some, "")] if some else []
    meaning = (
        "within two standard errors of the threshold, so that another seed may decide otherwise"
    )
    return [*columns, TableColumn("close call", close.tolist(), meaning, last=True)]


def _rounded(values: Array) -> Array:
    """Return values to some significant digits, so that rounding breaks no ties."""
    size = np.abs(np.nan_to_num(values))
    with np.errstate(divide="ignore"):
        power = np.floor(np.log10(np.where(size > 0.0, size, 1.0)))
    unit = 10.0 ** np.clip(power - _DIGITS, -300.0, 300.0)
    return np.asarray(np.where(np.isfinite(values), np.round(values / unit) * unit, values))
