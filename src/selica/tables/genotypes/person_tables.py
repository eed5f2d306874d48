"""Phenotype and covariate files: a line for each person, in any order, matched with genotypes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.files import as_path
from selica._core.types import BoolArray, IntArray
from selica._core.wording import counted
from selica.tables.columns import Column, listed
from selica.tables.genotypes.filters import places
from selica.tables.genotypes.lines import TextColumn, columns_of_text, content_of
from selica.tables.genotypes.people import People

MISSING = ("-9", "NA", "NAN", "N/A", ".", "")
"""What stands for a missing value, in any capitals."""
_NAMED = ("FID", "IID", "ID")
"""How the first column is called where there is a line of names."""


@dataclass(frozen=True, slots=True, eq=False)
class PersonTable:
    """Columns of a phenotype or covariate file, in the order of the people with genotypes.

    Attributes
    ----------
    names : tuple of str
    values : tuple of array of shape (n,)
        Floats, with NaN where a value is missing; or objects, text with None where it is missing.
    present : array of bool of shape (n,)
        Who has a line in the file.
    notes : tuple of str
    """

    names: tuple[str, ...]
    values: tuple[Column, ...]
    present: BoolArray
    notes: tuple[str, ...] = ()


def read_person_table(path: str | Path, people: People, what: str) -> PersonTable:
    r"""Read a phenotype or covariate file.

    Fields are separated by spaces, tabs or commas. They are FID, IID and values, or IID and values;
    a line of names may come first. Missing values are -9, NA, nan or a dot, as in PLINK.

    Parameters
    ----------
    path : path
    people : People
        Those with genotypes.
    what : str
        What the values are, such as "phenotype"; names columns that have no name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.tables.genotypes import People
    >>> from selica.tables.genotypes.person_tables import read_person_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "y.txt"
    ...     _ = path.write_text("IID height\nben 1.81\nanna -9\n")
    ...     table = read_person_table(path, People.of(["anna", "ben"]), "phenotype")
    >>> table.names, table.values[0].tolist()
    (('height',), [nan, 1.81])
    """
    file = as_path(what, path)
    columns = columns_of_text(file, content_of(file), commas=True)
    if len(columns) < 2:
        raise ArgumentError(f"{file}: a line must have a person and a value, such as IID and y.")
    names, columns = _with_names(file, columns, people)
    family, name, rest = _ids(file, names, columns, people)
    where, by_name = _matched(file, people, family, name)
    order: IntArray = np.full(len(people), -1, dtype=np.intp)
    order[where[where >= 0]] = np.flatnonzero(where >= 0)
    if not rest:
        raise ArgumentError(f"{file}: there are names of people, and no values.")
    titles = names or [what if len(rest) == 1 else f"{what} {k + 1}" for k in range(len(rest))]
    labels = [titles[j] for j in rest] if names else titles
    twice = [label for label, times in Counter(labels).items() if times > 1]
    if twice:
        raise ArgumentError(
            f"{file}: names of columns must differ; more than once: {listed(twice)}."
        )
    notes = []
    strangers = [str(name[k]) for k in np.flatnonzero(where < 0)]
    if strangers:
        notes.append(
            f"{counted(len(strangers), 'person')} of {file.name} "
            f"{'has' if len(strangers) == 1 else 'have'} no genotypes: {listed(strangers)}."
        )
    if by_name:
        notes.append(f"People of {file.name} are matched by IID: families (FID) are not the same.")
    values = tuple(_column(columns[j], order) for j in rest)
    return PersonTable(tuple(labels), values, order >= 0, tuple(_people(note) for note in notes))


def _with_names(
    path: Path, columns: list[TextColumn], people: People
) -> tuple[list[str], list[TextColumn]]:
    """Return names, if the first line has them, and the columns without that line."""
    first = [str(column[0]).lstrip("#") if j == 0 else str(column[0]) for j, column in
             enumerate(columns)]  # fmt: skip
    below = [column[1:] for column in columns]
    if first[0].upper() in _NAMED or "IID" in first:
        if below[0].size == 0:
            raise ArgumentError(f"{path}: there is a line of names, and nothing below it.")
        return first, below
    known = {*people.name}
    is_person = first[0] in known or first[1] in known
    # a name of a column is not found among its values
    own = all(text not in column and not _is_value(text) for text, column in
              zip(first[1:], below[1:], strict=True))  # fmt: skip
    return (first, below) if own and not is_person and below[0].size else ([], columns)


def _is_value(text: str) -> bool:
    """Tell whether a text is a number or a missing value."""
    if text.upper() in MISSING:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def _ids(
    path: Path, names: list[str], columns: list[TextColumn], people: People
) -> tuple[TextColumn | None, TextColumn, list[int]]:
    """Return families, if there are any, names, and which columns are values."""
    upper = [name.upper() for name in names]
    if "IID" in upper:
        iid = upper.index("IID")
        fid = upper.index("FID") if "FID" in upper else None
    elif upper[:1] == ["FID"]:
        raise ArgumentError(f"{path}: there is a column FID and none that is called IID.")
    else:
        known = {*people.name}
        both = len(columns) > 2 and sum(one in known for one in columns[1]) >= max(
            1, sum(one in known for one in columns[0])
        )
        fid, iid = (0, 1) if both else (None, 0)
    rest = [j for j in range(len(columns)) if j not in (fid, iid)]
    return None if fid is None else columns[fid], columns[iid], rest


def _matched(
    path: Path, people: People, family: TextColumn | None, name: TextColumn
) -> tuple[IntArray, bool]:
    """Return the place of each line among the people, and whether families were not looked at."""
    where, by_name = places(people, family, name), False
    if family is not None and not (where >= 0).any():
        family, by_name = None, True
        where = places(people, None, name)
    if not (where >= 0).any():
        raise RefusedError(
            f"{path}: none of the people there has genotypes; the file has "
            f"{listed([str(one) for one in name[:3]])}, the genotypes have "
            f"{listed(people.labels[:3])}."
        )
    lines = Counter(where[where >= 0].tolist())
    labels = people.labels
    twice = [labels[place] for place, times in lines.items() if times > 1]
    if twice:
        raise ArgumentError(f"{path}: a person must have one line; more than one: {listed(twice)}.")
    return where, by_name


def _column(texts: TextColumn, order: IntArray) -> Column:
    """Return a column as floats, or as text, in the order of the people."""
    return column_of_text(np.array([None if k < 0 else texts[k] for k in order], dtype=object))


def column_of_text(texts: Any) -> Column:
    """Return text as floats if all of it is numbers, with missing values as NaN, or None in text.

    >>> import numpy as np
    >>> from selica.tables.genotypes.person_tables import column_of_text
    >>> column_of_text(np.array(["1.5", "-9", None], dtype=object)).tolist()
    [1.5, nan, nan]
    """
    gone = np.array([one is None or one.upper() in MISSING for one in texts], dtype=bool)
    try:
        numbers = np.array(
            [np.nan if lost else float(one) for one, lost in zip(texts, gone, strict=True)]
        )
    except ValueError:
        return np.array(
            [None if lost else one for one, lost in zip(texts, gone, strict=True)], dtype=object
        )
    return numbers


def _people(note: str) -> str:
    return note.replace("persons", "people")
