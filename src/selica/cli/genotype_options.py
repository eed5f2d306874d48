"""Options for files of genotypes and arrays: phenotypes, people, markers and layers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from selica._core.errors import ArgumentError
from selica.cli.options import option

Pheno = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the response and covariates: a table with a line for each row of TABLE; "
        "--target and --keep name its columns. For genotypes (.bed, .pgen): FID, IID and values, "
        "or IID and values; by default the phenotype of the .fam file.",
    ),
]
ComponentCount = Annotated[
    int | None,
    typer.Option(
        "--components",
        help="For genotypes: number of principal components that are kept in every fit.",
    ),
]
Maf = Annotated[
    float | None,
    typer.Option(help="For genotypes: smallest frequency of the rarer allele of a marker."),
]
MaxMissing = Annotated[
    float | None,
    typer.Option(help="For genotypes: largest share of missing calls of a marker."),
]
Extract = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="For genotypes: file with the names of markers to use."),
]
Exclude = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="For genotypes: file with the names of markers to leave out."
    ),
]
Chromosomes = Annotated[
    str | None,
    typer.Option(help="For genotypes: chromosomes to use, such as 1-22 or 1,2,X."),
]
KeepPeople = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="For genotypes: file with the people to use (FID IID)."),
]
RemovePeople = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="For genotypes: file with the people to leave out (FID IID)."
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="For genotypes: file for codes that have to be written anew (.pgen files, or people "
        "left out) and do not fit into memory.",
    ),
]

Layer = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="For arrays (.h5ad, .zarr): layer of AnnData, or array in a Zarr group; X by default.",
    ),
]


class GenotypeOptions(NamedTuple):
    """What is used of files of genotypes, as `prepare_genotypes` takes it."""

    pheno: str | None = None
    components: int | None = None
    maf: float | None = None
    max_missing: float | None = None
    extract: str | None = None
    exclude: str | None = None
    chromosomes: str | None = None
    keep_people: str | None = None
    remove_people: str | None = None
    cache: str | None = None

    @classmethod
    def of(cls, **given: Any) -> GenotypeOptions:
        """Return what was given on the command line."""
        plain: dict[str, Any] = {
            name: str(value) if isinstance(value, Path) else value for name, value in given.items()
        }
        return cls(**plain)

    @property
    def given(self) -> dict[str, Any]:
        """Those that were given."""
        return {name: value for name, value in self._asdict().items() if value is not None}

    def refuse(self) -> None:
        """Refuse options that another kind of table does not have."""
        if self.given:
            first = option(next(iter(self.given)))
            raise ArgumentError(f"{first} is for genotypes: TABLE must be a .bed or a .pgen file.")
