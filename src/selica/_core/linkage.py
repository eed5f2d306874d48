"""Linkage disequilibrium (LD) by blocks: correlation matrices of markers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica._core.types import Array, IntArray
from selica._core.validation import count, square

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
    table = square(name, value)
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
