"""Markers beside the theory: how far, in standard errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from selica._core.table import Row, Table

_SAME = (
    *("method", "alpha", "rho", "Delta", "effects", "covariance", "N", "mu_B"),
    *("lam", "threshold", "Pi_th"),
)
_NAMES = (*_SAME, "n_members", "n_datasets")
_COUNTED = ("tpr", "fdr")
# Fewer data sets do not know their standard error well enough to contradict a theory.
_ENOUGH = 8
_LARGEST_DEVIATION = 4.0
"""Deviations of a simulation from the theory that agrees with it are below, in standard errors."""


def deviations(table: Table) -> Table:
    """Return every simulated value with the theory at the same number of members.

    A rate that was never missed has no spread; it counts as known to one event in all that were
    tried. Where there is no spread otherwise, or no theory, there is no row.

    Returns
    -------
    Table
        Columns: what names the setting, quantity, value, theory, error (standard error), and
        deviation: that of the value from the theory in standard errors. Those of a few data sets
        are uncertain themselves, so it is the normal deviate that is as rare as Student's t.

    Examples
    --------
    >>> from selica import experiments
    >>> table = experiments.sweep(
    ...     method="stability-ideal", alpha=1.5, rho=0.2, Delta=0.05, lam=0.4, Pi_th=0.5, N=50,
    ...     n_members=20, n_datasets=4, random_state=0,
    ... )
    >>> rows = experiments.deviations(table).where(quantity="tpr")
    >>> all(abs(row["deviation"]) < 4.0 for row in rows)
    True
    """
    measured = ("source", "status", "quantity", "value", "error")  # trials where some ran
    Table.check("table", table, *_NAMES, *measured)
    from scipy.stats import norm
    from scipy.stats import t as student

    expected: dict[Any, float] = {}
    for row in table.where(source="theory", status="ok"):
        members = row["n_members"] if row["quantity"] in _COUNTED else None
        if row["value"] is not None:
            expected[_setting(row), row["quantity"], members] = float(row["value"])
    out: list[Row] = []
    for row in table.where(source="monte-carlo", status="ok"):
        name = str(row["quantity"]).removesuffix("_pooled")
        counted = name in _COUNTED
        theory = expected.get((_setting(row), name, row["n_members"] if counted else None))
        if theory is None and counted:  # a rule on one member, which has no votes to count
            theory = expected.get((_setting(row), name, math.inf))
        error = float(row["error"] or 0.0)
        if counted and row.get("trials"):
            error = max(error, 1.0 / float(row["trials"]))
        if theory is None or row["value"] is None or error == 0.0:
            continue
        value = float(row["value"])
        size = abs(value - theory) / error
        rare = float(student.logsf(size, max(float(row["n_datasets"]) - 1.0, 1.0)))
        normal = float(norm.isf(math.exp(rare))) if rare > -700.0 else size
        numbers: Row = {
            "quantity": row["quantity"],
            "value": value,
            "theory": theory,
            "error": error,
            "deviation": math.copysign(max(normal, 0.0), value - theory),
        }
        out.append({name: row[name] for name in _NAMES} | numbers)
    return Table((*_NAMES, "quantity", "value", "theory", "error", "deviation"), tuple(out))


def agrees(rows: Table) -> bool | None:
    """Return whether all deviations are below four; None for too few data sets."""
    if len(rows) == 0 or min(rows["n_datasets"]) < _ENOUGH:
        return None
    return bool(np.abs(rows["deviation"]).max() < _LARGEST_DEVIATION)


def _setting(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _SAME)
