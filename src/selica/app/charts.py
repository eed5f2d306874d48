"""Curves as Vega-Lite, which Streamlit brings along: nothing is loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from selica.app import markup
from selica.plots.style import LineStyle

_DECADES = [digit * 10**power for power in range(7) for digit in (1, 2, 5)]
"""Ticks of a logarithmic axis."""


def curves(
    columns: Mapping[str, Sequence[Any]],
    styles: Sequence[LineStyle],
    x: tuple[str, str],
    *,
    y: str = "power (share of the signals found)",
    vertical: float | None = None,
    horizontal: float | None = None,
    log: bool = False,
    drawn: DeltaGenerator | None = None,
) -> DeltaGenerator:
    """Draw power of each method against something, with a legend below.

    Parameters
    ----------
    columns : mapping of str to sequence
        method (labels of `styles`), power and the column of `x`.
    styles : sequence of LineStyle
    x : pair of str
        Column, and what to write under it.
    y : str
        What to write beside the powers.
    vertical, horizontal : float, optional
        Values to be marked by a line.
    log : bool
        Whether x is on a logarithmic scale.
    drawn : DeltaGenerator, optional
        Curves of the same styles that these replace.

    Returns
    -------
    DeltaGenerator
        The curves, which others can replace.
    """
    column, title = x
    scale: dict[str, Any] = {"type": "log", "nice": False} if log else {"zero": True}
    # a logarithmic axis would leave out most labels; values out of sight are left out
    ticks = {"values": _DECADES, "format": "~s"} if log else {"tickCount": 6, "format": "~g"}
    labels = [style.label for style in styles]
    # the legend of Vega does not wrap on a narrow window
    by_method = {"field": "method", "type": "nominal", "sort": labels, "legend": None}
    colours = {"domain": labels, "range": [style.colour for style in styles]}
    dashes = {"domain": labels, "range": [_dash(style) for style in styles]}
    lines = {
        "transform": [{"filter": "isValid(datum.power)"}],
        "mark": {"type": "line", "strokeWidth": 2, "interpolate": "monotone"},
        "encoding": {
            "x": {
                "field": column,
                "type": "quantitative",
                "scale": scale,
                "title": title,
                "axis": ticks,
            },
            "y": {
                "field": "power",
                "type": "quantitative",
                "scale": {"domain": [0, 1]},
                "title": y,
            },
            "color": by_method | {"scale": colours},
            "strokeDash": by_method | {"scale": dashes},
            "tooltip": [
                {"field": "method", "title": "method"},
                {"field": column, "title": title, "format": ".4~g"},
                {"field": "power", "title": "power", "format": ".3f"},
            ],
        },
    }
    marks = {
        name: (axis, at)
        for name, axis, at in (("vertical", "x", vertical), ("horizontal", "y", horizontal))
        if at is not None
    }
    rules = [
        {
            "transform": [{"filter": f"isValid(datum.{name})"}],
            "mark": {"type": "rule", "color": "#8a949e", "strokeDash": [2, 3]},
            "encoding": {axis: {"field": name, "type": "quantitative"}},
        }
        for name, (axis, _) in marks.items()
    ]
    # All that moves is in the data, marks too: with a new specification all is drawn anew.
    size = len(columns["method"])
    parts = {name: _floats([*columns[name], None]) for name in (column, "power")}
    parts |= {name: _floats([*[None] * size, at]) for name, (_, at) in marks.items()}
    table = pa.table({"method": _strings([*columns["method"], "asked for"]), **parts})
    spec = {"layer": [lines, *rules], "height": 360}
    if drawn is not None:
        return drawn.vega_lite_chart(table, spec, width="stretch")
    drawn = st.vega_lite_chart(table, spec, width="stretch")
    markup.legend([(style.label, style.colour, _dash(style)) for style in styles])
    return drawn


def _floats(values: Sequence[float | None]) -> pa.Array:
    """Return a column. `pa.array` would load pandas, as a data frame would: half a second."""
    data = np.array(values, dtype=float)
    return pa.Array.from_buffers(pa.float64(), data.size, [None, pa.py_buffer(data)])


def _strings(values: Sequence[str]) -> pa.Array:
    """Return a column of text."""
    data = [value.encode() for value in values]
    ends = np.cumsum([0, *map(len, data)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(data), pa.py_buffer(ends), pa.py_buffer(b"".join(data)))


def _dash(style: LineStyle) -> list[float]:
    """Return the dashes of a line in the units of Vega, whose lines are two pixels wide."""
    return [1, 0] if isinstance(style.dash, str) else [2 * part for part in style.dash[1]]
