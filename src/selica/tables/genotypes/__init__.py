"""Genotypes from the files that geneticists have."""

from selica.tables.genotypes.bed import write_bed
from selica.tables.genotypes.components import principal_components
from selica.tables.genotypes.genotypes import Genotypes
from selica.tables.genotypes.markers import Markers
from selica.tables.genotypes.people import People
from selica.tables.genotypes.reading import is_genotype_file, read_genotypes
from selica.tables.genotypes.study import prepare_genotypes

__all__ = [
    "Genotypes",
    "Markers",
    "People",
    "is_genotype_file",
    "prepare_genotypes",
    "principal_components",
    "read_genotypes",
    "write_bed",
]
