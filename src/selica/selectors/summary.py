"""The table a person reads after a selection."""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
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
TEXT_WIDTH = 80
"""Signs in a line of text that is printed."""
_NARROWEST = 16
"""Signs of a name that a printed table shows at least."""
_MEMBER_SIGNS = 400
"""Signs of the names of members that a table for readers shows; files have all of them."""
_MOST_LEVELS = 3
"""Levels of a variable that a table lists."""
_REFERENCE = "the rest"
"""The level of a category that has no column, where its name is not known."""
_SHARES = ("probability", "inclusion rate")
"""Columns of shares, which have as many decimals in every row."""
_WORDS = ("variable", "group", "in this group", "identical to", "nearly identical to")
"""Columns that are set to the left."""
_CUT = (*_WORDS, "direction")
"""Columns that are cut where a printed table is too wide, in turn."""
_MORE = re.compile(r" and [\d,]+ more$")
"""How names of groups end that name one of several members."""


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
        rows = self.variables.rows[: self.shown]
        hidden = len(self.variables) - len(rows)
        columns = reader_columns(rows)
        lines, below = _text_table(rows, columns)
        unseen = {*self.variables.columns} - {*columns}
        said = {name: text for name, text in self.explanations.items() if name not in unseen}
        if hidden > 0:
            lines.append(f"... and {hidden:,} more {self.unit}s")
        return "\n".join([*lines, *below, "", *map(wrapped, _sentences(said))])

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


def wrapped(text: str) -> str:
    """Return sentences in lines that fit a terminal; what is longer than a line stays whole."""
    return textwrap.fill(text, TEXT_WIDTH, break_long_words=False, break_on_hyphens=False)


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

    The column "selected" is not among them: the order, and a line, say which rows are. Nor is
    "s.e.": a close call says what it means for the decision, and figures draw it.
    """
    if not rows:
        return []
    ratios = any(" ratio per " in name for name in rows[0])
    return [
        name
        for name in rows[0]
        if name not in ("selected", "s.e.")
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


def _rounded(values: Array) -> Array:
    """Return values to some significant digits, so that rounding breaks no ties."""
    size = np.abs(np.nan_to_num(values))
    with np.errstate(divide="ignore"):
        power = np.floor(np.log10(np.where(size > 0.0, size, 1.0)))
    unit = 10.0 ** np.clip(power - _DIGITS, -300.0, 300.0)
    return np.asarray(np.where(np.isfinite(values), np.round(values / unit) * unit, values))


def _text_table(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return rows as lines of text, headings in two lines, selected rows before the others.

    Where members of groups make the table too wide, they are the lines below it, which are
    returned as well, and effects of a unit are left out if that is not enough.
    """
    columns, heads = list(columns), [_two_lines(name) for name in columns]
    cells = [[column_cell(name, row[name]) for name in columns] for row in rows]

    def widths() -> list[int]:
        return [
            max(text_width(x) for x in (*head, *(line[i] for line in cells)))
            for i, head in enumerate(heads)
        ]

    def beyond() -> int:
        return sum(widths()) + 2 * (len(columns) - 1) - TEXT_WIDTH

    members = "in this group" in columns and beyond() > 0
    per_unit = [name for name in columns if members and name.endswith(" per unit")]
    for name in ["in this group", *per_unit] if members else []:
        if beyond() > 0:
            place = columns.index(name)
            columns = [one for one in columns if one != name]
            del heads[place]
            for row in cells:
                del row[place]
    for name in _CUT:
        if name in columns and beyond() > 0:
            place = columns.index(name)
            most = max(widths()[place] - beyond(), _NARROWEST)
            for row, short in zip(cells, _cut([c[place] for c in cells], most), strict=True):
                row[place] = short
    wide = widths()

    def line(values: Iterable[str]) -> str:
        parts = []
        for name, value, width in zip(columns, values, wide, strict=True):
            space = " " * (width - text_width(value))
            parts.append(value + space if name in _WORDS else space + value)
        return "  ".join(parts).rstrip()

    lines = [line(part) for part in zip(*heads, strict=True) if any(part)]
    chosen = sum(bool(row["selected"]) for row in rows)
    lines += [line(values) for values in cells[:chosen]]
    if 0 < chosen < len(rows):
        lines += ["", "Not selected, the closest first:"]
    lines += [line(values) for values in cells[chosen:]]
    return lines, _member_lines(rows[:chosen]) if members else []


def _member_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the members of groups that have several, a paragraph each, below a heading."""
    several = [row for row in rows if row["members"] > 1]
    texts = [
        textwrap.fill(
            f"{row['rank']:4}  {column_cell('in this group', row['in this group'])}",
            TEXT_WIDTH, subsequent_indent=" " * 6, break_long_words=False, break_on_hyphens=False,
        )
        for row in several
    ]  # fmt: skip
    return ["", "In this group, by rank:", *texts] if texts else []


def text_width(text: str) -> int:
    """Return how many places of a terminal a text takes: those of East Asia take two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(sign) else 1 + (unicodedata.east_asian_width(sign) in "WF")
        for sign in text
    )


def _cut(texts: Sequence[str], most: int) -> list[str]:
    """Return texts cut in the middle; whole where others would look the same.

    That a group has more members than its name says is never cut.
    """
    ends = [found.group() if (found := _MORE.search(text)) else "" for text in texts]
    short = [
        middle_cut(text.removesuffix(end), most - len(end)) + end
        for text, end in zip(texts, ends, strict=True)
    ]
    alike = {text for text in short if short.count(text) > 1}
    return [
        whole if text in alike and text != whole else text
        for text, whole in zip(short, texts, strict=True)
    ]


def list_cut(text: str, most: int) -> str:
    """Return as many of some names as fit, whole, and an ellipsis for the rest."""
    if text_width(text) <= most:
        return text
    first, *names = text.split(", ")
    shown = middle_cut(first, most - 3)
    for name in names:
        if text_width(f"{shown}, {name}, \N{HORIZONTAL ELLIPSIS}") > most:
            break
        shown = f"{shown}, {name}"
    return f"{shown}, \N{HORIZONTAL ELLIPSIS}"


def middle_cut(text: str, most: int) -> str:
    """Return a text that fits: whole, or its first and last signs."""
    if text_width(text) <= most:
        return text
    first, last = text, text
    while text_width(first) > (most - 1) // 2:
        first = first[:-1]
    while text_width(last) > most // 2:
        last = last[1:]
    return f"{first}\N{HORIZONTAL ELLIPSIS}{last}"


def _two_lines(heading: str) -> tuple[str, str]:
    """Return a heading of several words in two lines, the second of which is never empty."""
    first, space, second = heading.partition(" per ")
    if space:
        return first, f"per {second}"
    if heading in ("close call", "false at most", "inclusion rate"):
        first, _, second = heading.partition(" ")
        return first, second
    return "", heading


def column_cell(name: str, value: Any) -> str:
    """Return a value as text: numbers have three digits, ratios near 1 more."""
    if name == "in this group":
        return list_cut(str(value), _MEMBER_SIGNS)
    if not isinstance(value, float):
        return cell(value)
    if name in _SHARES:
        return f"{value:.3f}"
    if " ratio per " in name and 0.0 < abs(value - 1.0) < 0.1:
        return f"{value:.{min(1 - math.floor(math.log10(abs(value - 1.0))), 9)}f}"
    return three_digits(value)
