"""Which of several predictions to recommend: one rule for Python, command line and page.

Recommended is the most powerful of the methods that set their threshold by the data and whose
predicted false discovery rate is at most the level, to two decimals; where something is asked for,
such as a number of samples, the method of these that reaches the power with the best value of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from selica.planning.predict.methods import METHODS, Prediction

RULE = (
    "Compared are methods that set their threshold by the data and whose predicted FDR is at most "
    "the level (to two decimals)."
)
"""What a reader is told of the rule."""
BESIDE_IDEAL = ("stability", "knockoff", "evalues", "stability_r_concave")
"""Of `METHODS`, the procedures that are shown beside the ideal thresholds of the theory."""
REFUSABLE = "stability"
"""Message passing, which a check by refits may refuse on the data."""
_ROUNDING = 0.005
"""Predicted rates are compared with a level to two decimals."""

T = TypeVar("T")


class Candidate(NamedTuple, Generic[T]):
    """Something that may be recommended.

    Examples
    --------
    >>> from selica.planning import compare_methods
    >>> from selica.planning.questions.recommendation import Candidate
    >>> one = compare_methods(300, 200, 40, r2=0.8, methods="knockoff").one("knockoff")
    >>> Candidate(one, one, 0.1, one.power).prediction.method
    'knockoff'
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
    >>> names = ["stability", "stability_r_concave"]
    >>> found = compare_methods(115, 2000, 3, r2=0.5, methods=names).recommendation
    >>> found.best.method, [one.method for one, reason in found.left_out]
    ('stability_r_concave', ['stability', 'stability'])
    >>> found.left_out[0][1]
    'predicted FDR 0.1... is above the level 0.1'
    """

    best: T | None
    """None where no method qualifies."""
    otherwise: T | None
    """The best that cannot be refused, where the best can."""
    left_out: tuple[tuple[T, str], ...]
    """Procedures that do not keep the level, with the reason."""


def reason_against(prediction: Prediction, level: float) -> str | None:
    """Why a procedure is left out; None where it keeps its level.

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
    """Apply the rule.

    Parameters
    ----------
    candidates : sequence of Candidate
        In the order of preference among equals.

    Examples
    --------
    >>> from selica.planning.questions.recommendation import recommend
    >>> recommend([]).best is None
    True
    """
    # what finds less than one signal in two hundred has a power of 0.00
    able = [one for one in candidates if METHODS[one.prediction.method].calibrated]
    able = [one for one in able if round(one.prediction.power, 2) > 0.0]
    reasons = [reason_against(one.prediction, one.level) for one in able]
    kept = [one for one, reason in zip(able, reasons, strict=True) if reason is None]
    left_out = tuple(
        (one.item, reason) for one, reason in zip(able, reasons, strict=True) if reason is not None
    )
    if not kept:
        return Recommendation(None, None, left_out)
    best = max(kept, key=lambda one: one.merit)
    safe = [one for one in kept if one.prediction.method != REFUSABLE]
    refusable = best.prediction.method == REFUSABLE
    otherwise = max(safe, key=lambda one: one.merit).item if refusable and safe else None
    return Recommendation(best.item, otherwise, left_out)
