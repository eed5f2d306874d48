"""Labels of variables from a table of them, such as the pathway of each gene."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from selica._core.errors import ArgumentError, SelicaError
from selica.tables.columns import cell_text, listed
from selica.tables.files import read_table


def feature_labels(path: str | Path, column: str, names: Collection[str]) -> dict[str, Any]:
    r"""Return the labels of variables by name, from a table with one row for each variable.

    The first column that has all names of the variables says which row is whose; where there is
    none, the first column of the table. Errors begin with `groups`, the argument of selectors that
    such a table is given for.

    Parameters
    ----------
    path : path
        A table, as `read_table` reads it. It may have more rows than there are variables.
    column : str
        Name of the column of labels.
    names : collection of str
        Of the variables.

    Returns
    -------
    dict
        A label that is missing is None.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from selica.tables.feature_labels import feature_labels
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "genes.csv"
    ...     _ = path.write_text("gene,pathway\nTP53,cell cycle\nEGFR,\n")
    ...     feature_labels(path, "pathway", ["EGFR", "TP53"])
    {'TP53': 'cell cycle', 'EGFR': None}
    """
    try:
        table = read_table(path)
    except SelicaError as error:
        raise ArgumentError(f"groups: {error}") from None
    if column not in table.names:
        raise ArgumentError(
            f"groups: {path} has no column {column!r}; it has {listed(list(table.names))}."
        )
    texts = {
        name: [cell_text(value) for value in values]
        for name, values in zip(table.names, table.values, strict=True)
    }
    owner = next((one for one in texts.values() if {*names} <= {*one}), texts[table.names[0]])
    found: dict[str, Any] = {}
    for name, label in zip(owner, texts[column], strict=True):
        if name is not None and name in found and found[name] != label:
            raise ArgumentError(f"groups: {path} has more than one row for {name}.")
        if name is not None:
            found[name] = label
    return found
