"""Genotypes made ready for a selector: phenotype, covariates and components of the same people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.random import RandomState
from selica._core.types import BoolArray
from selica._core.validation import count, short
from selica._core.wording import counted
from selica.tables.columns import Column, Columns, listed
from selica.tables.genotypes.components import principal_components
from selica.tables.genotypes.genotypes import Genotypes
from selica.tables.genotypes.people import People
from selica.tables.genotypes.person_tables import PersonTable, column_of_text, read_person_table
from selica.tables.genotypes.reading import read_genotypes
from selica.tables.missing import absent
from selica.tables.prepared import Prepared, made_ready
from selica.tables.roles import of_logarithm, several

_USES = ("target", "time", "event", "weights", "offset", "strata", "rows_of")
"""Arguments that name one column each."""


def prepare_genotypes(
    genotypes: Genotypes | str | Path,
    target: str | None = None,
    *,
    pheno: str | Path | None = None,
    keep: Any = (),
    components: int = 0,
    drop: Any = (),
    time: str | None = None,
    event: str | None = None,
    rows_of: str | None = None,
    weights: str | None = None,
    offset: str | None = None,
    strata: str | None = None,
    response: str = "auto",
    kinds: Mapping[str, str] | None = None,
    cache: str | Path | None = None,
    random_state: RandomState | None = 0,
    **filters: Any,
) -> Prepared:
    r"""Make genotypes ready for a selector, with the phenotype and covariates of the same people.

    People without a phenotype, or without one of the covariates, are left out, and counted in a
    note. So are markers that have one allele only among those who are left.

    Parameters
    ----------
    genotypes : Genotypes or path
        A path is read by `read_genotypes`.
    target : str, optional
        Column of the phenotype file; not needed if it has one.
    pheno : path, optional
        Phenotype file: FID, IID and values, or IID and values, with or without a line of names.
        By default the phenotype of the `.fam` or `.psam` file.
    keep : path, name, or list of them
        Covariate files, of the same form, and names of further columns of the phenotype file: they
        are in every fit and never selected. Text becomes indicator columns.
    components : int
        Principal components of the genotypes that are kept as well.
    drop : str or iterable of str
        Covariates to leave out.
    time, event, rows_of, weights, offset, strata : str
        Columns of the phenotype file or of a covariate file, as in `tables.prepare`.
    response : str
        As in `tables.prepare`.
    kinds : mapping of str to str
        Kinds of covariates, such as ``{"batch": "category"}``.
    cache : path, optional
        As in `read_genotypes`.
    random_state : int, SeedSequence, Generator or None
        Of the components.
    **filters
        Others that `read_genotypes` takes, where `genotypes` is a path.

    Returns
    -------
    Prepared
        Its X is `Genotypes`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.tables.genotypes import prepare_genotypes, write_bed
    >>> with TemporaryDirectory() as folder:
    ...     bed = write_bed(Path(folder) / "a.bed", [[2, 0], [1, 1], [0, 1], [1, 2]])
    ...     pheno = Path(folder) / "y.txt"
    ...     _ = pheno.write_text("2 0.5\n1 0.1\n4 1.5\n")
    ...     study = prepare_genotypes(bed, pheno=pheno)
    >>> study.y.tolist(), study.X.people.labels
    ([0.1, 0.5, 1.5], ['1', '2', '4'])
    >>> study.notes
    ('1 of 4 people has no phenotype and is left out: 3.',)
    """
    if not isinstance(genotypes, Genotypes):
        genotypes = read_genotypes(genotypes, cache=cache, **filters)
    elif filters:
        raise ArgumentError(f"{', '.join(filters)}: filters belong to read_genotypes.")
    count("components", components, at_least=0)
    uses = dict(zip(_USES, (target, time, event, weights, offset, strata, rows_of), strict=True))
    people = genotypes.people
    given = _phenotypes(pheno, people)
    files, names = _split(keep)
    covariates = [read_person_table(file, people, "covariate") for file in files]
    table = _together([given, *covariates])
    if target is None and time is None:
        uses["target"] = _only(given, pheno)
    table, said = _case_control(table, uses["target"], response)
    kept = _kept(given, covariates, names, drop, uses)
    used, notes = _usable(table, given, covariates, kept, uses, people)
    notes = [
        *genotypes.notes,
        *(note for one in (given, *covariates) for note in one.notes),
        *notes,
    ]
    columns = _columns(table, [*kept, *_named(uses)], used)
    kept, constant = _varying(columns, kept)
    prepared = made_ready(
        columns, {**uses, "keep": kept, "drop": ()}, "drop-rows", response, kinds, elsewhere=True
    )
    rows = np.flatnonzero(used)[prepared.rows]
    some = genotypes.some_people(rows, None if cache is None else Path(cache))
    if rows.size < len(people):
        some, left = _with_two_alleles(some)
        notes += left
    keep_values, keep_names = prepared.keep, prepared.keep_names
    if components:
        found = principal_components(some, components, random_state=random_state)
        keep_values = (
            found.values if keep_values is None else np.hstack([keep_values, found.values])
        )
        keep_names = (*keep_names, *(f"PC{k + 1}" for k in range(components)))
        notes.append(found.note)
    return replace(
        prepared,
        X=some,
        rows=rows,
        names=tuple(some.names),
        variable=np.arange(some.shape[1]),
        keep=keep_values,
        keep_names=keep_names,
        notes=tuple(dict.fromkeys([*notes, *said, *constant, *prepared.notes])),
    )


def _phenotypes(pheno: str | Path | None, people: People) -> PersonTable:
    """Return the phenotypes of a file, or the one beside the genotypes."""
    if pheno is not None:
        return read_person_table(pheno, people, "phenotype")
    values = column_of_text(people.phenotype)
    return PersonTable(("phenotype",), (values,), np.ones(len(people), dtype=bool))


def _only(given: PersonTable, pheno: Any) -> str:
    """Return the name of the phenotype, if there is one only."""
    if pheno is None and absent(given.values[0]).all():
        raise ArgumentError("pheno: name the file with the phenotype (--pheno FILE).")
    if len(given.names) > 1:
        raise ArgumentError(
            f"target: {pheno} has {len(given.names)} phenotypes; name one of them (--target): "
            f"{listed(given.names)}."
        )
    return given.names[0]


def _split(keep: Any) -> tuple[list[Path], list[str]]:
    """Return which of the items are files, and which are names."""
    items = [keep] if isinstance(keep, str | Path) else keep
    if not isinstance(items, Iterable):
        raise ArgumentError(f"keep must be files and names of columns; got {short(keep)}.")
    files, names = list[Path](), list[str]()
    for item in items:
        if isinstance(item, Path) or (isinstance(item, str) and Path(item).is_file()):
            files.append(Path(item))
        elif isinstance(item, str):
            names.append(item)
        else:
            raise ArgumentError(f"keep must be files and names of columns; got {short(item)}.")
    return files, names


def _together(tables: list[PersonTable]) -> dict[str, Column]:
    """Return the columns of all files by name."""
    found: dict[str, Column] = {}
    for table in tables:
        twice = [name for name in table.names if name in found]
        if twice:
            raise ArgumentError(
                f"keep: {listed(twice)} {'is' if len(twice) == 1 else 'are'} in two files; rename "
                "or drop one."
            )
        found |= dict(zip(table.names, table.values, strict=True))
    return found


def _named(uses: Mapping[str, Any]) -> list[str]:
    """Return the columns that have a use other than to be kept; also that of log(exposure)."""
    named = [name for name in uses.values() if name is not None]
    return [*named, *map(of_logarithm, named)]


def _kept(
    given: PersonTable,
    covariates: list[PersonTable],
    names: list[str],
    drop: Any,
    uses: Mapping[str, Any],
) -> list[str]:
    """Return the columns to keep: those of the covariate files, and those that are named."""
    own = [name for table in covariates for name in table.names]
    problems: list[str] = []
    everything = (*given.names, *own)
    absent_files = [n for n in names if n not in everything and ("." in n or "/" in n)]
    if absent_files:
        raise ArgumentError(f"keep: there is no file and no column {absent_files[0]!r}.")
    more = list(several("keep", tuple(names), everything, problems)) if names else []
    gone = list(several("drop", drop, everything, problems)) if drop else []
    if problems:
        raise ArgumentError(" ".join(problems))
    taken = {*gone, *_named(uses)}
    return [name for name in dict.fromkeys([*own, *more]) if name not in taken]


def _usable(
    table: Mapping[str, Column],
    given: PersonTable,
    covariates: list[PersonTable],
    kept: list[str],
    uses: Mapping[str, Any],
    people: People,
) -> tuple[BoolArray, list[str]]:
    """Return who has everything that is needed, and notes on the others."""
    needed = [name for name in _named(uses) if name in table and name != uses["rows_of"]]
    first = given.present.copy()
    for name in needed:
        first &= ~absent(table[name])
    second = np.ones(len(people), dtype=bool)
    for one in covariates:
        second &= one.present
    for name in kept:
        second &= ~absent(table[name])
    notes, labels, n = [], people.labels, len(people)
    for gone, what in ((~first, "phenotype"), (first & ~second, "value of a covariate")):
        who = [labels[i] for i in np.flatnonzero(gone)]
        if who:
            has, is_left = ("has", "is") if len(who) == 1 else ("have", "are")
            notes.append(
                f"{len(who):,} of {n:,} people {has} no {what} and {is_left} left out: "
                f"{listed(who, quote=False)}."
            )
    used = first & second
    if np.count_nonzero(used) < 2:
        raise RefusedError(
            f"There must be at least two people with everything; there "
            f"{'is' if used.any() else 'are'} {np.count_nonzero(used)}. {' '.join(notes)}"
        )
    return used, notes


def _case_control(
    table: Mapping[str, Column], target: str | None, response: str
) -> tuple[dict[str, Column], list[str]]:
    """Return the columns with cases and controls as PLINK has them: 2 and 1, 0 where missing."""
    if target is None or target not in table or response not in ("auto", "binary"):
        return dict(table), []
    values = table[target]
    if values.dtype == object:
        return dict(table), []
    kinds = set(np.unique(values[~np.isnan(values)]).tolist())
    if kinds != {0.0, 1.0, 2.0}:
        return dict(table), []
    return {**table, target: np.where(values == 0.0, np.nan, values)}, [
        f"{target!r} has the values 0, 1 and 2: they are taken as missing, control and case, as "
        "PLINK does; response='linear' takes them as numbers."
    ]


def _columns(table: Mapping[str, Column], names: list[str], used: BoolArray) -> Columns:
    """Return the columns that are used, of the people that are used."""
    wanted = [name for name in dict.fromkeys(names) if name in table]
    unknown = [name for name in names if name not in table and of_logarithm(name) == name]
    if unknown:
        raise ArgumentError(f"There is no column {unknown[0]!r}; there are {listed(list(table))}.")
    return Columns(tuple(wanted), tuple(table[name][used] for name in wanted))


def _varying(columns: Columns, kept: list[str]) -> tuple[list[str], list[str]]:
    """Return the covariates that vary, and a note on the others."""
    by_name = dict(zip(columns.names, columns.values, strict=True))
    same = [name for name in kept if len(set(by_name[name].tolist())) == 1]
    if not same:
        return kept, []
    note = f"{counted(len(same), 'covariate')} with one value: {listed(same)}; left out."
    return [name for name in kept if name not in same], [note]


def _with_two_alleles(genotypes: Genotypes) -> tuple[Genotypes, list[str]]:
    """Return the markers that have two alleles among these people."""
    shares = genotypes.frequency
    varies = (shares > 0.0) & (shares < 1.0)
    gone = int(np.count_nonzero(~varies))
    if not gone:
        return genotypes, []
    if not varies.any():
        raise RefusedError("No marker has two alleles among the people that are used.")
    has, is_left = ("has", "is") if gone == 1 else ("have", "are")
    return genotypes.some_markers(varies), [
        f"{counted(gone, 'marker')} {has} one allele only among them and {is_left} left out."
    ]
