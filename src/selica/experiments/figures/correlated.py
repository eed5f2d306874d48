"""Does the comparison survive correlated variables? By simulation, with Gaussian knockoffs.

Every method has the penalty that minimises the prediction error of its members, found on the
simulated data, as the article chooses it for independent columns.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from selica import theory
from selica._core.errors import BoundaryWarning
from selica._core.table import Table
from selica._core.types import Array
from selica.experiments.cells import Rule, check_cell, covariance_label
from selica.experiments.figures.figure import Finding, Run, at_scale
from selica.experiments.figures.power import METHODS, NOISES, PI_TH, RHO, style_of
from selica.experiments.summary import failure_row, rates_of_data
from selica.experiments.sweep import Measured, collect
from selica.plots.canvas import canvas, legend, letter, line, markers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Correlated variables"

ALPHA = 1.12
CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
LEVEL = 0.1
_TOP = 0.4


def compute(scale: str, run: Run = Run()) -> Table:  # noqa: B008 (immutable)
    """Curves at each method's penalty, and the power at FDR 0.1 with its standard error."""
    N, members, datasets = at_scale(scale, (32, 16, 4), (100, 64, 16), (200, 128, 64))
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
                ("thresholded_lasso", 1.0, (Rule("thresholded_lasso", sizes),)),
                ("lasso", 1.0, (Rule("lasso", (0.0,)),)),
                ("stability", 1.0, (Rule("stability", votes),)),
                ("stability", 2.0, (Rule("stability", votes),)),
                ("knockoff", 1.0,
                 (Rule("derandomized", signs, PI_TH), Rule("knockoff", signs))),
            ):  # fmt: skip
                lams = _penalties(model, method, rate)
                cells.append(
                    check_cell(rules, model, lams, mu_B=rate, covariance=covariance, **settings)
                )
    rows: list[dict[str, Any]] = []
    for part in collect(cells, **run.settings()):
        rows += _rows(part)
    return Table.of(rows + _differences(rows))


def _penalties(model: theory.Model, method: str, rate: float) -> Array:
    """A grid around the penalty that is best for independent columns."""
    if method == "lasso":
        return np.geomspace(0.01, 6.0, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        best = float(theory.optimal_lam(model, method, rate))
    return best * np.geomspace(0.25, 8.0, 8)


def _rows(part: Measured) -> list[dict[str, Any]]:
    cell = part.cell
    rows: list[dict[str, Any]] = [dict(failure_row(cell, reason)) for reason in part.failures]
    if not part.datasets:
        return rows
    error = np.mean([d.moments["prediction_error"] for d in part.datasets], axis=0)
    place = int(np.argmin(error))
    edge = cell.ensemble != "lasso" and place in (0, len(cell.lams) - 1)
    r = 0.0 if cell.independent else cell.covariance[1]
    for i, rule in enumerate(cell.rules):
        moved = rule.method == "lasso"
        where = (slice(None), 0) if moved else (place, slice(None))
        base = {
            "Delta": cell.Delta, "covariance": covariance_label(cell.covariance),
            "correlation": r, "method": rule.method,
            "mu_B": cell.mu_B if cell.ensemble == "stability" else None,
            "N": cell.N, "n_members": cell.n_members, "n_datasets": len(part.datasets),
            "lam": None if moved else cell.lams[place], "source": "monte-carlo",
            "status": "best penalty at the edge of its grid" if edge else "ok",
        }  # fmt: skip
        rates = rates_of_data(part.datasets, i)
        for fdr, tpr in zip(rates["fdr_pooled"][0][where], rates["tpr"][0][where], strict=True):
            rows.append(base | {"quantity": "curve", "fdr": fdr, "value": tpr})
        value, each = _power(part, i, where)
        spread = _jackknife_error(each)
        power = {"quantity": "power", "fdr": LEVEL, "value": value, "error": spread}
        rows.append(base | power | {"_jackknife": each})
    return rows


def _power(part: Measured, rule: int, where: tuple[Any, Any]) -> tuple[float, Array]:
    """TPR at FDR 0.1 from the pooled curve, and without each data set in turn."""
    picked = [d.selections[rule] for d in part.datasets]
    true, false = (np.array([np.array(s[k])[where] for s in picked]) for k in ("true", "false"))
    signals = np.array([d.signals for d in part.datasets], dtype=float)

    def power(t: Array, f: Array, s: float) -> float:
        fdr, tpr = f / np.maximum(t + f, 1e-300), t / s
        best = 0.0
        for k in range(t.size):
            if fdr[k] <= LEVEL:
                best = max(best, tpr[k])
            # a step across the level counts up to the level
            if 0 < k and (fdr[k] - LEVEL) * (fdr[k - 1] - LEVEL) < 0.0:
                share = (LEVEL - fdr[k - 1]) / (fdr[k] - fdr[k - 1])
                best = max(best, tpr[k - 1] + share * (tpr[k] - tpr[k - 1]))
        return best

    T, F, S = true.sum(axis=0), false.sum(axis=0), signals.sum()
    without = [
        power(T - t, F - f, S - s) for t, f, s in zip(true, false, signals, strict=True)
    ]
    return power(T, F, S), np.array(without)


def _differences(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Power of stability selection at rate 2 minus that of the others, on the same data sets."""
    draws = {
        (row["Delta"], row["correlation"], row["method"], row["mu_B"]): row
        for row in rows
        if row.get("quantity") == "power"
    }
    out = []
    for (Delta, r, method, rate), row in draws.items():
        ahead = draws.get((Delta, r, "stability", 2.0))
        each = row["_jackknife"]
        if ahead is None or ahead is row:
            continue
        if ahead["_jackknife"].size != each.size:
            continue
        spread = _jackknife_error(ahead["_jackknife"] - each)
        out.append({**{k: row[k] for k in ("Delta", "correlation", "covariance", "method", "mu_B",
                                           "N", "n_members", "n_datasets", "source", "status")},
                    "quantity": "rate 2 minus this", "fdr": LEVEL,
                    "value": ahead["value"] - row["value"], "error": spread})  # fmt: skip
    for row in draws.values():
        del row["_jackknife"]
    return out


def _jackknife_error(each: Array) -> float:
    """Standard error from values that leave out one data set each."""
    n = each.size
    return float(np.sqrt((n - 1) / n * np.sum((each - each.mean()) ** 2)))


def findings(table: Table) -> list[Finding]:
    """Whether over-sampled stability selection stays ahead."""
    out = []
    for Delta in NOISES:
        for r in CORRELATIONS:
            gaps = table.where(quantity="rate 2 minus this", Delta=Delta, correlation=r)
            gaps = gaps.where(method=("derandomized", "stability", "knockoff", "thresholded_lasso"))
            ahead = table.one(
                quantity="power", Delta=Delta, correlation=r, method="stability", mu_B=2.0
            )
            parts = [
                f"{style_of(row['method'], row['mu_B']).label} {row['value']:+.3f} "  # type: ignore[arg-type]
                f"({row['error']:.3f})"
                for row in gaps
            ]
            out.append(
                Finding(
                    f"Delta = {Delta}, AR(1) {r:g}: stability at rate 2 has power "
                    f"{ahead['value']:.3f} at FDR 0.1; ahead of " + ", ".join(parts)
                )
            )
    return out


def draw(table: Table) -> Figure:
    """TPR against FDR for each correlation, and the power at FDR 0.1 against the correlation."""
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
