"""Inverse questions: how many samples, how strong an effect, how many signals, which level."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from selica._core.effects import Effects
from selica._core.errors import DoesNotApply
from selica._core.types import Progress
from selica._core.validation import choice, count, number, reporter
from selica.planning.predict.ceiling import CEILING, ceilings
from selica.planning.predict.prediction import (
    SETTINGS,
    Prediction,
    check_level,
    predict_each,
    reporting,
)
from selica.planning.predict.simulated import described
from selica.planning.questions.answers import RequiredValue, Requirement
from selica.planning.questions.listed import listed
from selica.planning.questions.search import PowerSearch, SampleSearch
from selica.planning.responses import StudyResponse
from selica.planning.study import LARGEST_PREDICTOR, Study

MOST_SAMPLES = 1_000_000
"""Samples that are considered, unless the user says another number."""
_SMALLEST_EFFECT = 1e-4
"""Smallest effects that are tried, in standard deviations of the noise."""
_LARGEST_EFFECT = 10.0
"""Largest effects that are tried, in standard deviations of the noise."""
_FIRST_EFFECT = 0.1
"""Effects with which arguments are checked."""
_LOWEST_LEVEL = 1e-3
"""Lowest level of the false discovery rate that is tried."""
_HIGHEST_LEVEL = 0.5
"""Highest level of the false discovery rate that is tried."""
_FIRST_LEVEL = 0.1
"""Level of the false discovery rate that is tried first."""
_SUPPORTS = 13
"""Numbers of signals that are tried first."""
_POINTS = 17
"""Values at which the curves of a figure are drawn."""
_BELOW = 4.0
"""Factor by which curves go below the smallest answer."""
_ABOVE = 2.5
"""Factor by which curves go above the largest answer."""


def required_samples(
    power: float,
    *,
    n_features: int,
    n_signals: int | None = None,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    fdr: float = 0.1,
    effects: Effects | None = None,
    response: StudyResponse | None = None,
    covariance: Any = None,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
    at_most: int = MOST_SAMPLES,
    curves: bool = True,
    progress: Progress | None = None,
) -> Requirement:
    """Find the smallest number of samples with which a method reaches a power.

    Parameters
    ----------
    power : float
        Share of the signals to be found, on average.
    n_features, n_signals, r2, snr, effect_size, fdr, effects, response, covariance
        As in `compare_methods`; strength and number of the signals do not depend on the samples.
    method : str or sequence of str, optional
        Some of `planning.METHODS`; by default all that set their threshold by the data.
    settings : {"best", "default"}
    at_most : int
        More samples are not considered.
    curves : bool
        Whether the power of every method is also predicted around the answers, for a figure.
    progress : callable, optional
        ``progress(done, total)``, in methods and their curves.

    Returns
    -------
    Requirement

    Examples
    --------
    >>> from selica import planning
    >>> found = planning.required_samples(
    ...     0.8, n_features=200, n_signals=20, r2=0.6, method="stability-fdr"
    ... )
    >>> found.one("stability-fdr").value > 500
    True
    """
    reporter(progress)
    search = sample_search(
        power, n_features=n_features, n_signals=n_signals, r2=r2, snr=snr, effect_size=effect_size,
        fdr=fdr, effects=effects, response=response, covariance=covariance, method=method,
        settings=settings, at_most=at_most,
    )  # fmt: skip
    growing = search.growing()
    steps = range(search.steps if curves else search.steps - 1)
    *_, whole = (next(growing) for _ in reporting(steps, progress))
    return whole


def sample_search(
    power: float,
    *,
    fdr: float = 0.1,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
    at_most: int = MOST_SAMPLES,
    on_step: Callable[[], object] = lambda: None,
    **sizes: Any,
) -> SampleSearch:
    """Return the search of `required_samples`, which is worked out step by step.

    Parameters
    ----------
    power, fdr, method, settings, at_most
        As in `required_samples`.
    on_step : callable
        Called before some predictions of a method; what it raises ends the work.
    **sizes
        The other arguments of `required_samples`.
    """
    study = Study.of(2, **sizes)
    asked = _Question.of(power, fdr, method, settings, study)
    largest = count("at_most", at_most, at_least=2)
    return SampleSearch(
        study,
        asked.names,
        target=asked.target,
        fdr=asked.level,
        settings=settings,
        largest=largest,
        on_step=on_step,
    )


def detectable_effect(
    power: float,
    *,
    n_samples: int,
    n_features: int,
    n_signals: int | None = None,
    fdr: float = 0.1,
    effects: Effects | None = None,
    response: StudyResponse | None = None,
    covariance: Any = None,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
    curves: bool = False,
    progress: Progress | None = None,
) -> Requirement:
    """Find the smallest effects of which a method finds a given share.

    Parameters
    ----------
    power, fdr, effects, response, covariance, method, settings
        As in `required_samples`.
    curves : bool
        Whether the power of every method is also predicted around the answers, for a figure.
    progress : callable, optional
        ``progress(done, total)``, in methods.
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
    ...     0.5, n_samples=300, n_features=200, n_signals=20, method="stability-fdr"
    ... )
    >>> 0.1 < found.one("stability-fdr").value < 0.4
    True
    """

    def at(size: float) -> Study:
        return Study.of(
            n_samples, n_features, n_signals, effect_size=size, effects=effects,
            response=response, covariance=covariance,
        )  # fmt: skip

    study = at(_FIRST_EFFECT)  # bad arguments are said before the work
    asked = _Question.of(power, fdr, method, settings, study, progress)
    strongest = LARGEST_PREDICTOR.get(study.response.name, math.inf)
    top = min(0.999 * math.sqrt(strongest / study.n_signals), _LARGEST_EFFECT)

    def find(search: PowerSearch) -> RequiredValue:
        start = float(f"{3.0 / math.sqrt(n_samples):.3g}")
        return search.smallest(_SMALLEST_EFFECT, top, min(start, top))

    search = partial(asked.search, at=at)
    found = asked.requirement("effect size", search, find, asked.level, (_SMALLEST_EFFECT, top),
                              curves)  # fmt: skip
    return _at_its_answer(found, at)


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
    response: StudyResponse | None = None,
    covariance: Any = None,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
    curves: bool = False,
    progress: Progress | None = None,
) -> Requirement:
    """Find the largest number of signals of which a method finds a given share.

    Parameters
    ----------
    power, fdr, effects, response, covariance, method, settings
        As in `required_samples`.
    curves : bool
        Whether the power of every method is also predicted around the answers, for a figure.
    progress : callable, optional
        ``progress(done, total)``, in methods.
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
    ...     0.6, n_samples=300, n_features=200, r2=0.9, method="stability-fdr"
    ... )
    >>> 10 < found.one("stability-fdr").value < 100
    True
    """

    def at(k: float) -> Study:
        return Study.of(
            n_samples, n_features, int(k), r2=r2, snr=snr, effect_size=effect_size,
            effects=effects, response=response, covariance=covariance,
        )  # fmt: skip

    asked = _Question.of(power, fdr, method, settings, at(1), progress)
    # few signals may be out of reach where a level needs many selections, so all sizes count
    sizes = np.unique(np.geomspace(1.0, n_features, _SUPPORTS).astype(int)).tolist()

    def find(search: PowerSearch) -> RequiredValue:
        search.ask(sizes)
        fine = [k for k in sizes if search.reaches(k)]
        if not fine:
            return search.answer(None)
        low = fine[-1]
        high = next((k for k in sizes if k > low), None)
        return search.answer(low if high is None else search.last(low, high, whole=True))

    search = partial(asked.search, at=at)
    found = asked.requirement("signals", search, find, asked.level, (1.0, n_features), curves)
    return _at_its_answer(found, at)


def achievable_fdr(
    power: float,
    *,
    n_samples: int,
    n_features: int,
    n_signals: int | None = None,
    r2: float | None = None,
    snr: float | None = None,
    effect_size: float | None = None,
    effects: Effects | None = None,
    response: StudyResponse | None = None,
    covariance: Any = None,
    method: Sequence[str] | str | None = None,
    settings: str = "best",
    curves: bool = False,
    progress: Progress | None = None,
) -> Requirement:
    """Find the smallest level of the false discovery rate at which a method reaches a power.

    Parameters
    ----------
    power, n_features, n_signals, r2, snr, effect_size, effects, response, covariance, method
        As in `required_samples`.
    curves : bool
        Whether the power of every method is also predicted around the answers, for a figure.
    progress : callable, optional
        ``progress(done, total)``, in methods.
    n_samples : int
    settings : {"best", "default"}

    Returns
    -------
    Requirement
        Of the level to ask for, between 0.001 and 0.5; the rate itself is that of the prediction.

    Examples
    --------
    >>> from selica import planning
    >>> found = planning.achievable_fdr(
    ...     0.5, n_samples=300, n_features=200, n_signals=20, r2=0.8, method="stability-fdr"
    ... )
    >>> found.one("stability-fdr").value < 0.1
    True
    """
    study = Study.of(
        n_samples, n_features, n_signals, r2=r2, snr=snr, effect_size=effect_size, effects=effects,
        response=response, covariance=covariance,
    )  # fmt: skip
    asked = _Question.of(power, _FIRST_LEVEL, method, settings, study, progress)

    def search(name: str) -> PowerSearch:
        def predicted(levels: Sequence[float]) -> list[Prediction]:
            return [_predict([study], name, fdr, settings)[0] for fdr in levels]

        return PowerSearch(name, predicted, asked.target)

    def find(search: PowerSearch) -> RequiredValue:
        return search.smallest(_LOWEST_LEVEL, _HIGHEST_LEVEL, _FIRST_LEVEL)

    ends = (_LOWEST_LEVEL, _HIGHEST_LEVEL)
    return asked.requirement("FDR level", search, find, None, ends, curves)


class _Question(NamedTuple):
    """Checked arguments that all inverse questions have."""

    target: float
    level: float
    names: tuple[str, ...]
    settings: str
    study: Study
    """What is asked about, with any value of what is looked for."""
    progress: Progress | None

    @classmethod
    def of(
        cls,
        power: float,
        fdr: float,
        method: Sequence[str] | str | None,
        settings: str,
        study: Study,
        progress: Progress | None = None,
    ) -> _Question:
        """Check the arguments."""
        target = number("power", power, at_least=0.01, at_most=0.999)
        choice("settings", settings, SETTINGS)
        if study.is_simulated:
            raise DoesNotApply(
                f"covariance: there is no theory for {described(study)}, and a search by "
                "simulation would take hours; "
                "compare_methods (selica plan compare) simulates one study at a time."
            )
        names = listed(study, method, "method", calibrated=True)
        reporter(progress)
        return cls(target, check_level(fdr), names, settings, study, progress)

    def search(self, name: str, at: Callable[[float], Study]) -> PowerSearch:
        """Return the search of a method for a value, by the study at a value."""

        def predicted(values: Sequence[float]) -> Sequence[Prediction]:
            return _predict(map(at, values), name, self.level, self.settings)

        return PowerSearch(name, predicted, self.target)

    def requirement(
        self,
        quantity: str,
        search: Callable[[str], PowerSearch],
        find: Callable[[PowerSearch], RequiredValue],
        fdr: float | None,
        ends: tuple[float, float],
        curves: bool,
    ) -> Requirement:
        """Return the answers of the methods, after that of the ceiling.

        `search` starts that of a method, and `find` ends it. Curves, if asked for, are drawn
        between the `ends` of what can be looked for.
        """
        names = (CEILING, *self.names)
        searches = [search(name) for name in names]
        found = [find(one) for one in reporting(searches, self.progress)]
        if curves:
            values = _around([one.value for one in found if one.value is not None], ends)
            if quantity == "signals":
                values = sorted({round(x) for x in values})
            for one in searches:
                one.ask(values)
            found = [one.answer(old.value) for one, old in zip(searches, found, strict=True)]
        ceiling, *answers = found
        return Requirement(
            quantity, self.target, tuple(answers), ceiling, fdr, self.study, self.settings
        )


def _around(answers: Sequence[float], ends: tuple[float, float]) -> list[float]:
    """Return values around some answers, at which curves are drawn."""
    low, high = ends
    if answers:
        low, high = max(low, min(answers) / _BELOW), min(high, _ABOVE * max(answers))
    return [float(f"{x:.4g}") for x in np.geomspace(low, high, _POINTS)[1:-1]] + [low, high]


def _at_its_answer(found: Requirement, at: Callable[[float], Study]) -> Requirement:
    """Return a requirement whose study is that of the best answer."""
    best = found.best
    if best is None or best.value is None:
        return found
    return replace(found, study=at(best.value))


def _predict(
    studies: Iterable[Study], name: str, fdr: float, settings: str
) -> Sequence[Prediction]:
    """Return the predictions of a method, or of the ceiling."""
    every = tuple(studies)
    return ceilings(every, fdr) if name == CEILING else predict_each(every, name, fdr, settings)
