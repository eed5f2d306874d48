"""Perfect-reconstruction limits: how many samples a noiseless problem needs."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from selica import theory
from selica._core.table import Table
from selica.experiments.figures.figure import FigureRun, Finding, at_scale
from selica.plots.canvas import canvas, legend, line, note
from selica.plots.style import line_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Limits of perfect reconstruction"

RATES = (1.0, 2.0, 4.0)
"""Resampling rates."""
METHODS: tuple[tuple[str, float | None], ...] = (
    ("lasso", None),
    *(("stability-ideal", rate) for rate in RATES),
    ("knockoffs-frequency", None),
)


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Compute critical alpha against rho, and where knockoffs cross each resampling rate."""
    rho = np.linspace(0.0, 1.0, at_scale(scale, 41, 201, 401))
    rows = []
    for method, rate in METHODS:
        alpha = theory.reconstruction_limit(rho, method, 1.0 if rate is None else rate)
        rows += [
            {"quantity": "limit", "method": method, "mu_B": rate, "rho": r, "alpha": a}
            for r, a in zip(rho, alpha, strict=True)
        ]
    for rate in RATES:
        crossing = _crossing(rate)
        if crossing is None:
            continue
        for name, near in (("crossing", 1.0), ("below", 0.99), ("above", 1.01)):
            for method, mu_B in (("stability-ideal", rate), ("knockoffs-frequency", None)):
                alpha = theory.reconstruction_limit(near * crossing, method, mu_B or 1.0)
                rows.append({"quantity": name, "method": method, "mu_B": mu_B, "rate": rate,
                             "rho": near * crossing, "alpha": alpha})  # fmt: skip
    return Table.of(rows)


def _crossing(rate: float) -> float | None:
    """Return rho at which stability selection and derandomized knockoffs need the same samples."""

    def ahead(log_rho: float) -> float:
        own = theory.reconstruction_limit(np.exp(log_rho), "stability-ideal", rate)
        return float(
            np.log(own / theory.reconstruction_limit(np.exp(log_rho), "knockoffs-frequency"))
        )

    low, high = np.log(1e-100), -1e-9
    if ahead(low) * ahead(high) > 0.0:
        return None
    return float(np.exp(brentq(ahead, low, high, xtol=1e-12)))


def findings(table: Table) -> list[Finding]:
    """Return who needs fewer samples, and up to which share of signals."""
    out = []
    for rate in RATES:
        near = table.where(rate=rate)
        if len(near) == 0:
            continue
        rho = near.where(quantity="crossing").rows[0]["rho"]

        def copies_ahead(side: str, near: Table = near) -> bool:
            at = near.where(quantity=side)
            copies, own = (
                at.one(method=m)["alpha"] for m in ("knockoffs-frequency", "stability-ideal")
            )
            return bool(copies < own)

        text = (
            f"the limit of derandomized knockoffs lies below that of stability selection at rate "
            f"{rate:g} for rho < {rho:.4g}, and above it for larger rho"
        )
        out.append(Finding(text, copies_ahead("below") and not copies_ahead("above")))
    limits = table.where(quantity="limit")
    order = [limits.where(method="stability-ideal", mu_B=rate)["alpha"][1:] for rate in RATES]
    falls = all(bool(np.all(b < a)) for a, b in pairwise(order))
    out.append(Finding("a larger resampling rate always needs fewer samples", falls))
    half = [
        f"{row['method']} "
        + (f"rate {row['mu_B']:g} " if row["mu_B"] else "")
        + f"{row['alpha']:.5f}"
        for row in limits.where(rho=0.5)
    ]
    return [*out, Finding(f"at rho = 0.5: {', '.join(half)}")]


def draw(table: Table) -> Figure:
    """Draw critical samples per variable against the share of signals."""
    figure, ((axes,),) = canvas(size=(5.6, 4.4))
    limits = table.where(quantity="limit")
    for method, rate in METHODS:
        part = limits.where(method=method, mu_B=rate)
        rank = RATES.index(rate) if rate is not None else 0
        style = line_style(method, rate, rank)
        if method == "lasso":
            style = style._replace(label="lasso, no resampling")
        line(axes, part["rho"], part["alpha"], style)
    crossings = table.where(quantity="crossing", method="knockoffs-frequency")
    axes.plot(crossings["rho"], crossings["alpha"], "k.", ms=6, zorder=4)
    for row in crossings:
        if float(row["rho"]) < 1e-3:
            continue
        note(axes, f"{row['rho']:.3g}", (row["rho"], row["alpha"]), (5, -10))
    axes.set(xlabel=r"share of signals $\rho$", ylabel=r"samples per variable $\alpha$")
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.7))
    legend(axes, loc="lower right")
    return figure
