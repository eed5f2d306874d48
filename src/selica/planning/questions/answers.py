"""Answers to inverse questions, method by method."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from selica._core.effects import Effects
from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.types import Array
from selica._core.wording import signals
from selica.planning.predict.prediction import Prediction, current_name
from selica.planning.questions.recommendation import RULE, Candidate, Recommendation, recommend
from selica.planning.study import Study
from selica.plots import plot_requirement

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


class _Better(NamedTuple):
    """Which end of a quantity is the better one."""

    sign: float
    """By which larger is better."""
    superlative: str


_BETTER = {
    "samples": _Better(-1.0, "Fewest samples"),
    "effect size": _Better(-1.0, "Smallest effects"),
    "signals": _Better(1.0, "Most signals"),
    "FDR level": _Better(-1.0, "Smallest level"),
}
"""By the quantity that is asked for."""
_BEYOND = 4.0
"""How far a figure goes beyond the largest answer: a method without one does not stretch it."""


@dataclass(frozen=True, slots=True, repr=False)
class RequiredValue(Result):
    """What one method needs to reach the power asked for.

    Attributes
    ----------
    method : str
    value : float, int or None
        The answer; None where no value that was tried reaches the power.
    prediction : Prediction
        At the answer, or where the power was largest.
    x, power : arrays
        The values that were tried, rising, and the power at each of them.

    Examples
    --------
    >>> from selica.planning import required_samples
    >>> found = required_samples(0.5, n_features=200, n_signals=20, r2=0.8, method="stability-fdr")
    >>> answer = found.one("stability-fdr")
    >>> answer.value, round(answer.prediction.power, 2)
    (131, 0.5)
    """

    method: str
    value: float | None
    prediction: Prediction
    x: Array
    power: Array

    _columns = ("method", "value")

    def to_dict(self) -> dict[str, Any]:
        """Return the answer with the prediction at it."""
        return {"value": self.value} | self.prediction.to_dict()


@dataclass(frozen=True, slots=True, repr=False)
class Requirement(Result):
    """What each method needs; `print` it for a table.

    Attributes
    ----------
    quantity : str
        What was asked for, such as "samples".
    target : float
        Power to be reached.
    answers : tuple of RequiredValue
    ceiling : RequiredValue
        What the Bayes-optimal selector needs in a study of this size.
    fdr : float or None
        Level asked for; None where levels are the answers.
    study : Study
        What was asked about; what was asked for has any value in it.
    settings : {"best", "default"}

    Examples
    --------
    >>> from selica.planning import required_samples
    >>> found = required_samples(0.5, n_features=200, n_signals=20, r2=0.8, method="stability-fdr")
    >>> [(answer.method, answer.value) for answer in (*found.answers, found.ceiling)]
    [('stability-fdr', 131), ('bayes', 118)]
    """

    quantity: str
    target: float
    answers: tuple[RequiredValue, ...]
    ceiling: RequiredValue
    fdr: float | None
    study: Study
    settings: str = "best"

    @property
    def effects(self) -> Effects:
        """Distribution of the non-zero effects."""
        return self.study.effects

    @property
    def recommendation(self) -> Recommendation[RequiredValue]:
        """The method to take, another where it may be refused, and what was left out and why.

        The best answer of the methods that reach the power, set their threshold by the data and
        have a predicted false discovery rate of at most the level, to two decimals.
        """
        sign = _BETTER[self.quantity].sign
        return recommend(
            [
                Candidate(
                    one, one.prediction, one.value if self.fdr is None else self.fdr,
                    sign * one.value,
                )
                for one in self.answers
                if one.value is not None
            ]
        )  # fmt: skip

    @property
    def best(self) -> RequiredValue | None:
        """The recommended answer; None where no method reaches the power and keeps the level."""
        return self.recommendation.best

    @property
    def superlative(self) -> str:
        """What the best answer is called, such as "Fewest samples"."""
        return _BETTER[self.quantity].superlative

    def one(self, method: str) -> RequiredValue:
        """Return the answer of a method.

        Parameters
        ----------
        method : str
        """
        known = {answer.method: answer for answer in self.answers}
        name = current_name(method)
        if name not in known:
            raise ArgumentError.choice("method", method, known)
        return known[name]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and text."""
        rows = [answer.to_dict() for answer in self.answers]
        asked = {"quantity": self.quantity, "target": self.target}
        return asked | {"methods": rows, "ceiling": self.ceiling.to_dict()}

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each method (needs pandas)."""
        import pandas as pd

        return pd.DataFrame([answer.to_dict() for answer in self.answers])

    def __str__(self) -> str:
        every = (*self.answers, self.ceiling)
        width = 2 + max(len(one.prediction.label) for one in every)
        lines = [
            f"{self.quantity} for power {self.target:g}",
            "",
            f"{'method':<{width}}{'value':>12}{'power':>7}{'FDR':>7}{'found':>8}{'false':>7}",
        ]
        for one in every:
            p = one.prediction
            value = "not reached" if one.value is None else f"{one.value:.7g}"
            lines.append(
                f"{one.prediction.label:<{width}}{value:>12}{p.power:>7.2f}{p.fdr:>7.3f}"
                f"{p.true_selections:>8.1f}{p.false_selections:>7.1f}"
            )
        best, _, left_out = self.recommendation
        chosen = (
            f"No method reaches a power of {self.target:g} and keeps the level."
            if best is None
            else f"{self.superlative}: {best.value:.7g} with {best.prediction.label}: "
            f"{best.prediction.code}"
        )
        lines += ["", chosen, RULE]
        lines += [f"Left out: {one.prediction.label}: {reason}." for one, reason in left_out]
        return "\n".join([*lines, self.study.assumptions])

    def __repr__(self) -> str:
        inner = ", ".join(f"{a.method}={a.value}" for a in self.answers)
        return f"Requirement({self.quantity} for power {self.target:g}: {inner})"

    def plot(self) -> Figure:
        """Draw power against what was asked for, as far as answers go (needs matplotlib)."""
        every = (*self.answers, self.ceiling)
        reached = [one.value for one in every if one.value is not None]
        most = _BEYOND * max(reached) if reached else math.inf
        shown = [one.x <= max(most, float(one.x.min())) for one in every]
        figure = plot_requirement(
            [answer.method for answer in every],
            [(one.x[seen], one.power[seen]) for one, seen in zip(every, shown, strict=True)],
            [answer.value for answer in every],
            self.target,
            self.quantity,
        )
        figure.axes[0].set_title(self._title, fontsize="small", loc="left")
        return figure

    @property
    def _title(self) -> str:
        """The study that was asked about, in two lines."""
        s = self.study
        first = [f"{s.n_samples:,} samples"] if self.quantity != "samples" else []
        first.append(f"{s.n_features:,} variables")
        first += [signals(s.n_signals)] if self.quantity != "signals" else []
        first += [f"R2 = {s.r2:.3g}"] if self.quantity != "effect size" else []
        first += [] if self.fdr is None else [f"FDR {self.fdr:g}"]
        columns = "independent columns" if s.columns is None else s.columns.label
        return f"{', '.join(first)}\n{s.response.label}, {s.effects.label}, {columns}"
