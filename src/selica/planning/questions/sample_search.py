"""The search for numbers of samples: about right at once, then exact, method after method."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from selica._core.types import Array
from selica.planning.predict.ceiling import CEILING, ceilings
from selica.planning.predict.methods import Prediction, predict_each
from selica.planning.questions.answers import Answer, Requirement
from selica.planning.questions.search import Tried, logit
from selica.planning.study import Study

# Samples at which every method is tried first, by those of the ceiling.
_FIRST = (1.2, 2.0)
# Samples of its curve, and of those of the methods; how many are predicted at a time.
_FINE = tuple(2.0 ** (0.5 * j) for j in range(-7, 5))
_CURVE = (0.1, 0.25, 0.5, 1.0, 2.0)
_AT_ONCE = 4
# Estimates beyond what was tried: by at most this factor, and from powers off both ends.
_FAR, _SURE = 1.3, 0.03
# An estimate is left by this factor, to have the power between two numbers of samples.
_BEYOND = 1.06


class Estimate(NamedTuple):
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
    told : callable
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
        told: Callable[[], object] = lambda: None,
    ) -> None:
        self._target, self._largest = target, largest
        self._fdr, self._effects = fdr, study.effects
        self._start = min(max(16, study.n_signals), largest)

        def of_ceiling(ns: Sequence[float]) -> list[Prediction]:
            return ceilings([study.with_samples(int(n)) for n in ns], fdr)

        def of_method(name: str, ns: Sequence[float]) -> list[Prediction]:
            told()
            return predict_each(tuple(study.with_samples(int(n)) for n in ns), name, fdr, settings)

        self._ceiling = Tried(CEILING, of_ceiling, target)
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
        self._every = [Tried(name, partial(of_method, name), target, scale) for name in names]

    @property
    def ceiling(self) -> Answer:
        """What the best possible needs, which is known at once."""
        return self._ceiling.answer(self._least)

    def sketch(self) -> tuple[Estimate, ...]:
        """About what every method needs."""
        self._try_all()
        x = np.array(sorted(self._ceiling.found))
        return tuple(self._estimate(tried, x) for tried in self._every)

    def growing(self) -> Iterator[Requirement]:
        """Answers of one method after the other, and then all whole curves."""
        self._try_all()
        values: list[int | None] = []
        for tried in self._every:
            values.append(self._fewest(tried))
            yield self._requirement(values)
        # curves are compared: all of them go on to where the last method has enough
        enough = max((value for value in values if value is not None), default=0)
        grid = self._grid(enough)
        for tried in (self._ceiling, *self._every):
            for start in range(0, len(grid), _AT_ONCE):
                tried.ask(grid[start : start + _AT_ONCE])
        yield self._requirement(values)

    def _requirement(self, values: Sequence[int | None]) -> Requirement:
        answers = (t.answer(value) for t, value in zip(self._every, values, strict=False))
        return Requirement(
            "samples", self._target, tuple(answers), self.ceiling, self._fdr, self._effects
        )

    def _least_of_all(self) -> int | None:
        """What the ceiling needs."""
        top, every = self._ceiling, _doubling(self._start, self._largest)
        while every and not (top.found and top.reaches(max(top.found))):
            top.ask(every[:_AT_ONCE])
            every = every[_AT_ONCE:]
        if not top.reaches(max(top.found)):
            return None
        if top.reaches(self._start):
            top.ask([2])
            if top.reaches(2):
                return 2
        # its whole curve, around where the power seems to be
        top.ask(self._inside(top.line()[1] * factor for factor in _FINE))
        pair = top.crossing()
        assert pair is not None, "it reaches the power at the last number and not at the first"
        return int(top.last(pair[1], pair[0], whole=True))

    def _inside(self, values: Iterator[float]) -> list[float]:
        """Whole numbers of samples that are considered, rising."""
        return sorted({min(max(round(value), 2), self._largest) for value in values})

    def _scale(self, power: float) -> float:
        """The samples with which the ceiling has a power, in logarithms.

        Curves of the methods are close to that of the ceiling with more samples.
        """
        return float(np.interp(logit(power), *self._curve))

    def _try_all(self) -> None:
        """Every method at the same few numbers of samples."""
        first = self._inside(self._from * factor for factor in _FIRST)
        for tried in self._every:
            tried.ask(first)

    def _estimate(self, tried: Tried, x: Array) -> Estimate:
        nothing = Estimate(tried.method, None, np.empty(0), np.empty(0))
        if len(tried.found) < 2:
            return nothing
        slope, n = tried.line()
        low, high = min(tried.found), max(tried.found)
        if tried.crossing() is None:
            # a line leads a little way beyond powers that are neither zero nor one
            powers = [one.power for one in tried.found.values()]
            if min(powers) < _SURE or max(powers) > 1.0 - _SURE:
                return nothing
            bottom, top = (low / _FAR, low) if tried.reaches(low) else (high, high * _FAR)
            if not bottom <= n <= min(top, self._largest):
                return nothing
        # the curve of the ceiling, stretched so that it goes through the power asked for
        at = tried.scale(self._target) + slope * (np.log(x) - math.log(n))
        known = [self._ceiling.found[v].power for v in x]
        curve = np.interp(at, [tried.scale(power) for power in known], known)
        return Estimate(tried.method, round(n), x, curve)

    def _fewest(self, tried: Tried) -> int | None:
        """The smallest number of samples that is enough for a method."""
        factor = _BEYOND
        while (pair := tried.crossing()) is None:
            x = sorted(tried.found)
            guess = tried.line()[1] if len(x) > 1 else x[0]
            if tried.reaches(x[0]):
                if x[0] == 2:
                    return 2
                guess = min(max(guess / _BEYOND, x[0] / 2.0), x[0] / factor)
            else:
                if x[-1] >= self._largest:
                    return None
                guess = max(min(guess * _BEYOND, x[-1] * 2.0), x[-1] * factor)
            tried.ask([min(max(round(guess), 2), self._largest)])
            factor = 2.0
        while pair[1] > pair[0] + 1:  # powers from draws are rough: a search may find another
            tried.last(pair[1], pair[0], whole=True)
            pair = tried.crossing() or pair
        return int(pair[1])

    def _grid(self, enough: int) -> list[float]:
        """Samples at which all curves are drawn."""
        if self._least is None:
            return _doubling(self._start, self._largest)
        near = [self._from * factor for factor in _CURVE]
        while near[-1] < 2 * enough:
            near.append(2.0 * near[-1])
        return self._inside(iter(near))


def _doubling(start: int, largest: int) -> list[float]:
    """From one number to another."""
    out = [start]
    while out[-1] < largest:
        out.append(min(2 * out[-1], largest))
    return list(out)
