"""The table a person reads after a selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selica._core.table import Table
from selica._core.types import Array, BoolArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Summary:
    """Variables with what was measured of them, the decision, and what it promises.

    `print` shows the selected variables and the near misses; `to_frame` has all of them.

    Examples
    --------
    >>> from selica import LassoSelection
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> found = LassoSelection(lam=0.3).fit(data.X, data.y).summary()
    >>> found.title
    'Lasso at lam = 0.3: 3 of 30 variables'
    >>> [row["variable"] for row in found.variables if row["selected"]]
    ['x25', 'x11', 'x8']
    """

    title: str
    variables: Table
    """One row for each variable, the most important first; columns variable, selected, ..."""
    guarantee: str
    notes: tuple[str, ...]
    shown: int
    """How many rows are printed."""

    def to_frame(self) -> pd.DataFrame:
        """Return all variables as a data frame (needs pandas)."""
        return self.variables.to_frame()

    def __str__(self) -> str:
        rows = self.variables.rows[: self.shown]
        columns = self.variables.columns
        cells = [[cell(row[c]) for c in columns] for row in rows]
        widths = [max(len(x) for x in (c, *(line[i] for line in cells))) for i, c in
                  enumerate(columns)]  # fmt: skip

        def line(values: Any) -> str:
            padded = [
                v.ljust(w) if i == 0 else v.rjust(w)
                for i, (v, w) in enumerate(zip(values, widths, strict=True))
            ]
            return "  ".join(padded).rstrip()

        hidden = len(self.variables) - len(rows)
        text = [self.title, "", line(columns), *map(line, cells)]
        if hidden > 0:
            text.append(f"... and {hidden} more variables")
        return "\n".join([*text, "", self.guarantee, *self.notes])

    def __repr__(self) -> str:
        return str(self)


def cell(value: Any) -> str:
    """Return a value of the table as a person reads it; None is blank, as "-" is a sign."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def frequency_table(
    names: list[str],
    probability: Array,
    sign: Array,
    selected: BoolArray,
    close: BoolArray,
    error: Array | None,
) -> Table:
    """Return the variables by probability, with its standard error and close decisions."""
    order = sorted(range(len(names)), key=lambda j: (-probability[j], j))
    return Table.of(
        {
            "variable": names[j],
            "selected": bool(selected[j]),
            "probability": float(probability[j]),
            "error": None if error is None else float(error[j]),
            "sign": {1.0: "+", -1.0: "-"}.get(float(sign[j])),
            "close": bool(close[j]),
        }
        for j in order
    )
