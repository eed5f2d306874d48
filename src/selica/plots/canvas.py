"""Figures, panels and legends in the style of the library."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selica.plots.style import RC, LineStyle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Numbers = Sequence[float] | Any


def canvas(
    rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 4.2), **shared: Any
) -> tuple[Figure, Any]:
    """Make a figure and its panels, an array of shape (rows, columns)."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(RC):
        figure = Figure(figsize=size)
        return figure, figure.subplots(rows, columns, squeeze=False, **shared)


def line(axes: Axes, x: Numbers, y: Numbers, style: LineStyle, **change: Any) -> None:
    """Draw what the theory says: a line in the colour and dash of its method."""
    settings = {"color": style.colour, "ls": style.dash, "lw": 1.6, "label": style.label}
    axes.plot(x, y, **(settings | change))


def markers(
    axes: Axes, x: Numbers, y: Numbers, errors: Numbers, style: LineStyle, **change: Any
) -> None:
    """Draw what finite systems did: open markers with standard errors, without a line."""
    settings: dict[str, Any] = {
        "color": style.colour,
        "marker": style.marker,
        "ls": "none",
        "mfc": "white",
        "ms": 4.5,
        "mew": 1.1,
        "elinewidth": 0.9,
        "capsize": 1.5,
        "zorder": 3,
    }
    axes.errorbar(x, y, yerr=errors, **(settings | change))


def letter(axes: Axes, text: str) -> None:
    """Name a panel, above its left corner."""
    axes.set_title(text, loc="left", fontsize=9)


def note(axes: Axes, text: str, at: tuple[float, float], offset: tuple[float, float]) -> None:
    """Write a few small words beside a point; the offset is in points of print."""
    axes.annotate(text, at, xytext=offset, textcoords="offset points", fontsize=8, color="0.4")


def legend(target: Axes | Figure, **where: Any) -> None:
    """Draw a legend without a frame; on a figure, below all panels and each label once."""
    settings: dict[str, Any] = {"frameon": False, "fontsize": 8.5}
    if hasattr(target, "get_axes") and not hasattr(target, "plot"):
        found: dict[str, Any] = {}
        for axes in target.get_axes():
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                found.setdefault(label, handle)
        settings |= {"loc": "outside lower center", "ncols": 4}
        target.legend(list(found.values()), list(found), **(settings | where))
    else:
        target.legend(**(settings | where))


def save(figure: Figure, paths: Iterable[Path]) -> None:
    """Write a figure; the same figure gives the same file, without the date in it."""
    for path in paths:
        dated = {"CreationDate": None} if path.suffix == ".pdf" else {"Software": None}
        path.write_bytes(image(figure, path.suffix, dpi=200, metadata=dated))
        figure.set_layout_engine("none")  # it is laid out now


def image(figure: Figure, suffix: str, **settings: Any) -> bytes:
    """Return a figure as the content of a file: drawn first, so that writing fails on its own."""
    file = io.BytesIO()
    figure.savefig(file, format=suffix.lower().removeprefix("."), **settings)
    return file.getvalue()
