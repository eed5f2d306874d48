"""Finished parts of a long run, on disk: a run that was killed goes on where it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from selica._core.errors import ArgumentError
from selica._core.files import as_path, naming


class Store:
    """Results by key, in a file to which one line is added for each finished part.

    A line is written in one piece and forced to the disk; a line that a crash cut short, or that
    is damaged otherwise, is passed over.

    Parameters
    ----------
    path : path
        The file; made with its folder when the first part is done.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.experiments import Store
    >>> with TemporaryDirectory() as folder:
    ...     Store(Path(folder, "parts.jsonl")).add("first", {"power": 0.5})
    ...     Store(Path(folder, "parts.jsonl"))["first"]
    {'power': 0.5}
    """

    def __init__(self, path: Path | str) -> None:
        self.path = as_path("path", path)
        self._done: dict[str, Any] = {}
        self.found = 0
        """How many results were looked up."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return
        except OSError as error:
            raise ArgumentError(f"path: cannot read {self.path}: {error.strerror}.") from None
        for line in content.split(b"\n"):
            try:
                record = json.loads(line)
                self._done[record["key"]] = record["value"]
            except (ValueError, KeyError, TypeError):
                continue

    def __contains__(self, key: str) -> bool:
        return key in self._done

    def __len__(self) -> int:
        return len(self._done)

    def __getitem__(self, key: str) -> Any:
        value = self._done[key]
        self.found += 1
        return value

    def add(self, key: str, value: Any) -> None:
        """Keep a result; numbers keep every digit."""
        line = json.dumps({"key": key, "value": value})
        self._done[key] = json.loads(line)["value"]
        with naming(self.path):
            self._append(line)

    def _append(self, line: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b", buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - 1, 0))
            cut = size > 0 and file.read(1) != b"\n"  # the line before lost its end
            file.write(("\n" if cut else "").encode() + line.encode() + b"\n")
            os.fsync(file.fileno())
