"""From data sets, and from the theory, to rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from selica._core.table import Row
from selica._core.types import Array
from selica.experiments.cells import Cell, ThresholdRule
from selica.experiments.measure import Dataset
from selica.theory import Rates, solve_knockoff, solve_lasso, solve_stability

# What all rules of an ensemble share: it is listed with its first rule.
MOMENTS = ("q", "m", "v", "v_tilde", "ensemble_error", "prediction_error")


def mean_and_error(values: Array) -> tuple[Array, Array]:
    """Return the mean over the first axis and its standard error (none for a single value)."""
    n = values.shape[0]
    error = values.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.full(values.shape[1:], np.nan)
    return values.mean(axis=0), error


def ratio_and_error(top: Array, bottom: Array, empty: float) -> tuple[Array, Array]:
    """Return the ratio of the means over the first axis (`empty` without counts), and its error."""
    whole = bottom.mean(axis=0)
    ratio = np.divide(top.mean(axis=0), whole, out=np.full_like(whole, empty), where=whole > 0.0)
    error = mean_and_error(top - ratio * bottom)[1]
    return ratio, np.divide(error, whole, out=np.full_like(whole, np.nan), where=whole > 0.0)


def rates_of_data(datasets: list[Dataset], rule: int) -> dict[str, tuple[Array, Array, Array]]:
    """Return tpr, fdr and fdr_pooled: values, errors, numbers of trials, (L, thresholds) each."""
    picked = [d.selections[rule] for d in datasets]
    true, false, fdp = (np.array([s[name] for s in picked]) for name in ("true", "false", "fdp"))
    signals = np.array([d.signals for d in datasets], dtype=float)[:, None, None]
    possible = np.broadcast_to(signals, true.shape)
    chosen = (true + false).sum(axis=0)
    return {
        "tpr": (*ratio_and_error(true, possible, np.nan), possible.sum(axis=0)),
        "fdr": (*mean_and_error(fdp), chosen),
        "fdr_pooled": (*ratio_and_error(false, true + false, 0.0), chosen),
    }


def simulation_rows(cell: Cell, datasets: list[Dataset]) -> list[Row]:
    """Return means over the data sets, with standard errors."""
    members = None if cell.ensemble == "lasso" else cell.n_members
    rows = []
    for i, rule in enumerate(cell.rules):
        base = _base(cell, rule, "monte-carlo", members) | {"n_datasets": len(datasets)}
        if i == 0:
            for name in datasets[0].moments:
                value, error = mean_and_error(np.array([d.moments[name] for d in datasets]))
                for place, lam in enumerate(cell.lams):
                    rows.append(_filled(base, lam, None, name, value[place], error[place]))
        for name, (value, error, trials) in rates_of_data(datasets, i).items():
            for place, lam in enumerate(cell.lams):
                for t, threshold in enumerate(rule.thresholds):
                    at = (place, t)
                    row = _filled(base, lam, threshold, name, value[at], error[at])
                    rows.append(row | {"trials": float(trials[at])})
    return rows


def theory_rows(cell: Cell) -> list[Row]:
    """Return rows of the theory: for infinitely many members, rates also for those of the cell."""
    if not cell.independent:
        return []
    lams = np.array(cell.lams)
    solution: Any
    if cell.ensemble == "lasso":
        solution = solve_lasso(cell.model, lams)
    elif cell.ensemble == "knockoff":
        solution = solve_knockoff(cell.model, lams)
    else:
        solution = solve_stability(cell.model, lams, cell.mu_B)
    rows = []
    for i, rule in enumerate(cell.rules):
        sizes: list[int | None] = [None]
        if rule.method in ("stability-ideal", "knockoffs-frequency"):
            sizes.append(cell.n_members)
        for n_members in sizes:
            members = np.inf if n_members is None else n_members
            base = _base(cell, rule, "theory", None if cell.ensemble == "lasso" else members)
            if i == 0 and n_members is None:
                for name in MOMENTS:
                    value = getattr(solution, name, None)
                    if value is not None and not (name == "v" and cell.ensemble == "lasso"):
                        rows += _over_penalties(base, lams, None, name, value, solution.status)
            for threshold in rule.thresholds:
                rates = _rates(solution, rule, threshold, n_members)
                for name in ("tpr", "fdr"):
                    value = getattr(rates, name)
                    rows += _over_penalties(base, lams, threshold, name, value, solution.status)
    return rows


def _over_penalties(
    base: Row, lams: Array, threshold: float | None, name: str, values: Array, status: Array
) -> list[Row]:
    """Return rows of the theory; where it did not converge they say so instead of "ok"."""
    return [
        _filled(base, float(lam), threshold, name, value, None)
        | {"status": "ok" if state == "converged" else str(state)}
        for lam, value, state in zip(lams, values, status, strict=True)
    ]


def failure_rows(cell: Cell, reason: str) -> list[Row]:
    """Return a part of a cell that could not be simulated, for each rule that misses it."""
    members = None if cell.ensemble == "lasso" else cell.n_members
    bases = [_base(cell, rule, "monte-carlo", members) for rule in cell.rules]
    failed = {"status": "failed", "reason": reason}
    return [_filled(base, None, None, None, None, None) | failed for base in bases]


def _rates(solution: Any, rule: ThresholdRule, threshold: float, n_members: int | None) -> Rates:
    rates: Rates
    if rule.method == "stability-ideal":
        rates = solution.rates(threshold, n_members)
    elif rule.method == "knockoffs-frequency":
        rates = solution.rates(threshold, rule.Pi_th, n_members)
    elif rule.method == "knockoffs-ideal":
        rates = solution.single_rates(threshold)
    else:
        rates = solution.rates(threshold)
    return rates


def _base(cell: Cell, rule: ThresholdRule, source: str, n_members: float | None) -> Row:
    return {
        "method": rule.method,
        **cell.labels(),
        "n_members": n_members,
        "Pi_th": rule.Pi_th,
        "source": source,
    }


def _filled(
    base: Row,
    lam: float | None,
    threshold: float | None,
    quantity: str | None,
    value: Any,
    error: Any,
) -> Row:
    def number(x: Any) -> float | None:
        return None if x is None or np.isnan(x) else float(x)

    rest: Row = {
        "lam": lam,
        "threshold": threshold,
        "quantity": quantity,
        "value": number(value),
        "error": number(error),
        "status": "ok",
        "reason": None,
    }
    return base | rest
