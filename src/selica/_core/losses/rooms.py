"""Which losses a part of the package can treat, and the sentence of one that cannot."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from selica._core.errors import DoesNotApply
from selica._core.losses.base import Loss, RowLoss


class Room(NamedTuple):
    """A part of the package."""

    treats: Callable[[Loss], bool]
    sentence: str
    """What is said of a loss that it cannot treat; {label} and {response} are those of the loss."""


def _quadratic(loss: Loss) -> bool:
    """Return whether a loss is half the squared residual."""
    return loss.quadratic


def _rows(loss: Loss) -> bool:
    """Return whether a loss is a sum over rows."""
    return isinstance(loss, RowLoss)


def _single_rows(loss: Loss) -> bool:
    """Return whether a loss is a sum over rows with one predictor each."""
    return isinstance(loss, RowLoss) and not loss.several


def _unpenalised(loss: Loss) -> bool:
    """Return whether the second half of a split can be fitted without a penalty."""
    return loss.unpenalised


ROOMS: dict[str, Room] = {
    "message passing": Room(
        _rows,
        "Message passing is for losses that are sums over the rows, and that of {label} is not; "
        "use engine='monte-carlo'.",
    ),
    "message passing with p-values": Room(
        _quadratic,
        "fdr is for a linear response, by message passing; for {label} use pfer, or knockoffs.",
    ),
    "left-out fields": Room(
        _single_rows,
        "fdr is for losses that are sums over the rows with one predictor each; for {label} use "
        "pfer, or knockoffs.",
    ),
    "penalty for power": Room(
        _quadratic,
        "lam='power' needs a linear response; for {label} use lam='cv'.",
    ),
    "penalty by theory": Room(
        _quadratic,
        "lam='theory' is for a continuous response: the model is estimated from a squared error; "
        "use lam='cv' for {label}.",
    ),
    "message passing over copies": Room(
        _quadratic,
        "engine='semi-analytic' needs a linear response; for {label} use engine='monte-carlo'.",
    ),
    "fixed-X knockoffs": Room(
        _quadratic,
        "sampler: fixed-X knockoffs need a continuous response; for {label} use "
        "sampler='gaussian'.",
    ),
    "data splitting": Room(
        _unpenalised,
        "DataSplitting is for a linear or a binary response; for {label} use knockoffs.",
    ),
    "diagnosis": Room(
        _quadratic,
        "A diagnosis needs a linear response; it does not apply to {label}.",
    ),
    "theorem of data splitting": Room(
        _quadratic,
        "The theorem of data splitting is for a linear response, not for {label}.",
    ),
}
"""By name."""


def treats(room: str, loss: Loss) -> bool:
    """Return whether a part of the package can treat a loss.

    Parameters
    ----------
    room : str
        A key of `ROOMS`.
    loss : Loss

    Examples
    --------
    >>> from selica._core.losses import loss_of, treats
    >>> [treats("penalty by theory", loss_of(name)) for name in ("squared", "logistic")]
    [True, False]
    """
    return ROOMS[room].treats(loss)


def require(room: str, loss: Loss) -> None:
    """Raise `DoesNotApply`, with the sentence of the room, for a loss that it cannot treat."""
    if not treats(room, loss):
        sentence = ROOMS[room].sentence
        raise DoesNotApply(sentence.format(label=loss.label, response=loss.response))
