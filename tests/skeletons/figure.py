"""Power against the number of samples: a complete figure in one file."""

from __future__ import annotations

from typing import Any

import numpy as np

from selica import theory
from selica._core.table import Table
from selica.experiments.figures.figure import FigureRun, Finding, at_scale
from selica.plots.style import line_style

TITLE = "Power against the number of samples"
METHODS = ("stability-ideal", "knockoffs-frequency")
"""Methods that are drawn, by their names in the catalogue."""


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Return the numbers: power at a false discovery rate of 0.1, one row a point."""
    alphas = np.linspace(0.5, 2.0, at_scale(scale, 3, 7, 25))
    model = theory.Model(alphas, rho=0.1, Delta=0.05)
    return Table.of(
        {"method": name, "alpha": float(alpha), "power": float(power)}
        for name in METHODS
        for alpha, power in zip(alphas, theory.power(model, name, fdr=0.1), strict=True)
    )


def draw(table: Table) -> Any:
    """Draw the picture from the numbers alone; each method has its colour and its dash."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0, 3.5), layout="constrained")
    axes = figure.add_subplot()
    for name in METHODS:
        rows, style = table.where(method=name).rows, line_style(name)
        x, y = ([row[key] for row in rows] for key in ("alpha", "power"))
        axes.plot(x, y, color=style.colour, linestyle=style.dash, label=style.label)
    axes.set(xlabel="samples per variable", ylabel="power at FDR 0.1", ylim=(0.0, 1.0))
    axes.legend()
    return figure


def findings(table: Table) -> list[Finding]:
    """Return what the numbers say, as sentences with whether they hold."""
    out = []
    for name in METHODS:
        power = [row["power"] for row in table.where(method=name).rows]
        text = f"{line_style(name).label}: power grows from {power[0]:.2f} to {power[-1]:.2f}"
        out.append(Finding(text, bool(np.all(np.diff(power) > 0.0))))
    return out
