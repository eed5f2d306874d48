"""Answers to inverse questions, method by method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from selica._core.errors import ArgumentError
from selica._core.results import Result
from selica._core.types import Array
from selica.planning.ceiling import CEILING
from selica.planning.methods import METHODS, Prediction
from selica.plots import plot_requirement

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


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
        Of the Bayes-optimal selector: what no method can do without in a large study.

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
            f"{'method':<28}{'value':>12}{'power':>7}{'FDR':>7}{'true':>8}{'false':>7}",
        ]
        for one in (*self.answers, self.ceiling):
            p = one.prediction
            value = "not reached" if one.value is None else f"{one.value:.7g}"
            lines.append(
                f"{_label(one):<28}{value:>12}{p.power:>7.2f}{p.fdr:>7.3f}"
                f"{p.true_selections:>8.1f}{p.false_selections:>7.1f}"
            )
        return "\n".join(lines)

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
