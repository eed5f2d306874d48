"""All methods of the theory in one study: curves, points at a level, what is behind them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from selica import catalogue, theory
from selica._core.effects import effects_of
from selica._core.errors import BoundaryWarning, ConvergenceWarning
from selica._core.scaling import noise_from_r2, penalty_of_data, ratios
from selica._core.types import Array
from selica.app import charts
from selica.app.charts import Axis, Chart, ChartRule, Mark
from selica.plots.style import LineStyle, line_style
from selica.theory.selection.fits import predicting_penalties
from selica.theory.selection.power import point_of
from selica.theory.solve import solve_method

RATES = (1.0, 2.0)
"""Resampling rates of stability selection that are shown."""
STABILITY = "stability-ideal"
"""The method that is shown at several resampling rates."""
_SOLVED = {"lasso": "lasso", "stability": STABILITY, "knockoff": "knockoffs-ideal"}
"""A method of each kind of equations; all others of the kind look at the same fits."""
_EXTRA = ("lasso", "bayes")
"""Methods that look at no fit with a fixed penalty: one moves its own, the other has none."""


def _styles() -> Iterator[LineStyle]:
    """Iterate over the lines of the tab; rates of stability selection with the largest first."""
    for one in catalogue.at_ideal():
        if one.name == STABILITY:
            yield from (line_style(STABILITY, rate, RATES.index(rate)) for rate in reversed(RATES))
        else:
            yield line_style(one.name)


STYLES: tuple[LineStyle, ...] = tuple(_styles())
"""Lines of the page, in the order of its legend."""
OVERLAPS = ("q", "m", "chi", "v", "chi_tilde", "v_tilde")
"""Order parameters in the table of a prediction."""
CONJUGATES = ("Q_hat", "m_hat", "chi_hat", "v_hat", "v_tilde_hat")
"""Their conjugate parameters."""
# Every position of the slider, so that moving it asks for nothing new.
_LEVELS = np.array([0.002, 0.005, *np.round(np.linspace(0.01, 0.5, 50), 2)])
# Of these, few that show the curves: points take time to draw.
_DRAWN = np.isin(
    _LEVELS, [0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.07, *np.round(np.linspace(0.1, 0.5, 9), 2)]
)


class PageStudy(NamedTuple):
    """A study as the sliders of the page set it."""

    n_samples: int
    n_features: int
    n_signals: int
    r2: float
    effects: str = "gaussian"
    """Name of a distribution, or a list of effects."""

    @property
    def model(self) -> theory.Model:
        """The study in the units of the theory."""
        alpha, rho = ratios(self.n_samples, self.n_features, self.n_signals)
        noise = float(noise_from_r2(rho, self.r2))
        return theory.Model(float(alpha), float(rho), noise, effects_of(self.effects))


class Line(NamedTuple):
    """One method at all levels."""

    label: str
    method: str
    mu_B: float
    lam: Array
    """The penalty at each level: of the theory, in which the lasso moves its own."""
    tpr: Array
    fpr: Array
    threshold: Array
    kind: Array
    """Names of the thresholds."""
    parts: dict[str, Array]
    """Errors and order parameters, those there are."""


class Predicted(NamedTuple):
    """Every method of a study, at all levels."""

    study: PageStudy
    levels: Array
    lines: tuple[Line, ...]
    notes: tuple[str, ...]

    def chart(self, setting: str, fdr: float, marks: Sequence[Mark] = ()) -> Chart:
        """Return the power against the level.

        Parameters
        ----------
        setting : str
            The study in words.
        fdr : float
            The level that is asked for.
        marks : sequence of Mark
            What procedures reach.
        """
        drawn = np.isin(self.levels, _LEVELS[_DRAWN])
        x = self.levels[drawn].tolist()
        lines = [
            charts.ChartLine(style, x, line.tpr[drawn].tolist())
            for style, line in zip(STYLES, self.lines, strict=True)
        ]
        return Chart(
            "selica-ideal", "Ideal: power at thresholds that nobody knows", setting,
            Axis("false discovery rate", domain=(0.0, 0.5)), charts.POWER, lines,
            rules=[ChartRule("x", fdr, f"FDR {fdr:g}")], marks=marks,
            marks_label="what procedures reach, at the FDR that they have",
        )  # fmt: skip

    def found(self, fdr: float) -> list[dict[str, Any]]:
        """Return what every method finds at one of the levels, with the most powerful first."""
        at, p, k = self._at(fdr), self.study.n_features, self.study.n_signals
        return [
            {
                "method": line.label,
                "power": f"{line.tpr[at]:.3f}",
                "found": f"{k * line.tpr[at]:,.1f}",
                "false": f"{(p - k) * line.fpr[at]:,.1f}",
            }
            for line in sorted(self.lines, key=lambda line: -line.tpr[at])
        ]

    def settings(self, fdr: float) -> list[dict[str, Any]]:
        """Return penalties, thresholds and errors at one of the levels."""
        at, n, p = self._at(fdr), self.study.n_samples, self.study.n_features
        model, rows = self.study.model, []
        for line in self.lines:
            lam = float(line.lam[at])
            # without one that keeps the level the lasso selects nothing; the ceiling has none
            used = line.method != "bayes" and np.isfinite(lam)
            sizes = (n, p, model.rho, model.Delta, line.mu_B)
            rows.append(
                {
                    "method": line.label,
                    "threshold": f"{line.kind[at]} {line.threshold[at]:.4g}",
                    "lam": lam if used else None,
                    "lam on data": float(penalty_of_data(lam, *sizes)) if used else None,
                    "error, one fit": float(line.parts["prediction_error"][at]),
                    "error, average": float(line.parts["ensemble_error"][at]),
                }
            )
        return rows

    def parameters(self, names: tuple[str, ...], fdr: float) -> list[dict[str, Any]]:
        """Return order parameters, or their conjugates, at one of the levels."""
        at = self._at(fdr)
        return [
            {"method": line.label}
            | {name: float(line.parts[name][at]) if name in line.parts else None for name in names}
            for line in self.lines
        ]

    def _at(self, fdr: float) -> int:
        return int(np.argmin(np.abs(self.levels - fdr)))


def known(fdr: float) -> bool:
    """Return whether a level is among those that are always predicted."""
    return bool(np.min(np.abs(_LEVELS - fdr)) < 1e-9)


def predict(study: PageStudy, more: float | None = None) -> Predicted:
    """Predict every method at all levels, and at one more; at the penalty that predicts best."""
    levels = _LEVELS if more is None else np.sort(np.append(_LEVELS, more))
    model = study.model
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        penalty = predicting_penalties(model, RATES)
        warnings.simplefilter("ignore", BoundaryWarning)  # of levels that nobody asked for
        fits = {
            kind: solve_method(model, _SOLVED[kind], lam, RATES) for kind, lam in penalty.items()
        }
        lines = []
        for one in catalogue.at_ideal():
            if one.name in _EXTRA:
                points = theory.operating_point(model, one.name, levels[:, None])
            else:
                points = point_of(fits[str(one.equations)], one.name, levels[:, None])
            lines += _lines(points, RATES if one.name == STABILITY else (1.0,))
    kinds = (BoundaryWarning, ConvergenceWarning)
    notes = dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, kinds))
    ordered = {line.label: line for line in lines}
    return Predicted(study, levels, tuple(ordered[s.label] for s in STYLES), tuple(notes))


def _lines(points: theory.OperatingPoint, rates: tuple[float, ...]) -> list[Line]:
    """Return the lines of a method, one for each of its rates."""
    method, solution, shape = points.method, points.solution, (points.tpr.shape[0], len(rates))
    names = ("prediction_error", "ensemble_error", *OVERLAPS, *CONJUGATES)
    named = {
        "lam": points.threshold if method == "lasso" else points.lam,
        "tpr": points.tpr,
        "fpr": points.fpr,
        "threshold": points.threshold,
        "kind": points.threshold_name,
    }
    parts = {name: getattr(solution, name) for name in names if hasattr(solution, name)}
    labels = [line_style(method, rate if method == STABILITY else None).label for rate in rates]
    return [
        Line(
            label, method, rate,
            **{name: np.broadcast_to(value, shape)[:, k] for name, value in named.items()},
            parts={name: np.broadcast_to(value, shape)[:, k] for name, value in parts.items()},
        )
        for k, (label, rate) in enumerate(zip(labels, rates, strict=True))
    ]  # fmt: skip
