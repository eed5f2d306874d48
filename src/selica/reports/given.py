"""What a selector was given, so that it can be given again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from selica.selectors.reading import NamedColumns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GivenTable:
    """The numbers that a selector was fitted to, exactly as it was given them.

    Attributes
    ----------
    X : array of shape (n, c), or Genotypes
    y : array of shape (n,) or (n, 2)
    names : tuple of str
    variable : array of shape (c,), optional
        Which variable each column belongs to, where one has several.
    columns : tuple of str
        Names of the columns, such as "tissue: liver", where they differ from those of variables.
    references : tuple of str
        For each variable, the level of a category that has no column.
    arguments : mapping
        What else `fit` was given, such as `sample_weight` and `keep`.
    """

    X: Any
    y: Any
    names: tuple[str, ...]
    variable: Any = None
    columns: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def named(self, target: str) -> NamedColumns:
        """Return the table with its names, as a selector takes it."""
        return NamedColumns(
            self.X, self.names, target, (), self.variable, self.columns, self.references
        )
