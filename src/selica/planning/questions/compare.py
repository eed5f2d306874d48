"""All methods in one study, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selica._core.effects import Effects
from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.validation import number, short
from selica._core.wording import signals
from selica.planning.predict.ceiling import CEILING, ceiling
from selica.planning.predict.methods import METHODS, SETTINGS, Prediction, predict
from selica.planning.questions.recommendation import RULE, Candidate, Recommendation, recommend
from selica.planning.study import Study
from selica.plots import plot_comparison

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

NOTHING_FOUND = (
    "No method that sets its threshold by the data finds anything in such a study and keeps the "
    "level."
)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Result):
    """What every method is expected to do in a study; `print` it for a table.

    Attributes
    ----------
    study : Study
    fdr : float
        Level asked for.
    predictions : tuple of Prediction
        Each method at its best settings, and as it comes.
    ceiling : Prediction
        What the Bayes-optimal selector finds in a study of this size.

    Examples
    --------
    >>> from selica.planning import compare_methods
    >>> found = compare_methods(300, 200, 40, r2=0.8, fdr=0.1, methods=["knockoff", "lasso"])
    >>> found.best.method, round(found.ceiling.power, 2)
    ('knockoff', 0.63)
    """

    study: Study
    fdr: float
    predictions: tuple[Prediction, ...]
    ceiling: Prediction

    @property
    def recommendation(self) -> Recommendation[Prediction]:
        """The method to take, another where it may be refused, and what was left out and why.

        The most powerful of the methods that set their threshold by the data and whose predicted
        false discovery rate is at most the level, to two decimals.
        """
        return recommend([Candidate(one, one, self.fdr, one.power) for one in self.predictions])

    @property
    def best(self) -> Prediction | None:
        """The recommended method; None where no method finds anything and keeps the level."""
        return self.recommendation.best

    def one(self, method: str, settings: str = "best") -> Prediction:
        """The prediction of a method."""
        for found in self.predictions:
            if (found.method, found.settings) == (method, settings):
                return found
        known = ", ".join(f"{p.method} ({p.settings})" for p in self.predictions)
        raise ArgumentError(f"method must be one of those predicted, {known}; got {method!r}.")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text."""
        s = self.study
        sizes = {name: getattr(s, name) for name in ("n_samples", "n_features", "n_signals")}
        strengths = {"r2": s.r2, "snr": s.snr, "effect_size": s.effect_size}
        rows = [one.to_dict() for one in self.predictions]
        return (
            sizes
            | strengths
            | {"effects": repr(s.effects), "fdr": self.fdr, "methods": rows}
            | {"ceiling": self.ceiling.to_dict()}
        )

    def to_frame(self) -> pd.DataFrame:
        """One row for each prediction (needs pandas)."""
        import pandas as pd

        return pd.DataFrame([one.to_dict() for one in self.predictions])

    def __str__(self) -> str:
        s = self.study
        lines = [
            f"{s.n_samples} samples, {s.n_features} variables, {signals(s.n_signals)} "
            f"explaining {100.0 * s.r2:.3g} % of the variance; FDR {self.fdr:g}",
            "",
            f"{'method':<28}{'settings':<10}{'power':>6}{'FDR':>7}{'found':>7}{'false':>7}"
            "  controls",
        ]
        lines += [
            f"{label:<28}{settings:<10}{one.power:>6.2f}{one.fdr:>7.3f}"
            f"{one.true_selections:>7.1f}{one.false_selections:>7.1f}  {one.promise}"
            for label, settings, one in (
                *((METHODS[one.method].label, one.settings, one) for one in self.predictions),
                (CEILING, "", self.ceiling),
            )
        ]
        best, _, left_out = self.recommendation
        chosen = (
            NOTHING_FOUND
            if best is None
            else f"Most power: {METHODS[best.method].label}, {best.settings} settings: {best.code}"
        )
        lines += ["", chosen, RULE]
        lines += [
            f"Left out: {METHODS[one.method].label}, {one.settings} settings: {reason}."
            for one, reason in left_out
        ]
        return "\n".join([*lines, s.assumptions])

    def __repr__(self) -> str:
        best = self.best
        told = "none recommended" if best is None else (
            f"best {best.method}, power {best.power:.3g}: {best.code}"
        )  # fmt: skip
        return f"Comparison({len(self.predictions)} predictions; {told})"

    def plot(self) -> Figure:
        """Power of each method at its best, and as it comes (needs matplotlib)."""
        return plot_comparison(
            [METHODS[one.method].label for one in self.predictions],
            [one.settings for one in self.predictions],
            [one.power for one in self.predictions],
            [one.fdr for one in self.predictions],
            self.fdr,
            self.ceiling.power,
        )


def compare_methods(
    n_samples: int,
    n_features: int,
    n_signals: int,
    *,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    fdr: float = 0.1,
    effects: Effects | None = None,
    methods: Sequence[str] | None = None,
) -> Comparison:
    """What every method is expected to find in a study with independent columns.

    Parameters
    ----------
    n_samples, n_features, n_signals : int
        Rows, variables, and how many of the variables have an effect.
    r2, snr, effect_size : float
        Exactly one of them: share of the variance of y that the signals explain; variance of the
        signal over that of the noise; root mean square of the non-zero coefficients of standardised
        columns, in standard deviations of the noise.
    fdr : float
        False discovery rate asked of the methods.
    effects : Effects, optional
        Law of the non-zero effects, such as `theory.PointEffects()`; Gaussian by default.
    methods : sequence of str, optional
        Some of `planning.METHODS`; all by default.

    Returns
    -------
    Comparison

    Notes
    -----
    "best" are the most powerful penalty and resampling rate for a study like this, "default" what
    the selector does when it is told only the level. Bounds on the number of false selections
    (PFER) are set to the level times the expected number of selections. Methods whose threshold is
    known are no procedures: the truth sets it. They show what there is to gain; the ceiling shows
    what there is at all, in a study of this size.

    Examples
    --------
    >>> from selica import planning
    >>> found = planning.compare_methods(300, 200, 40, r2=0.8, methods=["knockoff", "lasso"])
    >>> found.best.method
    'knockoff'
    >>> 0.5 < found.one("knockoff").power < 0.6
    True
    """
    study = Study.of(
        n_samples, n_features, n_signals, r2=r2, snr=snr, effect_size=effect_size, effects=effects
    )
    level = fdr_level(fdr)
    chosen = method_names(methods)
    found = [predict(study, name, level, setting) for name in chosen for setting in SETTINGS]
    return Comparison(study, level, tuple(found), ceiling(study, level))


def fdr_level(fdr: float) -> float:
    """A checked level."""
    return number("fdr", fdr, at_least=1e-3, at_most=0.5)


def method_names(methods: Sequence[str] | str | None, calibrated: bool = False) -> tuple[str, ...]:
    """Checked names of methods; by default all, or all that are calibrated."""
    if methods is None:
        return tuple(m for m, known in METHODS.items() if known.calibrated or not calibrated)
    names = (methods,) if isinstance(methods, str) else methods
    if not isinstance(names, list | tuple) or not names:
        raise ArgumentError(f"methods must be a list of names; got {short(methods)}.")
    for name in names:
        if not isinstance(name, str) or name not in METHODS:
            raise ArgumentError.choice("methods", name, METHODS)
    return tuple(dict.fromkeys(names))
