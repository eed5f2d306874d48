"""Log evidence for variables and for copies by message passing: a masked statistic without draws.

The model is that of the masked likelihood ratio (`statistics.pairs`): of the versions of a variable
one is real, most coefficients of the real versions are zero, others normal. Instead of sampling
from its posterior distribution, `amp.pair_propagation` approximates it in a few rounds, and
`amp.pair_messages` for many independent columns. Prior and noise are estimated from all versions
together.

**Fixed copies.** For a linear response with equal weights all of this is a function of the inner
products of all columns with each other, of those with the response, and of the square of the
response. It treats the versions of a pair alike: exchanging two of them exchanges their evidence
and changes no other, by the formulas themselves and not by the order of the masked pairs, which
single rows decide and which moves rounding alone. Fixed-X knockoffs need this. Under their theorem
inner products of the columns do not change when a variable that does not matter trades places with
its copy, and those with the response keep their distribution. The square of the response is a
function of these inner products, the same after an exchange, plus the square of the residual, which
is independent of them if the noise is normal. So the signs of irrelevant variables are fair coins.
"""

from __future__ import annotations

import numpy as np

from selica._core.types import Array
from selica.amp.pair_messages import looks_independent, pair_messages
from selica.amp.pair_propagation import pair_propagation
from selica.amp.pairs import PairFields
from selica.statistics.data import Data
from selica.statistics.pairs import MaskedPairs, masked_pairs

LARGE = 1500
"""With more rows, and more columns of all versions, independent columns are left to messages, which
need no matrix of them."""


def bayes_importances(data: Data, copy: Array) -> Array:
    """Return the log evidence that each version of each unit is the real one, (m + 1, units).

    Of several classes each is a response of its own, and log evidences are added.

    Parameters
    ----------
    data : Data
    copy : array of shape (n, p), or (n, m p) for m joint copies
        Copies of the columns as they were given, before standardisation.

    Examples
    --------
    >>> import numpy as np
    >>> from selica.sampling import simulate
    >>> from selica.statistics import make_data
    >>> from selica.statistics.bayes import bayes_importances
    >>> data = simulate(100, 5, 1, snr=9.0, random_state=0)
    >>> copy = np.random.default_rng(0).standard_normal((100, 5))
    >>> own, other = bayes_importances(make_data(data.X, data.y, "squared"), copy)
    >>> bool((own - other).argmax() == data.support.argmax())
    True
    """
    parts = masked_pairs(data, copy)
    return np.asarray(np.sum([part.restored(_evidence(part)) for part in parts], axis=0))


def _evidence(pairs: MaskedPairs) -> Array:
    """Return the log evidence for versions in the order of the pairs."""
    if not (pairs.response.any() and any(one.any() for one in pairs.versions)):
        return np.zeros(pairs.order.shape)
    found = _fields(pairs)
    return found.prior.evidence(found.seen, pairs.variable)


def _fields(pairs: MaskedPairs) -> PairFields:
    """Return the cavities by the form that suits the columns."""
    n, p = pairs.first.shape
    large = min(n, p * len(pairs.versions)) > LARGE
    if large and pairs.noise is None and looks_independent(pairs.versions):
        found = pair_messages(pairs.versions, pairs.response, pairs.variable)
        if found is not None:
            return found
    return pair_propagation(pairs.versions, pairs.response, pairs.variable, noise=pairs.noise)
