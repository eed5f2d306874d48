r"""How often stability selection selects a variable where nothing matters.

The field of a variable in a half of the rows is normal, and the fields in the two halves of a pair
are :math:`(z \pm w)/\sqrt 2`, with :math:`z` of the whole table and :math:`w` of the pair,
independent standard normal. A half selects the variable where the size of its field passes a cut,
which it does with probability :math:`\theta = q/p`. Given :math:`z`, pairs are independent.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from selica._core.types import Array


def reached_by_chance(theta: float, n_pairs: int) -> Array:
    """Return probabilities that at least 0, 1, .., 2 B halves select a variable, in a large table.

    Parameters
    ----------
    theta : float
        Share of the variables that a half selects.
    n_pairs : int
        Complementary pairs of halves, B.

    Returns
    -------
    array of shape (2 B + 1,)

    Examples
    --------
    >>> reached = reached_by_chance(0.1, 50)
    >>> round(float(reached[1:].sum()) / 100, 6)  # a half selects it with probability 0.1
    0.1
    >>> reached[80] < 0.002
    np.True_
    """
    cut = np.sqrt(2.0) * norm.isf(theta / 2.0)
    z = np.linspace(0.0, 9.0, 901)
    one = norm.sf(cut - z) + norm.cdf(-cut - z)
    both = 2.0 * norm.sf(z + cut) + np.maximum(1.0 - 2.0 * norm.sf(z - cut), 0.0)
    pair = np.stack([1.0 - 2.0 * one + both, 2.0 * (one - both), both], axis=1)
    counts = np.fft.ifft(np.fft.fft(pair, 2 * n_pairs + 1) ** n_pairs).real
    weight = norm.pdf(z) * np.where(z == 0.0, 0.5, 1.0)
    return np.asarray(np.cumsum((weight / weight.sum() @ counts)[::-1])[::-1])
