"""Which people and markers of a file are used, and how many are left out for which reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.files import as_path
from selica._core.types import BoolArray, IntArray
from selica._core.validation import number, short
from selica._core.wording import counted
from selica.tables.columns import listed
from selica.tables.genotypes.lines import columns_of_text, content_of
from selica.tables.genotypes.markers import Markers, plain_chromosome
from selica.tables.genotypes.people import NO_FAMILY, People

MANY_MISSING = 0.1
"""Share of missing calls of a marker from which a note speaks of it."""


@dataclass(frozen=True, slots=True)
class MarkerFilter:
    """Which markers are used.

    Attributes
    ----------
    extract, exclude : path, list of names, or None
        Markers to use, and to leave out; a file has one name in a line.
    chromosomes : tuple of str
        Chromosomes to use; all if it is empty.
    maf : float
        Smallest frequency of the rarer allele.
    max_missing : float
        Largest share of missing calls.
    """

    extract: Any = None
    exclude: Any = None
    chromosomes: tuple[str, ...] = ()
    maf: float = 0.0
    max_missing: float = 1.0

    def __post_init__(self) -> None:
        number("maf", self.maf, at_least=0.0, at_most=0.5)
        number("max_missing", self.max_missing, at_least=0.0, at_most=1.0)

    def named(self, markers: Markers) -> tuple[IntArray, list[str]]:
        """Return the markers that are asked for by name and chromosome, and notes on the others."""
        used = np.ones(len(markers), dtype=bool)
        notes = []
        if self.chromosomes:
            wanted = [plain_chromosome(one) for one in self.chromosomes]
            absent = [one for one in wanted if one not in set(markers.chromosome)]
            if absent:
                raise ArgumentError(
                    f"chromosomes: there is no marker on {listed(absent)}; there are "
                    f"{listed(markers.chromosomes)}."
                )
            used &= np.isin(markers.chromosome.astype(str), wanted)
        for argument, given, taken in (
            ("extract", self.extract, True),
            ("exclude", self.exclude, False),
        ):
            if given is not None:
                names = names_of(argument, given)
                found = np.fromiter((name in names for name in markers.name), bool, len(markers))
                if taken and not found.any():
                    raise RefusedError(
                        f"{argument}: none of {counted(len(names), 'name')} is that of a marker."
                    )
                used &= found if taken else ~found
        gone = int(np.count_nonzero(~used))
        if gone:
            notes.append(
                f"{gone:,} of {counted(len(markers), 'marker')} {_are(gone)} left out by name or "
                "chromosome."
            )
        return np.flatnonzero(used), notes

    def counted(self, counts: IntArray) -> tuple[BoolArray, list[str]]:
        """Return which markers are used, by how many people have each code, and notes.

        Parameters
        ----------
        counts : array of int of shape (p, 4)
        """
        n = int(counts[0].sum())
        calls = n - counts[:, 1]
        copies = 2 * counts[:, 0] + counts[:, 2]
        rarer = np.minimum(copies, 2 * calls - copies)
        used = np.ones(len(counts), dtype=bool)
        notes = []
        for gone, why in (
            (calls == 0, "have no calls"),
            (rarer == 0, "have one allele only"),
            (
                counts[:, 1] > self.max_missing * n * (1.0 + 1e-12),
                f"have more than {100 * self.max_missing:g} % missing calls",
            ),
            (
                rarer < 2.0 * self.maf * calls * (1.0 - 1e-12),
                f"have a frequency of the rarer allele below {self.maf:g}",
            ),
        ):
            many = int(np.count_nonzero(gone & used))
            used &= ~gone
            if many:
                have = why.replace("have", "has", 1) if many == 1 else why
                notes.append(f"{counted(many, 'marker')} {have} and {_are(many)} left out.")
        poor = int(np.count_nonzero(counts[used, 1] > MANY_MISSING * n))
        if poor:
            notes.append(
                f"{counted(poor, 'marker')} {'has' if poor == 1 else 'have'} more than "
                f"{100 * MANY_MISSING:g} % missing calls; max_missing={MANY_MISSING:g} "
                f"(--max-missing {MANY_MISSING:g}) leaves {'it' if poor == 1 else 'them'} out."
            )
        return used, notes


def names_of(argument: str, given: Any) -> set[str]:
    """Return names from a list, or from a file with one in a line.

    Parameters
    ----------
    argument : str
        How the caller calls it; opens the message.
    given : path or iterable of str
    """
    if isinstance(given, str | Path):
        path = as_path(argument, given)
        lines = content_of(path).decode("utf-8", "replace").splitlines()
        names = {line.split()[0] for line in lines if line.strip()}
        if not names:
            raise ArgumentError(f"{argument}: {path} is empty.")
        return names
    if not isinstance(given, Iterable):
        raise ArgumentError(f"{argument} must be a file or a list of names; got {short(given)}.")
    return {str(one) for one in given}


def chosen_people(
    people: People, keep: Any = None, remove: Any = None
) -> tuple[IntArray, list[str]]:
    """Return the people that are used, and notes on the others.

    Parameters
    ----------
    people : People
    keep, remove : path or list of names, optional
        People to use, and to leave out. A line of a file is FID and IID, or IID alone.
    """
    used = np.ones(len(people), dtype=bool)
    notes = []
    for argument, given, taken in (("keep_people", keep, True), ("remove_people", remove, False)):
        if given is None:
            continue
        listed_people = _listed(argument, given, people)
        found = np.zeros(len(people), dtype=bool)
        found[listed_people[listed_people >= 0]] = True
        if taken and not found.any():
            raise RefusedError(f"{argument}: none of the people there has genotypes.")
        used &= found if taken else ~found
        strangers = int(np.count_nonzero(listed_people < 0))
        if strangers:
            notes.append(
                f"{argument}: {strangers:,} of {listed_people.size:,} people there "
                f"{'has' if strangers == 1 else 'have'} no genotypes."
            )
    gone = int(np.count_nonzero(~used))
    if gone:
        notes.append(f"{gone:,} of {len(people):,} people {_are(gone)} left out as asked.")
    if np.count_nonzero(used) < 2:
        raise RefusedError(
            "There must be at least two people; keep_people and remove_people "
            f"leave {np.count_nonzero(used)}."
        )
    return np.flatnonzero(used), notes


def _listed(argument: str, given: Any, people: People) -> IntArray:
    """Return the places of listed people; -1 for those that are not there."""
    if not isinstance(given, str | Path):
        return places(people, None, np.array([str(one) for one in given], dtype=object))
    path = as_path(argument, given)
    columns = columns_of_text(path, content_of(path))
    first = str(columns[0][0]).lstrip("#").upper()
    if first in ("FID", "IID"):
        columns = [column[1:] for column in columns]
    if first == "IID" or len(columns) == 1:
        return places(people, None, columns[0])
    return places(people, columns[0], columns[1])


def places(people: People, family: Any, name: Any) -> IntArray:
    """Return the places of people by name, and family where it is given; -1 where there is none.

    Parameters
    ----------
    people : People
    family : array of text, or None
        Families that are not known (0) match any.
    name : array of text
    """
    if family is None:
        by_name: dict[str, int] = {}
        for place, one in enumerate(people.name):
            by_name[one] = -2 if one in by_name else place
        found = [by_name.get(one, -1) for one in name]
        several = [str(one) for one, place in zip(name, found, strict=True) if place == -2]
        if several:
            raise ArgumentError(
                f"IID {listed(several)}: people of several families have this name; give FID and "
                "IID."
            )
        return np.array(found, dtype=np.intp)
    pairs = {pair: place for place, pair in enumerate(zip(people.family, people.name, strict=True))}
    if all(one == NO_FAMILY for one in people.family) or all(one == NO_FAMILY for one in family):
        return places(people, None, name)
    return np.array([pairs.get(pair, -1) for pair in zip(family, name, strict=True)], dtype=np.intp)


def _are(many: int) -> str:
    return "is" if many == 1 else "are"
