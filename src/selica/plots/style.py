"""One visual language: a colour and a dash pattern for each method, legible in grey."""

from __future__ import annotations

from typing import Any, NamedTuple


class LineStyle(NamedTuple):
    """How the lines of a method look everywhere in the library."""

    label: str
    colour: str
    dash: str | tuple[float, tuple[float, ...]]


# Colours of Okabe and Ito (2008), told apart by colour-blind readers; dashes for grey print.
_STYLES = {
    "lasso": LineStyle("lasso, penalty moved", "#999999", (0, (1, 1))),
    "thresholded_lasso": LineStyle("thresholded lasso", "#000000", (0, (5, 1, 1, 1))),
    "stability": LineStyle("stability selection", "#0072B2", "solid"),
    "knockoff": LineStyle("knockoff, one copy", "#E69F00", (0, (4, 2))),
    "derandomized": LineStyle("derandomized knockoff", "#D55E00", "solid"),
}
# Stability selection at the second, third, ... resampling rate of a figure.
_MORE_RATES = (("#56B4E9", (0, (6, 1.5))), ("#009E73", (0, (3, 1))), ("#CC79A7", (0, (2, 1))))


def line_style(method: str, mu_B: float | None = None, rank: int = 0) -> LineStyle:
    """Style of a method; `rank` tells several resampling rates of one figure apart."""
    style = _STYLES[method]
    if mu_B is None:
        return style
    label = f"{style.label}, rate {mu_B:g}"
    if rank == 0:
        return style._replace(label=label)
    colour, dash = _MORE_RATES[(rank - 1) % len(_MORE_RATES)]
    return LineStyle(label, colour, dash)


RC: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 10,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
}
