"""Tables that stay as they are stored: columns in standard form where they are asked for.

A table of half a million columns is never made of ordinary numbers as a whole. The solvers read it
where it lies; whatever looks at a few columns, or at blocks of them, asks for these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selica._core.losses import Loss, loss_of
from selica._core.types import Array, IntArray
from selica.solvers.designs import DesignTable
from selica.statistics.data import Data, kept_columns

_CONSTANT = 1e-12
"""A column whose variance is below this share of its mean square is constant to rounding."""


class StoredColumns:
    """The columns of a stored table with weighted mean 0 and variance 1, made when asked for.

    `columns[:, which]` is an array of ordinary numbers, for a slice, a list or a mask of columns.

    Parameters
    ----------
    table : DesignTable
    weight : array of shape (n,)
        Weights of the rows.

    Attributes
    ----------
    table : DesignTable
        As it is stored, with its own units.
    mean, scale : array of shape (p,)
        What standard columns are without, and divided by; the scale of a constant column is one.
    varies : boolean array of shape (p,)

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers.designs import int8_design
    >>> from selica.statistics.stored import StoredColumns
    >>> X = StoredColumns(int8_design(np.array([[0, 1], [2, 1]], dtype=np.int8)), np.ones(2))
    >>> X[:, [0]].ravel().tolist(), X.varies.tolist()
    ([-1.0, 1.0], [True, False])
    """

    def __init__(self, table: DesignTable, weight: Array) -> None:
        self.table = table
        self.mean, variance = table.moments(weight)
        self.varies = np.asarray(variance > _CONSTANT * (variance + self.mean**2))
        self.scale = np.where(self.varies, np.sqrt(variance), 1.0)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.table.shape

    @property
    def nbytes(self) -> int:
        """Size of the table as it is stored."""
        return self.table.nbytes

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: tuple[slice, Any]) -> Array:
        rows, which = key
        columns = np.arange(self.shape[1])[which]
        block = self.table.columns_of(columns) - self.mean[columns]
        block /= self.scale[columns]
        block[:, ~self.varies[columns]] = 0.0
        return np.asarray(block[rows])


def make_stored_data(
    table: DesignTable,
    y: Array,
    loss: str | Loss,
    weight: Array | None = None,
    *,
    keep: Array | None = None,
    units: IntArray | None = None,
) -> Data:
    """Return data whose columns stay as they are stored.

    Parameters
    ----------
    table : DesignTable
    y, loss, weight, keep, units
        As in `statistics.make_data`.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.solvers.designs import int8_design
    >>> from selica.statistics.stored import make_stored_data
    >>> X = int8_design(np.array([[0, 1], [2, 1], [1, 0]], dtype=np.int8))
    >>> make_stored_data(X, np.array([1.0, 2.0, 3.0]), "squared").n_variables
    2
    """
    rows = np.ones(table.shape[0]) if weight is None else weight / weight.mean()
    columns: Any = StoredColumns(table, rows)
    kind = loss_of(loss)
    y, y_scale = kind.standardised(y, rows)
    data = Data(
        columns, y, kind, rows, columns.varies, columns.scale, y_scale, units=units,
    )  # fmt: skip
    return data if keep is None else data._replace(keep=kept_columns(keep, rows))
