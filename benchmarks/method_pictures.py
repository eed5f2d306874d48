"""Draw how each method decides on one simulated study: the pictures of docs/methods.

`python -m benchmarks.method_pictures` writes docs/images/methods/NAME.png, for all methods or for
those that are named. The study is the one that every page uses in its example, so that pictures
can be compared; clumps need genotypes and have a study of their own.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from selica import (
    AggregatedKnockoffs,
    Bolasso,
    ClumpKnockoffs,
    DataSplitting,
    DerandomizedKnockoffs,
    IntegratedStability,
    KnockoffSelection,
    LassoSelection,
    StabilitySelection,
    SummaryKnockoffs,
    catalogue,
    control,
    theory,
)
from selica._core.random import seed_sequence
from selica.plots.canvas import canvas, save
from selica.plots.style import line_style
from selica.sampling import HaplotypeLaw, simulate
from selica.sampling.exchangeability import FEWEST_ROWS, WITHDRAWN_RATIO
from selica.selectors.checks import LARGEST_CORRELATION
from selica.selectors.choice import MOST_COLUMNS, RULES, SMALLEST_FREEDOM, Facts
from selica.solvers import lasso_path_batch
from selica.statistics import make_data

FOLDER = Path("docs/images/methods")
MATTERS = "#0072B2"
"""Colour of variables that matter."""
IDLE = "#999999"
"""Colour of variables that do not."""
LINE = "#D55E00"
"""Colour of what decides."""
SHOWN = 40
"""Variables that a picture shows, from the first on."""
SIZE = (7.0, 3.3)
"""Inches; pages show them at most 700 pixels wide."""


def study() -> Any:
    """Return the study of all pages: 300 rows, 100 columns, of which 15 matter."""
    return simulate(300, 100, 15, snr=3.0, covariance=("ar1", 0.5), random_state=1)


def ranked(axes: Any, values: Any, matters: Any, shown: int = SHOWN) -> Any:
    """Draw values from the largest on, filled where a variable matters; return their order."""
    order = np.argsort(-np.asarray(values), kind="stable")[:shown]
    place = np.arange(1, order.size + 1)
    for which, colour, face, label in (
        (matters[order], MATTERS, MATTERS, "matters"),
        (~matters[order], IDLE, "white", "does not matter"),
    ):
        axes.plot(
            place[which], np.asarray(values)[order][which], "o", ms=5,
            color=colour, mfc=face, label=label, zorder=3,
        )  # fmt: skip
    axes.set_xlabel("variables, from the first on")
    return order


def limit(axes: Any, value: float, text: str) -> None:
    """Draw a horizontal line that decides, and say what it is."""
    axes.axhline(value, color=LINE, lw=1.4, ls="--")
    axes.annotate(
        text, (1.0, value), xycoords=("axes fraction", "data"), ha="right", va="bottom",
        xytext=(-4, 3), textcoords="offset points", color=LINE, fontsize=9,
    )  # fmt: skip


def stability_pfer(data: Any) -> Any:
    """Draw frequencies and thresholds under the three assumptions."""
    figure, panels = canvas(1, 3, SIZE, sharey=True)
    for axes, assumption in zip(panels[0], ("r-concave", "unimodal", "none"), strict=True):
        found = StabilitySelection(pfer=1.0, assumption=assumption, random_state=0)
        found.fit(data.X, data.y)
        ranked(axes, found.selection_probabilities_, data.support)
        limit(axes, found.threshold_, f"threshold {found.threshold_:.2f}")
        axes.set_title(f"{assumption}: q = {found.q_}", fontsize=10)
    panels[0][0].set_ylabel("share of the halves\nthat select it")
    panels[0][0].set_ylim(-0.03, 1.09)
    panels[0][2].legend(fontsize=8.5, loc="center right")
    return figure


def stability_fdr(data: Any) -> Any:
    """Draw p-values below the line of Benjamini and Hochberg."""
    found = StabilitySelection(fdr=0.1, random_state=0).fit(data.X, data.y)
    pvalues = found.calibration_.p_values
    figure, panels = canvas(1, 1, SIZE)
    axes = panels[0, 0]
    order = ranked(axes, -np.log10(pvalues), data.support)
    k = np.arange(1, order.size + 1)
    axes.plot(k, -np.log10(0.1 * k / pvalues.size), color=LINE, lw=1.4, ls="--")
    axes.annotate(
        r"$0.1\, k / p$", (order.size, -np.log10(0.1 * order.size / pvalues.size)), xytext=(-4, 8),
        textcoords="offset points", ha="right", color=LINE,
    )  # fmt: skip
    axes.set_ylabel("-log10 of the p-value")
    axes.legend(fontsize=9)
    return figure


def stability_integrated(data: Any) -> Any:
    """Draw shares along the lists of all lengths, and the numbers that they become."""
    found = IntegratedStability(random_state=0).fit(data.X, data.y)
    figure, panels = canvas(1, 2, SIZE)
    left, right = panels[0]
    path = found.probability_path_
    for j in np.argsort(data.support, kind="stable"):
        style = (MATTERS, 1.3, 3) if data.support[j] else (IDLE, 0.6, 2)
        colour, width, order = style
        left.plot(np.arange(1, len(path) + 1), path[:, j], color=colour, lw=width, zorder=order)
    left.set_xlabel("length q of the lists")
    left.set_ylabel("share of the halves with\nthe variable among their first q")
    efp = np.maximum(found.efp_, 1e-8)
    ranked(right, -np.log10(efp), data.support)
    limit(right, 0.0, "1 expected false selection")
    right.set_ylabel("-log10 of expected\nfalse selections")
    right.legend(fontsize=8.5)
    return figure


def knockoffs(data: Any) -> Any:
    """Draw statistics by size and sign, and the estimated false share at each threshold."""
    found = KnockoffSelection(fdr=0.1, random_state=0).fit(data.X, data.y)
    W = found.statistics_
    figure, panels = canvas(1, 2, SIZE)
    left, right = panels[0]
    _signed(left, W, data.support, found.threshold_)
    left.set_yscale("symlog", linthresh=2.0)
    left.set_ylabel("W: variable ahead of its copy")
    t = np.unique(np.abs(W[W != 0.0]))
    share = [(1 + (-x >= W).sum()) / max((x <= W).sum(), 1) for x in t]
    right.step(t, np.minimum(share, 1.0), where="pre", color=IDLE, lw=1.2)
    right.axhline(0.1, color=LINE, lw=1.4, ls="--", label="level 0.1")
    right.legend(fontsize=8.5, loc="upper left")
    right.axvline(found.threshold_, color=LINE, lw=1.2)
    right.annotate(
        f"T = {found.threshold_:.2f}", (found.threshold_, 0.6), xytext=(5, 0),
        textcoords="offset points", color=LINE, fontsize=9,
    )  # fmt: skip
    right.set_xscale("log")
    right.set_xlabel("threshold t")
    right.set_ylabel("(1 + W at most -t) / (W at least t)")
    return figure


def _signed(axes: Any, W: Any, matters: Any, threshold: float) -> None:
    """Draw signed statistics from the largest in size on, with both thresholds."""
    order = np.argsort(-np.abs(W), kind="stable")[:SHOWN]
    place = np.arange(1, order.size + 1)
    for which, colour, label in (
        (matters[order], MATTERS, "matters"),
        (~matters[order], IDLE, "does not matter"),
    ):
        axes.bar(place[which], W[order][which], 0.8, color=colour, label=label)
    for sign in (1.0, -1.0):
        if np.isfinite(threshold):
            axes.axhline(sign * threshold, color=LINE, lw=1.2, ls="--")
    axes.set_xlabel("variables, from the largest size on")
    axes.legend(fontsize=8.5)


def knockoffs_evalues(data: Any) -> Any:
    """Draw mean e-values above the curve of e-BH."""
    found = DerandomizedKnockoffs(fdr=0.1, random_state=0).fit(data.X, data.y)
    figure, panels = canvas(1, 1, SIZE)
    axes = panels[0, 0]
    order = ranked(axes, found.evalues_, data.support)
    raised = control.averaged_level(0.1, 0.05, 50)
    p = found.evalues_.size
    k = np.arange(1, order.size + 1)
    for level, style, text in (
        (raised, "--", rf"$p/(\lambda k)$, $\lambda$ = {raised:.3f}"),
        (0.1, ":", r"$p/(\alpha k)$, $\alpha$ = 0.1"),
    ):
        axes.plot(k, p / (level * k), color=LINE, lw=1.4, ls=style, label=text)
    axes.set_ylim(-3, 1.05 * p)
    axes.set_ylabel("mean e-value of 50 copies")
    axes.legend(fontsize=9)
    return figure


def knockoffs_frequency(data: Any) -> Any:
    """Draw shares of copies with their threshold."""
    found = DerandomizedKnockoffs(pfer=1.0, random_state=0).fit(data.X, data.y)
    figure, panels = canvas(1, 1, SIZE)
    axes = panels[0, 0]
    ranked(axes, found.selection_probabilities_, data.support)
    limit(axes, found.threshold_, f"threshold {found.threshold_:g}")
    axes.set_ylabel("share of 50 copies\nthat select it")
    axes.legend(fontsize=9)
    return figure


def knockoffs_pvalues(data: Any) -> Any:
    """Draw aggregated p-values, their floor, and the line that they have to reach."""
    figure, panels = canvas(1, 1, SIZE)
    axes = panels[0, 0]
    found = AggregatedKnockoffs(fdr=0.1, random_state=0).fit(data.X, data.y)
    order = ranked(axes, -np.log10(found.pvalues_), data.support)
    k = np.arange(1, order.size + 1)
    p = found.pvalues_.size
    for level, style in ((0.1, "--"), (0.35, ":")):
        axes.plot(
            k, -np.log10(level * k / p), color=LINE, lw=1.4, ls=style, label=f"level {level:g}"
        )
    axes.axhline(-np.log10(1.0 / (0.3 * p)), color="0.4", lw=1.0)
    axes.annotate(
        "no p-value is smaller\nthan 1 / (0.3 p)", (1.0, -np.log10(1.0 / (0.3 * p))),
        xycoords=("axes fraction", "data"), ha="right", va="bottom", xytext=(-4, 12),
        textcoords="offset points", fontsize=9, color="0.4",
    )  # fmt: skip
    axes.set_ylim(-0.1, 3.2)
    axes.set_ylabel("-log10 of the aggregated p-value")
    axes.legend(fontsize=9, loc="upper center", ncols=2)
    return figure


def splitting(data: Any) -> Any:
    """Draw mirror statistics of a split, and the inclusion rates over all."""
    found = DataSplitting(fdr=0.1, random_state=0).fit(data.X, data.y)
    figure, panels = canvas(1, 2, SIZE)
    left, right = panels[0]
    selecting = [control.mirror_threshold(M, 0.1) for M in found.statistics_]
    first = int(np.argmax(np.isfinite(selecting)))
    _signed(left, found.statistics_[first], data.support, selecting[first])
    left.set_ylabel(f"mirror statistic, split {first + 1}")
    ranked(right, found.inclusion_rates_, data.support)
    limit(right, control.inclusion_rate_cutoff(found.inclusion_rates_, 0.1), "cutoff")
    right.set_ylabel("inclusion rate, 50 splits")
    return figure


def bolasso(data: Any) -> Any:
    """Draw how often bootstrap samples select, beside the threshold of one."""
    found = Bolasso(random_state=0).fit(data.X, data.y)
    figure, panels = canvas(1, 1, SIZE)
    axes = panels[0, 0]
    ranked(axes, found.selection_probabilities_, data.support)
    limit(axes, 1.0, "every sample")
    axes.set_ylim(-0.03, 1.12)
    axes.set_ylabel("share of 128 bootstrap\nsamples that select it")
    axes.legend(fontsize=9, loc="lower left")
    return figure


def lasso(data: Any) -> Any:
    """Draw coefficients along the penalties, and the penalty of cross-validation."""
    found = LassoSelection(random_state=0).fit(data.X, data.y)
    made = make_data(data.X, data.y, "squared")
    lams = np.geomspace(0.5, 0.005, 80)
    # the objective of `lasso_path_batch` is a sum over rows, that of lam a mean
    rows = np.ones((1, len(made.y)))
    coef = lasso_path_batch(made.X, made.y, len(made.y) * lams, rows).coef[0]
    figure, panels = canvas(1, 1, SIZE)
    axes = panels[0, 0]
    for j in np.argsort(data.support, kind="stable"):
        label = {True: "matters", False: "does not matter"}[bool(data.support[j])]
        axes.plot(
            lams, coef[:, j], lw=1.4 if data.support[j] else 0.8, label=label,
            color=MATTERS if data.support[j] else IDLE,
        )  # fmt: skip
    axes.axvline(found.lam_, color=LINE, lw=1.4, ls="--")
    axes.annotate(
        f"lam = {found.lam_:.3f}, by cross-validation:\n{found.support_.sum()} variables, "
        f"{(found.support_ & ~data.support).sum()} of them false", (found.lam_, 0.97),
        xycoords=("data", "axes fraction"), xytext=(-6, 0), textcoords="offset points",
        ha="right", va="top", color=LINE, fontsize=9,
    )  # fmt: skip
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_ylim(-0.55, 0.65)
    axes.set_xlabel("penalty lam")
    axes.set_ylabel("coefficient")
    handles, labels = axes.get_legend_handles_labels()
    first = {name: handle for handle, name in zip(handles, labels, strict=True)}
    axes.legend(first.values(), first.keys(), fontsize=9, loc="lower left")
    return figure


def ideal(data: Any) -> Any:
    """Draw power at ideal thresholds against the false discovery rate, by the theory."""
    n, p = data.X.shape
    rho = float(data.support.mean())
    model = theory.Model(alpha=n / p, rho=rho, Delta=rho / 3.0)  # signal over noise is 3
    levels = np.linspace(0.01, 0.2, 20)
    figure, panels = canvas(1, 1, SIZE)
    axes = panels[0, 0]
    for name in (one.name for one in catalogue.at_ideal()):
        style = line_style(name)
        power = theory.power(model, name, fdr=levels)
        axes.plot(levels, power, color=style.colour, ls=style.dash, lw=1.6, label=style.label)
    axes.set_xlabel("false discovery rate")
    axes.set_ylabel("share of signals found")
    axes.legend(fontsize=8.5)
    return figure


def auto(data: Any) -> Any:
    """List the rules of the automatic choice, with what they see in this study."""
    facts = Facts(make_data(data.X, data.y, "squared"), data.X, seed_sequence(0))
    seen = (
        f"{facts.units} columns", f"{facts.varying} vary", f"{facts.columns} columns",
        f"{facts.cells:,} cells", f"{facts.rows} rows",
        f"largest correlation {facts.correlation:.2f}", f"ratio {facts.departure:.2f}",
        f"{facts.freedom:.0%} of the variance", "",
    )  # fmt: skip
    asked = (
        "only one column?",
        "no column that varies?",
        f"more than {MOST_COLUMNS:,} columns?",
        f"more than {facts.most_cells:,} cells?",
        f"fewer than {FEWEST_ROWS} rows?",
        f"correlation above {LARGEST_CORRELATION}?",
        f"copies too different (above {WITHDRAWN_RATIO})?",
        f"copies too alike (below {SMALLEST_FREEDOM:.0%})?",
        "every other table",
    )
    figure, panels = canvas(1, 1, (7.0, 3.6))
    axes = panels[0, 0]
    axes.set_axis_off()
    decided = next(i for i, rule in enumerate(RULES) if rule.applies(facts))
    for i, (rule, question, value) in enumerate(zip(RULES, asked, seen, strict=True)):
        y = len(RULES) - i
        colour = LINE if i == decided else "0.25" if i < decided else "0.7"
        weight = "bold" if i == decided else "normal"
        for x, text in ((0.0, f"{i + 1}"), (0.05, question), (0.5, value), (0.76, rule.method)):
            axes.text(x, y, text, color=colour, weight=weight, fontsize=10, va="center")
    for x, text in ((0.05, "the first that applies"), (0.5, "this study"), (0.76, "decides for")):
        axes.text(x, len(RULES) + 1.1, text, fontsize=10, style="italic", va="center")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(0.4, len(RULES) + 1.6)
    return figure


def clump_knockoffs(data: Any) -> Any:
    """Draw selected clumps along the genome, in the study of docs/clumps.md."""
    rng = np.random.default_rng(0)
    theta = np.where(rng.random((800, 8)) < 0.5, 0.98, 0.02)
    law = HaplotypeLaw(np.full(800, 0.1), np.full((800, 8), 1 / 8), theta)
    X = law.simulate(600, random_state=1)
    age = rng.standard_normal(600)
    y = X[:, np.arange(20, 800, 40)].sum(axis=1) + 3.0 * age + rng.standard_normal(600)
    found = ClumpKnockoffs(0.1, resolutions=[8, 40], motifs=12, n_steps=25, random_state=0)
    chromosome = np.repeat(["1", "2"], 400)
    found.fit(X, y, keep=age, segments=chromosome, positions=np.arange(800) * 1000)
    figure = found.plot()
    figure.set_size_inches(*SIZE)
    return figure


def summary_knockoffs(data: Any) -> Any:
    """Draw statistics that are made of Z-scores and correlations of the study."""
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    y = (data.y - data.y.mean()) / data.y.std()
    n = len(y)
    found = SummaryKnockoffs(fdr=0.1, random_state=0)
    found.fit(X.T @ y / np.sqrt(n), n, [X.T @ X / n])
    figure, panels = canvas(1, 1, SIZE)
    _signed(panels[0, 0], found.statistics_, data.support, found.threshold_)
    panels[0, 0].set_ylabel("W: marker ahead of its copy")
    return figure


PICTURES: dict[str, Callable[[Any], Any]] = {
    "auto": auto,
    "stability-fdr": stability_fdr,
    "stability-pfer": stability_pfer,
    "stability-integrated": stability_integrated,
    "knockoffs": knockoffs,
    "knockoffs-evalues": knockoffs_evalues,
    "knockoffs-frequency": knockoffs_frequency,
    "knockoffs-pvalues": knockoffs_pvalues,
    "splitting": splitting,
    "bolasso": bolasso,
    "lasso": lasso,
    "ideal": ideal,
    "clump-knockoffs": clump_knockoffs,
    "summary-knockoffs": summary_knockoffs,
}


def main() -> None:
    """Write the pictures that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="pages to draw for; none: all")
    asked = parser.parse_args().names or list(PICTURES)
    data = study()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in asked:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            figure = PICTURES[name](data)
        save(figure, [FOLDER / f"{name}.png"])


if __name__ == "__main__":
    main()
