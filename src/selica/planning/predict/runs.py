"""Selectors on data sets whose truth is known: what they find, and how often they refuse."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from selica._core.errors import ArgumentError, DoesNotApply, RefusedError
from selica._core.types import Array, BoolArray
from selica.control import fdp, tpp


class RunOutcome(NamedTuple):
    """What a selector does in a data set."""

    power: float
    fdp: float
    """Share of false ones among the selected."""
    selected: int
    refused: bool
    warnings: tuple[str, ...]
    """Messages, in the order in which they came."""


def run_selector(
    selector: Any,
    X: Array,
    y: Any,
    truth: BoolArray,
    *,
    seed: np.random.SeedSequence,
    called: str,
) -> RunOutcome:
    """Run a selector on a data set; one that refuses it selects nothing.

    Parameters
    ----------
    selector : selector
        A copy of it is run, with one worker.
    X : array of shape (n, p)
    y : array of shape (n,), or what else the selector takes
    truth : array of bool, shape (p,)
        Which variables have an effect.
    seed : SeedSequence
        Of the selector.
    called : str
        Where the selector comes from; opens the message of an error of its arguments.

    Examples
    --------
    >>> import numpy as np
    >>> from selica import LassoSelection
    >>> from selica.planning.predict.runs import run_selector
    >>> from selica.sampling import simulate
    >>> data, seed = simulate(100, 10, 2, snr=50.0, random_state=0), np.random.SeedSequence(0)
    >>> run_selector(
    ...     LassoSelection(), data.X, data.y, data.support, seed=seed, called="selector"
    ... ).power
    1.0
    """
    from sklearn.base import clone

    one = clone(selector)
    settings = {"random_state": seed, "n_jobs": 1}
    known = one.get_params()
    one.set_params(**{key: value for key, value in settings.items() if key in known})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            mask, refused = one.fit(X, y).get_support(), False
        except (ArgumentError, DoesNotApply) as error:
            raise type(error)(f"{called}: {error}") from None
        except RefusedError:
            mask, refused = np.zeros(truth.size, dtype=bool), True
    messages = dict.fromkeys(f"{one.category.__name__}: {one.message}" for one in caught)
    return RunOutcome(tpp(mask, truth), fdp(mask, truth), int(mask.sum()), refused, tuple(messages))


def warned(label: str, found: Sequence[RunOutcome]) -> list[str]:
    """Return one sentence for each kind of warning that a selector gave.

    Parameters
    ----------
    label : str
        Of the selector.
    found : sequence of RunOutcome
    """
    kinds: dict[str, list[str]] = {}
    for one in found:
        for kind in {message.partition(":")[0] for message in one.warnings}:
            first = next(message for message in one.warnings if message.startswith(f"{kind}:"))
            kinds.setdefault(kind, []).append(first)
    return [
        f"{label} warned in {len(messages)} of {len(found)} data sets; the first warning: "
        f"{messages[0]}"
        for messages in kinds.values()
    ]
