"""Markers: chromosome, position, name and alleles, from `.bim` and `.pvar` files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from selica._core.errors import ArgumentError
from selica.tables.columns import listed
from selica.tables.genotypes.lines import (
    TextColumn,
    columns_of_text,
    content_of,
    header_of,
    positions_of,
    write_lines,
)

_ORDER = {"X": 23, "Y": 24, "XY": 25, "MT": 26, "M": 26, "0": 99}
"""Places of chromosomes that are not numbers; 0 is a chromosome that is not known."""


@dataclass(frozen=True, slots=True, eq=False)
class Markers:
    """Markers in the order of a file.

    Attributes
    ----------
    chromosome, name, allele_1, allele_2 : arrays of text of shape (p,)
        Genotypes are copies of the first allele.
    position : array of int of shape (p,)
        Base pairs.

    Examples
    --------
    >>> from selica.tables.genotypes import Markers
    >>> markers = Markers.of(["1", "1", "X"], ["rs1", "rs2", "rs3"], [100, 250, 30], "AGT", "CTC")
    >>> len(markers), markers.row(1)["position"]
    (3, 250)
    """

    chromosome: TextColumn
    name: TextColumn
    position: NDArray[np.int64]
    allele_1: TextColumn
    allele_2: TextColumn

    @classmethod
    def of(cls, chromosome: Any, name: Any, position: Any, allele_1: Any, allele_2: Any) -> Markers:
        """Return markers from lists of the same length."""
        texts = [
            np.array([str(one) for one in given], dtype=object)
            for given in (chromosome, name, allele_1, allele_2)
        ]
        places = np.asarray(position, dtype=np.int64)
        if len({places.size, *(text.size for text in texts)}) > 1:
            raise ArgumentError("chromosome, name, position and alleles must have the same length.")
        return cls(texts[0], texts[1], places, texts[2], texts[3])

    @classmethod
    def numbered(cls, p: int) -> Markers:
        """Return p markers of which nothing is known, on chromosome 1."""
        names = [f"marker{j}" for j in range(1, p + 1)]
        return cls.of("1" * p, names, range(1, p + 1), "A" * p, "B" * p)

    def __len__(self) -> int:
        return int(self.position.size)

    def __getitem__(self, column: str) -> Any:
        if column not in self.__slots__:
            raise KeyError(column)
        return getattr(self, column)

    def some(self, which: Any) -> Markers:
        """Return some of the markers."""
        return Markers(
            self.chromosome[which], self.name[which], self.position[which],
            self.allele_1[which], self.allele_2[which],
        )  # fmt: skip

    def unique(self) -> Markers:
        """Return the markers with `labels` for names, so that every name is that of one marker."""
        if len(set(self.name)) == len(self) and "." not in self.name:
            return self
        return replace(self, name=np.array(self.labels, dtype=object))

    def row(self, j: int) -> dict[str, Any]:
        """Return what is known of one marker."""
        return {
            "chromosome": str(self.chromosome[j]),
            "position": int(self.position[j]),
            "name": str(self.name[j]),
            "allele_1": str(self.allele_1[j]),
            "allele_2": str(self.allele_2[j]),
        }

    @property
    def labels(self) -> list[str]:
        """A different name for each marker: with position and alleles where names are not unique.

        >>> from selica.tables.genotypes import Markers
        >>> Markers.of("11", [".", "rs2"], [100, 250], "AG", "CT").labels
        ['1:100:A:C', 'rs2']
        """
        times = Counter(self.name)
        labels = [
            str(name)
            if name != "." and times[name] == 1
            else f"{self.chromosome[j]}:{self.position[j]}:{self.allele_1[j]}:{self.allele_2[j]}"
            for j, name in enumerate(self.name)
        ]
        again = Counter(labels)
        if len(again) == len(labels):
            return labels
        seen: Counter[str] = Counter()
        for j, label in enumerate(labels):
            if again[label] > 1:
                seen[label] += 1
                labels[j] = f"{label} ({seen[label]})"
        return labels

    @property
    def chromosomes(self) -> list[str]:
        """Chromosomes that occur, in the order of a karyogram."""
        return sorted(dict.fromkeys(self.chromosome), key=karyogram_place)


def plain_chromosome(text: str) -> str:
    """Return a chromosome without the letters that some files put before its number.

    >>> from selica.tables.genotypes.markers import plain_chromosome
    >>> [plain_chromosome(text) for text in ("chr7", "7", "23", "chrX")]
    ['7', '7', 'X', 'X']
    """
    bare = text[3:] if text[:3].lower() == "chr" and len(text) > 3 else text
    bare = bare.upper() if len(bare) <= 2 else bare
    return {"23": "X", "24": "Y", "25": "XY", "26": "MT", "M": "MT"}.get(bare, bare)


def karyogram_place(chromosome: str) -> tuple[int, str]:
    """Return what chromosomes are sorted by: numbers, then X, Y and others."""
    bare = plain_chromosome(chromosome)
    place = int(bare) if bare.isdigit() and bare != "0" else _ORDER.get(bare, 98)
    return place, bare


def read_bim(path: Path) -> Markers:
    """Read the markers of a `.bim` file: six columns without a line of names."""
    columns = columns_of_text(path, content_of(path), 6)
    return Markers(
        _plain(columns[0]), columns[1], positions_of(path, columns[3]),
        columns[4], columns[5],
    )  # fmt: skip


def read_pvar(path: Path) -> Markers:
    """Read the markers of a `.pvar` file (or `.pvar.zst`), which may have lines of comments.

    Genotypes of PLINK 2 are copies of the first alternative allele, which is the first allele here.
    """
    names, content = header_of(path, content_of(path), b"#CHROM")
    if not names:
        width = len(content.split(b"\n", 1)[0].split())
        names = ["CHROM", "ID", "POS", "ALT", "REF"]
        if width == 6:
            names.insert(2, "CM")
    needed = ("CHROM", "POS", "ID", "REF", "ALT")
    absent = [name for name in needed if name not in names]
    if absent:
        raise ArgumentError(f"{path}: the columns {listed(absent)} are missing.")
    found = dict(zip(names, columns_of_text(path, content, len(names)), strict=True))
    several = [name for name, text in zip(found["ID"], found["ALT"], strict=True) if "," in text]
    if several:
        raise ArgumentError(
            f"{path}: {len(several):,} markers have more than two alleles, such as {several[0]!r}; "
            "split them or leave them out with plink2 --max-alleles 2 --make-pgen."
        )
    return Markers(
        _plain(found["CHROM"]), found["ID"], positions_of(path, found["POS"]),
        found["ALT"], found["REF"],
    )  # fmt: skip


def write_bim(path: Path, markers: Markers) -> None:
    """Write markers as a `.bim` file; positions in centimorgans are not known and are 0."""
    zeros = ["0"] * len(markers)
    write_lines(
        path,
        [
            markers.chromosome, markers.name, zeros, markers.position,
            markers.allele_1, markers.allele_2,
        ],
    )  # fmt: skip


def _plain(chromosome: TextColumn) -> TextColumn:
    """Return chromosomes by their plain names, equal ones as one object."""
    kinds, place = np.unique(chromosome.astype(str), return_inverse=True)
    return np.array([plain_chromosome(str(kind)) for kind in kinds], dtype=object)[place]
