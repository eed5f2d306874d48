"""Discoveries along the genome: chromosomes side by side, selected markers with their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.validation import short
from selica.plots import arguments as check
from selica.plots.genome import Genome, fewer_points, spread_labels
from selica.plots.style import RC

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHADES = ("#5b6b7a", "#a9b4be")
"""Colours of markers on odd and even chromosomes."""
_CHOSEN = "#0072B2"
"""Colour of selected markers."""
_LINE = "#d55e00"
"""Colour of the threshold."""
_MOST_LABELS = 40
"""Names that are written, at most."""
_SIGN = 0.082
"""Width of a sign of a label that stands upright, in inches: its height."""
_MEGABASES = 1e6
"""Base pairs in the unit of the axis of one chromosome."""


def plot_manhattan(
    markers: Any,
    value: Any,
    selected: Any = None,
    *,
    measure: str = "selection probability",
    threshold: float | None = None,
    bands: Mapping[str, Sequence[tuple[str, float, float]]] | None = None,
    title: str = "",
    size: tuple[float, float] = (9.0, 4.0),
) -> Figure:
    """Draw a value of each marker against its position, chromosome beside chromosome.

    Below it is a strip for each chromosome, the darker the more markers there are. Of many markers
    as many are drawn as can be told apart, so that half a million make a small file.

    Parameters
    ----------
    markers : Markers
        Their `chromosome`, `position` and `name` are used.
    value : array of shape (p,)
        Such as the probability of selection; not negative values are drawn, others are at 0.
    selected : boolean array of shape (p,), optional
        Markers that are drawn in colour, with their names.
    measure : str
        What the value is.
    threshold : float, optional
        Where a line is drawn.
    bands : mapping of str to list of (chromosome, first, last), optional
        Selected regions, for each resolution, in base pairs: a row of bars for each.
    title : str
    size : tuple of float
        Width and height in inches.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.plots import plot_manhattan
    >>> from selica.tables.genotypes import Markers
    >>> markers = Markers.of(["1"] * 50 + ["2"] * 50, range(100), [*range(50)] * 2, "A" * 100,
    ...                      "C" * 100)
    >>> value = np.random.default_rng(0).random(100)
    >>> figure = plot_manhattan(markers, value, value > 0.95, threshold=0.95)
    >>> figure.axes[0].get_ylabel()
    'selection probability'
    """
    if not all(hasattr(markers, name) for name in ("chromosome", "position", "name")):
        raise ArgumentError(f"markers must be a table of markers; got {short(markers)}.")
    genome = Genome.of(markers.chromosome, markers.position)
    p = genome.place.size
    heights = np.maximum(check.numbers("value", value, (p,)), 0.0)
    chosen = np.zeros(p, dtype=bool) if selected is None else np.asarray(selected)
    if chosen.shape != (p,) or chosen.dtype != bool:
        raise ArgumentError(f"selected must be True or False for each of {p} markers.")
    check.text("measure", measure)
    check.text("title", title)
    limit = None if threshold is None else check.number("threshold", threshold)
    rows = _bands(bands, genome)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**RC, "axes.grid": False}):
        figure = Figure(figsize=size)
        ratios = [10.0, *([0.55 * len(rows)] if rows else []), 0.5]
        panels = figure.subplots(len(ratios), 1, sharex=True, height_ratios=ratios)
    top = panels[0]
    _points(top, genome, heights, chosen)
    most = max(float(heights.max(initial=0.0)), limit if limit and np.isfinite(limit) else 0.0)
    top.set_ylim(0.0, 1.08 * most or 1.0)
    if limit is not None and np.isfinite(limit):
        top.axhline(limit, color=_LINE, ls=(0, (4, 3)), lw=1.0, zorder=1)
        top.text(
            1.006, limit, f"{limit:.3g}", color=_LINE, fontsize=8, va="center",
            transform=top.get_yaxis_transform(),
        )  # fmt: skip
    _names(top, genome, markers.name, heights, chosen, size)
    top.set_ylabel(measure)
    if title:
        figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    if rows:
        _draw_bands(panels[1], rows)
    _strip(panels[-1], genome, size[0])
    for panel in panels[:-1]:
        panel.tick_params(bottom=False, labelbottom=False)
        panel.spines["bottom"].set_visible(False)
    panels[-1].set_xlim(-0.004, 1.004)
    return figure


def _points(axes: Axes, genome: Genome, heights: Any, chosen: Any) -> None:
    """Draw small values as bars of their bins, larger ones as points."""
    small, larger = fewer_points(genome.place, heights, chosen)
    for parity, colour in enumerate(_SHADES):
        own = small[genome.which[small] % 2 == parity]
        axes.vlines(genome.place[own], 0.0, heights[own], color=colour, lw=0.8, alpha=0.8)
        own = larger[(genome.which[larger] % 2 == parity) & ~chosen[larger]]
        axes.plot(genome.place[own], heights[own], "o", ms=2.2, mew=0.0, color=colour)
    own = np.flatnonzero(chosen)
    axes.vlines(genome.place[own], 0.0, heights[own], color=_CHOSEN, lw=0.7, alpha=0.45)
    axes.plot(genome.place[own], heights[own], "o", ms=4.2, mew=0.0, color=_CHOSEN, zorder=4)


def _names(
    axes: Axes, genome: Genome, names: Any, heights: Any, chosen: Any, size: tuple[float, float]
) -> None:
    """Write the names of selected markers upright above the panel, as many as fit."""
    own = np.flatnonzero(chosen)
    own = own[np.argsort(-heights[own], kind="stable")]
    width = 1.6 * _SIGN / (size[0] - 1.0)
    for k in spread_labels(genome.place[own].tolist(), width)[:_MOST_LABELS]:
        j = own[k]
        axes.annotate(
            _cut(str(names[j])), (genome.place[j], 1.0), xycoords=("data", "axes fraction"),
            xytext=(0, 2), textcoords="offset points", rotation=90, fontsize=6.5, color=_CHOSEN,
            ha="center", va="bottom", annotation_clip=False,
        )  # fmt: skip


def _cut(name: str) -> str:
    return name if len(name) <= 14 else f"{name[:6]}…{name[-7:]}"


def _strip(axes: Axes, genome: Genome, width: float) -> None:
    """Draw a strip for each chromosome, darker where there are more markers, with its name."""
    from matplotlib.patches import FancyBboxPatch

    edges, density = genome.density()
    axes.set_ylim(0.0, 1.0)
    for start, end in zip(genome.start, genome.end, strict=True):
        inside = (edges[1:] > start) & (edges[:-1] < end)
        left = np.maximum(edges[:-1][inside], start)
        right = np.minimum(edges[1:][inside], end)
        shades = [str(0.95 - 0.45 * one) for one in density[inside]]
        axes.bar(left, 0.8, right - left, 0.1, align="edge", color=shades, lw=0)
        axes.add_patch(
            FancyBboxPatch(
                (start, 0.1), end - start, 0.8, boxstyle="round,pad=0,rounding_size=0.003",
                fc="none", ec="0.35", lw=0.7, mutation_aspect=60,
            )
        )  # fmt: skip
    axes.set_yticks([])
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.tick_params(bottom=False, labelsize=7.5, pad=1)
    if len(genome.chromosomes) == 1:
        _megabases(axes, genome)
        return
    names, last = [], -1.0
    for name, middle in zip(genome.chromosomes, genome.middle, strict=True):
        room = 0.075 * len(name) / (width - 1.0) + 0.004
        fits = middle - room / 2.0 >= last
        names.append(name if fits else "")
        last = middle + room / 2.0 if fits else last
    axes.set_xticks(genome.middle, names)
    axes.set_xlabel("chromosome", fontsize=9)


def _megabases(axes: Axes, genome: Genome) -> None:
    """Write positions in megabases below the only chromosome."""
    from matplotlib.ticker import MaxNLocator

    low, high = genome.first[0], genome.first[0] + genome.length[0]
    ticks = [
        tick
        for tick in MaxNLocator(8).tick_values(low / _MEGABASES, high / _MEGABASES)
        if low <= tick * _MEGABASES <= high
    ]
    places = [(tick * _MEGABASES - low) / genome.length[0] for tick in ticks]
    axes.set_xticks(places, [f"{tick:g}" for tick in ticks])
    axes.set_xlabel(f"position on chromosome {genome.chromosomes[0]} (Mb)", fontsize=9)


def _bands(bands: Any, genome: Genome) -> dict[str, list[tuple[float, float]]]:
    """Return regions of each resolution as places on the axis."""
    if bands is None:
        return {}
    if not isinstance(bands, Mapping):
        raise ArgumentError(f"bands must map resolutions to regions; got {short(bands)}.")
    number = {name: k for k, name in enumerate(genome.chromosomes)}
    out: dict[str, list[tuple[float, float]]] = {}
    for resolution, regions in bands.items():
        row = out.setdefault(str(resolution), [])
        for chromosome, first, last in regions:
            if str(chromosome) not in number:
                raise ArgumentError(f"bands: there is no marker on chromosome {chromosome!r}.")
            k = number[str(chromosome)]
            scale = (genome.end[k] - genome.start[k]) / genome.length[k]
            left, right = (
                float(genome.start[k] + scale * (np.clip(base, genome.first[k],
                      genome.first[k] + genome.length[k]) - genome.first[k]))
                for base in (first, last)
            )  # fmt: skip
            row.append((left, right))
    return out


def _draw_bands(axes: Axes, rows: Mapping[str, Sequence[tuple[float, float]]]) -> None:
    """Draw a row of bars for each resolution; narrow regions stay visible."""
    least = 0.0025
    for place, regions in enumerate(rows.values()):
        bars = [
            (min(left, 0.5 * (left + right - least)), max(right - left, least))
            for left, right in regions
        ]
        axes.axhspan(place + 0.08, place + 0.92, color="0.95", lw=0)
        axes.broken_barh(bars, (place + 0.15, 0.7), color=_CHOSEN, lw=0)
    axes.set_ylim(len(rows), 0)
    axes.set_yticks([k + 0.5 for k in range(len(rows))], list(rows), fontsize=7.5)
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
