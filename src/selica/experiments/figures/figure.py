"""What the figures share: their scales, and the findings they print."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from selica._core.errors import BoundaryWarning
from selica._core.table import Table
from selica._core.types import Progress
from selica._core.validation import choice
from selica.experiments.store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = ("smoke", "quick", "paper")
T = TypeVar("T")


class FigureRun(NamedTuple):
    """How a figure is computed: seed, workers, and where finished parts are kept."""

    random_state: int = 0
    n_jobs: int | None = None
    store: Store | None = None
    progress: Progress | None = None

    def settings(self) -> dict[str, Any]:
        """Return the settings as keyword arguments of `collect`."""
        return self._asdict()


class Finding(NamedTuple):
    """A sentence with its numbers, and whether they bear it out (None: a plain fact)."""

    text: str
    holds: bool | None = None

    def to_dict(self) -> dict[str, str | bool | None]:
        """Return the finding for a file."""
        return {"text": self.text, "holds": None if self.holds is None else bool(self.holds)}


class FigureModule(Protocol):
    """A file of this folder."""

    TITLE: str

    def compute(self, scale: str, run: FigureRun = ...) -> Table:
        """Compute the numbers."""

    def draw(self, table: Table) -> Figure:
        """Draw the picture."""

    def findings(self, table: Table) -> list[Finding]:
        """Return what the numbers say."""


def at_scale(scale: str, smoke: T, quick: T, paper: T) -> T:
    """Return the setting for a scale."""
    return {"smoke": smoke, "quick": quick, "paper": paper}[choice("scale", scale, SCALES)]


@contextmanager
def edges_allowed() -> Iterator[None]:
    """Leave out the warning that the smallest penalty tried is best: the table has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        yield
