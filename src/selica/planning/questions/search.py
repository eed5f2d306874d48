"""The search for what reaches a power: one method at values that are tried, and all at once.

For numbers of samples every method is about right at once, then exact, method after method.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from selica._core.types import Array
from selica.planning.predict.ceiling import CEILING, ceilings
from selica.planning.predict.prediction import Prediction, predict_each
from selica.planning.questions.answers import RequiredValue, Requirement
from selica.planning.study import Study

_PRECISION = 1e-3
"""Relative precision of an answer that is not a whole number."""
_FAST_STEPS = 8
"""Steps of a search before some halve the interval, for powers that are rough."""
_POWER_MARGIN = 1e-3
"""Powers this close to zero and one are as good as these."""
_FIRST_FACTORS = (1.2, 2.0)
"""Samples at which every method is tried first, by those of the ceiling."""
_CEILING_FACTORS = tuple(2.0 ** (0.5 * j) for j in range(-7, 5))
"""Samples of the curve of the ceiling, by those that it needs."""
_CURVE_FACTORS = (0.1, 0.25, 0.5, 1.0, 2.0)
"""Samples of the curves of the methods, by those of the ceiling."""
_BATCH = 4
"""Numbers of samples that are predicted at a time."""
_FARTHEST_FACTOR = 1.3
"""Factor by which an estimate may be beyond what was tried."""
_CERTAIN_POWER = 0.03
"""Distance from zero and one that powers need for such an estimate."""
_CLOSE_POWER = 0.005
"""Distance from the power asked for that is as good as none."""
_SAME_POWER = 0.5
"""Share of its standard error within which powers are the same."""
_MOST_LINES = 12
"""Numbers of samples that are tried between two."""
_FAR_POWER = 0.5
"""Share of the power asked for below which the largest number of samples is tried at once."""
_SAFETY_FACTOR = 1.06
"""Factor by which an estimate is left, to have the power between two numbers of samples."""

Predicted = Callable[[Sequence[float]], Sequence[Prediction]]
Scale = Callable[[float], float]
"""Of powers: a rising function in which they are close to linear in the logarithm of a value."""


def logit(power: float) -> float:
    """Return a power on its usual scale."""
    inside = min(max(power, _POWER_MARGIN), 1.0 - _POWER_MARGIN)
    return math.log(inside / (1.0 - inside))


class PowerSearch:
    """The search for the value at which a method reaches a power, by predictions at some."""

    def __init__(
        self, method: str, predicted: Predicted, target: float, scale: Scale = logit
    ) -> None:
        self.method, self.target, self.scale = method, target, scale
        self._predicted = predicted
        self.found: dict[float, Prediction] = {}

    def ask(self, values: Iterable[float]) -> None:
        """Predict at all values that were not tried, at once."""
        new = [x for x in dict.fromkeys(values) if x not in self.found]
        if new:
            self.found.update(zip(new, self._predicted(new), strict=True))

    def reaches(self, x: float) -> bool:
        """Tell whether the power at a value is enough."""
        self.ask([x])
        return self.found[x].power >= self.target

    def would_reach(self, x: float) -> bool:
        """Tell whether the power at a value is enough, and keep what was found only if it is not.

        Parameters
        ----------
        x : float
            Far from the others, so that no line leads from them to it.
        """
        enough = self.reaches(x)
        if enough:
            del self.found[x]
        return enough

    def smallest(self, low: float, high: float, start: float) -> RequiredValue:
        """Return the smallest value that reaches the power."""
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
        """Return the last value that reaches the power on the way from a good one to a bad one.

        Regula falsi in the scale of the power and the logarithm of the value; a side that stays
        twice counts half (the rule called Illinois), and of late steps one in three halves the
        interval. Whole numbers are asked for in pairs from the second step on, which are the end
        if one of them reaches the power and the other does not.
        """
        ends = {True: self._excess(good), False: self._excess(bad)}
        before: bool | None = None
        step = 0
        while abs(good - bad) > 1 if whole else abs(math.log(good / bad)) > math.log1p(_PRECISION):
            step += 1
            share = (
                ends[False] / (ends[False] - ends[True]) if step < _FAST_STEPS or step % 3 else 0.5
            )
            x = math.exp((1.0 - share) * math.log(bad) + share * math.log(good))
            low, high = min(good, bad), max(good, bad)
            if whole:
                x = min(max(math.ceil(x) if bad < good else math.floor(x), low + 1), high - 1)
                other = x - 1 if bad < good else x + 1
                self.ask([x, other] if step > 1 and low < other < high else [x])
            else:  # so far from the ends that a step is not lost
                x = min(max(x, low * (1.0 + 0.4 * _PRECISION)), high / (1.0 + 0.4 * _PRECISION))
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
        """Return the first pair of neighbours of which only the larger reaches the power."""
        x = sorted(self.found)
        for low, high in pairwise(x):
            if self.reaches(high) and not self.reaches(low):
                return low, high
        return None

    def line(self) -> tuple[float, float]:
        """Return the slope of the power in the logarithm of the value, and where it is enough.

        Through the two values on both sides of the power asked for, or else next to it.
        """
        x = sorted(self.found)
        pair = self.crossing() or ((x[0], x[1]) if self.reaches(x[0]) else (x[-2], x[-1]))
        (a, u), (b, v) = ((math.log(n), self.scale(self.found[n].power)) for n in pair)
        slope = max((v - u) / (b - a), 0.1)  # it rises
        return slope, math.exp(b + (self.scale(self.target) - v) / slope)

    def _excess(self, x: float) -> float:
        """Return how far a value that was tried is above the target, or below."""
        apart = self.scale(self.found[x].power) - self.scale(self.target)
        return max(apart, _POWER_MARGIN) if self.reaches(x) else min(apart, -_POWER_MARGIN)

    def answer(self, value: float | None) -> RequiredValue:
        """Return the answer with the prediction at it, or where the power was largest."""
        x = np.array(sorted(self.found))
        power = np.array([self.found[v].power for v in x])
        best = x[int(np.argmax(power))] if value is None else value
        return RequiredValue(self.method, value, self.found[best], x, power)


class SampleEstimate(NamedTuple):
    """About how many samples a method needs, and its power against their number."""

    method: str
    samples: int | None
    """None where it is far from all that was tried; there is no curve then."""
    x: Array
    power: Array


class SampleSearch:
    """How many samples each of some methods needs for a power, in a study without a number of them.

    Parameters
    ----------
    study : Study
        Its number of samples does not matter.
    names : sequence of str
        Of methods.
    target : float
        Power.
    fdr : float
    settings : {"best", "default"}
    largest : int
        More samples are not considered.
    on_step : callable
        Called before some predictions of a method; what it raises ends the work.
    """

    def __init__(
        self,
        study: Study,
        names: Sequence[str],
        target: float,
        fdr: float,
        settings: str,
        largest: int,
        on_step: Callable[[], object] = lambda: None,
    ) -> None:
        self._target, self._largest = target, largest
        self._fdr, self._study, self._settings = fdr, study, settings
        self._start = min(max(16, study.n_signals), largest)

        def of_ceiling(ns: Sequence[float]) -> Sequence[Prediction]:
            return ceilings(tuple(study.with_samples(int(n)) for n in ns), fdr)

        # draws for correlated columns take seconds: few of them until there is an answer
        rough = replace(study, draft=study.columns is not None)

        def of_method(name: str, ns: Sequence[float]) -> list[Prediction]:
            on_step()
            return predict_each(tuple(rough.with_samples(int(n)) for n in ns), name, fdr, settings)

        self._ceiling = PowerSearch(CEILING, of_ceiling, target)
        self._least = self._least_of_all()
        x = sorted(self._ceiling.found)
        curve = np.maximum.accumulate([logit(self._ceiling.found[n].power) for n in x])
        # where it does not rise, a little: no two powers are the same
        self._curve = curve + 1e-6 * np.arange(len(x)), np.log(x)
        least = max(largest // 2, 2) if self._least is None else self._least
        # where nearly all variables are signals the ceiling says little about the methods
        near = least > self._start / 4
        self._from = least if near else self._start
        scale = self._scale if near else logit
        self._every = [PowerSearch(name, partial(of_method, name), target, scale) for name in names]

    @property
    def steps(self) -> int:
        """How many answers `growing` gives."""
        return len(self._every) + 1

    @property
    def ceiling(self) -> RequiredValue:
        """What the best possible needs, which is known at once."""
        return self._ceiling.answer(self._least)

    def sketch(self) -> tuple[SampleEstimate, ...]:
        """Estimate what every method needs."""
        self._try_all()
        x = np.array(sorted(self._ceiling.found))
        return tuple(self._estimate(tried, x) for tried in self._every)

    def growing(self) -> Iterator[Requirement]:
        """Iterate over the answers of one method after the other, and then all whole curves."""
        self._try_all()
        values: list[int | None] = []
        for tried in self._every:
            values.append(self._settled(tried, self._fewest(tried)))
            yield self._requirement(values)
        # curves are compared: all of them go on to where the last method has enough
        enough = max((value for value in values if value is not None), default=0)
        grid = self._grid(enough)
        for tried in (self._ceiling, *self._every):
            for start in range(0, len(grid), _BATCH):
                tried.ask(grid[start : start + _BATCH])
        yield self._requirement(values)

    def _requirement(self, values: Sequence[int | None]) -> Requirement:
        answers = (t.answer(value) for t, value in zip(self._every, values, strict=False))
        return Requirement(
            "samples", self._target, tuple(answers), self.ceiling, self._fdr, self._study,
            self._settings,
        )  # fmt: skip

    def _least_of_all(self) -> int | None:
        """Return what the ceiling needs."""
        top, every = self._ceiling, _doubling(self._start, self._largest)
        while every and not (top.found and top.reaches(max(top.found))):
            top.ask(every[:_BATCH])
            every = every[_BATCH:]
        if not top.reaches(max(top.found)):
            return None
        if top.reaches(self._start):
            top.ask([2])
            if top.reaches(2):
                return 2
        # its whole curve, around where the power seems to be
        top.ask(self._inside(top.line()[1] * factor for factor in _CEILING_FACTORS))
        pair = top.crossing()
        assert pair is not None, "it reaches the power at the last number and not at the first"
        return int(top.last(pair[1], pair[0], whole=True))

    def _inside(self, values: Iterator[float]) -> list[float]:
        """Return whole numbers of samples that are considered, rising."""
        return sorted({min(max(round(value), 2), self._largest) for value in values})

    def _scale(self, power: float) -> float:
        """Return the samples with which the ceiling has a power, in logarithms.

        Curves of the methods are close to that of the ceiling with more samples.
        """
        return float(np.interp(logit(power), *self._curve))

    def _try_all(self) -> None:
        """Try every method at the same few numbers of samples."""
        first = self._inside(self._from * factor for factor in _FIRST_FACTORS)
        for tried in self._every:
            tried.ask(first)

    def _estimate(self, tried: PowerSearch, x: Array) -> SampleEstimate:
        nothing = SampleEstimate(tried.method, None, np.empty(0), np.empty(0))
        if len(tried.found) < 2:
            return nothing
        slope, n = tried.line()
        low, high = min(tried.found), max(tried.found)
        if tried.crossing() is None:
            # a line leads a little way beyond powers that are neither zero nor one
            powers = [one.power for one in tried.found.values()]
            if min(powers) < _CERTAIN_POWER or max(powers) > 1.0 - _CERTAIN_POWER:
                return nothing
            bottom, top = (
                (low / _FARTHEST_FACTOR, low)
                if tried.reaches(low)
                else (high, high * _FARTHEST_FACTOR)
            )
            if not bottom <= n <= min(top, self._largest):
                return nothing
        # the curve of the ceiling, stretched so that it goes through the power asked for
        at = tried.scale(self._target) + slope * (np.log(x) - math.log(n))
        known = [self._ceiling.found[v].power for v in x]
        curve = np.interp(at, [tried.scale(power) for power in known], known)
        curve = np.minimum(curve, known)
        return SampleEstimate(tried.method, round(n), x, curve)

    def _fewest(self, tried: PowerSearch) -> int | None:
        """Return the smallest number of samples that is enough for a method."""
        factor = _SAFETY_FACTOR
        far = False
        while (pair := tried.crossing()) is None:
            x = sorted(tried.found)
            if not far and tried.found[x[-1]].power < _FAR_POWER * self._target:
                far = True  # it grows: what the last number does not reach, none does
                if not tried.would_reach(self._largest):
                    return None
            guess = tried.line()[1] if len(x) > 1 else x[0]
            if tried.reaches(x[0]):
                if x[0] == 2:
                    return 2
                guess = min(max(guess / _SAFETY_FACTOR, x[0] / 2.0), x[0] / factor)
            else:
                if x[-1] >= self._largest:
                    return None
                guess = max(min(guess * _SAFETY_FACTOR, x[-1] * 2.0), x[-1] * factor)
            tried.ask([min(max(round(guess), 2), self._largest)])
            factor = 2.0
        return self._between(tried, *pair)

    def _settled(self, tried: PowerSearch, value: int | None) -> int | None:
        """Return an answer at which the prediction is no draft, moved by what the draft was off."""
        if value is None or self._study.columns is None:
            return value
        slope = tried.line()[0] if len(tried.found) > 1 else 1.0
        for last in (False, True):
            at = self._study.with_samples(value)
            (found,) = predict_each((at,), tried.method, self._fdr, self._settings)
            tried.found[value] = found
            missing = self._target - found.power
            if last or abs(missing) <= found.power_error:
                break
            step = (tried.scale(self._target) - tried.scale(found.power)) / slope
            value = min(max(round(value * math.exp(step)), 2), self._largest)
        return value

    def _between(self, tried: PowerSearch, low: float, high: float) -> int:
        """Return the number of samples at which a line between two numbers has the power.

        Powers from draws have errors of about 0.01, which a few per cent of the samples make up
        for: a prediction that is as close to the power as its error is the answer, and the larger
        of two numbers is where the power cannot be told apart in between.
        """
        goal, rough = self._target, self._study.columns is not None
        slope = (tried.found[high].power - tried.found[low].power) / math.log(high / low)
        for _ in range(_MOST_LINES):
            between = slope * math.log(high / low)
            if high <= low + 1 or between <= _SAME_POWER * tried.found[high].power_error:
                break
            (a, u), (b, v) = ((math.log(n), tried.scale(tried.found[n].power)) for n in (low, high))
            share = (tried.scale(goal) - u) / (v - u) if v > u else 0.5
            n = math.ceil(math.exp(a + share * (b - a)))
            n = int(min(max(n, low + 1), high))
            if n == high:
                break
            tried.ask([n])
            power, error = tried.found[n].power, tried.found[n].power_error
            if rough and abs(power - goal) <= error:
                return n  # the answer is predicted again, and moved
            if 0.0 <= power - goal <= min(_CLOSE_POWER, error):
                return n
            low, high = (low, n) if power >= goal else (n, high)
        return int(high)

    def _grid(self, enough: int) -> list[float]:
        """Return the samples at which all curves are drawn."""
        if self._least is None:
            return _doubling(self._start, self._largest)
        near = [self._from * factor for factor in _CURVE_FACTORS]
        while near[-1] < 2 * enough:
            near.append(2.0 * near[-1])
        return self._inside(iter(near))


def _doubling(start: int, largest: int) -> list[float]:
    """Return a number, its double and so on, up to the largest."""
    out = [start]
    while out[-1] < largest:
        out.append(min(2 * out[-1], largest))
    return list(out)
