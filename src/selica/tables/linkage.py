"""Linkage disequilibrium (LD) by blocks: correlation matrices of markers, and files of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.files import as_path, write_whole
from selica._core.types import Array, IntArray
from selica._core.validation import count, matrix

MARKER_COLUMNS = ("chromosome", "position", "allele_1", "allele_2")
"""What a file may say of each marker beside its name."""
_BLOCK = "block_"
"""How the names of the matrices in a file begin; numbers follow, in the order of the blocks."""
_FEWEST_PEOPLE = 4
"""People of a reference panel: with fewer there is no correlation to speak of."""
_ROUNDING = 1e-6
"""Correlations beyond 1, diagonals beside 1 and triangles that differ by so little are rounded."""


@dataclass(frozen=True, slots=True, repr=False)
class LinkageBlocks:
    """Correlation matrices of markers, block by block; markers of two blocks are not correlated.

    Parameters
    ----------
    matrices : sequence of arrays of shape (p_b, p_b)
        Correlations of the markers of each block; the markers of the first block come first.
    n_reference : int, optional
        Number of people that the correlations were computed from. None: they are taken as those of
        the population, or of the very people behind the Z-scores.
    names : sequence of str, optional
        Names of the markers, all blocks in a row; m0, m1, ... by default.
    markers : mapping of str to array of shape (p,), optional
        chromosome, position, allele_1 and allele_2 of each marker, as far as they are known.
        Correlations are those of the number of copies of allele_1.

    Examples
    --------
    >>> from selica.tables import LinkageBlocks
    >>> ld = LinkageBlocks([[[1.0, 0.8], [0.8, 1.0]], [[1.0]]], n_reference=500)
    >>> ld
    LinkageBlocks(3 markers in 2 blocks, n_reference=500)
    >>> ld.names, ld.starts.tolist()
    (('m0', 'm1', 'm2'), [0, 2, 3])
    >>> ld.some([0, 2]).matrices[0]
    array([[1.]])
    """

    matrices: tuple[Array, ...]
    n_reference: int | None = None
    names: tuple[str, ...] = ()
    markers: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = tuple(
            _correlation(f"ld: block {b}", one) for b, one in enumerate(_several(self.matrices))
        )
        object.__setattr__(self, "matrices", found)
        if self.n_reference is not None:
            count("n_reference", self.n_reference, at_least=_FEWEST_PEOPLE)
        p = sum(map(len, found))
        names = tuple(str(name) for name in self.names) or tuple(f"m{j}" for j in range(p))
        if len(names) != p:
            raise ArgumentError(
                f"names must have one for each of the {p} markers of ld; got {len(names)}."
            )
        object.__setattr__(self, "names", names)
        columns = {key: np.asarray(value) for key, value in self.markers.items()}
        for key, value in columns.items():
            if value.shape != (p,):
                raise ArgumentError(
                    f"markers: {key} must have one entry for each of the {p} markers; got shape "
                    f"{value.shape}."
                )
        object.__setattr__(self, "markers", columns)

    @property
    def starts(self) -> IntArray:
        """Numbers of the first markers of all blocks, and of the end, shape (blocks + 1,)."""
        return np.concatenate([[0], np.cumsum([len(one) for one in self.matrices])])

    def __len__(self) -> int:
        """Return the number of markers."""
        return len(self.names)

    def __repr__(self) -> str:
        more = "" if self.n_reference is None else f", n_reference={self.n_reference}"
        blocks = len(self.matrices)
        return f"LinkageBlocks({len(self)} markers in {blocks} block{'s' * (blocks != 1)}{more})"

    def some(self, which: Any) -> LinkageBlocks:
        """Return the same for some of the markers, in their order; blocks without any are gone.

        Parameters
        ----------
        which : array of int, or boolean array of shape (p,)
            Rising numbers of markers, or which of them to keep.
        """
        kept = np.zeros(len(self), dtype=bool)
        kept[np.asarray(which)] = True
        parts = [kept[a:b] for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]
        return LinkageBlocks(
            tuple(
                one[np.ix_(part, part)]
                for one, part in zip(self.matrices, parts, strict=True)
                if part.any()
            ),
            self.n_reference,
            tuple(name for name, keep in zip(self.names, kept, strict=True) if keep),
            {key: np.asarray(value)[kept] for key, value in self.markers.items()},
        )


def _several(matrices: Any) -> Sequence[Any]:
    """Return the blocks, of which there is one at least."""
    if isinstance(matrices, np.ndarray) and matrices.ndim == 2:
        matrices = [matrices]
    if isinstance(matrices, str | bytes) or not isinstance(matrices, Iterable):
        raise ArgumentError(
            f"ld must be correlation matrices, one for each block; got {type(matrices).__name__}."
        )
    found = list(matrices)
    if not found:
        raise ArgumentError("ld must have one block at least.")
    return found


def _correlation(name: str, value: Any) -> Array:
    """Return a correlation matrix, exactly symmetric with ones on its diagonal."""
    table = matrix(name, value)
    if table.shape[0] != table.shape[1]:
        raise ArgumentError(f"{name} must be a square matrix; got shape {table.shape}.")
    if np.abs(table - table.T).max() > _ROUNDING:
        raise ArgumentError(f"{name} must be symmetric.")
    if np.abs(table.diagonal() - 1.0).max() > _ROUNDING:
        raise ArgumentError(
            f"{name} must be a correlation matrix, with ones on its diagonal; marker "
            f"{int(np.argmax(np.abs(table.diagonal() - 1.0)))} of it has "
            f"{table.diagonal()[np.argmax(np.abs(table.diagonal() - 1.0))]:.4g} there."
        )
    if np.abs(table).max() > 1.0 + _ROUNDING:
        raise ArgumentError(f"{name} must have correlations between -1 and 1.")
    table = np.clip(0.5 * (table + table.T), -1.0, 1.0)
    np.fill_diagonal(table, 1.0)
    return np.asarray(table)


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
    """
    place = as_path("path", path)
    files = sorted(place.glob("*.npz")) if place.is_dir() else [place]
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
