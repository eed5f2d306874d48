"""Figures of the arena: what is found, how errors compare with their levels, and time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.arena.contestants import TARGETS
from benchmarks.arena.tables import BROKEN, RANKED, Row

from selica.plots.canvas import canvas

OURS = "#0072B2"
PEERS = "#D55E00"
GREY = "#999999"
FASTEST = 0.01
"""Seconds at which what takes less is drawn."""


def draw(found: Sequence[Row], folder: Path) -> None:
    """Write the three figures into a folder."""
    first = [row for row in found if row.target == TARGETS[0].name]
    for name, figure in (
        ("arena-power", power(first)),
        ("arena-errors", errors(found)),
        ("arena-time", times(first)),
    ):
        figure.savefig(folder / f"{name}.png", dpi=150, bbox_inches="tight")


def _names(rows: Sequence[Row]) -> list[str]:
    """Return the contestants, ours first, those that find most first."""
    total: dict[tuple[bool, str], float] = {}
    for row in rows:
        key = (row.peer, row.label)
        total[key] = total.get(key, 0.0) + (row.power if row.status == RANKED else 0.0)
    return [name for _, name in sorted(total, key=lambda key: (key[0], -total[key]))]


def power(rows: Sequence[Row]) -> Any:
    """Draw power by kind and contestant; who is not ranked has no number but the reason."""
    names = _names(rows)
    kinds = list(dict.fromkeys(row.kind for row in rows))
    shown = np.full((len(names), len(kinds)), np.nan)
    figure, axes = canvas(size=(0.46 * len(kinds) + 2.6, 0.32 * len(names) + 1.6))
    panel = axes[0, 0]
    best = {kind: max((r.power for r in rows if r.kind == kind and r.status == RANKED), default=0.0)
            for kind in kinds}  # fmt: skip
    for row in rows:
        i, j = names.index(row.label), kinds.index(row.kind)
        if row.status == RANKED:
            shown[i, j] = row.power
            weight = "bold" if row.power > 0.0 and row.power == best[row.kind] else "normal"
            colour = "white" if row.power > 0.55 else "black"
            text = f"{row.power:.2f}".lstrip("0")
            panel.text(j, i, text, ha="center", va="center", size=7, weight=weight, color=colour)
        else:
            sign = "x" if row.status == BROKEN else "-"
            panel.text(j, i, sign, ha="center", va="center", size=9, color=PEERS)
    panel.imshow(shown, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    panel.set_xticks(range(len(kinds)), kinds, rotation=60, ha="right", size=8)
    panel.set_yticks(range(len(names)), names, size=8)
    peers = {row.label for row in rows if row.peer}
    for label in panel.get_yticklabels():
        label.set_color(PEERS if label.get_text() in peers else OURS)
    panel.tick_params(length=0)
    panel.grid(False)
    panel.set_title(
        f"power at {TARGETS[0].name}; bold: the best; x: breaks its level; -: no promise, refused "
        "or too slow",
        loc="left",
        size=9,
    )
    return figure


def errors(found: Sequence[Row]) -> Any:
    """Draw the measured errors over their levels, a point for each kind."""
    asked = [one for one in TARGETS if any(row.target == one.name for row in found)]
    figure, axes = canvas(1, len(asked), size=(13.0, 0.25 * len(_names(found)) + 1.4))
    for panel, target in zip(axes[0], asked, strict=True):
        rows = [row for row in found if row.target == target.name and row.promised > 0.0]
        names = _names(rows)[::-1]
        for row in rows:
            colour = PEERS if row.peer else OURS
            panel.errorbar(
                row.error / target.level,
                names.index(row.label),
                xerr=row.error_error / target.level,
                color=colour,
                marker="x" if row.status == BROKEN else "o",
                ms=4,
                mfc="white",
                elinewidth=0.6,
                alpha=0.8,
            )
        panel.axvline(1.0, color=GREY, lw=1.0)
        panel.set_yticks(range(len(names)), names, size=7)
        panel.set_xlabel("measured error over its level")
        panel.set_title(target.name, loc="left", size=9)
    return figure


def times(rows: Sequence[Row]) -> Any:
    """Draw processor seconds, a point for each kind and a line at the mean."""
    rows = [row for row in rows if row.refused < 1.0]
    mean = {
        name: float(np.mean([row.seconds for row in rows if row.label == name]))
        for name in _names(rows)
    }
    names = sorted(mean, key=lambda name: -mean[name])
    figure, axes = canvas(size=(7.6, 0.25 * len(names) + 1.2))
    panel = axes[0, 0]
    for row in rows:
        colour = PEERS if row.peer else OURS
        panel.plot(max(row.seconds, FASTEST), names.index(row.label), "o", ms=3.5, mfc="white",
                   color=colour, alpha=0.7)  # fmt: skip
    panel.plot([mean[name] for name in names], range(len(names)), "k|", ms=11)
    panel.set_xscale("log")
    panel.set_yticks(range(len(names)), names, size=7)
    panel.set_xlabel("processor seconds for a data set; a point for each kind, a bar at the mean")
    return figure
