"""Files of linkage disequilibrium (LD) by blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.files import as_path, write_whole
from selica._core.linkage import LinkageBlocks
from selica._core.validation import instance

MARKER_COLUMNS = ("chromosome", "position", "allele_1", "allele_2")
"""What a file may say of each marker beside its name."""
_BLOCK = "block_"
"""How the names of the matrices in a file begin; numbers follow, in the order of the blocks."""


def write_linkage(path: str | Path, ld: LinkageBlocks) -> Path:
    """Write LD blocks to an .npz file.

    Parameters
    ----------
    path : str or Path
    ld : LinkageBlocks

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from selica.tables import LinkageBlocks, read_linkage, write_linkage
    >>> ld = LinkageBlocks([[[1.0, 0.8], [0.8, 1.0]]], 500, ["rs1", "rs2"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     read_linkage(write_linkage(f"{folder}/ld.npz", ld)).names
    ('rs1', 'rs2')
    """
    place = as_path("path", path)
    instance("ld", ld, LinkageBlocks)
    arrays: dict[str, Any] = {f"{_BLOCK}{b:05d}": one for b, one in enumerate(ld.matrices)} | {
        "names": np.array(ld.names)
    }
    arrays |= {key: np.asarray(value) for key, value in ld.markers.items() if key in MARKER_COLUMNS}
    if ld.n_reference is not None:
        arrays["n_reference"] = np.array(ld.n_reference)

    def save(to: Path) -> None:
        with to.open("wb") as file:
            np.savez_compressed(file, **arrays)

    write_whole({place: save})
    return place


def read_linkage(path: str | Path) -> LinkageBlocks:
    """Read LD blocks from an .npz file, or from all .npz files of a folder in the order of names.

    A file has matrices block_00000, block_00001, ..., `names` of the markers, and as far as they
    are known chromosome, position, allele_1, allele_2 and n_reference, the number of people.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    LinkageBlocks

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.tables import LinkageBlocks, read_linkage, write_linkage
    >>> with TemporaryDirectory() as folder:
    ...     file = write_linkage(Path(folder) / "ld.npz", LinkageBlocks([[[1.0]]], names=["rs1"]))
    ...     read_linkage(file).names
    ('rs1',)
    """
    place = as_path("path", path)
    try:
        files = sorted(place.glob("*.npz")) if place.is_dir() else [place]
    except OSError as error:
        raise ArgumentError(f"path: {error.strerror or error}.") from None
    if not files:
        raise ArgumentError(f"{place}: the folder has no .npz file with LD blocks.")
    parts = [_read(one) for one in files]
    sizes = {one.n_reference for one in parts}
    if len(sizes) > 1:
        raise ArgumentError(f"{place}: the files name different numbers of people (n_reference).")
    shared = set.intersection(*(set(one.markers) for one in parts))
    return LinkageBlocks(
        tuple(block for one in parts for block in one.matrices),
        parts[0].n_reference,
        tuple(name for one in parts for name in one.names),
        {key: np.concatenate([one.markers[key] for one in parts]) for key in sorted(shared)},
    )


def _read(path: Path) -> LinkageBlocks:
    """Read the blocks of one file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except FileNotFoundError:
        raise ArgumentError(f"{path}: there is no such file.") from None
    except (OSError, ValueError, BadZipFile, AttributeError):
        raise ArgumentError(f"{path}: the file is no .npz archive of arrays.") from None
    blocks = sorted(key for key in arrays if key.startswith(_BLOCK))
    if not blocks:
        raise ArgumentError(f"{path}: the file has no matrix {_BLOCK}00000 with LD.")
    number = arrays.get("n_reference")
    if number is not None and (number.size != 1 or number.dtype.kind not in "iuf"):
        raise ArgumentError(f"{path}: n_reference must be one number.")
    if "names" not in arrays:
        raise ArgumentError(f"{path}: the file has no names of markers (an array `names`).")
    try:
        return LinkageBlocks(
            tuple(arrays[key] for key in blocks),
            None if number is None else int(number.item()),
            tuple(arrays["names"].astype(str).tolist()),
            {key: arrays[key] for key in MARKER_COLUMNS if key in arrays},
        )
    except ArgumentError as error:
        raise ArgumentError(f"{path}: {error}") from None
