"""Which of several predictions to recommend: one rule for Python, command line and page.

Recommended is the most powerful of the methods that set their threshold by the data and whose
predicted false discovery rate is at most the level, to two decimals; where something is asked for,
such as a number of samples, the method of these that reaches the power with the best value of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar

from selica import catalogue
from selica.planning.predict.prediction import Prediction

RULE = (
    "The comparison is limited to methods that set their threshold from the data and whose "
    "predicted FDR is at most the level (to two decimals)."
)
"""What a reader is told of the rule."""
SETTINGS = {"best": "with its best settings", "default": "with its default settings"}
"""What a reader is told of the settings of a method."""
REFUSABLE = "Checks on the data may refuse its p-values. In that case use {}"
"""What a reader is told where a second method is named."""
_CONTROLLED = ("FDR", "3.2 FDR")
"""What is kept at the level by the methods that are preferred among equals."""
_ASSUMPTIONS = ("none", "unimodal", "r-concave")
"""Assumptions of a bound, from the weakest, which is preferred among equals."""
_ROUNDING = 0.005
"""Predicted rates are compared with a level to two decimals."""

T = TypeVar("T")


class Candidate(NamedTuple, Generic[T]):
    """Something that may be recommended.

    Examples
    --------
    >>> from selica.planning import compare_methods
    >>> from selica.planning.questions.recommendation import Candidate
    >>> one = compare_methods(300, 200, 40, r2=0.8, methods="knockoffs").one("knockoffs")
    >>> Candidate(one, one, 0.1, one.power).prediction.method
    'knockoffs'
    """

    item: T
    prediction: Prediction
    level: float
    """Of the false discovery rate."""
    merit: float
    """The larger, the better."""


class Recommendation(NamedTuple, Generic[T]):
    """What the rule chooses.

    Examples
    --------
    >>> from selica.planning import compare_methods
    >>> names = ["stability-fdr", "stability-pfer"]
    >>> found = compare_methods(115, 2000, 3, r2=0.5, methods=names).recommendation
    >>> found.best.method, found.otherwise.method, found.left_out
    ('stability-fdr', 'stability-pfer', ())
    """

    best: T | None
    """None where no method qualifies."""
    otherwise: T | None
    """The best that cannot be refused, where the best can."""
    left_out: tuple[tuple[T, str], ...]
    """Procedures that do not keep the level, with the reason."""


def reason_against(prediction: Prediction, level: float) -> str | None:
    """Return why a procedure is left out; None where it keeps its level.

    Parameters
    ----------
    prediction : Prediction
    level : float
        Of the false discovery rate.
    """
    if prediction.fdr < level + _ROUNDING:
        return None
    return f"predicted FDR {prediction.fdr:.3f} is above the level {level:g}"


def recommend(candidates: Sequence[Candidate[T]]) -> Recommendation[T]:
    """Choose the best of some candidates by the rule.

    Parameters
    ----------
    candidates : sequence of Candidate
        Among equals those are preferred that control the false discovery rate, then those that
        assume less, then the first.

    Examples
    --------
    >>> from selica.planning.questions.recommendation import recommend
    >>> recommend([]).best is None
    True
    """
    # what finds less than one signal in two hundred has a power of 0.00
    able = [one for one in candidates if catalogue.method(one.prediction.method).calibrated]
    able = [one for one in able if round(one.prediction.power, 2) > 0.0]
    reasons = [reason_against(one.prediction, one.level) for one in able]
    kept = [one for one, reason in zip(able, reasons, strict=True) if reason is None]
    left_out = tuple(
        (one.item, reason) for one, reason in zip(able, reasons, strict=True) if reason is not None
    )
    if not kept:
        return Recommendation(None, None, left_out)
    best = max(kept, key=_preference)
    otherwise = None
    if _refusable(best):
        safe = [one for one in kept if not _refusable(one)]
        otherwise = max(safe, key=_preference).item if safe else None
    return Recommendation(best.item, otherwise, left_out)


def note_lines(predictions: Iterable[Prediction]) -> list[str]:
    """Return what a reader should know about predictions, each sentence once.

    Parameters
    ----------
    predictions : iterable of Prediction
    """
    return [f"Note: {note}" for note in dict.fromkeys(n for one in predictions for n in one.notes)]


def _refusable(one: Candidate[T]) -> bool:
    """Tell whether a check on the data may refuse the method of a candidate."""
    return catalogue.method(one.prediction.method).refusable


def _preference(one: Candidate[T]) -> tuple[float, int, int]:
    """Return what candidates are compared by: merit, then what they control, and on what terms."""
    controls, assumption = one.prediction.controls, one.prediction.parameters.get("assumption")
    rank = _CONTROLLED[::-1].index(controls) if controls in _CONTROLLED else -1
    terms = -_ASSUMPTIONS.index(assumption) if assumption in _ASSUMPTIONS else 0
    return one.merit, rank, terms
