"""The table a person reads after a selection."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selica._core.table import Table
from selica._core.types import Array, BoolArray, IntArray
from selica._core.validation import written
from selica.selectors.refit import RefitEffects

if TYPE_CHECKING:
    import pandas as pd

NEAR_MISSES = 5
"""Variables that are printed beyond the selected ones."""
_DIGITS = 11
"""Significant digits in which values are compared when they are ranked: sums of the same numbers
in another order differ beyond."""
_MOST_LEVELS = 3
"""Levels of a variable that a table lists."""
_REFERENCE = "the rest"
"""The level of a category that has no column, where its name is not known."""


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """Variables with what was measured of them, the decision, and what it promises.

    `print` shows the selected variables and the near misses; `to_frame` has all of them.

    Attributes
    ----------
    title : str
    variables : Table
        One row for each variable, selected ones first, then by rank. Columns: rank, variable,
        selected, what was measured (`measure`), its s.e. and close call where there are any,
        direction, effect per SD, effect per unit, the same as ratios where the response is not a
        number, and which columns are identical to a selected one.
    guarantee : str
    notes : tuple of str
    shown : int
        How many rows are printed.
    measure : str
        The column that decides.
    explanations : mapping of str to str
        What the columns mean, a sentence each.

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

    def to_frame(self) -> pd.DataFrame:
        """Return all variables as a data frame (needs pandas)."""
        return self.variables.to_frame()

    def table(self) -> str:
        """Return the selected variables and the near misses as text, with what columns mean."""
        rows = self.variables.rows[: self.shown]
        hidden = len(self.variables) - len(rows)
        lines = _text_table(rows, reader_columns(rows))
        if hidden > 0:
            lines.append(f"... and {hidden:,} more variables")
        return "\n".join([*lines, "", *self.meanings()])

    def meanings(self) -> list[str]:
        """Return sentences on what the columns mean."""
        return [f"{name}: {text}." for name, text in self.explanations.items()]

    def __str__(self) -> str:
        return "\n".join([self.title, "", self.table(), "", self.guarantee, *self.notes])

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


def cell(value: Any) -> str:
    """Return a value of the table as a person reads it; None is blank, as "-" is a sign."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def three_digits(value: float) -> str:
    """Return a number with three digits: 0.0132, 4,070, 1.2e+08."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if "e+" in text and abs(value) < 1e7 else text


def reader_columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the columns that a person is shown: not empty, and ratios in the place of logarithms.

    The column "selected" is not among them: the order, and a line, say which rows are.
    """
    if not rows:
        return []
    ratios = any(" ratio per " in name for name in rows[0])
    return [
        name
        for name in rows[0]
        if name != "selected"
        and not (ratios and name.startswith("effect per "))
        and any(cell(row[name]) for row in rows)
    ]


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


def effect_columns(effects: RefitEffects, p: int, names: Directions) -> list[TableColumn]:
    """Return direction and size of the effects as columns of a table.

    Parameters
    ----------
    effects : RefitEffects
    p : int
        Number of variables.
    names : Directions
    """
    place = {int(variable): k for k, variable in enumerate(effects.variables)}
    directions = [names.of(effects, j, place.get(j)) for j in range(p)]
    columns = [TableColumn("direction", directions, names.meaning)]
    sizes = {"SD": effects.per_sd, "unit": effects.per_unit}
    for unit, values in sizes.items():
        each = [float(values[place[j]]) if j in place else None for j in range(p)]
        columns.append(TableColumn(f"effect per {unit}", each, ""))
    if effects.ratio is not None:
        for unit, values in sizes.items():
            ratios = [_power(values[place[j]]) if j in place else None for j in range(p)]
            columns.append(TableColumn(f"{effects.ratio} per {unit}", ratios, ""))
    return columns


class Directions(NamedTuple):
    """How directions are called."""

    classes: Sequence[Any] | None
    """Labels of the classes of the response."""
    several: bool
    """Whether there are more than two."""
    response: str
    names: Sequence[str]
    """Names of the variables."""
    columns: Sequence[str] = ()
    """Names of the columns, such as "tissue: liver", where variables have levels."""
    variable: IntArray | None = None
    """The variable that each column belongs to; None where each is one."""
    references: Mapping[str, str] = MappingProxyType({})
    """For a variable with levels, the one that has no column."""

    def of(self, effects: RefitEffects, variable: int, place: int | None) -> str | None:
        """Return the direction of a variable: a sign, a class, or levels from high to low."""
        if place is not None and effects.levels[place]:
            ordered = sorted(effects.levels[place], key=lambda one: -one[1])
            levels = [self._level(column, variable) for column, _ in ordered]
            if len(levels) > _MOST_LEVELS:
                levels = [levels[0], "...", levels[-1]]
            return " > ".join(levels)
        if self.several:
            assert self.classes is not None
            return written(self.classes[effects.direction[variable]])
        sign = int(effects.direction[variable])
        level = self._only_level(variable)
        if level is None or sign == 0:
            return {1: "+", -1: "-"}.get(sign)
        rest = self._level(-1, variable)
        return f"{level} > {rest}" if sign > 0 else f"{rest} > {level}"

    def _only_level(self, variable: int) -> str | None:
        """Return the level of a variable with two of them, which has one column; else None."""
        if not self.columns:
            return None
        own = np.array([variable])
        if self.variable is not None:
            own = np.flatnonzero(self.variable == variable)
        if own.size != 1 or self.columns[own[0]] == self.names[variable]:
            return None
        return self._level(int(own[0]), variable)

    def _level(self, column: int, variable: int) -> str:
        """Return the level of an indicator column: "tissue: liver" is liver."""
        if column < 0:
            return self.references.get(self.names[variable], _REFERENCE)
        if column >= len(self.columns):
            return f"level {column}"
        return self.columns[column].removeprefix(f"{self.names[variable]}: ")

    @property
    def meaning(self) -> str:
        """What a direction says, as a clause."""
        if self.several:
            return "the class that becomes more likely as the variable rises"
        rises = {
            "count": "the rate rises with the variable, - it falls",
            "survival": "events come earlier where the variable is larger (a higher hazard), - "
            "later",
        }.get(self.response, "the response rises with the variable, - it falls")
        if self.classes is not None and len(self.classes) == 2:
            rises = f"{written(self.classes[1])} becomes more likely as the variable rises, - less"
        levels = "; levels of a category from high to low" if self.columns else ""
        return f"+ {rises}{levels}; those that are not selected are taken alone"


def _power(value: float) -> float | None:
    """Return the exponential of an effect; None where that is no number."""
    with np.errstate(over="ignore", under="ignore"):
        ratio = float(np.exp(value))
    return ratio if np.isfinite(ratio) else None


def _rounded(values: Array) -> Array:
    """Return values to some significant digits, so that rounding breaks no ties."""
    size = np.abs(np.nan_to_num(values))
    with np.errstate(divide="ignore"):
        power = np.floor(np.log10(np.where(size > 0.0, size, 1.0)))
    unit = 10.0 ** np.clip(power - _DIGITS, -300.0, 300.0)
    return np.asarray(np.where(np.isfinite(values), np.round(values / unit) * unit, values))


def _text_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> list[str]:
    """Return rows as lines of text, headings in two lines, selected rows before the others."""
    heads = [_two_lines(name) for name in columns]
    cells = [[column_cell(name, row[name]) for name in columns] for row in rows]
    widths = [
        max(len(x) for x in (*head, *(line[i] for line in cells))) for i, head in enumerate(heads)
    ]

    def line(values: Iterable[str]) -> str:
        parts = zip(columns, values, widths, strict=True)
        words = ("variable", "identical to", "nearly identical to")
        padded = [v.ljust(w) if name in words else v.rjust(w) for name, v, w in parts]
        return "  ".join(padded).rstrip()

    lines = [line(part) for part in zip(*heads, strict=True) if any(part)]
    chosen = sum(bool(row["selected"]) for row in rows)
    lines += [line(values) for values in cells[:chosen]]
    if 0 < chosen < len(rows):
        lines += ["", "Not selected, the closest first:"]
    return [*lines, *(line(values) for values in cells[chosen:])]


def _two_lines(heading: str) -> tuple[str, str]:
    """Return a heading of several words in two lines, the second of which is never empty."""
    first, space, second = heading.partition(" per ")
    if space:
        return first, f"per {second}"
    if heading in ("close call", "inclusion rate"):
        first, _, second = heading.partition(" ")
        return first, second
    return "", heading


def column_cell(name: str, value: Any) -> str:
    """Return a value as text; errors and effects have three digits, ratios near 1 more."""
    if isinstance(value, float) and " ratio per " in name and 0.0 < abs(value - 1.0) < 0.1:
        return f"{value:.{min(1 - math.floor(math.log10(abs(value - 1.0))), 9)}f}"
    few = isinstance(value, float) and (name == "s.e." or " per " in name)
    return three_digits(value) if few else cell(value)
