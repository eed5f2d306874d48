"""A figure as a part of a page."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

from selica.plots.canvas import image

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Black and dark greys of the figures: text, axes and thresholds, unreadable on a dark page.
_DARK = re.compile(r"#(?:000000|262626|333333|404040)\b")


def png(figure: Figure) -> bytes:
    """Return a figure as an image, twice as fine as a screen of old."""
    return _saved(figure, "png", dpi=200)


def _saved(figure: Figure, kind: str, **settings: Any) -> bytes:
    for axes in figure.axes:
        for label in axes.get_yticklabels():
            label.set_parse_math(False)  # names are not formulas, whatever signs are in them
    with warnings.catch_warnings():
        # names in scripts that the font lacks are drawn as boxes; the table beside has them
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        return image(figure, kind, **settings)


def inline_svg(figure: Figure) -> str:
    """Return a figure as SVG for HTML: in the colour of the text around it, always the same."""
    svg = _saved(figure, "svg", transparent=True, metadata={"Date": None}).decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)  # it would hold for the page
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)
    # marks and clips have random names
    for k, name in enumerate(dict.fromkeys(re.findall(r'id="([mp][0-9a-f]{10})"', svg))):
        svg = svg.replace(name, f"mark{k}")
    return _DARK.sub("currentColor", svg)
