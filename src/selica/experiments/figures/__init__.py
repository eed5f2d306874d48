"""The figures of the article and beyond: one file each, numbers first, then the picture."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from selica.experiments.figures.figure import FigureModule

# In the order in which they are made; what the article has comes first.
FIGURES = (
    "replicated-system",
    "cross-check",
    "phase-boundary",
    "power",
    "power-optimal",
    "power-finite-size",
    "correlated",
    "finite-size",
)


def figure_module(name: str) -> FigureModule:
    """Return the file of a figure."""
    return cast(
        "FigureModule", import_module(f"selica.experiments.figures.{name.replace('-', '_')}")
    )
