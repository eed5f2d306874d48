"""The figures of the article and beyond: one file each, numbers first, then the picture."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

from selica._core.errors import ArgumentError

if TYPE_CHECKING:
    from selica.experiments.figures.figure import FigureModule

_HOME = "selica.experiments.figures"
# In the order in which they are made; what the article has comes first.
_OWN = {
    "replicated-system": f"{_HOME}.replicated_system",
    "cross-check": f"{_HOME}.cross_check",
    "phase-boundary": f"{_HOME}.phase_boundary",
    "power": f"{_HOME}.power",
    "power-optimal": f"{_HOME}.power_optimal",
    "power-finite-size": f"{_HOME}.power_finite_size",
    "correlated": f"{_HOME}.correlated",
    "finite-size": f"{_HOME}.finite_size",
}
_figures = dict(_OWN)
FIGURES: Mapping[str, str] = MappingProxyType(_figures)
"""Modules of the figures by name."""


def figure_module(name: str) -> FigureModule:
    """Import the file of a figure."""
    return cast("FigureModule", import_module(FIGURES[name]))


def register_figure(name: str, module: str) -> None:
    """Add a figure, so that `reproduce` and `selica reproduce` make it.

    Parameters
    ----------
    name : str
        A name that no figure has.
    module : str
        Name of a module with `TITLE`, `compute`, `draw` and `findings`.
    """
    if name in _figures:
        raise ArgumentError(f"name must be one that no figure has; got {name!r}.")
    _figures[name] = module


def unregister_figure(name: str) -> None:
    """Take a registered figure out again.

    Parameters
    ----------
    name : str
    """
    if name in _OWN or name not in _figures:
        raise ArgumentError(f"name must be that of a registered figure; got {name!r}.")
    del _figures[name]
