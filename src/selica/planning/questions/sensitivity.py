"""Which of the assumptions behind an answer matters most, in a sentence.

Three changes are tried for the recommended method: effects of another distribution, effects half as
large, and columns whose neighbours are correlated by 0.5. What is left of a column once the others
are known has a share (1 - r^2) / (1 + r^2) of its variance if correlations fall as r^distance, so
that n samples of such columns say about as much as that share of n samples of independent ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from selica._core.effects import Effects, GaussianEffects, PlacedEffects, PointEffects
from selica.planning.predict.prediction import predict
from selica.planning.questions.answers import Requirement
from selica.planning.questions.compare import Comparison
from selica.planning.questions.search import SampleSearch, logit
from selica.planning.study import Study

_CORRELATION = 0.5
"""Correlation of neighbours that is tried."""
_LEFT = (1.0 - _CORRELATION**2) / (1.0 + _CORRELATION**2)
"""Share of the samples that columns so correlated are worth."""
_CLEAR_POWER = 0.02
"""Change of a power that is told."""
_CLEAR_SIMULATED = 0.1
"""The same where powers are simulated, roughly."""
_MOST = "What would change this most:"
"""How the sentence begins."""
_MOST_SAMPLES = 10**8
"""Samples up to which a change is followed."""


class Change(NamedTuple):
    """A study in which one assumption is another."""

    words: str
    study: Study
    worth: float = 1.0
    """Share of the samples that are worth as much as before."""


def most_sensitive(found: Comparison | Requirement) -> str | None:
    """Return what would change an answer most; None where nothing is recommended or changes.

    Parameters
    ----------
    found : Comparison or Requirement

    Examples
    --------
    >>> from selica import planning
    >>> from selica.planning.questions.sensitivity import most_sensitive
    >>> found = planning.compare_methods(300, 200, 40, r2=0.8, methods="knockoffs")
    >>> most_sensitive(found).removeprefix("What would change this most: ")
    'with equal effects instead of Gaussian effects the power would be 0.95.'
    """
    if isinstance(found, Comparison):
        best = found.best
        if best is None:
            return None
        return _by_power(found.study, best.method, best.settings, found.fdr, best.power)
    answer = found.best
    if answer is None or answer.value is None:
        return None
    if found.quantity == "samples":
        assert found.fdr is not None
        return _by_samples(
            found.study, answer.method, found.settings, found.fdr, found.target, int(answer.value)
        )
    level = answer.value if found.fdr is None else found.fdr
    return _by_power(found.study, answer.method, found.settings, level, answer.prediction.power)


def _changes(study: Study) -> Iterator[Change]:
    """Iterate over the changes of a study."""
    if study.is_simulated:  # which takes its time
        study = replace(study, draft=True)
    equal = study.effects.label == PointEffects().label
    law: Effects = GaussianEffects() if equal else PointEffects()
    if not isinstance(study.effects, PlacedEffects):  # which have given places, too
        yield Change(f"{law.label} instead of {study.effects.label}", replace(study, effects=law))
    yield Change("effects half as large", replace(study, snr=study.snr / 4.0))
    if study.columns is None:
        yield Change(f"neighbouring columns correlated by {_CORRELATION:g}", study, _LEFT)


@lru_cache(maxsize=256)
def _by_power(study: Study, method: str, settings: str, level: float, power: float) -> str | None:
    """Return the change of a power that is largest."""
    told = []
    for words, other, worth in _changes(study):
        n = max(round(worth * study.n_samples), 2)
        changed = predict(other.with_samples(n), method, level, settings).power
        about = "about " if worth < 1.0 or other.is_simulated else ""
        told.append((abs(changed - power), f"with {words} the power would be {about}{changed:.2f}"))
    size, words = max(told)
    clear = _CLEAR_SIMULATED if study.is_simulated else _CLEAR_POWER
    return f"{_MOST} {words}." if size >= clear else None


@lru_cache(maxsize=256)
def _by_samples(
    study: Study, method: str, settings: str, level: float, target: float, value: int
) -> str | None:
    """Return what the largest change of the power does to the number of samples."""
    at = study.with_samples(value)
    words, other, worth = max(
        _changes(at), key=lambda one: _distance(one, method, settings, level, target)
    )
    if worth < 1.0:
        return f"{_MOST} with {words} the answer would be about {value / worth:,.0f} samples."
    search = SampleSearch(other, [method], target, level, settings, _MOST_SAMPLES)
    needed = next(search.growing()).answers[0].value
    if needed is None:
        return f"{_MOST} with {words} no number of samples would be enough."
    return f"{_MOST} with {words} the answer would be {needed:,.0f} samples."


def _distance(change: Change, method: str, settings: str, level: float, power: float) -> float:
    """Return how far a change moves the power, on the scale of logarithmic odds."""
    n = max(round(change.worth * change.study.n_samples), 2)
    changed = predict(change.study.with_samples(n), method, level, settings).power
    return abs(logit(changed) - logit(power))
