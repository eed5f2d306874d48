"""Bounds on the false variables of the first ones, as a part of a page."""

from __future__ import annotations

from collections.abc import Sequence

from selica.selectors import BoundCurve

STYLE = """
.bars .area { fill: var(--accent, #0072b2); opacity: .22; }
.bars .bound { fill: var(--mark, #d55e00); fill-opacity: .2; stroke: var(--mark, #d55e00);
  stroke-width: 1.5; vector-effect: non-scaling-stroke; }
"""
"""Style of the figure, beside that of bars; colours are variables of the page around it."""
_HEIGHT = 228
"""Height of a curve with its axes, in pixels."""
_TOP = 26
"""Height of the title of the upright axis, in pixels."""
_AXIS = 9.0
"""Width of the numbers beside a curve, in per cent."""


def bound_svg(curve: BoundCurve, chosen: int) -> str:
    """Return bounds against the lengths of lists as SVG: false below the line, true above it.

    Parameters
    ----------
    curve : BoundCurve
    chosen : int
        Length of the list that was selected, which is marked; 0 for none.
    """
    most, bottom = int(curve.size[-1]), _HEIGHT - 36

    def steps(heights: Sequence[int]) -> list[str]:
        ends = zip([0, *curve.size.tolist()], curve.size.tolist(), heights, strict=False)
        return [f"{x} {most - height}" for a, b, height in ends for x in (a, b)]

    line, all_of = steps(curve.false.tolist()), steps(curve.size.tolist())
    above = "M" + " L".join([*line, *reversed(all_of)]) + " Z"
    below = "M" + " L".join([f"0 {most}", *line, f"{most} {most}"]) + " Z"
    at = f"{_AXIS:g}"
    width = 100.0 - _AXIS - 2.0
    parts = [
        f'<svg class="bars" role="img" aria-label="false {curve.unit}s, at most" width="100%" '
        f'height="{_HEIGHT}">',
        f'<svg x="{at}%" y="{_TOP}" width="{width:g}%" height="{bottom - _TOP}" '
        f'viewBox="0 0 {most} {most}" preserveAspectRatio="none">',
        f'<path class="area" d="{above}"/>',
        f'<path class="bound" d="{below}"/>',
    ]
    if chosen:
        parts.append(
            f'<line class="spread" x1="{chosen}" x2="{chosen}" y1="0" y2="{most}" '
            'vector-effect="non-scaling-stroke" stroke-dasharray="4 3"/>'
        )
    parts.append("</svg>")
    for value in dict.fromkeys((0, most // 2, most)):
        x = _AXIS + width * value / most
        y = bottom - (bottom - _TOP) * value / most
        parts.append(
            f'<text class="soft" x="{x:.2f}%" y="{_HEIGHT - 21}" text-anchor="middle">{value}'
            "</text>"
        )
        parts.append(
            f'<text class="soft" x="{_AXIS - 1.0:g}%" y="{y + 4:.1f}" text-anchor="end">{value}'
            "</text>"
        )
    parts.append(f'<text class="soft" x="0" y="11">{curve.unit}s, false at most</text>')
    parts.append(
        f'<text class="soft" x="{_AXIS + width / 2.0:g}%" y="{_HEIGHT - 5}" text-anchor="middle">'
        f"{curve.unit}s with the largest W</text>"
    )
    return "".join([*parts, "</svg>"])
