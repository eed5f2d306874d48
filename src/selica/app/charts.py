"""Charts of the page: curves with labels at their ends, drawn by a script of the page itself.

The script shows values under the pointer, can freeze the curves of a setting, and makes PNG and SVG
files with title, setting and legend. Nothing is loaded from elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from selica._core.types import Array
from selica.app import markup
from selica.plots.style import LineStyle

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


class Axis(NamedTuple):
    """An axis: what is along it, and how."""

    label: str
    log: bool = False
    domain: tuple[float, float] | None = None
    """Its ends; those of the data where there are none."""
    bare: bool = False
    """Whether it has no numbers."""
    digits: int = 3
    """Decimals of values under the pointer."""


POWER = Axis("power (share of the signals found)", domain=(0.0, 1.0))
"""The upright axis of most charts."""


class ChartLine(NamedTuple):
    """A curve."""

    style: LineStyle
    x: Sequence[float] | Array
    y: Sequence[float] | Array


class Area(NamedTuple):
    """What is below a curve, filled."""

    label: str
    colour: str
    x: Sequence[float] | Array
    high: Sequence[float] | Array
    opacity: float = 0.35


class ChartRule(NamedTuple):
    """A straight line that marks a value."""

    axis: str
    """"x" or "y"."""
    at: float
    label: str = ""
    back: bool = False
    """Whether the label is on the left of an upright line."""


class Mark(NamedTuple):
    """A point that stands out."""

    x: float
    y: float
    colour: str
    label: str = ""
    """What it is: shown under the pointer."""


class Chart(NamedTuple):
    """A chart with all that is written into a file of it."""

    file: str
    """Name of its files, without an ending; also tells the charts of the page apart."""
    title: str
    setting: str
    """What the curves are for, in words."""
    x: Axis
    y: Axis
    lines: Sequence[ChartLine]
    areas: Sequence[Area] = ()
    rules: Sequence[ChartRule] = ()
    marks: Sequence[Mark] = ()
    marks_label: str = ""
    """What the points are, in the legend."""
    freezable: bool = True
    at_ends: bool = True
    """Whether labels stand at the ends of curves, where there is room; else below."""
    height: int = 340

    def data(self) -> dict[str, Any]:
        """Return the chart as the browser is told of it."""
        return {
            "file": self.file,
            "title": self.title,
            "setting": self.setting,
            "x": self.x._asdict(),
            "y": self.y._asdict(),
            "lines": [
                {"label": one.style.label, "colour": one.style.colour, "dash": dashes(one.style)}
                | {"x": [*map(float, one.x)], "y": [*map(_finite, one.y)]}
                for one in self.lines
            ],
            "areas": [
                one._asdict() | {"x": [*map(float, one.x)], "high": [*map(float, one.high)]}
                for one in self.areas
            ],
            "rules": [one._asdict() for one in self.rules],
            "points": [one._asdict() for one in self.marks],
            "points_label": self.marks_label,
            "freezable": self.freezable,
            "at_ends": self.at_ends,
            "height": self.height,
        }


def draw(chart: Chart, place: DeltaGenerator | None = None) -> DeltaGenerator:
    """Draw a chart here, or in a place where it replaces what was drawn before."""
    text = markup.held(chart.data())
    return st.html(text) if place is None else place.html(text)


def dashes(style: LineStyle) -> list[float]:
    """Return the dashes of a line in pixels, for a line two pixels wide; none for a solid one."""
    return [] if isinstance(style.dash, str) else [2.0 * part for part in style.dash[1]]


def _finite(value: float) -> float | None:
    """Return a number that can be told to a browser."""
    return float(value) if math.isfinite(value) else None
