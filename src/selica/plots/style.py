"""One visual language: a colour, a dash and a marker for each method, legible in grey.

Lines are theory, markers are finite systems. How a method looks is in the catalogue.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from selica import catalogue
from selica.catalogue import Dash


class LineStyle(NamedTuple):
    """How a method looks everywhere in the library."""

    label: str
    colour: str
    dash: Dash
    marker: str


# Stability selection at the second, third, ... resampling rate of a figure.
_MORE_RATES = (
    ("#56B4E9", (0, (6, 1.5)), "D"),
    ("#009E73", (0, (3, 1)), "^"),
    ("#CC79A7", (0, (2, 1)), "p"),
)
# Quantities of one method in one panel, in the order they are drawn.
_QUANTITIES = (
    ("#0072B2", "solid", "o"),
    ("#D55E00", (0, (6, 1.5)), "s"),
    ("#009E73", (0, (3, 1)), "^"),
    ("#CC79A7", (0, (1, 1)), "D"),
    ("#56B4E9", (0, (8, 2)), "P"),
    ("#E69F00", (0, (3, 1, 1, 1, 1, 1)), "X"),
    ("#999999", "solid", "*"),
    ("#000000", (0, (5, 1, 1, 1)), "v"),
)


def line_style(method: str, mu_B: float | None = None, rank: int = 0) -> LineStyle:
    """Return the style of a method.

    Parameters
    ----------
    method : str
        A name of the catalogue; any other name has a style by its rank.
    mu_B : float, optional
        Resampling rate, for the label.
    rank : int
        Tells several resampling rates of one figure apart, or names that no method has.
    """
    known = catalogue.METHODS.get(method)
    if known is None:
        return quantity_style(method, rank)
    style = LineStyle(known.label, known.colour, known.dash, known.marker)
    if mu_B is None:
        return style
    label = f"{style.label}, rate {mu_B:g}"
    if rank == 0:
        return style._replace(label=label)
    colour, dash, marker = _MORE_RATES[(rank - 1) % len(_MORE_RATES)]
    return LineStyle(label, colour, dash, marker)


def quantity_style(label: str, rank: int) -> LineStyle:
    """Return the style of the quantity number `rank` in a panel that belongs to one method."""
    return LineStyle(label, *_QUANTITIES[rank % len(_QUANTITIES)])


RC: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 10,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
