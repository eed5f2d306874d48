"""Arrays that are mapped from a file: a worker opens the file itself, and no entry is sent."""

from __future__ import annotations

import mmap
import os
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import RefusedError


class FileArray(NamedTuple):
    """Where the entries of an array are in a file, and what the file was like.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica._core.file_arrays import in_file
    >>> with TemporaryDirectory() as folder:
    ...     np.save(Path(folder, "X.npy"), np.arange(6.0).reshape(2, 3))
    ...     where = in_file(np.load(Path(folder, "X.npy"), mmap_mode="r")[:, 1:])
    ...     where.open().tolist()
    [[1.0, 2.0], [4.0, 5.0]]
    """

    path: str
    offset: int
    """Place of the first entry, in bytes."""
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    size: int
    """Of the file, in bytes."""
    changed: int
    """When the file was changed last, in nanoseconds."""

    def open(self) -> Any:
        """Return the array, mapped from the file; another file of that name is refused."""
        try:
            found = os.stat(self.path)
        except OSError as error:
            raise RefusedError(
                f"A worker cannot open the table at {self.path}: {error.strerror}; the file must "
                "be at the same place for all workers, or be read into memory to be sent."
            ) from None
        if (found.st_size, found.st_mtime_ns) != (self.size, self.changed):
            raise RefusedError(
                f"The table at {self.path} is not the file that the run began with: size or time "
                "of change differ."
            )
        dtype = np.dtype(self.dtype)
        bytes_ = np.memmap(
            self.path, dtype=np.uint8, mode="r", offset=self.offset,
            shape=(_extent(self.shape, self.strides, dtype.itemsize),),
        )  # fmt: skip
        return np.ndarray(self.shape, dtype, buffer=bytes_, strides=self.strides)


def in_file(array: Any) -> FileArray | None:
    """Return where the entries of an array are in a file; None where they are in memory alone.

    Parameters
    ----------
    array : ndarray
        Perhaps a part of an array that `numpy.memmap` made, read-only: what may be written may
        differ from the file.
    """
    mapped = array
    while isinstance(mapped, np.ndarray) and not isinstance(mapped.base, mmap.mmap):
        mapped = mapped.base
    if not isinstance(mapped, np.memmap) or mapped.mode != "r" or mapped.filename is None:
        return None
    if array.dtype.hasobject or array.size == 0 or min(array.strides, default=0) < 0:
        return None
    try:
        file = os.stat(mapped.filename)
    except OSError:  # it was deleted, and its entries live on in memory
        return None
    first = array.__array_interface__["data"][0] - mapped.__array_interface__["data"][0]
    return FileArray(
        os.path.abspath(mapped.filename), int(mapped.offset + first), array.dtype.str,
        array.shape, array.strides, file.st_size, file.st_mtime_ns,
    )  # fmt: skip


def _extent(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> int:
    """Return the bytes from the first entry to the end of the last."""
    steps = zip(shape, strides, strict=True)
    return sum((length - 1) * stride for length, stride in steps) + itemsize
