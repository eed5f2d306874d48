"""Where a table with its target comes from, as a command line names it."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica.cli.genotype_options import GenotypeOptions
from selica.cli.table_options import TableOptions

if TYPE_CHECKING:
    from selica.reports import Provenance
    from selica.tables import Columns, Prepared


class Source(NamedTuple):
    """Where a table with its target comes from."""

    table: Path | None
    """None is the demonstration."""
    target: str | None
    options: TableOptions
    genotypes: GenotypeOptions = GenotypeOptions()
    layer: str | None = None

    @classmethod
    def of(
        cls,
        table: Path | None,
        target: str | None,
        demo: bool,
        options: TableOptions,
        genotypes: GenotypeOptions = GenotypeOptions(),  # noqa: B008 (immutable)
        layer: str | None = None,
    ) -> Source:
        """Return the source that the options name, if they are consistent."""
        if table is not None and _is_array(table):
            if options.missing != "impute":
                raise ArgumentError("--missing: an array in a file must be complete.")
            genotypes._replace(pheno=None).refuse()
            return cls(table, target, options, genotypes, layer)
        if layer is not None:
            raise ArgumentError("--layer is for arrays: TABLE must be a .h5ad file or .zarr.")
        if table is not None and _is_of_genotypes(table):
            if options.missing != "impute":
                raise ArgumentError("--missing: missing calls take the mean of their marker.")
            return cls(table, target, options, genotypes)
        genotypes._replace(pheno=None).refuse()
        if demo:
            if table is not None or target is not None or options.words or genotypes.pheno:
                raise ArgumentError(
                    "--demo has its own table: leave out TABLE, --target and options on columns."
                )
            from selica.reports.demo import TARGET

            return cls(None, TARGET, options)
        if table is None:
            raise ArgumentError("Name the TABLE to read, or try --demo.")
        if target is None and options.time is None and genotypes.pheno is None:
            raise ArgumentError(
                "Name the column to explain with --target, or times of events with --time and "
                "--event."
            )
        return cls(table, target, options, genotypes)

    @property
    def words(self) -> list[str]:
        """The options again."""
        if self.table is None:
            return ["--demo"]
        named = [] if self.target is None else [f"--target {shlex.quote(self.target)}"]
        return [shlex.quote(str(self.table)), *named, *self.options.words]

    @property
    def of_genotypes(self) -> bool:
        """Whether the table is a file of genotypes."""
        return self.table is not None and _is_of_genotypes(self.table)

    @property
    def stored(self) -> bool:
        """Whether the table stays as it is stored: genotypes, or an array in a file."""
        return self.of_genotypes or (self.table is not None and _is_array(self.table))

    @property
    def _own(self) -> dict[str, Any]:
        """Options that say what is used of the files."""
        return self.genotypes.given | ({} if self.layer is None else {"layer": self.layer})

    def method(self, name: str, given: Mapping[str, Any]) -> str:
        """Return the method that is run, by its name."""
        if not self.stored:
            return name
        from selica.reports.asking import stored_method

        return str(stored_method(name, given))

    def columns(self) -> Columns:
        """Return the whole table."""
        from selica import reports, tables

        return reports.demo_table() if self.table is None else tables.read_table(self.table)

    def prepared(self, seed: int = 0) -> Prepared:
        """Return the table made ready for a selector; components of genotypes have the seed."""
        from selica.tables import prepare, prepare_array
        from selica.tables.genotypes import prepare_genotypes

        if self.of_genotypes:
            assert self.table is not None
            return prepare_genotypes(
                self.table, self.target, random_state=seed, **self.options.given,
                **self.genotypes.given,
            )  # fmt: skip
        if self.stored:
            assert self.table is not None
            return prepare_array(self.table, self.target, **self.options.given, **self._own)
        return prepare(self.columns(), self.target, **self.options.arguments, **self._own)

    def provenance(self, selector: Any) -> Provenance:
        """Return the file, the day and how to ask again, for a report."""
        from selica.reports.again import asking
        from selica.reports.asking import origin

        command = shlex.join(["selica", *sys.argv[1:]])
        given = self.options.given | self._own
        if self.table is not None:
            return origin(self.table, selector, self.target, given, command=command)
        imported = "from selica.reports import demo_table"
        code = asking(selector, "demo_table()", self.target, given, imported)
        return origin(None, selector, self.target, given, command=command, code=code)

    def read(self) -> tuple[Array, Any, tuple[str, ...]]:
        """Return variables, response and names."""
        from selica.tables import split

        assert self.target is not None
        return split(self.columns(), self.target, self.options.drop)


def _is_of_genotypes(table: Path) -> bool:
    """Tell whether a file is one of genotypes, by its ending."""
    from selica.tables.genotypes import is_genotype_file  # late, as all that reads tables

    return is_genotype_file(table)


def _is_array(table: Path) -> bool:
    """Tell whether a file holds an array, by its ending."""
    from selica.tables import is_array_file  # late, as all that reads tables

    return is_array_file(table)
