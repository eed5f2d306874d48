"""What procedures reach that set their threshold by the data, beside the ideal of the theory."""

from __future__ import annotations

from typing import Any

from selica import planning
from selica._core.effects import effects_of
from selica.app.prediction import PageStudy
from selica.catalogue import Method
from selica.planning.predict.prediction import predict


def reached(study: PageStudy, method: Method, fdr: float) -> dict[str, Any]:
    """Return what a procedure finds in a study at its best settings, as a row of a table."""
    found = predict(_planned(study), method.name, fdr)
    return {
        "method": method.label,
        "power": f"{found.power:.3f}",
        "FDR": f"{found.fdr:.3f}",
        "found": f"{found.true_selections:.1f}",
        "false": f"{found.false_selections:.1f}",
    }


def _planned(study: PageStudy) -> planning.Study:
    """Return the study in the words of `planning`."""
    n, p, k, r2, effects = study
    return planning.Study.of(n, p, k, r2=r2, effects=effects_of(effects))
