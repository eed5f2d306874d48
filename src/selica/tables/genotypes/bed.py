"""PLINK 1 files: `.bed` with `.bim` and `.fam` beside it, mapped into memory and written."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.files import as_path, write_whole
from selica._core.validation import short
from selica.tables.genotypes.codes import Codes, line_bytes, pack
from selica.tables.genotypes.markers import Markers, write_bim
from selica.tables.genotypes.people import People, checked, write_fam

_MAGIC = b"\x6c\x1b"
"""How a `.bed` file begins."""
_BY_MARKERS = b"\x01"
"""What follows where a line is a marker; zero where it is a person."""
_HEADER = 3
"""Bytes before the first line."""


def beside(path: Path, *endings: str) -> Path:
    """Return the file of the same name with one of these endings, the first that is there."""
    for ending in endings:
        other = path.with_suffix(ending)
        if other.exists():
            return other
    raise ArgumentError(f"{path}: {path.with_suffix(endings[0]).name} has to be beside it.")


def map_bed(path: Path, n: int, p: int) -> Codes:
    """Return the codes of a `.bed` file, mapped and not read.

    Parameters
    ----------
    path : path
    n, p : int
        People of the `.fam` file and markers of the `.bim` file.

    Returns
    -------
    array of uint8 of shape (p, ceil(n / 4))
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER)
        size = path.stat().st_size
    except OSError as error:
        raise ArgumentError(f"{path}: {error.strerror or error}.") from None
    if head[:2] != _MAGIC:
        raise ArgumentError(f"{path}: this is not a .bed file of PLINK 1.")
    if head[2:] != _BY_MARKERS:
        raise ArgumentError(
            f"{path}: a line of this file is a person; make one whose lines are markers with "
            f"plink --bfile {path.with_suffix('')} --make-bed --out {path.stem}-markers."
        )
    width = line_bytes(n)
    if size != _HEADER + p * width:
        raise ArgumentError(
            f"{path}: {p:,} markers of {n:,} people would be {_HEADER + p * width:,} bytes; the "
            f"file has {size:,}: it is cut off, or does not belong to the .bim and .fam beside it."
        )
    return np.memmap(path, dtype=np.uint8, mode="r", offset=_HEADER, shape=(p, width))


def write_bed(
    path: str | Path, genotypes: Any, people: People | None = None, markers: Markers | None = None
) -> Path:
    """Write genotypes as PLINK 1 files: `.bed`, `.bim` and `.fam`.

    Parameters
    ----------
    path : path
        Of the `.bed` file.
    genotypes : array of int of shape (n, p), or iterable of arrays of uint8
        Copies of the first allele, -1 where a call is missing. Or lines of codes, block by block
        (see `selica.tables.genotypes.codes`), so that a file can be written that does not fit into
        memory; `people` and `markers` are then needed.
    people : People, optional
        1, 2, 3, ... by default.
    markers : Markers, optional
        On chromosome 1, at positions 1, 2, 3, ... by default.

    Returns
    -------
    path

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.tables.genotypes import read_genotypes, write_bed
    >>> with TemporaryDirectory() as folder:
    ...     path = write_bed(Path(folder) / "small.bed", [[2, 0], [1, -1], [0, 1]])
    ...     read_genotypes(path).calls().tolist()
    [[2, 0], [1, -1], [0, 1]]
    """
    file = as_path("path", path)
    if file.suffix != ".bed":
        raise ArgumentError(f"path must end in .bed; got {short(str(path))}.")
    if isinstance(genotypes, np.ndarray | list | tuple):
        calls = np.asarray(genotypes)
        if calls.ndim != 2 or calls.size == 0:
            raise ArgumentError("genotypes must be a non-empty table of people and markers.")
        n, p = calls.shape
        people = People.of(range(1, n + 1)) if people is None else people
        markers = Markers.numbered(p) if markers is None else markers
        if (len(people), len(markers)) != (n, p):
            raise ArgumentError(
                f"genotypes have {n} people and {p} markers; people are {len(people)} and markers "
                f"{len(markers)}."
            )
        genotypes = [pack(calls.T)]
    if people is None or markers is None:
        raise ArgumentError("people and markers are needed where genotypes come block by block.")
    checked(file, people)
    shape = (len(markers), line_bytes(len(people)))
    write_whole(
        {
            file: lambda part: _write_codes(part, genotypes, shape),
            file.with_suffix(".bim"): lambda part: write_bim(part, markers),
            file.with_suffix(".fam"): lambda part: write_fam(part, people),
        }
    )
    return file


def _write_codes(path: Path, blocks: Iterable[Codes], shape: tuple[int, int]) -> None:
    """Write blocks of lines, which have to be as many as there are markers."""
    lines = 0
    with path.open("wb") as file:
        file.write(_MAGIC + _BY_MARKERS)
        for block in blocks:
            if block.dtype != np.uint8 or block.ndim != 2 or block.shape[1] != shape[1]:
                raise ArgumentError(f"genotypes must be blocks of uint8 with {shape[1]} columns.")
            lines += block.shape[0]
            file.write(np.ascontiguousarray(block).data)
    if lines != shape[0]:
        raise ArgumentError(f"genotypes have {lines:,} lines for {shape[0]:,} markers.")
