"""Which methods answer a question about a study: those with a prediction that can be run on it."""

from __future__ import annotations

from collections.abc import Sequence

from selica._core.errors import DoesNotApply
from selica.catalogue import method as of_catalogue
from selica.planning.predict.prediction import planned_names
from selica.planning.study import Study


def listed(
    study: Study,
    methods: Sequence[str] | str | None = None,
    argument: str = "methods",
    *,
    calibrated: bool = False,
) -> tuple[str, ...]:
    """Return the names of the methods to predict in a study.

    Parameters
    ----------
    study : Study
    methods : str, sequence of str or None
        None: all that have a theory for such a study and can be run on its response. A method that
        is named and has none, or cannot, is an error.
    argument : str
        How the caller calls them; opens the message of an error.
    calibrated : bool
        Whether only methods that set their threshold from the data are taken where none is named.

    Examples
    --------
    >>> from selica.planning import Study, Survival
    >>> from selica.planning.questions.listed import listed
    >>> from selica.theory import GaussianEffects
    >>> study = Study(300, 200, 10, 1.0, GaussianEffects(), Survival(0.3))
    >>> "stability-fdr" in listed(study), "stability-pfer" in listed(study)
    (False, True)
    """
    names = planned_names(methods, argument, calibrated=calibrated, study=study)
    refused = study.response.refused_by
    for name in names if methods is not None else ():
        if name in refused:
            raise DoesNotApply(f"{argument}: {name!r} is not for {study.response.label}: "
                               f"{refused[name]}.")  # fmt: skip
    return tuple(name for name in names if name not in refused)


def unlisted(study: Study, names: Sequence[str]) -> str | None:
    """Say which usual methods have no row for a study, and why; None where all have one.

    Parameters
    ----------
    study : Study
    names : sequence of str
        The methods that have one.

    Examples
    --------
    >>> from selica.planning import Study, Survival
    >>> from selica.planning.questions.listed import listed, unlisted
    >>> from selica.theory import GaussianEffects
    >>> study = Study(300, 200, 10, 1.0, GaussianEffects(), Survival(0.3))
    >>> unlisted(study, listed(study))
    'Not in the table: stability, p-values: it has no p-values for survival times.'
    """
    usual = planned_names(None, calibrated=True)
    reasons: dict[str, list[str]] = {}
    for name in usual:
        if name in names:
            continue
        why = study.response.refused_by.get(name)
        if why is None and study.columns is not None:
            why = "there is no prediction of it for correlated columns"
        if why is not None:
            reasons.setdefault(why, []).append(of_catalogue(name).label)
    if not reasons:
        return None
    told = "; ".join(f"{', '.join(labels)}: {why}" for why, labels in reasons.items())
    return f"Not in the table: {told}."
