"""Direction and size of effects as columns of a summary, in the words of response and levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from selica._core.types import IntArray
from selica._core.validation import written
from selica.selectors.refit import RefitEffects
from selica.selectors.summary import TableColumn

_MOST_LEVELS = 3
"""Levels of a variable that a table lists."""
_REFERENCE = "the rest"
"""The level of a category that has no column, where its name is not known."""


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
    # a direction such as "m > f" has the sign, whichever of the levels has the column
    paired = np.array([names.is_pair(int(j)) for j in effects.variables], dtype=bool)
    sizes = {
        unit: np.where(paired, np.abs(values), values)
        for unit, values in (("SD", effects.per_sd), ("unit", effects.per_unit))
    }
    for unit, values in sizes.items():
        each = [_known(values[place[j]]) if j in place else None for j in range(p)]
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
    references: Sequence[str] = ()
    """For each variable, the level that has no column; empty for numbers."""
    grouped: bool = False
    """Whether these are groups of variables; those with several members have no direction."""

    def of(self, effects: RefitEffects, variable: int, place: int | None) -> str | None:
        """Return the direction of a variable: a sign, a class, or levels from high to low."""
        if place is not None and effects.levels[place]:
            ordered = sorted(effects.levels[place], key=lambda one: -one[1])
            levels = [self.level(column, variable) for column, _ in ordered]
            if len(levels) > _MOST_LEVELS:
                levels = [levels[0], "...", levels[-1]]
            return " > ".join(levels)
        if self.several:
            assert self.classes is not None
            if self.grouped and np.count_nonzero(self.variable == variable) > 1:
                return None
            return written(self.classes[effects.direction[variable]])
        sign = int(effects.direction[variable])
        level = self._only_level(variable)
        if level is None or sign == 0:
            return {1: "+", -1: "-"}.get(sign)
        reference = self.level(-1, variable)
        return f"{level} > {reference}" if sign > 0 else f"{reference} > {level}"

    def is_pair(self, variable: int) -> bool:
        """Tell whether a variable is a category of two levels, which has one column."""
        return self._only_level(variable) is not None

    def _only_level(self, variable: int) -> str | None:
        """Return the level of a variable with two of them, which has one column; else None."""
        if not self.columns:
            return None
        own = np.array([variable])
        if self.variable is not None:
            own = np.flatnonzero(self.variable == variable)
        if own.size != 1 or self.columns[own[0]] == self.names[variable]:
            return None
        return self.level(int(own[0]), variable)

    def level(self, column: int, variable: int) -> str:
        """Return the level of an indicator column: "tissue: liver" is liver; -1 has no column."""
        if column < 0:
            return (self.references[variable] if self.references else "") or _REFERENCE
        if column >= len(self.columns):
            return f"level {column}"
        return self.columns[column].removeprefix(f"{self.names[variable]}: ")

    @property
    def categories(self) -> bool:
        """Whether any of the variables has levels."""
        if not self.columns:
            return False
        owner = range(len(self.columns)) if self.variable is None else self.variable
        names = [self.names[j] for j in owner]
        return any(
            column.startswith(f"{name}: ") for column, name in zip(self.columns, names, strict=True)
        )

    @property
    def meaning(self) -> str:
        """What a direction says, as a clause."""
        if self.several:
            return "the class that becomes more likely as the variable rises"
        rises = {
            "count": "the rate rises with the variable, - it falls",
            "survival": "events come earlier where the variable is larger, - later",
        }.get(self.response, "the response rises with the variable, - it falls")
        if self.classes is not None and len(self.classes) == 2:
            rises = f"{written(self.classes[1])} becomes more likely as the variable rises, - less"
        levels = (
            '; of a category, its levels from high to low, such as "a > b"'
            if self.categories
            else ""
        )
        if self.grouped:
            levels += "; a group with several members has none"
        return f"+ {rises}{levels}; a variable that is not selected is looked at alone"

    def size(self, effects: RefitEffects) -> str:
        """Say what the size of an effect is, and how it was measured, as a clause."""
        what = {
            None: "the response changes by this",
            "odds ratio": f"the odds of {self._odds} are multiplied by this",
            "rate ratio": "the rate is multiplied by this",
            "hazard ratio": "the hazard of an event is multiplied by this",
        }[effects.ratio]
        levels = ""
        if any(effects.levels) or any(self.is_pair(int(j)) for j in effects.variables):
            levels = (
                "; of a category, per SD is the spread of its effects, and per unit the largest "
                "difference between two levels"
            )
        if self.grouped:
            levels += (
                "; of a group with several members, per SD is the spread of what they contribute "
                "together"
            )
        return (
            f"{what} for one standard deviation (SD), or one unit, more of the variable, where the "
            f"others stay the same{levels}; {effects.note}"
        )

    @property
    def _odds(self) -> str:
        """Whose odds an odds ratio multiplies."""
        if self.several:
            return "the class in the direction, against the class that falls most,"
        return "1" if self.classes is None else written(self.classes[1])


def _known(value: float) -> float | None:
    """Return an effect; None where there is none, as for a unit of a group."""
    return float(value) if np.isfinite(value) else None


def _power(value: float) -> float | None:
    """Return the exponential of an effect; None where that is no number."""
    with np.errstate(over="ignore", under="ignore"):
        ratio = float(np.exp(value))
    return ratio if np.isfinite(ratio) else None
