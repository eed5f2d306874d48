"""Files of results behind docs/benchmarks.md, and the run that made each of them.

A benchmark saves its rows in a file, and its run in `runs.csv` beside the others: the command, the
day, the machine, the version of selica and those of its peers, and how long it took.
"""

from __future__ import annotations

import csv
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from selica import __version__

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "data" / "benchmarks"
RUNS = FOLDER / "runs.csv"


class Run(NamedTuple):
    """How the numbers of a section of the page were measured."""

    section: str
    command: str
    """What measures them again."""
    date: str
    """Day, as 2026-11-18."""
    machine: str
    selica: str
    """Version, with the commit."""
    peers: str
    """Versions of other packages; empty where there are none."""
    took: str
    """How long the command takes."""
    smaller: str
    """A command that measures less."""
    smaller_took: str
    source: str
    """File of the rows; where numbers were taken from a page, that page and its commit."""


def machine() -> str:
    """Return the processor, the number of cores and the system."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    name = names[0] if names else platform.processor() or platform.machine()
    return f"{name}, {os.cpu_count()} cores, {platform.system()}"


def version() -> str:
    """Return the version of selica, with the commit where it is known."""
    asked = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    return f"{__version__} ({done.stdout.strip()})" if done.returncode == 0 else __version__


def typed() -> str:
    """Return the command that runs, so that a smaller run is not taken for a whole one."""
    spec = sys.modules["__main__"].__spec__
    module = spec.name.removesuffix(".__main__") if spec is not None else sys.argv[0]
    return shlex.join(["python", "-m", module, *sys.argv[1:]])


def processor_seconds() -> float:
    """Return the processor seconds of this process and of those that it has ended."""
    return sum(os.times()[:4])


def read_runs(path: Path = RUNS) -> dict[str, Run]:
    """Return the runs by their section."""
    with path.open(newline="", encoding="utf-8") as file:
        return {row["section"]: Run(**row) for row in csv.DictReader(file)}


def record(section: str, path: Path = RUNS, **changed: str) -> None:
    """Write the day, the machine and the version of a section, and whatever else has changed."""
    runs = read_runs(path) if path.exists() else {}
    known = runs.get(section, Run(section, *[""] * 9))
    today = datetime.now(UTC).date().isoformat()
    now = {"date": today, "machine": machine(), "selica": version()}
    runs[section] = known._replace(**(now | changed))
    write_rows(path, [one._asdict() for one in runs.values()])


def save(path: Path, rows: Sequence[Mapping[str, Any]], peers: str = "") -> None:
    """Write the rows of a section, which has the name of the file, and its run beside them."""
    write_rows(path, rows)
    took = f"{processor_seconds():.0f} processor seconds"
    source = f"{path.name}, written by the command"
    run = {"command": typed(), "peers": peers, "took": took, "source": source}
    record(path.stem, path.with_name(RUNS.name), **run)


def in_docs(path: Path | None) -> bool:
    """Return whether rows go to the documentation."""
    return path is not None and path.resolve().is_relative_to(FOLDER.parent)


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with the columns of the first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
