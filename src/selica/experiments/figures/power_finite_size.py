"""Power against the false discovery rate: the theory, and finite systems on top of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from selica import theory
from selica._core.table import Table
from selica._core.types import Array
from selica.experiments.cells import Cell, ThresholdRule, check_cell
from selica.experiments.compare import agrees, deviations
from selica.experiments.figures.figure import FigureRun, Finding, at_scale, edges_allowed
from selica.experiments.figures.power import METHODS, NOISES, PI_TH, RHO, style_of
from selica.experiments.grid import collect, tabulate
from selica.plots.canvas import canvas, legend, letter, line, markers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Power, with finite systems"

ALPHA = 1.12
"""Rows for each variable."""
LEVELS = np.array([0.05, 0.1, 0.15, 0.2, 0.25, 0.3])
"""Levels of the false discovery rate."""
_TOP = 0.4
"""The largest FDR that is drawn."""


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Return all methods at thresholds for which the theory expects FDR 0.05 to 0.3."""
    N, members, datasets = at_scale(scale, (64, 16, 4), (128, 64, 16), (256, 256, 48))
    size = {"N": N, "n_members": members, "n_datasets": datasets}
    fine = np.linspace(0.0, _TOP, at_scale(scale, 9, 41, 81))[1:]
    cells: list[Cell] = []
    rows: list[dict[str, Any]] = []
    for Delta in NOISES:
        model = theory.Model(ALPHA, RHO, Delta)
        cells += _cells(model, size)
        for method, rate in METHODS:
            with edges_allowed():
                curve = theory.power_curve(model, method, fine, "prediction", rate or 1.0)
            rows += [
                {"source": "curve", "method": method, "mu_B": rate, "Delta": Delta, "level": fdr,
                 "value": tpr}
                for fdr, tpr in zip(fine, curve.tpr, strict=True)
            ]  # fmt: skip
    return Table.of(rows) + tabulate(collect(cells, **run.settings()))


def _cells(model: theory.Model, size: dict[str, int]) -> list[Cell]:
    with edges_allowed():
        lam = {m: float(theory.optimal_lam(model, m)) for m in ("lasso", "knockoffs-ideal")}
        rates = {mu: float(theory.optimal_lam(model, "stability-ideal", mu)) for mu in (1.0, 2.0)}
        moved = theory.power_curve(model, "lasso", LEVELS).lam
    single = theory.solve_lasso(model, lam["lasso"])
    copies = theory.solve_knockoff(model, lam["knockoffs-ideal"])
    grid = np.linspace(0.0, 3.0, 3001)[1:]
    coefficient = ThresholdRule("thresholded-lasso", _reach(grid, single.rates(grid).fdr))
    both = (
        ThresholdRule("knockoffs-frequency", _reach(grid, copies.rates(grid, PI_TH).fdr), PI_TH),
        ThresholdRule("knockoffs-ideal", _reach(grid, copies.single_rates(grid).fdr)),
    )
    cells = [
        check_cell((ThresholdRule("lasso", (0.0,)),), model, moved, **size),
        check_cell((coefficient,), model, np.array([lam["lasso"]]), **size),
        check_cell(both, model, np.array([lam["knockoffs-ideal"]]), **size),
    ]
    votes = np.arange(1, size["n_members"] + 1) / size["n_members"]
    for mu_B, penalty in rates.items():
        solution = theory.solve_stability(model, penalty, mu_B)
        fdr = np.array([solution.rates(p, size["n_members"]).fdr for p in votes])
        rule = ThresholdRule("stability-ideal", _reach(votes, fdr))
        cells.append(check_cell((rule,), model, np.array([penalty]), mu_B=mu_B, **size))
    return cells


def _reach(thresholds: Array, fdr: Array) -> tuple[float, ...]:
    """Return the thresholds whose FDR is nearest to the levels, each once."""
    nearest = np.abs(fdr[:, None] - LEVELS).argmin(axis=0)
    return tuple(thresholds[np.unique(nearest)].tolist())


def findings(table: Table) -> list[Finding]:
    """Return the farthest marker of each method."""
    found = deviations(table.where(source=("theory", "monte-carlo")))
    out = []
    for method, rate in METHODS:
        part = found.where(method=method, mu_B=rate, quantity=("tpr", "fdr_pooled"))
        name = style_of(method, rate).label
        if len(part) == 0:
            out.append(Finding(f"{name}: not simulated", False))
            continue
        worst = part.rows[int(np.argmax(np.abs(part["deviation"])))]
        text = (
            f"{name}: farthest marker at Delta = {worst['Delta']:g}, "
            f"{worst['quantity'].removesuffix('_pooled')} {worst['value']:.4f} against "
            f"{worst['theory']:.4f}, {worst['deviation']:+.1f} standard errors (N = {worst['N']})"
        )
        out.append(Finding(text, agrees(part)))
    return out


def draw(table: Table) -> Figure:
    """Draw two panels: lines for infinite systems and ensembles, markers for finite ones."""
    figure, axes = canvas(1, 2, (9.0, 4.6), sharey=True)
    dots = table.where(source="monte-carlo", status="ok")
    for panel, Delta in zip(axes[0], NOISES, strict=True):
        for method, rate in METHODS:
            style = style_of(method, rate)
            curve = table.where(source="curve", method=method, mu_B=rate, Delta=Delta)
            line(panel, curve["level"], curve["value"], style)
            seen = dots.where(method=method, mu_B=rate, Delta=Delta)
            tpr, fdr = seen.where(quantity="tpr"), seen.where(quantity="fdr_pooled")
            markers(
                panel,
                fdr["value"],
                tpr["value"],
                tpr["error"],
                style,
                xerr=fdr["error"].astype(float),
            )
        letter(panel, rf"({'ab'[NOISES.index(Delta)]}) $\alpha={ALPHA}$, $\Delta={Delta}$, "
                      f"N = {dots.unique('N')[0]}")  # fmt: skip
        panel.set(xlabel="FDR", xlim=(0.0, _TOP), ylim=(0.0, 1.0), xticks=np.linspace(0.0, _TOP, 5))
    axes[0, 0].set_ylabel("TPR")
    legend(figure, ncols=3)
    return figure
