"""Figures as parts of a page.

Bars are SVG whose lengths are shares of the width and whose text is in pixels: a figure fills a
telephone as it fills a screen, with letters of the same size. Colours come from the style sheet.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from selica.reports.bound_figure import STYLE as BOUND_STYLE
from selica.reports.bound_figure import bound_svg
from selica.reports.genome_figure import STYLE as GENOME_STYLE
from selica.reports.genome_figure import genome_svg
from selica.reports.group_figure import STYLE as MAP_STYLE
from selica.reports.group_figure import group_svg
from selica.selectors import BoundCurve, KnockoffSelection
from selica.selectors.description import is_mapped
from selica.selectors.summary import NEAR_MISSES
from selica.selectors.text_table import column_cell, middle_cut, text_width

if TYPE_CHECKING:
    from selica.reports.selection import Selection

MOST_BARS = 30
"""Variables in a figure, at most."""
STYLE = f"""{MAP_STYLE}{BOUND_STYLE}{GENOME_STYLE}
.bars {{ display: block; width: 100%; overflow: visible; font-size: 12px; }}
.bars text {{ fill: var(--ink, currentColor); }}
.bars .soft {{ fill: var(--soft, currentColor); }}
.bars .on {{ fill: var(--accent, #0072b2); }}
.bars .off {{ fill: var(--faint, #b4bcc4); }}
.bars .zero {{ stroke: var(--line, #999999); stroke-width: 1; }}
.bars .spread {{ stroke: var(--ink, currentColor); stroke-width: 1; opacity: .65; }}
.bars .mark {{ stroke: var(--mark, #d55e00); stroke-width: 1.5; stroke-dasharray: 4 3; }}
.bars .marked {{ fill: var(--mark, #d55e00); }}
"""
"""Style of the figures; colours are variables of the page around them."""
_ROW = 20
"""Height of a bar with its margin, in pixels."""
_BAR = 12
"""Height of a bar, in pixels."""
_NAMES = 34.0
"""Width of the names, in per cent."""
_LENGTH = 51.0
"""Width of the longest bar, in per cent."""
_SIGNS = 17
"""Signs of a name that fit beside the bars, also on a telephone."""


class Bar(NamedTuple):
    """A bar of a figure."""

    name: str
    value: float
    text: str
    """The value as it is written."""
    picked: bool
    spread: float = 0.0
    """Half the length of its whisker."""
    short: str = ""
    """What is written where the name is too long, if not the name cut in the middle."""


class VectorFigure(NamedTuple):
    """A figure with what is said of it."""

    title: str
    svg: str
    """A part of a page that has `STYLE`."""
    caption: str
    wide: bool = False
    """Whether it needs the whole width of a page."""

    @property
    def image(self) -> str:
        """The figure as an SVG file of its own."""
        head = '<svg xmlns="http://www.w3.org/2000/svg"'
        style = f"<style>{STYLE}text {{ font-family: sans-serif; }}</style>"
        start, _, rest = self.svg.partition(">")
        return f"{start.replace('<svg', head, 1)}>{style}{rest}"


def figures(selection: Selection) -> list[VectorFigure]:
    """Draw what decided, and the effects of the selected variables, as far as they are known."""
    summary, found = selection.summary, []
    measured = measure_figure(selection)
    if measured is not None:
        errors = "s.e." in summary.variables.columns
        lines = "; thin lines show two standard errors" if errors else ""
        unit = summary.unit
        colours = f"Selected {unit}s in colour" if selection.selected else "None is selected"
        is_cut = len(selection.selected) + NEAR_MISSES > MOST_BARS < len(selection.rows)
        cut = f"; the first {MOST_BARS} are shown" if is_cut else ""
        more = "; + and a number stand for more members" if unit == "group" else ""
        found.append(
            VectorFigure(
                f"What decided: {summary.measure}", measured, f"{colours}{lines}{cut}{more}."
            )
        )
    bounds = bound_figure(selection)
    if bounds is not None:
        found.append(bounds)
    effects = effect_figure(selection)
    if effects is not None:
        known = selection.selector.effects_.ratio
        what = (
            f"{known[0].upper()}{known[1:]}s, on a logarithmic scale" if known
            else f"Change of {selection.target}"
        )  # fmt: skip
        grouped = summary.unit == "group"
        title = "How much each group contributes" if grouped else "Effect of one standard deviation"
        size = (
            " by one standard deviation of a single variable, whose number says which way, or by "
            "the spread of what several members contribute together, which has no direction; bars "
            "show the size alone"
            if grouped
            else ""
        )
        found.append(
            VectorFigure(
                title,
                effects,
                f"{what}{size}; from a refit on the selected variables: optimistic, because the "
                "same rows chose them.",
            )
        )
    return [*found, *_group_figure(selection), *_genome_figure(selection)]


def _genome_figure(selection: Selection) -> list[VectorFigure]:
    """Draw where markers are; nothing for other tables."""
    if selection.genotypes is None or "position" not in selection.summary.variables.columns:
        return []
    return [
        VectorFigure(
            "Along the genome",
            genome_svg(selection.summary, selection.genotypes.markers, selection.threshold),
            f"What decided ({selection.summary.measure}) against position, chromosome beside "
            "chromosome; selected markers in colour. Below, the darker the strip, the more markers "
            "there are.",
            wide=True,
        )
    ]


def _group_figure(selection: Selection) -> list[VectorFigure]:
    """Draw how the variables of groups go together; nothing where there are no groups."""
    if not is_mapped(selection.selector):
        return []
    shown = selection.selector.group_map()
    more = f" {shown.left_out:,} more groups are not shown." if shown.left_out else ""
    marked = (
        "Selected groups are framed in colour." if shown.selected.any() else "None is selected."
    )
    return [
        VectorFigure(
            "How the variables go together",
            group_svg(shown),
            "Sizes of the correlations, from white (0) to black (1), beside the tree that joins "
            f"the most alike; a square is a group. {marked}{more}",
            wide=True,
        )
    ]


def measure_figure(selection: Selection) -> str | None:
    """Draw what decided, of the first variables, as SVG; None where the summary does not say."""
    summary = selection.summary
    if summary.measure not in summary.variables.columns:
        return None
    rows = summary.variables.rows[: min(len(selection.selected) + NEAR_MISSES, MOST_BARS)]
    small = summary.measure == "p-value"
    bars = [
        Bar(
            row[summary.unit],
            _length(row[summary.measure], small),
            column_cell(summary.measure, row[summary.measure]),
            bool(row["selected"]),
            2.0 * (row.get("s.e.") or 0.0),
            _short(row, summary.unit),
        )
        for row in rows
    ]
    title = f"{summary.measure} of the first {summary.unit}s"
    return _svg(bars, title, selection.threshold)


def bound_figure(selection: Selection) -> VectorFigure | None:
    """Draw how many variables of the first ones are false at most; None where there is no bound."""
    selector = selection.selector
    if not isinstance(selector, KnockoffSelection) or selector.guarantee_.level is None:
        return None
    curve = selector.fdp_bound()
    if not isinstance(curve, BoundCurve) or np.all(curve.false == curve.size):
        return None
    chosen = int(np.count_nonzero(selector.statistics_ >= selector.threshold_))
    return VectorFigure(
        f"Bound on false {curve.unit}s",
        bound_svg(curve, chosen),
        f"Of the {curve.unit}s with the largest W, how many are false at most (below the line) and "
        f"true at least (the blue area above it), with probability {curve.confidence:g} and for "
        f"all lists at once{'; the dashed line is the selected list' if chosen else ''}.",
    )


def effect_figure(selection: Selection) -> str | None:
    """Draw the effects of one standard deviation of the selected variables, as SVG."""
    summary = selection.summary
    rows = [row for row in summary.variables if row["selected"]][:MOST_BARS]
    if not rows or "effect per SD" not in rows[0]:
        return None
    ratio = next((name for name in rows[0] if name.endswith(" ratio per SD")), "effect per SD")
    bars = [
        Bar(
            row[summary.unit],
            _effect(row["effect per SD"] or 0.0, summary.unit),
            column_cell(ratio, row[ratio]),
            picked=True,
            short=_short(row, summary.unit),
        )
        for row in rows
        if row[ratio] is not None
    ]
    return _svg(bars, f"{ratio} of the selected {summary.unit}s", None) if bars else None


def _effect(value: float, unit: str) -> float:
    """Return the length of the bar of an effect; those of groups have no sign."""
    return abs(value) if unit == "group" else value


def _short(row: Mapping[str, Any], unit: str) -> str:
    """Return the name of a group by its first member, as "TP53 +4"; nothing for other names."""
    first = row[unit].rpartition(" and ")[0]
    if unit != "group" or not first or not row["in this group"].startswith(f"{first}, "):
        return ""
    more = f" +{row['members'] - 1}"
    return f"{middle_cut(first, _SIGNS - len(more))}{more}"


def _length(value: Any, small: bool) -> float:
    """Return the length of a bar; small p-values have long ones."""
    if value is None or not math.isfinite(value):
        return 0.0
    return -math.log10(max(value, 1e-300)) if small else float(value)


def _svg(bars: Sequence[Bar], title: str, threshold: float | None) -> str:
    """Return bars as SVG, one below the other."""
    ends = [end for bar in bars for end in (bar.value - bar.spread, bar.value + bar.spread)]
    probabilities = any(bar.spread for bar in bars)
    ends = [min(max(end, 0.0), 1.0) for end in ends] if probabilities else ends
    low, high = min(0.0, *ends), max(0.0, *ends, threshold or 0.0)
    width = (high - low) or 1.0

    def at(value: float) -> str:
        share = (min(max(value, low), high) - low) / width
        return f"{_NAMES + 1.0 + _LENGTH * share:.2f}%"

    height = _ROW * len(bars) + (18 if threshold is not None else 4)
    parts = [
        f'<svg class="bars" role="img" aria-label="{escape(title)}" width="100%" height="{height}">'
    ]
    for place, bar in enumerate(bars):
        parts += _bar(bar, place, at, low, width)
    bottom = _ROW * len(bars)
    parts.append(f'<line class="zero" x1="{at(0.0)}" x2="{at(0.0)}" y1="0" y2="{bottom}"/>')
    if threshold is not None:
        x = at(threshold)
        parts.append(f'<line class="mark" x1="{x}" x2="{x}" y1="0" y2="{bottom - 1}"/>')
        parts.append(
            f'<text class="marked" x="{x}" y="{bottom + 14}" text-anchor="middle">threshold '
            f"{threshold:.3g}</text>"
        )
    return "".join([*parts, "</svg>"])


def _bar(bar: Bar, place: int, at: Any, low: float, width: float) -> Iterable[str]:
    """Yield the parts of one bar: name, length, whisker, value."""
    top = _ROW * place
    middle = top + _ROW / 2.0
    base = middle + 4.0
    first, length = min(0.0, bar.value), abs(bar.value)
    share = f"{_LENGTH * length / width:.2f}%"
    fits = text_width(bar.name) <= _SIGNS or not bar.short
    shown = middle_cut(bar.name, _SIGNS) if fits else bar.short
    # what is inside of an inner SVG ends at its edge, so that long names do not run into the bars
    yield (
        f'<svg x="0" y="{top}" width="{_NAMES:g}%" height="{_ROW}">'
        f'<text x="0" y="{_ROW / 2.0 + 4.0:g}">{escape(shown)}'
        f"<title>{escape(bar.name)}</title></text></svg>"
    )
    kind = "on" if bar.picked else "off"
    yield (
        f'<rect class="{kind}" x="{at(max(first, low))}" y="{middle - _BAR / 2.0:g}" '
        f'width="{share}" height="{_BAR}" rx="2"/>'
    )
    if bar.spread:
        ends = at(bar.value - bar.spread), at(bar.value + bar.spread)
        yield (
            f'<line class="spread" x1="{ends[0]}" x2="{ends[1]}" y1="{middle:g}" y2="{middle:g}"/>'
        )
    text = escape(bar.text).replace("-", "\N{MINUS SIGN}")
    yield f'<text class="soft" x="100%" y="{base:g}" text-anchor="end">{text}</text>'
