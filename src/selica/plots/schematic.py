"""Boxes and dots for drawings that explain."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def box(
    axes: Axes,
    corner: tuple[float, float],
    size: tuple[float, float],
    *,
    colour: str,
    fill: str = "none",
    width: float = 1.2,
) -> None:
    """Draw a box with round corners; `corner` is its lower left one."""
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(
        FancyBboxPatch(
            corner,
            *size,
            boxstyle="round,pad=0,rounding_size=0.08",
            ec=colour,
            fc=fill,
            lw=width,
        )
    )


def dot(axes: Axes, centre: tuple[float, float], text: str, colour: str) -> None:
    """Draw a replica: a disc with its name."""
    from matplotlib.patches import Circle

    axes.add_patch(Circle(centre, 0.32, ec=colour, fc="white", lw=1.2, zorder=3))
    axes.text(*centre, text, ha="center", va="center", fontsize=7.5, color="black", zorder=4)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Draw a grey arrow."""
    axes.annotate(
        "", end, xytext=start, arrowprops={"arrowstyle": "-|>", "color": "0.45", "lw": 1.1}
    )
