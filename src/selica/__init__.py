"""selica: ensemble variable selection, and the statistical physics that predicts it.

>>> from selica import theory
>>> model = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
>>> round(theory.power(model, "knockoffs-frequency", fdr=0.1), 3)
0.88
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from selica._version import __version__

if TYPE_CHECKING:
    from selica import (
        amp,
        catalogue,
        control,
        errors,
        experiments,
        planning,
        sampling,
        solvers,
        tables,
        theory,
    )
    from selica.reports import select
    from selica.selectors import (
        AggregatedKnockoffs,
        AutoSelection,
        Bolasso,
        ClumpKnockoffs,
        DataSplitting,
        DerandomizedKnockoffs,
        IntegratedStability,
        InterceptIfEmpty,
        KnockoffSelection,
        LassoSelection,
        StabilitySelection,
        SummaryKnockoffs,
    )
    from selica.tables.genotypes import read_genotypes

_ROOMS = (
    "amp",
    "catalogue",
    "control",
    "errors",
    "experiments",
    "planning",
    "sampling",
    "solvers",
    "tables",
    "theory",
)

__all__ = [
    "AggregatedKnockoffs",
    "AutoSelection",
    "Bolasso",
    "ClumpKnockoffs",
    "DataSplitting",
    "DerandomizedKnockoffs",
    "IntegratedStability",
    "InterceptIfEmpty",
    "KnockoffSelection",
    "LassoSelection",
    "StabilitySelection",
    "SummaryKnockoffs",
    "__version__",
    "amp",
    "catalogue",
    "control",
    "errors",
    "experiments",
    "planning",
    "read_genotypes",
    "sampling",
    "select",
    "solvers",
    "tables",
    "theory",
]


def __getattr__(name: str) -> Any:
    """Load a room when it is first asked for: `import selica` alone stays light."""
    if name in _ROOMS:
        return import_module(f"selica.{name}")
    if name == "select":
        return import_module("selica.reports").select
    if name == "read_genotypes":
        return import_module("selica.tables.genotypes").read_genotypes
    if name in __all__:
        return getattr(import_module("selica.selectors"), name)
    raise AttributeError(f"module 'selica' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
