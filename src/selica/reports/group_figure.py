"""A map of the groups as a part of a page: correlations beside their tree, as SVG.

The correlations are the pixels of a small picture that is part of the text, so that a page loads
nothing; frames, names and the tree are lines and letters over it.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np

from selica._core.types import Array
from selica.selectors import GroupMap
from selica.selectors.text_table import middle_cut

STYLE = """
.map { display: block; width: 100%; max-width: 640px; overflow: visible; font-size: 12px; }
.map text { fill: var(--soft, #555555); }
.map .picked { fill: var(--accent, #0072b2); font-weight: 600; }
.map .frame { fill: none; stroke: #8a8a8a; stroke-width: .8; }
.map .chosen { fill: none; stroke: var(--accent, #0072b2); stroke-width: 2.4; }
.map .tree { fill: none; stroke: var(--soft, #555555); stroke-width: 1; }
.map .lead { fill: none; stroke: var(--accent, #0072b2); stroke-width: .8; }
.map image { image-rendering: pixelated; }
"""
"""Style of a map; colours are variables of the page around it."""
_TREE = 90.0
"""Width of the tree."""
_SIDE = 380.0
"""Width and height of the map."""
_NAMES = 165.0
"""Width of the names."""
_LINE = 13.0
"""Height of a name: names of selected groups move apart, others that would touch are left out."""
_SIGNS = 24
"""Signs of a name."""
_LEAD = 16.0
"""Width of the line from a selected group to its name."""


def group_svg(found: GroupMap) -> str:
    """Draw correlations as a map beside their tree, selected groups framed.

    Parameters
    ----------
    found : GroupMap

    Examples
    --------
    >>> import numpy as np
    >>> from selica.reports.group_figure import group_svg
    >>> from selica.selectors import GroupMap
    >>> joins = np.array([[0.0, 0.0, 1.0, 0.0, 0.2]])
    >>> size = np.array([[1.0, 0.8], [0.8, 1.0]])
    >>> chosen = np.array([True])
    >>> found = GroupMap(("a", "b"), np.array([0, 0]), ("g",), chosen, size, joins)
    >>> text = group_svg(found)
    >>> text[:17], text.count("<rect")
    ('<svg class="map" ', 1)
    """
    m = len(found.names)
    step, width = _SIDE / m, _TREE + _SIDE + _NAMES
    picture = base64.b64encode(_png(1.0 - found.correlations)).decode("ascii")
    parts = [
        f'<svg class="map" role="img" aria-label="Correlations of variables by group" '
        f'viewBox="0 0 {width:g} {_SIDE:g}">',
        f'<image x="{_TREE:g}" y="0" width="{_SIDE:g}" height="{_SIDE:g}" '
        f'preserveAspectRatio="none" href="data:image/png;base64,{picture}"/>',
        *_branches(found.joins, step),
        *_frames(found, step),
        *_names(found, step),
        "</svg>",
    ]
    return "".join(parts)


def _png(lightness: Array) -> bytes:
    """Return numbers from 0 (black) to 1 (white) as a picture, one pixel each."""
    pixels = np.rint(255.0 * np.clip(lightness, 0.0, 1.0)).astype(np.uint8)
    height, width = pixels.shape
    lines = b"".join(b"\0" + line.tobytes() for line in pixels)

    def part(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    head = struct.pack(">IIB4x", width, height, 8)  # eight bits of grey, nothing else
    packed = zlib.compress(lines, 9)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", packed) + part(b"IEND", b"")


def _branches(joins: Array, step: float) -> Iterable[str]:
    """Yield the tree, its leaves at the right."""
    top = max(float(joins[:, 4].max(initial=0.0)), 1e-9)

    def across(height: float) -> str:
        return f"{(_TREE - 6.0) * (1.0 - height / top) + 2.0:.1f}"

    lines = [
        f"M{across(low)} {(one + 0.5) * step:.1f}H{across(height)}V{(other + 0.5) * step:.1f}"
        f"H{across(high)}"
        for one, low, other, high, height in joins
    ]
    if lines:
        yield f'<path class="tree" d="{"".join(lines)}"/>'


def _frames(found: GroupMap, step: float) -> Iterable[str]:
    """Yield a square around the members of each group, selected ones last."""
    for group in np.argsort(found.selected, kind="stable"):
        own = np.flatnonzero(found.groups == group)
        first, size = own[0] * step, own.size * step
        kind = "chosen" if found.selected[group] else "frame"
        yield (
            f'<rect class="{kind}" x="{_TREE + first:.1f}" y="{first:.1f}" width="{size:.1f}" '
            f'height="{size:.1f}"/>'
        )


def _names(found: GroupMap, step: float) -> Iterable[str]:
    """Yield the names of groups at the right; selected ones first, others where there is room."""
    middles = [
        (float(np.flatnonzero(found.groups == group).mean()) + 0.5) * step
        for group in range(len(found.group_names))
    ]
    picked = sorted(np.flatnonzero(found.selected).tolist(), key=middles.__getitem__)
    places = dict(zip(picked, _apart([middles[group] for group in picked]), strict=True))
    taken = [*places.values()]
    for group in np.flatnonzero(~found.selected).tolist():
        if all(abs(middles[group] - other) >= _LINE for other in taken):
            places[group] = middles[group]
            taken.append(middles[group])
    left = _TREE + _SIDE
    for group, place in places.items():
        name = found.group_names[group]
        kind = ""
        if found.selected[group]:
            kind = ' class="picked"'
            yield (
                f'<path class="lead" d="M{left + 2.0:g} {middles[group]:.1f}'
                f'L{left + _LEAD:g} {place:.1f}"/>'
            )
        yield (
            f'<text{kind} x="{left + _LEAD + 3.0:g}" y="{place + 4.0:.1f}">'
            f"{escape(middle_cut(name, _SIGNS))}<title>{escape(name)}</title></text>"
        )


def _apart(middles: Sequence[float]) -> list[float]:
    """Return places that are a line apart, in the same order and near those that are given.

    Places that are moved form blocks around the mean of what they want; where there are more than
    the map is high, they are nearer.
    """
    line = min(_LINE, _SIDE / max(len(middles), 1))
    blocks: list[tuple[float, int]] = []  # where the first one is, and how many there are

    def inside(first: float, size: int) -> float:
        return max(min(first, _SIDE - line * (size - 0.5)), line / 2.0)

    for middle in middles:
        first, size = inside(middle, 1), 1
        while blocks and blocks[-1][0] + line * blocks[-1][1] > first:
            start, count = blocks.pop()
            mean = (start * count + (first - line * count) * size) / (count + size)
            size += count
            first = inside(mean, size)
        blocks.append((first, size))
    return [first + line * k for first, size in blocks for k in range(size)]
