"""What to do after a selection: a few sentences."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from selica.reports import account
from selica.selectors.drawing import AUTO

if TYPE_CHECKING:
    from selica.reports.selection import Selection

_OF_CLUMPS = frozenset(
    f"--{name}"
    for name in (
        *("target", "pheno", "keep", "drop", "time", "event", "fdr", "out", "seed", "components"),
        *("maf", "max-missing", "extract", "exclude", "chromosomes", "keep-people"),
        *("remove-people", "cache", "n-jobs"),
    )
)
"""Options of `selica select` that it takes for clumps, too."""


def next_steps(selection: Selection) -> tuple[str, ...]:
    """Return what a reader can do with a selection, in sentences.

    Parameters
    ----------
    selection : Selection
    """
    steps = []
    if selection.to_check:
        steps.append("Settle what is to be checked first, and run the selection again.")
    if selection.guarantee.level is None and not selection.to_check:
        steps.append(
            "If you need a list with a promise, leave the choice of the method to selica "
            "(--method auto)."
        )
    steps += _more_resamples(selection)
    steps += _clumps(selection)
    if selection.selected:
        unit = selection.summary.unit
        them = f"this {unit}" if len(selection.selected) == 1 else f"these {unit}s"
        steps.append(
            f"Confirm {them} on new samples before you act on them: the sizes of effects above are "
            "too large on average."
            if len(selection.selected) > 1
            else f"Confirm {them} on new samples before you act on it: the size of the effect "
            "above is too large on average."
        )
    else:
        steps.append(
            "An empty list does not say that no variable matters: it says that these rows do not "
            "show which. More rows may show it, or fewer variables, if these are chosen without a "
            "look at the response."
        )
    return tuple(steps)


def _clumps(selection: Selection) -> list[str]:
    """Return how a false discovery rate of clumps is kept, where that of markers was asked for."""
    rate = getattr(selection.selector, "fdr", None)
    if selection.genotypes is None or rate is None or selection.response.get("kind") == "classes":
        return []
    asked, command = "--method clump-knockoffs", selection.provenance.command
    if command is not None and all(
        word.partition("=")[0] in _OF_CLUMPS
        for word in shlex.split(command)
        if word.startswith("--")
    ):
        asked = f"{command} {asked}"
    return [
        f"Neighbouring markers share what they say, so that few are found one by one at a rate of "
        f"{rate:g}. Clumps of them are found more often, at the same rate: {asked}"
    ]


def _more_resamples(selection: Selection) -> list[str]:
    """Return what makes close calls fewer, where there are any."""
    found = account.chosen_of(selection.selector).stability_
    if found is None or not found.close_calls or found.suggested <= found.members:
        return []
    if found.capped:  # a note says that so many may not settle it
        return []
    settings = account.chosen_of(selection.selector).get_params(deep=False)
    until_settled = AUTO in (settings.get("n_resamples"), settings.get("n_copies"))
    calls = len(found.close_calls)
    many = "1 decision is" if calls == 1 else f"{calls} decisions are"
    return [
        f"{many} close and may change with the seed: run it with about {found.suggested:,} instead "
        f"of {found.members:,} {found.noun} (--n-resamples {found.suggested})"
        f"{'' if until_settled else ', or with as many as settle it (--n-resamples auto)'}."
    ]
