"""Perfect-reconstruction limits: how many samples a noiseless problem needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from selica import theory
from selica._core.table import Table
from selica.experiments.figures.figure import Finding, Run, at_scale
from selica.plots.canvas import canvas, legend, line
from selica.plots.style import line_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Limits of perfect reconstruction"

RATES = (1.0, 2.0, 4.0)
METHODS: tuple[tuple[str, float | None], ...] = (
    ("lasso", None),
    *(("stability", rate) for rate in RATES),
    ("derandomized", None),
)


def compute(scale: str, run: Run = Run()) -> Table:  # noqa: ARG001, B008 (immutable)
    """Critical alpha against rho, and where derandomized knockoffs cross each resampling rate."""
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
        if crossing is not None:
            alpha = theory.reconstruction_limit(crossing, "derandomized")
            rows.append({"quantity": "crossing", "method": "stability", "mu_B": rate,
                         "rho": crossing, "alpha": alpha})  # fmt: skip
    return Table.of(rows)


def _crossing(rate: float) -> float | None:
    """rho at which stability selection and derandomized knockoffs need the same samples."""

    def ahead(log_rho: float) -> float:
        own = theory.reconstruction_limit(np.exp(log_rho), "stability", rate)
        return float(np.log(own / theory.reconstruction_limit(np.exp(log_rho), "derandomized")))

    low, high = np.log(1e-100), -1e-9
    if ahead(low) * ahead(high) > 0.0:
        return None
    return float(np.exp(brentq(ahead, low, high, xtol=1e-12)))


def findings(table: Table) -> list[Finding]:
    """Who needs fewer samples, and up to which share of signals."""
    limits = table.where(quantity="limit")
    copies = limits.where(method="derandomized")["alpha"]
    rho = limits.where(method="derandomized")["rho"]
    crossing = {row["mu_B"]: row["rho"] for row in table.where(quantity="crossing")}
    out = []
    first = limits.where(method="stability", mu_B=1.0)["alpha"]
    where = (rho > 0.0) & (rho < crossing[1.0])
    out.append(
        Finding(
            "the limit of derandomized knockoffs lies below that of stability selection at rate 1 "
            f"for rho < {crossing[1.0]:.4f}, not above",
            bool(np.all(copies[where] < first[where])),
        )
    )
    for rate in RATES[1:]:
        own = limits.where(method="stability", mu_B=rate)["alpha"]
        where = rho > crossing[rate]
        out.append(
            Finding(
                f"that of stability selection at rate {rate:g} lies lower still for rho > "
                f"{crossing[rate]:.3g}; for sparser signals knockoffs need fewer samples",
                bool(np.all(own[where & (rho < 1.0)] < copies[where & (rho < 1.0)])),
            )
        )
    half = {(r["method"], r["mu_B"]): r["alpha"] for r in limits.where(rho=0.5)}
    text = ", ".join(
        f"{line_style(m, r).label.split(',')[0] if r is None else f'rate {r:g}'} {a:.5f}"
        for (m, r), a in half.items()
    )
    return [*out, Finding(f"at rho = 0.5: {text}")]


def draw(table: Table) -> Figure:
    """Critical samples per variable against the share of signals."""
    figure, ((axes,),) = canvas(size=(5.6, 4.4))
    limits = table.where(quantity="limit")
    for method, rate in METHODS:
        part = limits.where(method=method, mu_B=rate)
        rank = RATES.index(rate) if rate is not None else 0
        style = line_style(method, rate, rank)
        if method == "lasso":
            style = style._replace(label="lasso, no resampling")
        line(axes, part["rho"], part["alpha"], style)
    crossings = table.where(quantity="crossing")
    axes.plot(crossings["rho"], crossings["alpha"], "k.", ms=6, zorder=4)
    for row in crossings:
        if float(row["rho"]) < 1e-3:  # type: ignore[arg-type]
            continue
        axes.annotate(
            f"{row['rho']:.3g}", (row["rho"], row["alpha"]), xytext=(5, -10),
            textcoords="offset points", fontsize=8, color="0.3",
        )  # fmt: skip
    axes.set(xlabel=r"share of signals $\rho$", ylabel=r"samples per variable $\alpha$")
    axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.7))
    legend(axes, loc="lower right")
    return figure
