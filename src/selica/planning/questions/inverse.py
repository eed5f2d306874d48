"""Inverse questions: how many samples, how strong an effect, how many signals, which level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from selica._core.effects import Effects
from selica._core.validation import choice, count, number
from selica.planning.predict.ceiling import CEILING, ceilings
from selica.planning.predict.methods import SETTINGS, Prediction, predict_each
from selica.planning.questions.answers import Answer, Requirement
from selica.planning.questions.compare import fdr_level, method_names
from selica.planning.questions.sample_search import SampleSearch
from selica.planning.questions.search import Tried
from selica.planning.study import Study

MOST_SAMPLES = 1_000_000
_WEAKEST, _STRONGEST = 1e-4, 10.0
"""Effects that are tried, in standard deviations of the noise."""
_LOWEST, _HIGHEST = 1e-3, 0.5
"""Levels that are tried."""


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
    search = sample_search(
        power, n_features=n_features, n_signals=n_signals, r2=r2, snr=snr, effect_size=effect_size,
        fdr=fdr, effects=effects, method=method, settings=settings, at_most=at_most,
    )  # fmt: skip
    *_, whole = search.growing()
    return whole


def sample_search(
    power: float,
    *,
    fdr: float = 0.1,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
    at_most: int = MOST_SAMPLES,
    told: Callable[[], object] = lambda: None,
    **sizes: Any,
) -> SampleSearch:
    """`required_samples` as it is worked out.

    Parameters
    ----------
    power, fdr, method, settings, at_most
        As in `required_samples`.
    told : callable
        Called before some predictions of a method; what it raises ends the work.
    **sizes
        The other arguments of `required_samples`.
    """
    target, level, names = _asked(power, fdr, method, settings)
    largest = count("at_most", at_most, at_least=2)
    return SampleSearch(Study.of(2, **sizes), names, target, level, settings, largest, told)


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

    law = at(1.0).effects  # bad arguments are said before the work

    def answer(name: str) -> Answer:
        tried = Tried(name, lambda sizes: _predict(map(at, sizes), name, level, settings), target)
        return tried.smallest(_WEAKEST, _STRONGEST, float(f"{3.0 / math.sqrt(n_samples):.3g}"))

    return _requirement(
        "effect size", target, [answer(name) for name in (CEILING, *names)], level, law
    )


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

    law = at(1).effects

    def answer(name: str) -> Answer:
        tried = Tried(name, lambda sizes: _predict(map(at, sizes), name, level, settings), target)
        # few signals may be out of reach where a level needs many selections, so all sizes count
        sizes = np.unique(np.geomspace(1.0, n_features, 13).astype(int)).tolist()
        tried.ask(sizes)
        fine = [k for k in sizes if tried.reaches(k)]
        if not fine:
            return tried.answer(None)
        low = fine[-1]
        high = next((k for k in sizes if k > low), None)
        return tried.answer(low if high is None else tried.last(low, high, whole=True))

    return _requirement("signals", target, [answer(name) for name in (CEILING, *names)], level, law)


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
        tried = Tried(
            name,
            lambda levels: [_predict([study], name, fdr, settings)[0] for fdr in levels],
            target,
        )
        return tried.smallest(_LOWEST, _HIGHEST, 0.1)

    return _requirement(
        "FDR level", target, [answer(name) for name in (CEILING, *names)], None, study.effects
    )


def _predict(studies: Iterable[Study], name: str, fdr: float, settings: str) -> list[Prediction]:
    """Of a method, or of the ceiling."""
    every = tuple(studies)
    return ceilings(every, fdr) if name == CEILING else predict_each(every, name, fdr, settings)


def _requirement(
    quantity: str, target: float, answers: list[Answer], fdr: float | None, effects: Effects
) -> Requirement:
    """The first answer is that of the ceiling."""
    return Requirement(quantity, target, tuple(answers[1:]), answers[0], fdr, effects)


def _asked(
    power: float, fdr: float, method: Sequence[str] | str | None, settings: str
) -> tuple[float, float, tuple[str, ...]]:
    """Checked arguments of an inverse question."""
    target = number("power", power, at_least=0.01, at_most=0.999)
    choice("settings", settings, SETTINGS)
    return target, fdr_level(fdr), method_names(method, calibrated=True)
