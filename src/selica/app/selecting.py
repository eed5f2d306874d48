"""A table and a method in, everything the tab *Select* shows out."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple

from selica import catalogue, reports, tables
from selica._core.errors import ArgumentError, SelicaError
from selica._core.progress import Listener, reporting
from selica._core.wording import option_words
from selica.app.turns import Turns
from selica.catalogue import Method
from selica.reports import FileIdentity, Provenance, Selection
from selica.reports.account import described_response, response_sentence
from selica.reports.again import asking
from selica.reports.demo import TARGET

LIMITS = tables.Limits(rows=20_000, columns=2_000, cells=5_000_000, unpacked=100_000_000)
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


class LoadedTable(NamedTuple):
    """A table, and the file it is from."""

    columns: tables.Columns
    file: FileIdentity | None
    """None is the embedded table."""

    @property
    def digest(self) -> str:
        """What tells tables apart."""
        return "embedded" if self.file is None else f"{self.file.sha256} {self.file.name}"


class ColumnUses(NamedTuple):
    """What the columns of a table are for, as `tables.prepare` takes it."""

    target: str | None = None
    time: str | None = None
    event: str | None = None
    response: str = "auto"
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rows_of: str | None = None
    weights: str | None = None
    offset: str | None = None
    strata: str | None = None
    missing: str = "impute"
    kinds: tuple[tuple[str, str], ...] = ()

    @property
    def given(self) -> dict[str, Any]:
        """Those that differ from the defaults, in Python's types."""
        first = ColumnUses()._asdict()
        asked = {name: value for name, value in self._asdict().items() if value != first[name]}
        lists = {name: list(value) for name, value in asked.items() if isinstance(value, tuple)}
        return asked | lists | ({"kinds": dict(self.kinds)} if self.kinds else {})

    @property
    def is_complete(self) -> bool:
        """Whether it says what is to be explained."""
        return self.target is not None or (self.time is not None and self.event is not None)


class SelectRequest(NamedTuple):
    """What was asked for."""

    digest: str
    uses: ColumnUses
    method: str
    """The label of a method."""
    options: tuple[tuple[str, Any], ...] = ()
    """Options of `selica select` that the method has, such as ("fdr", 0.1)."""
    seed: int = 0


def embedded() -> LoadedTable:
    """Return the table of the demonstration."""
    return LoadedTable(reports.demo_table(), None)


EMBEDDED_USES = ColumnUses(target=TARGET)
"""What is to be explained in the table of the demonstration."""


def uploaded(name: str, content: bytes) -> LoadedTable:
    """Read a file of the user's and check it; a folder in its name is cut off."""
    bare = PurePosixPath(PureWindowsPath(name).name).name or "table"
    try:
        columns = tables.parse_table(bare, content, LIMITS)
    except SelicaError:
        raise
    except Exception as error:  # whatever a hostile file does to a reader, the page lives on
        raise ArgumentError(f"{bare}: this file cannot be read.") from error
    return LoadedTable(columns, FileIdentity.of_bytes(bare, content))


def prepared(table: LoadedTable, uses: ColumnUses) -> tables.Prepared:
    """Make a table ready, as `selica.select` and the command line do."""
    return tables.prepare(table.columns, **uses.given)


def response_said(ready: tables.Prepared) -> str:
    """Say what the response is taken as, before anything is fitted."""
    kind = "linear" if ready.response == "auto" else ready.response
    said = described_response(kind, ready.y, classes=kind in ("binary", "classes"))
    return f"{response_sentence(said, ready.target)} {_MODELS[kind]}"


_MODELS = {
    "linear": "The model is linear.",
    "binary": "The model is logistic.",
    "classes": "The model is multinomial.",
    "count": "The model is of counts (Poisson).",
    "survival": "The model is of hazards (Cox).",
}
"""Which model belongs to a response."""


@dataclass(frozen=True, slots=True)
class ShownSelection:
    """A selection, with what the page says of it and what can be downloaded."""

    selection: Selection
    report: bytes
    """ZIP."""

    def bundle(self) -> bytes:
        """Return the archive with which anyone can repeat the selection."""
        with tempfile.TemporaryDirectory() as folder:
            return self.selection.bundle(Path(folder) / "bundle.zip").read_bytes()


def select(
    request: SelectRequest,
    table: LoadedTable,
    ready: tables.Prepared,
    waiting: Callable[[], object] = lambda: None,
    listener: Listener = lambda *_: None,
) -> ShownSelection:
    """Run a method on a table that was made ready.

    Parameters
    ----------
    request : SelectRequest
    table : LoadedTable
    ready : Prepared
    waiting : callable
        Is called while others select, and may raise.
    listener : callable
        Is told how far the work has come; what it raises ends the work.
    """
    row = methods()[request.method]
    settings = {row.options[name]: value for name, value in request.options}
    selector = row.load_selector()(**row.arguments(settings), random_state=request.seed)
    with _FITS.turn(waiting), reporting(listener):
        about = provenance(request, table, selector)
        selection = reports.answer_to(selector, ready, provenance=about)
        return ShownSelection(selection, reports.report_zip(selection))


def provenance(request: SelectRequest, table: LoadedTable, selector: Any) -> Provenance:
    """Return the file, the day, and how to ask the same on a command line and in Python."""
    row = methods()[request.method]
    given = request.uses.given
    target = given.pop("target", None)
    options = {"target": target} if target is not None else {}
    options |= {name: value for name, value in given.items() if name != "kinds"}
    kinds = [f"{name}={kind}" for name, kind in request.uses.kinds]
    asked = {"method": row.name} if row.name != "auto" else {}
    asked |= dict(request.options) | ({"seed": request.seed} if request.seed else {})
    if table.file is None:
        words = ["--demo", *option_words(asked)]
        imported = "from selica.reports import demo_table"
        code = asking(selector, "demo_table()", target, given, imported)
    else:
        words = [shlex.quote(table.file.name), *option_words({**options, "kind": kinds, **asked})]
        code = asking(selector, repr(table.file.name), target, given)
    return Provenance(
        file=table.file,
        date=datetime.now(tz=UTC).date().isoformat(),
        command=" ".join(["selica", "select", *words]),
        code=code,
    )
