"""Genotypes of people at markers, in two bits each, in memory or mapped from a file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError
from selica._core.types import Array, IntArray
from selica.tables.genotypes.codes import Codes, blocks, count_codes, pack, unpack
from selica.tables.genotypes.markers import Markers
from selica.tables.genotypes.people import People
from selica.tables.genotypes.storing import store_people

_COPIES = np.array([2.0, 0.0, 1.0, 0.0])
"""Copies of the first allele by code, where the call is there."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Genotypes:
    """Genotypes of n people at p markers.

    An entry is the number of copies of the marker's first allele: 0, 1 or 2, or a missing call.

    Attributes
    ----------
    codes : array of uint8 of shape (lines, ceil(n / 4))
        Two bits for each call, in the order of PLINK 1: one line a marker, four people a byte. It
        may be mapped from a file, and may have lines that are not used.
    n_rows : int
        Number of people, n.
    columns : array of int64 of shape (p,)
        The lines of `codes` that are markers of this table.
    people : People
    markers : Markers
        Names are unique.
    counts : array of int of shape (p, 4)
        How many people have each code: two copies, missing, one copy, none.
    notes : tuple of str
        What was left out, and why.

    Examples
    --------
    >>> from selica.tables.genotypes import Genotypes
    >>> genotypes = Genotypes.of([[2, 0], [1, -1], [0, 1]])
    >>> genotypes
    Genotypes(3 people, 2 markers)
    >>> genotypes.frequency.tolist(), genotypes.missing.round(3).tolist()
    ([0.5, 0.25], [0.0, 0.333])
    """

    codes: Codes
    n_rows: int
    columns: NDArray[np.int64]
    people: People
    markers: Markers
    counts: IntArray
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, calls: Any, people: People | None = None, markers: Markers | None = None
    ) -> Genotypes:
        """Return genotypes from a table in memory.

        Parameters
        ----------
        calls : array of int of shape (n, p)
            Copies of the first allele, -1 where a call is missing.
        people, markers : optional
            Numbered by default.
        """
        table = np.asarray(calls)
        if table.ndim != 2 or table.size == 0 or table.dtype.kind not in "iu":
            raise ArgumentError("calls must be a non-empty table of whole numbers.")
        n, p = table.shape
        people = People.of(range(1, n + 1)) if people is None else people
        markers = Markers.numbered(p) if markers is None else markers
        if (len(people), len(markers)) != (n, p):
            raise ArgumentError(
                f"calls have {n} people and {p} markers; people are {len(people)} and markers "
                f"{len(markers)}."
            )
        codes = pack(table.T)
        lines = np.arange(p, dtype=np.int64)
        return cls(codes, n, lines, people, markers.unique(), count_codes(codes, n))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of people and of markers."""
        return self.n_rows, int(self.columns.size)

    @property
    def nbytes(self) -> int:
        """Bytes of the codes of these markers, in memory or in the file."""
        return int(self.columns.size * self.codes.shape[1])

    @property
    def names(self) -> list[str]:
        """Names of the markers."""
        return [str(name) for name in self.markers.name]

    @property
    def frequency(self) -> Array:
        """Frequency of the first allele of each marker, among the calls."""
        calls = np.maximum(self.n_rows - self.counts[:, 1], 1)
        return np.asarray(self.counts @ _COPIES / (2.0 * calls))

    @property
    def missing(self) -> Array:
        """Share of missing calls of each marker."""
        return np.asarray(self.counts[:, 1] / self.n_rows)

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.int8]]]:
        """Yield calls of some markers after others, lines are markers, with their places."""
        for place, block in blocks(self.codes, self.columns):
            yield place, unpack(block, self.n_rows)

    def calls(self, which: Any = None) -> NDArray[np.int8]:
        """Return calls of some markers, or all, as small integers; -1 where a call is missing.

        Parameters
        ----------
        which : array of int, optional
            Markers.

        Returns
        -------
        array of int8 of shape (n, m)
        """
        lines = self.columns if which is None else self.columns[which]
        return np.ascontiguousarray(unpack(np.asarray(self.codes[lines]), self.n_rows).T)

    def some_markers(self, which: Any) -> Genotypes:
        """Return some of the markers; no codes are copied."""
        return replace(
            self,
            columns=self.columns[which],
            markers=self.markers.some(which),
            counts=self.counts[which],
        )

    def some_people(self, which: Any, cache: Path | None = None) -> Genotypes:
        """Return some of the people; their codes are packed anew.

        Parameters
        ----------
        which : array of int or of bool
        cache : path, optional
            File for the codes; by default they are in memory.
        """
        index = np.arange(self.n_rows)[which]
        if np.array_equal(index, np.arange(self.n_rows)):
            return self
        codes = store_people(self.codes, self.n_rows, self.columns, index, cache)
        return replace(
            self,
            codes=codes,
            n_rows=int(index.size),
            columns=np.arange(self.columns.size, dtype=np.int64),
            people=self.people.some(index),
            counts=count_codes(codes, int(index.size)),
        )

    def __repr__(self) -> str:
        return f"Genotypes({self.n_rows:,} people, {self.columns.size:,} markers)"
