"""Sentences on a recommendation, those of the command line: what it is, why, what it assumes."""

from __future__ import annotations

from collections.abc import Iterator

from selica import planning
from selica.app.reached import Reached
from selica.catalogue import method
from selica.planning.predict.prediction import Prediction
from selica.planning.questions.compare import NOTHING_FOUND
from selica.planning.questions.recommendation import REFUSABLE, RULE, SETTINGS, note_lines
from selica.planning.questions.sensitivity import most_sensitive


def headline(comparison: planning.Comparison) -> Iterator[str]:
    """Iterate over the recommendation for a study, and a second one where it may be refused."""
    best, other, _ = comparison.recommendation
    if best is None:
        yield NOTHING_FOUND
        return
    study = comparison.study
    share = best.power / max(comparison.ceiling.power, 1e-12)
    yield f"Most power: {_with_settings(best)}; {100 * share:.0f} % of the best possible."
    found = f"{best.true_selections:.1f} of {study.n_signals:,} signals"
    yield (
        f"With {study.n_samples:,} samples it finds {found} on average (power {best.power:.2f}), "
        f"at a predicted FDR of {best.fdr:.3f}. {best.found_words(study.n_signals)}"
    )
    if other is not None:
        yield REFUSABLE.format(f"{_with_settings(other)} (power {other.power:.2f}).")


def required(found: planning.Requirement) -> Iterator[str]:
    """Iterate over the recommendation where samples are asked for, and a second one."""
    best, other, _ = found.recommendation
    if best is None:
        yield (
            "No method that sets its threshold from the data reaches a power of "
            f"{found.target:g} and keeps the level."
        )
        yield "Ask for less power, or allow a higher false discovery rate."
        return
    study, at = found.study, best.prediction
    yield f"{found.superlative}: {_samples_with(best)}."
    yield (
        f"It finds {at.true_selections:.1f} of {study.n_signals:,} signals on average, at a "
        f"predicted FDR of {at.fdr:.3f}. {at.found_words(study.n_signals)} A typical signal: "
        f"{study.typical_effect}."
    )
    if other is not None:
        yield REFUSABLE.format(f"{method(other.method).label} (samples: {other.value or 0:,.0f}).")


def reasons(known: Reached) -> Iterator[str]:
    """Iterate over the rule, what it leaves out, and what a prediction assumes."""
    comparison = known.comparison
    yield RULE
    left_out = () if comparison is None else comparison.recommendation.left_out
    for one, reason in left_out:
        yield f"Left out: {_with_settings(one)}: {reason}."
    yield from note_lines(known.at_best)
    yield known.asked.study(known.n_samples).assumptions


def planned(found: planning.Requirement) -> Iterator[str]:
    """Iterate over the rule and what it leaves out, and what a plan assumes."""
    yield RULE
    for one, reason in found.recommendation.left_out:
        yield f"Left out: {_samples_with(one)}: {reason}."
    yield from note_lines(answer.prediction for answer in found.answers)
    short = [answer for answer in found.answers if answer.value is None]
    if short:
        most = max(float(answer.x.max()) for answer in short)
        yield (
            f"not reached: no number of samples up to {most:,.0f} is enough; the power beside it "
            "is the largest that was found."
        )
    yield found.study.assumptions


def change(found: planning.Comparison | planning.Requirement | None) -> str:
    """Return what would change an answer most; empty where nothing does."""
    return "" if found is None else most_sensitive(found) or ""


def _with_settings(one: Prediction) -> str:
    return f"{one.label}, {SETTINGS[one.settings]}"


def _samples_with(answer: planning.RequiredValue) -> str:
    value = "not reached" if answer.value is None else f"{answer.value:,.0f}"
    return f"{value} with {method(answer.method).label}"
