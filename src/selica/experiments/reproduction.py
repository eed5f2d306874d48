"""A figure with everything behind it: picture, table, provenance; resumable."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from selica._core.files import check_folder, write_whole
from selica._core.table import Table
from selica._core.types import Progress
from selica._core.validation import choice, count, flag, reporter, workers
from selica._version import __version__
from selica.experiments.figures import FIGURES, figure_module
from selica.experiments.figures.figure import SCALES, FigureRun, Finding
from selica.experiments.store import Store

_DEPENDENCIES = ("numpy", "scipy", "joblib", "matplotlib", "pandas", "pyarrow")
_LARGEST_SEED = 2**128
"""It is in the name of a file."""
PARTS = "parts"
"""Folder with the finished parts of each run."""


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A figure that was made.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from selica.experiments import reproduce
    >>> with TemporaryDirectory() as folder:
    ...     made = reproduce("phase-boundary", "smoke", folder)
    >>> made.name, made.notes, [path.name for path in made.files][:1]
    ('phase-boundary', [], ['phase-boundary.csv'])
    """

    name: str
    table: Table
    findings: list[Finding]
    seconds: float
    """Wall time of this run; parts found on disk took theirs before."""
    files: list[Path]
    notes: list[str]
    """What could not be done, one sentence each."""


def reproduce(
    name: str,
    scale: str = "quick",
    out: Path | str = "reproduced",
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
    fresh: bool = False,
    progress: Progress | None = None,
) -> Reproduced:
    """Compute a figure and writes picture, table and provenance.

    Parameters
    ----------
    name : str
        One of `selica.experiments.FIGURES`.
    scale : {"smoke", "quick", "paper"}
        From seconds to the sizes of the article.
    out : path
        Folder for the files; made if need be. Finished parts of a simulation are kept in it, so
        that a run that was stopped goes on where it was.
    random_state : int
        Seed; the same seed gives the same table, byte by byte.
    n_jobs : int, optional
        Workers, as in joblib.
    fresh : bool
        Forget the finished parts of an earlier run.
    progress : callable, optional
        ``progress(done, total)``.

    Returns
    -------
    Reproduced

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from selica import experiments
    >>> with TemporaryDirectory() as folder:
    ...     made = experiments.reproduce("phase-boundary", "smoke", folder)
    ...     sorted({path.suffix for path in made.files})[:2]
    ['.csv', '.json']
    """
    name, scale = choice("name", name, tuple(FIGURES)), choice("scale", scale, SCALES)
    random_state = count("random_state", random_state, at_least=0, at_most=_LARGEST_SEED)
    n_jobs, anew = workers(n_jobs), flag("fresh", fresh)
    reporter(progress)
    folder = check_folder(out)
    parts = folder / PARTS / f"{name}-{scale}-{random_state}.jsonl"
    if anew:
        parts.unlink(missing_ok=True)
    store = Store(parts)
    module = figure_module(name)
    begin = time.perf_counter()
    table = module.compute(scale, FigureRun(random_state, n_jobs, store, progress))
    seconds = time.perf_counter() - begin
    for suffix in (".png", ".pdf", ".parquet", ".json"):
        (folder / f"{name}{suffix}").unlink(missing_ok=True)  # of an earlier run
    files = write_whole({folder / f"{name}.csv": table.to_csv})
    failed = [row for row in table if row.get("status") == "failed"]
    notes = (
        [f"{len(failed)} rows of the table are parts that failed, with reasons."] if failed else []
    )
    files += _parquet(folder / f"{name}.parquet", table, notes)
    findings = module.findings(table)
    files += _pictures(folder, name, table, bool(failed), notes)
    record = {
        "figure": name,
        "scale": scale,
        "seed": random_state,
        "selica": __version__,
        "dependencies": {d: v for d in _DEPENDENCIES if (v := _version(d))},
        "seconds": round(seconds, 3),
        "parts_found_on_disk": store.found,
        "machine": {
            "python": platform.python_version(),
            "system": platform.system(),
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
        },
        "rows": len(table),
        "findings": [finding.to_dict() for finding in findings],
        "notes": notes,
    }
    text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
    record_file = folder / f"{name}.json"
    files += write_whole({record_file: lambda part: part.write_text(text, encoding="utf-8")})
    return Reproduced(name, table, findings, seconds, files, notes)


def _parquet(path: Path, table: Table, notes: list[str]) -> list[Path]:
    try:
        frame = table.to_frame()
    except ImportError:
        notes.append("No Parquet file: pandas is missing (pip install 'selica[data]').")
        return []
    return write_whole({path: lambda part: frame.to_parquet(part, index=False)})


def _pictures(folder: Path, name: str, table: Table, failed: bool, notes: list[str]) -> list[Path]:
    try:
        from selica.plots.canvas import save

        figure = figure_module(name).draw(table)
    except ImportError:
        notes.append("No picture: matplotlib is missing (pip install 'selica[plots]').")
        return []
    except (LookupError, ValueError) as error:
        if not failed:
            raise
        notes.append(f"No picture without them: {error}")
        return []
    paths = [folder / f"{name}{suffix}" for suffix in (".png", ".pdf")]
    return write_whole({path: lambda part: save(figure, [part]) for path in paths})


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
