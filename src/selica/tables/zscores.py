"""Z-scores of single-marker tests: files of them, and their alleles beside those of LD."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.linkage import LinkageBlocks
from selica._core.types import Array, BoolArray
from selica._core.validation import instance, numbers
from selica._core.wording import counted
from selica.tables.columns import Columns, cell_text, listed
from selica.tables.files import read_table

_NAMES: dict[str, tuple[str, ...]] = {
    "marker": ("marker", "snp", "rsid", "id", "variant", "markername", "variant_id", "rs_id"),
    "chromosome": ("chromosome", "chr", "chrom", "#chrom"),
    "position": ("position", "pos", "bp", "base_pair_location"),
    "allele_1": ("allele_1", "allele1", "a1", "effect_allele", "ea"),
    "allele_2": ("allele_2", "allele2", "a2", "other_allele", "nea", "omitted"),
    "z": ("z", "zscore", "z_score", "z_stat", "t_stat"),
    "beta": ("beta", "effect", "b"),
    "se": ("se", "standard_error", "stderr", "beta_se"),
}
"""Names that columns have in files, in small letters; effects are those of allele_1."""
_COMPLEMENT = {"A": "T", "T": "A", "C": "G", "G": "C"}
"""Bases of the other strand."""


@dataclass(frozen=True, slots=True, repr=False)
class ZScores:
    """Z-scores of markers, with what is known of these.

    Examples
    --------
    >>> from selica.tables import ZScores
    >>> ZScores(("rs1", "rs2"), [2.0, -1.0])
    ZScores(2 markers)
    """

    names: tuple[str, ...]
    z: Any
    """(p,): effects of allele_1."""
    markers: Mapping[str, Any] = field(default_factory=dict)
    """chromosome, position, allele_1 and allele_2 as text, (p,) each, as far as they are known."""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        scores = numbers("z", self.z)
        object.__setattr__(self, "names", tuple(map(str, self.names)))
        object.__setattr__(self, "z", scores)
        columns = {key: np.asarray(value, dtype=object) for key, value in self.markers.items()}
        object.__setattr__(self, "markers", columns)
        for key, value in {"names": np.array(self.names), **columns}.items():
            if value.shape != scores.shape:
                raise ArgumentError(f"{key} must have one entry for each of the {scores.size} z.")

    def __repr__(self) -> str:
        return f"ZScores({counted(len(self.names), 'marker')})"


class AlignedScores(NamedTuple):
    """Z-scores in the order and of the alleles of LD.

    Examples
    --------
    >>> from selica.tables import LinkageBlocks, ZScores, align
    >>> ld = LinkageBlocks([[[1.0]], [[1.0]]], names=["rs1", "rs2"])
    >>> found = align(ZScores(("rs2",), [2.0]), ld)
    >>> found.kept.tolist()
    [False, True]
    """

    z: Array
    """(q,): of the markers that both have."""
    kept: BoolArray
    """(p,): which markers of LD these are."""
    counts: dict[str, int]
    """How many markers were used, flipped, and left out, and why."""
    notes: tuple[str, ...]
    """The same as sentences."""


def read_zscores(path: str | Path) -> ZScores:
    r"""Read Z-scores from a table: marker, z (or beta and se), alleles, chromosome, position.

    Names of columns may be those of other programs, such as SNP, CHR, BP, A1, A2, BETA and SE.
    Lines without a Z-score are left out.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    ZScores

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.tables import read_zscores
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.tsv"
    ...     _ = path.write_text("SNP\tBETA\tSE\nrs1\t0.3\t0.1\nrs2\t0.2\t0.1\n")
    ...     read_zscores(path)
    ZScores(2 markers)
    """
    table = read_table(path)
    columns = _known_columns(str(path), table)
    if "z" in columns:
        z = _floats(str(path), "z", columns["z"])
    else:
        beta, se = (_floats(str(path), key, columns[key]) for key in ("beta", "se"))
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(se > 0.0, beta / se, np.nan)
    names = [cell_text(one) for one in columns["marker"]]
    fine = np.isfinite(z) & np.array([name is not None for name in names])
    notes = list(table.notes)
    if not fine.any():
        raise ArgumentError(f"{path}: no line has the name of a marker and a Z-score.")
    if not fine.all():
        notes.append(
            f"{counted(int(np.count_nonzero(~fine)), 'line')} of {path} without a Z-score or a "
            "name of a marker left out."
        )
    markers: dict[str, Any] = {
        key: np.array([cell_text(one) for one in columns[key]], dtype=object)[fine]
        for key in ("chromosome", "position", "allele_1", "allele_2")
        if key in columns
    }
    kept = tuple(str(name) for name, fit in zip(names, fine, strict=True) if fit)
    return ZScores(kept, z[fine], markers, tuple(notes))


def align(scores: ZScores, ld: LinkageBlocks) -> AlignedScores:
    """Find the markers of LD that have a Z-score, and turn effects to the alleles of LD.

    Markers are matched by name. Where both sides name alleles, an effect of the other allele
    changes its sign, also where it is named by the other strand; alleles that are each other's
    complement (A/T, C/G) say nothing of the strand, and such markers are left out, as are those
    whose alleles are others and those that a file has twice.

    Parameters
    ----------
    scores : ZScores
    ld : LinkageBlocks

    Returns
    -------
    AlignedScores

    Examples
    --------
    >>> from selica.tables import LinkageBlocks, ZScores, align
    >>> ld = LinkageBlocks(
    ...     [[[1.0, 0.2], [0.2, 1.0]]], names=["rs1", "rs2"],
    ...     markers={"allele_1": ["A", "C"], "allele_2": ["G", "T"]},
    ... )
    >>> z = ZScores(("rs2", "rs1"), [2.0, 3.0], {"allele_1": ["C", "G"], "allele_2": ["T", "A"]})
    >>> found = align(z, ld)
    >>> found.z, found.counts["flipped"]
    (array([-3.,  2.]), 1)
    """
    instance("scores", scores, ZScores)
    instance("ld", ld, LinkageBlocks)
    place: dict[str, int] = {}
    twice = set()
    for j, name in enumerate(scores.names):
        if name in place:
            twice.add(name)
        place[name] = j
    counts = dict.fromkeys(
        ("used", "flipped", "ambiguous", "other alleles", "twice", "not in LD", "without Z"), 0
    )
    counts["not in LD"] = len(set(place) - set(ld.names))
    kept, z = np.zeros(len(ld), dtype=bool), []
    checks = all(key in x.markers for x in (scores, ld) for key in ("allele_1", "allele_2"))
    seen: set[str] = set()
    for k, name in enumerate(ld.names):
        found = place.get(name)
        if found is None:
            counts["without Z"] += 1
            continue
        if name in twice or name in seen:
            counts["twice"] += 1
            continue
        seen.add(name)
        sign = 1
        if checks:
            own = _pair(scores.markers, found)
            sign = _sign(own, _pair(ld.markers, k))
            if sign == 0:
                counts["ambiguous" if _ambiguous(own) else "other alleles"] += 1
                continue
        counts["used"] += 1
        counts["flipped"] += sign < 0
        kept[k] = True
        z.append(sign * scores.z[found])
    if not z:
        raise RefusedError(
            "z and ld have no marker in common that can be used: "
            + ", ".join(f"{many} {what}" for what, many in counts.items() if many)
            + "."
        )
    return AlignedScores(np.array(z), kept, counts, tuple(_sentences(counts, checks)))


def _sentences(counts: dict[str, int], checks: bool) -> list[str]:
    """Return what became of the markers, as sentences."""
    why = {
        "without Z": "have no Z-score",
        "ambiguous": "have alleles that do not tell the strand (A/T or C/G)",
        "other alleles": "have other alleles than in LD",
        "twice": "are there twice",
    }
    left = [f"{counts[key]:,} {words}" for key, words in why.items() if counts[key]]
    said = [f"{counts['used']:,} markers have a Z-score and LD."]
    if left:
        said.append(f"Markers of LD that are left out: {', '.join(left)}.")
    if counts["not in LD"]:
        said.append(f"{counts['not in LD']:,} Z-scores have no LD and are left out.")
    if counts["flipped"]:
        said.append(f"{counts['flipped']:,} Z-scores changed their sign, to the alleles of LD.")
    if not checks:
        said.append("Alleles are not named on both sides, so that none could be compared.")
    return said


def _pair(markers: Mapping[str, Any], j: int) -> tuple[str, str]:
    """Return the alleles of a marker in capital letters."""
    first, second = (str(markers[key][j] or "").upper() for key in ("allele_1", "allele_2"))
    return first, second


def _ambiguous(pair: tuple[str, str]) -> bool:
    """Tell whether the alleles of a marker are the same on both strands."""
    return _COMPLEMENT.get(pair[0]) == pair[1]


def _sign(own: tuple[str, str], other: tuple[str, str]) -> int:
    """Return 1 for the same alleles, -1 for swapped ones, 0 where that cannot be said."""
    if "" in own or "" in other or own[0] == own[1] or _ambiguous(own):
        return 0
    strand = tuple("".join(_COMPLEMENT.get(base, "?") for base in allele) for allele in own)
    for pair in (own, strand):
        if pair == other:
            return 1
        if pair[::-1] == other:
            return -1
    return 0


def _known_columns(path: str, table: Columns) -> dict[str, Any]:
    """Return the columns that are used, by what they are."""
    lower = {name.lower(): value for name, value in zip(table.names, table.values, strict=True)}
    found = {
        key: next((lower[name] for name in names if name in lower), None)
        for key, names in _NAMES.items()
    }
    columns = {key: value for key, value in found.items() if value is not None}
    missing = [key for key in ("marker",) if key not in columns]
    if "z" not in columns and not {"beta", "se"} <= columns.keys():
        missing.append("z (or beta and se)")
    if missing:
        raise ArgumentError(
            f"{path}: the table needs a column {' and a column '.join(missing)}; it has "
            f"{listed(table.names)}."
        )
    return columns


def _floats(path: str, name: str, column: Any) -> Array:
    """Return a column of numbers."""
    if column.dtype.kind != "f":
        bad = next((one for one in column if one is not None), None)
        raise ArgumentError(f"{path}: column {name} must hold numbers; it has {bad!r}.")
    return np.asarray(column, dtype=float)
