"""A method at the values that were tried, and the search for the last one that reaches a power."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from selica.planning.predict.methods import Prediction
from selica.planning.questions.answers import Answer

_DIGITS = 1e-3
"""Relative precision of an answer that is not a whole number."""
# Steps of a search before some halve the interval, for powers that are rough.
_HASTY = 8
# Powers this close to zero and one are as good as these.
_EDGE = 1e-3

Predicted = Callable[[Sequence[float]], Sequence[Prediction]]
Scale = Callable[[float], float]
"""Of powers: a rising function in which they are close to linear in the logarithm of a value."""


def logit(power: float) -> float:
    """The usual scale of powers."""
    inside = min(max(power, _EDGE), 1.0 - _EDGE)
    return math.log(inside / (1.0 - inside))


class Tried:
    """Predictions of a method at the values that were tried."""

    def __init__(
        self, method: str, predicted: Predicted, target: float, scale: Scale = logit
    ) -> None:
        self.method, self.target, self.scale = method, target, scale
        self._predicted = predicted
        self.found: dict[float, Prediction] = {}

    def ask(self, values: Iterable[float]) -> None:
        """Predicts at all values that were not tried, at once."""
        new = [x for x in dict.fromkeys(values) if x not in self.found]
        if new:
            self.found.update(zip(new, self._predicted(new), strict=True))

    def reaches(self, x: float) -> bool:
        """Whether the power at a value is enough."""
        self.ask([x])
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

        Regula falsi in the scale of the power and the logarithm of the value; a side that stays
        twice counts half (the rule called Illinois), and of late steps one in three halves the
        interval. Whole numbers are asked for in pairs from the second step on, which are the end
        if one of them reaches the power and the other does not.
        """
        ends = {True: self._excess(good), False: self._excess(bad)}
        before: bool | None = None
        step = 0
        while abs(good - bad) > 1 if whole else abs(math.log(good / bad)) > math.log1p(_DIGITS):
            step += 1
            share = ends[False] / (ends[False] - ends[True]) if step < _HASTY or step % 3 else 0.5
            x = math.exp((1.0 - share) * math.log(bad) + share * math.log(good))
            low, high = min(good, bad), max(good, bad)
            if whole:
                x = min(max(math.ceil(x) if bad < good else math.floor(x), low + 1), high - 1)
                other = x - 1 if bad < good else x + 1
                self.ask([x, other] if step > 1 and low < other < high else [x])
            else:  # so far from the ends that a step is not lost
                x = min(max(x, low * (1.0 + 0.4 * _DIGITS)), high / (1.0 + 0.4 * _DIGITS))
                x = float(f"{x:.5g}")  # a number to be read and typed
            side = self.reaches(x)
            ends[side] = self._excess(x)
            if side == before:
                ends[not side] *= 0.5
            good, bad, before = (x, bad, side) if side else (good, x, side)
            if whole and side and other in self.found and not self.reaches(other):
                return good
        return good

    def crossing(self) -> tuple[float, float] | None:
        """The first pair of neighbours of which only the larger reaches the power."""
        x = sorted(self.found)
        for low, high in pairwise(x):
            if self.reaches(high) and not self.reaches(low):
                return low, high
        return None

    def line(self) -> tuple[float, float]:
        """Slope of the power, in its scale, in the logarithm of the value; and where it is enough.

        Through the two values on both sides of the power asked for, or else next to it.
        """
        x = sorted(self.found)
        pair = self.crossing() or ((x[0], x[1]) if self.reaches(x[0]) else (x[-2], x[-1]))
        (a, u), (b, v) = ((math.log(n), self.scale(self.found[n].power)) for n in pair)
        slope = max((v - u) / (b - a), 0.1)  # it rises
        return slope, math.exp(b + (self.scale(self.target) - v) / slope)

    def _excess(self, x: float) -> float:
        """How far a value that was tried is above the target, or below."""
        apart = self.scale(self.found[x].power) - self.scale(self.target)
        return max(apart, _EDGE) if self.reaches(x) else min(apart, -_EDGE)

    def answer(self, value: float | None) -> Answer:
        """With the prediction at the answer, or where the power was largest."""
        x = np.array(sorted(self.found))
        power = np.array([self.found[v].power for v in x])
        best = x[int(np.argmax(power))] if value is None else value
        return Answer(self.method, value, self.found[best], x, power)
