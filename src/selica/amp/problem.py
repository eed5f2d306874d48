"""What message passing is asked, checked once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from selica._core.errors import ArgumentError
from selica._core.types import Array
from selica._core.validation import count, matrix, moderate, number, positive, real

_LARGEST = 1e75
"""Entries of X and y stay below: products of four of them have to be numbers."""


class MessageProblem(NamedTuple):
    """A design, a response and penalties."""

    X: Array
    y: Array
    lam: Array
    """(L,), in the order given."""
    lam2: Array
    """(L,): the ridge beside each of them."""
    single: bool
    """Whether one penalty was given as a number."""
    tol: float
    max_iter: int


def check(
    X: ArrayLike, y: ArrayLike, lam: ArrayLike, lam2: ArrayLike, tol: float, max_iter: int
) -> MessageProblem:
    """Check the arguments that all algorithms share.

    The response and the columns are divided by nothing: `lam` is in the unit of X'y.
    """
    design = matrix("X", X)
    n = design.shape[0]
    response = real("y", y)
    if response.shape != (n,):
        raise ArgumentError(
            f"y must have one entry for each of the {n} rows of X; got shape {response.shape}."
        )
    for name, value in (("X", design), ("y", response)):
        moderate(name, value, _LARGEST)
    penalties = positive("lam", lam, at_most=np.inf)
    if penalties.ndim > 1:
        raise ArgumentError(f"lam must be a number or a list of numbers; got {penalties.shape}.")
    ridge = real("lam2", lam2, at_least=0.0, at_most=_LARGEST)
    if ridge.shape not in ((), penalties.shape):
        raise ArgumentError(
            f"lam2 must be a number or have one entry for each of the {penalties.size} penalties; "
            f"got shape {ridge.shape}."
        )
    lams = np.atleast_1d(penalties)
    return MessageProblem(
        design, response, lams, np.broadcast_to(ridge, lams.shape), penalties.ndim == 0,
        number("tol", tol, at_least=1e-13, at_most=1.0), count("max_iter", max_iter),
    )  # fmt: skip


def check_weakness(weakness: float) -> float:
    """Check what a randomised penalty is divided by with probability 1/2."""
    return number("weakness", weakness, at_least=1e-3, at_most=1.0)
