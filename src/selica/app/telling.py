"""Sentences on a recommendation: what it is, why, what it assumes, what would change it most."""

from __future__ import annotations

from collections.abc import Iterator

from selica import planning
from selica.app.reached import Reached
from selica.catalogue import method
from selica.planning.questions.compare import NOTHING_FOUND
from selica.planning.questions.recommendation import RULE

try:
    from selica.planning.questions.sensitivity import most_sensitive
except ImportError:  # pragma: no cover

    def most_sensitive(found: object) -> str | None:
        """Say nothing."""
        return None


COMPUTING = "computing …"
"""What stands where an answer will be."""


def headline(known: Reached) -> Iterator[str]:
    """Iterate over the recommendation for a study, and a second one where it may be refused."""
    comparison = known.comparison
    if comparison is None:
        yield COMPUTING
        return
    best, other, _ = comparison.recommendation
    if best is None:
        yield NOTHING_FOUND
        return
    n, found = known.n_samples, f"{best.true_selections:.1f} of {known.asked.n_signals:,} signals"
    yield f"Most power with {n:,} samples: {best.power:.2f} with {best.label}."
    kind = "" if best.settings == "best" else f" with {best.settings} settings"
    yield f"It finds {found} on average{kind}, at a predicted FDR of {best.fdr:.3f}."
    if other is not None:
        yield (
            f"Checks on the data may refuse its p-values; then {other.label} is left, with a power "
            f"of {other.power:.2f}."
        )


def reasons(known: Reached) -> Iterator[str]:
    """Iterate over the rule, what it leaves out, and what a prediction assumes."""
    comparison = known.comparison
    yield RULE
    left_out = () if comparison is None else comparison.recommendation.left_out
    for one, reason in left_out:
        yield f"Left out: {one.label}, {one.settings} settings: {reason}."
    for note in dict.fromkeys(note for one in known.at_best for note in one.notes):
        yield f"Note: {note}"
    yield known.asked.study(known.n_samples).assumptions


def planned(found: planning.Requirement) -> Iterator[str]:
    """Iterate over the rule and what it leaves out, and what a plan assumes."""
    yield RULE
    for one, reason in found.recommendation.left_out:
        yield f"Left out: {samples_with(one)}: {reason}."
    best = found.best
    for note in () if best is None else best.prediction.notes:
        yield f"Note: {note}"
    yield found.study.assumptions


def change(found: planning.Comparison | planning.Requirement | None) -> str:
    """Return what would change an answer most; empty where nothing does."""
    return "" if found is None else most_sensitive(found) or ""


def samples_with(answer: planning.RequiredValue) -> str:
    """Return an answer in words."""
    return f"{answer.value or 0:,.0f} with {method(answer.method).label}"
