"""Inverse questions: how many samples, how strong an effect, how many signals, which level."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from selica._core.effects import Effects
from selica._core.errors import ArgumentError
from selica._core.validation import choice, count, real
from selica.planning.ceiling import CEILING, ceiling
from selica.planning.compare import fdr_level, method_names
from selica.planning.methods import SETTINGS, Prediction, predict
from selica.planning.requirement import Answer, Requirement
from selica.planning.study import Study

MOST_SAMPLES = 1_000_000
_WEAKEST, _STRONGEST = 1e-4, 10.0
"""Effects that are tried, in standard deviations of the noise."""
_LOWEST, _HIGHEST = 1e-3, 0.5
"""Levels that are tried."""
_DIGITS = 1e-3
"""Relative precision of an answer that is not a whole number."""
# Powers this close to zero and one are as good as these.
_EDGE = 1e-3

Predicted = Callable[[float], Prediction]


def required_samples(
    power: float,
    *,
    n_features: int,
    n_signals: int,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    fdr: float = 0.1,
    effects: Effects | None = None,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
    at_most: int = MOST_SAMPLES,
) -> Requirement:
    """The smallest number of samples with which a method reaches a power.

    Parameters
    ----------
    power : float
        Share of the signals to be found, on average.
    n_features, n_signals, r2, snr, effect_size, fdr, effects
        As in `compare_methods`; strength and number of the signals do not depend on the samples.
    method : str or sequence of str, optional
        Some of `planning.METHODS`; by default all that set their threshold by the data.
    settings : {"best", "default"}
    at_most : int
        More samples are not considered.

    Returns
    -------
    Requirement

    Examples
    --------
    >>> from selica import planning
    >>> found = planning.required_samples(
    ...     0.8, n_features=200, n_signals=20, r2=0.6, method="stability"
    ... )
    >>> found.one("stability").value > 500
    True
    """
    target, level, names = _asked(power, fdr, method, settings)
    largest = count("at_most", at_most, at_least=2)
    study = Study.of(
        2, n_features, n_signals, r2=r2, snr=snr, effect_size=effect_size, effects=effects
    )

    start = min(max(16, n_signals), largest)

    def search(tried: _Tried) -> int | None:
        # samples double until they are enough, then every whole number between counts
        low, high = 2, start
        while not tried.reaches(high):
            if high >= largest:
                return None
            low, high = high, min(2 * high, largest)
        if low == 2 and tried.reaches(low):
            return low
        return int(tried.last(high, low, whole=True))

    def predicted(name: str, n: float) -> Prediction:
        return _predict(study.with_samples(int(n)), name, level, settings)

    every = [_Tried(name, partial(predicted, name), target) for name in (*names, CEILING)]
    values = [search(tried) for tried in every]
    # curves are compared: all of them go on to where the last method has enough
    enough = max((value for value in values if value is not None), default=0)
    for tried in every:
        n = start
        while n < min(2 * enough, largest):
            tried.reaches(n)
            n *= 2
    return _requirement(
        "samples", target, [t.answer(value) for t, value in zip(every, values, strict=True)]
    )


def detectable_effect(
    power: float,
    *,
    n_samples: int,
    n_features: int,
    n_signals: int,
    fdr: float = 0.1,
    effects: Effects | None = None,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
) -> Requirement:
    """The smallest effects of which a method finds a given share.

    Parameters
    ----------
    power, fdr, effects, method, settings
        As in `required_samples`.
    n_samples, n_features, n_signals : int

    Returns
    -------
    Requirement
        Of the root mean square of the non-zero coefficients of standardised columns, in standard
        deviations of the noise.

    Examples
    --------
    >>> from selica import planning
    >>> found = planning.detectable_effect(
    ...     0.5, n_samples=300, n_features=200, n_signals=20, method="stability"
    ... )
    >>> 0.1 < found.one("stability").value < 0.4
    True
    """
    target, level, names = _asked(power, fdr, method, settings)

    def at(size: float) -> Study:
        return Study.of(n_samples, n_features, n_signals, effect_size=size, effects=effects)

    at(1.0)  # bad arguments are said before the work

    def answer(name: str) -> Answer:
        tried = _Tried(name, lambda size: _predict(at(size), name, level, settings), target)
        return tried.smallest(_WEAKEST, _STRONGEST, 3.0 / math.sqrt(n_samples))

    return _requirement("effect size", target, [answer(name) for name in (*names, CEILING)])


def largest_support(
    power: float,
    *,
    n_samples: int,
    n_features: int,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    fdr: float = 0.1,
    effects: Effects | None = None,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
) -> Requirement:
    """The largest number of signals of which a method finds a given share.

    Parameters
    ----------
    power, fdr, effects, method, settings
        As in `required_samples`.
    n_samples, n_features : int
    r2, snr, effect_size : float
        Exactly one of them. Signals share a given r2 or snr, so that more of them are weaker; an
        effect size is that of each.

    Returns
    -------
    Requirement

    Examples
    --------
    >>> from selica import planning
    >>> found = planning.largest_support(
    ...     0.6, n_samples=300, n_features=200, r2=0.9, method="stability"
    ... )
    >>> 10 < found.one("stability").value < 100
    True
    """
    target, level, names = _asked(power, fdr, method, settings)

    def at(k: float) -> Study:
        return Study.of(
            n_samples, n_features, int(k), r2=r2, snr=snr, effect_size=effect_size, effects=effects
        )

    at(1)

    def answer(name: str) -> Answer:
        tried = _Tried(name, lambda k: _predict(at(k), name, level, settings), target)
        # few signals may be out of reach where a level needs many selections, so all sizes count
        sizes = np.unique(np.geomspace(1.0, n_features, 13).astype(int)).tolist()
        fine = [k for k in sizes if tried.reaches(k)]
        if not fine:
            return tried.answer(None)
        low = fine[-1]
        high = next((k for k in sizes if k > low), None)
        return tried.answer(low if high is None else tried.last(low, high, whole=True))

    return _requirement("signals", target, [answer(name) for name in (*names, CEILING)])


def achievable_fdr(
    power: float,
    *,
    n_samples: int,
    n_features: int,
    n_signals: int,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    effects: Effects | None = None,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
) -> Requirement:
    """The smallest level of the false discovery rate at which a method reaches a power.

    Parameters
    ----------
    power, n_features, n_signals, r2, snr, effect_size, effects, method, settings
        As in `required_samples`.
    n_samples : int

    Returns
    -------
    Requirement
        Of the level to ask for, between 0.001 and 0.5; the rate itself is that of the prediction.

    Examples
    --------
    >>> from selica import planning
    >>> found = planning.achievable_fdr(
    ...     0.5, n_samples=300, n_features=200, n_signals=20, r2=0.8, method="stability"
    ... )
    >>> found.one("stability").value < 0.1
    True
    """
    target, _, names = _asked(power, 0.1, method, settings)
    study = Study.of(
        n_samples, n_features, n_signals, r2=r2, snr=snr, effect_size=effect_size, effects=effects
    )

    def answer(name: str) -> Answer:
        tried = _Tried(name, lambda fdr: _predict(study, name, fdr, settings), target)
        return tried.smallest(_LOWEST, _HIGHEST, 0.1)

    return _requirement("FDR level", target, [answer(name) for name in (*names, CEILING)])


def _predict(study: Study, name: str, fdr: float, settings: str) -> Prediction:
    """Of a method, or of the ceiling."""
    return ceiling(study, fdr) if name == CEILING else predict(study, name, fdr, settings)


def _requirement(quantity: str, target: float, answers: list[Answer]) -> Requirement:
    """The last answer is that of the ceiling."""
    return Requirement(quantity, target, tuple(answers[:-1]), answers[-1])


def _asked(
    power: float, fdr: float, method: Sequence[str] | str | None, settings: str
) -> tuple[float, float, tuple[str, ...]]:
    """Checked arguments of an inverse question."""
    target = real("power", power, at_least=0.01, at_most=0.999)
    if target.ndim:
        raise ArgumentError(f"power must be one number; got shape {target.shape}.")
    choice("settings", settings, SETTINGS)
    return float(target), fdr_level(fdr), method_names(method, calibrated=True)


class _Tried:
    """Predictions of a method at the values that were tried."""

    def __init__(self, method: str, predicted: Predicted, target: float) -> None:
        self.method, self.predicted, self.target = method, predicted, target
        self.found: dict[float, Prediction] = {}

    def reaches(self, x: float) -> bool:
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
        x = np.array(sorted(self.found))
        power = np.array([self.found[v].power for v in x])
        best = x[int(np.argmax(power))] if value is None else value
        return Answer(self.method, value, self.found[best], x, power)
