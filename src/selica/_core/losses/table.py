"""The table of losses: found by name or by response, extended by `register`."""

from __future__ import annotations

from typing import Any

import numpy as np

from selica._core.errors import ArgumentError, RefusedError
from selica._core.losses.base import Loss, Reading
from selica._core.losses.cox import CoxLoss
from selica._core.losses.logistic import LogisticLoss
from selica._core.losses.multinomial import MultinomialLoss
from selica._core.losses.poisson import PoissonLoss
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


def read_response(response: str, y: Any) -> tuple[Loss, Reading]:
    """Return the loss that fits a response, and its numbers.

    Parameters
    ----------
    response : str
        "auto" or one of `responses`. Counts, times and classes have to be asked for.
    y : array of shape (n,), or what else the loss takes
    """
    choice("response", response, (AUTO, *responses()))
    values = _different(y) if np.ndim(y) == 1 and _plain(y) else None
    if response != AUTO:
        loss = loss_of(response)
    else:
        known = (
            loss
            for loss in LOSSES.values()
            if (loss.takes(y) if values is None else loss.recognises(values))
        )
        loss = next(known, LOSSES[SquaredLoss.name])
    return loss, loss.read(y)


def _plain(y: Any) -> bool:
    """Return whether the entries of a vector are single values."""
    return getattr(getattr(y, "dtype", None), "names", None) is None


def _different(y: Any) -> Array:
    """Return the different values of a vector, at least two."""
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
    return np.asarray(values)


register(SquaredLoss())
register(LogisticLoss())
register(PoissonLoss())
register(CoxLoss())
register(MultinomialLoss())
