"""Markers beside the theory: how far, in standard errors."""

from __future__ import annotations

import math
from typing import Any

from selica._core.table import Row, Table

_SAME = ("method", "alpha", "rho", "Delta", "effects", "N", "mu_B", "lam", "threshold", "Pi_th")


def deviations(table: Table) -> Table:
    """Every simulated value with the theory at the same number of members.

    A rate that was never missed has no spread; it counts as known to one event in all that were
    tried. Standard errors of a few data sets are uncertain themselves: a deviation is the normal
    deviate that is as rare as Student's t.

    Returns
    -------
    Table
        Columns: what names the setting, quantity, value, theory, error, and the deviation of the
        value from the theory in standard errors.
    """
    from scipy.stats import norm
    from scipy.stats import t as student

    expected: dict[Any, Row] = {}
    for row in table.where(source="theory"):
        members = row["n_members"] if row["quantity"] in ("tpr", "fdr") else None
        expected[_setting(row), row["quantity"], members] = row
    out: list[Row] = []
    for row in table.where(source="monte-carlo", status="ok"):
        name = str(row["quantity"]).removesuffix("_pooled")
        counted = name in ("tpr", "fdr")
        members = row["n_members"] if counted else None
        found = expected.get((_setting(row), name, members))
        if found is None and counted:  # a rule on one member, which has no votes to count
            found = expected.get((_setting(row), name, float("inf")))
        if found is None:
            continue
        value, theory = _number(row["value"]), _number(found["value"])
        floor = 1.0 / (_number(row["n_datasets"]) * _number(row["N"])) if counted else 0.0
        error = max(_number(row["error"] or 0.0), floor)
        deviation = None
        if error > 0.0:
            size = abs(value - theory) / error
            rare = float(student.logsf(size, max(_number(row["n_datasets"]) - 1.0, 1.0)))
            size = float(norm.isf(math.exp(rare))) if rare > -700.0 else size
            deviation = math.copysign(max(size, 0.0), value - theory)
        numbers: Row = {
            "quantity": row["quantity"],
            "value": value,
            "theory": theory,
            "error": error,
            "deviation": deviation,
        }
        out.append({name: row[name] for name in (*_SAME, "n_members", "n_datasets")} | numbers)
    return Table.of(out)


def _setting(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in _SAME)


def _number(value: Any) -> float:
    return float(value)
