"""Order parameters, power and false discoveries against the penalty: theory and finite systems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from selica import theory
from selica._core.table import Row, Table
from selica.experiments.cells import Rule, check_cell
from selica.experiments.compare import deviations
from selica.experiments.figures.figure import Finding, Run, at_scale
from selica.experiments.summary import theory_rows
from selica.experiments.sweep import collect, tabulate
from selica.plots.canvas import canvas, legend, letter, line, markers
from selica.plots.style import quantity_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = "Theory against finite systems"

# The setting of the article; 0.18 is where a finite ensemble differs most from an infinite one.
MODEL = theory.Model(alpha=2.5, rho=0.3, Delta=0.01)
Z_TH, PI_TH = 0.05, 0.15
N, LARGER = 128, 512
LAMS = (0.05, 0.075, 0.1, 0.14, 0.18, 0.24, 0.32, 0.42, 0.56, 0.75, 1.0, 1.4, 2.0)
RULES = {
    "stability": Rule("stability", (PI_TH,)),
    "derandomized": Rule("derandomized", (Z_TH,), PI_TH),
}
_ORDER = {
    "stability": ("q", "m", "v"),
    "derandomized": ("q", "m", "v", "v_tilde"),
}
_NAMES = {"q": "$q$", "m": "$m$", "v": "$v$", "v_tilde": r"$\tilde v$", "tpr": "TPR", "fdr": "FDR"}
TITLES = {"stability": "stability selection", "derandomized": "derandomized knockoffs"}


def compute(scale: str, run: Run = Run()) -> Table:  # noqa: B008 (immutable)
    """Both methods at every penalty; theory for the members of the run and for infinitely many."""
    members, datasets, beside = at_scale(scale, (16, 4, 2), (64, 32, 8), (256, 512, 48))
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
    """The largest deviation of each quantity, in standard errors."""
    found = deviations(table)
    out = []
    for method in RULES:
        for quantity in (*_ORDER[method], "tpr", "fdr"):
            part = found.where(method=method, quantity=quantity)
            here = part.where(N=N)
            worst = here.rows[int(np.argmax(np.abs(here["deviation"].astype(float))))]
            z = float(worst["deviation"])  # type: ignore[arg-type]
            text = (
                f"{TITLES[method]}, {quantity}: farthest from the theory at lam = "
                f"{worst['lam']:g}, {worst['value']:.4g} against {worst['theory']:.4g}, "
                f"{z:+.1f} standard errors"
            )
            holds = abs(z) < 4.0
            if not holds:
                words, holds = _shrinks(worst, part.one(N=LARGER, lam=worst["lam"]))
                text += words
            out.append(Finding(text, holds))
    rows = table.where(source="theory", method="stability", quantity="fdr", lam=0.18, N=N)
    values = {row["n_members"]: row["value"] for row in rows}
    members, limit = sorted(values, key=float)  # type: ignore[arg-type]
    text = (
        f"stability selection at lam = 0.18: FDR {values[limit]:.4f} with infinitely many "
        f"members, {values[members]:.4f} with {members:g}"
    )
    return [*out, Finding(text)]


def _shrinks(small: Row, large: Row) -> tuple[str, bool]:
    """Whether a deviation is clearly smaller, relative to the theory, in the larger system."""

    def relative(row: Row, name: str) -> float:
        return float(row[name]) / abs(float(row["theory"]))  # type: ignore[arg-type]

    before = relative(small, "value") - np.sign(float(small["theory"]))  # type: ignore[arg-type]
    after = relative(large, "value") - np.sign(float(large["theory"]))  # type: ignore[arg-type]
    error = relative(large, "error")
    words = (
        f"; relative to the theory {before:+.2f} at N = {N} and {after:+.2f} ({error:.2f}) at "
        f"N = {LARGER}"
    )
    return words, abs(after) + 2.0 * error < abs(before)


def draw(table: Table) -> Figure:
    """Order parameters on the left, rates on the right; one row for each method."""
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
            legend(panel, loc="upper right" if column == 1 else "best", ncols=2)
    _inset(axes[0, 1], lines.where(method="stability", quantity="fdr"), dots)
    return figure


def _inset(panel: Axes, curve: Table, dots: Table) -> None:
    """Where the number of members matters."""
    small = panel.inset_axes((0.07, 0.1, 0.36, 0.42))
    style = quantity_style("", 1)
    finite, infinite = (curve.where(n_members=b) for b in (dots.unique("n_members")[0], np.inf))
    line(small, finite["lam"], finite["value"], style)
    line(small, infinite["lam"], infinite["value"], style, lw=0.9, ls=(0, (1, 1)), color="0.2")
    seen = dots.where(method="stability", quantity="fdr")
    markers(small, seen["lam"], seen["value"], seen["error"], style)
    small.set(xlim=(0.125, 0.28), ylim=(0.53, 0.725), xticks=[0.15, 0.2, 0.25])
    small.tick_params(labelsize=7)
    small.grid(alpha=0.25)
    panel.indicate_inset_zoom(small, edgecolor="0.5")
