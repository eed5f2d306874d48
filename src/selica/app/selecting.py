"""A table and a method in, everything the tab *Select* shows out."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from selica import reports, selectors
from selica._core.errors import ArgumentError, SelicaError
from selica.app.turns import Turns
from selica.reports.demo import TARGET
from selica.reports.figure import png

LIMITS = reports.Limits(rows=20_000, columns=2_000, cells=5_000_000)
"""What a page can answer while someone waits; the command line has no such limits."""
# The compiled solvers use all cores, and may not be entered by two sessions at once.
_FITS = Turns()


class Method(NamedTuple):
    """A selector, and the level a person sets."""

    selector: str
    level: str | None = "fdr"
    """Parameter that is set: fdr, pfer, or none."""


METHODS = {
    "Automatic": Method("AutoSelection", "pfer"),
    "Stability selection": Method("StabilitySelection", "pfer"),
    "Derandomized knockoffs": Method("DerandomizedKnockoffs"),
    "Knockoffs, one copy": Method("KnockoffSelection"),
    "Aggregated knockoffs": Method("AggregatedKnockoffs"),
    "Data splitting": Method("DataSplitting"),
    "Bolasso": Method("Bolasso", None),
    "Lasso": Method("LassoSelection", None),
}
"""By the name a person sees, which is also the one in the address of the page."""


class Outcome(NamedTuple):
    """A selection, ready to be shown and downloaded."""

    title: str
    n_selected: int
    n_variables: int
    n_samples: int
    rows: list[dict[str, Any]]
    guarantee: str
    cautions: tuple[str, ...]
    """About the data, to be read before the result."""
    notes: tuple[str, ...]
    """About the result."""
    figure: bytes | None
    """PNG; None without matplotlib."""
    report: bytes
    """ZIP."""


def embedded() -> tuple[reports.Columns, str]:
    """The table of the demonstration, and its target."""
    return reports.demo_table(), TARGET


def uploaded(name: str, content: bytes) -> reports.Columns:
    """A file of the user's, checked; a folder in its name is cut off."""
    bare = PurePosixPath(PureWindowsPath(name).name).name or "table"
    try:
        return reports.parse_table(bare, content, LIMITS)
    except SelicaError:
        raise
    except Exception as error:  # whatever a hostile file does to a reader, the page lives on
        raise ArgumentError(f"{bare}: this file cannot be read.") from error


def awkward(table: reports.Columns, target: str) -> list[str]:
    """Columns that no selector takes: text, and those without a name."""
    return [
        name
        for name, values in zip(table.names, table.values, strict=True)
        if name != target and (values.dtype == object or name in table.unnamed)
    ]


def select(
    table: reports.Columns, target: str, drop: tuple[str, ...], method: str, level: float | None
) -> Outcome:
    """Runs a selector."""
    chosen = METHODS[method]
    X, y, names = reports.split(table, target, drop)
    parameters = {} if chosen.level is None else {chosen.level: level}
    selector = getattr(selectors, chosen.selector)(**parameters, random_state=0)
    with _FITS.turn():
        selection = reports.select(selector, X, y, names, target, table)
        return Outcome(
            title=selection.summary.title,
            n_selected=len(selection.selected),
            n_variables=len(names),
            n_samples=selection.n_samples,
            rows=selection.rows,
            guarantee=str(selection.guarantee),
            cautions=selection.cautions,
            notes=selection.notes,
            figure=_figure(selector),
            report=reports.report_zip(selection),
        )


def _figure(selector: Any) -> bytes | None:
    try:
        return png(selector.plot())
    except ImportError:
        return None
