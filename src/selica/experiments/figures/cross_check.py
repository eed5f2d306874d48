"""Order parameters, power and false discoveries against the penalty: theory and finite systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from selica import theory
from selica._core.table import Row, Table
from selica.experiments.cells import ThresholdRule, check_cell
from selica.experiments.compare import agrees, deviations
from selica.experiments.figures.figure import FigureRun, Finding, at_scale
from selica.experiments.grid import collect, tabulate
from selica.experiments.summary import theory_rows
from selica.plots.canvas import canvas, legend, letter, line, markers
from selica.plots.style import quantity_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Theory against finite systems"

# The setting of the article; 0.18 is where a finite ensemble differs most from an infinite one.
MODEL = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
Z_TH = 0.05
"""Threshold of the knockoff statistic."""
PI_TH = 0.15
"""Threshold of selection frequencies."""
N = 128
"""Variables of the simulated systems."""
LARGER = 512
"""Variables of larger systems, run beside them."""
LAMS = (0.05, 0.075, 0.1, 0.14, 0.18, 0.24, 0.32, 0.42, 0.56, 0.75, 1.0, 1.4, 2.0)
RULES = {
    "stability-ideal": ThresholdRule("stability-ideal", (PI_TH,)),
    "knockoffs-frequency": ThresholdRule("knockoffs-frequency", (Z_TH,), PI_TH),
}
_ORDER = {
    "stability-ideal": ("q", "m", "v"),
    "knockoffs-frequency": ("q", "m", "v", "v_tilde"),
}
_NAMES = {"q": "$q$", "m": "$m$", "v": "$v$", "v_tilde": r"$\tilde v$", "tpr": "TPR", "fdr": "FDR"}
TITLES = {"stability-ideal": "stability selection", "knockoffs-frequency": "derandomized knockoffs"}


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Simulate both methods at every penalty, with the theory for as many members and for all."""
    members, datasets, beside = at_scale(scale, (16, 4, 2), (64, 32, 8), (256, 512, 32))
    lams = np.array(LAMS)
    cells = []
    for rule in RULES.values():
        size = {"n_members": members, "n_datasets": datasets}
        cells.append(check_cell((rule,), MODEL, lams, N=N, **size))
        size = {"n_members": min(members, 64), "n_datasets": beside}
        cells.append(check_cell((rule,), MODEL, lams, N=LARGER, **size))
    fine = np.geomspace(LAMS[0], LAMS[-1], at_scale(scale, 25, 97, 97))
    curves = [check_cell((rule,), MODEL, fine, n_members=members) for rule in RULES.values()]
    lines = [row | {"N": None, "n_datasets": None} for c in curves for row in theory_rows(c)]
    return Table.of(lines) + tabulate(collect(cells, **run.settings()))


def findings(table: Table) -> list[Finding]:
    """Return the largest deviation of each quantity, in standard errors."""
    found = deviations(table)
    out = []
    for method in RULES:
        for quantity in (*_ORDER[method], "tpr", "fdr"):
            part = found.where(method=method, quantity=quantity)
            out.append(_finding(f"{TITLES[method]}, {quantity}", part))
    rows = table.where(source="theory", method="stability-ideal", quantity="fdr", lam=0.18, N=N)
    values = {row["n_members"]: row["value"] for row in rows}
    members, limit = sorted(values, key=float)
    text = (
        f"stability selection at lam = 0.18: FDR {values[limit]:.4f} with infinitely many "
        f"members, {values[members]:.4f} with {members:g}"
    )
    return [*out, Finding(text)]


def _finding(name: str, part: Table) -> Finding:
    """Return one quantity: it agrees, or comes nearer to the theory in the larger system."""
    here = part.where(N=N)
    if len(here) == 0:
        return Finding(f"{name}: not simulated", False)
    worst = here.rows[int(np.argmax(np.abs(here["deviation"])))]
    text = (
        f"{name}: farthest from the theory at lam = {worst['lam']:g}, {worst['value']:.4g} "
        f"against {worst['theory']:.4g}, {worst['deviation']:+.1f} standard errors"
    )
    holds = agrees(here)
    if holds is False:
        far = [row for row in here if abs(row["deviation"]) >= 4.0]
        pairs = [(row, part.where(N=LARGER, lam=row["lam"]).rows) for row in far]
        holds = all(len(large) == 1 and _nearer(row, large[0]) for row, large in pairs)
        larger = part.where(N=LARGER, lam=worst["lam"])
        if len(larger) == 1:
            before, (after, error) = _relative(worst)[0], _relative(larger.rows[0])
            text += (
                f"; relative to the theory {before:+.2f} at N = {N}, {after:+.2f} ({error:.2f}) "
                f"at N = {LARGER}, and all {len(far)} beyond 4 are nearer there"
                if holds
                else "; not nearer at a larger size"
            )
    return Finding(text, holds)


def _relative(row: Row) -> tuple[float, float]:
    """Return deviation and its standard error as shares of the theory."""
    size = abs(row["theory"])
    return (row["value"] - row["theory"]) / size, row["error"] / size


def _nearer(small: Row, large: Row) -> bool:
    """Return whether the larger system is clearly nearer: by more than two standard errors."""
    after, error = _relative(large)
    return abs(after) + 2.0 * error < abs(_relative(small)[0])


def draw(table: Table) -> Figure:
    """Draw order parameters on the left, rates on the right; one row for each method."""
    figure, axes = canvas(2, 2, (8.2, 6.0), sharex=True)
    lines = table.where(source="theory", N=None)
    dots = table.where(source="monte-carlo", N=N, status="ok")
    members = dots.unique("n_members")[0]
    for row, method in enumerate(RULES):
        for column, quantities in enumerate((_ORDER[method], ("tpr", "fdr"))):
            panel = axes[row, column]
            for rank, quantity in enumerate(quantities):
                style = quantity_style(_NAMES[quantity], rank)
                curve = lines.where(method=method, quantity=quantity)
                infinite = curve.where(n_members=np.inf)
                if column == 1:
                    finite = curve.where(n_members=members)
                    line(panel, finite["lam"], finite["value"], style)
                    label = r"$B \to \infty$" if quantity == "fdr" else None
                    thin = {"lw": 0.9, "ls": (0, (1, 1)), "color": "0.2", "label": label}
                    line(panel, infinite["lam"], infinite["value"], style, **thin)
                else:
                    line(panel, infinite["lam"], infinite["value"], style)
                seen = dots.where(method=method, quantity=quantity)
                markers(panel, seen["lam"], seen["value"], seen["error"], style)
            letter(panel, f"({'abcd'[2 * row + column]}) {TITLES[method]}")
            panel.set_xscale("log")
            if column == 0:
                panel.set_yscale("log")
                panel.set_ylabel("order parameter")
            else:
                panel.set_ylabel("rate")
                panel.set_ylim(-0.03, 1.03)
            if row == 1:
                panel.set_xlabel(r"penalty $\lambda$")
            if column == 0:
                legend(panel, loc="best", ncols=2)
            else:
                legend(panel, loc="center right", bbox_to_anchor=(1.0, 0.27), fontsize=8)
    _inset(axes[0, 1], lines.where(method="stability-ideal", quantity="fdr"), dots)
    return figure


def _inset(panel: Axes, curve: Table, dots: Table) -> None:
    """Draw where the number of members matters."""
    small = panel.inset_axes((0.12, 0.1, 0.34, 0.42))
    style = quantity_style("", 1)
    finite, infinite = (curve.where(n_members=b) for b in (dots.unique("n_members")[0], np.inf))
    line(small, finite["lam"], finite["value"], style)
    line(small, infinite["lam"], infinite["value"], style, lw=0.9, ls=(0, (1, 1)), color="0.2")
    seen = dots.where(method="stability-ideal", quantity="fdr")
    markers(small, seen["lam"], seen["value"], seen["error"], style)
    small.set(xlim=(0.125, 0.28), ylim=(0.53, 0.725), xticks=[0.15, 0.2, 0.25])
    small.tick_params(labelsize=7)
    small.grid(alpha=0.25)
    panel.indicate_inset_zoom(small, edgecolor="0.5")
