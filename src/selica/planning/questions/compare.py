"""All methods in one study, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selica._core.effects import Effects
from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.types import Progress
from selica._core.validation import reporter
from selica._core.wording import signals
from selica.planning.predict.ceiling import ceiling
from selica.planning.predict.copy_ceiling import copy_ceiling
from selica.planning.predict.prediction import (
    SETTINGS,
    Prediction,
    check_level,
    current_name,
    predict,
    reporting,
)
from selica.planning.questions.listed import listed
from selica.planning.questions.recommendation import RULE, Candidate, Recommendation, recommend
from selica.planning.responses import StudyResponse
from selica.planning.study import Study
from selica.plots import plot_comparison

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

NOTHING_FOUND = (
    "No method that sets its threshold from the data finds anything in such a study and keeps the "
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
    copy_ceiling : Prediction or None
        What the best statistic of one knockoff copy finds; None where there is no theory for it.

    Examples
    --------
    >>> from selica.planning import compare_methods
    >>> found = compare_methods(300, 200, 40, r2=0.8, fdr=0.1, methods=["knockoffs", "lasso"])
    >>> found.best.method, round(found.ceiling.power, 2)
    ('knockoffs', 0.63)
    """

    study: Study
    fdr: float
    predictions: tuple[Prediction, ...]
    ceiling: Prediction
    copy_ceiling: Prediction | None = None

    @property
    def ceilings(self) -> tuple[Prediction, ...]:
        """The best possible, and where it is known the best possible with one copy."""
        return (self.ceiling,) if self.copy_ceiling is None else (self.ceiling, self.copy_ceiling)

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
        """Return the prediction of a method.

        Parameters
        ----------
        method : str
        settings : {"best", "default"}
        """
        known = {(found.method, found.settings): found for found in self.predictions}
        name = current_name(method)
        if (name, settings) not in known:
            names = ", ".join(f"{one} ({setting})" for one, setting in known)
            raise ArgumentError(f"method must be one of those predicted, {names}; got {method!r}.")
        return known[name, settings]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and text."""
        s = self.study
        sizes = {name: getattr(s, name) for name in ("n_samples", "n_features", "n_signals")}
        strengths = {"r2": s.r2, "snr": s.snr, "effect_size": s.effect_size}
        rows = [one.to_dict() for one in self.predictions]
        return (
            sizes
            | strengths
            | {"effects": repr(s.effects), "fdr": self.fdr, "methods": rows}
            | {"ceiling": self.ceiling.to_dict()}
            | {"copy_ceiling": None if self.copy_ceiling is None else self.copy_ceiling.to_dict()}
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each prediction (needs pandas)."""
        import pandas as pd

        return pd.DataFrame([one.to_dict() for one in self.predictions])

    def __str__(self) -> str:
        s = self.study
        width = 2 + max(len(one.label) for one in (*self.predictions, *self.ceilings))
        lines = [
            f"{s.n_samples} samples, {s.n_features} variables, {signals(s.n_signals)} "
            f"explaining {100.0 * s.r2:.3g} % of {s.response.explained}; FDR {self.fdr:g}",
            "",
            f"{'method':<{width}}{'settings':<10}{'power':>6}{'FDR':>7}{'found':>7}{'false':>7}"
            "  controls",
        ]
        lines += [
            f"{one.label:<{width}}{settings:<10}{one.power:>6.2f}{one.fdr:>7.3f}"
            f"{one.true_selections:>7.1f}{one.false_selections:>7.1f}  {one.controls}"
            for settings, one in (
                *((one.settings, one) for one in self.predictions),
                *(("", one) for one in self.ceilings),
            )
        ]
        best, _, left_out = self.recommendation
        chosen = (
            NOTHING_FOUND
            if best is None
            else f"Most power: {best.label}, {best.settings} settings: {best.code}"
        )
        lines += ["", chosen, RULE]
        lines += [
            f"Left out: {one.label}, {one.settings} settings: {reason}." for one, reason in left_out
        ]
        lines += [
            f"Note: {one.label}, {one.settings} settings: {note}"
            for one in self.predictions
            for note in one.notes
        ]
        return "\n".join([*lines, s.assumptions])

    def __repr__(self) -> str:
        best = self.best
        chosen = "none recommended" if best is None else (
            f"best {best.method}, power {best.power:.3g}: {best.code}"
        )  # fmt: skip
        return f"Comparison({len(self.predictions)} predictions; {chosen})"

    def plot(self) -> Figure:
        """Draw the power of each method at its best, and as it comes (needs matplotlib)."""
        return plot_comparison(
            [one.method for one in self.predictions],
            [one.settings for one in self.predictions],
            [one.power for one in self.predictions],
            [one.fdr for one in self.predictions],
            self.fdr,
            self.ceiling.power,
        )


def compare_methods(
    n_samples: int,
    n_features: int,
    n_signals: int | None = None,
    *,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    fdr: float = 0.1,
    effects: Effects | None = None,
    response: StudyResponse | None = None,
    covariance: Any = None,
    variable: float | None = None,
    methods: Sequence[str] | str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Predict what every method finds in a study.

    Parameters
    ----------
    n_samples, n_features, n_signals : int
        Rows, variables, and how many of the variables have an effect; the last may be left out
        where `effects` lists them.
    r2, snr, effect_size : float
        Exactly one of them, or none where `effects` have sizes: share of the variance that the
        signals explain (heritability, for one); variance of the linear predictor, over that of the
        noise for a numeric response; root mean square of the non-zero coefficients of standardised
        columns, in standard deviations of the noise, log odds, log rates or log hazards.
    fdr : float
        False discovery rate asked of the methods.
    effects : Effects, optional
        Distribution of the non-zero effects, such as `theory.PointEffects()`, or effects with their
        sizes: `planning.Betas([0.3, 0.2])`, `OddsRatios`, `RateRatios`, `HazardRatios`. Gaussian by
        default.
    response : StudyResponse, optional
        `planning.Numeric()` by default, `Binary(prevalence, cases)`, `Counts(rate)` or
        `Survival(events)`.
    covariance : tuple, array or Covariance, optional
        How columns are correlated, such as ("ar1", 0.5), ("block", 0.5, 10), a matrix or
        `planning.covariance_of(X)`; independent by default. With a response that is not numeric,
        or `theory.PlacedEffects`, methods are run on simulated data sets, which takes up to
        minutes; so it is for at most 500 columns.
    variable : float, optional
        Effect of one variable whose probability to be found is asked for (`variable_power` of a
        prediction): in the unit of `effects` where these have sizes, otherwise in that of
        `effect_size`.
    methods : str or sequence of str, optional
        Some of `planning.METHODS`; all that have a theory for such a study by default.
    progress : callable, optional
        ``progress(done, total)``, in predictions.

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
    >>> found = planning.compare_methods(300, 200, 40, r2=0.8, methods=["knockoffs", "lasso"])
    >>> found.best.method
    'knockoffs'
    >>> 0.5 < found.one("knockoffs").power < 0.6
    True
    """
    study = Study.of(
        n_samples, n_features, n_signals, r2=r2, snr=snr, effect_size=effect_size, effects=effects,
        response=response, covariance=covariance, variable=variable,
    )  # fmt: skip
    level, names = check_level(fdr), listed(study, methods)
    reporter(progress)
    asked = [(name, setting) for name in names for setting in SETTINGS]
    found = [predict(study, name, level, setting) for name, setting in reporting(asked, progress)]
    top = ceiling(study.with_independent_columns(), level)
    of_copies = copy_ceiling(study, level)
    return Comparison(study, level, tuple(found), top, of_copies)
