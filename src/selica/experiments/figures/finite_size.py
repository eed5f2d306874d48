"""How fast finite systems approach the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares

from selica._core.table import Row, Table
from selica._core.types import Array
from selica.experiments.cells import check_cell
from selica.experiments.compare import deviations
from selica.experiments.figures.cross_check import MODEL, RULES, TITLES
from selica.experiments.figures.figure import FigureRun, Finding, at_scale
from selica.experiments.grid import collect, tabulate
from selica.plots.canvas import canvas, legend, letter, line, markers
from selica.plots.style import quantity_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Approach to the theory"

LAMS = (0.32, 1.4)
"""Penalties, one of many and one of few selected variables."""
QUANTITIES = {
    "prediction_error": "prediction error",
    "v": "$v$",
    "tpr": "TPR",
    "fdr": "FDR",
    "v_tilde": r"$\tilde v$",
}


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Simulate the cross-check at sizes from 32 up; larger systems need fewer data sets."""
    sizes, members, work = at_scale(
        scale,
        ((16, 32, 64), 16, 512),
        ((32, 64, 128, 256), 32, 8_192),
        ((32, 64, 128, 256, 512, 1024), 32, 32_768),
    )
    cells = [
        check_cell(
            (rule,), MODEL, np.array(LAMS), N=N, n_members=members, n_datasets=max(work // N, 2)
        )
        for rule in RULES.values()
        for N in sizes
    ]
    return tabulate(collect(cells, **run.settings()))


def fits(table: Table) -> Table:
    """Return the power of N with which each quantity approaches the theory.

    c N^-power is fitted to the deviations by weighted least squares; a power is given only where
    the amplitude c is known to better than a third, and the power itself to 0.5.
    """
    found = deviations(table)
    rows: list[Row] = []
    for method in RULES:
        for lam in LAMS:
            for quantity in QUANTITIES:
                part = found.where(method=method, lam=lam, quantity=quantity)
                if len(part) == 0:
                    continue
                N = part["N"].astype(float)
                gap = (part["value"] - part["theory"]) / np.maximum(np.abs(part["theory"]), 1e-300)
                error = part["error"] / np.maximum(np.abs(part["theory"]), 1e-300)
                last = float(part["deviation"][-1])
                rows.append({"method": method, "lam": lam, "quantity": quantity,
                             "largest_N": int(N[-1]), "deviation_there": last,
                             "n_datasets": int(part["n_datasets"][-1])}
                            | _fit(N, gap, error))  # fmt: skip
    return Table.of(rows)


def _fit(N: Array, gap: Array, error: Array) -> Row:
    """Return amplitude (at the smallest N) and power of a deviation c (N / N_0)^-power."""
    scale = N / N.min()

    def residual(x: Array) -> Array:
        return np.asarray((x[0] * scale ** -x[1] - gap) / error)

    start = (gap[0] if gap[0] != 0.0 else error[0], 1.0)
    fit = least_squares(residual, start, bounds=([-np.inf, 0.0], [np.inf, 4.0]))
    slope = np.asarray(fit.jac)
    curvature = slope.T @ slope
    if np.linalg.cond(curvature) > 1e14:
        return {"amplitude": float(fit.x[0]), "power": None, "power_error": None}
    spread = np.sqrt(np.diag(np.linalg.inv(curvature)))
    clear = abs(fit.x[0]) > 3.0 * spread[0] and spread[1] < 0.5
    return {
        "amplitude": float(fit.x[0]),
        "power": float(fit.x[1]) if clear else None,
        "power_error": float(spread[1]) if clear else None,
    }


def findings(table: Table) -> list[Finding]:
    """Return the powers of N, and whether the largest system agrees with the theory."""
    out = []
    for row in fits(table):
        head = f"{TITLES[row['method']]}, lam = {row['lam']:g}, {row['quantity']}: "
        if row["power"] is None:
            text = "no power law stands out of the noise"
        else:
            text = f"deviation falls as N^-{row['power']:.2f} ({row['power_error']:.2f})"
        there = row["deviation_there"]
        tail = f"; {there:+.1f} standard errors at N = {row['largest_N']}"
        enough = row["n_datasets"] >= 8
        out.append(Finding(head + text + tail, abs(there) < 4.0 if enough else None))
    return out or [Finding("nothing was simulated", False)]


def draw(table: Table) -> Figure:
    """Draw relative deviation from the theory against N, with the fitted powers."""
    figure, axes = canvas(2, 2, (8.6, 6.4), sharex=True)
    found = deviations(table)
    fitted = fits(table)
    for row, method in enumerate(RULES):
        for column, lam in enumerate(LAMS):
            panel = axes[row, column]
            for rank, (quantity, label) in enumerate(QUANTITIES.items()):
                part = found.where(method=method, lam=lam, quantity=quantity)
                if len(part) == 0:
                    continue
                size = np.abs(part["theory"])
                gap = np.abs(part["value"] - part["theory"]) / size
                error = part["error"] / size
                fit = fitted.one(method=method, lam=lam, quantity=quantity)
                style = quantity_style(label, rank)
                N = part["N"].astype(float)
                shifted = N * 1.06 ** (rank - 1.5)  # side by side
                low = np.minimum(error, 0.9 * gap)
                markers(panel, shifted, gap, np.array([low, error]), style, label=label)
                if fit["power"] is not None:
                    power = float(fit["power"])
                    curve = abs(float(fit["amplitude"])) * (N / N.min()) ** -power
                    line(panel, N, curve, style, label=None, lw=1.0)
            top = panel.get_ylim()[1]
            panel.set(xscale="log", yscale="log")
            panel.set_ylim(1e-4, max(1.0, top))
            panel.set_xticks(found.unique("N"), [str(n) for n in found.unique("N")])
            panel.minorticks_off()
            letter(panel, rf"({'abcd'[2 * row + column]}) {TITLES[method]}, $\lambda={lam:g}$")
            if column == 0:
                panel.set_ylabel("relative deviation")
            if row == 1:
                panel.set_xlabel("number of variables $N$")
    legend(figure, ncols=5)
    return figure
