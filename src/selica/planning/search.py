"""A method at the values that were tried, and the search for the last one that reaches a power."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from selica.planning.methods import Prediction
from selica.planning.requirement import Answer

_DIGITS = 1e-3
"""Relative precision of an answer that is not a whole number."""
# Powers this close to zero and one are as good as these.
_EDGE = 1e-3

Predicted = Callable[[float], Prediction]


class Tried:
    """Predictions of a method at the values that were tried."""

    def __init__(self, method: str, predicted: Predicted, target: float) -> None:
        self.method, self.predicted, self.target = method, predicted, target
        self.found: dict[float, Prediction] = {}

    def reaches(self, x: float) -> bool:
        """Whether the power at a value is enough."""
        if x not in self.found:
            self.found[x] = self.predicted(x)
        return self.found[x].power >= self.target

    def smallest(self, low: float, high: float, start: float) -> Answer:
        """The smallest value that reaches the power."""
        bottom, top = low, high
        step = 2.0
        if self.reaches(start):
            high, low = start, max(start / step, bottom)
            while low > bottom and self.reaches(low):
                high, low = low, max(low / step, bottom)
        else:
            low, high = start, min(start * step, top)
            while high < top and not self.reaches(high):
                low, high = high, min(high * step, top)
        if self.reaches(low):
            return self.answer(low)
        if not self.reaches(high):
            return self.answer(None)
        return self.answer(self.last(high, low, whole=False))

    def last(self, good: float, bad: float, *, whole: bool) -> float:
        """The last value that reaches the power on the way from a good one to a bad one.

        Regula falsi in the logit of the power and the logarithm of the value; a side that stays
        twice counts half (the rule called Illinois), and every third step halves the interval.
        """
        ends = {True: self._excess(good), False: self._excess(bad)}
        before: bool | None = None
        step = 0
        while abs(good - bad) > 1 if whole else abs(math.log(good / bad)) > math.log1p(_DIGITS):
            step += 1
            share = ends[False] / (ends[False] - ends[True]) if step % 3 else 0.5
            x = math.exp((1.0 - share) * math.log(bad) + share * math.log(good))
            low, high = min(good, bad), max(good, bad)
            if whole:
                x = min(max(round(x), low + 1), high - 1)
            else:  # so far from the ends that a step is not lost
                x = min(max(x, low * (1.0 + 0.4 * _DIGITS)), high / (1.0 + 0.4 * _DIGITS))
                x = float(f"{x:.5g}")  # a number to be read and typed
            side = self.reaches(x)
            ends[side] = self._excess(x)
            if side == before:
                ends[not side] *= 0.5
            good, bad, before = (x, bad, side) if side else (good, x, side)
        return good

    def _excess(self, x: float) -> float:
        """How far a value that was tried is above the target, or below."""
        power, target = (
            min(max(value, _EDGE), 1.0 - _EDGE) for value in (self.found[x].power, self.target)
        )
        apart = math.log(power / (1.0 - power)) - math.log(target / (1.0 - target))
        return max(apart, _EDGE) if self.reaches(x) else min(apart, -_EDGE)

    def answer(self, value: float | None) -> Answer:
        """With the prediction at the answer, or where the power was largest."""
        x = np.array(sorted(self.found))
        power = np.array([self.found[v].power for v in x])
        best = x[int(np.argmax(power))] if value is None else value
        return Answer(self.method, value, self.found[best], x, power)
