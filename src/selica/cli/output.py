"""What commands share when they print: tables, bars, figures, and lines that can be copied."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeVar

import typer
from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    track,
)
from rich.table import Table
from rich.text import Text

from selica._core.errors import ArgumentError
from selica._core.files import write_whole
from selica._core.progress import reporting
from selica._core.results import plain
from selica._core.types import Progress as Callback

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH = 80
"""Of a terminal that nobody has widened."""
_PATIENCE = 2.0
"""Seconds after which a person wants to see how far work has come."""
T = TypeVar("T")


def print_table(
    console: Console,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    title: str | None = None,
    words: int = 1,
    *,
    wrapped: bool = False,
) -> None:
    """Print rows of text under their headings.

    Parameters
    ----------
    console : Console
    headings : sequence of str
    rows : iterable of sequence of str
    title : str, optional
    words : int
        How many columns, from the first, are words: these are set to the left.
    wrapped : bool
        Whether the first column may take several lines where the table is wider than the terminal.
    """
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for place, heading in enumerate(headings):
        side: JustifyMethod = "left" if place < words else "right"
        table.add_column(heading, justify=side, no_wrap=not wrapped or place > 0)
    for row in rows:
        table.add_row(*map(Text, row))  # a name with brackets is not markup
    # a number cut off at the edge of a narrow terminal would be a wrong number
    needed = Measurement.get(console, console.options.update(max_width=1000), table)
    width = needed.minimum if wrapped else needed.maximum
    Console(width=max(width, console.width), highlight=False).print(table)


def print_json(report: Any) -> None:
    """Print JSON without NaN or infinity: those are null."""
    typer.echo(json.dumps(plain(report), indent=2, allow_nan=False))


def say(text: str) -> None:
    """Print a sentence, in lines that fit a terminal."""
    typer.echo(textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def copyable(words: Sequence[str], end: str = " \\") -> str:
    """Return the words of a command in lines that fit a terminal and run as they are."""
    lines = [f"  {words[0]}"]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) + len(end) > WIDTH:
            lines[-1] += end
            lines.append(f"      {word}")
        else:
            lines[-1] += f" {word}"
    return "\n".join(lines)


def each(items: Sequence[T], what: str) -> Iterable[T]:
    """Iterate over items, with a bar on the terminal while slow ones are worked out."""
    errors = Console(stderr=True)
    return track(items, what, console=errors, transient=True, disable=not errors.is_terminal)


@contextmanager
def bar(name: str) -> Iterator[Callback]:
    """Show a bar with the time that is left, after two seconds of work; nothing in a pipe."""
    with _bars() as bars:
        task = bars.add_task(name, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)


@contextmanager
def _bars() -> Iterator[Progress]:
    """Show bars on a terminal: what is quick needs none."""
    errors = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
    )
    bars = Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal)
    late = Timer(_PATIENCE, bars.start)
    late.daemon = True
    if errors.is_terminal:
        late.start()
    try:
        yield bars
    finally:
        late.cancel()
        if errors.is_terminal:
            late.join()  # it may have begun to show them
        bars.stop()


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show how far work has come that takes more than two seconds; nothing in a pipe.

    What is counted inside, resamples for instance, has a bar with the time that is left.
    """
    with _bars() as bars:
        whole = bars.add_task(what, total=None)
        tasks = dict[str, TaskID]()

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                bars.update(whole, visible=False)
                for before in tasks.values():
                    bars.update(before, visible=False)
                tasks[name] = bars.add_task(f"{what}: {name}", total=total)
            bars.update(tasks[name], completed=done, total=total)

        with reporting(show):
            yield


def check_figure(path: Path | None) -> None:
    """Refuse a figure that cannot be written, before the work starts."""
    if path is None:
        return
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise ArgumentError(f"--plot {path}: the name must end in .png, .pdf or .svg.")
    if not path.parent.is_dir():
        raise ArgumentError(f"--plot {path}: there is no folder {path.parent}.")


def write_figure(path: Path | None, draw: Callable[[], Figure], quiet: bool) -> None:
    """Draw and write a figure; without matplotlib print a sentence instead."""
    if path is None:
        return
    try:
        from selica.plots.canvas import image

        content = image(draw(), path.suffix, dpi=150)
        write_whole({path: lambda part: part.write_bytes(content)})
    except ImportError:
        typer.echo("No figure: matplotlib is missing (pip install 'selica[plots]').", err=True)
        return
    except OSError as error:
        raise ArgumentError(f"--plot {path}: {error.strerror or error}.") from None
    except ValueError as error:
        raise ArgumentError(f"--plot {path}: {error}") from None
    if not quiet:
        typer.echo(f"Figure written to {path}")
