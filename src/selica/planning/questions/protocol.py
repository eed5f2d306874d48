"""A sample size as a paragraph for a protocol: what is assumed, what is asked for, and from where.

Reviewers ask where a number of samples comes from. The paragraph says it in plain English, with the
command that gives it again.
"""

from __future__ import annotations

from selica import catalogue
from selica._core.effects import EmpiricalEffects
from selica._core.errors import ArgumentError, DoesNotApply
from selica._core.wording import signals
from selica._version import __version__
from selica.planning.questions.answers import RequiredValue, Requirement
from selica.planning.study import Study

_CITATION = (
    "The selica developers. selica: ensemble variable selection, and the statistical physics that "
    "predicts it. Version {version}."
)
"""How the library is cited, as in CITATION.cff."""
_CONTROLLED = {
    "FDR": "which controls the false discovery rate at {fdr:g}",
    "3.2 FDR": "whose false discovery rate is proven to be at most 3.2 times {fdr:g}, and "
    "predicted to be {rate:.3f}",
    "PFER": "which bounds the expected number of false selections; its predicted false discovery "
    "rate is {rate:.3f}, with {fdr:g} allowed",
}
"""What is said of the error that a method controls."""


def protocol(requirement: Requirement, *, command: str, method: str | None = None) -> str:
    """Justify a number of samples in a paragraph of 120 to 200 words, command included.

    Parameters
    ----------
    requirement : Requirement
        What `required_samples` returns.
    command : str
        The command that gives the same answer.
    method : str, optional
        The method to be used; by default the recommended one.

    Returns
    -------
    str

    Examples
    --------
    >>> from selica import planning
    >>> from selica.planning.questions.protocol import protocol
    >>> found = planning.required_samples(0.8, n_features=200, n_signals=20, r2=0.6)
    >>> text = protocol(found, command="selica plan samples -p 200 -k 20 --r2 0.6 --power 0.8")
    >>> text.splitlines()[0]
    'Sample size justification'
    """
    if requirement.quantity != "samples":
        raise DoesNotApply(
            f"protocol: the requirement is about the {requirement.quantity}; a protocol needs that "
            "of planning.required_samples."
        )
    answer = requirement.best if method is None else requirement.one(method)
    if answer is None or answer.value is None:
        raise DoesNotApply("protocol: no number of samples that was tried reaches the power.")
    if not isinstance(command, str) or not command.strip():
        raise ArgumentError("command must be the text of a command.")
    study = requirement.study
    sentences = [
        f"The study is planned with n = {answer.value:,.0f} samples{_informative(answer, study)}.",
        f"Its aim is to select, among {study.n_features:,} candidate variables, those that affect "
        f"the response ({study.response.label}).",
        f"We assume {_signals(study)}, which together explain {100.0 * study.r2:.3g} % of "
        f"{study.response.explained} (typical signal: {study.typical_effect}).",
        _analysis(requirement, answer),
        _power(requirement, answer),
        "The prediction is computed from the theory of the method. Beside the above it assumes "
        f"{_columns(study)} and independent rows; where the assumptions do not hold, more samples "
        "may be needed.",
        f"Software: selica {__version__} [1].",
    ]
    return "\n".join(
        [
            "Sample size justification", "", " ".join(sentences), "",
            f"[1] {_CITATION.format(version=__version__)}", "",
            f"Command: {command.strip()}",
        ]
    )  # fmt: skip


def _informative(answer: RequiredValue, study: Study) -> str:
    """Return how many samples carry the information, in brackets; empty for all."""
    told = study.response.informative(int(answer.value or 0))
    return f" ({told})" if told else ""


def _signals(study: Study) -> str:
    """Return how many signals there are, and their effects; a list has as many as there are."""
    one = isinstance(study.effects, EmpiricalEffects) and "given" in study.effects.label
    return f"{signals(study.n_signals)} with {'the effects given' if one else study.effects.label}"


def _analysis(requirement: Requirement, answer: RequiredValue) -> str:
    """Return which method is used, and what it keeps."""
    at = answer.prediction
    level = at.fdr if requirement.fdr is None else requirement.fdr
    controlled = _CONTROLLED.get(at.controls, "with a predicted false discovery rate of {rate:.3f}")
    label = catalogue.method(at.method).label
    return (
        f"Variables will be selected by {label} ({at.code}), "
        f"{controlled.format(fdr=level, rate=at.fdr)}."
    )


def _power(requirement: Requirement, answer: RequiredValue) -> str:
    """Return what power means, how large it is, and how exactly that is known."""
    at, k = answer.prediction, requirement.study.n_signals
    error = (
        f"Monte-Carlo standard error {at.power_error:.3f}"
        if at.power_error > 0.0
        else "computed without Monte-Carlo error"
    )
    return (
        "Power is the expected share of the signals that are selected; with this number of samples "
        f"it is predicted to be {at.power:.2f} ({error}; {requirement.target:g} was required), "
        f"which is {at.true_selections:.1f} of {k:,} on average, with {at.false_selections:.1f} "
        "false selections."
    )


def _columns(study: Study) -> str:
    """Return how columns are correlated."""
    return "independent columns" if study.columns is None else study.columns.label
