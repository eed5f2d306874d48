"""Power against the false discovery rate, every method at the penalty that is best for it."""

from __future__ import annotations

from typing import Any

from selica._core.table import Table
from selica.experiments.figures import power
from selica.experiments.figures.figure import FigureRun, Finding
from selica.experiments.figures.power import ALPHAS, NOISES, curves, draw, power_at

__all__ = ["TITLE", "compute", "draw", "findings"]

TITLE = "Power at the best penalty"


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Return curves at the penalty that makes each method most powerful."""
    return curves(scale, run, "power")


def findings(table: Table) -> list[Finding]:
    """Return what is left of the differences when the penalty is chosen for power."""
    at = power_at(table, 0.1)
    out = []
    for Delta in NOISES:
        for alpha in ALPHAS[1:3]:
            p: dict[Any, float] = at[Delta, alpha]
            order = sorted(p, key=lambda m: -p[m])
            text = ", ".join(f"{power.style_of(*m).label} {p[m]:.4f}" for m in order)
            out.append(Finding(f"Delta = {Delta}, alpha = {alpha}, FDR 0.1: {text}"))
    return out
