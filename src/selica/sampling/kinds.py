"""What the columns of a table hold, read off their values: numbers, classes, counts, genotypes.

A sampler of knockoff copies has to know it: the copy of a column of 0 and 1 should be one as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array, IntArray
from selica._core.validation import matrix

CONSTANT = "constant"
"""Kind of a column with a single value."""
BINARY = "binary"
"""Kind of a column with two values."""
GENOTYPE = "genotype"
"""Kind of a column of 0, 1 and 2."""
COUNT = "count"
"""Kind of a column of whole numbers from 0 on, of which many rows share one."""
DISCRETE = "discrete"
"""Kind of a column of other numbers with few values, or with one that many rows have."""
CONTINUOUS = "continuous"
"""Kind of every other column."""
FACTOR = "factor"
"""Kind of a variable whose columns are indicators of its levels."""
KINDS = (CONSTANT, BINARY, GENOTYPE, COUNT, DISCRETE, CONTINUOUS, FACTOR)
"""All of them."""
FEW_VALUES = 20
"""A column with at most so many different values is not continuous, if it has twice as many
rows."""
TIED_SHARE = 0.1
"""Nor is one in which a value fills this share of the rows."""


class Variable(NamedTuple):
    """A variable, its kind and its columns."""

    kind: str
    """One of `KINDS`."""
    columns: IntArray
    """Of the table; several for a factor."""


def kind_of(column: Array) -> str:
    """Return the kind of one column.

    Parameters
    ----------
    column : array of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.kinds import kind_of
    >>> kind_of(np.array([0.0, 1.0, 1.0])), kind_of(np.array([0.0, 2.0, 1.0, 2.0]))
    ('binary', 'genotype')
    """
    values, times = np.unique(column, return_counts=True)
    if values.size == 1:
        return CONSTANT
    if values.size == 2:
        return BINARY
    if np.array_equal(values, (0.0, 1.0, 2.0)):
        return GENOTYPE
    few = values.size <= FEW_VALUES and 2 * values.size <= column.size
    if not few and times.max() < max(TIED_SHARE * column.size, 2.5):
        return CONTINUOUS
    return COUNT if values[0] >= 0.0 and np.all(values == np.rint(values)) else DISCRETE


def variables_of(X: ArrayLike, variable: ArrayLike | None = None) -> tuple[Variable, ...]:
    """Return the variables of a table with their kinds, in the order of their first columns.

    Columns of one variable are a factor if they are indicators of its levels: 0 and 1, with at most
    one 1 in a row. Otherwise each of them is a variable of its own.

    Parameters
    ----------
    X : array of shape (n, p)
    variable : array of int, shape (p,), optional
        Number of the variable to which a column belongs; by default every column is one.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling.kinds import variables_of
    >>> X = np.array([[0.3, 1, 0], [0.1, 0, 0], [0.4, 0, 1], [0.9, 0, 0]])
    >>> [(one.kind, one.columns.tolist()) for one in variables_of(X, [0, 1, 1])]
    [('continuous', [0]), ('factor', [1, 2])]
    """
    table = matrix("X", X)
    p = table.shape[1]
    number = np.arange(p) if variable is None else np.asarray(variable)
    if number.shape != (p,):
        raise ArgumentError(
            f"variable must have one entry for each of the {p} columns of X; got shape "
            f"{number.shape}."
        )
    found: list[Variable] = []
    for one in dict.fromkeys(number.tolist()):
        columns = np.flatnonzero(number == one)
        if columns.size > 1 and _indicators(table[:, columns]):
            found.append(Variable(FACTOR, columns))
        else:
            found += [Variable(kind_of(table[:, j]), np.array([j])) for j in columns]
    return tuple(found)


def _indicators(part: Array) -> bool:
    """Tell whether columns are 0 and 1, with at most one 1 in a row."""
    return bool(np.all((part == 0.0) | (part == 1.0)) and np.all(part.sum(axis=1) <= 1.0))
