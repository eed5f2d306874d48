"""What procedures reach that set their threshold by the data, beside the ideal of the theory."""

from __future__ import annotations

from typing import Any

from selica import planning
from selica._core.effects import effects_of
from selica.app.prediction import Study
from selica.planning.predict.methods import predict
from selica.planning.questions.recommendation import BESIDE_IDEAL

LABELS = tuple(planning.METHODS[name].label for name in BESIDE_IDEAL)


def reached(study: Study, name: str, fdr: float) -> dict[str, Any]:
    """What a procedure finds in a study at its best settings, as a row of a table."""
    found = predict(_planned(study), name, fdr)
    return {
        "method": planning.METHODS[name].label,
        "power": f"{found.power:.3f}",
        "FDR": f"{found.fdr:.3f}",
        "found": f"{found.true_selections:.1f}",
        "false": f"{found.false_selections:.1f}",
    }


def _planned(study: Study) -> planning.Study:
    """The study in the words of `planning`."""
    n, p, k, r2, effects = study
    return planning.Study.of(n, p, k, r2=r2, effects=effects_of(effects))
