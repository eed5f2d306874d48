"""Where a selection comes from: the file, the day, and how it was asked for."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from selica._core.errors import ArgumentError
from selica._core.files import as_path
from selica._core.validation import printable

_PART = 1 << 20
"""Bytes of a file that are read at once."""


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """A file by its name, size and digest, so that a reader can tell whether it is the same.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.reports import FileIdentity
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "table.csv"
    ...     _ = path.write_bytes(b"a,b")
    ...     found = FileIdentity.of(path)
    >>> found.name, found.size, found.sha256[:8]
    ('table.csv', 3, '1eb7c54d')
    """

    name: str
    size: int
    """In bytes."""
    sha256: str

    @classmethod
    def of(cls, path: Path | str) -> FileIdentity:
        """Read a file and name it, without its folder.

        A folder, such as an array of Zarr, has the digest of the names and bytes of its files, in
        the order of their names.
        """
        path = as_path("path", path)
        digest, size = hashlib.sha256(), 0
        try:
            inside = sorted(one for one in path.rglob("*") if one.is_file())
            for each in inside if path.is_dir() else [path]:
                if each != path:
                    digest.update(each.relative_to(path).as_posix().encode())
                with each.open("rb") as file:
                    while part := file.read(_PART):
                        digest.update(part)
                        size += len(part)
        except OSError as error:
            raise ArgumentError(f"{path}: {error.strerror or error}.") from None
        return cls(printable(path.name), size, digest.hexdigest())

    @classmethod
    def of_bytes(cls, name: str, content: bytes) -> FileIdentity:
        """Name the content of a file that was uploaded."""
        return cls(printable(name), len(content), hashlib.sha256(content).hexdigest())

    def __str__(self) -> str:
        return f"{self.name}, {self.size:,} bytes, SHA-256 {self.sha256}"


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a report says of its origin; everything that is None is not said.

    Attributes
    ----------
    file : FileIdentity, optional
        The table.
    date : str, optional
        The day, e.g. "2026-11-17". It is only said where it is given, so that the same selection
        gives the same files on every day.
    command : str, optional
        The command line that repeats the selection.
    code : str, optional
        The lines of Python that do.

    Examples
    --------
    >>> from selica.reports import Provenance
    >>> about = Provenance(date="2026-11-17", command="selica select table.csv --target y")
    >>> about.to_dict()["date"]
    '2026-11-17'
    """

    file: FileIdentity | None = None
    date: str | None = None
    command: str | None = None
    code: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return asdict(self)
