"""Whether a selection is stable: how members agree, which decisions are close, what would do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from selica._core.random import generator
from selica._core.results import Result
from selica._core.types import Array, BoolArray, IntArray
from selica._core.wording import few
from selica.control import MembersNeeded, members_needed, stability_index
from selica.control.enough import WIDEST

_REDRAWS = 200
"""Draws of the members from themselves, by which distances of joint decisions are measured."""
_LISTED = 3
"""Close calls that a sentence names."""
COPIES_NOUN = "knockoff copies"
"""What copies are called in sentences."""
AGREEMENT = 4
"""Spawn key of the draws of members from themselves."""


@dataclass(frozen=True, slots=True, repr=False)
class Stability(Result):
    """How stable a selection is over further resamples, knockoff copies or splits of these data.

    It speaks of the draws, given the data: other data may give another selection, and nothing here
    is a promise on errors.

    Attributes
    ----------
    index : float
        Agreement of the members, `control.stability_index`: 1 if all select the same, 0 on average
        if they select at random; nan where none selects anything.
    lower, upper : float
        95 % interval of the index, at most 1.
    enough : bool
        Whether no decision is a close call, and the index is known to within 0.025.
    members : int
        How many members there are.
    suggested : int
        How many would be enough, in tens, at most ten times as many; see `control.members_needed`.
    capped : bool
        Whether more than that would be needed.
    close_calls : tuple of str
        Variables whose decision another seed may change, the closest first.
    at_threshold : tuple of str
        Those of them that are exactly at the threshold: no number of members is sure to settle
        them.
    noun : str
        What the members are, e.g. "resamples".
    words : str
        The same as sentences.

    Examples
    --------
    >>> from selica import StabilitySelection
    >>> from selica.sampling import simulate
    >>> data = simulate(100, 30, 3, snr=10.0, random_state=0)
    >>> found = StabilitySelection(n_resamples=200, random_state=0).fit(data.X, data.y).stability_
    >>> round(found.index, 2), found.members, found.close_calls, found.enough
    (0.24, 200, (), True)
    """

    index: float
    lower: float
    upper: float
    enough: bool
    members: int
    suggested: int
    capped: bool
    close_calls: tuple[str, ...]
    at_threshold: tuple[str, ...]
    noun: str
    words: str

    def __str__(self) -> str:
        return self.words


def stability_of(
    selections: Any,
    distances: Array,
    names: Sequence[str],
    noun: str,
    *,
    pairs: bool = False,
    each: int | None = None,
) -> Stability | None:
    """Return how stable a selection is; None with fewer than two members.

    Parameters
    ----------
    selections : array or sparse array of shape (members, p)
        What each member selects.
    distances : array of shape (p,)
        As in `control.members_needed`.
    names : sequence of str
        Of the variables.
    noun : str
        What the members are, e.g. "resamples".
    pairs : bool
        Whether members are complementary halves.
    each : int, optional
        How many variables every member selects, where these are not what decides.
    """
    M = selections.shape[0]
    if M < 2:
        return None
    pairs = pairs and M % 2 == 0
    found = stability_index(selections, pairs=pairs)
    needed = members_needed(distances, M, found.half_width)
    lower, upper = np.clip([found.lower, found.upper], -1.0, 1.0)
    digits = 3 if f"{lower:.2f}" == f"{upper:.2f}" else 2
    on = f" on the {each:,} variables that each of them selects" if each and each > 1 else ""
    agreement = (
        f"The {M:,} {noun} agree by {found.index:.{digits}f}{on} (95 % interval "
        f"{lower:.{digits}f} to {upper:.{digits}f}; 1 is full agreement, 0 is chance)."
    )
    if found.why_undefined:
        agreement = found.why_undefined.replace("No member", f"None of the {M:,} {noun}")
    names = list(names)
    return Stability(
        index=found.index,
        lower=float(lower),
        upper=float(upper),
        enough=needed.enough,
        members=M,
        suggested=_rounded_up(needed),
        capped=needed.capped,
        close_calls=tuple(names[j] for j in needed.close),
        at_threshold=tuple(names[j] for j in needed.undecided),
        noun=noun,
        words=f"{agreement} {_about_decisions(needed, names, noun)}",
    )


def _rounded_up(needed: MembersNeeded) -> int:
    """Return how many members are suggested, in tens where there are too few."""
    more = needed.suggested > needed.members
    return -(-needed.suggested // 10) * 10 if more else needed.suggested


def _about_decisions(needed: MembersNeeded, names: Sequence[str], noun: str) -> str:
    """Say whether members are enough, and how many would be, as a sentence."""
    many = f"{_rounded_up(needed):,} {noun}"
    if needed.enough:
        return f"So many {noun} are enough: no decision is a close call."
    if needed.settled:
        return (
            f"No decision is a close call; about {many} would give their agreement to within "
            f"{WIDEST:g}."
        )
    one = len(needed.close) == 1
    it = "it" if one else "them"
    text = (
        f"{len(needed.close)} {'decision is a close call' if one else 'decisions are close calls'} "
        f"({_some(needed.close, names)}): another seed may change {it}"
    )
    if needed.undecided:
        is_are = "is" if len(needed.undecided) == 1 else "are"
        return (
            f"{text}, and {_some(needed.undecided, names)} {is_are} exactly at the threshold, so "
            f"that no number of {noun} is sure to settle {it}."
        )
    if needed.capped:
        return f"{text}, and even {many} may not settle {it}."
    return f"{text}, and about {many} would settle {it}."


def close_by_error(close: int) -> str:
    """Say how many decisions are close where message passing gave the probabilities.

    Parameters
    ----------
    close : int
        How many decisions are within two standard errors of the threshold.
    """
    one = close == 1
    return (
        f"{close} {'decision is a close call' if one else 'decisions are close calls'}, by the "
        f"error of message passing: refits (engine='monte-carlo') may change "
        f"{'it' if one else 'them'}."
    )


def _some(variables: Sequence[int], names: Sequence[str]) -> str:
    """Return the names of variables, not too many."""
    return few([names[j] for j in variables], _LISTED)


def joint_distances(
    decide: Callable[[IntArray], BoolArray], members: int, seed: np.random.SeedSequence
) -> Array:
    """Return how far joint decisions are from changing, in standard errors.

    Members are drawn again from themselves, and a variable that a share s of the draws selects is
    as far as the quantile of a normal distribution that belongs to s.

    Parameters
    ----------
    decide : callable
        What is selected where member b counts weight[b] times, (p,) for weights (members,).
    members : int
    seed : SeedSequence
    """
    rng = generator(seed)
    draws = rng.multinomial(members, np.full(members, 1.0 / members), size=_REDRAWS)
    share = np.mean([decide(weight) for weight in draws], axis=0)
    return np.asarray(np.where((share == 0.0) | (share == 1.0), np.inf, np.abs(ndtri(share))))
