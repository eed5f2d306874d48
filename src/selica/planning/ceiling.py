"""What no method can surpass, so that a plan says how far each of them is from it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from selica._core.errors import BoundaryWarning
from selica.planning.finite import Expected
from selica.planning.grids import models
from selica.planning.methods import Prediction
from selica.planning.study import Study
from selica.theory import Rates, operating_point

CEILING = "best possible"
"""What it is called in tables and figures."""


def ceiling(study: Study, fdr: float) -> Prediction:
    """The Bayes-optimal selector, which knows the law of the effects, in a study that is large.

    Parameters
    ----------
    study : Study
    fdr : float
        Level that its threshold keeps by the truth.

    Examples
    --------
    >>> from selica.planning.ceiling import ceiling
    >>> from selica.planning.study import Study
    >>> round(ceiling(Study.of(300, 200, 40, r2=0.8), 0.1).power, 2)
    0.63
    """
    return ceilings((study,), fdr)[0]


def ceilings(studies: Sequence[Study], fdr: float) -> list[Prediction]:
    """The same for several studies with the same law of effects."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        at = operating_point(models(studies), "bayes", fdr)
    each = zip(studies, at.tpr.tolist(), at.fpr.tolist(), at.fdr.tolist(), strict=True)
    found = (Expected.of_rates(study, Rates(*rates)) for study, *rates in each)
    return [Prediction(CEILING, "best", *one, "none", "", {}) for one in found]
