"""Answers to inverse questions, method by method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from selica._core.effects import Effects
from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.types import Array
from selica._core.wording import assumptions
from selica.planning.predict.ceiling import CEILING
from selica.planning.predict.methods import METHODS, Prediction
from selica.planning.questions.recommendation import RULE, Candidate, Recommendation, recommend
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
_STRONGLY = 1.5
"""Factor between answers that differ much."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer(Result):
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
    >>> found = required_samples(0.5, n_features=200, n_signals=20, r2=0.8, method="stability")
    >>> answer = found.one("stability")
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
        """The answer with the prediction at it."""
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
    answers : tuple of Answer
    ceiling : Answer
        What the Bayes-optimal selector needs in a study of this size.
    fdr : float or None
        Level asked for; None where levels are the answers.
    effects : Effects
        Law of the non-zero effects.

    Examples
    --------
    >>> from selica.planning import required_samples
    >>> found = required_samples(0.5, n_features=200, n_signals=20, r2=0.8, method="stability")
    >>> [(answer.method, answer.value) for answer in (*found.answers, found.ceiling)]
    [('stability', 131), ('best possible', 118)]
    """

    quantity: str
    target: float
    answers: tuple[Answer, ...]
    ceiling: Answer
    fdr: float | None
    effects: Effects

    @property
    def recommendation(self) -> Recommendation[Answer]:
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
    def best(self) -> Answer | None:
        """The recommended answer; None where no method reaches the power and keeps the level."""
        return self.recommendation.best

    @property
    def superlative(self) -> str:
        """What the best answer is called, such as "Fewest samples"."""
        return _BETTER[self.quantity].superlative

    def one(self, method: str) -> Answer:
        """The answer of a method."""
        for answer in self.answers:
            if answer.method == method:
                return answer
        raise ArgumentError.choice("method", method, [a.method for a in self.answers])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text."""
        rows = [answer.to_dict() for answer in self.answers]
        asked = {"quantity": self.quantity, "target": self.target}
        return asked | {"methods": rows, "ceiling": self.ceiling.to_dict()}

    def to_frame(self) -> pd.DataFrame:
        """One row for each method (needs pandas)."""
        import pandas as pd

        return pd.DataFrame([answer.to_dict() for answer in self.answers])

    def __str__(self) -> str:
        lines = [
            f"{self.quantity} for power {self.target:g}",
            "",
            f"{'method':<28}{'value':>12}{'power':>7}{'FDR':>7}{'found':>8}{'false':>7}",
        ]
        for one in (*self.answers, self.ceiling):
            p = one.prediction
            value = "not reached" if one.value is None else f"{one.value:.7g}"
            lines.append(
                f"{_label(one):<28}{value:>12}{p.power:>7.2f}{p.fdr:>7.3f}"
                f"{p.true_selections:>8.1f}{p.false_selections:>7.1f}"
            )
        best, _, left_out = self.recommendation
        chosen = (
            f"No method reaches a power of {self.target:g} and keeps the level."
            if best is None
            else f"{self.superlative}: {best.value:.7g} with {_label(best)}: {best.prediction.code}"
        )
        lines += ["", chosen, RULE]
        lines += [f"Left out: {_label(one)}: {reason}." for one, reason in left_out]
        return "\n".join([*lines, assumptions(self.effects)])

    def __repr__(self) -> str:
        inner = ", ".join(f"{a.method}={a.value}" for a in self.answers)
        return f"Requirement({self.quantity} for power {self.target:g}: {inner})"

    def plot(self) -> Figure:
        """Power against what was asked for (needs matplotlib)."""
        every = (*self.answers, self.ceiling)
        return plot_requirement(
            [_label(answer) for answer in every],
            [(answer.x, answer.power) for answer in every],
            [answer.value for answer in every],
            self.target,
            self.quantity,
        )


def _label(answer: Answer) -> str:
    return CEILING if answer.method == CEILING else METHODS[answer.method].label


def far_apart(one: float | None, other: float | None) -> bool:
    """Whether two answers to one question differ so much that both should be told.

    Parameters
    ----------
    one, other : float or None
        None where the power is not reached.

    Examples
    --------
    >>> from selica.planning.questions.answers import far_apart
    >>> far_apart(1470, 227), far_apart(100, 120)
    (True, False)
    """
    if one is None or other is None:
        return one is not other
    return max(one, other) >= _STRONGLY * min(one, other)
