"""Genotypes from files: which kind of file it is, and what is used of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.files import as_path
from selica._core.validation import short
from selica.tables.genotypes.bed import beside, map_bed
from selica.tables.genotypes.codes import count_codes
from selica.tables.genotypes.conversions import ending_to_convert, refuse_to_convert
from selica.tables.genotypes.filters import MarkerFilter, chosen_people
from selica.tables.genotypes.genotypes import Genotypes
from selica.tables.genotypes.markers import read_bim, read_pvar
from selica.tables.genotypes.people import read_fam, read_psam
from selica.tables.genotypes.pgen import read_pgen
from selica.tables.genotypes.storing import store_people

GENOTYPE_FILES = (".bed", ".pgen")
"""Endings of files of genotypes that are read."""
_BESIDE = {".bim": ".bed", ".fam": ".bed", ".pvar": ".pgen", ".psam": ".pgen"}
"""Endings of files that are read beside them, and of the file to give."""


def is_genotype_file(path: Any) -> bool:
    """Tell whether a path is that of genotypes, by its ending: files that are read, and others.

    Parameters
    ----------
    path : str or path

    Examples
    --------
    >>> from selica.tables.genotypes import is_genotype_file
    >>> is_genotype_file("cohort.bed"), is_genotype_file("clinic.csv")
    (True, False)
    """
    if not isinstance(path, str | os.PathLike):
        return False
    known = (*GENOTYPE_FILES, *_BESIDE)
    return Path(path).suffix.lower() in known or ending_to_convert(Path(path)) is not None


def read_genotypes(
    path: str | Path,
    *,
    keep_people: Any = None,
    remove_people: Any = None,
    extract: Any = None,
    exclude: Any = None,
    chromosomes: str | Iterable[str] = (),
    maf: float = 0.0,
    max_missing: float = 1.0,
    cache: str | Path | None = None,
) -> Genotypes:
    """Read genotypes: PLINK 1 (`.bed`, `.bim`, `.fam`) or PLINK 2 (`.pgen`, `.pvar`, `.psam`).

    A `.bed` file is mapped and not copied, unless people are left out. Markers with one allele
    only are left out in any case.

    Parameters
    ----------
    path : path
        The `.bed` or `.pgen` file; the others are beside it, with the same name.
    keep_people, remove_people : path or list of str, optional
        People to use, and to leave out: names (IID), or a file with FID and IID, or IID alone, in
        each line.
    extract, exclude : path or list of str, optional
        Markers to use, and to leave out: names, or a file with one in each line.
    chromosomes : str or iterable of str
        Chromosomes to use, such as "1,2,X" or "1-22"; all by default.
    maf : float
        Smallest frequency of the rarer allele, among the people that are used.
    max_missing : float
        Largest share of missing calls of a marker.
    cache : path, optional
        File for codes that have to be written anew (PLINK 2 files, or people left out) where they
        do not fit into memory.

    Returns
    -------
    Genotypes
        `notes` says what was left out.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.tables.genotypes import read_genotypes, write_bed
    >>> with TemporaryDirectory() as folder:
    ...     path = write_bed(Path(folder) / "small.bed", [[2, 0, 0], [1, 0, -1], [0, 0, 1]])
    ...     genotypes = read_genotypes(path, remove_people=["2"])
    >>> genotypes
    Genotypes(2 people, 2 markers)
    >>> genotypes.notes
    ('1 of 3 people is left out as asked.', '1 marker has one allele only and is left out.')
    """
    file = as_path("path", path)
    store = None if cache is None else as_path("cache", cache)
    _check_ending(file)
    wanted = MarkerFilter(extract, exclude, chromosome_names(chromosomes), maf, max_missing)
    if not file.exists():
        raise ArgumentError(f"{file}: there is no such file.")
    if file.suffix.lower() == ".bed":
        people, markers = read_fam(beside(file, ".fam")), read_bim(beside(file, ".bim"))
        codes = map_bed(file, len(people), len(markers))
        lines, notes = wanted.named(markers)
        where = lines
    else:
        people = read_psam(beside(file, ".psam", ".fam"))
        markers = read_pvar(beside(file, ".pvar", ".pvar.zst", ".bim"))
        lines, notes = wanted.named(markers)
        codes = read_pgen(file, len(people), len(markers), lines, store)
        where = np.arange(lines.size)
    n = len(people)
    used, about_people = chosen_people(people, keep_people, remove_people)
    mask = np.zeros(n, dtype=bool)
    mask[used] = True
    counts = count_codes(codes, n, where, mask)
    good, about_markers = wanted.counted(counts)
    if not good.any():
        raise RefusedError(f"{file}: no marker is left. {' '.join(about_markers)}")
    where, lines, counts = where[good], lines[good], counts[good]
    if used.size < n:
        packed = None if store is None else store.with_name(f"{store.name}.people")
        codes = store_people(codes, n, where, used, store if file.suffix == ".bed" else packed)
        where = np.arange(where.size)
    return Genotypes(
        codes, int(used.size), where.astype(np.int64), people.some(used),
        markers.some(lines).unique(), counts, (*notes, *about_people, *about_markers),
    )  # fmt: skip


def chromosome_names(given: Any) -> tuple[str, ...]:
    """Return chromosomes from a list, or from text such as "1-3,X".

    >>> from selica.tables.genotypes.reading import chromosome_names
    >>> chromosome_names("1-3,X")
    ('1', '2', '3', 'X')
    """
    if isinstance(given, str | int):
        given = str(given).replace(",", " ").split()
    if not isinstance(given, Iterable):
        raise ArgumentError(f"chromosomes must be names such as '1-22,X'; got {short(given)}.")
    names: list[str] = []
    for one in given:
        first, dash, last = str(one).partition("-")
        if dash and first.isdigit() and last.isdigit() and int(first) <= int(last) < 1000:
            names += [str(c) for c in range(int(first), int(last) + 1)]
        else:
            names.append(str(one))
    return tuple(names)


def _check_ending(path: Path) -> None:
    """Refuse files that are not read, with the command that makes files that are."""
    refuse_to_convert(path)
    of = _BESIDE.get(path.suffix.lower())
    if of is not None:
        raise ArgumentError(
            f"{path}: this file is read beside genotypes; give {path.with_suffix(of)}."
        )
    if path.suffix.lower() not in GENOTYPE_FILES:
        raise ArgumentError(f"path must be a .bed or a .pgen file; got {short(str(path))}.")
