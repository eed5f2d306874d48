"""Power against the false discovery rate, every method at its usual penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from selica import theory
from selica._core.table import Table
from selica._core.types import Array, BoolArray
from selica.experiments.figures.figure import FigureRun, Finding, at_scale, edges_allowed
from selica.plots.canvas import canvas, legend, letter, line
from selica.plots.style import LineStyle, line_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Power of every method"

RHO = 0.5
"""Share of the variables that are signals."""
NOISES = (0.01, 0.1)
"""Variances of the noise."""
ALPHAS = (0.36, 0.63, 1.12, 2.0)
"""Rows for each variable."""
PI_TH = 0.025
"""Threshold of selection frequencies with knockoffs."""
RATES = (1.0, 2.0)
"""Resampling rates."""
METHODS: tuple[tuple[str, float | None], ...] = (
    ("lasso", None),
    ("knockoffs-ideal", None),
    ("stability-ideal", 1.0),
    ("knockoffs-frequency", None),
    ("stability-ideal", 2.0),
    ("thresholded-lasso", None),
)
# What the article compares; the thresholded lasso is ours.
ENSEMBLES = (("stability-ideal", 1.0), ("stability-ideal", 2.0), ("knockoffs-frequency", None))
_TOP = 0.4
"""The largest FDR that is drawn."""


def style_of(method: str, rate: float | None) -> LineStyle:
    """Return how a method of this figure looks."""
    return line_style(method, rate, RATES.index(rate) if rate is not None else 0)


def compute(scale: str, run: FigureRun = FigureRun()) -> Table:  # noqa: B008 (immutable)
    """Return curves at the penalty that minimises a member's prediction error."""
    return curves(scale, run, "prediction")


def curves(scale: str, run: FigureRun, criterion: str) -> Table:
    """Return TPR at many levels of the FDR, in all panels.

    Rows with sweep "Z_th" trace derandomized knockoffs as the article does, with Pi_th fixed.
    """
    levels = np.linspace(0.0, _TOP, at_scale(scale, 5, 41, 81))
    levels = np.concatenate([[1e-4, 1e-3], levels[1:]])
    model = theory.Model(np.array(ALPHAS), RHO, np.array(NOISES)[:, None])
    rows: list[dict[str, Any]] = []
    for done, (method, rate) in enumerate(METHODS):
        if run.progress is not None:
            run.progress(done, len(METHODS))
        with edges_allowed():
            curve = theory.power_curve(model, method, levels, criterion, rate or 1.0)
        named = {"method": method, "mu_B": rate, "criterion": criterion}
        shape = (len(NOISES), len(ALPHAS), levels.size)
        lam = np.asarray(curve.lam)
        lam = np.broadcast_to(lam if lam.ndim == 3 else lam[..., None], shape)
        for (i, j, k), tpr in np.ndenumerate(curve.tpr):
            panel = {"Delta": NOISES[i], "alpha": ALPHAS[j], **named}
            rows.append(
                panel | {"sweep": "level", "lam": lam[i, j, k], "fdr": levels[k], "tpr": tpr}
            )
        if method == "knockoffs-frequency":
            rows += [named | point for point in _article_sweep(model, lam[..., 0])]
    if run.progress is not None:
        run.progress(len(METHODS), len(METHODS))
    return Table.of(rows)


def _article_sweep(model: theory.Model, lam: Array) -> list[dict[str, Any]]:
    """Return derandomized knockoffs with Z_th moved at Pi_th = 0.025, as in the article."""
    solution = theory.solve_knockoff(model, lam)
    rows = []
    for Z in np.geomspace(1e-3, 4.0, 60):
        rates = solution.rates(Z, PI_TH)
        for (i, j), fdr in np.ndenumerate(rates.fdr):
            if 1e-6 < fdr < _TOP:
                rows.append({"Delta": NOISES[i], "alpha": ALPHAS[j], "sweep": "Z_th",
                             "lam": lam[i, j], "threshold": Z, "fdr": fdr,
                             "tpr": rates.tpr[i, j]})  # fmt: skip
    return rows


def power_at(table: Table, fdr: float) -> dict[tuple[float, float], dict[Any, float]]:
    """Return TPR by panel (Delta, alpha) and (method, rate)."""
    out: dict[tuple[float, float], dict[Any, float]] = {}
    for row in table.where(sweep="level", fdr=fdr):
        panel = out.setdefault((row["Delta"], row["alpha"]), {})
        panel[row["method"], row["mu_B"]] = row["tpr"]
    return out


def findings(table: Table) -> list[Finding]:
    """Return the article's sentences, with our numbers."""
    at = power_at(table, 0.1)
    out = []
    for alpha in (0.63, 1.12):
        p = at[0.01, alpha]
        copies, first, second = (p[m] for m in (("knockoffs-frequency", None), *ENSEMBLES[:2]))
        one, moved = p["knockoffs-ideal", None], p["lasso", None]
        out.append(
            Finding(
                f"small noise, alpha = {alpha}, FDR 0.1: derandomized {copies:.4f} > one copy "
                f"{one:.4f} and > stability at rate 1 {first:.4f}; stability at rate 2 "
                f"{second:.4f} above the article's other methods (thresholded lasso, not in the "
                f"article: {p['thresholded-lasso', None]:.4f})",
                copies > one and copies > first and second > max(copies, one, first, moved),
            )
        )
    out += _large_noise(table, at)
    low = power_at(table, 1e-4)
    worst = min(
        (p[m] / p["lasso", None], panel, m)
        for panel, p in low.items()
        for m in p
        if m[0] not in ("lasso", "thresholded-lasso")
    )
    out.append(
        Finding(
            "every randomised method beats the lasso with its penalty moved as FDR -> 0: at FDR "
            f"1e-4 the smallest ratio of powers is {worst[0]:.3g} ({_name(worst[2])}, Delta = "
            f"{worst[1][0]:g}, alpha = {worst[1][1]:g})",
            worst[0] > 1.0,
        )
    )
    gap = sweep_difference(table)
    out.append(
        Finding(
            "sweeping Z_th at Pi_th = 0.025, or Pi_th at Z_th = 0, traces the same curve: largest "
            f"difference in TPR {gap:.1e}, on a grid that resolves 1e-3",
            gap < 1e-3,
        )
    )
    return out


def _large_noise(table: Table, at: dict[Any, dict[Any, float]]) -> list[Finding]:
    panels = [(0.1, alpha) for alpha in ALPHAS]
    spread = max(
        max(at[x][m] for m in ENSEMBLES) - min(at[x][m] for m in ENSEMBLES) for x in panels
    )
    small = max(
        max(at[x][m] for m in ENSEMBLES) - min(at[x][m] for m in ENSEMBLES)
        for x in [(0.01, alpha) for alpha in ALPHAS]
    )
    above = min(min(at[x][m] for m in ENSEMBLES) - at[x]["knockoffs-ideal", None] for x in panels)
    levels = [float(f) for f in table.where(sweep="level").unique("fdr") if float(f) <= 0.2]
    lasso = min(
        min(p[m] for m in ENSEMBLES) / p["lasso", None]
        for f in levels
        for x, p in power_at(table, f).items()
        if x[0] == 0.1
    )
    return [
        Finding(
            "large noise, FDR 0.1: the ensemble methods nearly coincide, within "
            f"{spread:.4f} of TPR (small noise: {small:.4f}), and are above one copy by at least "
            f"{above:.4f}",
            spread < 0.5 * small and above > 0.0,
        ),
        Finding(
            "large noise, FDR up to 0.2: the ensemble methods beat the lasso with its penalty "
            f"moved, by a factor of {lasso:.2f} or more",
            lasso > 1.0,
        ),
    ]


def sweep_difference(table: Table) -> float:
    """Return largest difference in TPR between moving Z_th and moving Pi_th at Z_th = 0.

    Without the theory's own threshold on the field: the rules are applied to variables on a fine
    grid of fields, and what they select is counted.
    """
    worst = 0.0
    for Delta in NOISES:
        for alpha in ALPHAS:
            swept = table.where(sweep="Z_th", Delta=Delta, alpha=alpha)
            solution = theory.solve_knockoff(theory.Model(alpha, RHO, Delta), swept["lam"][0])
            top = 8.0 * np.sqrt(solution.Q_hat**2 + solution.chi_hat)
            g = np.linspace(0.0, top, 20_001)
            null, signal = (
                np.exp(-0.5 * g**2 / var) / np.sqrt(var)
                for var in (solution.chi_hat, solution.Q_hat**2 + solution.chi_hat)
            )
            null, signal = null / null.sum(), signal / signal.sum()

            def count(
                chosen: BoolArray, null: Array = null, signal: Array = signal
            ) -> tuple[float, float]:
                return float(null[chosen].sum()), float(signal[chosen].sum())

            free = solution.selection_probability(g, 0.0)
            levels = np.unique(free[:: max(1, g.size // 4000)])
            curve = np.array([count(free > level) for level in levels])
            order = np.argsort(curve[:, 0])
            for Z in swept["threshold"][::6]:
                fpr, tpr = count(solution.selection_probability(g, Z) > PI_TH)
                same = np.interp(fpr, curve[order, 0], curve[order, 1])
                worst = max(worst, abs(tpr - float(same)))
    return worst


def _name(method: tuple[str, float | None]) -> str:
    return style_of(*method).label


def draw(table: Table) -> Figure:
    """Draw eight panels: small noise above, large noise below."""
    figure, axes = canvas(2, 4, (11.0, 6.0), sharex=True)
    for row, Delta in enumerate(NOISES):
        for column, alpha in enumerate(ALPHAS):
            panel = axes[row, column]
            part = table.where(Delta=Delta, alpha=alpha, sweep="level")
            for method, rate in METHODS:
                one = part.where(method=method, mu_B=rate)
                line(panel, one["fdr"], one["tpr"], style_of(method, rate))
            letter(panel, rf"({'abcdefgh'[4 * row + column]}) $\alpha={alpha}$, $\Delta={Delta}$")
            panel.set_xlim(0.0, _TOP)
            panel.set_ylim(bottom=0.0)
            if column == 0:
                panel.set_ylabel("TPR")
            if row == 1:
                panel.set_xlabel("FDR")
    legend(figure, ncols=3)
    return figure
