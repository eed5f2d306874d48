"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selica._core.errors import ArgumentError
from selica._core.validation import short


def as_path(name: str, value: Path | str) -> Path:
    """Return `value` as a path that can be told in a sentence."""
    if not isinstance(value, Path | str) or not str(value).isprintable():
        raise ArgumentError(f"{name} must be a path; got {short(value)}.")
    return Path(value)


def check_folder(out: Path | str) -> Path:
    """Make the folder `out` if need be, and check that files can be written to it."""
    folder = as_path("out", out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".selica-can-write"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ArgumentError(f"out: cannot write to {folder}: {error.strerror or error}.") from None
    return folder


def write_whole(files: Mapping[Path, Callable[[Path], Any]]) -> list[Path]:
    """Write files in one step: no reader sees half of one, and a failure changes none.

    Parameters
    ----------
    files : mapping of path to callable
        What writes each file to the path that it is called with.

    Returns
    -------
    list of path

    Raises
    ------
    OSError
        With the name of the file that could not be written; those there were before are untouched.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from selica._core.files import write_whole
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path] = write_whole({Path(folder) / "a.txt": lambda part: part.write_text("whole")})
    ...     path.read_text()
    'whole'
    """
    parts = {path: path.with_name(f".{path.stem}.part{path.suffix}") for path in files}
    try:
        for path, write in files.items():
            with naming(path):
                write(parts[path])
        for path, part in parts.items():
            with naming(path):
                os.replace(part, path)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)
    return list(files)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in errors of the system within, in the words of the system."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
