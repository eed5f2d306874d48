"""Gauss-Legendre rules, also composed of panels."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import roots_legendre

from selica._core.types import Array


@lru_cache(maxsize=16)
def legendre(order: int) -> tuple[Array, Array]:
    """Return nodes and weights of the rule of this order on (-1, 1)."""
    node, weight = (np.asarray(part) for part in roots_legendre(order))
    for part in (node, weight):  # shared by everyone who asks for this order
        part.setflags(write=False)
    return node, weight


def panels(cuts: Array, order: int) -> tuple[Array, Array]:
    """Return nodes and weights between neighbouring cuts, which rise along the last axis.

    Examples
    --------
    >>> import numpy as np
    >>> from selica._core.quadrature import panels
    >>> x, weight = panels(np.array([0.0, 1.0, 3.0]), 4)
    >>> round(float(weight @ x**7), 9)  # 3^8 / 8
    820.125
    """
    node, weight = legendre(order)
    half = 0.5 * np.diff(cuts)[..., None]
    middle = 0.5 * (cuts[..., 1:] + cuts[..., :-1])[..., None]
    shape = (*cuts.shape[:-1], -1)
    return (middle + half * node).reshape(shape), (half * weight).reshape(shape)
