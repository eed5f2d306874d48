"""A table and a method in, everything the tab *Select* shows out."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from selica import catalogue, reports, tables
from selica._core.errors import ArgumentError, SelicaError
from selica.app.turns import Turns
from selica.catalogue import Method
from selica.reports.demo import TARGET
from selica.reports.figure import png

LIMITS = tables.Limits(rows=20_000, columns=2_000, cells=5_000_000)
"""What a page can answer while someone waits; the command line has no such limits."""
# A fit uses all cores: sessions take turns.
_FITS = Turns()


def methods() -> dict[str, Method]:
    """Return the methods of the page by their labels, which are also in its address.

    Left out are variants of a method, and what needs a threshold that the user knows.
    """
    return {
        one.label: one
        for one in catalogue.methods()
        if one.selector is not None
        and not one.preset
        and (one.levels or not {"threshold", "q"} & {*one.decided_by})
    }


def label_of(name: str) -> str | None:
    """Return the label of a method that an address names; None for no method of the page.

    Parameters
    ----------
    name : str
        A name of the catalogue, or one that the page or `selica select` had for the method.
    """
    row = catalogue.METHODS.get(name)
    for room in ("page", "select"):
        row = row or catalogue.formerly(name, room)
    return row.label if row is not None and row.label in methods() else None


class ShownSelection(NamedTuple):
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
    meanings: list[str]
    """What the columns of the table mean."""
    figure: bytes | None
    """PNG; None without matplotlib."""
    report: bytes
    """ZIP."""


def embedded() -> tuple[tables.Columns, str]:
    """Return the table of the demonstration, and its target."""
    return reports.demo_table(), TARGET


def uploaded(name: str, content: bytes) -> tables.Columns:
    """Read a file of the user's and check it; a folder in its name is cut off."""
    bare = PurePosixPath(PureWindowsPath(name).name).name or "table"
    try:
        return tables.parse_table(bare, content, LIMITS)
    except SelicaError:
        raise
    except Exception as error:  # whatever a hostile file does to a reader, the page lives on
        raise ArgumentError(f"{bare}: this file cannot be read.") from error


def awkward(table: tables.Columns, target: str) -> list[str]:
    """Return the columns that no selector takes: text, and those without a name."""
    return [
        name
        for name, values in zip(table.names, table.values, strict=True)
        if name != target and (values.dtype == object or name in table.unnamed)
    ]


def select(
    table: tables.Columns, target: str, drop: tuple[str, ...], method: str, level: float | None
) -> ShownSelection:
    """Run the method with this label at a level of its usual kind."""
    chosen = methods()[method]
    X, y, names = tables.split(table, target, drop)
    parameters = chosen.arguments({chosen.levels[0]: level} if chosen.levels else {})
    selector = chosen.load_selector()(**parameters, random_state=0)
    with _FITS.turn():
        selection = reports.answer(selector, X, y, names, target, table)
        return ShownSelection(
            title=selection.summary.title,
            n_selected=len(selection.selected),
            n_variables=len(names),
            n_samples=selection.n_samples,
            rows=selection.rows,
            guarantee=str(selection.guarantee),
            cautions=(*selection.cautions, *selection.about()[1:]),
            notes=selection.notes,
            meanings=selection.summary.meanings(),
            figure=_figure(selector),
            report=reports.report_zip(selection),
        )


def _figure(selector: Any) -> bytes | None:
    try:
        return png(selector.plot())
    except ImportError:
        return None
