"""Sequential conditional independent pairs of a known finite distribution, by tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def joint_law(P: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """Joint distribution of columns and copies, axes (x_1 .. x_p, copy_1 .. copy_p).

    Each copy is drawn given all other columns and the copies before it, independently of its own
    column.

    Parameters
    ----------
    P : array with an axis for each variable
        Probabilities.
    order : sequence of int
        In which the copies are drawn.
    """
    p = P.ndim
    J = P.reshape(P.shape + (1,) * p)
    for j in order:
        own = J.sum(axis=j, keepdims=True)
        given = np.divide(J, own, out=np.zeros_like(J), where=own > 0.0)
        # the conditional probability of x_j, read as that of its copy
        copied = np.swapaxes(given, j, p + j)
        J = J * copied
    return J


def parallel_law(P: np.ndarray) -> np.ndarray:
    """The shortcut that is not a knockoff: every copy given the other columns alone."""
    p = P.ndim
    whole = P.reshape(P.shape + (1,) * p)
    J = whole
    for j in range(p):
        own = whole.sum(axis=j, keepdims=True)
        given = np.divide(whole, own, out=np.zeros_like(whole), where=own > 0.0)
        J = J * np.swapaxes(given, j, p + j)
    return J


def swap_error(J: np.ndarray) -> float:
    """Largest change of a joint distribution when one variable changes places with its copy."""
    p = J.ndim // 2
    return max(float(np.abs(J - np.swapaxes(J, j, p + j)).max()) for j in range(p))
