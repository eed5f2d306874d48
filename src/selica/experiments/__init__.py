"""Theory against finite-size runs: any grid of settings, and every figure of the article."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selica._core.table import Table
    from selica.experiments.compare import deviations
    from selica.experiments.figures import FIGURES
    from selica.experiments.grid import simulate_cell, sweep
    from selica.experiments.reproduction import Reproduced, reproduce
    from selica.experiments.store import Store

_HOMES = {
    "FIGURES": "experiments.figures",
    "Reproduced": "experiments.reproduction",
    "Store": "experiments.store",
    "Table": "_core.table",
    "deviations": "experiments.compare",
    "reproduce": "experiments.reproduction",
    "simulate_cell": "experiments.grid",
    "sweep": "experiments.grid",
}

__all__ = [
    "FIGURES",
    "Reproduced",
    "Store",
    "Table",
    "deviations",
    "reproduce",
    "simulate_cell",
    "sweep",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for: the command line knows the figures without loading the solvers."""
    if name in _HOMES:
        return getattr(import_module(f"selica.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'selica.experiments' has no attribute {name!r}")
