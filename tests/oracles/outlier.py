r"""How often halves select a variable by chance beside a row that decides half of them.

Every half with the row selects the q variables that the row chooses. So these are selected by one
half of each pair, and by the other one where the size of their field passes the cut. The field of
a variable is :math:`(z \pm w)/\sqrt 2` in the halves of a pair, as in `selica.experiments.chance`.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom, norm


def reached_beside_an_outlier(theta, n_pairs):
    """Return probabilities that at least 0, 1, .., 2 B halves select a variable."""
    cut = np.sqrt(2.0) * norm.isf(theta / 2.0)
    z = np.linspace(0.0, 9.0, 901)
    one = norm.sf(cut - z) + norm.cdf(-cut - z)
    weight = norm.pdf(z) * np.where(z == 0.0, 0.5, 1.0)
    chosen = binom.pmf(np.arange(n_pairs + 1), n_pairs, one[:, None])
    others = np.concatenate([np.zeros(n_pairs), weight / weight.sum() @ chosen])
    return theta * np.cumsum(others[::-1])[::-1]
