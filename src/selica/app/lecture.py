"""One point of the theory of stability selection, as a lecture shows it: fields, areas, rates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from selica import theory
from selica._core.effects import effects_of
from selica._core.types import Array, BoolArray
from selica.app.charts import Area, Axis, Chart, ChartLine, ChartRule, Mark
from selica.plots.style import LineStyle
from selica.theory.selection.rates import threshold_of_frequency

_NULL = "#D55E00"
"""Colour of irrelevant variables."""
_SIGNAL = "#0072B2"
"""Colour of signals."""
_BOUND = "#CC79A7"
"""Colour of the false discovery rate."""
_HALF = 160
"""Points of a curve on either side of zero."""
_REACH = 4.0
"""Standard deviations of the widest field that are shown."""
_CUT = 4.0
"""How much higher than signals irrelevant variables are drawn, at most."""
_THRESHOLDS = np.concatenate([np.linspace(0.0, 0.96, 49), 1.0 - np.geomspace(0.03, 1e-4, 12)])
"""Thresholds at which rates are drawn."""
OVERLAPS = ("q", "m", "chi", "v")
"""Order parameters, in the article's order."""
CONJUGATES = ("Q_hat", "m_hat", "chi_hat", "v_hat")
"""Their conjugates."""


class LectureSetting(NamedTuple):
    """Where in the theory we are."""

    alpha: float
    rho: float
    Delta: float
    lam: float
    mu_B: float
    Pi_th: float
    effects: str = "gaussian"

    def __str__(self) -> str:
        law = effects_of(self.effects).label
        words = f"{law}, α = {self.alpha:g}, ρ = {self.rho:g}, "  # noqa: RUF001
        words += f"Δ = {self.Delta:g}, λ = {self.lam:g}, μ_B = {self.mu_B:g}"
        return f"{words}, Π_th = {self.Pi_th:g}"


class Lecture:
    """The solution at a setting with its pictures.

    Parameters
    ----------
    setting : LectureSetting
    """

    def __init__(self, setting: LectureSetting) -> None:
        self.setting = setting
        model = theory.Model(setting.alpha, setting.rho, setting.Delta, effects_of(setting.effects))
        self.solution = theory.solve_stability(model, setting.lam, setting.mu_B)

    @cached_property
    def edge(self) -> float:
        """The size of a field at which its selection probability is the threshold."""
        s = self.solution
        return float(threshold_of_frequency(np.asarray(self.setting.Pi_th), s.v_hat, s.lam))

    @cached_property
    def rates(self) -> theory.Rates:
        """Rates at the threshold."""
        return self.solution.rates(self.setting.Pi_th)

    def densities(self, g: Array) -> tuple[Array, Array]:
        """Return how many irrelevant variables, and how many signals, have a field near g.

        Both are shares of all variables: together they enclose an area of one.
        """
        s, rho = self.solution, self.setting.rho
        null = (1.0 - rho) * _normal(g, 0.0, s.chi_hat)
        mean, sd, weight = s.model.signals
        parts = _normal(g[:, None], s.m_hat * mean, s.m_hat**2 * sd**2 + s.chi_hat)
        return null, rho * (parts @ weight)

    def fields(self) -> Chart:
        """Return the fields of signals and of irrelevant variables, with what is selected."""
        s, edge = self.solution, self.edge
        mean, sd, _ = s.model.signals
        wide = np.sqrt(s.m_hat**2 * float(np.max(mean**2 + sd**2)) + s.chi_hat)
        reach = max(min(_REACH * float(wide), 3.0 * edge + 6.0 * float(np.sqrt(s.chi_hat))), 1e-9)
        reach = max(reach, 1.25 * edge if np.isfinite(edge) else 0.0)
        g = np.linspace(-reach, reach, 2 * _HALF + 1)
        if edge < reach:  # areas begin where the threshold is
            g = np.unique(np.append(g, (-edge, edge)))
        null, signal = self.densities(g)
        highest = float(signal.max())
        top = 1.08 * min(max(float(null.max()), highest), _CUT * highest)
        chance = top / 1.08 * np.asarray(s.selection_probability(g))
        lines = [
            ChartLine(LineStyle("irrelevant variables", _NULL, "solid", "o"), g, null),
            ChartLine(LineStyle("signals", _SIGNAL, "solid", "o"), g, signal),
            ChartLine(
                LineStyle("probability Π(g), 0 to 1", "#8a949e", (0, (2, 1.5)), "o"), g, chance
            ),
        ]
        rates = self.rates
        named = {
            f"selected signals: TPR {rates.tpr:.3f} of the signals": (_SIGNAL, signal),
            f"false selections: FDR {rates.fdr:.3f} of the selected": (_NULL, null),
        }
        areas = [
            Area(label if side else "", colour, g[part], height[part])
            for label, (colour, height) in named.items()
            for side, part in enumerate(_beyond(g, edge))
        ]
        rules = [ChartRule("x", edge, "g*"), ChartRule("x", -edge, "\N{MINUS SIGN}g*", back=True)]
        return Chart(
            "selica-fields", "Fields of the variables, and what the threshold selects",
            str(self.setting), Axis("field g that the data fix", domain=(-reach, reach)),
            Axis("share of variables", domain=(0.0, top), bare=True), lines, areas=areas,
            rules=rules if np.isfinite(edge) else (), at_ends=False, height=280,
        )  # fmt: skip

    def thresholds(self) -> Chart:
        """Return the rates at all thresholds."""
        found, now = self.solution.rates(_THRESHOLDS), self.rates
        at = self.setting.Pi_th
        parts = {
            "TPR": (_SIGNAL, found.tpr, now.tpr),
            "FPR": (_NULL, found.fpr, now.fpr),
            "FDR": (_BOUND, found.fdr, now.fdr),
        }
        lines = [
            ChartLine(LineStyle(name, colour, "solid", "o"), _THRESHOLDS, values)
            for name, (colour, values, _) in parts.items()
        ]
        marks = [Mark(at, float(value), colour) for colour, _, value in parts.values()]
        return Chart(
            "selica-rates", "Rates at every threshold", str(self.setting),
            Axis("threshold Π_th", domain=(0.0, 1.0)), Axis("rate", domain=(0.0, 1.0)),
            lines, rules=[ChartRule("x", at, f"Π_th {at:g}")], marks=marks, height=260,
        )  # fmt: skip

    def parameters(self) -> Iterator[dict[str, str]]:
        """Iterate over order parameters with their conjugates, as rows of a table."""
        names = {"chi": "χ", "Q_hat": "Q̂", "m_hat": "m̂", "chi_hat": "χ̂", "v_hat": "v̂"}
        for one, other in zip(OVERLAPS, CONJUGATES, strict=True):
            yield {
                "order parameter": names.get(one, one),
                "value": f"{getattr(self.solution, one):.4g}",
                "conjugate": names[other],
                "its value": f"{getattr(self.solution, other):.4g}",
            }


def _normal(x: Array, mean: Array | float, variance: Array | float) -> Array:
    return np.exp(-0.5 * (x - mean) ** 2 / variance) / np.sqrt(2.0 * np.pi * variance)


def _beyond(g: Array, edge: float) -> Iterator[BoolArray]:
    """Iterate over the fields below and above the threshold, which is selected."""
    for part in (g <= -edge, g >= edge):
        if part.any():
            yield part
