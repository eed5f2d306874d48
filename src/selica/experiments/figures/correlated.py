"""Does the comparison survive correlated variables? By simulation, with Gaussian knockoffs.

Every method has the penalty that minimises the prediction error of its members, found on the
simulated data, as the article chooses it for independent columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from selica import theory
from selica._core.table import Row, Table
from selica._core.types import Array
from selica.correlated.solution import jackknife, tpr_at_level
from selica.experiments.cells import ThresholdRule, check_cell, covariance_label
from selica.experiments.figures.figure import FigureRun, Finding, at_scale, edges_allowed
from selica.experiments.figures.power import METHODS, NOISES, PI_TH, RHO, style_of
from selica.experiments.grid import Measured, collect
from selica.experiments.summary import failure_rows, rates_of_data
from selica.plots.canvas import canvas, legend, letter, line, markers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Correlated variables"

ALPHA = 1.12
"""Rows for each variable."""
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
"""Correlations of neighbouring columns."""
LEVEL = 0.1
"""Level of the false discovery rate."""
AHEAD = ("stability-ideal", 2.0)
"""The method, and its resampling rate, that others are compared with."""
_TOP = 0.4
"""The largest FDR that is drawn."""


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Return curves at each method's penalty, and the power at FDR 0.1 with its standard error."""
    N, members, datasets = at_scale(scale, (32, 16, 4), (100, 64, 16), (200, 128, 48))
    settings = {"N": N, "n_members": members, "n_datasets": datasets}
    votes = tuple((np.arange(1, members + 1) / members).tolist())
    sizes = tuple(np.geomspace(0.01, 4.0, 80).tolist())
    signs = (*np.linspace(-0.2, 0.0, 9)[:-1].tolist(), 0.0, *sizes)
    cells = []
    for Delta in NOISES:
        model = theory.Model(ALPHA, RHO, Delta)
        for r in CORRELATIONS:
            covariance = ("ar1", r) if r > 0.0 else "identity"
            for method, rate, rules in (
                ("thresholded-lasso", 1.0, (ThresholdRule("thresholded-lasso", sizes),)),
                ("lasso", 1.0, (ThresholdRule("lasso", (0.0,)),)),
                ("stability-ideal", 1.0, (ThresholdRule("stability-ideal", votes),)),
                ("stability-ideal", 2.0, (ThresholdRule("stability-ideal", votes),)),
                ("knockoffs-ideal", 1.0,
                 (ThresholdRule("knockoffs-frequency", signs, PI_TH),
                  ThresholdRule("knockoffs-ideal", signs))),
            ):  # fmt: skip
                lams = _penalties(model, method, rate)
                cells.append(
                    check_cell(rules, model, lams, mu_B=rate, covariance=covariance, **settings)
                )
    parts = collect(cells, **run.settings())
    rows: list[Row] = []
    powers = []
    for part in parts:
        for reason in part.failures:
            rows += failure_rows(part.cell, reason)
        if part.datasets:
            for i in range(len(part.cell.rules)):
                curve, power = _curve(part, i)
                rows += curve
                powers.append(power)
    return Table.of([*rows, *(p.row for p in powers), *_differences(powers)])


class Power(NamedTuple):
    """The power of a method at FDR 0.1."""

    row: Row
    value: float
    without: Array
    """The same without each data set in turn."""
    numbers: list[int]
    """Which data sets these are."""


def _penalties(model: theory.Model, method: str, rate: float) -> Array:
    """Return a grid around the penalty that is best for independent columns."""
    if method == "lasso":
        return np.geomspace(0.01, 6.0, 60)
    with edges_allowed():
        best = float(theory.optimal_lam(model, method, rate))
    return best * np.geomspace(0.4, 2.0, 6)


def _curve(part: Measured, i: int) -> tuple[list[Row], Power]:
    """Return TPR and FDR of a rule at its best penalty, for all thresholds, and its power."""
    cell, rule = part.cell, part.cell.rules[i]
    error = np.mean([d.moments["prediction_error"] for d in part.datasets], axis=0)
    place = int(np.argmin(error))
    moved = rule.method == "lasso"  # all penalties, at its one threshold
    where = (slice(None), 0) if moved else (place, slice(None))
    edge = not moved and place in (0, len(cell.lams) - 1)
    base: Row = {
        "Delta": cell.Delta,
        "covariance": covariance_label(cell.covariance),
        "correlation": 0.0 if cell.independent else cell.covariance[1],
        "method": rule.method,
        "mu_B": cell.mu_B if cell.ensemble == "stability" else None,
        "N": cell.N,
        "n_members": None if cell.ensemble == "lasso" else cell.n_members,
        "n_datasets": len(part.datasets),
        "lam": None if moved else cell.lams[place],
        "source": "monte-carlo",
        "status": "best penalty at the edge of its grid" if edge else "ok",
    }
    rates = rates_of_data(part.datasets, i)
    curve = [
        base | {"quantity": "curve", "fdr": fdr, "value": tpr}
        for fdr, tpr in zip(rates["fdr_pooled"][0][where], rates["tpr"][0][where], strict=True)
    ]
    picked = [d.selections[i] for d in part.datasets]
    true, false = (np.array([np.array(s[k])[where] for s in picked]) for k in ("true", "false"))
    signals = np.array([d.signals for d in part.datasets], dtype=float)
    T, F, S = true.sum(axis=0), false.sum(axis=0), signals.sum()
    without = np.array(
        [_power(T - t, F - f, S - s) for t, f, s in zip(true, false, signals, strict=True)]
    )
    value = _power(T, F, S)
    found = {"quantity": "power", "fdr": LEVEL, "value": value, "error": jackknife(without)}
    return curve, Power(base | found, value, without, part.numbers)


def _power(true: Array, false: Array, signals: float) -> float:
    """Return largest TPR with FDR at most 0.1, from counts at thresholds in any order."""
    order = np.argsort(true + false)
    t, f = true[order], false[order]
    return tpr_at_level(LEVEL, t / signals, f / np.maximum(t + f, 1e-300))


def _differences(powers: list[Power]) -> list[Row]:
    """Return the power of stability selection at rate 2 minus that of others, on the same data."""
    ahead = {
        (p.row["Delta"], p.row["correlation"]): p
        for p in powers
        if (p.row["method"], p.row["mu_B"]) == AHEAD
    }
    out = []
    for p in powers:
        mine = ahead.get((p.row["Delta"], p.row["correlation"]))
        if mine is p:
            continue
        row = p.row | {"quantity": "rate 2 minus this", "lam": None}
        if mine is None or mine.numbers != p.numbers:
            reason = "not simulated on the same data sets"
            out.append(row | {"value": None, "error": None, "status": "failed", "reason": reason})
        else:
            error = jackknife(mine.without - p.without)
            out.append(row | {"value": mine.value - p.value, "error": error, "status": "ok"})
    return out


def findings(table: Table) -> list[Finding]:
    """Return whether over-sampled stability selection stays ahead."""
    gaps = table.where(quantity="rate 2 minus this", status="ok")
    powers = table.where(quantity="power", method=AHEAD[0], mu_B=AHEAD[1])
    out = []
    for Delta in NOISES:
        for r in CORRELATIONS:
            here = powers.where(Delta=Delta, correlation=r)
            others = gaps.where(Delta=Delta, correlation=r)
            name = f"Delta = {Delta}, AR(1) {r:g}"
            if len(here) == 0 or len(others) == 0:
                out.append(Finding(f"{name}: not simulated", False))
                continue
            parts = [
                f"{style_of(row['method'], row['mu_B']).label} {row['value']:+.3f} "
                f"({row['error']:.3f})"
                for row in others
            ]
            text = (
                f"{name}: stability at rate 2 has power {here.rows[0]['value']:.3f} at FDR "
                f"{LEVEL:g}; minus that of {', '.join(parts)}"
            )
            out.append(Finding(text))
    edges = [r for r in table if "edge" in str(r["status"]) and r["quantity"] == "power"]
    if edges:
        out.append(Finding(f"{len(edges)} best penalties lie at the edge of their grid", False))
    return [*out, _answer(gaps)]


def _answer(gaps: Table) -> Finding:
    """Return where rate 2 is clearly ahead of other ensembles: by two standard errors."""
    ensembles = [
        row
        for row in gaps
        if (row["method"], row["mu_B"]) in (("knockoffs-frequency", None), ("stability-ideal", 1.0))
    ]
    clear: list[str] = []
    open_: list[str] = []
    for Delta in NOISES:
        for r in CORRELATIONS:
            rows = [x for x in ensembles if x["Delta"] == Delta and x["correlation"] == r]
            ahead = bool(rows) and all(x["value"] > 2.0 * x["error"] for x in rows)
            (clear if ahead else open_).append(f"({Delta:g}, {r:g})")
    return Finding(
        "over-sampled stability selection is ahead of the usual bootstrap and of derandomized "
        "knockoffs, by more than two standard errors, at (Delta, correlation) = "
        f"{', '.join(clear) or 'none'}; not at {', '.join(open_) or 'none'}"
    )


def draw(table: Table) -> Figure:
    """Draw TPR against FDR for each correlation, and power at FDR 0.1 against correlation."""
    figure, axes = canvas(len(NOISES), len(CORRELATIONS) + 1, (13.0, 5.8))
    for row, Delta in enumerate(NOISES):
        for column, r in enumerate(CORRELATIONS):
            panel = axes[row, column]
            part = table.where(quantity="curve", Delta=Delta, correlation=r)
            for method, rate in METHODS:
                one = part.where(method=method, mu_B=rate)
                order = np.argsort(one["value"])
                line(panel, one["fdr"][order], one["value"][order], style_of(method, rate))
            panel.set(xlim=(0.0, _TOP), ylim=(0.0, 1.0))
            letter(panel, rf"({'abcdefghij'[5 * row + column]}) AR(1) {r:g}, $\Delta={Delta}$")
            if column == 0:
                panel.set_ylabel("TPR")
            if row == len(NOISES) - 1:
                panel.set_xlabel("FDR")
        panel = axes[row, -1]
        for method, rate in METHODS:
            one = table.where(quantity="power", Delta=Delta, method=method, mu_B=rate)
            style = style_of(method, rate)
            line(panel, one["correlation"], one["value"], style, lw=0.9)
            markers(panel, one["correlation"], one["value"], one["error"], style)
        letter(panel, rf"({'ej'[row]}) power at FDR {LEVEL:g}, $\Delta={Delta}$")
        panel.set(ylim=(0.0, 1.0), xticks=list(CORRELATIONS))
        if row == len(NOISES) - 1:
            panel.set_xlabel("correlation of neighbours")
    legend(figure, ncols=3)
    return figure
