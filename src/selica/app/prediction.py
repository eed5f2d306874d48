"""All methods of the theory in one study: curves, points at the level, what is behind them."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from selica import theory
from selica._core.errors import BoundaryWarning, ConvergenceWarning
from selica._core.scaling import noise_from_r2, penalty_of_data, ratios
from selica.plots.style import LineStyle, line_style

RATES = (1.0, 2.0)
"""Resampling rates of stability selection that are shown."""
_RUNS: tuple[tuple[str, float | None], ...] = (
    ("stability", RATES[1]),
    ("stability", RATES[0]),
    ("derandomized", None),
    ("knockoff", None),
    ("thresholded_lasso", None),
    ("lasso", None),
    ("bayes", None),
)
STYLES: tuple[LineStyle, ...] = tuple(
    line_style(method, rate, 0 if rate is None else RATES.index(rate)) for method, rate in _RUNS
)
_ORDER = (
    *("q", "m", "chi", "v", "chi_tilde", "v_tilde"),
    *("Q_hat", "m_hat", "chi_hat", "v_hat", "v_tilde_hat"),
)
# Closer where curves rise.
_LEVELS = np.concatenate([np.linspace(0.002, 0.08, 16), np.linspace(0.1, 0.5, 17)])


class Study(NamedTuple):
    """What the sliders say."""

    n_samples: int
    n_features: int
    n_signals: int
    r2: float

    @property
    def model(self) -> theory.Model:
        """In the units of the theory."""
        alpha, rho = ratios(self.n_samples, self.n_features, self.n_signals)
        return theory.Model(float(alpha), float(rho), float(noise_from_r2(rho, self.r2)))


class Penalties(NamedTuple):
    """The penalties that predict best: the slow part, which no FDR level changes."""

    lasso: float
    stability: tuple[float, ...]
    knockoff: float
    notes: tuple[str, ...]

    def of(self, method: str, rate: float | None) -> float:
        """Of one method; the lasso itself moves its own."""
        if rate is not None:
            return self.stability[RATES.index(rate)]
        return self.lasso if method in ("lasso", "thresholded_lasso") else self.knockoff


class Predicted(NamedTuple):
    """Power of every method against the FDR, and everything at one level."""

    curves: list[dict[str, Any]]
    methods: list[dict[str, Any]]
    settings: list[dict[str, Any]]
    order_parameters: list[dict[str, Any]]
    notes: tuple[str, ...]


def penalties(study: Study) -> Penalties:
    """Penalties of all methods."""
    model = study.model
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lasso = float(theory.optimal_lam(model, "lasso"))
        stability = np.asarray(theory.optimal_lam(model, "stability", RATES))
        knockoff = float(theory.optimal_lam(model, "knockoff"))
    return Penalties(lasso, tuple(stability.tolist()), knockoff, _said(caught))


def predict(study: Study, fdr: float, penalty: Penalties) -> Predicted:
    """Every method: its power at all levels; at one, what it finds and what is behind it."""
    model = study.model
    p, k = study.n_features, study.n_signals
    out = Predicted([], [], [], [], ())
    levels = np.append(_LEVELS, fdr)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", BoundaryWarning)  # of levels that nobody asked for
        for (method, rate), style in zip(_RUNS, STYLES, strict=True):
            lam, mu_B = penalty.of(method, rate), rate or 1.0
            points = theory.operating_point(model, method, levels, lam, mu_B)
            out.curves.extend(
                {"method": style.label, "fdr": level, "power": tpr}
                for level, tpr in zip(_LEVELS.tolist(), points.tpr.tolist(), strict=False)
            )
            threshold, tpr, fpr = (
                float(part[-1]) for part in (points.threshold, points.tpr, points.fpr)
            )
            kind = str(np.broadcast_to(points.threshold_name, levels.shape)[-1])
            # without one that keeps the level the lasso selects nothing; the ceiling has none
            lam = threshold if method == "lasso" else lam
            used = method != "bayes" and np.isfinite(lam)
            sizes = (study.n_samples, p, model.rho, model.Delta, mu_B)
            name = {"method": style.label}
            out.methods.append(
                name
                | {
                    "power": f"{tpr:.3f}",
                    "true": f"{k * tpr:.1f}",
                    "false": f"{(p - k) * fpr:.1f}",
                }
            )
            errors = (points.solution.prediction_error, points.solution.ensemble_error)
            single, average = (_last(part) for part in errors)
            out.settings.append(
                name
                | {
                    "threshold": f"{kind} {threshold:.4g}",
                    "lam": lam if used else None,
                    "lam on data": float(penalty_of_data(lam, *sizes)) if used else None,
                    "error, one fit": single,
                    "error, average": average,
                }
            )
            out.order_parameters.append(
                name | {part: _last(getattr(points.solution, part, None)) for part in _ORDER}
            )
    return out._replace(notes=tuple(dict.fromkeys((*penalty.notes, *_said(caught)))))


def _last(values: Any) -> float | None:
    """Of one level, the last, where there are several; the only one otherwise."""
    return None if values is None else float(np.ravel(values)[-1])


def _said(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    kinds = (BoundaryWarning, ConvergenceWarning)
    return tuple(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, kinds)))
