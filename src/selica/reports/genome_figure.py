"""Markers along the genome as a part of a page: chromosomes side by side."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from selica.plots.genome import Genome, fewer_points
from selica.selectors import Summary

STYLE = """
.genome { display: block; width: 100%; overflow: visible; font-size: 11px; }
.genome text { fill: var(--soft, currentColor); }
@media (max-width: 600px) { .genome .rare { display: none; } }
.genome .odd { fill: var(--soft, #5b6b7a); stroke: var(--soft, #5b6b7a); }
.genome .even { fill: var(--faint, #a9b4be); stroke: var(--faint, #a9b4be); }
.genome .on { fill: var(--accent, #0072b2); stroke: var(--accent, #0072b2); }
.genome .mark { stroke: var(--mark, #d55e00); stroke-width: 1.5; stroke-dasharray: 4 3; }
.genome .strip { fill: var(--ink, #333333); }
"""
"""Style of the figure; colours are variables of the page around it."""
_HEIGHT = 170
"""Height of the values, in pixels."""
_MARGIN = 8
"""Room above them, in pixels."""
_STRIP = 8
"""Height of the strip of a chromosome, in pixels."""
_SIGN = 1.1
"""Width of a sign of the names of chromosomes, in per cent."""
_NARROW_SIGN = 2.2
"""The same on a telephone, where some names are left out."""


def genome_svg(summary: Summary, markers: Any, threshold: float | None) -> str:
    """Draw what was measured of the markers of a table against their places, as SVG.

    Parameters
    ----------
    summary : Summary
        Its table has the columns chromosome and position.
    markers : Markers
        All of them: they make the axis.
    threshold : float, optional
    """
    genome = Genome.of(markers.chromosome, markers.position)
    number = {name: j for j, name in enumerate(markers.name)}
    rows = [row for row in summary.variables if row[summary.measure] is not None]
    own = np.array([number[row["variable"]] for row in rows], dtype=np.intp)
    value = np.maximum(np.array([float(row[summary.measure]) for row in rows]), 0.0)
    chosen = np.array([bool(row["selected"]) for row in rows], dtype=bool)
    place, which = genome.place[own], genome.which[own]
    top = 1.04 * max(float(value.max(initial=0.0)), threshold or 0.0) or 1.0
    small, larger = fewer_points(place, value, chosen)

    def level(one: float) -> str:
        return f"{_MARGIN + _HEIGHT * (1.0 - one / top):.1f}"

    bottom = level(0.0)
    parts = [
        f'<svg class="genome" role="img" width="100%" height="{_MARGIN + _HEIGHT + 34}" '
        f'aria-label="{escape(summary.measure)} along the genome">'
    ]
    for j in small:
        x, kind = f"{100 * place[j]:.2f}%", _kind(which[j])
        parts.append(
            f'<line class="{kind}" x1="{x}" x2="{x}" y1="{bottom}" y2="{level(value[j])}"/>'
        )
    for j in larger[np.argsort(chosen[larger], kind="stable")]:  # selected ones on top
        kind, size = ("on", 3.5) if chosen[j] else (_kind(which[j]), 1.5)
        title = f"<title>{escape(rows[j]['variable'])}</title>" if chosen[j] else ""
        parts.append(
            f'<circle class="{kind}" cx="{100 * place[j]:.2f}%" cy="{level(value[j])}" '
            f'r="{size}">{title}</circle>'
        )
    if threshold is not None:
        y = level(threshold)
        parts.append(f'<line class="mark" x1="0" x2="100%" y1="{y}" y2="{y}"/>')
    return "".join([*parts, *_strips(genome), "</svg>"])


def _kind(chromosome: int) -> str:
    return "even" if chromosome % 2 else "odd"


def _strips(genome: Genome) -> list[str]:
    """Return a strip for each chromosome, darker where there are more markers, with its name."""
    edges, density = genome.density(200)
    y, parts, last, last_narrow = _MARGIN + _HEIGHT + 6, list[str](), -1.0, -1.0
    for left, right, one in zip(edges[:-1], edges[1:], density, strict=True):
        parts.append(
            f'<rect class="strip" x="{100 * left:.2f}%" y="{y}" width="{100 * (right - left):.2f}%"'
            f' height="{_STRIP}" opacity="{0.1 + 0.45 * one:.2f}"/>'
        )
    for name, middle in zip(genome.chromosomes, genome.middle, strict=True):
        half = 0.5 * _SIGN * (len(name) + 1)
        if 100 * middle - half < last:
            continue
        last = 100 * middle + half
        wide = _NARROW_SIGN / _SIGN * half
        fits = 100 * middle - wide >= last_narrow
        last_narrow = 100 * middle + wide if fits else last_narrow
        kind = "" if fits else ' class="rare"'
        parts.append(
            f'<text{kind} x="{100 * middle:.2f}%" y="{y + _STRIP + 14}" text-anchor="middle">'
            f"{escape(name)}</text>"
        )
    return parts
