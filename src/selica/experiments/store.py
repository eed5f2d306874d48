"""Finished parts of a long run, on disk: a run that was killed goes on where it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Store:
    """Results by key, in a file to which one line is added for each finished part.

    A line is written at once and forced to the disk; a line that was cut short by a crash is
    ignored, and cut off before the next one is added.

    Parameters
    ----------
    path : Path
        The file; made with its folder when the first part is done.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._done: dict[str, Any] = {}
        end = 0
        if path.exists():
            for line in path.read_bytes().splitlines(keepends=True):
                try:
                    record = json.loads(line) if line.endswith(b"\n") else None
                    self._done[record["key"]] = record["value"]
                except (ValueError, KeyError, TypeError):
                    break
                end += len(line)
            if end < path.stat().st_size:
                with path.open("r+b") as file:
                    file.truncate(end)

    def __contains__(self, key: str) -> bool:
        return key in self._done

    def __len__(self) -> int:
        return len(self._done)

    def __getitem__(self, key: str) -> Any:
        return self._done[key]

    def add(self, key: str, value: Any) -> None:
        """Keeps a result; numbers keep every digit."""
        line = json.dumps({"key": key, "value": value}) + "\n"
        self._done[key] = json.loads(line)["value"]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
