"""People: family, name, sex and phenotype, from `.fam` and `.psam` files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError
from selica.tables.columns import listed
from selica.tables.genotypes.lines import (
    TextColumn,
    columns_of_text,
    content_of,
    header_of,
    write_lines,
)

NO_FAMILY = "0"
"""What stands for a family that is not given."""


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """People in the order of a file.

    Attributes
    ----------
    family, name : arrays of text of shape (n,)
        FID and IID of PLINK; both together are different for everyone.
    sex : array of text of shape (n,)
        "1" for men, "2" for women, "0" where it is not known.
    phenotype : array of text of shape (n,)
        As the file has it; "-9" where it is missing.

    Examples
    --------
    >>> from selica.tables.genotypes import People
    >>> people = People.of(["anna", "ben"])
    >>> len(people), people.labels
    (2, ['anna', 'ben'])
    """

    family: TextColumn
    name: TextColumn
    sex: TextColumn
    phenotype: TextColumn

    @classmethod
    def of(cls, name: Any, family: Any = None, sex: Any = None, phenotype: Any = None) -> People:
        """Return people from lists; what is not given is not known."""
        names = _texts(name)
        size = names.size
        family, sex, phenotype = (
            np.full(size, other, dtype=object) if given is None else _texts(given)
            for given, other in ((family, NO_FAMILY), (sex, "0"), (phenotype, "-9"))
        )
        if len({size, family.size, sex.size, phenotype.size}) > 1:
            raise ArgumentError("name, family, sex and phenotype must have the same length.")
        return cls(family, names, sex, phenotype)

    def __len__(self) -> int:
        return int(self.name.size)

    def some(self, which: Any) -> People:
        """Return some of the people."""
        return People(self.family[which], self.name[which], self.sex[which], self.phenotype[which])

    @property
    def labels(self) -> list[str]:
        """A name for each: IID, with FID before it where an IID occurs in several families."""
        if len(set(self.name)) == self.name.size:
            return [str(name) for name in self.name]
        return [f"{family} {name}" for family, name in zip(self.family, self.name, strict=True)]


def read_fam(path: Path) -> People:
    """Read the people of a `.fam` file: six columns without a line of names."""
    columns = columns_of_text(path, content_of(path), 6)
    return checked(path, People(columns[0], columns[1], columns[4], columns[5]))


def read_psam(path: Path) -> People:
    """Read the people of a `.psam` file, whose line of names begins with #FID or #IID."""
    content = content_of(path)
    mark = b"#IID" if b"#IID" in content[: 1 << 20] else b"#FID"
    names, rest = header_of(path, content, mark)
    if not names:
        return read_fam(path)
    if "IID" not in names:
        raise ArgumentError(f"{path}: the column 'IID' is missing.")
    found = dict(zip(names, columns_of_text(path, rest, len(names)), strict=True))
    sex: Any = found.get("SEX")
    if sex is not None:
        sex = [
            {"M": "1", "F": "2"}.get(one.upper()[:1], one if one in "12" else "0") for one in sex
        ]
    own = [name for name in names if name not in ("FID", "IID", "SID", "PAT", "MAT", "SEX")]
    phenotype = found[own[0]] if own else None
    return checked(path, People.of(found["IID"], found.get("FID"), sex, phenotype))


def write_fam(path: Path, people: People) -> None:
    """Write people as a `.fam` file; parents are not known and are 0."""
    zeros = ["0"] * len(people)
    write_lines(path, [people.family, people.name, zeros, zeros, people.sex, people.phenotype])


def checked(path: Path, people: People) -> People:
    """Return people, of whom no two have the same family and name."""
    times = Counter(zip(people.family, people.name, strict=True))
    twice = [f"{family} {name}" for (family, name), many in times.items() if many > 1]
    if twice:
        raise ArgumentError(f"{path}: people must differ; more than once: {listed(twice)}.")
    return people


def _texts(given: Any) -> TextColumn:
    return np.array([str(one) for one in given], dtype=object)
