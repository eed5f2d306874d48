"""The table of losses: found by name or by response, extended by `register`."""

from __future__ import annotations

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.losses.base import Loss, Reading
from selica._core.losses.logistic import LogisticLoss
from selica._core.losses.squared import SquaredLoss
from selica._core.types import Array
from selica._core.validation import choice, short, written

AUTO = "auto"
"""The response is recognised by its values; numbers that are nothing else are continuous."""
_LISTED = 3
"""Values of a response that a sentence lists."""

LOSSES: dict[str, Loss] = {}
"""All losses by their names."""


def register(loss: Loss) -> Loss:
    """Make a loss known to selectors, solvers and simulations.

    Parameters
    ----------
    loss : Loss
        Takes the place of a loss of the same name.

    Returns
    -------
    Loss
        The same.
    """
    for other in LOSSES.values():
        if other.name != loss.name and loss.response in (other.name, other.response):
            raise ArgumentError(
                f"loss: the response {loss.response!r} belongs to the loss {other.name!r}."
            )
    LOSSES[loss.name] = loss
    return loss


def loss_of(which: str | Loss, argument: str = "loss") -> Loss:
    """Return a loss by its name or by its response; a loss is returned as it is.

    Examples
    --------
    >>> from selica._core.losses import loss_of
    >>> loss_of("logistic").response, loss_of("linear").name
    ('binary', 'squared')
    """
    if isinstance(which, Loss):
        return which
    if isinstance(which, str):
        for loss in LOSSES.values():
            if which in (loss.name, loss.response):
                return loss
    raise ArgumentError.choice(argument, which, LOSSES if argument == "loss" else responses())


def responses() -> tuple[str, ...]:
    """Return the responses of all losses."""
    return tuple(loss.response for loss in LOSSES.values())


def read_response(response: str, y: Array) -> tuple[Loss, Reading]:
    """Return the loss that fits a response, and its numbers.

    Parameters
    ----------
    response : str
        "auto" or one of `responses`.
    y : array of shape (n,)
    """
    choice("response", response, (AUTO, *responses()))
    try:
        values = np.unique(y)
    except TypeError:
        kinds = {type(value): value for value in y[::-1]}
        several = ", ".join(short(value) for value in list(kinds.values())[::-1][:_LISTED])
        raise ArgumentError(
            f"y mixes values of different kinds ({several}): give numbers, or two classes."
        ) from None
    if values.size < 2:
        raise RefusedError(f"y is constant ({written(values[0])}): there is nothing to explain.")
    if response == AUTO:
        known = (loss for loss in LOSSES.values() if loss.recognises(values))
        loss = next(known, LOSSES[SquaredLoss.name])
    else:
        loss = loss_of(response)
    return loss, loss.read(y)


register(SquaredLoss())
register(LogisticLoss())
