"""Tables that a selector reads as they are stored: genotypes in two bits, bytes, mapped files.

What a selector does with a table of ordinary numbers and cannot do with half a million columns is
left out here: comparing all pairs of columns, and keeping the data after the fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.losses import loss_of, read_response
from selica._core.memory import SMALL, check_memory
from selica.selectors import checks
from selica.selectors.checks import Column, Dependence
from selica.selectors.members import Refits
from selica.selectors.rows import RowArguments
from selica.solvers.designs import DesignTable, as_table
from selica.statistics import Data
from selica.statistics.stored import make_stored_data
from selica.tables import ArrayTable
from selica.tables.genotypes import Genotypes

LISTED_VARIABLES = 10_000
"""Variables of a summary, at most: of half a million nobody reads the rest."""
MOST_UNPACKED = 40_000_000
"""Entries up to which a stored table is made of ordinary numbers, where a rule needs them: 0.3 GB,
5,000 rows of 8,000 columns."""
P_VALUES_NEED_NUMBERS = (
    f"p-values need ordinary numbers, and a stored table of more than {MOST_UNPACKED:,} entries is "
    "not made of them. Ask for pfer, or leave lam, engine, resampling and resample_rate out; for "
    "genotypes ClumpKnockoffs keeps a false discovery rate of clumps."
)
"""Why p-values do not keep a false discovery rate on a large stored table, and what does."""
_BYTES_A_COLUMN = 8_000.0
"""Memory for each column: what members that are fitted together keep of it, and the answer."""
_COMPARED = 500
"""Columns by which rows are compared: people with the same genotypes at all of them are copies."""


def stored_table(X: Any) -> DesignTable | None:
    """Return a table that is to stay as it is stored; None for tables of ordinary numbers.

    Parameters
    ----------
    X : object
        What was given to `fit`.
    """
    if isinstance(X, Genotypes):
        return as_table("X", X)
    if isinstance(X, ArrayTable):
        return as_table("X", X.values)
    return X if isinstance(X, DesignTable) else None


def stored_names(X: Any) -> tuple[str, ...]:
    """Return the names of the columns, where X has them."""
    return tuple(X.names) if isinstance(X, Genotypes | ArrayTable) else ()


def stored_data(
    table: DesignTable, y: Any, given: RowArguments, response: str
) -> tuple[Data, Column, Any]:
    """Return data over a stored table, the response as it is, and how it was read.

    Parameters
    ----------
    table : DesignTable
    y : array
        The response, as it was given.
    given : RowArguments
    response : str
    """
    n, p = table.shape
    if given.missing is not None:
        raise DoesNotApply(
            "missing is for tables of ordinary numbers: missing calls of genotypes take the mean "
            "of their marker."
        )
    needed = p * _BYTES_A_COLUMN
    if needed > SMALL:
        check_memory(f"a selection from {p:,} columns", needed, "leave columns out")
    target = _target(y, n, response)
    loss, read = read_response(response, target)
    checks.refuse_many_classes(loss, read.classes, n)
    data = make_stored_data(
        table, given.response(read.values, n, loss), loss, given.weight(n),
        keep=given.covariates(n, loss), units=given.units(n),
    )  # fmt: skip
    return data, target, read


def _target(y: Any, n: int, response: str) -> Column:
    """Return the response, with one value, or a time and an event, for each row."""
    of_times = loss_of("survival")
    target: Column
    if response == of_times.response or of_times.takes(y):
        target = of_times.read(y).values
    else:
        target = np.asarray(column_or_1d(y, warn=True))
    if len(target) != n:
        raise ArgumentError(
            f"y must have one value for each of the {n:,} rows of X; got {len(target):,}."
        )
    if target.dtype.kind == "f" and not np.isfinite(target).all():
        raise ArgumentError("y must be finite, without missing values.")
    return target


def stored_dependence(data: Data, response: Column) -> list[Dependence]:
    """Return which rows are copies of others, by some of the columns."""
    p = data.X.shape[1]
    some = np.unique(np.linspace(0, p - 1, min(p, _COMPARED)).astype(int))
    copies = checks.copied_rows(data.X[:, some], checks.one_column(response))
    return [] if copies is None else [copies]


def certificate_of(refits: Refits, data: Data) -> str:
    """Say how exact the fits are, and how often the table was read for them.

    Parameters
    ----------
    refits : Refits
        As many as there are.
    data : Data
        Over a stored table.
    """
    found, p = refits.at_least(0), data.X.shape[1]
    size = f"{data.X.nbytes / 1e6:,.0f} MB" if data.X.nbytes >= 1e6 else f"{data.X.nbytes:,} bytes"
    return (
        f"The {found.members:,} fits are certified over all {p:,} columns: the largest relative "
        f"duality gap is {found.gap:.0e}. The table of {size} was read "
        f"{found.passes + refits.passes:,.0f} times."
    )


def refuse_stored(selector: Any) -> None:
    """Refuse a stored table where a selector has to see it as ordinary numbers."""
    raise RefusedError(
        f"X is a table that stays as it is stored, and {type(selector).__name__} needs ordinary "
        "numbers. StabilitySelection with pfer, q or fdr, and ClumpKnockoffs, read it "
        "as it is (on the command line: --pfer 1 or --fdr 0.1 without --method, and for genotypes "
        "--method clump-knockoffs)."
    )
